"""Products of bits and weights for training: the first layer of a network, there and back.

Of an observation's bits one in eight is set. A product of matrices multiplies by all of them; here
the rows of weights of those that are set are added up, three to five times as fast.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.functional import pad

from trysim.agents.compiled import FULL_WIDTH, add_rows
from trysim.envs.rules.bits import lowest
from trysim.envs.rules.jit import Row, rule

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]

_IN_CACHE = 2**17  # numbers that a core reaches quickly
NOWHERE = -1


class Places(NamedTuple):
    """Which row of weights each bit adds (D,), and to which of `n_groups` sums (D,), or NOWHERE."""

    rows: Row
    groups: Row
    n_groups: int


@cache
def _one_sum(n_bits: int) -> Places:
    return Places(np.arange(n_bits), np.zeros(n_bits, np.int64), 1)


# Compiled ---------------------------------------------------------------------------------------
def _add_up(bits: Bytes, rows: Row, groups: Row, weights: Floats, out: Floats) -> None:
    """Write the sums (N, G, H) of the rows of weights (R, H) that bits (N, D) choose."""
    words = bits.view(np.int64)
    chosen = np.empty((out.shape[1], bits.shape[1]), np.int64)
    n_chosen = np.empty(out.shape[1], np.int64)
    for i in range(bits.shape[0]):
        n_chosen[:] = 0
        for w in range(words.shape[1]):
            word = words[i, w]
            while word:
                bit = 8 * w + (lowest(word) >> 3)
                word &= word - 1
                group = groups[bit]
                if group >= 0:
                    chosen[group, n_chosen[group]] = rows[bit]
                    n_chosen[group] += 1
        for group in range(out.shape[1]):
            out[i, group] = 0
            add_rows(weights, chosen[group], n_chosen[group], out[i, group])


def _take_back(bits: Bytes, rows: Row, groups: Row, grads: Floats, out: Floats) -> None:
    """Add to each row of `out` (R, H) the gradients (N, G, H) of the sums that it was added to.

    Row by row, so that sums stay in registers, and few decisions at a time, so that their
    gradients stay near the core.
    """
    words = bits.view(np.int64)
    n, n_groups, width = grads.shape
    flat = grads.reshape(n * n_groups, width)
    at_once = max(_IN_CACHE // (n_groups * width), 1)
    row_of, place_of = np.empty((2, at_once * bits.shape[1]), np.int64)
    places = np.empty(at_once * bits.shape[1], np.int64)
    ends = np.empty(out.shape[0] + 1, np.int64)
    for first in range(0, n, at_once):
        count, ends[:] = 0, 0
        for i in range(first, min(first + at_once, n)):
            for w in range(words.shape[1]):
                word = words[i, w]
                while word:
                    bit = 8 * w + (lowest(word) >> 3)
                    word &= word - 1
                    if groups[bit] >= 0:
                        row_of[count] = rows[bit]
                        place_of[count] = i * n_groups + groups[bit]
                        ends[rows[bit] + 1] += 1
                        count += 1
        for row in range(out.shape[0]):
            ends[row + 1] += ends[row]
        for k in range(count):  # `ends` moves from where a row's places begin to where they end
            places[ends[row_of[k]]] = place_of[k]
            ends[row_of[k]] += 1
        begin = 0
        for row in range(out.shape[0]):
            add_rows(flat, places[begin:], ends[row] - begin, out[row])
            begin = ends[row]


_add_up = rule(_add_up, in_threads=True)
_take_back = rule(_take_back, in_threads=True)


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads)


def _in_threads(work: Callable[[int, slice], None], n: int) -> None:
    """Do `work(part, its slice)` for n things, shared out among as many threads as torch has."""
    n_threads = torch.get_num_threads()
    if n_threads == 1:
        work(0, slice(0, n))
        return
    ends = [n * k // n_threads for k in range(n_threads + 1)]
    list(_pool(n_threads).map(work, range(n_threads), map(slice, ends, ends[1:])))


# For torch --------------------------------------------------------------------------------------
class _Sums(torch.autograd.Function):
    """(N, G, H) from bits (N, D) and weights (R, H)."""

    @staticmethod
    def forward(ctx: Any, bits: torch.Tensor, weights: torch.Tensor, at: Places) -> torch.Tensor:
        out = torch.empty(len(bits), at.n_groups, weights.shape[1])
        given, told, sums = bits.numpy(), weights.detach().contiguous().numpy(), out.numpy()

        def add_part(_: int, part: slice) -> None:
            _add_up(given[part], at.rows, at.groups, told, sums[part])

        _in_threads(add_part, len(bits))
        ctx.bits, ctx.at, ctx.n_rows = bits, at, len(weights)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[None, torch.Tensor, None]:
        bits, at, grad = ctx.bits.numpy(), ctx.at, grads[0].contiguous().numpy()
        parts = torch.zeros(torch.get_num_threads(), ctx.n_rows, grad.shape[2])

        def take_part(number: int, part: slice) -> None:
            _take_back(bits[part], at.rows, at.groups, grad[part], parts[number].numpy())

        _in_threads(take_part, len(bits))
        return None, parts[0] if len(parts) == 1 else parts.sum(0), None


def can_sum(bits: torch.Tensor) -> bool:
    """Whether these are bits as observations have them: int8, on the CPU, in eights."""
    is_fit = bits.dtype == torch.int8 and bits.device.type == "cpu" and bits.is_contiguous()
    return is_fit and bits.shape[1] % 8 == 0 and not numba.config.DISABLE_JIT


def sums(bits: torch.Tensor, weights: torch.Tensor, at: Places) -> torch.Tensor:
    """Sums (N, G, H) of the rows of weights (R, H) that 0/1 bits (N, D) choose, for `can_sum`."""
    missing = -weights.shape[1] % FULL_WIDTH
    rows = pad(weights, (0, missing)) if missing else weights
    added: torch.Tensor = _Sums.apply(bits, rows, at)  # type: ignore[no-untyped-call]
    return added[..., : weights.shape[1]] if missing else added


def product(bits: torch.Tensor, layer: nn.Linear) -> torch.Tensor:
    """What a layer makes of 0/1 numbers (N, D): (N, H)."""
    if not can_sum(bits):
        made: torch.Tensor = layer(bits.float())
        return made
    added = sums(bits, layer.weight.t(), _one_sum(bits.shape[1])).squeeze(1)
    return added if layer.bias is None else added + layer.bias
