"""A guide: what every action open to a seat is worth if a rule player plays the deal out.

The table itself is one of the worlds in which actions are tried; the others agree with what the
seat knows. One world says little, for the cards that the seat does not see decide most of it. But
over many decisions that is even, and learning what to expect is all that is left.
"""

import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents.rule_players import PLAYERS
from trysim.agents.search import worth_semerik
from trysim.agents.search.standing import WORTHS, play_deal_out, standings_of
from trysim.envs.batch import BatchEnv
from trysim.envs.games import Game
from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest
from trysim.envs.rules.jit import Row, compile_once, specialise
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY, SEAT
from trysim.envs.worlds import SAMPLERS
from trysim.envs.worlds.sampler import PLAN_WORDS, draw_world, plan_worlds, weigh

rules: Any = semerik  # in the templates below: the modules they are compiled for
worths: Any = worth_semerik

Floats = npt.NDArray[np.float64]


def try_actions(
    world: Row, legal: int, word: int, standing: Floats, share: float, worth: Floats
) -> None:
    """Add to `worth` (actions,) a share of what each legal action brings in one world."""
    trial, outcome = np.empty_like(world), np.zeros(rules.N_SEATS, np.float64)
    while legal:
        action = lowest(legal)
        legal &= legal - 1
        for place in range(world.size):
            trial[place] = world[place]
        rules.apply(trial, action)
        play_deal_out(trial, word)  # the same luck for every action
        worths.worth(trial, standing, outcome)
        worth[action] += share * outcome[world[SEAT]]


def try_all(rows: Row, words: Row, standings: Floats, which: Row, n: int, worths_: Floats) -> None:
    """Write what each legal action of the seats to act is worth in `n` worlds (N, actions).

    Nothing is written for decisions that no deal answers for (cuts and blows).
    """
    view, world = np.empty_like(rows[0]), np.empty_like(rows[0])
    plan, nothing = np.empty(PLAN_WORDS, np.int64), np.zeros(rules.N_SEATS, np.int64)
    for i in range(rows.shape[0]):
        state, word, standing = rows[i], words[i], standings[which[i]]
        worths_[i, :] = 0
        if state[PHASE] != PLAY and state[PHASE] != NAME_TRUMP:
            continue
        legal, me = rules.legal(state), state[SEAT]
        try_actions(state, legal, word, standing, 1 / n, worths_[i])
        if n == 1:
            continue
        for place in range(view.size):
            view[place] = state[place]
        rules.conceal(view, me)
        table = np.empty(plan_worlds(view, me, False, nothing, plan), np.float64)
        weigh(view, me, plan, table)
        for _ in range(n - 1):
            word = draw_world(view, me, False, plan, table, word, world)
            try_actions(world, legal, word, standing, 1 / n, worths_[i])


class Guide:
    """Tries every action in `n_worlds` worlds, played out by a rule `player`, in some threads."""

    def __init__(self, game: Game, player: str, n_worlds: int, n_threads: int) -> None:
        self._n_worlds, self._n_actions = n_worlds, game.n_actions
        self._standings = standings_of(game)
        self._pool, self._n_threads = ThreadPoolExecutor(n_threads), n_threads
        self._kernels = specialise(
            (play_deal_out, try_actions, try_all),
            calls=SAMPLERS[game.name],
            in_threads=True,
            rules=game.rules,
            player=PLAYERS[player][game.name],
            worths=WORTHS[game.name],
        )
        game.compile()  # first, so that it tells of itself
        compile_once(
            f"guide_{self._kernels.NAME}", lambda: self._try_out(game), sys.modules[__name__]
        )

    def _try_out(self, game: Game) -> None:
        """Try once, so that everything is compiled."""
        row = game.new_row({}, 0)
        game.kernels.begin(row)
        game.kernels.settle(row)
        self.worths(row[None], np.zeros(1, np.int64))

    def worths(self, rows: Row, words: Row) -> Floats:
        """What each legal action of the seat to act is worth to it (N, actions); 0 elsewhere.

        In the reward of the environment, from the tables `rows` (N, words) themselves and a random
        word (N,) for each.
        """
        standings, which = self._standings.of_all(rows)
        worths = np.empty((len(rows), self._n_actions))
        parts = [len(rows) * k // self._n_threads for k in range(self._n_threads + 1)]

        def try_part(start: int, end: int) -> None:
            part = slice(start, end)
            self._kernels.try_all(
                rows[part], words[part], standings, which[part], self._n_worlds, worths[part]
            )

        list(self._pool.map(try_part, parts, parts[1:]))
        return worths


def usual_difference(guide: Guide, game: Game, options: Mapping[str, Any], n: int = 128) -> float:
    """The root mean square of what actions are worth less their mean, in random play.

    In a match one card matters less than in a deal that is all: what is usual depends on options.
    """
    env, rng = BatchEnv(game.name, n, options), np.random.default_rng(0)
    env.reset(0)
    total, count = 0.0, 0
    for step in range(4 * len(game.deck)):
        worths = guide.worths(env.rows, np.arange(n) + n * step)
        n_legal = env.mask.sum(1, keepdims=True)
        apart = np.where(env.mask, worths - worths.sum(1, keepdims=True) / n_legal, 0)
        choices = (n_legal[:, 0] > 1) & (worths != 0).any(1)
        total += float(np.square(apart[choices]).sum())
        count += int(n_legal[choices].sum())
        env.step(np.where(env.mask, rng.random(env.mask.shape), -1).argmax(1))
    return float(np.sqrt(total / max(count, 1))) or 1.0
