"""MaskablePPO of sb3-contrib over the batch engine: one learner against a pool of opponents.

The learner sits at many tables at once; every other seat is played by an opponent drawn for each
episode from the configured agents and past snapshots of the learner itself. In Семерик the learner
can hold both seats of a pair (`seat: pair`); both get the pair's reward.

    trysim train configs/semerik/sb3.yaml --total_decisions 500000 --out runs/pair
"""

import csv
import dataclasses
import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import set_random_seed

from trysim.agents import make_agent
from trysim.agents.policy import ACTIVATIONS, PolicyAgent, save_policy
from trysim.agents.sb3 import actor
from trysim.arena.duplicate import compare
from trysim.arena.report import versions
from trysim.envs.games import BadInput, game_named
from trysim.envs.learner import LearnerTables
from trysim.train.config import save_config
from trysim.train.curve import draw_curve
from trysim.train.vec_env import LearnerVecEnv
from trysim.train.watch import Result, TrainingStopped, check_free

_LIBRARIES = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib", "gymnasium")
_LEAST = {
    "total_decisions": 1, "n_tables": 1, "n_steps": 2, "batch_size": 2, "n_epochs": 1, "threads": 1,
    "snapshot_every": 1, "evaluate_every": 1, "evaluate_deals": 2, "checkpoint_every": 1,
    "snapshots": 0, "seed": 0, "max_seconds": 0, "learning_rate": 0, "entropy": 0,
}  # fmt: skip


@dataclass(frozen=True)
class SB3Config:
    """What to train, and how."""

    algorithm: str = "sb3"
    """sb3."""
    game: str = "semerik"
    """sim_lystiv, semnadtsat or semerik."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the game."""
    seat: str = "lot"
    """The learner's seat: a number, `lot` (drawn for each episode) or `pair` (Семерик)."""
    opponents: list[str] = field(default_factory=lambda: ["random", "greedy"])
    """Agents in the pool from the start."""
    snapshots: int = 4
    """Past selves kept in the pool, the newest ones."""
    snapshot_every: int = 100_000
    """Decisions between two snapshots."""
    total_decisions: int = 3_000_000
    """The learner's decisions in all."""
    max_seconds: float = math.inf
    """Stop after this time, whatever has been reached."""
    n_tables: int = 256
    """Tables played at once."""
    n_steps: int = 64
    """Decisions at each table between two updates."""
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
    hidden: list[int] = field(default_factory=lambda: [128, 128])
    """Sizes of the hidden layers, of policy and critic each."""
    activation: str = "relu"
    """relu or tanh."""
    skip_forced: bool = True
    """Make decisions with one legal action without asking the learner."""
    evaluate_every: int = 250_000
    """Decisions between two evaluations."""
    evaluate_deals: int = 300
    """Duplicate deals in an evaluation; none of them is trained on."""
    anchors: list[str] = field(default_factory=lambda: ["random", "greedy"])
    """Fixed opponents of the evaluations."""
    checkpoint_every: int = 250_000
    """Decisions between two checkpoints."""
    seed: int = 1
    """Same seed, same policy (on one thread)."""
    threads: int = 2
    """Threads of torch."""

    def options_to_evaluate(self) -> dict[str, Any]:
        """The options that the anchors are played with."""
        return self.options

    def check(self) -> None:
        """BadInput, naming field and allowed values, if this cannot be trained."""
        game = game_named(self.game)
        game.complete_options(self.options)
        if self.activation not in ACTIVATIONS:
            raise BadInput(f"activation: {self.activation}; allowed are {', '.join(ACTIVATIONS)}")
        if self.seat not in ("lot", "pair") and not self.seat.isdigit():
            raise BadInput(f"seat: {self.seat}; allowed are a seat's number, lot and pair")
        for name, least in _LEAST.items():
            if not getattr(self, name) >= least:  # nor no number
                raise BadInput(f"{name}: {getattr(self, name)}; at least {least} is needed")
        for name in ("opponents", "anchors"):
            if not getattr(self, name):
                raise BadInput(f"{name}: none; at least one agent is needed")
            for spec in getattr(self, name):
                make_agent(spec, game)


CONFIG = SB3Config


@dataclass(frozen=True)
class SB3Result(Result):
    """`illegal_actions`: how often the policy chose one; there must be none."""

    illegal_actions: int


def train(config: SB3Config, out: Path, resume: bool = False) -> SB3Result:
    """Train a policy; everything about it lies in `out`.

    Raises BadInput if the configuration is wrong, `out` holds a training already, or it is to
    `resume` (stable-baselines3 keeps neither tables nor random numbers).

    `config.yaml`; `policy/` for `policy:` specs; `checkpoints/` for `sb3:` specs and
    stable-baselines3 itself; `log/`: CSV and TensorBoard; `evaluations.csv`; `learning_curve.png`.
    """
    config.check()
    if resume:
        raise BadInput("--resume: only trainings with `algorithm: ppo` can go on")
    check_free(out)
    env = make_env(config)
    _make_folder(out)
    save_config(config, out / "config.yaml")
    torch.set_num_threads(config.threads)
    set_random_seed(config.seed)
    model = make_model(config, env)
    model.set_logger(configure(str(out / "log"), ["csv", "tensorboard"]))
    watcher = _Watcher(config, out)
    started = time.perf_counter()
    try:
        model.learn(config.total_decisions, callback=watcher)
    except BadInput:
        raise
    except ValueError as error:  # torch's distributions, if what the network says is no number
        raise watcher.stopped("the policy's probabilities are no longer numbers") from error
    finally:
        watcher.stop_showing()
    seconds = time.perf_counter() - started
    return SB3Result(
        policy=out / "policy",
        curve=draw_curve(out / "evaluations.csv", out / "learning_curve.png", _title(config)),
        decisions=model.num_timesteps,
        seconds=seconds,
        per_second=model.num_timesteps / watcher.learning_seconds,
        illegal_actions=env.n_illegal,
    )


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot write to {out}: {error.strerror}") from None


def make_env(config: SB3Config) -> LearnerVecEnv:
    """The tables to learn at, seeded."""
    tables = LearnerTables(
        config.game,
        config.n_tables,
        [make_agent(spec, config.game) for spec in config.opponents],
        seats=_seats(config.seat),
        options=config.options,
        skip_forced=config.skip_forced,
    )
    env = LearnerVecEnv(tables, config.reward_scale)
    env.seed(config.seed)
    return env


def _seats(seat: str) -> int | str | None:
    """The learner's seats as `LearnerTables` wants them."""
    if seat == "lot":
        return None
    return int(seat) if seat.isdigit() else seat


def make_model(config: SB3Config, env: LearnerVecEnv) -> MaskablePPO:
    """An untrained model."""
    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=lambda left: config.learning_rate * (0.1 + 0.9 * left),
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        gamma=1.0,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.entropy,
        policy_kwargs={
            "net_arch": config.hidden,
            "activation_fn": ACTIVATIONS[config.activation],
        },
        device="cpu",
    )


def _title(config: SB3Config) -> str:
    options = ", ".join(f"{name}={value}" for name, value in config.options.items())
    return f"{config.game} {options}".strip()


class _Watcher(BaseCallback):
    """Between rollouts: snapshots into the pool, evaluations, checkpoints, progress."""

    def __init__(self, config: SB3Config, out: Path) -> None:
        super().__init__()
        self._config, self._out = config, out
        self._game = game_named(config.game)
        self._due = {"snapshot": config.snapshot_every, "evaluate": 0, "checkpoint": 0}
        self._snapshots: list[PolicyAgent] = []
        self._started = time.perf_counter()
        self._aside = 0.0  # seconds of evaluations
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(),
            TextColumn("{task.completed:,.0f} decisions"), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), TextColumn("{task.fields[strength]}"),
        )  # fmt: skip
        self._task = self._progress.add_task(
            config.game, total=config.total_decisions, rate="", strength=""
        )

    @property
    def learning_seconds(self) -> float:
        """Time spent since the start, evaluations not counted."""
        return time.perf_counter() - self._started - self._aside

    def _on_training_start(self) -> None:
        self._started = time.perf_counter()
        self._progress.start()

    def _on_rollout_start(self) -> None:
        """After the last update, before new decisions: a stable moment."""
        self._check_finite()
        every = {
            "snapshot": (self._config.snapshot_every, self._snapshot),
            "evaluate": (self._config.evaluate_every, self._evaluate),
            "checkpoint": (self._config.checkpoint_every, self._checkpoint),
        }
        for name, (interval, do) in every.items():
            if self.num_timesteps >= self._due[name]:
                self._due[name] = self.num_timesteps + interval
                do()

    def _on_step(self) -> bool:
        rate = self.num_timesteps / max(self.learning_seconds, 1e-9)
        shown = min(self.num_timesteps, self._config.total_decisions)
        self._progress.update(self._task, completed=shown, rate=f"{rate:,.0f}/s")
        return time.perf_counter() - self._started < self._config.max_seconds

    def _on_training_end(self) -> None:
        self._check_finite()
        self._evaluate()
        self._checkpoint()

    def stop_showing(self) -> None:
        """Take the progress bar away."""
        self._progress.stop()

    def _check_finite(self) -> None:
        if not all(torch.isfinite(p).all() for p in self.model.policy.parameters()):
            raise self.stopped("weights are no longer finite")

    def stopped(self, reason: str) -> TrainingStopped:
        """The error that says why training stops, and what is left."""
        return TrainingStopped(
            f"{reason} after {self.num_timesteps:,} decisions; the last good policy is "
            f"{self._out / 'policy'}; try a lower learning_rate"
        )

    def _net(self) -> torch.nn.Sequential:
        weights = {name: value.clone() for name, value in self.model.policy.state_dict().items()}
        net = actor(weights, ACTIVATIONS[self._config.activation].__name__)
        assert net is not None
        return net

    def _snapshot(self) -> None:
        if not self._config.snapshots:
            return
        self._snapshots.append(PolicyAgent(self._game, self._net(), "snapshot", "sample"))
        del self._snapshots[: -self._config.snapshots]
        tables = self.training_env.tables  # type: ignore[attr-defined]
        tables.opponents[len(self._config.opponents) :] = self._snapshots

    def _save(self) -> None:
        about = {
            "algorithm": "sb3 MaskablePPO",
            "config": {k: str(v) for k, v in dataclasses.asdict(self._config).items()},
            "decisions": self.num_timesteps,
            "seconds": round(self.learning_seconds, 1),
            "versions": versions(_LIBRARIES),
        }
        folder = self._out / "policy"
        save_policy(folder, self._game, self._net(), self._config.activation, about)

    def _checkpoint(self) -> None:
        self._save()
        folder = self._out / "checkpoints"
        folder.mkdir(exist_ok=True)
        part = folder / "part.zip"
        self.model.save(part)
        part.replace(folder / f"{self.num_timesteps}.zip")

    def _evaluate(self) -> None:
        """Play the anchors on deals never trained on; log and keep what comes out."""
        before = time.perf_counter()
        self._save()
        spec = f"policy:{self._out / 'policy'}"
        for anchor in self._config.anchors:
            pair = compare(
                self._config.game, [spec, anchor], self._config.evaluate_deals, self._config.seed,
                self._config.options, workers=1, progress=False,
            ).pairs[0]  # fmt: skip
            self.logger.record(f"anchors/{anchor}", pair.mean)
            self._keep([self.num_timesteps, self.learning_seconds, anchor, pair.mean, *pair.ci95])
        strength = f"{pair.mean:+.2f} over {anchor}"
        self._progress.update(self._task, strength=strength)
        torch.set_num_threads(self._config.threads)
        self._aside += time.perf_counter() - before

    def _keep(self, row: list[Any]) -> None:
        path = self._out / "evaluations.csv"
        fresh = row[0] == 0 and row[2] == self._config.anchors[0]
        with path.open("w" if fresh else "a", newline="") as file:
            writer = csv.writer(file)
            if fresh:
                writer.writerow(["decisions", "seconds", "anchor", "mean", "low", "high"])
            writer.writerow(row)


def benchmark(decisions: int = 65_536) -> float:
    """Learned decisions a second with the default configuration."""
    config = SB3Config(options={"horizon": "deal"}, seat="pair")
    torch.set_num_threads(config.threads)
    model = make_model(config, make_env(config))
    model.learn(config.n_tables * config.n_steps)  # warm up
    started = time.perf_counter()
    model.learn(decisions)
    return model.num_timesteps / (time.perf_counter() - started)
