"""What comparisons and measurements share: versions, a progress bar, files that appear whole."""

import os
import platform
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

import trysim
from trysim.envs.games import BadInput
from trysim.envs.rules.jit import source_digest

LIBRARIES = ("numpy", "numba", "torch")
_WORTH_TELLING = 2.0  # seconds


def versions(libraries: Sequence[str] = LIBRARIES) -> dict[str, str]:
    """Of trysim, python, the `libraries` that are installed, and the digest of the rules."""
    found = {"trysim": trysim.__version__, "python": platform.python_version()}
    for library in libraries:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return {**found, "rules": source_digest()}


class _Rate(ProgressColumn):
    """How many are done in a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.2f}/s")


@contextmanager
def progress(
    what: str, total: int, show: bool = True, done: int = 0
) -> Iterator[Callable[[int], None]]:
    """Gives a function to call with how many more of the `total` are done; `done` are already.

    On a terminal a bar with rate and remaining time; besides, one line at the end of what took more
    than two seconds. All on stderr.
    """
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    hidden = not (show and console.is_terminal)
    bar = Progress(
        TextColumn("{task.description}"), *columns, console=console, transient=True, disable=hidden
    )
    task = bar.add_task(what, total=total, completed=done)
    started = time.perf_counter()
    with bar:
        yield lambda more: bar.advance(task, more)
    seconds = time.perf_counter() - started
    if show and seconds > _WORTH_TELLING:
        console.print(
            f"{total - done} {what} in {seconds:.1f} s, {(total - done) / seconds:,.1f}/s",
            highlight=False,
        )


def checked_file(path: Path) -> Path:
    """Where a file of this name will be written; BadInput, naming why, if it cannot be."""
    target = path.resolve()  # a link stays a link
    if not target.parent.is_dir():
        raise BadInput(f"cannot write {path}: there is no directory {target.parent}")
    if target.exists() and not target.is_file():
        raise BadInput(f"cannot write {path}: it is no regular file")
    if not os.access(target.parent, os.W_OK):
        raise BadInput(f"cannot write {path}: the directory {target.parent} is not writable")
    return target


@contextmanager
def new_file(path: Path) -> Iterator[IO[str]]:
    """A text file to write that appears under its name, whole, at the end; not if that fails."""
    with (
        _replacing(path) as part,
        part.open("w", encoding="utf-8", newline="\n") as file,
    ):
        yield file


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears under its name, whole; not if that fails."""
    with _replacing(path) as part:
        part.write_bytes(content)


class Alone:
    """Keeps other processes from writing to a folder until it is closed, or forgotten, or killed.

    BadInput if one does already.
    """

    def __init__(self, folder: Path) -> None:
        self.close: Callable[[], object] = _nothing
        try:
            import fcntl
        except ImportError:  # on Windows
            return
        place = os.open(folder, os.O_RDONLY)
        self.close = weakref.finalize(self, os.close, place)
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise BadInput(f"another process is writing to {folder}: wait for it") from None
        except OSError:  # a file system without locks
            return

    def __enter__(self) -> "Alone":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _nothing() -> None:
    """There is no lock to let go of."""


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` to write, which then takes its place."""
    target = checked_file(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(target)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def check_installed(what: str, *modules: str, extra: str = "reports") -> None:
    """BadInput, saying what to install, if a module of an extra is missing."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise BadInput(f'{what} needs {", ".join(missing)}: pip install "trysim[{extra}]"')
