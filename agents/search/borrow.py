"""Arrays whose owner is not counted: for inner loops, where counting costs more than the work.

numba counts references to an array with atomic operations whenever a view of it is made or handed
on. A borrowed array has no owner to count; whoever borrows must not keep it.
"""

from typing import Any, TypeVar

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

Array = TypeVar("Array")


def borrowed(array: Array) -> Array:
    """The same array, without an owner."""
    return array


@intrinsic  # type: ignore[untyped-decorator]
def _without_owner(typingctx: Any, array: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        struct = context.make_array(signature.args[0])(context, builder, args[0])
        for owner in ("meminfo", "parent"):
            member = getattr(struct, owner)
            setattr(struct, owner, cgutils.get_null_value(member.type))
        return struct._getvalue()

    return array(array), codegen


@overload(borrowed, inline="always")  # type: ignore[untyped-decorator]
def _borrowed(array: Any) -> Any:
    def borrow(array: Any) -> Any:
        return _without_owner(array)

    return borrow


def copy_words(source: Any, target: Any, start: int) -> None:
    """Copy a contiguous array's elements from `start` on into another of its size."""
    target[start:] = source[start:]


@intrinsic  # type: ignore[untyped-decorator]
def _copy_bytes(typingctx: Any, source: Any, target: Any, start: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        here = context.make_array(signature.args[0])(context, builder, args[0])
        there = context.make_array(signature.args[1])(context, builder, args[1])
        n = builder.sub(here.nitems, args[2])
        cgutils.raw_memcpy(
            builder, builder.gep(there.data, [args[2]]), builder.gep(here.data, [args[2]]), n, 8
        )
        return context.get_dummy_value()

    return types.void(source, target, types.int64), codegen


@overload(copy_words, inline="always")  # type: ignore[untyped-decorator]
def _copy_words(source: Any, target: Any, start: Any) -> Any:
    def copy(source: Any, target: Any, start: Any) -> None:
        _copy_bytes(source, target, np.int64(start))

    return copy
