"""What an agent thinks of a decision: what it would do, and a number for every action.

An agent tells by a method `evaluate(decision)`, of one decision, that returns what the numbers are
(one of the kinds below) and the numbers (n_actions,); those of illegal actions mean nothing. Rule
players have no numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from trysim.envs.decisions import Agent, Decisions

PROBABILITY = "probability"  # of being played
WORTH = "worth"  # mean reward that is expected
VISITS = "visits"  # share of the search
KINDS = (PROBABILITY, WORTH, VISITS)

Evaluation = tuple[str, npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Thought:
    """The action that an agent would take (a text), and its numbers by action."""

    choice: str
    kind: str = ""
    numbers: dict[str, float] = field(default_factory=dict)


def evaluate(agent: Agent, decision: Decisions) -> Evaluation:
    """What the agent tells of one decision; of no kind if it tells nothing."""
    tell: Callable[[Decisions], Evaluation] | None = getattr(agent, "evaluate", None)
    return tell(decision) if tell else ("", np.zeros(decision.game.n_actions))


def think(agent: Agent, decision: Decisions) -> Thought:
    """What the agent thinks of one decision."""
    game, view = decision.game, decision.views[0]
    choice = game.action_text(view, int(agent.act(decision)[0]))
    legal = [action for action in range(game.n_actions) if int(decision.legal[0]) >> action & 1]
    kind, numbers = evaluate(agent, decision) if len(legal) > 1 else ("", None)
    if not kind or numbers is None:
        return Thought(choice)
    told = {game.action_text(view, action): float(numbers[action]) for action in legal}
    return Thought(choice, kind, told)
