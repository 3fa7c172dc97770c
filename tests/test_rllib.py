"""The games under RLlib: the environment's contract, and a training that beats `random`."""

import os

import numpy as np
import pytest

pytest.importorskip("ray.rllib")
import ray

from trysim.agents import make_agent
from trysim.arena import compare
from trysim.envs.games import GAMES, BadInput, game_named
from trysim.envs.rllib import RLlibEnv
from trysim.train import run
from trysim.train.rllib import RLlibConfig, algorithm_config, policy_of

os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
OPTIONS = {
    "sim_lystiv": {"num_players": [2, 5], "penalty": "interactive", "reward": "blows"},
    "semnadtsat": {"num_players": [3, 5], "num_deals": 2},
    "semerik": {"horizon": "game"},
}


def play(env, rng, seed=None):
    """A match of any legal actions: everything that came back, in order."""
    seen, _ = env.reset(seed=seed)
    told = []
    while True:
        (agent,) = [agent for agent in seen if seen[agent]["action_mask"].any()]
        assert env.get_observation_space(agent).contains(seen[agent])
        choices = np.flatnonzero(seen[agent]["action_mask"])
        action = int(rng.choice(choices))
        before = set(env.agents)
        seen, rewards, gone, cut, _ = env.step({agent: action})
        assert set(rewards) == before
        assert set(env.agents) == before - set(gone)
        assert not cut["__all__"]
        told.append((agent, action, rewards, gone))
        if gone["__all__"]:
            return told


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("skip_forced", [True, False])
def test_matches_end_and_pay_what_the_rules_pay(name, skip_forced):
    env = RLlibEnv({"game": name, "options": OPTIONS[name], "skip_forced": skip_forced})
    rng = np.random.default_rng(1)
    n_players = set()
    for seed in range(12):
        told = play(env, rng, seed)
        left = [agent for *_, gone in told for agent in gone if agent != "__all__"]
        assert len(left) == len(set(left))  # nobody leaves twice
        n_players.add(len(left))
        paid = {agent: sum(rewards.get(agent, 0) for *_, rewards, _ in told) for agent in left}
        game = game_named(name)
        returns = game.returns(env._env._row)
        assert [paid[f"player_{seat}"] for seat in range(len(left))] == pytest.approx(returns)
    assert len(n_players) == (1 if name == "semerik" else 2)


def test_players_leave_in_the_midst_of_a_match():
    env = RLlibEnv({"game": "sim_lystiv", "options": {"num_players": 4}})
    told = play(env, np.random.default_rng(3), 5)
    assert any(len(gone) > 1 and not gone["__all__"] for *_, gone in told)


def test_partners_are_paid_the_same():
    env = RLlibEnv({"game": "semerik", "options": {"horizon": "deal"}})
    for seed in range(5):
        *_, (_, _, rewards, _) = play(env, np.random.default_rng(seed), seed)
        assert rewards["player_0"] == rewards["player_2"] == -rewards["player_1"]


def test_the_same_seed_is_the_same_match():
    config = {"game": "semnadtsat", "options": {"num_players": [3, 4, 5]}}
    one, two = (play(RLlibEnv(config), np.random.default_rng(2), 9) for _ in range(2))
    assert one == two


def test_hands_are_for_critics_only():
    env = RLlibEnv({"game": "semerik", "hands": True, "reward_scale": 0.5})
    seen, _ = env.reset(seed=1)
    (acting,) = seen.values()
    assert acting["hands"].sum() == 30
    assert "hands" not in RLlibEnv({"game": "semerik"}).get_observation_space("player_0")


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({}, "without game"),
        ({"game": "whist"}, "no game"),
        ({"game": "semerik", "seats": 3}, "'seats'.*there are"),
        ({"game": "semerik", "options": {"horizon": "week"}}, "horizon"),
    ],
)
def test_wrong_configurations(config, complaint):
    with pytest.raises(BadInput, match=complaint):
        RLlibEnv(config)


def test_an_illegal_action_changes_nothing():
    env = RLlibEnv({"game": "semerik", "options": {"horizon": "deal"}})
    seen, _ = env.reset(seed=1)
    ((agent, parts),) = seen.items()
    wrong = int(np.flatnonzero(parts["action_mask"] == 0)[0])
    with pytest.raises(BadInput):
        env.step({agent: wrong})
    other = next(name for name in env.agents if name != agent)
    with pytest.raises(BadInput, match="the turn of"):
        env.step({other: 0})
    env.step({agent: int(parts["action_mask"].argmax())})


# Training -----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    out = tmp_path_factory.mktemp("rllib") / "run"
    overrides = [
        "--network", "mlp", "--hidden", "[64,64]", "--total_decisions", "30000", "--train_batch",
        "6000", "--batch_size", "1000", "--env_runners", "1", "--evaluate_every", "15000",
        "--evaluate_deals", "50", "--ray", "auto", "--anchors", "[random]",
    ]  # fmt: skip
    assert run("configs/semerik/rllib.yaml", overrides, out) == 0
    yield out
    ray.shutdown()


def test_a_few_iterations_beat_random(trained):
    agents = [f"rllib:{trained}", "random"]
    pair = compare("semerik", agents, 400, 7, {"horizon": "deal"}, workers=1).pairs[0]
    assert pair.ci95[0] > 0
    for file in ("config.yaml", "evaluations.csv", "learning_curve.png", "log/progress.csv"):
        assert (trained / file).exists()


def test_its_policy_is_a_policy_of_any_kind(trained):
    game = game_named("semerik")
    one, two = make_agent(f"rllib:{trained}", game), make_agent(f"policy:{trained}/policy", game)
    assert one.digest == two.digest
    assert one.spec == f"rllib:{trained.as_posix()}"
    assert not list((trained / "policy").glob("*.pkl"))


def test_pickles_of_rllib_are_not_opened(trained):
    with pytest.raises(BadInput, match="pickle"):
        make_agent(f"rllib:{trained}/rllib", "semerik")
    with pytest.raises(BadInput, match="cannot read"):
        make_agent("rllib:nowhere", "semerik")


def test_what_is_kept_is_what_rllib_has_learned(trained):
    config = RLlibConfig(
        options={"horizon": "deal"}, network="mlp", hidden=[16], env_runners=0, train_batch=500,
        batch_size=250, n_epochs=1,
    )  # fmt: skip
    algorithm = algorithm_config(config).build_algo()
    first = policy_of(algorithm).state_dict()
    algorithm.train()
    second = policy_of(algorithm).state_dict()
    algorithm.stop()
    assert any(not np.array_equal(first[name], second[name]) for name in first)
