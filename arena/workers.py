"""Jobs played, here or in worker processes: the same numbers either way."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trysim.agents import make_agent
from trysim.arena.jobs import Job, Line, Plan
from trysim.arena.play import play_out, stream_seed, table_seed
from trysim.arena.pool import Done, done_by, done_here
from trysim.arena.statistics import Floats
from trysim.envs.decisions import Agent
from trysim.envs.games import Game
from trysim.envs.rules.jit import Row

_APART = 2**31  # the number of the first deal that no comparison plays
_FILES = re.compile(r"(?:policy|sb3|python):([^,:]+)")  # what follows these names in a spec


def seatings(game: Game, n: int) -> Row:
    """Every seating of two agents, 0 and 1, at `n` seats: (tables, n)."""
    if game.name == "semerik":
        return np.array([[0, 1, 0, 1], [1, 0, 1, 0]])
    alone = [[int(seat != mine) for seat in range(n)] for mine in range(n)]
    reverse = [[1 - agent for agent in seating] for seating in alone]
    return np.array([*dict.fromkeys(map(tuple, alone + reverse))])


def digest(agent: Agent) -> str:
    """The agent's own `digest` if it has one, else that of the files its spec names."""
    own = getattr(agent, "digest", None)
    if own is not None:
        return str(own)
    named = [Path(name) for name in _FILES.findall(agent.spec)]
    files = [
        file for path in named for file in (sorted(path.glob("*")) if path.is_dir() else [path])
    ]
    contents = [file.read_bytes() for file in files if file.is_file()]
    return hashlib.sha256(b"".join(contents)).hexdigest() if contents else ""


class Arena:
    """Where jobs are played: each worker has one, with agents of its own."""

    def __init__(
        self, game: Game, options: Mapping[str, Any], specs: Sequence[str], seed: int
    ) -> None:
        self.arguments = (game, options, specs, seed)
        self._game, self._options, self._seed = game, options, seed
        self._agents = {spec: make_agent(spec, game) for spec in specs}
        self._seatings = seatings(game, game.n_players(options))

    @property
    def digests(self) -> dict[str, str]:
        """By spec, a digest of what else each agent's choices depend on; empty if nothing."""
        return {spec: digest(agent) for spec, agent in self._agents.items()}

    def n_numbers(self, line: Line) -> int:
        """How many numbers a deal gives: 1, and as many as seats unless it serves as a control."""
        return 1 if line.is_control else 1 + self._seatings.shape[1]

    def do(self, job: Job) -> Floats:
        """For each deal its value for agent a, and a's mean in each seat: (deals, 1 + seats).

        Of a control the value only: (deals, 1).
        """
        n_tables, n = self._seatings.shape
        seating = np.tile(self._seatings, (job.n_deals, 1))
        deals = range(job.first, job.last)
        if job.line.apart:
            deals = range(job.first + _APART, job.last + _APART)
        table_seeds = [table_seed(self._seed, deal) for deal in deals]
        stream_seeds = [stream_seed(self._seed, deal, job.line.stream) for deal in deals]
        rewards = play_out(
            self._game,
            self._options,
            [seed for seed in table_seeds for _ in range(n_tables)],
            seating,
            [self._agents[job.line.a], self._agents[job.line.b]],
            [seed for seed in stream_seeds for _ in range(n_tables)],
        )
        lead = rewards - rewards.mean(1, keepdims=True)
        numbers = self._numbers(lead.reshape(job.n_deals, n_tables, n))
        return numbers[:, : self.n_numbers(job.line)]

    def _numbers(self, lead: Floats) -> Floats:
        """From what each seat has above its table's mean (deals, tables, seats)."""
        is_a = self._seatings == 0
        of_tables = (lead * is_a).sum(2) / is_a.sum(1)
        of_seats = (lead * is_a).sum(1) / is_a.sum(0)
        return np.column_stack([of_tables.mean(1), of_seats])


def played(
    arena: Arena, plan: Plan, workers: int, ray: str | None = None
) -> Iterator[tuple[Job, Floats]]:
    """Play all of a plan; jobs with their numbers in the order in which they are ready."""
    workers = min(workers, plan.n_deals)
    if workers > 1:  # what has to be compiled is compiled once, here
        first = iter(plan.first_of_each_agent())
        yield from _noted(plan, done_here(arena, lambda: next(first, None)))
    yield from _noted(plan, done_by(arena, plan.next, workers, ray))


def _noted(plan: Plan, done: Done) -> Iterator[tuple[Job, Floats]]:
    """What is done, the plan told how long it took."""
    for job, numbers, seconds in done:
        plan.note(job, seconds)
        yield job, numbers
