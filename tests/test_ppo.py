"""Self-play PPO: what reaches whom, exact resuming, whole files, clear errors."""

import dataclasses
import json

import numpy as np
import pytest
import safetensors.torch
import torch

from tests.test_aec import OPTION_SETS
from trysim.agents import make_agent
from trysim.agents.search.standing import WORTHS, standings_of
from trysim.arena import compare
from trysim.envs.decisions import decide, new_streams
from trysim.envs.games import GAMES, BadInput
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY
from trysim.train import ppo, run
from trysim.train.checkpoint import CHECKPOINT
from trysim.train.learning import reward_scale
from trysim.train.ppo import PPOConfig, estimate_advantages, train
from trysim.train.selfplay import SelfPlayTables
from trysim.train.watch import TrainingStopped

TINY = {
    "game": "semerik", "options": {"horizon": "deal"}, "n_tables": 16, "n_steps": 16,
    "batch_size": 64, "hidden": [16], "total_decisions": 1024,
    "evaluate_every": 512, "evaluate_deals": 4, "checkpoint_every": 512, "threads": 1,
    "mixed_share": 0.25, "opponents": ["greedy"], "snapshots": 2, "snapshot_every": 256,
}  # fmt: skip
each_game = pytest.mark.parametrize("name", GAMES)


def weights(folder):
    return (folder / "policy" / "policy.safetensors").read_bytes()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("run")
    return train(PPOConfig(**TINY), out), out


# Tables -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "options"), OPTION_SETS)
def test_rewards_sum_to_the_returns_of_the_match(name, options):
    """Lowest legal action everywhere: the same matches, played one by one, pay the same."""
    game, n = GAMES[name], 4
    tables = SelfPlayTables(name, [options] * n, 3)
    start = tables.rows.copy()
    expected = []
    for row in start:
        while not game.is_over(row):
            game.kernels.step(row, game.legal_actions(row)[0])
        expected.append(game.returns(row))
    sums, running = np.zeros((n, game.n_seats)), np.ones(n, bool)
    for _ in range(20_000):
        assert (tables.mask.sum(1) > 1).all()
        tables.step(tables.mask.argmax(1))
        sums[running] += tables.rewards[running]
        running &= ~tables.done
        if not running.any():
            break
    found = [row[: len(e)] for row, e in zip(sums, expected, strict=True)]
    assert np.allclose(found, expected)


@each_game
def test_others_sit_at_the_mixed_tables_only(name):
    game = GAMES[name]
    others = [make_agent("greedy", name), make_agent("random", name)]
    tables = SelfPlayTables(name, [{}] * 40, 1, others, 30)
    who = tables.state()["who"]
    n = game.n_players(game.complete_options({}))
    assert (who[30:] == -1).all()
    assert ((who[:30, :n] == -1).sum(1) >= 1).all()
    assert {-1, 0, 1} <= set(who[:30].ravel().tolist())
    if name == "semerik":
        assert (who[:, 0] == who[:, 2]).all()
        assert (who[:, 1] == who[:, 3]).all()
    for _ in range(30):
        seats = tables.seat
        assert (tables.state()["who"][np.arange(40), seats] == -1).all()
        tables.step(tables.mask.argmax(1))


@each_game
def test_alone_the_learner_has_one_seat_or_pair(name):
    tables = SelfPlayTables(name, [{}] * 40, 1, [make_agent("greedy", name)], 40, alone=True)
    n = GAMES[name].n_players(GAMES[name].complete_options({}))
    seats = (tables.state()["who"][:, :n] == -1).sum(1)
    assert (seats == (2 if name == "semerik" else 1)).all()


@each_game
def test_tables_go_on_from_their_state(name):
    others = [make_agent("random", name)]
    first = SelfPlayTables(name, [{}] * 8, 1, others, 4)
    second = SelfPlayTables(name, [{}] * 8, 2, others, 4)
    for _ in range(10):
        first.step(first.mask.argmax(1))
    second.restore({k: v.copy() for k, v in first.state().items()})
    for _ in range(40):
        assert (first.observation == second.observation).all()
        for tables in (first, second):
            tables.step(tables.mask.shape[1] - 1 - tables.mask[:, ::-1].argmax(1))
        assert (first.rewards == second.rewards).all()
    with pytest.raises(ValueError, match=r"tables\.rows"):
        second.restore({k: v[:3] for k, v in first.state().items()})


def test_hidden_hands_are_the_others_hands():
    tables = SelfPlayTables("semerik", [{}] * 5, 1)
    game = tables.game
    for row, seat, hidden in zip(tables.rows, tables.seat, tables.hidden, strict=True):
        hands = game.hands(row)
        expected = [hands[(seat + k) % 4] for k in range(1, 4)]
        found = hidden.reshape(3, len(game.deck))
        cards = [{game.deck[k] for k in np.flatnonzero(bits)} for bits in found]
        assert cards == [set(hand) for hand in expected]


@each_game
def test_by_deal_every_deal_is_paid_what_it_is_worth(name):
    """The same by one action after another, and by the worth of each deal's end."""
    game, options = GAMES[name], {"horizon": "match"} if name == "semerik" else {}
    tables, rng = SelfPlayTables(name, [options] * 12, 1, by_deal=True), np.random.default_rng(1)
    n_ended = 0
    for _ in range(150):
        rows = tables.rows.copy()
        actions = np.where(tables.mask, rng.random(tables.mask.shape), -1).argmax(1)
        tables.step(actions)
        for row, action, paid, done in zip(rows, actions, tables.rewards, tables.done, strict=True):
            standing, worth = standings_of(game).of(row), np.zeros(game.n_seats)
            game.kernels.apply(row, int(action))
            while row[PHASE] in (PLAY, NAME_TRUMP) and len(game.legal_actions(row)) == 1:
                game.kernels.apply(row, game.legal_actions(row)[0])
            assert done == (row[PHASE] not in (PLAY, NAME_TRUMP))
            if done:
                WORTHS[name].worth(row, standing, worth)
                n_ended += 1
            assert paid == pytest.approx(worth)
    assert n_ended > 20


# Advantages -------------------------------------------------------------------------------------
def slow_advantages(rewards, done, seats, values, gae_lambda):
    """The same by following every seat's decisions forwards."""
    n_steps, n_tables, _ = rewards.shape
    advantages, known = np.zeros((n_steps, n_tables)), np.zeros((n_steps, n_tables), bool)
    for table in range(n_tables):
        for step in range(n_steps):
            seat, weight, at = seats[step, table], 1.0, step
            while at is not None:
                paid, following, then = 0.0, None, at
                while then < n_steps:
                    paid += rewards[then, table, seat]
                    if done[then, table]:
                        following = "end"
                        break
                    then += 1
                    if then < n_steps and seats[then, table] == seat:
                        following = then
                        break
                if following is None:
                    break
                known[step, table] = True
                ahead = 0.0 if following == "end" else values[following, table]
                advantages[step, table] += weight * (paid + ahead - values[at, table])
                weight *= gae_lambda
                at = None if following == "end" else following
    return advantages, known


def test_advantages_follow_every_seats_own_decisions():
    rng = np.random.default_rng(1)
    for gae_lambda in (0.0, 0.7, 1.0):
        rewards = rng.normal(size=(30, 6, 4)).astype(np.float32)
        done, seats = rng.random((30, 6)) < 0.1, rng.integers(0, 4, (30, 6))
        values = rng.normal(size=(30, 6)).astype(np.float32)
        found, known = np.empty_like(values), np.empty(values.shape, np.bool_)
        estimate_advantages(rewards, done, seats, values, gae_lambda, found, known)
        expected, expected_known = slow_advantages(rewards, done, seats, values, gae_lambda)
        assert (known == expected_known).all()
        assert np.allclose(found[known], expected[known], atol=1e-4)


@each_game
def test_rewards_are_scaled_to_one(name):
    game, n = GAMES[name], 100
    options = game.complete_options({})
    scale = reward_scale(game, options, by_deal=False)
    agent, rows = make_agent("greedy", name), []
    for seed in range(n):
        row = game.new_row(options, seed)
        game.kernels.begin(row)
        game.kernels.settle(row)
        rows.append(row)
    streams, one = new_streams(range(n), game.n_seats), np.zeros(1, np.int64)
    for k, row in enumerate(rows):
        while not game.is_over(row):
            game.kernels.step(
                row, decide(game, row[None], one, [agent], one, streams[k : k + 1])[0]
            )
    returns = np.array([game.returns(row) for row in rows])
    assert returns.std() * scale == pytest.approx(1, abs=0.3)


# A training -------------------------------------------------------------------------------------
def test_everything_about_a_training_is_kept(trained):
    result, out = trained
    assert result.decisions == 1024
    for path in ("config.yaml", "evaluations.csv", "learning_curve.png", "log/progress.csv",
                 "policy/policy.safetensors", CHECKPOINT):  # fmt: skip
        assert (out / path).is_file(), path
    about = json.loads((out / "policy" / "policy.json").read_text())["about"]
    assert about["algorithm"] == "ppo"
    assert about["decisions"] == 1024
    assert about["config"]["seed"] == 1
    assert about["versions"]["rules"]
    evaluations = (out / "evaluations.csv").read_text().splitlines()
    assert len(evaluations) == 1 + 2 * 3  # two anchors at 0, 512 and 1024


def test_the_policy_plays_by_its_spec(trained):
    result, _ = trained
    spec = f"policy:{result.policy}"
    pairs = compare("semerik", [spec, "random"], 4, 1, workers=1, progress=False).pairs
    assert pairs[0].a == spec


def test_same_seed_same_weights(trained, tmp_path):
    _, out = trained
    train(PPOConfig(**TINY), tmp_path / "again")
    assert weights(out) == weights(tmp_path / "again")
    train(PPOConfig(**{**TINY, "seed": 2}), tmp_path / "other")
    assert weights(out) != weights(tmp_path / "other")


@pytest.mark.parametrize("stop_after", [256, 768])
def test_an_interrupted_training_ends_like_one_that_was_not(trained, tmp_path, stop_after):
    _, out = trained
    config = PPOConfig(**TINY)
    first = train(config, tmp_path, stop_after=stop_after)
    assert first.decisions == stop_after
    second = train(config, tmp_path, resume=True)
    assert second.decisions == 1024
    assert weights(tmp_path) == weights(out)
    whole, again = (safetensors.torch.load_file(folder / CHECKPOINT) for folder in (out, tmp_path))
    assert whole.keys() == again.keys()
    assert all(torch.equal(whole[name], again[name]) for name in whole)
    log = (tmp_path / "log" / "progress.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in log[1:]] == ["256", "512", "768", "1024"]


def test_a_critic_of_bins_learns_and_goes_on_exactly(tmp_path):
    config = PPOConfig(**{**TINY, "value_bins": 21})
    train(config, tmp_path / "whole")
    train(config, tmp_path / "parts", stop_after=512)
    train(config, tmp_path / "parts", resume=True)
    assert weights(tmp_path / "whole") == weights(tmp_path / "parts")


def test_the_policy_kept_has_mean_weights():
    take_in, mean = ppo.running_mean(100), torch.zeros(1)
    for k in range(1000):
        mean = take_in(mean, torch.tensor([float(k % 2)]), torch.tensor(k))
    assert float(mean) == pytest.approx(0.5, abs=0.01)
    assert float(ppo.running_mean(100)(torch.zeros(1), torch.ones(1), torch.tensor(0))) == 1
    training = ppo.PPO(PPOConfig(**TINY))
    training.iterate()
    kept, last = training.policy().state_dict(), training.learner.actor.state_dict()
    assert any((kept[name] != last[name]).any() for name in kept)


# A guide ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("player", ["expert", "self"])
def test_a_guided_training_goes_on_exactly_too(tmp_path, player):
    guided = {**TINY, "guide": player, "guide_worlds": 2, "guide_until": 0.5}
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(PPOConfig(**guided), whole)
    train(PPOConfig(**guided), parts, stop_after=256)
    train(PPOConfig(**guided), parts, resume=True)
    assert weights(whole) == weights(parts)
    log = (whole / "log" / "progress.csv").read_text().splitlines()
    guide_loss = [float(line.split(",")[log[0].split(",").index("guide_loss")]) for line in log[1:]]
    assert guide_loss[0] > 0
    assert guide_loss[-1] == 0


def test_what_the_guide_cannot_tell_is_learned_from_results():
    training = ppo.PPO(PPOConfig(**{**TINY, "guide": "expert", "guide_worlds": 1}))
    training.play()
    training.rollout.worth[:, 3] = 0  # no difference at one table
    lessons = training._lessons()
    advised = lessons.is_advised().reshape(training.rollout.seat.shape)
    assert not advised[:, 3].any()
    assert advised.float().mean() > 0.5
    only = lessons.only(torch.from_numpy(np.flatnonzero(~advised.flatten())), "cpu")
    logs, _ = training.learner(only.seen, only.cards, only.mask)
    assert training._guide_loss(logs, only) == 0
    loss, figures = training._loss(only, True)
    own, _ = training._loss(only, False)
    assert torch.allclose(loss, own)
    assert figures["policy_loss"] != 0


def test_a_policy_that_guides_itself_plays_deals_out_as_it_does_by_then():
    training = ppo.PPO(PPOConfig(**{**TINY, "guide": "self", "guide_worlds": 1}))
    rows, words = training.tables.rows.copy(), np.arange(training.tables.n_tables)
    told = []
    for _ in range(2):
        told.append(training.guide.worths(rows, words))
        with torch.no_grad():
            for weights in training.learner.mean_actor.parameters():
                weights.neg_()
        training.play()
    assert (told[0] != told[1]).any()


def test_the_guide_speaks_at_some_tables_only():
    several = {"num_players": [3, 4], "scoring": ["simple", "seventeen"]}
    config = {**TINY, "game": "semnadtsat", "options": several, "guide": "expert"}
    training = ppo.PPO(PPOConfig(**config, guide_options={"scoring": "seventeen"}))
    training.play()
    advised = training._lessons().is_advised().reshape(training.rollout.seat.shape).any(0)
    scorings = [options["scoring"] for options in training.config.options_of_tables(len(advised))]
    assert advised.tolist() == [scoring == "seventeen" for scoring in scorings]


def test_the_guide_is_learned():
    config = {**TINY, "mixed_share": 0.0, "snapshots": 0, "total_decisions": 40_000, "hidden": [32],
              "n_tables": 128, "batch_size": 256, "guide": "expert", "guide_worlds": 1}  # fmt: skip
    training = ppo.PPO(PPOConfig(**config))
    losses = []
    while training.n_decisions < 40_000:
        losses.append(training.iterate()["guide_loss"])
    assert losses[0] == pytest.approx(1, abs=0.02)
    assert np.mean(losses[-5:]) < 0.97


def test_what_was_logged_after_the_checkpoint_is_forgotten(trained, tmp_path):
    config = PPOConfig(**TINY)
    train(config, tmp_path, stop_after=512)
    saved = (tmp_path / CHECKPOINT).read_bytes()
    train(config, tmp_path, resume=True, stop_after=768)
    (tmp_path / CHECKPOINT).write_bytes(saved)  # as if killed before the next one was written
    train(config, tmp_path, resume=True)
    assert weights(tmp_path) == weights(trained[1])
    log = (tmp_path / "log" / "progress.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in log[1:]] == ["256", "512", "768", "1024"]


def test_several_options_are_learned_at_once(tmp_path):
    several = {"num_players": [3, 4, 5], "scoring": ["simple", "seventeen"]}
    config = PPOConfig(**{**TINY, "game": "semnadtsat", "options": several, "total_decisions": 512})
    assert len(config.option_sets()) == 6
    result = train(config, tmp_path)
    assert result.decisions == 512


# Errors -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"options": {"horizon": ["deal", "never"]}}, "horizon"),
        ({"game": "bridge"}, "bridge"),
        ({"anchors": ["nobody"]}, "nobody"),
        ({"n_tables": 0}, "n_tables: 0"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"mixed_share": 2.0}, "mixed_share: 2.0; at most 1"),
        ({"mixed_share": 0.5, "opponents": [], "snapshots": 0}, "nobody is to sit there"),
        ({"activation": "sine"}, "relu"),
        ({"device": "abacus"}, "cpu, cuda"),
        ({"hidden": []}, "whole numbers from 1"),
        ({"guide": "pimc"}, "allowed are random, greedy, expert, self"),
        ({"guide_until": 1.5}, "at most 1"),
        ({"guide": "expert", "guide_options": {"horizon": "never"}}, "no table has these options"),
        ({"guide_worlds": 0}, "at least 1"),
        ({"network": "tree"}, "allowed are suits, mlp"),
        ({"evaluate_options": {"trumps": 3}}, "trumps"),
    ],
)
def test_a_wrong_configuration_is_refused(change, words, tmp_path):
    with pytest.raises(BadInput, match=words):
        train(PPOConfig(**{**TINY, **change}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nothing_is_overwritten_or_mixed(trained, tmp_path):
    _, out = trained
    before = weights(out)
    with pytest.raises(BadInput, match="holds a training already"):
        train(PPOConfig(**TINY), out)
    other = PPOConfig(**{**TINY, "entropy": 0.5})
    with pytest.raises(BadInput, match=r"entropy: 0\.02, now 0\.5"):
        train(other, out, resume=True)
    with pytest.raises(BadInput, match="cannot go on from"):
        train(PPOConfig(**TINY), tmp_path / "nothing", resume=True)
    with pytest.raises(BadInput, match="cannot go on from"):
        train(PPOConfig(**{**TINY, "hidden": [8]}), out, resume=True)
    assert weights(out) == before


@pytest.mark.parametrize("content", [b"", b"\x80\x04junk", b"{}", b"\x08\0\0\0\0\0\0\0{}      "])
def test_a_broken_checkpoint_is_refused(content, trained, tmp_path):
    (tmp_path / CHECKPOINT).write_bytes(content)
    with pytest.raises(BadInput, match="cannot go on from"):
        train(PPOConfig(**TINY), tmp_path, resume=True)


def test_a_checkpoint_whose_tables_were_changed_is_refused(trained, tmp_path):
    path = tmp_path / CHECKPOINT
    content = bytearray((trained[1] / CHECKPOINT).read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadInput, match="it is not what was written"):
        train(PPOConfig(**TINY), tmp_path, resume=True)


# Starting from others ---------------------------------------------------------------------------
ALONE = {**TINY, "mixed_share": 0.0, "opponents": [], "snapshots": 0, "total_decisions": 512}


def parameters(module):
    return torch.cat([p.detach().flatten() for p in module.parameters()]).clone()


def test_a_training_starts_with_what_another_has_learned(trained, tmp_path):
    _, out = trained
    config = PPOConfig(**{**ALONE, "start": str(out), "seed": 2})
    before, after = ppo.PPO(PPOConfig(**TINY)), ppo.PPO(config)
    before.load(out / CHECKPOINT)
    after.start_from(config.start)
    assert torch.equal(parameters(before.learner), parameters(after.learner))
    assert after.n_decisions == 0
    train(config, tmp_path / "whole")
    train(config, tmp_path / "twice", stop_after=256)
    train(config, tmp_path / "twice", resume=True)
    assert weights(tmp_path / "whole") == weights(tmp_path / "twice")


@pytest.mark.parametrize("whose", ["folder", "box"])
def test_a_critic_learns_alone_after_a_start_from_a_policy(whose, trained):
    hidden = [16] if whose == "folder" else [128, 128]
    start = str(trained[1] / "policy") if whose == "folder" else "semerik"
    more = {"hidden": hidden, "critic_alone": 256, "total_decisions": 1024}
    training = ppo.PPO(PPOConfig(**{**ALONE, **more}))
    training.start_from(start)
    learner = training.learner
    given = make_agent(f"policy:{start}", "semerik").net
    policy, critic = parameters(learner.actor), parameters(learner.critic)
    assert torch.equal(policy, parameters(given))
    assert torch.equal(policy, parameters(training.policy()))
    training.iterate()
    assert torch.equal(policy, parameters(learner.actor))
    assert torch.equal(policy, parameters(training.policy()))
    assert not torch.equal(critic, parameters(learner.critic))
    training.iterate()
    assert not torch.equal(policy, parameters(learner.actor))


@pytest.mark.parametrize(
    ("start", "complaint"),
    [("nowhere", "nowhere"), ("semerik", "size mismatch"), ("sim_lystiv", "sim_lystiv")],
)
def test_a_start_that_does_not_fit_is_refused(start, complaint, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(BadInput, match=complaint):
        train(PPOConfig(**{**ALONE, "start": start}), out)
    assert not out.exists()


def test_a_policy_that_stops_exploring_stops_the_training(tmp_path, monkeypatch):
    monkeypatch.setattr(ppo.PPO, "iterate", _dead)
    with pytest.raises(TrainingStopped, match="stopped exploring after 20 decisions"):
        train(PPOConfig(**TINY), tmp_path)
    assert (tmp_path / "policy" / "policy.json").exists()


def _dead(training):
    training.n_decisions += 1
    return {"entropy": 1e-9}


def test_weights_that_are_no_numbers_stop_the_training(tmp_path, monkeypatch):
    learn = ppo.PPO.learn

    def poison(self):
        found = learn(self)
        if self.n_decisions == 768:
            with torch.no_grad():
                next(self.learner.parameters()).fill_(float("nan"))
        return found

    monkeypatch.setattr(ppo.PPO, "learn", poison)
    with pytest.raises(TrainingStopped, match="after 768 decisions"):
        train(PPOConfig(**TINY), tmp_path)
    monkeypatch.undo()
    spec = f"policy:{tmp_path / 'policy'}"
    compare("semerik", [spec, "random"], 2, 1, workers=1, progress=False)
    train(PPOConfig(**TINY), tmp_path, resume=True)


def test_from_the_command_line(tmp_path, capsys):
    path = tmp_path / "tiny.yaml"
    lines = [f"{name}: {json.dumps(value)}" for name, value in TINY.items()]
    path.write_text("\n".join(["algorithm: ppo", *lines]))
    out = tmp_path / "out"
    assert run(str(path), ["--total_decisions", "256"], out) == 0
    assert "play it with" in capsys.readouterr().out
    path.write_text("algorithm: guess\n")
    with pytest.raises(BadInput, match="allowed are ppo, dmc, imitate, sb3"):
        run(str(path), [], tmp_path / "other")
    path.write_text("game: semerik\n")
    with pytest.raises(BadInput, match="algorithm: none is named; allowed are ppo, dmc"):
        run(str(path), [], tmp_path / "other")
    path.write_text("- 1\n- 2\n")
    with pytest.raises(BadInput, match="name: value"):
        run(str(path), [], tmp_path / "other")


def test_learning_beats_chance(tmp_path):
    """Half a minute of it is enough to beat random play clearly."""
    config = PPOConfig(
        **{
            **{k: v for k, v in TINY.items() if k not in ("snapshots", "snapshot_every")},
            "mixed_share": 0.0, "opponents": [], "n_tables": 256, "n_steps": 32,
            "batch_size": 2048, "hidden": [64], "anchors": ["random"],
            "total_decisions": 250_000, "evaluate_every": 250_000, "evaluate_deals": 200,
            "checkpoint_every": 250_000,
        }
    )  # fmt: skip
    result = train(config, tmp_path)
    spec = f"policy:{result.policy}"
    pair = compare("semerik", [spec, "random"], 200, 99, {"horizon": "deal"}, progress=False)
    assert pair.pairs[0].ci95[0] > 0


def test_the_configuration_is_kept(trained):
    _, out = trained
    text = (out / "config.yaml").read_text()
    for config_field in dataclasses.fields(PPOConfig):
        assert f"{config_field.name}:" in text
