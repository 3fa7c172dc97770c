"""The search agents: settings, tables and compiled kernels made one."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents.rule_players import PLAYERS
from trysim.agents.search import ismcts, oracle, pimc
from trysim.agents.search.played_out import PlayedOutBy
from trysim.agents.search.solver import MAX_TRICKS, SOLVERS, new_workspace
from trysim.agents.search.standing import WORTHS, standings_of
from trysim.agents.thoughts import VISITS, WORTH, Evaluation
from trysim.envs.decisions import Agent, Decisions
from trysim.envs.engine import next_word
from trysim.envs.games import BadInput, Game
from trysim.envs.rules.jit import Row, compile_once, specialise
from trysim.envs.rules.row import SEAT
from trysim.envs.worlds import SAMPLERS

_PILOT = 8  # worlds or iterations that tell how many fit into a time budget


class SearchAgent:
    """Looks ahead from every decision, in `n` worlds or iterations or for `ms` milliseconds.

    `n_searched` and `n_looked_at` count the decisions that were searched, and the worlds or
    iterations of all of them. `tells` is the kind of numbers that the search gives actions.
    """

    def __init__(
        self,
        spec: str,
        game: Game,
        kernels: Any,
        n: int,
        tells: str,
        ms: float | None = None,
        silence: bool = False,
        endgame: int = 0,
        sees_all_hands: bool = False,
    ) -> None:
        self.spec, self.sees_all_hands = spec, sees_all_hands
        self.n_searched = self.n_looked_at = 0
        self._kernels, self._n, self._ms, self._silence = kernels, n, ms, silence
        self._tells = tells
        self._endgame, self._work = endgame, new_workspace(game)
        self._standings = standings_of(game)
        game.compile()  # first, so that it tells of itself
        compile_once(f"{spec.partition(':')[0]}_{kernels.NAME}", lambda: self._try_out(game), pimc)

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """A legal action for each decision (N,)."""
        standings, which = self._standings.of_all(decisions.views)
        if self._ms is None:
            return self._choose(decisions, self._n, standings, which)
        actions = np.empty(decisions.n, np.int64)
        for i in range(decisions.n):
            actions[i] = self._choose_in_time(decisions.only([i]), standings, which[[i]])[0]
        return actions

    def evaluate(self, decision: Decisions) -> Evaluation:
        """What the search says of one decision's actions, and the kind of these numbers.

        Of no kind where there is nothing to search.
        """
        scores = np.zeros(decision.game.n_actions)
        view = decision.views[0]
        if not self._kernels.is_searched(view, decision.legal[0]):
            return "", scores
        standings, which = self._standings.of_all(decision.views)
        self._kernels.look_ahead(
            view,
            self._n,
            self._silence,
            int(next_word(decision.random[0])),
            standings[which[0]],
            self._endgame,
            self._work,
            scores,
        )
        return self._tells, scores / self._n

    def _choose_in_time(
        self, decision: Decisions, standings: npt.NDArray[np.float64], which: Row
    ) -> npt.NDArray[np.int64]:
        """Decide with as many worlds as fit; how many tells a short trial on the same decision."""
        assert self._ms is not None
        started = time.perf_counter()
        self._choose(decision, _PILOT, standings, which)
        used = max(time.perf_counter() - started, 1e-6)
        n = int(_PILOT * (self._ms / 1000 - used) / used)
        return self._choose(decision, max(n, _PILOT), standings, which)

    def _choose(
        self, decisions: Decisions, n: int, standings: npt.NDArray[np.float64], which: Row
    ) -> npt.NDArray[np.int64]:
        actions = np.empty(decisions.n, np.int64)
        n_searched = self._kernels.choose_all(
            decisions.views,
            decisions.legal,
            decisions.random,
            n,
            self._silence,
            standings,
            which,
            self._endgame,
            self._work,
            actions,
        )
        self.n_searched += n_searched
        self.n_looked_at += n_searched * n
        return actions

    def _try_out(self, game: Game) -> None:
        """Decide once, so that everything is compiled."""
        row = game.new_row({}, 0)
        game.kernels.begin(row)
        game.kernels.settle(row)
        view = (row if self.sees_all_hands else game.view(row, int(row[SEAT])))[None]
        standings, which = self._standings.of_all(view)
        legal = np.array([game.kernels.legal(row)])
        self._choose(Decisions(game, view, legal, legal), 1, standings, which)


# Settings ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PimcSettings:
    """How `pimc` searches: what is not given in its spec."""

    worlds: int = 100
    rollout: str = "expert"
    endgame: int = 0
    ms: float | None = None
    silence: bool = False


@dataclass(frozen=True)
class IsmctsSettings:
    """How `ismcts` searches: what is not given in its spec."""

    iterations: int = 1000
    rollout: str = "expert"
    ms: float | None = None
    silence: bool = False


@dataclass(frozen=True)
class OracleSettings:
    """How `oracle` searches: what is not given in its spec."""

    iterations: int = 1000
    rollout: str = "expert"
    ms: float | None = None


def _whole(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _tricks(text: str) -> int:
    number = int(text)
    if not 0 <= number <= MAX_TRICKS:
        raise ValueError
    return number


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e9:
        raise ValueError
    return number


def _yes_no(text: str) -> bool:
    return {"yes": True, "no": False}[text]


def _text(text: str) -> str:
    if not text:
        raise ValueError
    return text


_READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "endgame": (_tricks, f"whole numbers from 0 to {MAX_TRICKS}"),
    "worlds": (_whole, "whole numbers from 1"),
    "iterations": (_whole, "whole numbers from 1"),
    "simulations": (_whole, "whole numbers from 1"),
    "uct": (_positive, "numbers above 0"),
    "ms": (_positive, "milliseconds above 0"),
    "silence": (_yes_no, "yes, no"),
    "rollout": (_text, "agents"),
    "policy": (_text, "games whose policy comes with the package, and folders"),
    "weight": (_positive, "numbers above 0"),
}


def read_settings(name: str, given: Mapping[str, str], kind: type[Any]) -> Any:
    """The settings from their texts; BadInput if one is not allowed."""
    values = {}
    for setting, text in given.items():
        reader, allowed = _READERS[setting]
        try:
            values[setting] = reader(text)
        except (ValueError, KeyError):
            raise BadInput(f"{name}: {setting}={text}; allowed are {allowed}") from None
    return kind(**values)


def spec_of(name: str, settings: Any, first: str) -> str:
    """The text that names an agent of these settings; `first` is always told."""
    parts = []
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.name == first or value != field.default:
            text = ("yes" if value else "no") if isinstance(value, bool) else value
            parts.append(f"{field.name}={text:g}" if field.name == "ms" else f"{field.name}={text}")
    return f"{name}:{','.join(parts)}"


# Making agents ----------------------------------------------------------------------------------
def make_pimc(
    game: Game, given: Mapping[str, str], make_agent: Callable[[str, Game], Agent]
) -> SearchAgent:
    """The agent `pimc` with these settings; `make_agent` makes one that plays worlds out."""
    it = read_settings("pimc", given, PimcSettings)
    kernels: Any
    if it.rollout in PLAYERS:
        kernels = pimc_kernels(game, it.rollout)
    else:
        kernels = PlayedOutBy(game, make_agent(it.rollout, game))
    spec = spec_of("pimc", it, "worlds")
    return SearchAgent(spec, game, kernels, it.worlds, WORTH, it.ms, it.silence, it.endgame)


def pimc_kernels(game: Game, rollout: str) -> SimpleNamespace:
    """The compiled functions of `pimc` with a rule player to play worlds out."""
    sampler = SAMPLERS[game.name]
    with_solver = SimpleNamespace(**vars(sampler), solve=SOLVERS[game.name])
    return _kernels(pimc, game, rollout, with_solver)


def make_ismcts(game: Game, given: Mapping[str, str]) -> SearchAgent:
    """The agent `ismcts` with these settings."""
    it = read_settings("ismcts", given, IsmctsSettings)
    kernels = _kernels(ismcts, game, it.rollout, SAMPLERS[game.name])
    spec = spec_of("ismcts", it, "iterations")
    return SearchAgent(spec, game, kernels, it.iterations, VISITS, it.ms, it.silence)


def make_oracle(game: Game, given: Mapping[str, str]) -> SearchAgent:
    """The agent `oracle` with these settings: tree search in the one world that is."""
    it = read_settings("oracle", given, OracleSettings)
    truth = SimpleNamespace(**{name: getattr(oracle, name) for name in _OF_A_SAMPLER})
    kernels = _kernels(ismcts, game, it.rollout, truth)
    spec = spec_of("oracle", it, "iterations")
    return SearchAgent(spec, game, kernels, it.iterations, VISITS, it.ms, sees_all_hands=True)


_OF_A_SAMPLER = ("NAME", "plan_worlds", "weigh", "draw_world")


def _kernels(
    search: ModuleType, game: Game, rollout: str, sampler: SimpleNamespace
) -> SimpleNamespace:
    if rollout not in PLAYERS:
        raise BadInput(f"rollout={rollout}; allowed are {', '.join(PLAYERS)}")
    return specialise(
        search.TEMPLATES,
        calls=sampler,
        rules=game.rules,
        player=PLAYERS[rollout][game.name],
        worths=WORTHS[game.name],
    )
