"""`oracle`: search by a cheater who sees all hands, to measure how much the hidden cards are worth.

It stands where the sampler of worlds does: its one world is the table itself. The cards of later
deals stay hidden from it too.
"""

import numpy as np
import numpy.typing as npt

from trysim.envs.engine import next_word, random_bits
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import RANDOM

NAME = "oracle"

Floats = npt.NDArray[np.float64]


@rule
def plan_worlds(view: Row, me: int, silence: bool, barred: Row, plan: Row) -> int:
    """Nothing is hidden: no table is needed."""
    return 0


@rule
def weigh(view: Row, me: int, plan: Row, table: Floats) -> float:
    """There is one world."""
    return 1.0


@rule
def draw_world(
    view: Row, me: int, silence: bool, plan: Row, table: Floats, word: int, world: Row
) -> int:
    """Write the table itself, with a future of its own; the advanced random word."""
    for place in range(view.size):
        world[place] = view[place]
    word = next_word(word)
    world[RANDOM] = random_bits(word)
    return word
