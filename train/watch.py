"""What goes on beside learning: progress, evaluations against fixed anchors, logs, the curve."""

import csv
import dataclasses
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from safetensors import SafetensorError

from trysim.arena.duplicate import compare
from trysim.arena.report import Alone, versions
from trysim.arena.results import Pair
from trysim.envs.games import BadInput
from trysim.train.curve import draw_curves
from trysim.train.loggers import LOGGERS
from trysim.train.settings import SharedConfig

_HEADINGS = ["decisions", "seconds", "anchor", "mean", "low", "high"]


@dataclass(frozen=True)
class Result:
    """What a training left: the policy's folder, its learning curve, and how fast it was."""

    policy: Path
    curve: Path
    decisions: int
    seconds: float
    per_second: float


class TrainingStopped(RuntimeError):
    """Training cannot go on; the message says why and where the last good policy lies."""


def check_free(out: Path) -> None:
    """BadInput if the folder holds a training."""
    if (out / "config.yaml").exists():
        raise BadInput(f"{out} holds a training already: --resume, another --out, or remove it")


def check_finite(figures: Mapping[str, float], n_decisions: int, out: Path) -> None:
    """TrainingStopped, saying what is left, if what learning tells of itself is no number."""
    if not all(map(math.isfinite, figures.values())):
        raise TrainingStopped(
            f"weights are no longer finite after {n_decisions:,} decisions; the last good policy "
            f"is {out}/policy; try a lower learning_rate"
        )


class Watch:
    """Watches a training whose files lie in `out`; a context manager around the learning.

    It goes on after `n_decisions` and `seconds`, if they are not zero.
    """

    def __init__(
        self, config: SharedConfig, out: Path, n_decisions: int = 0, seconds: float = 0.0
    ) -> None:
        self._config, self._out = config, out
        if config.n_ray_cores:
            from trysim.arena.ray_pool import check_cores

            check_cores(config.ray, config.n_ray_cores)
        self._first, self._before = n_decisions, seconds
        try:
            (out / "log").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot write to {out}: {error.strerror}") from None
        self._alone = Alone(out)
        for path in (self._evaluations, self._log):
            _forget_after(path, n_decisions)
        self._loggers = [LOGGERS[name](plain(config), out, n_decisions) for name in config.loggers]
        self._started = time.perf_counter()
        self._aside = 0.0  # seconds of evaluations
        self.last_evaluated = -1
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(),
            TextColumn("{task.completed:,.0f} decisions"), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), TextColumn("{task.fields[strength]}"),
        )  # fmt: skip
        self._task = self._progress.add_task(
            config.game, total=config.total_decisions, completed=n_decisions, rate="", strength=""
        )

    def __enter__(self) -> "Watch":
        self._started = time.perf_counter()
        self._progress.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._progress.stop()
        with suppress(OSError):
            for logger in self._loggers:
                logger.close()
        self._alone.close()
        if isinstance(error, (OSError, SafetensorError)):
            told = " ".join(str(error).split())
            raise TrainingStopped(
                f"cannot write to {self._out}: {told}; what was kept last is whole there: make "
                "room, then go on with --resume"
            ) from error

    @property
    def _evaluations(self) -> Path:
        return self._out / "evaluations.csv"

    @property
    def _log(self) -> Path:
        return self._out / "log" / "progress.csv"

    @property
    def seconds(self) -> float:
        """Time spent learning since the very start, evaluations not counted."""
        return self._before + time.perf_counter() - self._started - self._aside

    def has_time(self) -> bool:
        """Whether the time given is not used up."""
        return self.seconds + self._aside < self._config.max_seconds

    def show(self, n_decisions: int) -> float:
        """Show how far learning has come; decisions a second."""
        rate = (n_decisions - self._first) / max(self.seconds - self._before, 1e-9)
        shown = min(n_decisions, self._config.total_decisions)
        self._progress.update(self._task, completed=shown, rate=f"{rate:,.0f}/s")
        return rate

    def note(self, n_decisions: int, figures: Mapping[str, float]) -> None:
        """Show and log how learning goes."""
        rate = self.show(n_decisions)
        row = {"decisions": n_decisions, "seconds": round(self.seconds, 3), **figures}
        _append(self._log, list(row), list(row.values()))
        told = {f"learning/{name}": value for name, value in figures.items()}
        self._log_all({**told, "speed/decisions_per_second": rate}, n_decisions)

    def _log_all(self, figures: Mapping[str, float], n_decisions: int) -> None:
        for logger in self._loggers:
            logger.note(figures, n_decisions)

    def evaluate(self, n_decisions: int) -> None:
        """Play the anchors on deals never trained on; show, log and keep what comes out."""
        before, config = time.perf_counter(), self._config
        spec, told = f"policy:{self._out / 'policy'}", []
        seconds = round(self.seconds, 3)
        for anchor in config.anchors:
            pair = self._compared([spec, anchor])
            row = [n_decisions, seconds, anchor, pair.mean, *pair.ci95]
            _append(self._evaluations, _HEADINGS, row)
            told.append(f"{pair.mean:+.2f} over {anchor}")
            self._log_all({f"anchors/{anchor}": pair.mean}, n_decisions)
        self.last_evaluated = n_decisions
        self._progress.update(self._task, strength=", ".join(told))
        torch.set_num_threads(config.threads)
        self._aside += time.perf_counter() - before

    def _compared(self, pair: list[str]) -> Pair:
        config = self._config
        settings = (
            config.game, pair, config.evaluate_deals, config.seed, config.options_to_evaluate(),
        )  # fmt: skip
        if config.evaluators:
            try:
                return compare(*settings, config.evaluators, False, ray=config.ray).pairs[0]
            except BadInput as error:  # another machine may not see the policy's folder
                self._progress.console.print(f"evaluating here, not on the cluster: {error}")
        return compare(*settings, workers=1, progress=False).pairs[0]

    def result(self, n_decisions: int) -> Result:
        """What the training left; draws the curve."""
        config, here = self._config, self.seconds - self._before
        options = ", ".join(f"{k}={v}" for k, v in config.options_to_evaluate().items())
        title = f"{config.game} {options}".strip()
        curve = draw_curves({"": self._evaluations}, self._out / "learning_curve.png", title)
        rate = (n_decisions - self._first) / max(here, 1e-9)
        return Result(self._out / "policy", curve, n_decisions, self.seconds, rate)


def story(
    algorithm: str,
    config: SharedConfig,
    n_decisions: int,
    watch: Watch,
    libraries: Sequence[str],
) -> dict[str, Any]:
    """How a policy came to be, for its folder."""
    return {
        "algorithm": algorithm,
        "config": plain(config),
        "decisions": n_decisions,
        "seconds": round(watch.seconds, 1),
        "versions": versions(libraries),
    }


def plain(config: SharedConfig) -> dict[str, Any]:
    """The configuration for JSON, which has no infinity."""
    values = dataclasses.asdict(config)
    return {name: "inf" if value == math.inf else value for name, value in values.items()}


def _append(path: Path, headings: list[str], row: list[Any]) -> None:
    """Add a row to a CSV file, headings first where it is new."""
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(headings)
        writer.writerow(row)


def _forget_after(path: Path, n_decisions: int) -> None:
    """Drop what was logged after the checkpoint that a training goes on from."""
    if not path.exists():
        return
    with path.open(newline="") as file:
        headings, *rows = list(csv.reader(file))
    kept = [row for row in rows if float(row[0] or math.inf) <= n_decisions]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([headings, *kept])
