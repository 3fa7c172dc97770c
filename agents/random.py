"""The agent that plays any legal action."""

import numpy as np
import numpy.typing as npt

from trysim.envs.decisions import Decisions
from trysim.envs.engine import below, random_bits
from trysim.envs.rules.bits import n_bits, pick
from trysim.envs.rules.jit import Row, rule


class RandomAgent:
    """Every legal action with the same probability."""

    spec = "random"

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """A legal action for each decision (N,)."""
        actions = np.empty(decisions.n, np.int64)
        pick_random(decisions.legal, decisions.random, actions)
        return actions


@rule
def pick_random(legal: Row, words: Row, out: Row) -> None:
    """Write one of each set of actions (N,), drawn with its random word."""
    for i in range(legal.size):
        out[i] = pick(legal[i], below(random_bits(words[i]), n_bits(legal[i])))
