"""Partners of two kinds: `team:A+B` is A in the first seat of a pair and B in the second."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from trysim.agents.thoughts import Evaluation, evaluate
from trysim.envs.decisions import Agent, Decisions, sees_all_hands
from trysim.envs.games import BadInput, Game
from trysim.envs.rules.row import SEAT

N_PAIRS = 2


class Team:
    """Two agents as one pair."""

    def __init__(self, first: Agent, second: Agent) -> None:
        self.spec = f"team:{first.spec}+{second.spec}"
        self._agents = first, second

    @property
    def digest(self) -> str:
        """Digests of both, where they have any."""
        found = [str(getattr(agent, "digest", "")) for agent in self._agents]
        return "+".join(found) if any(found) else ""

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """A legal action for each decision (N,)."""
        is_second = decisions.views[:, SEAT] >= N_PAIRS
        actions = np.empty(decisions.n, np.int64)
        for agent, mine in zip(self._agents, (~is_second, is_second), strict=True):
            if mine.any():
                actions[mine] = agent.act(decisions.only(mine))
        return actions

    def evaluate(self, decision: Decisions) -> Evaluation:
        """What the agent in the seat to act says of one decision."""
        agent = self._agents[int(decision.views[0, SEAT]) >= N_PAIRS]
        return evaluate(agent, decision)


def make_team(game: Game, spec: str, make_agent: Callable[[str, Game], Agent]) -> Team:
    """The pair that `spec` names; BadInput if the game has no pairs or these are not two."""
    if game.name != "semerik":
        raise BadInput(f"agent {spec!r}: there are no partners in {game.name}")
    names = spec.partition(":")[2].split("+")
    if len(names) != N_PAIRS or not all(names):
        raise BadInput(f"agent {spec!r}: write team:A+B, the agents of both partners")
    first, second = (make_agent(name, game) for name in names)
    for agent in (first, second):
        if sees_all_hands(agent):
            raise BadInput(f"agent {spec!r}: {agent.spec} sees all hands and is no partner")
    return Team(first, second)
