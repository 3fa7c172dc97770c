"""The PettingZoo environments: PettingZoo's own tests, and what these do not look at."""

import copy
import importlib
import json
import pickle
import random
import re
import subprocess
import sys
import warnings
import zlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import (
    api_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
)
from pettingzoo.utils import turn_based_aec_to_parallel

import trysim
from trysim.envs.games import GAMES, BadInput
from trysim.envs.record import Recorder, RecordError, dumps, read, verify
from trysim.envs.rules.row import OVER, PHASE, SEAT

# Every player count, phase and kind of reward; short matches, but for the defaults.
OPTION_SETS = [
    ("sim_lystiv", {}),
    ("sim_lystiv", {"num_players": 2, "penalty": "interactive", "reward": "blows"}),
    ("sim_lystiv", {"num_players": 3, "penalty": "none", "must_beat": True, "all_out": "race",
                    "reward": "placement"}),
    ("sim_lystiv", {"num_players": 4, "penalty": "interactive", "all_out": "replay", "dealer": 3}),
    ("sim_lystiv", {"num_players": 5, "strike_cards": 3, "reward": "placement"}),
    ("semnadtsat", {}),
    ("semnadtsat", {"num_players": 3, "removed_suit": "H", "jack": "by_deal",
                    "scoring": "seventeen", "num_deals": 2}),
    ("semnadtsat", {"num_players": 4, "first_lead": "left", "dealer": 0}),
    ("semnadtsat", {"num_players": 5, "reward": "win", "num_deals": 2}),
    ("semerik", {"horizon": "deal"}),
    ("semerik", {"horizon": "game", "target": 3, "declare": "auto", "baba": "3A2",
                 "reward": "points"}),
    ("semerik", {"target": 1, "games": 2, "beat": "led", "fallback": "suit", "aces": "one"}),
    ("semerik", {"horizon": "deal", "beat": "none", "declare": "off", "last_trick": 1}),
]  # fmt: skip
DEFAULTS = [(name, {}) for name in GAMES]
each_set = pytest.mark.parametrize(("name", "options"), OPTION_SETS)
each_kind = pytest.mark.parametrize("kind", ["raw_env", "env"])
# PettingZoo 1.27 looks for arrays in the observation itself, and knows these two spaces only.
FALSE_WARNINGS = (
    "Observation is not a NumPy array|Observation space for each agent probably"
    "|overflow encountered in scalar"  # random words, where nothing is compiled
)


def make(name, kind="raw_env", **keywords):
    return getattr(importlib.import_module(f"trysim.envs.{name}_v0"), kind)(**keywords)


def choose(mask, word):
    """A legal action that follows from the mask and a number alone."""
    legal = np.flatnonzero(mask)
    return int(legal[zlib.crc32(repr(word).encode()) % legal.size])


def act(env, word):
    """One turn, of a dead agent too; returns what `last` said."""
    told = env.last()
    env.step(None if told[2] or told[3] else choose(told[0]["action_mask"], word))
    return told


def events(env, first=0, n=10**6):
    """The next `n` turns: who was told what, with choices that depend on the turn's number."""
    out = []
    while env.agents and len(out) < n:
        agent = env.agent_selection
        seen, reward, *ends, info = act(env, first + len(out))
        arrays = [seen[key].tobytes() for key in sorted(seen)]
        out.append((agent, arrays, reward, ends, copy.deepcopy(info)))
    return out


def snapshot(env):
    """Everything a caller can find out about an environment, and its random stream."""
    raw = env.unwrapped
    dicts = (raw.rewards, raw._cumulative_rewards, raw.terminations, raw.truncations, raw.infos)
    tokens = raw._history and list(raw._history._codes)
    return raw._row.tobytes(), raw.agent_selection, list(raw.agents), copy.deepcopy(dicts), tokens


def at_ply(name, n, seed=3, kind="raw_env", **keywords):
    env = make(name, kind, **keywords)
    env.reset(seed=seed)
    for word in range(n):
        act(env, word)
    return env


# PettingZoo's own tests -------------------------------------------------------------------------
@each_kind
@each_set
def test_api(name, options, kind):
    for observation in ("flat", "tokens"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            api_test(make(name, kind, observation=observation, **options), num_cycles=40)
        others = [w for w in caught if not re.match(FALSE_WARNINGS, str(w.message))]
        assert not others, [str(w.message) for w in others]


@each_set
def test_seeds(name, options):
    seed_test(lambda: make(name, "env", **options), num_cycles=30)


@pytest.mark.parametrize("name", GAMES)
def test_render(name, monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    render_test(lambda render_mode: make(name, "env", render_mode=render_mode))


@each_set
def test_parallel(name, options):
    def parallel():
        return turn_based_aec_to_parallel(make(name, "env", **options))

    parallel_seed_test(parallel, num_cycles=20)  # knows no masks: ends with an illegal action
    parallel_api_test(parallel(), num_cycles=100)


# The environment as a whole ---------------------------------------------------------------------
@pytest.mark.parametrize("name", GAMES)
def test_names_and_metadata(name):
    env = make(name)
    assert str(env) == str(make(name, "env")) == f"{name}_v0"
    assert env.metadata["name"] == f"{name}_v0"
    assert env.metadata["render_modes"] == ["human", "rgb_array", "ansi"]
    assert env.metadata["is_parallelizable"] is False
    assert env.metadata["render_fps"] > 0


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="no registry before PettingZoo 1.26")
@each_set
def test_ids(name, options):
    made = pettingzoo.make("aec", f"trysim/{name}-v0", **options)
    made.reset(seed=5)
    direct = make(name, "env", **options)
    direct.reset(seed=5)
    assert snapshot(made) == snapshot(direct)
    assert made.unwrapped.options == GAMES[name].complete_options(options)


@each_set
def test_the_rules_say_whose_turn_it_is_and_what_it_pays(name, options):
    """Seats, rewards, terminations and leaving agents in full matches, against the bare rules."""
    game = GAMES[name]
    env = make(name, **options)
    for seed in range(6):
        row = game.new_row(options, seed)
        game.kernels.begin(row)
        game.kernels.settle(row)
        env.reset(seed=seed)
        paid, ends, word = dict.fromkeys(env.possible_agents, 0.0), [], 0
        while env.agents:
            agent, word = env.agent_selection, word + 1
            alive = set(env.agents)
            dicts = env.rewards, env.terminations, env.truncations, env.infos
            assert all(set(d) == alive for d in (*dicts, env._cumulative_rewards))
            assert all(type(end) is bool for end in env.terminations.values())
            assert not any(env.truncations.values())
            seen, reward, ended, _, _ = env.last()
            paid[agent] += reward
            if ended:
                ends.append(agent)
                assert game.is_gone(row, int(agent[-1]))
                assert not seen["action_mask"].any()
                env.step(None)
                assert agent not in env.agents
                continue
            assert agent == f"player_{row[SEAT]}"
            assert np.flatnonzero(seen["action_mask"]).tolist() == game.legal_actions(row)
            before = game.returns(row)
            action = choose(seen["action_mask"], (seed, word))
            env.step(action)
            game.kernels.step(row, action)
            difference = game.returns(row) - before
            assert env.rewards == {a: difference[int(a[-1])] for a in alive}
        assert row[PHASE] == OVER
        assert sorted(ends) == env.possible_agents  # each exactly once
        assert list(paid.values()) == pytest.approx(list(game.returns(row)))
        assert not env.rewards
        assert not env.infos


def test_who_leaves_early_is_told_once_and_the_others_play_on():
    env = make("sim_lystiv", num_players=5, reward="placement")
    env.reset(seed=2)
    while not any(env.terminations.values()):
        act(env, 0)
    gone = [agent for agent, ended in env.terminations.items() if ended]
    assert len(gone) < 4
    for place, agent in enumerate(gone):
        assert env.agent_selection == agent
        _, reward, ended, truncated, _ = env.last()
        assert (ended, truncated) == (True, False)
        assert reward in (1.0, 0.5, 0.0, -0.5)
        with pytest.raises(ValueError, match="None"):
            env.step(0)
        env.step(None)
        assert env.agents == [a for a in env.possible_agents if a not in gone[: place + 1]]
        assert env.observe(agent)["observation"].any()
    assert env.agent_selection == f"player_{env._row[SEAT]}"
    assert not set(gone) & {event[0] for event in events(env)}


def test_the_same_agent_acts_again():
    for name in GAMES:
        agents = [event[0] for event in events(at_ply(name, 0))]
        assert any(a == b for a, b in pairwise(agents))


@each_kind
@pytest.mark.parametrize("observation", ["flat", "tokens"])
@pytest.mark.parametrize(("name", "options"), [OPTION_SETS[k] for k in (1, 4, 6, 9)])
def test_copies_at_every_ply_play_on_alike(name, options, observation, kind):
    env = make(name, kind, observation=observation, **options)
    env.reset(seed=4)
    story = events(copy.deepcopy(env))
    for ply in range(len(story)):
        further = len(story) if ply % 8 == 0 or env.terminations[env.agent_selection] else 3
        for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            assert events(other, ply, further) == story[ply:][:further]
        act(env, ply)


@each_set
def test_anybody_may_observe_at_any_time(name, options):
    for observation in ("flat", "tokens"):
        env = at_ply(name, 0, observation=observation, **options)
        word = 0
        while env.agents:
            before = snapshot(env)
            for seat, agent in enumerate(env.possible_agents):
                seen = env.observe(agent)
                assert env.observation_space(agent).contains(seen)
                assert seen["action_mask"].any() == (env._row[SEAT] == seat)
                assert all((seen[key] == again).all() for key, again in env.observe(agent).items())
            assert snapshot(env) == before
            word += 1
            act(env, word)
        assert all(env.observe(agent)["observation"].any() for agent in env.possible_agents)
        assert not any(env.observe(agent)["action_mask"].any() for agent in env.possible_agents)


@each_kind
@each_set
def test_spaces(name, options, kind):
    env = make(name, kind, **options)
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        parts = env.observation_space(agent)
        assert parts["action_mask"].dtype == parts["observation"].dtype == np.int8
        assert parts["action_mask"].shape == (env.action_space(agent).n,)
    env.reset(seed=1)
    for _ in range(25):
        agent = env.agent_selection
        mask = env.observe(agent)["action_mask"]
        assert mask.dtype == np.int8
        dead = env.terminations[agent]
        env.step(None if dead else env.action_space(agent).sample(mask))
        if not env.agents:
            env.reset()


def test_state_shows_all_hands():
    for name, options in OPTION_SETS:
        env = at_ply(name, 9, **options)
        game = env.unwrapped.game
        state = env.state()
        assert env.state_space.contains(state)
        n = game.n_seats * len(game.deck)
        hands = [np.flatnonzero(part) for part in state[:n].reshape(game.n_seats, -1)]
        expected = game.hands(env._row) + [[]] * (game.n_seats - len(env.possible_agents))
        assert [[game.deck[card] for card in hand] for hand in hands] == expected
        assert (state[n:] == env.observe("player_0")["observation"]).all()


def test_teams():
    assert at_ply("semerik", 0, kind="env").unwrapped.teams == [
        ["player_0", "player_2"],
        ["player_1", "player_3"],
    ]
    assert make("semnadtsat", num_players=3).teams == [["player_0"], ["player_1"], ["player_2"]]


# Illegal actions --------------------------------------------------------------------------------
WRONG = [-1, 10**30, 1.0, 2.5, None, "7H", np.float64(3), np.array([1]), [0], -(2**70)]


@each_set
def test_an_illegal_action_is_named_and_changes_nothing(name, options):
    env = at_ply(name, 6, observation="tokens", **options)
    game, row = env.unwrapped.game, env._row
    legal = game.legal_actions(row)
    illegal = [action for action in range(game.n_actions + 9) if action not in legal]
    before = snapshot(env)
    for action in [*illegal, *WRONG, np.int64(illegal[0]), np.array(illegal[-1])]:
        with pytest.raises(BadInput) as error:
            env.step(action)
        message = str(error.value)
        if isinstance(action, int) or action is None:
            assert f"action {action!r}" in message
        if isinstance(action, int) and 0 <= action < game.n_actions:
            assert f"({game.action_text(row, action)})" in message
        assert all(game.action_text(row, other) in message for other in legal)
        assert snapshot(env) == before


@pytest.mark.parametrize("kind", [int, np.int8, np.int32, np.uint64, np.array])
@pytest.mark.parametrize("name", GAMES)
def test_whole_numbers_of_every_kind_are_actions(name, kind):
    env = at_ply(name, 5)
    expected = at_ply(name, 6)
    env.step(kind(choose(env.last()[0]["action_mask"], 5)))
    assert snapshot(env) == snapshot(expected)


@pytest.mark.parametrize("name", GAMES)
def test_in_wrappers_an_illegal_action_ends_the_episode(name):
    """The offender gets -1; everybody else 0, his partner too."""
    env = at_ply(name, 6, kind="env")
    offender = env.agent_selection
    env.step(int(np.flatnonzero(env.observe(offender)["action_mask"] == 0)[0]))
    told = {}
    while env.agents:
        agent = env.agent_selection
        told[agent] = env.last()[1:4]
        env.step(None)
    assert told == {a: (-1.0 if a == offender else 0, True, True) for a in env.possible_agents}


# Reset ------------------------------------------------------------------------------------------
@each_set
def test_seeds_and_streams(name, options):
    """A seed makes the match; without one the stream goes on; options stay."""
    a, b = make(name, **options), make(name, **options)
    for env in (a, b):
        env.reset(seed=11)
    first = snapshot(a)
    assert snapshot(b) == first
    for env in (a, b):
        env.reset(options={"unknown": 1})
    assert snapshot(a) == snapshot(b) != first
    a.reset(seed=11)
    assert snapshot(a) == first
    assert a.options == GAMES[name].complete_options(options)
    a.reset(seed=12)
    assert snapshot(a)[0] != first[0]
    assert make(name)._row.tobytes() != make(name)._row.tobytes()  # unseeded ones differ


def test_later_deals_depend_on_the_seed():
    def second_deal(seed):
        env = make("semnadtsat", num_deals=3)
        env.reset(seed=seed)
        while env._row[env.game.words["deals"]] == 1:
            act(env, 0)
        return env.game.hands(env._row)

    deals = [str(second_deal(seed)) for seed in range(8)]
    assert len(set(deals)) == 8
    assert deals[3] == str(second_deal(3))


def test_global_random_state_is_left_alone():
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), pickle.dumps(np.random.get_state())
    for name, options in OPTION_SETS:
        events(at_ply(name, 0, **options))
    assert before == (random.getstate(), pickle.dumps(np.random.get_state()))


def fingerprint():
    """A number that follows from every event of a match of each option set."""
    stories = [events(at_ply(name, 0, seed=6, **options)) for name, options in OPTION_SETS]
    return zlib.crc32(repr(stories).encode())


def test_another_process_plays_the_same_match():
    source = Path(trysim.__file__).parents[1]
    code = (
        f"import sys; sys.path[:0] = [{str(source)!r}, {str(Path(__file__).parents[1])!r}];"
        "from tests.test_aec import fingerprint; print(fingerprint())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(out.stdout) == fingerprint()


DEAL = {
    "sim_lystiv": {
        "dealer": 1,
        "hands": [[rank + suit for rank in "6789TJQ"] for suit in "CD"],
        "trump_card": "8D",
    },
    "semnadtsat": {
        "dealer": 2,
        "hands": [[rank + suit for rank in "234569TJQKA78"] for suit in "DHS"],
    },
    "semerik": {"dealer": 3, "hands": [[rank + suit for rank in "4567JQKA23"] for suit in "CDHS"]},
}
DEAL_OPTIONS = {"sim_lystiv": {"num_players": 2}, "semnadtsat": {"num_players": 3}, "semerik": {}}


@pytest.mark.parametrize("name", GAMES)
def test_a_given_deal(name):
    env = make(name, "env", **DEAL_OPTIONS[name])
    env.reset(options={"deal": DEAL[name]})
    raw, hands = env.unwrapped, DEAL[name]["hands"]
    assert [set(hand) for hand in raw.game.hands(raw._row)] == [set(hand) for hand in hands]
    assert raw._row[raw.game.words["dealer"]] == DEAL[name]["dealer"]
    if name == "sim_lystiv":
        assert raw._row[raw.game.words["trump_card"]] == raw.game.card_number("8D")
    assert DEAL[name]["hands"] == hands  # nothing given is changed


@pytest.mark.parametrize("name", GAMES)
def test_a_given_deck(name):
    env = make(name)
    game = env.game
    env.reset(options={"deal": {"dealer": 0, "deck": list(game.deck)[::-1]}})
    n = len(env.possible_agents)
    first = [game.hands(env._row)[(1 + k) % n][-1] for k in range(n)]
    assert first == list(game.deck[::-1][:n])  # one card at a time, left of the dealer first


def _deal(name, **changes):
    return {**copy.deepcopy(DEAL[name]), **changes}


def _with(name, seat, hand):
    hands = copy.deepcopy(DEAL[name]["hands"])
    hands[seat] = hand.split() if hand else []
    return _deal(name, hands=hands)


BAD_DEALS = [
    ("sim_lystiv", _with("sim_lystiv", 0, "6C 7C 8C 9C TC JC"), "seat 0 has 6 cards, not 7"),
    ("sim_lystiv", _with("sim_lystiv", 0, "6C 6C 8C 9C TC JC QC"), "6C is dealt twice"),
    ("sim_lystiv", _with("sim_lystiv", 0, "5C 7C 8C 9C TC JC QC"), "'5C' is no card"),
    ("sim_lystiv", _deal("sim_lystiv", trump_card="6C"), "trump_card '6C'"),
    ("sim_lystiv", _deal("sim_lystiv", trump_card=None), "trump_card None"),
    ("semnadtsat", _with("semnadtsat", 0, "2C 3D 4D 5D 6D 9D TD JD QD KD AD 7D 8D"), "2C is not"),
    ("semnadtsat", _deal("semnadtsat", dealer=3), "dealer 3: seats are 0..2"),
    ("semnadtsat", _deal("semnadtsat", dealer="x"), "dealer 'x'"),
    ("semerik", _with("semerik", 2, ""), "seat 2 has 0 cards, not 10"),
    ("semerik", _deal("semerik", hands=[[]] * 3), "hands must be 4 lists of cards"),
    ("semerik", {"dealer": 0}, "a deal is"),
    ("semerik", ["7H"], "a deal is"),
    ("semerik", {"dealer": 0, "deck": ["7H", "8H"]}, "'8H' is no card"),
    ("semerik", {"dealer": 0, "deck": ["7H"] * 40}, "a deck of this table has these cards"),
    ("semerik", {"dealer": 4, "deck": list(GAMES["semerik"].deck)}, "dealer 4"),
]


@pytest.mark.parametrize(("name", "deal", "message"), BAD_DEALS)
def test_a_bad_deal_is_explained_and_changes_nothing(name, deal, message):
    env = at_ply(name, 5, observation="tokens", **DEAL_OPTIONS[name])
    before = snapshot(env)
    with pytest.raises(BadInput, match=re.escape(message)):
        env.reset(seed=1, options={"deal": deal})
    assert snapshot(env) == before


# Records ----------------------------------------------------------------------------------------
def recorded(name, options, seed):
    """A record of a match, and everything seen and open at its positions: the last one included."""
    env = at_ply(name, 0, seed=seed, observation="tokens", **options)
    recorder = Recorder(env.game, env._row, seed, ["x"] * len(env.possible_agents))
    seen = [told(env)]
    for word in range(10**6):
        if env.terminations[env.agent_selection]:
            env.step(None)
            if not env.agents:
                return recorder.record(env._row), seen
            continue
        action = choose(env.last()[0]["action_mask"], word)
        recorder.note(env._row, action)
        env.step(action)
        recorder.note_result(env._row)
        seen.append(told(env))
    raise AssertionError("the match does not end")


def told(env):
    """What all seats see, and what remains of the match."""
    game, row = env.game, env._row
    observations = [env.observe(agent) for agent in env.possible_agents]
    flat = [game.observe(row, seat)[0].tobytes() for seat in range(len(observations))]
    return flat, [
        (seen["observation"].tobytes(), seen["action_mask"].tobytes()) for seen in observations
    ]


@each_set
def test_every_position_of_a_record(name, options):
    record, seen = recorded(name, options, seed=5)
    verify(json.loads(dumps(record)))
    env = make(name, observation="tokens", **options)
    for position, expected in enumerate(seen):
        env.reset(seed=position, options={"record": record, "position": position})
        assert told(env) == expected
        if position % 3:
            continue
        playing = [not env.game.is_gone(env._row, seat) for seat in range(len(env.possible_agents))]
        if any(playing):
            assert [agent in env.agents for agent in env.possible_agents] == playing
            assert not any(env.terminations.values())
        assert set(events(env)[-1][4]) >= {"result"}
    before = snapshot(env)
    for bad in (len(seen), -1, "x"):
        with pytest.raises(RecordError, match="position"):
            env.reset(seed=1, options={"record": record, "position": bad})
    with pytest.raises(RecordError, match="options"):
        env.reset(options={"record": {**record, "options": {"dealer": 2}}})
    with pytest.raises(RecordError, match=f"not a record of {name}"):
        env.reset(options={"record": {}})
    assert snapshot(env) == before


OLD_RECORD = (
    '{"format": "trysim-record", "version": 1, "game": "sim_lystiv", "options": {"num_players": 2, '
    '"penalty": "none", "dealer": 0}, "seed": 1, "agents": ["random", "random"], "deals": '
    '[{"dealer": 0, "hands": [["6C", "7C", "8C", "9C", "TC", "JC", "QC"], ["6D", "7D", "8D", "9D", '
    '"TD", "JD", "QD"]], "trump_card": "6C", "actions": [[1, "6D"], [0, "6C"], [0, "7C"], '
    '[1, "7D"], [0, "8C"], [1, "8D"], [0, "9C"], [1, "9D"], [0, "TC"], [1, "TD"], [0, "JC"], '
    '[1, "JD"], [0, "QC"], [1, "QD"]], "score": [7, 0]}], '
    '"result": {"rewards": [0.0, -1.0], "loser": 1, "exits": [0]}}'
)


def test_records_of_version_1_are_read(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text(OLD_RECORD + "\n", encoding="utf-8")
    (record,) = read(path)
    verify(record)
    path.write_text(OLD_RECORD.replace('"version": 1', '"version": 2') + "\n", encoding="utf-8")
    with pytest.raises(RecordError, match="version 2"):
        list(read(path))


# Infos, warnings, wrong arguments, pictures -----------------------------------------------------
@each_set
def test_infos_are_empty_until_the_end_and_then_tell_the_result(name, options):
    story = events(at_ply(name, 0, seed=8, **options))
    n = make(name, **options).game.n_players(GAMES[name].complete_options(options))
    told = [event[4] for event in story]
    assert all(info == {} for event, info in zip(story, told, strict=True) if not event[3][0])
    result = told[-1]["result"]
    assert len(result["rewards"]) == n
    if name == "sim_lystiv" and options.get("penalty") != "none" and result["loser"] is not None:
        assert {"cut", "bottom", "blows", "strikes", "received"} <= set(told[-1]["penalty"])


def test_wrong_arguments():
    for arguments, message in [
        ({"nonsense": 1}, "unknown option 'nonsense'"),
        ({"num_players": 6}, "option num_players=6: allowed are 3, 4, 5"),
        ({"num_players": True}, "num_players=True"),
        ({"num_deals": 0}, "option num_deals=0: allowed are 1..20"),
        ({"num_players": 3, "dealer": 3}, "dealer=3: seats are 0..2"),
        ({"render_mode": "x"}, "render_mode='x'"),
        ({"observation": "x"}, "observation='x'"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            make("semnadtsat", **arguments)


@pytest.mark.parametrize("name", GAMES)
def test_pictures(name):
    """The last position is drawn; without a mode `render` warns; closing twice is fine."""
    for mode, kind in (("ansi", str), ("rgb_array", np.ndarray)):
        env = make(name, "env", render_mode=mode)
        env.reset(seed=3)
        pictures = [env.render()]
        events(env)
        pictures.append(env.render())
        assert all(isinstance(picture, kind) for picture in pictures)
        assert not np.array_equal(*pictures)
        env.close()
        env.close()
    env = at_ply(name, 0)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None
