"""`greedy` in Семерик: takes the tricks it can take cheaply, throws what is worth least."""

from trysim.agents.picking import highest_rank, lowest_rank
from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import SEAT

NAME = "greedy_semerik"

_COUNTING = semerik.FIGURE_SET | semerik.ACE_SET


@rule
def choose(view: Row, legal: int, word: int) -> int:
    """The action of the seat to act, from what it knows."""
    if legal >> semerik.N_CARDS:
        return lowest(legal >> semerik.N_CARDS) + semerik.N_CARDS  # points for nothing
    masters = _masters(view, legal)
    if view[semerik.N_PLAYED] == 0:
        if masters:
            return highest_rank(masters, semerik.N_RANKS)
        return _cheapest(legal)
    if legal & semerik.ABOVE[view[semerik.BEST]]:
        beating = legal & semerik.ABOVE[view[semerik.BEST]]
        sure = masters & beating
        return lowest_rank(sure if sure else beating, semerik.N_RANKS)
    partner_wins = (view[semerik.BEST_SEAT] - view[SEAT]) % 2 == 0
    if partner_wins and legal & _COUNTING:
        return lowest_rank(legal & _COUNTING, semerik.N_RANKS)  # feed the partner's trick
    return _cheapest(legal)


@rule
def _masters(view: Row, cards: int) -> int:
    """The cards that no card still out can beat."""
    unseen = semerik.unseen(view, view[SEAT])
    masters = 0
    while cards:
        card = lowest(cards)
        if not semerik.ABOVE[card] & unseen:
            masters |= 1 << card
        cards &= cards - 1
    return masters


@rule
def _cheapest(cards: int) -> int:
    """The lowest card, one that does not count if possible."""
    plain = cards & ~_COUNTING
    return lowest_rank(plain if plain else cards, semerik.N_RANKS)
