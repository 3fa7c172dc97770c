"""Sets of small numbers as int64 bit sets (below bit 62), and the packed observation.

Every function here works the same compiled and as plain Python.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from trysim.envs.rules.jit import Row, rule

WORD_BITS = 56  # bits of a packed word in use: seven bytes, so that a word never overflows int64
BYTES_PER_WORD = WORD_BITS // 8


def n_bits(bits: int) -> int:
    """How many numbers the set `bits` holds."""
    return int(bits).bit_count()


def lowest(bits: int) -> int:
    """The smallest number of the non-empty set `bits`."""
    return (int(bits) & -int(bits)).bit_length() - 1


@intrinsic  # type: ignore[untyped-decorator]
def _ctpop(typingctx: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _cttz(typingctx: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.int64), codegen


@overload(n_bits, inline="always")  # type: ignore[untyped-decorator]
def _n_bits(bits: Any) -> Any:
    def count(bits: Any) -> Any:
        return _ctpop(np.int64(bits))

    return count


@overload(lowest, inline="always")  # type: ignore[untyped-decorator]
def _lowest(bits: Any) -> Any:
    def first(bits: Any) -> Any:
        return _cttz(np.int64(bits))

    return first


@rule
def pick(bits: int, k: int) -> int:
    """The `k`-th smallest number (from 0) of the set `bits`."""
    for _ in range(k):
        bits &= bits - 1
    return lowest(bits)


@rule
def thermometer(count: int) -> int:
    """The set of the first `count` bits."""
    return (1 << count) - 1


@rule
def put(packed: Row, at: int, width: int, bits: int) -> None:
    """Add `bits` (`width` of them, at most `WORD_BITS`) to the packed bits from place `at` on."""
    word, shift = at // WORD_BITS, at % WORD_BITS
    room = WORD_BITS - shift
    if width <= room:
        packed[word] |= bits << shift
    else:
        packed[word] |= (bits & ((1 << room) - 1)) << shift
        packed[word + 1] |= bits >> room


# Byte k of entry b is bit k of b (little-endian): eight bits become eight 0/1 bytes at one look.
_SPREAD = np.array(
    [sum(1 << (8 * k) for k in range(8) if b >> k & 1) for b in range(256)], np.int64
)


@rule
def spread(bits: int, out: Row) -> None:
    """Write a set as 0/1 bytes; `out` is an int8 array seen as int64."""
    for i in range(out.size):
        out[i] = _SPREAD[bits >> (8 * i) & 255]


def spread_word(word: int, out: Row, at: int) -> None:
    """Write a packed word as 0/1 bytes from `out[at]` on; the eight bytes behind become 0."""
    spread(word, out[at : at + BYTES_PER_WORD + 1])


@intrinsic  # type: ignore[untyped-decorator]
def _store_spread(typingctx: Any, word: Any, out: Any, at: Any) -> Any:
    """64 bits to 64 bytes in one vector operation; four times as fast as looking bytes up."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits, bytes_ = (ir.VectorType(ir.IntType(width), 64) for width in (1, 8))
        array = context.make_array(signature.args[1])(context, builder, args[1])
        to = builder.bitcast(builder.gep(array.data, [args[2]]), bytes_.as_pointer())
        builder.store(builder.zext(builder.bitcast(args[0], bits), bytes_), to, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, out, types.int64), codegen


@overload(spread_word, inline="always")  # type: ignore[untyped-decorator]
def _spread_word(word: Any, out: Any, at: Any) -> Any:
    def store(word: Any, out: Any, at: Any) -> Any:
        _store_spread(np.int64(word), out, np.int64(at))

    return store


@rule
def unpack(packed: Row, out: Row) -> None:
    """Write the packed bit string as 0/1 bytes; `out` is an int8 array seen as int64."""
    n_whole = (out.size - 1) // BYTES_PER_WORD  # words with eight bytes of `out` behind them
    for i in range(n_whole):
        spread_word(packed[i], out, i * BYTES_PER_WORD)
    spread(packed[n_whole], out[n_whole * BYTES_PER_WORD :])
