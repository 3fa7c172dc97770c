"""What everybody knows about hidden cards in Семерик."""

from trysim.envs.rules.bits import n_bits
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.semerik import (
    BABA,
    BABA_RANKS,
    DECLARE,
    DECLARE_AUTO,
    DECLARE_OFF,
    DECLARED,
    HAND_SIZE,
    HANDS,
    MAY_HOLD,
    N_RANKS,
    N_SEATS,
    N_SUITS,
    OFFERS,
    PLAYED,
    RANK,
    SHOWN,
    combination_cards,
    combinations,
)

NAME = "facts"


@rule
def n_held(view: Row, seat: int) -> int:
    """How many cards the seat holds."""
    return HAND_SIZE - n_bits(view[PLAYED + seat])


@rule
def n_stock(view: Row) -> int:
    """How many cards were not dealt."""
    return 0


@rule
def certain(view: Row, seat: int) -> int:
    """The cards that the seat holds for certain: its declarations showed them."""
    return view[SHOWN + seat] & ~view[PLAYED + seat]


@rule
def may_hold(view: Row, seat: int, silence: bool) -> int:
    """The cards that the seat may hold, each taken by itself."""
    allowed = view[MAY_HOLD + seat]
    if not silence_tells(view, seat, silence):
        return allowed
    known = view[PLAYED + seat] | view[SHOWN + seat]
    for rank in range(N_RANKS):
        undeclared = not view[DECLARED + seat] >> N_SUITS + rank & 1
        if undeclared and n_bits(known & RANK[rank]) == 2:
            allowed &= ~RANK[rank]
    for suit in range(N_SUITS):
        key = BABA_RANKS[view[BABA]] << N_RANKS * suit
        if not view[DECLARED + seat] >> suit & 1 and n_bits(known & key) == 2:
            allowed &= ~(key & ~known)
    return allowed


@rule
def silence_tells(view: Row, seat: int, silence: bool) -> bool:
    """Whether what the seat did not declare it does not hold.

    So it is under `declare="auto"`; under "choice" it is a guess that `silence` makes.
    """
    spoke = view[PLAYED + seat] != 0  # its first card ended its time to declare
    return spoke and (view[DECLARE] == DECLARE_AUTO or (silence and view[DECLARE] != DECLARE_OFF))


@rule
def contradiction(world: Row, seat: int, silence: bool) -> int:
    """Cards of the seat that cannot all be there: a combination that it did not declare."""
    if not silence_tells(world, seat, silence):
        return 0
    hand = world[HANDS + seat] | world[PLAYED + seat]
    undeclared = combinations(world, hand) & ~world[DECLARED + seat]
    if not undeclared:
        return 0
    first = 0
    while not undeclared >> first & 1:
        first += 1
    return combination_cards(world, hand, first) & world[HANDS + seat]


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
    """Fill in what follows from the hands: what the others may declare."""
    if world[DECLARE] == DECLARE_OFF:
        return
    for seat in range(N_SEATS):
        if seat != me and world[PLAYED + seat] == 0:
            hand = world[HANDS + seat]
            world[OFFERS + seat] = combinations(world, hand) & ~world[DECLARED + seat]
