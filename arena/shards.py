"""The files of a dataset: what seats saw, might do, did, and what came of it, as Parquet shards.

A dataset is a folder:

- `dataset.json`, the manifest: what was played by whom, from which seed, by which versions; what
  the columns mean; once all is there, every shard with its digest
- `decisions-00000.parquet`, …: a row a decision, in the order in which they were taken
- `episodes-00000.parquet`, …: a row a match, with its record: nothing of a match is lost
"""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.arena.pool import Done
from trysim.arena.report import Alone, check_installed, progress, write_whole
from trysim.envs.engine import MASK_WORDS
from trysim.envs.games import BadInput, Game
from trysim.envs.record import dumps
from trysim.envs.rules.jit import Row

FORMAT, VERSION = "trysim-dataset", 1
MANIFEST = "dataset.json"
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


# A shard ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Shard:
    """The contents of a shard's two files, and how many decisions there are."""

    decisions: bytes
    episodes: bytes
    n_decisions: int
    n_episodes: int


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


# The folder ---------------------------------------------------------------------------------------
def _names(number: int) -> tuple[str, str]:
    return f"decisions-{number:05}.parquet", f"episodes-{number:05}.parquet"


def new_folder(out: Path) -> Alone:
    """Make the folder, if there is none, for this process alone; BadInput if that cannot be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot use {out}: {error.strerror}") from None
    return Alone(out)


def begin_folder(out: Path, manifest: Mapping[str, Any], n_shards: int) -> list[int]:
    """Write the manifest; the numbers of the shards that are missing.

    BadInput if the folder holds another dataset.
    """
    check_installed("a dataset", "pyarrow", extra="reports")
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


def write_shards(out: Path, done: Done, n_episodes: int, n_before: int) -> None:
    """Write what is done; of `n_episodes` matches `n_before` were there before."""
    with progress("matches", n_episodes, done=n_before) as advance:
        for number, shard, _ in done:
            for name, content in zip(
                _names(number), (shard.decisions, shard.episodes), strict=True
            ):
                write_whole(out / name, content)
            advance(shard.n_episodes)


def finish_folder(out: Path, manifest: Mapping[str, Any]) -> Path:
    """Write the manifest with all shards: what has it is complete."""
    import pyarrow.parquet as pq

    shards: list[dict[str, Any]] = []
    while all((out / name).exists() for name in _names(len(shards))):
        names = _names(len(shards))
        n_rows = [pq.read_metadata(out / name).num_rows for name in names]
        digests = [file_digest(out / name) for name in names]
        shards.append(
            {"files": names, "decisions": n_rows[0], "episodes": n_rows[1], "sha256": digests}
        )
    total = sum(shard["decisions"] for shard in shards)
    return _write_manifest(out, {**manifest, "decisions": total, "shards": shards})


def file_digest(file: Path) -> str:
    """SHA-256 of a file's content; BadInput if it cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from None


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
    check_installed("a dataset", "pyarrow", extra="reports")
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
