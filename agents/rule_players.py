"""Players that are one compiled function each: `random`, `greedy` and `expert`.

A rule player is a module with a `NAME` and

    choose(view, legal, word) -> action

of the seat's view (the row with everything hidden blank), the set of legal actions and a random
word. It reads nothing that the view blanks: given the true table it chooses the same. So search
can play it out in worlds of its own.
"""

from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents import expert, greedy, random
from trysim.envs.decisions import Decisions
from trysim.envs.games import GAMES, Game
from trysim.envs.rules.jit import Row, compile_once, specialise

PLAYERS: dict[str, dict[str, ModuleType]] = {
    "random": dict.fromkeys(GAMES, random),
    "greedy": greedy.PLAYERS,
    "expert": expert.PLAYERS,
}

player: Any = random  # in the template below: the module it is compiled for


def choose_all(views: Row, legal: Row, words: Row, out: Row) -> None:
    """Write the player's action for each decision (N,)."""
    for i in range(legal.size):
        out[i] = player.choose(views[i], legal[i], words[i])


class RulePlayer:
    """The agent that a rule player is."""

    def __init__(self, spec: str, game: Game) -> None:
        self.spec = spec
        module = PLAYERS[spec][game.name]
        self._choose_all = specialise([choose_all], player=module).choose_all
        nothing = np.empty(0, np.int64)
        compile_once(
            module.NAME, lambda: self._choose_all(nothing[None], nothing, nothing, nothing), random
        )

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """A legal action for each decision (N,)."""
        actions = np.empty(decisions.n, np.int64)
        self._choose_all(decisions.views, decisions.legal, decisions.random, actions)
        return actions
