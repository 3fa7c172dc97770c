"""One learner among opponents: what it sees and earns is what its seat sees and earns."""

import zlib

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tests.test_aec import choose, each_set
from trysim.envs.games import GAMES, BadInput
from trysim.envs.learner import LearnerTables
from trysim.envs.rules.row import OVER, PHASE, SEAT
from trysim.envs.single import SingleEnv

IDS = {"sim_lystiv": "SimLystiv", "semnadtsat": "Semnadtsat", "semerik": "Semerik"}


class ByView:
    """Decides by what the seat knows, and by nothing else."""

    spec = "by_view"

    def act(self, decisions):
        pairs = zip(decisions.views, decisions.legal, strict=True)
        return np.array([by_view(view, int(legal)) for view, legal in pairs], np.int64)


def by_view(view, legal):
    actions = [action for action in range(64) if legal >> action & 1]
    return actions[zlib.crc32(view.tobytes()) % len(actions)]


def learner_actions(tables):
    """The learner decides by views, too; masks must be those of the rules."""
    game, out = tables.game, []
    for row, mask in zip(tables.batch.rows, tables.mask, strict=True):
        assert np.flatnonzero(mask).tolist() == game.legal_actions(row)
        out.append(by_view(game.view(row, int(row[SEAT])), int(game.kernels.legal(row))))
    return np.array(out)


def scores_of_the_match_after(game, row):
    """By seat, what the match pays that begins at a table with its random word as it is now."""
    row = row.copy()
    game.kernels.begin(row)
    game.kernels.settle(row)
    while row[PHASE] != OVER:
        view = game.view(row, int(row[SEAT]))
        game.kernels.step(row, by_view(view, int(game.kernels.legal(row))))
    return game.returns(row)


@pytest.mark.parametrize("skip_forced", [False, True])
@each_set
def test_the_learner_is_paid_what_its_seat_scores(name, options, skip_forced):
    """In every seat, of those who leave early too, though their episode ends before the match."""
    tables = LearnerTables(name, 10, [ByView()], options=options, skip_forced=skip_forced)
    game = tables.game
    tables.reset(seed=1)
    expected = [scores_of_the_match_after(game, row) for row in tables.batch.rows]
    tables.reset()
    earned, seats, n_left_early, n_episodes = np.zeros(10), set(), 0, 0
    learners = [int(np.flatnonzero(flags)[0]) for flags in tables.is_learner]
    for _ in range(70):
        if skip_forced:
            assert (tables.mask.sum(1) > 1).all()
        tables.step(learner_actions(tables))
        earned += tables.rewards
        for table in np.flatnonzero(tables.done):
            assert earned[table] == pytest.approx(expected[table][learners[table]])
            final = tables.final_rows[table]
            n_left_early += not game.is_over(final)
            assert game.is_gone(final, learners[table])
            seats.add(learners[table])
            expected[table] = scores_of_the_match_after(game, final)
            learners[table] = int(np.flatnonzero(tables.is_learner[table])[0])
            earned[table] = 0
            n_episodes += 1
    assert n_episodes >= 10
    n = game.n_players(game.complete_options(options))
    assert seats == set(range(n))
    may_leave = name == "sim_lystiv" and n > 2 and options.get("penalty") != "interactive"
    assert (n_left_early > 0) == may_leave


def test_a_pair_of_semerik_learns_together():
    options = {"target": 1, "games": 2, "reward": "points"}
    tables = LearnerTables("semerik", 6, [ByView()], seats="pair", options=options)
    tables.reset(seed=1)
    expected = [scores_of_the_match_after(tables.game, row) for row in tables.batch.rows]
    tables.reset()
    earned, asked = np.zeros(6), [set() for _ in range(6)]
    pairs = [tuple(np.flatnonzero(flags)) for flags in tables.is_learner]
    assert set(pairs) == {(0, 2), (1, 3)}
    for _ in range(60):
        for table, row in enumerate(tables.batch.rows):
            asked[table].add(int(row[SEAT]))
        tables.step(learner_actions(tables))
        earned += tables.rewards
        for table in np.flatnonzero(tables.done):
            assert earned[table] == pytest.approx(expected[table][pairs[table][0]])
            assert asked[table] == set(pairs[table])
            expected[table] = scores_of_the_match_after(tables.game, tables.final_rows[table])
            pairs[table] = tuple(np.flatnonzero(tables.is_learner[table]))
            earned[table], asked[table] = 0, set()


@each_set
def test_the_learner_sees_what_its_seat_sees(name, options):
    tables = LearnerTables(name, 5, [ByView()], options=options)
    tables.reset(seed=3)
    for _ in range(25):
        for table, row in enumerate(tables.batch.rows):
            seat = int(row[SEAT])
            assert tables.is_learner[table, seat]
            observation, mask = tables.game.observe(row, seat)
            assert (tables.observation[table] == observation).all()
            assert (tables.mask[table] == mask).all()
        tables.step(learner_actions(tables))


def trajectory(tables, n):
    out = []
    for _ in range(n):
        out.append([tables.observation.copy(), tables.rewards.copy(), tables.done.copy()])
        tables.step([choose(mask, len(out)) for mask in tables.mask])
    return out


@pytest.mark.parametrize("name", GAMES)
def test_tables_are_repeatable_and_independent(name):
    """A seed fixes deals, seats, opponents and their choices; other tables do not matter."""

    def run(n_tables, seed):
        agents = [_agent("random", name), _agent("greedy", name)]
        tables = LearnerTables(name, n_tables, agents)
        tables.reset(seed=seed)
        return trajectory(tables, 40)

    many, again, one = run(4, 5), run(4, 5), run(1, 5)
    for step, expected in zip(again, many, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(step, expected, strict=True))
    for step, expected in zip(one, many, strict=True):
        assert all(np.array_equal(a, b[:1]) for a, b in zip(step, expected, strict=True))
    assert any(not np.array_equal(a[0], b[0]) for a, b in zip(run(4, 6), many, strict=True))


def _agent(spec, name):
    from trysim.agents import make_agent

    return make_agent(spec, name)


# The Gymnasium environment ----------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore:.*render:UserWarning")
@pytest.mark.parametrize(
    ("name", "keywords"),
    [
        ("sim_lystiv", {"num_players": 5, "opponents": "greedy"}),
        ("sim_lystiv", {"num_players": 2, "penalty": "interactive", "seat": 1}),
        ("sim_lystiv", {"num_players": 3, "reward": "placement"}),
        ("semnadtsat", {"num_players": 3, "scoring": "seventeen"}),
        ("semnadtsat", {"opponents": ["greedy", "random"], "num_deals": 2}),
        ("semnadtsat", {"num_players": 5, "reward": "win", "seat": 4}),
        ("semerik", {"horizon": "deal", "opponents": ByView()}),
        ("semerik", {"declare": "auto", "seat": "pair", "opponents": "greedy"}),
        ("semerik", {"beat": "none", "baba": "3A2", "seat": 0, "horizon": "game"}),
    ],
)
def test_gymnasium_checks(name, keywords):
    env = gymnasium.make(f"trysim/{IDS[name]}-v0", render_mode="ansi", **keywords)
    check_env(env.unwrapped)
    play(env, 50)


def play(env, n):
    """`n` legal steps, beginning anew where an episode ends; returns all that was seen."""
    out = [env.reset(seed=1)]
    for word in range(n):
        mask = env.unwrapped.action_masks()
        assert mask.dtype == np.bool_
        assert (mask == out[-1][-1]["action_mask"]).all()
        out.append(env.step(choose(mask, word)))
        observation, reward, ended, truncated, info = out[-1]
        assert type(reward) is float
        assert (type(ended), truncated) == (bool, False)
        if ended:
            assert not observation.any()
            assert not info["action_mask"].any()
            out.append(env.reset())
    return out


@each_set
def test_single_is_one_table(name, options):
    env = SingleEnv(name, opponents=ByView(), seat=0, **options)
    tables = LearnerTables(name, 1, [ByView()], seats=0, options=options)
    seen, _ = env.reset(seed=4)
    tables.reset(seed=4)
    assert (seen == tables.observation[0]).all()
    for word in range(60):
        action = choose(env.action_masks(), word)
        seen, reward, ended, _, _ = env.step(action)
        tables.step([action])
        assert (reward, ended) == (tables.rewards[0], tables.done[0])
        if ended:
            seen, _ = env.reset()
            tables.reset()
        assert (seen == tables.observation[0]).all()


def test_seats():
    for seat in range(4):
        tables = LearnerTables("semnadtsat", 2, [ByView()], seats=seat)
        tables.reset(seed=1)
        assert (tables.batch.seat == seat).all()
        trajectory(tables, 30)
        assert (tables.is_learner == np.eye(5, dtype=bool)[seat]).all()


@pytest.mark.parametrize("name", GAMES)
def test_an_illegal_action_ends_the_episode(name):
    env = SingleEnv(name, illegal_reward=-3.0)
    for wrong in (-1, env.game.n_actions, None):
        env.reset(seed=2)
        action = int(np.flatnonzero(~env.action_masks())[0]) if wrong is None else wrong
        observation, reward, ended, truncated, info = env.step(action)
        assert (reward, ended, truncated) == (-3.0, True, False)
        assert info["illegal_action"] is True
        assert not observation.any()
    env.reset(seed=2)
    assert "illegal_action" not in env.step(choose(env.action_masks(), 0))[4]


@pytest.mark.parametrize("name", GAMES)
def test_the_last_position_is_drawn(name):
    env = SingleEnv(name, opponents=ByView(), render_mode="ansi", seat=0)
    env.reset(seed=1)
    ended, word = False, 0
    while not ended:
        ended, word = env.step(choose(env.action_masks(), word))[2], word + 1
    picture = env.render()
    final = env._tables.final_rows[0]
    assert env.game.is_gone(final, 0)
    from trysim.envs import render

    assert picture == render.ansi(env.game, final)
    env.reset()
    assert env.render() != picture


@pytest.mark.parametrize(
    ("name", "keywords", "message"),
    [
        ("semerik", {"opponents": []}, "at least one opponent"),
        ("semerik", {"opponents": "nobody"}, "no agent 'nobody'"),
        ("semerik", {"seat": 4}, "seat 4: allowed are 0..3"),
        ("semerik", {"seat": "both"}, "seat 'both'"),
        ("semnadtsat", {"seat": "pair"}, "seat 'pair': allowed are 0..3 or none"),
        ("semnadtsat", {"num_players": 3, "seat": 3}, "seat 3: allowed are 0..2"),
        ("semnadtsat", {"render_mode": "human"}, "render_mode='human'"),
        ("semnadtsat", {"nonsense": 1}, "unknown option 'nonsense'"),
        ("whist", {}, "no game 'whist'"),
    ],
)
def test_wrong_arguments(name, keywords, message):
    with pytest.raises(BadInput) as error:
        SingleEnv(name, **keywords)
    assert message in str(error.value)


def test_learner_actions_are_checked():
    tables = LearnerTables("semerik", 2, [ByView()])
    tables.reset(seed=1)
    before = tables.batch.rows.copy()
    for wrong in ([0.0, 1.0], [1], [-1, -1], [99, 99]):
        with pytest.raises(BadInput):
            tables.step(wrong)
    assert (tables.batch.rows == before).all()


# Many tables at once ----------------------------------------------------------------------------
def vector(name, n, **keywords):
    return gymnasium.make_vec(f"trysim/{IDS[name]}-v0", num_envs=n, **keywords)


@each_set
def test_the_first_table_of_a_vector_is_the_single_environment(name, options):
    many = vector(name, 3, opponents="greedy", **options)
    one = SingleEnv(name, opponents="greedy", **options)
    observations, infos = many.reset(seed=5)
    observation, info = one.reset(seed=5)
    is_over = False
    while not is_over:
        assert np.array_equal(observations[0], observation)
        assert np.array_equal(infos["action_mask"][0], info["action_mask"])
        actions = many.action_masks().argmax(1)
        observations, rewards, ended, truncated, infos = many.step(actions)
        observation, reward, is_over, _, info = one.step(actions[0])
        assert (rewards[0], ended[0]) == (reward, is_over)
        assert not truncated.any()
        assert infos["action_mask"].any(1).all()  # of the next episode, if one has ended


def test_a_vector_fits_its_spaces_and_keeps_what_it_gave():
    many = vector("semerik", 4, opponents="random", seat="pair", horizon="deal")
    assert many.metadata["autoreset_mode"].value == "SameStep"
    first, infos = many.reset(seed=1)
    assert first in many.observation_space
    kept = first.copy(), infos["action_mask"].copy()
    actions = infos["action_mask"].argmax(1)
    assert actions in many.action_space
    many.step(actions)
    assert np.array_equal(first, kept[0])
    assert np.array_equal(infos["action_mask"], kept[1])


def test_a_vector_takes_no_illegal_action():
    many = vector("semnadtsat", 2, opponents="random")
    before, infos = many.reset(seed=1)
    actions = infos["action_mask"].argmax(1)
    actions[1] = infos["action_mask"][1].argmin()
    with pytest.raises(BadInput, match="table 1"):
        many.step(actions)
    assert np.array_equal(many.tables.observation, before)


def test_a_seed_repeats_a_vector():
    many = vector("sim_lystiv", 3, opponents="random", num_players=3)
    first = [many.reset(seed=9)[0]] + [many.step(many.action_masks().argmax(1))[0] for _ in "123"]
    again = [many.reset(seed=9)[0]] + [many.step(many.action_masks().argmax(1))[0] for _ in "123"]
    assert np.array_equal(first, again)


def test_reset_takes_no_options():
    for env in (SingleEnv("semerik"), vector("semerik", 2)):
        env.reset(options={})
        with pytest.raises(BadInput, match="give a game's options to make"):
            env.reset(options={"horizon": "deal"})
