"""The examples run, and do what they say."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NEEDED = {  # by an example, what it needs beside trysim
    "agilerl_ppo": "agilerl",
    "cleanrl_ppo": "torch",
    "gymnasium_sb3": "sb3_contrib",
    "rllib_ppo": "ray.rllib",
    "tianshou_dqn": "tianshou",
    "torchrl_ppo": "torchrl",
}


def main_of(name):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]


def test_every_example_is_tested():
    tested = {"own_agent", "pettingzoo_loop", "optuna_sweep", *NEEDED}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tested


def test_pettingzoo_loop():
    main = main_of("pettingzoo_loop")
    rewards = main(seed=3)
    assert set(rewards) == {"player_0", "player_1", "player_2"}
    assert sum(rewards.values()) == pytest.approx(0)
    assert main(seed=3) == rewards


def test_own_agent():
    result = main_of("own_agent")(deals=64)
    over_random = result.pairs[0]
    assert over_random.a.endswith("own_agent.py:LowCards")
    assert over_random.ci95[0] > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDED)
@pytest.mark.filterwarnings("ignore")  # what the libraries warn of is theirs
def test_a_learner_trains_and_is_measured(name, tmp_path, monkeypatch):
    pytest.importorskip(NEEDED[name])
    monkeypatch.chdir(tmp_path)
    pair = main_of(name)(decisions=1024, deals=20)
    assert pair.b == "random"
    assert pair.sd > 0  # an agent that plays, legally: the arena refuses others


@pytest.mark.slow
def test_optuna_sweep(tmp_path):
    pytest.importorskip("optuna")
    study = main_of("optuna_sweep")(trials=2, decisions=4096, deals=10, out=tmp_path)
    assert len(study.trials) == 2
    assert (tmp_path / "sweep.json").is_file()
    assert (tmp_path / "sweep.png").stat().st_size < 200_000
