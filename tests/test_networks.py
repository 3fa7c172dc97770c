"""Networks of policies and critics: the four suits are alike, and what is hidden stays hidden."""

import itertools

import numpy as np
import pytest
import torch

from trysim.agents.networks import N_SUITS, NETWORKS, Suits, suit_actions, suit_bits
from trysim.envs.batch import BatchEnv
from trysim.envs.games import GAMES
from trysim.train.critics import CRITICS, SuitsCritic, ValueBins

each_game = pytest.mark.parametrize("name", GAMES)


def positions(name, n=40, n_plays=30):
    """Observations and masks (n, …) after some random plays, and the other seats' hands."""
    env = BatchEnv(name, n)
    env.reset(1)
    rng = np.random.default_rng(1)
    for _ in range(n_plays):
        env.step(np.where(env.mask, rng.random(env.mask.shape), -1).argmax(1))
    return [torch.from_numpy(a.copy()) for a in (env.observation, env.mask, env.other_hands())]


def exchanged(bits, of_suit, order):
    """The bits (N, …) with the suits' places taken in another order."""
    out = bits.clone()
    for to, come_from in enumerate(order):
        out[:, of_suit[to]] = bits[:, of_suit[come_from]]
    return out


@each_game
def test_every_action_and_every_bit_of_use_is_known_once(name):
    game = GAMES[name]
    of_suit, others = suit_actions(game)
    assert sorted([*itertools.chain(*of_suit), *others]) == list(range(game.n_actions))
    of_suit, others = suit_bits(game)
    left_out = game.layout.slice("when")
    known = sorted([*itertools.chain(*of_suit), *others])
    assert known == [k for k in range(game.layout.used) if k not in range(*left_out.indices(9999))]


@each_game
def test_bits_and_actions_of_a_suit_mean_the_same_in_each(name):
    """Read in words: with clubs for every other suit, all four lists are the same."""
    game = GAMES[name]
    words = [""] * game.layout.size
    for field in game.layout.fields:
        for bit in range(field.size):
            label = field.labels[bit % field.width] if field.labels else str(bit % field.width)
            words[game.layout.at(field.name) + bit] = f"{field.name} {bit // field.width} {label}"
    for of_suit, texts in ((suit_bits(game)[0], words), (suit_actions(game)[0], game.actions)):
        read = [[texts[k] for k in bits] for bits in of_suit]
        assert all([text[:-1] for text in suit] == [text[:-1] for text in read[0]] for suit in read)
        assert ["".join({text[-1] for text in suit}) for suit in read] == list("CDHS")


@each_game
def test_suits_that_change_places_take_their_logits_along(name):
    torch.manual_seed(1)
    game, order = GAMES[name], [1, 0, 2, 3] if name == "semerik" else [2, 0, 3, 1]
    net, critic = Suits(game, [24, 16], "relu"), SuitsCritic(game, [24, 16], "relu")
    for weights in (*net.parameters(), *critic.parameters()):
        torch.nn.init.normal_(weights, 0, 0.1)
    seen, _, hands = positions(name)
    bits, actions = suit_bits(game)[0], suit_actions(game)[0]
    n_ranks = len(game.deck) // N_SUITS
    cards = [
        [seat * len(game.deck) + suit * n_ranks + rank
         for seat in range(game.n_seats - 1) for rank in range(n_ranks)]
        for suit in range(N_SUITS)
    ]  # fmt: skip
    moved = exchanged(seen, bits, order)
    with torch.no_grad():
        expected = exchanged(net(seen), actions, order)
        assert torch.allclose(net(moved), expected, atol=1e-5)
        values = critic(net.first(seen), hands)
        again = critic(net.first(moved), exchanged(hands, cards, order))
        assert torch.allclose(values, again, atol=1e-5)
        assert values.std() > 0


def test_hearts_of_semerik_may_differ():
    game = GAMES["semerik"]
    net = Suits(game, [16], "relu")
    seen, _, _ = positions("semerik")
    torch.nn.init.normal_(net.of_suit.weight)
    moved = exchanged(seen, suit_bits(game)[0], [0, 2, 1, 3])
    torch.nn.init.normal_(net.apart)
    expected = exchanged(net(seen), suit_actions(game)[0], [0, 2, 1, 3])
    assert not torch.allclose(net(moved), expected, atol=1e-3)


@each_game
@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("hidden", [[8], [8, 12, 16]])
def test_shapes(name, kind, hidden):
    game = GAMES[name]
    net = NETWORKS[kind](game, hidden, "tanh")
    critic = CRITICS[kind](game, hidden, "tanh")
    seen, mask, hands = positions(name, 5, 3)
    first = net.first(seen)
    assert net.rest(first).shape == mask.shape
    assert torch.allclose(net(seen.float()), net.rest(first), atol=1e-6)
    assert critic(first, hands).shape == (5, 1)
    assert CRITICS[kind](game, hidden, "tanh", 51)(first, hands).shape == (5, 51)


def test_bins_stand_for_a_number_and_give_it_back():
    bins = ValueBins(51)
    numbers = torch.tensor([-5.0, -1.3, 0.0, 0.25, 3.9])
    around = bins.around(numbers)
    assert torch.allclose(around.sum(1), torch.ones(5))
    assert torch.allclose(bins.values(around.log()), numbers, atol=0.02)
    assert torch.isfinite(bins.around(torch.tensor([-99.0, 99.0]))).all()


def test_bins_learn_the_distribution_of_what_comes():
    """Won or lost, one of four times: the mean is right and nothing is expected between."""
    bins, logits = ValueBins(21), torch.zeros(1, 21, requires_grad=True)
    results = torch.tensor([-3.0, 3.0, 3.0, 3.0])
    optimiser = torch.optim.Adam([logits], 0.1)
    for _ in range(300):
        optimiser.zero_grad()
        bins.loss(logits.expand(4, -1), results).backward()
        optimiser.step()
    assert float(bins.values(logits)) == pytest.approx(1.5, abs=0.05)
    assert logits.softmax(1)[0, 10] < 0.01
