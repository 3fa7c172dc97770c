"""Train Семерик teams from several seeds and write `docs/results/`: seeds.md, seeds.json, pictures.

How long does it take from nothing to pass `expert` and `pimc:worlds=100`, and do teams of different
seeds understand each other? `python docs/seeds.py` takes about an hour on two cores and goes on
where it was stopped.
"""

import argparse
import csv
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from ladder import cpu

from trysim.arena import compare
from trysim.arena.crossplay import CrossPlay, cross_play
from trysim.arena.report import versions
from trysim.train.checkpoint import CHECKPOINT
from trysim.train.config import config_file, load_config
from trysim.train.curve import draw_curves
from trysim.train.ppo import PPOConfig, train

CONFIG = "configs/semerik/deal.yaml"
EXPERT, SOME = "expert", "pimc:worlds=100"
SEED = 2027  # of the deals played in the end; trainings see others
DEALS, PARTNER_DEALS = 5000, 4000
OPTIONS = {"horizon": "deal"}


@dataclass(frozen=True)
class Passed:
    """When a training was first better than an anchor, clear of zero, and stayed so."""

    anchor: str
    decisions: int
    seconds: float


@dataclass(frozen=True)
class Seed:
    """One training: when it passed the anchors, and what its policy is worth over them."""

    seed: int
    threads: int
    folder: str
    passed: list[Passed]
    decisions: int
    seconds: float
    final: dict[str, tuple[float, float, float]]


def evaluations(folder: Path) -> list[dict[str, str]]:
    """The rows of a training's evaluations."""
    with (folder / "evaluations.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def first_passed(rows: list[dict[str, str]], anchor: str) -> list[Passed]:
    """When the anchor was passed for good; nothing if it was not."""
    found: list[Passed] = []
    for row in rows:
        if row["anchor"] != anchor:
            continue
        if float(row["low"]) <= 0:
            found = []
        elif not found:
            found = [Passed(anchor, int(row["decisions"]), float(row["seconds"]))]
    return found


def trained(seed: int, work: Path, threads: int) -> Seed:
    """Train from a seed, or go on, and measure."""
    folder = work / f"seed{seed}"
    overrides = ["--seed", str(seed), "--threads", str(threads)]
    config = load_config(PPOConfig, config_file(CONFIG), overrides)
    rows = evaluations(folder) if (folder / "evaluations.csv").exists() else []
    if not rows or int(rows[-1]["decisions"]) < config.total_decisions:
        train(config, folder, resume=(folder / CHECKPOINT).exists())
        rows = evaluations(folder)
    spec, final = f"policy:{(folder / 'policy').as_posix()}", {}
    for anchor in (EXPERT, SOME):
        out = work / f"seed{seed}-over-{anchor.partition(':')[0]}"
        pair = compare("semerik", [spec, anchor], DEALS, SEED, OPTIONS, out=out).pairs[0]
        final[anchor] = pair.mean, *pair.ci95
    last = rows[-1]
    rows += [{**last, "anchor": anchor, "low": str(final[anchor][1])} for anchor in final]
    passed = [when for anchor in (EXPERT, SOME) for when in first_passed(rows, anchor)]
    return Seed(
        seed,
        load_config(PPOConfig, folder / "config.yaml", []).threads,
        folder.as_posix(),
        passed,
        int(last["decisions"]),
        float(last["seconds"]),
        final,
    )


def page(seeds: list[Seed], partners: CrossPlay) -> str:
    """The page of results."""
    lines = [
        "# Семерик from nothing, several seeds",
        "",
        f"Made by `python docs/seeds.py`; do not edit. `trysim train {CONFIG} --seed N`.",
        "*Passed*: the first evaluation from which on the interval stayed clear of zero; the last",
        f"one, of {DEALS} deals, stands at the right (time spent learning, without evaluations).",
        "",
        f"| seed | threads | passed `{EXPERT}` | passed `{SOME}` | trained "
        f"| over `{EXPERT}` | over `{SOME}` |",
        "|---|---|---|---|---|---|---|",
    ]
    for seed in seeds:
        when = {p.anchor: f"{p.decisions / 1e6:.1f} M, {p.seconds:.0f} s" for p in seed.passed}
        cells = [
            str(seed.seed),
            str(seed.threads),
            *(when.get(anchor, "not yet") for anchor in (EXPERT, SOME)),
            f"{seed.decisions / 1e6:.1f} M, {seed.seconds:.0f} s",
            *("{:+.3f} [{:+.3f}, {:+.3f}]".format(*seed.final[a]) for a in (EXPERT, SOME)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    low, high = partners.loss_ci95
    lines += [
        "",
        "![Learning curves](seeds.png)",
        "",
        "## As each other's partners",
        "",
        f"Every team with itself and with every other, over `{partners.against}`, "
        f"{partners.deals} duplicate deals: with oneself {partners.own:+.3f} points a deal,",
        f"with others {partners.crossed:+.3f}, a loss of {partners.loss:+.3f}",
        f"[{low:+.3f}, {high:+.3f}] or {partners.share:.1%} (bar: at most 3 %).",
        "",
        "![Partners](partners.png)",
        "",
        "## How it was made",
        "",
        f"- deals of seed {SEED}; machine {cpu()}, {os.cpu_count()} cores",
        *(f"- {name} {version}" for name, version in partners.versions.items()),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Train, play and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", type=Path, default=Path("runs/seeds"), help="kept between runs")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    seeds = [trained(seed, given.work, given.threads) for seed in given.seeds]
    specs = [f"policy:{seed.folder}/policy" for seed in seeds]
    folder = given.work / "partners"
    partners = cross_play(specs, EXPERT, PARTNER_DEALS, SEED, folder, OPTIONS)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "partners.png").write_bytes((folder / "crossplay.png").read_bytes())
    curves = {f"seed {seed.seed}": Path(seed.folder) / "evaluations.csv" for seed in seeds}
    draw_curves(curves, given.out / "seeds.png", "Семерик from nothing, single deals")
    found = {
        "config": CONFIG,
        "versions": versions(),
        "seeds": [asdict(seed) for seed in seeds],
        "partners": asdict(partners),
    }
    text = json.dumps(found, ensure_ascii=False, indent=1)
    (given.out / "seeds.json").write_text(text, encoding="utf-8")
    (given.out / "seeds.md").write_text(page(seeds, partners), encoding="utf-8")
    print(f"wrote {given.out}/seeds.md, seeds.json, seeds.png, partners.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
