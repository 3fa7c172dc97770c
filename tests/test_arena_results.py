"""What the arena makes of its numbers: intervals, controls, order, pairs."""

import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from trysim import agents as agent_module
from trysim.agents import Spec, make_agent
from trysim.agents.rule_players import RulePlayer
from trysim.arena import Adjusted, compare, load_comparison
from trysim.arena.jobs import Job, Line, Plan, gaps
from trysim.arena.play import play_out, stream_seed, table_seed
from trysim.arena.rating import ratings_of
from trysim.arena.results import pair_of, ranking_of
from trysim.arena.statistics import Control, adjust, is_decided, linked, more_deals, strengths
from trysim.arena.views import grids, headline, ranking_grid, signed, verdict
from trysim.arena.workers import Arena, digest, seatings
from trysim.envs.games import GAMES, BadInput

ONE_DEAL = {"horizon": "deal"}
SMALL = {  # options for one-deal matches
    "semerik": ONE_DEAL,
    "semnadtsat": {"num_players": 3},
    "sim_lystiv": {"num_players": 3, "penalty": "none", "reward": "placement"},
}


def quick(game="semerik", agents=("greedy", "random"), deals=16, seed=1, **more):
    """A comparison in this process, without a bar."""
    return compare(game, agents, deals, seed, SMALL[game], 1, False, **more)


# Deciding ---------------------------------------------------------------------------------------
def test_an_interval_clear_of_zero_is_decided():
    assert is_decided((0.1, 0.2))
    assert is_decided((-0.2, -0.1))
    assert not is_decided((-0.1, 0.2))
    assert not is_decided((1e-17, 2e-17))  # rounding, not strength


def half(sd, deals):
    return 1.96 * sd / math.sqrt(deals)


def test_more_deals_by_hand():
    """sd 1.5, mean 0.1: ((1.96 + 0.84) * 1.5 / 0.1)**2 = 1764 deals."""
    ends = (0.1 - half(1.5, 100), 0.1 + half(1.5, 100))
    assert more_deals(0.1, ends, 100) == pytest.approx(1664, abs=1)
    assert more_deals(-0.1, (-ends[1], -ends[0]), 100) == pytest.approx(1664, abs=1)


def test_more_deals_at_the_ends():
    assert more_deals(0.5, (0.1, 0.9), 100) == 0  # decided
    assert more_deals(0.0, (-0.1, 0.1), 100) is None
    assert more_deals(1e-4, (-0.3, 0.3), 100) is None  # more than a million
    assert more_deals(0.0, (0.0, 0.0), 100) is None  # the same player
    assert more_deals(0.29, (-0.001, 0.581), 100) >= 1


def test_so_many_more_deals_decide_in_four_of_five_comparisons():
    rng = np.random.default_rng(7)
    n = 50 + more_deals(0.2, (0.2 - half(1, 50), 0.2 + half(1, 50)), 50)
    means = rng.normal(0.2, 1 / math.sqrt(n), 4000)
    assert np.mean(means > half(1, n)) == pytest.approx(0.8, abs=0.03)


# The order --------------------------------------------------------------------------------------
def ranked(means, sd=1.0, deals=400, pairs=None):
    """The ranking of agents of these strengths, from made-up deals."""
    names = [*"abcdef"[: len(means)]]
    pairs = pairs or [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    rng = np.random.default_rng(1)
    columns = []
    for a, b in pairs:
        noise = rng.normal(0, sd, deals)
        columns.append(means[names.index(a)] - means[names.index(b)] + noise - noise.mean())
    values = np.column_stack(columns)
    results = [
        pair_of(a, b, column[:, None], None) for (a, b), column in zip(pairs, columns, strict=True)
    ]
    return ranking_of(names, results, values, None)


def test_a_decided_order():
    places = ranked([0.0, 2.0, 1.0])
    assert [(place.place, place.agent) for place in places] == [(1, "b"), (2, "c"), (3, "a")]
    assert [place.lead and place.lead.decided for place in places] == [True, True, None]
    assert [place.strength for place in places] == pytest.approx([1, 0, -1])


def test_no_order_where_intervals_overlap():
    places = ranked([0.0, 0.02, 1.0, -1.0])
    assert [(place.place, place.agent) for place in places] == [
        *((1, "c"), (2, "b")),
        *((2, "a"), (4, "d")),
    ]
    assert verdict(places[0].lead) == "ahead"
    told = verdict(places[1].lead)  # (2.8 * 1 / 0.02)**2 = 19,600, from a sample's deviation
    assert re.fullmatch(r"tied; about (1[5-9]|2[0-4]),000 more deals would decide it", told)


def test_nothing_decides_between_equals():
    places = ranked([0.0, 0.0])
    assert verdict(places[0].lead) == "tied; not decidable with 1,000,000 more deals"
    assert places[1].place == 1


def test_who_loses_to_the_next_is_not_ranked_before_it():
    """a beats c by much, b beats a by little and c not at all."""
    values = np.column_stack([np.full(50, x) + np.tile([-0.01, 0.01], 25) for x in (-1, 9.0, 0.5)])
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    results = [pair_of(*pair, values[:, [k]], None) for k, pair in enumerate(pairs)]
    first, second, _ = ranking_of(["a", "b", "c"], results, values, None)
    assert (first.agent, second.agent, second.place) == ("a", "b", 1)
    assert verdict(first.lead) == "loses to it, yet ahead over all"


def test_a_chain_and_an_anchor_give_the_order_as_well():
    for pairs in ([("a", "b"), ("b", "c")], [("a", "c"), ("b", "c")]):
        places = ranked([3.0, 2.0, 0.0], pairs=pairs)
        assert [place.agent for place in places] == ["a", "b", "c"]
        assert places[0].lead.mean == pytest.approx(1, abs=1e-9)
        assert places[0].lead.decided


def test_strengths_are_means_against_all():
    values = np.array([[1.0, 3.0, 5.0]])  # a-b, a-c, b-c
    names, pairs = ["a", "b", "c"], [("a", "b"), ("a", "c"), ("b", "c")]
    assert strengths(names, pairs, values)[0] == pytest.approx([4 / 3, 4 / 3, -8 / 3])
    assert linked(names, pairs[:1]) == {"a", "b"}


def test_ratings_count_wins_in_the_order_of_the_deals():
    pairs, values = [("a", "b"), ("b", "c")], np.array([[1.0, 2.0], [0.1, 0.0], [-1.0, 3.0]])
    found = ratings_of(["a", "b", "c"], pairs, values)
    assert [rating.agent for rating in found] == ["b", "a", "c"] or found[-1].agent == "c"
    assert found == ratings_of(["a", "b", "c"], pairs, values * 5)
    assert all(0 < rating.sigma < 25 / 3 for rating in found)


# Control variates -------------------------------------------------------------------------------
def test_the_slope_is_that_of_least_squares():
    rng = np.random.default_rng(3)
    x = rng.normal(5, 2, 500)
    values = 1 + 0.7 * (x - 5) + rng.normal(0, 0.5, 500)
    found = adjust(values, Control(x, 5.0))
    assert found.coefficient == pytest.approx(np.polyfit(x, values, 1)[0])
    assert found.mean == pytest.approx(values.mean() - found.coefficient * (x.mean() - 5))
    assert found.narrower == pytest.approx(1 - math.sqrt(1 - found.correlation**2), abs=0.03)


def test_an_unsure_expectation_counts_in_the_interval():
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1, 400)
    sure, unsure = (adjust(x + rng.normal(0, 0.1, 400), Control(x, 0, e)) for e in (0.0, 0.05))
    width = [found.ci95[1] - found.ci95[0] for found in (sure, unsure)]
    assert width[1] > 3 * width[0]
    assert unsure.coefficient == pytest.approx(0.5, abs=0.05)  # as unsure as the mean: half of it


@pytest.mark.parametrize("x", [np.ones(50), np.arange(50.0)[:4]])
def test_a_control_that_says_nothing_changes_nothing(x):
    values = np.random.default_rng(1).normal(0, 1, len(x))
    found = adjust(values, Control(x, 0.0))
    assert (found.mean, found.coefficient) == (values.mean(), 0)
    assert found.narrower == pytest.approx(0)


def test_adjusted_intervals_cover_the_mean_they_should():
    rng, covered, means = np.random.default_rng(11), 0, []
    for _ in range(300):
        x = rng.exponential(1, 60) - 1
        apart = rng.exponential(1, 480) - 1
        values = 2 + x + rng.normal(0, 1, 60)
        found = adjust(values, Control(x, apart.mean(), apart.std() / math.sqrt(480)))
        covered += found.ci95[0] < 2 < found.ci95[1]
        means.append(found.mean)
    assert 270 <= covered <= 296
    assert np.mean(means) == pytest.approx(2, abs=4 * np.std(means) / math.sqrt(300))


def test_a_control_narrows_intervals_and_moves_no_means():
    """Forty comparisons of greedy and random by 64 deals each."""
    plain, adjusted, narrower = [], [], []
    for seed in range(40):
        (pair,) = quick(deals=64, seed=seed, control=True).pairs
        plain.append(pair.mean)
        adjusted.append(pair.adjusted.mean)
        narrower.append(pair.adjusted.narrower)
    moved = np.subtract(adjusted, plain)
    assert abs(moved.mean()) < 3 * moved.std(ddof=1) / math.sqrt(len(moved))
    assert np.std(adjusted) < np.std(plain)
    assert 0.04 < np.mean(narrower) < 0.25


def test_a_single_seating_gains_much():
    """Without duplicates most of a value is luck of the cards, which all-greedy tables show.

    Their expectation is exactly 0: nobody is favoured over all deals, and seats are drawn by lot.
    """
    game, options = GAMES["semerik"], GAMES["semerik"].complete_options(ONE_DEAL)
    n = 400
    rewards = {}
    for name in ("greedy", "random"):
        agents = [make_agent("greedy", game), make_agent(name, game)]
        seeds, streams = zip(
            *((table_seed(2, k), stream_seed(2, k)) for k in range(n)), strict=True
        )
        seating = np.tile(seatings(game, 4)[:1], (n, 1))
        rewards[name] = play_out(game, options, seeds, seating, agents, streams)[:, 0]
    found = adjust(rewards["random"], Control(rewards["greedy"], 0.0))
    assert found.narrower > 0.1


def test_a_control_changes_nothing_else():
    without, with_one = quick(agents=("greedy", "random")), quick(control=("random", "greedy"))
    assert with_one.control == ("random", "greedy")
    assert without.control is None
    (pair,) = with_one.pairs
    assert isinstance(pair.adjusted, Adjusted)
    assert replace(pair, adjusted=None) == without.pairs[0]


def test_deals_apart_are_other_deals():
    game = GAMES["semerik"]
    arena = Arena(game, game.complete_options(ONE_DEAL), ["greedy", "random"], 1)
    lines = [Line("greedy", "random", *more) for more in ((), (1,), (0, True))]
    own, repeated, apart = (arena.do(Job(line, 0, 30))[:, 0] for line in lines)
    assert own.shape == repeated.shape == apart.shape
    for other in (repeated, apart):
        assert (own != other).mean() > 0.5
    assert np.corrcoef(own, repeated)[0, 1] > 0.1


# Pairs ------------------------------------------------------------------------------------------
def played(**more):
    return [(pair.a, pair.b) for pair in quick(deals=2, **more).pairs]


def test_which_pairs_play():
    three = ["expert", "greedy", "random"]
    assert played(agents=three) == [
        ("expert", "greedy"),
        ("expert", "random"),
        ("greedy", "random"),
    ]
    assert played(agents=three, pairs="chain") == [("expert", "greedy"), ("greedy", "random")]
    assert played(agents=three[:2], against=["random:"]) == [
        ("expert", "random"),
        ("greedy", "random"),
    ]
    assert played(agents=three, against=["greedy"]) == [("expert", "greedy"), ("random", "greedy")]
    named = [("random", "expert"), ("greedy:", "random")]
    assert played(agents=three, pairs=named) == [("random", "expert"), ("greedy", "random")]


def test_a_pair_is_worth_the_same_in_any_company():
    alone = quick().pairs[0]
    assert quick(agents=("expert", "greedy", "random")).pair("greedy", "random") == alone


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pairs": "ring"}, "allowed are 'all', 'chain'"),
        ({"pairs": [("greedy", "greedy:")]}, "'greedy' against itself"),
        ({"pairs": [("greedy", "random"), ("random", "greedy")]}, "is given twice"),
        ({"pairs": [("greedy", "expert")]}, "'expert' is none of the agents"),
        ({"pairs": ["greedy"]}, "is no pair of agents"),
        ({"pairs": []}, "none links 'random' with 'greedy'"),
        ({"pairs": "chain", "against": ["expert"]}, "either `against` or `pairs`"),
        ({"agents": ["greedy"], "against": ["greedy:"]}, "'greedy' against itself"),
        ({"control": "greedy"}, "needs two agents"),
        ({"control": ("greedy", "greedy:")}, "given twice"),
    ],
)
def test_bad_pairs_are_named(change, message):
    with pytest.raises(BadInput, match=message):
        quick(**change)


# Results ----------------------------------------------------------------------------------------
def test_json_and_back(tmp_path):
    comparison = quick(agents=("expert", "greedy", "random"), control=True, rating=True)
    file = tmp_path / "x.json"
    file.write_text(comparison.to_json(), encoding="utf-8")
    assert load_comparison(file) == comparison
    assert quick(deals=2) == load_text(tmp_path, quick(deals=2).to_json())


def load_text(folder, text):
    (folder / "comparison.json").write_text(text, encoding="utf-8")
    return load_comparison(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pairs": 3}', json.dumps({"game": "x"})])
def test_what_is_no_comparison_is_refused(tmp_path, text):
    with pytest.raises(BadInput, match="is no comparison"):
        load_text(tmp_path, text)


def test_a_missing_comparison(tmp_path):
    with pytest.raises(BadInput, match="cannot read"):
        load_comparison(tmp_path)


class Twin(RulePlayer):
    """The agent `greedy` under another name."""

    def __init__(self, game):
        super().__init__("greedy", game)
        self.spec = "twin"


def test_what_is_shown(monkeypatch):
    spec = Spec("twin", "for tests", lambda game, a, s: Twin(game))
    monkeypatch.setitem(agent_module.SPECS, "twin", spec)
    comparison = quick(agents=("random", "greedy", "twin"), control=True, rating=True)
    shown = [*grids(comparison)]
    assert [len(grid.rows) for grid in shown] == [3, 3, 3, 3, 3, 3]
    for grid in shown:
        assert {len(row) for row in grid.rows} == {len(grid.headings)}
        assert grid.table().row_count == len(grid.rows)
    assert headline(comparison) == "greedy ~ twin > random"
    assert [row[0] for row in ranking_grid(comparison).rows] == ["1-2", "1-2", "3"]
    assert signed(-1e-17, 2) == "+0.00"


def test_a_pair_from_both_sides():
    comparison = quick(control=True)
    pair, turned = comparison.pair("greedy", "random"), comparison.pair("random", "greedy")
    assert turned.mean == -pair.mean
    assert turned.ci95 == (-pair.ci95[1], -pair.ci95[0])
    assert turned.best[0] == -pair.best[0]
    assert comparison.pair("greedy", "expert") is None


# Jobs -------------------------------------------------------------------------------------------
LINE = Line("a", "b")


def test_gaps():
    jobs = [Job(LINE, 8, 12), Job(LINE, 0, 4), Job(LINE, 10, 11), Job(LINE, 30, 40)]
    assert gaps(20, jobs) == [(4, 8), (12, 20)]
    assert gaps(50, jobs) == [(4, 8), (12, 30), (40, 50)]
    assert gaps(3, jobs) == []
    assert gaps(3, []) == [(0, 3)]


def sizes(seconds_a_deal, deals=400):
    """The sizes of the jobs of a line, with agents of this speed."""
    plan, found = Plan({LINE: deals}), []
    while job := plan.next():
        plan.note(job, seconds_a_deal * job.n_deals)
        found.append(job.n_deals)
    assert sum(found) == deals
    assert plan.n_deals == 0
    return found


def test_jobs_are_as_large_as_agents_are_fast():
    assert sizes(0.001)[:4] == [4, 16, 64, 64]
    assert sizes(0.25)[:4] == [4, 16, 20, 20]
    assert set(sizes(30.0, 20)[1:]) == {1}


def test_every_agent_plays_a_first_deal_once():
    lines = [Line(a, b) for a, b in ("ab", "ac", "bc", "cd")]
    plan = Plan(dict.fromkeys(lines, 3), [Job(lines[0], 0, 3)])
    assert [(job.line.b, job.first, job.last) for job in plan.first_of_each_agent()] == [
        *(("c", 0, 1), ("c", 0, 1)),
        ("d", 0, 1),
    ]
    assert plan.n_deals == 6


def test_a_digest_of_all_that_an_agent_is(tmp_path):
    """Of files that a spec names anywhere, unless the agent has one of its own."""
    file = tmp_path / "mine.py"
    file.write_text("1")
    own = SimpleNamespace(spec=f"python:{file}:make")
    one = digest(own)
    file.write_text("2")
    within = SimpleNamespace(spec=f"pimc:worlds=3,rollout=policy:{tmp_path},ms=5")
    assert digest(own) == digest(within) != one
    assert digest(SimpleNamespace(spec=own.spec, digest="x")) == "x"
    assert digest(SimpleNamespace(spec="pimc:worlds=3,rollout=greedy")) == ""
