"""Duplicate comparisons: fair, repeatable, and right about who is stronger."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from trysim import agents as agent_module
from trysim.agents import SPECS, Spec, make_agent
from trysim.agents.rule_players import RulePlayer
from trysim.arena import compare, jobs, play_match, play_out, table_seed
from trysim.arena.play import stream_seed
from trysim.arena.statistics import interval
from trysim.arena.workers import seatings
from trysim.envs.games import GAMES, BadInput

SEMERIK, SEMNADTSAT, SIM_LYSTIV = (GAMES[n] for n in ("semerik", "semnadtsat", "sim_lystiv"))
ONE_DEAL = {"horizon": "deal"}
SMALL = {  # options for one-deal matches
    "semerik": ONE_DEAL,
    "semnadtsat": {"num_players": 3},
    "sim_lystiv": {"num_players": 3, "penalty": "none", "reward": "placement"},
}


class OtherRandomAgent:
    """As random as `random`, but with other numbers."""

    spec = "other"

    def act(self, decisions):
        other = replace(decisions, random=~decisions.random)
        return RulePlayer("random", decisions.game).act(other)


class CopyOfRandom(RulePlayer):
    """The agent `random` under another name."""

    def __init__(self, game):
        super().__init__("random", game)
        self.spec = "copy"


class BrokenAgent:
    """Plays action 0, legal or not."""

    spec = "broken"

    def act(self, decisions):
        return np.zeros(decisions.n, np.int64)


@pytest.fixture(autouse=True)
def _more_agents(monkeypatch):
    """`other` and `copy` are random players, `broken` breaks the rules."""
    assert agent_module.SPECS is SPECS
    more = {
        "other": lambda game: OtherRandomAgent(),
        "copy": CopyOfRandom,
        "broken": lambda game: BrokenAgent(),
    }
    for name, make in more.items():
        spec = Spec(name, "for tests", lambda game, a, s, make=make: make(game))
        monkeypatch.setitem(SPECS, name, spec)


def quick(game, agents, deals=64, seed=1, **more):
    """A comparison in this process, without a bar."""
    more = {"options": SMALL[game], "workers": 1, "progress": False} | more
    return compare(game, agents, deals, seed, **more)


# Strength ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("game", GAMES)
def test_greedy_beats_random(game):
    (pair,) = quick(game, ["greedy", "random"], 256).pairs
    assert pair.ci95[0] > 0
    assert pair.ci95[0] < pair.mean < pair.ci95[1]


@pytest.mark.parametrize("game", GAMES)
def test_random_against_random_is_even(game):
    (pair,) = quick(game, ["random", "other"], 256).pairs
    assert pair.ci95[0] < 0 < pair.ci95[1]


@pytest.mark.parametrize("game", GAMES)
def test_the_same_player_twice_is_worth_exactly_0(game):
    (pair,) = quick(game, ["random", "copy"]).pairs
    assert pair.mean == pytest.approx(0, abs=1e-12)
    assert pair.ci95 == pytest.approx((0, 0), abs=1e-12)


def test_pairs_changed_over_change_the_sign():
    ((one,), (other,)) = (
        quick("semerik", names).pairs for names in (["greedy", "random"], ["random", "greedy"])
    )
    assert one.mean == pytest.approx(-other.mean)
    assert one.ci95 == pytest.approx((-other.ci95[1], -other.ci95[0]), rel=0.1)


@pytest.mark.parametrize("game", GAMES)
def test_mean_and_seats_by_hand(game):
    """The definition, one table at a time."""
    deals, seed, options = 5, 3, SMALL[game]
    (pair,) = quick(game, ["greedy", "random"], deals, seed).pairs
    rules = GAMES[game]
    agents = [make_agent(spec, game) for spec in ("greedy", "random")]
    table = seatings(rules, rules.n_players(rules.complete_options(options)))
    values, by_seat = [], {seat: [] for seat in range(table.shape[1])}
    for deal in range(deals):
        of_tables = []
        for seating in table:
            seeds = ([table_seed(seed, deal)], seating[None], agents, [stream_seed(seed, deal)])
            rewards = play_out(rules, options, *seeds)[0]
            of_tables.append(rewards[seating == 0].mean() - rewards.mean())
            for seat in np.flatnonzero(seating == 0):
                by_seat[seat].append(rewards[seat] - rewards.mean())
        values.append(np.mean(of_tables))
    assert pair.mean == pytest.approx(np.mean(values))
    assert pair.per_seat == pytest.approx([np.mean(found) for found in by_seat.values()])


def test_seatings():
    assert seatings(SEMERIK, 4).tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]
    assert seatings(SIM_LYSTIV, 2).tolist() == [[0, 1], [1, 0]]
    assert seatings(SEMNADTSAT, 3).tolist() == [
        *([0, 1, 1], [1, 0, 1], [1, 1, 0]),
        *([1, 0, 0], [0, 1, 0], [0, 0, 1]),
    ]


def test_the_interval_covers_the_mean_it_should():
    """95 of 100 intervals, give or take, hold the true mean."""
    samples = np.random.default_rng(5).normal(2.0, 1.0, (100, 200))
    covered = sum(low < 2.0 < high for low, high in map(interval, samples))
    assert 88 <= covered <= 100


# Repeatability ----------------------------------------------------------------------------------
def test_one_worker_or_two():
    agents = ["greedy", "random"]
    one = quick("semerik", agents, 150)
    two = quick("semerik", agents, 150, workers=2)
    assert one == two
    assert one.to_json() == two.to_json()


def test_chunks_do_not_matter(monkeypatch):
    whole = quick("semnadtsat", ["greedy", "random"], 20)
    monkeypatch.setattr(jobs, "CHUNK", 7)
    parts = quick("semnadtsat", ["greedy", "random"], 20)
    assert whole == parts


def test_a_table_is_not_touched_by_the_others():
    agents = [make_agent("random", "semerik"), make_agent("greedy", "semerik")]
    seating = np.tile([0, 1, 0, 1], (6, 1))
    seeds, streams = list(range(6)), [(9, k) for k in range(6)]
    together = play_out(SEMERIK, ONE_DEAL, seeds, seating, agents, streams)
    for k in range(6):
        one = [k], seating[:1], agents, [(9, k)]
        assert (play_out(SEMERIK, ONE_DEAL, *one) == together[k : k + 1]).all()


def test_other_deals_for_another_seed():
    one, other = (quick("semerik", ["greedy", "random"], seed=seed).pairs for seed in (1, 2))
    assert one != other


@pytest.mark.parametrize("game", GAMES)
def test_play_match_pays_what_play_out_pays(game):
    agents = [make_agent("random", game), make_agent("greedy", game)]
    n = GAMES[game].n_players(GAMES[game].complete_options(SMALL[game]))
    seating = np.arange(n) % 2
    record = play_match(GAMES[game], SMALL[game], [agents[k] for k in seating], 12)
    rewards = play_out(GAMES[game], SMALL[game], [12], seating[None], agents, [stream_seed(12, 0)])
    assert record["result"]["rewards"] == pytest.approx(rewards[0])


# The result -------------------------------------------------------------------------------------
def test_json_and_table():
    comparison = quick("semerik", ["greedy", "random", "other"], 8)
    found = json.loads(comparison.to_json())
    assert [*found] == [
        *("game", "options", "deals", "seed", "versions", "pairs"),
        *("agents", "control", "ranking", "ratings"),
    ]
    assert found["options"] == SEMERIK.complete_options(ONE_DEAL)
    assert {"trysim", "python", "numpy", "numba", "rules", "agents"} <= found["versions"].keys()
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [
        *(("greedy", "random"), ("greedy", "other")),
        ("random", "other"),
    ]
    assert [*found["pairs"][0]] == ["a", "b", "mean", "ci95", "per_seat", "sd", "adjusted"]
    assert [len(found["pairs"][0][key]) for key in ("ci95", "per_seat")] == [2, 4]
    assert comparison.table().row_count == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": "whist"}, "there are sim_lystiv, semnadtsat, semerik"),
        ({"agents": ["random"]}, "at least two agents"),
        ({"agents": "random"}, "at least two agents"),
        ({"agents": ["random", "greedy", "random"]}, "'random' is given twice"),
        ({"agents": ["random", "greedy", "random:"]}, "'random' is given twice"),
        ({"agents": ["random", "nobody"]}, "no agent 'nobody': there are random"),
        ({"agents": ["random", "broken"]}, "is not legal for seat"),
        ({"deals": 1}, "deals=1: a whole number from 2"),
        ({"deals": 2.5}, "deals=2.5: a whole number"),
        ({"seed": -1}, "seed=-1: a whole number from 0"),
        ({"workers": 0}, "workers=0: a whole number from 1"),
        ({"options": {"beat": "x"}}, "allowed are best, led, none"),
        ({"options": {"bet": "x"}}, "unknown option 'bet'"),
    ],
)
def test_bad_input_is_named(change, message):
    given = {"game": "semerik", "agents": ["random", "greedy"], "deals": 4, "seed": 0, "workers": 1}
    with pytest.raises(BadInput, match=message):
        compare(**given | change)


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="reads Linux's /proc for a process's children"
)


@needs_proc
@pytest.mark.parametrize("whole_group", [False, True])
@pytest.mark.parametrize(("n_children", "seconds"), [(1, 0), (2, 0), (3, 2)])
def test_ctrl_c_stops_everything(whole_group, n_children, seconds):
    """Also while the workers are starting: their tracker is the first child."""
    command = [sys.executable, "-m", "trysim", "arena", "semerik", "--agents", "random", "greedy"]
    command += ["--deals", "1000000", "--workers", "2"]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_until(lambda: len(children(started.pid)) >= n_children)
    time.sleep(seconds)
    send = os.killpg if whole_group else os.kill
    send(started.pid, signal.SIGINT)
    _, errors = started.communicate(timeout=60)
    # Python ends by the signal itself if that came while it executed a text, as dataclasses do.
    assert started.returncode in (130, -signal.SIGINT)
    assert errors.endswith("trysim: stopped\n")
    assert "Traceback" not in errors


def children(pid):
    """Process numbers of the running children of a process."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@needs_proc
def test_workers_end_with_a_killed_parent():
    command = [sys.executable, "-m", "trysim", "arena", "semerik", "--agents", "random", "greedy"]
    command += ["--deals", "1000000", "--workers", "2"]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    wait_until(lambda: len(children(started.pid)) >= 3)  # two workers and a tracker
    workers = children(started.pid)
    time.sleep(2)
    started.kill()
    started.communicate(timeout=60)  # ends when no worker holds its end of the pipe any more
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)
