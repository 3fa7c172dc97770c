"""Exact endgames: what each action is worth under best play of all, all hands being known.

    work = new_workspace(game)
    SOLVERS[game.name](state, standing, values, work)

A solver plays on copies of the true row with the game's own `legal` and `apply`. What it must know
besides, it asks the game's module beside this file (`hooks` in the templates below):

    worth(state, standing, out)     what a finished deal is worth to each seat
    is_additive(state)              whether only what is still to be taken matters: *units*
    taken(state, seat)              units taken so far
    conclude(state, units)          end the deal with these units taken, by seat (side 0: the first)
    context(state) -> word          what was taken so far, as far as it matters
    above(state, card) -> set       the cards of its suit that beat a card
    like(state, card) -> set        the cards of its suit that count as much
    first(state, cards, others)     the card to try first

and `is_two_sided side to_come` where two sides play against each other, `gain` where every seat
plays for itself.

Two sides: alpha-beta with a bar instead of a window (does side 0 get more than the bar?), asked
again with other bars until the value is known. More: every seat chooses the outcome that is best
for itself, and of those the one that gives the next seat clockwise least, then the one after it:
a rule on outcomes alone, so that the order of search does not matter, and the rule of a player who
wants the others low if he cannot have more.

Positions between tricks are remembered. Their key is the cards left and the leader: the hands at
the start being given, a set of cards tells who holds each. If a deal is not additive, the context
is in the key. Worths are whole numbers of `GRAIN`, so that equal means equal after a division.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trysim.agents.search import semerik as semerik_hooks
from trysim.agents.search import semnadtsat as semnadtsat_hooks
from trysim.agents.search import sim_lystiv as sim_lystiv_hooks
from trysim.agents.search.borrow import borrowed, copy_words
from trysim.envs.engine import Floats
from trysim.envs.games import Game
from trysim.envs.rules import semerik, semnadtsat, sim_lystiv
from trysim.envs.rules.bits import lowest
from trysim.envs.rules.jit import Row, specialise
from trysim.envs.rules.row import NOBODY, SEAT

rules: Any = semerik  # in the templates below: the game module they are compiled for
hooks: Any = semerik_hooks  # … and what the solver has to know of it

Solver = Callable[[Row, Floats, Floats, "Workspace"], int]

GRAIN = 2.0**-30
MAX_TRICKS = 7  # to be solved; more would take too long anyway
_BIG = 1 << 62

# Words of an entry of the table: its key, then two bounds or the outcome of every seat
CARDS, CONTEXT, LOW, HIGH = range(4)
# Words of a frame: the same key, then
BEST, BAR, BASE, TODO, REST, IS_LOW, IS_ADDITIVE, HAS_ENDS, SOLVE, NODES = range(2, 12)
N_FRAME = 12
NOTHING = 0  # as the best of a frame that counts outcomes: none yet
N_ENDS = 32
_LEADER_SHIFT, _CONTEXT_BITS = 55, 40
_WITH_CONTEXT = 1 << _CONTEXT_BITS - 1
_MIX_CARDS, _MIX_CONTEXT, _MIX_SHIFT = 0x1E3779B97F4A7C15, 0x34D049BB133111EB, 35


class Workspace(NamedTuple):
    """What a solver writes on; made once, used for any number of solves of a game.

    `rows` (depth, words): the position asked about, one for each card played, one for deals' ends.
    `frames` (depth, N_FRAME): how far the search is with each of them.
    `outcomes` (depth, seats): the best outcome for the seat to act so far, by seat.
    `table` (a power of two, words of an entry): remembered positions.
    `ends` (N_ENDS,): with two sides, what so many units are worth to side 0, in grains.
    `worths` (seats,): what a finished deal is worth.
    """

    rows: Row
    frames: Row
    outcomes: Row
    table: Row
    ends: Row
    worths: Floats


# Rows -------------------------------------------------------------------------------------------
def copy_deal(source: Row, target: Row) -> None:
    """Copy what playing a card changes."""
    target[SEAT] = source[SEAT]
    copy_words(source, target, hooks.FIRST_WORD)


def copy_all(source: Row, target: Row) -> None:
    """Copy a row."""
    copy_words(source, target, 0)


def is_leading(state: Row) -> bool:
    """Whether a trick is about to begin."""
    return state[rules.N_PLAYED] == 0


def others(state: Row) -> int:
    """The cards in the hands of the seats that are not to act."""
    found = 0
    for seat in range(rules.N_SEATS):
        found |= state[rules.HANDS + seat]
    return found & ~state[rules.HANDS + state[SEAT]]


def alike(state: Row, card: int, cards: int, rest: int) -> int:
    """Those of `cards`, a part of one hand, that are worth as much to play as `card` is.

    They count the same, and none of the `rest` (cards of other hands) nor the best card on the
    table stands between them in rank.
    """
    if not is_leading(state):
        rest |= 1 << state[rules.BEST]
    beaten_by = hooks.above(state, card) & rest
    same = 1 << card
    cards &= hooks.like(state, card) & ~same
    while cards:
        other = lowest(cards)
        cards &= cards - 1
        if hooks.above(state, other) & rest == beaten_by:
            same |= 1 << other
    return same


def play_out(source: Row, state: Row) -> None:
    """Play the last trick of a deal, in which nobody has a choice, on `state`, a copy."""
    copy_all(source, state)
    while state[SEAT] != NOBODY:
        rules.apply(state, lowest(state[rules.HANDS + state[SEAT]]))


def has_choice(state: Row) -> bool:
    """Whether the trick is not the last: the seat to act, if there is one, has several cards."""
    if state[SEAT] == NOBODY:
        return False
    hand = state[rules.HANDS + state[SEAT]]
    return hand & (hand - 1) != 0


# Remembered positions ---------------------------------------------------------------------------
def set_key(state: Row, frame: Row) -> None:
    """Note the key of a position: cards left and leader, number of the solve and context."""
    frame[CARDS] = state[SEAT] << _LEADER_SHIFT
    for seat in range(rules.N_SEATS):
        frame[CARDS] |= state[rules.HANDS + seat]
    frame[CONTEXT] = frame[SOLVE] << _CONTEXT_BITS  # entries of earlier solves count for nothing
    if not frame[IS_ADDITIVE]:
        frame[CONTEXT] |= hooks.context(state) | _WITH_CONTEXT


def slot_of(frame: Row, table: Row) -> int:
    """The place of a position in the table."""
    mixed = (frame[CARDS] ^ frame[CONTEXT] * _MIX_CONTEXT) * _MIX_CARDS
    return mixed >> _MIX_SHIFT & (table.shape[0] - 1)


def is_of(entry: Row, frame: Row) -> bool:
    """Whether an entry is of the position of a frame."""
    return entry[CARDS] == frame[CARDS] and entry[CONTEXT] == frame[CONTEXT]


# Two sides --------------------------------------------------------------------------------------
def reach(work: Workspace, standing: Floats, bar: int) -> int:
    """A bound of side 0's outcome from the table at depth 1 on, that tells whether it beats `bar`.

    Above the bar: the outcome is at least that. Otherwise: at most that.
    """
    rows, frames, table, ends = work.rows, work.frames, work.table, work.ends
    frames[0, BAR] = bar
    depth = 1
    is_new = True
    while True:
        state, frame = rows[depth], frames[depth]
        if is_new:
            frame[NODES] += 1
            inherit(state, frame, frames[depth - 1], ends)
        if not is_new:
            settled = take_bound(state, frame, frames[depth + 1], table, ends)
        elif has_choice(state):
            settled = open_side(state, frame, table)
        else:
            settled = True
            frame[BEST] = side_outcome(state, frame, work, standing)
        if not settled:
            play_next(state, frame, rows[depth + 1])
            depth += 1
        elif depth > 1:
            depth -= 1
        else:
            return frame[BEST]
        is_new = not settled


def inherit(state: Row, frame: Row, before: Row, ends: Row) -> None:
    """Take bar and kind over from the position before, or begin to count units if now we may."""
    frame[BAR], frame[IS_ADDITIVE] = before[BAR], before[IS_ADDITIVE]
    if frame[IS_ADDITIVE] or not frame[HAS_ENDS] or state[SEAT] == NOBODY:
        return
    if hooks.is_additive(state):
        frame[IS_ADDITIVE] = 1
        units = hooks.taken(state, 0)
        most = units + hooks.to_come(state)
        while units <= most and ends[units] <= before[BAR]:
            units += 1
        frame[BAR] = units - 1


def play_next(state: Row, frame: Row, after: Row) -> None:
    """Play the next card to try on `after`; the cards alike need not be tried."""
    card = hooks.first(state, frame[TODO], frame[REST])
    frame[TODO] &= ~alike(state, card, frame[TODO], frame[REST])
    copy_deal(state, after)
    rules.apply(after, card)


def open_side(state: Row, frame: Row, table: Row) -> bool:
    """Begin with a position; whether its bound is known at once."""
    frame[BASE] = 0
    if frame[IS_ADDITIVE] and is_clear(state, frame):
        return True
    if is_leading(state) and recall_bound(state, frame, table):
        return True
    frame[IS_LOW] = hooks.side(state, state[SEAT])
    frame[BEST] = _BIG if frame[IS_LOW] else -_BIG
    frame[REST] = others(state)
    frame[TODO] = rules.legal(state)
    return False


def is_clear(state: Row, frame: Row) -> bool:
    """Whether the units that a side is sure of already tell on which side of the bar we end."""
    frame[BASE] = least = hooks.taken(state, 0)
    most = least + hooks.to_come(state)
    if least <= frame[BAR] < most:
        secured = hooks.secured(state)
        least += max(secured, 0)
        most += min(secured, 0)
    frame[BEST] = least if least > frame[BAR] else most
    return least > frame[BAR] or most <= frame[BAR]


def recall_bound(state: Row, frame: Row, table: Row) -> bool:
    """Whether the table has a bound that tells on which side of the bar we end."""
    set_key(state, frame)
    entry = table[slot_of(frame, table)]
    if not is_of(entry, frame):
        return False
    if entry[LOW] + frame[BASE] > frame[BAR]:
        frame[BEST] = entry[LOW] + frame[BASE]
        return True
    frame[BEST] = entry[HIGH] + frame[BASE]
    return frame[BEST] <= frame[BAR]


def take_bound(state: Row, frame: Row, after: Row, table: Row, ends: Row) -> bool:
    """Take the bound of the card last tried in; whether that settles the position."""
    bound = after[BEST]
    if after[IS_ADDITIVE] and not frame[IS_ADDITIVE]:
        bound = ends[bound]
    if frame[IS_LOW]:
        frame[BEST] = min(frame[BEST], bound)
    else:
        frame[BEST] = max(frame[BEST], bound)
    if frame[TODO] and (frame[BEST] > frame[BAR]) == (frame[IS_LOW] != 0):
        return False
    if is_leading(state):
        remember_bound(frame, table)
    return True


def remember_bound(frame: Row, table: Row) -> None:
    """Put a bound into the table."""
    entry = table[slot_of(frame, table)]
    if not is_of(entry, frame):
        entry[CARDS], entry[CONTEXT] = frame[CARDS], frame[CONTEXT]
        entry[LOW], entry[HIGH] = -_BIG, _BIG
    if frame[BEST] > frame[BAR]:
        entry[LOW] = frame[BEST] - frame[BASE]
    else:
        entry[HIGH] = frame[BEST] - frame[BASE]


def side_outcome(state: Row, frame: Row, work: Workspace, standing: Floats) -> int:
    """Side 0's outcome when nobody has a choice any more: units, or its worth in grains."""
    end = work.rows[work.rows.shape[0] - 1]
    play_out(state, end)
    if frame[IS_ADDITIVE]:
        return hooks.taken(end, 0)
    return side_worth(end, work, standing)


def side_worth(end: Row, work: Workspace, standing: Floats) -> int:
    """What a finished deal is worth to side 0, in grains."""
    hooks.worth(end, standing, work.worths)
    return np.int64(np.round(work.worths[hooks.first_seat(end)] / GRAIN))


def find_ends(work: Workspace, standing: Floats) -> bool:
    """Write what every possible number of units is worth to side 0; whether more is never less."""
    root, end = work.rows[0], work.rows[work.rows.shape[0] - 1]
    least = hooks.taken(root, 0)
    for units in range(least, least + hooks.to_come(root) + 1):
        copy_all(root, end)
        work.outcomes[0, 0] = units
        hooks.conclude(end, work.outcomes[0])
        work.ends[units] = side_worth(end, work, standing)
        if units > least and work.ends[units] < work.ends[units - 1]:
            return False
    return True


def side_units(work: Workspace, standing: Floats, guess: int) -> int:
    """Side 0's units from the table at depth 1 on, or as many as are worth the same."""
    low = hooks.taken(work.rows[0], 0)
    high = low + hooks.to_come(work.rows[0])
    ends = work.ends
    bar = guess - 1
    while ends[low] != ends[high]:
        bar = min(max(bar, low), high - 1)
        while bar > low and ends[bar] == ends[bar + 1]:
            bar -= 1
        while ends[bar] == ends[bar + 1]:
            bar += 1
        bound = reach(work, standing, bar)
        if bound > bar:
            low = bar = bound
        else:
            high = bound
            bar = bound - 1
    return low


def side_value(work: Workspace, standing: Floats, guess: int) -> int:
    """Side 0's worth, in grains, from the table at depth 1 on."""
    low, high = -_BIG, _BIG
    bar = guess - 1
    while low < high:
        bound = reach(work, standing, bar)
        if bound > bar:
            low = bar = bound
        else:
            high = bound
            bar = bound - 1
    return low


def solve_sides(state: Row, standing: Floats, values: Floats, work: Workspace) -> int:
    """`solve` for two sides."""
    work, standing = borrow_all(work), borrowed(standing)
    begin(state, values, work)
    root = work.rows[0]
    work.frames[:, HAS_ENDS] = find_ends(work, standing)
    is_additive = hooks.is_additive(root) and work.frames[0, HAS_ENDS]
    work.frames[0, IS_ADDITIVE] = is_additive
    sign = 1.0 if hooks.side(root, root[SEAT]) == 0 else -1.0
    rest = others(root)
    todo = rules.legal(root)
    guess = hooks.taken(root, 0) + hooks.to_come(root) // 2 if is_additive else 0
    while todo:
        actions = play_root(root, todo, rest, work.rows[1])
        todo &= ~actions
        if is_additive:
            guess = side_units(work, standing, guess)
            write(actions, sign * work.ends[guess] * GRAIN, values)
        else:
            guess = side_value(work, standing, guess)
            write(actions, sign * guess * GRAIN, values)
    return work.frames[:, NODES].sum()


# Every seat for itself --------------------------------------------------------------------------
def explore(work: Workspace, standing: Floats) -> None:
    """Write the outcome of the table at depth 1 into `outcomes[1]`."""
    rows, frames, outcomes, table = work.rows, work.frames, work.outcomes, work.table
    depth = 1
    is_new = True
    while True:
        state, frame, outcome = rows[depth], frames[depth], outcomes[depth]
        if not is_new:
            settled = take_outcome(state, frame, table, outcome, outcomes[depth + 1])
        elif has_choice(state):
            frame[NODES] += 1
            settled = open_seat(state, frame, table, outcome)
        else:
            frame[NODES] += 1
            settled = True
            last_outcome(state, frame, outcome, work, standing)
        if not settled:
            play_next(state, frame, rows[depth + 1])
            depth += 1
        elif depth > 1:
            depth -= 1
        else:
            return
        is_new = not settled


def open_seat(state: Row, frame: Row, table: Row, outcome: Row) -> bool:
    """Begin with a position; whether the table knows its outcome."""
    if is_leading(state):
        set_key(state, frame)
        entry = table[slot_of(frame, table)]
        if is_of(entry, frame):
            for seat in range(rules.N_SEATS):
                outcome[seat] = entry[LOW + seat]
            add_taken(state, frame, outcome, 1)
            return True
    frame[BEST] = NOTHING
    frame[REST] = others(state)
    frame[TODO] = rules.legal(state)
    return False


def add_taken(state: Row, frame: Row, outcome: Row, times: int) -> None:
    """Add the units taken so far to an outcome that is counted in them."""
    if frame[IS_ADDITIVE]:
        for seat in range(rules.N_SEATS):
            outcome[seat] += times * hooks.taken(state, seat)


def take_outcome(state: Row, frame: Row, table: Row, outcome: Row, new: Row) -> bool:
    """Take the outcome of the card last tried in; whether that settles the position."""
    if frame[BEST] == NOTHING or prefers(state, state[SEAT], new, outcome):
        frame[BEST] = 1
        for seat in range(rules.N_SEATS):
            outcome[seat] = new[seat]
    if frame[TODO]:
        return False
    if is_leading(state):
        entry = table[slot_of(frame, table)]
        entry[CARDS], entry[CONTEXT] = frame[CARDS], frame[CONTEXT]
        for seat in range(rules.N_SEATS):
            entry[LOW + seat] = outcome[seat]
        add_taken(state, frame, entry[LOW:], -1)
    return True


def prefers(state: Row, seat: int, new: Row, old: Row) -> bool:
    """Whether a seat would rather have the new outcome: more for itself, else less for the next."""
    n = rules.n_players(state)
    for k in range(n):
        other = (seat + k) % n
        more = hooks.gain(state, new, other) - hooks.gain(state, old, other)
        if more:
            return (more > 0) == (k == 0)
    return False


def last_outcome(state: Row, frame: Row, outcome: Row, work: Workspace, standing: Floats) -> None:
    """Write the outcome when nobody has a choice any more: units, or worths in grains."""
    end = work.rows[work.rows.shape[0] - 1]
    play_out(state, end)
    if frame[IS_ADDITIVE]:
        for seat in range(rules.N_SEATS):
            outcome[seat] = hooks.taken(end, seat)
        return
    hooks.worth(end, standing, work.worths)
    for seat in range(rules.N_SEATS):
        outcome[seat] = np.int64(np.round(work.worths[seat] / GRAIN))


def seat_worth(seat: int, work: Workspace, standing: Floats) -> float:
    """What the outcome at depth 1 is worth to a seat."""
    outcome = work.outcomes[1]
    if not work.frames[0, IS_ADDITIVE]:
        return outcome[seat] * GRAIN
    end = work.rows[work.rows.shape[0] - 1]
    copy_all(work.rows[0], end)
    hooks.conclude(end, outcome)
    hooks.worth(end, standing, work.worths)
    return work.worths[seat]


def solve_seats(state: Row, standing: Floats, values: Floats, work: Workspace) -> int:
    """`solve` for seats that play each for itself."""
    work, standing = borrow_all(work), borrowed(standing)
    begin(state, values, work)
    root = work.rows[0]
    work.frames[:, IS_ADDITIVE] = hooks.is_additive(root)
    rest = others(root)
    todo = rules.legal(root)
    while todo:
        actions = play_root(root, todo, rest, work.rows[1])
        todo &= ~actions
        explore(work, standing)
        write(actions, seat_worth(root[SEAT], work, standing), values)
    return work.frames[:, NODES].sum()


# All --------------------------------------------------------------------------------------------
def solve(state: Row, standing: Floats, values: Floats, work: Workspace) -> int:
    """Write what each legal action is worth to the seat to act, NaN for the others.

    `state` is a table as it is, all hands known, late in a deal; `values` (actions,). Returns the
    number of positions looked at.
    """
    if hooks.is_two_sided(state):
        return solve_sides(state, standing, values, work)
    return solve_seats(state, standing, values, work)


def borrow_all(work: Workspace) -> Workspace:
    """The workspace with all arrays borrowed."""
    return Workspace(
        borrowed(work.rows),
        borrowed(work.frames),
        borrowed(work.outcomes),
        borrowed(work.table),
        borrowed(work.ends),
        borrowed(work.worths),
    )


def begin(state: Row, values: Floats, work: Workspace) -> None:
    """Make ready for a solve."""
    values[:] = np.nan
    for depth in range(work.rows.shape[0]):
        copy_all(state, work.rows[depth])
        work.frames[depth, SOLVE] += 1
        work.frames[depth, NODES] = 0


def play_root(root: Row, todo: int, rest: int, after: Row) -> int:
    """Play one of the actions to do on `after`; returns the set of those worth the same."""
    action = lowest(todo)
    copy_all(root, after)
    rules.apply(after, action)
    return alike(root, action, todo, rest)


def write(actions: int, value: float, values: Floats) -> None:
    """Write the value of some actions."""
    while actions:
        values[lowest(actions)] = value
        actions &= actions - 1


_SHARED = (
    copy_deal, copy_all, is_leading, others, alike, play_out, has_choice, set_key, slot_of, is_of,
    play_next, borrow_all, begin, play_root, write,
)  # fmt: skip
_SIDES = (
    inherit, is_clear, recall_bound, open_side, remember_bound, take_bound, side_worth, side_outcome, reach, find_ends,
    side_units, side_value, solve_sides,
)  # fmt: skip
_SEATS = (
    add_taken, open_seat, prefers, take_outcome, last_outcome, explore, seat_worth, solve_seats,
)  # fmt: skip
HOOKS = {"semerik": semerik_hooks, "semnadtsat": semnadtsat_hooks, "sim_lystiv": sim_lystiv_hooks}
SOLVERS: dict[str, Solver] = {
    "semerik": specialise((*_SHARED, *_SIDES), rules=semerik, hooks=semerik_hooks).solve_sides,
    "semnadtsat": specialise(
        (*_SHARED, *_SEATS), rules=semnadtsat, hooks=semnadtsat_hooks
    ).solve_seats,
    "sim_lystiv": specialise(
        (*_SHARED, *_SIDES, *_SEATS, solve), rules=sim_lystiv, hooks=sim_lystiv_hooks
    ).solve,
}


def new_workspace(game: Game, n_entries: int = 1 << 13) -> Workspace:
    """A workspace for a game, with room for so many positions (a power of two)."""
    module: Any = HOOKS[game.name]
    depth = MAX_TRICKS * game.n_seats + 2
    return Workspace(
        rows=np.zeros((depth, game.n_words), np.int64),
        frames=np.zeros((depth, N_FRAME), np.int64),
        outcomes=np.zeros((depth, game.n_seats), np.int64),
        table=np.zeros((n_entries, module.ENTRY_WORDS), np.int64),
        ends=np.zeros(N_ENDS, np.int64),
        worths=np.zeros(game.n_seats),
    )
