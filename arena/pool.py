"""Jobs handed to workers, whose results come back in the order in which they are ready.

A worker is made once in each process, from arguments that can be pickled, and asked for one job
after another. What a job gives follows from the job alone: it does not matter who does it.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from typing import Any, Protocol

AHEAD = 2  # jobs that wait for each worker, or are being done by it


def n_workers(wanted: int | None, ray: str | None = None) -> int:
    """How many workers: as many as are wanted, else one for each core, here or of the cluster."""
    if wanted is not None:
        return wanted
    if ray is not None:
        from trysim.arena.ray_pool import n_cores_of

        return n_cores_of(ray)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Worker(Protocol):
    """Whoever does jobs. `arguments` make another one like it, elsewhere."""

    arguments: tuple[Any, ...]

    def do(self, job: Any) -> Any:
        """The result of a job."""
        ...


Done = Iterator[tuple[Any, Any, float]]


def done_here(worker: Worker, next_job: Callable[[], Any]) -> Done:
    """Do jobs, until there are no more; each with its result and the seconds it took."""
    with _one_torch_thread():
        while (job := next_job()) is not None:
            yield (job, *timed(worker, job))


def in_order(done: Done, jobs: Sequence[Any]) -> Iterator[Any]:
    """The results of `jobs`, in their order, each as soon as those before it are there."""
    early: dict[Any, Any] = {}
    wanted = iter(jobs)
    following = next(wanted, None)
    for job, result, _ in done:
        early[job] = result
        while following in early:
            yield early.pop(following)
            following = next(wanted, None)


def done_by(worker: Worker, next_job: Callable[[], Any], n: int, ray: str | None = None) -> Done:
    """The same by `n` workers like this one: processes, or actors of the Ray cluster at `ray`.

    With `n` 1, and no cluster, by this one.
    """
    if n < 1 or (n == 1 and ray is None):
        return done_here(worker, next_job)
    if ray is None:
        return _done_by_processes(worker, next_job, n)
    from trysim.arena.ray_pool import done_by_ray

    return done_by_ray(worker, next_job, n, ray)


def _done_by_processes(worker: Worker, next_job: Callable[[], Any], n: int) -> Done:
    others = set(active_children())
    pool = ProcessPoolExecutor(n, get_context("spawn"), _start, (type(worker), worker.arguments))
    waiting: dict[Future[tuple[Any, float]], Any] = {}
    try:
        while True:
            _hand_out(pool, next_job, waiting, AHEAD * n)
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield (waiting.pop(future), *future.result())
    except BaseException:
        for process in set(active_children()) - others:
            process.terminate()  # what they are doing is not wanted any more
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _hand_out(
    pool: ProcessPoolExecutor,
    next_job: Callable[[], Any],
    waiting: dict[Future[tuple[Any, float]], Any],
    n_jobs: int,
) -> None:
    """Have `n_jobs` waiting, as long as there are any."""
    with _interrupts_later():
        while len(waiting) < n_jobs and (job := next_job()) is not None:
            waiting[pool.submit(_do, job)] = job


def timed(worker: Worker, job: Any) -> tuple[Any, float]:
    """The result of a job, and the seconds it took."""
    started = time.perf_counter()
    return worker.do(job), time.perf_counter() - started


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    """As in a worker process, so that sums come out alike; no effect where torch is not used."""
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
_worker: Worker


def _start(make: Callable[..., Worker], arguments: tuple[Any, ...]) -> None:
    global _worker
    end_with_parent()
    _worker = make(*arguments)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def end_with_parent() -> None:
    """Let this process end when its parent is killed: it would wait for its next job for ever."""
    threading.Thread(target=_wait_for_end_of_parent, daemon=True).start()


def _wait_for_end_of_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _do(job: Any) -> tuple[Any, float]:
    """The result of a job, and the seconds it took."""
    return timed(_worker, job)
