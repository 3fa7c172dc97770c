"""A rating of agents from who won which deals: one number an agent, beside the matrix."""

from collections.abc import Sequence

from trysim.arena.results import Rating
from trysim.arena.statistics import Floats

RATED_DEALS = 1000  # of each pair: more make the rating no better, as it follows the last ones
_EVEN = 1e-9  # values closer to zero are draws


def ratings_of(
    agents: Sequence[str], pairs: Sequence[tuple[str, str]], values: Floats
) -> tuple[Rating, ...]:
    """OpenSkill ratings (Plackett-Luce), the highest first, from the values (deals, pairs).

    Every deal of every pair is one game, won by whom its value favours, in the order of the deals.
    By how much is not counted: hence a summary, and no substitute for the means.
    """
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    rated = {agent: model.rating() for agent in agents}
    for of_deal in values[:RATED_DEALS]:
        for (a, b), value in zip(pairs, of_deal, strict=True):
            ranks = [0.0, 0.0] if abs(value) < _EVEN else [float(value < 0), float(value > 0)]
            (rated[a],), (rated[b],) = model.rate([[rated[a]], [rated[b]]], ranks=ranks)
    found = [Rating(agent, rating.mu, rating.sigma) for agent, rating in rated.items()]
    return tuple(sorted(found, key=lambda rating: -rating.mu))
