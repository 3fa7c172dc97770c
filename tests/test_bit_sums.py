"""The first layer's sums against products of matrices, there and back."""

import pytest
import torch
from torch import nn

from trysim.agents import bit_sums
from trysim.agents.bit_sums import NOWHERE, Places, can_sum, product, sums
from trysim.agents.networks import NETWORKS
from trysim.envs.games import GAMES
from trysim.train.critics import CRITICS


@pytest.fixture(params=[1, 2])
def _threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def some_bits(n, n_bits, seed=0):
    random = torch.Generator().manual_seed(seed)
    return (torch.rand(n, n_bits, generator=random) < 0.15).to(torch.int8)


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize(("n", "n_bits", "width"), [(1, 8, 1), (700, 200, 32), (5000, 64, 45)])
def test_a_product_is_the_layer_s(n, n_bits, width):
    layer, bits = nn.Linear(n_bits, width), some_bits(n, n_bits)
    assert can_sum(bits)
    slopes = torch.linspace(-1, 1, n * width).reshape(n, width)
    grads = []
    for made in (product(bits, layer), layer(bits.float())):
        layer.zero_grad()
        (made * slopes).sum().backward()
        grads.append([made.detach(), layer.weight.grad.clone(), layer.bias.grad.clone()])
    for ours, right in zip(*grads, strict=True):
        torch.testing.assert_close(ours, right, rtol=1e-3, atol=1e-3)


def test_bits_add_where_they_belong():
    at = Places(torch.tensor([0, 1, 0, 1, 2, 2, 2, 2]).numpy(),
                torch.tensor([0, 0, 1, 1, 2, NOWHERE, 0, NOWHERE]).numpy(), 3)  # fmt: skip
    weights = torch.eye(3)
    bits = torch.tensor([[1, 1, 0, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0, 1, 0]], dtype=torch.int8)
    added = sums(bits, weights, at)
    assert added.tolist() == [[[1, 1, 0], [0, 1, 0], [0, 0, 1]], [[0, 0, 1], [0, 0, 0], [0, 0, 0]]]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("network", NETWORKS)
def test_networks_and_critics_learn_the_same_both_ways(name, network, monkeypatch):
    game = GAMES[name]
    sizes = game, [24, 8], "relu"
    net, critic = NETWORKS[network](*sizes), CRITICS[network](*sizes)
    bits = some_bits(300, game.layout.size)
    cards = some_bits(300, (game.n_seats - 1) * len(game.deck), seed=1)
    learned = [*net.parameters(), *critic.parameters()]

    def grads():
        first = net.first(bits)
        loss = net.rest(first).square().sum() + critic(first, cards).square().sum()
        return loss.detach(), torch.autograd.grad(loss, learned)

    assert can_sum(bits)
    assert can_sum(cards)
    loss, fast = grads()
    for module in (bit_sums, *(__import__(kind.__module__, fromlist=["x"]) for kind in
                               (NETWORKS[network], CRITICS[network]))):  # fmt: skip
        monkeypatch.setattr(module, "can_sum", lambda bits: False)
    slow_loss, slow = grads()
    torch.testing.assert_close(loss, slow_loss, rtol=1e-4, atol=1e-3)
    for ours, right in zip(fast, slow, strict=True):
        torch.testing.assert_close(ours, right, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("bits", [some_bits(3, 12), some_bits(3, 8).float(), some_bits(8, 8).t()])
def test_other_numbers_are_multiplied(bits):
    layer = nn.Linear(bits.shape[1], 4)
    assert not can_sum(bits)
    torch.testing.assert_close(product(bits, layer), layer(bits.float()))
