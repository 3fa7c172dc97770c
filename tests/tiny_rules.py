"""A game small enough to be solved: two players, twelve cards, three each, six stay unknown.

The leader may play any card; the other must follow suit if he can. The higher card of the suit led
takes the trick, spades beat other suits. The reward is one's own tricks less the other's.
"""

import numpy as np

from trysim.envs.rules import cards
from trysim.envs.rules.bits import put
from trysim.envs.rules.jit import rule
from trysim.envs.rules.layout import CARDS, ONE_OF, Field, Layout
from trysim.envs.rules.row import (
    DEAL,
    DEALS,
    GONE,
    HEADER,
    NOBODY,
    OVER,
    PHASE,
    PLAY,
    RANDOM,
    SEAT,
    Option,
    option_words,
    state_dtype,
    word,
)  # fmt: skip

NAME, VERSION = "tiny", 0
RANKS = "QKA"
N_RANKS, N_SUITS, N_SEATS, HAND_SIZE = 3, 4, 2, 3
DECK = cards.deck(RANKS)
N_CARDS = N_ACTIONS = len(DECK)
ACTIONS = DECK
OPTIONS = (Option("dealer", None, "the dealer's seat, by lot if none", low=0, high=1),)
STATE = state_dtype(
    [*HEADER, *option_words(OPTIONS), ("option_bits", 1), ("dealer", 1), ("hands", 2),
     ("played", 2), ("on_table", 1), ("led", 1), ("lead", 1), ("first", 1), ("tricks", 2)]
)  # fmt: skip
FIRST_DEALER, DEALER = word(STATE, "option_dealer"), word(STATE, "dealer")
HANDS, PLAYED, LED = word(STATE, "hands"), word(STATE, "played"), word(STATE, "led")
ON_TABLE, LEAD, FIRST = word(STATE, "on_table"), word(STATE, "lead"), word(STATE, "first")
TRICKS = word(STATE, "tricks")
ALL_CARDS = (1 << N_CARDS) - 1
SUIT = np.array(cards.suit_sets(N_RANKS), np.int64)
SPADES = cards.SUITS.index("S")
SEAT_NAMES = ("me", "other")
OBSERVATION = Layout(
    [
        Field("hand", CARDS, N_CARDS, "cards in one's hand", DECK),
        Field("played", CARDS, N_CARDS, "cards the seat has played", DECK, SEAT_NAMES),
        Field("led", CARDS, N_CARDS, "the card led", DECK),
        Field("when", CARDS, N_CARDS, "unused", DECK),
        Field("lead", ONE_OF, 2, "who leads", SEAT_NAMES),
        Field("spades", ONE_OF, N_SUITS, "trumps", cards.SUITS),
    ]
)
O_HAND, O_PLAYED, O_LED = (OBSERVATION.at(name) for name in ("hand", "played", "led"))
O_LEAD, O_SPADES = OBSERVATION.at("lead"), OBSERVATION.at("spades")
OBSERVATION_WORDS = OBSERVATION.n_words


@rule
def n_players(state):
    return N_SEATS


@rule
def pack(state):
    return ALL_CARDS


@rule
def start(state):
    state[SEAT], state[PHASE], state[DEALS], state[GONE] = NOBODY, DEAL, 0, 0
    state[DEALER:] = 0
    state[DEALER] = state[FIRST_DEALER]


@rule
def deal(state, deck, lot):
    if state[DEALER] == NOBODY:
        state[DEALER] = lot % N_SEATS
    first = 1 - state[DEALER]
    for k in range(N_SEATS * HAND_SIZE):
        state[HANDS + (first + k) % N_SEATS] |= 1 << deck[k]
    state[DEALS] += 1
    state[PHASE], state[SEAT], state[LEAD], state[FIRST] = PLAY, first, first, first


@rule
def legal(state):
    seat = state[SEAT]
    if seat == NOBODY:
        return 0
    hand = state[HANDS + seat]
    if state[ON_TABLE]:
        suited = hand & SUIT[state[LED] // N_RANKS]
        return suited if suited else hand
    return hand


@rule
def apply(state, action):
    seat = state[SEAT]
    state[HANDS + seat] ^= 1 << action
    state[PLAYED + seat] |= 1 << action
    if not state[ON_TABLE]:
        state[ON_TABLE], state[LED], state[SEAT] = 1, action, 1 - seat
        return
    led = state[LED]
    same = action // N_RANKS == led // N_RANKS
    takes = action > led if same else action // N_RANKS == SPADES
    winner = seat if takes else 1 - seat
    state[TRICKS + winner] += 1
    state[ON_TABLE], state[SEAT], state[LEAD] = 0, winner, winner
    if state[HANDS] == 0 and state[HANDS + 1] == 0:
        state[PHASE], state[SEAT], state[GONE] = OVER, NOBODY, 3


@rule
def returns(state, out):
    ahead = 0.0
    if state[PHASE] == OVER:
        ahead += state[TRICKS] - state[TRICKS + 1]
    out[0], out[1] = ahead, 0.0 - ahead


@rule
def worth(state, standing, out):
    """What a deal is worth: a match is one deal."""
    returns(state, out)


def is_needed(state):
    return False


@rule
def observe(state, seat, packed):
    put(packed, O_HAND, N_CARDS, state[HANDS + seat])
    put(packed, O_PLAYED, N_CARDS, state[PLAYED + seat])
    put(packed, O_PLAYED + N_CARDS, N_CARDS, state[PLAYED + 1 - seat])
    if state[ON_TABLE]:
        put(packed, O_LED, N_CARDS, 1 << state[LED])
    put(packed, O_LEAD, 2, 1 if state[LEAD] == seat else 2)
    put(packed, O_SPADES, N_SUITS, 1 << SPADES)


@rule
def unseen(state, seat):
    return ALL_CARDS & ~(state[HANDS + seat] | state[PLAYED] | state[PLAYED + 1])


@rule
def conceal(state, seat):
    state[HANDS + 1 - seat] = 0
    state[RANDOM] = 0
