"""What agents tell of a decision."""

import numpy as np
import pytest

from trysim.agents import make_agent
from trysim.agents.search.played_out import worths_if
from trysim.agents.thoughts import PROBABILITY, VISITS, WORTH, think
from trysim.envs.decisions import Decisions
from trysim.envs.games import GAMES, game_named
from trysim.envs.rules.row import SEAT
from trysim.envs.worlds import InformationSet

KINDS = {
    "greedy": "",
    "pimc:worlds=20": WORTH,
    "pimc:worlds=4,rollout=greedy": WORTH,
    "pimc:worlds=4,endgame=3": WORTH,
    "ismcts:iterations=60": VISITS,
}


def decision_at(game, row):
    view = game.view(row, int(row[SEAT]))[None]
    return Decisions(game, view, np.array([game.kernels.legal(row)]), np.array([7]))


def choices(name, n=6, seed=3):
    """Tables in the middle of a deal at which there is a choice."""
    game, rng = game_named(name), np.random.default_rng(seed)
    row = game.new_row({}, seed)
    game.kernels.begin(row)
    game.kernels.settle(row)
    found = []
    while len(found) < n:
        legal = game.legal_actions(row)
        if len(legal) > 2:
            found.append(row.copy())
        game.kernels.step(row, int(rng.choice(legal)))
    return game, found


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("spec", [*KINDS, "policy", "search"])
def test_what_is_told_agrees_with_what_is_done(name, spec):
    kind = KINDS.get(spec, {"policy": PROBABILITY, "search": WORTH}.get(spec))
    spec = {"policy": f"policy:{name}", "search": f"search:policy={name},worlds=10"}.get(spec, spec)
    game, rows = choices(name)
    agent = make_agent(spec, game)
    for row in rows:
        thought = think(agent, decision_at(game, row))
        legal = [game.action_text(row, action) for action in game.legal_actions(row)]
        assert thought.choice in legal
        assert thought.kind == kind
        if kind:
            assert sorted(thought.numbers) == sorted(legal)
            best = max(thought.numbers.values())
            assert thought.numbers[thought.choice] == pytest.approx(best, abs=1e-6)
        if kind in (PROBABILITY, VISITS):
            assert sum(thought.numbers.values()) == pytest.approx(1)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("spec", ["policy", "pimc:worlds=5", "ismcts:iterations=20"])
def test_thoughts_do_not_depend_on_hidden_cards(name, spec):
    game, rows = choices(name, 3)
    agent = make_agent(f"policy:{name}" if spec == "policy" else spec, game)
    for row in rows:
        seat = int(row[SEAT])
        thought = think(agent, decision_at(game, row))
        for world in InformationSet(game, game.view(row, seat), seat).worlds(2):
            assert think(agent, decision_at(game, world)) == thought


def test_there_is_nothing_to_tell_of_one_legal_action():
    game, (row,) = choices("semerik", 1)
    view = game.view(row, int(row[SEAT]))[None]
    one = int(game.kernels.legal(row)) & -int(game.kernels.legal(row))
    thought = think(
        make_agent("policy:semerik", game), Decisions(game, view, np.array([one]), view[:, 0])
    )
    assert (thought.kind, thought.numbers) == ("", {})


def test_a_team_tells_what_the_partner_to_act_tells():
    game, rows = choices("semerik", 8)
    team = make_agent("team:pimc:worlds=5+greedy", game)
    told = {int(row[SEAT]) // 2: think(team, decision_at(game, row)).kind for row in rows}
    assert told == {0: WORTH, 1: ""}


@pytest.mark.parametrize("name", GAMES)
def test_a_policys_own_play_is_worth_something(name):
    game, rows = choices(name, 2)
    agent = make_agent(f"policy:{name}", game)
    for row in rows:
        kind, worths = worths_if(agent, decision_at(game, row), 10)
        assert kind == WORTH
        assert np.isfinite(worths).all()
        assert np.ptp(worths[game.legal_actions(row)]) >= 0


def test_cuts_and_blows_are_worth_nothing_that_a_deal_tells():
    game = game_named("sim_lystiv")
    row = game.new_row({"penalty": "interactive", "num_players": 2}, 1)
    game.kernels.begin(row)
    game.kernels.settle(row)
    while "cut:1" not in [game.action_text(row, action) for action in game.legal_actions(row)]:
        game.kernels.step(row, game.legal_actions(row)[0])
    agent = make_agent("policy:sim_lystiv", game)
    assert worths_if(agent, decision_at(game, row), 5)[0] == ""
    assert think(make_agent("pimc:worlds=5", game), decision_at(game, row)).kind == ""
