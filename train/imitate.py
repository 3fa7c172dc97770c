"""Imitation: a policy that learns to do what the agents of a dataset did.

    trysim dataset semerik --agents pimc:worlds=100 --option horizon=deal --episodes 20000 \
        --seed 1 --out data/pimc
    trysim train configs/semerik/imitate.yaml --data data/pimc --out runs/imitation

A training by `ppo` can start from it: `--start runs/imitation/policy --critic_alone 300000`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from trysim.agents.networks import NETWORKS, Network
from trysim.agents.policy import save_policy
from trysim.envs.games import BadInput, game_named
from trysim.train.config import save_config
from trysim.train.dataset import Batch, DecisionStream
from trysim.train.settings import NetworkConfig
from trysim.train.watch import Result, Watch, check_finite, check_free, story

LIBRARIES = ("numpy", "torch", "pyarrow")


@dataclass(frozen=True)
class ImitateConfig(NetworkConfig):
    """What to imitate, and how."""

    data: str = ""
    """The dataset's folder; it is passed through as often as `total_decisions` ask for."""
    batch_size: int = 1024
    """Decisions in a minibatch."""
    learning_rate: float = 2e-3
    """At the start; falls to zero in a straight line."""

    def check(self) -> None:
        """BadInput, naming field and allowed values, if this cannot be trained."""
        super().check()
        if not self.data:
            raise BadInput("data: the folder of a dataset is needed; trysim dataset makes one")
        self.check_least({"batch_size": 2, "learning_rate": 0})


CONFIG = ImitateConfig


def train(
    config: ImitateConfig, out: Path, resume: bool = False, stop_after: float = math.inf
) -> Result:
    """Train a policy; everything about it lies in `out`.

    `config.yaml`; `policy/` for `policy:` specs; `log/`: CSV and TensorBoard; `evaluations.csv`;
    `learning_curve.png`. After `stop_after` decisions it stops as if interrupted.

    Raises BadInput if the configuration or its dataset is wrong, `out` holds a training already, or
    it is to `resume` (imitation takes minutes); TrainingStopped if the weights are no numbers.
    """
    config.check()
    if resume:
        raise BadInput("--resume: only trainings with `algorithm: ppo` or `dmc` can go on")
    check_free(out)
    game = game_named(config.game)
    stream = DecisionStream(config.data, config.batch_size, config.seed)
    if stream.game is not game:
        raise BadInput(f"data: {config.data} is of {stream.game.name}, not of {game.name}")
    torch.set_num_threads(config.threads)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        net = NETWORKS[config.network](game, config.hidden, config.activation)
    optimiser = torch.optim.Adam(net.parameters(), config.learning_rate)
    watch = Watch(config, out)
    save_config(config, out / "config.yaml")
    n_decisions = 0

    def save() -> None:
        about = story("imitate", config, n_decisions, watch, LIBRARIES)
        about["dataset"] = {name: stream.manifest[name] for name in ("agents", "episodes")}
        save_policy(out / "policy", game, config.network, net, about)

    end = min(config.total_decisions, stop_after)
    with watch:
        save()
        for batch in _passes(stream):
            if n_decisions >= end or not watch.has_time():
                break
            share_left = 1 - n_decisions / config.total_decisions
            for group in optimiser.param_groups:
                group["lr"] = config.learning_rate * share_left
            figures = imitate(net, optimiser, batch)
            check_finite(figures, n_decisions, out)
            before, n_decisions = n_decisions, n_decisions + len(batch["action"])
            watch.note(n_decisions, figures)
            if n_decisions // config.evaluate_every > before // config.evaluate_every:
                save()
                watch.evaluate(n_decisions)
        save()
        if watch.last_evaluated < n_decisions:
            watch.evaluate(n_decisions)
    return watch.result(n_decisions)


def _passes(stream: DecisionStream) -> Iterator[Batch]:
    """The dataset's batches over and over; BadInput if there are none."""
    n_batches = 0
    while True:
        before = n_batches
        for batch in stream:
            n_batches += 1
            yield batch
        if n_batches == before:
            raise BadInput("data: the dataset has no decision with a choice")


def imitate(net: Network, optimiser: torch.optim.Optimizer, batch: Batch) -> dict[str, float]:
    """Make what was done in a batch of decisions likelier; loss, and how often it was likeliest."""
    logits = net(batch["observation"]).masked_fill(~batch["mask"], -1e9)
    loss = functional.cross_entropy(logits, batch["action"])
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimiser.step()
    agreed = (logits.argmax(1) == batch["action"]).float().mean()
    return {"loss": float(loss.detach()), "agreed": float(agreed)}
