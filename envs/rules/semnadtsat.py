"""Семнадцать (17): three to five players, each for himself; sevens, twos and tricks count.

Source: `semnadtsat.md` beside this file; S1, S2 … are its numbered sentences.

Choices where the text is silent, doubtful or has another reading:

- C1: "most threes" (S10) means strictly the most; any tie for the most means no trumps (S11).
- C2: the player who names trumps leads (S10); without trumps left of the dealer leads (S12).
  `first_lead="left"`: left of the dealer always leads, whoever named.
- C3: the suit named must be in the deck.
- C4: without trumps every suit ranks as "not trumps" (S5). `jack="by_deal"`: in a deal with trumps
  every suit ranks as the trump suit.
- C5: there is no duty to trump (S13): void of the suit led, any card.
- C6: the bands of the harder count (S23-S25) are joined: 29 itself is in the last one, which starts
  from what 28 is worth, 0.
- C7: players who tie for the most points share the win (S18).
- C8: with `num_deals` the scores of the deals add up and the deal rotates.
"""

import numpy as np
import numpy.typing as npt

from trysim.envs.rules import cards
from trysim.envs.rules.bits import n_bits, put, thermometer
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.layout import CARDS, COUNT, NUMBER, ONE_OF, Field, Layout, option_fields
from trysim.envs.rules.row import (
    DEAL,
    DEALS,
    GONE,
    HEADER,
    NAME_TRUMP,
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
)

NAME = "semnadtsat"
VERSION = 0

# Sizes ------------------------------------------------------------------------------------------
RANKS = "234569TJQKA78"  # S4, low to high in the trump suit
DECK = cards.deck(RANKS)
N_RANKS = len(RANKS)
N_CARDS = len(DECK)
N_SUITS = len(cards.SUITS)
N_SEATS = 5  # at most
MAX_HAND = 13
ACTIONS = (*DECK, *(f"trump:{suit}" for suit in cards.SUITS))
N_ACTIONS = len(ACTIONS)

OPTIONS = (
    Option("num_players", 4, "players at the table", (3, 4, 5)),
    Option("removed_suit", "C", "the suit left out with three players", tuple(cards.SUITS)),
    Option("jack", "by_suit", "where the jack is high: plain suits, or no-trump deals",
           ("by_suit", "by_deal")),
    Option("first_lead", "namer", "who leads first in a deal with trumps", ("namer", "left")),
    Option("scoring", "simple", "how points count", ("simple", "seventeen")),
    Option("reward", "score", "total less the mean, or the shared win", ("score", "win")),
    Option("num_deals", 1, "deals in a match", low=1, high=20),
    Option("dealer", None, "the first dealer's seat, by lot if none", low=0, high=N_SEATS - 1),
)  # fmt: skip
MIN_PLAYERS = 3

# The words of a row -----------------------------------------------------------------------------
_MATCH_WORDS = [
    ("dealer", 1),
    ("totals", N_SEATS),  # points of all finished deals, as `scoring` counts them
    ("score", N_SEATS),  # the same of the last finished deal
]
_DEAL_WORDS = [
    ("trump", 1),  # suit, -1 for none (or not named yet)
    ("trumps", 1),  # set: its cards
    ("low_jacks", 1),  # set: the jacks that rank between ten and queen
    ("namer", 1),  # seat that names trumps, -1 for none
    ("leader", 1),
    ("best", 1),  # the card that is winning the trick
    ("best_seat", 1),
    ("follow", 1),  # set: the suit led
    ("beats", 1),  # set: the cards that would beat the best
    ("n_played", 1),  # cards on the table
    ("trick", 1),  # set: the same
    ("n_tricks", 1),  # finished tricks
    ("hand_size", 1),
    ("deck", 1),  # set: the cards in the deal
    ("hands", N_SEATS),
    ("played", N_SEATS),  # set per seat
    ("may_hold", N_SEATS),  # set per seat: not excluded by a failure to follow
    ("when", 4),  # sets: bit planes of the number (from 1) of the finished trick a card was in
    ("tricks", N_SEATS),
    ("points", N_SEATS),
]
STATE = state_dtype(
    [*HEADER, *option_words(OPTIONS), ("option_bits", 1), *_MATCH_WORDS, *_DEAL_WORDS]
)

NUM_PLAYERS = word(STATE, "option_num_players")
REMOVED_SUIT = word(STATE, "option_removed_suit")
JACK = word(STATE, "option_jack")
FIRST_LEAD = word(STATE, "option_first_lead")
SCORING = word(STATE, "option_scoring")
REWARD = word(STATE, "option_reward")
NUM_DEALS = word(STATE, "option_num_deals")
FIRST_DEALER = word(STATE, "option_dealer")
OPTION_BITS = word(STATE, "option_bits")
DEALER = word(STATE, "dealer")
TOTALS = word(STATE, "totals")
SCORE = word(STATE, "score")
TRUMP = word(STATE, "trump")
TRUMPS = word(STATE, "trumps")
LOW_JACKS = word(STATE, "low_jacks")
NAMER = word(STATE, "namer")
LEADER = word(STATE, "leader")
BEST = word(STATE, "best")
BEST_SEAT = word(STATE, "best_seat")
FOLLOW = word(STATE, "follow")
BEATS = word(STATE, "beats")
N_PLAYED = word(STATE, "n_played")
TRICK = word(STATE, "trick")
N_TRICKS = word(STATE, "n_tricks")
HAND_SIZE = word(STATE, "hand_size")
CARDS_IN_PLAY = word(STATE, "deck")
HANDS = word(STATE, "hands")
PLAYED = word(STATE, "played")
MAY_HOLD = word(STATE, "may_hold")
WHEN = word(STATE, "when")
TRICKS = word(STATE, "tricks")
POINTS = word(STATE, "points")

# Sets and values --------------------------------------------------------------------------------
SUIT = np.array(cards.suit_sets(N_RANKS), np.int64)
SUIT_OF = np.array([SUIT[card // N_RANKS] for card in range(N_CARDS)], np.int64)
THREES = cards.rank_set(N_RANKS, RANKS.index("3"))
TWOS = cards.rank_set(N_RANKS, RANKS.index("2"))
SEVENS = cards.rank_set(N_RANKS, RANKS.index("7"))
JACKS = cards.rank_set(N_RANKS, RANKS.index("J"))
ALL_CARDS = (1 << N_CARDS) - 1
FIVE_PLAYERS_DECK = ALL_CARDS & ~sum(1 << DECK.index(card) for card in ("3D", "3S"))  # S7
# The cards of its suit that beat a card where the jack ranks below the queen …
ABOVE_LOW = np.array([SUIT_OF[card] & ~((2 << card) - 1) for card in range(N_CARDS)], np.int64)
# … and where it is the highest (S5).
ABOVE_HIGH = np.array(
    [0 if JACKS >> c & 1 else ABOVE_LOW[c] | SUIT_OF[c] & JACKS for c in range(N_CARDS)], np.int64
)
SEVEN_POINTS, TWO_POINTS, TRICK_POINTS = 7, 2, 1  # S19-S21
JACK_BY_DEAL = LEAD_LEFT = SCORING_SEVENTEEN = REWARD_WIN = 1
_FIRST_MATCH_WORD = DEALER
_FIRST_DEAL_WORD = TRUMP

# What a seat sees -------------------------------------------------------------------------------
SEAT_NAMES = ("me", "+1", "+2", "+3", "+4")
_POINTS_SHOWN = 47  # the most points in a deal
_TOTAL_BITS = 12
_LEAD_STEP, _LEAD_STEPS = 4, 12  # how far ahead of each other player, coarsely
_DEALS_SHOWN = 12
OBSERVATION = Layout(
    [
        Field("hand", CARDS, N_CARDS, "cards in one's hand", DECK),
        Field("may_hold", CARDS, N_CARDS, "cards the seat may hold", DECK, SEAT_NAMES[1:]),
        Field("played", CARDS, N_CARDS, "cards the seat has played", DECK, SEAT_NAMES),
        Field("trick", CARDS, N_CARDS, "cards on the table", DECK),
        Field("best", CARDS, N_CARDS, "the card winning the trick", DECK),
        Field("when", CARDS, N_CARDS, "the trick a card was in, binary", DECK, "1248"),
        Field("phase", ONE_OF, 2, "what is to be done", ("play", "name trumps")),
        Field("trump", ONE_OF, N_SUITS + 1, "the trump suit", (*cards.SUITS, "none")),
        Field("namer", ONE_OF, N_SEATS, "the seat that names trumps", SEAT_NAMES),
        Field("to_act", ONE_OF, N_SEATS, "the seat to act", SEAT_NAMES),
        Field("leader", ONE_OF, N_SEATS, "the seat that leads the trick", SEAT_NAMES),
        Field("winning", ONE_OF, N_SEATS, "the seat winning the trick", SEAT_NAMES),
        Field("dealer", ONE_OF, N_SEATS, "the dealer", SEAT_NAMES),
        Field("n_tricks", COUNT, MAX_HAND, "finished tricks of the deal"),
        Field("tricks", COUNT, MAX_HAND, "tricks taken", groups=SEAT_NAMES),
        Field("points", COUNT, _POINTS_SHOWN, "points of the deal", groups=SEAT_NAMES),
        Field("totals", NUMBER, _TOTAL_BITS, "total of finished deals", groups=SEAT_NAMES),
        Field("lead", COUNT, 2 * _LEAD_STEPS, f"total less the seat's, in steps of {_LEAD_STEP}, "
              f"plus {_LEAD_STEPS}", groups=SEAT_NAMES[1:]),
        Field("deals_left", COUNT, _DEALS_SHOWN, "deals after this one"),
        *option_fields(OPTIONS),
    ]
)  # fmt: skip
O_HAND = OBSERVATION.at("hand")
O_MAY_HOLD = OBSERVATION.at("may_hold")
O_PLAYED = OBSERVATION.at("played")
O_TRICK = OBSERVATION.at("trick")
O_BEST = OBSERVATION.at("best")
O_WHEN = OBSERVATION.at("when")
O_PHASE = OBSERVATION.at("phase")
O_TRUMP = OBSERVATION.at("trump")
O_NAMER = OBSERVATION.at("namer")
O_TO_ACT = OBSERVATION.at("to_act")
O_LEADER = OBSERVATION.at("leader")
O_WINNING = OBSERVATION.at("winning")
O_DEALER = OBSERVATION.at("dealer")
O_N_TRICKS = OBSERVATION.at("n_tricks")
O_TRICKS = OBSERVATION.at("tricks")
O_POINTS = OBSERVATION.at("points")
O_TOTALS = OBSERVATION.at("totals")
O_LEAD = OBSERVATION.at("lead")
O_DEALS_LEFT = OBSERVATION.at("deals_left")
O_OPTIONS = OBSERVATION.at("option_num_players")
N_OPTION_BITS = OBSERVATION.used - O_OPTIONS
OBSERVATION_WORDS = OBSERVATION.n_words


# The contract -----------------------------------------------------------------------------------
@rule
def pack(state: Row) -> int:
    """The set of cards to shuffle for the deal."""
    n = n_players(state)
    if n == 3:
        return ALL_CARDS & ~SUIT[state[REMOVED_SUIT]]  # S7: with three, one suit is left out
    return FIVE_PLAYERS_DECK if n == 5 else ALL_CARDS  # S7


@rule
def start(state: Row) -> None:
    """Begin a new match; options and the random word stay."""
    state[DEALS] = 0
    state[GONE] = 0
    state[SEAT] = NOBODY
    state[PHASE] = DEAL
    state[_FIRST_MATCH_WORD:] = 0
    state[DEALER] = state[FIRST_DEALER]


@rule
def deal(state: Row, deck: Row, lot: int) -> None:
    """Deal the shuffled `deck` (39, 50 or 52,) card by card; `lot` draws the first dealer."""
    n = n_players(state)
    if state[DEALER] == NOBODY:
        state[DEALER] = lot % n  # S8: by lot, or as given
    state[_FIRST_DEAL_WORD:] = 0
    state[DEALS] += 1
    elder = left_of(state, state[DEALER])
    seat = elder
    for card in deck:  # S9, S17: the whole deck
        state[HANDS + seat] |= 1 << card
        seat = left_of(state, seat)
    state[CARDS_IN_PLAY] = pack(state)
    state[HAND_SIZE] = n_bits(state[HANDS])
    for seat in range(n):
        state[MAY_HOLD + seat] = state[CARDS_IN_PLAY]
    state[TRUMP] = NOBODY
    state[NAMER] = most_threes(state)
    state[LEADER] = elder  # S12: left of the dealer leads
    if state[NAMER] == NOBODY:
        state[PHASE] = PLAY  # S11: no trumps
        state[SEAT] = elder
        return
    state[PHASE] = NAME_TRUMP
    state[SEAT] = state[NAMER]  # S10: most threes name trumps and lead
    if state[FIRST_LEAD] != LEAD_LEFT:
        state[LEADER] = state[NAMER]


@rule
def legal(state: Row) -> int:
    """The set of actions open to the seat to act; empty when nobody is to act."""
    seat = state[SEAT]
    if seat == NOBODY:
        return 0
    if state[PHASE] == NAME_TRUMP:
        return suits_in_deck(state) << N_CARDS
    hand = state[HANDS + seat]
    following = hand & state[FOLLOW]
    return following if following else hand  # S13: follow suit, else any card; the leader any


@rule
def apply(state: Row, action: int) -> None:
    """Carry out a legal action of the seat to act."""
    if action < N_CARDS:
        _play(state, action)
    else:
        _name(state, action - N_CARDS)


@rule
def returns(state: Row, out: npt.NDArray[np.float64]) -> None:
    """Write the rewards paid so far in the episode; `out` (5,) by seat, 0 for empty seats."""
    out[:] = 0
    if state[PHASE] != OVER:
        return
    n = n_players(state)
    if state[REWARD] == REWARD_WIN:
        winners = winner_set(state)
        for seat in range(n):
            out[seat] = (winners >> seat & 1) / n_bits(winners) - 1 / n
        return
    total = 0
    for seat in range(n):
        total += state[TOTALS + seat]
    for seat in range(n):
        out[seat] = state[TOTALS + seat] - total / n


@rule
def observe(state: Row, seat: int, packed: Row) -> None:
    """Add what `seat` sees to the packed bits (`OBSERVATION`), other seats counted from it."""
    _observe_cards(state, seat, packed)
    _observe_seats(state, seat, packed)
    _observe_standing(state, seat, packed)
    put(packed, O_OPTIONS, N_OPTION_BITS, state[OPTION_BITS])


@rule
def unseen(state: Row, seat: int) -> int:
    """The set of cards whose place `seat` does not know."""
    known = state[HANDS + seat]
    for other in range(n_players(state)):
        known |= state[PLAYED + other]
    return state[CARDS_IN_PLAY] & ~known


@rule
def conceal(state: Row, seat: int) -> None:
    """Blank the words that `seat` may not know: what is left is its view of the table."""
    for other in range(N_SEATS):
        if other != seat:
            state[HANDS + other] = 0
    state[RANDOM] = 0


# Seats and trumps -------------------------------------------------------------------------------
@rule
def n_players(state: Row) -> int:
    """Players at the table."""
    return state[NUM_PLAYERS] + MIN_PLAYERS


@rule
def left_of(state: Row, seat: int) -> int:
    """The next seat clockwise."""
    return seat + 1 if seat + 1 < n_players(state) else 0


@rule
def most_threes(state: Row) -> int:
    """The seat with strictly the most threes, NOBODY on a tie (S10, S11, C1)."""
    best = NOBODY
    most = 0
    for seat in range(n_players(state)):
        threes = n_bits(state[HANDS + seat] & THREES)
        if threes > most:
            most = threes
            best = seat
        elif threes == most:
            best = NOBODY
    return best


@rule
def suits_in_deck(state: Row) -> int:
    """The set of suits that may be named (C3)."""
    suits = (1 << N_SUITS) - 1
    return suits & ~(1 << state[REMOVED_SUIT]) if n_players(state) == 3 else suits


@rule
def _name(state: Row, suit: int) -> None:
    state[TRUMP] = suit
    state[TRUMPS] = SUIT[suit]
    state[LOW_JACKS] = JACKS if state[JACK] == JACK_BY_DEAL else JACKS & SUIT[suit]  # S4, S5, C4
    state[PHASE] = PLAY
    state[SEAT] = state[LEADER]


# Playing ----------------------------------------------------------------------------------------
@rule
def above(card: int, low_jacks: int) -> int:
    """The cards of the suit of `card` that beat it, given the jacks that rank low."""
    if low_jacks & SUIT_OF[card]:
        return ABOVE_LOW[card]
    return ABOVE_HIGH[card]


@rule
def _play(state: Row, card: int) -> None:
    seat = state[SEAT]
    bit = 1 << card
    state[HANDS + seat] ^= bit
    state[PLAYED + seat] |= bit
    state[TRICK] |= bit
    if state[N_PLAYED] == 0:
        state[FOLLOW] = SUIT_OF[card]
        _set_best(state, seat, card)
    else:
        if not bit & state[FOLLOW]:
            state[MAY_HOLD + seat] &= ~state[FOLLOW]  # void, as everybody sees
        if bit & state[BEATS]:
            _set_best(state, seat, card)
    state[N_PLAYED] += 1
    if state[N_PLAYED] == n_players(state):
        _end_trick(state)
    else:
        state[SEAT] = left_of(state, seat)


@rule
def _set_best(state: Row, seat: int, card: int) -> None:
    state[BEST] = card
    state[BEST_SEAT] = seat
    # S15: the highest trump, else the highest card of the suit led
    state[BEATS] = above(card, state[LOW_JACKS])
    if not state[TRUMPS] >> card & 1:
        state[BEATS] |= state[TRUMPS]


@rule
def trick_points(trick: int) -> int:
    """The points of a trick: sevens and twos, or one where it has neither (S19-S21)."""
    points = SEVEN_POINTS * n_bits(trick & SEVENS) + TWO_POINTS * n_bits(trick & TWOS)
    return points if points else TRICK_POINTS


@rule
def _end_trick(state: Row) -> None:
    winner = state[BEST_SEAT]
    state[TRICKS + winner] += 1
    state[POINTS + winner] += trick_points(state[TRICK])
    state[N_TRICKS] += 1
    for plane in range(4):
        if state[N_TRICKS] >> plane & 1:
            state[WHEN + plane] |= state[TRICK]
    state[TRICK] = 0
    state[N_PLAYED] = 0
    state[FOLLOW] = 0
    state[LEADER] = winner
    state[SEAT] = winner  # S16: the winner leads
    if state[N_TRICKS] == state[HAND_SIZE]:
        _end_deal(state)


# Counting ---------------------------------------------------------------------------------------
@rule
def seventeen(points: int) -> int:
    """What points of a deal count under `scoring="seventeen"` (S23-S25, C6)."""
    if points <= 17:
        return points
    if points <= 22:
        return 34 - points
    if points <= 28:
        return 56 - 2 * points
    return -5 * (points - 28)


@rule
def winner_set(state: Row) -> int:
    """The set of seats with the most points in the match (S18, C7)."""
    n = n_players(state)
    most = state[TOTALS]
    for seat in range(n):
        most = max(most, state[TOTALS + seat])
    winners = 0
    for seat in range(n):
        if state[TOTALS + seat] == most:
            winners |= 1 << seat
    return winners


@rule
def _end_deal(state: Row) -> None:
    n = n_players(state)
    for seat in range(n):
        points = state[POINTS + seat]
        state[SCORE + seat] = seventeen(points) if state[SCORING] == SCORING_SEVENTEEN else points
        state[TOTALS + seat] += state[SCORE + seat]
    state[SEAT] = NOBODY
    if state[DEALS] == state[NUM_DEALS]:
        state[PHASE] = OVER
        state[GONE] = (1 << n) - 1
    else:
        state[PHASE] = DEAL
        state[DEALER] = left_of(state, state[DEALER])


# Observing --------------------------------------------------------------------------------------
@rule
def _seat_at(state: Row, seat: int, k: int) -> int:
    """The seat `k` places clockwise of `seat`."""
    n = n_players(state)
    return seat + k if seat + k < n else seat + k - n


@rule
def _place_of(state: Row, seat: int, other: int) -> int:
    """The one-hot set of how many places clockwise of `seat` the `other` sits."""
    return 1 << (other - seat if other >= seat else other - seat + n_players(state))


@rule
def _observe_cards(state: Row, seat: int, packed: Row) -> None:
    put(packed, O_HAND, N_CARDS, state[HANDS + seat])
    hidden = unseen(state, seat)
    for k in range(N_SEATS):
        if k >= n_players(state):
            break
        other = _seat_at(state, seat, k)
        put(packed, O_PLAYED + N_CARDS * k, N_CARDS, state[PLAYED + other])
        if k:
            put(packed, O_MAY_HOLD + N_CARDS * (k - 1), N_CARDS, hidden & state[MAY_HOLD + other])
    put(packed, O_TRICK, N_CARDS, state[TRICK])
    if state[N_PLAYED]:
        put(packed, O_BEST, N_CARDS, 1 << state[BEST])
    for plane in range(4):
        put(packed, O_WHEN + N_CARDS * plane, N_CARDS, state[WHEN + plane])


@rule
def _observe_seats(state: Row, seat: int, packed: Row) -> None:
    if state[SEAT] != NOBODY:
        put(packed, O_PHASE, 2, 2 if state[PHASE] == NAME_TRUMP else 1)
        put(packed, O_TO_ACT, N_SEATS, _place_of(state, seat, state[SEAT]))
        put(packed, O_LEADER, N_SEATS, _place_of(state, seat, state[LEADER]))
    if state[PHASE] != NAME_TRUMP:
        put(
            packed, O_TRUMP, N_SUITS + 1, 1 << (N_SUITS if state[TRUMP] == NOBODY else state[TRUMP])
        )
    if state[NAMER] != NOBODY:
        put(packed, O_NAMER, N_SEATS, _place_of(state, seat, state[NAMER]))
    if state[N_PLAYED]:
        put(packed, O_WINNING, N_SEATS, _place_of(state, seat, state[BEST_SEAT]))
    put(packed, O_DEALER, N_SEATS, _place_of(state, seat, state[DEALER]))


@rule
def _observe_standing(state: Row, seat: int, packed: Row) -> None:
    put(packed, O_N_TRICKS, MAX_HAND, thermometer(state[N_TRICKS]))
    mine = state[TOTALS + seat]
    for k in range(N_SEATS):
        if k >= n_players(state):
            break
        other = _seat_at(state, seat, k)
        put(packed, O_TRICKS + MAX_HAND * k, MAX_HAND, thermometer(state[TRICKS + other]))
        points = thermometer(state[POINTS + other])
        put(packed, O_POINTS + _POINTS_SHOWN * k, _POINTS_SHOWN, points)
        total = state[TOTALS + other]
        put(packed, O_TOTALS + _TOTAL_BITS * k, _TOTAL_BITS, total & ((1 << _TOTAL_BITS) - 1))
        if k:
            steps = (mine - total) // _LEAD_STEP + _LEAD_STEPS
            lead = thermometer(min(max(steps, 0), 2 * _LEAD_STEPS))
            put(packed, O_LEAD + 2 * _LEAD_STEPS * (k - 1), 2 * _LEAD_STEPS, lead)
    put(
        packed,
        O_DEALS_LEFT,
        _DEALS_SHOWN,
        thermometer(min(state[NUM_DEALS] - state[DEALS], _DEALS_SHOWN)),
    )
