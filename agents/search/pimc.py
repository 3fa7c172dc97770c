"""`pimc`: perfect-information Monte Carlo.

In each of many worlds that agree with what the seat knows, every action is tried: the deal is
played out from it by players who see their own cards only. The action with the best mean over the
worlds is taken. What counts is the reward of the environment (`worth`).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents import rule_players
from trysim.agents.search import worth_semerik
from trysim.agents.search.solver import Workspace, solve
from trysim.agents.search.standing import play_deal_out
from trysim.envs.engine import next_word
from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest, n_bits
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY, SEAT
from trysim.envs.worlds.sampler import PLAN_WORDS, draw_world, plan_worlds, weigh

rules: Any = semerik  # in the templates below: the modules they are compiled for
player: Any = rule_players.PLAYERS["expert"]["semerik"]
worths: Any = worth_semerik

Floats = npt.NDArray[np.float64]


_SAME = 1e-9  # a difference that rounding can make


def add_worths(
    view: Row,
    n: int,
    silence: bool,
    word: int,
    standing: Floats,
    endgame: int,
    work: Workspace,
    sums: Floats,
) -> int:
    """Add to every legal action's sum (actions,) what it is worth in `n` worlds.

    Returns the advanced random word. With at most `endgame` tricks left, worlds are solved exactly.
    """
    me, legal = view[SEAT], rules.legal(view)
    is_solved = view[PHASE] == PLAY and n_bits(view[rules.HANDS + me]) <= endgame
    world, trial = np.empty_like(view), np.empty_like(view)
    outcome = np.zeros(rules.N_SEATS, np.float64)
    values = np.empty(rules.N_ACTIONS, np.float64)
    plan, nothing = np.empty(PLAN_WORDS, np.int64), np.zeros(rules.N_SEATS, np.int64)
    table = np.empty(plan_worlds(view, me, silence, nothing, plan), np.float64)
    weigh(view, me, plan, table)
    for _ in range(n):
        word = draw_world(view, me, silence, plan, table, word, world)
        if is_solved:
            solve(world, standing, values, work)
        actions = legal
        while actions:
            action = lowest(actions)
            actions &= actions - 1
            if is_solved:
                sums[action] += values[action]
                continue
            for place in range(world.size):
                trial[place] = world[place]
            rules.apply(trial, action)
            play_deal_out(trial, word)  # the same luck for every action
            worths.worth(trial, standing, outcome)
            sums[action] += outcome[me]
    return word


def is_searched(view: Row, legal: int) -> bool:
    """Whether there is something to search: a choice of a card, a declaration or trumps."""
    return legal & (legal - 1) != 0 and (view[PHASE] == PLAY or view[PHASE] == NAME_TRUMP)


def best_action(legal: int, sums: Floats, preferred: int) -> int:
    """The legal action with the greatest sum, the `preferred` one if nothing is greater."""
    best = preferred
    while legal:
        if sums[lowest(legal)] > sums[best] + _SAME:
            best = lowest(legal)
        legal &= legal - 1
    return best


def choose_all(
    views: Row,
    legal: Row,
    words: Row,
    n: int,
    silence: bool,
    standings: Floats,
    which: Row,
    endgame: int,
    work: Workspace,
    out: Row,
) -> int:
    """Write an action for each decision (N,) from `n` worlds; how many were searched.

    `endgame` tricks at the end of a deal are solved exactly; `which` (N,) is the row of `standings`
    that belongs to a decision's options.
    """
    n_searched = 0
    sums = np.empty(rules.N_ACTIONS, np.float64)
    for i in range(legal.size):
        out[i] = player.choose(views[i], legal[i], words[i])
        if is_searched(views[i], legal[i]):
            sums[:] = 0
            word = next_word(words[i])
            standing = standings[which[i]]
            add_worths(views[i], n, silence, word, standing, endgame, work, sums)
            out[i] = best_action(legal[i], sums, out[i])
            n_searched += 1
    return n_searched


TEMPLATES = (play_deal_out, add_worths, is_searched, best_action, choose_all)
