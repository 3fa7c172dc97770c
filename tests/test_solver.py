"""The endgame solver gives what looking at every line of play gives."""

import os
import random
from functools import cache

import numba
import numpy as np
import pytest

from tests.endgames import BruteForce, endgame, standing_for
from trysim.agents.search.solver import SOLVERS, new_workspace
from trysim.agents.search.standing import WORTHS
from trysim.envs.games import GAMES
from trysim.envs.rules.row import named

N = 20 if numba.config.DISABLE_JIT else 200
FULL_N = 10_000
MAX_TRICKS = 2 if numba.config.DISABLE_JIT else 4

each_game = pytest.mark.parametrize("name", GAMES)


def solved(name, row, work=None):
    """The values of all actions; the row must not change."""
    game, before = GAMES[name], row.copy()
    values = np.zeros(game.n_actions)
    SOLVERS[name](row, standing_for(game, row), values, work or new_workspace(game))
    assert (row == before).all()
    return values


def most_tricks(name, rng):
    """Up to four tricks, fewer with five players, where every line would take too long."""
    if name == "semerik":
        return {}, MAX_TRICKS
    n = rng.choice(GAMES[name].options[0].choices)
    return {"num_players": n}, min(MAX_TRICKS, 3 if n == 5 else 4)


@cache
def brute_force(name):
    return BruteForce(GAMES[name], WORTHS[name].worth)


def compare(name, rows):
    game = GAMES[name]
    every_line, work = brute_force(name), new_workspace(game)
    for row in rows:
        expected = every_line.values(row, standing_for(game, row))
        values = solved(name, row, work)
        assert values == pytest.approx(expected, abs=1e-6, nan_ok=True), game.options_of(row)


def endgames(name, n, seed):
    rng = random.Random(seed)
    for _ in range(n):
        options, tricks = most_tricks(name, rng)
        yield endgame(GAMES[name], rng, tricks, **options)


def slams(n, seed):
    """Endgames in which one pair, or one player, has taken all tricks so far, or all but one."""
    game, rng = GAMES["semerik"], random.Random(seed)
    for _ in range(n):
        row = endgame(game, rng, MAX_TRICKS)
        words, pair = named(game.rules.STATE, row), rng.randrange(2)
        lost, taken, tricks = rng.choice([0, 0, 1]), [0, 0], [0, 0, 0, 0]
        taken[pair] = int(words["taken"][0] | words["taken"][1])
        tricks[pair], tricks[pair + 2] = int(words["n_tricks"]) - lost, lost
        words["taken"], words["tricks"] = taken, tricks
        yield row


def close_races(n, seed):
    """Endgames of two players who both have four to six tricks."""
    game, rng = GAMES["sim_lystiv"], random.Random(seed)
    for _ in range(n):
        row = endgame(game, rng, MAX_TRICKS, num_players=2)
        words = named(game.rules.STATE, row)
        counts = [max(rng.randint(4, 6) - int(tricks), 0) for tricks in words["tricks"][:2]]
        words["counts"] = [*counts, 0, 0, 0]
        words["exits"], words["n_exits"], words["out"] = 0, 0, 0
        if max(words["counts"] + words["tricks"]) < 7:
            yield row


@each_game
def test_values_are_those_of_every_line_of_play(name):
    compare(name, endgames(name, N, seed=1))


@pytest.mark.full
@pytest.mark.skipif(not os.environ.get("TRYSIM_FULL"), reason="minutes long: set TRYSIM_FULL=1")
@each_game
def test_values_are_those_of_every_line_of_play_in_ten_thousand_endgames(name):
    compare(name, endgames(name, FULL_N, seed=2))


def test_slams_that_are_still_possible():
    compare("semerik", slams(N, seed=5))


def test_races_to_the_seventh_trick():
    compare("sim_lystiv", close_races(N, seed=6))


@each_game
def test_only_legal_actions_have_a_value(name):
    game, rng = GAMES[name], random.Random(3)
    for _ in range(N):
        row = endgame(game, rng, 2)
        valued = np.flatnonzero(~np.isnan(solved(name, row))).tolist()
        assert valued == game.legal_actions(row)


@each_game
def test_values_do_not_depend_on_what_is_remembered(name):
    """Not on earlier solves, and not on the room for positions."""
    game, rng = GAMES[name], random.Random(4)
    used, tiny = new_workspace(game), new_workspace(game, 1)
    for _ in range(N // 10):
        row = endgame(game, rng, MAX_TRICKS)
        for work in (used, tiny):
            np.testing.assert_array_equal(solved(name, row, work), solved(name, row))
