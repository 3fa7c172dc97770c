"""Tables at which the learner plays every seat, at some of them beside other agents.

Between two decisions of the learner everything else happens in compiled code: forced plays, the
settling of deals, new matches; only other agents are asked one table after another.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents.search import worth_semerik
from trysim.agents.search.standing import WORTHS, standings_of
from trysim.envs.batch import BatchEnv
from trysim.envs.decisions import Agent, decide, new_streams
from trysim.envs.engine import draw
from trysim.envs.games import game_named
from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest
from trysim.envs.rules.jit import Row, specialise
from trysim.envs.rules.row import NAME_TRUMP, OVER, PHASE, PLAY, SEAT

rules: Any = semerik  # in the templates below: the modules they are compiled for
worths: Any = worth_semerik
settle: Any = None

NONE = -1  # no action
LEARNER = -1  # in `who`: the learner sits there; else the number of another agent

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def sit(
    state: Row, table: int, who: Row, streams: Row, n_others: int, in_pairs: bool, alone: bool
) -> None:
    """Draw who sits where (B, seats) for the coming match, from the table's own stream.

    One seat, or pair, is the learner's; each other seat, or the other pair, is an other agent's
    half of the time (the other pair, or where the learner is `alone`: always).
    """
    lot, n = streams.shape[1] - 1, rules.n_players(state)
    who[table, :] = LEARNER
    if n_others == 0:
        return
    if in_pairs:
        first, other = draw(streams, table, lot, 2), draw(streams, table, lot, n_others)
        who[table, first] = other
        who[table, first + 2] = other
        return
    mine = draw(streams, table, lot, n)
    for seat in range(n):
        other, is_taken = draw(streams, table, lot, n_others), draw(streams, table, lot, 2)
        if seat != mine and (is_taken or alone):
            who[table, seat] = other


def start(
    state: Row,
    table: int,
    who: Row,
    streams: Row,
    n_others: int,
    in_pairs: bool,
    alone: bool,
    paid: Floats,
) -> None:
    """Begin a match."""
    rules.start(state)
    settle(state)
    paid[table, :] = 0
    sit(state, table, who, streams, n_others, in_pairs, alone)


def play(
    state: Row,
    table: int,
    action: int,
    who: Row,
    streams: Row,
    n_others: int,
    in_pairs: bool,
    alone: bool,
    by_deal: bool,
    standing: Floats,
    paid: Floats,
    rewards: Floats,
    done: Bools,
) -> None:
    """Carry out one action; note what it pays, and begin anew if the match is over."""
    is_deal = state[PHASE] == PLAY or state[PHASE] == NAME_TRUMP
    rules.apply(state, action)
    if state[PHASE] > 0 and state[PHASE] != OVER:
        return
    before = paid[table].copy()
    if by_deal and is_deal and not done[table]:
        worths.worth(state, standing, rewards[table])
        done[table] = True
    settle(state)
    rules.returns(state, paid[table])
    if not done[table]:
        rewards[table] += paid[table] - before
    if state[PHASE] == OVER:
        done[table] = True
        start(state, table, who, streams, n_others, in_pairs, alone, paid)


def advance(
    rows: Row,
    tables: Row,
    actions: Row,
    n_others: Row,
    in_pairs: bool,
    alone: bool,
    by_deal: bool,
    standings: Floats,
    which: Row,
    who: Row,
    streams: Row,
    paid: Floats,
    rewards: Floats,
    done: Bools,
) -> None:
    """Carry out a decision at each of the `tables` (N,), and all forced ones that follow.

    Adds to `rewards` (B, seats) until the match ends, then sets `done` (B,) and begins the next;
    `by_deal` the same for each deal, paid by what `standings[which]` says later deals are worth.
    `n_others` (B,): how many other agents may sit at a table. With the action NONE only forced
    ones are carried out; at a table without a match one begins.
    """
    for i in range(tables.size):
        table, action = tables[i], actions[i]
        state, n = rows[table], n_others[table]
        if state[PHASE] == OVER:
            start(state, table, who, streams, n, in_pairs, alone, paid)
        if action != NONE:
            play(
                state, table, action, who, streams, n, in_pairs, alone,
                by_deal, standings[which[table]], paid, rewards, done,
            )  # fmt: skip
        legal = rules.legal(state)
        while legal & (legal - 1) == 0:
            play(
                state, table, lowest(legal), who, streams, n, in_pairs, alone,
                by_deal, standings[which[table]], paid, rewards, done,
            )  # fmt: skip
            legal = rules.legal(state)


@cache
def _kernels(name: str) -> SimpleNamespace:
    game = game_named(name)
    templates = sit, start, play, advance
    return specialise(templates, calls=game.kernels, rules=game.rules, worths=WORTHS[name])


class SelfPlayTables:
    """B tables; at the start and after `step` the learner is to act, with a choice, at every one.

    - `observation` int8 (B, D), `mask` int8 (B, A), `seat` int64 (B,): as in `BatchEnv`
    - `hidden` int8 (B, H): the other seats' hands, for a critic
    - `rewards` float64 (B, seats): paid since the last decision, up to the end of its match
    - `done` bool (B,): whether the match of the last decision has ended; the next has begun

    `by_deal`, what is said of matches is true of deals: one pays what its result is worth for the
    rest of the match, and `done` says that it has ended. The cuts and blows after the last deal
    count as one more, paid what they bring.

    At the first `n_mixed` tables the `others` sit too, while there are any: everywhere but in one
    seat (one pair) if the learner is to be `alone` there.
    """

    def __init__(
        self,
        game: str,
        options: Sequence[Mapping[str, Any]],
        seed: int,
        others: Sequence[Agent] = (),
        n_mixed: int = 0,
        alone: bool = False,
        by_deal: bool = False,
    ) -> None:
        self.game = game_named(game)
        self.n_tables = len(options)
        self.others = list(others)
        self._batch = BatchEnv(game, self.n_tables, options, autoreset=False)
        self._kernels = _kernels(game)
        self._n_mixed, self._alone, self._by_deal = n_mixed, alone, by_deal
        self._all = np.arange(self.n_tables)
        self.rows = self._batch.rows
        self.observation, self.mask = self._batch.observation, self._batch.mask
        self.seat, self.rewards = self._batch.seat, self._batch.rewards
        self.done = self._batch.done
        self._standings, self._which = np.empty((1, 0)), np.zeros(self.n_tables, np.int64)
        if by_deal:
            self._standings, self._which = standings_of(self.game).of_all(self.rows)
        self._paid = np.zeros_like(self.rewards)
        self._who = np.full((self.n_tables, self.game.n_seats), LEARNER, np.int64)
        self._streams = new_streams(
            [(seed, table) for table in range(self.n_tables)], self.game.n_seats + 1
        )
        for row, word in zip(self.rows, self._streams[:, -1], strict=True):
            self.game.reseed(row, int(word) & 0xFFFF_FFFF)
        self._start()

    def _start(self) -> None:
        self.rows[:, PHASE] = OVER
        self.step(np.full(self.n_tables, NONE))
        self.rewards[:] = 0
        self.done[:] = False

    @property
    def _in_pairs(self) -> bool:
        return self.game.name == "semerik"

    @property
    def hidden(self) -> npt.NDArray[np.int8]:
        """The hands that the seats to act do not see, clockwise."""
        return self._batch.other_hands()

    def step(self, actions: Row) -> None:
        """One legal decision of the learner at every table."""
        self.rewards[:] = 0
        self.done[:] = False
        self._advance(self._all, actions)
        self._others_move()

    def observe(self) -> None:
        """Write `observation`, `mask` and `seat`; `step` does so by itself."""
        self._batch.observe_tables(self._all)

    def _advance(self, tables: Row, actions: Row) -> None:
        n_others = np.where(self._all < self._n_mixed, len(self.others), 0)
        self._kernels.advance(
            self.rows, tables, actions, n_others, self._in_pairs, self._alone,
            self._by_deal, self._standings, self._which, self._who,
            self._streams, self._paid, self.rewards, self.done,
        )  # fmt: skip

    def _others_move(self) -> None:
        """Let the others move until it is the learner's turn everywhere."""
        waiting = self._all[: self._n_mixed]
        while True:
            who = self._who[waiting, self.rows[waiting, SEAT]]
            waiting, who = waiting[who != LEARNER], who[who != LEARNER]
            if not waiting.size:
                break
            streams = self._streams
            actions = decide(self.game, self.rows, waiting, self.others, who, streams)
            self._advance(waiting, actions)
        self.observe()

    # Going on later -----------------------------------------------------------------------------
    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Everything that `restore` needs."""
        return {
            "rows": self.rows, "paid": self._paid, "who": self._who, "streams": self._streams,
        }  # fmt: skip

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on as the tables did whose `state` this is; ValueError if it does not fit."""
        for name, array in self.state().items():
            if state[name].shape != array.shape:
                raise ValueError(f"tables.{name} is {state[name].shape}, not {array.shape}")
            array[:] = state[name]
        self.observe()
