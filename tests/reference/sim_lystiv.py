"""Reference version of Sim lystiv: take seven tricks and leave; the last one is struck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .common import (
    Trick,
    check_dealer,
    check_hands,
    make_deck,
    next_active,
    pick,
    rank_of,
    strongest,
    suit_of,
    table,
)

RANKS = "6789TJQKA"
DECK = make_deck(RANKS)
HAND_SIZE = 7
TRICKS_TO_LEAVE = 7
STRIKES = ("strike", "extra_blow", "extra_cards")
BLOWS = {"6": 6, "7": 7, "8": 8, "9": 9, "T": 10}


def legal_cards(
    hand: Sequence[str],
    led: str | None,
    trump: str,
    best: str | None = None,
    must_beat: bool = False,
) -> list[str]:
    """The cards of `hand` that may be played.

    `led` is the suit that was led (None for the leader), `best` the card winning so far.
    """
    if led is None:
        return list(hand)
    following = [card for card in hand if suit_of(card) == led]
    if following:
        if must_beat and best is not None and suit_of(best) == led:
            higher = [c for c in following if RANKS.index(c[0]) > RANKS.index(best[0])]
            return higher or following
        return following
    trumps = [card for card in hand if suit_of(card) == trump]
    return trumps or list(hand)


def trick_winner(cards: Sequence[str], trump: str) -> int:
    """Index of the card that takes the trick."""

    def strength(card: str, led: str) -> tuple[int, int]:
        if suit_of(card) == trump:
            group = 2
        elif suit_of(card) == led:
            group = 1
        else:
            group = 0
        return group, RANKS.index(rank_of(card))

    return strongest(cards, strength)


def leaving_order(before: Mapping[int, int], trick_winners: Sequence[int]) -> list[int]:
    """Who comes to seven tricks during one deal, in the order of doing so."""
    counts = dict(before)
    order = []
    for seat in trick_winners:
        counts[seat] += 1
        if counts[seat] == TRICKS_TO_LEAVE:
            order.append(seat)
    return order


def cut_deck(deck: Sequence[str], depth: int) -> list[str]:
    """Lift `depth` cards off the top and put what remains upon them."""
    return list(deck[depth:]) + list(deck[:depth])


def blows_of(bottom: str) -> int:
    """How many blows the bottom card orders; 0 means forgiven."""
    return BLOWS.get(rank_of(bottom), 0)


def cheek_halves(num_players: int, strike_cards: int) -> list[int]:
    """Sizes of the two packets that are left when each striker has his cards."""
    left = len(DECK) - strike_cards * (num_players - 1)
    return [left // 2, left - left // 2]


def blows_received(
    num_players: int, loser: int, blows: int, strikes: Sequence[tuple[int, str]]
) -> list[int]:
    """Blows per seat after the given strikes, the punishment of violators included."""
    received = [0] * num_players
    for seat, manner in strikes:
        received[loser] += blows
        if manner == "extra_blow":
            received[loser] += 1
        if manner != "strike":
            received[seat] += blows * (num_players - 1)
    return received


class SimLystiv:
    """One match."""

    def __init__(self, options: Mapping[str, Any], dealer: int) -> None:
        """Start a match before its first deal; `dealer` gives that deal."""
        self.num_players: int = pick(options, "num_players", 4, (2, 3, 4, 5))
        self.must_beat: bool = pick(options, "must_beat", False, (False, True))
        self.all_out: str = pick(options, "all_out", "no_loser", ("no_loser", "race", "replay"))
        self.penalty: str = pick(options, "penalty", "auto", ("none", "auto", "interactive"))
        self.strike_cards: int = pick(options, "strike_cards", 1, (1, 3))
        self.reward: str = pick(options, "reward", "loser", ("loser", "placement", "blows"))
        self.dealer: int = check_dealer(dealer, self.num_players)

        # The match.
        self._phase = "deal"  # deal, play, penalty, cut, strikes, over
        self._active = list(range(self.num_players))
        self._counts = [0] * self.num_players
        self._exits: list[int] = []
        self._loser: int | None = None

        # The current deal.
        self._hands: list[list[str]] = [[] for _ in range(self.num_players)]
        self._trump: str | None = None
        self._leader: int | None = None
        self._trick: Trick = []
        self._trick_winners: list[int] = []

        # The penalty.
        self._deck: list[str] = []
        self._cut: int | None = None
        self._bottom: str | None = None
        self._blows = 0
        self._strikers: list[int] = []
        self._strikes: list[tuple[int, str]] = []

    @property
    def chance(self) -> str | None:
        """What has to come from outside before play goes on."""
        return self._phase if self._phase in ("deal", "penalty") else None

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self._phase == "over"

    @property
    def seat(self) -> int | None:
        """The seat to act."""
        if self._phase == "play":
            if not self._trick:
                return self._leader
            return next_active(self._trick[-1][0], self._active, self.num_players)
        if self._phase == "cut":
            return self._loser
        if self._phase == "strikes":
            return self._strikers[len(self._strikes)]
        return None

    def deal(self, hands: list[list[str]], trump_card: str | None = None) -> None:
        """Give the next deal."""
        if self._phase != "deal":
            raise ValueError("no deal is due")
        sizes = [HAND_SIZE if s in self._active else 0 for s in range(self.num_players)]
        check_hands(hands, sizes, DECK)
        if trump_card is None or trump_card not in hands[self.dealer]:
            raise ValueError("the trump card must be among the dealer's cards")
        self._hands = [list(hand) for hand in hands]
        self._trump = suit_of(trump_card)
        self._trick = []
        self._trick_winners = []
        self._leader = next_active(self.dealer, self._active, self.num_players)
        self._phase = "play"

    def penalty_deck(self, deck: list[str], cut: int | None) -> None:
        """Give the shuffled deck for the penalty, and the cut unless the loser chooses it."""
        if self._phase != "penalty":
            raise ValueError("no penalty is due")
        if sorted(deck) != sorted(DECK):
            raise ValueError("the penalty needs the whole deck")
        if self.penalty == "interactive":
            if cut is not None:
                raise ValueError("the loser chooses the cut himself")
            self._deck = list(deck)
            self._phase = "cut"
            return
        if cut is None or not 1 <= cut < len(DECK):
            raise ValueError("the cut must lie between 1 and 35")
        self._deck = list(deck)
        self._make_cut(cut)
        if self._blows > 0:
            self._strikes = [(seat, "strike") for seat in self._strikers]
        self._phase = "over"

    def legal(self) -> list[str]:
        """The actions that the seat to act may choose from."""
        if self._phase == "cut":
            return sorted(f"cut:{depth}" for depth in range(1, len(DECK)))
        if self._phase == "strikes":
            return sorted(STRIKES)
        seat = self.seat
        if seat is None or self._trump is None:
            return []
        if not self._trick:
            return sorted(legal_cards(self._hands[seat], None, self._trump))
        cards = [card for _, card in self._trick]
        best = cards[trick_winner(cards, self._trump)]
        led = suit_of(cards[0])
        return sorted(legal_cards(self._hands[seat], led, self._trump, best, self.must_beat))

    def apply(self, action: str) -> None:
        """Let the seat to act do `action`."""
        seat = self.seat
        if seat is None or action not in self.legal():
            raise ValueError(f"illegal action {action!r}")
        if self._phase == "cut":
            self._make_cut(int(action.split(":")[1]))
            self._phase = "strikes" if self._blows > 0 else "over"
        elif self._phase == "strikes":
            self._strikes.append((seat, action))
            if len(self._strikes) == len(self._strikers):
                self._phase = "over"
        else:
            self._play(seat, action)

    def gone(self) -> list[int]:
        """Seats that are finished for good."""
        if self.over:
            return list(range(self.num_players))
        if self.penalty == "interactive":
            return []
        return sorted(seat for seat in self._exits if seat != self._loser)

    def rewards(self) -> list[float]:
        """What each seat has been paid; a seat is paid when it is gone, and only once."""
        paid = [0.0] * self.num_players
        for seat in self.gone():
            paid[seat] = self._final_reward(seat)
        return paid

    def facts(self) -> dict[str, Any]:
        """Everything there is to compare, as plain values."""
        tricks = [self._trick_winners.count(seat) for seat in range(self.num_players)]
        penalty: dict[str, Any] | None = None
        if self._bottom is not None:
            penalty = {
                "cut": self._cut,
                "bottom": self._bottom,
                "blows": self._blows,
                "received": self._received(),
            }
        return {
            "hands": [sorted(hand) for hand in self._hands],
            "dealer": self.dealer,
            "leader": self._leader,
            "trick": table(self._trick),
            "trump": self._trump,
            "tricks": tricks,
            "counts": list(self._counts),
            "exits": list(self._exits),
            "loser": self._loser,
            "penalty": penalty,
        }

    def _play(self, seat: int, card: str) -> None:
        """Put a card on the table."""
        assert self._trump is not None
        self._hands[seat].remove(card)
        self._trick.append((seat, card))
        if len(self._trick) < len(self._active):
            return
        index = trick_winner([played for _, played in self._trick], self._trump)
        winner = self._trick[index][0]
        self._trick_winners.append(winner)
        self._trick = []
        self._leader = winner
        if len(self._trick_winners) == HAND_SIZE:
            self._end_deal()

    def _end_deal(self) -> None:
        """Count the tricks, let players leave, and see whether anything follows."""
        self._leader = None
        before = {seat: self._counts[seat] for seat in self._active}
        leavers = leaving_order(before, self._trick_winners)
        stayers = [seat for seat in self._active if seat not in leavers]

        if not stayers and self.all_out == "replay":
            self._next_deal()
            return

        for seat in self._trick_winners:
            self._counts[seat] += 1
        self._exits += leavers
        self._active = stayers
        if len(stayers) > 1:
            self._next_deal()
            return

        if stayers:
            self._loser = stayers[0]
        elif self.all_out == "race":
            self._loser = leavers[-1]
        if self._loser is None or self.penalty == "none":
            self._phase = "over"
        else:
            self._phase = "penalty"

    def _next_deal(self) -> None:
        """Pass the deal on."""
        self.dealer = next_active(self.dealer, self._active, self.num_players)
        self._phase = "deal"

    def _make_cut(self, depth: int) -> None:
        """Cut the penalty deck and read the card that has come to the bottom."""
        assert self._loser is not None
        self._cut = depth
        self._bottom = cut_deck(self._deck, depth)[-1]
        self._blows = blows_of(self._bottom)
        n = self.num_players
        self._strikers = [(self._loser + step) % n for step in range(1, n)]

    def _received(self) -> list[int]:
        """Blows that follow from the strikes made so far."""
        if self._loser is None:
            return [0] * self.num_players
        return blows_received(self.num_players, self._loser, self._blows, self._strikes)

    def _final_reward(self, seat: int) -> float:
        """What a seat gets for the match, once nothing can change it."""
        if self.reward == "loser":
            return -1.0 if seat == self._loser else 0.0
        if self.reward == "blows":
            return float(-self._received()[seat])
        last = self.num_players - 1
        place = self._exits.index(seat) if seat in self._exits else last
        return 1.0 - 2.0 * place / last
