"""Agents: made by name, legal everywhere, each decision by itself."""

import numpy as np
import pytest
import torch

from tests.test_aec import OPTION_SETS
from trysim.agents import make_agent
from trysim.agents.networks import Mlp
from trysim.agents.policy import save_policy
from trysim.envs.batch import BatchEnv
from trysim.envs.decisions import decide, new_streams
from trysim.envs.games import GAMES, BadInput
from trysim.envs.learner import LearnerTables
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY, SEAT

each_game = pytest.mark.parametrize("name", GAMES)


def tables(name, n=60):
    """Tables of all option sets of a game."""
    options = [each for other, each in OPTION_SETS if other == name]
    return BatchEnv(name, n, [options[k % len(options)] for k in range(n)])


def policy(name, folder, mode="best"):
    """A policy with random weights."""
    game = GAMES[name]
    save_policy(folder, game, "mlp", Mlp(game, [16], "relu"), {})
    return make_agent(f"policy:{folder},mode={mode}", name)


def all_agents(name, folder):
    cheap = [make_agent(spec, name) for spec in ("greedy", "random", "expert")]
    search = [make_agent(spec, name) for spec in ("pimc:worlds=2", "ismcts:iterations=4")]
    return [
        *cheap,
        *search,
        policy(name, folder / "best"),
        policy(name, folder / "sample", "sample"),
    ]


@each_game
def test_agents_play_legal_actions_in_every_option(name, tmp_path):
    """In hundreds of matches, mixed at the tables: the batch refuses anything else."""
    batch, agents = tables(name, 90), all_agents(name, tmp_path)
    batch.reset(seed=1)
    streams, rng = new_streams(range(90), batch.game.n_seats), np.random.default_rng(1)
    phases, n_done = set(), 0
    for step in range(330):
        who = rng.integers(0, 7 if step % 11 == 0 else 3, 90)  # some take more time
        phases |= set(batch.rows[:, PHASE].tolist())
        batch.step(decide(batch.game, batch.rows, np.arange(90), agents, who, streams))
        n_done += batch.done.sum()
    assert n_done > 200
    assert len(phases) == {"sim_lystiv": 3, "semnadtsat": 2, "semerik": 1}[name]


@each_game
def test_a_decision_does_not_depend_on_the_others(name, tmp_path):
    """Asked alone, in another order or among others, an agent chooses the same."""
    batch, agents = tables(name, 12), all_agents(name, tmp_path)
    batch.reset(seed=2)
    streams, rng = new_streams(range(12), batch.game.n_seats), np.random.default_rng(2)
    every = np.arange(12)
    for step in range(40):
        who = rng.integers(0, 7 if step % 8 == 0 else 3, 12)
        after = streams.copy()
        actions = decide(batch.game, batch.rows, every, agents, who, after)
        for which in (rng.permutation(12), np.array([5]), np.array([3, 7, 1])):
            moved = streams.copy()
            some = decide(batch.game, batch.rows, which, agents, who[which], moved)
            assert (some == actions[which]).all()
            assert (moved[which] == after[which]).all()
        changed = after != streams
        assert changed[every, batch.rows[:, SEAT]].all()
        assert changed.sum() == 12  # of the seats that were asked, and of no other
        streams = after
        batch.step(actions)


class Spy:
    """Plays the first legal action, and keeps what it was asked."""

    spec = "spy"

    def __init__(self):
        self.asked = []

    def act(self, decisions):
        self.asked.append(decisions)
        return np.array([int(legal & -legal).bit_length() - 1 for legal in decisions.legal])


@each_game
def test_agents_are_shown_the_view_of_their_seat_only(name):
    batch, spy = tables(name, 12), Spy()
    batch.reset(seed=4)
    game, streams = batch.game, new_streams(range(12), batch.game.n_seats)
    for _ in range(40):
        tables_asked, who = np.arange(12), np.zeros(12, np.int64)
        actions = decide(game, batch.rows, tables_asked, [spy], who, streams)
        decisions = spy.asked[-1]
        for view, row in zip(decisions.views, batch.rows, strict=True):
            assert (view == game.view(row, int(row[SEAT]))).all()
        observations, masks = decisions.observe()
        assert (observations == batch.observation).all()
        assert (masks == batch.mask).all()
        assert len(set(decisions.random.tolist())) == 12
        batch.step(actions)


@each_game
def test_random_chooses_evenly(name):
    batch, agents = BatchEnv(name, 4000), [make_agent("random", name)]
    batch.reset(seed=[3] * 4000)
    streams = new_streams(range(4000), batch.game.n_seats)
    actions = decide(batch.game, batch.rows, np.arange(4000), agents, np.zeros(4000, int), streams)
    legal = batch.game.legal_actions(batch.rows[0])
    counts = np.bincount(actions, minlength=batch.game.n_actions)[legal]
    assert counts.sum() == 4000
    expected = 4000 / len(legal)
    assert ((counts - expected) ** 2 / expected).sum() < 3 * len(legal) + 15


@pytest.mark.parametrize(
    ("name", "options", "chance"),
    [
        ("sim_lystiv", {"num_players": 3}, -1 / 3),
        ("sim_lystiv", {"num_players": 4}, -1 / 4),
        ("semnadtsat", {}, 0),
        ("semnadtsat", {"scoring": "seventeen"}, 0),
        ("semerik", {"horizon": "deal"}, 0),
    ],
)
def test_greedy_beats_random(name, options, chance):
    """With three standard errors to spare, against what a seat gets among equals."""
    seats = "pair" if name == "semerik" else None
    learner = LearnerTables(name, 200, [make_agent("random", name)], seats=seats, options=options)
    greedy, rewards = [make_agent("greedy", name)], []
    learner.reset(seed=1)
    earned, streams = np.zeros(200), new_streams(range(200), learner.game.n_seats)
    for _ in range(60):
        rows = learner.batch.rows
        learner.step(
            decide(learner.game, rows, np.arange(200), greedy, np.zeros(200, int), streams)
        )
        earned += learner.rewards
        rewards += earned[learner.done].tolist()
        earned[learner.done] = 0
    error = np.std(rewards) / len(rewards) ** 0.5
    assert len(rewards) > 300
    assert np.mean(rewards) - 3 * error > chance


def test_greedy_names_its_longest_suit():
    batch, agents = BatchEnv("semnadtsat", 100), [make_agent("greedy", "semnadtsat")]
    batch.reset(seed=5)
    game, n_named = batch.game, 0
    for table in np.flatnonzero(batch.rows[:, PHASE] == NAME_TRUMP):
        streams = new_streams(range(100), game.n_seats)
        action = decide(game, batch.rows, np.array([table]), agents, np.array([0]), streams)[0]
        suits = [card[1] for card in game.hands(batch.rows[table])[batch.seat[table]]]
        assert suits.count(game.actions[action][-1]) == max(map(suits.count, "CDHS"))
        n_named += 1
    assert n_named > 50
    assert (batch.rows[:, PHASE] == PLAY).any()


@pytest.mark.parametrize("spec", ["greedy", "random"])
@each_game
def test_specs_name_agents(name, spec):
    assert make_agent(spec, name).spec == make_agent(spec, GAMES[name]).spec == spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nobody", "no agent 'nobody': there are random, greedy, expert, pimc"),
        ("", "no agent ''"),
        ("greedy:fast", "agent 'greedy:fast': write greedy"),
        ("random:mode=best", "no setting 'mode'"),
        ("policy", "write policy:GAME or policy:DIR"),
        ("policy:", "write policy:GAME or policy:DIR"),
        ("sb3:,mode=best", "write sb3:FILE.zip"),
        ("policy:/nowhere", "policy:/nowhere: cannot read the policy"),
        ("policy:/nowhere,speed=1", "no setting 'speed'"),
        ("sb3:/nowhere.zip", "sb3:/nowhere.zip: no readable model"),
    ],
)
def test_wrong_specs_are_explained(spec, message):
    with pytest.raises(BadInput) as error:
        make_agent(spec, "semerik")
    assert message in str(error.value)
    with pytest.raises(BadInput, match="no game 'whist'"):
        make_agent("greedy", "whist")


def test_a_policy_is_for_its_game(tmp_path):
    policy("semerik", tmp_path)
    with pytest.raises(BadInput, match="a policy for semerik, not for semnadtsat"):
        make_agent(f"policy:{tmp_path}", "semnadtsat")
    with pytest.raises(BadInput, match="mode='x'; allowed are best, sample"):
        make_agent(f"policy:{tmp_path},mode=x", "semerik")


@each_game
def test_a_network_of_ones_own_gives_the_same_bits_however_many_are_asked(name, tmp_path):
    """One without compiled code: asked in torch."""
    agent, batch = policy(name, tmp_path), tables(name, 40)
    batch.reset(seed=4)
    observations = torch.from_numpy(batch.observation.copy()).float()
    together = agent._said_to_few(observations)
    for n in (1, 2, 3, 5):
        assert torch.equal(agent._said_to_few(observations[:n]), together[:n])


def test_the_digest_of_a_policy_is_that_of_its_weights(tmp_path):
    one, same, other = (policy("semerik", tmp_path / part) for part in "abc")
    for source, copy in ((one, same),):
        copy.net.load_state_dict(source.net.state_dict())
    assert one.digest == same.digest != other.digest


def test_one_spelling_of_a_folder(tmp_path):
    policy("semerik", tmp_path / "a")
    specs = {make_agent(f"policy:{tmp_path}/{folder}", "semerik").spec for folder in ("a", "./a/")}
    assert specs == {f"policy:{(tmp_path / 'a').as_posix()}"}
