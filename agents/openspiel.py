"""`openspiel:…`: bots of OpenSpiel at trysim's tables. Importing this needs the extra `openspiel`.

A bot is asked at a state that is made of the seat's view alone, and where it wants to know what
else might be, at states that are made of worlds that agree with the view. Their history begins
there: what was played before in the deal is known to all, and in the row.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyspiel
from open_spiel.python.algorithms.ismcts import ISMCTSBot, ISMCTSFinalPolicyType
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

from trysim.agents.search.agents import read_settings
from trysim.agents.thoughts import VISITS, Evaluation
from trysim.envs.decisions import Agent, Decisions
from trysim.envs.games import BadInput, Game
from trysim.envs.openspiel import TrickGame, load
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import FIRST_OPTION, SEAT
from trysim.envs.worlds import InformationSet

_SEEDS = 2**31 - 1  # of OpenSpiel's bots


class _Games:
    """OpenSpiel's games for the options of views, each loaded when it is first asked for."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._known: dict[tuple[int, ...], TrickGame] = {}

    def of(self, view: Row) -> TrickGame:
        """The game under the options of this view."""
        key = tuple(view[FIRST_OPTION : FIRST_OPTION + len(self._game.options)].tolist())
        if key not in self._known:
            self._known[key] = load(self._game, self._game.options_of(view))
        return self._known[key]


class RandomBot:
    """OpenSpiel's uniform random bot."""

    def __init__(self, game: Game) -> None:
        self.spec = "openspiel:random"
        self._games = _Games(game)

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """A legal action for each decision (N,)."""
        pairs = zip(decisions.views, decisions.random, strict=True)
        return np.array([self._step(view, int(word)) for view, word in pairs], np.int64)

    def _step(self, view: Row, word: int) -> int:
        bot = pyspiel.make_uniform_random_bot(int(view[SEAT]), word % _SEEDS)
        return int(bot.step(self._games.of(view).state_at(view)))


@dataclass(frozen=True)
class IsmctsSettings:
    """How OpenSpiel's tree search goes about it.

    `simulations` is the number of worlds, each gone through once; `uct` weighs exploration, in
    rewards of a match.
    """

    simulations: int = 100
    uct: float = 2.0


class IsmctsBot:
    """OpenSpiel's information-set Monte Carlo tree search; leaves are played out at random.

    Worlds are drawn by trysim. Every player's information sets make its nodes.
    """

    def __init__(self, game: Game, settings: IsmctsSettings) -> None:
        self.spec = f"openspiel:ismcts,simulations={settings.simulations}"
        if settings.uct != IsmctsSettings.uct:
            self.spec += f",uct={settings.uct:g}"
        self._settings, self._games = settings, _Games(game)

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """A legal action for each decision (N,): the one that was tried most often."""
        shares = [self._shares(decisions.only([k])) for k in range(decisions.n)]
        return np.array([share.argmax() for share in shares], np.int64)

    def evaluate(self, decision: Decisions) -> Evaluation:
        """How the search divided its simulations among one decision's actions."""
        return VISITS, self._shares(decision)

    def _shares(self, decision: Decisions) -> npt.NDArray[np.float64]:
        view, word, n = decision.views[0], int(decision.random[0]), self._settings.simulations
        game, seat = self._games.of(view), int(view[SEAT])
        worlds = iter(InformationSet(decision.game, view, seat).worlds(n, word % 2**64))
        rng = np.random.RandomState(word % 2**32)
        bot = ISMCTSBot(
            game,
            RandomRolloutEvaluator(random_state=rng),
            self._settings.uct,
            n,
            random_state=rng,
            final_policy_type=ISMCTSFinalPolicyType.NORMALIZED_VISITED_COUNT,
        )
        bot.set_resampler(lambda state, player: game.state_at(next(worlds)))
        shares = np.full(decision.game.n_actions, -1.0)
        for action, share in bot.get_policy(game.state_at(view)):
            shares[action] = share
        return shares


def make_openspiel(game: Game, name: str, given: Mapping[str, str]) -> Agent:
    """The bot of that name for a game; BadInput if there is none, or for wrong settings."""
    if name == "ismcts":
        return IsmctsBot(game, read_settings("openspiel:ismcts", given, IsmctsSettings))
    if name != "random":
        raise BadInput(f"agent openspiel:{name}: there are openspiel:random, openspiel:ismcts")
    if given:
        raise BadInput("agent openspiel:random has no settings")
    return RandomBot(game)
