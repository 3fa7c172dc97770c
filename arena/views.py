"""A comparison as tables: the same grids for the terminal and for the report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.table import Table

from trysim.arena.rating import RATED_DEALS
from trysim.arena.results import Comparison, Lead, Pair, Place
from trysim.arena.statistics import MOST_MORE_DEALS, is_decided


@dataclass(frozen=True)
class Grid:
    """A table of texts: the first `n_names` columns are names, the others numbers."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int = 1
    note: str = ""

    def table(self) -> Table:
        """For `rich.print`."""
        table = Table(
            title=self.title, title_justify="left", caption=self.note, caption_justify="left"
        )
        for number, heading in enumerate(self.headings):
            name = number < self.n_names
            table.add_column(heading, justify="left" if name else "right", overflow="fold")
        for row in self.rows:
            table.add_row(*row)
        return table


def grids(comparison: Comparison) -> list[Grid]:
    """All that there is to show."""
    makers: list[Callable[[Comparison], Grid]] = [pairs_grid]
    if comparison.control:
        makers.append(control_grid)
    if len(comparison.agents) > 2:
        makers.append(matrix_grid)
    makers += [ranking_grid, seats_grid]
    if comparison.ratings:
        makers.append(ratings_grid)
    return [make(comparison) for make in makers]


def pairs_grid(comparison: Comparison) -> Grid:
    """Each pair with its mean and interval."""
    rows = [
        (pair.a, pair.b, signed(pair.mean, 3), _ends(pair.ci95), f"{pair.sd:.2f}")
        for pair in comparison.pairs
    ]
    title = f"{comparison.game}: {comparison.deals} duplicate deals, seed {comparison.seed}"
    return Grid(title, ("A", "B", "A - mean", "95 % interval", "sd of a deal"), tuple(rows), 2)


def control_grid(comparison: Comparison) -> Grid:
    """What the control variate makes of each pair."""
    rows = []
    for pair in comparison.pairs:
        if found := pair.adjusted:
            numbers = (signed(found.mean, 3), _ends(found.ci95), signed(found.correlation, 2))
            rows.append((pair.a, pair.b, *numbers, f"{100 * found.narrower:+.0f} %"))
    names = " over ".join(comparison.control or ())
    title = f"with a control variate: {names} on the same deals"
    headings = ("A", "B", "A - mean", "95 % interval", "correlation", "narrower by")
    return Grid(title, headings, tuple(rows), 2)


def matrix_grid(comparison: Comparison) -> Grid:
    """Every agent (row) against every agent (column): mean ± half the interval."""
    names = [place.agent for place in comparison.ranking]
    rows = [(a, *(_cell(comparison.pair(a, b)) for b in names)) for a in names]
    return Grid(
        "row over column",
        ("", *names),
        tuple(rows),
        note="mean ± half of the 95 % interval; ~ where the interval holds zero",
    )


def _cell(pair: Pair | None) -> str:
    if pair is None:
        return ""
    mean, ci95 = pair.best
    mark = "" if is_decided(ci95) else "~"
    return f"{mark}{signed(mean, 2)} ±{(ci95[1] - ci95[0]) / 2:.2f}"


def seats_grid(comparison: Comparison) -> Grid:
    """What A has above the table's mean in each seat."""
    n_seats = len(comparison.pairs[0].per_seat)
    rows = [
        (pair.a, pair.b, *(signed(value, 2) for value in pair.per_seat))
        for pair in comparison.pairs
    ]
    return Grid(
        "A in each seat", ("A", "B", *(f"seat {k}" for k in range(n_seats))), tuple(rows), 2
    )


def ranking_grid(comparison: Comparison) -> Grid:
    """The order of the agents, as far as it is decided."""
    places = comparison.ranking
    rows = [
        (
            _place(places, place),
            place.agent,
            verdict(place.lead),
            signed(place.strength, 3),
            signed(place.lead.mean, 3) if place.lead else "",
            _ends(place.lead.ci95) if place.lead else "",
        )
        for place in places
    ]
    headings = ("place", "agent", "against the next", "over all", "over the next", "95 % interval")
    return Grid(_title(places), headings, tuple(rows), 3)


def _title(places: Sequence[Place]) -> str:
    n_open = sum(place.lead is not None and not place.lead.decided for place in places)
    if not n_open:
        return "ranking"
    return "no ranking" if n_open == len(places) - 1 else "ranking, as far as it is decided"


def _place(places: Sequence[Place], place: Place) -> str:
    """`2`, or `2-4` for agents that share these places."""
    last = place.place - 1 + sum(other.place == place.place for other in places)
    return str(place.place) if last == place.place else f"{place.place}-{last}"


def verdict(lead: Lead | None) -> str:
    """What a lead on the next is worth, in words."""
    if lead is None:
        return ""
    if lead.decided:
        return "ahead"
    if lead.mean < 0 and is_decided(lead.ci95):
        return "loses to it, yet ahead over all"
    if lead.more_deals is None:
        return f"tied; not decidable with {MOST_MORE_DEALS:,} more deals"
    return f"tied; about {_rounded(lead.more_deals):,} more deals would decide it"


def _rounded(n: int) -> int:
    """To two digits: more would pretend to know."""
    return int(float(f"{n:.2g}"))


def ratings_grid(comparison: Comparison) -> Grid:
    """Ratings, a summary of who won how many deals."""
    rows = [(one.agent, f"{one.mu:.2f}", f"{one.sigma:.2f}") for one in comparison.ratings]
    n_deals = min(comparison.deals, RATED_DEALS)
    return Grid(
        "OpenSkill rating",
        ("agent", "mu", "sigma"),
        tuple(rows),
        note=f"a summary of who won how many of the first {n_deals} deals of each pair, "
        "whatever by; only the means above measure strength",
    )


def _ends(ci95: tuple[float, float]) -> str:
    return f"{signed(ci95[0], 3)} … {signed(ci95[1], 3)}"


def signed(value: float, n_digits: int) -> str:
    """With its sign, but no minus before zero."""
    return f"{round(value, n_digits) + 0.0:+.{n_digits}f}"


def headline(comparison: Comparison) -> str:
    """The order in a line: `a > b ~ c`."""
    parts = []
    for place in comparison.ranking:
        parts.append(place.agent)
        if place.lead:
            parts.append(">" if place.lead.decided else "~")
    return " ".join(parts)
