"""Random endgames, and their values by looking at every line of play."""

import random
from typing import Any

import numba
import numpy as np

from tests.differential import random_options
from trysim.agents.search import worth_sim_lystiv
from trysim.agents.search.standing import standings_of
from trysim.envs.games import Game
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import OVER, PHASE, PLAY, SEAT

EXACT = 1e-6  # values closer than this are the same: a mean may be rounded either way


def endgame(game: Game, rng: random.Random, max_tricks: int, **options: Any) -> Row:
    """A table with at most so many tricks to play, the last of them perhaps begun.

    All options and all that happened before are random, but for the `options` given.
    """
    while True:
        row = game.new_row(
            random_options(game, rng) | {"dealer": None} | options, rng.getrandbits(32)
        )
        game.kernels.begin(row)
        _play_deals(game, row, rng, rng.choice([0, 0, 1, 2, 5]))
        tricks, plies = rng.randint(1, max_tricks), rng.randrange(game.n_seats)
        while row[PHASE] != OVER and n_tricks(game, row) > tricks:
            _act(game, row, rng)
        for _ in range(plies):
            _act(game, row, rng)
        if row[PHASE] == PLAY and n_tricks(game, row) <= tricks:
            return row


def n_tricks(game: Game, row: Row) -> int:
    """The tricks still to be finished."""
    first = game.words["hands"]
    return max(int(hand).bit_count() for hand in row[first : first + game.n_seats])


def _play_deals(game: Game, row: Row, rng: random.Random, n: int) -> None:
    game.kernels.settle(row)
    n += int(row[game.words["deals"]])
    while row[game.words["deals"]] < n and row[PHASE] != OVER:
        _act(game, row, rng)


def _act(game: Game, row: Row, rng: random.Random) -> None:
    if row[PHASE] != OVER:
        game.kernels.step(row, rng.choice(game.legal_actions(row)))


def standing_for(game: Game, row: Row) -> Any:
    """A table of standings that is quickly made: who has more is better off, evenly."""
    if game.name == "semerik":
        target = int(row[game.words["option_target"]])
        return np.subtract.outer(np.arange(target), np.arange(target)).ravel() * 0.7
    if game.name == "semnadtsat":
        return standings_of(game).of(row)
    n, parts = game.n_players_of(row), []
    both = worth_sim_lystiv.worth_of_place(row, n - 2) + worth_sim_lystiv.worth_of_loser(row)
    for m in range(2, n + 1):
        counts = np.array(list(np.ndindex((7,) * m)))
        ahead = (counts - counts.mean(1, keepdims=True)).ravel() / 10
        parts.append(ahead + both / 2)  # of two left one will lose
    return np.concatenate(parts)


class BruteForce:
    """Looks at every line of play: everybody takes what is best for himself.

    Of outcomes equally good he takes the one that gives least to the next seat clockwise, then to
    the one after it, and so on.
    """

    def __init__(self, game: Game, worth: Any) -> None:
        self.game = game
        self._play = _every_line(game.rules, worth)

    def values(self, row: Row, standing: Any) -> Any:
        """What each action is worth to the seat to act, NaN where it is illegal."""
        values = np.full(self.game.n_actions, np.nan)
        for action in self.game.legal_actions(row):
            after, outcome = row.copy(), np.zeros(self.game.n_seats)
            self.game.kernels.apply(after, action)
            self._play(after, standing, outcome)
            values[action] = outcome[row[SEAT]]
        return values


def _every_line(rules: Any, worth: Any) -> Any:
    legal, apply, n_players = rules.legal, rules.apply, rules.n_players

    @numba.njit
    def is_better(seat, n, new, old):
        for k in range(n):
            ahead = new[(seat + k) % n] - old[(seat + k) % n]
            if abs(ahead) > EXACT:
                return ahead > 0 if k == 0 else ahead < 0
        return False

    @numba.njit
    def play(state, standing, outcome):
        actions = legal(state)
        if actions == 0 or state[PHASE] != PLAY:
            worth(state, standing, outcome)
            return
        is_first = True
        action = 0
        while actions >> action:
            if actions >> action & 1:
                after, new = state.copy(), np.zeros(outcome.size)
                apply(after, action)
                play(after, standing, new)
                if is_first or is_better(state[SEAT], n_players(state), new, outcome):
                    outcome[:] = new
                is_first = False
            action += 1

    return play
