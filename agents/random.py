"""`random`: every legal action with the same probability, in every game."""

from trysim.envs.engine import below, random_bits
from trysim.envs.rules.bits import n_bits, pick
from trysim.envs.rules.jit import Row, rule

NAME = "random"


@rule
def choose(view: Row, legal: int, word: int) -> int:
    """Any of the `legal` actions, drawn with the random `word`."""
    return pick(legal, below(random_bits(word), n_bits(legal)))
