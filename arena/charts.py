"""The picture of a comparison: who beats whom, as a heat map."""

import io
from typing import Any

import numpy as np

from trysim.arena.results import Comparison, Pair
from trysim.arena.statistics import is_decided
from trysim.arena.views import signed

_COLOURS = "PuOr"  # purple and orange differ for colour-blind eyes too; white is even
_NOT_PLAYED = "#d9d9d9"
_LONGEST_NAME = 28  # letters


def draw_matrix(comparison: Comparison) -> bytes:
    """A PNG: row over column, the strongest first; hatched where the interval holds zero."""
    from matplotlib import colormaps
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = [place.agent for place in comparison.ranking]
    cells = [[comparison.pair(a, b) for b in names] for a in names]
    means = np.array([[pair.best[0] if pair else np.nan for pair in row] for row in cells])
    largest = float(np.nanmax(np.abs(means))) or 1.0
    width = 2.6 + 1.25 * len(names)
    figure = Figure(figsize=(width + 1.2, 1.7 + 0.95 * len(names)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_facecolor(_NOT_PLAYED)
    image = axes.imshow(means, cmap=colormaps[_COLOURS], vmin=-largest, vmax=largest, aspect="auto")
    for row, pairs in enumerate(cells):
        for column, pair in enumerate(pairs):
            if pair:
                _write_cell(axes, row, column, pair, largest)
    _name_axes(axes, names)
    title = f"{comparison.game}: {comparison.deals} duplicate deals, seed {comparison.seed}"
    axes.set_title(title, fontsize=11, loc="left")
    figure.supxlabel(
        "row over column: mean ± half of the 95 % interval; hatched: the interval holds zero",
        fontsize=8,
    )
    figure.colorbar(image, ax=axes, label="reward above the table's mean, a deal")
    content = io.BytesIO()
    # No name of the program that wrote it: the same comparison gives the same file.
    figure.savefig(content, format="png", dpi=150, metadata={"Software": None})
    return content.getvalue()


def _write_cell(axes: Any, row: int, column: int, pair: Pair, largest: float) -> None:
    from matplotlib.patches import Rectangle

    mean, ci95 = pair.best
    decided = is_decided(ci95)
    colour = "white" if abs(mean) > 0.65 * largest else "black"
    if not decided:
        corner = (column - 0.5, row - 0.5)
        axes.add_patch(
            Rectangle(corner, 1, 1, fill=False, hatch="///", edgecolor="#999999", linewidth=0)
        )
    box = None if decided else {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    text = f"{signed(mean, 2)}\n±{(ci95[1] - ci95[0]) / 2:.2f}"
    axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=9, bbox=box)


def _name_axes(axes: Any, names: list[str]) -> None:
    short = [_shortened(name) for name in names]
    axes.set_xticks(range(len(names)), short, fontsize=8, rotation=30, ha="left")
    axes.set_yticks(range(len(names)), short, fontsize=8)
    axes.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, length=0)
    for edge in range(1, len(names)):
        axes.axhline(edge - 0.5, color="white", linewidth=1)
        axes.axvline(edge - 0.5, color="white", linewidth=1)


def _shortened(name: str) -> str:
    """The end of a long name: folders differ there."""
    return name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"
