"""Worlds: every one that may be, and no other, each as often as any other.

What may be is found by trial, with the rules as the judge (see `test_leaks`): all ways to deal out
the hidden cards, those under which every action of the deal was legal and every public fact is the
same.
"""

import random
from collections import Counter
from math import factorial, prod

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.test_aec import OPTION_SETS, each_set
from tests.test_leaks import _hidden_slots, _replayed, positions, words
from trysim.envs.games import GAMES, BadInput
from trysim.envs.rules.row import CUT, NAME_TRUMP, PHASE, PLAY, RANDOM, SEAT
from trysim.envs.worlds import SAMPLERS, InformationSet

MOST = 90  # ways to deal out the hidden cards, where all are tried
SEMERIK_SETS = [options for name, options in OPTION_SETS if name == "semerik"]


def hidden_hands(game, row, me):
    """The hands of the other seats, as sets of cards."""
    return tuple(hand for seat, hand in enumerate(words(game, row, "hands")) if seat != me)


def orders(slots):
    """The cards of the slots, in every order that gives the owners other cards."""
    owners = Counter(owner for owner, _ in slots)
    for dealing in _dealings(owners, [card for _, card in slots]):
        rest = {owner: [card for other, card in dealing if other == owner] for owner in owners}
        yield [rest[owner].pop() for owner, _ in slots]


def _dealings(owners, cards):
    if not cards:
        yield []
        return
    for owner in owners:
        if owners[owner]:
            for more in _dealings(owners - Counter([owner]), cards[1:]):
                yield [(owner, cards[0]), *more]


def possible(at, seat, silence=False):
    """The hidden hands that may be; None where there are too many to try, or only one."""
    slots = _hidden_slots(at, seat)
    owners = Counter(owner for owner, _ in slots)
    n = factorial(len(slots)) / prod(map(factorial, owners.values()))
    if not 1 < n <= MOST:
        return None
    found = set()
    for cards in orders(slots):
        again = _replayed(at, seat, slots, cards, random.Random(0))
        if again is not None and not (silence and could_have_declared(at.game, again[0], seat)):
            found.add(hidden_hands(at.game, again[0], seat))
    return found


def could_have_declared(game, row, me):
    """Whether another seat that has played had a combination that it did not declare."""
    hands, played, declared = (words(game, row, name) for name in ("hands", "played", "declared"))
    return any(
        seat != me
        and played[seat]
        and int(game.rules.combinations(row, hands[seat] | played[seat])) & ~declared[seat]
        for seat in range(4)
    )


def assert_even(game, at, seat, expected, silence=False):
    """Draws fall on the expected worlds only, and evenly."""
    n = 60 * len(expected)
    drawn = InformationSet(game, at.row, seat).worlds(n, seed=len(expected), silence=silence)
    counts = Counter(hidden_hands(game, world, seat) for world in drawn)
    assert set(counts) == expected
    assert len(expected) == 1 or chisquare(list(counts.values())).pvalue > 1e-5


@each_set
def test_worlds_are_those_that_may_be_and_even(name, options):
    game, n_checked, n_worlds = GAMES[name], 0, 0
    for seed in range(40):
        for at in positions(game, options, seed):
            seat = seed % game.n_players_of(at.row)
            if at.row[PHASE] == PLAY and len(at.actions) % 3 == seed % 3 and at.actions:
                expected = possible(at, seat)
                if expected:
                    assert_even(game, at, seat, expected)
                    n_checked += 1
                    n_worlds += len(expected)
        if n_checked >= 15:
            break
    assert n_checked >= 15
    assert n_worlds > 2 * n_checked


@pytest.mark.parametrize("options", [SEMERIK_SETS[k] for k in (0, 1, 2)])
def test_silence_rules_out_what_could_have_been_declared(options):
    """Under `choice` nobody here declares unless by chance: so silence may be wrong at times."""
    game, n_checked, n_fewer = GAMES["semerik"], 0, 0
    for seed in range(30):
        for at in positions(game, options, seed):
            seat = seed % 4
            if at.row[PHASE] == PLAY and len(at.actions) % 3 == seed % 3 and at.actions:
                expected = possible(at, seat, silence=True)
                if expected:
                    assert_even(game, at, seat, expected, silence=True)
                    n_checked += 1
                    n_fewer += len(expected) < len(possible(at, seat))
    assert n_checked > 10
    assert n_fewer > 1 or options.get("declare") == "auto"


@each_set
def test_every_position_has_worlds(name, options):
    """At every moment of random matches, for every seat; each keeps what the seat knows."""
    game = GAMES[name]
    for seed in range(4):
        for at in positions(game, options, seed):
            if at.row[SEAT] < 0:
                continue
            for seat in range(game.n_players_of(at.row)):
                known = game.view(at.row, seat)
                for world in InformationSet(game, at.row, seat).worlds(2, seed):
                    assert (game.view(world, seat) == known).all()
                    sizes = [bin(hand).count("1") for hand in words(game, world, "hands")]
                    true = [bin(hand).count("1") for hand in words(game, at.row, "hands")]
                    assert sizes == true
                    if "offers" in game.words and at.row[PHASE] == PLAY:
                        assert_offers(game, world)


def assert_offers(game, world):
    """Who has not played yet may declare what it holds, less what it declared."""
    if game.options_of(world)["declare"] == "off":
        return
    hands, played = words(game, world, "hands"), words(game, world, "played")
    for seat in range(4):
        if not played[seat]:
            whole = int(game.rules.combinations(world, hands[seat]))
            offers = whole & ~words(game, world, "declared")[seat]
            assert words(game, world, "offers")[seat] == offers


def test_worlds_have_a_future_of_their_own():
    game = GAMES["semerik"]
    row = dealt(game, {})
    worlds = InformationSet(game, row, 0).worlds(50)
    futures = set(worlds[:, RANDOM].tolist())
    assert len(futures) == 50
    assert int(row[RANDOM]) not in futures


def test_the_penalty_is_drawn_anew():
    """The loser cuts a deck that nobody has seen."""
    game = GAMES["sim_lystiv"]
    for at in positions(game, {"num_players": 3, "penalty": "interactive"}, 2):
        if at.row[PHASE] == CUT:
            worlds = InformationSet(game, at.row, int(at.row[SEAT])).worlds(400)
            bottoms = [int(game.rules.card_after_cut(world, 5)) for world in worlds]
            counts = np.bincount(bottoms, minlength=36)
            assert chisquare(counts).pvalue > 1e-4
            break
    else:
        pytest.fail("nobody lost")


def dealt(game, options, seed=0):
    row = game.new_row(options, seed)
    game.kernels.begin(row)
    game.kernels.settle(row)
    return row


def test_worlds_follow_from_view_and_seed():
    game = GAMES["semnadtsat"]
    row = dealt(game, {})
    first, again = (InformationSet(game, row, 1).worlds(5, seed=3) for _ in range(2))
    other = InformationSet(game, row, 1).worlds(5, seed=4)
    assert (first == again).all()
    assert not (first == other).all()


def test_threes_that_name_trumps_are_where_they_must_be():
    """Five players: who names has both threes, and nobody else has one."""
    game, n_named = GAMES["semnadtsat"], 0
    for seed in range(200):
        row = dealt(game, {"num_players": 5}, seed)
        if row[PHASE] != NAME_TRUMP:
            continue
        n_named += 1
        me = (int(row[SEAT]) + 1) % 5
        for world in InformationSet(game, row, me).worlds(20):
            assert "3C" in game.hands(world)[row[SEAT]]
            assert "3H" in game.hands(world)[row[SEAT]]
    assert n_named > 20


def test_worlds_are_found_with_care_where_drawing_fails():
    """The way out, which drawing in vain many times leads to, keeps all facts as well."""
    game, options = GAMES["semerik"], {"horizon": "deal", "declare": "auto"}
    kernels, n_tried = SAMPLERS["semerik"], 0
    for at in positions(game, options, 5):
        if at.row[PHASE] == PLAY and at.actions:
            me = int(at.row[SEAT])
            view = game.view(at.row, me)
            world = view.copy()
            for word in range(20):
                kernels.draw_with_care(view, me, False, word, world)
                assert kernels.find_contradiction(world, me, False) == -1
                assert (game.view(world, me) == view).all()
                n_tried += 1
    assert n_tried > 400


def test_a_seat_must_exist():
    game = GAMES["semnadtsat"]
    with pytest.raises(BadInput, match=r"seats are 0\.\.2"):
        InformationSet(game, dealt(game, {"num_players": 3}), 3)
