"""Any agent in a PettingZoo loop, and agents of one's own by name."""

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from trysim.envs.decisions import Agent, Decisions, new_streams, sees_all_hands
from trysim.envs.engine import next_words
from trysim.envs.games import BadInput, Game
from trysim.envs.rules.row import SEAT


class Player:
    """Plays in a PettingZoo environment: `player(env)` is an action for the agent to act.

    The agent is shown what its seat knows, and draws its random numbers from streams of its own
    that follow from `seed`, one for each seat: one player may sit in several of them.
    """

    def __init__(self, agent: Agent, seed: int = 0) -> None:
        if sees_all_hands(agent):
            raise BadInput(f"{agent.spec} sees all hands: it plays in the arena only, to measure")
        self.agent = agent
        self._seed, self._streams = seed, np.empty((0, 0), np.int64)

    def __call__(self, env: Any) -> int:
        """A legal action for the agent whose turn it is."""
        table = env.unwrapped
        game: Game = table.game
        if not self._streams.size:
            self._streams = new_streams([self._seed], game.n_seats)
        view = table.view(table.agent_selection)[None]
        word = np.empty(1, np.int64)
        next_words(self._streams, _FIRST, view[:, SEAT], word)
        legal = np.array([game.kernels.legal(view[0])])
        return int(self.agent.act(Decisions(game, view, legal, word))[0])


_FIRST = np.zeros(1, np.int64)


def load_own(game: Game, argument: str) -> Agent:
    """The agent that `MODULE:NAME` or `FILE.py:NAME` makes when called with the game."""
    where, _, name = argument.rpartition(":")
    spec = f"python:{argument}"
    if not where or not name:
        raise BadInput(f"agent {spec!r}: write python:MODULE:NAME or python:FILE.py:NAME")
    try:
        make = getattr(_module(where), name)
    except (ImportError, AttributeError, OSError, SyntaxError) as error:
        raise BadInput(f"agent {spec!r}: {error}") from None
    if not callable(make):
        raise BadInput(f"agent {spec!r}: {name} is not callable")
    agent = make(game)
    if not callable(getattr(agent, "act", None)):
        raise BadInput(f"agent {spec!r}: it has no method act(decisions)")
    agent.spec = spec
    made: Agent = agent
    return made


def _module(where: str) -> Any:
    if not where.endswith(".py"):
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())  # as `python -m` does
        return importlib.import_module(where)
    path = Path(where).resolve()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ImportError(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module
