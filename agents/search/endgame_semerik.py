"""What the endgame solver has to know of Семерик: two pairs, and counting cards as units."""

import numpy as np

from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest, n_bits
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import SEAT

NAME = "search_semerik"
FIRST_WORD = semerik.LEADER  # from here on, playing a card changes words
N_WORDS = semerik.STATE.itemsize // 8
ENTRY_WORDS = 4  # of the solver's table: two bounds

# The cards that count, and for each card those that count alike, under each choice of `aces`.
COUNTING = np.array(
    [semerik.FIGURE_SET | semerik.ACE_SET, semerik.FIGURE_SET, semerik.FIGURE_SET], np.int64
)
_ACES_APART = np.array([False, False, True])


def _alike(aces: int, card: int) -> int:
    counting = int(COUNTING[aces])
    if counting >> card & 1:
        return counting
    others = semerik.ALL_CARDS & ~counting
    if not _ACES_APART[aces]:
        return others
    return semerik.ACE_SET if semerik.ACE_SET >> card & 1 else others & ~semerik.ACE_SET


LIKE = np.array([[_alike(a, card) for card in range(semerik.N_CARDS)] for a in range(3)], np.int64)
_FIGURE_BITS, _ACE_BITS, _TRICK_BITS = 5, 3, 4


# Sides and units --------------------------------------------------------------------------------
@rule
def is_two_sided(state: Row) -> bool:
    """Whether the deal is a game of two sides, one's worth being the other's loss."""
    return True


@rule
def first_seat(state: Row) -> int:
    """A seat of side 0."""
    return 0


@rule
def second_seat(state: Row) -> int:
    """A seat of side 1."""
    return 1


@rule
def side(state: Row, seat: int) -> int:
    """The side, 0 or 1, a seat is on."""
    return seat % semerik.N_PAIRS


@rule
def is_additive(state: Row) -> bool:
    """Whether only the number of counting cards that pair 0 takes still matters."""
    if state[semerik.ACES] == semerik.ACES_ONE or state[semerik.LAST_TRICK]:
        return False
    return not is_slam_possible(state)


@rule
def is_slam_possible(state: Row) -> bool:
    """Whether a pair can still take all ten tricks, or a player nine."""
    left = semerik.HAND_SIZE - state[semerik.N_TRICKS]
    for seat in range(semerik.N_SEATS):
        if state[semerik.TRICKS + seat] + left >= semerik.HAND_SIZE - 1:
            return True
    for pair in range(semerik.N_PAIRS):
        if state[semerik.TRICKS + pair] + state[semerik.TRICKS + pair + semerik.N_PAIRS] == 0:
            return True
    return False


@rule
def taken(state: Row, seat: int) -> int:
    """The counting cards that the pair of `seat` has taken."""
    return n_bits(state[semerik.TAKEN + seat % semerik.N_PAIRS] & COUNTING[state[semerik.ACES]])


@rule
def to_come(state: Row) -> int:
    """The counting cards not taken yet."""
    gone = state[semerik.TAKEN] | state[semerik.TAKEN + 1]
    return n_bits(COUNTING[state[semerik.ACES]] & ~gone)


@rule
def secured(state: Row) -> int:
    """The counting cards that the winner's pair is sure of; minus as many where that is pair 1.

    The winner is the leader, or who is winning and cannot be beaten any more.
    """
    winner = state[SEAT]
    if state[semerik.N_PLAYED]:
        winner = state[semerik.BEST_SEAT]
        if semerik.ABOVE[state[semerik.BEST]] & (later(state) | state[semerik.HANDS + state[SEAT]]):
            return 0
    units = n_bits(state[semerik.TRICK] & COUNTING[state[semerik.ACES]])
    units += sure_units(state, winner)
    return units if winner % semerik.N_PAIRS == 0 else -units


@rule
def sure_units(state: Row, leader: int) -> int:
    """The counting cards, none of those on the table, that the pair of the next leader is sure of.

    He goes on with his masters, the cards that no other hand beats, then with a card that a master
    of his partner's takes, who goes on with those he kept. The others give the least they can.
    """
    counting = COUNTING[state[semerik.ACES]]
    partner = (leader + semerik.N_PAIRS) % semerik.N_SEATS
    hand = state[semerik.HANDS + leader]
    masters = sure(hand, in_hands(state) & ~hand)
    partners = reachable(state, hand, state[semerik.HANDS + partner])
    n = n_bits(masters)
    kept = min(n_bits(partners), n_bits(hand) - n)
    units = n_bits(masters & counting)
    units += least(kept, partners, counting) + least(kept, hand & ~masters, counting)
    for seat in range(semerik.N_SEATS):
        if seat != leader:
            cards = state[semerik.HANDS + seat]
            to_give = n + n_bits(cards) - n_bits(hand)  # one to this trick, if still to play
            units += least(to_give if seat == partner else to_give + kept, cards, counting)
    return units


@rule
def reachable(state: Row, hand: int, partners: int) -> int:
    """The masters of a partner's hand, where `hand` has a card of the suit of one; else none."""
    masters = sure(partners, in_hands(state) & ~partners)
    if n_bits(partners) > n_bits(hand):
        masters &= ~semerik.SUIT_OF[state[semerik.BEST]]  # he may have to play these first
    for suit in range(semerik.N_SUITS):
        if hand & semerik.SUIT[suit] and masters & semerik.SUIT[suit]:
            return masters
    return 0


@rule
def least(n: int, cards: int, counting: int) -> int:
    """How many cards count, at least, among any `n` of `cards`."""
    return max(n - n_bits(cards & ~counting), 0)


@rule
def in_hands(state: Row) -> int:
    """The cards in all hands."""
    cards = 0
    for seat in range(semerik.N_SEATS):
        cards |= state[semerik.HANDS + seat]
    return cards


@rule
def conclude(state: Row, units: Row) -> None:
    """End the deal with `units[0]` counting cards taken by pair 0, the rest by the other."""
    cards = COUNTING[state[semerik.ACES]]
    state[semerik.TAKEN] = 0
    for _ in range(units[0]):
        state[semerik.TAKEN] |= cards & -cards
        cards &= cards - 1
    state[semerik.TAKEN + 1] = cards
    semerik._end_deal(state)


@rule
def context(state: Row) -> int:
    """What was taken so far, as far as it matters, in at most 39 bits."""
    pile = state[semerik.TAKEN]
    packed = taken(state, 0)
    if state[semerik.ACES] == semerik.ACES_ONE:
        packed |= n_bits(pile & semerik.ACE_SET) << _FIGURE_BITS
    if is_slam_possible(state):
        for seat in range(semerik.N_SEATS):
            shift = _FIGURE_BITS + _ACE_BITS + _TRICK_BITS * seat
            packed |= state[semerik.TRICKS + seat] << shift
    return packed


# Cards ------------------------------------------------------------------------------------------
@rule
def above(state: Row, card: int) -> int:
    """The cards of its suit that beat a card."""
    return semerik.ABOVE[card]


@rule
def like(state: Row, card: int) -> int:
    """The cards of its suit that count as much as a card."""
    return LIKE[state[semerik.ACES], card] & semerik.SUIT_OF[card]


@rule
def first(state: Row, cards: int, others: int) -> int:
    """The card to try next, of `cards`; `others` are those in the other hands."""
    counting = COUNTING[state[semerik.ACES]]
    if state[semerik.N_PLAYED] == 0:
        masters = sure(cards, others)
        if masters:
            return lowest(masters)
        return cheapest(cards, counting)
    winning = cards & semerik.ABOVE[state[semerik.BEST]]
    if winning:
        masters = sure(winning, later(state))
        return lowest(masters if masters else winning)
    is_partners = side(state, state[semerik.BEST_SEAT]) == side(state, state[SEAT])
    is_safe = not semerik.ABOVE[state[semerik.BEST]] & later(state)
    if is_partners and is_safe and cards & counting:
        return lowest(cards & counting)
    return cheapest(cards, counting)


@rule
def later(state: Row) -> int:
    """The cards of the seats that play to the trick after the seat to act."""
    cards = 0
    seat = state[SEAT]
    for _ in range(semerik.N_SEATS - 1 - state[semerik.N_PLAYED]):
        seat = semerik.left_of(seat)
        cards |= state[semerik.HANDS + seat]
    return cards


@rule
def sure(cards: int, others: int) -> int:
    """Those of `cards` that none of the `others` beats in its suit."""
    found = 0
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if not semerik.ABOVE[card] & others:
            found |= 1 << card
    return found


@rule
def cheapest(cards: int, counting: int) -> int:
    """A card that does not count if possible."""
    plain = cards & ~counting
    return lowest(plain if plain else cards)
