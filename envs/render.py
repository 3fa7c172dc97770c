"""Drawing a table: as text, as an RGB picture, in a window.

`view` says what there is to draw; pictures need Pillow alone, a window pygame-ce, and either is
imported when it is first wanted.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.envs.games import Game
from trysim.envs.rules.jit import Row
from trysim.envs.table_view import (
    SUIT_SIGNS,
    PenaltyView,
    ScoreTable,
    SeatView,
    TableView,
    TrickCard,
    action_label,
    card_text,
    player_name,
    view,
)

__all__ = ["Frame", "SeatView", "TableView", "Window", "ansi", "rgb_array", "view"]

Frame = npt.NDArray[np.uint8]

MIN_WIDTH, MIN_HEIGHT = 240, 160
_LABEL = 12  # width of the labels at the left of a text
_RED, _BOLD, _PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"


def ansi(game: Game, row: Row, seat: int | None = None, colour: bool = False) -> str:
    """The table as text, for the eyes of `seat` or of everybody; `colour` adds escape codes."""
    text = "\n".join(_lines(view(game, row, seat)))
    return _coloured(text) if colour else text


def rgb_array(
    game: Game, row: Row, seat: int | None = None, width: int = 960, height: int = 640
) -> Frame:
    """The table as a picture (height, width, 3), for the eyes of `seat` or of everybody.

    That seat, else seat 0, is at the bottom; the others follow clockwise. Raises ValueError for a
    picture too small to be read.
    """
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        raise ValueError(f"a picture is at least {MIN_WIDTH} x {MIN_HEIGHT}: {width} x {height}")
    from trysim.envs.table_picture import paint

    return paint(view(game, row, seat), width, height)


# Text -------------------------------------------------------------------------------------------
def _lines(table: TableView) -> list[str]:
    return [
        _header(table),
        *_trump_lines(table),
        *(_seat_line(seat) for seat in table.seats),
        *_trick_lines(table),
        *_score_lines(table.score),
        *(_labelled("match", line) for line in table.standing),
        *_penalty_lines(table.penalty),
        *_end_lines(table),
    ]


def _labelled(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{text}"


def _header(table: TableView) -> str:
    parts = [f"{table.title} ({table.game})", f"deal {table.deal}", table.phase]
    if table.phase == "play":
        parts.insert(2, f"trick {table.trick_number} of {table.hand_size}")
    if table.turn is not None:
        parts.append(f"{player_name(table.turn)} to act")
    return " · ".join(parts)


def _trump_lines(table: TableView) -> Iterable[str]:
    if not table.has_trumps or not table.deal:
        return []
    text = SUIT_SIGNS[table.trump] if table.trump else "none"
    if table.phase == "name trumps":
        text = "to be named"
    if table.trump_card:
        text += f" (turned up: {card_text(table.trump_card)})"
    return [_labelled("trumps", text)]


def _seat_line(seat: SeatView) -> str:
    cards = [card_text(card) for card in seat.hand] + ["??"] * seat.n_hidden
    marks = [f"tricks {seat.tricks}"]
    marks += [mark for mark in ("dealer", "leader", "out", "loser") if getattr(seat, mark)]
    marks += [*seat.notes, *seat.declarations]
    if seat.shown:
        marks.append(f"shown {' '.join(map(card_text, seat.shown))}")
    name = f"{'>' if seat.to_act else ' '} {seat.name}"
    return f"{name:<{_LABEL}}{' '.join(cards) or '-'} | {' · '.join(marks)}"


def _trick_lines(table: TableView) -> list[str]:
    lines = [_labelled("trick", _trick_text(table.trick))]
    if table.last_trick:
        lines.append(_labelled("last trick", _trick_text(table.last_trick)))
    return lines


def _trick_text(trick: tuple[TrickCard, ...]) -> str:
    played = [
        f"{player_name(card.seat)} {card_text(card.card)}{'*' if card.winning else ''}"
        for card in trick
    ]
    return "  ".join(played) or "-"


def _score_lines(score: ScoreTable) -> list[str]:
    def line(label: str, entries: Iterable[object]) -> str:
        return _labelled(label, "".join(f"{entry!s:>10}" for entry in entries))

    return [line("", score.columns), *(line(name, numbers) for name, numbers in score.rows)]


def _penalty_lines(penalty: PenaltyView | None) -> list[str]:
    if penalty is None:
        return []
    if penalty.bottom is None:
        return [_labelled("penalty", "the loser cuts")]
    blows = f"{penalty.blows} blows" if penalty.blows else "forgiven"
    bottom = f"cut at {penalty.depth}, bottom card {card_text(penalty.bottom)}"
    return [_labelled("penalty", f"{bottom}: {blows}")]


def _end_lines(table: TableView) -> list[str]:
    """The legal actions, or how the match ended."""
    if not table.over:
        return [_labelled("legal", _legal_text(table))]
    rewards = [f"{seat.name} {seat.reward:+.4g}" for seat in table.seats]
    return [_labelled("result", table.result), _labelled("rewards", "  ".join(rewards))]


def _legal_text(table: TableView) -> str:
    if table.phase == "cut":
        return f"{table.legal[0]} .. {table.legal[-1]}"
    if table.turn is not None and not table.legal:
        return "hidden"
    return "  ".join(action_label(action) for action in table.legal) or "-"


def _coloured(text: str) -> str:
    """Red suits in red, the line of the seat to act in bold."""
    for sign in (SUIT_SIGNS["D"], SUIT_SIGNS["H"]):
        text = text.replace(sign, f"{_RED}{sign}\x1b[39m")
    lines = text.split("\n")
    return "\n".join(f"{_BOLD}{line}{_PLAIN}" if line.startswith("> ") else line for line in lines)


# A window ---------------------------------------------------------------------------------------
class Window:
    """A window that shows frames, opened by the first one; it can be closed by the person."""

    def __init__(self, title: str = "trysim") -> None:
        self.title = title
        self.closed = False
        self._pygame: Any = None
        self._surface: Any = None

    def show(self, frame: Frame) -> None:
        """Show a frame (height, width, 3); does nothing once the window is closed.

        Raises ImportError, saying what to install, without pygame-ce.
        """
        if self.closed:
            return
        height, width = frame.shape[:2]
        if self._surface is None or self._surface.get_size() != (width, height):
            self._open(width, height)
        if self._asked_to_close():
            self.close()
            return
        picture = self._pygame.image.frombuffer(frame.tobytes(), (width, height), "RGB")
        self._surface.blit(picture, (0, 0))
        self._pygame.display.flip()

    def close(self) -> None:
        """Close the window for good."""
        self.closed = True
        self._surface = None
        if self._pygame is not None:
            self._pygame.display.quit()
            self._pygame = None

    def _open(self, width: int, height: int) -> None:
        self._pygame = _import_pygame()
        self._pygame.display.init()
        self._pygame.display.set_caption(self.title)
        self._surface = self._pygame.display.set_mode((width, height))

    def _asked_to_close(self) -> bool:
        return any(event.type == self._pygame.QUIT for event in self._pygame.event.get())


def _import_pygame() -> Any:
    import os

    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError as error:
        raise ImportError('a window needs pygame-ce: pip install "trysim[human]"') from error
    return pygame
