"""Pictures of suits, cards and texts, drawn with Pillow; sizes in pixels, everything cached.

Texts may contain the suits ♣ ♦ ♥ ♠: the bundled font lacks them, so they are drawn as shapes.
"""

import math
import re
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from trysim.envs.card_shapes import OUTLINES, Ellipse
from trysim.envs.table_view import SUIT_SIGNS

Colour = tuple[int, int, int]
Picture = Image.Image
Font = ImageFont.ImageFont | ImageFont.FreeTypeFont

RED: Colour = (204, 27, 45)
BLACK: Colour = (24, 26, 34)
_PALE_RED: Colour = (255, 128, 122)
_PALE: Colour = (236, 238, 240)
_FACE: Colour = (252, 251, 246)
_COURT_FACE: Colour = (250, 238, 205)
_EDGE: Colour = (112, 112, 112)
_BACK: Colour = (38, 66, 128)
_BACK_LINE: Colour = (150, 174, 226)
_GOLD: Colour = (255, 202, 58)
_GREY_VEIL = (58, 72, 66, 120)
_FINE = 4  # shapes are drawn this much larger, then reduced
_LETTERS = {sign: suit for suit, sign in SUIT_SIGNS.items()}
_SIGNS = re.compile(f"([{''.join(_LETTERS)}])")


@lru_cache(maxsize=64)
def font(size: int) -> Font:
    """Pillow's own font."""
    return ImageFont.load_default(size=max(size, 1))


# Suits ------------------------------------------------------------------------------------------
@lru_cache(maxsize=256)
def suit_shape(suit: str, size: int) -> Picture:
    """A suit (C D H S) as a mask, `size` pixels high and wide."""
    big = max(size, 1) * _FINE
    mask = Image.new("L", (big, big))
    draw = ImageDraw.Draw(mask)
    for shape in OUTLINES[suit]:
        if isinstance(shape, Ellipse):
            x, y, radius = shape
            draw.ellipse([big * v for v in (x - radius, y - radius, x + radius, y + radius)], 255)
        else:
            draw.polygon([(big * x, big * y) for x, y in shape], 255)
    return mask.resize((max(size, 1), max(size, 1)), Image.Resampling.BOX)


def suit_colour(suit: str, on_dark: bool = False) -> Colour:
    """The colour of a suit on a light or a dark ground."""
    if suit in "DH":
        return _PALE_RED if on_dark else RED
    return _PALE if on_dark else BLACK


# Texts ------------------------------------------------------------------------------------------
@lru_cache(maxsize=1024)
def text_picture(text: str, size: int, colour: Colour, bold: bool = False) -> Picture:
    """A line of text (RGBA), suits drawn as shapes in their own colours."""
    letters = font(size)
    parts = [part for part in _SIGNS.split(text) if part]
    widths = [_part_width(part, letters, size) for part in parts]
    picture = Image.new("RGBA", (max(sum(widths) + 2, 1), round(size * 1.4) + 2), (*colour, 0))
    draw, x = ImageDraw.Draw(picture), 1
    for part, width in zip(parts, widths, strict=True):
        if part in _LETTERS:
            _place_suit(picture, _LETTERS[part], x, size)
        else:
            for shift in range(1 + bold * max(1, size // 24)):  # bold: printed side by side
                draw.text((x + shift, size * 1.05), part, colour, letters, anchor="ls")
        x += width
    return picture


def text_width(text: str, size: int) -> int:
    """How wide a line of text is."""
    return sum(_part_width(part, font(size), size) for part in _SIGNS.split(text) if part)


def _part_width(part: str, letters: Font, size: int) -> int:
    return size if part in _LETTERS else math.ceil(letters.getlength(part))


def _place_suit(picture: Picture, suit: str, x: int, size: int) -> None:
    shape = suit_shape(suit, round(size * 0.88))
    picture.paste(suit_colour(suit, on_dark=True), (x, round(size * 0.24)), shape)


# Cards ------------------------------------------------------------------------------------------
@lru_cache(maxsize=512)
def card_face(card: str, width: int, height: int) -> Picture:
    """A card (RGBA) with rank and suit at the left, where a fan leaves it free, and a big suit."""
    rank, suit = card[0], card[1]
    picture = _blank(width, height, _COURT_FACE if rank in "JQKA" else _FACE)
    colour = suit_colour(suit)
    side = round(width * 0.46)
    at = width - side - round(width * 0.06), height - side - round(height * 0.08)
    picture.paste(colour, at, suit_shape(suit, side))
    _draw_index(picture, rank, suit, width)
    return picture


def _draw_index(picture: Picture, rank: str, suit: str, width: int) -> None:
    text, size = "10" if rank == "T" else rank, round(width * 0.4)
    colour, letters = suit_colour(suit), font(size)
    left, top, right, bottom = letters.getbbox(text, stroke_width=max(1, width // 48))
    glyphs = Image.new("L", (math.ceil(right - left), math.ceil(bottom - top)))
    ImageDraw.Draw(glyphs).text((-left, -top), text, 255, letters, stroke_width=max(1, width // 48))
    room, high = round(width * 0.36), round(width * 0.33)
    glyphs = glyphs.resize((min(glyphs.width, room), high), Image.Resampling.LANCZOS)
    at = round(width * 0.26) - glyphs.width // 2, round(width * 0.1)
    picture.paste(colour, at, glyphs)
    side = round(width * 0.27)
    picture.paste(colour, (round(width * 0.26) - side // 2, round(width * 0.48)),
                  suit_shape(suit, side))  # fmt: skip


@lru_cache(maxsize=16)
def card_back(width: int, height: int) -> Picture:
    """A card's back (RGBA)."""
    picture = _blank(width, height, _FACE)
    inner = Image.new("RGB", (width, height), _BACK)
    draw, step = ImageDraw.Draw(inner), max(width // 7, 2)
    for x in range(-height, width + height, step):
        draw.line((x, 0, x + height, height), _BACK_LINE, max(width // 60, 1))
        draw.line((x, 0, x - height, height), _BACK_LINE, max(width // 60, 1))
    edge = max(width // 14, 2)
    hole = Image.new("L", (width, height))
    ImageDraw.Draw(hole).rounded_rectangle(
        (edge, edge, width - edge - 1, height - edge - 1), width // 14, fill=255
    )
    picture.paste(inner, (0, 0), hole)
    return picture


@lru_cache(maxsize=512)
def dimmed(card: str, width: int, height: int) -> Picture:
    """A card that may not be played, or lies there no more."""
    veil = Image.new("RGBA", (width, height), _GREY_VEIL)
    face = card_face(card, width, height)
    grey = Image.alpha_composite(face, veil)
    grey.putalpha(face.getchannel("A"))
    return grey


@lru_cache(maxsize=512)
def outlined(card: str, width: int, height: int) -> Picture:
    """A card with a golden edge."""
    face = card_face(card, width, height).copy()
    ImageDraw.Draw(face).rounded_rectangle(
        (0, 0, width - 1, height - 1), width // 9, outline=_GOLD, width=max(width // 18, 2)
    )
    return face


def _blank(width: int, height: int, colour: Colour) -> Picture:
    picture = Image.new("RGBA", (width, height))
    ImageDraw.Draw(picture).rounded_rectangle(
        (0, 0, width - 1, height - 1), width // 9, colour, _EDGE, max(width // 64, 1)
    )
    return picture
