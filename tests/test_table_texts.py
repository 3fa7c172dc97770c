"""Every text that people see is said in all languages, with all its places."""

import re
from pathlib import Path

import pytest

from trysim.envs.games import GAMES, game_named
from trysim.envs.table_view import action_label, view
from trysim.envs.texts import Text
from trysim.table.how_to_play import HOW_TO_PLAY
from trysim.table.languages import LANGUAGES, catalogue, said
from trysim.table.match import Match
from trysim.table.reasons import why_not

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ["envs/table_view.py", "table/reasons.py", "table/house.py", "table/server.py"]
OTHERS = [language for language in LANGUAGES if language != "en"]


def texts_of_code():
    for name in SOURCES:
        yield from re.findall(r'Text\(\s*"((?:[^"\\]|\\.)+)"', (ROOT / name).read_text())
    for page in (ROOT / "table" / "pages").glob("*.js"):
        yield from re.findall(r'\bsay\("((?:[^"\\]|\\.)+)"', page.read_text(encoding="utf-8"))
    for game in GAMES.values():
        yield from (option.meaning for option in game.options)
        yield from HOW_TO_PLAY[game.name]
    index = (ROOT / "table" / "pages" / "index.html").read_text(encoding="utf-8")
    yield from re.findall(r'data-say="([^"]+)"', index)


@pytest.mark.parametrize("text", sorted(set(texts_of_code())))
def test_every_text_is_translated(text):
    known = catalogue()[text]
    assert sorted(known) == sorted(OTHERS)
    places = sorted(re.findall(r"\{\w+\}", text))
    for language in OTHERS:
        assert sorted(re.findall(r"\{\w+\}", known[language])) == places, language


def words_of(thing):
    """The texts in a view."""
    if isinstance(thing, Text):
        yield thing
    elif isinstance(thing, (tuple, list)):
        for part in thing:
            yield from words_of(part)
    elif hasattr(thing, "__dataclass_fields__"):
        for name in thing.__dataclass_fields__:
            yield from words_of(getattr(thing, name))


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(3))
def test_whole_matches_are_told_without_english(name, seed):
    options = {"penalty": "interactive"} if name == "sim_lystiv" else {}
    game = game_named(name)
    n = game.n_players(game.complete_options(options))
    match = Match(game, options, ["random"] * n, seed)
    names = "АБВГД"
    while not match.is_over:
        match.let_agent_act()
        table = view(game, match.row, 0)
        texts = [*words_of(table), *map(action_label, table.legal)]
        texts += [why for card in table.seats[0].hand if (why := why_not(table, 0, card))]
        for text in texts:
            for language in OTHERS:
                told = said(text, language, lambda seat: names[seat])
                assert not re.search(r"[a-z{]", told), (text, told)


def test_a_text_is_english_by_itself():
    match = Match(game_named("semerik"), {}, ["random"] * 4, 1)
    match.let_agents_act()
    result = view(match.game, match.row).result
    assert result == str(result)
    assert re.fullmatch(r"pair \d\+\d wins \d+ : \d+|equal, .*", result)
    assert said(result, "uk", lambda seat: f"<{seat}>").startswith(("пара <", "порівну"))
