"""Does imitation first pay? Train both ways for equal time and write `docs/results/imitation.*`.

One way learns from its own play alone. The other imitates `pimc` first and goes on from there; what
the dataset and the imitation cost is taken off its time. `python docs/imitation.py` takes about
half an hour on one core, and goes on where it was stopped.
"""

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from ladder import cpu
from seeds import DEALS, EXPERT, OPTIONS, SEED, SOME, evaluations

from trysim.arena import compare
from trysim.arena.dataset import make_dataset
from trysim.arena.report import versions
from trysim.train import imitate, ppo
from trysim.train.checkpoint import CHECKPOINT
from trysim.train.config import config_file, load_config
from trysim.train.curve import draw_curves

EPISODES, DECISIONS = 10_000, 10_000_000
ALONE, FIRST, AFTER = "own play alone", "imitation", "own play after imitation"
SAME = ["--guide_until", "0", "--hidden", "[96,96]", "--threads", "1"]
OFTEN = ["--anchors", f"[{EXPERT}]", "--evaluate_every", "500000"]


@dataclass(frozen=True)
class Way:
    """One way of training: what each part took (seconds), and what it is worth over others."""

    name: str
    seconds: dict[str, float]
    decisions: int
    worth: dict[str, tuple[float, float, float]]


def dataset_made(folder: Path) -> float:
    """Let pimc play, on one core; the seconds that it took."""
    took = folder / "seconds.json"
    if not took.exists():
        started = time.perf_counter()
        make_dataset("semerik", [SOME], EPISODES, 1, folder, OPTIONS, workers=1)
        took.write_text(json.dumps(time.perf_counter() - started))
    return float(json.loads(took.read_text()))


def learned(folder: Path, overrides: list[str]) -> tuple[int, float]:
    """Train by PPO, or go on; decisions and seconds."""
    config = load_config(
        ppo.PPOConfig, config_file("configs/semerik/deal.yaml"), [*SAME, *OFTEN, *overrides]
    )
    rows = evaluations(folder) if (folder / "evaluations.csv").exists() else []
    if not rows or int(rows[-1]["decisions"]) < config.total_decisions:
        ppo.train(config, folder, resume=(folder / CHECKPOINT).exists())
    last = evaluations(folder)[-1]
    return int(last["decisions"]), float(last["seconds"])


def imitated(folder: Path, data: Path) -> float:
    """Imitate the dataset; the seconds that it took."""
    file = config_file("configs/semerik/imitate.yaml")
    config = load_config(
        imitate.ImitateConfig, file, ["--data", str(data), "--threads", "1", *OFTEN]
    )
    if not (folder / "learning_curve.png").exists():
        imitate.train(config, folder)
    return float(evaluations(folder)[-1]["seconds"])


def measured(folder: Path) -> dict[str, tuple[float, float, float]]:
    """What the policy of a training is worth over others, with its interval."""
    worth = {}
    for anchor in (EXPERT, SOME):
        out = folder.parent / f"{folder.name}-over-{anchor.partition(':')[0]}"
        spec = f"policy:{(folder / 'policy').as_posix()}"
        pair = compare("semerik", [spec, anchor], DEALS, SEED, OPTIONS, out=out).pairs[0]
        worth[anchor] = (pair.mean, *pair.ci95)
    return worth


def both_ways(work: Path) -> list[Way]:
    """Train and measure; own play alone sets the time."""
    n_alone, seconds = learned(work / "alone", ["--total_decisions", str(DECISIONS)])
    alone = Way(ALONE, {"own play": seconds}, n_alone, measured(work / "alone"))
    data, first = work / "data", work / "first"
    took = {"dataset": dataset_made(data), "imitation": imitated(first, data)}
    left = max(seconds - sum(took.values()), 0) / seconds
    imitation = Way(FIRST, dict(took), 0, measured(first))
    start = ["--start", str(first / "policy"), "--critic_alone", "300000"]
    n_after, seconds_after = learned(
        work / "after", [*start, "--total_decisions", str(int(DECISIONS * left))]
    )
    after = Way(AFTER, {**took, "own play": seconds_after}, n_after, measured(work / "after"))
    return [alone, imitation, after]


def page(ways: list[Way]) -> str:
    """The page of results."""
    lines = [
        "# Imitation first?",
        "",
        "Made by `python docs/imitation.py`; do not edit. Single deals of Семерик, one core, no",
        f"guide. The dataset: {EPISODES:,} deals between `{SOME}`. Worth in points a deal,",
        f"{DEALS:,} duplicate deals.",
        "",
        f"| way | seconds | decisions of own play | over `{EXPERT}` | over `{SOME}` |",
        "|---|---|---|---|---|",
    ]
    for way in ways:
        parts = ", ".join(f"{part} {seconds:.0f}" for part, seconds in way.seconds.items())
        cells = [
            way.name,
            f"{sum(way.seconds.values()):.0f} ({parts})",
            f"{way.decisions / 1e6:.1f} M",
            *("{:+.3f} [{:+.3f}, {:+.3f}]".format(*way.worth[a]) for a in (EXPERT, SOME)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "![Own play, alone and after imitation](imitation.png)",
        "",
        "## How it was made",
        "",
        f"- deals of seed {SEED}; machine {cpu()}, {os.cpu_count()} cores",
        *(f"- {name} {version}" for name, version in versions().items()),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Train, play and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path("runs/imitation"), help="kept")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    ways = both_ways(given.work)
    curves = {
        name: given.work / folder / "evaluations.csv"
        for name, folder in ((ALONE, "alone"), (AFTER, "after"))
    }
    draw_curves(curves, given.out / "imitation.png", "Семерик, single deals, no guide")
    found = {"ways": [asdict(way) for way in ways], "versions": versions()}
    (given.out / "imitation.json").write_text(json.dumps(found, ensure_ascii=False, indent=1))
    (given.out / "imitation.md").write_text(page(ways), encoding="utf-8")
    print(f"wrote {given.out}/imitation.md, imitation.json, imitation.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
