"""`trysim record` and `trysim verify`: repeatable records, and no tampering that goes unseen."""

import copy
import json
import os
import stat

import pytest

from trysim.agents import make_agent
from trysim.arena import play_match
from trysim.cli import main
from trysim.envs import record as records
from trysim.envs import semerik_v0
from trysim.envs.games import GAMES
from trysim.envs.record import RecordError, dumps

# Options that between them show every phase and every way of counting.
VARIETY = [
    ("sim_lystiv", {}),
    ("sim_lystiv", {"num_players": 2, "must_beat": True, "all_out": "replay"}),
    ("sim_lystiv", {"num_players": 3, "penalty": "interactive", "reward": "blows"}),
    ("sim_lystiv", {"num_players": 5, "penalty": "none", "all_out": "race", "dealer": 4}),
    ("sim_lystiv", {"num_players": 5, "penalty": "interactive", "strike_cards": 3}),
    ("semnadtsat", {}),
    ("semnadtsat", {"num_players": 3, "removed_suit": "H", "scoring": "seventeen"}),
    ("semnadtsat", {"num_players": 5, "num_deals": 3, "first_lead": "left"}),
    ("semnadtsat", {"num_deals": 2, "reward": "win", "jack": "by_deal", "dealer": 0}),
    ("semerik", {}),
    ("semerik", {"horizon": "game", "declare": "auto", "sixteen": "whole_suit"}),
    ("semerik", {"horizon": "deal", "beat": "none", "baba": "3A2", "aces": "one"}),
    ("semerik", {"horizon": "deal", "fallback": "suit", "last_trick": 1, "declare": "off"}),
    ("semerik", {"games": 2, "target": 11, "beat": "led", "reward": "points", "dealer": 2}),
]
# Short matches for tampering with every entry; sim_lystiv with a penalty.
SHORT = {
    "sim_lystiv": ({"num_players": 3, "penalty": "interactive"}, 4),
    "semnadtsat": ({"num_players": 3, "num_deals": 2}, 1),
    "semerik": ({"horizon": "deal"}, 4),
}


HEAD = '{"format": "trysim-record", "version": 1, '


def words_for(game, options, out, *more, agents=("random",)):
    chosen = [word for key, value in options.items() for word in ("--option", f"{key}={value}")]
    words = ["record", game, "--agents", *agents, *chosen, "--out", str(out)]
    return [*words, "--episodes", "3", "--seed", "5", *more]


def lines(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


# Recording --------------------------------------------------------------------------------------
@pytest.mark.parametrize(("game", "options"), VARIETY)
def test_every_record_verifies_and_is_repeated(tmp_path, capsys, game, options):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    assert main(words_for(game, options, one, "--legal")) == 0
    assert main(words_for(game, options, two, "--legal")) == 0
    assert one.read_bytes() == two.read_bytes()
    assert main(["verify", str(one)]) == 0
    assert capsys.readouterr().out == f"{one}: 3 of 3 records good\n"
    for record in lines(one):
        assert record["options"] == GAMES[game].complete_options(options)
        assert all(len(entry) == 3 for deal in record["deals"] for entry in deal["actions"])


def test_agents_by_seat(tmp_path):
    file, agents = tmp_path / "x.jsonl", ("random", "greedy", "random", "greedy")
    assert main(words_for("semerik", {"horizon": "deal"}, file, agents=agents)) == 0
    assert [record["agents"] for record in lines(file)] == [list(agents)] * 3


def test_the_seed_of_a_record_deals_its_first_deal(tmp_path):
    file = tmp_path / "x.jsonl"
    assert main(words_for("semerik", {}, file)) == 0
    seeds = []
    for record in lines(file):
        env = semerik_v0.raw_env()
        env.reset(seed=record["seed"])
        assert env.game.hands(env._row) == record["deals"][0]["hands"]
        assert int(env._row[env.game.words["dealer"]]) == record["deals"][0]["dealer"]
        seeds.append(record["seed"])
    assert len({*seeds}) == 3
    assert all(0 <= seed < 2**53 for seed in seeds)


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    file = tmp_path / "x.jsonl"
    file.write_text("old")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("trysim.arena.play.play_match", stop)
    assert main(words_for("semerik", {}, file)) == 130
    assert file.read_text() == "old"
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.skipif(os.name == "nt", reason="permissions")
def test_the_file_has_ordinary_permissions(tmp_path):
    file, other = tmp_path / "x.jsonl", tmp_path / "other"
    other.write_text("")
    assert main(words_for("semerik", {"horizon": "deal"}, file)) == 0
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


# Verifying --------------------------------------------------------------------------------------
def record_of(game, keep_legal=True):
    options, seed = SHORT[game]
    n = GAMES[game].n_players(GAMES[game].complete_options(options))
    return play_match(GAMES[game], options, [make_agent("random", game)] * n, seed, keep_legal)


def verify(tmp_path, capsys, *records):
    """Exit status and output of `verify` for a file of these records."""
    file = tmp_path / "file.jsonl"
    text = "".join(r if isinstance(r, str) else dumps(r) + "\n" for r in records)
    file.write_text(text, encoding="utf-8")
    status = main(["verify", str(file)])
    return status, capsys.readouterr().out.replace(str(file), "FILE")


def other_value(game, value):
    """Something else of the same kind."""
    if isinstance(value, bool) or value is None:
        return 0
    if isinstance(value, (int, float)):
        return value + 1
    texts = GAMES[game].actions if value in GAMES[game].actions else ("strike", "extra_blow")
    return texts[texts.index(value) - 1] if value in texts else "strike"


def entries(value, path=()):
    """The path of every number and text in a record's part."""
    if isinstance(value, (dict, list)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from entries(part, (*path, key))
    else:
        yield path


def changed(record, path, change):
    """A copy of the record with one entry changed."""
    record = copy.deepcopy(record)
    *outer, last = path
    part = record
    for key in outer:
        part = part[key]
    part[last] = change(part[last])
    return record


@pytest.mark.parametrize("game", GAMES)
def test_no_changed_entry_goes_unseen(tmp_path, capsys, game):
    """Every card, turn, legal action, score, total, penalty and result, one at a time."""
    record = record_of(game)
    paths = [path for part in ("deals", "penalty", "result") if part in record
             for path in entries(record[part], (part,))]  # fmt: skip
    # Where the deck was cut, and on which of the cards of a rank, follows from nothing else.
    paths = [path for path in paths if path not in [("penalty", "cut"), ("penalty", "bottom")]]
    # Which of the dealer's trumps lay open neither; that it is one of his cards does.
    some = [path for path in paths if path[-1] != "trump_card" and len(path) < 6] + [
        path for path in paths if len(path) == 6
    ][::7]  # a seventh of the legal actions
    bad = [changed(record, path, lambda value: other_value(game, value)) for path in some]
    status, out = verify(tmp_path, capsys, *bad, record)
    seen = out.splitlines()
    assert status == 1
    assert seen[-1] == f"FILE: 1 of {len(bad) + 1} records good"
    for number, (path, line) in enumerate(zip(some, seen, strict=False), 1):
        assert line.startswith(f"FILE, line {number}: "), path


@pytest.mark.parametrize("game", GAMES)
def test_no_entry_left_out_goes_unseen(tmp_path, capsys, game):
    record = record_of(game, keep_legal=False)
    bad = []
    for path in [("deals",), ("deals", 0, "actions"), ("deals", 0, "hands"), ("result", "rewards")]:
        bad.append(changed(record, path, lambda values: values[:-1]))
        bad.append(changed(record, path, lambda values: [*values, values[-1]]))
    for path in [("result",), ("deals", 0), *([("penalty",)] if "penalty" in record else [])]:
        part = record[path[0]] if len(path) == 1 else record["deals"][0]
        for key in part:
            bad.append(changed(record, path, lambda old, key=key: {**old, key: "?"}))
            bad.append(
                changed(record, path, lambda old, key=key: {k: old[k] for k in old if k != key})
            )
    status, out = verify(tmp_path, capsys, *bad)
    assert status == 1
    assert out.splitlines()[-1] == f"FILE: 0 of {len(bad)} records good"


def swap(deal):
    first, second = deal["hands"][0], deal["hands"][1]
    first[0], second[0] = second[0], first[0]
    return deal


TAMPERED = {  # what is changed, how, and how the message begins
    "card": (("deals", 0, "actions", 4, 1), lambda card: "4C", "deal 1, action 5: "),
    "no card": (("deals", 0, "actions", 4, 1), lambda card: "9H", "deal 1, action 5: "),
    "turn": (("deals", 0, "actions", 2, 0), lambda seat: (seat + 1) % 4, "deal 1, action 3: seat"),
    "hands": (("deals", 0), swap, "deal 1, action "),
    "doubled": (("deals", 0, "hands", 1), lambda hand: [hand[1], *hand[1:]], "deal 1: "),
    "dealer": (("deals", 0, "dealer"), lambda seat: 4, "deal 1: semerik: dealer 4: seats are 0..3"),
    "score": (("deals", 0, "score", 0), lambda points: points + 1, "deal 1: score is ["),
    "totals": (("deals", 0, "totals", 1), lambda points: points + 1, "deal 1: totals is ["),
    "reward": (("result", "rewards", 3), lambda reward: reward + 1, "result: rewards is ["),
    "rewards": (("result", "rewards"), lambda rewards: None, "result: rewards is None"),
    "booked": (("result", "booked", 0), lambda points: 42, "result: booked is ["),
    "penalty": ((), lambda record: record, "result: there is a penalty"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_verify_says_where(tmp_path, capsys, what):
    path, change, message = TAMPERED[what]
    good = record_of("semerik", keep_legal=False)
    bad = changed(good, path, change) if path else {**good, "penalty": {"cut": 3}}
    status, out = verify(tmp_path, capsys, good, "\n", bad, good)
    fault, summary = out.splitlines()
    assert status == 1
    assert fault.startswith(f"FILE, line 3: {message}")
    assert summary == "FILE: 2 of 3 records good"


@pytest.mark.parametrize(
    "change", [("blows", 1), ("received", 0), ("strikes", 0), ("bottom", "TC")]
)
def test_verify_finds_a_changed_penalty(tmp_path, capsys, change):
    options = {"num_players": 3, "penalty": "auto"}
    agents = [make_agent("random", "sim_lystiv")] * 3
    seeds = iter(range(50))
    while True:
        record = play_match(GAMES["sim_lystiv"], options, agents, next(seeds))
        if record.get("penalty", {}).get("blows") == 8:
            break
    part, value = change
    changes = {
        "blows": lambda blows: blows + value,
        "received": lambda blows: [blows[0] + 1, *blows[1:]],
        "strikes": lambda strikes: [[strikes[0][0], "extra_blow"], *strikes[1:]],
        "bottom": lambda card: value,
    }
    status, out = verify(tmp_path, capsys, changed(record, ("penalty", part), changes[part]))
    assert status == 1
    assert out.startswith("FILE, line 1: result: penalty is {")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{\n", "not a line of JSON"),
        ("[1]\n", 'not a record: "format" is not'),
        ('{"format": "trysim-record", "version": 2}\n', "this release reads version 1"),
        ('{"format": "trysim-record", "version": 1}\n', '"game" is missing'),
        (HEAD + '"game": "whist"}\n', "no game 'whist'"),
        (HEAD + '"game": "semerik", "options": {"beat": 1}}\n', "allowed are best, led, none"),
        ("\udc80\n", "not a line of JSON"),
    ],
)
def test_lines_that_are_no_records(tmp_path, capsys, line, message):
    file = tmp_path / "x.jsonl"
    file.write_bytes(line.encode("utf-8", "surrogateescape"))
    assert main(["verify", str(file)]) == 1
    assert message in capsys.readouterr().out


def test_files_that_cannot_be_read(tmp_path, capsys):
    good = tmp_path / "good.jsonl"
    good.write_text(dumps(record_of("semerik")) + "\n", encoding="utf-8")
    assert main(["verify", str(tmp_path / "none.jsonl"), str(good), str(tmp_path)]) == 2
    out, errors = capsys.readouterr()
    assert out == f"{good}: 1 of 1 records good\n"
    assert len(errors.splitlines()) == 2
    assert "cannot read" in errors


def test_an_empty_file_has_no_bad_records(tmp_path, capsys):
    status, out = verify(tmp_path, capsys, "\n")
    assert (status, out) == (0, "FILE: 0 of 0 records good\n")


def test_rewards_beyond_any_float_and_other_versions_are_refused():
    agents = [make_agent("random", "semnadtsat")] * 4
    record = play_match(GAMES["semnadtsat"], {}, agents, 1)
    for change in ({"result": {**record["result"], "rewards": [10**400] * 4}}, {"version": 2},
                   {"version": True}, {"format": "other"}):  # fmt: skip
        with pytest.raises(RecordError):
            records.verify({**record, **change})
