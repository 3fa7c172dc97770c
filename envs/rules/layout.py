"""The named layout of an observation: which bits say what, in words people and tables can use."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.envs.rules.bits import WORD_BITS
from trysim.envs.rules.row import Option

CARDS, COUNT, ONE_OF, FLAGS, NUMBER = "cards", "count", "one of", "flags", "number"


@dataclass(frozen=True)
class Field:
    """One named slice: `n` groups of `width` bits each.

    `kind` says how to read a group: CARDS one bit a card; COUNT a thermometer (as many bits as the
    count, from the left); ONE_OF one bit at most, naming one of `labels`; FLAGS any of `labels`;
    NUMBER a whole number in two's complement, lowest bit first.
    `groups` names the groups where there are several (seats, say).
    """

    name: str
    kind: str
    width: int
    meaning: str
    labels: Sequence[str] = ()
    groups: Sequence[str] = ("",)

    @property
    def size(self) -> int:
        """Bits in all groups."""
        return self.width * len(self.groups)

    def read(self, bits: npt.NDArray[np.int8]) -> Any:
        """The readable value of the field's bits, a dict by group where there are several."""
        rows = bits.reshape(len(self.groups), self.width)
        values = [self._read_group(row) for row in rows]
        if len(self.groups) == 1:
            return values[0]
        return dict(zip(self.groups, values, strict=True))

    def _read_group(self, bits: npt.NDArray[np.int8]) -> Any:
        if self.kind == COUNT:
            return int(bits.sum())
        if self.kind == NUMBER:
            value = sum(int(bit) << k for k, bit in enumerate(bits))
            return value - (int(bits[-1]) << self.width)
        names = [str(self.labels[int(place)]) for place in np.flatnonzero(bits)]
        if self.kind == ONE_OF:
            return names[0] if names else None
        return names


class Layout:
    """Fields one after another, rounded up to a multiple of eight bits with zeros."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = tuple(fields)
        self._at: dict[str, int] = {}
        at = 0
        for field in self.fields:
            self._at[field.name] = at
            at += field.size
        self.used = at
        self.size = -(-at // 8) * 8
        self.n_words = -(-at // WORD_BITS) + 1  # one to spare: `put` may touch the next

    def at(self, name: str) -> int:
        """The first bit of a field."""
        return self._at[name]

    def slice(self, name: str) -> slice:
        """Where a field stands in the observation."""
        field = next(field for field in self.fields if field.name == name)
        return slice(self.at(name), self.at(name) + field.size)

    def describe(self, observation: npt.ArrayLike) -> dict[str, Any]:
        """The observation (size,) in readable words, field by field."""
        bits = np.asarray(observation, np.int8)
        if bits.shape != (self.size,):
            raise ValueError(f"an observation of this game has shape ({self.size},): {bits.shape}")
        return {field.name: field.read(bits[self.slice(field.name)]) for field in self.fields}


def option_fields(options: Sequence[Option]) -> list[Field]:
    """A ONE_OF field for each option with choices; other fields show what the numbers mean."""
    return [
        Field(f"option_{option.name}", ONE_OF, len(option.choices), option.meaning,
              [str(choice) for choice in option.choices])
        for option in options
        if option.choices
    ]  # fmt: skip


def option_bits(options: Sequence[Option], words: Sequence[int]) -> int:
    """The bits of `option_fields`, in order, for these option words."""
    bits = at = 0
    for option, value in zip(options, words, strict=True):
        if option.choices:
            bits |= 1 << (at + int(value))
            at += len(option.choices)
    return bits
