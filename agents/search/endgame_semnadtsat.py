"""What the endgame solver has to know of Семнадцать: every seat for itself, points as units."""

import numpy as np

from trysim.envs.rules import semnadtsat
from trysim.envs.rules.bits import lowest
from trysim.envs.rules.jit import Row, rule

NAME = "search_semnadtsat"
FIRST_WORD = semnadtsat.LEADER  # from here on, playing a card changes words
N_WORDS = semnadtsat.STATE.itemsize // 8
ENTRY_WORDS = 8  # of the solver's table: an outcome for each of five seats

_PLAIN = semnadtsat.ALL_CARDS & ~(semnadtsat.SEVENS | semnadtsat.TWOS)
LIKE = np.array(
    [
        next(s for s in (semnadtsat.SEVENS, semnadtsat.TWOS, _PLAIN) if s >> card & 1)
        & int(semnadtsat.SUIT_OF[card])
        for card in range(semnadtsat.N_CARDS)
    ],
    np.int64,
)  # the cards of its suit that count as much
_POINT_BITS = 6


# Units ------------------------------------------------------------------------------------------
@rule
def is_additive(state: Row) -> bool:
    """Whether only the points still to be taken matter, one as much as another."""
    return (
        state[semnadtsat.SCORING] != semnadtsat.SCORING_SEVENTEEN
        and state[semnadtsat.REWARD] != semnadtsat.REWARD_WIN
    )


@rule
def taken(state: Row, seat: int) -> int:
    """The points that a seat has taken."""
    return state[semnadtsat.POINTS + seat]


@rule
def conclude(state: Row, units: Row) -> None:
    """End the deal with these points taken by the seats; `units` (5,)."""
    for seat in range(semnadtsat.n_players(state)):
        state[semnadtsat.POINTS + seat] = units[seat]
    semnadtsat._end_deal(state)


@rule
def gain(state: Row, outcome: Row, seat: int) -> int:
    """How good an outcome is for a seat: its units ahead of the mean, or simply its worth."""
    if not is_additive(state):
        return outcome[seat]
    n = semnadtsat.n_players(state)
    ahead = n * outcome[seat]
    for other in range(n):
        ahead -= outcome[other]
    return ahead


@rule
def context(state: Row) -> int:
    """What was taken so far, as far as it matters, in at most 39 bits."""
    packed = 0
    for seat in range(semnadtsat.n_players(state)):
        packed |= state[semnadtsat.POINTS + seat] << _POINT_BITS * seat
    return packed


# Cards ------------------------------------------------------------------------------------------
@rule
def above(state: Row, card: int) -> int:
    """The cards of its suit that beat a card."""
    return semnadtsat.above(card, state[semnadtsat.LOW_JACKS])


@rule
def like(state: Row, card: int) -> int:
    """The cards of its suit that count as much as a card."""
    return LIKE[card]


@rule
def first(state: Row, cards: int, others: int) -> int:
    """The card to try next, of `cards`; `others` are those in the other hands."""
    return lowest(cards)
