"""Reference version of Semerik: two pairs, no trumps, higher or anything, babas and threes."""

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

NUM_PLAYERS = 4
RANKS = "4567JQKA23"
DECK = make_deck(RANKS)
HAND_SIZE = 10
BABAS = {"7A2": "7A2", "3A2": "A23"}  # ranks of the three cards that make a baba


def pair_of(seat: int) -> int:
    """Pair 0 is seats 0 and 2, pair 1 is seats 1 and 3."""
    return seat % 2


def higher(card: str, other: str) -> bool:
    """Whether `card` ranks above `other`, both of one suit."""
    return RANKS.index(rank_of(card)) > RANKS.index(rank_of(other))


def trick_winner(cards: Sequence[str]) -> int:
    """Index of the card that takes the trick."""

    def strength(card: str, led: str) -> tuple[int, int]:
        return int(suit_of(card) == led), RANKS.index(rank_of(card))

    return strongest(cards, strength)


def legal_cards(
    hand: Sequence[str], trick: Sequence[str], beat: str = "best", fallback: str = "any"
) -> list[str]:
    """The cards of `hand` that may be played upon the cards of `trick`."""
    if not trick:
        return list(hand)
    following = [card for card in hand if suit_of(card) == suit_of(trick[0])]
    if beat == "none":
        return following or list(hand)
    to_beat = trick[0] if beat == "led" else trick[trick_winner(trick)]
    beating = [card for card in following if higher(card, to_beat)]
    if beating:
        return beating
    if fallback == "suit" and following:
        return following
    return list(hand)


def runs_in_suit(hand: Sequence[str], suit: str) -> list[str]:
    """The ranks held in a suit, cut into unbroken sequences: "67", "KA2" and so on."""
    runs: list[str] = []
    current = ""
    for rank in RANKS:
        if rank + suit in hand:
            current += rank
        else:
            if current:
                runs.append(current)
            current = ""
    if current:
        runs.append(current)
    return runs


def baba_cards(hand: Sequence[str], suit: str, baba: str = "7A2") -> list[str]:
    """The cards of a baba in `suit` with everything attached to it; [] when there is none."""
    core = BABAS[baba]
    if not all(rank + suit in hand for rank in core):
        return []
    attached = [run for run in runs_in_suit(hand, suit) if any(rank in core for rank in run)]
    return sorted(rank + suit for run in attached for rank in run)


def baba_points(hand: Sequence[str], suit: str, baba: str = "7A2", sixteen: str = "run7") -> int:
    """What the baba in `suit` is worth; 0 when there is none."""
    cards = baba_cards(hand, suit, baba)
    if not cards:
        return 0
    attached = [run for run in runs_in_suit(hand, suit) if any(r + suit in cards for r in run)]
    needed = len(RANKS) if sixteen == "whole_suit" else 7
    if max(len(run) for run in attached) >= needed:
        return 16
    base = 5 if suit == "H" else 3
    return base + len(cards) - 3


def three_cards(hand: Sequence[str], rank: str) -> list[str]:
    """The three or four cards of a rank; [] when there are fewer."""
    cards = sorted(card for card in hand if rank_of(card) == rank)
    return cards if len(cards) >= 3 else []


def three_points(hand: Sequence[str], rank: str) -> int:
    """What three or four cards of a rank are worth; 0 when there are fewer."""
    if not three_cards(hand, rank):
        return 0
    if rank == "7":
        return 4
    return 3 if rank in "32A" else 1


def declarations(
    hand: Sequence[str], baba: str = "7A2", sixteen: str = "run7"
) -> dict[str, tuple[int, list[str]]]:
    """All that a hand may declare: text -> (points, cards that become public)."""
    found: dict[str, tuple[int, list[str]]] = {}
    for suit in SUITS:
        cards = baba_cards(hand, suit, baba)
        if cards:
            found[f"declare:baba:{suit}"] = (baba_points(hand, suit, baba, sixteen), cards)
    for rank in RANKS:
        cards = three_cards(hand, rank)
        if cards:
            found[f"declare:three:{rank}"] = (three_points(hand, rank), cards)
    return found


def hand_points(hand: Sequence[str], baba: str = "7A2", sixteen: str = "run7") -> int:
    """What a full hand is worth when all of it is declared."""
    return sum(points for points, _ in declarations(hand, baba, sixteen).values())


def pile_points(cards: Sequence[str], aces: str = "third") -> int:
    """What the cards in a pair's tricks are worth."""
    figures = sum(1 for card in cards if rank_of(card) in "JQK23")
    ace_count = sum(1 for card in cards if rank_of(card) == "A")
    if aces == "third":
        return (figures + ace_count) // 3
    if aces == "one":
        return figures // 3 + ace_count
    return figures // 3


def trick_bonus(tricks: Sequence[int]) -> list[int]:
    """Bonus per pair for the number of tricks, given the tricks of each seat."""
    bonus = [0, 0]
    for pair in (0, 1):
        if tricks[pair] + tricks[pair + 2] == HAND_SIZE:
            bonus[pair] += 4
    for seat in range(NUM_PLAYERS):
        if tricks[seat] >= 9:
            bonus[pair_of(seat)] += 6
    return bonus


def game_result(totals: Sequence[int], target: int = 21) -> tuple[int, int] | None:
    """The pair that has won the game and what it books; None while the game goes on.

    A game to 21 is booked as 21, or as 42 if the losers have 11 points or fewer.
    """
    if max(totals) < target or totals[0] == totals[1]:
        return None
    winner = 0 if totals[0] > totals[1] else 1
    double_limit = (target + 1) // 2
    booked = 2 * target if totals[1 - winner] <= double_limit else target
    return winner, booked


def payoff(booked: Sequence[int]) -> list[float]:
    """What one partner of each pair gets for the booked wins."""
    return [(booked[0] - booked[1]) / 2, (booked[1] - booked[0]) / 2]


class Semerik:
    """One match."""

    def __init__(self, options: Mapping[str, Any], dealer: int) -> None:
        """Start a match before its first deal; `dealer` gives that deal."""
        self.beat: str = pick(options, "beat", "best", ("best", "led", "none"))
        self.fallback: str = pick(options, "fallback", "any", ("any", "suit"))
        self.declare: str = pick(options, "declare", "choice", ("choice", "auto", "off"))
        self.baba: str = pick(options, "baba", "7A2", ("7A2", "3A2"))
        self.sixteen: str = pick(options, "sixteen", "run7", ("run7", "whole_suit"))
        self.aces: str = pick(options, "aces", "third", ("third", "none", "one"))
        self.last_trick: int = pick(options, "last_trick", 0, (0, 1))
        self.target: int = pick(options, "target", 21)
        self.games: int = pick(options, "games", 3)
        self.horizon: str = pick(options, "horizon", "match", ("match", "game", "deal"))
        self.reward: str = pick(options, "reward", "payoff", ("payoff", "points"))
        if self.target < 1 or self.games < 1:
            raise ValueError("target and games must be positive")
        self.dealer: int = check_dealer(dealer, NUM_PLAYERS)

        # The match.
        self._phase = "deal"  # deal, play, over
        self._scores = [0, 0]
        self._totals = [0, 0]
        self._booked = [0, 0]
        self._games_won = [0, 0]
        self._game_ended = False
        self._paid = [0.0] * NUM_PLAYERS

        # The current deal.
        self._hands: list[list[str]] = [[] for _ in range(NUM_PLAYERS)]
        self._leader: int | None = None
        self._trick: Trick = []
        self._tricks = [0] * NUM_PLAYERS
        self._piles: list[list[str]] = [[], []]
        self._declared: list[list[str]] = [[] for _ in range(NUM_PLAYERS)]
        self._shown: list[list[str]] = [[] for _ in range(NUM_PLAYERS)]
        self._declaration_points = [0] * NUM_PLAYERS

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
        if self._phase != "play":
            return None
        if not self._trick:
            return self._leader
        return (self._trick[-1][0] + 1) % NUM_PLAYERS

    def deal(self, hands: list[list[str]], trump_card: str | None = None) -> None:
        """Give the next deal."""
        if self._phase != "deal":
            raise ValueError("no deal is due")
        if trump_card is not None:
            raise ValueError("there are no trumps in this game")
        check_hands(hands, [HAND_SIZE] * NUM_PLAYERS, DECK)
        if self._game_ended:
            self._totals = [0, 0]
            self._game_ended = False
        self._hands = [list(hand) for hand in hands]
        self._leader = (self.dealer + 1) % NUM_PLAYERS
        self._trick = []
        self._tricks = [0] * NUM_PLAYERS
        self._piles = [[], []]
        self._declared = [[] for _ in range(NUM_PLAYERS)]
        self._shown = [[] for _ in range(NUM_PLAYERS)]
        self._declaration_points = [0] * NUM_PLAYERS
        self._phase = "play"
        self._declare_unasked()

    def legal(self) -> list[str]:
        """The actions that the seat to act may choose from."""
        seat = self.seat
        if seat is None:
            return []
        on_table = [card for _, card in self._trick]
        actions = legal_cards(self._hands[seat], on_table, self.beat, self.fallback)
        if self.declare == "choice":
            actions = actions + self._open_declarations(seat)
        return sorted(actions)

    def apply(self, action: str) -> None:
        """Let the seat to act do `action`."""
        seat = self.seat
        if seat is None or action not in self.legal():
            raise ValueError(f"illegal action {action!r}")
        if action.startswith("declare:"):
            self._make_declaration(seat, action)
        else:
            self._play(seat, action)

    def gone(self) -> list[int]:
        """Seats that are finished for good: nobody before the end."""
        return list(range(NUM_PLAYERS)) if self.over else []

    def rewards(self) -> list[float]:
        """What each seat has been paid so far."""
        return list(self._paid)

    def facts(self) -> dict[str, Any]:
        """Everything there is to compare, as plain values."""
        return {
            "hands": [sorted(hand) for hand in self._hands],
            "dealer": self.dealer,
            "leader": self._leader,
            "trick": table(self._trick),
            "trump": None,
            "tricks": list(self._tricks),
            "declared": [sorted(texts) for texts in self._declared],
            "shown": [sorted(cards) for cards in self._shown],
            "declaration_points": list(self._declaration_points),
            "scores": list(self._scores),
            "totals": list(self._totals),
            "booked": list(self._booked),
            "games_won": list(self._games_won),
            "games_done": sum(self._games_won),
        }

    def _open_declarations(self, seat: int) -> list[str]:
        """What the seat could still declare: its hand must be untouched."""
        hand = self._hands[seat]
        if len(hand) < HAND_SIZE:
            return []
        possible = declarations(hand, self.baba, self.sixteen)
        return [text for text in possible if text not in self._declared[seat]]

    def _make_declaration(self, seat: int, text: str) -> None:
        """Write a declaration down and show its cards."""
        points, cards = declarations(self._hands[seat], self.baba, self.sixteen)[text]
        self._declared[seat].append(text)
        self._declaration_points[seat] += points
        for card in cards:
            if card not in self._shown[seat]:
                self._shown[seat].append(card)

    def _declare_unasked(self) -> None:
        """Under "auto", a seat declares all it has on coming to its first turn."""
        seat = self.seat
        if self.declare == "auto" and seat is not None:
            for text in self._open_declarations(seat):
                self._make_declaration(seat, text)

    def _play(self, seat: int, card: str) -> None:
        """Put a card on the table."""
        self._hands[seat].remove(card)
        self._trick.append((seat, card))
        if len(self._trick) == NUM_PLAYERS:
            cards = [played for _, played in self._trick]
            winner = self._trick[trick_winner(cards)][0]
            self._tricks[winner] += 1
            self._piles[pair_of(winner)] += cards
            self._trick = []
            self._leader = winner
            if not self._hands[winner]:
                self._end_deal(winner)
        self._declare_unasked()

    def _end_deal(self, last_winner: int) -> None:
        """Score the deal, close the game if it is won, and pay what is due."""
        self._leader = None
        bonus = trick_bonus(self._tricks)
        for pair in (0, 1):
            declared = self._declaration_points[pair] + self._declaration_points[pair + 2]
            in_tricks = pile_points(self._piles[pair], self.aces)
            self._scores[pair] = declared + in_tricks + bonus[pair]
        self._scores[pair_of(last_winner)] += self.last_trick
        self._totals = [self._totals[pair] + self._scores[pair] for pair in (0, 1)]

        result = game_result(self._totals, self.target)
        if result is not None:
            winner, booked = result
            self._booked[winner] += booked
            self._games_won[winner] += 1
            self._game_ended = True

        if self._is_last_deal():
            self._phase = "over"
        else:
            self.dealer = (self.dealer + 1) % NUM_PLAYERS
            self._phase = "deal"
        self._pay()

    def _is_last_deal(self) -> bool:
        """Whether the deal just played was the last of the episode."""
        if self.horizon == "deal":
            return True
        games_to_play = 1 if self.horizon == "game" else self.games
        return sum(self._games_won) == games_to_play

    def _pay(self) -> None:
        """Pay the rewards that fall due at the end of a deal."""
        difference = float(self._scores[0] - self._scores[1])
        if self.reward == "points" or self.horizon == "deal":
            per_pair = [difference, 0.0 - difference]
        elif self.over:
            per_pair = payoff(self._booked)
        else:
            per_pair = [0.0, 0.0]
        for seat in range(NUM_PLAYERS):
            self._paid[seat] += per_pair[pair_of(seat)]
