"""Networks as compiled code say what torch says."""

import numpy as np
import pytest
import torch

from tests.positions import mixed_decisions
from trysim.agents.compiled import add_product, add_rows, compiled_for
from trysim.agents.networks import NETWORKS, Mlp, Suits
from trysim.agents.policy import PolicyAgent
from trysim.envs.games import GAMES
from trysim.envs.rules.jit import rule

each_game = pytest.mark.parametrize("name", GAMES)


def decisions(name, n=60):
    return mixed_decisions(name, n, n_plays=25)


def network(name, kind, hidden, activation, seed=0):
    torch.manual_seed(seed)
    net = NETWORKS[kind](GAMES[name], hidden, activation)
    for weights in net.parameters():
        weights.data += 0.1 * torch.randn_like(weights)
    return net


@each_game
@pytest.mark.parametrize("hidden", [[32], [40, 24], [96, 96], [8, 33, 70]])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("kind", NETWORKS)
def test_compiled_code_says_what_torch_says(name, kind, activation, hidden):
    asked = decisions(name)
    net = network(name, kind, hidden, activation)
    said = PolicyAgent(GAMES[name], net, "policy:x").logits(asked)
    observations, masks = asked.observe()
    with torch.no_grad():
        expected = net(torch.from_numpy(observations)).numpy()
    assert (np.isfinite(said) == (masks == 1)).all()
    assert np.allclose(said[masks == 1], expected[masks == 1], atol=1e-4)


@each_game
def test_the_likeliest_action_is_legal_and_the_best(name):
    asked, net = decisions(name), network(name, "suits", [32, 32], "relu")
    kernels, weights = compiled_for(name), net.compiled()
    logits = PolicyAgent(GAMES[name], net, "policy:x").logits(asked)
    desk = kernels.new_desk(weights)
    for i, (view, legal) in enumerate(zip(asked.views, asked.legal, strict=True)):
        assert kernels.likeliest(weights, view, legal, desk) == logits[i].argmax()


@each_game
def test_other_tables_change_no_bit(name):
    asked = decisions(name)
    agent = PolicyAgent(GAMES[name], network(name, "suits", [48, 48], "relu"), "policy:x")
    together = agent.logits(asked)
    for i in range(0, asked.n, 7):
        assert (agent.logits(asked.only([i])) == together[i]).all()


@pytest.mark.parametrize("kind", [Mlp, Suits])
def test_a_network_that_computes_otherwise_is_asked_in_torch(kind):
    class Doubled(kind):
        def rest(self, first):
            return super().rest(2 * first)

    asked = decisions("semerik")
    net = Doubled(GAMES["semerik"], [32], "relu")
    assert net.compiled() is None
    said = PolicyAgent(GAMES["semerik"], net, "policy:x").logits(asked)
    observations, masks = asked.observe()
    with torch.no_grad():
        expected = net(torch.from_numpy(observations)).numpy()
    assert np.allclose(said[masks == 1], expected[masks == 1], atol=1e-5)


def test_weights_are_those_of_the_moment():
    """A network that learns on is another one; what was compiled before stays as it was."""
    asked, net = decisions("semerik"), network("semerik", "suits", [32], "relu")
    before = PolicyAgent(GAMES["semerik"], net, "policy:x")
    said = before.logits(asked)
    for weights in net.parameters():
        weights.data += 1
    assert (before.logits(asked) == said).all()
    assert (PolicyAgent(GAMES["semerik"], net, "policy:x").logits(asked) != said).any()


@pytest.mark.parametrize("width", [32, 96])
def test_sums_of_rows_are_those_of_plain_python(width):
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((20, width)).astype(np.float32)
    x = rng.standard_normal(20).astype(np.float32)
    rows = rng.permutation(20)

    def of_rows(weights, rows, n, out):
        add_rows(weights, rows, n, out)

    def product(x, weights, rows, n, out):
        add_product(x, weights, rows, n, out)

    for n in (0, 1, 7, 20):
        for function, given in ((of_rows, (weights, rows, n)), (product, (x, weights, rows, n))):
            plain, fast = np.ones((2, width), np.float32)
            function(*given, plain)
            rule(function)(*given, fast)
            assert np.allclose(plain, fast, atol=1e-6)
