"""Reference version of Semnadtsat (seventeen): sevens, twos and empty tricks make the points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .common import (
    SUITS,
    Trick,
    check_dealer,
    check_hands,
    make_deck,
    pick,
    rank_of,
    strongest,
    suit_of,
    table,
)

TRUMP_RANKS = "234569TJQKA78"
PLAIN_RANKS = "234569TQKA78J"
REMOVED_WITH_FIVE = ("3D", "3S")


def deck_for(num_players: int, removed_suit: str = "C") -> list[str]:
    """The cards that are dealt to so many players."""
    if num_players == 3:
        return make_deck(PLAIN_RANKS, [suit for suit in SUITS if suit != removed_suit])
    deck = make_deck(PLAIN_RANKS)
    if num_players == 5:
        deck = [card for card in deck if card not in REMOVED_WITH_FIVE]
    return deck


def namer_of(threes: Sequence[int]) -> int | None:
    """The one seat with the most threes, or None when several share that number."""
    most = max(threes)
    seats = [seat for seat, number in enumerate(threes) if number == most]
    return seats[0] if len(seats) == 1 else None


def first_leader(
    dealer: int, namer: int | None, num_players: int, first_lead: str = "namer"
) -> int:
    """The seat that leads the first trick."""
    if namer is None or first_lead == "left":
        return (dealer + 1) % num_players
    return namer


def legal_cards(hand: Sequence[str], led: str | None) -> list[str]:
    """The cards of `hand` that may be played when the suit `led` was led."""
    following = [card for card in hand if suit_of(card) == led]
    return following or list(hand)


def trick_winner(cards: Sequence[str], trump: str | None, jack: str = "by_suit") -> int:
    """Index of the card that takes the trick."""

    def strength(card: str, led: str) -> tuple[int, int]:
        suit = suit_of(card)
        is_trump = suit == trump
        jack_is_low = is_trump or (jack == "by_deal" and trump is not None)
        order = TRUMP_RANKS if jack_is_low else PLAIN_RANKS
        if is_trump:
            group = 2
        elif suit == led:
            group = 1
        else:
            group = 0
        return group, order.index(rank_of(card))

    return strongest(cards, strength)


def trick_points(cards: Sequence[str]) -> int:
    """What the trick is worth to the player who takes it."""
    sevens = sum(1 for card in cards if rank_of(card) == "7")
    twos = sum(1 for card in cards if rank_of(card) == "2")
    if sevens == 0 and twos == 0:
        return 1
    return 7 * sevens + 2 * twos


def convert(raw: int, scoring: str) -> int:
    """The points of a deal as they are written down under the given scoring."""
    if scoring == "simple" or raw <= 17:
        return raw
    if raw <= 22:
        return 34 - raw
    if raw <= 28:
        return 56 - 2 * raw
    return -5 * (raw - 28)


def winners_of(totals: Sequence[int]) -> list[int]:
    """All seats with the highest total."""
    most = max(totals)
    return [seat for seat, total in enumerate(totals) if total == most]


class Semnadtsat:
    """One match."""

    def __init__(self, options: Mapping[str, Any], dealer: int) -> None:
        """Start a match before its first deal; `dealer` gives that deal."""
        self.num_players: int = pick(options, "num_players", 4, (3, 4, 5))
        self.removed_suit: str = pick(options, "removed_suit", "C", SUITS)
        # Every value of these two but "by_deal" and "left" means the usual rule.
        self.jack: str = pick(options, "jack", "by_suit")
        self.first_lead: str = pick(options, "first_lead", "namer")
        self.scoring: str = pick(options, "scoring", "simple", ("simple", "seventeen"))
        self.num_deals: int = pick(options, "num_deals", 1)
        self.reward: str = pick(options, "reward", "score", ("score", "win"))
        if self.num_deals < 1:
            raise ValueError("a match has at least one deal")
        self.dealer: int = check_dealer(dealer, self.num_players)
        self.deck: list[str] = deck_for(self.num_players, self.removed_suit)

        # The match.
        self._phase = "deal"  # deal, name, play, over
        self._deals_done = 0
        self._totals = [0] * self.num_players

        # The current deal.
        self._hands: list[list[str]] = [[] for _ in range(self.num_players)]
        self._namer: int | None = None
        self._trump: str | None = None
        self._leader: int | None = None
        self._trick: Trick = []
        self._tricks = [0] * self.num_players
        self._points = [0] * self.num_players

    @property
    def chance(self) -> str | None:
        """What has to come from outside before play goes on."""
        return "deal" if self._phase == "deal" else None

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self._phase == "over"

    @property
    def seat(self) -> int | None:
        """The seat to act."""
        if self._phase == "name":
            return self._namer
        if self._phase == "play":
            if not self._trick:
                return self._leader
            return (self._trick[-1][0] + 1) % self.num_players
        return None

    def deal(self, hands: list[list[str]], trump_card: str | None = None) -> None:
        """Give the next deal."""
        if self._phase != "deal":
            raise ValueError("no deal is due")
        if trump_card is not None:
            raise ValueError("no card is turned for trumps in this game")
        size = len(self.deck) // self.num_players
        check_hands(hands, [size] * self.num_players, self.deck)
        self._hands = [list(hand) for hand in hands]
        self._trump = None
        self._leader = None
        self._trick = []
        self._tricks = [0] * self.num_players
        self._points = [0] * self.num_players
        threes = [sum(1 for card in hand if rank_of(card) == "3") for hand in hands]
        self._namer = namer_of(threes)
        if self._namer is None:
            self._begin_play()
        else:
            self._phase = "name"

    def legal(self) -> list[str]:
        """The actions that the seat to act may choose from."""
        seat = self.seat
        if seat is None:
            return []
        if self._phase == "name":
            return sorted({f"trump:{suit_of(card)}" for card in self.deck})
        led = suit_of(self._trick[0][1]) if self._trick else None
        return sorted(legal_cards(self._hands[seat], led))

    def apply(self, action: str) -> None:
        """Let the seat to act do `action`."""
        seat = self.seat
        if seat is None or action not in self.legal():
            raise ValueError(f"illegal action {action!r}")
        if self._phase == "name":
            self._trump = action.split(":")[1]
            self._begin_play()
        else:
            self._play(seat, action)

    def gone(self) -> list[int]:
        """Seats that are finished for good: nobody before the end."""
        return list(range(self.num_players)) if self.over else []

    def rewards(self) -> list[float]:
        """What each seat has been paid; everything is paid at the end of the match."""
        n = self.num_players
        if not self.over:
            return [0.0] * n
        if self.reward == "score":
            mean = sum(self._totals) / n
            return [total - mean for total in self._totals]
        winners = winners_of(self._totals)
        return [(1 / len(winners) if seat in winners else 0.0) - 1 / n for seat in range(n)]

    def facts(self) -> dict[str, Any]:
        """Everything there is to compare, as plain values."""
        return {
            "hands": [sorted(hand) for hand in self._hands],
            "dealer": self.dealer,
            "leader": self._leader,
            "trick": table(self._trick),
            "trump": self._trump,
            "tricks": list(self._tricks),
            "namer": self._namer,
            "points": list(self._points),
            "totals": list(self._totals),
            "winners": winners_of(self._totals) if self.over else [],
        }

    def _begin_play(self) -> None:
        """Find the leader of the first trick."""
        self._leader = first_leader(self.dealer, self._namer, self.num_players, self.first_lead)
        self._phase = "play"

    def _play(self, seat: int, card: str) -> None:
        """Put a card on the table."""
        self._hands[seat].remove(card)
        self._trick.append((seat, card))
        if len(self._trick) < self.num_players:
            return
        cards = [played for _, played in self._trick]
        winner = self._trick[trick_winner(cards, self._trump, self.jack)][0]
        self._tricks[winner] += 1
        self._points[winner] += trick_points(cards)
        self._trick = []
        self._leader = winner
        if not self._hands[winner]:
            self._end_deal()

    def _end_deal(self) -> None:
        """Write the deal down and pass it on, or end the match."""
        self._leader = None
        for seat in range(self.num_players):
            self._totals[seat] += convert(self._points[seat], self.scoring)
        self._deals_done += 1
        if self._deals_done == self.num_deals:
            self._phase = "over"
        else:
            self.dealer = (self.dealer + 1) % self.num_players
            self._phase = "deal"
