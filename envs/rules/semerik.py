"""Семерик: four players, partners 0+2 against 1+3, forty cards, no trumps, declarations.

Source: `semerik.md` beside this file; S1, S2 … are its numbered sentences.

Choices where the text is silent, doubtful or has another reading:

- C1: "a higher card" (S12) means higher than the best card of the led suit so far, one's partner's
  too; `beat` offers the led card only, or plain following suit. "Any card" (S12) means any, even a
  lower card of the suit; `fallback="suit"` makes a player who cannot beat follow suit.
- C2: a declaration is made or not as the player likes, each by itself, before his first card of the
  deal (S16); `declare` offers all at once on the first turn, or none. It shows every card of the
  hand that belongs to it.
- C3: the cards "in sequence with the baba" (S23) are all cards of its suit in an unbroken row with
  one of its three. Seven or more in one row make 16 flat (S27), in hearts as well.
- C4: "three of a rank" (S24-S26) counts once, with three cards or four.
- C5: aces are among the figures (S31); `aces` offers none, or a whole point each.
- C6: the 4 for all tricks (S32) and the 6 for nine tricks of one player (S33) add up.
- C7: a game is decided when a deal ends, by the greater total; at equal totals another deal
  follows. With another `target` T, "11 or fewer" (S30) reads (T + 1) // 2 or fewer, and 21 or 42
  are T or 2T.
- C8: an episode may be one game or one deal (`horizon`); a deal that reaches the target alone books
  its game. Each partner's payoff is half of what his pair booked less what the other did (S21).
- C9: the highest card of the suit led takes the trick, and its player leads to the next.
"""

import numpy as np
import numpy.typing as npt

from trysim.envs.rules import cards
from trysim.envs.rules.bits import lowest, n_bits, put, thermometer
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.layout import CARDS, COUNT, FLAGS, ONE_OF, Field, Layout, option_fields
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
)

NAME = "semerik"
VERSION = 0

# Sizes ------------------------------------------------------------------------------------------
RANKS = "4567JQKA23"  # S4, low to high
DECK = cards.deck(RANKS)
N_RANKS = len(RANKS)
N_CARDS = len(DECK)
N_SEATS = 4
N_PAIRS = 2
HAND_SIZE = N_CARDS // N_SEATS
N_SUITS = len(cards.SUITS)
N_DECLARATIONS = N_SUITS + N_RANKS  # babas by suit, then three of a rank
ACTIONS = (
    *DECK,
    *(f"declare:baba:{suit}" for suit in cards.SUITS),
    *(f"declare:three:{rank}" for rank in RANKS),
)
N_ACTIONS = len(ACTIONS)

OPTIONS = (
    Option("beat", "best", "what a card must be higher than", ("best", "led", "none")),
    Option("fallback", "any", "what one plays who cannot beat", ("any", "suit")),
    Option("declare", "choice", "whether declarations are made", ("choice", "auto", "off")),
    Option("baba", "7A2", "the three cards of a baba", ("7A2", "3A2")),
    Option("sixteen", "run7", "the row beside a baba that makes 16", ("run7", "whole_suit")),
    Option("aces", "third", "what an ace in the tricks counts", ("third", "none", "one")),
    Option("last_trick", 0, "points for the last trick", (0, 1)),
    Option("horizon", "match", "what an episode is", ("match", "game", "deal")),
    Option("reward", "payoff", "what the reward counts", ("payoff", "points")),
    Option("target", 21, "points that win a game", low=1, high=42),
    Option("games", 3, "games in a match", low=1, high=5),
    Option("dealer", None, "the first dealer's seat, by lot if none", low=0, high=3),
)
MAX_TARGET, MAX_GAMES = 42, 5

# The words of a row -----------------------------------------------------------------------------
_MATCH_WORDS = [
    ("dealer", 1),
    ("totals", N_PAIRS),  # points in the running game
    ("booked", N_PAIRS),  # won games as booked
    ("games_done", 1),
    ("points_ahead", 1),  # pair 0's points minus pair 1's, all deals
    ("score", N_PAIRS),  # points of the last finished deal
    ("score_totals", N_PAIRS),  # the running game's points right after it
]
_DEAL_WORDS = [
    ("leader", 1),
    ("best", 1),  # the card that is winning the trick
    ("best_seat", 1),
    ("led", 1),  # the card that was led
    ("must", 1),  # set: one of these must be played by who has one
    ("n_played", 1),  # cards on the table
    ("trick", 1),  # set: the same
    ("n_tricks", 1),  # finished tricks
    ("hands", N_SEATS),
    ("played", N_SEATS),  # set per seat
    ("may_hold", N_SEATS),  # set per seat: not excluded by what the seat failed to play
    ("when", 4),  # sets: bit planes of the number (from 1) of the finished trick a card was in
    ("offers", N_SEATS),  # set of declarations that may still be made
    ("declared", N_SEATS),
    ("shown", N_SEATS),  # set of cards that declarations made known
    ("declared_points", N_PAIRS),
    ("tricks", N_SEATS),
    ("taken", N_PAIRS),  # set per pair
]
STATE = state_dtype(
    [*HEADER, *option_words(OPTIONS), ("option_bits", 1), *_MATCH_WORDS, *_DEAL_WORDS]
)

BEAT = word(STATE, "option_beat")
FALLBACK = word(STATE, "option_fallback")
DECLARE = word(STATE, "option_declare")
BABA = word(STATE, "option_baba")
SIXTEEN = word(STATE, "option_sixteen")
ACES = word(STATE, "option_aces")
LAST_TRICK = word(STATE, "option_last_trick")
HORIZON = word(STATE, "option_horizon")
REWARD = word(STATE, "option_reward")
TARGET = word(STATE, "option_target")
GAMES = word(STATE, "option_games")
FIRST_DEALER = word(STATE, "option_dealer")
OPTION_BITS = word(STATE, "option_bits")
DEALER = word(STATE, "dealer")
TOTALS = word(STATE, "totals")
BOOKED = word(STATE, "booked")
GAMES_DONE = word(STATE, "games_done")
POINTS_AHEAD = word(STATE, "points_ahead")
SCORE = word(STATE, "score")
SCORE_TOTALS = word(STATE, "score_totals")
LEADER = word(STATE, "leader")
BEST = word(STATE, "best")
BEST_SEAT = word(STATE, "best_seat")
LED = word(STATE, "led")
MUST = word(STATE, "must")
N_PLAYED = word(STATE, "n_played")
TRICK = word(STATE, "trick")
N_TRICKS = word(STATE, "n_tricks")
HANDS = word(STATE, "hands")
PLAYED = word(STATE, "played")
MAY_HOLD = word(STATE, "may_hold")
WHEN = word(STATE, "when")
OFFERS = word(STATE, "offers")
DECLARED = word(STATE, "declared")
SHOWN = word(STATE, "shown")
DECLARED_POINTS = word(STATE, "declared_points")
TRICKS = word(STATE, "tricks")
TAKEN = word(STATE, "taken")

# Sets and values --------------------------------------------------------------------------------
ALL_CARDS = (1 << N_CARDS) - 1
ALL_SEATS = (1 << N_SEATS) - 1
ALL_RANKS = (1 << N_RANKS) - 1
SUIT = np.array(cards.suit_sets(N_RANKS), np.int64)
RANK = np.array([cards.rank_set(N_RANKS, rank) for rank in range(N_RANKS)], np.int64)
SUIT_OF = np.array([SUIT[card // N_RANKS] for card in range(N_CARDS)], np.int64)
ABOVE = np.array([SUIT_OF[card] & ~((2 << card) - 1) for card in range(N_CARDS)], np.int64)
ACE = RANKS.index("A")
SEVEN = RANKS.index("7")
HEARTS = cards.SUITS.index("H")
ACE_SET = cards.rank_set(N_RANKS, ACE)
FIGURE_SET = sum(cards.rank_set(N_RANKS, RANKS.index(rank)) for rank in "JQK23")
BABA_RANKS = np.array(
    [sum(1 << RANKS.index(rank) for rank in key) for key in ("7A2", "3A2")], np.int64
)
THREE_POINTS = np.array([{"7": 4, "3": 3, "2": 3, "A": 3}.get(rank, 1) for rank in RANKS], np.int64)
CARDS_PER_POINT = 3
ALL_TRICKS_POINTS = 4
NINE_TRICKS_POINTS = 6
BEAT_LED, BEAT_NONE = 1, 2
FALLBACK_SUIT = 1
DECLARE_AUTO, DECLARE_OFF = 1, 2
ACES_THIRD, ACES_ONE = 0, 2
HORIZON_MATCH, HORIZON_GAME, HORIZON_DEAL = range(3)
REWARD_POINTS = 1
_FIRST_MATCH_WORD = DEALER
_FIRST_DEAL_WORD = LEADER

# What a seat sees -------------------------------------------------------------------------------
SEAT_NAMES = ("me", "left", "partner", "right")
PAIR_NAMES = ("us", "them")
_N_POINTS_SHOWN = 24  # points of declarations in a deal; more look the same
OBSERVATION = Layout(
    [
        Field("hand", CARDS, N_CARDS, "cards in one's hand", DECK),
        Field("may_hold", CARDS, N_CARDS, "cards the seat may hold", DECK, SEAT_NAMES[1:]),
        Field("played", CARDS, N_CARDS, "cards the seat has played", DECK, SEAT_NAMES),
        Field("shown", CARDS, N_CARDS, "cards the seat's declarations showed", DECK, SEAT_NAMES),
        Field("trick", CARDS, N_CARDS, "cards on the table", DECK),
        Field("best", CARDS, N_CARDS, "the card winning the trick", DECK),
        Field("when", CARDS, N_CARDS, "the trick a card was in, binary", DECK, "1248"),
        Field("to_act", ONE_OF, N_SEATS, "the seat to act", SEAT_NAMES),
        Field("leader", ONE_OF, N_SEATS, "the seat that leads the trick", SEAT_NAMES),
        Field("winning", ONE_OF, N_SEATS, "the seat winning the trick", SEAT_NAMES),
        Field("dealer", ONE_OF, N_SEATS, "the dealer", SEAT_NAMES),
        Field("n_tricks", COUNT, HAND_SIZE, "finished tricks of the deal"),
        Field("tricks", COUNT, HAND_SIZE, "tricks taken", groups=SEAT_NAMES),
        Field("counting", COUNT, 24, "figures, twos, threes (aces) taken", groups=PAIR_NAMES),
        Field("offers", FLAGS, N_DECLARATIONS, "what one may declare", ACTIONS[N_CARDS:]),
        Field("declared", FLAGS, N_DECLARATIONS, "declared", ACTIONS[N_CARDS:], SEAT_NAMES),
        Field("declared_points", COUNT, _N_POINTS_SHOWN, "points declared", groups=PAIR_NAMES),
        Field("totals", COUNT, MAX_TARGET, "points in the running game", groups=PAIR_NAMES),
        Field("booked", COUNT, 2 * MAX_GAMES, "booked score / target", groups=PAIR_NAMES),
        Field("games_left", COUNT, MAX_GAMES, "games still to be decided"),
        Field("target", COUNT, MAX_TARGET, "points that win a game"),
        *option_fields(OPTIONS),
    ]
)
O_HAND = OBSERVATION.at("hand")
O_MAY_HOLD = OBSERVATION.at("may_hold")
O_PLAYED = OBSERVATION.at("played")
O_SHOWN = OBSERVATION.at("shown")
O_TRICK = OBSERVATION.at("trick")
O_BEST = OBSERVATION.at("best")
O_WHEN = OBSERVATION.at("when")
O_TO_ACT = OBSERVATION.at("to_act")
O_LEADER = OBSERVATION.at("leader")
O_WINNING = OBSERVATION.at("winning")
O_DEALER = OBSERVATION.at("dealer")
O_N_TRICKS = OBSERVATION.at("n_tricks")
O_TRICKS = OBSERVATION.at("tricks")
O_COUNTING = OBSERVATION.at("counting")
O_OFFERS = OBSERVATION.at("offers")
O_DECLARED = OBSERVATION.at("declared")
O_DECLARED_POINTS = OBSERVATION.at("declared_points")
O_TOTALS = OBSERVATION.at("totals")
O_BOOKED = OBSERVATION.at("booked")
O_GAMES_LEFT = OBSERVATION.at("games_left")
O_TARGET = OBSERVATION.at("target")
O_OPTIONS = OBSERVATION.at("option_beat")
N_OPTION_BITS = OBSERVATION.used - O_OPTIONS
OBSERVATION_WORDS = OBSERVATION.n_words


# The contract -----------------------------------------------------------------------------------
@rule
def pack(state: Row) -> int:
    """The set of cards to shuffle for the deal."""
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


@rule
def deal(state: Row, deck: Row, lot: int) -> None:
    """Deal the shuffled `deck` (40,) one card at a time; `lot` draws the first dealer."""
    if state[DEALER] == NOBODY:
        state[DEALER] = lot % N_SEATS  # S7: the first dealer by lot
    state[_FIRST_DEAL_WORD:] = 0
    state[DEALS] += 1
    elder = left_of(state[DEALER])
    seat = elder
    for card in deck:  # S8: ten cards each
        state[HANDS + seat] |= 1 << card
        seat = left_of(seat)
    for seat in range(N_SEATS):
        state[MAY_HOLD + seat] = ALL_CARDS
        if state[DECLARE] != DECLARE_OFF:
            state[OFFERS + seat] = combinations(state, state[HANDS + seat])
    state[PHASE] = PLAY
    state[LEADER] = elder  # S11: left of the dealer leads
    _give_turn(state, elder)


@rule
def legal(state: Row) -> int:
    """The set of actions open to the seat to act; empty when nobody is to act."""
    seat = state[SEAT]
    if seat == NOBODY:
        return 0
    # S16: declarations come before one's own first card; `offers` is empty afterwards.
    return playable(state, state[HANDS + seat]) | state[OFFERS + seat] << N_CARDS


@rule
def apply(state: Row, action: int) -> None:
    """Carry out a legal action of the seat to act."""
    if action < N_CARDS:
        _play(state, action)
    else:
        _declare(state, state[SEAT], action - N_CARDS)


@rule
def returns(state: Row, out: npt.NDArray[np.float64]) -> None:
    """Write the rewards paid so far in the episode; `out` (4,) by seat."""
    ahead = 0.0
    if state[REWARD] == REWARD_POINTS or state[HORIZON] == HORIZON_DEAL:
        ahead += state[POINTS_AHEAD]
    elif state[PHASE] == OVER:
        ahead += (state[BOOKED] - state[BOOKED + 1]) / 2  # S21: partners share equally
    for seat in range(N_SEATS):
        out[seat] = ahead if seat % N_PAIRS == 0 else 0.0 - ahead  # never -0.0


@rule
def observe(state: Row, seat: int, packed: Row) -> None:
    """Add what `seat` sees to the packed bits (`OBSERVATION`), other seats counted from it."""
    _observe_cards(state, seat, packed)
    _observe_seats(state, seat, packed)
    _observe_standing(state, seat, packed)
    put(packed, O_OPTIONS, N_OPTION_BITS, state[OPTION_BITS])


@rule
def unseen(state: Row, seat: int) -> int:
    """The set of cards whose place `seat` cannot be sure of."""
    known = state[HANDS + seat]
    for other in range(N_SEATS):
        known |= state[PLAYED + other] | state[SHOWN + other]
    return ALL_CARDS & ~known


@rule
def conceal(state: Row, seat: int) -> None:
    """Blank the words that `seat` may not know: what is left is its view of the table."""
    for other in range(N_SEATS):
        if other != seat:
            state[HANDS + other] = 0
            state[OFFERS + other] = 0
    state[RANDOM] = 0


# Playing ----------------------------------------------------------------------------------------
@rule
def n_players(state: Row) -> int:
    """Players of the match."""
    return N_SEATS


@rule
def left_of(seat: int) -> int:
    """The next seat clockwise."""
    return (seat + 1) % N_SEATS


@rule
def playable(state: Row, hand: int) -> int:
    """The cards of `hand` that may be played now."""
    if state[N_PLAYED] == 0:
        return hand  # S12: the leader may play any card
    if hand & state[MUST]:
        return hand & state[MUST]  # S12: a higher card of the suit led
    if state[FALLBACK] == FALLBACK_SUIT and hand & SUIT_OF[state[LED]]:
        return hand & SUIT_OF[state[LED]]
    return hand  # S12: else any card (C1)


@rule
def _play(state: Row, card: int) -> None:
    seat = state[SEAT]
    bit = 1 << card
    state[HANDS + seat] ^= bit
    state[PLAYED + seat] |= bit
    state[OFFERS + seat] = 0
    state[TRICK] |= bit
    if state[N_PLAYED] == 0:
        state[LED] = card
        _set_best(state, seat, card)
    else:
        _note_failure(state, seat, bit)
        if ABOVE[state[BEST]] & bit:
            _set_best(state, seat, card)
    state[N_PLAYED] += 1
    if state[N_PLAYED] == N_SEATS:
        _end_trick(state)
    else:
        _give_turn(state, left_of(seat))


@rule
def _set_best(state: Row, seat: int, card: int) -> None:
    """`card` is winning now; settle what the next players must play."""
    state[BEST] = card
    state[BEST_SEAT] = seat
    if state[BEAT] == BEAT_NONE:
        state[MUST] = SUIT_OF[card]
    elif state[BEAT] == BEAT_LED:
        state[MUST] = ABOVE[state[LED]]
    else:
        state[MUST] = ABOVE[card]


@rule
def _note_failure(state: Row, seat: int, bit: int) -> None:
    """Who does not play what he must has none of it: everybody knows."""
    if not bit & state[MUST]:
        state[MAY_HOLD + seat] &= ~state[MUST]
        if state[FALLBACK] == FALLBACK_SUIT and not bit & SUIT_OF[state[LED]]:
            state[MAY_HOLD + seat] &= ~SUIT_OF[state[LED]]


@rule
def _give_turn(state: Row, seat: int) -> None:
    state[SEAT] = seat
    if state[DECLARE] == DECLARE_AUTO:
        while state[OFFERS + seat]:
            _declare(state, seat, lowest(state[OFFERS + seat]))


@rule
def _end_trick(state: Row) -> None:
    winner = state[BEST_SEAT]  # C9: the highest card of the suit led takes the trick
    state[TRICKS + winner] += 1
    state[TAKEN + winner % N_PAIRS] |= state[TRICK]
    state[N_TRICKS] += 1
    for plane in range(4):
        if state[N_TRICKS] >> plane & 1:
            state[WHEN + plane] |= state[TRICK]
    state[TRICK] = 0
    state[N_PLAYED] = 0
    state[MUST] = 0
    state[LEADER] = winner
    if state[N_TRICKS] == HAND_SIZE:
        _end_deal(state)
    else:
        _give_turn(state, winner)


# Declarations -----------------------------------------------------------------------------------
@rule
def combinations(state: Row, hand: int) -> int:
    """The set of declarations that a whole hand holds: babas by suit, then three of a rank."""
    key = BABA_RANKS[state[BABA]]
    found = 0
    for suit in range(N_SUITS):
        if hand >> N_RANKS * suit & key == key:
            found |= 1 << suit  # S17: seven, two and ace of one suit
    c, d = hand & ALL_RANKS, hand >> N_RANKS & ALL_RANKS
    h, s = hand >> 2 * N_RANKS & ALL_RANKS, hand >> 3 * N_RANKS
    return found | (c & d & (h | s) | (c | d) & h & s) << N_SUITS  # S24-S26: three of a rank


@rule
def combination_cards(state: Row, hand: int, declaration: int) -> int:
    """The cards of `hand` that belong to a declaration."""
    if declaration < N_SUITS:
        ranks = hand >> N_RANKS * declaration & ALL_RANKS
        return baba_row(ranks, BABA_RANKS[state[BABA]]) << N_RANKS * declaration
    return hand & RANK[declaration - N_SUITS]


@rule
def combination_points(state: Row, hand: int, declaration: int) -> int:
    """The points of a declaration."""
    if declaration >= N_SUITS:
        return THREE_POINTS[declaration - N_SUITS]  # S24-S26, S28
    ranks = hand >> N_RANKS * declaration & ALL_RANKS
    row = baba_row(ranks, BABA_RANKS[state[BABA]])
    if is_sixteen(row, state[SIXTEEN] == 1):
        return 16  # S27
    base = 5 if declaration == HEARTS else 3  # S22, S29
    return base + n_bits(row) - 3  # S23: one for each card in sequence


@rule
def baba_row(ranks: int, key: int) -> int:
    """The ranks in an unbroken row with one of the baba's three, these included (C3)."""
    row = key
    for _ in range(N_RANKS):
        row |= (row << 1 | row >> 1) & ranks
    return row


@rule
def is_sixteen(row: int, whole_suit: bool) -> bool:
    """Whether a row counts 16: seven ranks in a row, or the whole suit."""
    if whole_suit:
        return row == ALL_RANKS
    seven_long = row
    for _ in range(6):
        seven_long &= seven_long >> 1
    return seven_long != 0


@rule
def _declare(state: Row, seat: int, declaration: int) -> None:
    hand = state[HANDS + seat]
    shown = combination_cards(state, hand, declaration)
    state[OFFERS + seat] ^= 1 << declaration
    state[DECLARED + seat] |= 1 << declaration
    state[SHOWN + seat] |= shown
    state[MAY_HOLD + seat] &= shown | ~_neighbours(shown, declaration)
    state[DECLARED_POINTS + seat % N_PAIRS] += combination_points(state, hand, declaration)


@rule
def _neighbours(shown: int, declaration: int) -> int:
    """The cards that would belong to a declaration with those shown, had the seat any."""
    if declaration < N_SUITS:
        return (shown << 1 | shown >> 1) & SUIT[declaration]
    return RANK[declaration - N_SUITS]


# Counting ---------------------------------------------------------------------------------------
@rule
def pile_points(pile: int, aces: int) -> int:
    """The points of the cards a pair has taken: one for every three counting cards (S31)."""
    figures, n_aces = n_bits(pile & FIGURE_SET), n_bits(pile & ACE_SET)
    if aces == ACES_THIRD:
        return (figures + n_aces) // CARDS_PER_POINT
    if aces == ACES_ONE:
        return figures // CARDS_PER_POINT + n_aces
    return figures // CARDS_PER_POINT


@rule
def trick_points(mine: int, partners: int) -> int:
    """The points for the numbers of tricks of two partners."""
    points = 0
    if mine + partners == HAND_SIZE:
        points += ALL_TRICKS_POINTS  # S32
    if max(mine, partners) >= HAND_SIZE - 1:
        points += NINE_TRICKS_POINTS  # S33, and both where both hold (C6)
    return points


@rule
def game_winner(state: Row) -> int:
    """The pair that has won the running game after a deal, NOBODY while it goes on."""
    a, b = state[TOTALS], state[TOTALS + 1]
    if max(a, b) < state[TARGET] or a == b:
        return NOBODY  # S15, C7
    return 0 if a > b else 1  # S15


@rule
def booked_score(target: int, losers: int) -> int:
    """How a won game is booked: doubled if the losers have 11 points or fewer (S30, C7)."""
    return 2 * target if losers <= (target + 1) // 2 else target


@rule
def _end_deal(state: Row) -> None:
    for pair in range(N_PAIRS):
        points = state[DECLARED_POINTS + pair]
        points += pile_points(state[TAKEN + pair], state[ACES])
        points += trick_points(state[TRICKS + pair], state[TRICKS + pair + N_PAIRS])
        if state[LEADER] % N_PAIRS == pair:
            points += state[LAST_TRICK]  # the winner of the last trick
        state[SCORE + pair] = points
        state[TOTALS + pair] += points
        state[SCORE_TOTALS + pair] = state[TOTALS + pair]
    state[POINTS_AHEAD] += state[SCORE] - state[SCORE + 1]
    _end_game(state)
    if state[HORIZON] == HORIZON_DEAL:
        _finish(state)
    elif state[PHASE] == DEAL:
        state[DEALER] = left_of(state[DEALER])  # S7: afterwards in turn


@rule
def _end_game(state: Row) -> None:
    """Book the running game if the deal decided it; the match ends with the last one."""
    state[SEAT] = NOBODY
    state[PHASE] = DEAL
    winner = game_winner(state)
    if winner == NOBODY:
        return
    state[BOOKED + winner] += booked_score(state[TARGET], state[TOTALS + 1 - winner])
    state[GAMES_DONE] += 1
    if state[HORIZON] == HORIZON_GAME or state[GAMES_DONE] == state[GAMES]:
        _finish(state)  # S19: a full game is three games
    elif state[HORIZON] == HORIZON_MATCH:
        state[TOTALS] = 0
        state[TOTALS + 1] = 0


@rule
def _finish(state: Row) -> None:
    state[SEAT] = NOBODY
    state[PHASE] = OVER
    state[GONE] = ALL_SEATS


# Observing --------------------------------------------------------------------------------------
@rule
def _observe_cards(state: Row, seat: int, packed: Row) -> None:
    put(packed, O_HAND, N_CARDS, state[HANDS + seat])
    hidden = unseen(state, seat)
    for k in range(N_SEATS):
        other = (seat + k) % N_SEATS
        put(packed, O_PLAYED + N_CARDS * k, N_CARDS, state[PLAYED + other])
        put(packed, O_SHOWN + N_CARDS * k, N_CARDS, state[SHOWN + other])
        if k:
            shown = state[SHOWN + other] & ~state[PLAYED + other]
            put(
                packed,
                O_MAY_HOLD + N_CARDS * (k - 1),
                N_CARDS,
                hidden & state[MAY_HOLD + other] | shown,
            )
    put(packed, O_TRICK, N_CARDS, state[TRICK])
    if state[N_PLAYED]:
        put(packed, O_BEST, N_CARDS, 1 << state[BEST])
    for plane in range(4):
        put(packed, O_WHEN + N_CARDS * plane, N_CARDS, state[WHEN + plane])


@rule
def _observe_seats(state: Row, seat: int, packed: Row) -> None:
    if state[SEAT] != NOBODY:
        put(packed, O_TO_ACT, N_SEATS, 1 << (state[SEAT] - seat) % N_SEATS)
        put(packed, O_LEADER, N_SEATS, 1 << (state[LEADER] - seat) % N_SEATS)
    if state[N_PLAYED]:
        put(packed, O_WINNING, N_SEATS, 1 << (state[BEST_SEAT] - seat) % N_SEATS)
    if state[DEALER] != NOBODY:
        put(packed, O_DEALER, N_SEATS, 1 << (state[DEALER] - seat) % N_SEATS)
    put(packed, O_N_TRICKS, HAND_SIZE, thermometer(state[N_TRICKS]))
    put(packed, O_OFFERS, N_DECLARATIONS, state[OFFERS + seat])
    for k in range(N_SEATS):
        other = (seat + k) % N_SEATS
        put(
            packed,
            O_TRICKS + HAND_SIZE * k,
            HAND_SIZE,
            thermometer(state[TRICKS + other]),
        )
        put(packed, O_DECLARED + N_DECLARATIONS * k, N_DECLARATIONS, state[DECLARED + other])


@rule
def _observe_standing(state: Row, seat: int, packed: Row) -> None:
    target = state[TARGET]
    counting = FIGURE_SET if state[ACES] == 1 else FIGURE_SET | ACE_SET
    for k in range(N_PAIRS):
        pair = (seat + k) % N_PAIRS
        put(packed, O_COUNTING + 24 * k, 24, thermometer(n_bits(state[TAKEN + pair] & counting)))
        declared = thermometer(min(state[DECLARED_POINTS + pair], _N_POINTS_SHOWN))
        put(packed, O_DECLARED_POINTS + _N_POINTS_SHOWN * k, _N_POINTS_SHOWN, declared)
        put(
            packed,
            O_TOTALS + MAX_TARGET * k,
            MAX_TARGET,
            thermometer(min(state[TOTALS + pair], MAX_TARGET)),
        )
        booked = thermometer(state[BOOKED + pair] // target)
        put(packed, O_BOOKED + 2 * MAX_GAMES * k, 2 * MAX_GAMES, booked)
    left = 0
    if state[HORIZON] == HORIZON_MATCH:
        left += state[GAMES] - state[GAMES_DONE]
    elif state[HORIZON] == HORIZON_GAME:
        left += 1 - state[GAMES_DONE]
    put(packed, O_GAMES_LEFT, MAX_GAMES, thermometer(left))
    put(packed, O_TARGET, MAX_TARGET, thermometer(target))
