"""The languages of the table: what texts mean in them, and how cards are lettered."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from trysim.envs.games import BadInput
from trysim.envs.table_view import player_name
from trysim.envs.texts import Text

LANGUAGES = {"en": "English", "uk": "Українська", "ru": "Русский"}
ENGLISH = "en"
_CATALOGUE = Path(__file__).parent / "texts.json"


@cache
def catalogue() -> Mapping[str, Mapping[str, str]]:
    """Every English text with what it is in the other languages."""
    texts: dict[str, dict[str, str]] = json.loads(_CATALOGUE.read_text(encoding="utf-8"))
    return texts


def check_language(language: str) -> str:
    """The language; BadInput, naming those that there are, if it is none."""
    if language not in LANGUAGES:
        raise BadInput(f"language {language!r}: there are {', '.join(LANGUAGES)}")
    return language


def translated(text: str, language: str) -> str:
    """A text (with its {places} for values) in a language; English where it has no translation."""
    return catalogue().get(text, {}).get(language, text)


def said(text: str, language: str, name: Callable[[int], str] = player_name) -> str:
    """A text of a table in a language, seats by name."""
    if not isinstance(text, Text):
        return text
    return text.said(lambda template: translated(template, language), name)
