"""`trysim play`, `watch`, `render` and `serve` as commands."""

import io
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from trysim.cli import main
from trysim.envs.record import read, verify

DEAL = ["--option", "horizon=deal"]


@pytest.fixture
def typed(monkeypatch):
    """Give the command this to read."""
    return lambda text: monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def refused(capsys, *words):
    """The line that says what is wrong; exit status 2."""
    assert main([str(word) for word in words]) == 2
    errors = capsys.readouterr().err
    assert "Traceback" not in errors
    return errors.splitlines()[-1]


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "games.jsonl"
    words = ["record", "semerik", "--agents", "greedy", *DEAL, "--episodes", "2", "--seed", "1"]
    assert main([*words, "--out", str(path)]) == 0
    return path


def test_a_deal_is_played_left_and_gone_on_with(typed, tmp_path, capsys):
    path = tmp_path / "game.jsonl"
    words = ["play", "semerik", "--seats", "human", "greedy", "greedy", "greedy", *DEAL]
    words += ["--seed", "3", "--out", str(path)]
    typed("1\n?\nq\n")
    assert main(words) == 0
    assert "goes on" in capsys.readouterr().out
    assert not path.exists()
    assert "is not over yet" in refused(capsys, "watch", path)
    for other in (["--seed", "4"], ["--seats", "human", "random", "greedy", "greedy"]):
        assert "another match" in refused(capsys, *words, *other)
    assert "another match" in refused(capsys, "play", "semnadtsat", "--out", path)
    typed("1\n" * 40)
    assert main(words) == 0
    (one,) = read(path)
    verify(one)
    assert one["agents"] == ["human", "greedy", "greedy", "greedy"]
    assert "finished" in refused(capsys, *words)


def test_a_match_that_is_not_kept_is_told_of(typed, capsys):
    typed("q\n")
    assert main(["play", "semerik", "--seats", "human", "greedy", "greedy", "greedy", *DEAL]) == 0
    assert "not kept: --out FILE" in capsys.readouterr().out


def test_the_end_of_the_input_leaves_the_table(typed, capsys):
    typed("")
    assert main(["play", "semnadtsat", "--seats", "human", "greedy", "greedy", "random"]) == 0


def test_wrong_tables_are_refused(capsys, tmp_path):
    assert "4 play" in refused(capsys, "play", "semerik", "--seats", "human")
    assert "nobody" in refused(capsys, "play", "semerik", "--seats", *["nobody"] * 4)
    assert "--seed x" in refused(capsys, "play", "semerik", "--seed", "x")
    missing = tmp_path / "none" / "a.jsonl"
    assert "no directory" in refused(capsys, "play", "semerik", "--out", missing)


def test_a_record_is_watched(typed, record, capsys):
    typed("\nb\nhint\nq\n")
    assert main(["watch", str(record), "--record", "2", "--moment", "4"]) == 0
    assert "greedy" in capsys.readouterr().out


def test_wrong_records_are_refused(record, capsys, tmp_path):
    assert "it holds 2" in refused(capsys, "watch", record, "--record", "3")
    assert "moment 999" in refused(capsys, "watch", record, "--moment", "999")
    assert "seats are 0..3" in refused(capsys, "watch", record, "--seat", "4")
    assert "cannot read" in refused(capsys, "watch", tmp_path / "none")
    (tmp_path / "bad").write_text("nonsense\n")
    assert "line 1" in refused(capsys, "watch", tmp_path / "bad")


def test_a_film_is_made(record, capsys, tmp_path):
    out = tmp_path / "a.gif"
    words = ["render", record, "--last", "3", "--size", "300x200", "--out", out]
    assert main([str(word) for word in words]) == 0
    assert out.read_bytes().startswith(b"GIF8")


def test_wrong_films_are_refused(record, capsys, tmp_path):
    out = tmp_path / "a.gif"
    assert "must end in" in refused(capsys, "render", record, "--out", tmp_path / "a.txt")
    assert "WxH" in refused(capsys, "render", record, "--size", "big", "--out", out)
    assert "moments 9 to 3" in refused(
        capsys, "render", record, "--first", "9", "--last", "3", "--out", out
    )
    assert "--fps" in refused(capsys, "render", record, "--fps", "x", "--out", out)
    assert not out.exists()


def test_wrong_houses_are_not_opened(capsys, tmp_path):
    assert "--port" in refused(capsys, "serve", "--port", "99999", "--folder", tmp_path)
    assert "nobody" in refused(capsys, "serve", "--agents", "nobody", "--folder", tmp_path)
    assert "--pace" in refused(capsys, "serve", "--pace", "x", "--folder", tmp_path)
    (tmp_path / "file").touch()
    assert "cannot use" in refused(capsys, "serve", "--folder", tmp_path / "file")


# A house in a process of its own ------------------------------------------------------------------
def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def sent(base, path, body):
    """What the house answers to a POST."""
    content, kind = json.dumps(body).encode(), {"Content-Type": "application/json"}
    return json.load(urllib.request.urlopen(urllib.request.Request(base + path, content, kind)))


def test_a_house_streams_and_closes_at_once(tmp_path):
    pytest.importorskip("uvicorn")
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    words = [
        sys.executable,
        "-m",
        "trysim",
        "serve",
        "--port",
        str(port),
        "--folder",
        str(tmp_path),
    ]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as house:
        assert house.stdout.readline().startswith(base)
        for _ in range(200):
            try:
                table = sent(base, "/api/tables", {"game": "semerik", "seats": ["human"] * 4})["id"]
                break
            except OSError:
                time.sleep(0.05)
        with urllib.request.urlopen(f"{base}/api/tables/{table}/events", timeout=30) as stream:
            assert json.loads(stream.readline().removeprefix(b"data: "))["version"] == 0
            stream.readline()
            sent(base, f"/api/tables/{table}/seats/2", {})
            assert json.loads(stream.readline().removeprefix(b"data: "))["taken"][2]
            house.send_signal(signal.SIGINT)
            assert house.wait(20) == 0
        assert "Traceback" not in house.stderr.read()
    assert len(list(tmp_path.glob("*.jsonl.part"))) == 1


def test_a_port_that_is_taken_is_told_of(tmp_path):
    pytest.importorskip("uvicorn")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        words = [sys.executable, "-m", "trysim", "serve", "--port", port, "--folder", str(tmp_path)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "is it taken?" in done.stderr
    assert "Traceback" not in done.stderr
