"""Search agents: what counts for them, what they find, how they are named."""

import time

import numpy as np
import pytest

from tests.positions import Table
from tests.test_aec import OPTION_SETS
from trysim.agents import make_agent
from trysim.agents.player import Player
from trysim.agents.search.standing import WORTHS, standings_of
from trysim.arena import compare
from trysim.envs.decisions import Decisions, decide, new_streams
from trysim.envs.games import GAMES, BadInput
from trysim.envs.rules.row import OVER, PENALTY_DECK, PHASE, SEAT

ONE_DEAL = {"horizon": "deal"}
SEARCH = ["pimc:worlds=20", "ismcts:iterations=300"]
STANDINGS = {name: standings_of(game) for name, game in GAMES.items()}
each_game = pytest.mark.parametrize("name", GAMES)


def choice(table, spec, word=1):
    """The text of what an agent does at a table."""
    game, row = table.game, table.row
    view = game.view(row, table.seat)[None]
    legal = np.array([game.kernels.legal(row)])
    agent = make_agent(spec, game)
    return game.action_text(row, int(agent.act(Decisions(game, view, legal, np.array([word])))[0]))


# What a deal is worth ---------------------------------------------------------------------------
def finished_deal(name, options, seed):
    """A table right after the last card of a deal, later ones not dealt."""
    game = GAMES[name]
    row = game.new_row(options, seed)
    game.kernels.begin(row)
    game.kernels.settle(row)
    rng = np.random.default_rng(seed)
    while row[PHASE] > 0 and row[PHASE] != OVER:
        game.kernels.apply(row, int(rng.choice(game.legal_actions(row))))
    return row


def worth_of(name, row):
    game = GAMES[name]
    out = np.zeros(game.n_seats)
    WORTHS[name].worth(row, STANDINGS[name].of(row), out)
    return out[: game.n_players_of(row)]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("semerik", ONE_DEAL),
        ("semerik", {"horizon": "deal", "reward": "points"}),
        ("semerik", {"horizon": "game", "target": 1}),
        ("semnadtsat", {}),
        ("semnadtsat", {"scoring": "seventeen", "num_players": 5}),
        ("semnadtsat", {"reward": "win", "num_players": 3}),
    ],
)
def test_the_end_of_a_match_is_worth_its_reward(name, options):
    for seed in range(30):
        row = finished_deal(name, options, seed)
        if row[PHASE] == OVER:
            assert worth_of(name, row) == pytest.approx(GAMES[name].returns(row))


@pytest.mark.parametrize("reward", ["loser", "placement", "blows"])
@pytest.mark.parametrize("all_out", ["no_loser", "race", "replay"])
def test_the_last_deal_of_sim_lystiv_is_worth_its_reward(reward, all_out):
    """Blows are told in expectation: 40 / 9 from each of the others."""
    game, n_ends = GAMES["sim_lystiv"], 0
    for seed in range(40):
        options = {"num_players": 2 + seed % 2, "reward": reward, "all_out": all_out}
        row = game.new_row(options, seed)
        game.kernels.begin(row)
        rng = np.random.default_rng(seed)
        while row[PHASE] not in (OVER, PENALTY_DECK):
            game.kernels.settle(row)
            game.kernels.apply(row, int(rng.choice(game.legal_actions(row))))
        worth = worth_of("sim_lystiv", row)
        loser = row[game.words["loser"]]
        game.kernels.settle(row)
        if reward != "blows":
            assert worth == pytest.approx(game.returns(row))
        elif loser >= 0:
            assert worth[loser] == pytest.approx(-40 / 9 * (len(worth) - 1))
            assert worth.sum() == pytest.approx(worth[loser])
        n_ends += 1
    assert n_ends == 40


def mean_from(name, options, prepare, n=1500):
    """What a match that stands like this brings seat 0, greedy play on."""
    game, agent = GAMES[name], make_agent("greedy", name)
    rows = []
    for seed in range(n):
        row = game.new_row(options, seed)
        game.kernels.begin(row)
        prepare(row)
        rows.append(row)
    rows, streams = np.array(rows), new_streams(range(n), game.n_seats)
    paid, rewards = np.zeros((2, n, game.n_seats))
    done = np.zeros(n, np.bool_)
    for row in rows:
        game.kernels.settle(row)
    running = np.arange(n)
    while running.size:
        actions = decide(game, rows, running, [agent], np.zeros(running.size, int), streams)
        game.kernels.step_tables(rows, running, actions, paid, rewards, done)
        running = running[~done[running]]
    return paid[:, 0].mean(), paid[:, 0].std() / n**0.5


@pytest.mark.parametrize(("mine", "others"), [(15, 3), (4, 18), (10, 10)])
def test_standings_of_semerik_are_what_greedy_play_makes_of_them(mine, others):
    game = GAMES["semerik"]
    row = game.new_row({"horizon": "game"}, 0)
    expected = STANDINGS["semerik"].of(row)[21 * mine + others]

    def prepare(row):
        row[game.words["totals"] : game.words["totals"] + 2] = mine, others

    mean, error = mean_from("semerik", {"horizon": "game"}, prepare)
    assert abs(mean - expected) < 4 * error + 0.5  # who deals counts for a little


@pytest.mark.parametrize("counts", [(5, 0, 3), (0, 0, 0), (2, 6, 6)])
@pytest.mark.parametrize("reward", ["loser", "placement"])
def test_standings_of_sim_lystiv_are_what_greedy_play_makes_of_them(counts, reward):
    game = GAMES["sim_lystiv"]
    options = {"num_players": 3, "reward": reward, "penalty": "none", "dealer": 0}
    row = game.new_row(options, 0)
    game.kernels.begin(row)

    def prepare(row):
        row[game.words["counts"] : game.words["counts"] + 3] = counts

    prepare(row)
    expected = worth_of("sim_lystiv", row)[0]
    mean, error = mean_from("sim_lystiv", options, prepare)
    assert abs(mean - expected) < 4 * error + 0.02


def test_chances_to_win_several_deals():
    """Far ahead is nearly won; level is an equal share."""
    game = GAMES["semnadtsat"]
    options = {"reward": "win", "num_deals": 4, "num_players": 3}
    row = finished_deal("semnadtsat", options, 1)
    totals = game.words["totals"]
    row[totals : totals + 3] = 100, 0, 0
    assert worth_of("semnadtsat", row) == pytest.approx([2 / 3, -1 / 3, -1 / 3], abs=0.02)
    row[totals : totals + 3] = 7, 7, 7
    assert worth_of("semnadtsat", row) == pytest.approx([0, 0, 0], abs=0.12)
    assert worth_of("semnadtsat", row).sum() == pytest.approx(0, abs=1e-9)


# Strength ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("spec", SEARCH)
@pytest.mark.parametrize(
    ("name", "options", "deals"),
    [
        ("semerik", ONE_DEAL, 64),
        ("semnadtsat", {"num_players": 3}, 16),
        ("sim_lystiv", {"num_players": 2, "penalty": "none"}, 128),
    ],
)
def test_search_beats_greedy(spec, name, options, deals):
    (pair,) = compare(
        name, [spec, "greedy"], deals, seed=3, options=options, workers=1, progress=False
    ).pairs
    assert pair.ci95[0] > 0


def test_seeing_all_hands_beats_search():
    agents = ["oracle:iterations=100", "pimc:worlds=20"]
    (pair,) = compare(
        "semerik", agents, 48, seed=3, options=ONE_DEAL, workers=1, progress=False
    ).pairs
    assert pair.ci95[0] > 0


def test_worlds_may_be_played_out_by_any_agent():
    """By one that is no compiled player, at many tables at once; it still sees its own cards."""
    agents = ["pimc:worlds=10,rollout=python:tests.test_search:Copy", "greedy"]
    (pair,) = compare(
        "semerik", agents, 24, seed=3, options=ONE_DEAL, workers=1, progress=False
    ).pairs
    assert pair.mean > 0.2


class Copy:
    """Plays as `greedy` does."""

    def __init__(self, game):
        self._agent = make_agent("greedy", game)

    def act(self, decisions):
        hands = decisions.views[:, decisions.game.words["hands"] :][:, :4]
        assert ((hands != 0).sum(1) == 1).all()
        return self._agent.act(decisions)


@pytest.mark.parametrize("spec", SEARCH)
def test_trumps_are_named_by_search(spec):
    table = Table("semnadtsat", num_players=4)
    table.deal("AH 7H 8H KH QH TH 9H 6H 5H 4H 3H 3C 3S", "", "", "", dealer=3)
    assert choice(table, spec) == "trump:H"


@pytest.mark.parametrize("spec", SEARCH)
def test_declarations_are_made_by_search(spec):
    """Sixteen points for a row of seven are worth what they show."""
    table = Table("semerik", horizon="deal")
    table.deal("7H JH QH KH AH 2H 3H 4C 5C 6C", "", "", "", dealer=3)
    assert choice(table, spec) == "declare:baba:H"


# Names and limits -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "spec"),
    [
        ("pimc", "pimc:worlds=100"),
        ("pimc:", "pimc:worlds=100"),
        ("pimc:rollout=greedy,worlds=7", "pimc:worlds=7,rollout=greedy"),
        ("pimc:rollout=expert,silence=no", "pimc:worlds=100"),
        ("pimc:ms=2.50,silence=yes", "pimc:worlds=100,ms=2.5,silence=yes"),
        ("pimc:endgame=4", "pimc:worlds=100,endgame=4"),
        ("ismcts:rollout=random", "ismcts:iterations=1000,rollout=random"),
        ("oracle", "oracle:iterations=1000"),
    ],
)
def test_a_spec_has_one_text(given, spec):
    assert make_agent(given, "semerik").spec == spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pimc:worlds=0", "pimc: worlds=0; allowed are whole numbers from 1"),
        ("pimc:worlds=many", "allowed are whole numbers from 1"),
        ("pimc:iterations=5", "no setting 'iterations'"),
        ("pimc:endgame=9", "allowed are whole numbers from 0 to 7"),
        ("pimc:ms=-1", "allowed are milliseconds above 0"),
        ("pimc:rollout=nobody", "no agent 'nobody'"),
        ("ismcts:rollout=pimc", "allowed are random, greedy, expert"),
        ("ismcts:silence=perhaps", "allowed are yes, no"),
        ("python:nowhere:Agent", "No module named 'nowhere'"),
        ("python:nowhere.py:Agent", "there is no file"),
        ("python:Agent", "write python:MODULE:NAME"),
        ("python:trysim.agents:SPECS", "not callable"),
        ("python:trysim.agents:Nobody", "has no attribute 'Nobody'"),
    ],
)
def test_wrong_specs_are_explained(spec, message):
    with pytest.raises(BadInput) as error:
        make_agent(spec, "semerik")
    assert message in str(error.value)


@pytest.mark.parametrize("spec", ["pimc:ms=20", "ismcts:ms=20"])
def test_a_time_budget_is_kept(spec):
    """Other work on the machine only lengthens a search, so the shortest of them counts."""
    game = GAMES["semnadtsat"]
    agent = make_agent(spec, game)
    row = game.new_row({}, 3)
    game.kernels.begin(row)
    game.kernels.settle(row)
    view, legal = game.view(row, int(row[SEAT]))[None], np.array([game.kernels.legal(row)])
    seconds = []
    for _ in range(9):
        started = time.perf_counter()
        agent.act(Decisions(game, view, legal, legal))
        seconds.append(time.perf_counter() - started)
    assert min(seconds) < 0.04
    assert agent.n_looked_at > 50 * 9


def test_a_cheater_does_not_play_with_others():
    with pytest.raises(BadInput, match="sees all hands"):
        Player(make_agent("oracle", "semerik"))


@each_game
def test_different_options_in_one_batch(name):
    """Tables with other options have other standings: every decision gets its own."""
    game = GAMES[name]
    sets = [options for other, options in OPTION_SETS if other == name]
    rows = []
    for options in sets:
        row = game.new_row(options, 1)
        game.kernels.begin(row)
        game.kernels.settle(row)
        rows.append(row)
    standings = standings_of(game)
    tables, which = standings.of_all(np.array(rows))
    for row, k in zip(rows, which, strict=True):
        alone = standings.of(row)
        assert (tables[k][: alone.size] == alone).all()
