"""The table in a terminal: whole matches typed, and records gone through."""

import io
import random

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from trysim.agents import make_agent
from trysim.arena.play import play_match
from trysim.envs.games import GAMES, BadInput, game_named
from trysim.envs.record import dumps, read, verify
from trysim.envs.table_view import card_text, view
from trysim.table.match import Match
from trysim.table.story import Story
from trysim.table.terminal import ask_by_keys, play, read_action, story_of, watch

RIGHT, LEFT = "\x1b[C", "\x1b[D"
SHORT = {
    "sim_lystiv": {"num_players": 3, "penalty": "interactive"},
    "semnadtsat": {"num_players": 3},
    "semerik": {"horizon": "deal"},
}


def console():
    return Console(file=io.StringIO(), width=100)


def written(console):
    return console.file.getvalue()


class Typist:
    """Types an answer at random, in one of the ways that are offered; leaves after `n`."""

    def __init__(self, seed, n=10_000):
        self.rng, self.n = random.Random(seed), n

    def __call__(self, question, answers):
        if "press Enter" in question:
            return ""
        self.n -= 1
        if self.n < 0:
            raise EOFError
        number = self.rng.randrange(len(answers))
        if answers[0].startswith("cut"):
            return str(number + 1)
        return self.rng.choice([answers[number], str(number + 1), answers[number].upper()])


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(4))
def test_whole_matches_are_typed(name, seed, tmp_path):
    game, shown = game_named(name), console()
    n = game.n_players(game.complete_options(SHORT[name]))
    path = tmp_path / "match.jsonl"
    seats = ["human", *["greedy"] * (n - 1)]
    match = Match(game, SHORT[name], seats, seed, path)
    assert play(match, shown, Typist(seed))
    (record,) = read(path)
    verify(record)
    assert "result" in written(shown)


def test_a_match_goes_on_after_a_break(tmp_path):
    game, path = game_named("semerik"), tmp_path / "match.jsonl"
    match = Match(game, SHORT["semerik"], ["human", "greedy", "human:Olena", "greedy"], 1, path)
    assert not play(match, console(), Typist(1, 4))
    match.close()
    assert play(Match.go_on(path), console(), Typist(2))


def test_several_people_do_not_see_each_others_cards():
    shown = console()
    match = Match(game_named("semerik"), {"horizon": "deal", "dealer": 3}, ["human"] * 4, 1)
    hands = match.game.hands(match.row)
    play(match, shown, Typist(1, 0))
    told = written(shown)
    for seat in (1, 2, 3):
        signs = [card_text(card) for card in hands[seat]]
        assert sum(sign in told for sign in signs) < 10


def test_what_cannot_be_is_explained():
    shown, words = console(), iter(["zz", "3c", "99", "?", "hint expert", "hint nobody", "score"])
    match = Match(game_named("semerik"), {"horizon": "deal", "dealer": 3, "declare": "off"},
                  ["human", "greedy", "greedy", "greedy"], 1)  # fmt: skip

    def ask(question, answers):
        try:
            return next(words)
        except StopIteration:
            raise EOFError from None

    assert not play(match, shown, ask)
    told = written(shown)
    for part in ("'zz': type a card", "'99': type a card", "arrow keys".capitalize(), "expert: ",
                 "no agent 'nobody'"):  # fmt: skip
        assert part in told, part
    assert len(match.story) == 0


def test_how_actions_may_be_typed():
    game = game_named("sim_lystiv")
    legal = ["7H", "TS", "strike", "extra_blow", "extra_cards"]
    typed = {
        "7h": "7H",
        "10s": "TS",
        "ts": "TS",
        "2": "TS",
        "stri": "strike",
        "extra_b": "extra_blow",
    }
    for words, action in typed.items():
        assert read_action(words, legal, game) == action
    for words in ("", "0", "6", "extra", "1z", "²", "9" * 5000):
        assert read_action(words, legal, game) is None
    cuts = [f"cut:{depth}" for depth in range(1, 36)]
    assert read_action("35", cuts, game) == "cut:35"
    assert read_action("36", cuts, game) is None


# Watching -----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def records(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    game = game_named("semerik")
    agents = [
        make_agent(spec, game) for spec in ("policy:semerik", "expert", "greedy", "pimc:worlds=5")
    ]
    with path.open("w", encoding="utf-8") as file:
        for seed in (1, 2):
            file.write(dumps(play_match(game, {"horizon": "deal"}, agents, seed)) + "\n")
    return path


def test_a_record_is_gone_through(records):
    story, agents = story_of(records, 2)
    words = iter(
        [
            "",
            "n",
            "b",
            "25",
            "hint",
            "hint expert",
            "v 2",
            "v all",
            "v 9",
            "d",
            "?",
            "zz",
            "hint",
            "q",
        ]
    )
    shown = console()
    watch(story, agents, shown, lambda question, answers: next(words))
    told, there = written(shown), view(story.game, story.row(25))
    for part in (
        "trick 1 of 10",
        f"trick {there.trick_number} of 10",
        "seats are 0..3",
        "the match is over",
        "press Enter",
        "expert: ",
    ):
        assert part in told, part


def test_autoplay_tells_every_decision(records):
    story, agents = story_of(records, 1)
    shown, words = console(), iter(["a", "q"])
    watch(story, agents, shown, lambda question, answers: next(words))
    assert written(shown).count("-> ") == len(story)


def test_there_is_no_such_record(records, tmp_path):
    with pytest.raises(BadInput, match="it holds 2"):
        story_of(records, 3)
    with pytest.raises(BadInput, match="cannot read"):
        story_of(tmp_path / "none.jsonl", 1)


def test_a_record_that_breaks_the_rules_is_told_of(records):
    record = next(read(records))
    record["deals"][0]["actions"][3][0] = 9
    with pytest.raises(BadInput, match="deal 1, action 4"):
        Story.of_record(record)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [("7h", "7h"), (RIGHT, "7h"), (RIGHT + RIGHT, "8h"), (LEFT, "strike"), (RIGHT + LEFT, "strike"),
     ("x" + RIGHT, "7h")],
)  # fmt: skip
def test_arrow_keys_go_through_what_can_be_chosen(keys, answer):
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text(keys + "\r")
        assert ask_by_keys("> ", ["7h", "8h", "strike"]) == answer
