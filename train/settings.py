"""What algorithms are told: the fields of configurations that several of them share."""

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trysim.agents import make_agent
from trysim.agents.networks import ACTIVATIONS, NETWORKS
from trysim.envs.games import BadInput, combinations, game_named
from trysim.train.loggers import LOGGERS


@dataclass(frozen=True)
class SharedConfig:
    """What every algorithm of trysim's own is told."""

    algorithm: str = "ppo"
    """ppo."""
    game: str = "semerik"
    """sim_lystiv, semnadtsat or semerik."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the game; a list of values is shared out among the tables."""
    total_decisions: int = 20_000_000
    """The learner's decisions in all."""
    max_seconds: float = math.inf
    """Stop after this time, whatever has been reached."""
    evaluate_every: int = 1_000_000
    """Decisions between two evaluations."""
    evaluate_deals: int = 1000
    """Duplicate deals in an evaluation; none of them is trained on."""
    evaluate_options: dict[str, Any] = field(default_factory=dict)
    """Options of evaluations where they differ from the first of each list of training."""
    anchors: list[str] = field(default_factory=lambda: ["greedy", "expert"])
    """Fixed opponents of the evaluations."""
    checkpoint_every: int = 1_000_000
    """Decisions between two checkpoints."""
    loggers: list[str] = field(default_factory=lambda: ["tensorboard"])
    """Where figures go besides the CSV: tensorboard, wandb, mlflow."""
    ray: str = ""
    """Address of a Ray cluster that helps: auto finds the running one, local begins one here."""
    evaluators: int = 0
    """Cores of the cluster `ray` that play evaluations (`out` must lie on a disk that all its
    machines see); with 0 they are played here."""
    seed: int = 1
    """Same seed, same policy (on one thread)."""
    threads: int = 2
    """Threads of torch."""

    def check(self) -> None:
        """BadInput, naming field and allowed values, if this cannot be trained."""
        game = game_named(self.game)
        for options in self.option_sets():
            game.complete_options(options)
        game.complete_options(self.options_to_evaluate())
        for spec in self.anchors:
            make_agent(spec, game)
        if self.n_ray_cores and not self.ray:
            raise BadInput("workers and evaluators are of a Ray cluster: give ray, its address")
        for name in self.loggers:
            if name not in LOGGERS:
                raise BadInput(f"loggers: {name}; allowed are {', '.join(LOGGERS)}")
        self.check_least(
            {
                "total_decisions": 1,
                "max_seconds": 0,
                "evaluate_every": 1,
                "evaluate_deals": 2,
                "checkpoint_every": 1,
                "evaluators": 0,
                "seed": 0,
                "threads": 1,
            }
        )

    @property
    def n_ray_cores(self) -> int:
        """Cores of the cluster `ray` that are asked for."""
        return self.evaluators

    def check_least(self, least: Mapping[str, float]) -> None:
        """BadInput if one of these fields is lower than it may be, or no number."""
        for name, lowest in least.items():
            if not getattr(self, name) >= lowest:
                raise BadInput(f"{name}: {getattr(self, name)}; at least {lowest} is needed")

    def check_most_one(self, *names: str) -> None:
        """BadInput if one of these fields is greater than 1."""
        for name in names:
            if getattr(self, name) > 1:
                raise BadInput(f"{name}: {getattr(self, name)}; at most 1")

    def check_known(self, name: str, known: Iterable[str]) -> None:
        """BadInput if this field names nothing known."""
        if getattr(self, name) not in known:
            raise BadInput(f"{name}: {getattr(self, name)}; allowed are {', '.join(known)}")

    def option_sets(self) -> list[dict[str, Any]]:
        """Every combination of the options' values."""
        return combinations(self.options)

    def options_of_tables(self, n_tables: int) -> list[dict[str, Any]]:
        """The options of each table: every combination in turn."""
        return list(itertools.islice(itertools.cycle(self.option_sets()), n_tables))

    def options_to_evaluate(self) -> dict[str, Any]:
        """The options that the anchors are played with."""
        return {**self.option_sets()[0], **self.evaluate_options}


@dataclass(frozen=True)
class NetworkConfig(SharedConfig):
    """And what those are told that train networks of `trysim.agents.networks`."""

    network: str = "suits"
    """suits (the four suits are alike; sizes are of each) or mlp."""
    hidden: list[int] = field(default_factory=lambda: [96, 96])
    """Sizes of the hidden layers."""
    activation: str = "relu"
    """relu or tanh."""

    def check(self) -> None:
        """BadInput, naming field and allowed values, if this cannot be trained."""
        super().check()
        if not self.hidden or min(self.hidden) < 1:
            raise BadInput(f"hidden: {self.hidden}; a list of whole numbers from 1 is needed")
        self.check_known("activation", ACTIVATIONS)
        self.check_known("network", NETWORKS)


@dataclass(frozen=True)
class LibraryPPOConfig(SharedConfig):
    """What PPO of another library is told."""

    evaluate_every: int = 250_000
    """Decisions between two evaluations."""
    evaluate_deals: int = 300
    """Duplicate deals in an evaluation; none of them is trained on."""
    batch_size: int = 4096
    """Decisions in a minibatch."""
    n_epochs: int = 3
    """Passes over the decisions at each update."""
    learning_rate: float = 1e-3
    """At the start; falls to a tenth in a straight line."""
    entropy: float = 0.01
    """Weight of the entropy bonus."""
    clip_range: float = 0.2
    """How far an update may move a probability."""
    gae_lambda: float = 0.95
    """Of the advantage estimate; there is no discount."""
    reward_scale: float = 0.2
    """Rewards are multiplied by this, so that values are about 1."""

    def check(self) -> None:
        """BadInput, naming field and allowed values, if this cannot be trained."""
        super().check()
        self.check_least(
            {
                "batch_size": 2,
                "n_epochs": 1,
                "learning_rate": 0,
                "entropy": 0,
                "clip_range": 0,
                "gae_lambda": 0,
                "reward_scale": 0,
            }
        )
        self.check_most_one("gae_lambda")
