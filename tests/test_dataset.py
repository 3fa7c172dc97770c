"""Datasets: every decision is kept, shards repeat, what is broken off goes on, records return."""

import hashlib
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

pq = pytest.importorskip("pyarrow.parquet")

from torch.utils.data import DataLoader

from trysim.agents import make_agent
from trysim.arena import dataset as making
from trysim.arena.dataset import from_records, make_dataset, to_records
from trysim.arena.play import play_match, table_seed
from trysim.arena.shards import load_manifest
from trysim.cli import main
from trysim.envs.games import GAMES, BadInput, game_named
from trysim.envs.record import RecordError, dumps, positions
from trysim.envs.rules.row import SEAT
from trysim.train import imitate
from trysim.train.dataset import DecisionStream
from trysim.train.imitate import ImitateConfig

OPTIONS = {
    "sim_lystiv": {"num_players": 3, "penalty": "interactive"},
    "semnadtsat": {"num_players": 4, "scoring": "seventeen", "num_deals": 2},
    "semerik": {"horizon": "deal"},
}
each_game = pytest.mark.parametrize("name", GAMES)


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def made(name, out, episodes=5, **more):
    settings = {"workers": 1, "episodes_a_shard": 2, **more}
    make_dataset(name, ["greedy"], episodes, 3, out, OPTIONS[name], **settings)
    return out


def all_of(folder, **more):
    stream = DecisionStream(folder, 10_000, forced=True, **more)
    batches = list(stream)
    return {name: torch.cat([batch[name] for batch in batches]) for name in batches[0]}


def matches(name, n=5):
    """The same matches, played one by one."""
    game = game_named(name)
    agent = make_agent("greedy", game)
    seats = [agent] * game.n_players(game.complete_options(OPTIONS[name]))
    return [play_match(game, OPTIONS[name], seats, table_seed(3, k)) for k in range(n)]


@each_game
def test_records_are_those_of_the_matches(name, tmp_path):
    folder = made(name, tmp_path / "data")
    assert list(to_records(folder)) == [dumps(record) for record in matches(name)]


@each_game
def test_decisions_are_those_of_the_matches(name, tmp_path):
    game, found = game_named(name), all_of(made(name, tmp_path / "data"))
    at = 0
    for episode, record in enumerate(matches(name)):
        *rows, end = positions(record)
        final = game.returns(end)
        for number, row in enumerate(rows):
            seat = int(row[SEAT])
            seen, mask = game.observe(row, seat)
            assert (found["episode"][at], found["decision"][at]) == (episode, number)
            assert found["seat"][at] == seat
            assert np.array_equal(found["observation"][at], seen)
            assert np.array_equal(found["mask"][at], mask.astype(bool))
            assert np.array_equal(found["hands"][at], game.other_hands(row, seat))
            assert mask[found["action"][at]]
            assert found["return"][at] == pytest.approx(final[seat] - game.returns(row)[seat])
            at += 1
    assert at == len(found["seat"])


@each_game
def test_rewards_of_a_seat_sum_to_its_return(name, tmp_path):
    found = {name: column.numpy() for name, column in all_of(made(name, tmp_path / "d")).items()}
    for episode in range(5):
        for seat in range(game_named(name).n_seats):
            mine = (found["episode"] == episode) & (found["seat"] == seat)
            if not mine.any():
                continue
            to_go = found["reward"][mine][::-1].cumsum()[::-1]
            assert to_go == pytest.approx(found["return"][mine], abs=1e-5)
            assert found["last"][mine].tolist() == [False] * (mine.sum() - 1) + [True]


@each_game
def test_a_dataset_of_records_has_the_same_decisions(name, tmp_path):
    folder = made(name, tmp_path / "played")
    records = tmp_path / "games.jsonl"
    records.write_text("".join(f"{record}\n" for record in to_records(folder)))
    from_records([records], tmp_path / "replayed")
    one, other = all_of(folder), all_of(tmp_path / "replayed")
    for column in one:
        assert torch.equal(one[column], other[column]), column
    assert list(to_records(tmp_path / "replayed")) == list(to_records(folder))


def test_any_number_of_processes_writes_the_same_files(tmp_path):
    one, two = made("semerik", tmp_path / "1"), made("semerik", tmp_path / "2", workers=2)
    assert digests(one) == digests(two)


def test_what_was_broken_off_goes_on(tmp_path, monkeypatch):
    whole = made("semerik", tmp_path / "whole")
    do, n_done = making.Writer.do, []

    def stops(writer, number):
        if len(n_done) == 2:
            raise KeyboardInterrupt
        n_done.append(number)
        return do(writer, number)

    monkeypatch.setattr(making.Writer, "do", stops)
    with pytest.raises(KeyboardInterrupt):
        made("semerik", tmp_path / "part")
    with pytest.raises(BadInput, match="not complete"):
        DecisionStream(tmp_path / "part", 8)
    played = []
    monkeypatch.setattr(
        making.Writer, "do", lambda writer, number: played.append(number) or do(writer, number)
    )
    made("semerik", tmp_path / "part")
    assert (n_done, played) == ([0, 1], [2])
    assert digests(whole) == digests(tmp_path / "part")


def test_a_killed_command_goes_on(tmp_path):
    command = [
        sys.executable, "-m", "trysim", "dataset", "semerik", "--agents", "greedy", "--option",
        "horizon=deal", "--episodes", "3000", "--workers", "2", "--out", str(tmp_path / "data"),
    ]  # fmt: skip
    started = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while not list(tmp_path.glob("data/episodes-*")) and time.monotonic() < end:
        time.sleep(0.05)
    started.send_signal(signal.SIGKILL)
    started.wait()
    assert subprocess.run(command, capture_output=True, timeout=300).returncode == 0
    manifest = load_manifest(tmp_path / "data")
    assert sum(shard["episodes"] for shard in manifest["shards"]) == 3000
    assert len(all_of(tmp_path / "data")["seat"]) == manifest["decisions"]


def test_another_dataset_is_not_written_over(tmp_path):
    folder = made("semerik", tmp_path / "data")
    before = digests(folder)
    with pytest.raises(BadInput, match="episodes: 5, now 6"):
        made("semerik", folder, episodes=6)
    assert digests(folder) == before


def test_a_shuffled_pass_has_the_same_decisions_in_another_order(tmp_path):
    folder = made("semerik", tmp_path / "data")
    stream = DecisionStream(folder, 16, shuffle=1, forced=True)
    one, two = ([batch["episode"] * 100 + batch["decision"] for batch in stream] for _ in range(2))
    one, two = torch.cat(one), torch.cat(two)
    assert not torch.equal(one, two)
    assert torch.equal(one.sort().values, two.sort().values)
    again = DecisionStream(folder, 16, shuffle=1, forced=True)
    assert torch.equal(torch.cat([b["episode"] * 100 + b["decision"] for b in again]), one)


def test_loader_workers_share_the_shards(tmp_path):
    folder = made("semerik", tmp_path / "data")
    loader = DataLoader(DecisionStream(folder, 16), batch_size=None, num_workers=2)
    both = torch.cat([batch["episode"] * 100 + batch["decision"] for batch in loader])
    alone = DecisionStream(folder, 16)
    one = torch.cat([batch["episode"] * 100 + batch["decision"] for batch in alone])
    assert torch.equal(both.sort().values, one.sort().values)


def test_forced_plays_are_left_out(tmp_path):
    stream = DecisionStream(made("semerik", tmp_path / "data"), 64)
    assert all((batch["mask"].sum(1) > 1).all() for batch in stream)


# Bad input ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["semerik", "--agents", "greedy"], "--episodes"),
        (["semerik", "--agents", "greedy", "random", "--episodes", "1"], "give one for all"),
        (["semerik", "--agents", "nobody", "--episodes", "1"], "nobody"),
        (["semerik", "--agents", "greedy", "--episodes", "0"], "episodes"),
        (["semerik", "--records", "x.jsonl"], "give a game to play"),
        ([], "give a game to play"),
        (["--records", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--unpack", "nowhere"], "nowhere is no dataset"),
    ],
)
def test_wrong_commands_are_refused(arguments, complaint, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["dataset", *arguments, "--out", str(out)]) == 2
    assert complaint in capsys.readouterr().err
    assert not out.exists()


def test_records_that_break_the_rules_are_refused(tmp_path):
    record = matches("semerik", 1)[0]
    record["deals"][0]["actions"][0][0] += 1
    (tmp_path / "bad.jsonl").write_text(dumps(record) + "\n")
    with pytest.raises(RecordError, match="turn"):
        from_records([tmp_path / "bad.jsonl"], tmp_path / "data")
    (tmp_path / "two.jsonl").write_text(
        "".join(dumps(matches(name, 1)[0]) + "\n" for name in ("semerik", "semnadtsat"))
    )
    with pytest.raises(BadInput, match="records of one game are needed"):
        from_records([tmp_path / "two.jsonl"], tmp_path / "data")


@pytest.mark.parametrize("content", ["", "[]", '{"format": "x"}', '{"format": "trysim-dataset"}'])
def test_a_broken_manifest_is_refused(content, tmp_path):
    (tmp_path / "dataset.json").write_text(content)
    with pytest.raises(BadInput, match=str(tmp_path)):
        DecisionStream(tmp_path, 8)


def test_a_missing_shard_is_told_of(tmp_path):
    folder = made("semerik", tmp_path / "data")
    (folder / "decisions-00001.parquet").unlink()
    with pytest.raises(BadInput, match="decisions-00001"):
        DecisionStream(folder, 8)


# Imitation ----------------------------------------------------------------------------------------
def test_a_policy_imitates(tmp_path):
    make_dataset("semerik", ["expert"], 1500, 1, tmp_path / "data", OPTIONS["semerik"], 1)
    config = ImitateConfig(
        options={"horizon": "deal"}, data=str(tmp_path / "data"), hidden=[32], batch_size=256,
        total_decisions=60_000, evaluate_every=60_000, evaluate_deals=300, anchors=["greedy"],
        threads=1,
    )  # fmt: skip
    result = imitate.train(config, tmp_path / "run")
    lines = (tmp_path / "run" / "log" / "progress.csv").read_text().splitlines()[1:]
    agreed = [float(line.split(",")[3]) for line in lines]
    assert np.mean(agreed[-20:]) > np.mean(agreed[:20]) + 0.1
    mean = float((tmp_path / "run" / "evaluations.csv").read_text().splitlines()[-1].split(",")[3])
    assert mean > 0
    about = json.loads((result.policy / "policy.json").read_text())["about"]
    assert about["dataset"]["agents"] == load_manifest(tmp_path / "data")["agents"]
    again = imitate.train(config, tmp_path / "again")
    weights = [r.policy / "policy.safetensors" for r in (result, again)]
    assert weights[0].read_bytes() == weights[1].read_bytes()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"data": ""}, "trysim dataset makes one"),
        ({"data": "nowhere"}, "nowhere is no dataset"),
        ({"game": "semnadtsat", "options": {}}, "is of semerik, not of semnadtsat"),
        ({"network": "big"}, "network: big"),
    ],
)
def test_a_wrong_imitation_is_refused(change, complaint, tmp_path):
    settings = {"data": str(made("semerik", tmp_path / "data")), "game": "semerik", **change}
    with pytest.raises(BadInput, match=complaint):
        imitate.train(ImitateConfig(**settings), tmp_path / "run")
    assert not (tmp_path / "run").exists()
