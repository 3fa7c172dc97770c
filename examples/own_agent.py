r"""An agent of one's own in the arena, named like any other.

python examples/own_agent.py
trysim arena semerik --agents python:examples/own_agent.py:LowCards greedy random \
        --deals 500 --option horizon=deal
"""

from trysim.arena import Comparison, compare
from trysim.envs.decisions import Decisions
from trysim.envs.games import Game


class LowCards:
    """Always the lowest legal card; declares whatever it can."""

    def __init__(self, game: Game) -> None:
        self.n_cards, self.n_ranks = len(game.deck), len(game.deck) // 4

    def act(self, decisions: Decisions) -> list[int]:
        """A legal action for each decision."""
        return [self.choose(int(legal)) for legal in decisions.legal]

    def choose(self, legal: int) -> int:
        """The action of the set `legal` that is no card, else that of the lowest rank."""
        actions = [action for action in range(legal.bit_length()) if legal >> action & 1]
        return min(actions, key=lambda a: a % self.n_ranks if a < self.n_cards else -1)


def main(deals: int = 200) -> Comparison:
    """Compare it with the rule players."""
    me = f"python:{__file__}:LowCards"
    return compare(
        "semerik", [me, "random", "greedy"], deals, seed=1, options={"horizon": "deal"}, workers=1
    )


if __name__ == "__main__":
    from rich import print

    print(main().table())
