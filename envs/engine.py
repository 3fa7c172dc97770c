"""The contract of a game module, and the compiled loops over many tables.

A game module in `rules/` gives `NAME VERSION DECK ACTIONS N_SEATS OPTIONS STATE OBSERVATION` and
the compiled functions

    start(state)                begin a match
    pack(state) -> set          the cards to shuffle next
    deal(state, deck, lot)      deal them
    legal(state) -> set         the actions of the seat to act
    apply(state, action)        carry one out
    returns(state, out)         rewards so far, by seat
    observe(state, seat, bits)  what a seat sees
    unseen(state, seat) -> set  the cards whose place it does not know
    conceal(state, seat)        blank everything hidden from it

They write into their arguments only and draw nothing at random: this module shuffles, from the one
random word that each table carries, so results never depend on batch size or process count.
Functions here take the game's number and dispatch on it. They trust their arguments: callers check.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.envs.rules import semerik, semnadtsat, sim_lystiv
from trysim.envs.rules.bits import lowest, n_bits, pick, spread, unpack
from trysim.envs.rules.jit import Row, rule, specialise
from trysim.envs.rules.row import N_LOTS, NOBODY, OVER, PHASE, RANDOM, SEAT

SIM_LYSTIV, SEMNADTSAT, SEMERIK = range(3)
GAME_MODULES = (sim_lystiv, semnadtsat, semerik)
MAX_SEATS = 5
MAX_CARDS = 52
MASK_WORDS = 7  # int64 words of a mask: room for 56 actions

rules: Any = semerik  # in the templates below: the game module they are compiled for

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.int8]

# splitmix64 (Steele, Lea, Flood 2014): a counter, and a mixer that makes random bits of it.
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31, _S32 = (np.uint64(shift) for shift in (11, 27, 30, 31, 32))
_LOW_32 = np.uint64(0xFFFFFFFF)


# Random numbers ---------------------------------------------------------------------------------
@rule
def random_bits(word: int) -> np.uint64:
    """64 random bits for a random word."""
    z = np.uint64(word)
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@rule
def next_word(word: int) -> int:
    """The random word after `word`."""
    return np.int64(np.uint64(word) + _GAMMA)


@rule
def below(bits: np.uint64, n: int) -> int:
    """A number in 0..n-1 from the lower 32 of `bits` (biased by at most n / 2**32)."""
    return np.int64(((bits & _LOW_32) * np.uint64(n)) >> _S32)


@rule
def shuffle(state: Row, pack: int, deck: Row) -> int:
    """Write the set `pack`, shuffled, into the front of `deck`; returns how many cards it has."""
    n = 0
    while pack:
        deck[n] = lowest(pack)
        pack &= pack - 1
        n += 1
    word = state[RANDOM]
    i = n - 1
    while i > 0:  # Fisher-Yates, two cards for each 64 bits
        word = next_word(word)
        bits = random_bits(word)
        j = below(bits, i + 1)
        deck[i], deck[j] = deck[j], deck[i]
        j = below(bits >> _S32, i)
        deck[i - 1], deck[j] = deck[j], deck[i - 1]
        i -= 2
    state[RANDOM] = word
    return n


@rule
def draw_lot(state: Row) -> int:
    """A lot in 0..N_LOTS-1."""
    state[RANDOM] = next_word(state[RANDOM])
    return below(random_bits(state[RANDOM]), N_LOTS)


@rule
def next_words(streams: Row, tables: Row, seats: Row, out: Row) -> None:
    """Advance the random words (B, seats) of some tables and seats (N,); write the new ones."""
    for i in range(tables.size):
        word = next_word(streams[tables[i], seats[i]])
        streams[tables[i], seats[i]] = word
        out[i] = word


@rule
def draw(streams: Row, table: int, column: int, n: int) -> int:
    """A number in 0..n-1 from one of the random words (B, columns), which advances."""
    streams[table, column] = next_word(streams[table, column])
    return below(random_bits(streams[table, column]), n)


@rule
def uniforms(words: Row, out: Floats) -> None:
    """Write a number in [0, 1) for each random word (N,)."""
    for i in range(words.size):
        out[i] = np.float64(random_bits(words[i]) >> _S11) / 2.0**53


# One table: templates, compiled once for each game -----------------------------------------------
def begin(state: Row) -> None:
    """Begin a match; the first deal is still to be dealt."""
    rules.start(state)


def settle(state: Row) -> None:
    """Shuffle and deal while the table waits for a deck."""
    if state[PHASE] <= 0:
        deck = np.empty(MAX_CARDS, np.int64)
        while state[PHASE] <= 0:
            n = shuffle(state, rules.pack(state), deck)
            rules.deal(state, deck[:n], draw_lot(state))


def give_deck(state: Row, deck: Row, lot: int) -> None:
    """Deal the next deal (or lay the penalty deck ready) from a given deck, instead of `settle`."""
    rules.deal(state, deck, lot)


def legal(state: Row) -> int:
    """The set of actions open to the seat to act; empty when nobody is to act."""
    return rules.legal(state)


def apply(state: Row, action: int) -> None:
    """Carry out a legal action; a deck may be wanted next."""
    rules.apply(state, action)


def step(state: Row, action: int) -> bool:
    """Carry out a legal action, then deal if a deck is wanted; whether a deal or more ended."""
    rules.apply(state, action)
    ended = state[PHASE] <= 0 or state[PHASE] == OVER
    settle(state)
    return ended


def returns(state: Row, out: Floats) -> None:
    """Write the rewards paid so far in the episode by seat; `out` (seats of the game,)."""
    rules.returns(state, out)


def observe_packed(state: Row, seat: int, packed: Row) -> None:
    """Write what `seat` sees as packed bits (`OBSERVATION.n_words`,)."""
    packed[:] = 0
    rules.observe(state, seat, packed)


def observe(state: Row, seat: int, out: Row) -> None:
    """Write what `seat` sees, then what it may do, as 0/1 bytes.

    `out` is an int8 array seen as int64: the observation, then `MASK_WORDS` words of mask. The mask
    of a seat that is not to act is zero.
    """
    packed = np.empty(rules.OBSERVATION_WORDS, np.int64)
    observe_packed(state, seat, packed)
    unpack(packed, out[:-MASK_WORDS])
    spread(rules.legal(state) if state[SEAT] == seat else 0, out[-MASK_WORDS:])


def view(state: Row, seat: int, out: Row) -> None:
    """Write the table as `seat` knows it: the row with everything hidden from it blank."""
    for place in range(state.size):  # `out[:] = state` would compile for five more seconds
        out[place] = state[place]
    rules.conceal(out, seat)


def other_hands(state: Row, seat: int, out: Bytes) -> None:
    """Write the other seats' hands, clockwise from `seat`, as 0/1; `out` ((seats - 1) * cards,)."""
    out[:] = 0
    n = rules.n_players(state)
    for k in range(1, n):
        hand = state[rules.HANDS + (seat + k) % n]
        for card in range(rules.N_CARDS):
            out[(k - 1) * rules.N_CARDS + card] = hand >> card & 1


# Many tables ------------------------------------------------------------------------------------
def play_random(rows: Row, n: int, word: int) -> int:
    """Play `n` random legal decisions at each table (B, words); returns the finished matches."""
    finished = 0
    for table in range(rows.shape[0]):
        state = rows[table]
        for _ in range(n):
            word = next_word(word)
            actions = rules.legal(state)
            rules.apply(state, pick(actions, below(random_bits(word), n_bits(actions))))
            if state[PHASE] == OVER:
                finished += 1
                rules.start(state)
            settle(state)
    return finished


def play_random_observed(
    rows: Row, n: int, word: int, packed: Row, observation: Row, mask: Row
) -> int:
    """`play_random`, with observation and mask of the seat to act written at every decision."""
    finished = 0
    for table in range(rows.shape[0]):
        state = rows[table]
        for _ in range(n):
            actions = rules.legal(state)
            observe_packed(state, state[SEAT], packed)
            unpack(packed, observation)
            spread(actions, mask)
            word = next_word(word)
            rules.apply(state, pick(actions, below(random_bits(word), n_bits(actions))))
            if state[PHASE] == OVER:
                finished += 1
                rules.start(state)
            settle(state)
    return finished


def first_illegal(rows: Row, tables: Row, actions: Row) -> int:
    """The first i for which `actions[i]` is illegal at table `tables[i]`, -1 if there is none."""
    for i in range(tables.size):
        action = actions[i]
        legal_actions = rules.legal(rows[tables[i]])
        if action < 0 or action >= rules.N_ACTIONS or not legal_actions >> action & 1:
            return i
    return -1


def step_tables(
    rows: Row, tables: Row, actions: Row, paid: Floats, rewards: Floats, done: Bools
) -> None:
    """One legal decision at each of the `tables` (N,), of all `rows` (B, words).

    Writes rewards (B, seats) of this step and done (B,) for these tables; `paid` (B, seats) holds
    what the running episodes have paid.
    """
    for i in range(tables.size):
        table = tables[i]
        state = rows[table]
        rewards[table, :] = 0
        done[table] = False
        rules.apply(state, actions[i])
        if state[PHASE] <= 0 or state[PHASE] == OVER:
            settle(state)
            rules.returns(state, rewards[table])
            for seat in range(rewards.shape[1]):
                total = rewards[table, seat]
                rewards[table, seat] -= paid[table, seat]
                paid[table, seat] = total
            done[table] = state[PHASE] == OVER


def begin_tables(rows: Row, tables: Row, paid: Floats) -> None:
    """Begin a match at each of the `tables` (N,), each from its own random word."""
    for table in tables:
        rules.start(rows[table])
        settle(rows[table])
        paid[table, :] = 0


def observe_tables(
    rows: Row, tables: Row, packed: Row, observations: Row, masks: Row, seats: Row
) -> None:
    """Write observation and mask of the seat to act, and the seat, for each of the `tables`."""
    for table in tables:
        seat = rows[table, SEAT]
        seats[table] = seat
        if seat == NOBODY:
            observations[table, :] = 0
            masks[table, :] = 0
        else:
            observe_packed(rows[table], seat, packed)
            unpack(packed, observations[table])
            spread(rules.legal(rows[table]), masks[table])


def other_hands_tables(rows: Row, tables: Row, out: Bytes) -> None:
    """Write the hands that the seat to act does not see for each of the `tables` (N,)."""
    for i in range(tables.size):
        state = rows[tables[i]]
        other_hands(state, max(state[SEAT], 0), out[i])


def count_legal(rows: Row, tables: Row, out: Row) -> None:
    """Write how many legal actions there are at each of the `tables` (N,)."""
    for i in range(tables.size):
        out[i] = n_bits(rules.legal(rows[tables[i]]))


def view_tables(rows: Row, tables: Row, out: Row, legal_actions: Row) -> None:
    """Write the view of the seat to act, and what it may do, at each of the `tables` (N,)."""
    for i in range(tables.size):
        state = rows[tables[i]]
        view(state, state[SEAT], out[i])
        legal_actions[i] = rules.legal(state)


_TEMPLATES = (
    begin, settle, give_deck, legal, apply, step, returns, observe_packed, observe, view,
    play_random, play_random_observed, first_illegal, step_tables, begin_tables, observe_tables,
    count_legal, view_tables, other_hands, other_hands_tables,
)  # fmt: skip
KERNELS = tuple(specialise(_TEMPLATES, rules=module) for module in GAME_MODULES)
