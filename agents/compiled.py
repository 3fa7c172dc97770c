"""Networks as compiled code: for play that asks about one decision at a time, faster than torch.

A network of G groups (the four suits; or one group, if bits are taken as they come) is a few
arrays, `Weights`. Its input is the packed observation, of which only bits that are set cost
anything.
"""

import sys
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from trysim.envs.games import game_named
from trysim.envs.rules import semerik
from trysim.envs.rules.bits import WORD_BITS, lowest
from trysim.envs.rules.jit import Row, compile_once, specialise
from trysim.envs.rules.row import SEAT

rules: Any = semerik  # in the templates below: the module they are compiled for

Floats = npt.NDArray[np.float32]

RELU, TANH = 0, 1
_VECTOR = 8  # numbers in a register
FULL_WIDTH = 4 * _VECTOR  # what rows of weights are filled up to a multiple of


class Weights(NamedTuple):
    """A network as arrays; H are the sizes of its hidden layers, each for one group."""

    used: Row
    """The bits of the packed observation that are looked at."""
    groups: Row
    """Of each bit of the observation: its group, or G if it tells all groups."""
    rows: Row
    """Of each bit: the row of `first` that it adds."""
    first: Floats
    """(rows, H[0])"""
    start: Floats
    """(G, H[0]): what a group's first layer begins with."""
    sizes: Row
    """H."""
    deep: Floats
    """Each further layer, flat: own (in, out), of the groups' mean (in, out), bias (out,)."""
    own: Floats
    """(H[-1] + 1, actions of a group): the logits of a group, the bias in the last row."""
    others: Floats
    """(H[-1] + 1, other actions): the logits that the groups' mean gives."""
    places: Row
    """Where each action's logit stands: group by group, then the others."""
    activation: int
    """RELU or TANH."""


class Desk(NamedTuple):
    """Room to work in."""

    packed: Row
    rows: Row
    n_rows: Row
    busy: Row
    layers: Floats
    logits: Floats
    ordered: Floats


def no_network() -> Weights:
    """Weights that stand for no network at all."""
    ints, floats = np.empty(0, np.int64), np.empty((0, 0), np.float32)
    flat = floats.ravel()
    return Weights(ints, ints, ints, floats, floats, ints, flat, floats, floats, ints, RELU)


def packed(bits: npt.NDArray[np.bool_]) -> Row:
    """Bits (D,) as the words of a packed observation."""
    parts = np.split(bits, range(WORD_BITS, len(bits), WORD_BITS))
    return np.array([sum(1 << k for k in np.flatnonzero(part).tolist()) for part in parts])


def new_desk(net: Weights) -> Desk:
    """Room for a network to work in."""
    n_groups, widest = net.start.shape[0], 1
    for size in net.sizes:
        widest = max(widest, size)
    n_logits = n_groups * net.own.shape[1] + net.others.shape[1]
    return Desk(
        np.empty(rules.OBSERVATION_WORDS, np.int64),
        np.empty((n_groups + 1, net.groups.size), np.int64),
        np.empty(n_groups + 1, np.int64),
        np.empty(widest + 1, np.int64),
        np.empty((2, n_groups + 1, widest), np.float32),
        np.empty(n_logits, np.float32),
        np.empty(net.places.size, np.float32),
    )


# Sums of rows ------------------------------------------------------------------------------------
def add_rows(weights: Floats, rows: Row, n: int, out: Floats) -> None:
    """Add the first `n` of some `rows` of weights (…, m) to `out` (m,); m fills FULL_WIDTHs."""
    for row in rows[:n]:
        out += weights[row]


def add_product(x: Floats, weights: Floats, busy: Row, n: int, out: Floats) -> None:
    """Add x times weights (…, m) to `out` (m,), of x only the first `n` places in `busy`."""
    for row in busy[:n]:
        out += x[row] * weights[row]


def _sum_of_rows(has_factors: bool) -> Any:
    """Code that adds rows up in registers, FULL_WIDTH numbers at a time.

    What numba makes of the loops above goes to memory and back for every row: five times as slow.
    """
    vector, one = ir.VectorType(ir.FloatType(), _VECTOR), ir.IntType(32)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def array(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, args[k])

        def numbers(pointer: Any, start: Any, k: int) -> Any:
            place = builder.add(start, ir.Constant(start.type, k * _VECTOR))
            return builder.bitcast(builder.gep(pointer, [place]), vector.as_pointer())

        def everywhere(number: Any) -> Any:
            first = builder.insert_element(
                ir.Constant(vector, ir.Undefined), number, ir.Constant(one, 0)
            )
            zeros = ir.Constant(ir.VectorType(one, _VECTOR), None)
            return builder.shuffle_vector(first, first, zeros)

        weights, rows, n, out = array(0).data, array(1).data, args[2], array(3)
        width = builder.extract_value(out.shape, 0)
        sums = [cgutils.alloca_once(builder, vector) for _ in range(FULL_WIDTH // _VECTOR)]
        columns = ir.Constant(width.type, 0), width, ir.Constant(width.type, FULL_WIDTH)
        with cgutils.for_range_slice(builder, *columns) as (column, _):
            for k, total in enumerate(sums):
                builder.store(builder.load(numbers(out.data, column, k), align=4), total)
            with cgutils.for_range(builder, n) as loop:
                row = builder.load(builder.gep(rows, [loop.index]))
                start = builder.add(builder.mul(row, width), column)
                if has_factors:
                    factor = everywhere(builder.load(builder.gep(array(4).data, [row])))
                for k, total in enumerate(sums):
                    part = builder.load(numbers(weights, start, k), align=4)
                    if has_factors:
                        part = builder.fmul(part, factor)
                    builder.store(builder.fadd(builder.load(total), part), total)
            for k, total in enumerate(sums):
                builder.store(builder.load(total), numbers(out.data, column, k), align=4)
        return context.get_dummy_value()

    return codegen


@intrinsic  # type: ignore[untyped-decorator]
def _add_rows(typingctx: Any, weights: Any, rows: Any, n: Any, out: Any) -> Any:
    return types.void(weights, rows, types.int64, out), _sum_of_rows(has_factors=False)


@intrinsic  # type: ignore[untyped-decorator]
def _add_product(typingctx: Any, weights: Any, rows: Any, n: Any, out: Any, x: Any) -> Any:
    return types.void(weights, rows, types.int64, out, x), _sum_of_rows(has_factors=True)


@overload(add_rows, inline="always")  # type: ignore[untyped-decorator]
def _fast_add_rows(weights: Any, rows: Any, n: Any, out: Any) -> Any:
    def fast(weights: Any, rows: Any, n: Any, out: Any) -> Any:
        _add_rows(weights, rows, np.int64(n), out)

    return fast


@overload(add_product, inline="always")  # type: ignore[untyped-decorator]
def _fast_add_product(x: Any, weights: Any, busy: Any, n: Any, out: Any) -> Any:
    def fast(x: Any, weights: Any, busy: Any, n: Any, out: Any) -> Any:
        _add_product(weights, busy, np.int64(n), out, x)

    return fast


# The layers --------------------------------------------------------------------------------------
def copy(source: Floats, out: Floats) -> None:
    """Write the same numbers (n,)."""
    for j in range(out.size):
        out[j] = source[j]


def find_busy(x: Floats, busy: Row) -> int:
    """Write the places of the numbers that are not 0; how many there are."""
    n = 0
    for k in range(x.size):
        busy[n] = k  # no branch: a processor would guess half of them wrong
        n += x[k] != 0
    return n


def activate(x: Floats, activation: int) -> None:
    """Apply the activation function in place."""
    for j in range(x.size):
        x[j] = np.tanh(x[j]) if activation == TANH else max(x[j], np.float32(0))


def enter(net: Weights, desk: Desk, out: Floats) -> None:
    """Write the first hidden layer of each group (G + 1, at least H[0]) for `desk.packed`."""
    n_groups, width = net.start.shape
    rows, n_rows = desk.rows, desk.n_rows
    n_rows[:] = 0
    for word in range(net.used.size):
        bits = desk.packed[word] & net.used[word]
        while bits:
            bit = WORD_BITS * word + lowest(bits)
            bits &= bits - 1
            group = net.groups[bit]
            rows[group, n_rows[group]] = net.rows[bit]
            n_rows[group] += 1
    shared = out[n_groups, :width]
    shared[:] = 0
    add_rows(net.first, rows[n_groups], int(n_rows[n_groups]), shared)
    for group in range(n_groups):
        of_group = out[group, :width]
        for j in range(width):
            of_group[j] = net.start[group, j] + shared[j]
        add_rows(net.first, rows[group], int(n_rows[group]), of_group)
        activate(of_group, net.activation)


def average(x: Floats, n: int) -> None:
    """Write the mean of the groups' first `n` numbers behind them."""
    n_groups = x.shape[0] - 1
    for j in range(n):
        total = x[0, j]
        for group in range(1, n_groups):
            total += x[group, j]
        x[n_groups, j] = total / np.float32(n_groups)


def go_deeper(net: Weights, layer: int, at: int, x: Floats, y: Floats, busy: Row) -> int:
    """Write a layer's numbers from those of the layer before; where the next one's weights are."""
    n_groups = x.shape[0] - 1
    n, m = net.sizes[layer - 1], net.sizes[layer]
    own = net.deep[at : at + n * m].reshape((n, m))
    at += n * m
    mean = net.deep[at : at + n * m].reshape((n, m))
    at += n * m
    copy(net.deep[at : at + m], y[n_groups, :m])
    if n_groups > 1:
        average(x, n)
        add_product(x[n_groups], mean, busy, find_busy(x[n_groups, :n], busy), y[n_groups, :m])
    for group in range(n_groups):
        copy(y[n_groups, :m], y[group, :m])
        add_product(x[group], own, busy, find_busy(x[group, :n], busy), y[group, :m])
        activate(y[group, :m], net.activation)
    return at + m


def speak(x: Floats, weights: Floats, logits: Floats, busy: Row) -> None:
    """Write logits (m,) from the numbers of the last layer."""
    n = weights.shape[0] - 1
    copy(weights[n], logits)
    add_product(x, weights, busy, find_busy(x[:n], busy), logits)


def ask(net: Weights, state: Row, desk: Desk) -> None:
    """Write to `desk.ordered` what the network says of every action to the seat to act."""
    desk.packed[:] = 0
    rules.observe(state, state[SEAT], desk.packed)
    x, y = desk.layers[0], desk.layers[1]
    enter(net, desk, x)
    at = 0
    for layer in range(1, net.sizes.size):
        at = go_deeper(net, layer, at, x, y, desk.busy)
        x, y = y, x
    n_groups, n_own = x.shape[0] - 1, net.own.shape[1]
    for group in range(n_groups):
        said = desk.logits[group * n_own : (group + 1) * n_own]
        speak(x[group], net.own, said, desk.busy)
    if net.others.shape[1]:
        average(x, net.sizes[-1])
        speak(x[n_groups], net.others, desk.logits[n_groups * n_own :], desk.busy)
    for action in range(net.places.size):
        desk.ordered[action] = desk.logits[net.places[action]]


def likeliest(net: Weights, state: Row, legal: int, desk: Desk) -> int:
    """The legal action of which the network says most."""
    ask(net, state, desk)
    found = lowest(legal)
    while legal:
        action = lowest(legal)
        legal &= legal - 1
        if desk.ordered[action] > desk.ordered[found]:
            found = action
    return found


def ask_all(net: Weights, views: Row, legal: Row, out: Floats) -> None:
    """Write what the network says at each view (N, actions); -inf for actions not in `legal`."""
    desk = new_desk(net)
    for i in range(legal.size):
        ask(net, views[i], desk)
        for action in range(out.shape[1]):
            is_legal = legal[i] >> action & 1
            out[i, action] = desk.ordered[action] if is_legal else -np.inf


TEMPLATES = (
    copy, find_busy, new_desk, activate, enter, average, go_deeper, speak, ask, likeliest, ask_all,
)  # fmt: skip


@cache
def compiled_for(name: str) -> SimpleNamespace:
    """The functions above for the observations of a game, compiled once on this machine."""
    kernels = specialise(TEMPLATES, rules=game_named(name).rules)
    nothing, net = np.empty(0, np.int64), no_network()
    compile_once(
        f"networks_{name}",
        lambda: kernels.ask_all(net, nothing[None], nothing, np.empty((0, 0), np.float32)),
        sys.modules[__name__],
    )
    return kernels
