"""`greedy`: a simple rule player for each game. It looks one card ahead and remembers what is gone.

Each player is a compiled function of the seat's view (the row with everything hidden blank), the
set of legal actions and a random word.
"""

import numpy as np
import numpy.typing as npt

from trysim.envs.decisions import Decisions
from trysim.envs.engine import below, random_bits
from trysim.envs.games import Game
from trysim.envs.rules import semerik, semnadtsat, sim_lystiv
from trysim.envs.rules.bits import lowest, n_bits, pick
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY, SEAT


class GreedyAgent:
    """Takes the tricks it can take cheaply, and throws what is worth least."""

    spec = "greedy"

    def __init__(self, game: Game) -> None:
        self._act = {
            "sim_lystiv": greedy_sim_lystiv,
            "semnadtsat": greedy_semnadtsat,
            "semerik": greedy_semerik,
        }[game.name]

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """A legal action for each decision (N,)."""
        actions = np.empty(decisions.n, np.int64)
        self._act(decisions.views, decisions.legal, decisions.random, actions)
        return actions


# Picking cards ----------------------------------------------------------------------------------
@rule
def lowest_rank(cards: int, n_ranks: int) -> int:
    """The card of the lowest rank (by place in the deck), of the first suit among equals."""
    best = lowest(cards)
    while cards:
        card = lowest(cards)
        if card % n_ranks < best % n_ranks:
            best = card
        cards &= cards - 1
    return best


@rule
def highest_rank(cards: int, n_ranks: int) -> int:
    """The card of the highest rank (by place in the deck), of the first suit among equals."""
    best = lowest(cards)
    while cards:
        card = lowest(cards)
        if card % n_ranks > best % n_ranks:
            best = card
        cards &= cards - 1
    return best


# Семерик ----------------------------------------------------------------------------------------
_COUNTING = semerik.FIGURE_SET | semerik.ACE_SET


@rule
def greedy_semerik(views: Row, legal: Row, words: Row, out: Row) -> None:
    """Write an action for each decision."""
    for i in range(legal.size):
        out[i] = _semerik(views[i], legal[i])


@rule
def _semerik(view: Row, legal: int) -> int:
    if legal >> semerik.N_CARDS:
        return lowest(legal >> semerik.N_CARDS) + semerik.N_CARDS  # points for nothing
    masters = _semerik_masters(view, legal)
    if view[semerik.N_PLAYED] == 0:
        if masters:
            return highest_rank(masters, semerik.N_RANKS)
        return _semerik_cheapest(legal)
    if legal & semerik.ABOVE[view[semerik.BEST]]:
        beating = legal & semerik.ABOVE[view[semerik.BEST]]
        sure = masters & beating
        return lowest_rank(sure if sure else beating, semerik.N_RANKS)
    partner_wins = (view[semerik.BEST_SEAT] - view[SEAT]) % 2 == 0
    if partner_wins and legal & _COUNTING:
        return lowest_rank(legal & _COUNTING, semerik.N_RANKS)  # feed the partner's trick
    return _semerik_cheapest(legal)


@rule
def _semerik_masters(view: Row, cards: int) -> int:
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
def _semerik_cheapest(cards: int) -> int:
    """The lowest card, one that does not count if possible."""
    plain = cards & ~_COUNTING
    return lowest_rank(plain if plain else cards, semerik.N_RANKS)


# Семнадцать -------------------------------------------------------------------------------------
_ENOUGH = 14  # points with which one stops taking tricks under `scoring="seventeen"`


@rule
def greedy_semnadtsat(views: Row, legal: Row, words: Row, out: Row) -> None:
    """Write an action for each decision."""
    for i in range(legal.size):
        out[i] = _semnadtsat(views[i], legal[i])


@rule
def _semnadtsat(view: Row, legal: int) -> int:
    if view[PHASE] == NAME_TRUMP:
        return _longest_suit(view, legal >> semnadtsat.N_CARDS) + semnadtsat.N_CARDS
    if view[semnadtsat.SCORING] and view[semnadtsat.POINTS + view[SEAT]] >= _ENOUGH:
        return _semnadtsat_duck(view, legal)
    return _semnadtsat_take(view, legal)


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
def _semnadtsat_take(view: Row, legal: int) -> int:
    """Take a trick that is worth it, or that nobody can take back; else throw the cheapest."""
    last = view[semnadtsat.N_PLAYED] == semnadtsat.n_players(view) - 1
    if view[semnadtsat.N_PLAYED] == 0:
        masters = _semnadtsat_masters(view, legal)
        return lowest_rank(masters, semnadtsat.N_RANKS) if masters else _semnadtsat_cheapest(legal)
    winning = legal & view[semnadtsat.BEATS]
    rich = view[semnadtsat.TRICK] & (semnadtsat.SEVENS | semnadtsat.TWOS)
    if winning and (last or rich):
        return lowest_rank(winning, semnadtsat.N_RANKS)
    masters = _semnadtsat_masters(view, winning)
    return lowest_rank(masters, semnadtsat.N_RANKS) if masters else _semnadtsat_cheapest(legal)


@rule
def _semnadtsat_duck(view: Row, legal: int) -> int:
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
def _semnadtsat_masters(view: Row, cards: int) -> int:
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
def _semnadtsat_cheapest(cards: int) -> int:
    """The lowest card, no seven and no two if possible."""
    plain = cards & ~(semnadtsat.SEVENS | semnadtsat.TWOS)
    return lowest_rank(plain if plain else cards, semnadtsat.N_RANKS)


# Сім листів -------------------------------------------------------------------------------------
@rule
def greedy_sim_lystiv(views: Row, legal: Row, words: Row, out: Row) -> None:
    """Write an action for each decision."""
    for i in range(legal.size):
        out[i] = _sim_lystiv(views[i], legal[i], words[i])


@rule
def _sim_lystiv(view: Row, legal: int, word: int) -> int:
    if view[PHASE] != PLAY:
        if legal & 1:
            return pick(legal, below(random_bits(word), n_bits(legal)))  # one cut is like another
        return lowest(legal)  # strike correctly
    if view[sim_lystiv.N_PLAYED] == 0:
        masters = _sim_lystiv_masters(view, legal)
        return highest_rank(masters if masters else legal, sim_lystiv.N_RANKS)
    winning = legal & view[sim_lystiv.BEATS]
    if not winning:
        return _sim_lystiv_cheapest(view, legal)
    last = view[sim_lystiv.N_PLAYED] == view[sim_lystiv.N_ACTIVE] - 1
    masters = _sim_lystiv_masters(view, winning)
    if last or not masters:
        return _sim_lystiv_cheapest(view, winning)
    return _sim_lystiv_cheapest(view, masters)


@rule
def _sim_lystiv_masters(view: Row, cards: int) -> int:
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
def _sim_lystiv_cheapest(view: Row, cards: int) -> int:
    """The lowest card, no trump if possible."""
    plain = cards & ~view[sim_lystiv.TRUMPS]
    return lowest_rank(plain if plain else cards, sim_lystiv.N_RANKS)
