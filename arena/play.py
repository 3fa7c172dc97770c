"""Whole matches between agents: many at once for their rewards, or one for its record."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents import make_agent
from trysim.envs.decisions import Agent, decide, new_streams
from trysim.envs.games import Game
from trysim.envs.record import Recorder, dumps
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import SEAT

_JSON_EXACT = 53  # bits of a whole number that every reader of JSON keeps
_CHOICES = 1  # sets the agents' random streams apart from the deals'


def table_seed(seed: int, number: int) -> int:
    """The seed of the table for deal or episode `number` of `seed`: a whole number below 2**53."""
    word = np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0]
    return int(word) >> (64 - _JSON_EXACT)


def stream_seed(seed: int, number: int, repetition: int = 0) -> tuple[int, int, int]:
    """The seed, for `new_streams`, of what the agents draw in deal `number` of `seed`.

    A `repetition` is the same deal with other choices.
    """
    return (seed, number, _CHOICES + repetition)


def play_out(
    game: Game,
    options: Mapping[str, Any],
    seeds: Sequence[int],
    seating: Row,
    agents: Sequence[Agent],
    stream_seeds: Sequence[Any],
) -> npt.NDArray[np.float64]:
    """Play a match at each of B tables; the rewards (B, players).

    `seeds` (B,) give the deals (as `Game.reseed` does), `seating` (B, players) the index of the
    agent in every seat, `stream_seeds` (B,) the random streams of the seats. A table's match
    depends on its own entries only, never on the other tables.
    """
    n = game.n_players(game.complete_options(options))
    rows = _tables(game, options, seeds)
    distinct, places = _distinct(stream_seeds)
    streams = new_streams(distinct, n)[places]
    paid, rewards = np.zeros((2, len(rows), game.n_seats))
    done = np.zeros(len(rows), np.bool_)
    running = np.arange(len(rows))
    game.kernels.begin_tables(rows, running, paid)
    while running.size:
        who = seating[running, rows[running, SEAT]]
        actions = decide(game, rows, running, agents, who, streams)
        _check_legal(game, rows, running, actions)
        game.kernels.step_tables(rows, running, actions, paid, rewards, done)
        running = running[~done[running]]
    return paid[:, :n]


def _tables(game: Game, options: Mapping[str, Any], seeds: Sequence[int]) -> Row:
    """A table for each seed (B, words), no match begun."""
    distinct, places = _distinct(seeds)
    rows = np.repeat(game.new_row(options, 0)[None], len(distinct), 0)
    for row, seed in zip(rows, distinct, strict=True):
        game.reseed(row, seed)
    return rows[places]


def _distinct(seeds: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """The seeds without repetition, and where each of the given ones stands among them."""
    place = {seed: number for number, seed in enumerate(dict.fromkeys(seeds))}
    return list(place), [place[seed] for seed in seeds]


def _check_legal(game: Game, rows: Row, tables: Row, actions: Row) -> None:
    """Raise BadInput if any of the actions (N,) is illegal at its table."""
    wrong = game.kernels.first_illegal(rows, tables, actions)
    if wrong >= 0:
        game.check_legal(rows[tables[wrong]], int(actions[wrong]))


def play_match(
    game: Game,
    options: Mapping[str, Any],
    agents_by_seat: Sequence[Agent],
    seed: int,
    keep_legal: bool = False,
) -> dict[str, Any]:
    """Play one match; its record. All that happens follows from options, agents and seed.

    The deals are those of an environment after `reset(seed=seed)`, as long as all decisions are the
    same: the cards of later deals come from the same stream.
    """
    row = game.new_row(options, seed)
    game.kernels.begin(row)
    game.kernels.settle(row)
    specs = [agent.spec for agent in agents_by_seat]
    recorder = Recorder(game, row, seed, specs, keep_legal)
    streams = new_streams([stream_seed(seed, 0)], len(specs))
    while not game.is_over(row):
        action = _decision(game, row, agents_by_seat, streams)
        recorder.note(row, action)
        game.kernels.step(row, action)
        recorder.note_result(row)
    return recorder.record(row)


class Recordings:
    """Plays the matches of `trysim record`, a range of episodes at a time.

    Episode k of `seed` is the match `play_match` plays with `table_seed(seed, k)`; `specs` are the
    agents in the seats.
    """

    def __init__(
        self, game: Game, options: Mapping[str, Any], specs: Sequence[str], seed: int, legal: bool
    ) -> None:
        self.arguments = (game, options, specs, seed, legal)
        self._game, self._options, self._seed, self._legal = game, options, seed, legal
        agents = {spec: make_agent(spec, game) for spec in specs}
        self._seats = [agents[spec] for spec in specs]

    def do(self, episodes: Sequence[int]) -> list[str]:
        """The records of these episodes, a line of JSON each."""
        seeds = [table_seed(self._seed, episode) for episode in episodes]
        game, options = self._game, self._options
        return [dumps(play_match(game, options, self._seats, s, self._legal)) for s in seeds]


_FIRST = np.zeros(1, np.int64)


def _decision(game: Game, row: Row, agents: Sequence[Agent], streams: Row) -> int:
    """The action of the seat to act; BadInput if it is illegal."""
    who = np.array([row[SEAT]])
    action = int(decide(game, row[None], _FIRST, agents, who, streams)[0])
    game.check_legal(row, action)
    return action
