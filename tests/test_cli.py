"""The command `trysim`: exit statuses, messages, help."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import trysim.train
from trysim import __version__
from trysim.arena import bench, thinking
from trysim.cli import main
from trysim.envs.games import GAMES

COMMANDS = (
    "games", "play", "serve", "watch", "render", "record", "verify", "train", "arena", "bench",
)  # fmt: skip
RECORD = ["record", "semerik", "--agents", "random", "--option", "horizon=deal"]
ARENA = ["arena", "semerik", "--agents", "random", "greedy", "--option", "horizon=deal"]


def run(capsys, *words):
    """Exit status, stdout and stderr of a command line."""
    status = main([str(word) for word in words])
    out, errors = capsys.readouterr()
    return SimpleNamespace(status=status, out=out, errors=errors)


def refused(capsys, *words):
    """The one line that says what is wrong; exit status 2."""
    result = run(capsys, *words)
    assert result.status == 2
    assert result.out == ""
    assert "Traceback" not in result.errors
    last = result.errors.splitlines()[-1]
    assert last.startswith("trysim: ")
    return last


# Help -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_examples(capsys, command):
    result = run(capsys, command, "--help")
    assert result.status == 0
    assert f"examples:\n  trysim {command}" in result.out
    assert result.errors == ""


def test_help_names_every_command(capsys):
    result = run(capsys, "--help")
    assert result.status == 0
    assert all(f"\n    {command} " in result.out for command in COMMANDS)


@pytest.mark.parametrize("words", [["--version"]])
def test_version(capsys, words):
    result = run(capsys, *words)
    assert (result.status, result.out) == (0, f"trysim {__version__}\n")


def test_help_imports_little():
    code = (
        "import sys; from trysim.cli import main; main(['arena', '--help']); "
        "print({'torch', 'numba', 'numpy', 'scipy', 'pettingzoo'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("set()\n")


def test_arena_and_record_do_without_torch(tmp_path):
    code = (
        "import sys; from trysim.cli import main; assert main(sys.argv[1:]) == 0; "
        "print('torch' in sys.modules)"
    )
    for words in (
        [*ARENA, "--deals", "2", "--workers", "1"],
        [*RECORD, "--episodes", "1", "--seed", "0", "--out", str(tmp_path / "one.jsonl")],
    ):
        command = [sys.executable, "-c", code, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.endswith("False\n")


def test_games_shows_every_option(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    result = run(capsys, "games")
    assert result.status == 0
    for game in GAMES.values():
        assert game.name in result.out
        for option in game.options:
            assert all(part in result.out for part in (option.name, option.meaning))
            assert option.allowed() in result.out


def test_one_game(capsys):
    out = run(capsys, "games", "semnadtsat").out
    assert "semnadtsat" in out
    assert "semerik" not in out


# Wrong use --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            [],
            "a command is needed: games, play, serve, watch, render, record, verify, dataset, "
            "train, best-response, arena, cross-play, bench",
        ),
        (["sing"], "invalid choice: 'sing'"),
        (["games", "whist"], "no game 'whist': there are sim_lystiv, semnadtsat, semerik"),
        (["games", "--all"], "--all"),
        (["record", "semerik"], "required: agents, episodes, seed, out; see trysim record --help"),
        (["verify"], "required: files; see trysim verify --help"),
        (["watch", ""], "cannot read .: Is a directory"),
        (["play", "semerik", "--out", ""], "cannot write .: it is no regular file"),
        (["train"], "required: config; see trysim train --help"),
        (["arena", "semerik"], "required: agents, deals; see trysim arena --help"),
        (["train", "nowhere.yaml"], "nowhere.yaml"),
        ([*ARENA], "required: deals"),
        ([*ARENA, "--deals", "1"], "--deals 1: allowed are whole numbers from 2"),
        ([*ARENA, "--deals", "ten"], "--deals ten: allowed are whole numbers from 2"),
        ([*ARENA, "--deals", "4", "--seed", "-1"], "--seed -1: allowed are whole numbers from 0"),
        ([*ARENA, "--deals", "4", "--workers", "0"], "--workers 0: allowed are whole numbers"),
        ([*ARENA, "--deals", "4", "--option", "beat=x"], "beat='x': allowed are best, led, none"),
        ([*ARENA, "--deals", "4", "--option", "beat"], "--option beat: write name=value"),
        ([*ARENA, "--deals", "4", "--option", "bet=1"], "unknown option 'bet': this game has beat"),
        ([*ARENA, "--deals", "4", "--option", "horizon=game"], "--option horizon is given twice"),
        ([*ARENA, "--deals", "4", "--quick"], "--quick"),
        ([*ARENA, "--deals", "4", "--json", "no/such/x.json"], "there is no directory"),
        (["arena", "whist", "--agents", "random", "greedy", "--deals", "4"], "no game 'whist'"),
        (["arena", "semerik", "--agents", "random", "--deals", "4"], "at least two agents"),
        (["arena", "semerik", "--agents", "random", "random", "--deals", "4"], "given twice"),
        (
            ["arena", "semerik", "--agents", "random", "x", "--deals", "4"],
            "no agent 'x': there are",
        ),
        (["arena", "semerik", "--agents", "random", "policy:no", "--deals", "4"], "policy:no"),
    ],
)
def test_wrong_use_is_one_clear_line(capsys, words, message):
    assert message in refused(capsys, *words)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--episodes": "0"}, "--episodes 0: allowed are whole numbers from 1"),
        ({"--episodes": "-3"}, "--episodes -3: allowed are whole numbers from 1"),
        ({"--seed": "-1"}, "--seed -1: allowed are whole numbers from 0"),
        ({"--seed": "1.5"}, "--seed 1.5: allowed are whole numbers from 0"),
        ({"--out": "no/such/file.jsonl"}, "there is no directory"),
        ({"--out": "."}, "it is no regular file"),
        ({"--option": "target=99"}, "option target=99: allowed are 1..42"),
        ({"--option": "dealer=4"}, "allowed are 0..3 or none"),
        ({"--agents": "nobody"}, "no agent 'nobody': there are random, greedy"),
    ],
)
def test_wrong_record(capsys, tmp_path, monkeypatch, change, message):
    monkeypatch.chdir(tmp_path)
    given = {"--agents": "random", "--episodes": "1", "--seed": "1", "--out": "x.jsonl"} | change
    words = [word for pair in given.items() for word in pair]
    assert message in refused(capsys, "record", "semerik", *words)
    assert not list(tmp_path.iterdir())


def test_number_of_agents(capsys, tmp_path):
    words = ["record", "semerik", "--agents", "random", "greedy", "--episodes", "1", "--seed", "1"]
    line = refused(capsys, *words, "--out", tmp_path / "x")
    assert "2 for 4 players; give one for all, or 4" in line


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
def test_what_is_no_file_is_not_replaced(capsys):
    words = [*RECORD, "--episodes", "1", "--seed", "1", "--out", "/dev/full"]
    assert "it is no regular file" in refused(capsys, *words)
    assert os.path.exists("/dev/full")


def test_interrupted(capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(trysim.train, "run", stop)
    result = run(capsys, "train", "any.yaml")
    assert (result.status, result.errors) == (130, "trysim: stopped\n")


def test_installed_commands():
    """`trysim` and `python -m trysim` are the same, exit status included."""
    for command in ([sys.executable, "-m", "trysim"],):
        done = subprocess.run([*command, "games", "whist"], capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith("trysim: no game 'whist'")


# Commands ---------------------------------------------------------------------------------------
def test_arena(capsys, tmp_path):
    file = tmp_path / "result.json"
    result = run(capsys, *ARENA, "--deals", 8, "--seed", 3, "--workers", 1, "--json", file)
    assert result.status == 0
    assert "greedy" in result.out
    found = json.loads(file.read_text(encoding="utf-8"))
    assert (found["deals"], found["seed"]) == (8, 3)
    assert found["options"]["horizon"] == "deal"
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["a.yaml"], ("a.yaml", [], None, False)),
        (["a.yaml", "--seed", "3"], ("a.yaml", ["--seed", "3"], None, False)),
        (["a.yaml", "--out", "runs/x", "--lr=1"], ("a.yaml", ["--lr=1"], "runs/x", False)),
        (["a.yaml", "--seed", "3", "--out=r"], ("a.yaml", ["--seed", "3"], "r", False)),
        (["a.yaml", "--resume", "--lr=1"], ("a.yaml", ["--lr=1"], None, True)),
    ],
)
def test_train_gets_what_was_typed(capsys, monkeypatch, words, given):
    calls = []

    def train(config, overrides, out, resume):
        calls.append((config, overrides, None if out is None else out.as_posix(), resume))
        return 0

    monkeypatch.setattr(trysim.train, "run", train)
    assert run(capsys, "train", *words).status == 0
    assert calls == [given]


def test_bench_of_agents(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(thinking, "N_DECISIONS", 6)
    file = tmp_path / "bench.json"
    assert main(["bench", "--agents", "greedy", "pimc:worlds=4", "--json", str(file)]) == 0
    assert "pimc:worlds=4" in capsys.readouterr().out
    rows = json.loads(file.read_text())["rows"]
    assert {row["game"] for row in rows} == set(GAMES)
    assert all(0 < row["median_ms"] <= row["ms95"] for row in rows)
    assert {row["looked_at"] for row in rows if row["agent"] == "greedy"} == {0}
    assert {row["looked_at"] for row in rows if row["agent"] != "greedy"} == {4}


def test_bench(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "_training", lambda console: iter(()))
    file = tmp_path / "bench.json"
    assert bench.run(True, file, rounds=2, seconds=0.001) == 0
    found = json.loads(file.read_text(encoding="utf-8"))
    assert [*found] == ["machine", "versions", "rows"]
    layers = {row["layer"] for row in found["rows"]}
    assert {"engine", "engine+obs", "copy", "batch", "aec-raw", "aec", "single"} <= layers
    assert {"peer:pettingzoo-tictactoe-raw", "peer:pettingzoo-tictactoe"} <= layers
    assert all(row["per_s"] > 0 and row["repeats"] == 2 for row in found["rows"])
    assert "tictactoe" in capsys.readouterr().out
