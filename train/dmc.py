"""Deep Monte Carlo: the network learns what each action brings by the end of the match, no more.

No critic, no bootstrapping: every decision of a finished match is told its result, and the action
worth most is played, or now and then any other. As DouZero plays DouDizhu (Zha et al., 2021).

    trysim train configs/semerik/dmc.yaml --total_decisions 5000000 --out runs/dmc
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from trysim.agents.networks import NETWORKS, Network
from trysim.envs.games import BadInput, game_named
from trysim.envs.rules.jit import rule
from trysim.train.learning import SelfPlayConfig, Training, train_as
from trysim.train.watch import Result


@dataclass(frozen=True)
class DMCConfig(SelfPlayConfig):
    """What to train, and how."""

    n_steps: int = 64
    """Decisions at each table between two updates: long enough for a whole deal, for only what has
    ended by then is learned from."""
    exploration: float = 0.2
    """Share of decisions that are made at random at the start."""
    final_exploration: float = 0.01
    """And at the end, reached in a straight line."""

    def check(self) -> None:
        """BadInput, naming field and allowed values, if this cannot be trained."""
        super().check()
        self.check_least({"exploration": 0, "final_exploration": 0})
        self.check_most_one("exploration", "final_exploration")


CONFIG = DMCConfig


@rule
def returns_to_the_end(
    rewards: npt.NDArray[np.float32],
    done: npt.NDArray[np.bool_],
    seats: npt.NDArray[np.int64],
    out: npt.NDArray[np.float32],
    known: npt.NDArray[np.bool_],
) -> None:
    """Write what each decision's match still paid to who decided (T, B).

    `rewards` (T, B, seats) are paid after a decision to everybody, `done` (T, B) says that its
    match ended. `known` (T, B) is False where the match goes on after the last step.
    """
    n_steps, n_tables, n_seats = rewards.shape
    for table in range(n_tables):
        paid, is_known = np.zeros(n_seats), False
        for step in range(n_steps - 1, -1, -1):
            if done[step, table]:
                paid[:], is_known = 0, True
            paid += rewards[step, table]
            out[step, table] = paid[seats[step, table]]
            known[step, table] = is_known


class DMC(Training):
    """A training by deep Monte Carlo; the policy's logits are what actions are worth."""

    algorithm = "dmc"

    def __init__(self, config: DMCConfig) -> None:
        self.config = config
        super().__init__(
            config,
            lambda: NETWORKS[config.network](
                game_named(config.game), config.hidden, config.activation
            ),
        )
        tables, shape = self.tables, (config.n_steps, config.n_tables)
        self._seen = torch.zeros((*shape, tables.observation.shape[1]), dtype=torch.int8)
        self._actions = torch.zeros(shape, dtype=torch.int64)
        self._seats = np.zeros(shape, np.int64)
        self._rewards = np.zeros((*shape, tables.rewards.shape[1]), np.float32)
        self._done = np.zeros(shape, np.bool_)

    def policy(self) -> Network:
        """A copy of the policy as it is now, on the CPU."""
        copy = NETWORKS[self.config.network](self.game, self.config.hidden, self.config.activation)
        copy.load_state_dict(self._learner.state_dict())
        return copy

    def take_over(self, net: Network) -> None:
        """Begin with this policy. RuntimeError if the trained network is another kind."""
        self._learner.load_state_dict(net.state_dict())

    def iterate(self) -> dict[str, float]:
        """Play, then learn from what was played; figures that tell how it goes."""
        self.play()
        return self.learn()

    @torch.no_grad()
    def play(self) -> None:
        """Decide at every table, `n_steps` times."""
        config, tables = self.config, self.tables
        net = self.policy() if config.device != "cpu" else self._learner
        share = config.exploration + self.share_done() * (
            config.final_exploration - config.exploration
        )
        for step in range(config.n_steps):
            self._seen[step] = torch.from_numpy(tables.observation)
            self._seats[step] = tables.seat
            illegal = torch.from_numpy(tables.mask) == 0
            best = net(self._seen[step]).masked_fill(illegal, -torch.inf).argmax(1)
            lots = torch.rand(illegal.shape, generator=self.random).masked_fill(illegal, -1)
            at_random = torch.rand(len(best), generator=self.random) < share
            self._actions[step] = torch.where(at_random, lots.argmax(1), best)
            tables.step(self._actions[step].numpy())
            self._rewards[step] = tables.rewards * self._scale
            self._done[step] = tables.done
        self.n_decisions += config.n_steps * config.n_tables

    def learn(self) -> dict[str, float]:
        """Update the network from the finished matches."""
        config, rate = self.config, self._slow_down()
        returns = np.empty(self._done.shape, np.float32)
        known = np.empty(self._done.shape, np.bool_)
        returns_to_the_end(self._rewards, self._done, self._seats, returns, known)
        if not known.any():
            raise BadInput(
                f"n_steps: {config.n_steps}; no match ends within them, and nothing can be learned"
            )
        usable = torch.from_numpy(np.flatnonzero(known))
        seen, actions = self._seen.flatten(0, 1), self._actions.flatten()
        paid, total, n_updates = torch.from_numpy(returns.ravel()), 0.0, 0
        for _ in range(config.n_epochs):
            order = usable[torch.randperm(len(usable), generator=self.random)]
            for chosen in torch.split(order, config.batch_size):
                some, did, then = (
                    part.index_select(0, chosen).to(config.device) for part in (seen, actions, paid)
                )
                worth = self._learner(some).gather(1, did[:, None]).squeeze(1)
                loss = functional.mse_loss(worth, then)
                self._step(loss)
                total, n_updates = total + float(loss.detach()), n_updates + 1
        return {
            "value_loss": total / n_updates,
            "used": len(usable) / known.size,
            "learning_rate": rate,
        }


def train(
    config: DMCConfig, out: Path, resume: bool = False, stop_after: float = math.inf
) -> Result:
    """Train a policy; everything about it lies in `out` (see `train_as`)."""
    return train_as(DMC, config, out, resume, stop_after)
