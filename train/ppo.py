"""Self-play PPO over the batch engine: one network plays every seat, a critic sees all hands.

Every seat of every table is played by the current policy, so each decision is one to learn from; at
a share of the tables other agents and past selves sit too. Advantages are estimated along the
decisions of each (table, seat) by themselves. Forced plays are no decisions. The critic sees the
other seats' hands beside what the seat sees; it is needed for training only.

A guide may tell what every action is worth if a rule player, or the policy itself, plays the deal
out (`guide`): the policy's logits learn that.

    trysim train configs/semerik/ppo.yaml --total_decisions 5000000 --out runs/team
"""

import copy
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

from trysim.agents.networks import NETWORKS, Network
from trysim.agents.rule_players import PLAYERS
from trysim.envs.games import BadInput, Game, combinations, game_named
from trysim.envs.rules.jit import rule
from trysim.train.critics import CRITICS, ValueBins
from trysim.train.guide import SELF, Guide, usual_difference
from trysim.train.learning import SelfPlayConfig, Training, train_as
from trysim.train.watch import Result

Floats = npt.NDArray[np.float32]
_SAME = 1e-6  # differences of worth that rounding makes


@dataclass(frozen=True)
class PPOConfig(SelfPlayConfig):
    """What to train, and how."""

    entropy: float = 0.02
    """Weight of the entropy bonus at the start."""
    final_entropy: float = 0.002
    """And at the end, reached in a straight line."""
    clip_range: float = 0.2
    """How far an update may move a probability."""
    gae_lambda: float = 0.95
    """Of the advantage estimate; there is no discount."""
    value_weight: float = 0.5
    """Weight of the critic's loss."""
    value_bins: int = 0
    """Bins of a critic that tells the distribution of what may come; with 0 it tells the mean."""
    critic_alone: int = 0
    """Decisions at first that teach the critic only: for a `start` from a policy, without one."""
    averaged_updates: int = 1000
    """Updates over which weights are averaged: the policy that is kept has the mean weights."""
    guide: str = ""
    """Who plays deals out to tell what actions are worth: a rule player, or `self`, the policy as
    it comes along; nobody if empty."""
    guide_worlds: int = 4
    """Worlds in which the guide tries every action, the table itself among them."""
    guide_until: float = 1.0
    """Share of the training that is guided; then the policy's own results alone are learned."""
    guide_options: dict[str, Any] = field(default_factory=dict)
    """Options of the tables at which the guide speaks; at all of them if empty."""
    guide_scale: float = 0.5
    """The difference in worth, in usual ones, that makes an action e times as likely: smaller is
    bolder, and slower to learn."""
    workers: int = 0
    """Workers of the cluster `ray` among which the tables are shared out; with 0 they are here."""

    @property
    def n_ray_cores(self) -> int:
        """Cores of the cluster `ray` that are asked for."""
        return self.workers + self.evaluators

    def is_guided_with(self, options: Mapping[str, Any]) -> bool:
        """Whether the guide speaks at tables with these options."""
        complete = game_named(self.game).complete_options(options)
        among = combinations(self.guide_options)
        return any(complete.items() >= chosen.items() for chosen in among)

    def check(self) -> None:
        """BadInput, naming field and allowed values, if this cannot be trained."""
        super().check()
        self.check_known("network", CRITICS)
        if self.guide:
            self.check_known("guide", [*PLAYERS, SELF])
            if not any(self.is_guided_with(options) for options in self.option_sets()):
                raise BadInput(f"guide_options: {self.guide_options}; no table has these options")
        self.check_least(
            {
                "entropy": 0,
                "final_entropy": 0,
                "clip_range": 0,
                "gae_lambda": 0,
                "value_weight": 0,
                "value_bins": 0,
                "critic_alone": 0,
                "guide_worlds": 1,
                "guide_until": 0,
                "averaged_updates": 1,
                "guide_scale": 1e-6,
            }
        )
        self.check_most_one("gae_lambda", "guide_until")
        if self.workers < 0 or (self.workers and self.n_tables % self.workers):
            raise BadInput(f"workers: {self.workers}; they share {self.n_tables} tables evenly")


CONFIG = PPOConfig


# Rewards to advantages --------------------------------------------------------------------------
@rule
def estimate_advantages(
    rewards: npt.NDArray[np.float32],
    done: npt.NDArray[np.bool_],
    seats: npt.NDArray[np.int64],
    values: npt.NDArray[np.float32],
    gae_lambda: float,
    advantages: npt.NDArray[np.float32],
    known: npt.NDArray[np.bool_],
) -> None:
    """Generalised advantage estimates along the decisions of each (table, seat).

    `rewards` (T, B, seats) are paid after a decision to everybody, `done` (T, B) says that its
    match ended; `seats` and `values` (T, B) are who decided and what the critic said. Writes
    `advantages` and `known` (T, B): False for a seat's last decision in a match that goes on. What
    came of that is not known; its value stands for what follows the decision before.
    """
    n_steps, n_tables, n_seats = rewards.shape
    for table in range(n_tables):
        since = np.zeros(n_seats)  # paid since the seat's next decision, going back in time
        following = np.zeros(n_seats)  # its value
        advantage = np.zeros(n_seats)
        is_known = np.zeros(n_seats, np.bool_)
        for step in range(n_steps - 1, -1, -1):
            if done[step, table]:
                since[:], following[:], advantage[:], is_known[:] = 0, 0, 0, True
            since += rewards[step, table]
            seat = seats[step, table]
            known[step, table] = is_known[seat]
            if is_known[seat]:
                surprise = since[seat] + following[seat] - values[step, table]
                advantage[seat] = surprise + gae_lambda * advantage[seat]
            advantages[step, table] = advantage[seat]
            following[seat] = values[step, table]
            since[seat] = 0
            is_known[seat] = True


# The learner ------------------------------------------------------------------------------------
class Learner(nn.Module):
    """Policy and critic: two networks on one first layer, the largest part of the work by far."""

    def __init__(self, game: Game, config: PPOConfig) -> None:
        super().__init__()
        sizes = game, config.hidden, config.activation
        self.actor = NETWORKS[config.network](*sizes)
        self.bins = ValueBins(config.value_bins) if config.value_bins else None
        self.critic = CRITICS[config.network](*sizes, config.value_bins or 1)
        self.mean_actor = AveragedModel(self.actor, avg_fn=running_mean(config.averaged_updates))
        self.mean_actor.requires_grad_(False)

    def forward(
        self, seen: torch.Tensor, cards: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log probabilities (N, A), very low for illegal actions, and what the critic says."""
        first = self.actor.first(seen)
        logits, said = self.actor.rest(first), self.critic(first, cards)
        return logits.masked_fill(~mask, -1e9).log_softmax(1), said

    def values(self, said: torch.Tensor) -> torch.Tensor:
        """What the critic means (N,): what will be paid to the seat, in scaled rewards."""
        return self.bins.values(said) if self.bins else said.squeeze(1)

    def value_loss(self, said: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
        """How far what the critic says is from what came."""
        if self.bins:
            return self.bins.loss(said, returns)
        return (self.values(said) - returns).square().mean()

    def policy(self) -> Network:
        """A copy of the policy alone, with its mean weights, on the CPU."""
        mean = self.mean_actor.module
        assert isinstance(mean, Network)
        return copy.deepcopy(mean).cpu()


def running_mean(n: int) -> Callable[..., torch.Tensor]:
    """How a mean over some `n` last updates takes in another one; over fewer at the beginning."""

    def take_in(mean: torch.Tensor, now: torch.Tensor, n_before: torch.Tensor) -> torch.Tensor:
        return mean.lerp(now, max(1 / n, 10 / (10 + int(n_before))))

    return take_in


def draw_actions(
    learner: Learner,
    seen: torch.Tensor,
    cards: torch.Tensor,
    mask: torch.Tensor,
    random: torch.Generator,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Actions drawn from the policy (N,), their log probabilities, and values."""
    logs, said = learner(seen, cards, mask)
    noise = torch.empty_like(logs).exponential_(generator=random).clamp_min_(1e-30)
    actions = (logs - noise.log_()).argmax(1)
    return actions, logs.gather(1, actions[:, None]).squeeze(1), learner.values(said)


@dataclass
class Rollout:
    """Decisions (T, B, …), what learner and guide said of them, and what came of them."""

    observation: torch.Tensor
    hidden: torch.Tensor
    mask: torch.Tensor
    action: torch.Tensor
    log_probability: torch.Tensor
    value: torch.Tensor
    worth: torch.Tensor
    seat: npt.NDArray[np.int64]
    rewards: Floats
    done: npt.NDArray[np.bool_]

    @classmethod
    def empty(cls, game: Game, n_steps: int, n_tables: int) -> "Rollout":
        """Room for `n_steps` decisions at each table."""
        shape = (n_steps, n_tables)
        n_hidden = (game.n_seats - 1) * len(game.deck)
        return cls(
            torch.zeros((*shape, game.layout.size), dtype=torch.int8),
            torch.zeros((*shape, n_hidden), dtype=torch.int8),
            torch.zeros((*shape, game.n_actions), dtype=torch.bool),
            torch.zeros(shape, dtype=torch.int64),
            torch.zeros(shape),
            torch.zeros(shape),
            torch.zeros((*shape, game.n_actions)),
            np.zeros(shape, np.int64),
            np.zeros((*shape, game.n_seats), np.float32),
            np.zeros(shape, np.bool_),
        )


def centred(of_actions: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Numbers of actions (N, A) less their mean over the legal ones; 0 for the others."""
    legal = of_actions.masked_fill(~mask, 0)
    means = legal.sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp_min(1)
    return (legal - means).masked_fill(~mask, 0)


@dataclass(frozen=True)
class Lessons:
    """A rollout as it is learned from: decisions (N, …) of all tables and steps.

    - `before` and `values`: log probabilities of the actions, and values, when they were taken
    - `worth` (N, A): what the guide said, less its mean over the legal actions
    - `usable`: the decisions of which it is known what came of them
    """

    seen: torch.Tensor
    cards: torch.Tensor
    mask: torch.Tensor
    action: torch.Tensor
    before: torch.Tensor
    values: torch.Tensor
    advantage: torch.Tensor
    returns: torch.Tensor
    worth: torch.Tensor
    usable: torch.Tensor

    def only(self, chosen: torch.Tensor, device: str) -> "Lessons":
        """Some of the decisions, on a device."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        taken = {name: part.index_select(0, chosen).to(device) for name, part in parts.items()
                 if name != "usable"}  # fmt: skip
        return Lessons(**taken, usable=chosen)

    def is_advised(self) -> torch.Tensor:
        """Whether the guide tells actions apart (N,)."""
        return self.worth.abs().sum(1) > _SAME

    def explained(self) -> float:
        """How much of the variance of what came of decisions their values had told."""
        surprise, returns = (self.returns - self.values)[self.usable], self.returns[self.usable]
        return 1 - float(surprise.var()) / max(float(returns.var()), 1e-12)


class PPO(Training):
    """A training by proximal policy optimisation."""

    algorithm = "ppo"

    def __init__(self, config: PPOConfig, n_tables: int | None = None) -> None:
        """A training with tables here: `n_tables` of them, or as many as the configuration says."""
        self.config = config
        super().__init__(config, lambda: Learner(game_named(config.game), config), n_tables)
        self.rollout = Rollout.empty(self.game, config.n_steps, self.tables.n_tables)
        self.guide: Guide | None = None
        if config.guide:
            self.guide = Guide(self.game, config.guide, config.guide_worlds, config.threads)
            sets, measure = config.option_sets(), self.guide
            if config.guide == SELF:  # which changes, but what is usual should not
                self.guide.follow(self.policy())
                measure = Guide(self.game, "expert", config.guide_worlds, config.threads)
            usual = np.array([usual_difference(measure, self.game, o) for o in sets])
            self._usual = np.resize(usual, self.tables.n_tables)[:, None]
            is_guided = np.array([config.is_guided_with(options) for options in sets])
            self._guided = np.flatnonzero(np.resize(is_guided, self.tables.n_tables))

    @property
    def learner(self) -> Learner:
        """Policy and critic."""
        assert isinstance(self._learner, Learner)
        return self._learner

    def policy(self) -> Network:
        """A copy of the policy as it is now, on the CPU."""
        return self.learner.policy()

    def take_over(self, net: Network) -> None:
        """Begin with this policy. RuntimeError if the trained network is another kind."""
        for actor in (self.learner.actor, self.learner.mean_actor.module):
            actor.load_state_dict(net.state_dict())

    def is_guided(self) -> bool:
        """Whether the guide is still listened to."""
        return self.guide is not None and self.share_done() < self.config.guide_until

    def iterate(self) -> dict[str, float]:
        """Play, then learn from what was played; figures that tell how it goes."""
        self.play()
        return self.learn()

    @torch.no_grad()
    def play(self) -> None:
        """Fill the rollout with decisions of the current policy."""
        tables, into = self.tables, self.rollout
        learner = self.learner
        if self.config.device != "cpu":
            learner = copy.deepcopy(learner).cpu()
        is_guided = self.is_guided()
        if self.guide is not None and self.config.guide == SELF:
            self.guide.follow(learner.policy())
        for step in range(self.config.n_steps):
            into.observation[step] = torch.from_numpy(tables.observation)
            into.hidden[step] = torch.from_numpy(tables.hidden)
            into.mask[step] = torch.from_numpy(tables.mask)
            into.seat[step] = tables.seat
            if is_guided:
                into.worth[step] = torch.from_numpy(self._worths())
            action, into.log_probability[step], into.value[step] = draw_actions(
                learner, into.observation[step], into.hidden[step], into.mask[step], self.random
            )
            into.action[step] = action
            tables.step(action.numpy())
            into.rewards[step] = tables.rewards * self._scale
            into.done[step] = tables.done
        self.n_decisions += self.config.n_steps * tables.n_tables

    def _worths(self) -> npt.NDArray[np.float64]:
        """What the guide says of every action (B, A), in usual differences; 0 if nothing."""
        assert self.guide is not None
        words = torch.randint(2**62, (self.tables.n_tables,), generator=self.random).numpy()
        said = np.zeros(self.tables.mask.shape)
        at = self._guided
        said[at] = self.guide.worths(self.tables.rows[at], words[at]) / self._usual[at]
        return said

    def learn(self) -> dict[str, float]:
        """Update policy and critic from the rollout."""
        config, is_guided, rate = self.config, self.is_guided(), self._slow_down()
        self.learner.actor.requires_grad_(self.n_decisions > config.critic_alone)
        lessons = self._lessons()
        sums: dict[str, float] = {}
        n_updates = 0
        for _ in range(config.n_epochs):
            order = lessons.usable[torch.randperm(len(lessons.usable), generator=self.random)]
            for chosen in torch.split(order, config.batch_size):
                loss, figures = self._loss(lessons.only(chosen, config.device), is_guided)
                self._step(loss)
                self.learner.mean_actor.update_parameters(self.learner.actor)
                n_updates += 1
                for name, value in figures.items():
                    sums[name] = sums.get(name, 0.0) + float(value)
        means = {name: total / n_updates for name, total in sums.items()}
        return {
            **means,
            "explained": lessons.explained(),
            "learning_rate": rate,
        }

    def _lessons(self) -> "Lessons":
        config, data = self.config, self.rollout
        values = data.value.numpy()
        advantages, known = np.empty_like(values), np.empty(values.shape, np.bool_)
        estimate_advantages(
            data.rewards, data.done, data.seat, values, config.gae_lambda, advantages, known
        )
        advantage = torch.from_numpy(advantages.ravel())
        usable = torch.from_numpy(np.flatnonzero(known))
        spread, centre = torch.std_mean(advantage[usable])
        mask = data.mask.flatten(0, 1)
        return Lessons(
            data.observation.flatten(0, 1),
            data.hidden.flatten(0, 1),
            mask,
            data.action.flatten(),
            data.log_probability.flatten(),
            data.value.flatten(),
            (advantage - centre) / (spread + 1e-8),
            torch.from_numpy((advantages + values).ravel()),
            centred(data.worth.flatten(0, 1), mask),
            usable,
        )

    def _loss(
        self, lessons: "Lessons", is_guided: bool
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """What to make small, and figures that tell how it goes."""
        logs, said = self.learner(lessons.seen, lessons.cards, lessons.mask)
        value_loss = self.learner.value_loss(said, lessons.returns)
        entropy = -(logs.exp() * logs).sum(1)
        log_ratio = logs.gather(1, lessons.action[:, None]).squeeze(1) - lessons.before
        ratio = log_ratio.exp()
        policy_losses = self._policy_losses(ratio, lessons.advantage)
        own_losses = policy_losses - self._entropy_weight() * entropy
        guide_loss = torch.zeros(())
        if is_guided:
            # Where the guide sees no difference (cuts and blows, say) one's own results count.
            own_losses = own_losses * ~lessons.is_advised()
            guide_loss = self._guide_loss(logs, lessons)
        loss = own_losses.mean() + guide_loss + self.config.value_weight * value_loss
        return loss, {
            "policy_loss": policy_losses.detach().mean(),
            "guide_loss": guide_loss.detach(),
            "value_loss": value_loss.detach(),
            "entropy": entropy.detach().mean(),
            "kl": (ratio - 1 - log_ratio).detach().mean(),
            "clipped": ((ratio - 1).abs() > self.config.clip_range).float().mean(),
        }

    def _policy_losses(self, ratio: torch.Tensor, advantage: torch.Tensor) -> torch.Tensor:
        """PPO's (N,): what was better than expected becomes likelier, within the clip range."""
        clipped = ratio.clamp(1 - self.config.clip_range, 1 + self.config.clip_range)
        return -torch.min(ratio * advantage, clipped * advantage)

    def _guide_loss(self, logs: torch.Tensor, lessons: "Lessons") -> torch.Tensor:
        """How far the logits are from what the guide says actions are worth.

        Relative to the differences there are: 1 is no better than saying nothing.
        """
        meant = centred(logs, lessons.mask) * self.config.guide_scale
        advised, n_legal = lessons.is_advised(), lessons.mask.sum(1)
        wrong = ((meant - lessons.worth).square().sum(1) / n_legal)[advised].sum()
        usual = (lessons.worth.square().sum(1) / n_legal)[advised].sum()
        return wrong / usual.clamp_min(1e-12)

    def _entropy_weight(self) -> float:
        first, last = self.config.entropy, self.config.final_entropy
        return first + self.share_done() * (last - first)


# A whole training -------------------------------------------------------------------------------
def train(
    config: PPOConfig, out: Path, resume: bool = False, stop_after: float = math.inf
) -> Result:
    """Train a policy; everything about it lies in `out` (see `train_as`)."""
    if not config.workers:
        return train_as(PPO, config, out, resume, stop_after)
    from trysim.train.ray_ppo import RayPPO  # the extra `ray`

    return train_as(RayPPO, config, out, resume, stop_after)


# Speed ------------------------------------------------------------------------------------------
def benchmark(hidden: int, n_iterations: int = 4) -> tuple[float, dict[str, float]]:
    """Learned decisions a second with two layers of `hidden`, and where the time goes (shares)."""
    config = PPOConfig(
        options={"horizon": "deal"},
        network="mlp",
        hidden=[hidden, hidden],
        batch_size=4096,
        n_epochs=1,
    )
    ppo = PPO(config)
    ppo.iterate()  # warm up
    played = learned = 0.0
    for _ in range(n_iterations):
        started = time.perf_counter()
        ppo.play()
        between = time.perf_counter()
        ppo.learn()
        played, learned = played + between - started, learned + time.perf_counter() - between
    inference = encoding = 0.0
    data, tables = ppo.rollout, ppo.tables
    with torch.no_grad():
        for step in range(config.n_steps):
            started = time.perf_counter()
            parts = data.observation[step], data.hidden[step], data.mask[step]
            draw_actions(ppo.learner, *parts, ppo.random)
            between = time.perf_counter()
            tables.observe()
            _ = tables.hidden
            inference, encoding = (
                inference + between - started,
                encoding + time.perf_counter() - between,
            )
    inference, encoding = inference * n_iterations, encoding * n_iterations
    total = played + learned
    seconds = {
        "engine": max(played - inference - encoding, 0.0),
        "encoding": encoding,
        "inference": inference,
        "update": learned,
    }
    n_decisions = n_iterations * config.n_steps * config.n_tables
    return n_decisions / total, {name: part / total for name, part in seconds.items()}
