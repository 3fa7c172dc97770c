"""Where a training's figures go besides its CSV: TensorBoard, Weights & Biases, MLflow.

One's own: a class of `(config, out, n_decisions)` with `note` and `close`, put into `LOGGERS`.
"""

import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from torch.utils.tensorboard import SummaryWriter

from trysim.arena.report import check_installed


class Logger(Protocol):
    """Whoever keeps figures."""

    def note(self, figures: Mapping[str, float], n_decisions: int) -> None:
        """Keep what is true after so many decisions: numbers by name."""
        ...

    def close(self) -> None:
        """The training has ended, or was interrupted."""
        ...


class TensorBoard:
    """Events in `out/log`; what lies after the decision that a training goes on from is dropped."""

    def __init__(self, config: Mapping[str, Any], out: Path, n_decisions: int) -> None:
        self._writer = SummaryWriter(str(out / "log"), purge_step=n_decisions or None)

    def note(self, figures: Mapping[str, float], n_decisions: int) -> None:
        """Keep figures."""
        for name, value in figures.items():
            self._writer.add_scalar(name, value, n_decisions)

    def close(self) -> None:
        """Write what waits."""
        self._writer.close()


class WandB:
    """A run of Weights & Biases, in the project `WANDB_PROJECT` or `trysim`.

    `WANDB_MODE=offline` keeps it in `out/wandb`. A training that goes on adds to the same run.
    """

    def __init__(self, config: Mapping[str, Any], out: Path, n_decisions: int) -> None:
        check_installed("loggers: wandb", "wandb", extra="wandb")
        import wandb

        self._run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "trysim"),
            name=out.name,
            id=_identity(out),
            resume="allow",
            dir=str(out),
            config=dict(config),
        )

    def note(self, figures: Mapping[str, float], n_decisions: int) -> None:
        """Keep figures."""
        self._run.log({**figures, "decisions": n_decisions}, step=n_decisions)

    def close(self) -> None:
        """Send what waits."""
        self._run.finish()


class MLflow:
    """A run of MLflow, in the experiment `MLFLOW_EXPERIMENT_NAME` or `trysim`.

    Kept where `MLFLOW_TRACKING_URI` says, else in a database in `out`.
    """

    def __init__(self, config: Mapping[str, Any], out: Path, n_decisions: int) -> None:
        check_installed("loggers: mlflow", "mlflow", extra="mlflow")
        import mlflow

        where = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{out.resolve()}/mlflow.db"
        self._client = mlflow.MlflowClient(where)
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", "trysim")
        known = self._client.get_experiment_by_name(name)
        experiment = known.experiment_id if known else self._client.create_experiment(name)
        self._id = self._same_run(experiment, _identity(out))
        if self._id is None:
            tags = {"mlflow.runName": out.name, "trysim.run": _identity(out)}
            self._id = self._client.create_run(experiment, tags=tags).info.run_id
            for key, value in config.items():
                self._client.log_param(self._id, key, value)

    def _same_run(self, experiment: str, identity: str) -> Any:
        found = self._client.search_runs([experiment], f"tags.`trysim.run` = '{identity}'")
        return found[0].info.run_id if found else None

    def note(self, figures: Mapping[str, float], n_decisions: int) -> None:
        """Keep figures."""
        for name, value in figures.items():
            self._client.log_metric(self._id, name, value, step=n_decisions)

    def close(self) -> None:
        """The run has ended."""
        self._client.set_terminated(self._id)


def _identity(out: Path) -> str:
    """A name for the training in `out`, kept there: the same when it goes on."""
    file = out / "log" / "identity"
    if not file.exists():
        file.write_text(secrets.token_hex(8))
    return file.read_text()


LOGGERS: dict[str, Callable[[Mapping[str, Any], Path, int], Logger]] = {
    "tensorboard": TensorBoard,
    "wandb": WandB,
    "mlflow": MLflow,
}
