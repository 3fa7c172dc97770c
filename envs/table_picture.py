"""A picture of a table: a green cloth with the seats around it, and a panel with the score.

Everything is placed on a sheet of 960 x 640 units (`paint_on`). `Sheet` is one of pixels, drawn at
twice the size and reduced; whatever has its methods can be painted on as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from trysim.envs.card_pictures import (
    Colour,
    Picture,
    card_back,
    card_face,
    dimmed,
    outlined,
    suit_colour,
    suit_shape,
    text_picture,
    text_width,
)
from trysim.envs.table_view import (
    SeatView,
    TableView,
    TrickCard,
    action_label,
    player_name,
)

WIDTH, HEIGHT = 960, 640
_FINE = 2  # drawn this much larger, then reduced

Box = tuple[float, float, float, float]  # left, top, right, bottom

_ROOM: Colour = (19, 29, 27)
_RIM: Colour = (94, 60, 34)
_CLOTH: Colour = (24, 104, 66)
_CLOTH_EDGE: Colour = (12, 66, 42)
_WHITE: Colour = (244, 246, 244)
_GREY: Colour = (166, 180, 174)
_GOLD: Colour = (255, 202, 58)
_INK: Colour = (24, 26, 34)
_PALE_RED: Colour = (255, 128, 122)
_BLUE: Colour = (112, 184, 255)
_LOSER = (150, 36, 44, 235)
_PLATE = (8, 26, 20, 205)
_PANEL = (30, 42, 39, 255)
_CAPTION = (8, 26, 20, 150)

_TABLE: Box = (8, 44, 732, 632)
_CENTRE = (370.0, 318.0)
_TRICK_CARD = 60.0
CARD_RATIO = 1.42  # height by width
_PANEL_BOX: Box = (742, 44, 952, 632)


# Where things are -------------------------------------------------------------------------------
@dataclass(frozen=True)
class Place:
    """Where a seat is: the middle of its plate's line, its hand's cards, its card in the trick."""

    x: float  # middle of plate and hand
    plate: float  # middle of the plate, from the top
    card: float  # width of a hand's card
    room: float  # the most a row of cards may take
    per_row: int
    trick: tuple[float, float]  # from the table's centre to the middle of the card played

    @property
    def hand(self) -> float:
        """The hand's upper edge, right below the plate."""
        return self.plate + (34.0 if self is _BOTTOM else 18.0)

    def step(self, n_cards: int) -> float:
        """From card to card in a row of so many."""
        return min(self.card * 0.9, (self.room - self.card) / max(n_cards - 1, 1))


_BOTTOM = Place(370, 500, 64, 632, 13, (0, 52))
_PLACES: dict[int, tuple[Place, ...]] = {
    2: (_BOTTOM, Place(370, 66, 50, 376, 13, (0, -52))),
    3: (
        _BOTTOM,
        Place(134, 112, 50, 212, 7, (-56, -40)),
        Place(606, 112, 50, 212, 7, (56, -40)),
    ),
    4: (
        _BOTTOM,
        Place(126, 232, 50, 206, 7, (-72, 0)),
        Place(370, 66, 50, 376, 13, (0, -52)),
        Place(614, 232, 50, 206, 7, (72, 0)),
    ),
    5: (
        _BOTTOM,
        Place(116, 262, 50, 170, 5, (-78, 26)),
        Place(202, 66, 50, 284, 10, (-41, -62)),
        Place(538, 66, 50, 284, 10, (41, -62)),
        Place(624, 262, 50, 170, 5, (78, 26)),
    ),
}


def _places(table: TableView) -> list[Place]:
    """The place of each seat: the one that looks on at the bottom, the others clockwise."""
    n, first = len(table.seats), max(table.seat or 0, 0)
    return [_PLACES[n][(seat - first) % n] for seat in range(n)]


# The sheet --------------------------------------------------------------------------------------
PLAIN, DIMMED, OUTLINED = "plain", "dimmed", "outlined"  # looks of a card


class Surface(Protocol):
    """What can be painted on; places and lengths are in units."""

    def ground(self) -> None:
        """Room, table and panel without anything on them."""
        ...

    def box(
        self,
        box: Box,
        fill: tuple[int, ...] | None,
        edge: Colour | None = None,
        round_by: float = 6,
        line: float = 1.5,
    ) -> None:
        """A box with round corners."""
        ...

    def disc(self, x: float, y: float, radius: float, fill: Colour, letter: str) -> None:
        """A small disc with a letter."""
        ...

    def card(self, card: str | None, x: float, y: float, width: float, look: str = PLAIN) -> None:
        """A card (its back if None) with its upper left corner here."""
        ...

    def suit(self, suit: str, x: float, y: float, size: float, colour: Colour) -> None:
        """A suit's sign around a place."""
        ...

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
        ...

    def width_of(self, text: str, size: float) -> float:
        """How many units a line of text takes."""
        ...


class Sheet:
    """A picture that is drawn on in units; `unit` is how many of its pixels one unit has."""

    def __init__(self, width: int, height: int) -> None:
        self.unit = _FINE * min(width / WIDTH, height / HEIGHT)
        self.left = (width * _FINE - WIDTH * self.unit) / 2
        self.top = (height * _FINE - HEIGHT * self.unit) / 2
        self.picture = Image.new("RGB", (width * _FINE, height * _FINE), _ROOM)
        self.draw = ImageDraw.Draw(self.picture, "RGBA")

    def at(self, x: float, y: float) -> tuple[int, int]:
        """Pixels of a place."""
        return round(self.left + x * self.unit), round(self.top + y * self.unit)

    def size(self, units: float) -> int:
        """Pixels of a length, at least one."""
        return max(round(units * self.unit), 1)

    def ground(self) -> None:
        """Room, table and panel without anything on them."""
        self.picture.paste(_ground(self.picture.width // _FINE, self.picture.height // _FINE))

    def box(
        self,
        box: Box,
        fill: tuple[int, ...] | None,
        edge: Colour | None = None,
        round_by: float = 6,
        line: float = 1.5,
    ) -> None:
        """A box with round corners."""
        corners = (*self.at(*box[:2]), *self.at(*box[2:]))
        radius = self.size(round_by) if round_by else 0
        self.draw.rounded_rectangle(corners, radius, fill, edge, self.size(line) if edge else 0)

    def disc(self, x: float, y: float, radius: float, fill: Colour, letter: str) -> None:
        """A small disc with a letter."""
        corners = (*self.at(x - radius, y - radius), *self.at(x + radius, y + radius))
        self.draw.ellipse(corners, fill)
        self.text(x, y, letter, radius * 1.35, _INK, "middle", bold=True)

    def card(self, card: str | None, x: float, y: float, width: float, look: str = PLAIN) -> None:
        """A card (its back if None) with its upper left corner here."""
        size = self.size(width), self.size(width * CARD_RATIO)
        picture = card_back(*size) if card is None else _LOOKS[look](card, *size)
        self.picture.paste(picture, self.at(x, y), picture)

    def suit(self, suit: str, x: float, y: float, size: float, colour: Colour) -> None:
        """A suit's sign around a place."""
        shape = suit_shape(suit, self.size(size))
        self.picture.paste(colour, self.at(x - size / 2, y - size / 2), shape)

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
        picture = text_picture(text, self.size(size), colour, bold)
        left, middle = self.at(x, y)
        left -= {"left": 0, "middle": picture.width // 2, "right": picture.width}[align]
        self.picture.paste(picture, (left, middle - round(self.size(size) * 0.7)), picture)

    def width_of(self, text: str, size: float) -> float:
        """How many units a line of text takes."""
        return text_width(text, self.size(size)) / self.unit


_LOOKS = {PLAIN: card_face, DIMMED: dimmed, OUTLINED: outlined}


def paint(table: TableView, width: int, height: int) -> npt.NDArray[np.uint8]:
    """The picture of a table: (height, width, 3) uint8."""
    sheet = Sheet(width, height)
    paint_on(sheet, table)
    return np.array(sheet.picture.reduce(_FINE))


def paint_on(sheet: Surface, table: TableView) -> None:
    """Paint a table."""
    sheet.ground()
    _paint_header(sheet, table)
    for place, seat in zip(_places(table), table.seats, strict=True):
        _paint_seat(sheet, table, place, seat)
    _paint_centre(sheet, table)
    _paint_panel(sheet, table)
    if table.over:
        _paint_end(sheet, table)


@lru_cache(maxsize=4)
def _ground(width: int, height: int) -> Picture:
    """Room, table and panel without anything on them."""
    sheet = Sheet(width, height)
    left, top, right, bottom = _TABLE
    sheet.box((left - 4, top - 4, right + 4, bottom + 4), _RIM, round_by=44)
    mask = Image.new("L", sheet.picture.size)
    corners = (*sheet.at(left, top), *sheet.at(right, bottom))
    ImageDraw.Draw(mask).rounded_rectangle(corners, sheet.size(40), 255)
    cloth = _cloth((corners[2] - corners[0], corners[3] - corners[1]))
    sheet.picture.paste(cloth, corners[:2], mask.crop(corners))
    sheet.box(_PANEL_BOX, _PANEL, round_by=10)
    return sheet.picture


def _cloth(size: tuple[int, int]) -> Picture:
    """Green, lighter in the middle of the table."""
    light = Image.radial_gradient("L").resize(size)
    return Image.composite(
        Image.new("RGB", size, _CLOTH_EDGE), Image.new("RGB", size, _CLOTH), light
    )


# The header -------------------------------------------------------------------------------------
def _paint_header(sheet: Surface, table: TableView) -> None:
    sheet.text(16, 20, table.game.replace("_", " "), 19, _WHITE, bold=True)
    sheet.text(370, 20, _where_in_match(table), 15, _GREY, "middle")
    sheet.text(944, 20, _whose_turn(table), 16, _GOLD, "right", bold=True)


def _where_in_match(table: TableView) -> str:
    if table.phase == "play":
        return f"deal {table.deal} · trick {table.trick_number} of {table.hand_size}"
    return f"deal {table.deal} · {table.phase}" if table.deal else table.phase


def _whose_turn(table: TableView) -> str:
    if table.turn is None:
        return table.result
    deeds = {"name trumps": "names trumps", "cut": "cuts", "strike": "strikes"}
    return f"{player_name(table.turn)} {deeds.get(table.phase, 'to play')}"


# A seat -----------------------------------------------------------------------------------------
def _paint_seat(sheet: Surface, table: TableView, place: Place, seat: SeatView) -> None:
    _paint_plate(sheet, place, seat)
    rows = _paint_hand(sheet, table, place, seat)
    _paint_captions(sheet, place, _captions(seat), rows)


def _paint_plate(sheet: Surface, place: Place, seat: SeatView) -> None:
    """The seat's name, with D for the dealer, L for the leader, and the tricks taken."""
    left, right, y = place.x - 84, place.x + 84, place.plate
    fill = _LOSER if seat.loser else _PLATE
    sheet.box((left, y - 13, right, y + 13), fill, _GOLD if seat.to_act else None, 13, 2.5)
    name_colour = _GOLD if seat.to_act else _GREY if seat.out else _WHITE
    sheet.text(left + 14, y, seat.name, 14, name_colour, bold=seat.to_act)
    x = left + 88
    for holds, colour, letter in ((seat.dealer, _WHITE, "D"), (seat.leader, _BLUE, "L")):
        if holds:
            sheet.disc(x, y, 8.5, colour, letter)
        x += 18
    _paint_pile(sheet, right - 44, y, seat.tricks)


def _paint_pile(sheet: Surface, x: float, y: float, n_tricks: int) -> None:
    sheet.card(None, x, y - 8, 11)
    sheet.text(x + 16, y, str(n_tricks), 14, _WHITE, bold=True)


def _paint_hand(sheet: Surface, table: TableView, place: Place, seat: SeatView) -> int:
    """The hand below the plate, face-down cards first; returns how many rows it took."""
    cards: list[str | None] = [None] * seat.n_hidden
    cards += seat.hand
    rows = _rows(cards, place.per_row)
    high = place.card * CARD_RATIO
    step = place.step(len(rows[0])) if rows else 0.0
    for k, row in enumerate(rows):
        x = place.x - ((len(row) - 1) * step + place.card) / 2
        for card in row:
            raised = seat.to_act and card in table.may_play
            y = place.hand + k * high * 0.63 - (_raise(place) if raised else 0)
            sheet.card(card, x, y, place.card, _look_in_hand(table, seat, card))
            if card in seat.shown:
                _mark_shown(sheet, x, y, place.card)
            x += step
    return len(rows)


def _rows(cards: Sequence[str | None], per_row: int) -> list[Sequence[str | None]]:
    """The cards in as few rows as they need, the rows of about the same length."""
    n_rows = -(-len(cards) // per_row)
    size = -(-len(cards) // max(n_rows, 1))
    return [cards[size * k : size * (k + 1)] for k in range(n_rows)]


def _raise(place: Place) -> float:
    return 14 if place is _BOTTOM else 4


def _look_in_hand(table: TableView, seat: SeatView, card: str | None) -> str:
    if card is None or not seat.to_act or not table.may_play:
        return PLAIN
    return OUTLINED if card in table.may_play else DIMMED


def _mark_shown(sheet: Surface, x: float, y: float, width: float) -> None:
    """A blue bar at the upper edge of a card that everybody knows."""
    sheet.box((x + width * 0.1, y + 1.5, x + width * 0.42, y + 4.5), _BLUE, round_by=1.5)


def _captions(seat: SeatView) -> list[str]:
    texts = [*seat.declarations, *seat.notes]
    return [" · ".join(texts[k : k + 2]) for k in range(0, len(texts), 2)]


def _paint_captions(sheet: Surface, place: Place, captions: Sequence[str], rows: int) -> None:
    """What the seat has declared or done: below its hand, above the plate at the bottom."""
    if place is _BOTTOM:
        y, down = place.plate - 25, -20.0
    else:
        high = place.card * CARD_RATIO * (1 + 0.63 * (rows - 1)) if rows else 0
        y, down = place.hand + high + 12, 20.0
    for caption in captions:
        half = sheet.width_of(caption, 13) / 2 + 8
        sheet.box((place.x - half, y - 9, place.x + half, y + 9), _CAPTION, round_by=9)
        sheet.text(place.x, y, caption, 13, _WHITE, "middle")
        y += down


# The middle of the table ------------------------------------------------------------------------
def _paint_centre(sheet: Surface, table: TableView) -> None:
    if table.phase == "name trumps":
        _paint_naming(sheet, table)
    elif table.phase == "cut":
        _paint_cut(sheet)
    elif table.phase == "strike":
        _paint_strike(sheet, table)
    elif table.trick:
        _paint_trick(sheet, table, table.trick, finished=False)
    elif table.last_trick:
        _paint_trick(sheet, table, table.last_trick, finished=True)


def _paint_trick(
    sheet: Surface, table: TableView, trick: Sequence[TrickCard], finished: bool
) -> None:
    """The cards towards those who played them; the winning one has a golden edge."""
    places = _places(table)
    width, high = _TRICK_CARD, _TRICK_CARD * CARD_RATIO
    for played in trick:
        right, down = places[played.seat].trick
        look = OUTLINED if played.winning else DIMMED if finished else PLAIN
        x, y = _CENTRE[0] + right - width / 2, _CENTRE[1] + down - high / 2
        sheet.card(played.card, x, y, width, look)
    if finished:
        sheet.text(_CENTRE[0], _CENTRE[1] + 108, "last trick", 13, _GREY, "middle")


def _paint_naming(sheet: Surface, table: TableView) -> None:
    """The suits that may be named."""
    x, y = _CENTRE
    sheet.text(x, y - 60, _whose_turn(table), 17, _GOLD, "middle", bold=True)
    left = x - 31 * (len(table.legal) - 1)
    for k, action in enumerate(table.legal):
        suit, middle = action[-1], left + 62 * k
        sheet.box((middle - 26, y - 26, middle + 26, y + 26), _WHITE, _GOLD, 8, 2)
        sheet.suit(suit, middle, y, 36, suit_colour(suit))


def _paint_cut(sheet: Surface) -> None:
    """The shuffled deck, waiting for the cut."""
    x, y = _CENTRE
    for k in range(6):
        sheet.card(None, x - 37 + 1.5 * k, y - 52 - 2.5 * k, 74)
    sheet.text(x, y + 76, "the loser cuts: 1 .. 35", 15, _WHITE, "middle")


def _paint_strike(sheet: Surface, table: TableView) -> None:
    """The bottom card, the blows it gives, and how one may strike."""
    if table.penalty is None or table.penalty.bottom is None:
        return
    x, y = _CENTRE
    sheet.card(table.penalty.bottom, x - 37, y - 106, 74)
    sheet.text(x, y + 20, f"{table.penalty.blows} blows", 20, _WHITE, "middle", bold=True)
    sheet.text(x, y + 50, _whose_turn(table), 15, _GOLD, "middle", bold=True)
    for k, action in enumerate(table.may_choose):
        middle = x + 116 * (k - 1)
        sheet.box((middle - 54, y + 68, middle + 54, y + 94), _PLATE, _GOLD, 13)
        sheet.text(middle, y + 81, action_label(action), 14, _WHITE, "middle")


# The end ----------------------------------------------------------------------------------------
def _paint_end(sheet: Surface, table: TableView) -> None:
    """A banner in the place of the lowest hand: how the match ended, the rewards."""
    sheet.box((70, 538, 670, 624), (8, 20, 16, 225), _GOLD, 12, 2)
    sheet.text(370, 560, f"match over: {table.result}", 20, _GOLD, "middle", bold=True)
    wide = 580 / len(table.seats)
    for k, seat in enumerate(table.seats):
        x, reward = 80 + wide * (k + 0.5), seat.reward or 0.0
        sheet.text(x, 586, seat.name, 13, _GREY, "middle")
        colour = _PALE_RED if reward < 0 else _WHITE
        sheet.text(x, 607, f"{reward:+.4g}" if reward else "0", 17, colour, "middle", bold=True)


# The panel --------------------------------------------------------------------------------------
def _paint_panel(sheet: Surface, table: TableView) -> None:
    y = _PANEL_BOX[1] + 20
    y = _panel_trumps(sheet, table, y)
    y = _panel_score(sheet, table, y)
    y = _panel_lines(sheet, "match", table.standing, y)
    y = _panel_penalty(sheet, table, y)
    if table.phase == "play" and table.may_choose:
        texts = [action_label(action) for action in table.may_choose]
        _panel_lines(sheet, f"{player_name(table.turn or 0)} may", texts, y)
    _panel_legend(sheet, table)


def _heading(sheet: Surface, text: str, y: float) -> float:
    """A heading; returns the height of the line below it."""
    left, _, right, _ = _PANEL_BOX
    sheet.text(left + 14, y, text, 13, _GOLD, bold=True)
    sheet.box((left + 14, y + 11, right - 14, y + 11.5), (90, 106, 100), round_by=0)
    return y + 26


def _panel_trumps(sheet: Surface, table: TableView, y: float) -> float:
    if not table.has_trumps:
        return y
    y, left = _heading(sheet, "trumps", y), _PANEL_BOX[0] + 14
    if table.trump is None:
        named = "to be named" if table.phase == "name trumps" else "no trumps"
        sheet.text(left, y, named if table.deal else "-", 15)
        return y + 30
    sheet.box((left, y - 12, left + 52, y + 40), _WHITE, round_by=8)
    sheet.suit(table.trump, left + 26, y + 14, 38, suit_colour(table.trump))
    if table.trump_card:
        sheet.card(table.trump_card, left + 132, y - 12, 42)
        sheet.text(left + 66, y + 14, "turned up", 13, _GREY)
    return y + 68


def _panel_score(sheet: Surface, table: TableView, y: float) -> float:
    """The score: a column for each player or pair."""
    y, (left, _, right, _) = _heading(sheet, "score", y), _PANEL_BOX
    columns = [name.removeprefix("player_") for name in table.score.columns]
    step = min((right - left - 84) / len(columns), 46)
    ends = [right - 14 - step * k for k in reversed(range(len(columns)))]
    for x, name in zip(ends, columns, strict=True):
        turn = table.turn is not None and str(table.turn) in name.split("+")
        sheet.text(x, y, name, 13, _GOLD if turn else _GREY, "right", bold=turn)
    for label, numbers in table.score.rows:
        y += 22
        sheet.text(left + 14, y, label, 13, _GREY)
        widest = max(sheet.width_of(str(number), 14) for number in numbers)
        size = 14 * min(1, (step - 3) / widest)
        for x, number in zip(ends, numbers, strict=True):
            sheet.text(x, y, str(number), size, _PALE_RED if number < 0 else _WHITE, "right")
    return y + 34


def _panel_lines(sheet: Surface, heading: str, lines: Sequence[str], y: float) -> float:
    if not lines:
        return y
    y = _heading(sheet, heading, y)
    for line in lines:
        sheet.text(_PANEL_BOX[0] + 14, y, line, 13)
        y += 20
    return y + 14


def _panel_penalty(sheet: Surface, table: TableView, y: float) -> float:
    if table.penalty is None or table.penalty.bottom is None:
        return y
    y, left = _heading(sheet, "penalty", y), _PANEL_BOX[0] + 14
    sheet.card(table.penalty.bottom, left, y - 10, 42)
    blows = f"{table.penalty.blows} blows" if table.penalty.blows else "forgiven"
    sheet.text(left + 56, y + 4, "bottom card", 13, _GREY)
    sheet.text(left + 56, y + 22, f"cut at {table.penalty.depth}", 13, _GREY)
    sheet.text(left + 56, y + 42, blows, 16, bold=True)
    return y + 74


def _panel_legend(sheet: Surface, table: TableView) -> None:
    left, _, _, bottom = _PANEL_BOX
    y = bottom - 18
    sheet.disc(left + 22, y, 8, _WHITE, "D")
    sheet.text(left + 35, y, "dealer", 12, _GREY)
    sheet.disc(left + 88, y, 8, _BLUE, "L")
    sheet.text(left + 101, y, "leader", 12, _GREY)
    sheet.card(None, left + 148, y - 8, 10)
    sheet.text(left + 163, y, "tricks", 12, _GREY)
    if any(seat.shown for seat in table.seats):
        sheet.box((left + 14, y - 26, left + 30, y - 22), _BLUE, round_by=1.5)
        sheet.text(left + 35, y - 24, "known to all", 12, _GREY)
