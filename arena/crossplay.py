"""Cross-play: agents as each other's partners in Семерик.

Every agent sits with itself and with every other, against the same opponents on the same deals. A
pair of strangers that loses much of what pairs of one's own win has private conventions.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from trysim.agents import make_agent
from trysim.arena.duplicate import compare
from trysim.arena.report import write_whole
from trysim.arena.statistics import Floats, interval
from trysim.envs.games import BadInput, game_named

GAME = "semerik"


@dataclass(frozen=True)
class CrossPlay:
    """Teams of `agents` over the opponents `against`: `matrix[i][j]` is i's value with partner j.

    `own` and `crossed` are the means with oneself and with others, `loss` the difference with its
    95 % bootstrap interval over deals, `share` the loss as a share of `own`.
    """

    agents: tuple[str, ...]
    against: str
    options: dict[str, Any]
    deals: int
    seed: int
    versions: dict[str, str]
    matrix: tuple[tuple[float, ...], ...]
    own: float
    crossed: float
    loss: float
    loss_ci95: tuple[float, float]

    @property
    def share(self) -> float:
        """How much of the margin with oneself is lost with others."""
        return self.loss / self.own

    def table(self) -> Table:
        """The matrix for `rich.print`."""
        title = f"partners over {self.against}: {self.deals} duplicate deals, seed {self.seed}"
        low, high = self.loss_ci95
        table = Table(
            title=title,
            title_justify="left",
            caption=f"own partners {self.own:+.3f}, others {self.crossed:+.3f}: "
            f"loss {self.loss:+.3f} [{low:+.3f}, {high:+.3f}], {self.share:.1%}",
            caption_justify="left",
        )
        table.add_column("with")
        for agent in self.agents:
            table.add_column(agent, justify="right", overflow="fold")
        for agent, row in zip(self.agents, self.matrix, strict=True):
            table.add_row(agent, *(f"{value:+.3f}" for value in row))
        return table


def cross_play(
    agents: Sequence[str],
    against: str,
    deals: int,
    seed: int,
    out: str | Path,
    options: Mapping[str, Any] | None = None,
    workers: int | None = None,
    ray: str | None = None,
) -> CrossPlay:
    """Play every two of the `agents` as partners `against` an opponent; all is written to `out`.

    `comparison.json` and its company (see `compare`), `crossplay.json`, `crossplay.png`. Raises
    BadInput for anything it cannot do.
    """
    game = game_named(GAME)
    specs = [make_agent(spec, game).spec for spec in agents]
    if len(set(specs)) < 2:
        raise BadInput("cross-play needs two different agents or more")
    opponent = make_agent(against, game).spec
    teams = [f"team:{a}+{b}" for a in specs for b in specs]
    comparison = compare(
        GAME, teams, deals, seed, options, workers, against=[opponent], out=out, ray=ray
    )
    values = _values(Path(out), teams, opponent, deals)
    n = len(specs)
    is_own = np.eye(n, dtype=bool).ravel()
    own, crossed = values[:, is_own].mean(1), values[:, ~is_own].mean(1)
    matrix = values.mean(0).reshape(n, n)
    found = CrossPlay(
        tuple(specs),
        opponent,
        comparison.options,
        deals,
        seed,
        comparison.versions,
        tuple(tuple(float(value) for value in row) for row in matrix),
        float(own.mean()),
        float(crossed.mean()),
        float((own - crossed).mean()),
        interval(own - crossed),
    )
    text = json.dumps({**asdict(found), "share": found.share}, indent=2, ensure_ascii=False)
    write_whole(Path(out) / "crossplay.json", f"{text}\n".encode())
    write_whole(Path(out) / "crossplay.png", draw(found))
    return found


def _values(folder: Path, teams: Sequence[str], against: str, deals: int) -> Floats:
    """The value of each deal for each team (deals, teams)."""
    from pyarrow import parquet

    table = parquet.read_table(folder / "deals.parquet")
    columns = {
        name: np.array(table.column(name).to_pylist()) for name in ("a", "b", "deal", "value")
    }
    values = np.empty((deals, len(teams)))
    for k, team in enumerate(teams):
        mine = (columns["a"] == team) & (columns["b"] == against)
        values[columns["deal"][mine], k] = columns["value"][mine]
    return values


def draw(found: CrossPlay) -> bytes:
    """A PNG of the matrix."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    matrix, n = np.array(found.matrix), len(found.agents)
    figure = Figure(figsize=(3.4 + 1.1 * n, 2.2 + 0.8 * n), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    image = axes.imshow(matrix, cmap="viridis", aspect="auto")
    middle = (matrix.min() + matrix.max()) / 2
    for (row, column), value in np.ndenumerate(matrix):
        colour = "black" if value > middle else "white"
        axes.text(column, row, f"{value:+.2f}", ha="center", va="center", color=colour)
    names = [agent if len(agent) <= 24 else f"…{agent[-23:]}" for agent in found.agents]
    axes.set_xticks(range(n), names, rotation=20, ha="right", fontsize=8)
    axes.set_yticks(range(n), names, fontsize=8)
    axes.set_title(
        f"partners over {found.against}: loss with others {found.loss:+.3f} ({found.share:.1%})",
        fontsize=10, loc="left",
    )  # fmt: skip
    figure.colorbar(image, ax=axes, label="points a deal")
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150, metadata={"Software": None})
    return content.getvalue()
