"""What an agent is, and how agents are asked: many decisions of many tables at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from trysim.envs.engine import MASK_WORDS, next_words
from trysim.envs.games import Game
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import RANDOM, SEAT


@dataclass(frozen=True)
class Decisions:
    """N decisions, each by the seat to act at some table.

    `views` (N, words) are the tables as these seats know them: rows in which everything hidden is
    blank. `legal` (N,) are sets of actions. `random` (N,) are random words, fresh for each decision
    and drawn from a stream of the table's and the seat's own: choices made with them never depend
    on which other decisions are asked for at the same time.
    """

    game: Game
    views: Row
    legal: Row
    random: Row

    @property
    def n(self) -> int:
        """How many decisions."""
        return len(self.legal)

    def only(self, which: Sequence[int] | npt.NDArray[Any]) -> "Decisions":
        """Some of the decisions, by number or by a mask (N,)."""
        return Decisions(self.game, self.views[which], self.legal[which], self.random[which])

    def observe(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """What each seat sees and may do: 0/1 int8 (N, layout.size) and (N, n_actions)."""
        layout = self.game.layout
        observations = np.empty((self.n, layout.size // 8), np.int64)
        masks = np.empty((self.n, MASK_WORDS), np.int64)
        self.game.kernels.observe_tables(
            self.views,
            np.arange(self.n),
            np.empty(layout.n_words, np.int64),
            observations,
            masks,
            np.empty(self.n, np.int64),
        )
        return observations.view(np.int8), masks.view(np.int8)[:, : self.game.n_actions]


class Agent(Protocol):
    """Anything that decides. `spec` is the text that names it everywhere."""

    spec: str

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """A legal action for each decision (N,)."""
        ...


def decide(
    game: Game,
    rows: Row,
    tables: Row,
    agents: Sequence[Agent],
    who: Row,
    streams: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """The actions (N,) at the `tables` (N,), decided by `agents[who[i]]` at the i-th.

    `streams` (B, seats) hold the random word of every table and seat, and are advanced.
    """
    views = np.empty((len(tables), rows.shape[1]), np.int64)
    legal = np.empty(len(tables), np.int64)
    game.kernels.view_tables(rows, tables, views, legal)
    words = np.empty(len(tables), np.int64)
    next_words(streams, tables, rows[tables, SEAT], words)
    decisions = Decisions(game, views, legal, words)
    actions = np.empty(len(tables), np.int64)
    for k in np.unique(who):
        if sees_all_hands(agents[k]):
            shown = replace(decisions, views=rows[tables])
            shown.views[:, RANDOM] = 0  # the cards of later deals stay hidden
        else:
            shown = decisions
        mine = who == k
        actions[mine] = agents[k].act(shown.only(mine))
    return actions


def sees_all_hands(agent: Agent) -> bool:
    """Whether an agent is a cheater, for measuring only, who is shown the tables themselves."""
    return bool(getattr(agent, "sees_all_hands", False))


def new_streams(seeds: Sequence[Any], n_seats: int) -> npt.NDArray[np.int64]:
    """Random words (B, seats), a row for each seed (a whole number, or several)."""
    rows = [np.random.SeedSequence(seed).generate_state(n_seats, np.uint64) for seed in seeds]
    return np.array(rows).view(np.int64)
