"""The picture of a training: strength against the anchors over decisions."""

import csv
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path


def draw_curves(trainings: Mapping[str, Path], picture: Path, title: str) -> Path:
    """Draw trainings' `evaluations.csv` (decisions, seconds, anchor, mean, low, high) as a PNG.

    The names of the trainings stand before the anchors'; one training needs none.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    curves: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for name, evaluations in trainings.items():
        with evaluations.open(newline="") as file:
            for row in csv.DictReader(file):
                numbers = (row["decisions"], row["mean"], row["low"], row["high"])
                label = f"{name} over {row['anchor']}".strip()
                curves[label].append(tuple(float(number) for number in numbers))
    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for label, points in curves.items():
        decisions, means, lows, highs = zip(*points, strict=True)
        (line,) = axes.plot(decisions, means, marker="o", markersize=3, label=label)
        axes.fill_between(decisions, lows, highs, color=line.get_color(), alpha=0.2)
    learned = [low for points in curves.values() for _, _, low, _ in points[1:]]
    if learned:  # an untrained policy is so weak that it would press the rest together
        axes.set_ylim(bottom=min(0, *learned) - 0.1)
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set(xlabel="learned decisions", ylabel="mean reward more than the table's", title=title)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x / 1e6:g} M")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(picture, dpi=120)
    plt.close(figure)
    return picture
