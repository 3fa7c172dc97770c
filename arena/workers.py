"""Jobs played, here or in worker processes: the same numbers either way."""

import hashlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np

from trysim.agents import make_agent
from trysim.arena.jobs import Job, Line, Plan
from trysim.arena.play import play_out, stream_seed, table_seed
from trysim.arena.statistics import Floats
from trysim.envs.decisions import Agent
from trysim.envs.games import Game
from trysim.envs.rules.jit import Row

_APART = 2**31  # the number of the first deal that no comparison plays
_FILES = re.compile(r"(?:policy|sb3|python):([^,:]+)")  # what follows these names in a spec
_AHEAD = 2  # jobs that wait for each worker, or are being played by it


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

    def play(self, job: Job) -> Floats:
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


Played = Iterator[tuple[Job, Floats]]


def played(arena: Arena, plan: Plan, workers: int) -> Played:
    """Play all of a plan; jobs with their numbers in the order in which they are ready."""
    workers = min(workers, plan.n_deals)
    with _one_torch_thread():
        if workers > 1:
            yield from (_here(arena, plan, job) for job in plan.first_of_each_agent())
            yield from _in_workers(arena, plan, workers)
        else:
            while job := plan.next():
                yield _here(arena, plan, job)


def _here(arena: Arena, plan: Plan, job: Job) -> tuple[Job, Floats]:
    started = time.perf_counter()
    numbers = arena.play(job)
    plan.note(job, time.perf_counter() - started)
    return job, numbers


def _in_workers(arena: Arena, plan: Plan, workers: int) -> Played:
    others = set(active_children())
    pool = ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=_start, initargs=arena.arguments
    )
    waiting: dict[Future[tuple[Floats, float]], Job] = {}
    try:
        while True:
            _hand_out(pool, plan, waiting, _AHEAD * workers)
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                job = waiting.pop(future)
                numbers, seconds = future.result()
                plan.note(job, seconds)
                yield job, numbers
    except BaseException:
        for worker in set(active_children()) - others:
            worker.terminate()  # what they are playing is not wanted any more
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _hand_out(
    pool: ProcessPoolExecutor,
    plan: Plan,
    waiting: dict[Future[tuple[Floats, float]], Job],
    n_jobs: int,
) -> None:
    """Have `n_jobs` waiting, as long as there are any."""
    with _interrupts_later():
        while len(waiting) < n_jobs and (job := plan.next()):
            waiting[pool.submit(_play, job)] = job


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
_arena: Arena


def _start(game: Game, options: Mapping[str, Any], specs: Sequence[str], seed: int) -> None:
    global _arena
    end_with_parent()
    _arena = Arena(game, options, specs, seed)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def end_with_parent() -> None:
    """Let this worker end when its parent is killed: it would wait for its next job for ever."""
    threading.Thread(target=_wait_for_end_of_parent, daemon=True).start()


def _wait_for_end_of_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _play(job: Job) -> tuple[Floats, float]:
    """The numbers of a job, and the seconds it took."""
    started = time.perf_counter()
    return _arena.play(job), time.perf_counter() - started
