"""`greedy` in Семнадцать: takes the tricks it can take cheaply, throws what is worth least."""

from trysim.agents.picking import highest_rank, lowest_rank
from trysim.envs.rules import semnadtsat
from trysim.envs.rules.bits import lowest, n_bits
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import NAME_TRUMP, PHASE, SEAT

NAME = "greedy_semnadtsat"

_ENOUGH = 14  # points with which one stops taking tricks under `scoring="seventeen"`


@rule
def choose(view: Row, legal: int, word: int) -> int:
    """The action of the seat to act, from what it knows."""
    if view[PHASE] == NAME_TRUMP:
        return _longest_suit(view, legal >> semnadtsat.N_CARDS) + semnadtsat.N_CARDS
    if view[semnadtsat.SCORING] and view[semnadtsat.POINTS + view[SEAT]] >= _ENOUGH:
        return _duck(view, legal)
    return _take(view, legal)


@rule
def _longest_suit(view: Row, suits: int) -> int:
    hand = view[semnadtsat.HANDS + view[SEAT]]
    best = lowest(suits)
    for suit in range(semnadtsat.N_SUITS):
        if suits >> suit & 1:
            longer = n_bits(hand & semnadtsat.SUIT[suit]) - n_bits(hand & semnadtsat.SUIT[best])
            if longer > 0:
                best = suit
    return best


@rule
def _take(view: Row, legal: int) -> int:
    """Take a trick that is worth it, or that nobody can take back; else throw the cheapest."""
    last = view[semnadtsat.N_PLAYED] == semnadtsat.n_players(view) - 1
    if view[semnadtsat.N_PLAYED] == 0:
        masters = _masters(view, legal)
        return lowest_rank(masters, semnadtsat.N_RANKS) if masters else _cheapest(legal)
    winning = legal & view[semnadtsat.BEATS]
    rich = view[semnadtsat.TRICK] & (semnadtsat.SEVENS | semnadtsat.TWOS)
    if winning and (last or rich):
        return lowest_rank(winning, semnadtsat.N_RANKS)
    masters = _masters(view, winning)
    return lowest_rank(masters, semnadtsat.N_RANKS) if masters else _cheapest(legal)


@rule
def _duck(view: Row, legal: int) -> int:
    """Lose the trick, with a seven or two where that is possible."""
    losing = legal
    if view[semnadtsat.N_PLAYED]:
        losing &= ~view[semnadtsat.BEATS]
    if not losing:
        return highest_rank(legal, semnadtsat.N_RANKS)
    if view[semnadtsat.N_PLAYED] == 0:
        return lowest_rank(losing, semnadtsat.N_RANKS)
    gifts = losing & (semnadtsat.SEVENS | semnadtsat.TWOS)
    return highest_rank(gifts if gifts else losing, semnadtsat.N_RANKS)


@rule
def _masters(view: Row, cards: int) -> int:
    """The cards that no card still out can beat."""
    unseen = semnadtsat.unseen(view, view[SEAT])
    masters = 0
    while cards:
        card = lowest(cards)
        beaten_by = semnadtsat.above(card, view[semnadtsat.LOW_JACKS])
        if not view[semnadtsat.TRUMPS] >> card & 1:
            beaten_by |= view[semnadtsat.TRUMPS]
        if not beaten_by & unseen:
            masters |= 1 << card
        cards &= cards - 1
    return masters


@rule
def _cheapest(cards: int) -> int:
    """The lowest card, no seven and no two if possible."""
    plain = cards & ~(semnadtsat.SEVENS | semnadtsat.TWOS)
    return lowest_rank(plain if plain else cards, semnadtsat.N_RANKS)
