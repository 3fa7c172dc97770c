"""Many tables of one game, stepped at once by compiled code."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.envs.engine import MASK_WORDS
from trysim.envs.games import BadInput, Game, game_named
from trysim.envs.observation import MAX_TOKENS, History
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import OVER, PHASE


class BatchEnv:
    """`n_tables` tables of a game, each with its own options, player count and random stream.

    All arrays are made once and written in place by every `reset` and `step`: copy what must last.

    - `observation` int8 (B, D) or, with `observation="tokens"`, int16 (B, T): what the seat to act
      sees; `mask` int8 (B, A): what it may do; `seat` int64 (B,): who it is
    - `rewards` float64 (B, seats): what the last step paid to each seat of each table
    - `done` bool (B,): whether the last step ended the match. With `autoreset` the next match has
      begun already, from the table's own random stream; otherwise it stays True, seat is -1 and the
      mask zero.

    Table i with seed s plays exactly as the AEC environment does after `reset(seed=s)`.
    """

    def __init__(
        self,
        game: str,
        n_tables: int,
        options: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        observation: str = "flat",
        autoreset: bool = True,
    ) -> None:
        if not isinstance(n_tables, (int, np.integer)) or n_tables < 1:
            raise BadInput(f"n_tables={n_tables!r}: at least one table is needed")
        if observation not in ("flat", "tokens"):
            raise BadInput(f"observation={observation!r}: allowed are flat, tokens")
        self.game: Game = game_named(game)
        one = options is None or isinstance(options, Mapping)
        each: Any = [options or {}] * n_tables if one else options
        if len(each) != n_tables:
            raise BadInput(f"{len(each)} sets of options for {n_tables} tables")
        self.n_tables = int(n_tables)
        self.autoreset = autoreset
        self.rows: Row = np.stack([self.game.new_row(o, k) for k, o in enumerate(each)])
        self._all = np.arange(n_tables)
        self._packed = np.empty(self.game.layout.n_words, np.int64)
        self._observation = np.zeros((n_tables, self.game.layout.size // 8), np.int64)
        self._mask = np.zeros((n_tables, MASK_WORDS), np.int64)
        self.observation: npt.NDArray[Any] = self._observation.view(np.int8)
        self.mask = self._mask.view(np.int8)[:, : self.game.n_actions]
        self.seat = np.zeros(n_tables, np.int64)
        self.rewards = np.zeros((n_tables, self.game.n_seats))
        self.done = np.zeros(n_tables, np.bool_)
        self._paid = np.zeros((n_tables, self.game.n_seats))
        self._histories: list[History] = []
        if observation == "tokens":
            self._histories = [History(self.game) for _ in range(n_tables)]
            self.observation = np.zeros((n_tables, MAX_TOKENS[game]), np.int16)

    def reset(self, seed: int | Sequence[int] | None = None) -> None:
        """Begin a match at every table.

        A whole number s seeds table i with s + i; a sequence gives each table its own seed; without
        a seed every table's random stream goes on.
        """
        if seed is not None:
            if isinstance(seed, (int, np.integer)):
                seed = range(int(seed), int(seed) + self.n_tables)
            if len(seed) != self.n_tables:
                raise BadInput(f"{len(seed)} seeds for {self.n_tables} tables")
            for row, table_seed in zip(self.rows, seed, strict=True):
                self.game.reseed(row, int(table_seed))
        self.rewards[:] = 0
        self.done[:] = False
        self.begin_tables(self._all)
        self.observe_tables(self._all)

    def step(self, actions: npt.ArrayLike) -> None:
        """One decision at every table; `actions` whole numbers (B,).

        Tables whose match is over (without `autoreset`) ignore theirs. Raises BadInput, naming
        table and legal actions, if any action is illegal; then no table has changed.
        """
        chosen = np.asarray(actions)
        if chosen.shape != (self.n_tables,) or not np.issubdtype(chosen.dtype, np.integer):
            raise BadInput(f"actions must be {self.n_tables} whole numbers, one a table")
        tables = self._all
        if not self.autoreset:
            tables = np.flatnonzero(self.rows[:, PHASE] != OVER)
            chosen = chosen[tables]
            self.rewards[:] = 0
        self.step_tables(tables, chosen.astype(np.int64))
        if self.autoreset and self.done.any():
            self.begin_tables(np.flatnonzero(self.done))
        self.observe_tables(self._all)

    def step_tables(self, tables: Row, actions: Row) -> None:
        """One decision at each of the `tables` (N,), without observing or beginning new matches.

        Sets `rewards` and `done` of these tables. Raises BadInput as `step` does.
        """
        kernels = self.game.kernels
        wrong = kernels.first_illegal(self.rows, tables, actions)
        if wrong >= 0:
            table = int(tables[wrong])
            try:
                self.game.check_legal(self.rows[table], int(actions[wrong]))
            except BadInput as error:
                raise BadInput(f"table {table}: {error}") from None
        if self._histories:
            for table, action in zip(tables, actions, strict=True):
                self._histories[table].note(self.rows[table], int(action))
        kernels.step_tables(self.rows, tables, actions, self._paid, self.rewards, self.done)
        if self._histories:
            for table in tables:
                self._histories[table].note_result(self.rows[table])

    def begin_tables(self, tables: Row) -> None:
        """Begin a new match at each of the `tables` (N,), without observing."""
        self.game.kernels.begin_tables(self.rows, tables, self._paid)
        if self._histories:
            for table in tables:
                self._histories[table].begin(self.rows[table])

    def observe_tables(self, tables: Row) -> None:
        """Write `observation`, `mask` and `seat` of the `tables` (N,)."""
        self.game.kernels.observe_tables(
            self.rows, tables, self._packed, self._observation, self._mask, self.seat
        )
        if self._histories:
            for table in tables:
                seat, row = int(self.seat[table]), self.rows[table]
                self.observation[table] = (
                    self._histories[table].tokens(row, seat) if seat >= 0 else 0
                )

    def other_hands(self) -> npt.NDArray[np.int8]:
        """What a critic may see besides `observation`: the other seats' hands, clockwise.

        int8 0/1 (B, (seats - 1) * cards).
        """
        n = (self.game.n_seats - 1) * len(self.game.deck)
        out = np.empty((self.n_tables, n), np.int8)
        self.game.kernels.other_hands_tables(self.rows, self._all, out)
        return out
