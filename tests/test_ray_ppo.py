"""PPO whose tables the workers of a cluster play: the same trainer, and nothing is lost."""

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

ray = pytest.importorskip("ray")

from trysim.agents.policy import load_policy
from trysim.envs.games import BadInput, game_named
from trysim.train.checkpoint import CHECKPOINT
from trysim.train.ppo import PPO, PPOConfig, Rollout, train
from trysim.train.ray_ppo import RayPPO, packed, unpack

os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
SETTINGS = dict(
    options={"horizon": "deal"}, network="mlp", hidden=[32], n_tables=64, n_steps=8,
    batch_size=256, threads=1, loggers=[], anchors=["random"], evaluate_deals=20, ray="auto",
    workers=2, mixed_share=0.25, snapshots=1, snapshot_every=2048,
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_a_rollout_is_the_same_after_its_way():
    config = PPOConfig(**{**SETTINGS, "ray": "", "workers": 0, "guide": "greedy"})
    ppo = PPO(config)
    ppo.play()
    for is_guided in (True, False):
        there = Rollout.empty(ppo.game, config.n_steps, 2 * config.n_tables)
        unpack(packed(ppo.rollout, is_guided), there, slice(64, 128))
        for name, before in vars(ppo.rollout).items():
            after = getattr(there, name)[:, 64:]
            if name == "worth" and not is_guided:
                assert not after.any()
            else:
                assert np.array_equal(np.asarray(after), np.asarray(before)), name
                assert after.dtype == before.dtype


def weights(folder):
    return load_policy(game_named("semerik"), str(folder)).net.state_dict()


def same(one, two):
    return all(torch.equal(one[name], two[name]) for name in one)


def test_going_on_is_never_having_stopped(tmp_path):
    config = PPOConfig(**SETTINGS, total_decisions=8192, checkpoint_every=2048)
    whole = train(config, tmp_path / "whole")
    train(config, tmp_path / "parts", stop_after=4096)
    parts = train(config, tmp_path / "parts", resume=True)
    assert same(weights(whole.policy), weights(parts.policy))
    other = train(PPOConfig(**{**vars(config), "seed": 2}), tmp_path / "other")
    assert not same(weights(whole.policy), weights(other.policy))
    names = {path.name for path in whole.policy.parent.iterdir()}
    assert {"config.yaml", "evaluations.csv", "learning_curve.png", CHECKPOINT} <= names


@pytest.mark.parametrize("guide", ["", "self"])
def test_workers_that_play_deals_out_with_the_policy_are_sent_its_mean_weights(guide, monkeypatch):
    training, sent, put = RayPPO(PPOConfig(**{**SETTINGS, "guide": guide})), [], ray.put
    monkeypatch.setattr(ray, "put", lambda thing: sent.append(thing) or put(thing))
    training.iterate()
    training.close()
    assert any(name.startswith("mean_actor.") for name in sent[0]) == (guide == "self")


def test_a_killed_worker_is_begun_anew_and_training_goes_on():
    training = RayPPO(PPOConfig(**SETTINGS, total_decisions=100_000))
    training.iterate()
    pid = ray.get(training.workers[0].pid.remote())

    def kill_soon():
        time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)

    threading.Thread(target=kill_soon, daemon=True).start()
    for _ in range(3):
        figures = training.iterate()
    assert figures["workers_begun_anew"] == 1
    assert ray.get(training.workers[0].pid.remote()) != pid
    assert training.n_decisions == 4 * 64 * 8
    assert training.is_finite()
    training.close()


def test_the_cluster_plays_evaluations_too(tmp_path):
    config = PPOConfig(**{**SETTINGS, "workers": 1, "evaluators": 1}, total_decisions=512)
    there = train(config, tmp_path / "there")
    here = train(replace(config, evaluators=0), tmp_path / "here")
    rows = [(r.policy.parent / "evaluations.csv").read_text().splitlines() for r in (there, here)]
    told = [[line.split(",")[2:] for line in lines] for lines in rows]
    assert told[0] == told[1]


def test_more_cores_than_there_are(tmp_path):
    with pytest.raises(BadInput, match="65 cores are asked for, the cluster has 2"):
        train(PPOConfig(**{**SETTINGS, "workers": 64, "evaluators": 1}), tmp_path / "run")


def test_many_tables_are_different_tables():
    training = RayPPO(PPOConfig(**SETTINGS, total_decisions=100_000))
    training.play()
    deals = {bytes(seen.numpy()) for seen in training.rollout.observation[0]}
    assert len(deals) == 64
    training.close()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"workers": 3}, "share 64 tables evenly"),
        ({"workers": -1}, "workers: -1"),
        ({"ray": ""}, "give ray"),
        ({"workers": 0, "evaluators": 1, "ray": ""}, "give ray"),
    ],
)
def test_wrong_numbers_of_workers(change, complaint):
    with pytest.raises(BadInput, match=complaint):
        PPOConfig(**{**SETTINGS, **change}).check()
