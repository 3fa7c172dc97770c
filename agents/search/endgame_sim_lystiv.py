"""What the endgame solver has to know of Сім листів: two sides where two are left, else seats."""

from trysim.envs.rules import sim_lystiv
from trysim.envs.rules.bits import lowest, n_bits
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import SEAT

NAME = "search_sim_lystiv"
FIRST_WORD = sim_lystiv.EXITS  # from here on, playing a card changes words
N_WORDS = sim_lystiv.STATE.itemsize // 8
ENTRY_WORDS = 8  # of the solver's table: an outcome for each of five seats

_TRICK_BITS = _SEAT_BITS = 3


# Sides and units --------------------------------------------------------------------------------
@rule
def is_two_sided(state: Row) -> bool:
    """Whether the deal is a game of two sides, one's worth being the other's loss."""
    if state[sim_lystiv.N_ACTIVE] != 2:
        return False
    return state[sim_lystiv.ALL_OUT] == sim_lystiv.ALL_OUT_RACE or not can_all_leave(state)


@rule
def was_in(state: Row, seat: int) -> bool:
    """Whether the seat took part in the deal."""
    return state[sim_lystiv.HANDS + seat] | state[sim_lystiv.PLAYED + seat] != 0


@rule
def can_all_leave(state: Row) -> bool:
    """Whether all can still have seven tricks after this deal."""
    left = sim_lystiv.HAND_SIZE - state[sim_lystiv.N_TRICKS]
    for seat in range(sim_lystiv.n_players(state)):
        have = state[sim_lystiv.COUNTS + seat]
        if was_in(state, seat):
            have += state[sim_lystiv.TRICKS + seat]
        left -= max(sim_lystiv.TRICKS_TO_LEAVE - have, 0)
    return left >= 0


@rule
def first_seat(state: Row) -> int:
    """The lowest seat that took part in the deal: side 0 where there are two."""
    seat = 0
    while not was_in(state, seat):
        seat += 1
    return seat


@rule
def second_seat(state: Row) -> int:
    """The highest seat that took part in the deal: side 1 where there are two."""
    seat = sim_lystiv.n_players(state) - 1
    while not was_in(state, seat):
        seat -= 1
    return seat


@rule
def side(state: Row, seat: int) -> int:
    """The side, 0 or 1, a seat is on."""
    return 1 if seat != first_seat(state) else 0


@rule
def is_additive(state: Row) -> bool:
    """Whether, with two sides, only the number of tricks matters and not their order."""
    return state[sim_lystiv.N_ACTIVE] == 2 and not can_all_leave(state)


@rule
def taken(state: Row, seat: int) -> int:
    """The tricks in this deal of the side that `seat` is on."""
    return state[sim_lystiv.TRICKS + first_seat(state)]


@rule
def to_come(state: Row) -> int:
    """The tricks not taken yet."""
    return sim_lystiv.HAND_SIZE - state[sim_lystiv.N_TRICKS]


@rule
def secured(state: Row) -> int:
    """The tricks that the winner of the trick is sure of; minus as many for side 1."""
    winner, against = state[SEAT], sim_lystiv.left_of(state, state[SEAT])
    units = 0
    if state[sim_lystiv.N_PLAYED]:
        if state[sim_lystiv.HANDS + winner] & state[sim_lystiv.BEATS]:
            return 0
        winner, against = against, winner
        units = 1
    units += sure_tricks(state, state[sim_lystiv.HANDS + winner], state[sim_lystiv.HANDS + against])
    return units if side(state, winner) == 0 else -units


@rule
def sure_tricks(state: Row, hand: int, other: int) -> int:
    """The tricks that a leader with this hand is sure of against one other hand."""
    masters = sure(hand, other)
    trumps = state[sim_lystiv.TRUMPS]
    tricks = n_bits(masters & trumps)
    if tricks >= n_bits(other & trumps):  # no trumps are left after these
        return n_bits(hand & trumps) + n_bits(masters & ~trumps)
    for suit in range(sim_lystiv.N_SUITS):
        cards = sim_lystiv.SUIT[suit] & ~trumps
        tricks += min(n_bits(masters & cards), n_bits(other & cards))  # while he must follow
    return tricks


@rule
def sure(cards: int, others: int) -> int:
    """Those of `cards` that none of the `others` beats in its suit."""
    found = 0
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if not sim_lystiv.ABOVE[card] & others:
            found |= 1 << card
    return found


@rule
def conclude(state: Row, units: Row) -> None:
    """End the deal with `units[0]` tricks taken by side 0, the rest by the other."""
    seat = first_seat(state)
    give_tricks(state, seat, units[0])
    give_tricks(state, sim_lystiv.left_of(state, seat), sim_lystiv.HAND_SIZE - units[0])
    sim_lystiv._end_deal(state)


@rule
def give_tricks(state: Row, seat: int, tricks: int) -> None:
    """Set the tricks of a seat, which leaves with its seventh."""
    count = state[sim_lystiv.COUNTS + seat]
    before = count + state[sim_lystiv.TRICKS + seat]
    state[sim_lystiv.TRICKS + seat] = tricks
    if before < sim_lystiv.TRICKS_TO_LEAVE <= count + tricks:
        state[sim_lystiv.EXITS + state[sim_lystiv.N_EXITS]] = seat
        state[sim_lystiv.N_EXITS] += 1


@rule
def gain(state: Row, outcome: Row, seat: int) -> int:
    """How good an outcome is for a seat: its worth."""
    return outcome[seat]


@rule
def context(state: Row) -> int:
    """What was taken so far, as far as it matters, in at most 39 bits."""
    packed = 0
    for seat in range(sim_lystiv.n_players(state)):
        packed |= state[sim_lystiv.TRICKS + seat] << _TRICK_BITS * seat
    shift = _TRICK_BITS * sim_lystiv.N_SEATS
    for place in range(state[sim_lystiv.OLD_EXITS], state[sim_lystiv.N_EXITS]):
        packed |= (state[sim_lystiv.EXITS + place] + 1) << shift
        shift += _SEAT_BITS
    return packed


# Cards ------------------------------------------------------------------------------------------
@rule
def above(state: Row, card: int) -> int:
    """The cards of its suit that beat a card."""
    return sim_lystiv.ABOVE[card]


@rule
def like(state: Row, card: int) -> int:
    """The cards of its suit that count as much as a card: all."""
    return sim_lystiv.SUIT_OF[card]


@rule
def first(state: Row, cards: int, others: int) -> int:
    """The card to try next, of `cards`; `others` are those in the other hands."""
    if state[sim_lystiv.N_PLAYED] == 0:
        masters = sure(cards, others)
        return lowest(masters if masters else cards)
    winning = cards & state[sim_lystiv.BEATS]
    return lowest(winning if winning else cards)
