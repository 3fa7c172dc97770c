"""What everybody knows about hidden cards in Сім листів."""

import numpy as np

from trysim.envs.engine import below, next_word, random_bits
from trysim.envs.rules.bits import n_bits
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import CUT, PHASE
from trysim.envs.rules.sim_lystiv import (
    DEALER,
    HAND_SIZE,
    MAY_HOLD,
    N_ACTIVE,
    N_CARDS,
    PLAYED,
    TRUMP_CARD,
    holds_cards,
    lay_penalty_deck,
)

NAME = "facts"


@rule
def n_held(view: Row, seat: int) -> int:
    """How many cards the seat holds."""
    return HAND_SIZE - n_bits(view[PLAYED + seat]) if holds_cards(view, seat) else 0


@rule
def n_stock(view: Row) -> int:
    """How many cards were not dealt."""
    return N_CARDS - HAND_SIZE * view[N_ACTIVE]


@rule
def certain(view: Row, seat: int) -> int:
    """The cards that the seat holds for certain: the dealer the one turned up."""
    return (1 << view[TRUMP_CARD]) & ~view[PLAYED + seat] if seat == view[DEALER] else 0


@rule
def may_hold(view: Row, seat: int, silence: bool) -> int:
    """The cards that the seat may hold, each taken by itself."""
    return view[MAY_HOLD + seat]


@rule
def contradiction(world: Row, seat: int, silence: bool) -> int:
    """Cards of the seat that cannot all be there."""
    return 0


@rule
def special(view: Row) -> int:
    """The cards whose places are settled together: none."""
    return 0


@rule
def special_fits(view: Row, counts: Row) -> bool:
    """Whether these numbers of special cards by seat can be."""
    return True


@rule
def complete(world: Row, me: int, word: int) -> None:
    """Fill in what else is hidden: while the loser is to cut, the order of the penalty's deck."""
    if world[PHASE] != CUT:
        return
    deck = np.arange(N_CARDS)
    for i in range(N_CARDS - 1, 0, -1):
        word = next_word(word)
        j = below(random_bits(word), i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    lay_penalty_deck(world, deck)
