"""Tables at which one learner plays against given opponents: the learner's decisions only.

`single.py` and the adapters of training libraries are thin skins over `LearnerTables`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.envs.batch import BatchEnv
from trysim.envs.decisions import Agent, decide, new_streams
from trysim.envs.engine import draw
from trysim.envs.games import BadInput
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import GONE, SEAT

PAIR = "pair"
_OPPONENT_STREAM = 1  # set apart from the deals' seeds


class LearnerTables:
    """B tables, each with the learner in a seat (in Семерик: or a pair) and opponents elsewhere.

    For each episode the learner's seats are `seats` (a seat, `"pair"` for a whole pair of Семерик)
    or drawn by lot (None), and every other seat draws its opponent from `opponents`, one draw a
    side. After `reset` and `step` it is the learner's turn at every table:

    - `observation` int8 (B, D), `mask` int8 (B, A): what the acting seat sees and may do
    - `rewards` float64 (B,): paid to the learner's seat since its decision (to one of the pair)
    - `done` bool (B,): whether the episode has ended for the learner, by the match's end or because
      its seat has left the match; the next episode has begun
    - `final_rows` (B, words): the tables as the latest finished episodes left them

    With `skip_forced` decisions with one legal action are made without asking the learner.
    """

    def __init__(
        self,
        game: str,
        n_tables: int,
        opponents: Sequence[Agent],
        *,
        seats: int | str | None = None,
        options: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        skip_forced: bool = False,
    ) -> None:
        self.batch = BatchEnv(game, n_tables, options, autoreset=False)
        self.game = self.batch.game
        self.n_tables = n_tables
        self.opponents = list(opponents)
        self.skip_forced = skip_forced
        self._seats = _check_seats(self.batch, seats)
        if not self.opponents:
            raise BadInput("at least one opponent is needed")
        self._all = np.arange(n_tables)
        self._streams = np.zeros((n_tables, self.game.n_seats + 1), np.int64)
        self.is_learner = np.zeros((n_tables, self.game.n_seats), np.bool_)
        self._opponent = np.zeros((n_tables, self.game.n_seats), np.int64)
        self._seat = np.zeros(n_tables, np.int64)  # the learner's, or the first of its pair's
        self.observation, self.mask = self.batch.observation, self.batch.mask
        self.rewards = np.zeros(n_tables)
        self.done = np.zeros(n_tables, np.bool_)
        self.final_rows = self.batch.rows.copy()
        self._asked = np.zeros(n_tables, np.bool_)  # has decided in this episode

    def reset(self, seed: int | None = None) -> None:
        """Begin an episode at every table; a seed makes everything that follows repeatable."""
        if seed is not None or not self._streams.any():
            seed = int(np.random.SeedSequence(seed).generate_state(1)[0])
            seeds = [(seed, _OPPONENT_STREAM, table) for table in range(self.n_tables)]
            self._streams[:] = new_streams(seeds, self.game.n_seats + 1)
            for table, row in enumerate(self.batch.rows):
                self.game.reseed(row, seed + table)
        self._begin(self._all)
        self._others_move()
        self.rewards[:] = 0
        self.done[:] = False

    def step(self, actions: npt.ArrayLike) -> None:
        """One decision of the learner at every table; BadInput, nothing done, if one is illegal."""
        chosen = np.asarray(actions)
        if chosen.shape != (self.n_tables,) or not np.issubdtype(chosen.dtype, np.integer):
            raise BadInput(f"actions must be {self.n_tables} whole numbers, one a table")
        self.rewards[:] = 0
        self.done[:] = False
        self._asked[:] = True
        self._apply(self._all, chosen.astype(np.int64))
        self._others_move()

    # Inside -------------------------------------------------------------------------------------
    def _apply(self, tables: Row, actions: Row) -> None:
        """Carry out decisions; note what the learner gets, and begin anew what has ended."""
        batch = self.batch
        batch.step_tables(tables, actions)
        running = tables[~self.done[tables]]
        self.rewards[running] += batch.rewards[running, self._seat[running]]
        ended = tables[self._is_over(tables)]
        if ended.size:
            finished = ended[self._asked[ended]]
            self.final_rows[finished] = batch.rows[finished]
            self.done[finished] = True
            self._begin(ended)

    def _is_over(self, tables: Row) -> npt.NDArray[np.bool_]:
        """Whether the match, or the learner's part in it, is over."""
        gone = self.batch.rows[tables, GONE] >> self._seat[tables] & 1
        over: npt.NDArray[np.bool_] = self.batch.done[tables] | gone.astype(np.bool_)
        return over

    def _begin(self, tables: Row) -> None:
        self.batch.begin_tables(tables)
        self._asked[tables] = False
        for table in tables:
            self._seat_everybody(int(table))

    def _seat_everybody(self, table: int) -> None:
        """Draw who sits where for the coming episode, from the table's own stream."""
        n = self.game.n_players_of(self.batch.rows[table])
        if self._seats is None:
            seat = self._draw(table, n)
        else:
            seat = self._draw(table, 2) if self._seats == PAIR else int(self._seats)
        self._seat[table] = seat
        self.is_learner[table] = False
        self.is_learner[table, seat : n : 2 if self._seats == PAIR else n] = True
        if self.game.name == "semerik":
            for side in range(2):
                self._opponent[table, side::2] = self._draw(table, len(self.opponents))
        else:
            for other_seat in range(n):
                self._opponent[table, other_seat] = self._draw(table, len(self.opponents))

    def _draw(self, table: int, n: int) -> int:
        return int(draw(self._streams, table, self.game.n_seats, n))

    def _others_move(self) -> None:
        """Let opponents move (and forced moves pass) until it is the learner's turn everywhere."""
        waiting = self._all
        while True:
            seats = self.batch.rows[waiting, SEAT]
            theirs = ~self.is_learner[waiting, seats]
            if self.skip_forced:
                theirs |= self._is_forced(waiting)
            waiting = waiting[theirs]
            if not waiting.size:
                break
            who = self._opponent[waiting, self.batch.rows[waiting, SEAT]]
            rows, streams = self.batch.rows, self._streams
            self._apply(waiting, decide(self.game, rows, waiting, self.opponents, who, streams))
        self.batch.observe_tables(self._all)

    def _is_forced(self, tables: Row) -> npt.NDArray[np.bool_]:
        n_legal = np.empty(len(tables), np.int64)
        self.game.kernels.count_legal(self.batch.rows, tables, n_legal)
        forced: npt.NDArray[np.bool_] = n_legal == 1
        return forced


def _check_seats(batch: BatchEnv, seats: int | str | None) -> int | str | None:
    fewest = min(batch.game.n_players_of(row) for row in batch.rows)
    if seats is None or (seats == PAIR and batch.game.name == "semerik"):
        return seats
    if isinstance(seats, (int, np.integer)) and 0 <= seats < fewest:
        return int(seats)
    pair = ', "pair"' if batch.game.name == "semerik" else ""
    raise BadInput(f"{batch.game.name}: seat {seats!r}: allowed are 0..{fewest - 1}{pair} or none")
