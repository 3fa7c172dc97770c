"""`rule`: compile a function with numba, cached under a digest of every source it may call.

numba's own cache looks at the file of the compiled function alone: after a change in another file
it would return the old answer. Here the cache folder's name is a digest of the sources of rules and
engine, outside `envs` also of worlds, agents and the function's own folder, so a change in any of
them compiles anew. Where no folder can
be written, functions compile in memory. With `NUMBA_DISABLE_JIT=1` the plain Python function runs.
"""

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

import llvmlite.binding
import numba
import numpy as np
import numpy.typing as npt

Row = npt.NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])

_RULES = Path(__file__).resolve().parent
_NOT_KEPT: list[Any] = []  # functions that found no room on disk


def rule(function: Function, in_threads: bool = False) -> Function:
    """`function` compiled; the same signature and, for valid input, the same answers.

    `in_threads` lets other threads run meanwhile, at a cost for every call.
    """
    folder = _cache_folder(Path(function.__code__.co_filename).resolve().parent)
    if folder is None:
        return numba.njit(nogil=in_threads)(function)
    outer = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        compiled = numba.njit(cache=True, nogil=in_threads)(function)
        _let_disk_be_full(compiled)
        return compiled
    except RuntimeError:  # numba: "no locator available"
        return numba.njit(nogil=in_threads)(function)
    finally:
        numba.config.CACHE_DIR = outer


def _let_disk_be_full(compiled: Any) -> None:
    """What cannot be kept on disk is compiled for this process all the same."""
    if numba.config.DISABLE_JIT:
        return
    keep = compiled._cache.save_overload

    def keep_if_possible(*arguments: Any) -> None:
        try:
            keep(*arguments)
        except OSError:
            _NOT_KEPT.append(compiled)

    compiled._cache.save_overload = keep_if_possible


@cache
def _cache_folder(sources: Path) -> Path | None:
    """The writable cache folder for functions whose file is in `sources`, None if there is none."""
    digest = source_digest(sources)[:16]
    for root in _cache_roots():
        folder = root / "trysim" / f"numba-{digest}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


def _cache_roots() -> list[Path]:
    chosen = os.environ.get("TRYSIM_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    return [Path(home), Path(tempfile.gettempdir()) / f"trysim-{owner}"]


@cache
def source_digest(folder: Path = _RULES) -> str:
    """Hex digest of all sources that compiled functions of `folder` may call."""
    envs = _RULES.parent
    sources = {*_RULES.glob("*.py"), envs / "engine.py"}
    if folder not in (envs, _RULES):
        sources |= set((envs / "worlds").glob("*.py"))
    if folder not in (envs, _RULES, envs / "worlds"):
        sources |= {*(envs.parent / "agents").rglob("*.py"), *folder.glob("*.py")}
    digest = hashlib.sha256()
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def specialise(
    templates: Sequence[Callable[..., Any]],
    calls: SimpleNamespace | None = None,
    in_threads: bool = False,
    **bindings: Any,
) -> SimpleNamespace:
    """The templates compiled with some of their global names bound, calling each other.

    A template is a plain function of a module, listed after those that it calls. The modules
    `bindings`, and the functions of an earlier result `calls`, replace its globals. The name of
    each compiled function carries their `NAME`s and a digest of the templates, so that numba's
    cache tells apart what a template is compiled with.
    """
    bound: dict[str, Any] = {**(vars(calls) if calls else {}), **bindings}
    label = "_".join(part.NAME for part in (*bindings.values(), *([calls] if calls else [])))
    compiled = SimpleNamespace(NAME=label)
    origins = "".join(f"{template.__module__}.{template.__name__} " for template in templates)
    label = f"{label}_{hashlib.sha256(origins.encode()).hexdigest()[:8]}"
    for template in templates:
        function = FunctionType(template.__code__, {**template.__globals__, **bound})
        function.__name__ = function.__qualname__ = f"{template.__name__}_{label}"
        function.__doc__, function.__module__ = template.__doc__, template.__module__
        bound[template.__name__] = rule(function, in_threads)
        setattr(compiled, template.__name__, bound[template.__name__])
    return compiled


@cache
def _where_compiled() -> str:
    """Hex digest of what numba's cache also asks for: the package's place, versions, processor."""
    parts = str(_RULES), sys.version, numba.__version__, llvmlite.binding.get_host_cpu_name()
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


def compile_once(name: str, use: Callable[[], object], where: ModuleType | None = None) -> None:
    """Compile by calling `use`, with a line that says so, unless the cache has it all already.

    `where` is a module beside the functions, if they are not those of the rules and the engine.
    """
    sources = Path(str(where.__file__)).resolve().parent if where else _RULES
    folder = None if numba.config.DISABLE_JIT else _cache_folder(sources)
    ready = folder / f"{name}-{_where_compiled()}.ready" if folder else None
    if numba.config.DISABLE_JIT or (ready and ready.exists()):
        return
    print(f"trysim: compiling {name} for this machine, once…", end="", file=sys.stderr, flush=True)
    started = time.perf_counter()
    use()
    print(f" done in {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    if ready and not _NOT_KEPT:
        with suppress(OSError):
            ready.touch()
