"""The endgame solver gives what looking at every line of play gives."""

import os
import random

import numba
import numpy as np
import pytest

from tests.endgames import BruteForce, endgame, standing_for
from trysim.agents.search.solver import SOLVERS, new_workspace
from trysim.agents.search.standing import WORTHS
from trysim.envs.games import GAMES

N = 20 if numba.config.DISABLE_JIT else 300
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


def compare(name, n, seed):
    game, rng = GAMES[name], random.Random(seed)
    every_line, work = BruteForce(game, WORTHS[name].worth), new_workspace(game)
    for _ in range(n):
        options, tricks = most_tricks(name, rng)
        row = endgame(game, rng, tricks, **options)
        expected = every_line.values(row, standing_for(game, row))
        values = solved(name, row, work)
        assert values == pytest.approx(expected, abs=1e-6, nan_ok=True), game.options_of(row)


@each_game
def test_values_are_those_of_every_line_of_play(name):
    compare(name, N, seed=1)


@pytest.mark.full
@pytest.mark.skipif(not os.environ.get("TRYSIM_FULL"), reason="minutes long: set TRYSIM_FULL=1")
@each_game
def test_values_are_those_of_every_line_of_play_in_ten_thousand_endgames(name):
    compare(name, FULL_N, seed=2)


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
