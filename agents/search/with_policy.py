"""`search`: a learned policy and `pimc`, asked together.

What the policy's network says of an action and what the action is worth in sampled worlds are two
estimates of one thing: the network knows what to expect over all worlds, roughly; the worlds know
this very hand, with the noise of a sample. Their weighted sum decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents.policy import PolicyAgent, load_policy
from trysim.agents.search.agents import SearchAgent, pimc_kernels, read_settings, spec_of
from trysim.agents.search.solver import new_workspace
from trysim.agents.search.standing import standings_of
from trysim.agents.thoughts import WORTH, Evaluation
from trysim.envs.batch import BatchEnv
from trysim.envs.decisions import Decisions
from trysim.envs.engine import next_word
from trysim.envs.games import BadInput, Game
from trysim.envs.rules.jit import Row

Floats = npt.NDArray[np.float64]

_N_TABLES, _N_STEPS, _FEW_WORLDS = 16, 12, 20  # that tell what a logit is worth


@dataclass(frozen=True)
class SearchSettings:
    """How `search` searches: what is not given in its spec."""

    policy: str = ""
    worlds: int = 100
    weight: float = 2.0
    endgame: int = 0
    rollout: str = "expert"


class PolicySearch:
    """Adds up what actions are worth in `n` worlds and `weight` times what the policy says."""

    def __init__(
        self,
        spec: str,
        game: Game,
        policy: PolicyAgent,
        kernels: Any,
        n: int,
        weight: float,
        endgame: int,
    ) -> None:
        self.spec, self.digest = spec, policy.digest
        self._game, self._policy, self._kernels = game, policy, kernels
        self._n, self._weight, self._endgame = n, weight, endgame
        self._work, self._standings = new_workspace(game), standings_of(game)
        self._worth_of_logit: dict[tuple[str, ...], float] = {}

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """A legal action for each decision (N,)."""
        logits = self._policy.logits(decisions).astype(np.float64)
        standings, which = self._standings.of_all(decisions.views)
        for i in range(decisions.n):
            if self._kernels.is_searched(decisions.views[i], decisions.legal[i]):
                word, standing = int(next_word(decisions.random[i])), standings[which[i]]
                logits[i] = self._together(decisions.views[i], logits[i], word, standing)
        return logits.argmax(1)

    def evaluate(self, decision: Decisions) -> Evaluation:
        """What one decision's actions are worth, all told; the policy's part counts from its mean.

        Of no kind where there is nothing to search.
        """
        view, logits = decision.views[0], self._policy.logits(decision)[0].astype(np.float64)
        if not self._kernels.is_searched(view, decision.legal[0]):
            return "", logits
        standings, which = self._standings.of_all(decision.views)
        word = int(next_word(decision.random[0]))
        return WORTH, self._together(view, logits, word, standings[which[0]])

    def _together(self, view: Row, logits: Floats, word: int, standing: Floats) -> Floats:
        """Worths in worlds and what the policy says (actions,); -inf for illegal actions."""
        worths = self._worths(view, self._n, word, standing)
        thought = logits - logits[np.isfinite(logits)].mean()
        return worths + thought * self._unit(view) * self._weight

    def _worths(self, view: Row, n: int, word: int, standing: Floats) -> Floats:
        """What actions are worth in `n` worlds on average (actions,)."""
        scores = np.zeros(self._game.n_actions)
        self._kernels.look_ahead(view, n, False, word, standing, self._endgame, self._work, scores)
        return scores / n

    def _unit(self, view: Row) -> float:
        """What a logit is worth under the view's options, from positions of random play.

        The slope of worths in worlds over logits: 0 if the logits tell nothing.
        """
        options = self._game.options_of(view)
        key = tuple(str(value) for value in options.values())
        if key not in self._worth_of_logit:
            self._worth_of_logit[key] = self._measured_unit({**options, "dealer": None})
        return self._worth_of_logit[key]

    def _measured_unit(self, options: dict[str, Any]) -> float:
        game, rng = self._game, np.random.default_rng(0)
        env, together, squares = BatchEnv(game.name, _N_TABLES, options), 0.0, 1e-9
        env.reset(0)
        tables = np.arange(_N_TABLES)
        for _ in range(_N_STEPS):
            views, legal = np.empty_like(env.rows), np.empty(_N_TABLES, np.int64)
            game.kernels.view_tables(env.rows, tables, views, legal)
            logits = self._policy.logits(Decisions(game, views, legal, legal))
            standings, which = self._standings.of_all(views)
            for i in tables:
                if not self._kernels.is_searched(views[i], legal[i]):
                    continue
                able = np.isfinite(logits[i])
                worths = self._worths(views[i], _FEW_WORLDS, int(i), standings[which[i]])[able]
                thought = logits[i, able].astype(np.float64)
                thought -= thought.mean()
                together += float(thought @ (worths - worths.mean()))
                squares += float(thought @ thought)
            env.step(np.where(env.mask, rng.random(env.mask.shape), -1).argmax(1))
        return max(0.0, together / squares)


def make_search(game: Game, given: Mapping[str, str]) -> PolicySearch:
    """The agent `search` with these settings; BadInput without a policy."""
    it = read_settings("search", given, SearchSettings)
    if not it.policy:
        raise BadInput(f"search: a policy is needed: search:policy={game.name}")
    policy = load_policy(game, it.policy)
    settings = replace(it, policy=policy.spec.partition(":")[2])
    spec = spec_of("search", settings, "policy")
    kernels = pimc_kernels(game, it.rollout)
    SearchAgent(spec, game, kernels, it.worlds, WORTH)  # compiles them, and says so
    return PolicySearch(spec, game, policy, kernels, it.worlds, it.weight, it.endgame)
