"""Approximate best responses: how much a fresh learner gains against an agent that never changes.

The learner holds one seat (in Семерик one pair), the agent all others, at every table. What it wins
at the end, on deals never trained on, is a lower bound of how far the agent can be exploited.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from trysim.agents import make_agent
from trysim.arena.duplicate import compare
from trysim.arena.report import versions, write_whole
from trysim.envs.games import BadInput, game_named
from trysim.train.checkpoint import CHECKPOINT
from trysim.train.learning import LIBRARIES
from trysim.train.ppo import PPOConfig, train

FILE_NAME = "best_response.json"


@dataclass(frozen=True)
class Gain:
    """What the best response to `agent` wins, a match: mean and 95 % bootstrap interval."""

    agent: str
    decisions: int
    seconds: float
    mean: float
    ci95: tuple[float, float]


@dataclass(frozen=True)
class BestResponses:
    """Gains over several agents, and all that repeats them."""

    game: str
    options: dict[str, Any]
    deals: int
    seed: int
    versions: dict[str, str]
    gains: tuple[Gain, ...]

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "BestResponses":
        """What `best_response.json` says."""
        gains = (Gain(**{**gain, "ci95": tuple(gain["ci95"])}) for gain in found["gains"])
        return cls(**{**found, "gains": tuple(gains)})

    def table(self) -> Table:
        """The gains as a table for `rich.print`."""
        table = Table(title=f"{self.game}: gain of a best response", title_justify="left")
        for heading in ("against", "gain", "95 % interval", "decisions"):
            table.add_column(heading, justify="left" if heading == "against" else "right")
        for gain in sorted(self.gains, key=lambda gain: gain.mean):
            low, high = gain.ci95
            table.add_row(
                gain.agent, f"{gain.mean:+.3f}", f"{low:+.3f} … {high:+.3f}", f"{gain.decisions:,}"
            )
        return table


def best_responses(
    game: str,
    agents: Sequence[str],
    decisions: int,
    deals: int,
    seed: int,
    out: Path,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    workers: int | None = None,
) -> BestResponses:
    """Train a best response to each of the agents; everything lies in `out`.

    `settings` are further fields of `PPOConfig`. What an earlier call trained there is not trained
    again, and a training that was interrupted goes on. Raises BadInput for anything wrong.
    """
    match = game_named(game)
    complete = match.complete_options(options or {})
    specs = [make_agent(spec, match).spec for spec in agents]
    gains = []
    for number, spec in enumerate(specs):
        config = config_against(game, spec, decisions, deals, seed, complete, settings or {})
        folder = out / f"against-{number + 1}"
        result = train(config, folder, resume=(folder / CHECKPOINT).is_file())
        learned = f"policy:{result.policy}"
        pair = compare(game, [learned, spec], deals, seed, complete, workers).pairs[0]
        gains.append(Gain(spec, result.decisions, round(result.seconds, 1), pair.mean, pair.ci95))
    found = BestResponses(game, complete, deals, seed, versions(LIBRARIES), tuple(gains))
    text = json.dumps(asdict(found), indent=2, ensure_ascii=False) + "\n"
    write_whole(out / FILE_NAME, text.encode())
    return found


def config_against(
    game: str,
    agent: str,
    decisions: int,
    deals: int,
    seed: int,
    options: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> PPOConfig:
    """The training of a best response to one agent."""
    fixed = {
        "game": game, "options": dict(options), "seed": seed, "total_decisions": decisions,
        "mixed_share": 1.0, "alone": True, "opponents": [agent], "anchors": [agent],
        "evaluate_deals": min(deals, 500), "evaluate_every": max(decisions // 5, 1),
        "checkpoint_every": max(decisions // 20, 1),
    }  # fmt: skip
    for name in settings:
        if name in fixed:
            raise BadInput(f"{name} is not free: a best response needs its own")
    try:
        return PPOConfig(**{"guide": "expert", "guide_until": 0.5, **fixed, **settings})
    except TypeError as error:
        raise BadInput(f"settings: {error}") from None
