"""The guide of a training: actions tried at the table itself and in worlds that may be."""

import numpy as np
import pytest

from tests.positions import mixed_tables
from trysim.agents import make_agent
from trysim.agents.networks import Mlp
from trysim.agents.policy import load_policy
from trysim.agents.search.standing import WORTHS, standings_of
from trysim.envs.decisions import decide, new_streams
from trysim.envs.games import GAMES, BadInput
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY, SEAT
from trysim.train.guide import SELF, Guide

each_game = pytest.mark.parametrize("name", GAMES)


def tables(name, n=24):
    return mixed_tables(name, n, n_plays=25)


def guide_and_agent(name, player, n_worlds=1, n_threads=2):
    """A guide, and the agent that does what the guide does when it plays deals out."""
    game = GAMES[name]
    guide = Guide(game, player, n_worlds, n_threads)
    if player != SELF:
        return guide, make_agent(player, name)
    agent = load_policy(game, name)
    guide.follow(agent.net)
    return guide, agent


@each_game
@pytest.mark.parametrize("player", ["expert", SELF])
def test_one_world_is_the_table_itself_played_out(name, player):
    """The same by the agent, one table after another."""
    game, env = GAMES[name], tables(name)
    guide, agent = guide_and_agent(name, player)
    found = guide.worths(env.rows, np.arange(len(env.rows)))
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
                chosen = decide(game, trial, nobody_else, [agent], nobody_else, streams)
                game.kernels.apply(trial[0], int(chosen[0]))
            WORTHS[name].worth(trial[0], standing, outcome)
            assert worths[action] == pytest.approx(outcome[me])


@each_game
@pytest.mark.parametrize("player", ["expert", SELF])
def test_threads_change_nothing(name, player):
    env = tables(name)
    words = np.arange(len(env.rows))
    one, three = (guide_and_agent(name, player, 3, n)[0].worths(env.rows, words) for n in (1, 3))
    assert (one == three).all()


def test_a_network_without_compiled_form_cannot_play_out():
    class Own(Mlp):
        def rest(self, first):
            return super().rest(-first)

    game, env = GAMES["semerik"], tables("semerik")
    guide = Guide(game, SELF, 1, 1)
    with pytest.raises(BadInput, match="guide: self; Own networks have no compiled form"):
        guide.follow(Own(game, [8], "relu"))
    with pytest.raises(ValueError, match="follow a network first"):
        guide.worths(env.rows, np.arange(len(env.rows)))


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
