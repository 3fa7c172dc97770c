"""`ismcts`: information-set Monte Carlo tree search, single observer.

One tree of actions for all worlds. Every iteration draws a world that agrees with what the seat
knows and goes down the tree by actions that are legal in it: among those tried before by upper
confidence bounds that count how often an action was there to be chosen (Cowling, Powley and
Whitehouse 2012), until one not tried yet, from which the deal is played out. Every node keeps what
its outcomes were worth to the seat that chose it: partners share their worth, the others each want
their own.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents.search import choosing, worth_semerik
from trysim.agents.search.solver import Workspace
from trysim.agents.search.standing import play_deal_out
from trysim.envs.engine import below, next_word, random_bits
from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest, n_bits, pick
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY, SEAT
from trysim.envs.worlds.sampler import PLAN_WORDS, draw_world, plan_worlds, weigh

rules: Any = semerik  # in the templates below: the modules they are compiled for
worths: Any = worth_semerik

Floats = npt.NDArray[np.float64]

EXPLORATION = 0.7  # of bounds on worths scaled to 0..1
MAX_DEPTH = 80  # plays, declarations and a naming of trumps in a deal
_LOW, _HIGH = 0, 1


def untried(children: Row, node: int, legal: int) -> int:
    """The legal actions that no iteration has taken from this node."""
    fresh = 0
    while legal:
        if children[node, lowest(legal)] == 0:
            fresh |= legal & -legal
        legal &= legal - 1
    return fresh


def best_child(
    children: Row, visits: Row, chances: Row, sums: Floats, node: int, legal: int, scale: Floats
) -> int:
    """The legal action with the best upper confidence bound; notes that all could be chosen."""
    best, best_bound = -1, -np.inf
    spread = max(scale[_HIGH] - scale[_LOW], 1e-9)
    while legal:
        child = children[node, lowest(legal)]
        mean = (sums[child] / visits[child] - scale[_LOW]) / spread
        bound = mean + EXPLORATION * np.sqrt(np.log(chances[child]) / visits[child])
        chances[child] += 1
        if bound > best_bound:
            best, best_bound = lowest(legal), bound
        legal &= legal - 1
    return best


def look_ahead(
    view: Row,
    n: int,
    silence: bool,
    word: int,
    standing: Floats,
    endgame: int,
    work: Workspace,
    scores: Floats,
) -> None:
    """Write to every legal action's score (actions,) how often `n` iterations took it.

    The tree is its own search of the endgame: `endgame` and `work` serve `pimc` alone.
    """
    me = view[SEAT]
    world = np.empty_like(view)
    outcome = np.zeros(rules.N_SEATS, np.float64)
    plan, nothing = np.empty(PLAN_WORDS, np.int64), np.zeros(rules.N_SEATS, np.int64)
    table = np.empty(plan_worlds(view, me, silence, nothing, plan), np.float64)
    weigh(view, me, plan, table)
    children = np.zeros((n + 1, rules.N_ACTIONS), np.int64)  # node 0 is the root
    visits, chances = np.zeros((2, n + 1), np.int64)
    sums = np.zeros(n + 1, np.float64)
    path, movers = np.empty((2, MAX_DEPTH), np.int64)
    scale = np.array([np.inf, -np.inf])
    n_nodes = 1
    for _ in range(n):
        word = draw_world(view, me, silence, plan, table, word, world)
        node, depth = 0, 0
        growing = True
        while growing and (world[PHASE] == PLAY or world[PHASE] == NAME_TRUMP):
            legal = rules.legal(world)
            fresh = untried(children, node, legal)
            if fresh:
                word = next_word(word)
                action = pick(fresh, below(random_bits(word), n_bits(fresh)))
                children[node, action] = n_nodes
                chances[n_nodes] = 1
                n_nodes += 1
                growing = False
            else:
                action = best_child(children, visits, chances, sums, node, legal, scale)
            node = children[node, action]
            path[depth], movers[depth] = node, world[SEAT]
            depth += 1
            rules.apply(world, action)
        word = play_deal_out(world, word)
        worths.worth(world, standing, outcome)
        for step in range(depth):
            worth = outcome[movers[step]]
            visits[path[step]] += 1
            sums[path[step]] += worth
            scale[_LOW], scale[_HIGH] = min(scale[_LOW], worth), max(scale[_HIGH], worth)
    for action in range(rules.N_ACTIONS):
        if children[0, action]:
            scores[action] = visits[children[0, action]]


TEMPLATES = (play_deal_out, untried, best_child, look_ahead, *choosing.TEMPLATES)
