"""Exact endgames: what each action is worth under best play of all, all hands being known.

    work = new_workspace(game)
    SOLVERS[game.name](state, standing, values, work)

A solver plays on copies of the true row with the game's own `legal` and `apply`. What it must know
besides, it asks the game's module beside this file (`hooks` in the templates below):

    is_additive(state)              whether only what is still to be taken matters: *units*
    taken(state, seat)              units taken so far, by the seat or, with two sides, by side 0
    conclude(state, units)          end the deal with these units taken
    context(state) -> word          what was taken so far, as far as it matters: 39 bits
    above(state, card) -> set       the cards of its suit that beat a card
    like(state, card) -> set        the cards of its suit that count as much

with two sides also

    side(state, seat)               the seat's side, 0 or 1
    first_seat(state)               a seat of side 0
    second_seat(state)              a seat of side 1
    to_come(state)                  units not taken yet
    secured(state)                  those that side 0 is sure of, or minus those of side 1
    first(state, cards, others)     the card to try first

and where every seat plays for itself `gain(state, outcome, seat)`, how good an outcome is. What a
finished deal is worth `worths` say. In the hooks a state is a row of bare words.

Two sides: alpha-beta with a bar instead of a window (does side 0 get more than the bar?), asked
again with other bars until the value is known. More: every seat chooses the outcome that is best
for itself, and of those the one that gives the next seat clockwise least, then the one after it:
a rule on outcomes alone, so that the order of search does not matter, and the rule of a player who
wants the others low if he cannot have more.

Positions between tricks are remembered. Their key is the cards left and the leader: the hands at
the start being given, a set of cards tells who holds each. Where units do not suffice, the context
is in the key. Worths are whole numbers of `GRAIN`, so that equal means equal after a division.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trysim.agents.search import endgame_semerik as semerik_hooks
from trysim.agents.search import endgame_semnadtsat as semnadtsat_hooks
from trysim.agents.search import endgame_sim_lystiv as sim_lystiv_hooks
from trysim.agents.search import worth_semerik
from trysim.agents.search.standing import WORTHS
from trysim.agents.search.words import copy_words, row_at
from trysim.envs.engine import Floats
from trysim.envs.games import Game
from trysim.envs.rules import semerik, semnadtsat, sim_lystiv
from trysim.envs.rules.bits import lowest
from trysim.envs.rules.jit import Row, specialise
from trysim.envs.rules.row import NOBODY, SEAT

rules: Any = semerik  # in the templates below: the game module they are compiled for
hooks: Any = semerik_hooks  # … what the solver has to know of it
worths: Any = worth_semerik  # … and what its deals are worth

Solver = Callable[[Row, Floats, Floats, "Workspace"], int]

GRAIN = 2.0**-30
MAX_TRICKS = 7  # to be solved; more would take too long anyway
N_ENDS = 32  # more than a deal has units, where there are two sides
_BIG = 1 << 62
_NONE, _SOME = 0, 1  # as the best of a frame, where outcomes are kept: whether there is one

# Words of an entry of the table: its key, then two bounds or the outcome of every seat
CARDS, CONTEXT, LOW, HIGH = range(4)
# Words of a frame: the same key and its place in the table, then how far the search is
SLOT, BEST, BAR, BASE, UNTRIED, REST, IS_LOW, IS_ADDITIVE, HAS_ENDS, SOLVE, LAST_SLOT, NODES = (
    range(2, 14)
)
N_FRAME = 14
_LEADER_SHIFT, _CONTEXT_BITS = 55, 40
_WITH_CONTEXT = 1 << _CONTEXT_BITS - 1
_MIX_CARDS, _MIX_CONTEXT, _MIX_SHIFT = 0x1E3779B97F4A7C15, 0x34D049BB133111EB, 35


class Workspace(NamedTuple):
    """What a solver writes on; made once, used for any number of solves of a game.

    `rows` (depth, words): the position asked about, one for each card played, one for deals' ends.
    `frames` (depth, N_FRAME): how far the search is with each of them.
    `outcomes` (depth, seats): the best outcome for the seat to act so far, by seat.
    `table` (a power of two, words of an entry): remembered positions.
    `ends` (1, N_ENDS): with two sides, what so many units are worth to side 0, in grains.
    `worths` (seats,) float64: what a finished deal is worth.
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
    copy_words(source, target, hooks.FIRST_WORD, hooks.N_WORDS)


def copy_all(source: Row, target: Row) -> None:
    """Copy a row."""
    copy_words(source, target, 0, hooks.N_WORDS)


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
    same = 1 << card
    cards &= hooks.like(state, card) & ~same
    if not cards:
        return same
    if not is_leading(state):
        rest |= 1 << state[rules.BEST]
    beaten_by = hooks.above(state, card) & rest
    while cards:
        other = lowest(cards)
        cards &= cards - 1
        if hooks.above(state, other) & rest == beaten_by:
            same |= 1 << other
    return same


def has_choice(state: Row) -> bool:
    """Whether the trick is not the last: the seat to act, if there is one, has several cards."""
    if state[SEAT] == NOBODY:
        return False
    hand = state[rules.HANDS + state[SEAT]]
    return hand & (hand - 1) != 0


def play_out(source: Row, state: Row) -> None:
    """Play the last trick of a deal, in which nobody has a choice, on `state`, a copy."""
    copy_all(source, state)
    while state[SEAT] != NOBODY:
        rules.apply(state, lowest(state[rules.HANDS + state[SEAT]]))


# A position in the search -----------------------------------------------------------------------
def open_frame(state: Row, frame: Row) -> None:
    """Begin with a position: note what is to be tried, and between tricks the key."""
    frame[REST] = others(state)
    frame[UNTRIED] = rules.legal(state)
    if is_leading(state):
        set_key(state, frame)


def set_key(state: Row, frame: Row) -> None:
    """Note the key of a position: cards left and leader, number of the solve and context."""
    frame[CARDS] = state[SEAT] << _LEADER_SHIFT | state[rules.HANDS + state[SEAT]] | frame[REST]
    frame[CONTEXT] = frame[SOLVE] << _CONTEXT_BITS  # entries of earlier solves count for nothing
    if not frame[IS_ADDITIVE]:
        frame[CONTEXT] |= hooks.context(state) | _WITH_CONTEXT
    mixed = (frame[CARDS] ^ frame[CONTEXT] * _MIX_CONTEXT) * _MIX_CARDS
    frame[SLOT] = mixed >> _MIX_SHIFT & frame[LAST_SLOT]


def is_of(entry: Row, frame: Row) -> bool:
    """Whether an entry of the table is of the position of a frame."""
    return entry[CARDS] == frame[CARDS] and entry[CONTEXT] == frame[CONTEXT]


def play_next(state: Row, frame: Row, after: Row) -> None:
    """Play the next card to try on `after`; the cards alike need not be tried."""
    card = hooks.first(state, frame[UNTRIED], frame[REST])
    frame[UNTRIED] &= ~alike(state, card, frame[UNTRIED], frame[REST])
    copy_deal(state, after)
    rules.apply(after, card)


# Two sides --------------------------------------------------------------------------------------
def reach(work: Workspace, standing: Floats, bar: int) -> int:
    """A bound of side 0's outcome from the table at depth 1 on, that tells whether it beats `bar`.

    Above the bar: the outcome is at least that. Otherwise: at most that.
    """
    rows, frames, table, ends = work.rows, work.frames, work.table, row_at(work.ends, 0)
    end = row_at(rows, rows.shape[0] - 1)
    frames[0, BAR] = bar
    depth = 1
    is_new = True
    while True:
        state, frame = row_at(rows, depth), row_at(frames, depth)
        if not is_new:
            settled = take_bound(frame, row_at(frames, depth + 1), ends)
            if settled and is_leading(state):
                remember_bound(frame, row_at(table, frame[SLOT]))
        else:
            inherit(state, frame, row_at(frames, depth - 1), ends)
            settled = True
            if not has_choice(state):
                play_out(state, end)
                if frame[IS_ADDITIVE]:
                    frame[BEST] = hooks.taken(end, 0)
                else:
                    frame[BEST] = side_worth(work, standing)
            elif not is_clear(state, frame):
                open_side(state, frame)
                settled = is_leading(state) and recall_bound(frame, row_at(table, frame[SLOT]))
        if not settled:
            play_next(state, frame, row_at(rows, depth + 1))
            depth += 1
        elif depth > 1:
            depth -= 1
        else:
            return bound_of(frame, row_at(frames, 0), ends)
        is_new = not settled


def inherit(state: Row, frame: Row, before: Row, ends: Row) -> None:
    """Take bar and kind over from the position before, or begin to count units if now we may."""
    frame[NODES] += 1
    frame[BAR] = before[BAR]
    frame[IS_ADDITIVE] = before[IS_ADDITIVE]
    if frame[IS_ADDITIVE] or not frame[HAS_ENDS] or state[SEAT] == NOBODY:
        return
    if hooks.is_additive(state):
        frame[IS_ADDITIVE] = 1
        units = hooks.taken(state, 0)
        most = units + hooks.to_come(state)
        while units <= most and ends[units] <= before[BAR]:
            units += 1
        frame[BAR] = units - 1


def is_clear(state: Row, frame: Row) -> bool:
    """Whether the units that a side is sure of already tell on which side of the bar we end."""
    frame[BASE] = 0
    if not frame[IS_ADDITIVE]:
        return False
    frame[BASE] = least = hooks.taken(state, 0)
    most = least + hooks.to_come(state)
    if least <= frame[BAR] < most:
        secured = hooks.secured(state)
        least += max(secured, 0)
        most += min(secured, 0)
    frame[BEST] = least if least > frame[BAR] else most
    return least > frame[BAR] or most <= frame[BAR]


def open_side(state: Row, frame: Row) -> None:
    """Begin with a position of two sides."""
    open_frame(state, frame)
    frame[IS_LOW] = hooks.side(state, state[SEAT])
    frame[BEST] = _BIG if frame[IS_LOW] else -_BIG


def recall_bound(frame: Row, entry: Row) -> bool:
    """Whether the table has a bound that tells on which side of the bar we end."""
    if not is_of(entry, frame):
        return False
    low, high = entry[LOW] + frame[BASE], entry[HIGH] + frame[BASE]
    if low <= frame[BAR] < high:
        return False
    frame[BEST] = low if low > frame[BAR] else high
    return True


def take_bound(frame: Row, after: Row, ends: Row) -> bool:
    """Take the bound of the card last tried in; whether that settles the position."""
    bound = bound_of(after, frame, ends)
    if frame[IS_LOW]:
        frame[BEST] = min(frame[BEST], bound)
    else:
        frame[BEST] = max(frame[BEST], bound)
    return frame[UNTRIED] == 0 or (frame[BEST] > frame[BAR]) != (frame[IS_LOW] != 0)


def bound_of(frame: Row, before: Row, ends: Row) -> int:
    """The bound of a position in the terms of the position before: units, or grains of worth."""
    if frame[IS_ADDITIVE] and not before[IS_ADDITIVE]:
        return ends[frame[BEST]]
    return frame[BEST]


def remember_bound(frame: Row, entry: Row) -> None:
    """Put a bound into the table."""
    if not is_of(entry, frame):
        entry[CARDS], entry[CONTEXT] = frame[CARDS], frame[CONTEXT]
        entry[LOW], entry[HIGH] = -_BIG, _BIG
    if frame[BEST] > frame[BAR]:
        entry[LOW] = frame[BEST] - frame[BASE]
    else:
        entry[HIGH] = frame[BEST] - frame[BASE]


def side_worth(work: Workspace, standing: Floats) -> int:
    """How much more the deal in the last row is worth to side 0 than to side 1, in grains."""
    last = work.rows.shape[0] - 1
    worths.worth(work.rows[last], standing, work.worths)
    end = row_at(work.rows, last)
    ahead = work.worths[hooks.first_seat(end)] - work.worths[hooks.second_seat(end)]
    return np.int64(np.round(ahead / GRAIN))


def find_ends(work: Workspace, standing: Floats) -> bool:
    """Write how far every number of units puts side 0 ahead; whether more is never less."""
    root, end = row_at(work.rows, 0), row_at(work.rows, work.rows.shape[0] - 1)
    units, ends = row_at(work.outcomes, 0), row_at(work.ends, 0)
    least = hooks.taken(root, 0)
    for n in range(least, least + hooks.to_come(root) + 1):
        copy_all(root, end)
        units[0] = n
        hooks.conclude(end, units)
        ends[n] = side_worth(work, standing)
        if n > least and ends[n] < ends[n - 1]:
            return False
    return True


def worth_of_units(work: Workspace, standing: Floats, units: int) -> float:
    """What so many units for side 0 are worth to the seat to act."""
    root, end = row_at(work.rows, 0), row_at(work.rows, work.rows.shape[0] - 1)
    copy_all(root, end)
    row_at(work.outcomes, 0)[0] = units
    hooks.conclude(end, row_at(work.outcomes, 0))
    worths.worth(work.rows[work.rows.shape[0] - 1], standing, work.worths)
    return work.worths[root[SEAT]]


def side_units(work: Workspace, standing: Floats, guess: int) -> int:
    """Side 0's units from the table at depth 1 on, or as many as are worth the same."""
    root, ends = row_at(work.rows, 0), row_at(work.ends, 0)
    low = hooks.taken(root, 0)
    high = low + hooks.to_come(root)
    bar = guess - 1
    while ends[low] != ends[high]:
        bound = reach(work, standing, last_alike(ends, low, high, bar))
        bar = work.frames[0, BAR]
        if bound > bar:
            low = bar = bound
        else:
            high = bound
            bar = bound - 1
    return low


def last_alike(ends: Row, low: int, high: int, units: int) -> int:
    """The place in low..high - 1 nearest to `units`, lower if possible, behind which ends rise."""
    units = min(max(units, low), high - 1)
    while units > low and ends[units] == ends[units + 1]:
        units -= 1
    while ends[units] == ends[units + 1]:
        units += 1
    return units


def side_value(work: Workspace, standing: Floats, guess: int) -> int:
    """How far side 0 will be ahead, in grains, from the table at depth 1 on."""
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
    begin(state, values, work)
    root = row_at(work.rows, 0)
    has_ends = find_ends(work, standing)
    is_additive = has_ends and hooks.is_additive(root)
    work.frames[:, HAS_ENDS] = has_ends
    work.frames[0, IS_ADDITIVE] = is_additive
    sign = 1.0 if hooks.side(root, root[SEAT]) == 0 else -1.0
    guess = hooks.taken(root, 0) + hooks.to_come(root) // 2 if is_additive else 0
    rest, todo = others(root), rules.legal(root)
    while todo:
        actions = play_root(root, todo, rest, row_at(work.rows, 1))
        todo &= ~actions
        if is_additive:
            guess = side_units(work, standing, guess)
            write(actions, worth_of_units(work, standing, guess), values)
        else:
            guess = side_value(work, standing, guess)
            both = work.worths[hooks.first_seat(root)] + work.worths[hooks.second_seat(root)]
            write(actions, (both + sign * guess * GRAIN) / 2, values)  # the sum never changes
    return work.frames[:, NODES].sum()


# Every seat for itself --------------------------------------------------------------------------
def explore(work: Workspace, standing: Floats) -> None:
    """Write the outcome of the table at depth 1 into `outcomes[1]`."""
    rows, frames, outcomes, table = work.rows, work.frames, work.outcomes, work.table
    end = row_at(rows, rows.shape[0] - 1)
    is_additive = frames[0, IS_ADDITIVE]
    depth = 1
    is_new = True
    while True:
        state, frame = row_at(rows, depth), row_at(frames, depth)
        outcome = row_at(outcomes, depth)
        if not is_new:
            settled = take_outcome(state, frame, outcome, row_at(outcomes, depth + 1))
            if settled and is_leading(state):
                remember_outcome(state, frame, outcome, row_at(table, frame[SLOT]))
        else:
            frame[NODES] += 1
            settled = True
            if not has_choice(state):
                play_out(state, end)
                if is_additive:
                    seat_units(end, outcome)
                else:
                    seat_worths(work, standing, outcome)
            else:
                open_frame(state, frame)
                frame[BEST] = _NONE
                settled = is_leading(state) and recall_outcome(
                    state, frame, outcome, row_at(table, frame[SLOT])
                )
        if not settled:
            play_next(state, frame, row_at(rows, depth + 1))
            depth += 1
        elif depth > 1:
            depth -= 1
        else:
            return
        is_new = not settled


def take_outcome(state: Row, frame: Row, outcome: Row, new: Row) -> bool:
    """Take the outcome of the card last tried in; whether that settles the position."""
    if frame[BEST] == _NONE or prefers(state, state[SEAT], new, outcome):
        frame[BEST] = _SOME
        for seat in range(rules.N_SEATS):
            outcome[seat] = new[seat]
    return frame[UNTRIED] == 0


def prefers(state: Row, seat: int, new: Row, old: Row) -> bool:
    """Whether a seat would rather have the new outcome: more for itself, else less for the next."""
    n = rules.n_players(state)
    for _ in range(n):
        more = hooks.gain(state, new, seat) - hooks.gain(state, old, seat)
        if more:
            return (more > 0) == (seat == state[SEAT])
        seat = seat + 1 if seat + 1 < n else 0
    return False


def recall_outcome(state: Row, frame: Row, outcome: Row, entry: Row) -> bool:
    """Whether the table has the outcome, which is written."""
    if not is_of(entry, frame):
        return False
    for seat in range(rules.N_SEATS):
        outcome[seat] = entry[LOW + seat]
        if frame[IS_ADDITIVE]:
            outcome[seat] += hooks.taken(state, seat)
    return True


def remember_outcome(state: Row, frame: Row, outcome: Row, entry: Row) -> None:
    """Put an outcome into the table; of units those that were still to be taken."""
    entry[CARDS], entry[CONTEXT] = frame[CARDS], frame[CONTEXT]
    for seat in range(rules.N_SEATS):
        entry[LOW + seat] = outcome[seat]
        if frame[IS_ADDITIVE]:
            entry[LOW + seat] -= hooks.taken(state, seat)


def seat_units(end: Row, outcome: Row) -> None:
    """Write the outcome of a finished deal in units."""
    for seat in range(rules.N_SEATS):
        outcome[seat] = hooks.taken(end, seat)


def seat_worths(work: Workspace, standing: Floats, outcome: Row) -> None:
    """Write what the deal in the last row is worth to each seat, in grains."""
    worths.worth(work.rows[work.rows.shape[0] - 1], standing, work.worths)
    for seat in range(rules.N_SEATS):
        outcome[seat] = np.int64(np.round(work.worths[seat] / GRAIN))


def solve_seats(state: Row, standing: Floats, values: Floats, work: Workspace) -> int:
    """`solve` for seats that play each for itself."""
    begin(state, values, work)
    root, outcome = row_at(work.rows, 0), row_at(work.outcomes, 1)
    is_additive = hooks.is_additive(root)
    work.frames[:, IS_ADDITIVE] = is_additive
    rest, todo = others(root), rules.legal(root)
    while todo:
        actions = play_root(root, todo, rest, row_at(work.rows, 1))
        todo &= ~actions
        explore(work, standing)
        if is_additive:
            end = row_at(work.rows, work.rows.shape[0] - 1)
            copy_all(root, end)
            hooks.conclude(end, outcome)
            seat_worths(work, standing, outcome)
        write(actions, outcome[root[SEAT]] * GRAIN, values)
    return work.frames[:, NODES].sum()


# All --------------------------------------------------------------------------------------------
def solve(state: Row, standing: Floats, values: Floats, work: Workspace) -> int:
    """Write what each legal action is worth to the seat to act, NaN for the others.

    `state` is a true table in which cards are played, late in its deal; it is left as it is.
    `standing` is what `worth` reads; `values` (actions,). Returns the number of positions searched.
    """
    if hooks.is_two_sided(state):
        return solve_sides(state, standing, values, work)
    return solve_seats(state, standing, values, work)


def begin(state: Row, values: Floats, work: Workspace) -> None:
    """Make ready for a solve."""
    values[:] = np.nan
    root = row_at(work.rows, 0)
    for place in range(hooks.N_WORDS):
        root[place] = state[place]
    for depth in range(work.rows.shape[0]):
        copy_words(root, row_at(work.rows, depth), 0, hooks.FIRST_WORD)  # what play leaves alone
        frame = row_at(work.frames, depth)
        frame[SOLVE] += 1
        frame[LAST_SLOT] = work.table.shape[0] - 1
        frame[NODES] = 0


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
    copy_deal, copy_all, is_leading, others, alike, has_choice, play_out, set_key, open_frame,
    is_of, play_next, begin, play_root, write,
)  # fmt: skip
_SIDES = (
    inherit, is_clear, open_side, recall_bound, bound_of, take_bound, remember_bound, side_worth,
    reach, find_ends, worth_of_units, last_alike, side_units, side_value, solve_sides,
)  # fmt: skip
_SEATS = (
    prefers, take_outcome, recall_outcome, remember_outcome, seat_units, seat_worths, explore,
    solve_seats,
)  # fmt: skip
HOOKS: dict[str, Any] = {
    "semerik": semerik_hooks,
    "semnadtsat": semnadtsat_hooks,
    "sim_lystiv": sim_lystiv_hooks,
}


def _compiled(templates: Any, game: Any) -> Any:
    return specialise(templates, rules=game, hooks=HOOKS[game.NAME], worths=WORTHS[game.NAME])


SOLVERS: dict[str, Solver] = {
    "semerik": _compiled(_SHARED + _SIDES, semerik).solve_sides,
    "semnadtsat": _compiled(_SHARED + _SEATS, semnadtsat).solve_seats,
    "sim_lystiv": _compiled((*_SHARED, *_SIDES, *_SEATS, solve), sim_lystiv).solve,
}


def new_workspace(game: Game, n_entries: int = 1 << 13) -> Workspace:
    """A workspace for a game, with room for so many positions (a power of two)."""
    depth = MAX_TRICKS * game.n_seats + 2
    return Workspace(
        rows=np.zeros((depth, game.n_words), np.int64),
        frames=np.zeros((depth, N_FRAME), np.int64),
        outcomes=np.zeros((depth, game.n_seats), np.int64),
        table=np.zeros((n_entries, HOOKS[game.name].ENTRY_WORDS), np.int64),
        ends=np.zeros((1, N_ENDS), np.int64),
        worths=np.zeros(game.n_seats),
    )
