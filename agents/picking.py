"""Picking cards from sets, for rule players: compiled functions of bit sets."""

from trysim.envs.rules.bits import lowest
from trysim.envs.rules.jit import rule


@rule
def lowest_rank(cards: int, n_ranks: int) -> int:
    """The card of the lowest rank (by place in the deck), of the first suit among equals."""
    best = lowest(cards)
    while cards:
        card = lowest(cards)
        if card % n_ranks < best % n_ranks:
            best = card
        cards &= cards - 1
    return best


@rule
def highest_rank(cards: int, n_ranks: int) -> int:
    """The card of the highest rank (by place in the deck), of the first suit among equals."""
    best = lowest(cards)
    while cards:
        card = lowest(cards)
        if card % n_ranks > best % n_ranks:
            best = card
        cards &= cards - 1
    return best
