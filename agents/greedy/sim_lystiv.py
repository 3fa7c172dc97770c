"""`greedy` in Сім листів: takes the tricks it can take cheaply, throws what is worth least."""

from trysim.agents.picking import highest_rank, lowest_rank
from trysim.envs.engine import below, random_bits
from trysim.envs.rules import sim_lystiv
from trysim.envs.rules.bits import lowest, n_bits, pick
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import PHASE, PLAY, SEAT

NAME = "greedy_sim_lystiv"


@rule
def choose(view: Row, legal: int, word: int) -> int:
    """The action of the seat to act, from what it knows."""
    if view[PHASE] != PLAY:
        if legal & 1:
            return pick(legal, below(random_bits(word), n_bits(legal)))  # one cut is like another
        return lowest(legal)  # strike correctly
    if view[sim_lystiv.N_PLAYED] == 0:
        masters = _masters(view, legal)
        return highest_rank(masters if masters else legal, sim_lystiv.N_RANKS)
    winning = legal & view[sim_lystiv.BEATS]
    if not winning:
        return _cheapest(view, legal)
    last = view[sim_lystiv.N_PLAYED] == view[sim_lystiv.N_ACTIVE] - 1
    masters = _masters(view, winning)
    if last or not masters:
        return _cheapest(view, winning)
    return _cheapest(view, masters)


@rule
def _masters(view: Row, cards: int) -> int:
    """The cards that no card still out can beat."""
    unseen = sim_lystiv.unseen(view, view[SEAT])
    masters = 0
    while cards:
        card = lowest(cards)
        beaten_by = sim_lystiv.ABOVE[card]
        if not view[sim_lystiv.TRUMPS] >> card & 1:
            beaten_by |= view[sim_lystiv.TRUMPS]
        if not beaten_by & unseen:
            masters |= 1 << card
        cards &= cards - 1
    return masters


@rule
def _cheapest(view: Row, cards: int) -> int:
    """The lowest card, no trump if possible."""
    plain = cards & ~view[sim_lystiv.TRUMPS]
    return lowest_rank(plain if plain else cards, sim_lystiv.N_RANKS)
