"""Datasets of decisions: what seats saw, might do, did, and what came of it, as Parquet shards.

A dataset is a folder:

- `dataset.json`, the manifest: what was played by whom, from which seed, by which versions; what
  the columns mean; once all is there, every shard with its digest
- `decisions-00000.parquet`, …: a row a decision, in the order in which they were taken
- `episodes-00000.parquet`, …: a row a match, with its record: nothing of a match is lost

A shard follows from the dataset's settings and its own number alone. So a dataset that was broken
off goes on with the shards that are missing, and any number of processes writes the same files.
"""

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.agents import make_agent
from trysim.arena.play import stream_seed, table_seed
from trysim.arena.pool import Done, done_by, done_here, n_workers
from trysim.arena.report import check_installed, progress, versions, write_whole
from trysim.arena.workers import digest
from trysim.envs.decisions import Agent, decide, new_streams
from trysim.envs.engine import MASK_WORDS
from trysim.envs.games import BadInput, Game, game_named
from trysim.envs.record import Recorder, decisions, dumps, read
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import SEAT

FORMAT, VERSION = "trysim-dataset", 1
MANIFEST = "dataset.json"
EPISODES_A_SHARD = 256
COLUMNS = {
    "episode": "number of the match in the dataset",
    "decision": "number of the decision in the match",
    "seat": "who decided",
    "agent": "which of the manifest's agents sat there; -1 if nobody knows",
    "observation": "what the seat saw, a bit for each of the layout's, lowest bit first",
    "mask": "what the seat might do, a bit for each action",
    "hands": "the other seats' hands, clockwise, a bit for each card of each",
    "action": "what the seat did",
    "reward": "paid to the seat from here to its next decision, or to the end",
    "return": "paid to the seat from here to the end of the match",
    "last": "whether this was the seat's last decision of the match",
}
Bytes = npt.NDArray[np.int8]


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


@dataclass(frozen=True)
class Shard:
    """The contents of a shard's two files, and how many decisions there are."""

    decisions: bytes
    episodes: bytes
    n_decisions: int
    n_episodes: int


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
    check_installed("datasets", "pyarrow", extra="reports")
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
    missing = _begin(out, manifest, settings.n_shards)
    jobs = iter(missing)
    workers = min(workers, len(missing))
    if workers > 1 or (ray and workers):
        done = done_by(Writer, (settings,), lambda: next(jobs, None), workers, ray)
    else:
        done = done_here(writer, lambda: next(jobs, None))
    n_before = episodes - sum(len(settings.of_shard(number)) for number in missing)
    _write_all(out, done, episodes, n_before)
    return _finish(out, manifest)


class Writer:
    """Plays shards."""

    def __init__(self, settings: Settings) -> None:
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


class Log:
    """The decisions of many tables, as they are taken, and the columns they make."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}

    def note(self, tables: Row, rows: Row, paid: npt.NDArray[np.float64]) -> None:
        """Note the decisions that are about to be taken.

        `tables` (N,) are numbers from 0, `rows` (N, words) the tables themselves, `paid` (N, seats)
        is what has been paid there up to now.
        """
        game, n, every = self._game, len(tables), np.arange(len(tables))
        packed, seats = np.empty(game.layout.n_words, np.int64), np.empty(n, np.int64)
        seen = np.empty((n, game.layout.size // 8), np.int64)
        masks = np.empty((n, MASK_WORDS), np.int64)
        hands = np.empty((n, (game.n_seats - 1) * len(game.deck)), np.int8)
        game.kernels.observe_tables(rows, every, packed, seen, masks, seats)
        game.kernels.other_hands_tables(rows, every, hands)
        self._add(
            table=tables, seat=seats, paid=paid[every, seats],
            observation=_packed(seen.view(np.int8)),
            mask=_packed(masks.view(np.int8)[:, : game.n_actions]), hands=_packed(hands),
        )  # fmt: skip

    def note_actions(self, actions: Row, agents: Row) -> None:
        """Note the actions (N,) that were taken, and the numbers of the agents who did."""
        self._add(action=actions, agent=agents)

    def _add(self, **parts: npt.NDArray[Any]) -> None:
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(part.copy())

    def shard(
        self,
        episodes: Sequence[int],
        paid: npt.NDArray[np.float64],
        records: Sequence[Mapping[str, Any]],
    ) -> Shard:
        """The shard of these `episodes`, `records` and final payments, one for each table."""
        columns = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        order = np.argsort(columns["table"], kind="stable")  # match by match
        columns = {name: column[order] for name, column in columns.items()}
        table, seat, before = columns.pop("table"), columns["seat"], columns.pop("paid")
        starts = np.searchsorted(table, np.arange(len(episodes)))
        columns["episode"] = np.asarray(episodes)[table]
        columns["decision"] = np.arange(len(table)) - starts[table]
        following = _next_of_same(table * self._game.n_seats + seat)
        is_last, at_end = following < 0, paid[table, seat]
        columns["last"] = is_last
        columns["reward"] = np.where(is_last, at_end, before[following]) - before
        columns["return"] = at_end - before
        about = {"episode": np.asarray(episodes), "record": [dumps(record) for record in records]}
        return Shard(_decisions(columns), _parquet(_table(about)), len(table), len(episodes))


def _packed(bits: Bytes) -> npt.NDArray[np.uint8]:
    return np.packbits(bits.view(np.uint8), axis=1, bitorder="little")


def _next_of_same(keys: Row) -> Row:
    """Where each key (N,) comes next; -1 if it does not."""
    order = np.argsort(keys, kind="stable")
    following = np.full(len(keys), -1)
    same = keys[order[1:]] == keys[order[:-1]]
    following[order[:-1][same]] = order[1:][same]
    return following


def _decisions(columns: Mapping[str, npt.NDArray[Any]]) -> bytes:
    import pyarrow as pa

    types = {"episode": pa.int64(), "decision": pa.int32(), "seat": pa.int8(), "agent": pa.int8(),
             "action": pa.int16(), "reward": pa.float32(), "return": pa.float32(),
             "last": pa.bool_()}  # fmt: skip
    return _parquet(
        _table(
            {
                name: pa.array(columns[name], types[name])
                if name in types
                else _bits_column(columns[name])
                for name in COLUMNS
            }
        )
    )


def _bits_column(packed: npt.NDArray[np.uint8]) -> Any:
    import pyarrow as pa

    content = pa.py_buffer(np.ascontiguousarray(packed).tobytes())
    kind = pa.binary(packed.shape[1])
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(packed), [None, content])


def _table(columns: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table(dict(columns)).replace_schema_metadata({FORMAT: str(VERSION)})


def _parquet(table: Any) -> bytes:
    import pyarrow.parquet as pq

    content = io.BytesIO()
    pq.write_table(table, content, compression="zstd")
    return content.getvalue()


# From records and back ----------------------------------------------------------------------------
def from_records(files: Sequence[Path], out: Path) -> Path:
    """A dataset of the matches in files of records; the manifest's path.

    All must be of one game. Raises BadInput: RecordError for a record that breaks the rules.
    """
    check_installed("datasets", "pyarrow", extra="reports")
    contents = {str(file): _digest_of(file) for file in files}
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
    missing = _begin(out, manifest, len(parts))

    def shards() -> Done:
        records = _records(files)
        for number, episodes in enumerate(parts):
            some = list(islice(records, len(episodes)))
            if number in missing:
                yield number, _replayed(game, episodes, some, list(specs)), 0.0

    n_before = n_episodes - sum(len(parts[number]) for number in missing)
    _write_all(out, shards(), n_episodes, n_before)
    return _finish(out, manifest)


def _digest_of(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from None


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


# The folder ---------------------------------------------------------------------------------------
def _about(settings: Settings) -> dict[str, Any]:
    return {
        "format": FORMAT, "version": VERSION, **asdict(settings), "seats": list(settings.seats),
        "versions": versions(("numpy", "numba", "torch", "pyarrow")), "columns": COLUMNS,
    }  # fmt: skip


def _names(number: int) -> tuple[str, str]:
    return f"decisions-{number:05}.parquet", f"episodes-{number:05}.parquet"


def _begin(out: Path, manifest: Mapping[str, Any], n_shards: int) -> list[int]:
    """Write the manifest; the numbers of the shards that are missing.

    BadInput if the folder holds another dataset or cannot be used.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot use {out}: {error.strerror}") from None
    if (out / MANIFEST).exists():
        _check_same(out, manifest)
    else:
        _write_manifest(out, manifest)
    return [k for k in range(n_shards) if not all((out / name).exists() for name in _names(k))]


def _check_same(out: Path, manifest: Mapping[str, Any]) -> None:
    before = load_manifest(out)
    for name, value in json.loads(json.dumps(manifest)).items():
        if before.get(name) != value:
            raise BadInput(
                f"{out} holds another dataset ({name}: {before.get(name)!r}, now {value!r}): "
                "give another folder, or remove it"
            )


def _write_manifest(out: Path, manifest: Mapping[str, Any]) -> Path:
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    write_whole(out / MANIFEST, text.encode())
    return out / MANIFEST


def _write_all(out: Path, done: Done, n_episodes: int, n_before: int) -> None:
    with progress("matches", n_episodes, done=n_before) as advance:
        for number, shard, _ in done:
            for name, content in zip(
                _names(number), (shard.decisions, shard.episodes), strict=True
            ):
                write_whole(out / name, content)
            advance(shard.n_episodes)


def _finish(out: Path, manifest: Mapping[str, Any]) -> Path:
    """Write the manifest with all shards: what has it is complete."""
    import pyarrow.parquet as pq

    shards: list[dict[str, Any]] = []
    while all((out / name).exists() for name in _names(len(shards))):
        names = _names(len(shards))
        n_rows = [pq.read_metadata(out / name).num_rows for name in names]
        digests = [_digest_of(out / name) for name in names]
        shards.append(
            {"files": names, "decisions": n_rows[0], "episodes": n_rows[1], "sha256": digests}
        )
    total = sum(shard["decisions"] for shard in shards)
    return _write_manifest(out, {**manifest, "decisions": total, "shards": shards})


# Reading ------------------------------------------------------------------------------------------
def load_manifest(folder: Path) -> dict[str, Any]:
    """What a dataset says of itself; BadInput if it is none, or of another version."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{folder} is no dataset: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BadInput(f"{folder} is no dataset: {MANIFEST} is no {FORMAT}")
    if manifest.get("version") != VERSION:
        version = manifest.get("version")
        raise BadInput(f"{folder}: version {version!r}; this release reads {VERSION}")
    return manifest


def shard_files(folder: Path) -> list[tuple[Path, Path]]:
    """The files of a complete dataset's shards: decisions, episodes.

    BadInput if it is not complete.
    """
    shards = load_manifest(folder).get("shards")
    if not isinstance(shards, list):
        raise BadInput(f"{folder} is not complete: the command that began it goes on with it")
    found = []
    for number in range(len(shards)):
        decisions_file, episodes_file = (folder / name for name in _names(number))
        for path in (decisions_file, episodes_file):
            if not path.is_file():
                raise BadInput(f"{path} is missing: remove {MANIFEST} and make the dataset again")
        found.append((decisions_file, episodes_file))
    return found


def bits(column: Any, n: int) -> Bytes:
    """A column of packed bits as 0/1 int8 (rows, n)."""
    column = column.combine_chunks()
    width = column.type.byte_width
    content = np.frombuffer(column.buffers()[1], np.uint8)
    start = column.offset * width
    packed = content[start : start + len(column) * width].reshape(-1, width)
    return np.unpackbits(packed, axis=1, count=n, bitorder="little").view(np.int8)
