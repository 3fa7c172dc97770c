"""The networks of critics, one for each kind of policy network; they are needed for training only.

A critic is a module of `(game, hidden, activation)`; its `forward(first, cards)` gives the values
of decisions from what enters the policy's first hidden layer and the other seats' hands.
"""

import itertools
from collections.abc import Sequence

import torch
from torch import nn

from trysim.agents.networks import ACTIVATIONS, N_SUITS, Exchange, linear, taken
from trysim.envs.games import Game


class Critic(nn.Module):
    """What a critic is."""

    def __init__(self, game: Game, hidden: Sequence[int], activation: str) -> None:
        super().__init__()

    def forward(self, first: torch.Tensor, cards: torch.Tensor) -> torch.Tensor:
        """Values (N,) from what enters the policy's first layer and the others' hands (N, H)."""
        raise NotImplementedError


class MlpCritic(Critic):
    """Fully connected layers."""

    def __init__(self, game: Game, hidden: Sequence[int], activation: str) -> None:
        super().__init__(game, hidden, activation)
        self.cards = linear((game.n_seats - 1) * len(game.deck), hidden[0], bias=False)
        layers: list[nn.Module] = [ACTIVATIONS[activation]()]
        for n_in, n_out in itertools.pairwise(hidden):
            layers += [linear(n_in, n_out), ACTIVATIONS[activation]()]
        self.rest = nn.Sequential(*layers, linear(hidden[-1], 1, 1.0))

    def forward(self, first: torch.Tensor, cards: torch.Tensor) -> torch.Tensor:
        """Values (N,) from (N, hidden) and the other seats' hands (N, H)."""
        values: torch.Tensor = self.rest(first + self.cards(cards.float()))
        return values.squeeze(1)


class SuitsCritic(Critic):
    """The same weights for each suit."""

    _by_suit: torch.Tensor

    def __init__(self, game: Game, hidden: Sequence[int], activation: str) -> None:
        super().__init__(game, hidden, activation)
        n_others, n_ranks = game.n_seats - 1, len(game.deck) // N_SUITS
        by_seat = torch.arange(n_others * len(game.deck)).reshape(n_others, N_SUITS, n_ranks)
        self.register_buffer("_by_suit", by_seat.transpose(0, 1).flatten(), persistent=False)
        self.cards = linear(n_others * n_ranks, hidden[0], bias=False)
        self.act = ACTIVATIONS[activation]()
        self.layers = nn.ModuleList(Exchange(*pair) for pair in itertools.pairwise(hidden))
        self.value = nn.Sequential(
            linear(hidden[-1], hidden[-1]), ACTIVATIONS[activation](), linear(hidden[-1], 1, 1.0)
        )

    def forward(self, first: torch.Tensor, cards: torch.Tensor) -> torch.Tensor:
        """Values (N,) from (N, suits, hidden) and the other seats' hands (N, H)."""
        hands = taken(cards, self._by_suit).reshape(len(cards), N_SUITS, -1)
        of_suit = self.act(first + self.cards(hands))
        for layer in self.layers:
            of_suit = self.act(layer(of_suit))
        values: torch.Tensor = self.value(of_suit.mean(1))
        return values.squeeze(1)


CRITICS: dict[str, type[Critic]] = {"suits": SuitsCritic, "mlp": MlpCritic}
