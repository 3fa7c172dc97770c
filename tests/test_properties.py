"""What holds at every position of every match, whatever the options, seeds and choices."""

from math import comb, sqrt
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trysim.envs.engine import random_bits
from trysim.envs.games import GAMES
from trysim.envs.rules.row import (
    CUT,
    GONE,
    NAME_TRUMP,
    NOBODY,
    OVER,
    PHASE,
    PLAY,
    RANDOM,
    SEAT,
    named,
)

SLOW = bool(numba.config.DISABLE_JIT)
SIM_LYSTIV, SEMNADTSAT, SEMERIK = (GAMES[n] for n in ("sim_lystiv", "semnadtsat", "semerik"))
SEEDS = st.integers(0, 2**32)
# Longer matches add plies, not kinds of positions.
SHORT = {"num_deals": 3, "games": 2}


def examples(n):
    """Settings for `n` examples; a fourth of them where everything runs as plain Python."""
    return settings(
        max_examples=max(4, n // 4) if SLOW else n,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Compile what the tests need before any of them is measured."""
    for game in GAMES.values():
        row = finish(game, new_table(game, {}, 0))
        game.observe(game.view(row, 0), 0)


@st.composite
def options_of(draw, game, **fixed):
    """Options of a game, every value of each, with some of them fixed."""
    options = {o.name: draw(_values(o)) for o in game.options if o.name != "dealer"} | fixed
    last = game.n_players(options) - 1
    options.setdefault("dealer", draw(st.none() | st.integers(0, last)))
    return options


def _values(option):
    if option.choices:
        return st.sampled_from(option.choices)
    return st.integers(option.low, SHORT.get(option.name, option.high))


@st.composite
def tables(draw, game=None, **fixed):
    """A game and a table where a match has begun."""
    game = game or draw(st.sampled_from([*GAMES.values()]))
    return game, new_table(game, draw(options_of(game, **fixed)), draw(SEEDS))


def new_table(game, options, seed):
    """A row with a match begun and dealt."""
    row = game.new_row(options, seed)
    game.kernels.begin(row)
    game.kernels.settle(row)
    return row


def positions(game, row, word=0):
    """The row at every position of the match, the last one included; choices from `word`."""
    yield row
    while row[PHASE] != OVER:
        word, actions = word + 1, game.legal_actions(row)
        game.kernels.step(row, actions[int(random_bits(word)) % len(actions)])
        yield row


def finish(game, row, word=0):
    """Play the match to its end; the row."""
    for _ in positions(game, row, word):
        pass
    return row


def trace(game, row, word=0):
    """Copies of the row at every position, as an array (plies + 1, words)."""
    return np.array([position.copy() for position in positions(game, row, word)])


def sets(game, row):
    """The row's words by name as Python numbers; words by seat are cut to the players."""
    view, n = named(game.rules.STATE, row), game.n_players_of(row)
    values = {name: view[name].tolist() for name in game.rules.STATE.names}
    by_seat = ("hands", "played", "may_hold", "tricks", "points", "totals", "counts", "received")
    cut = {k: v[:n] if k in by_seat and isinstance(v, list) else v for k, v in values.items()}
    return SimpleNamespace(**cut, n=n)


def union(card_sets):
    """The union of sets that have nothing in common."""
    together = 0
    for card_set in card_sets:
        assert not together & card_set
        together |= card_set
    return together


# Cards and turns --------------------------------------------------------------------------------
@examples(40)
@given(tables())
def test_no_card_is_lost_or_doubled(table):
    game, row = table
    dealt = {}
    for _ in positions(game, row):
        at = sets(game, row)
        here = union([*at.hands, *at.played])
        assert dealt.setdefault(at.deals, here) == here
        check_deck(game, row, at, here)
        assert at.trick & ~union(at.played) == 0
        assert at.trick.bit_count() == at.n_played
        assert in_tricks(game, at) == union(at.played) & ~at.trick


def check_deck(game, row, at, dealt):
    """The cards dealt and the stock make the deck."""
    pack = int(game.rules.pack(row))
    assert dealt & ~pack == 0
    if game is SIM_LYSTIV:
        assert dealt.bit_count() == 7 * at.n_active
        assert dealt >> at.trump_card & 1
    else:
        assert dealt == pack


def in_tricks(game, at):
    """The cards that the bit planes put in a finished trick, the right number in each."""
    n = at.n_active if game is SIM_LYSTIV else at.n
    together = 0
    for number in range(1, at.n_tricks + 1):
        cards = (1 << len(game.deck)) - 1
        for k, plane in enumerate(at.when):
            cards &= plane if number >> k & 1 else ~plane
        assert cards.bit_count() == n
        together |= cards
    return together


@examples(40)
@given(tables())
def test_somebody_can_act_until_the_match_is_over(table):
    game, row = table
    for _ in positions(game, row):
        seat, legal = int(row[SEAT]), game.legal_actions(row)
        if row[PHASE] == OVER:
            assert (seat, legal) == (NOBODY, [])
            assert int(row[GONE]) == (1 << game.n_players_of(row)) - 1
            continue
        assert legal
        assert not game.is_gone(row, seat)
        if row[PHASE] == PLAY:
            cards = [action for action in legal if action < len(game.deck)]
            hand = sets(game, row).hands[seat]
            assert cards
            assert all(hand >> card & 1 for card in cards)


# Bounds -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("n", "low", "high"), [(3, 34, 38), (4, 41, 47), (5, 38, 44)])
def test_points_of_a_deal_of_semnadtsat(n, low, high):
    @examples(30)
    @given(tables(SEMNADTSAT, num_players=n))
    def check(table):
        at = sets(SEMNADTSAT, finish(*table))
        assert low <= sum(at.points) <= high

    check()


@examples(60)
@given(tables(SIM_LYSTIV))
def test_a_match_of_sim_lystiv_ends_after_so_many_deals(table):
    _, row = table
    replay = SIM_LYSTIV.options_of(row)["all_out"] == "replay"
    at = sets(SIM_LYSTIV, finish(*table))
    assert replay or at.deals <= 2 * (at.n - 1)
    assert at.n_exits >= at.n - 1
    assert (at.loser == NOBODY) <= (at.n_exits == at.n)


CARD_POINTS = {"third": (7, 8), "none": (6, 6), "one": (10, 10)}  # both pairs together


@examples(60)
@given(tables(SEMERIK, horizon="deal"))
def test_points_of_a_deal_of_semerik(table):
    options = SEMERIK.options_of(table[1])
    at = sets(SEMERIK, finish(*table))
    pairs = [at.tricks[0] + at.tricks[2], at.tricks[1] + at.tricks[3]]
    bonus = 4 * (10 in pairs) + 6 * (max(at.tricks) >= 9) + options["last_trick"]
    low, high = CARD_POINTS[options["aces"]]
    assert sum(pairs) == 10
    assert low <= sum(at.score) - sum(at.declared_points) - bonus <= high
    assert all(s >= d for s, d in zip(at.score, at.declared_points, strict=True))


# Rewards ----------------------------------------------------------------------------------------
@examples(40)
@given(tables())
def test_rewards_are_paid_once_and_add_up(table):
    game, row = table
    options = game.options_of(row)
    paid = np.zeros(game.n_players_of(row))
    for _ in positions(game, row):
        rewards = game.returns(row)
        for seat in np.flatnonzero(rewards != paid):
            assert row[PHASE] == OVER or game.is_gone(row, seat) or options["reward"] == "points"
        paid = rewards
        if game is not SIM_LYSTIV:
            assert sum(rewards) == pytest.approx(0)
    check_final(game, row, options, paid)


def check_final(game, row, options, paid):
    """The final rewards, as the rules have them for each kind of reward."""
    at = sets(game, row)
    if game is SEMERIK:
        assert paid[0] == paid[2] == -paid[1] == -paid[3]
    elif game is SEMNADTSAT and options["reward"] == "score":
        assert paid == pytest.approx(np.array(at.totals) - np.mean(at.totals))
    elif game is SEMNADTSAT:
        best = np.array(at.totals) == max(at.totals)
        assert paid == pytest.approx(best / best.sum() - 1 / at.n)
    elif options["reward"] == "placement":
        assert sorted(paid) == pytest.approx(np.linspace(-1, 1, at.n))
    elif options["reward"] == "blows":
        assert paid.tolist() == [-blows for blows in at.received]
    else:
        assert paid.tolist() == [-float(seat == at.loser) for seat in range(at.n)]


# What a seat sees -------------------------------------------------------------------------------
@examples(50)
@given(tables())
def test_what_a_seat_sees_is_true(table):
    game, row = table
    for ply, _ in enumerate(positions(game, row)):
        at = sets(game, row)
        seat = some_seat(at.n, ply)
        bits, mask = game.observe(row, seat)
        assert bits.max() <= 1
        assert bits.min() >= 0
        assert as_set(bits[game.layout.slice("hand")]) == at.hands[seat]
        acts = seat == row[SEAT]
        assert np.flatnonzero(mask).tolist() == (game.legal_actions(row) if acts else [])
        check_may_hold(game, at, seat, bits[game.layout.slice("may_hold")])


def some_seat(n, ply):
    """A seat to look from, another one at every ply: all of them would take too long."""
    return int(random_bits(ply + 1_000_003)) % n


def as_set(bits):
    """The set of the places where `bits` are 1."""
    return sum(1 << int(place) for place in np.flatnonzero(bits))


def check_may_hold(game, at, seat, bits):
    """What another seat may hold: all that it does hold, no card that is known elsewhere."""
    groups = bits.reshape(game.n_seats - 1, len(game.deck))
    for k, group in enumerate(groups, start=1):
        may_hold = as_set(group)
        if k >= at.n:
            assert may_hold == 0
            continue
        assert at.hands[(seat + k) % at.n] & ~may_hold == 0
        assert may_hold & (at.hands[seat] | union(at.played)) == 0


@examples(50)
@given(tables())
def test_what_a_seat_sees_needs_nothing_hidden(table):
    game, row = table
    for _ in positions(game, row):
        for seat in range(game.n_players_of(row)):
            view = game.view(row, seat)
            assert view[RANDOM] == 0
            for seen, of_view in zip(
                game.observe(row, seat), game.observe(view, seat), strict=True
            ):
                assert (seen == of_view).all()


@examples(50)
@given(tables())
def test_hidden_cards_can_change_places_unseen(table):
    """Swap the hands of two others that fit each other's marks: the seat sees no difference."""
    game, row = table
    for _ in positions(game, row):
        other = swapped(game, row, seat := int(row[SEAT]))
        if other is not None:
            assert (game.view(row, seat) == game.view(other, seat)).all()


def swapped(game, row, seat):
    """The row with one unknown card of two other seats exchanged; None where there is none."""
    at, other = sets(game, row), row.copy()
    if seat == NOBODY:
        return None
    hidden, first = int(game.rules.unseen(row, seat)), game.words["hands"]
    a, b = (seat + 1) % at.n, (seat + 2) % at.n
    give = [at.hands[x] & hidden & at.may_hold[y] for x, y in ((a, b), (b, a))]
    if a == seat or b == seat or not all(give):
        return None
    both = (give[0] & -give[0]) | (give[1] & -give[1])
    other[first + a] ^= both
    other[first + b] ^= both
    return other


# The words of an observation --------------------------------------------------------------------
@examples(25)
@given(tables())
def test_described_observations_say_what_the_row_says(table):
    game, row = table
    for ply, _ in enumerate(positions(game, row)):
        seat = some_seat(game.n_players_of(row), ply)
        told = game.layout.describe(game.observe(row, seat)[0])
        expected = expected_words(game, row, seat)
        assert {name: told[name] for name in expected} == expected
        assert set(told) - set(expected) <= {"may_hold"}


def expected_words(game, row, seat):
    """The fields of an observation, recomputed from the row."""
    at = sets(game, row)
    names, rules = game.rules.SEAT_NAMES, game.rules
    acting = row[PHASE] != OVER

    def place(other):
        return None if other == NOBODY else names[(other - seat) % at.n]

    def by_seat(values, empty):
        others = [values[(seat + k) % at.n] for k in range(at.n)]
        return dict(zip(names, others + [empty] * (len(names) - at.n), strict=True))

    def cards_by_seat(card_sets):
        return by_seat([game.cards(card_set) for card_set in card_sets], [])

    told = {
        "hand": game.cards(at.hands[seat]),
        "played": cards_by_seat(at.played),
        "trick": game.cards(at.trick),
        "best": game.cards(1 << at.best) if at.n_played else [],
        "when": dict(zip("1248", map(game.cards, at.when), strict=False)),
        "to_act": place(at.seat),
        "leader": place(at.leader) if acting else None,
        "winning": place(at.best_seat) if at.n_played else None,
        "dealer": place(at.dealer),
        "n_tricks": at.n_tricks,
        "tricks": by_seat(at.tricks, 0),
    }
    told |= {
        f"option_{name}": str(value)
        for name, value in game.options_of(row).items()
        if f"option_{name}" in {field.name for field in game.layout.fields}
    }
    helpers = SimpleNamespace(place=place, by_seat=by_seat, cards_by_seat=cards_by_seat)
    return told | _WORDS[game.name](rules, row, seat, at, helpers)


def _sim_lystiv_words(rules, row, seat, at, to):
    exits = [to.place(s) for s in at.exits[: at.n_exits]]
    struck = [None if k == 0 else rules.STRIKES[k - 1] for k in at.struck[: at.n]]
    phase = {PLAY: "play", CUT: "cut", OVER: None}.get(int(row[PHASE]), "strike")
    return {
        "trump_card": [rules.DECK[at.trump_card]],
        "trump": rules.DECK[at.trump_card][1],
        "phase": phase,
        "out": [to.place(s) for s in sorted(members(at.out), key=lambda s: (s - seat) % at.n)],
        "exits": dict(zip("12345", exits + [None] * (5 - at.n_exits), strict=True)),
        "loser": to.place(at.loser),
        "counts": to.by_seat([min(count, 7) for count in at.counts], 0),
        "blows": at.blows,
        "struck": to.by_seat(struck, None),
    }


def members(number_set):
    """The numbers of a set, rising."""
    return [k for k in range(number_set.bit_length()) if number_set >> k & 1]


def _semnadtsat_words(rules, row, seat, at, to):
    naming = row[PHASE] == NAME_TRUMP
    ahead = [at.totals[seat] - total for total in at.totals]
    lead = to.by_seat([min(max(points // 4 + 12, 0), 24) for points in ahead], 0)
    del lead["me"]
    return {
        "phase": None if row[PHASE] == OVER else ("name trumps" if naming else "play"),
        "trump": None if naming else ("none" if at.trump == NOBODY else "CDHS"[at.trump]),
        "namer": to.place(at.namer),
        "points": to.by_seat(at.points, 0),
        "totals": to.by_seat(at.totals, 0),
        "lead": lead,
        "deals_left": min(at.option_num_deals - at.deals, 12),
    }


def _semerik_words(rules, row, seat, at, to):
    options = SEMERIK.options_of(row)
    us = seat % 2
    texts = [[rules.ACTIONS[40 + k] for k in members(d)] for d in (at.offers[seat], *at.declared)]
    games = {"deal": 0, "game": 1, "match": options["games"]}[options["horizon"]]

    def by_pair(values):
        return {"us": values[us], "them": values[1 - us]}

    counting = "JQK23" if options["aces"] == "none" else "JQK23A"
    taken = [sum(card[0] in counting for card in SEMERIK.cards(pile)) for pile in at.taken]
    told = {
        "shown": to.cards_by_seat(at.shown),
        "counting": by_pair(taken),
        "offers": texts[0],
        "declared": to.by_seat(texts[1:], []),
        "declared_points": by_pair([min(points, 24) for points in at.declared_points]),
        "totals": by_pair([min(points, 42) for points in at.totals]),
        "booked": by_pair([points // options["target"] for points in at.booked]),
        "target": options["target"],
        "games_left": max(games - at.games_done, 0),
    }
    return told


_WORDS = {
    "sim_lystiv": _sim_lystiv_words,
    "semnadtsat": _semnadtsat_words,
    "semerik": _semerik_words,
}


# Seeds, copies and neighbours -------------------------------------------------------------------
@examples(15)
@given(st.data(), SEEDS)
def test_a_seed_fixes_the_match(data, seed):
    game = data.draw(st.sampled_from([*GAMES.values()]))
    options = data.draw(options_of(game))
    first, again = (trace(game, new_table(game, options, seed)) for _ in range(2))
    assert np.array_equal(first, again)


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_deals_differ_between_seeds_and_within_a_match(game):
    long = {"semnadtsat": {"num_deals": 5}, "sim_lystiv": {"num_players": 5}}
    deals = [deals_of(game, long.get(game.name, {}), seed) for seed in range(4 if SLOW else 20)]
    assert all(len(match) > 1 for match in deals)
    together = [hands for match in deals for hands in match]
    assert len(set(together)) == len(together)


def deals_of(game, options, seed):
    """The hands of every deal of a match in which the choices do not depend on the seed."""
    row, hands = new_table(game, {**options, "dealer": 0}, seed), []
    for _ in positions(game, row):
        at = sets(game, row)
        if len(hands) < at.deals:
            hands.append(tuple(at.hands))
    return hands


@examples(20)
@given(tables(), st.integers(0, 200))
def test_a_copy_goes_on_as_the_original(table, n):
    game, row = table
    for _, _ in zip(range(n), positions(game, row), strict=False):
        pass
    copy = row.copy()
    assert np.array_equal(trace(game, copy, n), trace(game, row, n))


@examples(10)
@given(st.data(), st.lists(SEEDS, min_size=2, max_size=4))
def test_tables_do_not_touch_each_other(data, seeds):
    game = data.draw(st.sampled_from([*GAMES.values()]))
    options = [data.draw(options_of(game)) for _ in seeds]
    alone = [finish(game, new_table(game, o, s)) for o, s in zip(options, seeds, strict=True)]
    rows = np.array([game.new_row(o, s) for o, s in zip(options, seeds, strict=True)])
    for row in rows:
        game.kernels.begin(row)
    for row in rows:
        game.kernels.settle(row)
    matches = [positions(game, row) for row in rows]
    while matches:  # one step at each table in turn
        matches = [match for match in matches if next(match, None) is not None]
    assert np.array_equal(rows, np.array(alone))


# Odds -------------------------------------------------------------------------------------------
def no_trump_odds(n, n_cards, n_threes):
    """The exact chance that no seat has strictly the most threes.

    One seat has m threes with hypergeometric chance; he is the namer if no other has m or more.
    """
    hand = n_cards // n
    ways = count_ways(n, hand, n_threes)
    total = sum(ways.values())
    unique = sum(w for held, w in ways.items() if held.count(max(held)) == 1)
    return 1 - unique / total


def count_ways(n, hand, n_threes):
    """Ways to place the threes among the places of each seat, by how many each seat gets."""
    ways = {(): 1}
    for _ in range(n):
        ways = {
            (*held, k): w * comb(hand, k)
            for held, w in ways.items()
            for k in range(n_threes - sum(held) + 1)
        }
    return {held: w for held, w in ways.items() if sum(held) == n_threes}


@pytest.mark.parametrize(
    ("n", "n_cards", "n_threes", "rounded"),
    [(3, 39, 3, 0.240), (4, 52, 4, 0.240), (5, 50, 2, 0.816)],
)
def test_no_trump_odds(n, n_cards, n_threes, rounded):
    exact = no_trump_odds(n, n_cards, n_threes)
    assert exact == pytest.approx(rounded, abs=0.0005)
    n_deals, row = 1000 if SLOW else 40_000, SEMNADTSAT.new_row({"num_players": n}, seed=n)
    namer, none = SEMNADTSAT.words["namer"], 0
    for _ in range(n_deals):
        SEMNADTSAT.kernels.begin(row)
        SEMNADTSAT.kernels.settle(row)
        none += row[namer] == NOBODY
    assert none / n_deals == pytest.approx(exact, abs=4 * standard_error(exact, n_deals))


def standard_error(share, n):
    """The standard error of a share in `n` trials."""
    return sqrt(share * (1 - share) / n)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_share_of_sim_lystiv_matches_without_a_loser(n):
    n_matches, word, nobody = 40 if SLOW else 600, 0, 0
    row = SIM_LYSTIV.new_row({"num_players": n, "penalty": "none"}, seed=n)
    for _ in range(n_matches):
        SIM_LYSTIV.kernels.begin(row)
        SIM_LYSTIV.kernels.settle(row)
        finish(SIM_LYSTIV, row, word := word + 1000)
        nobody += row[SIM_LYSTIV.words["loser"]] == NOBODY
    slack = 4 * standard_error(0.27, n_matches)
    assert 0.16 - slack <= nobody / n_matches <= 0.37 + slack
