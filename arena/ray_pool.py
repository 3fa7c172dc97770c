"""The same jobs for the workers of a Ray cluster (extra `ray`)."""

from collections import deque
from collections.abc import Callable
from typing import Any

from trysim.arena.pool import AHEAD, Done, Worker, timed
from trysim.arena.report import check_installed
from trysim.envs.games import BadInput

LOCAL = "local"  # the address of a cluster of this machine alone, begun for the occasion


class _Actor:
    """A worker in a process of the cluster."""

    def __init__(self, make: Callable[..., Worker], arguments: tuple[Any, ...]) -> None:
        self._worker = make(*arguments)

    def do(self, job: Any) -> tuple[Any, float]:
        """The result of a job, and the seconds it took."""
        return timed(self._worker, job)


def connect(address: str) -> None:
    """Join the cluster at an address (`auto` finds a running one); BadInput if there is none."""
    check_installed("a cluster", "ray", extra="ray")
    import ray

    if ray.is_initialized():
        return
    try:
        ray.init(
            address=None if address == LOCAL else address,
            log_to_driver=False,
            include_dashboard=False if address == LOCAL else None,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise BadInput(f"--ray {address}: {error}; `ray start --head` begins a cluster") from None


def n_cores_of(address: str) -> int:
    """How many cores the cluster at an address has."""
    connect(address)
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def check_cores(address: str, n: int) -> None:
    """BadInput if the cluster at an address has fewer cores: workers would wait for ever."""
    n_there = n_cores_of(address)
    if n > n_there:
        raise BadInput(f"--ray {address}: {n} cores are asked for, the cluster has {n_there}")


def done_by_ray(worker: Worker, next_job: Callable[[], Any], n: int, address: str) -> Done:
    """Do jobs by `n` workers like this one, actors of the cluster at `address` with a core each.

    An actor that dies is begun anew and does again what it was doing: Ray's own retries. Nothing
    is lost, and each job's result comes once.
    """
    connect(address)
    import ray

    actor_class = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(_Actor)
    actors = [actor_class.remote(type(worker), worker.arguments) for _ in range(n)]
    free = deque(actors * AHEAD)
    waiting: dict[Any, tuple[Any, Any]] = {}
    try:
        while True:
            while free and (job := next_job()) is not None:
                actor = free.popleft()
                waiting[actor.do.remote(job)] = job, actor
            if not waiting:
                return
            ready, _ = ray.wait(list(waiting))
            for reference in ready:
                job, actor = waiting.pop(reference)
                free.append(actor)
                yield (job, *ray.get(reference))
    finally:
        for actor in actors:
            ray.kill(actor)
