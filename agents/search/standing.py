"""The worth of the standing of a match, from deals that a rule player plays against itself.

Search looks to the end of the running deal. What a deal is worth where more of them follow (totals
on the way to 21, tricks on the way to seven) a table says, made once for each set of options.
"""

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents.rule_players import PLAYERS
from trysim.agents.search import worth_semerik, worth_semnadtsat, worth_sim_lystiv
from trysim.envs.engine import next_word, settle
from trysim.envs.games import Game, game_named
from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest
from trysim.envs.rules.jit import Row, specialise
from trysim.envs.rules.row import FIRST_OPTION, NAME_TRUMP, PHASE, PLAY

rules: Any = semerik  # in the templates below: the modules they are compiled for
player: Any = PLAYERS["greedy"]["semerik"]
worths: Any = worth_semerik

Floats = npt.NDArray[np.float64]

WORTHS: dict[str, ModuleType] = {
    "sim_lystiv": worth_sim_lystiv,
    "semnadtsat": worth_semnadtsat,
    "semerik": worth_semerik,
}
_SEED = 17


def play_deal_out(state: Row, word: int) -> int:
    """Play a deal to its end with the rule player; the advanced random word."""
    while state[PHASE] == PLAY or state[PHASE] == NAME_TRUMP:
        word = next_word(word)
        actions = rules.legal(state)
        if actions & (actions - 1):
            rules.apply(state, player.choose(state, actions, word))
        else:
            rules.apply(state, lowest(actions))
    return word


def sample_deals(state: Row, word: int, samples: Floats) -> None:
    """Write what `note` keeps of many deals (N, numbers), matches played one after another."""
    for i in range(samples.shape[0]):
        if state[PHASE] != PLAY and state[PHASE] != NAME_TRUMP:
            if state[PHASE] != 0:  # over, or only the penalty is left
                rules.start(state)
            settle(state)
        while state[PHASE] == PLAY or state[PHASE] == NAME_TRUMP:
            word = next_word(word)
            rules.apply(state, player.choose(state, rules.legal(state), word))
            worths.note(state, samples[i])


def new_standing(state: Row, word: int) -> Floats:
    """The table for the options of `state`, a row of its own (it is played on)."""
    samples = np.zeros((worths.n_samples(state), worths.sample_size(state)), np.float64)
    standing = np.zeros(worths.size(state), np.float64)
    rules.start(state)
    sample_deals(state, word, samples)
    worths.fill(state, samples, standing)
    return standing


def standings_of(game: Game) -> "Standings":
    """The tables of a game, one collection for all agents."""
    return _standings_of(game.name)


@cache
def _standings_of(name: str) -> "Standings":
    return Standings(game_named(name))


class Standings:
    """The tables that a game's views need, each made when it is first asked for."""

    def __init__(self, game: Game) -> None:
        self._game, self._worths = game, WORTHS[game.name]
        self._kernels = specialise(
            [sample_deals, new_standing],
            calls=game.kernels,
            rules=game.rules,
            player=PLAYERS["greedy"][game.name],
            worths=self._worths,
        )
        self._known: dict[tuple[int, ...], Floats] = {}

    def of_all(self, views: Row) -> tuple[Floats, Row]:
        """The tables that these views (N, words) need, one a row, and which row (N,) is whose."""
        options = views[:, FIRST_OPTION : FIRST_OPTION + len(self._game.options)]
        if (options == options[0]).all():
            return self.of(views[0])[None], np.zeros(len(views), np.int64)
        _, firsts, which = np.unique(options, axis=0, return_index=True, return_inverse=True)
        tables = [self.of(views[first]) for first in firsts]
        together = np.zeros((len(tables), max(table.size for table in tables)))
        for row, table in zip(together, tables, strict=True):
            row[: table.size] = table
        return together, which.reshape(-1)  # some versions of numpy keep two dimensions

    def of(self, view: Row) -> Floats:
        """The table for the options of this view; empty where none is read."""
        if not self._worths.is_needed(view):
            return np.empty(0)
        options = view[FIRST_OPTION : FIRST_OPTION + len(self._game.options)]
        key = tuple(options.tolist())
        if key not in self._known:
            row = self._game.new_row(self._game.options_of(view), _SEED)
            self._known[key] = self._kernels.new_standing(row, _SEED)
        return self._known[key]
