"""A Ray cluster gives what one machine gives, also when workers are killed."""

import hashlib
import os
import signal
import threading
import time

import pytest

ray = pytest.importorskip("ray")

from trysim.arena import compare
from trysim.arena.dataset import make_dataset
from trysim.arena.pool import done_by, done_here
from trysim.cli import main

os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


class Slow:
    """Tells which process did a job, and leaves a mark that it began."""

    def __init__(self, folder):
        self.arguments = (folder,)
        self.folder = folder

    def do(self, job):
        (self.folder / f"{job}-{os.getpid()}-{time.monotonic_ns()}").touch()
        time.sleep(0.2)
        return job * job


def test_each_result_comes_once_though_workers_are_killed(tmp_path):
    jobs = iter(range(24))
    killed = []

    def kill_some():
        while len(killed) < 2:
            time.sleep(0.3)
            pids = {int(path.name.split("-")[1]) for path in tmp_path.iterdir()} - set(killed)
            for pid in sorted(pids)[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    threading.Thread(target=kill_some, daemon=True).start()
    done = [
        (job, result)
        for job, result, _ in done_by(Slow(tmp_path), lambda: next(jobs, None), 2, "auto")
    ]
    assert killed
    assert sorted(done) == [(k, k * k) for k in range(24)]


def test_here_and_there_alike(tmp_path):
    jobs, again = iter(range(5)), iter(range(5))
    here = [result[:2] for result in done_here(Slow(tmp_path), lambda: next(jobs, None))]
    there = done_by(Slow(tmp_path), lambda: next(again, None), 2, "auto")
    assert sorted(result[:2] for result in there) == here


def test_a_comparison_is_the_same():
    settings = dict(game="semerik", agents=["greedy", "random"], deals=40, seed=3,
                    options={"horizon": "deal"}, progress=False)  # fmt: skip
    assert compare(**settings, workers=1) == compare(**settings, workers=2, ray="auto")


def digests(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


def test_a_dataset_is_the_same(tmp_path):
    settings = ("semerik", ["greedy"], 9, 3)
    more = {"options": {"horizon": "deal"}, "episodes_a_shard": 2}
    make_dataset(*settings, tmp_path / "here", workers=1, **more)
    make_dataset(*settings, tmp_path / "there", workers=2, ray="auto", **more)
    assert digests(tmp_path / "here") == digests(tmp_path / "there")


def test_records_are_the_same(tmp_path):
    command = ["record", "semnadtsat", "--agents", "greedy", "--episodes", "40", "--seed", "1"]
    assert main([*command, "--workers", "1", "--out", str(tmp_path / "here.jsonl")]) == 0
    assert main([*command, "--ray", "--workers", "2", "--out", str(tmp_path / "there.jsonl")]) == 0
    assert main([*command, "--workers", "2", "--out", str(tmp_path / "two.jsonl")]) == 0
    contents = {path.read_bytes() for path in tmp_path.iterdir()}
    assert len(contents) == 1


def test_a_worker_that_cannot_be_made_says_why():
    jobs = iter([1])
    with pytest.raises(Exception, match="nowhere"):
        list(done_by(HomeOnly(os.getpid()), lambda: next(jobs, None), 1, "auto"))


class HomeOnly:
    def __init__(self, pid):
        self.arguments = (pid,)
        if os.getpid() != pid:
            raise ValueError("nowhere to work")

    def do(self, job):
        return job
