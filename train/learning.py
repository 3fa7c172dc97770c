"""What all algorithms of self-play share: tables, checkpoints, the course of a training.

An algorithm is a `Training`: it plays and learns in `iterate`; `train_as` does all around that.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from trysim.agents import make_agent
from trysim.agents.networks import Network
from trysim.agents.policy import PolicyAgent, load_policy, save_policy
from trysim.arena.report import versions
from trysim.envs.decisions import decide, new_streams
from trysim.envs.games import BadInput, Game, game_named
from trysim.train.checkpoint import CHECKPOINT, part_of, read_checkpoint, write_checkpoint
from trysim.train.config import save_config
from trysim.train.selfplay import SelfPlayTables
from trysim.train.settings import NetworkConfig
from trysim.train.watch import (
    Result,
    TrainingStopped,
    Watch,
    check_free,
    plain,
    story,
)

LIBRARIES = ("numpy", "numba", "torch", "gymnasium")
_DEAD_ENTROPY, _DEAD_FOR = 1e-3, 20  # a policy that hardly varies, and after how many updates


@dataclass(frozen=True)
class SelfPlayConfig(NetworkConfig):
    """What every algorithm of self-play is told."""

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
    by_deal: bool = True
    """Each deal is paid by itself: what its result is worth for the rest of the match. Otherwise
    rewards are those of the environment, which may come many deals later."""
    n_tables: int = 1024
    """Tables played at once."""
    n_steps: int = 16
    """Decisions at each table between two updates."""
    batch_size: int = 1024
    """Decisions in a minibatch."""
    n_epochs: int = 1
    """Passes over the decisions at each update."""
    learning_rate: float = 1e-3
    """At the start; falls to zero in a straight line."""
    device: str = "cpu"
    """Where the network learns: cpu or cuda; it always plays on the CPU."""
    start: str = ""
    """What to start from: the folder of a training (its policy and critic), or a policy (a folder,
    or the name of one in the box). With nothing, from random weights."""

    def check(self) -> None:
        """BadInput, naming field and allowed values, if this cannot be trained."""
        super().check()
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
            }
        )
        self.check_most_one("mixed_share")
        if self.mixed_share and not (self.opponents or self.snapshots):
            raise BadInput("mixed_share: nobody is to sit there: give opponents or snapshots")
        if self.device not in ("cpu", "cuda"):
            raise BadInput(f"device: {self.device}; allowed are cpu, cuda")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise BadInput("device: cuda; torch finds no such device here: use cpu")
        for spec in self.opponents:
            make_agent(spec, self.game)


def reward_scale(
    game: Game, options: Mapping[str, Any], by_deal: bool, n_matches: int = 256
) -> float:
    """What makes the standard deviation of a seat's reward in greedy matches (deals) 1."""
    tables = SelfPlayTables(game.name, [options] * n_matches, 0, by_deal=by_deal)
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


# A training -------------------------------------------------------------------------------------
class Training(ABC):
    """The state of a training: tables, networks, optimiser, random numbers."""

    algorithm = ""

    def __init__(
        self,
        config: SelfPlayConfig,
        new_learner: Callable[[], nn.Module],
        n_tables: int | None = None,
    ) -> None:
        n_tables = n_tables or config.n_tables
        self.game = game_named(config.game)
        self._shared = config
        torch.set_num_threads(config.threads)
        self.random = torch.Generator().manual_seed(config.seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self._learner = new_learner().to(config.device)
        learned = [weights for weights in self._learner.parameters() if weights.requires_grad]
        self.optimiser = torch.optim.Adam(learned, config.learning_rate, eps=1e-5, foreach=True)
        sets = config.option_sets()
        scales = [reward_scale(self.game, options, config.by_deal) for options in sets]
        self._scale = np.resize(np.array(scales, np.float32), n_tables)[:, None]
        self._own = [make_agent(spec, self.game) for spec in config.opponents]
        self.snapshots: list[Network] = []
        n_mixed = round(config.mixed_share * n_tables)
        options = config.options_of_tables(n_tables)
        self.tables = SelfPlayTables(
            config.game,
            options,
            config.seed,
            list(self._own),
            n_mixed,
            config.alone,
            config.by_deal,
        )
        self.n_decisions = 0

    @abstractmethod
    def iterate(self) -> dict[str, float]:
        """Play, then learn from what was played; figures that tell how it goes."""

    def close(self) -> None:  # noqa: B027, most have nothing to let go of
        """Let go of what is not of this process."""

    @abstractmethod
    def policy(self) -> Network:
        """A copy of the policy as it is now, on the CPU."""

    def share_done(self) -> float:
        """How much of the training is done, 0 to 1."""
        return min(self.n_decisions / self._shared.total_decisions, 1.0)

    def take_snapshot(self) -> None:
        """Let the policy as it is now sit at the mixed tables."""
        self.snapshots.append(self.policy())
        del self.snapshots[: -self._shared.snapshots]
        self.seat_snapshots(self.snapshots)

    def seat_snapshots(self, snapshots: Sequence[Network]) -> None:
        """Let past selves sit at the mixed tables."""
        past = [PolicyAgent(self.game, net, "snapshot", "sample") for net in snapshots]
        self.tables.others = [*self._own, *past]

    def _slow_down(self) -> float:
        """Set the learning rate that belongs to how much is done."""
        rate = self._shared.learning_rate * (1 - self.share_done())
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        return rate

    def _step(self, loss: torch.Tensor) -> None:
        """One step of the optimiser."""
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._learner.parameters(), 0.5)
        self.optimiser.step()

    def is_finite(self) -> bool:
        """Whether all weights are numbers."""
        return all(bool(torch.isfinite(p).all()) for p in self._learner.parameters())

    # Where it starts ----------------------------------------------------------------------------
    def start_from(self, source: str) -> None:
        """Begin with the weights of another training, or of a policy; BadInput if none fit."""
        checkpoint = Path(source) / CHECKPOINT
        try:
            if checkpoint.is_file():
                tensors, _ = read_checkpoint(checkpoint)
                self._learner.load_state_dict(part_of(tensors, "learner"))
                self._load_optimiser(part_of(tensors, "optimiser"))
            else:
                self.take_over(load_policy(self.game, source).net)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            told = " ".join(str(error).split())
            raise BadInput(f"start: {source}: {told}") from None

    @abstractmethod
    def take_over(self, net: Network) -> None:
        """Begin with this policy. RuntimeError if the trained network is another kind."""

    # Checkpoints --------------------------------------------------------------------------------
    def save(self, path: Path, about: Mapping[str, Any]) -> None:
        """Write everything that going on exactly needs, whole or not at all."""
        tensors = {f"learner.{name}": value for name, value in self._learner.state_dict().items()}
        for number, state in self.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{number}.{name}": value for name, value in state.items()}
        for number, snapshot in enumerate(self.snapshots):
            weights = snapshot.state_dict()
            tensors |= {f"snapshot.{number}.{name}": value for name, value in weights.items()}
        tensors["random"] = self.random.get_state()
        tensors |= {f"tables.{name}": value for name, value in self.state_of_tables().items()}
        meaning = {
            **about,
            "decisions": self.n_decisions,
            "config": plain(self._shared),
        }
        write_checkpoint(path, tensors, meaning)

    def load(self, path: Path) -> dict[str, Any]:
        """Go on from a checkpoint; what was said about it. BadInput if it does not fit."""
        try:
            tensors, about = read_checkpoint(path)
            self._learner.load_state_dict(part_of(tensors, "learner"))
            self._load_optimiser(part_of(tensors, "optimiser"))
            self.random.set_state(tensors["random"])
            self.n_decisions = int(about["decisions"])
            self._load_snapshots(part_of(tensors, "snapshot"))
            self.restore_tables(part_of(tensors, "tables"))
        except (ValueError, KeyError, TypeError, RuntimeError) as error:
            raise BadInput(f"cannot go on from {path}: {error}") from None
        return dict(about)

    def state_of_tables(self) -> dict[str, torch.Tensor]:
        """Everything that `restore_tables` needs."""
        return {name: torch.from_numpy(array) for name, array in self.tables.state().items()}

    def restore_tables(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on at the tables whose state this is; ValueError or KeyError if it does not fit."""
        self.tables.restore({name: tensor.numpy() for name, tensor in state.items()})

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
            net = self.policy()
            net.load_state_dict(part_of(tensors, str(number)))
            self.snapshots.append(net)
        self.seat_snapshots(self.snapshots)


# The course of a training -----------------------------------------------------------------------
def train_as(
    kind: Callable[[Any], Training],
    config: SelfPlayConfig,
    out: Path,
    resume: bool,
    stop_after: float,
) -> Result:
    """Train a policy; everything about it lies in `out`.

    `config.yaml`; `policy/` for `policy:` specs; `checkpoint.safetensors` to `resume` from (with
    the same configuration: the result is that of a training never interrupted); `log/`: CSV and
    TensorBoard; `evaluations.csv`; `learning_curve.png`. After `stop_after` decisions the training
    stops as if it had been interrupted.

    Raises BadInput if the configuration is wrong or `out` holds another training, TrainingStopped
    if the weights are no longer numbers or the policy has stopped exploring.
    """
    config.check()
    if not resume:
        check_free(out)
    with closing(kind(config)) as training:
        return _run(training, config, out, resume, stop_after)


def _run(
    training: Training, config: SelfPlayConfig, out: Path, resume: bool, stop_after: float
) -> Result:
    """The training itself."""
    about: dict[str, Any] = {"seconds": 0.0}
    if config.start and not resume:
        training.start_from(config.start)
    if resume:
        about = training.load(out / CHECKPOINT)
        _check_same(config, about["config"], out)
    watch = Watch(config, out, training.n_decisions, about["seconds"])
    save_config(config, out / "config.yaml")
    intervals = {
        "snapshot": config.snapshot_every,
        "evaluate": config.evaluate_every,
        "checkpoint": config.checkpoint_every,
    }
    n_dead = 0
    with watch:
        if not resume:
            _save(training, config, out, watch)
            watch.evaluate(0)
        while training.n_decisions < min(config.total_decisions, stop_after) and watch.has_time():
            before = training.n_decisions
            figures = training.iterate()
            n_dead = n_dead + 1 if figures.get("entropy", 1.0) < _DEAD_ENTROPY else 0
            _check_alive(training, n_dead, out)
            now = training.n_decisions
            watch.note(now, figures)
            passed = {name for name, every in intervals.items() if now // every > before // every}
            if "snapshot" in passed and config.snapshots:
                training.take_snapshot()
            if passed & {"checkpoint", "evaluate"}:
                _save(training, config, out, watch)
            if "evaluate" in passed:
                watch.evaluate(now)
        _save(training, config, out, watch)
        if watch.last_evaluated < training.n_decisions:
            watch.evaluate(training.n_decisions)
    return watch.result(training.n_decisions)


def _save(training: Training, config: SelfPlayConfig, out: Path, watch: Watch) -> None:
    """The policy and a checkpoint."""
    about = story(training.algorithm, config, training.n_decisions, watch, LIBRARIES)
    save_policy(out / "policy", training.game, config.network, training.policy(), about)
    training.save(out / CHECKPOINT, {"seconds": watch.seconds, "versions": versions(LIBRARIES)})


def _check_alive(training: Training, n_dead: int, out: Path) -> None:
    """TrainingStopped, saying why and what is left, if there is nothing more to learn from."""
    at, kept = f"after {training.n_decisions:,} decisions", f"the last good policy is {out}/policy"
    if not training.is_finite():
        raise TrainingStopped(
            f"weights are no longer finite {at}; {kept}; try a lower learning_rate"
        )
    if n_dead >= _DEAD_FOR:
        raise TrainingStopped(
            f"the policy has stopped exploring {at}: its entropy stays under {_DEAD_ENTROPY}; "
            f"{kept}; try a larger entropy and final_entropy"
        )


def _check_same(config: SelfPlayConfig, before: Mapping[str, Any], out: Path) -> None:
    now = json.loads(json.dumps(plain(config)))
    free = {"max_seconds", "threads", "loggers"}  # what may change without changing the training
    changed = [k for k in now if k not in free and now[k] != before.get(k)]
    if changed:
        told = ", ".join(f"{k}: {before.get(k)!r}, now {now[k]!r}" for k in changed)
        raise BadInput(f"{out} was trained with another configuration ({told})")
