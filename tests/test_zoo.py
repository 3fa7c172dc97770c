"""The policies that come with the package: whole, small, traced, and of use."""

import hashlib
import json

import numpy as np
import pytest

from tests.test_aec import OPTION_SETS
from trysim.agents import make_agent
from trysim.agents.policy import ZOO
from trysim.arena import compare, play_match
from trysim.envs.games import GAMES

each_game = pytest.mark.parametrize("name", GAMES)
TRAINED_ON = {
    "semerik": [{"horizon": "deal"}, {"horizon": "game"}],
    "semnadtsat": [{"num_players": n, "scoring": s} for n in (3, 4, 5)
                   for s in ("simple", "seventeen")],
    "sim_lystiv": [{"num_players": n, "reward": "placement"} for n in (2, 3, 4, 5)],
}  # fmt: skip


@each_game
def test_it_is_small_and_its_card_tells_how_it_came_to_be(name):
    weights = (ZOO / name / "policy.safetensors").read_bytes()
    about = json.loads((ZOO / name / "policy.json").read_text())["about"]
    card = (ZOO / name / "README.md").read_text()
    assert len(weights) <= 5e6
    assert hashlib.sha256(weights).hexdigest() in card
    assert f"{about['decisions']:,} decisions" in card
    assert about["versions"]["rules"] in card


@pytest.mark.parametrize(("name", "options"), OPTION_SETS)
def test_it_plays_under_all_options(name, options):
    game = GAMES[name]
    n = game.n_players(game.complete_options(options))
    agents = [make_agent(f"policy:{name}", game), *[make_agent("random", game)] * (n - 1)]
    assert np.isfinite(play_match(game, options, agents, 1)["result"]["rewards"]).all()


@pytest.mark.parametrize(
    ("name", "options"), [(name, each) for name, sets in TRAINED_ON.items() for each in sets]
)
def test_it_beats_greedy_where_it_was_trained(name, options):
    found = compare(name, [f"policy:{name}", "greedy"], 60, 11, options, 1, False)
    assert found.pairs[0].mean > 0
