"""Self-play PPO over the batch engine: one network plays every seat, a critic sees all hands.

Every seat of every table is played by the current policy, so each decision is one to learn from; at
a share of the tables other agents and past selves sit too. Advantages are estimated along the
decisions of each (table, seat) by themselves. Forced plays are no decisions. The critic sees the
other seats' hands beside what the seat sees; it is needed for training only.

At first a guide may tell what a rule player would make of every action (`guide`): the policy's
logits learn that, and its own results take over little by little.

    trysim train configs/semerik/ppo.yaml --total_decisions 5000000 --out runs/team
"""

import copy
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.torch
import torch
from torch import nn

from trysim.agents import make_agent
from trysim.agents.networks import ACTIVATIONS, NETWORKS, Network
from trysim.agents.policy import PolicyAgent, save_policy
from trysim.agents.rule_players import PLAYERS
from trysim.arena.report import versions
from trysim.envs.decisions import decide, new_streams
from trysim.envs.games import BadInput, Game, game_named
from trysim.envs.rules.jit import rule
from trysim.train.config import save_config
from trysim.train.critics import CRITICS
from trysim.train.guide import Guide
from trysim.train.selfplay import SelfPlayTables
from trysim.train.watch import (
    Result,
    SharedConfig,
    TrainingStopped,
    Watch,
    check_free,
    plain,
    story,
)

LIBRARIES = ("numpy", "numba", "torch", "gymnasium")
CHECKPOINT = "checkpoint.safetensors"
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class PPOConfig(SharedConfig):
    """What to train, and how."""

    mixed_share: float = 0.0
    """Share of the tables at which others sit too: the `opponents` and past selves."""
    alone: bool = False
    """At the mixed tables one seat only (in Семерик one pair) is the learner's."""
    opponents: list[str] = field(default_factory=list)
    """Agents at the mixed tables from the start."""
    snapshots: int = 0
    """Past selves at the mixed tables, the newest ones."""
    snapshot_every: int = 1_000_000
    """Decisions between two snapshots."""
    n_tables: int = 1024
    """Tables played at once."""
    n_steps: int = 64
    """Decisions at each table between two updates."""
    batch_size: int = 4096
    """Decisions in a minibatch."""
    n_epochs: int = 1
    """Passes over the decisions at each update."""
    learning_rate: float = 1e-3
    """At the start; falls to zero in a straight line."""
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
    guide: str = ""
    """Rule player that tells what actions are worth at first; none if empty."""
    guide_worlds: int = 4
    """Worlds in which the guide tries every action, the table itself among them."""
    guide_until: float = 0.6
    """Share of the training in which the guide's weight falls from 1 to 0."""
    guide_scale: float = 0.05
    """The difference in worth (in scaled rewards) that makes an action e times as likely."""
    network: str = "suits"
    """suits (the four suits are alike; sizes are of each) or mlp."""
    hidden: list[int] = field(default_factory=lambda: [96, 96])
    """Sizes of the hidden layers, of policy and critic each; they share the first."""
    activation: str = "relu"
    """relu or tanh."""
    device: str = "cpu"
    """Where the network learns: cpu or cuda; it always plays on the CPU."""

    def check(self) -> None:
        """BadInput, naming field and allowed values, if this cannot be trained."""
        super().check()
        if not self.hidden or min(self.hidden) < 1:
            raise BadInput(f"hidden: {self.hidden}; a list of whole numbers from 1 is needed")
        self.check_known("activation", ACTIVATIONS)
        self.check_known("network", NETWORKS)
        self.check_known("network", CRITICS)
        if self.guide:
            self.check_known("guide", PLAYERS)
        self.check_least(
            {
                "mixed_share": 0,
                "snapshots": 0,
                "snapshot_every": 1,
                "n_tables": 1,
                "n_steps": 2,
                "batch_size": 2,
                "n_epochs": 1,
                "learning_rate": 0,
                "entropy": 0,
                "final_entropy": 0,
                "clip_range": 0,
                "gae_lambda": 0,
                "value_weight": 0,
                "guide_worlds": 1,
                "guide_until": 0,
                "guide_scale": 1e-6,
            }
        )
        for name in ("mixed_share", "gae_lambda", "guide_until"):
            if getattr(self, name) > 1:
                raise BadInput(f"{name}: {getattr(self, name)}; at most 1")
        if self.mixed_share and not (self.opponents or self.snapshots):
            raise BadInput("mixed_share: nobody is to sit there: give opponents or snapshots")
        if self.device not in ("cpu", "cuda"):
            raise BadInput(f"device: {self.device}; allowed are cpu, cuda")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise BadInput("device: cuda; torch finds no such device here: use cpu")
        for spec in self.opponents:
            make_agent(spec, self.game)


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


def reward_scale(game: Game, options: Mapping[str, Any], n_matches: int = 256) -> float:
    """What makes the standard deviation of a seat's reward in greedy matches 1."""
    tables = SelfPlayTables(game.name, [options] * n_matches, 0)
    greedy, everywhere = make_agent("greedy", game), np.arange(n_matches)
    streams = new_streams([(0, table) for table in range(n_matches)], game.n_seats)
    nobody_else = np.zeros(n_matches, np.int64)
    running = np.ones(n_matches, np.bool_)
    sums = np.zeros((n_matches, game.n_seats))
    while running.any():
        tables.step(decide(game, tables.rows, everywhere, [greedy], nobody_else, streams))
        sums[running] += tables.rewards[running]
        running &= ~tables.done
    played = sums[:, : game.n_players(game.complete_options(options))]
    return 1.0 / max(float(played.std()), 1e-6)


# The learner ------------------------------------------------------------------------------------
class Learner(nn.Module):
    """Policy and critic: two networks on one first layer, the largest part of the work by far."""

    def __init__(self, game: Game, config: PPOConfig) -> None:
        super().__init__()
        sizes = game, config.hidden, config.activation
        self.actor = NETWORKS[config.network](*sizes)
        self.critic = CRITICS[config.network](*sizes)

    def forward(
        self, seen: torch.Tensor, cards: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log probabilities (N, A), very low for illegal actions, and values (N,).

        A value is what the rest of the match will pay to the seat, in scaled rewards.
        """
        first = self.actor.first(seen)
        logits, values = self.actor.rest(first), self.critic(first, cards)
        return logits.masked_fill(~mask, -1e9).log_softmax(1), values

    def policy(self) -> Network:
        """A copy of the policy alone, on the CPU."""
        return copy.deepcopy(self.actor).cpu()


def draw_actions(
    learner: Learner,
    seen: torch.Tensor,
    cards: torch.Tensor,
    mask: torch.Tensor,
    random: torch.Generator,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Actions drawn from the policy (N,), their log probabilities, and values."""
    logs, values = learner(seen, cards, mask)
    noise = torch.empty_like(logs).exponential_(generator=random).clamp_min_(1e-30)
    actions = (logs - noise.log_()).argmax(1)
    return actions, logs.gather(1, actions[:, None]).squeeze(1), values


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
    def empty(cls, n_steps: int, tables: SelfPlayTables) -> "Rollout":
        """Room for `n_steps` decisions at each table."""
        shape = (n_steps, tables.n_tables)
        return cls(
            torch.zeros((*shape, tables.observation.shape[1]), dtype=torch.int8),
            torch.zeros((*shape, tables.hidden.shape[1]), dtype=torch.int8),
            torch.zeros((*shape, tables.mask.shape[1]), dtype=torch.bool),
            torch.zeros(shape, dtype=torch.int64),
            torch.zeros(shape),
            torch.zeros(shape),
            torch.zeros((*shape, tables.mask.shape[1])),
            np.zeros(shape, np.int64),
            np.zeros((*shape, tables.rewards.shape[1]), np.float32),
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

    def explained(self) -> float:
        """How much of the variance of what came of decisions their values had told."""
        surprise, returns = (self.returns - self.values)[self.usable], self.returns[self.usable]
        return 1 - float(surprise.var()) / max(float(returns.var()), 1e-12)


class PPO:
    """The state of a training: tables, networks, optimiser, random numbers."""

    def __init__(self, config: PPOConfig) -> None:
        self.config, self.game = config, game_named(config.game)
        torch.set_num_threads(config.threads)
        self.random = torch.Generator().manual_seed(config.seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.learner = Learner(self.game, config)
        self.learner.to(config.device)
        self.optimiser = torch.optim.Adam(
            self.learner.parameters(), config.learning_rate, eps=1e-5, foreach=True
        )
        sets = config.option_sets()
        scales = [reward_scale(self.game, options) for options in sets]
        self._scale = np.resize(np.array(scales, np.float32), config.n_tables)[:, None]
        self._own = [make_agent(spec, self.game) for spec in config.opponents]
        self.snapshots: list[Network] = []
        n_mixed = round(config.mixed_share * config.n_tables)
        options = config.options_of_tables(config.n_tables)
        self.tables = SelfPlayTables(
            config.game, options, config.seed, list(self._own), n_mixed, config.alone
        )
        self.rollout = Rollout.empty(config.n_steps, self.tables)
        self.guide: Guide | None = None
        if config.guide:
            self.guide = Guide(self.game, config.guide, config.guide_worlds, config.threads)
        self.n_decisions = 0

    def share_done(self) -> float:
        """How much of the training is done, 0 to 1."""
        return min(self.n_decisions / self.config.total_decisions, 1.0)

    def guide_weight(self) -> float:
        """How much the guide counts now, 0 to 1."""
        if self.guide is None or self.config.guide_until == 0:
            return 0.0
        return max(0.0, 1.0 - self.share_done() / self.config.guide_until)

    def take_snapshot(self) -> None:
        """Let the policy as it is now sit at the mixed tables."""
        self.snapshots.append(self.learner.policy())
        del self.snapshots[: -self.config.snapshots]
        self._seat_snapshots()

    def _seat_snapshots(self) -> None:
        past = [PolicyAgent(self.game, net, "snapshot", "sample") for net in self.snapshots]
        self.tables.others = [*self._own, *past]

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
        is_guided = self.guide_weight() > 0
        for step in range(self.config.n_steps):
            into.observation[step] = torch.from_numpy(tables.observation)
            into.hidden[step] = torch.from_numpy(tables.hidden)
            into.mask[step] = torch.from_numpy(tables.mask)
            into.seat[step] = tables.seat
            if is_guided:
                into.worth[step] = torch.from_numpy(self._worths() * self._scale)
            action, into.log_probability[step], into.value[step] = draw_actions(
                learner, into.observation[step], into.hidden[step], into.mask[step], self.random
            )
            into.action[step] = action
            tables.step(action.numpy())
            into.rewards[step] = tables.rewards * self._scale
            into.done[step] = tables.done
        self.n_decisions += self.config.n_steps * self.config.n_tables

    def _worths(self) -> npt.NDArray[np.float64]:
        """What the guide says of every action at every table (B, A)."""
        assert self.guide is not None
        words = torch.randint(2**62, (self.tables.n_tables,), generator=self.random)
        return self.guide.worths(self.tables.rows, words.numpy())

    def learn(self) -> dict[str, float]:
        """Update policy and critic from the rollout."""
        config, guide_weight = self.config, self.guide_weight()
        for group in self.optimiser.param_groups:
            group["lr"] = config.learning_rate * (1 - self.share_done())
        lessons = self._lessons()
        sums: dict[str, float] = {}
        n_updates = 0
        for _ in range(config.n_epochs):
            order = lessons.usable[torch.randperm(len(lessons.usable), generator=self.random)]
            for chosen in torch.split(order, config.batch_size):
                loss, figures = self._loss(lessons.only(chosen, config.device), guide_weight)
                self.optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.learner.parameters(), 0.5)
                self.optimiser.step()
                n_updates += 1
                for name, value in figures.items():
                    sums[name] = sums.get(name, 0.0) + float(value)
        means = {name: total / n_updates for name, total in sums.items()}
        return {
            **means,
            "explained": lessons.explained(),
            "guide_weight": guide_weight,
            "learning_rate": group["lr"],
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
        self, lessons: "Lessons", guide_weight: float
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """What to make small, and figures that tell how it goes."""
        config, share = self.config, self.share_done()
        entropy_weight = config.entropy + share * (config.final_entropy - config.entropy)
        logs, values = self.learner(lessons.seen, lessons.cards, lessons.mask)
        value_loss = (values - lessons.returns).square().mean()
        entropy = -(logs.exp() * logs).sum(1).mean()
        log_ratio = logs.gather(1, lessons.action[:, None]).squeeze(1) - lessons.before
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - config.clip_range, 1 + config.clip_range)
        policy_loss = -torch.min(ratio * lessons.advantage, clipped * lessons.advantage).mean()
        loss = (1 - guide_weight) * (policy_loss - entropy_weight * entropy)
        loss = loss + config.value_weight * value_loss
        figures = {
            "policy_loss": policy_loss.detach(),
            "value_loss": value_loss.detach(),
            "entropy": entropy.detach(),
            "kl": (ratio - 1 - log_ratio).detach().mean(),
            "clipped": ((ratio - 1).abs() > config.clip_range).float().mean(),
        }
        if guide_weight > 0:
            meant = centred(logs, lessons.mask) * config.guide_scale
            # Relative to the differences there are: 1 is no better than saying nothing.
            guide_loss = (meant - lessons.worth).square().sum() / lessons.worth.square().sum()
            loss = loss + guide_weight * guide_loss
            figures["guide_loss"] = guide_loss.detach()
        return loss, figures

    # Checkpoints --------------------------------------------------------------------------------
    def save(self, path: Path, about: Mapping[str, Any]) -> None:
        """Write everything that going on exactly needs, whole or not at all."""
        tensors = {f"learner.{name}": value for name, value in self.learner.state_dict().items()}
        for number, state in self.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{number}.{name}": value for name, value in state.items()}
        for number, snapshot in enumerate(self.snapshots):
            weights = snapshot.state_dict()
            tensors |= {f"snapshot.{number}.{name}": value for name, value in weights.items()}
        tensors["random"] = self.random.get_state()
        tensors |= {f"tables.{k}": torch.from_numpy(v) for k, v in self.tables.state().items()}
        meaning = {
            **about,
            "decisions": self.n_decisions,
            "config": plain(self.config),
        }
        part = path.with_suffix(".part")
        tensors = {name: value.contiguous() for name, value in tensors.items()}
        safetensors.torch.save_file(tensors, part, {"about": json.dumps(meaning)})
        part.replace(path)

    def load(self, path: Path) -> dict[str, Any]:
        """Go on from a checkpoint; what was said about it. BadInput if it does not fit."""
        try:
            tensors = safetensors.torch.load_file(path)
            with safetensors.safe_open(path, "pt") as file:
                about: dict[str, Any] = json.loads(file.metadata()["about"])
            self.learner.load_state_dict(_part(tensors, "learner"))
            self._load_optimiser(_part(tensors, "optimiser"))
            self.random.set_state(tensors["random"])
            self.n_decisions = int(about["decisions"])
            self._load_snapshots(_part(tensors, "snapshot"))
            self.tables.restore({k: v.numpy() for k, v in _part(tensors, "tables").items()})
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise BadInput(f"cannot go on from {path}: {error}") from None
        except safetensors.SafetensorError as error:
            raise BadInput(f"cannot go on from {path}: {error}") from None
        return about

    def _load_optimiser(self, tensors: Mapping[str, torch.Tensor]) -> None:
        whole = self.optimiser.state_dict()
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in tensors.items():
            number, _, kind = name.partition(".")
            state.setdefault(int(number), {})[kind] = value
        self.optimiser.load_state_dict({**whole, "state": state})

    def _load_snapshots(self, tensors: Mapping[str, torch.Tensor]) -> None:
        self.snapshots = []
        for number in range(len({name.partition(".")[0] for name in tensors})):
            net = self.learner.policy()
            net.load_state_dict(_part(tensors, str(number)))
            self.snapshots.append(net)
        self._seat_snapshots()


def _part(tensors: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    """The tensors whose names begin so, without it."""
    start = f"{prefix}."
    return {name[len(start) :]: t for name, t in tensors.items() if name.startswith(start)}


# A whole training -------------------------------------------------------------------------------
def train(
    config: PPOConfig, out: Path, resume: bool = False, stop_after: float = math.inf
) -> Result:
    """Train a policy; everything about it lies in `out`.

    `config.yaml`; `policy/` for `policy:` specs; `checkpoint.safetensors` to `resume` from (with
    the same configuration: the result is that of a training never interrupted); `log/`: CSV and
    TensorBoard; `evaluations.csv`; `learning_curve.png`. After `stop_after` decisions the training
    stops as if it had been interrupted.

    Raises BadInput if the configuration is wrong or `out` holds another training, TrainingStopped
    if the weights are no longer numbers.
    """
    config.check()
    if not resume:
        check_free(out)
    ppo = PPO(config)
    about: dict[str, Any] = {"seconds": 0.0}
    if resume:
        about = ppo.load(out / CHECKPOINT)
        _check_same(config, about["config"], out)
    watch = Watch(config, out, ppo.n_decisions, about["seconds"])
    save_config(config, out / "config.yaml")
    intervals = {
        "snapshot": config.snapshot_every,
        "evaluate": config.evaluate_every,
        "checkpoint": config.checkpoint_every,
    }
    with watch:
        if not resume:
            _save(ppo, out, watch)
            watch.evaluate(0)
        while ppo.n_decisions < min(config.total_decisions, stop_after) and watch.has_time():
            before = ppo.n_decisions
            figures = ppo.iterate()
            _check_finite(ppo, out)
            now = ppo.n_decisions
            watch.note(now, figures)
            passed = {name for name, every in intervals.items() if now // every > before // every}
            if "snapshot" in passed and config.snapshots:
                ppo.take_snapshot()
            if passed & {"checkpoint", "evaluate"}:
                _save(ppo, out, watch)
            if "evaluate" in passed:
                watch.evaluate(now)
        _save(ppo, out, watch)
        if watch.last_evaluated < ppo.n_decisions:
            watch.evaluate(ppo.n_decisions)
    return watch.result(ppo.n_decisions)


def _save(ppo: PPO, out: Path, watch: Watch) -> None:
    """The policy and a checkpoint."""
    config = ppo.config
    about = story("ppo", config, ppo.n_decisions, watch, LIBRARIES)
    save_policy(out / "policy", ppo.game, config.network, ppo.learner.policy(), about)
    ppo.save(out / CHECKPOINT, {"seconds": watch.seconds, "versions": versions(LIBRARIES)})


def _check_finite(ppo: PPO, out: Path) -> None:
    if all(bool(torch.isfinite(p).all()) for p in ppo.learner.parameters()):
        return
    raise TrainingStopped(
        f"weights are no longer finite after {ppo.n_decisions:,} decisions; the last good policy "
        f"is {out / 'policy'}; try a lower learning_rate"
    )


def _check_same(config: PPOConfig, before: Mapping[str, Any], out: Path) -> None:
    now = json.loads(json.dumps(plain(config)))
    free = {"max_seconds", "threads"}  # what may change without changing the training
    changed = [k for k in now if k not in free and now[k] != before.get(k)]
    if changed:
        told = ", ".join(f"{k}: {before.get(k)!r}, now {now[k]!r}" for k in changed)
        raise BadInput(f"{out} was trained with another configuration ({told})")


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
