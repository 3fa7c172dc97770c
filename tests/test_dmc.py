"""Deep Monte Carlo: what reaches whom, exact resuming, clear errors."""

import json

import numpy as np
import pytest
import safetensors.torch
import torch

from trysim.arena import compare
from trysim.envs.games import GAMES, BadInput
from trysim.train.checkpoint import CHECKPOINT
from trysim.train.dmc import DMCConfig, returns_to_the_end, train
from trysim.train.watch import TrainingStopped

TINY = {
    "algorithm": "dmc", "game": "semerik", "options": {"horizon": "deal"}, "n_tables": 16,
    "n_steps": 64, "batch_size": 64, "hidden": [8], "total_decisions": 4096,
    "evaluate_every": 2048, "evaluate_deals": 4, "checkpoint_every": 1024, "threads": 1,
    "mixed_share": 0.25, "opponents": ["greedy"], "snapshots": 1, "snapshot_every": 1024,
}  # fmt: skip


def test_returns_are_what_the_match_still_pays():
    rng = np.random.default_rng(1)
    rewards = rng.normal(size=(30, 6, 4)).astype(np.float32)
    done, seats = rng.random((30, 6)) < 0.1, rng.integers(0, 4, (30, 6))
    out, known = np.empty((30, 6), np.float32), np.empty((30, 6), np.bool_)
    returns_to_the_end(rewards, done, seats, out, known)
    for table in range(6):
        for step in range(30):
            ends = np.flatnonzero(done[step:, table])
            assert known[step, table] == (ends.size > 0)
            if ends.size:
                paid = rewards[step : step + ends[0] + 1, table, seats[step, table]].sum()
                assert out[step, table] == pytest.approx(paid, abs=1e-5)


@pytest.mark.parametrize("game", GAMES)
def test_every_game_trains(game, tmp_path):
    options = {"horizon": "deal"} if game == "semerik" else {}
    config = DMCConfig(**{**TINY, "game": game, "options": options, "n_steps": 256})
    result = train(config, tmp_path / "run")
    about = json.loads((result.policy / "policy.json").read_text())["about"]
    assert about["algorithm"] == "dmc"
    assert result.decisions >= 4096


def test_an_interrupted_training_ends_like_one_that_was_not(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(DMCConfig(**TINY), whole)
    train(DMCConfig(**TINY), parts, stop_after=1024)
    train(DMCConfig(**TINY), parts, resume=True, stop_after=3072)
    train(DMCConfig(**TINY), parts, resume=True)
    one, other = (safetensors.torch.load_file(out / CHECKPOINT) for out in (whole, parts))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_match_must_end_within_the_steps(tmp_path):
    config = DMCConfig(**{**TINY, "options": {"horizon": "match"}, "n_steps": 4})
    with pytest.raises(BadInput, match="no match ends within them"):
        train(config, tmp_path)


@pytest.mark.parametrize("change", [{"exploration": -0.1}, {"final_exploration": 1.5}])
def test_a_wrong_configuration_is_refused(change, tmp_path):
    with pytest.raises(BadInput, match="exploration"):
        train(DMCConfig(**{**TINY, **change}), tmp_path)


def test_weights_that_are_no_numbers_stop_the_training(tmp_path):
    with pytest.raises(TrainingStopped, match="no longer finite"):
        train(DMCConfig(**{**TINY, "learning_rate": 1e30}), tmp_path)


def test_learning_beats_chance(tmp_path):
    config = DMCConfig(
        **{**TINY, "n_tables": 256, "batch_size": 512, "total_decisions": 130_000,
           "hidden": [32], "mixed_share": 0.0, "snapshots": 0, "evaluate_every": 10**9,
           "anchors": ["random"]}
    )  # fmt: skip
    result = train(config, tmp_path)
    pair = compare(
        "semerik", [f"policy:{result.policy}", "random"], 200, 5, {"horizon": "deal"}, 1, False
    ).pairs[0]
    assert pair.ci95[0] > 0
