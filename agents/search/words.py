"""Rows as bare words, for inner loops: an address and nothing else.

numba passes an array as seven words and counts references to it, with atomic operations, wherever a
view is made or handed on: more work than a card played. Bare words can be read and written by
index, and copied; nobody checks or counts them, so whoever takes them must not keep them.

As plain Python they are the array's row itself.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from trysim.envs.rules.jit import Row


def row_at(rows: Row, i: int) -> Row:
    """Row `i` of a contiguous array (n, words)."""
    return rows[i]


def copy_words(source: Row, target: Row, start: int, end: int) -> None:
    """Copy the words from `start` up to `end` to the same places of another row."""
    target[start:end] = source[start:end]


@intrinsic  # type: ignore[untyped-decorator]
def _address(typingctx: Any, rows: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        n_words = cgutils.unpack_tuple(builder, array.shape)[1]
        return builder.gep(array.data, [builder.mul(args[1], n_words)])

    return types.CPointer(rows.dtype)(rows, types.int64), codegen


@overload(row_at, inline="always")  # type: ignore[untyped-decorator]
def _row_at(rows: Any, i: Any) -> Any:
    def look(rows: Any, i: Any) -> Any:
        return _address(rows, np.int64(i))

    return look


@intrinsic  # type: ignore[untyped-decorator]
def _copy(typingctx: Any, source: Any, target: Any, start: Any, end: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        here, there = (builder.gep(words, [args[2]]) for words in args[:2])
        n = builder.sub(args[3], args[2])
        cgutils.raw_memcpy(builder, there, here, n, ir.Constant(n.type, 8))
        return context.get_dummy_value()

    return types.void(source, target, types.int64, types.int64), codegen


@overload(copy_words, inline="always")  # type: ignore[untyped-decorator]
def _copy_words(source: Any, target: Any, start: Any, end: Any) -> Any:
    def copy(source: Any, target: Any, start: Any, end: Any) -> None:
        _copy(source, target, np.int64(start), np.int64(end))

    return copy
