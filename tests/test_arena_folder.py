"""Folders of comparisons: complete, resumable, never mixed; and what stands in them."""

import base64
import html.parser
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from PIL import Image

from trysim import agents as agent_module
from trysim.agents import Spec
from trysim.agents.rule_players import RulePlayer
from trysim.arena import compare, duplicate, load_comparison, report
from trysim.arena.folder import command
from trysim.arena.jobs import Job, Line
from trysim.arena.journal import opened_journal
from trysim.cli import main
from trysim.envs.games import BadInput

ONE_DEAL = {"horizon": "deal"}
FILES = {"comparison.json", "deals.parquet", "journal.jsonl", "matrix.png", "report.html"}
HOSTILE = "<script>alert('&')</script>"


def play(out, deals=24, agents=("greedy", "random", "expert"), seed=5, **more):
    """A comparison of Семерик's single deals, in this process."""
    more = {"options": ONE_DEAL, "workers": 1, "progress": False} | more
    return compare("semerik", agents, deals, seed, out=out, **more)


def contents(folder, *names):
    return {name: (folder / name).read_bytes() for name in names or FILES - {"journal.jsonl"}}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder, and the comparison it holds."""
    folder = tmp_path_factory.mktemp("arena") / "deep" / "folder"
    comparison = play(folder, control=True)
    return SimpleNamespace(path=folder, comparison=comparison)


# What stands in it ------------------------------------------------------------------------------
def test_files(done):
    assert {path.name for path in done.path.iterdir()} == FILES
    assert load_comparison(done.path) == done.comparison
    assert load_comparison(done.path / "comparison.json") == done.comparison
    assert done.comparison.ratings


def test_a_folder_changes_no_number(done):
    assert play(None, control=True, rating=True) == done.comparison
    assert play(None, control=True).ratings == ()


def test_deals(done):
    table = pq.read_table(done.path / "deals.parquet")
    seats = [f"seat_{k}" for k in range(4)]
    assert table.column_names == ["a", "b", "deal", "value", *seats, "control"]
    assert table.num_rows == 3 * 24
    for pair in done.comparison.pairs:
        mine = table.filter((pc.field("a") == pair.a) & (pc.field("b") == pair.b))
        assert mine["deal"].to_pylist() == [*range(24)]
        assert pc.mean(mine["value"]).as_py() == pytest.approx(pair.mean)
        assert pc.stddev(mine["value"], ddof=1).as_py() == pytest.approx(pair.sd)
        per_seat = [pc.mean(mine[seat]).as_py() for seat in seats]
        assert per_seat == pytest.approx(pair.per_seat)
    about = json.loads(table.schema.metadata[b"trysim-comparison"])
    assert about == json.loads(done.comparison.to_json())


def test_the_picture(done):
    with Image.open(done.path / "matrix.png") as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 300
        assert len(picture.convert("RGB").getcolors(10**6)) > 50


class Page(html.parser.HTMLParser):
    """What a page loads from elsewhere, its texts, and whether all tags are closed."""

    def __init__(self, text):
        super().__init__()
        self.sources, self.open, self.texts, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.sources += [value for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta", "img", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_the_report_stands_alone(done):
    page = Page((done.path / "report.html").read_text(encoding="utf-8"))
    (source,) = page.sources
    content = base64.b64decode(source.removeprefix("data:image/png;base64,"))
    assert content == (done.path / "matrix.png").read_bytes()
    assert page.open == []
    text = " ".join(page.texts)
    for told in (command(done.comparison), *done.comparison.versions.values(), "OpenSkill rating"):
        assert told in text
    assert page.tags.count("table") == 7  # six of results, one of versions


def test_names_are_no_html(tmp_path, monkeypatch):
    class Hostile(RulePlayer):
        def __init__(self, game):
            super().__init__("random", game)
            self.spec = HOSTILE

    spec = Spec("hostile", "for tests", lambda game, a, s: Hostile(game))
    monkeypatch.setitem(agent_module.SPECS, HOSTILE, spec)
    play(tmp_path / "x", agents=["greedy", HOSTILE])
    text = (tmp_path / "x" / "report.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"pairs": "chain"},
        {"agents": ["random", "expert"], "against": ["greedy"]},
        {"control": True},
    ],
)
def test_the_printed_command_repeats_it(done, tmp_path, monkeypatch, more):
    comparison = play(None, deals=8, rating=True, **more)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command(comparison))
    assert words[0] == "trysim"
    assert main([*words[1:], "--workers", "1"]) == 0
    assert load_comparison(tmp_path / "again") == comparison


def test_pairs_chosen_freely_are_repeated_from_python(done):
    pairs = [("random", "greedy"), ("expert", "random")]
    comparison = play(None, deals=4, pairs=pairs, control=True)
    call = command(comparison).removeprefix("trysim.arena.").replace(", out='again'", "")
    assert eval(call, {"compare": compare}) == comparison


# Going on ---------------------------------------------------------------------------------------
def test_what_is_played_is_not_played_again(done, monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(duplicate.Arena, "do", refuse)
    before = contents(done.path)
    assert play(done.path, control=True) == done.comparison
    assert contents(done.path) == before


def test_more_deals_continue_a_comparison(tmp_path):
    play(tmp_path / "a", deals=9)
    played = (tmp_path / "a" / "journal.jsonl").read_bytes()
    play(tmp_path / "a", deals=20, control=True)
    play(tmp_path / "b", deals=20, control=True)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert (tmp_path / "a" / "journal.jsonl").read_bytes().startswith(played)
    assert play(tmp_path / "a", deals=9) == play(None, deals=9, rating=True)  # and fewer again


@pytest.mark.parametrize("cut", [1, 7, 60])
def test_a_torn_last_line_is_played_again(done, tmp_path, cut):
    journal = (done.path / "journal.jsonl").read_bytes()
    (tmp_path / "journal.jsonl").write_bytes(journal[:-cut])
    assert play(tmp_path, control=True) == done.comparison
    assert contents(tmp_path) == contents(done.path)


def test_a_torn_first_line_begins_anew(done, tmp_path):
    journal = (done.path / "journal.jsonl").read_bytes()
    (tmp_path / "journal.jsonl").write_bytes(journal[:50])
    assert play(tmp_path, control=True) == done.comparison


def test_a_damaged_line_is_named(done, tmp_path):
    lines = (done.path / "journal.jsonl").read_bytes().splitlines(True)
    lines[2] = lines[2][:-40] + b"\n"
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines))
    with pytest.raises(BadInput, match="line 3 is damaged: delete this line"):
        play(tmp_path, control=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 6}, r"\(seed: 5 there, 6 now\)"),
        ({"options": {"horizon": "game"}}, "option horizon: deal there, game now"),
        ({"agents": ("greedy", "random")}, "pairs: .*agent expert"),
        ({"pairs": "chain"}, "pairs: .* there, greedy - random, random - expert now"),
    ],
)
def test_another_comparison_is_refused(done, change, message):
    before = contents(done.path, "journal.jsonl")
    with pytest.raises(BadInput, match=f"holds another comparison.*{message}"):
        play(done.path, **change)
    assert contents(done.path, "journal.jsonl") == before


@pytest.mark.parametrize("name", ["torch", "rules", "numpy", "agents"])
def test_versions_are_not_mixed(done, monkeypatch, name):
    other = {**done.comparison.versions, name: "9.9"}
    agents = other.pop("agents")
    monkeypatch.setattr(duplicate, "versions", lambda: other)
    monkeypatch.setattr(duplicate, "source_digest", lambda folder: agents)
    with pytest.raises(BadInput, match=f"version {name}: .* there, 9.9 now"):
        play(done.path)


def test_other_weights_are_another_comparison(tmp_path, monkeypatch):
    class Weighted(RulePlayer):
        digest = "a" * 64

        def __init__(self, game):
            super().__init__("random", game)
            self.spec = "weighted"

    spec = Spec("weighted", "for tests", lambda game, a, s: Weighted(game))
    monkeypatch.setitem(agent_module.SPECS, "weighted", spec)
    comparison = play(tmp_path, agents=["greedy", "weighted"])
    assert comparison.agents == {"greedy": "", "weighted": "a" * 64}
    Weighted.digest = "b" * 64
    with pytest.raises(BadInput, match="agent weighted: aaaaaaaa… there, bbbbbbbb… now"):
        play(tmp_path, agents=["greedy", "weighted"])


def test_a_control_with_other_weights_is_played_anew(tmp_path, monkeypatch):
    class Changing(RulePlayer):
        digest = "a" * 64

        def __init__(self, game):
            super().__init__("random" if self.digest[0] == "a" else "greedy", game)
            self.spec = "changing"

    spec = Spec("changing", "for tests", lambda game, a, s: Changing(game))
    monkeypatch.setitem(agent_module.SPECS, "changing", spec)
    more = {"agents": ["greedy", "random"], "control": ("changing", "random")}
    first = play(tmp_path, **more)
    Changing.digest = "b" * 64
    second = play(tmp_path, **more)
    assert first.pairs[0].adjusted != second.pairs[0].adjusted
    assert second == play(None, rating=True, **more)


def test_other_folders_are_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(BadInput, match="holds other files"):
        play(tmp_path)
    with pytest.raises(BadInput, match="cannot write the comparison"):
        play(tmp_path / "mine.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "journal.jsonl").write_text("{}\n")
    with pytest.raises(BadInput, match="is no journal"):
        play(tmp_path / "other")


@pytest.mark.skipif(os.name == "nt", reason="no locks there")
def test_one_writer_at_a_time(tmp_path):
    with (
        opened_journal(tmp_path, {"seed": 1}),
        pytest.raises(BadInput, match="another process is writing"),
        opened_journal(tmp_path, {"seed": 1}),
    ):
        pass


def test_the_journal_keeps_every_bit(tmp_path):
    job, numbers = Job(Line("a", "b", 2, True), 3, 5), np.array([[1 / 3, -1e-17], [2.0, 0.1]])
    with opened_journal(tmp_path, {}) as journal:
        journal.note(job, numbers)
    with opened_journal(tmp_path, {}) as journal:
        ((found, kept),) = journal.entries
    assert found == job
    assert kept.tobytes() == numbers.tobytes()


def test_missing_packages_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "find_spec", lambda name: None)
    wanted = re.escape('needs pyarrow, openskill, jinja2: pip install "trysim[reports]"')
    with pytest.raises(BadInput, match=wanted):
        play(tmp_path / "x")
    with pytest.raises(BadInput, match="a rating needs openskill"):
        play(None, rating=True)
    assert not (tmp_path / "x").exists()


# Killed -----------------------------------------------------------------------------------------
def arena_command(folder, workers, deals=1200):
    words = [
        "arena",
        "semerik",
        "--agents",
        "greedy",
        "random",
        "expert",
        "--option",
        "horizon=deal",
    ]
    words += ["--deals", str(deals), "--seed", "8", "--workers", str(workers), "--out", str(folder)]
    return [sys.executable, "-m", "trysim", *words]


def wait_for_lines(journal, n, process, seconds=120):
    """Until a running process has written so many lines."""
    end = time.monotonic() + seconds
    while not journal.exists() or journal.read_bytes().count(b"\n") < n:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "x"
    play(folder, 1200, seed=8)
    return contents(folder)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_comparison_goes_on(tmp_path, uninterrupted, workers):
    """SIGKILL twice, with results on disk; then the same bytes as without."""
    journal = tmp_path / "x" / "journal.jsonl"
    for lines in (4, 9):
        started = subprocess.Popen(arena_command(tmp_path / "x", workers), stderr=subprocess.PIPE)
        wait_for_lines(journal, lines, started)
        started.send_signal(signal.SIGKILL)
        started.communicate(timeout=60)
        assert not (tmp_path / "x" / "comparison.json").exists()
    kept = journal.read_bytes()
    done = subprocess.run(arena_command(tmp_path / "x", workers), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "x") == uninterrupted
    assert journal.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    jobs = [json.loads(line) for line in journal.read_bytes().splitlines()[1:]]
    for b in ("random", "expert"):
        mine = [job for job in jobs if (job["line"]["a"], job["line"]["b"]) == ("greedy", b)]
        assert sum(job["last"] - job["first"] for job in mine) == 1200  # none twice, none lost


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_says_what_is_kept(tmp_path):
    words = arena_command(tmp_path / "x", 1, deals=10**6)
    started = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    wait_for_lines(tmp_path / "x" / "journal.jsonl", 4, started)
    started.send_signal(signal.SIGINT)
    _, errors = started.communicate(timeout=60)
    # Python ends by the signal itself if that came while it executed a text, as dataclasses do.
    assert started.returncode in (130, -signal.SIGINT)
    kept, stopped = errors.splitlines()[-2:]
    assert kept == f"trysim: what is played is kept in {tmp_path / 'x'}; the same command goes on"
    assert stopped == "trysim: stopped"


# The command ------------------------------------------------------------------------------------
def test_the_command(tmp_path, capsys):
    words = ["arena", "semerik", "--agents", "expert", "random", "--against", "greedy:"]
    words += ["--option", "horizon=deal", "--deals", "12", "--workers", "1", "--control-variate"]
    words += ["random", "greedy", "--out", str(tmp_path / "x"), "--json", str(tmp_path / "x.json")]
    assert main(words) == 0
    shown = capsys.readouterr().out
    for told in ("95 % interval", "narrower by", "place", "seat 3", "OpenSkill rating"):
        assert told in shown
    found = load_comparison(tmp_path / "x.json")
    assert found == load_comparison(tmp_path / "x")
    assert [(pair.a, pair.b) for pair in found.pairs] == [
        ("expert", "greedy"),
        ("random", "greedy"),
    ]
    assert found.control == ("random", "greedy")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--control-variate", "greedy"], "a control variate needs two agents"),
        (["--chain", "--against", "greedy"], "either"),
        (["--against"], "--against"),
    ],
)
def test_wrong_use(words, message, capsys):
    given = ["arena", "semerik", "--agents", "expert", "random", "--deals", "4", *words]
    assert main(given) == 2
    assert message in capsys.readouterr().err


def test_help_shows_examples(capsys):
    assert main(["arena", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--out results/a" in shown
