"""What all search agents share: when there is something to search, and what is chosen then."""

from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents import rule_players
from trysim.agents.search.solver import Workspace
from trysim.envs.engine import next_word
from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY

rules: Any = semerik  # in the templates below: the modules they are compiled for
player: Any = rule_players.PLAYERS["expert"]["semerik"]
look_ahead: Any = None  # and the search: of `pimc` or `ismcts`

Floats = npt.NDArray[np.float64]

_SAME = 1e-9  # a difference that rounding can make


def is_searched(view: Row, legal: int) -> bool:
    """Whether there is something to search: a choice of a card, a declaration or trumps."""
    return legal & (legal - 1) != 0 and (view[PHASE] == PLAY or view[PHASE] == NAME_TRUMP)


def best_action(legal: int, scores: Floats, preferred: int) -> int:
    """The legal action with the greatest score, the `preferred` one if nothing is greater."""
    best = preferred
    while legal:
        if scores[lowest(legal)] > scores[best] + _SAME:
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
    """Write an action for each decision (N,) from `n` worlds or iterations.

    Returns how many were searched; the rule player decides the others, and where scores are level.
    `endgame` tricks at the end of a deal are solved exactly; `which` (N,) is the row of `standings`
    that belongs to a decision's options.
    """
    n_searched = 0
    scores = np.empty(rules.N_ACTIONS, np.float64)
    for i in range(legal.size):
        out[i] = player.choose(views[i], legal[i], words[i])
        if is_searched(views[i], legal[i]):
            scores[:] = 0
            word = next_word(words[i])
            look_ahead(views[i], n, silence, word, standings[which[i]], endgame, work, scores)
            out[i] = best_action(legal[i], scores, out[i])
            n_searched += 1
    return n_searched


TEMPLATES = (is_searched, best_action, choose_all)
