"""Which agent is stronger: the same deals with every seating.

Deal k of a comparison is the match that table seed (seed, k) gives; every seating of a pair of
agents plays it, and every seat draws from the same random stream each time. So luck of the cards
falls on both alike, and one deal gives one number:

    value of a deal for A against B = mean over its tables of
                                      (mean reward of A's seats - mean reward of the table)

Семерик has two seatings: the pairs, and the pairs changed over. The other games have 2n: A alone
against B in every seat, and B alone against A (with two players that is the same).
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import combinations
from multiprocessing import active_children, get_context, parent_process
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table

from trysim.agents import make_agent
from trysim.arena.play import play_out, stream_seed, table_seed
from trysim.arena.report import progress as progress_bar
from trysim.arena.report import versions
from trysim.envs.games import BadInput, Game, game_named
from trysim.envs.rules.jit import Row

CHUNK = 64  # deals played at once: fixed, so that results do not depend on the number of workers
N_RESAMPLES = 5000
_BATCH = 2**21  # numbers drawn at once for the bootstrap

Floats = npt.NDArray[np.float64]


# Results ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pair:
    """Agent `a` against agent `b`, in the unit of the game's reward option, a match.

    `mean` is the mean value of a deal for `a` (above 0: `a` is stronger), `ci95` its 95 % bootstrap
    interval over deals, `per_seat` the mean of (a's reward in that seat - the table's mean).
    """

    a: str
    b: str
    mean: float
    ci95: tuple[float, float]
    per_seat: tuple[float, ...]


@dataclass(frozen=True)
class Comparison:
    """All pairs of some agents over `deals` duplicate deals, with all that repeats it."""

    game: str
    options: dict[str, Any]
    deals: int
    seed: int
    versions: dict[str, str]
    pairs: tuple[Pair, ...]

    def to_json(self) -> str:
        """The comparison as one JSON object."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False)

    def table(self) -> Table:
        """The comparison as a table for `rich.print`."""
        title = f"{self.game}: {self.deals} duplicate deals, seed {self.seed}"
        table = Table("A", "B", title=title, title_justify="left")
        for heading in ("A - mean", "95 % interval", "A's seats"):
            table.add_column(heading, justify="right")
        for pair in self.pairs:
            low, high = pair.ci95
            seats = " ".join(f"{value:+.2f}" for value in pair.per_seat)
            table.add_row(pair.a, pair.b, f"{pair.mean:+.3f}", f"{low:+.3f} … {high:+.3f}", seats)
        return table


def compare(
    game: str,
    agents: Sequence[str],
    deals: int,
    seed: int,
    options: Mapping[str, Any] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Compare every two of the `agents` (specs) over `deals` duplicate deals.

    The result is the same for any number of `workers` (processes; all cores by default). More than
    one need a main module that may be imported again: scripts call this under
    `if __name__ == "__main__":`. Raises BadInput for anything it cannot do.
    """
    match = game_named(game)
    complete = match.complete_options(options or {})
    _check(agents, deals, seed, workers)
    table = _Arena(match, complete, agents, seed)
    jobs = [
        _Job(a, b, first, min(first + CHUNK, deals))
        for a, b in combinations(range(len(agents)), 2)
        for first in range(0, deals, CHUNK)
    ]
    values = _play_all(table, jobs, workers or _n_cores(), progress)
    pairs = []
    for a, b in combinations(range(len(agents)), 2):
        mine = np.concatenate([values[job] for job in jobs if (job.a, job.b) == (a, b)])
        pairs.append(_pair(agents[a], agents[b], mine))
    return Comparison(game, complete, int(deals), int(seed), versions(), tuple(pairs))


def _check(agents: Sequence[str], deals: int, seed: int, workers: int | None) -> None:
    if isinstance(agents, str) or len(agents) < 2:
        raise BadInput("a comparison needs at least two agents")
    for spec in agents:
        if list(agents).count(spec) > 1:
            raise BadInput(f"agent {spec!r} is given twice: against itself it is worth exactly 0")
    _check_number("deals", deals, 2)
    _check_number("seed", seed, 0)
    if workers is not None:
        _check_number("workers", workers, 1)


def _check_number(name: str, value: Any, lowest: int) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < lowest:
        raise BadInput(f"{name}={value!r}: a whole number from {lowest} is needed")


def _n_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Statistics -------------------------------------------------------------------------------------
def _pair(a: str, b: str, values: Floats) -> Pair:
    """The result of a pair from its deals' numbers (deals, 1 + seats)."""
    mean, *per_seat = (float(value) for value in values.mean(0))
    return Pair(a, b, mean, interval(values[:, 0]), tuple(per_seat))


def interval(values: Floats) -> tuple[float, float]:
    """The 95 % bootstrap interval (percentiles) of the mean of values (N,)."""
    # Here, for it is slow to import.
    from scipy.stats import bootstrap  # type: ignore[import-untyped, unused-ignore]

    result = bootstrap(
        (values,),
        np.mean,
        n_resamples=N_RESAMPLES,
        batch=max(1, _BATCH // len(values)),
        method="percentile",
        rng=np.random.default_rng(0),
    )
    low, high = result.confidence_interval
    return float(low), float(high)


# Playing ----------------------------------------------------------------------------------------
def seatings(game: Game, n: int) -> Row:
    """Every seating of two agents, 0 and 1, at `n` seats: (tables, n)."""
    if game.name == "semerik":
        return np.array([[0, 1, 0, 1], [1, 0, 1, 0]])
    alone = [[int(seat != mine) for seat in range(n)] for mine in range(n)]
    reverse = [[1 - agent for agent in seating] for seating in alone]
    return np.array([*dict.fromkeys(map(tuple, alone + reverse))])


@dataclass(frozen=True)
class _Job:
    """Deals first..last-1 of agents number a and b."""

    a: int
    b: int
    first: int
    last: int

    @property
    def n_deals(self) -> int:
        return self.last - self.first


class _Arena:
    """Where jobs are played: each worker has one, with agents of its own."""

    def __init__(
        self, game: Game, options: Mapping[str, Any], specs: Sequence[str], seed: int
    ) -> None:
        self.arguments = (game, options, specs, seed)
        self._game, self._options, self._seed = game, options, seed
        self._agents = [make_agent(spec, game) for spec in specs]
        self._seatings = seatings(game, game.n_players(options))

    def play(self, job: _Job) -> Floats:
        """For each deal its value for agent a, and a's mean in each seat: (deals, 1 + seats)."""
        n_tables, n = self._seatings.shape
        seating = np.tile(self._seatings, (job.n_deals, 1))
        deals = range(job.first, job.last)
        table_seeds = [table_seed(self._seed, deal) for deal in deals]
        stream_seeds = [stream_seed(self._seed, deal) for deal in deals]
        rewards = play_out(
            self._game,
            self._options,
            [seed for seed in table_seeds for _ in range(n_tables)],
            seating,
            [self._agents[job.a], self._agents[job.b]],
            [seed for seed in stream_seeds for _ in range(n_tables)],
        )
        lead = rewards - rewards.mean(1, keepdims=True)
        return self._numbers(lead.reshape(job.n_deals, n_tables, n))

    def _numbers(self, lead: Floats) -> Floats:
        """From what each seat has above its table's mean (deals, tables, seats)."""
        is_a = self._seatings == 0
        of_tables = (lead * is_a).sum(2) / is_a.sum(1)
        of_seats = (lead * is_a).sum(1) / is_a.sum(0)
        return np.column_stack([of_tables.mean(1), of_seats])

    def warm_up(self) -> None:
        """Let every agent play a deal: compile what is needed, once, before workers start."""
        for other in range(1, len(self._agents)):
            self.play(_Job(other - 1, other, 0, 1))


def _play_all(arena: _Arena, jobs: list[_Job], workers: int, show: bool) -> dict[_Job, Floats]:
    workers = min(workers, len(jobs))
    played = _in_workers(arena, jobs, workers) if workers > 1 else _here(arena, jobs)
    values = {}
    with progress_bar("deals", sum(job.n_deals for job in jobs), show) as advance:
        for job, result in played:
            values[job] = result
            advance(job.n_deals)
    return values


def _here(arena: _Arena, jobs: list[_Job]) -> Iterator[tuple[_Job, Floats]]:
    with _one_torch_thread():
        for job in jobs:
            yield job, arena.play(job)


def _in_workers(arena: _Arena, jobs: list[_Job], workers: int) -> Iterator[tuple[_Job, Floats]]:
    """Play the jobs in worker processes; results in the order in which they are ready."""
    arena.warm_up()
    others = set(active_children())
    pool = ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=_start, initargs=arena.arguments
    )
    try:
        with _interrupts_later():
            futures = {pool.submit(_play, job): job for job in jobs}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BaseException:
        for worker in set(active_children()) - others:
            worker.terminate()  # what they are playing is not wanted any more
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    """As in a worker, so that sums come out alike; no effect unless an agent uses torch."""
    torch: Any = sys.modules.get("torch")
    n_threads = torch.get_num_threads() if torch else 0
    if torch:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(n_threads)


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Ctrl-C waits until this ends; processes started meanwhile never hear of it.

    Blocking the signal does both, but for threads of libraries, on which it may arrive: hence the
    handler. An interrupt while workers start would leave them waiting for ever.
    """
    if threading.current_thread() is not threading.main_thread():  # no signals arrive here
        yield
        return
    noted: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    can_block = hasattr(signal, "pthread_sigmask")  # not on Windows
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if can_block else set()
    try:
        yield
    finally:
        if can_block:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
    if noted:
        raise KeyboardInterrupt


# In a worker process ----------------------------------------------------------------------------
_arena: _Arena


def _start(game: Game, options: Mapping[str, Any], specs: Sequence[str], seed: int) -> None:
    global _arena
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _arena = _Arena(game, options, specs, seed)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for its next job for ever."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _play(job: _Job) -> Floats:
    return _arena.play(job)
