"""Datasets of decisions: matches played for them, or taken from records (`trysim.arena.shards`).

A shard follows from the dataset's settings and its own number alone. So a dataset that was broken
off goes on with the shards that are missing, and any number of processes writes the same files.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from trysim.agents import make_agent
from trysim.arena.play import stream_seed, table_seed
from trysim.arena.pool import Done, done_by, n_workers
from trysim.arena.report import versions
from trysim.arena.shards import (
    COLUMNS,
    FORMAT,
    VERSION,
    Log,
    Shard,
    begin_folder,
    file_digest,
    finish_folder,
    new_folder,
    shard_files,
    write_shards,
)
from trysim.arena.workers import digest
from trysim.envs.decisions import Agent, decide, new_streams
from trysim.envs.games import BadInput, Game, game_named
from trysim.envs.record import Recorder, decisions, read
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import SEAT

EPISODES_A_SHARD = 256


@dataclass(frozen=True)
class Settings:
    """All that a dataset follows from. `seats` are the specs of those who sit in them."""

    game: str
    options: dict[str, Any]
    seats: tuple[str, ...]
    episodes: int
    seed: int
    episodes_a_shard: int = EPISODES_A_SHARD

    @property
    def n_shards(self) -> int:
        """How many shards there will be."""
        return -(-self.episodes // self.episodes_a_shard)

    def of_shard(self, number: int) -> range:
        """The episodes of a shard."""
        first = number * self.episodes_a_shard
        return range(first, min(first + self.episodes_a_shard, self.episodes))


def _about(settings: Settings) -> dict[str, Any]:
    return {
        "format": FORMAT, "version": VERSION, **asdict(settings), "seats": list(settings.seats),
        "versions": versions(("numpy", "numba", "torch", "pyarrow")), "columns": COLUMNS,
    }  # fmt: skip


# Making a dataset ---------------------------------------------------------------------------------
def make_dataset(
    game: str,
    agents: Sequence[str],
    episodes: int,
    seed: int,
    out: Path,
    options: Mapping[str, Any] | None = None,
    workers: int | None = None,
    episodes_a_shard: int = EPISODES_A_SHARD,
    ray: str | None = None,
) -> Path:
    """Play matches and keep every decision; the manifest's path.

    `agents` are specs, one for all seats or one for each; `workers` are processes, by default one
    for each core, or actors of the Ray cluster whose address `ray` is. What is in `out` already, of
    the same settings, is not played again. Raises BadInput for anything wrong.
    """
    match = game_named(game)
    complete = match.complete_options(options or {})
    n = match.n_players(complete)
    if len(agents) not in (1, n):
        raise BadInput(f"agents: {len(agents)} for {n} players; give one for all, or {n}")
    seats = tuple(make_agent(spec, match).spec for spec in agents) * (n if len(agents) == 1 else 1)
    settings = Settings(game, complete, seats, episodes, seed, episodes_a_shard)
    workers = n_workers(workers, ray)
    for name, value, least in (("episodes", episodes, 1), ("episodes_a_shard", episodes_a_shard, 1),
                               ("seed", seed, 0), ("workers", workers, 1)):  # fmt: skip
        if value < least:
            raise BadInput(f"{name}: {value}; at least {least} is needed")
    writer = Writer(settings)
    manifest = {**_about(settings), "agents": writer.digests}
    with new_folder(out):
        missing = begin_folder(out, manifest, settings.n_shards)
        jobs = iter(missing)
        done = done_by(writer, lambda: next(jobs, None), min(workers, len(missing)), ray)
        n_before = episodes - sum(len(settings.of_shard(number)) for number in missing)
        write_shards(out, done, episodes, n_before)
        return finish_folder(out, manifest)


class Writer:
    """Plays shards."""

    def __init__(self, settings: Settings) -> None:
        self.arguments = (settings,)
        self._settings = settings
        self._game = game_named(settings.game)
        self._specs = list(dict.fromkeys(settings.seats))
        self._agents = [make_agent(spec, self._game) for spec in self._specs]
        self._seating = np.array([self._specs.index(spec) for spec in settings.seats])

    @property
    def digests(self) -> dict[str, str]:
        """By spec, a digest of what else an agent's choices depend on; empty if nothing."""
        pairs = zip(self._specs, self._agents, strict=True)
        return {spec: digest(agent) for spec, agent in pairs}

    def do(self, number: int) -> Shard:
        """Play a shard's matches."""
        settings = self._settings
        episodes = settings.of_shard(number)
        seeds = [table_seed(settings.seed, episode) for episode in episodes]
        return played(self._game, settings.options, self._agents, self._seating, episodes, seeds)


def played(
    game: Game,
    options: Mapping[str, Any],
    agents: Sequence[Agent],
    seating: Row,
    episodes: Sequence[int],
    seeds: Sequence[int],
) -> Shard:
    """Matches with these seeds, as `play_match` plays them, `agents[seating]` in their seats."""
    rows = np.repeat(game.new_row(options, 0)[None], len(seeds), 0)
    for row, seed in zip(rows, seeds, strict=True):
        game.reseed(row, seed)
    running = np.arange(len(rows))
    paid, rewards = np.zeros((2, len(rows), game.n_seats))
    done = np.zeros(len(rows), np.bool_)
    game.kernels.begin_tables(rows, running, paid)
    specs = [agents[k].spec for k in seating]
    recorders = [Recorder(game, row, seed, specs) for row, seed in zip(rows, seeds, strict=True)]
    streams = new_streams([stream_seed(seed, 0) for seed in seeds], len(seating))
    log = Log(game)
    while running.size:
        who = seating[rows[running, SEAT]]
        log.note(running, rows[running], paid[running])
        actions = decide(game, rows, running, agents, who, streams)
        for table, action in zip(running, actions, strict=True):
            game.check_legal(rows[table], int(action))
            recorders[table].note(rows[table], int(action))
        log.note_actions(actions, who)
        game.kernels.step_tables(rows, running, actions, paid, rewards, done)
        for table in running:
            recorders[table].note_result(rows[table])
        running = running[~done[running]]
    records = [recorder.record(row) for recorder, row in zip(recorders, rows, strict=True)]
    return log.shard(list(episodes), paid, records)


# From records and back ----------------------------------------------------------------------------
def from_records(files: Sequence[Path], out: Path) -> Path:
    """A dataset of the matches in files of records; the manifest's path.

    All must be of one game. Raises BadInput: RecordError for a record that breaks the rules.
    """
    contents = {str(file): file_digest(file) for file in files}
    games, specs, n_episodes = set(), dict[str, str](), 0
    for record in _records(files):
        games.add(str(record.get("game")))
        specs |= dict.fromkeys(_agents_of(record), "")
        n_episodes += 1
    if len(games) != 1:
        raise BadInput(f"records of one game are needed, here are {', '.join(games) or 'none'}")
    game = game_named(games.pop())
    manifest = {
        "format": FORMAT, "version": VERSION, "game": game.name, "records": contents,
        "episodes": n_episodes, "agents": specs, "versions": versions(("numpy", "pyarrow")),
        "columns": COLUMNS,
    }  # fmt: skip
    parts = [
        range(first, min(first + EPISODES_A_SHARD, n_episodes))
        for first in range(0, n_episodes, EPISODES_A_SHARD)
    ]

    def shards(missing: Sequence[int]) -> Done:
        records = _records(files)
        for number, episodes in enumerate(parts):
            some = list(islice(records, len(episodes)))
            if number in missing:
                yield number, _replayed(game, episodes, some, list(specs)), 0.0

    with new_folder(out):
        missing = begin_folder(out, manifest, len(parts))
        n_before = n_episodes - sum(len(parts[number]) for number in missing)
        write_shards(out, shards(missing), n_episodes, n_before)
        return finish_folder(out, manifest)


def _records(files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        yield from read(file)


def _agents_of(record: Mapping[str, Any]) -> list[str]:
    agents = record.get("agents")
    return [str(spec) for spec in agents] if isinstance(agents, list) else []


def _replayed(
    game: Game, episodes: Sequence[int], records: Sequence[Mapping[str, Any]], specs: list[str]
) -> Shard:
    """The shard of some records."""
    log, paid = Log(game), np.zeros((len(records), game.n_seats))
    for number, record in enumerate(records):
        rows, actions = map(np.array, zip(*decisions(record), strict=True))
        n = game.n_players_of(rows[0])
        seats = [specs.index(spec) for spec in _agents_of(record)]
        who = np.array(seats if len(seats) == n else [-1] * n)
        before = np.zeros((len(rows), game.n_seats))
        for row, out in zip(rows, before, strict=True):
            game.kernels.returns(row, out)
        log.note(np.full(len(rows), number), rows, before)
        log.note_actions(actions, who[rows[:, SEAT]])
        paid[number, :n] = record["result"]["rewards"]
    return log.shard(episodes, paid, records)


def to_records(folder: Path) -> Iterator[str]:
    """The records of a dataset's matches, a line of JSON each."""
    import pyarrow.parquet as pq

    for _, path in shard_files(folder):
        for record in pq.read_table(path, columns=["record"])["record"]:
            yield record.as_py()
