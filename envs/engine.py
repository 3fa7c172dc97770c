"""The contract of a game module, and the compiled loops over many tables.

A game module in `rules/` gives `NAME VERSION DECK ACTIONS N_SEATS OPTIONS STATE OBSERVATION` and
the compiled functions

    start(state)                begin a match                 pack(state) -> set      cards to shuffle
    deal(state, deck, lot)      the next deal                 legal(state) -> set     of the seat to act
    apply(state, action)        one decision                  returns(state, out)     rewards so far
    observe(state, seat, bits)  what a seat sees              unseen(state, seat) -> set

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
from trysim.envs.rules.row import GONE, N_LOTS, NOBODY, OVER, PHASE, RANDOM, SEAT

SIM_LYSTIV, SEMNADTSAT, SEMERIK = range(3)
GAME_MODULES = (sim_lystiv, semnadtsat, semerik)
MAX_SEATS = 5
MAX_CARDS = 52

rules: Any = semerik  # in the templates below: the game module they are compiled for

Floats = npt.NDArray[np.float64]

# splitmix64 (Steele, Lea, Flood 2014): a counter, and a mixer that makes random bits of it.
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
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


def step(state: Row, action: int) -> None:
    """Carry out a legal action, then deal if a deck is wanted."""
    rules.apply(state, action)
    settle(state)


def returns(state: Row, out: Floats) -> None:
    """Write the rewards paid so far in the episode by seat; `out` (seats of the game,)."""
    rules.returns(state, out)


def observe_packed(state: Row, seat: int, packed: Row) -> None:
    """Write what `seat` sees as packed bits (`OBSERVATION.n_words`,)."""
    packed[:] = 0
    rules.observe(state, seat, packed)


def observe(state: Row, seat: int, packed: Row, out: Row) -> None:
    """Write what `seat` sees as 0/1 bytes; `out` is the int8 observation seen as int64."""
    observe_packed(state, seat, packed)
    unpack(packed, out)


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
            observe(state, state[SEAT], packed, observation)
            spread(actions, mask)
            word = next_word(word)
            rules.apply(state, pick(actions, below(random_bits(word), n_bits(actions))))
            if state[PHASE] == OVER:
                finished += 1
                rules.start(state)
            settle(state)
    return finished


_TEMPLATES = (
    begin, settle, give_deck, legal, apply, step, returns, observe_packed, observe,
    play_random, play_random_observed,
)  # fmt: skip
KERNELS = tuple(specialise(_TEMPLATES, rules=module) for module in GAME_MODULES)
