"""The journal of a comparison: what was played, chunk by chunk, so that a kill loses little.

`journal.jsonl` begins with a line that says what is compared; each further line is one job and its
numbers. Lines are only ever appended. A last line without an end was torn by a kill: it is cut off
and its deals are played again.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np

from trysim.arena.jobs import Job, Line
from trysim.arena.report import Alone
from trysim.arena.statistics import Floats
from trysim.envs.games import BadInput

FILE_NAME = "journal.jsonl"
FORMAT = "trysim-arena-journal"
VERSION = 1


class Journal:
    """A journal that is open: what it holds (`entries`), and where more is noted."""

    def __init__(self, file: IO[bytes], entries: list[tuple[Job, Floats]]) -> None:
        self._file = file
        self.entries = entries

    def note(self, job: Job, numbers: Floats) -> None:
        """Append a job; when this returns, a kill of the process does not lose it any more."""
        _append(self._file, {**asdict(job), "numbers": numbers.tolist()})


@contextmanager
def opened_journal(folder: Path, config: Mapping[str, Any]) -> Iterator[Journal]:
    """The journal of a comparison in a folder, begun if there is none.

    BadInput if the folder holds another comparison than `config` says, or if another process is
    writing there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / FILE_NAME
        if not path.exists() and any(folder.iterdir()):
            raise BadInput(f"{folder} holds other files and no comparison: give a new folder")
        with Alone(folder), path.open("ab+") as file:
            file.seek(0)
            yield Journal(file, _resume(file, folder, config))
    except OSError as error:
        raise BadInput(f"cannot write the comparison to {folder}: {error.strerror}") from None


def _resume(file: IO[bytes], folder: Path, config: Mapping[str, Any]) -> list[tuple[Job, Floats]]:
    content = file.read()
    whole = content.rfind(b"\n") + 1
    file.truncate(whole)
    if not whole:
        _append(file, {"format": FORMAT, "version": VERSION, "config": config})
        return []
    first, *rest = content[:whole].splitlines()
    _check_same(folder, _config(first, folder), config)
    return [_entry(line, number, folder) for number, line in enumerate(rest, 2)]


def _append(file: IO[bytes], entry: Mapping[str, Any]) -> None:
    file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
    file.flush()


def _config(line: bytes, folder: Path) -> dict[str, Any]:
    found: Any = None
    with suppress(ValueError):
        found = json.loads(line)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise BadInput(f"{folder / FILE_NAME} is no journal of a comparison: give another folder")
    if found["version"] != VERSION:
        raise BadInput(
            f"{folder / FILE_NAME} is of version {found['version']}, this release writes {VERSION}:"
            " give another folder"
        )
    return dict(found["config"])


def _entry(line: bytes, number: int, folder: Path) -> tuple[Job, Floats]:
    try:
        found = json.loads(line)
        job = Job(Line(**found["line"]), found["first"], found["last"])
        numbers = np.array(found["numbers"], np.float64)
        if numbers.ndim != 2 or len(numbers) != job.n_deals:
            raise ValueError
    except (ValueError, TypeError, KeyError):
        raise BadInput(
            f"{folder / FILE_NAME}, line {number} is damaged: delete this line, and its deals will "
            "be played again"
        ) from None
    return job, numbers


def _check_same(folder: Path, there: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    differences = [*_differences(there, now)]
    if differences:
        raise BadInput(
            f"{folder} holds another comparison ({', '.join(differences)}), whose numbers do not "
            "mix with these: give another folder, or repeat that comparison (more deals are "
            "welcome)"
        )


def _differences(there: Mapping[str, Any], now: Mapping[str, Any], of: str = "") -> Iterator[str]:
    """What differs, each as `name: one there, other now`."""
    for key in {**there, **now}:
        old, new = there.get(key), now.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{key.removesuffix('s')} ")
        elif old != new:
            yield f"{of}{key}: {_text(old)} there, {_text(new)} now"


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list):
        return ", ".join(" - ".join(pair) for pair in value)
    return f"{value[:8]}…" if isinstance(value, str) and len(value) == 64 else str(value)
