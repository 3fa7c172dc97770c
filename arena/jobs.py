"""Which deals are played between whom, cut into chunks that take seconds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

CHUNK = 64  # deals played at once, at most
FIRST_CHUNK = 4  # as long as nothing is known of the agents' speed
SECONDS = 5.0  # that a chunk should take: so much, at most, is lost for each worker by a kill
_GROWTH = 4  # times: a small chunk tells little of how fast a large one is


@dataclass(frozen=True)
class Line:
    """A series of deals between agents `a` and `b`.

    `stream` numbers the random streams their seats draw from, 0 those of a comparison. Deals
    `apart` are others than those of comparisons. `weights` tells agents of a control apart that
    have the same spec and other weights (those of a comparison never change).
    """

    a: str
    b: str
    stream: int = 0
    apart: bool = False
    weights: str = ""

    @property
    def is_control(self) -> bool:
        """Whether its values only help to judge those of others."""
        return self.stream > 0 or self.apart


@dataclass(frozen=True)
class Job:
    """Deals first..last-1 of a line."""

    line: Line
    first: int
    last: int

    @property
    def n_deals(self) -> int:
        """How many deals."""
        return self.last - self.first


class Plan:
    """The deals that are still to be played, handed out in jobs.

    Every deal draws from streams of its own, so results do not depend on how deals are cut into
    jobs: each line's jobs grow until one takes about `SECONDS`.
    """

    def __init__(self, wanted: Mapping[Line, int], played: Iterable[Job] = ()) -> None:
        done: dict[Line, list[Job]] = {line: [] for line in wanted}
        for job in played:
            if job.line in done:
                done[job.line].append(job)
        self._gaps = {line: gaps(n, done[line]) for line, n in wanted.items()}
        self._size = dict.fromkeys(wanted, min(FIRST_CHUNK, CHUNK))

    @property
    def n_deals(self) -> int:
        """How many deals are not handed out yet."""
        return sum(last - first for spans in self._gaps.values() for first, last in spans)

    def next(self) -> Job | None:
        """The next job, None if all are handed out."""
        for line, spans in self._gaps.items():
            if spans:
                return self._take(line, self._size[line])
        return None

    def first_of_each_agent(self) -> Iterable[Job]:
        """A deal of some lines, so that every agent that is still to play has played one."""
        met: set[str] = set()
        for line, spans in self._gaps.items():
            if spans and not {line.a, line.b} <= met:
                met |= {line.a, line.b}
                yield self._take(line, 1)

    def _take(self, line: Line, n_deals: int) -> Job:
        first, last = self._gaps[line].pop(0)
        end = min(last, first + n_deals)
        if end < last:
            self._gaps[line].insert(0, (end, last))
        return Job(line, first, end)

    def note(self, job: Job, seconds: float) -> None:
        """Learn how long a job took."""
        affordable = int(SECONDS * job.n_deals / max(seconds, 1e-6))
        grown = max(self._size[job.line], _GROWTH * job.n_deals)
        self._size[job.line] = max(1, min(CHUNK, affordable, grown))


def gaps(n: int, played: Iterable[Job]) -> list[tuple[int, int]]:
    """What of the deals 0..n-1 is in none of the jobs: (first, last + 1) of each gap."""
    found, at = [], 0
    for job in sorted(played, key=lambda job: job.first):
        if at < min(job.first, n):
            found.append((at, min(job.first, n)))
        at = max(at, job.last)
    return [*found, (at, n)] if at < n else found
