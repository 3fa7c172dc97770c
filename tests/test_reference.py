"""The engine plays as the slow reference does, which another hand wrote from the rules alone."""

import os
import random

import numba
import pytest

from tests import differential, soak
from tests.reference import semerik
from trysim.envs.games import GAMES

PLIES = 4_000 if numba.config.DISABLE_JIT else 10_000
FULL_PLIES = 670_000
FULL_SEED = 10_000_000


def compare(name, plies, seed):
    reports = [report for _, report in differential.compare_plies(GAMES[name], plies, seed)]
    assert not any(reports), "\n".join(report for report in reports if report)


@pytest.mark.parametrize("name", GAMES)
def test_engine_plays_as_the_reference(name):
    compare(name, PLIES, seed=0)


@pytest.mark.full
@pytest.mark.skipif(not os.environ.get("TRYSIM_FULL"), reason="minutes long: set TRYSIM_FULL=1")
@pytest.mark.parametrize("name", GAMES)
def test_engine_plays_as_the_reference_for_two_million_plies(name):
    compare(name, FULL_PLIES, FULL_SEED)


@pytest.mark.parametrize("name", GAMES)
def test_batch_aec_and_records_agree_with_the_reference(name):
    found = soak.soak_round(name, seed=0)
    assert not found.mismatches, found.mismatches[0]
    assert found.matches == soak.N_TABLES


def test_a_soak_tells_what_differs(monkeypatch):
    monkeypatch.setattr(semerik, "pile_points", lambda cards, aces: 0)
    found = soak.soak_round("semerik", seed=0)
    assert "differs after" in found.mismatches[0]


def test_every_value_of_every_option_is_drawn():
    for game in GAMES.values():
        drawn = [differential.random_options(game, random.Random(seed)) for seed in range(1000)]
        for option in game.options:
            values = {options[option.name] for options in drawn}
            assert values >= set(option.choices or [option.default, option.high])


def test_a_difference_is_told_with_all_that_repeats_it(monkeypatch):
    monkeypatch.setattr(semerik, "pile_points", lambda cards, aces: 0)
    options = GAMES["semerik"].complete_options({"horizon": "deal"})
    with pytest.raises(differential.MismatchError) as caught:
        differential.compare_match(GAMES["semerik"], 3, options)
    message = str(caught.value)
    for part in ("semerik: rewards differs", "'horizon': 'deal'", "seed       3", "engine     ["):
        assert part in message
