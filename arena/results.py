"""What a comparison gives: frozen results, their JSON, their order."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from trysim.arena.statistics import (
    Adjusted,
    Control,
    Floats,
    adjust,
    adjusted_mean,
    interval,
    is_decided,
    more_deals,
    strengths,
)
from trysim.envs.games import BadInput

FILE_NAME = "comparison.json"


@dataclass(frozen=True)
class Pair:
    """Agent `a` against agent `b`, in the unit of the game's reward option, a match.

    `mean` is the mean value of a deal for `a` (above 0: `a` is stronger), `ci95` its 95 % bootstrap
    interval over deals, `per_seat` the mean of (a's reward in that seat - the table's mean), `sd`
    the standard deviation of a deal's value, `adjusted` the mean with a control variate.
    """

    a: str
    b: str
    mean: float
    ci95: tuple[float, float]
    per_seat: tuple[float, ...]
    sd: float
    adjusted: Adjusted | None = None

    @property
    def best(self) -> tuple[float, tuple[float, float]]:
        """Mean and interval to go by: the adjusted ones if there are any."""
        return (self.adjusted.mean, self.adjusted.ci95) if self.adjusted else (self.mean, self.ci95)


@dataclass(frozen=True)
class Lead:
    """How far an agent is ahead of the next in the order.

    `more_deals`: about how many more would decide it; 0 if it is decided, None if too many.
    """

    mean: float
    ci95: tuple[float, float]
    decided: bool
    more_deals: int | None


@dataclass(frozen=True)
class Place:
    """An agent's place. Those whose order is not decided share the first of their places.

    `strength` is what it is worth above the average of all the compared agents; `lead` is None for
    the last.
    """

    place: int
    agent: str
    strength: float
    lead: Lead | None


@dataclass(frozen=True)
class Rating:
    """An agent's rating: `mu`, and `sigma`, how unsure it is."""

    agent: str
    mu: float
    sigma: float


@dataclass(frozen=True)
class Comparison:
    """Pairs of some agents over `deals` duplicate deals, with all that repeats it.

    `agents` are the agents' specs, with a digest of their weights or files where they have any;
    `control` the two agents whose values served as control variate; `ranking` the agents from the
    strongest on; `ratings` a summary of wins and losses, if it was asked for.
    """

    game: str
    options: dict[str, Any]
    deals: int
    seed: int
    versions: dict[str, str]
    pairs: tuple[Pair, ...]
    agents: dict[str, str]
    control: tuple[str, str] | None
    ranking: tuple[Place, ...]
    ratings: tuple[Rating, ...]

    def to_json(self) -> str:
        """The comparison as one JSON object."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Comparison":
        """What `to_json` wrote. ValueError, TypeError, KeyError, AttributeError for other texts."""
        found = json.loads(text)
        parts = {
            "pairs": tuple(_pair(pair) for pair in found["pairs"]),
            "control": found["control"] and tuple(found["control"]),
            "ranking": tuple(_place(place) for place in found["ranking"]),
            "ratings": tuple(Rating(**rating) for rating in found["ratings"]),
        }
        return cls(**{**found, **parts})

    def table(self) -> Table:
        """The comparison as a table for `rich.print`."""
        from trysim.arena.views import pairs_grid

        return pairs_grid(self).table()

    def pair(self, a: str, b: str) -> Pair | None:
        """The result of `a` against `b`, in whichever order they were compared; None if not."""
        for pair in self.pairs:
            if (pair.a, pair.b) == (a, b):
                return pair
            if (pair.a, pair.b) == (b, a):
                return _turned(pair)
        return None


def _turned(pair: Pair) -> Pair:
    """The same result seen from the other side; no seats: those of `b` were not counted."""
    adjusted = pair.adjusted and Adjusted(
        -pair.adjusted.mean,
        _negative(pair.adjusted.ci95),
        -pair.adjusted.coefficient,
        -pair.adjusted.correlation,
        pair.adjusted.narrower,
    )
    return Pair(pair.b, pair.a, -pair.mean, _negative(pair.ci95), (), pair.sd, adjusted)


def _negative(ci95: tuple[float, float]) -> tuple[float, float]:
    return -ci95[1], -ci95[0]


# From numbers -----------------------------------------------------------------------------------
def pair_of(a: str, b: str, numbers: Floats, control: Control | None) -> Pair:
    """The result of a pair from its deals' numbers (deals, 1 + seats)."""
    values = numbers[:, 0]
    mean, *per_seat = (float(value) for value in numbers.mean(0))
    ci95 = interval(values)
    adjusted = adjust(values, control, ci95) if control else None
    return Pair(a, b, mean, ci95, tuple(per_seat), float(values.std(ddof=1)), adjusted)


def ranking_of(
    agents: Sequence[str], pairs: Sequence[Pair], values: Floats, control: Control | None
) -> tuple[Place, ...]:
    """The agents from the strongest on, from the pairs' values (deals, pairs)."""
    worth = strengths(agents, [(pair.a, pair.b) for pair in pairs], values)
    means = [adjusted_mean(of_agent, control) for of_agent in worth.T]
    order = sorted(
        range(len(agents)), key=lambda k: -round(means[k], 9)
    )  # those who are equal as given
    places: list[Place] = []
    for number, k in enumerate(order):
        after = order[number + 1] if number + 1 < len(order) else None
        lead = None if after is None else _lead(agents, pairs, worth, control, k, after)
        before = places[-1] if places else None
        tied = before is not None and before.lead is not None and not before.lead.decided
        place = before.place if before and tied else number + 1
        places.append(Place(place, agents[k], means[k], lead))
    return tuple(places)


def _lead(
    agents: Sequence[str],
    pairs: Sequence[Pair],
    worth: Floats,
    control: Control | None,
    k: int,
    after: int,
) -> Lead:
    """The lead of agent k on the next: as they played each other, else through the others.

    All pairs play the same deals, so that differences of deals are paired as well.
    """
    mean, ci95 = _played(pairs, agents[k], agents[after]) or _estimate(
        worth[:, k] - worth[:, after], control
    )
    # Who is ahead against all, but clearly behind the next one, is not ranked before that one, and
    # no number of deals will change it.
    decided = is_decided(ci95) and mean > 0
    more = None if decided != is_decided(ci95) else more_deals(mean, ci95, len(worth))
    return Lead(mean, ci95, decided, more)


def _played(pairs: Sequence[Pair], a: str, b: str) -> tuple[float, tuple[float, float]] | None:
    for pair in pairs:
        if (pair.a, pair.b) == (a, b):
            return pair.best
        if (pair.a, pair.b) == (b, a):
            return _turned(pair).best
    return None


def _estimate(values: Floats, control: Control | None) -> tuple[float, tuple[float, float]]:
    if control is None:
        return float(values.mean()), interval(values)
    found = adjust(values, control)
    return found.mean, found.ci95


# From JSON --------------------------------------------------------------------------------------
def load_comparison(path: str | Path) -> Comparison:
    """The comparison in a folder that `--out` wrote, or in a file that `--json` wrote."""
    file = Path(path)
    if file.is_dir():
        file /= FILE_NAME
    try:
        return Comparison.from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(f"{file} is no comparison that `trysim arena` wrote: {error}") from None


def _pair(found: Mapping[str, Any]) -> Pair:
    adjusted = found["adjusted"] and Adjusted(**_with_ends(found["adjusted"]))
    parts = {"per_seat": tuple(found["per_seat"]), "adjusted": adjusted}
    return Pair(**{**_with_ends(found), **parts})


def _place(found: Mapping[str, Any]) -> Place:
    return Place(**{**found, "lead": found["lead"] and Lead(**_with_ends(found["lead"]))})


def _with_ends(found: Mapping[str, Any]) -> dict[str, Any]:
    """The same with the interval as a pair of numbers; JSON knows lists only."""
    low, high = found["ci95"]
    return {**found, "ci95": (low, high)}
