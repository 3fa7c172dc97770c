"""What everybody knows about hidden cards in Семнадцать."""

from trysim.envs.rules.bits import n_bits
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import NOBODY
from trysim.envs.rules.semnadtsat import (
    CARDS_IN_PLAY,
    HAND_SIZE,
    MAY_HOLD,
    NAMER,
    PLAYED,
    THREES,
    n_players,
)

NAME = "facts"


@rule
def n_held(view: Row, seat: int) -> int:
    """How many cards the seat holds."""
    return view[HAND_SIZE] - n_bits(view[PLAYED + seat])


@rule
def n_stock(view: Row) -> int:
    """How many cards were not dealt."""
    return 0


@rule
def certain(view: Row, seat: int) -> int:
    """The cards that the seat holds for certain."""
    return 0


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
    """The threes: everybody has seen who has the most of them, or that nobody has."""
    return THREES & view[CARDS_IN_PLAY]


@rule
def special_fits(view: Row, counts: Row) -> bool:
    """Whether threes dealt in these numbers (seats,) make the seat name trumps that did."""
    namer, most = NOBODY, 0
    for seat in range(n_players(view)):
        if counts[seat] > most:
            most = counts[seat]
            namer = seat
        elif counts[seat] == most:
            namer = NOBODY
    return namer == view[NAMER]


@rule
def complete(world: Row, me: int, word: int) -> None:
    """Fill in what follows from the hands: nothing."""
