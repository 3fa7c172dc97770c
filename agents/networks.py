"""The networks of policies: `suits` treats the four suits alike, `mlp` takes bits as they come.

A policy network is a module of `(game, hidden, activation)` with `first(seen)`, the sums that enter
its first hidden layer, and `rest(first)`, the logits; a critic may build on the first. One's own:
`NETWORKS["mine"] = Mine`, and a critic of the same name in `trysim.train.critics.CRITICS`.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from trysim.agents.bit_sums import NOWHERE, Places, can_sum, product, sums
from trysim.agents.compiled import FULL_WIDTH, RELU, TANH, Weights, packed
from trysim.envs.games import Game
from trysim.envs.rules import cards
from trysim.envs.rules.jit import Row
from trysim.envs.rules.layout import CARDS, FLAGS, ONE_OF

Floats = npt.NDArray[np.float32]

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}
ACTIVATION_CODES = {"relu": RELU, "tanh": TANH}
_COMPUTATION = ("forward", "first", "rest")
N_SUITS = len(cards.SUITS)
# Of little use, and costly: who played what, and who could not, other fields tell as well.
_LEFT_OUT = ("when",)
_APART = {"semerik": "H"}  # a suit unlike the others: a baba of hearts counts more


class Network(nn.Module, ABC):
    """What a policy network is."""

    def __init__(self, game: Game, hidden: Sequence[int], activation: str) -> None:
        super().__init__()
        self.hidden, self.activation = list(hidden), activation

    @abstractmethod
    def first(self, seen: torch.Tensor) -> torch.Tensor:
        """What enters the first hidden layer, of observations (N, D) of any number type."""

    @abstractmethod
    def rest(self, first: torch.Tensor) -> torch.Tensor:
        """Action logits (N, A)."""

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """Action logits (N, A)."""
        return self.rest(self.first(seen))

    def compiled(self) -> Weights | None:
        """The network as it is now for compiled code; None if it has no such form."""
        return None

    def _computes_as(self, kind: type["Network"]) -> bool:
        """Whether all is as in `kind`, of which compiled code knows: not so in some subclasses."""
        same = (getattr(type(self), part) is getattr(kind, part) for part in _COMPUTATION)
        return all(same) and self.activation in ACTIVATION_CODES and bool(self.hidden)


# Weights as arrays -------------------------------------------------------------------------------
def _full(width: int) -> int:
    return width + -width % FULL_WIDTH


def _array(weights: torch.Tensor) -> Floats:
    """Weights (…, n) as an array, `n` filled up with zeros to full width."""
    n = weights.shape[-1]
    gap = [(0, 0)] * (weights.ndim - 1) + [(0, _full(n) - n)]
    return np.ascontiguousarray(np.pad(weights.detach().numpy(), gap))


def _inward(layer: nn.Linear) -> Floats:
    """The weights of a first layer (in, out)."""
    return _array(layer.weight.T)


def _between(layer: nn.Linear) -> Floats:
    """The weights of a layer behind others, of which `in` is of full width too (in, out)."""
    return np.pad(_inward(layer), ((0, -layer.in_features % FULL_WIDTH), (0, 0)))


def _with_bias(layer: nn.Linear) -> Floats:
    """The weights of a layer behind others, its bias below (in + 1, out)."""
    return np.vstack([_between(layer), _array(layer.bias[None])])


_NO_OTHERS = np.empty((1, 0), np.float32)


def _flat(parts: Iterable[Floats]) -> Floats:
    return np.concatenate([np.empty(0, np.float32), *(part.ravel() for part in parts)])


def linear(n_in: int, n_out: int, gain: float = math.sqrt(2), bias: bool = True) -> nn.Linear:
    """A layer that starts orthogonal, with zero biases."""
    layer = nn.Linear(n_in, n_out, bias)
    nn.init.orthogonal_(layer.weight, gain)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


# Bits as they come ------------------------------------------------------------------------------
class Mlp(Network):
    """Fully connected layers."""

    def __init__(self, game: Game, hidden: Sequence[int], activation: str) -> None:
        super().__init__(game, hidden, activation)
        layers: list[nn.Module] = []
        for n_in, n_out in itertools.pairwise([game.layout.size, *hidden]):
            layers += [linear(n_in, n_out), ACTIVATIONS[activation]()]
        self.layers = nn.Sequential(*layers, linear(hidden[-1], game.n_actions, 0.01))

    def first(self, seen: torch.Tensor) -> torch.Tensor:
        """What enters the first hidden layer (N, hidden)."""
        first = self.layers[0]
        assert isinstance(first, nn.Linear)
        return product(seen, first)

    def rest(self, first: torch.Tensor) -> torch.Tensor:
        """Action logits (N, A)."""
        logits: torch.Tensor = self.layers[1:](first)
        return logits

    def compiled(self) -> Weights | None:
        """The network as it is now for compiled code; None if a subclass computes otherwise."""
        if not self._computes_as(Mlp):
            return None
        first, *deep, last = [layer for layer in self.layers if isinstance(layer, nn.Linear)]
        n_bits, n_actions = first.in_features, last.out_features
        return Weights(
            used=packed(np.ones(n_bits, np.bool_)),
            groups=np.zeros(n_bits, np.int64),
            rows=np.arange(n_bits),
            first=_inward(first),
            start=_array(first.bias[None]),
            sizes=np.array([_full(size) for size in self.hidden]),
            deep=_flat(
                part
                for layer in deep
                for part in (_between(layer), 0 * _between(layer), _array(layer.bias))
            ),
            own=_with_bias(last),
            others=_NO_OTHERS,
            places=np.arange(n_actions),
            activation=ACTIVATION_CODES[self.activation],
        )


# Four suits alike -------------------------------------------------------------------------------
def suit_bits(game: Game) -> tuple[list[list[int]], list[int]]:
    """The observation's bits of each suit, in the same order for all four, and the other bits."""
    of_suit: list[list[int]] = [[] for _ in range(N_SUITS)]
    others: list[int] = []
    n_ranks = len(game.deck) // N_SUITS
    for field in game.layout.fields:
        if field.name in _LEFT_OUT:
            continue
        at = game.layout.at(field.name)
        for bit in range(field.size):
            place = bit % field.width
            suit = None
            if field.kind == CARDS:
                suit = place // n_ranks
            elif field.kind in (ONE_OF, FLAGS):
                suit = _suit_of(str(field.labels[place]))
            (others if suit is None else of_suit[suit]).append(at + bit)
    return of_suit, others


def _places_of_bits(of_suit: list[list[int]], others: list[int], n_bits: int) -> Places:
    """What each bit adds to: its suit's sum, the sum for all suits, or nothing."""
    rows, groups = np.zeros(n_bits, np.int64), np.full(n_bits, NOWHERE)
    for suit, bits in enumerate(of_suit):
        rows[bits], groups[bits] = np.arange(len(bits)), suit
    rows[others], groups[others] = len(of_suit[0]) + np.arange(len(others)), N_SUITS
    return Places(rows, groups, N_SUITS + 1)


def suit_actions(game: Game) -> tuple[list[list[int]], list[int]]:
    """The actions of each suit, in the same order for all four, and the other actions."""
    of_suit: list[list[int]] = [[] for _ in range(N_SUITS)]
    others: list[int] = []
    n_ranks = len(game.deck) // N_SUITS
    for action, text in enumerate(game.actions):
        suit = action // n_ranks if action < len(game.deck) else _suit_of(text)
        (others if suit is None else of_suit[suit]).append(action)
    return of_suit, others


def _suit_of(label: str) -> int | None:
    """The suit that a label names: `H`, `trump:H`."""
    suit = label.rpartition(":")[2]
    return cards.SUITS.index(suit) if len(suit) == 1 and suit in cards.SUITS else None


class Exchange(nn.Module):
    """A layer of every suit by itself, and of what all four have on average."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.own = linear(n_in, n_out, 1.0)
        self.all = linear(n_in, n_out, 1.0, bias=False)

    def forward(self, of_suit: torch.Tensor) -> torch.Tensor:
        """(N, suits, in) to (N, suits, out)."""
        own: torch.Tensor = self.own(of_suit)
        return own + self.all(of_suit.mean(1)).unsqueeze(1)


class Suits(Network):
    """The same weights for each suit: what is learned of one is known of all.

    `hidden` are sizes for each suit. If suits change places in an observation, so do the logits.
    """

    _bits: torch.Tensor
    _order: torch.Tensor

    def __init__(self, game: Game, hidden: Sequence[int], activation: str) -> None:
        super().__init__(game, hidden, activation)
        of_suit, others = suit_bits(game)
        actions, other_actions = suit_actions(game)
        self._n_of_suits = N_SUITS * len(of_suit[0])
        self._places_of_bits = _places_of_bits(of_suit, others, game.layout.size)
        bits = torch.tensor([*itertools.chain(*of_suit), *others])
        order = np.argsort([*itertools.chain(*actions), *other_actions])
        self.register_buffer("_bits", bits, persistent=False)
        self.register_buffer("_order", torch.from_numpy(order), persistent=False)
        self.own = linear(len(of_suit[0]), hidden[0])
        self.common = linear(len(others), hidden[0], 1.0, bias=False)
        self.apart = nn.Parameter(torch.zeros(hidden[0])) if game.name in _APART else None
        self._apart = cards.SUITS.index(_APART.get(game.name, "C"))
        self.act = ACTIVATIONS[activation]()
        self.layers = nn.ModuleList(Exchange(*pair) for pair in itertools.pairwise(hidden))
        self.of_suit = linear(hidden[-1], len(actions[0]), 0.01)
        self.others = linear(hidden[-1], len(other_actions), 0.01) if other_actions else None

    def first(self, seen: torch.Tensor) -> torch.Tensor:
        """What enters the first hidden layer (N, suits, hidden)."""
        if can_sum(seen):
            rows = torch.cat([self.own.weight.t(), self.common.weight.t()])
            added = sums(seen, rows, self._places_of_bits)
            first = added[:, :N_SUITS] + (added[:, N_SUITS:] + self.own.bias)
        else:
            bits = seen.index_select(1, self._bits).float()
            of_suits = bits[:, : self._n_of_suits].reshape(len(bits), N_SUITS, -1)
            common = self.common(bits[:, self._n_of_suits :])
            first = self.own(of_suits) + common.unsqueeze(1)
        if self.apart is not None:
            first[:, self._apart] += self.apart
        return first

    def rest(self, first: torch.Tensor) -> torch.Tensor:
        """Action logits (N, A)."""
        of_suit = self.act(first)
        for layer in self.layers:
            of_suit = self.act(layer(of_suit))
        logits = [self.of_suit(of_suit).flatten(1)]
        if self.others is not None:
            logits.append(self.others(of_suit.mean(1)))
        return torch.cat(logits, 1).index_select(1, self._order)

    def _exchanges(self) -> list[Exchange]:
        return [layer for layer in self.layers if isinstance(layer, Exchange)]

    def _places(self) -> Row:
        """Where compiled code finds the logit of each action, among rows of full width."""
        n_own = self.of_suit.out_features
        width = _full(n_own)
        order = self._order.numpy()
        suit, within = order // n_own, order % n_own
        others = N_SUITS * width + order - N_SUITS * n_own
        return np.where(order < N_SUITS * n_own, suit * width + within, others)

    def compiled(self) -> Weights | None:
        """The network as it is now for compiled code; None if a subclass computes otherwise."""
        if not self._computes_as(Suits):
            return None
        rows, groups, _ = self._places_of_bits
        start = np.tile(_array(self.own.bias), (N_SUITS, 1))
        if self.apart is not None:
            start[self._apart] += _array(self.apart)
        return Weights(
            used=packed(groups != NOWHERE),
            groups=groups,
            rows=rows,
            first=np.concatenate([_inward(self.own), _inward(self.common)]),
            start=start,
            sizes=np.array([_full(size) for size in self.hidden]),
            deep=_flat(
                part
                for layer in self._exchanges()
                for part in (_between(layer.own), _between(layer.all), _array(layer.own.bias))
            ),
            own=_with_bias(self.of_suit),
            others=_with_bias(self.others) if self.others else _NO_OTHERS,
            places=self._places(),
            activation=ACTIVATION_CODES[self.activation],
        )


NETWORKS: dict[str, type[Network]] = {"suits": Suits, "mlp": Mlp}
