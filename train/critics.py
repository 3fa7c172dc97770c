"""The networks of critics, one for each kind of policy network; they are needed for training only.

A critic is a module of `(game, hidden, activation, n_out)`; its `forward(first, cards)` speaks of
decisions from what enters the policy's first hidden layer and the other seats' hands: their values,
or logits of `ValueBins`.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from trysim.agents.bit_sums import Places, can_sum, product, sums
from trysim.agents.networks import ACTIVATIONS, N_SUITS, Exchange, linear
from trysim.envs.games import Game

_FURTHEST = 6.0  # scaled rewards, whose standard deviation is about 1, are seldom further from 0


class Critic(nn.Module, ABC):
    """What a critic is."""

    def __init__(self, game: Game, hidden: Sequence[int], activation: str, n_out: int = 1) -> None:
        super().__init__()

    @abstractmethod
    def forward(self, first: torch.Tensor, cards: torch.Tensor) -> torch.Tensor:
        """(N, n_out) from what enters the policy's first layer and the others' hands (N, H)."""


class ValueBins(nn.Module):
    """What may come as a distribution over `n` bins of scaled rewards; its mean is the value.

    In Семнадцать the score falls behind its peak, so that one card may win or lose everything: a
    distribution tells of both. Learned as by Farebrother et al. (2024, "Stop Regressing"): a
    result counts in the bins around it too.
    """

    _edges: torch.Tensor
    _middles: torch.Tensor

    def __init__(self, n: int) -> None:
        super().__init__()
        edges = torch.linspace(-_FURTHEST, _FURTHEST, n + 1)
        self.register_buffer("_edges", edges, persistent=False)
        self.register_buffer("_middles", (edges[1:] + edges[:-1]) / 2, persistent=False)
        self._blur = 0.75 * 2 * _FURTHEST / n

    def values(self, logits: torch.Tensor) -> torch.Tensor:
        """The means (N,) of distributions (N, n)."""
        return logits.softmax(1) @ self._middles

    def around(self, results: torch.Tensor) -> torch.Tensor:
        """The distributions (N, n) that stand for results (N,)."""
        inside = results.clamp(-_FURTHEST, _FURTHEST)[:, None]
        below: torch.Tensor = torch.special.ndtr((self._edges - inside) / self._blur)
        return below.diff(dim=1) / (below[:, -1:] - below[:, :1])

    def loss(self, logits: torch.Tensor, results: torch.Tensor) -> torch.Tensor:
        """Cross-entropy between distributions (N, n) and what came (N,)."""
        return -(self.around(results) * logits.log_softmax(1)).sum(1).mean()


class MlpCritic(Critic):
    """Fully connected layers."""

    def __init__(self, game: Game, hidden: Sequence[int], activation: str, n_out: int = 1) -> None:
        super().__init__(game, hidden, activation)
        self.cards = linear((game.n_seats - 1) * len(game.deck), hidden[0], bias=False)
        layers: list[nn.Module] = [ACTIVATIONS[activation]()]
        for pair in itertools.pairwise(hidden):
            layers += [linear(*pair), ACTIVATIONS[activation]()]
        self.rest = nn.Sequential(*layers, linear(hidden[-1], n_out, 1.0))

    def forward(self, first: torch.Tensor, cards: torch.Tensor) -> torch.Tensor:
        """(N, n_out) from (N, hidden) and the other seats' hands (N, H)."""
        said: torch.Tensor = self.rest(first + product(cards, self.cards))
        return said


class SuitsCritic(Critic):
    """The same weights for each suit."""

    _by_suit: torch.Tensor

    def __init__(self, game: Game, hidden: Sequence[int], activation: str, n_out: int = 1) -> None:
        super().__init__(game, hidden, activation)
        n_others, n_ranks = game.n_seats - 1, len(game.deck) // N_SUITS
        seat, card = np.divmod(np.arange(n_others * len(game.deck)), len(game.deck))
        suit, rank = np.divmod(card, n_ranks)
        self._places = Places(seat * n_ranks + rank, suit, N_SUITS)
        by_suit = torch.from_numpy(np.argsort(suit, kind="stable"))
        self.register_buffer("_by_suit", by_suit, persistent=False)
        self.cards = linear(n_others * n_ranks, hidden[0], bias=False)
        self.act = ACTIVATIONS[activation]()
        self.layers = nn.ModuleList(Exchange(*pair) for pair in itertools.pairwise(hidden))
        self.value = nn.Sequential(
            linear(hidden[-1], hidden[-1]),
            ACTIVATIONS[activation](),
            linear(hidden[-1], n_out, 1.0),
        )

    def forward(self, first: torch.Tensor, cards: torch.Tensor) -> torch.Tensor:
        """(N, n_out) from (N, suits, hidden) and the other seats' hands (N, H)."""
        if can_sum(cards):
            known = sums(cards, self.cards.weight.t(), self._places)
        else:
            hands = cards.index_select(1, self._by_suit).reshape(len(cards), N_SUITS, -1)
            known = self.cards(hands.float())
        of_suit = self.act(first + known)
        for layer in self.layers:
            of_suit = self.act(layer(of_suit))
        said: torch.Tensor = self.value(of_suit.mean(1))
        return said


CRITICS: dict[str, type[Critic]] = {"suits": SuitsCritic, "mlp": MlpCritic}
