"""MaskablePPO of sb3-contrib over the batch engine: one learner against a pool of opponents.

The learner sits at many tables at once; every other seat is played by an opponent drawn for each
episode from the configured agents and past snapshots of the learner itself. In Семерик the learner
can hold both seats of a pair (`seat: pair`); both get the pair's reward.

    trysim train configs/semerik/sb3.yaml --total_decisions 500000 --out runs/pair
"""

import time
from dataclasses import dataclass, field
from pathlib import Path

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import set_random_seed

from trysim.agents import make_agent
from trysim.agents.networks import ACTIVATIONS, Mlp
from trysim.agents.policy import PolicyAgent, save_policy
from trysim.agents.sb3 import actor
from trysim.envs.games import BadInput, game_named, whole_number
from trysim.envs.learner import LearnerTables
from trysim.train.config import save_config
from trysim.train.settings import LibraryPPOConfig
from trysim.train.vec_env import LearnerVecEnv
from trysim.train.watch import Result, TrainingStopped, Watch, check_free, story

_LIBRARIES = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib", "gymnasium")
_LEAST = {
    "n_tables": 1, "n_steps": 2, "snapshot_every": 1, "snapshots": 0,
}  # fmt: skip


@dataclass(frozen=True)
class SB3Config(LibraryPPOConfig):
    """What to train, and how."""

    algorithm: str = "sb3"
    """sb3: this one."""
    total_decisions: int = 3_000_000
    """The learner's decisions in all."""
    anchors: list[str] = field(default_factory=lambda: ["random", "greedy"])
    """Fixed opponents of the evaluations."""
    checkpoint_every: int = 250_000
    """Decisions between two checkpoints."""
    seat: str = "lot"
    """The learner's seat: a number, `lot` (drawn for each episode) or `pair` (Семерик)."""
    opponents: list[str] = field(default_factory=lambda: ["random", "greedy"])
    """Agents in the pool from the start."""
    snapshots: int = 4
    """Past selves kept in the pool, the newest ones."""
    snapshot_every: int = 100_000
    """Decisions between two snapshots."""
    n_tables: int = 256
    """Tables played at once."""
    n_steps: int = 64
    """Decisions at each table between two updates."""
    hidden: list[int] = field(default_factory=lambda: [128, 128])
    """Sizes of the hidden layers, of policy and critic each."""
    activation: str = "relu"
    """relu or tanh."""
    skip_forced: bool = True
    """Make decisions with one legal action without asking the learner."""

    def check(self) -> None:
        """BadInput, naming field and allowed values, if this cannot be trained."""
        super().check()
        self.check_known("activation", ACTIVATIONS)
        if self.seat not in ("lot", "pair") and whole_number(self.seat) is None:
            raise BadInput(f"seat: {self.seat}; allowed are a seat's number, lot and pair")
        self.check_least(_LEAST)
        for name in ("opponents", "anchors"):
            if not getattr(self, name):
                raise BadInput(f"{name}: none; at least one agent is needed")
        for spec in self.opponents:
            make_agent(spec, self.game)


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
    watch = Watch(config, out)
    save_config(config, out / "config.yaml")
    torch.set_num_threads(config.threads)
    set_random_seed(config.seed)
    model = make_model(config, env)
    model.set_logger(configure(str(out / "log"), ["csv", "tensorboard"]))
    keeper = _Keeper(config, out, watch)
    with watch:
        try:
            model.learn(config.total_decisions, callback=keeper)
        except BadInput:
            raise
        except ValueError as error:  # torch's distributions, if what the network says is no number
            raise keeper.stopped("the policy's probabilities are no longer numbers") from error
    return SB3Result(**vars(watch.result(model.num_timesteps)), illegal_actions=env.n_illegal)


def make_env(config: SB3Config) -> LearnerVecEnv:
    """The tables to learn at, seeded."""
    tables = LearnerTables(
        config.game,
        config.n_tables,
        [make_agent(spec, config.game) for spec in config.opponents],
        seats=_seats(config.seat),
        options=config.options_of_tables(config.n_tables),
        skip_forced=config.skip_forced,
    )
    env = LearnerVecEnv(tables, config.reward_scale)
    env.seed(config.seed)
    return env


def _seats(seat: str) -> int | str | None:
    """The learner's seats as `LearnerTables` wants them."""
    if seat == "lot":
        return None
    number = whole_number(seat)
    return seat if number is None else number


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


class _Keeper(BaseCallback):
    """Between rollouts: snapshots into the pool, evaluations, checkpoints."""

    def __init__(self, config: SB3Config, out: Path, watch: Watch) -> None:
        super().__init__()
        self._config, self._out, self._watch = config, out, watch
        self._game = game_named(config.game)
        self._due = {"snapshot": config.snapshot_every, "evaluate": 0, "checkpoint": 0}
        self._snapshots: list[PolicyAgent] = []

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
        self._watch.show(self.num_timesteps)
        return self._watch.has_time()

    def _on_training_end(self) -> None:
        self._check_finite()
        self._evaluate()
        self._checkpoint()

    def _check_finite(self) -> None:
        if not all(torch.isfinite(p).all() for p in self.model.policy.parameters()):
            raise self.stopped("weights are no longer finite")

    def stopped(self, reason: str) -> TrainingStopped:
        """The error that says why training stops, and what is left."""
        return TrainingStopped(
            f"{reason} after {self.num_timesteps:,} decisions; the last good policy is "
            f"{self._out / 'policy'}; try a lower learning_rate"
        )

    def _net(self) -> Mlp:
        weights = {name: value.clone() for name, value in self.model.policy.state_dict().items()}
        layers = actor(weights, ACTIVATIONS[self._config.activation].__name__)
        assert layers is not None
        net = Mlp(self._game, self._config.hidden, self._config.activation)
        net.layers.load_state_dict(layers.state_dict())
        return net

    def _snapshot(self) -> None:
        if not self._config.snapshots:
            return
        self._snapshots.append(PolicyAgent(self._game, self._net(), "snapshot", "sample"))
        del self._snapshots[: -self._config.snapshots]
        tables = self.training_env.tables  # type: ignore[attr-defined]
        tables.opponents[len(self._config.opponents) :] = self._snapshots

    def _save(self) -> None:
        about = story("sb3 MaskablePPO", self._config, self.num_timesteps, self._watch, _LIBRARIES)
        folder = self._out / "policy"
        save_policy(folder, self._game, "mlp", self._net(), about)

    def _checkpoint(self) -> None:
        self._save()
        folder = self._out / "checkpoints"
        folder.mkdir(exist_ok=True)
        part = folder / "part.zip"
        self.model.save(part)
        part.replace(folder / f"{self.num_timesteps}.zip")

    def _evaluate(self) -> None:
        self._save()
        self._watch.evaluate(self.num_timesteps)


def benchmark(decisions: int = 65_536) -> float:
    """Learned decisions a second with the default configuration."""
    config = SB3Config(options={"horizon": "deal"}, seat="pair")
    torch.set_num_threads(config.threads)
    model = make_model(config, make_env(config))
    model.learn(config.n_tables * config.n_steps)  # warm up
    started = time.perf_counter()
    model.learn(decisions)
    return model.num_timesteps / (time.perf_counter() - started)
