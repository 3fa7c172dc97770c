"""Partners of two kinds, cross-play and best responses."""

import json
import re

import numpy as np
import pytest

from trysim.agents import make_agent
from trysim.agents.team import Team
from trysim.arena import compare
from trysim.arena.crossplay import cross_play
from trysim.cli import main
from trysim.envs.batch import BatchEnv
from trysim.envs.decisions import decide, new_streams
from trysim.envs.games import GAMES, BadInput
from trysim.envs.rules.row import SEAT
from trysim.train.best_response import best_responses

DEAL = {"horizon": "deal"}
TINY = {
    "n_tables": 16, "n_steps": 16, "batch_size": 64, "hidden": [8], "threads": 1, "guide": "",
}  # fmt: skip


def test_each_partner_decides_for_its_own_seats():
    game, n = GAMES["semerik"], 60
    env = BatchEnv("semerik", n, DEAL)
    env.reset(3)
    rng = np.random.default_rng(3)
    specs = "greedy", "expert", "team:greedy+expert"
    for _ in range(30):
        chosen = [
            decide(game, env.rows, np.arange(n), [make_agent(spec, game)], np.zeros(n, int),
                   new_streams(range(n), 4))
            for spec in specs
        ]  # fmt: skip
        is_second = env.rows[:, SEAT] >= 2
        assert (chosen[2] == np.where(is_second, chosen[1], chosen[0])).all()
        env.step(np.where(env.mask, rng.random(env.mask.shape), -1).argmax(1))


def test_a_team_of_one_kind_is_that_agent():
    both = compare("semerik", ["team:expert+expert", "greedy"], 20, 1, DEAL, 1, False).pairs[0]
    alone = compare("semerik", ["expert", "greedy"], 20, 1, DEAL, 1, False).pairs[0]
    assert both.mean == alone.mean
    assert both.per_seat == alone.per_seat


@pytest.mark.parametrize(
    ("game", "spec", "words"),
    [
        ("semnadtsat", "team:greedy+expert", "no partners in semnadtsat"),
        ("semerik", "team:greedy", "team:A+B"),
        ("semerik", "team:greedy+expert+random", "team:A+B"),
        ("semerik", "team:greedy+", "team:A+B"),
        ("semerik", "team:greedy+nobody", "no agent 'nobody'"),
        ("semerik", "team:greedy+oracle", "sees all hands"),
    ],
)
def test_wrong_teams_are_refused(game, spec, words):
    with pytest.raises(BadInput, match=re.escape(words)):
        make_agent(spec, game)


def test_the_spec_of_a_team_names_it():
    agent = make_agent("team:pimc:worlds=3,endgame=2+greedy", "semerik")
    assert isinstance(agent, Team)
    assert make_agent(agent.spec, "semerik").spec == agent.spec


# Cross-play -------------------------------------------------------------------------------------
def test_cross_play_is_what_the_arena_says(tmp_path):
    found = cross_play(["greedy", "random"], "expert", 30, 5, tmp_path, DEAL, 1)
    teams = [f"team:{a}+{b}" for a in ("greedy", "random") for b in ("greedy", "random")]
    pairs = compare("semerik", teams, 30, 5, DEAL, 1, False, against=["expert"]).pairs
    assert np.allclose(np.ravel(found.matrix), [pair.mean for pair in pairs])
    assert found.own == pytest.approx((pairs[0].mean + pairs[3].mean) / 2)
    assert found.loss == pytest.approx(found.own - (pairs[1].mean + pairs[2].mean) / 2)
    assert found.loss_ci95[0] <= found.loss <= found.loss_ci95[1]
    written = json.loads((tmp_path / "crossplay.json").read_text())
    assert written["share"] == pytest.approx(found.loss / found.own)
    assert (tmp_path / "crossplay.png").read_bytes().startswith(b"\x89PNG")


def test_cross_play_from_the_command_line(tmp_path, capsys):
    words = ["cross-play", "--agents", "greedy", "random", "--deals", "6", "--workers", "1"]
    assert main([*words, "--option", "horizon=deal", "--out", str(tmp_path)]) == 0
    assert "own partners" in " ".join(capsys.readouterr().out.split())
    assert main(["cross-play", "--agents", "greedy", "--deals", "6", "--out", str(tmp_path)]) == 2
    assert "two different agents" in capsys.readouterr().err


# Best responses ---------------------------------------------------------------------------------
@pytest.mark.parametrize("game", GAMES)
def test_a_best_response_is_alone_against_the_agent(game, tmp_path):
    asked = game, ["random", "greedy"], 512, 6, 1, tmp_path
    found, again = (best_responses(*asked, settings=TINY, workers=1).gains for _ in range(2))
    assert [gain.agent for gain in found] == ["random", "greedy"]
    assert all(gain.decisions == 512 for gain in found)
    assert [(gain.mean, gain.ci95) for gain in again] == [(g.mean, g.ci95) for g in found]
    assert json.loads((tmp_path / "best_response.json").read_text())["game"] == game


def test_what_a_best_response_needs_is_not_free(tmp_path):
    for settings, words in (({"alone": False}, "alone is not free"), ({"depth": 3}, "depth")):
        with pytest.raises(BadInput, match=words):
            best_responses("semerik", ["greedy"], 64, 4, 1, tmp_path, settings=settings)


def test_best_response_from_the_command_line(tmp_path, capsys):
    words = ["best-response", "semerik", "--agents", "nobody", "--decisions", "64", "--deals", "4"]
    assert main([*words, "--out", str(tmp_path)]) == 2
    assert "no agent 'nobody'" in capsys.readouterr().err
