"""A guide: what every action open to a seat is worth if somebody plays the deal out.

That is a rule player, or the policy that learns, as it is by then (`SELF`): it learns what would
have been better than what it does, and then plays deals out better.

The table itself is one of the worlds in which actions are tried; the others agree with what the
seat knows. One world says little, for the cards that the seat does not see decide most of it. But
over many decisions that is even, and learning what to expect is all that is left.
"""

import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents.compiled import Desk, Weights, compiled_for, likeliest, new_desk, no_network
from trysim.agents.networks import Network
from trysim.agents.rule_players import PLAYERS
from trysim.agents.search import worth_semerik
from trysim.agents.search.standing import WORTHS, play_deal_out, standings_of
from trysim.envs.batch import BatchEnv
from trysim.envs.games import BadInput, Game
from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest
from trysim.envs.rules.jit import Row, compile_once, specialise
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY, SEAT
from trysim.envs.worlds import SAMPLERS
from trysim.envs.worlds.sampler import PLAN_WORDS, draw_world, plan_worlds, weigh

rules: Any = semerik  # in the templates below: the modules they are compiled for
worths: Any = worth_semerik

Floats = npt.NDArray[np.float64]

SELF = "self"


def play_out_by_rules(state: Row, word: int, net: Weights, desk: Desk) -> None:
    """Play a deal to its end with the rule player."""
    play_deal_out(state, word)


def play_out_by_network(state: Row, word: int, net: Weights, desk: Desk) -> None:
    """Play a deal to its end with what a network prefers, in every seat."""
    while state[PHASE] == PLAY or state[PHASE] == NAME_TRUMP:
        legal = rules.legal(state)
        if legal & (legal - 1):
            rules.apply(state, likeliest(net, state, legal, desk))
        else:
            rules.apply(state, lowest(legal))


play_out = play_out_by_rules  # in the templates below: one of these


def try_actions(
    world: Row,
    legal: int,
    word: int,
    standing: Floats,
    share: float,
    worth: Floats,
    net: Weights,
    desk: Desk,
) -> None:
    """Add to `worth` (actions,) a share of what each legal action brings in one world."""
    trial, outcome = np.empty_like(world), np.zeros(rules.N_SEATS, np.float64)
    while legal:
        action = lowest(legal)
        legal &= legal - 1
        for place in range(world.size):
            trial[place] = world[place]
        rules.apply(trial, action)
        play_out(trial, word, net, desk)  # the same luck for every action
        worths.worth(trial, standing, outcome)
        worth[action] += share * outcome[world[SEAT]]


def try_all(
    rows: Row,
    words: Row,
    standings: Floats,
    which: Row,
    n: int,
    worths_: Floats,
    net: Weights,
) -> None:
    """Write what each legal action of the seats to act is worth in `n` worlds (N, actions).

    Nothing is written for decisions that no deal answers for (cuts and blows).
    """
    view, world = np.empty_like(rows[0]), np.empty_like(rows[0])
    plan, nothing = np.empty(PLAN_WORDS, np.int64), np.zeros(rules.N_SEATS, np.int64)
    desk = new_desk(net)
    for i in range(rows.shape[0]):
        state, word, standing = rows[i], words[i], standings[which[i]]
        worths_[i, :] = 0
        if state[PHASE] != PLAY and state[PHASE] != NAME_TRUMP:
            continue
        legal, me = rules.legal(state), state[SEAT]
        try_actions(state, legal, word, standing, 1 / n, worths_[i], net, desk)
        if n == 1:
            continue
        for place in range(view.size):
            view[place] = state[place]
        rules.conceal(view, me)
        table = np.empty(plan_worlds(view, me, False, nothing, plan), np.float64)
        weigh(view, me, plan, table)
        for _ in range(n - 1):
            word = draw_world(view, me, False, plan, table, word, world)
            try_actions(world, legal, word, standing, 1 / n, worths_[i], net, desk)


class Guide:
    """Tries every action in `n_worlds` worlds, in some threads, and lets `player` play them out.

    That is a rule player, or the network that was given to `follow` last (`SELF`).
    """

    def __init__(self, game: Game, player: str, n_worlds: int, n_threads: int) -> None:
        self._player, self._n_worlds, self._n_actions = player, n_worlds, game.n_actions
        self._standings, self._net = standings_of(game), no_network()
        self._pool, self._n_threads = ThreadPoolExecutor(n_threads), n_threads
        self._kernels = _kernels(game, player)
        game.compile()  # first, so that it tells of itself
        compile_once(
            f"guide_{self._kernels.NAME}", lambda: self._try_out(game), sys.modules[__name__]
        )

    def _try_out(self, game: Game) -> None:
        """Compile everything, without a decision to answer."""
        rows, nobody = game.new_row({}, 0)[None], np.empty(0, np.int64)
        standings, _ = self._standings.of_all(rows)
        worths_ = np.empty((0, self._n_actions))
        self._kernels.try_all(rows[:0], nobody, standings, nobody, 1, worths_, self._net)

    def follow(self, net: Network) -> None:
        """Let this network play deals out from now on. BadInput if it has no compiled form."""
        weights = net.compiled()
        if weights is None:
            raise BadInput(f"guide: {SELF}; {type(net).__name__} networks have no compiled form")
        self._net = weights

    def worths(self, rows: Row, words: Row) -> Floats:
        """What each legal action of the seat to act is worth to it (N, actions); 0 elsewhere.

        In the reward of the environment, from the tables `rows` (N, words) themselves and a random
        word (N,) for each. ValueError if there is no network yet that should play.
        """
        if self._player == SELF and not self._net.sizes.size:
            raise ValueError("follow a network first")
        standings, which = self._standings.of_all(rows)
        worths = np.empty((len(rows), self._n_actions))
        parts = [len(rows) * k // self._n_threads for k in range(self._n_threads + 1)]

        def try_part(start: int, end: int) -> None:
            part = slice(start, end)
            self._kernels.try_all(
                rows[part],
                words[part],
                standings,
                which[part],
                self._n_worlds,
                worths[part],
                self._net,
            )

        list(self._pool.map(try_part, parts, parts[1:]))
        return worths


def _kernels(game: Game, player: str) -> SimpleNamespace:
    """The functions above for a game and a player."""
    others = SimpleNamespace(**{**vars(compiled_for(game.name)), **vars(SAMPLERS[game.name])})
    bindings: dict[str, Any] = {"rules": game.rules, "worths": WORTHS[game.name]}
    if player == SELF:
        others.NAME += "_network"
        play = specialise((play_out_by_network,), others, **bindings).play_out_by_network
    else:
        bindings["player"] = PLAYERS[player][game.name]
        play = specialise((play_deal_out, play_out_by_rules), **bindings).play_out_by_rules
    others.play_out = play
    return specialise((try_actions, try_all), others, in_threads=True, **bindings)


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
