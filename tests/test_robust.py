"""Full disks, folders nobody can write, two processes in one folder: told clearly, nothing lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trysim.arena.report import Alone
from trysim.envs.games import BadInput

pytestmark = pytest.mark.skipif(os.name == "nt", reason="limits and locks of POSIX")
ROOT = Path(__file__).resolve().parent.parent
SMALL = [
    "--network", "mlp", "--hidden", "[16]", "--guide", "", "--n_tables", "32", "--n_steps", "8",
    "--evaluate_deals", "10", "--anchors", "[random]", "--threads", "1", "--loggers", "[]",
    "--options.horizon", "deal",
]  # fmt: skip
TRAIN = ["train", str(ROOT / "configs" / "semerik" / "ppo.yaml"), *SMALL]
ARENA = ["arena", "semerik", "--agents", "greedy", "random", "--option", "horizon=deal",
         "--seed", "1", "--workers", "1"]  # fmt: skip
DATASET = ["dataset", "semerik", "--agents", "greedy", "--option", "horizon=deal", "--seed", "1",
           "--workers", "1"]  # fmt: skip


def trysim(*arguments, most=None, **environment):
    """Run a command, files no larger than `most` bytes: as on a disk that is full."""
    return subprocess.run(
        command(*arguments, most=most), capture_output=True, text=True, timeout=300,
        env={**os.environ, **environment},
    )  # fmt: skip


def command(*arguments, most=None):
    limit = f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, ({most},) * 2);" if most else ""
    start = f"{limit}import sys; from trysim.cli import main; sys.exit(main({list(arguments)!r}))"
    return [sys.executable, "-c", start]


def complaint(done):
    """The one line that says what is wrong."""
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


# A full disk --------------------------------------------------------------------------------------
def test_records_on_a_full_disk(tmp_path):
    out = tmp_path / "games.jsonl"
    out.write_text("what was there before\n")
    settings = ["semerik", "--agents", "greedy", "--seed", "1", "--episodes", "50"]
    done = trysim("record", *settings, "--out", str(out), most=8000)
    assert done.returncode == 2
    assert complaint(done).startswith(f"trysim: cannot write {out}: ")
    assert out.read_text() == "what was there before\n"
    assert list(tmp_path.iterdir()) == [out]


def test_a_comparison_goes_on_when_there_is_room_again(tmp_path):
    pytest.importorskip("pyarrow")
    out = str(tmp_path / "out")
    done = trysim(*ARENA, "--deals", "1500", "--out", out, most=4000)
    assert done.returncode == 2
    assert "cannot write" in complaint(done)
    assert trysim(*ARENA, "--deals", "1500", "--out", out).returncode == 0
    assert trysim(*ARENA, "--deals", "1500", "--out", str(tmp_path / "whole")).returncode == 0
    one, two = (tmp_path / name / "comparison.json" for name in ("out", "whole"))
    assert one.read_bytes() == two.read_bytes()


def test_a_dataset_goes_on_when_there_is_room_again(tmp_path):
    pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    done = trysim(*DATASET, "--episodes", "300", "--out", str(out), most=40_000)
    assert done.returncode == 2
    assert "cannot write" in complaint(done)
    assert trysim(*DATASET, "--episodes", "300", "--out", str(out)).returncode == 0
    whole = tmp_path / "whole"
    assert trysim(*DATASET, "--episodes", "300", "--out", str(whole)).returncode == 0
    names = sorted(path.name for path in whole.iterdir())
    assert sorted(path.name for path in out.iterdir()) == names
    assert all((out / name).read_bytes() == (whole / name).read_bytes() for name in names)


def test_a_training_keeps_its_last_checkpoint(tmp_path):
    out = tmp_path / "run"
    first = [*TRAIN, "--total_decisions", "2048", "--out", str(out)]
    assert trysim(*first).returncode == 0
    kept = (out / "checkpoint.safetensors").read_bytes()
    on = [*TRAIN, "--total_decisions", "2048", "--out", str(out), "--resume"]
    again = tmp_path / "again"
    new = [*TRAIN, "--total_decisions", "2048", "--out", str(again)]
    done = trysim(*new, most=len(kept) // 2)
    assert done.returncode == 1
    assert f"cannot write to {again}" in complaint(done)
    assert "--resume" in complaint(done)
    assert trysim(*on).returncode == 0
    assert (out / "checkpoint.safetensors").exists()


def test_what_is_compiled_may_find_no_room(tmp_path):
    done = trysim(
        "record", "semerik", "--agents", "random", "--seed", "1", "--episodes", "1",
        "--option", "horizon=deal", "--out", str(tmp_path / "game.jsonl"), most=9000,
        TRYSIM_CACHE_DIR=str(tmp_path / "cache"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "cache").rglob("*.ready"))


# Folders that nobody can write --------------------------------------------------------------------
@pytest.mark.parametrize(
    "environment", [{"TRYSIM_CACHE_DIR": "/dev/null/none"}, {"HOME": "/dev/null/none"}]
)
def test_a_home_that_is_not_writable(environment, tmp_path):
    cleared = {"TRYSIM_CACHE_DIR": "", "XDG_CACHE_HOME": "", "TMPDIR": str(tmp_path)}
    settings = ["semerik", "--agents", "random", "--seed", "1", "--episodes", "1"]
    out = tmp_path / "game.jsonl"
    done = trysim("record", *settings, "--out", str(out), **{**cleared, **environment})
    assert done.returncode == 0, done.stderr
    assert out.exists()


@pytest.mark.parametrize("what", [[*TRAIN, "--total_decisions", "256"], [*ARENA, "--deals", "2"],
                                  [*DATASET, "--episodes", "2"]])  # fmt: skip
def test_an_out_that_cannot_be(what):
    done = trysim(*what, "--out", "/dev/null/out")
    assert done.returncode == 2
    assert "/dev/null/out" in complaint(done)


# Two in one folder --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "what",
    [
        [*TRAIN, "--total_decisions", "256"],
        [*ARENA, "--deals", "2"],
        [*DATASET, "--episodes", "2"],
    ],
)
def test_one_writes_to_a_folder_at_a_time(what, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    with Alone(out):
        done = trysim(*what, "--out", str(out))
    assert done.returncode == 2
    assert "another process is writing" in complaint(done)
    assert trysim(*what, "--out", str(out)).returncode == 0


def test_a_killed_process_keeps_nobody_out(tmp_path):
    out = tmp_path / "run"
    process = subprocess.Popen(
        command(*TRAIN, "--total_decisions", "100_000_000", "--checkpoint_every", "256",
                "--evaluate_every", "100_000_000", "--out", str(out)),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(600):
            if (out / "log" / "progress.csv").exists():
                break
            time.sleep(0.2)
        with pytest.raises(BadInput, match="another process"):
            Alone(out)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    Alone(out).close()
    assert (out / "checkpoint.safetensors").exists()
