"""Measure the policies in the box and write `docs/results/`: strength.md, strength.json.

Each policy's card, `agents/zoo/GAME/README.md`, is written as well.

`python docs/strength.py` takes some hours on two cores and goes on where it was stopped. `--only
semerik-deal …` plays some of the contests and tells the others as the page did, `--scale 0.1` plays
a tenth of the deals.
"""

import argparse
import hashlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from ladder import cpu, told

from trysim.agents import make_agent
from trysim.agents.policy import ZOO
from trysim.arena import Comparison, compare, table_seed
from trysim.arena.report import versions
from trysim.envs.batch import BatchEnv
from trysim.envs.decisions import decide, new_streams
from trysim.envs.games import game_named

BEST_SCORE = 17  # of a deal of Семнадцать under `scoring="seventeen"`
SEVENTEENS, SEVENTEEN_DEALS = "seventeens", {3: 3000, 4: 2000, 5: 1500}
SOME, MANY = "pimc:worlds=100", "pimc:worlds=400,endgame=5"
SEED = 2027
TRAININGS = {  # the configurations by which the policies came to be, one after another
    "semerik": ["ppo"],
    "semnadtsat": ["ppo", "further", "self"],
    "sim_lystiv": ["ppo", "further"],
}


@dataclass(frozen=True)
class Contest:
    """The policy of a game against some agents under these options, in so many duplicate deals.

    `bars` say by agent what the lower end of the interval must reach. `player` is who plays in the
    policy's place: the policy with search on top, or beside another agent.
    """

    name: str
    game: str
    options: dict[str, Any]
    deals: dict[str, int]
    bars: dict[str, float]
    player: str = ""

    @property
    def spec(self) -> str:
        """The spec of who plays."""
        return self.player or f"policy:{self.game}"


CONTESTS = [
    Contest(
        "semerik-deal",
        "semerik",
        {"horizon": "deal"},
        {"greedy": 10_000, "expert": 10_000, SOME: 5000, MANY: 2500},
        {"expert": 0.0, SOME: 0.4, MANY: 0.2},
    ),
    Contest(
        "semerik-match",
        "semerik",
        {"horizon": "match"},
        {"expert": 2000, SOME: 400},
        {"expert": 0.0, SOME: 0.0},
    ),
    Contest(
        "semerik-partner",
        "semerik",
        {"horizon": "deal"},
        {f"team:{SOME}+expert": 5000},
        {f"team:{SOME}+expert": 0.0},
        "team:policy:semerik+expert",
    ),
    *(
        Contest(
            f"semnadtsat-{n}-{kind}",
            "semnadtsat",
            {"num_players": n, "scoring": kind},
            {"expert": 1000, SOME: 1000},
            {"expert": 0.0, SOME: 0.0},
        )
        for kind in ("simple", "seventeen")
        for n in (3, 4, 5)
    ),
    *(
        Contest(
            f"sim_lystiv-{n}",
            "sim_lystiv",
            {"num_players": n, "reward": "placement"},
            {"expert": 2000, SOME: deals},
            {"expert": 0.0, SOME: 0.0},
        )
        for n, deals in ((2, 2000), (3, 300), (4, 150), (5, 100))
    ),
    *(
        Contest(
            f"{game}-search", game, options, {f"policy:{game}": deals, SOME: deals},
            {f"policy:{game}": 0.0, SOME: 0.0}, f"search:policy={game}",
        )
        for game, options, deals in (
            ("semerik", {"horizon": "deal"}, 2000),
            ("semnadtsat", {"num_players": 4, "scoring": "seventeen"}, 80),
            ("sim_lystiv", {"num_players": 4, "reward": "placement"}, 150),
        )
    ),
]  # fmt: skip


def play(contest: Contest, work: Path, scale: float) -> dict[str, Comparison]:
    """The policy against each agent; what is in the folder `work` already is not played again."""
    found = {}
    for agent, deals in contest.deals.items():
        print(f"{contest.name}: {agent}", file=sys.stderr)
        folder = folder_of(contest, agent, work)
        n = max(2, round(deals * scale))
        pair = [contest.spec, agent]
        found[agent] = compare(contest.game, pair, n, SEED, contest.options, out=folder)
    return found


def told_before(file: Path) -> dict[str, Any]:
    """What the page said when it was made last; nothing if it never was."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def comparisons(told: dict[str, Any]) -> dict[str, Comparison]:
    """A contest by agent, from what the page said."""
    return {agent: Comparison.from_json(json.dumps(found)) for agent, found in told.items()}


def folder_of(contest: Contest, agent: str, work: Path) -> Path:
    """Where the policy against an agent is kept."""
    return work / contest.name / agent.replace(":", "-").replace(",", "-")


# Exactly seventeen --------------------------------------------------------------------------------
def share_of_seventeens(n_players: int, first: str, others: str, n: int) -> tuple[float, float]:
    """How often one seat of `first` among `others` ends a deal on 17 points, and how often they do.

    The first sits in each seat in turn, in `n` deals.
    """
    game = game_named("semnadtsat")
    agents = [make_agent(spec, game) for spec in (first, others)]
    env = BatchEnv(
        game.name, n, {"num_players": n_players, "scoring": "seventeen"}, autoreset=False
    )
    seeds = [table_seed(SEED, k) for k in range(n)]
    env.reset(seeds)
    streams = new_streams([(seed, 1) for seed in seeds], game.n_seats)
    while not env.done.all():
        tables = np.flatnonzero(~env.done)
        seats = env.seat[tables]
        who = (seats != tables % n_players).astype(np.int64)
        actions = np.zeros(n, np.int64)
        actions[tables] = decide(game, env.rows, tables, agents, who, streams)
        env.step(actions)
    at = game.words["score"]
    hits = env.rows[:, at : at + n_players] == BEST_SCORE
    alone = np.arange(n_players) == np.arange(n)[:, None] % n_players
    return float(hits[alone].mean()), float(hits[~alone].mean())


# Showing ------------------------------------------------------------------------------------------
def rows(results: dict[str, dict[str, Comparison]]) -> list[str]:
    """The table of all contests."""
    lines = ["| contest | against | value | deals | bar | reached |", "|---|---|---|---|---|---|"]
    known = {contest.name: contest for contest in CONTESTS}
    for name, of_agents in results.items():
        for agent, comparison in of_agents.items():
            pair, bar = comparison.pairs[0], known[name].bars.get(agent)
            told_bar = "" if bar is None else f"{bar:+.1f}"
            verdict = "" if bar is None else "yes" if pair.ci95[0] > bar else "no"
            cells = name, f"`{agent}`", told(pair), comparison.deals, told_bar, verdict
            lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    return lines


def card(game: str, results: dict[str, dict[str, Comparison]]) -> str:
    """What the policy of a game is, how it came to be, and how strong it is."""
    meaning = json.loads((ZOO / game / "policy.json").read_text(encoding="utf-8"))
    about = meaning["about"]
    weights = (ZOO / game / "policy.safetensors").read_bytes()
    of_game = {
        contest.name: results[contest.name]
        for contest in CONTESTS
        if contest.game == game and not contest.player and contest.name in results
    }
    commands = ", then ".join(
        f"`trysim train configs/{game}/{name}.yaml`" for name in TRAININGS[game]
    )
    return "\n".join(
        [
            f"# `policy:{game}`",
            "",
            "Made by `python docs/strength.py`; do not edit.",
            "",
            f"- trained by {commands}, with the configuration below: "
            f"{about['decisions']:,} decisions in {about['seconds'] / 60:.0f} minutes",
            f"- network `{meaning['network']}`, hidden layers {meaning['hidden']}, "
            f"{len(weights) / 1e6:.2f} MB",
            f"- SHA-256 of the weights: {hashlib.sha256(weights).hexdigest()}",
            *(f"- {name} {version}" for name, version in about["versions"].items()),
            "",
            "Value of a duplicate deal (of a match where matches are played) with its 95 %",
            "interval, and the bar that the lower end should reach:",
            "",
            *rows(of_game),
            "",
            "```yaml",
            yaml.safe_dump(about["config"], sort_keys=False, allow_unicode=True).rstrip(),
            "```",
            "",
        ]
    )


def page(
    results: dict[str, dict[str, Comparison]], seventeens: dict[int, tuple[float, float]]
) -> str:
    """The page of results."""
    lines = [
        "# How strong the policies in the box are",
        "",
        "Made by `python docs/strength.py`; do not edit. Mean value of a duplicate deal (of a",
        "match where matches are played) for the policy, with its 95 % bootstrap interval, in the",
        "unit of the reward; none of these deals was trained on. *Bar*: what the lower end should",
        "reach.",
        "",
        *rows(results),
    ]
    if seventeens:
        lines += [
            "",
            f"## Exactly {BEST_SCORE}",
            "",
            f"How often a seat ends a deal of Семнадцать on {BEST_SCORE} under `seventeen`: one",
            f"seat of the policy among `{SOME}` (bar: 1.5 times as often).",
            "",
            "| players | the policy | the others | times as often |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| {n} | {mine:.1%} | {others:.1%} | {mine / others:.2f} |"
            for n, (mine, others) in seventeens.items()
        ]
    first = next(iter(next(iter(results.values())).values()))
    lines += [
        "",
        "## How it was made",
        "",
        f"- seed {SEED}; machine {cpu()}, {os.cpu_count()} cores",
    ]
    lines += [f"- {library} {version}" for library, version in first.versions.items()]
    digests = {
        name: digest
        for of_agents in results.values()
        for comparison in of_agents.values()
        for name, digest in comparison.agents.items()
        if name.startswith("policy:")
    }
    lines += [f"- weights of `{name}`: {digest}" for name, digest in digests.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Play and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*(contest.name for contest in CONTESTS), SEVENTEENS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="CONTEST")
    parser.add_argument("--scale", type=float, default=1.0, help="times the usual deals")
    parser.add_argument(
        "--work", type=Path, default=Path("runs/strength"), help="kept between runs"
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    before = told_before(given.out / "strength.json")
    results = {
        contest.name: found
        for contest in CONTESTS
        if (
            found := play(contest, given.work, given.scale)
            if contest.name in given.only
            else comparisons(before.get("contests", {}).get(contest.name, {}))
        )
    }
    seventeens = {int(n): tuple(shares) for n, shares in before.get(SEVENTEENS, {}).items()}
    if SEVENTEENS in given.only:
        seventeens = {
            n: share_of_seventeens(n, "policy:semnadtsat", SOME, round(deals * given.scale))
            for n, deals in SEVENTEEN_DEALS.items()
        }
    data = {
        name: {agent: json.loads(c.to_json()) for agent, c in of_agents.items()}
        for name, of_agents in results.items()
    }
    found = {"versions": versions(), "contests": data, SEVENTEENS: seventeens}
    text = json.dumps(found, ensure_ascii=False, indent=1)
    (given.out / "strength.json").write_text(text, encoding="utf-8")
    (given.out / "strength.md").write_text(page(results, seventeens), encoding="utf-8")
    for game in {contest.game for contest in CONTESTS if contest.name in results}:
        (ZOO / game / "README.md").write_text(card(game, results), encoding="utf-8")
    print(f"wrote {given.out}/strength.md and strength.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
