"""Figures of a training reach every logger that is asked for; one's own are a class."""

import os
from importlib.util import find_spec
from typing import ClassVar

import pytest

from tests.test_ppo import TINY
from trysim.envs.games import BadInput
from trysim.train import loggers
from trysim.train.ppo import PPOConfig, train


class Kept:
    made: ClassVar[list] = []

    def __init__(self, config, out, n_decisions):
        self.config, self.start, self.noted, self.is_open = config, n_decisions, {}, True
        self.made.append(self)

    def note(self, figures, n_decisions):
        assert self.is_open
        for name, value in figures.items():
            self.noted.setdefault(name, []).append((n_decisions, value))

    def close(self):
        self.is_open = False


def test_a_logger_of_ones_own_is_told_everything(tmp_path, monkeypatch):
    monkeypatch.setitem(loggers.LOGGERS, "kept", Kept)
    Kept.made.clear()
    config = PPOConfig(**{**TINY, "loggers": ["kept"]})
    train(config, tmp_path / "run", stop_after=512)
    train(config, tmp_path / "run", resume=True)
    first, second = Kept.made
    assert (first.start, second.start) == (0, 512)
    assert first.config["seed"] == config.seed
    assert not first.is_open
    assert not second.is_open
    steps = [n for n, _ in first.noted["learning/value_loss"] + second.noted["learning/value_loss"]]
    assert steps == [256, 512, 768, 1024]
    assert [n for n, _ in second.noted["anchors/greedy"]] == [1024]


def test_an_unknown_logger_is_refused(tmp_path):
    with pytest.raises(BadInput, match="loggers: paper; allowed are tensorboard, wandb, mlflow"):
        train(PPOConfig(**{**TINY, "loggers": ["paper"]}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_a_logger_that_is_not_installed_says_what_to_install(name, tmp_path):
    if find_spec(name):
        pytest.skip(f"{name} is installed")
    with pytest.raises(BadInput, match=rf'pip install "trysim\[{name}\]"'):
        train(PPOConfig(**{**TINY, "loggers": [name]}), tmp_path / "run")


def test_mlflow_keeps_one_run(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    address = f"sqlite:///{tmp_path}/runs.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    config = PPOConfig(**{**TINY, "loggers": ["mlflow"]})
    train(config, tmp_path / "run", stop_after=512)
    train(config, tmp_path / "run", resume=True)
    client = mlflow.MlflowClient(address)
    (run,) = client.search_runs([client.get_experiment_by_name("trysim").experiment_id])
    assert run.data.params["seed"] == str(config.seed)
    history = client.get_metric_history(run.info.run_id, "learning/value_loss")
    assert [point.step for point in history] == [256, 512, 768, 1024]


def test_wandb_works_without_a_network(tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    config = PPOConfig(**{**TINY, "loggers": ["wandb", "tensorboard"]})
    train(config, tmp_path / "run")
    assert list((tmp_path / "run" / "wandb").glob("offline-run-*"))
    assert any("tfevents" in name for name in os.listdir(tmp_path / "run" / "log"))
