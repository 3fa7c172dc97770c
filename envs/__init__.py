"""Environments of the three games: PettingZoo AEC, batches of tables, one learner in Gymnasium.

Importing this package registers `trysim/<game>-v0` with PettingZoo and `trysim/<Game>-v0` with
Gymnasium.
"""

import gymnasium
import pettingzoo

from trysim.envs import semerik_v0, semnadtsat_v0, sim_lystiv_v0
from trysim.envs.games import GAMES, BadInput, Game, game_named

__all__ = [
    "GAMES",
    "BadInput",
    "Game",
    "game_named",
    "semerik_v0",
    "semnadtsat_v0",
    "sim_lystiv_v0",
]

_GYMNASIUM_NAMES = {"sim_lystiv": "SimLystiv", "semnadtsat": "Semnadtsat", "semerik": "Semerik"}


def _register() -> None:
    for name in GAMES:
        if hasattr(pettingzoo, "register"):  # since PettingZoo 1.26
            entry_point = f"trysim.envs.{name}_v0:env"
            pettingzoo.register("aec", f"trysim/{name}-v0", entry_point=entry_point)
        gymnasium.register(
            f"trysim/{_GYMNASIUM_NAMES[name]}-v0",
            entry_point="trysim.envs.single:SingleEnv",
            vector_entry_point="trysim.envs.vector:TablesVectorEnv",
            kwargs={"game": name},
        )


_register()
