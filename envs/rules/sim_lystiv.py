"""Сім листів, Гра на носки: two to five players; seven tricks and one is out, the last is struck.

Source: `sim_lystiv.md` beside this file; S1, S2 … are its numbered sentences.

Choices where the text is silent, doubtful or has another reading:

- C1: the card turned up (S8, S9) stays in the dealer's hand and is played like any other.
- C2: there is no duty to beat or to overtrump. `must_beat`: who follows suit must beat the best
  card of the trick if that card is of the suit led; a trick of led trumps is such a trick too.
- C3: tricks beyond a player's seventh have no effect; he plays the deal to its end.
- C4: if all who are left reach seven in one deal, nobody loses; `all_out="race"`: the last to take
  his seventh trick loses; `"replay"`: the deal is void and the next one follows.
- C5: if the dealer has left, the next player clockwise who is in deals.
- C6: the penalty (S18-S27) is drawn at random, or left out, or played: `penalty`. Every other
  player strikes, clockwise from the loser's left, those who left early as well. Who strikes once
  too often gives that blow; who strikes with too many cards gives the right number of blows (S27).
- C7: a violator's own penalty (S27) does not cascade.
"""

import numpy as np
import numpy.typing as npt

from trysim.envs.rules import cards
from trysim.envs.rules.bits import lowest, n_bits, put, thermometer
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.layout import CARDS, COUNT, FLAGS, ONE_OF, Field, Layout, option_fields
from trysim.envs.rules.row import (
    CUT,
    DEAL,
    DEALS,
    GONE,
    HEADER,
    NOBODY,
    OVER,
    PENALTY_DECK,
    PHASE,
    PLAY,
    RANDOM,
    SEAT,
    STRIKE,
    Option,
    option_words,
    state_dtype,
    word,
)

NAME = "sim_lystiv"
VERSION = 0

# Sizes ------------------------------------------------------------------------------------------
RANKS = "6789TJQKA"  # S4, low to high
DECK = cards.deck(RANKS)
N_RANKS = len(RANKS)
N_CARDS = len(DECK)
N_SUITS = len(cards.SUITS)
N_SEATS = 5  # at most
HAND_SIZE = 7
TRICKS_TO_LEAVE = 7
STRIKES = ("strike", "extra_blow", "extra_cards")
ACTIONS = (*DECK, *STRIKES)
N_ACTIONS = len(ACTIONS)
N_CUTS = N_CARDS - 1  # while cutting, action k means a cut of depth k + 1

OPTIONS = (
    Option("num_players", 4, "players at the table", (2, 3, 4, 5)),
    Option("must_beat", False, "whether who follows suit must beat if he can", (False, True)),
    Option("all_out", "no_loser", "when all who are left reach seven in one deal",
           ("no_loser", "race", "replay")),
    Option("penalty", "auto", "what happens to the loser", ("auto", "none", "interactive")),
    Option("strike_cards", 1, "cards each striker is handed", (1, 3)),
    Option("reward", "loser", "what the reward counts", ("loser", "placement", "blows")),
    Option("dealer", None, "the first dealer's seat, by lot if none", low=0, high=N_SEATS - 1),
)  # fmt: skip
MIN_PLAYERS = 2

# The words of a row -----------------------------------------------------------------------------
_MATCH_WORDS = [
    ("dealer", 1),
    ("out", 1),  # set of seats that have left the game
    ("counts", N_SEATS),  # tricks counted in finished deals
    ("exits", N_SEATS),  # seats in the order of their seventh trick
    ("n_exits", 1),
    ("loser", 1),  # seat, -1 while or if there is none
    ("penalty_deck", 4),  # nine cards a word, six bits each, from the top
    ("cut", 1),  # depth, 0 before
    ("bottom", 1),  # card, -1 before the cut
    ("blows", 1),
    ("struck", N_SEATS),  # 0 not yet, else 1 + place in STRIKES
    ("received", N_SEATS),  # blows
]
_DEAL_WORDS = [
    ("trump_card", 1),
    ("trumps", 1),  # set: its suit
    ("leader", 1),
    ("best", 1),  # the card that is winning the trick
    ("best_seat", 1),
    ("follow", 1),  # set: the suit led
    ("beats", 1),  # set: the cards that would beat the best
    ("n_played", 1),  # cards on the table
    ("n_active", 1),  # players in the deal
    ("trick", 1),  # set: the cards on the table
    ("n_tricks", 1),  # finished tricks
    ("old_exits", 1),  # exits before the deal
    ("hands", N_SEATS),
    ("played", N_SEATS),  # set per seat
    ("may_hold", N_SEATS),  # set per seat: not excluded by what the seat failed to play
    ("when", 3),  # sets: bit planes of the number (from 1) of the finished trick a card was in
    ("tricks", N_SEATS),
]
STATE = state_dtype(
    [*HEADER, *option_words(OPTIONS), ("option_bits", 1), *_MATCH_WORDS, *_DEAL_WORDS]
)

NUM_PLAYERS = word(STATE, "option_num_players")
MUST_BEAT = word(STATE, "option_must_beat")
ALL_OUT = word(STATE, "option_all_out")
PENALTY = word(STATE, "option_penalty")
STRIKE_CARDS = word(STATE, "option_strike_cards")
REWARD = word(STATE, "option_reward")
FIRST_DEALER = word(STATE, "option_dealer")
OPTION_BITS = word(STATE, "option_bits")
DEALER = word(STATE, "dealer")
OUT = word(STATE, "out")
COUNTS = word(STATE, "counts")
EXITS = word(STATE, "exits")
N_EXITS = word(STATE, "n_exits")
LOSER = word(STATE, "loser")
PENALTY_CARDS = word(STATE, "penalty_deck")
CUT_DEPTH = word(STATE, "cut")
BOTTOM = word(STATE, "bottom")
BLOWS = word(STATE, "blows")
STRUCK = word(STATE, "struck")
RECEIVED = word(STATE, "received")
TRUMP_CARD = word(STATE, "trump_card")
TRUMPS = word(STATE, "trumps")
LEADER = word(STATE, "leader")
BEST = word(STATE, "best")
BEST_SEAT = word(STATE, "best_seat")
FOLLOW = word(STATE, "follow")
BEATS = word(STATE, "beats")
N_PLAYED = word(STATE, "n_played")
N_ACTIVE = word(STATE, "n_active")
TRICK = word(STATE, "trick")
N_TRICKS = word(STATE, "n_tricks")
OLD_EXITS = word(STATE, "old_exits")
HANDS = word(STATE, "hands")
PLAYED = word(STATE, "played")
MAY_HOLD = word(STATE, "may_hold")
WHEN = word(STATE, "when")
TRICKS = word(STATE, "tricks")

# Sets and values --------------------------------------------------------------------------------
ALL_CARDS = (1 << N_CARDS) - 1
SUIT = np.array(cards.suit_sets(N_RANKS), np.int64)
SUIT_OF = np.array([SUIT[card // N_RANKS] for card in range(N_CARDS)], np.int64)
ABOVE = np.array([SUIT_OF[card] & ~((2 << card) - 1) for card in range(N_CARDS)], np.int64)
BLOWS_OF_RANK = np.array([6, 7, 8, 9, 10, 0, 0, 0, 0], np.int64)  # S21
ALL_OUT_NO_LOSER, ALL_OUT_RACE, ALL_OUT_REPLAY = range(3)
PENALTY_AUTO, PENALTY_NONE, PENALTY_INTERACTIVE = range(3)
REWARD_LOSER, REWARD_PLACEMENT, REWARD_BLOWS = range(3)
STRIKE_EXTRA_BLOW, STRIKE_EXTRA_CARDS = 1, 2
_CARD_BITS, _CARDS_PER_WORD = 6, 9
_FIRST_MATCH_WORD = DEALER
_FIRST_DEAL_WORD = TRUMP_CARD

# What a seat sees -------------------------------------------------------------------------------
SEAT_NAMES = ("me", "+1", "+2", "+3", "+4")
OBSERVATION = Layout(
    [
        Field("hand", CARDS, N_CARDS, "cards in one's hand", DECK),
        Field("may_hold", CARDS, N_CARDS, "cards the seat may hold", DECK, SEAT_NAMES[1:]),
        Field("played", CARDS, N_CARDS, "cards the seat has played", DECK, SEAT_NAMES),
        Field("trick", CARDS, N_CARDS, "cards on the table", DECK),
        Field("best", CARDS, N_CARDS, "the card winning the trick", DECK),
        Field("when", CARDS, N_CARDS, "the trick a card was in, binary", DECK, "124"),
        Field("trump_card", CARDS, N_CARDS, "the card turned up", DECK),
        Field("trump", ONE_OF, N_SUITS, "the trump suit", cards.SUITS),
        Field("phase", ONE_OF, 3, "what is to be done", ("play", "cut", "strike")),
        Field("out", FLAGS, N_SEATS, "seats that have left the game", SEAT_NAMES),
        Field("exits", ONE_OF, N_SEATS, "seats by their seventh trick", SEAT_NAMES, "12345"),
        Field("loser", ONE_OF, N_SEATS, "the seat that lost", SEAT_NAMES),
        Field("to_act", ONE_OF, N_SEATS, "the seat to act", SEAT_NAMES),
        Field("leader", ONE_OF, N_SEATS, "the seat that leads the trick", SEAT_NAMES),
        Field("winning", ONE_OF, N_SEATS, "the seat winning the trick", SEAT_NAMES),
        Field("dealer", ONE_OF, N_SEATS, "the dealer", SEAT_NAMES),
        Field("n_tricks", COUNT, HAND_SIZE, "finished tricks of the deal"),
        Field("tricks", COUNT, HAND_SIZE, "tricks of the deal", groups=SEAT_NAMES),
        Field("counts", COUNT, TRICKS_TO_LEAVE, "tricks of earlier deals", groups=SEAT_NAMES),
        Field("blows", COUNT, 10, "blows the bottom card gives"),
        Field("struck", ONE_OF, len(STRIKES), "how the seat struck", STRIKES, SEAT_NAMES),
        *option_fields(OPTIONS),
    ]
)
O_HAND = OBSERVATION.at("hand")
O_MAY_HOLD = OBSERVATION.at("may_hold")
O_PLAYED = OBSERVATION.at("played")
O_TRICK = OBSERVATION.at("trick")
O_BEST = OBSERVATION.at("best")
O_WHEN = OBSERVATION.at("when")
O_TRUMP_CARD = OBSERVATION.at("trump_card")
O_TRUMP = OBSERVATION.at("trump")
O_PHASE = OBSERVATION.at("phase")
O_OUT = OBSERVATION.at("out")
O_EXITS = OBSERVATION.at("exits")
O_LOSER = OBSERVATION.at("loser")
O_TO_ACT = OBSERVATION.at("to_act")
O_LEADER = OBSERVATION.at("leader")
O_WINNING = OBSERVATION.at("winning")
O_DEALER = OBSERVATION.at("dealer")
O_N_TRICKS = OBSERVATION.at("n_tricks")
O_TRICKS = OBSERVATION.at("tricks")
O_COUNTS = OBSERVATION.at("counts")
O_BLOWS = OBSERVATION.at("blows")
O_STRUCK = OBSERVATION.at("struck")
O_OPTIONS = OBSERVATION.at("option_num_players")
N_OPTION_BITS = OBSERVATION.used - O_OPTIONS
OBSERVATION_WORDS = OBSERVATION.n_words


# The contract -----------------------------------------------------------------------------------
@rule
def pack(state: Row) -> int:
    """The set of cards to shuffle for the deal or the penalty."""
    return ALL_CARDS


@rule
def start(state: Row) -> None:
    """Begin a new match; options and the random word stay."""
    state[DEALS] = 0
    state[GONE] = 0
    state[SEAT] = NOBODY
    state[PHASE] = DEAL
    state[_FIRST_MATCH_WORD:] = 0
    state[DEALER] = state[FIRST_DEALER]
    state[LOSER] = NOBODY
    state[BOTTOM] = NOBODY


@rule
def deal(state: Row, deck: Row, lot: int) -> None:
    """Deal from the shuffled `deck` (36,), or lay it ready for the penalty.

    `lot` draws the first dealer, and the cut under `penalty="auto"`.
    """
    if state[PHASE] == PENALTY_DECK:
        _begin_penalty(state, deck, lot)
        return
    if state[DEALER] == NOBODY:
        state[DEALER] = lot % n_players(state)  # S6: the first dealer by lot
    state[_FIRST_DEAL_WORD:] = 0
    state[DEALS] += 1
    state[N_ACTIVE] = n_players(state) - n_bits(state[OUT])
    state[OLD_EXITS] = state[N_EXITS]
    seat = state[DEALER]
    for i in range(HAND_SIZE * state[N_ACTIVE]):  # S7: seven cards each
        seat = left_of(state, seat)
        state[HANDS + seat] |= 1 << deck[i]
    state[TRUMP_CARD] = deck[HAND_SIZE * state[N_ACTIVE] - 1]  # S8: the dealer's last card, shown
    state[TRUMPS] = SUIT_OF[state[TRUMP_CARD]]  # S9
    for seat in range(n_players(state)):
        state[MAY_HOLD + seat] = ALL_CARDS
    state[PHASE] = PLAY
    state[LEADER] = left_of(state, state[DEALER])  # S10: left of the dealer leads
    state[SEAT] = state[LEADER]


@rule
def legal(state: Row) -> int:
    """The set of actions open to the seat to act; empty when nobody is to act."""
    seat = state[SEAT]
    if seat == NOBODY:
        return 0
    if state[PHASE] == PLAY:
        return playable(state, state[HANDS + seat])
    if state[PHASE] == CUT:
        return (1 << N_CUTS) - 1
    return ((1 << len(STRIKES)) - 1) << N_CARDS


@rule
def apply(state: Row, action: int) -> None:
    """Carry out a legal action of the seat to act."""
    if state[PHASE] == PLAY:
        _play(state, action)
    elif state[PHASE] == CUT:
        _cut(state, action + 1)
    else:
        _strike(state, action - N_CARDS)


@rule
def returns(state: Row, out: npt.NDArray[np.float64]) -> None:
    """Write the rewards paid so far in the episode; `out` (5,) by seat, 0 for empty seats."""
    out[:] = 0
    n = n_players(state)
    if state[REWARD] == REWARD_PLACEMENT:
        for place in range(n):
            seat = seat_in_place(state, place)
            if seat != NOBODY and state[GONE] >> seat & 1:
                out[seat] = 1 - 2 * place / (n - 1)
    elif state[PHASE] == OVER and state[REWARD] == REWARD_BLOWS:
        for seat in range(n):
            out[seat] = -state[RECEIVED + seat]
    elif state[PHASE] == OVER and state[LOSER] != NOBODY:
        out[state[LOSER]] = -1


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
    known = state[HANDS + seat] | 1 << state[TRUMP_CARD]
    for other in range(n_players(state)):
        known |= state[PLAYED + other]
    return ALL_CARDS & ~known


@rule
def conceal(state: Row, seat: int) -> None:
    """Blank the words that `seat` may not know: what is left is its view of the table."""
    for other in range(N_SEATS):
        if other != seat:
            state[HANDS + other] = 0
    state[PENALTY_CARDS : PENALTY_CARDS + 4] = 0
    state[RANDOM] = 0


# Seats ------------------------------------------------------------------------------------------
@rule
def n_players(state: Row) -> int:
    """Players of the match, those who have left included."""
    return state[NUM_PLAYERS] + MIN_PLAYERS


@rule
def left_of(state: Row, seat: int) -> int:
    """The next seat clockwise that has not left the game (C5)."""
    n = n_players(state)
    while True:
        seat = seat + 1 if seat + 1 < n else 0
        if not state[OUT] >> seat & 1:
            return seat


@rule
def seat_in_place(state: Row, place: int) -> int:
    """The seat that came `place`-th (from 0) in the match, NOBODY if not decided."""
    if place < state[N_EXITS]:
        return state[EXITS + place]
    if place == n_players(state) - 1:
        return state[LOSER]
    return NOBODY


# Playing ----------------------------------------------------------------------------------------
@rule
def playable(state: Row, hand: int) -> int:
    """The cards of `hand` that may be played now."""
    if state[N_PLAYED] == 0:
        return hand  # S12: the leader may play any card
    following = hand & state[FOLLOW]
    if following:
        if state[MUST_BEAT] and following & state[BEATS]:
            return following & state[BEATS]  # C2
        return following  # S13: follow suit
    trumps = hand & state[TRUMPS]
    return trumps if trumps else hand  # S13: void, must trump; void in trumps too, any card


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
        _note_failure(state, seat, bit)
        if bit & state[BEATS]:
            _set_best(state, seat, card)
    state[N_PLAYED] += 1
    if state[N_PLAYED] == state[N_ACTIVE]:
        _end_trick(state)
    else:
        state[SEAT] = left_of(state, seat)


@rule
def _set_best(state: Row, seat: int, card: int) -> None:
    state[BEST] = card
    state[BEST_SEAT] = seat
    # S14: the highest trump, else the highest card of the suit led
    state[BEATS] = ABOVE[card]
    if not state[TRUMPS] >> card & 1:
        state[BEATS] |= state[TRUMPS]


@rule
def _note_failure(state: Row, seat: int, bit: int) -> None:
    """Who does not play what he must has none of it: everybody knows."""
    if not bit & state[FOLLOW]:
        state[MAY_HOLD + seat] &= ~state[FOLLOW]
        if not bit & state[TRUMPS]:
            state[MAY_HOLD + seat] &= ~state[TRUMPS]
    elif state[MUST_BEAT] and not bit & state[BEATS]:
        state[MAY_HOLD + seat] &= ~(state[BEATS] & state[FOLLOW])


@rule
def _end_trick(state: Row) -> None:
    winner = state[BEST_SEAT]
    state[TRICKS + winner] += 1
    if state[COUNTS + winner] + state[TRICKS + winner] == TRICKS_TO_LEAVE:
        state[EXITS + state[N_EXITS]] = winner
        state[N_EXITS] += 1
    state[N_TRICKS] += 1
    for plane in range(3):
        if state[N_TRICKS] >> plane & 1:
            state[WHEN + plane] |= state[TRICK]
    state[TRICK] = 0
    state[N_PLAYED] = 0
    state[LEADER] = winner
    state[SEAT] = winner
    if state[N_TRICKS] == HAND_SIZE:
        _end_deal(state)


# Counting ---------------------------------------------------------------------------------------
@rule
def _end_deal(state: Row) -> None:
    state[SEAT] = NOBODY
    state[PHASE] = DEAL
    left = n_players(state) - state[N_EXITS]  # players who have fewer than seven
    if left == 0 and state[ALL_OUT] == ALL_OUT_REPLAY:
        state[N_EXITS] = state[OLD_EXITS]  # C4: the deal is void
    else:
        _count_tricks(state)
    if left == 0 and state[ALL_OUT] == ALL_OUT_RACE:
        state[LOSER] = state[EXITS + state[N_EXITS] - 1]  # C4: the last to take his seventh
    elif left == 1:
        state[LOSER] = lowest(~state[OUT])  # S17: the last who is left
    if state[PENALTY] != PENALTY_INTERACTIVE:
        state[GONE] = state[OUT]  # else they stay to strike (C6)
        if state[LOSER] != NOBODY:
            state[GONE] &= ~(1 << state[LOSER])
    if left == 1 or (left == 0 and state[ALL_OUT] != ALL_OUT_REPLAY):
        _end_play(state)
    else:
        state[DEALER] = left_of(state, state[DEALER])  # S6


@rule
def _count_tricks(state: Row) -> None:
    """S15: count the tricks; S16: who has seven leaves the game."""
    for seat in range(n_players(state)):
        state[COUNTS + seat] += state[TRICKS + seat]
        if state[COUNTS + seat] >= TRICKS_TO_LEAVE:
            state[OUT] |= 1 << seat


@rule
def _end_play(state: Row) -> None:
    """S18: after the last deal comes the penalty, if there is a loser."""
    if state[LOSER] == NOBODY or state[PENALTY] == PENALTY_NONE:
        _finish(state)
    else:
        state[PHASE] = PENALTY_DECK


@rule
def _finish(state: Row) -> None:
    state[SEAT] = NOBODY
    state[PHASE] = OVER
    state[GONE] = (1 << n_players(state)) - 1


# The penalty ------------------------------------------------------------------------------------
@rule
def _begin_penalty(state: Row, deck: Row, lot: int) -> None:
    lay_penalty_deck(state, deck)  # S19: the whole deck, shuffled
    if state[PENALTY] == PENALTY_INTERACTIVE:
        state[PHASE] = CUT  # S19: the loser cuts
        state[SEAT] = state[LOSER]
        return
    _cut(state, lot % N_CUTS + 1)
    while state[PHASE] == STRIKE:
        _strike(state, 0)


@rule
def lay_penalty_deck(state: Row, deck: Row) -> None:
    """Keep the order of the penalty's `deck` (36,), which nobody sees."""
    state[PENALTY_CARDS : PENALTY_CARDS + 4] = 0
    for i in range(N_CARDS):
        place = PENALTY_CARDS + i // _CARDS_PER_WORD
        state[place] |= deck[i] << _CARD_BITS * (i % _CARDS_PER_WORD)


@rule
def card_after_cut(state: Row, depth: int) -> int:
    """The bottom card when `depth` cards are lifted and the rest put on them."""
    word_of_card = state[PENALTY_CARDS + (depth - 1) // _CARDS_PER_WORD]
    return word_of_card >> _CARD_BITS * ((depth - 1) % _CARDS_PER_WORD) & ((1 << _CARD_BITS) - 1)


@rule
def _cut(state: Row, depth: int) -> None:
    state[CUT_DEPTH] = depth
    state[BOTTOM] = card_after_cut(state, depth)
    state[BLOWS] = BLOWS_OF_RANK[state[BOTTOM] % N_RANKS]  # S20: the bottom card tells the blows
    if state[BLOWS] == 0:
        _finish(state)  # S22: forgiven
        return
    state[PHASE] = STRIKE
    state[SEAT] = next_striker(state, state[LOSER])


@rule
def next_striker(state: Row, seat: int) -> int:
    """The next seat clockwise, whether it has left or not."""
    return seat + 1 if seat + 1 < n_players(state) else 0


@rule
def _strike(state: Row, kind: int) -> None:
    seat = state[SEAT]
    blows = state[BLOWS]
    state[STRUCK + seat] = kind + 1
    state[RECEIVED + state[LOSER]] += blows + (kind == STRIKE_EXTRA_BLOW)  # S26
    if kind:
        # S27: once too often or with too many cards: the same from all the others
        state[RECEIVED + seat] += blows * (n_players(state) - 1)
    state[SEAT] = next_striker(state, seat)
    if state[SEAT] == state[LOSER]:
        _finish(state)


@rule
def shield_halves(state: Row) -> tuple[int, int]:
    """Cards in the two halves the loser holds before his cheeks (S24, S25)."""
    rest = N_CARDS - (n_players(state) - 1) * (3 if state[STRIKE_CARDS] == 1 else 1)
    return rest // 2, rest - rest // 2


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
def holds_cards(state: Row, seat: int) -> bool:
    """Whether the seat still has cards to play, as everybody can see."""
    return not state[OUT] >> seat & 1 and n_bits(state[PLAYED + seat]) < HAND_SIZE


@rule
def _observe_cards(state: Row, seat: int, packed: Row) -> None:
    put(packed, O_HAND, N_CARDS, state[HANDS + seat])
    hidden = unseen(state, seat)
    for k in range(N_SEATS):
        if k >= n_players(state):
            break
        other = _seat_at(state, seat, k)
        put(packed, O_PLAYED + N_CARDS * k, N_CARDS, state[PLAYED + other])
        if k and holds_cards(state, other):
            may_hold = hidden & state[MAY_HOLD + other]
            if other == state[DEALER]:  # C1: everybody knows where the turned-up card is
                may_hold |= (1 << state[TRUMP_CARD]) & ~state[PLAYED + other]
            put(packed, O_MAY_HOLD + N_CARDS * (k - 1), N_CARDS, may_hold)
    put(packed, O_TRICK, N_CARDS, state[TRICK])
    if state[N_PLAYED]:
        put(packed, O_BEST, N_CARDS, 1 << state[BEST])
    for plane in range(3):
        put(packed, O_WHEN + N_CARDS * plane, N_CARDS, state[WHEN + plane])
    put(packed, O_TRUMP_CARD, N_CARDS, 1 << state[TRUMP_CARD])
    put(packed, O_TRUMP, N_SUITS, 1 << state[TRUMP_CARD] // N_RANKS)


@rule
def _observe_seats(state: Row, seat: int, packed: Row) -> None:
    if state[PHASE] != OVER:
        phase = 1 << 2 if state[PHASE] == STRIKE else 1 << (state[PHASE] == CUT)
        put(packed, O_PHASE, 3, phase)
        put(packed, O_TO_ACT, N_SEATS, _place_of(state, seat, state[SEAT]))
        put(packed, O_LEADER, N_SEATS, _place_of(state, seat, state[LEADER]))
    if state[N_PLAYED]:
        put(packed, O_WINNING, N_SEATS, _place_of(state, seat, state[BEST_SEAT]))
    if state[LOSER] != NOBODY:
        put(packed, O_LOSER, N_SEATS, _place_of(state, seat, state[LOSER]))
    put(packed, O_DEALER, N_SEATS, _place_of(state, seat, state[DEALER]))
    for place in range(state[N_EXITS]):
        put(
            packed, O_EXITS + N_SEATS * place, N_SEATS, _place_of(state, seat, state[EXITS + place])
        )


@rule
def _observe_standing(state: Row, seat: int, packed: Row) -> None:
    out = 0
    put(packed, O_N_TRICKS, HAND_SIZE, thermometer(state[N_TRICKS]))
    for k in range(N_SEATS):
        if k >= n_players(state):
            break
        other = _seat_at(state, seat, k)
        out |= (state[OUT] >> other & 1) << k
        put(
            packed,
            O_TRICKS + HAND_SIZE * k,
            HAND_SIZE,
            thermometer(state[TRICKS + other]),
        )
        counts = thermometer(min(state[COUNTS + other], TRICKS_TO_LEAVE))
        put(packed, O_COUNTS + TRICKS_TO_LEAVE * k, TRICKS_TO_LEAVE, counts)
        if state[STRUCK + other]:
            put(packed, O_STRUCK + len(STRIKES) * k, len(STRIKES), 1 << state[STRUCK + other] - 1)
    put(packed, O_OUT, N_SEATS, out)
    put(packed, O_BLOWS, 10, thermometer(state[BLOWS]))
