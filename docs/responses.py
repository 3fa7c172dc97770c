"""Train best responses to agents of Семерик and write `docs/results/responses.*`.

`python docs/responses.py` takes about two hours on one core and goes on where it was stopped. How
much a fresh learner gains against an agent that never changes bounds from below how far that agent
can be exploited.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from trysim.train.best_response import BestResponses, best_responses

AGENTS = ["policy:semerik", "pimc:worlds=5", "expert"]
OPTIONS = {"horizon": "deal"}
DECISIONS, DEALS, SEED = 10_000_000, 5000, 1
SETTINGS = {
    "threads": 1, "hidden": [128, 128], "n_epochs": 2, "learning_rate": 0.002, "entropy": 0.01,
    "guide_until": 0.2,
}  # fmt: skip


def written(found: list[BestResponses]) -> str:
    """The page of results."""
    gains = sorted((gain for each in found for gain in each.gains), key=lambda gain: gain.mean)
    lines = [
        "# Best responses",
        "",
        "What a fresh learner wins a deal, in single deals of Семерик, against an agent that never",
        f"changes: after {DECISIONS:,} decisions, over {DEALS:,} duplicate deals that it was not",
        "trained on. The smaller, the less such a learner can exploit the agent. Made by",
        "`docs/responses.py`.",
        "",
        "| against | gain | 95 % interval | seconds of training |",
        "|---|---|---|---|",
        *(
            f"| `{gain.agent}` | {gain.mean:+.3f} | {gain.ci95[0]:+.3f} … {gain.ci95[1]:+.3f} | "
            f"{gain.seconds:,.0f} |"
            for gain in gains
        ),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Train, then write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/responses"))
    parser.add_argument(
        "--only", nargs="+", default=AGENTS, help="train these; tell the others as the page did"
    )
    arguments = parser.parse_args()
    results = Path(__file__).parent / "results"
    file = results / "responses.json"
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    found = {each.gains[0].agent: each for each in map(BestResponses.from_dict, before)}
    for agent in arguments.only:
        folder = arguments.out / agent.replace(":", "-").replace("=", "-")
        found[agent] = best_responses(
            "semerik", [agent], DECISIONS, DEALS, SEED, folder, OPTIONS, SETTINGS, 1
        )
    in_order = [found[agent] for agent in AGENTS if agent in found]
    (results / "responses.md").write_text(written(in_order), encoding="utf-8")
    text = json.dumps([asdict(each) for each in in_order], indent=2, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
