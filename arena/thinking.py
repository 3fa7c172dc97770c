"""How long agents take to decide (`trysim bench --agents …`)."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table

from trysim.agents import make_agent
from trysim.envs.decisions import Agent, Decisions, decide, new_streams, sees_all_hands
from trysim.envs.games import Game, game_named
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import SEAT

N_DECISIONS = 200
_MOMENTS = 8  # decisions kept of each match, so that they come from all parts of deals


@dataclass(frozen=True)
class Thinking:
    """Time of one decision that is a choice, one at a time on one core.

    `looked_at` is the mean number of worlds or iterations of a search, 0 for others; `ms95` is the
    95th percentile.
    """

    agent: str
    game: str
    n_players: int
    median_ms: float
    mean_ms: float
    ms95: float
    looked_at: float

    @property
    def per_s(self) -> float:
        """Decisions a second."""
        return 1000 / self.mean_ms


def measure_thinking(
    game: str,
    specs: Sequence[str],
    options: Mapping[str, Any] | None = None,
    n: int | None = None,
) -> list[Thinking]:
    """Time every agent over the same `n` choices (200) from all parts of greedy matches."""
    match = game_named(game)
    complete = match.complete_options(options or {})
    rows = _choices(match, complete, n or N_DECISIONS)
    found = []
    for spec in specs:
        agent = make_agent(spec, match)
        _time(match, agent, rows[:3])  # what is made at first use
        seconds, looked_at = _time(match, agent, rows)
        ms = np.array(seconds) * 1000
        median, ms95 = (float(np.percentile(ms, part)) for part in (50, 95))
        n_players, looked_at_each = match.n_players(complete), looked_at / len(rows)
        found.append(
            Thinking(agent.spec, game, n_players, median, float(ms.mean()), ms95, looked_at_each)
        )
    return found


def _choices(game: Game, options: Mapping[str, Any], n: int) -> Row:
    """Tables (n, words) at which there is a choice."""
    greedy, rng = make_agent("greedy", game), np.random.default_rng(0)
    found: list[Row] = []
    seed = 0
    while len(found) < n:
        row = game.new_row(options, seed)
        game.kernels.begin(row)
        game.kernels.settle(row)
        streams, moments = new_streams([seed], game.n_seats), []
        while not game.is_over(row):
            if len(game.legal_actions(row)) > 1:
                moments.append(row.copy())
            first = np.zeros(1, np.int64)
            game.kernels.step(row, decide(game, row[None], first, [greedy], first, streams)[0])
        kept = rng.permutation(len(moments))[:_MOMENTS]
        found += [moments[k] for k in kept]
        seed += 1
    return np.array(found[:n])


def _time(game: Game, agent: Agent, rows: Row) -> tuple[list[float], int]:
    """The seconds of each decision, and the worlds or iterations of all."""
    before = getattr(agent, "n_looked_at", 0)
    seconds = []
    for number, row in enumerate(rows):
        view = row if sees_all_hands(agent) else game.view(row, int(row[SEAT]))
        legal, word = np.array([game.kernels.legal(row)]), np.array([number])
        decisions = Decisions(game, view[None], legal, word)
        started = time.perf_counter()
        agent.act(decisions)
        seconds.append(time.perf_counter() - started)
    return seconds, getattr(agent, "n_looked_at", 0) - before


def thinking_table(rows: Sequence[Thinking]) -> Table:
    """The measurements as a table for `rich.print`."""
    table = Table(title="one decision, milliseconds", title_justify="left")
    table.add_column("agent", overflow="fold")
    table.add_column("game")
    for heading in ("players", "median", "mean", "95 %", "worlds"):
        table.add_column(heading, justify="right")
    for row in rows:
        numbers = (f"{ms:.3f}" for ms in (row.median_ms, row.mean_ms, row.ms95))
        looked_at = f"{row.looked_at:.0f}" if row.looked_at else ""
        table.add_row(row.agent, row.game, str(row.n_players), *numbers, looked_at)
    return table
