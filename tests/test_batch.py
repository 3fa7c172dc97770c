"""A batch is nothing but its tables: every number equals that of single environments."""

import numpy as np
import pytest

from tests.test_aec import OPTION_SETS, choose, each_set, make
from trysim.envs.batch import BatchEnv
from trysim.envs.games import GAMES, BadInput

MIXED = {name: [options for other, options in OPTION_SETS if other == name] for name in GAMES}
each_game = pytest.mark.parametrize("name", GAMES)
each_observation = pytest.mark.parametrize("observation", ["flat", "tokens"])


def arrays(batch):
    """Copies of all that a batch tells."""
    parts = batch.observation, batch.mask, batch.seat, batch.rewards, batch.done, batch.rows
    return [part.copy() for part in parts]


def same(batch, expected):
    return all(np.array_equal(a, b) for a, b in zip(arrays(batch), expected, strict=True))


def actions_of(batch, word):
    return np.array(
        [choose(mask, (word, table)) if mask.any() else 0 for table, mask in enumerate(batch.mask)]
    )


def bury(env):
    """Let agents that have left take their last step."""
    while env.agents and env.terminations[env.agent_selection]:
        env.step(None)


@each_observation
@each_game
def test_a_batch_is_its_tables(name, observation):
    """Step by step, with options and player counts of each table's own, over several matches."""
    options = MIXED[name]
    batch = BatchEnv(name, len(options), options, observation=observation)
    batch.reset(seed=100)
    envs = [make(name, observation=observation, **each) for each in options]
    for table, env in enumerate(envs):
        env.reset(seed=100 + table)
    n_done = np.zeros(len(envs), int)
    for word in range(260):
        for table, env in enumerate(envs):
            seen = env.observe(env.agent_selection)
            assert env.agent_selection == f"player_{batch.seat[table]}"
            assert (batch.observation[table] == seen["observation"]).all()
            assert (batch.mask[table] == seen["action_mask"]).all()
        actions = actions_of(batch, word)
        batch.step(actions)
        for table, env in enumerate(envs):
            env.step(actions[table])
            rewards = [env.rewards.get(f"player_{s}", 0) for s in range(env.game.n_seats)]
            assert batch.rewards[table].tolist() == rewards
            assert batch.done[table] == all(env.terminations.values())
            bury(env)
            if not env.agents:
                n_done[table] += 1
                env.reset()
    assert (n_done[1:] > 0).all()


@each_observation
@each_game
def test_without_autoreset_finished_tables_rest(name, observation):
    options = MIXED[name]
    batch = BatchEnv(name, len(options), options, observation=observation, autoreset=False)
    batch.reset(seed=1)
    total = np.zeros_like(batch.rewards)
    finished_at = {}
    for word in range(3000):
        over = batch.done.copy()
        batch.step(actions_of(batch, word))
        total += batch.rewards
        assert batch.done[over].all()
        assert not batch.rewards[over].any()
        for table in np.flatnonzero(batch.done):
            finished_at.setdefault(table, batch.rows[table].copy())
            assert (batch.rows[table] == finished_at[table]).all()
            assert batch.seat[table] == -1
            assert not batch.mask[table].any()
            assert not batch.observation[table].any()
        if batch.done.all():
            break
    assert batch.done.all()
    for table, row in enumerate(batch.rows):
        returns = batch.game.returns(row)
        assert total[table, : len(returns)] == pytest.approx(returns)
        assert not total[table, len(returns) :].any()
    batch.reset()
    assert not batch.done.any()
    assert (batch.seat >= 0).all()


@each_game
def test_tables_do_not_depend_on_each_other(name):
    """The same seed at a table, the same match, however many tables there are."""
    options = MIXED[name]
    whole = BatchEnv(name, len(options), options)
    whole.reset(seed=[7 * table for table in range(len(options))])
    alone = [BatchEnv(name, 1, each) for each in options]
    for table, batch in enumerate(alone):
        batch.reset(seed=7 * table)
    for word in range(150):
        actions = actions_of(whole, word)
        whole.step(actions)
        for table, batch in enumerate(alone):
            batch.step(actions[table : table + 1])
    for table, batch in enumerate(alone):
        assert same(batch, [part[table : table + 1] for part in arrays(whole)])


def test_seeds():
    batch, other = BatchEnv("semerik", 3), BatchEnv("semerik", 3)
    batch.reset(seed=5)
    first = arrays(batch)
    for seed in ([5, 6, 7], np.int64(5), range(5, 8), np.array([5, 6, 7])):
        other.reset(seed=seed)
        assert same(other, first)
    for each in (batch, other):
        each.reset()
    assert same(batch, arrays(other))
    assert not same(batch, first)
    assert len({row.tobytes() for row in batch.rows}) == 3
    with pytest.raises(BadInput, match="2 seeds for 3 tables"):
        batch.reset(seed=[1, 2])


@each_observation
def test_arrays_are_written_in_place(observation):
    batch = BatchEnv("semnadtsat", 2, observation=observation)
    names = "observation", "mask", "seat", "rewards", "done", "rows"
    before = [getattr(batch, name) for name in names]
    batch.reset(seed=1)
    for word in range(60):
        batch.step(actions_of(batch, word))
    assert all(getattr(batch, name) is array for name, array in zip(names, before, strict=True))
    assert [array.dtype for array in before[:5]] == [
        np.int16 if observation == "tokens" else np.int8, np.int8, np.int64, np.float64, np.bool_,
    ]  # fmt: skip
    space = make("semnadtsat", observation=observation).observation_space("player_0")
    assert space["observation"].contains(batch.observation[0])
    assert space["action_mask"].contains(batch.mask[0])


@each_set
def test_other_hands_are_those_of_the_state(name, options):
    batch, env = BatchEnv(name, 1, options), make(name, **options)
    batch.reset(seed=9)
    env.reset(seed=9)
    n = len(env.game.deck)
    for word in range(20):
        bury(env)
        seat, players = int(batch.seat[0]), len(env.possible_agents)
        hands = env.state()[: n * players].reshape(players, n)
        others = np.zeros((env.game.n_seats - 1, n), np.int8)
        others[: players - 1] = np.roll(hands, -seat, axis=0)[1:]
        assert (batch.other_hands()[0] == others.ravel()).all()
        env.step(actions_of(batch, word)[0])
        batch.step(actions_of(batch, word))
        if not env.agents or all(env.terminations.values()):
            break


@each_observation
@each_game
def test_one_illegal_action_changes_no_table(name, observation):
    batch = BatchEnv(name, 4, observation=observation)
    batch.reset(seed=2)
    for word in range(5):
        batch.step(actions_of(batch, word))
    before, codes = arrays(batch), [list(h._codes) for h in batch._histories]
    for wrong in (int(np.flatnonzero(batch.mask[2] == 0)[0]), -1, batch.game.n_actions, 63, 200):
        actions = actions_of(batch, 5)
        actions[2] = wrong
        with pytest.raises(BadInput, match=f"table 2: {name}: action {wrong} .* legal: "):
            batch.step(actions)
    for shapeless in ([0.0] * 4, [[0]] * 4, [0] * 3, None, 0):
        with pytest.raises(BadInput, match="actions must be 4 whole numbers"):
            batch.step(shapeless)
    assert same(batch, before)
    assert codes == [list(h._codes) for h in batch._histories]
    batch.step(list(actions_of(batch, 5)))
    batch.step(actions_of(batch, 6).astype(np.int8))


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        (("whist", 1), {}, "no game 'whist': there are sim_lystiv, semnadtsat, semerik"),
        (("semerik", 0), {}, "n_tables=0"),
        (("semerik", 1.5), {}, "n_tables=1.5"),
        (("semerik", 2, [{}]), {}, "1 sets of options for 2 tables"),
        (("semerik", 1, {"beats": "best"}), {}, "unknown option 'beats'"),
        (("semerik", 2, [{}, {"beat": "x"}]), {}, "option beat='x': allowed are best, led, none"),
        (("semerik", 1), {"observation": "x"}, "observation='x'"),
    ],
)
def test_wrong_arguments(arguments, keywords, message):
    with pytest.raises(BadInput) as error:
        BatchEnv(*arguments, **keywords)
    assert message in str(error.value)
