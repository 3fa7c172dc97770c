"""Texts for people, which can be said in other languages."""

from collections.abc import Callable
from typing import Any


class Player(int):
    """A seat in a text: `player_0` where nobody gives it another name."""

    def __format__(self, form: str) -> str:
        return f"player_{int(self)}"


class Pair(int):
    """A pair of partners in a text, by its first seat: `0+2`."""

    def __format__(self, form: str) -> str:
        return f"{int(self)}+{int(self) + 2}"


class Text(str):
    """English as it is; `template` and `values` are what another language needs.

    Values may be texts themselves.
    """

    __slots__ = ("template", "values")
    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> "Text":
        """The English text of `template.format(**values)`."""
        self = super().__new__(cls, template.format(**values))
        self.template, self.values = template, values
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.template,), self.values

    def said(self, translate: Callable[[str], str], name: Callable[[int], str]) -> str:
        """The text in the language of `translate`, seats by `name`."""
        values = {key: _said(value, translate, name) for key, value in self.values.items()}
        return translate(self.template).format(**values)


def _said(value: Any, translate: Callable[[str], str], name: Callable[[int], str]) -> Any:
    if isinstance(value, Text):
        return value.said(translate, name)
    if isinstance(value, Pair):
        return pair_name(int(value), name)
    return name(int(value)) if isinstance(value, Player) else value


def pair_name(first: int, name: Callable[[int], str]) -> str:
    """What a pair is called, by its first seat."""
    return f"{name(first)} + {name(first + 2)}"
