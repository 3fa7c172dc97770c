"""A table is one row of int64 words. Here: the words every game starts with, and its options.

A structured dtype (`STATE` of each game) only names the words; compiled code indexes the flat row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.envs.rules.jit import Row

Words = list[tuple[str, int]]  # names and how many words each takes

# What a seat, the caller or nobody has to do. Phases up to 0 wait for a shuffled deck.
PENALTY_DECK = -1  # Сім листів: a shuffled deck for the penalty
DEAL = 0  # a shuffled deck for the next deal
PLAY = 1  # a card
OVER = 2  # nothing more
NAME_TRUMP = 3  # Семнадцать: a trump suit
CUT = 4  # Сім листів: the loser cuts
STRIKE = 5  # Сім листів: a striker strikes

HEADER: Words = [
    ("seat", 1),  # the seat to act, -1 when nobody is
    ("phase", 1),
    ("gone", 1),  # set of seats that will never act again; all of them when the match is over
    ("random", 1),  # the engine's random word; rules never read it
    ("deals", 1),  # deals dealt so far in the match
]
SEAT, PHASE, GONE, RANDOM, DEALS = range(5)
FIRST_OPTION = 5  # the options follow

NOBODY = -1
# A lot is a whole number below this, divisible by every number of seats and by the 35 cuts.
N_LOTS = 420


@dataclass(frozen=True)
class Option:
    """One option of a game: `choices` lists its values, or `low`..`high` bound a whole number."""

    name: str
    default: Any
    meaning: str
    choices: tuple[Any, ...] = ()
    low: int = 0
    high: int = 0

    def allowed(self) -> str:
        """The allowed values in words."""
        if self.choices:
            return ", ".join(str(choice) for choice in self.choices)
        bounds = f"{self.low}..{self.high}"
        return f"{bounds} or none" if self.default is None else bounds

    def encode(self, value: Any) -> int:
        """The option's word: the choice's place, or the number itself (-1 for None).

        Raises ValueError, naming what is allowed, for any other value.
        """
        if value is False and "off" in self.choices:
            value = "off"  # YAML reads a bare `off` so
        if self.choices:
            for word, choice in enumerate(self.choices):
                if value == choice and isinstance(value, bool) == isinstance(choice, bool):
                    return word
        elif value is None and self.default is None:
            return -1
        elif _is_whole(value) and self.low <= value <= self.high:
            return int(value)
        raise ValueError(f"option {self.name}={value!r}: allowed are {self.allowed()}")

    def decode(self, word: int) -> Any:
        """The value that `encode` made `word` of."""
        if self.choices:
            return self.choices[word]
        return None if word == -1 else int(word)

    def parse(self, text: str) -> Any:
        """The value that `text`, as typed on a command line, stands for; ValueError if none."""
        for choice in self.choices:
            if text.lower() == str(choice).lower():
                return choice
        if not self.choices and text.lower() == "none":
            return None
        try:
            return int(text)
        except ValueError:
            return text  # `encode` explains what is allowed


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def option_words(options: Sequence[Option]) -> Words:
    """The words of the options, in their order."""
    return [(f"option_{option.name}", 1) for option in options]


def complete(options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every option with its value, defaults filled in; ValueError for unknown names or values."""
    names = [option.name for option in options]
    for name in given:
        if name not in names:
            raise ValueError(f"unknown option {name!r}: this game has {', '.join(names)}")
    return {
        option.name: option.decode(option.encode(given.get(option.name, option.default)))
        for option in options
    }


def state_dtype(words: Words) -> np.dtype[np.void]:
    """A dtype that names the words of a row."""
    return np.dtype([(name, np.int64, (n,)) if n > 1 else (name, np.int64) for name, n in words])


def word(state: np.dtype[np.void], name: str) -> int:
    """The place of the first word called `name` in a row."""
    fields = state.fields
    assert fields is not None
    return int(fields[name][1]) // 8


def named(state: np.dtype[np.void], row: Row) -> npt.NDArray[np.void]:
    """The row's words by name, as a view: `named(STATE, row)["hands"]`."""
    view: npt.NDArray[np.void] = row.view(state)[0]
    return view
