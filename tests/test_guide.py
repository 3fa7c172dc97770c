"""The guide of a training: actions tried at the table itself and in worlds that may be."""

import numpy as np
import pytest

from tests.positions import mixed_tables
from trysim.agents import make_agent
from trysim.agents.search.standing import WORTHS, standings_of
from trysim.envs.decisions import decide, new_streams
from trysim.envs.games import GAMES
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY, SEAT
from trysim.train.guide import Guide

each_game = pytest.mark.parametrize("name", GAMES)


def tables(name, n=24):
    return mixed_tables(name, n, n_plays=25)


@each_game
def test_one_world_is_the_table_itself_played_out(name):
    """The same by the agent `expert`, one table after another."""
    game, env = GAMES[name], tables(name)
    found = Guide(game, "expert", 1, 2).worths(env.rows, np.arange(len(env.rows)))
    expert = make_agent("expert", name)
    for row, mask, worths in zip(env.rows, env.mask, found, strict=True):
        assert (worths[mask == 0] == 0).all()
        if row[PHASE] not in (PLAY, NAME_TRUMP):
            assert (worths == 0).all()
            continue
        me, standing = int(row[SEAT]), standings_of(game).of(row)
        for action in np.flatnonzero(mask):
            trial, outcome = row[None].copy(), np.zeros(game.n_seats)
            game.kernels.apply(trial[0], int(action))
            streams = new_streams([0], game.n_seats)
            while trial[0, PHASE] in (PLAY, NAME_TRUMP):
                nobody_else = np.zeros(1, np.int64)
                chosen = decide(game, trial, nobody_else, [expert], nobody_else, streams)
                game.kernels.apply(trial[0], int(chosen[0]))
            WORTHS[name].worth(trial[0], standing, outcome)
            assert worths[action] == pytest.approx(outcome[me])


@each_game
def test_threads_change_nothing(name):
    env = tables(name)
    words = np.arange(len(env.rows))
    one, three = (Guide(GAMES[name], "expert", 3, n).worths(env.rows, words) for n in (1, 3))
    assert (one == three).all()


@each_game
def test_many_worlds_agree_with_pimc(name):
    """What seems best in 400 worlds is what `pimc` takes, or nearly as good."""
    game, env = GAMES[name], tables(name)
    worths = Guide(game, "expert", 400, 2).worths(env.rows, np.arange(len(env.rows)))
    playing = np.flatnonzero(np.isin(env.rows[:, PHASE], (PLAY, NAME_TRUMP)))
    pimc, nobody_else = make_agent("pimc:worlds=400", name), np.zeros(len(playing), np.int64)
    streams = new_streams(range(len(env.rows)), game.n_seats)
    chosen = decide(game, env.rows, playing, [pimc], nobody_else, streams)
    legal = np.where(env.mask == 1, worths, -np.inf)[playing]
    lost = legal.max(1) - legal[np.arange(len(playing)), chosen]
    assert (lost <= 0.15 * (1 + np.abs(worths[playing]).max(1))).all()
