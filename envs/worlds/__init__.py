"""What a seat knows, and the worlds that may be.

A seat's *view* is the table's row with everything hidden blank (`Game.view`): all that search and
other agents are given. `InformationSet` reads it for people, and draws worlds from it.
"""

import numpy as np

from trysim.envs.games import BadInput, Game
from trysim.envs.rules.jit import Row, compile_once
from trysim.envs.worlds import sampler
from trysim.envs.worlds.sampler import SAMPLERS

__all__ = ["SAMPLERS", "InformationSet"]


class InformationSet:
    """All that seat `me` knows at a table, as its `view` (words,) holds it."""

    def __init__(self, game: Game, view: Row, me: int) -> None:
        n = game.n_players_of(view)
        if not 0 <= me < n:
            raise BadInput(f"{game.name}: seat {me!r}: seats are 0..{n - 1}")
        self.game, self.me = game, me
        self.view = game.view(view, me)

    def worlds(self, n: int, seed: int = 0, silence: bool = False) -> Row:
        """`n` worlds (n, words): tables that agree with all that is known, drawn evenly.

        They depend on view and seed only. `silence` takes it that combinations that could have been
        declared in Семерик, and were not, are not there.
        """
        word = np.random.SeedSequence(seed).generate_state(1, np.uint64).view(np.int64)[0]
        worlds = np.empty((n, self.view.size), np.int64)
        kernels = SAMPLERS[self.game.name]
        compile_once(
            f"worlds_{self.game.name}",
            lambda: kernels.draw_worlds(self.view, self.me, silence, word, worlds[:1]),
            sampler,
        )
        kernels.draw_worlds(self.view, self.me, silence, word, worlds)
        return worlds
