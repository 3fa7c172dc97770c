"""What a table looks like to somebody, as data for a page: texts are said, numbers plain."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from trysim.agents.thoughts import Thought
from trysim.envs.games import Game
from trysim.envs.rules.jit import Row
from trysim.envs.table_view import TableView, action_label, view
from trysim.envs.texts import pair_name
from trysim.table.languages import said, translated
from trysim.table.match import is_person, person_name
from trysim.table.reasons import why_not


def seat_names(seats: Sequence[str], language: str) -> Callable[[int], str]:
    """How the seats of these specs are called: people by their names, agents by their specs.

    Where names are alike the number of the seat, from 1, tells them apart.
    """

    def called(seat: int) -> str:
        spec = seats[seat]
        if is_person(spec):
            return person_name(spec) or translated("player", language)
        return spec

    def name(seat: int) -> str:
        alike = sum(called(other) == called(seat) for other in range(len(seats))) > 1
        is_nameless = is_person(seats[seat]) and not person_name(seats[seat])
        return f"{called(seat)} {seat + 1}" if alike or is_nameless else called(seat)

    return name


def picture(
    game: Game, row: Row, eyes: int | None, language: str, name: Callable[[int], str]
) -> dict[str, Any]:
    """A table as `eyes` see it (a seat; None sees all hands, NOBODY none), in a language.

    The fields of `TableView`, and `actions`, the legal ones with their labels; `why_not` tells of
    the cards in the own hand that may not be played now.
    """
    table = view(game, row, eyes)
    told: dict[str, Any] = _told(table, language, name)
    for seat in told["seats"]:
        seat["name"] = name(seat["seat"])
    n_columns = len(table.score.columns)
    called = name if n_columns == len(table.seats) else lambda pair: pair_name(pair, name)
    told["score"]["columns"] = [called(column) for column in range(n_columns)]
    told["phase_code"] = str(table.phase)
    told["actions"] = {action: said(action_label(action), language, name) for action in table.legal}
    told["why_not"] = _why_not_all(table, language, name)
    return told


def _why_not_all(table: TableView, language: str, name: Callable[[int], str]) -> dict[str, str]:
    if table.seat is None or not 0 <= table.seat < len(table.seats):
        return {}
    reasons = {card: why_not(table, table.seat, card) for card in table.seats[table.seat].hand}
    return {card: said(why, language, name) for card, why in reasons.items() if why is not None}


def _told(thing: Any, language: str, name: Callable[[int], str]) -> Any:
    """Dataclasses as dictionaries, texts in a language."""
    if is_dataclass(thing) and not isinstance(thing, type):
        return {f.name: _told(getattr(thing, f.name), language, name) for f in fields(thing)}
    if isinstance(thing, (list, tuple)):
        return [_told(part, language, name) for part in thing]
    return said(thing, language, name) if isinstance(thing, str) else thing


def thought_told(
    thought: Thought, value: float | None, language: str, name: Callable[[int], str]
) -> dict[str, Any]:
    """What an agent thinks, for a page: best first; `value` is what it expects of its own play."""
    numbers = sorted(thought.numbers.items(), key=lambda item: -item[1])
    return {
        **asdict(thought),
        "choice_label": said(action_label(thought.choice), language, name),
        "numbers": [
            [action, said(action_label(action), language, name), number]
            for action, number in numbers
        ],
        "value": value,
    }
