"""The table painted as SVG: still, or moving from moment to moment by itself."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

from trysim.envs.card_pictures import Colour, suit_colour, text_width
from trysim.envs.rules.cards import SUITS
from trysim.envs.table_picture import (
    CARD_RATIO,
    DIMMED,
    HEIGHT,
    OUTLINED,
    PLAIN,
    WIDTH,
    Box,
    paint_on,
)
from trysim.envs.table_view import SUIT_SIGNS, TableView
from trysim.table.cards import RANKS, back_symbol, card_symbol, suit_symbol

_FONT = 'font-family="DejaVu Sans, Arial, sans-serif"'
_WHITE: Colour = (244, 246, 244)
_GOLD = "#ffca3a"
_FINE = 8  # pixels a unit in which widths of texts are measured
_SUITS = {sign: suit for suit, sign in SUIT_SIGNS.items()}


class VectorSheet:
    """A sheet of 960 x 640 units that gathers SVG elements in `parts`."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.cards: set[str] = set()  # those that are drawn somewhere, "back" among them

    def ground(self) -> None:
        """Room, table and panel without anything on them."""
        self.parts.append('<use href="#ground"/>')

    def box(
        self,
        box: Box,
        fill: tuple[int, ...] | None,
        edge: Colour | None = None,
        round_by: float = 6,
        line: float = 1.5,
    ) -> None:
        """A box with round corners."""
        left, top, right, bottom = box
        border = f' stroke="{_rgb(edge)}" stroke-width="{line}"' if edge else ""
        self.parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{bottom - top:.1f}" rx="{round_by}" {_filled(fill)}{border}/>'
        )

    def disc(self, x: float, y: float, radius: float, fill: Colour, letter: str) -> None:
        """A small disc with a letter."""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {_filled(fill)}/>')
        self.text(x, y, letter, radius * 1.35, (24, 26, 34), "middle", bold=True)

    def card(self, card: str | None, x: float, y: float, width: float, look: str = PLAIN) -> None:
        """A card (its back if None) with its upper left corner here."""
        name = card or "back"
        self.cards.add(name)
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:g}" height="{width * CARD_RATIO:.1f}"'
        self.parts.append(f'<use href="#{name}" {place}/>')
        radius = width / 9
        if look == DIMMED:
            self.parts.append(f'<rect {place} rx="{radius:.1f}" fill="#3a4842" opacity="0.47"/>')
        if look == OUTLINED:
            border = f'fill="none" stroke="{_GOLD}" stroke-width="{width / 18:.1f}"'
            self.parts.append(f'<rect {place} rx="{radius:.1f}" {border}/>')

    def suit(self, suit: str, x: float, y: float, size: float, colour: Colour) -> None:
        """A suit's sign around a place."""
        self.parts.append(
            f'<use href="#suit-{suit}" x="{x - size / 2:.1f}" y="{y - size / 2:.1f}" '
            f'width="{size:g}" height="{size:g}" color="{_rgb(colour)}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 13,
        colour: Colour = _WHITE,
        align: str = "left",
        bold: bool = False,
    ) -> None:
        """A line of text around the height `y`, from, around or up to `x`."""
        anchor = {"left": "start", "middle": "middle", "right": "end"}[align]
        weight = ' font-weight="700"' if bold else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" font-size="{size:.1f}" '
            f'text-anchor="{anchor}" {_filled(colour)}{weight}>{_with_suits(text)}</text>'
        )

    def width_of(self, text: str, size: float) -> float:
        """How many units a line of text takes, about."""
        return text_width(text, round(size * _FINE)) / _FINE


def _rgb(colour: Sequence[int]) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour[:3])


def _filled(colour: Sequence[int] | None) -> str:
    if colour is None:
        return 'fill="none"'
    alpha = f' fill-opacity="{colour[3] / 255:.2f}"' if len(colour) > 3 else ""
    return f'fill="{_rgb(colour)}"{alpha}'


def _with_suits(text: str) -> str:
    """A line of text, its suits in their own colours."""
    return "".join(
        f'<tspan fill="{_rgb(suit_colour(_SUITS[sign], on_dark=True))}">{sign}</tspan>'
        if sign in _SUITS
        else escape(sign)
        for sign in text
    )


# Whole pictures ---------------------------------------------------------------------------------
def drawing(table: TableView) -> str:
    """A table as one SVG."""
    sheet = VectorSheet()
    paint_on(sheet, table)
    return _document([sheet], "")


def moving(tables: Iterable[TableView], fps: float) -> str:
    """Tables one after another, `fps` of them a second, over and over, as one SVG."""
    sheets = []
    for table in tables:
        sheet = VectorSheet()
        paint_on(sheet, table)
        sheets.append(sheet)
    seconds, share = len(sheets) / fps, 100 / len(sheets)
    style = (
        ".m{visibility:hidden;animation:show "
        f"{seconds:.2f}s steps(1,end) infinite}}"
        f"@keyframes show{{0%{{visibility:visible}}{share:.5f}%,100%{{visibility:hidden}}}}"
    )
    return _document(sheets, f"<style>{style}</style>", 1 / fps)


def _document(sheets: Sequence[VectorSheet], style: str, apart: float = 0.0) -> str:
    used = set().union(*(sheet.cards for sheet in sheets))
    symbols = [card_symbol(rank + suit) for suit in SUITS for rank in RANKS if rank + suit in used]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {_FONT}>',
            style,
            f"<defs>{_ground()}{''.join(symbols)}{back_symbol()}{_suits()}</defs>",
            *(_frame(sheet, number * apart, bool(style)) for number, sheet in enumerate(sheets)),
            "</svg>",
            "",
        ]
    )


def _frame(sheet: VectorSheet, begin: float, is_moving: bool) -> str:
    content = "".join(sheet.parts)
    if not is_moving:
        return f"<g>{content}</g>"
    return f'<g class="m" style="animation-delay:{begin:.3f}s">{content}</g>'


def _ground() -> str:
    """Room, table and panel, as in pixels."""
    return (
        '<radialGradient id="cloth"><stop offset="0" stop-color="#186842"/>'
        '<stop offset="1" stop-color="#0c422a"/></radialGradient><g id="ground">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#131d1b"/>'
        '<rect x="4" y="40" width="732" height="596" rx="44" fill="#5e3c22"/>'
        '<rect x="8" y="44" width="724" height="588" rx="40" fill="url(#cloth)"/>'
        '<rect x="742" y="44" width="210" height="588" rx="10" fill="#1e2a27"/></g>'
    )


def _suits() -> str:
    return "".join(suit_symbol(suit) for suit in SUITS)
