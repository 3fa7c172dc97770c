"""Compiling: where results are kept, what works without, and what an import does not load."""

import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import trysim
from trysim.envs.games import GAMES
from trysim.envs.rules import jit
from trysim.envs.rules.row import OVER, PHASE, SEAT

SOURCES = Path(trysim.__file__).parents[1]
cache_folder = jit._cache_folder.__wrapped__
source_digest = jit.source_digest.__wrapped__


def run(code, **environment):
    """What a fresh Python with these environment variables prints."""
    paths = os.pathsep.join([str(SOURCES), str(Path(__file__).parents[1])])
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip(), result.stderr


def match_digest():
    """A number that follows from all tables and observations of a short match of each game."""
    shorts = [{"num_players": 3, "penalty": "interactive"}, {}, {"horizon": "deal"}]
    digest = 0
    for game, options in zip(GAMES.values(), shorts, strict=True):
        row = game.new_row(options, 5)
        game.kernels.begin(row)
        game.kernels.settle(row)
        while row[PHASE] != OVER:
            observation, mask = game.observe(row, int(row[SEAT]))
            parts = row, observation, mask, game.view(row, 0), game.returns(row)
            for part in parts:
                digest = zlib.crc32(np.ascontiguousarray(part).tobytes(), digest)
            legal = game.legal_actions(row)
            game.kernels.step(row, legal[digest % len(legal)])
    return digest


def test_plain_python_plays_the_same_match():
    code = "from tests.test_jit import match_digest; print(match_digest())"
    other = "0" if numba.config.DISABLE_JIT else "1"
    out, _ = run(
        f"import warnings; warnings.simplefilter('ignore'); {code}", NUMBA_DISABLE_JIT=other
    )
    assert int(out) == match_digest()


def test_importing_the_environments_loads_nothing_heavy():
    heavy = ["torch", "pygame", "matplotlib", "stable_baselines3", "sb3_contrib", "PIL"]
    code = (
        "import sys, trysim.envs, trysim.agents, trysim.envs.batch, trysim.envs.single;"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    assert run(code)[0] == "[]"


# Where compiled functions are kept --------------------------------------------------------------
def test_the_digest_follows_every_source(tmp_path):
    first = source_digest(tmp_path)
    source = tmp_path / "rules.py"
    source.write_text("A = 1\n")
    second = source_digest(tmp_path)
    source.write_text("A = 2\n")
    assert len({first, second, source_digest(tmp_path), source_digest()}) >= 3
    source.write_text("A = 1\n")
    assert source_digest(tmp_path) == second


def test_the_chosen_folder_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("TRYSIM_CACHE_DIR", str(tmp_path / "cache"))
    folder = cache_folder(tmp_path)
    assert folder.parent == tmp_path / "cache" / "trysim"
    assert folder.name.endswith(source_digest(tmp_path)[:16])
    assert folder.is_dir()


def test_the_usual_folders(tmp_path, monkeypatch):
    monkeypatch.delenv("TRYSIM_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert cache_folder(tmp_path).is_relative_to(tmp_path / "home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(_file(tmp_path)))  # no folder can be made in a file
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assert cache_folder(tmp_path).is_relative_to(tmp_path / "temporary")


def test_without_a_writable_folder_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("TRYSIM_CACHE_DIR", str(_file(tmp_path)))
    assert cache_folder(tmp_path) is None


def _file(folder):
    path = folder / "file"
    path.touch()
    return path


TRY = "from trysim.envs.rules.bits import thermometer; print(thermometer(3))"


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_functions_are_cached_and_found_again(tmp_path):
    for _ in range(2):
        assert run(TRY, TRYSIM_CACHE_DIR=str(tmp_path))[0] == "7"
        found = [path for path in tmp_path.rglob("*.nb?") if "thermometer" in path.name]
        assert len(found) == 2  # an index and one compiled version: the second run added nothing


def test_unwritable_folders_are_no_error(tmp_path):
    out, errors = run(TRY, TRYSIM_CACHE_DIR=str(_file(tmp_path)))
    assert (out, errors) == ("7", "")


def test_numba_settings_of_others_are_left_alone():
    before = numba.config.CACHE_DIR
    jit.rule(match_digest)
    assert before == numba.config.CACHE_DIR


def whole():
    return 10 * part()  # noqa: F821  (bound by `specialise`)


def test_a_template_among_others_is_another_function_to_the_cache(monkeypatch, tmp_path):
    """`whole` calls what stands in its list: a cached answer for another list would be wrong."""
    monkeypatch.setattr(jit, "_cache_folder", lambda sources: tmp_path)
    found = []
    for number in (2, 3):
        space = {}
        exec(compile(f"def part_{number}():\n    return {number}\n", __file__, "exec"), space)
        template = space[f"part_{number}"]
        template.__name__ = "part"
        template.__module__ = f"part_of_{number}"
        module = SimpleNamespace(NAME="test")
        found.append(jit.specialise([template, whole], module=module).whole())
    assert found == [20, 30]
