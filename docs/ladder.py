"""Play the ladder of opponents and write `docs/results/`: ladder.md, ladder.png, ladder.json.

`python docs/ladder.py` takes about an hour on two cores, goes on where it was stopped, and ends
with the same strengths. `--only semerik-deal …` plays some of the tables, `--scale 0.1` a tenth of
the deals.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from trysim.arena import Comparison, Pair, compare
from trysim.arena.report import versions
from trysim.arena.thinking import Thinking, measure_thinking

RANDOM, GREEDY, EXPERT, ORACLE = "random", "greedy", "expert", "oracle:iterations=2000"
ISMCTS = "ismcts:iterations=1000"
FEW, SOME, MANY = (f"pimc:worlds={n}" for n in (20, 100, 400))
AGENTS = (RANDOM, GREEDY, EXPERT, FEW, SOME, MANY, ISMCTS, ORACLE)
SEED = 7
# Who plays how many times the deals of a contest: fast agents play more, and clear cases less.
RULE_DEALS = 4000  # at least
GROUPS = {
    "rules": (40, [(GREEDY, RANDOM), (EXPERT, RANDOM), (EXPERT, GREEDY)]),
    "few": (4, [(FEW, EXPERT), (SOME, EXPERT), (SOME, FEW)]),
    "many": (1, [(MANY, EXPERT), (MANY, SOME), (ISMCTS, EXPERT), (SOME, ISMCTS)]),
    "oracle": (1, [(ORACLE, other) for other in (EXPERT, MANY, ISMCTS)]),
    "oracle_clear": (0.5, [(ORACLE, other) for other in (RANDOM, GREEDY, FEW, SOME)]),
}

_COLUMNS = 4


@dataclass(frozen=True)
class Contest:
    """A game with options, and how many duplicate deals (matches) the slow agents play.

    `more` names groups that need more of them than their share to be told apart.
    """

    name: str
    game: str
    options: dict[str, Any]
    deals: int
    more: dict[str, int] = field(default_factory=dict)


_CLOSE = {"oracle": 50, "oracle_clear": 30}
CONTESTS = [
    Contest("semerik-deal", "semerik", {"horizon": "deal"}, 200),
    Contest("semerik-match", "semerik", {"horizon": "match"}, 15),
    *(
        Contest(
            f"semnadtsat-{n}-{kind}", "semnadtsat", {"num_players": n, "scoring": kind}, deals, more
        )
        for kind in ("simple", "seventeen")
        for n, deals, more in ((3, 40, {}), (4, 20, _CLOSE), (5, 16, {}))
    ),
    *(
        Contest(
            f"sim_lystiv-{n}-{kind}", "sim_lystiv", {"num_players": n, "reward": kind}, deals, more
        )
        for kind, n, deals, more in (
            ("placement", 2, 400, {}),
            ("placement", 3, 40, {}),
            ("placement", 4, 24, {}),
            ("placement", 5, 20, {}),
            ("loser", 3, 40, {}),  # alike for two
            ("loser", 4, 24, {"few": 700}),
            ("loser", 5, 20, {"few": 500, "oracle_clear": 30}),
        )
    ),
]


@dataclass(frozen=True)
class Outcome:
    """What a contest gave: a comparison for each of the groups, and the agents' speed."""

    contest: Contest
    groups: dict[str, Comparison]
    thinking: list[Thinking]

    def pair(self, a: str, b: str) -> Pair:
        """The result of `a` against `b`."""
        found = next(filter(None, (group.pair(a, b) for group in self.groups.values())), None)
        assert found, f"{a} and {b} did not play"
        return found


@dataclass(frozen=True)
class Bar:
    """What the ladder must show, and the pairs that must show it in every contest."""

    text: str
    pairs: Sequence[tuple[str, str]]
    may_be_even: bool = False

    def failures(self, outcome: Outcome) -> list[Pair]:
        """The pairs that do not show it."""
        pairs = [outcome.pair(a, b) for a, b in self.pairs]
        if self.may_be_even:
            return [pair for pair in pairs if pair.ci95[1] < 0]
        return [pair for pair in pairs if pair.ci95[0] <= 0]


BARS = [
    Bar("`expert` beats `greedy`, `greedy` beats `random`", [(EXPERT, GREEDY), (GREEDY, RANDOM)]),
    Bar("`pimc:worlds=100` beats `expert`", [(SOME, EXPERT)]),
    Bar("more worlds are never significantly worse", [(SOME, FEW), (MANY, SOME)], True),
    Bar("`oracle` beats all others", [(ORACLE, other) for other in AGENTS[:-1]]),
]


# Playing ----------------------------------------------------------------------------------------
def play(contest: Contest, work: Path, scale: float) -> Outcome:
    """Play a contest; what is in the folder `work` already is not played again."""
    groups = {}
    for name, (share, pairs) in GROUPS.items():
        print(f"{contest.name}: {name}", file=sys.stderr)
        agents = [*dict.fromkeys(spec for pair in pairs for spec in pair)]
        deals = contest.more.get(name, contest.deals * share)
        if name == "rules":
            deals = max(deals, RULE_DEALS)
        out = work / contest.name / name
        groups[name] = compare(
            contest.game,
            agents,
            max(2, round(deals * scale)),
            SEED,
            contest.options,
            pairs=pairs,
            out=out,
        )
    return Outcome(contest, groups, measure_thinking(contest.game, AGENTS, contest.options))


# Showing ----------------------------------------------------------------------------------------
def page(outcomes: Sequence[Outcome]) -> str:
    """The page of results."""
    lines = [
        "# The ladder of opponents",
        "",
        "Made by `python docs/ladder.py`; do not edit. Mean value of a duplicate deal (of a match",
        "where the contest plays matches) and its 95 % bootstrap interval, in the unit of the",
        "reward. All pairs of a contest play the same deals, slow agents fewer of them.",
        "*Decisions/s*: choices, one at a time on one core. `oracle` sees all hands: no opponent",
        "but a bound.",
        "",
        "![Strength over expert against decisions a second](ladder.png)",
        "",
        "## What it shows",
        "",
        "| | holds in |",
        "|---|---|",
    ]
    failures: list[str] = []
    for bar in BARS:
        failed = [(outcome, pair) for outcome in outcomes for pair in bar.failures(outcome)]
        kept = len(outcomes) - len({outcome.contest.name for outcome, _ in failed})
        lines.append(f"| {bar.text} | {kept} of {len(outcomes)} contests |")
        failures += [
            f"- {o.contest.name}: `{p.a}` over `{p.b}` is {told(p)}, so not: {bar.text}."
            for o, p in failed
        ]
    lines += ["", *failures] if failures else []
    for outcome in outcomes:
        lines += section(outcome)
    lines += ["", "## How it was made", "", *(f"- {line}" for line in provenance(outcomes))]
    return "\n".join(lines) + "\n"


def section(outcome: Outcome) -> list[str]:
    """The tables of a contest."""
    contest = outcome.contest
    options = ", ".join(f"{name}={value}" for name, value in contest.options.items())
    lines = [
        "",
        f"## {contest.name}",
        "",
        f"`{contest.game}`, {options}.",
        "",
        "| agent | over `expert` | decisions/s |",
        "|---|---|---|",
    ]
    for agent, speed in zip(AGENTS, outcome.thinking, strict=True):
        over = "" if agent == EXPERT else told(outcome.pair(agent, EXPERT))
        lines.append(f"| `{agent}` | {over} | {speed.per_s:,.0f} |")
    lines += ["", "| pair | value | deals |", "|---|---|---|"]
    for group in outcome.groups.values():
        lines += [
            f"| `{pair.a}` over `{pair.b}` | {told(pair)} | {group.deals} |" for pair in group.pairs
        ]
    return lines


def told(pair: Pair) -> str:
    """Mean and interval."""
    return f"{pair.mean:+.3f} [{pair.ci95[0]:+.3f}, {pair.ci95[1]:+.3f}]"


def provenance(outcomes: Sequence[Outcome]) -> list[str]:
    """Everything that repeats the results."""
    first = outcomes[0].groups["few"]
    given = outcomes[0].contest.options
    options = " ".join(f"--option {name}={value}" for name, value in given.items())
    return [
        f"seed {SEED}; machine {cpu()}, {os.cpu_count()} cores",
        *(f"{name} {version}" for name, version in first.versions.items()),
        f"one pair again: `trysim arena {first.game} --agents {SOME} {EXPERT} {options} "
        f"--deals {first.deals} --seed {SEED}`",
    ]


def cpu() -> str:
    """The processor's name, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Strength over the expert against decisions a second, a panel for each contest."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    n_rows = -(-len(outcomes) // _COLUMNS)
    figure = Figure(figsize=(4 * _COLUMNS, 3.1 * n_rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(n_rows, _COLUMNS, squeeze=False).flat
    for axes, outcome in zip(panels, outcomes, strict=False):
        axes.axhline(0, color="grey", linewidth=0.8)
        for agent, speed in zip(AGENTS, outcome.thinking, strict=True):
            mean, low, high = 0.0, 0.0, 0.0
            if agent != EXPERT:
                pair = outcome.pair(agent, EXPERT)
                mean, (low, high) = pair.mean, pair.ci95
            colour, marker = STYLES[agent]
            axes.errorbar(
                speed.per_s,
                mean,
                [[mean - low], [high - mean]],
                fmt=marker,
                markersize=6,
                capsize=3,
                color=colour,
                label=agent,
            )
        axes.set_xscale("log")
        axes.margins(x=0.12, y=0.12)
        axes.grid(alpha=0.3)
        axes.set_title(outcome.contest.name, fontsize=10, loc="left")
    for axes in list(figure.axes)[len(outcomes) :]:
        axes.remove()
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(AGENTS))
    figure.supxlabel("decisions a second on one core")
    figure.supylabel("value of a deal over expert, 95 % interval")
    figure.savefig(path, dpi=100, metadata={"Software": None})


STYLES = dict(
    zip(
        AGENTS,
        (
            ("#7f7f7f", "o"),
            ("#56b4e9", "o"),
            ("#0072b2", "s"),
            ("#fdb863", "^"),
            ("#e66101", "^"),
            ("#8c2d04", "^"),
            ("#009e73", "v"),
            ("#000000", "D"),
        ),
        strict=True,
    )
)


def data(outcomes: Sequence[Outcome]) -> str:
    """All results as JSON."""
    found = {
        outcome.contest.name: {
            "groups": {name: json.loads(c.to_json()) for name, c in outcome.groups.items()},
            "thinking": [{**asdict(row), "per_s": row.per_s} for row in outcome.thinking],
        }
        for outcome in outcomes
    }
    return json.dumps({"versions": versions(), "contests": found}, ensure_ascii=False, indent=1)


def main() -> int:
    """Play and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [contest.name for contest in CONTESTS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="CONTEST")
    parser.add_argument("--scale", type=float, default=1.0, help="times the usual deals")
    parser.add_argument("--work", type=Path, default=Path("runs/ladder"), help="kept between runs")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    chosen = [contest for contest in CONTESTS if contest.name in given.only]
    outcomes = [play(contest, given.work, given.scale) for contest in chosen]
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "ladder.json").write_text(data(outcomes), encoding="utf-8")
    (given.out / "ladder.md").write_text(page(outcomes), encoding="utf-8")
    draw(outcomes, given.out / "ladder.png")
    print(f"wrote {given.out}/ladder.md, ladder.png and ladder.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
