"""`pimc`: perfect-information Monte Carlo.

In each of many worlds that agree with what the seat knows, every action is tried: the deal is
played out from it by players who see their own cards only. The action with the best mean over the
worlds is taken. What counts is the reward of the environment (`worth`).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents.search import choosing, worth_semerik
from trysim.agents.search.solver import Workspace, solve
from trysim.agents.search.standing import play_deal_out
from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest, n_bits
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import PHASE, PLAY, SEAT
from trysim.envs.worlds.sampler import PLAN_WORDS, draw_world, plan_worlds, weigh

rules: Any = semerik  # in the templates below: the modules they are compiled for
worths: Any = worth_semerik

Floats = npt.NDArray[np.float64]


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
    """Add to every legal action's score (actions,) what it is worth in `n` worlds.

    With at most `endgame` tricks left, worlds are solved exactly.
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
                scores[action] += values[action]
                continue
            for place in range(world.size):
                trial[place] = world[place]
            rules.apply(trial, action)
            play_deal_out(trial, word)  # the same luck for every action
            worths.worth(trial, standing, outcome)
            scores[action] += outcome[me]


TEMPLATES = (play_deal_out, look_ahead, *choosing.TEMPLATES)
