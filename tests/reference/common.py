"""Small helpers that the three reference games share.

A card is a two-letter text, rank then suit. A trick is a list of ``(seat, card)`` pairs in the
order in which the cards were played.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

SUITS = ("C", "D", "H", "S")

Trick = list[tuple[int, str]]


def rank_of(card: str) -> str:
    """The rank letter of a card."""
    return card[0]


def suit_of(card: str) -> str:
    """The suit letter of a card."""
    return card[1]


def make_deck(ranks: Iterable[str], suits: Iterable[str] = SUITS) -> list[str]:
    """Every card that has one of the ranks and one of the suits."""
    suit_list = list(suits)
    return [rank + suit for rank in ranks for suit in suit_list]


def next_active(seat: int, active: Sequence[int], num_players: int) -> int:
    """The first active seat met when walking clockwise from `seat` (not `seat` at once)."""
    for step in range(1, num_players + 1):
        candidate = (seat + step) % num_players
        if candidate in active:
            return candidate
    raise ValueError("no active seat")


def strongest(cards: Sequence[str], strength: Callable[[str, str], tuple[int, int]]) -> int:
    """Index of the card that wins; `strength` gets a card and the suit that was led."""
    led = suit_of(cards[0])
    values = [strength(card, led) for card in cards]
    return values.index(max(values))


def pick(options: Mapping[str, Any], name: str, default: Any, allowed: Sequence[Any] = ()) -> Any:
    """Read one option; with `allowed` given, any other value is refused."""
    value = options.get(name, default)
    if allowed and value not in allowed:
        raise ValueError(f"option {name}={value!r} is not one of {list(allowed)}")
    return value


def check_dealer(dealer: int, num_players: int) -> int:
    """Return the dealer's seat, or complain when there is no such seat."""
    if dealer not in range(num_players):
        raise ValueError(f"no seat {dealer} among {num_players} players")
    return dealer


def check_hands(hands: Sequence[Sequence[str]], sizes: Sequence[int], deck: Sequence[str]) -> None:
    """Complain unless the hands have the given sizes and hold distinct cards of the deck."""
    if [len(hand) for hand in hands] != list(sizes):
        raise ValueError(f"hands of {[len(hand) for hand in hands]} cards, not {list(sizes)}")
    dealt = [card for hand in hands for card in hand]
    if len(set(dealt)) != len(dealt):
        raise ValueError("a card was dealt twice")
    strangers = sorted(set(dealt) - set(deck))
    if strangers:
        raise ValueError(f"cards that are not in the deck: {strangers}")


def table(trick: Trick) -> list[list[Any]]:
    """A trick as plain lists."""
    return [[seat, card] for seat, card in trick]
