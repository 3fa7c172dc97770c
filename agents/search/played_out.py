"""`pimc` with any agent for playing out.

All worlds and actions of a decision are tables that the agent plays at the same time.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents.search import worth_semerik
from trysim.agents.search.choosing import best_action, is_searched
from trysim.agents.search.solver import SOLVERS, Workspace, new_workspace
from trysim.agents.search.standing import WORTHS, standings_of
from trysim.agents.thoughts import WORTH, Evaluation
from trysim.envs.decisions import Agent, Decisions, decide
from trysim.envs.engine import next_word
from trysim.envs.games import Game
from trysim.envs.rules import semerik
from trysim.envs.rules.jit import Row, specialise
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY, SEAT
from trysim.envs.worlds import SAMPLERS

rules: Any = semerik  # in the templates below: the modules they are compiled for
worths: Any = worth_semerik

Floats = npt.NDArray[np.float64]


def apply_all(rows: Row, tables: Row, actions: Row) -> None:
    """Carry out an action at each of the `tables` (N,); no new deal is dealt."""
    for i in range(tables.size):
        rules.apply(rows[tables[i]], actions[i])


def add_worths_of(rows: Row, actions: Row, me: int, standing: Floats, scores: Floats) -> None:
    """Add what the finished deals (N, words) are worth to the actions (N,) they began with."""
    outcome = np.zeros(rules.N_SEATS, np.float64)
    for i in range(actions.size):
        worths.worth(rows[i], standing, outcome)
        scores[actions[i]] += outcome[me]


class PlayedOutBy:
    """Stands for compiled kernels of `pimc`: the same functions, played out by an agent."""

    def __init__(self, game: Game, agent: Agent) -> None:
        self.NAME = f"{game.name}_agent"
        self._game, self._agent = game, agent
        templates = (apply_all, add_worths_of, is_searched, best_action)
        self._kernels = specialise(templates, rules=game.rules, worths=WORTHS[game.name])

    def choose_all(
        self,
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
        """Write an action for each decision (N,) from `n` worlds; how many were searched."""
        out[:] = self._agent.act(Decisions(self._game, views, legal, words))
        searched = [i for i in range(len(legal)) if self.is_searched(views[i], legal[i])]
        for i in searched:
            scores = np.zeros(self._game.n_actions)
            standing = standings[which[i]]
            word = int(next_word(words[i]))
            self.look_ahead(views[i], n, silence, word, standing, endgame, work, scores)
            out[i] = self._kernels.best_action(legal[i], scores, out[i])
        return len(searched)

    def is_searched(self, view: Row, legal: int) -> bool:
        """Whether there is something to search: a choice of a card, a declaration or trumps."""
        return bool(self._kernels.is_searched(view, legal))

    def look_ahead(
        self,
        view: Row,
        n: int,
        silence: bool,
        word: int,
        standing: Floats,
        endgame: int,
        work: Workspace,
        scores: Floats,
    ) -> None:
        """Add to every legal action's score (actions,) what it is worth in `n` worlds."""
        worlds = np.empty((n, view.size), np.int64)
        SAMPLERS[self._game.name].draw_worlds(view, int(view[SEAT]), silence, word, worlds)
        n_left = len(self._game.hands(view)[view[SEAT]])
        if view[PHASE] == PLAY and n_left <= endgame:
            scores += self._solved(worlds, standing, work)
        else:
            scores += self._played_out(worlds, int(view[SEAT]), word, standing)

    def _solved(self, worlds: Row, standing: Floats, work: Workspace) -> Floats:
        """What every action is worth in all worlds together under best play (actions,)."""
        scores, values = np.zeros((2, self._game.n_actions))
        for world in worlds:
            SOLVERS[self._game.name](world, standing, values, work)
            scores += values
        return scores

    def _played_out(self, worlds: Row, me: int, word: int, standing: Floats) -> Floats:
        """What every action is worth in all worlds together (actions,)."""
        legal = np.array(self._game.legal_actions(worlds[0]))
        rows, first = worlds.repeat(len(legal), 0), np.tile(legal, len(worlds))
        self._kernels.apply_all(rows, np.arange(len(rows)), first)
        self._play_out(rows, word, len(legal))
        scores = np.zeros(self._game.n_actions)
        self._kernels.add_worths_of(rows, first, me, standing, scores)
        return scores

    def _play_out(self, rows: Row, word: int, n_alike: int) -> None:
        """Let the agent play all deals to their end; `n_alike` tables in a row share their luck."""
        seed = np.random.SeedSequence(word % 2**64)
        n_streams = len(rows) // n_alike * self._game.n_seats
        streams = seed.generate_state(n_streams, np.uint64).view(np.int64)
        streams = streams.reshape(-1, self._game.n_seats).repeat(n_alike, 0)
        while True:
            phase = rows[:, PHASE]
            running = np.flatnonzero((phase == PLAY) | (phase == NAME_TRUMP))
            if not running.size:
                return
            nobody_else = np.zeros(running.size, np.int64)
            actions = decide(self._game, rows, running, [self._agent], nobody_else, streams)
            self._kernels.apply_all(rows, running, actions)


def worths_if(agent: Agent, decision: Decisions, n_worlds: int) -> Evaluation:
    """What actions are worth if the agent itself sits in every seat from there on.

    The mean reward of a deal over so many worlds that agree with what the seat knows; an
    `Evaluation` of no kind where no deal answers for the decision (cuts and blows).
    """
    kernels, scores = PlayedOutBy(decision.game, agent), np.zeros(decision.game.n_actions)
    view = decision.views[0]
    if not kernels.is_searched(view, int(decision.legal[0])):
        return "", scores
    standings, which = standings_of(decision.game).of_all(decision.views)
    word, work = int(decision.random[0]), new_workspace(decision.game)
    kernels.look_ahead(view, n_worlds, False, word, standings[which[0]], 0, work, scores)
    return WORTH, scores / n_worlds
