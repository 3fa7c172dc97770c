"""A match in play: who may decide, and what is kept when it is broken off."""

import json
import random

import pytest

from trysim.agents import make_agent
from trysim.arena.play import play_match
from trysim.envs.games import GAMES, BadInput, game_named
from trysim.envs.record import read, verify
from trysim.table.match import Match, is_unfinished
from trysim.table.story import Story

SHORT = {
    "sim_lystiv": {"num_players": 3, "penalty": "interactive"},
    "semnadtsat": {"num_players": 3, "num_deals": 2},
    "semerik": {"horizon": "game"},
}


def seats_of(name, first="human"):
    n = game_named(name).n_players(game_named(name).complete_options(SHORT[name]))
    return [first, *["greedy", "random", "greedy"][: n - 1]]


def play_on(match, rng, n=10_000):
    """Let a person play at random for at most `n` decisions of his own."""
    while not match.is_over and n:
        match.let_agents_act()
        if not match.is_over:
            match.act(rng.choice(match.legal()))
            n -= 1


@pytest.mark.parametrize("name", GAMES)
def test_a_match_of_agents_is_the_match_of_the_arena(name):
    game, seats = game_named(name), seats_of(name, "greedy")
    match = Match(game, SHORT[name], seats, 5)
    match.let_agents_act()
    agents = [make_agent(spec, game) for spec in seats]
    assert match.record() == play_match(game, match.options, agents, 5)


@pytest.mark.parametrize("name", GAMES)
def test_broken_off_at_any_time_a_match_goes_on_exactly(name, tmp_path):
    whole = Match(game_named(name), SHORT[name], seats_of(name), 7)
    play_on(whole, random.Random(1))
    path, rng = tmp_path / "match.jsonl", random.Random(1)
    match = Match(game_named(name), SHORT[name], seats_of(name), 7, path)
    while not match.is_over:
        play_on(match, rng, 3)
        if not match.is_over:
            match.close()
            match = Match.go_on(path)
    assert match.record() == whole.record()
    (record,) = read(path)
    verify(record)
    assert record == whole.record()
    assert not is_unfinished(path)


def test_a_line_that_was_cut_off_is_left_out(tmp_path):
    path = tmp_path / "match.jsonl"
    match = Match(game_named("semerik"), {}, seats_of("semerik"), 7, path)
    play_on(match, random.Random(1), 3)
    match.close()
    part = tmp_path / "match.jsonl.part"
    lines = part.read_text().splitlines(keepends=True)
    part.write_text("".join(lines) + lines[-1][:4])
    again = Match.go_on(path)
    assert len(again.story) == len(lines) - 1
    again.close()
    assert part.read_text() == "".join(lines)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "no match that was broken off"),
        ("[1]\n", "no match that was broken off"),
        ("{nonsense\n", "cannot go on"),
        (json.dumps({"format": "trysim-match", "version": 9}) + "\n", "version 9"),
        (json.dumps({"format": "trysim-match", "version": 1}) + "\n", "cannot go on"),
        ("GOOD\n[0, 1, 2]\n", "cannot go on"),
        ('GOOD\n[0, "9S"]\n', "cannot go on"),
        ('GOOD\n[3, "4C"]\n', "not its turn"),
    ],
)
def test_a_broken_file_is_told_of_and_left(content, complaint, tmp_path):
    good = {"format": "trysim-match", "version": 1, "game": "semerik", "options": {"dealer": 3},
            "seats": ["human"] * 4, "seed": 1}  # fmt: skip
    part = tmp_path / "m.jsonl.part"
    part.write_text(content.replace("GOOD", json.dumps(good)))
    before = part.read_bytes()
    with pytest.raises(BadInput, match=complaint):
        Match.go_on(tmp_path / "m.jsonl")
    assert part.read_bytes() == before


def test_what_is_not_legal_changes_nothing(tmp_path):
    match = Match(
        game_named("semerik"),
        {"dealer": 3, "declare": "off"},
        seats_of("semerik"),
        7,
        tmp_path / "m",
    )
    row, part = match.row.copy(), tmp_path / "m.part"
    before = part.read_bytes()
    legal = match.legal()
    other = next(card for card in match.game.deck if card not in legal)
    for action in (other, "8H", "nonsense", "trump:S"):
        with pytest.raises(BadInput):
            match.act(action)
    assert (match.row == row).all()
    assert part.read_bytes() == before
    match.act(legal[-1])
    with pytest.raises(BadInput, match="turn of seat 1"):
        match.act(legal[0])


def test_wrong_seats_begin_nothing(tmp_path):
    path = tmp_path / "m.jsonl"
    for seats in (["human"], ["human", "nobody", "greedy", "greedy"], ["oracle"] * 4):
        with pytest.raises(BadInput):
            Match(game_named("semerik"), {}, seats, 1, path)
    assert list(tmp_path.iterdir()) == []


def test_no_match_is_written_over(tmp_path):
    path = tmp_path / "m.jsonl"
    Match(game_named("semerik"), {}, ["human"] * 4, 1, path).close()
    with pytest.raises(BadInput, match="not over"):
        Match(game_named("semerik"), {}, ["human"] * 4, 2, path)


@pytest.mark.parametrize("name", GAMES)
def test_stories_of_a_match_and_of_its_record_are_one(name):
    match = Match(game_named(name), SHORT[name], seats_of(name, "greedy"), 11)
    match.let_agents_act()
    told, kept = Story.of_record(match.record()), match.story
    assert told.decisions == kept.decisions
    game = match.game
    for moment in range(len(kept) + 1):
        a, b = told.row(moment), kept.row(moment)
        n = game.n_players_of(a)
        for seat in range(n):
            seen = game.observe(a, seat)[0], game.observe(b, seat)[0]
            assert (seen[0] == seen[1]).all(), (moment, seat)
    assert told.deals() == kept.deals()
    with pytest.raises(BadInput, match="moment"):
        kept.row(len(kept) + 1)


def test_what_cannot_be_kept_does_not_happen(tmp_path, monkeypatch):
    path = tmp_path / "m.jsonl"
    match = Match(game_named("semerik"), {"declare": "off"}, ["human"] * 4, 1, path)
    match.act(match.legal()[0])
    kept, row, file = (tmp_path / "m.jsonl.part").read_bytes(), match.row.copy(), match._file

    class Full:
        """A disk that takes half of what is written."""

        def write(self, line):
            return file.write(line[: len(line) // 2])

        def __getattr__(self, name):
            return getattr(file, name)

    monkeypatch.setattr(match, "_file", Full())
    with pytest.raises(BadInput, match="No space left"):
        match.act(match.legal()[0])
    assert (match.row == row).all()
    assert (tmp_path / "m.jsonl.part").read_bytes() == kept
    monkeypatch.setattr(match, "_file", file)
    match.act(match.legal()[0])
    match.close()
    assert len(Match.go_on(path).story) == 2
