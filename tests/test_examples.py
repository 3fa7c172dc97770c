"""The examples run, and do what they say."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {"own_agent", "pettingzoo_loop"}


def test_pettingzoo_loop():
    main = runpy.run_path(str(EXAMPLES / "pettingzoo_loop.py"))["main"]
    rewards = main(seed=3)
    assert set(rewards) == {"player_0", "player_1", "player_2"}
    assert sum(rewards.values()) == pytest.approx(0)
    assert main(seed=3) == rewards


def test_own_agent():
    result = runpy.run_path(str(EXAMPLES / "own_agent.py"))["main"](deals=64)
    over_random = result.pairs[0]
    assert over_random.a.endswith("own_agent.py:LowCards")
    assert over_random.ci95[0] > 1
