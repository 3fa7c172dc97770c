"""Training: rewards reach the learner, seeds repeat, files are whole, other libraries learn too."""

import json
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

import trysim.envs  # noqa: F401  registers the environments
from trysim import train as training
from trysim.agents import make_agent
from trysim.agents.policy import MODES
from trysim.arena.duplicate import compare
from trysim.envs.games import GAMES, BadInput
from trysim.train import run
from trysim.train.config import load_config
from trysim.train.sb3 import SB3Config, make_env, train

TINY = {
    "n_tables": 16, "n_steps": 16, "batch_size": 64, "n_epochs": 1, "hidden": [16],
    "total_decisions": 512, "snapshot_every": 256, "evaluate_every": 256, "evaluate_deals": 4,
    "checkpoint_every": 256, "threads": 1,
}  # fmt: skip
PAIR = {"game": "semerik", "seat": "pair", "options": {"horizon": "deal"}}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("run")
    return train(SB3Config(**PAIR, **TINY), out), out


def test_everything_about_a_training_is_kept(trained):
    result, out = trained
    assert result.decisions == 512
    assert result.illegal_actions == 0
    for path in ("config.yaml", "evaluations.csv", "learning_curve.png", "log/progress.csv",
                 "policy/policy.safetensors", "checkpoints/512.zip"):  # fmt: skip
        assert (out / path).is_file(), path
    about = json.loads((out / "policy" / "policy.json").read_text())["about"]
    assert about["versions"]["rules"]
    assert about["config"]["seed"] == 1


def test_a_trained_policy_plays_everywhere_by_its_spec(trained):
    result, out = trained
    specs = [f"policy:{result.policy}", f"policy:{result.policy},mode=sample",
             f"sb3:{out / 'checkpoints' / '512.zip'}"]  # fmt: skip
    pairs = compare("semerik", specs, 4, 1, {"horizon": "deal"}, workers=1, progress=False).pairs
    assert len(pairs) == 3
    env = gymnasium.make("trysim/Semerik-v0", opponents=specs, horizon="deal")
    env.reset(seed=1)


def test_a_checkpoint_and_its_policy_play_the_same(trained):
    result, out = trained
    agents = [make_agent(f"policy:{result.policy}", "semerik"),
              make_agent(f"sb3:{out / 'checkpoints' / '512.zip'}", "semerik")]  # fmt: skip
    a, b = (play_alone(agent) for agent in agents)
    assert a == b


def play_alone(agent):
    env = make_env(SB3Config(**PAIR, **TINY))
    env.tables.opponents = [agent]
    env.reset()
    sums = []
    for _ in range(20):
        _, rewards, _, _ = env.step(env.action_masks().argmax(1))
        sums.append(float(rewards.sum()))
    return sums


def test_same_seed_same_weights(trained, tmp_path):
    result, _ = trained
    again = train(SB3Config(**PAIR, **TINY), tmp_path)
    first, second = (r.policy / "policy.safetensors" for r in (result, again))
    assert first.read_bytes() == second.read_bytes()


def test_another_seed_other_weights(trained, tmp_path):
    result, _ = trained
    other = train(SB3Config(**PAIR, **TINY, seed=2), tmp_path)
    first, second = (r.policy / "policy.safetensors" for r in (result, other))
    assert first.read_bytes() != second.read_bytes()


@pytest.mark.parametrize(
    ("game", "players"),
    [("semnadtsat", n) for n in (3, 4, 5)] + [("sim_lystiv", n) for n in (2, 3, 4, 5)],
)
def test_every_game_and_player_count_trains(game, players, tmp_path):
    config = SB3Config(
        game=game, options={"num_players": players}, **{**TINY, "total_decisions": 256}
    )
    assert train(config, tmp_path).illegal_actions == 0


def test_the_learner_is_paid_what_its_seat_scores():
    env = make_env(SB3Config(**PAIR, **{**TINY, "n_tables": 64}))
    env.reset()
    rng = np.random.default_rng(1)
    sums, seen = np.zeros(64), 0
    for _ in range(60):
        masks = env.action_masks()
        _, rewards, dones, infos = env.step((masks * rng.random(masks.shape)).argmax(1))
        sums += rewards / 0.2
        for table in np.flatnonzero(dones):
            assert infos[table]["episode"]["r"] == pytest.approx(sums[table], abs=1e-4)
            assert sums[table] == pytest.approx(round(sums[table]), abs=1e-4)  # points of a deal
            sums[table] = 0
            seen += 1
    assert seen > 64


def test_learning_beats_not_learning(tmp_path):
    config = {**TINY, "n_tables": 64, "n_steps": 32, "batch_size": 512, "n_epochs": 4,
              "hidden": [64], "total_decisions": 40_000, "evaluate_every": 40_000,
              "evaluate_deals": 200, "checkpoint_every": 40_000}  # fmt: skip
    result = train(SB3Config(**PAIR, **config), tmp_path)
    agents = [f"policy:{result.policy}", "random"]
    pair = compare("semerik", agents, 300, 5, {"horizon": "deal"}, workers=1, progress=False).pairs[
        0
    ]
    assert pair.ci95[0] > 0.5


@pytest.mark.parametrize("vec_env", [DummyVecEnv, SubprocVecEnv])
def test_maskable_ppo_learns_on_the_gymnasium_environment(vec_env):
    def make():
        name = "trysim.envs:trysim/Semerik-v0"  # imports the package in the worker, too
        return Monitor(gymnasium.make(name, opponents="random", horizon="deal"))

    env = vec_env([make, make])
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, device="cpu")
    model.learn(128)
    rewards, lengths = evaluate_policy(model, env, n_eval_episodes=4, return_episode_rewards=True)
    assert all(length >= 10 for length in lengths)  # no illegal card cut an episode short
    assert all(reward == round(reward) for reward in rewards)
    env.close()


# Configurations and broken files ----------------------------------------------------------------
CONFIGS = sorted((Path(__file__).resolve().parent.parent / "configs").rglob("*.yaml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_committed_configurations_are_whole(path):
    if path.stem == "rllib":
        pytest.importorskip("ray.rllib")
    config = load_config(training._algorithm(path).CONFIG, path, [])
    assert config.game == path.parent.name
    config.check()


def test_overrides_and_unknown_keys(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("game: semerik\n")
    assert load_config(SB3Config, path, ["--n_tables", "7"]).n_tables == 7
    assert load_config(SB3Config, path, ["--options.horizon", "deal"]).options == {
        "horizon": "deal"
    }
    for wrong in (["--n_table", "7"], ["--n_tables", "seven"]):
        with pytest.raises(BadInput):
            load_config(SB3Config, path, wrong)
    path.write_text("game: semerik\nlearning_rat: 1\n")
    with pytest.raises(BadInput, match="learning_rat"):
        load_config(SB3Config, path, [])


@pytest.mark.parametrize("text", ["off", "'off'"])
def test_off_in_a_file_is_the_option_off(text, tmp_path):
    """YAML reads a bare `off` as False."""
    path = tmp_path / "off.yaml"
    path.write_text(f"game: semerik\noptions: {{declare: {text}}}\n")
    config = load_config(SB3Config, path, [])
    config.check()
    assert GAMES["semerik"].complete_options(config.option_sets()[0])["declare"] == "off"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("game", "whist", "sim_lystiv, semnadtsat, semerik"),
        ("options", {"horizon": "year"}, "match, game, deal"),
        ("opponents", ["grandmaster"], "greedy"),
        ("seat", "left", "lot and pair"),
        ("seat", "7", "allowed are"),
        ("activation", "gelu", "relu, tanh"),
        ("n_tables", 0, "at least 1"),
        ("anchors", [], "at least one agent"),
    ],
)
def test_wrong_configurations_say_what_is_allowed(field, value, message, tmp_path):
    config = SB3Config(**{**PAIR, **TINY, field: value})
    with pytest.raises(BadInput, match=message):
        train(config, tmp_path / "never")
    assert not (tmp_path / "never").exists()


def test_a_training_is_never_written_over(trained):
    _, out = trained
    with pytest.raises(BadInput, match="holds a training already"):
        train(SB3Config(**PAIR, **TINY), out)


def test_illegal_actions_are_counted_and_refused():
    env = make_env(SB3Config(**PAIR, **TINY))
    env.reset()
    wrong = env.action_masks().argmin(1)
    with pytest.raises(BadInput, match="not legal"):
        env.step(wrong)
    assert env.n_illegal == len(wrong)


def test_weights_that_are_no_numbers_stop_the_training(tmp_path, monkeypatch, capsys):
    path = tmp_path / "broken.yaml"
    path.write_text(
        "algorithm: sb3\ngame: semerik\noptions: {horizon: deal}\nseat: pair\n"
        "learning_rate: 1.0e+30\n"
    )
    settings = [f"--{name}={value}" for name, value in TINY.items()]
    assert run(str(path), settings, tmp_path / "out") == 1
    assert "try a lower learning_rate" in capsys.readouterr().err
    assert (tmp_path / "out" / "policy" / "policy.safetensors").is_file()


def test_a_missing_configuration_names_those_there_are():
    with pytest.raises(BadInput, match=r"configs/semerik/sb3\.yaml"):
        run("configs/nothing.yaml", [], None)


@pytest.mark.parametrize("damage", ["weights", "json", "game", "layout", "hidden", "network"])
def test_broken_policies_are_refused(trained, tmp_path, damage):
    result, _ = trained
    meaning = json.loads((result.policy / "policy.json").read_text())
    weights = (result.policy / "policy.safetensors").read_bytes()
    changes = {"game": "semnadtsat", "layout": "0", "hidden": [3, 4], "network": "tree"}
    if damage in changes:
        meaning[damage] = changes[damage]
    text = "{" if damage == "json" else json.dumps(meaning)
    (tmp_path / "policy.json").write_text(text)
    (tmp_path / "policy.safetensors").write_bytes(weights[:50] if damage == "weights" else weights)
    with pytest.raises(BadInput):
        make_agent(f"policy:{tmp_path}", "semerik")


def test_broken_models_are_refused_and_never_unpickled(tmp_path):
    import pickle
    import zipfile

    class Bomb:
        def __reduce__(self):
            return (exec, (f"open({str(tmp_path / 'boom')!r}, 'w')",))

    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w") as archive:
        archive.writestr("policy.pth", pickle.dumps(Bomb()))
        archive.writestr("data", "{}")
    (tmp_path / "text.zip").write_text("no zip")
    for path in (bomb, tmp_path / "text.zip", tmp_path / "missing.zip"):
        with pytest.raises(BadInput, match="sb3:"):
            make_agent(f"sb3:{path}", "semerik")
    assert not (tmp_path / "boom").exists()


def test_modes_are_checked(trained):
    result, _ = trained
    with pytest.raises(BadInput, match=MODES[0]):
        make_agent(f"policy:{result.policy},mode=worst", "semerik")
