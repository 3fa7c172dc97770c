"""Worlds: whole tables that agree with everything a seat knows, each as likely as any other.

Hidden cards go to *places*: the hands of the others, and the stock of cards that were not dealt. A
card may go to some of the places only (`may_hold`), a place takes so many cards. Cards of the same
choice of places form a *kind*. How many ways there are to deal out the kinds, one after another, is
counted exactly from the last to the first (dynamic programming over the room left in each place);
a world is then drawn kind by kind, each split in proportion to its ways, and within a split by
shuffling. So all worlds that respect `may_hold` and the numbers of cards have the same probability.

Facts that do not speak of one card alone are met in two ways. The few `special` cards (the threes
that name trumps in Семнадцать) are placed first, every placing weighed by the ways to finish it. A
combination that was not declared in Семерик is a reason to draw again: that keeps the worlds left
equally likely. Only after `TRIES` failures in a row, when such worlds are extremely rare, cards are
barred one by one until a world is found: it is consistent still, though not drawn evenly.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.envs.engine import GAME_MODULES, below, next_word, random_bits
from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest, n_bits, pick
from trysim.envs.rules.jit import Row, rule, specialise
from trysim.envs.rules.row import NOBODY, RANDOM, state_dtype, word
from trysim.envs.worlds import facts_semerik, facts_semnadtsat, facts_sim_lystiv

rules: Any = semerik  # in the templates below: the game module they are compiled for
facts: Any = facts_semerik

Floats = npt.NDArray[np.float64]

TRIES = 10_000  # draws that contradict a fact, before cards are barred
MAX_PLACES = 5  # four other hands and the stock
NO_PLACE = MAX_PLACES
MAX_KINDS = 1 << MAX_PLACES
IMPOSSIBLE = -1  # the size of a table, where no world is left
MAX_PLACINGS = 256  # of special cards: at most four cards in four places

# What is known of the hidden cards, as named words: a *plan* to deal them out.
_PLAN = state_dtype(
    [
        ("n_places", 1),
        ("seat", MAX_PLACES),  # NOBODY is the stock
        ("room", MAX_PLACES),  # cards still to be placed there
        ("sure", MAX_PLACES),  # set: the cards that lie there for certain
        ("allowed", MAX_PLACES),  # set: the hidden cards that may lie there
        ("stride", MAX_PLACES + 1),  # of the rooms in a table's index; the last place has none
        ("n_rooms", 1),  # entries of a table
        ("n_kinds", 1),  # kinds of cards that may go to some places only
        ("kind_places", MAX_KINDS),  # set of places
        ("kind_cards", MAX_KINDS),  # set of cards
        ("left", MAX_KINDS + 1),  # cards of this kind and all later ones, the free cards included
        ("free", 1),  # set: cards that may go anywhere
        ("special", 1),  # set: cards that are placed together, first
    ]
)
PLAN_WORDS = _PLAN.itemsize // 8
N_PLACES = word(_PLAN, "n_places")
PLACE_SEAT = word(_PLAN, "seat")
ROOM = word(_PLAN, "room")
SURE = word(_PLAN, "sure")
ALLOWED = word(_PLAN, "allowed")
STRIDE = word(_PLAN, "stride")
N_ROOMS = word(_PLAN, "n_rooms")
N_KINDS = word(_PLAN, "n_kinds")
KIND_PLACES = word(_PLAN, "kind_places")
KIND_CARDS = word(_PLAN, "kind_cards")
LEFT = word(_PLAN, "left")
FREE = word(_PLAN, "free")
SPECIAL = word(_PLAN, "special")

FACTORIAL = np.cumprod(np.array([1.0, *range(1, 53)]))
_S11 = np.uint64(11)


# Planning ---------------------------------------------------------------------------------------
def plan_worlds(view: Row, me: int, silence: bool, barred: Row, plan: Row) -> int:
    """Write what seat `me` knows of the hidden cards; the size of the table that `weigh` fills.

    `plan` (PLAN_WORDS,); `barred` (seats,) are sets of cards that a seat is taken not to hold; with
    too many of them the size is IMPOSSIBLE.
    """
    plan[:] = 0
    hidden = rules.unseen(view, me)
    for k in range(1, rules.n_players(view)):
        seat = (me + k) % rules.n_players(view)
        n = facts.n_held(view, seat)
        if n:
            sure = facts.certain(view, seat)
            allowed = facts.may_hold(view, seat, silence) & hidden & ~barred[seat]
            _add_place(plan, seat, n - n_bits(sure), sure, allowed)
    if facts.n_stock(view):
        _add_place(plan, NOBODY, facts.n_stock(view), 0, hidden)
    hidden = settle_sure_cards(plan, hidden)
    widest_place_last(plan)
    special = facts.special(view)
    plan[SPECIAL] = hidden & special
    find_kinds(plan, hidden & ~special)
    if not everything_fits(plan):
        return IMPOSSIBLE
    if plan[N_KINDS] == 0 and plan[SPECIAL] == 0:
        return 0  # every way to deal the free cards is as good as any other
    return MAX_PLACINGS + (plan[N_KINDS] + 1) * plan[N_ROOMS]


@rule
def _add_place(plan: Row, seat: int, room: int, sure: int, allowed: int) -> None:
    place = plan[N_PLACES]
    plan[PLACE_SEAT + place] = seat
    plan[ROOM + place] = room
    plan[SURE + place] = sure
    plan[ALLOWED + place] = allowed
    plan[N_PLACES] += 1


@rule
def settle_sure_cards(plan: Row, hidden: int) -> int:
    """Put the cards that can lie in one place only there; the cards that are left."""
    settling = True
    while settling:
        settling = False
        once, twice = 0, 0
        for place in range(plan[N_PLACES]):
            if plan[ROOM + place] == 0:
                plan[ALLOWED + place] = 0
            twice |= once & plan[ALLOWED + place]
            once |= plan[ALLOWED + place]
        for place in range(plan[N_PLACES]):
            sure = plan[ALLOWED + place] & hidden & ~twice
            if sure:
                plan[SURE + place] |= sure
                plan[ROOM + place] -= n_bits(sure)
                plan[ALLOWED + place] &= ~sure
                hidden &= ~sure
                settling = True
    return hidden


@rule
def widest_place_last(plan: Row) -> None:
    """Let the place with the most room be the last, whose room follows from the others'."""
    last = plan[N_PLACES] - 1
    widest = last
    for place in range(plan[N_PLACES]):
        if plan[ROOM + place] > plan[ROOM + widest]:
            widest = place
    for first in (PLACE_SEAT, ROOM, SURE, ALLOWED):
        kept = plan[first + widest]
        plan[first + widest] = plan[first + last]
        plan[first + last] = kept
    stride = 1
    for place in range(last):
        plan[STRIDE + place] = stride
        stride *= plan[ROOM + place] + 1
    plan[N_ROOMS] = stride


@rule
def find_kinds(plan: Row, cards: int) -> None:
    """Sort the cards by the places where they may lie."""
    n = plan[N_PLACES]
    everywhere = 0
    for place in range(n):
        if plan[ROOM + place]:
            everywhere |= 1 << place
    plan[FREE] = _cards_of_kind(plan, cards, everywhere)
    rest = cards & ~plan[FREE]
    places = 0
    while rest and places < (1 << n) - 1:  # what may lie nowhere is of no kind
        places += 1
        of_kind = _cards_of_kind(plan, rest, places)
        if of_kind:
            plan[KIND_PLACES + plan[N_KINDS]] = places
            plan[KIND_CARDS + plan[N_KINDS]] = of_kind
            plan[N_KINDS] += 1
            rest &= ~of_kind
    left = n_bits(plan[FREE])
    plan[LEFT + plan[N_KINDS]] = left
    for kind in range(plan[N_KINDS] - 1, -1, -1):
        left += n_bits(plan[KIND_CARDS + kind])
        plan[LEFT + kind] = left


@rule
def everything_fits(plan: Row) -> bool:
    """Whether cards and rooms are equally many, and no place has too many cards already."""
    n = n_bits(plan[SPECIAL]) + plan[LEFT]
    for place in range(plan[N_PLACES]):
        n -= plan[ROOM + place]
        if plan[ROOM + place] < 0:
            return False
    return n == 0


@rule
def _cards_of_kind(plan: Row, cards: int, places: int) -> int:
    """The cards that may lie in these places and in no other."""
    for place in range(plan[N_PLACES]):
        if places >> place & 1:
            cards &= plan[ALLOWED + place]
        else:
            cards &= ~plan[ALLOWED + place]
    return cards


# Counting ways ----------------------------------------------------------------------------------
def weigh(view: Row, me: int, plan: Row, table: Floats) -> float:
    """Write the ways to finish from every stage; how many worlds there are, at least 1 if any.

    `table` starts with the running sums over the placings of special cards (MAX_PLACINGS,), then
    comes, for each kind and for the free cards, an entry for every choice of rooms. Combinations
    that were not declared are not looked at.
    """
    if table.size == 0:
        return ways_to_deal(plan[ROOM : ROOM + MAX_PLACES])
    rooms = np.zeros(MAX_PLACES, np.int64)
    split = np.zeros(MAX_PLACES + 1, np.int64)
    for kind in range(plan[N_KINDS], -1, -1):
        first = MAX_PLACINGS + kind * plan[N_ROOMS]
        for index in range(plan[N_ROOMS]):
            if not rooms_at(plan, index, plan[LEFT + kind], rooms):
                table[first + index] = 0
            elif kind == plan[N_KINDS]:
                table[first + index] = ways_to_deal(rooms)
            else:
                table[first + index] = split_kind(plan, table, kind, rooms, np.inf, split)
    return weigh_placings(view, me, plan, table)


@rule
def ways_to_deal(rooms: Row) -> float:
    """In how many ways cards that may lie anywhere fill these rooms."""
    n = 0
    below_line = 1.0
    for room in rooms:
        n += room
        below_line *= FACTORIAL[room]
    return FACTORIAL[n] / below_line


@rule
def rooms_at(plan: Row, index: int, n_cards: int, rooms: Row) -> bool:
    """Write the rooms of a table's entry; whether `n_cards` can fill them."""
    last = plan[N_PLACES] - 1
    for place in range(last):
        size = plan[ROOM + place] + 1
        rooms[place] = index % size
        index //= size
        n_cards -= rooms[place]
    rooms[last] = n_cards
    return 0 <= n_cards <= plan[ROOM + last]


@rule
def index_of(plan: Row, rooms: Row) -> int:
    """The table's entry for these rooms."""
    index = 0
    for place in range(plan[N_PLACES] - 1):
        index += rooms[place] * plan[STRIDE + place]
    return index


@rule
def split_kind(
    plan: Row, table: Floats, kind: int, rooms: Row, threshold: float, split: Row
) -> float:
    """The ways over all splits of a kind's cards among its places.

    Stops at the first split where the sum passes `threshold`; `split` (places,) is the last one
    looked at that has ways.
    """
    first, second, third, fourth = _listed(plan[KIND_PLACES + kind])
    n = n_bits(plan[KIND_CARDS + kind])
    after = MAX_PLACINGS + (kind + 1) * plan[N_ROOMS] + index_of(plan, rooms)
    total = 0.0
    for a in range(min(n, rooms[first]) + 1):
        for b in range(min(n - a, _room(rooms, second)) + 1):
            for c in range(min(n - a - b, _room(rooms, third)) + 1):
                d = n - a - b - c
                if d <= rooms[fourth]:
                    taken = a * plan[STRIDE + first] + d * plan[STRIDE + fourth]
                    taken += b * plan[STRIDE + second] + c * plan[STRIDE + third]
                    ways = table[after - taken]
                    if ways > 0:
                        ways *= FACTORIAL[n] / (FACTORIAL[a] * FACTORIAL[b])
                        total += ways / (FACTORIAL[c] * FACTORIAL[d])
                        split[:] = 0
                        split[second] = b  # nothing where there is no such place
                        split[third] = c
                        split[first] = a
                        split[fourth] = d
                        if total > threshold:
                            return total
    return total


@rule
def _listed(places: int) -> tuple[int, int, int, int]:
    """The two to four places of a set; the second and third may be `NO_PLACE`."""
    first = lowest(places)
    places &= places - 1
    second, third = NO_PLACE, NO_PLACE
    if n_bits(places) > 1:
        second = lowest(places)
        places &= places - 1
    if n_bits(places) > 1:
        third = lowest(places)
        places &= places - 1
    return first, second, third, lowest(places)


@rule
def _room(rooms: Row, place: int) -> int:
    return 0 if place == NO_PLACE else rooms[place]


def weigh_placings(view: Row, me: int, plan: Row, table: Floats) -> float:
    """Write the running sum of ways over all placings of the special cards; the whole sum."""
    n_placings = plan[N_PLACES] ** n_bits(plan[SPECIAL])
    rooms = np.zeros(MAX_PLACES, np.int64)
    known = np.zeros(rules.N_SEATS, np.int64)
    special = facts.special(view)
    for seat in range(rules.n_players(view)):
        known[seat] = n_bits(view[rules.PLAYED + seat] & special)
    known[me] += n_bits(view[rules.HANDS + me] & special)
    for place in range(plan[N_PLACES]):
        if plan[PLACE_SEAT + place] != NOBODY:
            known[plan[PLACE_SEAT + place]] += n_bits(plan[SURE + place] & special)
    total = 0.0
    for placing in range(n_placings):
        if place_special(plan, placing, rooms) and special_agrees(view, plan, rooms, known):
            total += table[MAX_PLACINGS + index_of(plan, rooms)]
        table[placing] = total
    return total


@rule
def place_special(plan: Row, placing: int, rooms: Row) -> bool:
    """Write the rooms left after a placing of the special cards; whether it can be."""
    rooms[:] = plan[ROOM : ROOM + MAX_PLACES]
    cards = plan[SPECIAL]
    fits = True
    while cards:
        place = placing % plan[N_PLACES]
        placing //= plan[N_PLACES]
        rooms[place] -= 1
        fits &= rooms[place] >= 0 and plan[ALLOWED + place] >> lowest(cards) & 1 == 1
        cards &= cards - 1
    return fits


def special_agrees(view: Row, plan: Row, rooms: Row, known: Row) -> bool:
    """Whether the numbers of special cards by seat are what everybody has seen."""
    counts = known.copy()
    for place in range(plan[N_PLACES]):
        if plan[PLACE_SEAT + place] != NOBODY:
            counts[plan[PLACE_SEAT + place]] += plan[ROOM + place] - rooms[place]
    return facts.special_fits(view, counts)


# Drawing ----------------------------------------------------------------------------------------
def draw_world(
    view: Row, me: int, silence: bool, plan: Row, table: Floats, word: int, world: Row
) -> int:
    """Write a world (words,) that agrees with what seat `me` knows; the advanced random word."""
    for place in range(view.size):
        world[place] = view[place]
    for _ in range(TRIES):
        word = draw_hands(plan, table, word, world)
        if find_contradiction(world, me, silence) == NOBODY:
            break
    else:
        word = draw_with_care(view, me, silence, word, world)
    facts.complete(world, me, word)
    word = next_word(word)
    world[RANDOM] = random_bits(word)  # a future of its own
    return word


def find_contradiction(world: Row, me: int, silence: bool) -> int:
    """A seat that cannot hold what it holds here, NOBODY if all is well."""
    for seat in range(rules.n_players(world)):
        if seat != me and facts.contradiction(world, seat, silence):
            return seat
    return NOBODY


@rule
def _uniform(word: int) -> float:
    """A number in [0, 1)."""
    return np.float64(random_bits(word) >> _S11) / 2.0**53


def draw_hands(plan: Row, table: Floats, word: int, world: Row) -> int:
    """Write hands that respect the plan; the advanced random word."""
    rooms = plan[ROOM : ROOM + MAX_PLACES].copy()
    hands = plan[SURE : SURE + MAX_PLACES].copy()
    split = np.zeros(MAX_PLACES + 1, np.int64)
    if plan[SPECIAL]:
        word = next_word(word)
        draw_placing(plan, table, _uniform(word), rooms, hands)
    for kind in range(plan[N_KINDS]):
        ways = table[MAX_PLACINGS + kind * plan[N_ROOMS] + index_of(plan, rooms)]
        word = next_word(word)
        split_kind(plan, table, kind, rooms, _uniform(word) * ways, split)
        word = deal_out(plan[KIND_CARDS + kind], split, word, hands)
        for place in range(plan[N_PLACES]):
            rooms[place] -= split[place]
    word = deal_out(plan[FREE], rooms, word, hands)
    for place in range(plan[N_PLACES]):
        if plan[PLACE_SEAT + place] != NOBODY:
            world[rules.HANDS + plan[PLACE_SEAT + place]] = hands[place]
    return word


@rule
def draw_placing(plan: Row, table: Floats, chance: float, rooms: Row, hands: Row) -> None:
    """Place the special cards; `chance` in [0, 1) picks how."""
    n_placings = plan[N_PLACES] ** n_bits(plan[SPECIAL])
    placing = 0
    while table[placing] <= chance * table[n_placings - 1]:
        placing += 1
    cards = plan[SPECIAL]
    while cards:
        place = placing % plan[N_PLACES]
        placing //= plan[N_PLACES]
        rooms[place] -= 1
        hands[place] |= cards & -cards
        cards &= cards - 1


@rule
def deal_out(cards: int, numbers: Row, word: int, hands: Row) -> int:
    """Deal the `cards` at random, `numbers[k]` of them to hand k; the advanced random word."""
    deck = np.empty(64, np.int64)
    n = 0
    left = cards
    while left:
        deck[n] = left & -left
        left &= left - 1
        n += 1
    for place in range(hands.size):
        wanted = numbers[place]
        if wanted == n:
            hands[place] |= cards
            return word
        for _ in range(wanted):
            word = next_word(word)
            k = below(random_bits(word), n)
            hands[place] |= deck[k]
            cards ^= deck[k]
            n -= 1
            deck[k] = deck[n]
    return word


def draw_with_care(view: Row, me: int, silence: bool, word: int, world: Row) -> int:
    """Write hands without contradiction, barring cards one by one; the advanced random word."""
    plan = np.zeros(PLAN_WORDS, np.int64)
    barred = np.zeros(rules.N_SEATS, np.int64)
    while True:
        size = plan_worlds(view, me, silence, barred, plan)
        table = np.empty(max(size, 0), np.float64)
        if size == IMPOSSIBLE or weigh(view, me, plan, table) == 0:
            barred[:] = 0  # one card too many: begin again
            continue
        word = draw_hands(plan, table, word, world)
        seat = find_contradiction(world, me, silence)
        if seat == NOBODY:
            return word
        cards = facts.contradiction(world, seat, silence) & ~facts.certain(view, seat)
        word = next_word(word)
        barred[seat] |= 1 << pick(cards, below(random_bits(word), n_bits(cards)))


def draw_worlds(view: Row, me: int, silence: bool, word: int, out: Row) -> float:
    """Write N worlds (N, words); the number of worlds that there are (see `weigh`)."""
    plan = np.empty(PLAN_WORDS, np.int64)
    barred = np.zeros(rules.N_SEATS, np.int64)
    table = np.empty(plan_worlds(view, me, silence, barred, plan), np.float64)
    n_worlds = weigh(view, me, plan, table)
    for i in range(out.shape[0]):
        word = draw_world(view, me, silence, plan, table, word, out[i])
    return n_worlds


TEMPLATES = (
    plan_worlds, special_agrees, weigh_placings, weigh, find_contradiction, draw_hands,
    draw_with_care, draw_world, draw_worlds,
)  # fmt: skip
SAMPLERS = {
    module.NAME: specialise(TEMPLATES, rules=module, facts=of_game)
    for module, of_game in zip(
        GAME_MODULES, (facts_sim_lystiv, facts_semnadtsat, facts_semerik), strict=True
    )
}
