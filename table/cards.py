"""Cards as vector graphics: one SVG with a symbol for every card, named by its code.

The shapes are those of `trysim.envs.card_shapes`, which pictures in pixels are made of as well.
"""

from trysim.envs.card_shapes import OUTLINES, Ellipse
from trysim.envs.games import BadInput
from trysim.envs.rules.cards import SUITS

RANKS = "23456789TJQKA"
LETTERS = {
    "latin": dict(zip(RANKS, [*RANKS[:8], "10", *"JQKA"], strict=True)),
    "cyrillic": dict(zip(RANKS, [*RANKS[:8], "10", *"ВДКТ"], strict=True)),
}
COLOURS = {"C": "#181a22", "D": "#cc1b2d", "H": "#cc1b2d", "S": "#181a22"}
WIDTH, HEIGHT = 100, 142  # of a card, in units
_COURT, _PLAIN, _EDGE = "#faeecd", "#fcfbf6", "#707070"


def sprite(letters: str = "latin") -> str:
    """All cards, their backs (`back`) and the suits (`suit-H`) as symbols of one SVG."""
    if letters not in LETTERS:
        raise BadInput(f"letters {letters!r}: there are {', '.join(LETTERS)}")
    symbols = [suit_symbol(suit) for suit in SUITS]
    symbols += [card_symbol(rank + suit, letters) for suit in SUITS for rank in RANKS]
    return "\n".join(
        ['<svg xmlns="http://www.w3.org/2000/svg">', *symbols, back_symbol(), "</svg>"]
    )


def card_symbol(card: str, letters: str = "latin") -> str:
    """A card: rank and suit at the left, where a fan leaves it free, and a big suit."""
    rank, suit = card[0], card[1]
    ground = _COURT if rank in "JQKA" else _PLAIN
    text = LETTERS[letters][rank]
    squeeze = ' textLength="34" lengthAdjust="spacingAndGlyphs"' if len(text) > 1 else ""
    return (
        f'<symbol id="{card}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="10" '
        f'fill="{ground}" stroke="{_EDGE}" stroke-width="1.5"/>'
        f'<text x="25" y="42" text-anchor="middle" font-family="DejaVu Sans, Arial, sans-serif" '
        f'font-weight="700" font-size="42" fill="{COLOURS[suit]}"{squeeze}>{text}</text>'
        f"{suit_shape(suit, 12, 50, 27)}{suit_shape(suit, 46, 84, 46)}</symbol>"
    )


def suit_shape(suit: str, x: float, y: float, size: float, colour: str = "") -> str:
    """A suit with its upper left corner here."""
    parts = []
    for shape in OUTLINES[suit]:
        if isinstance(shape, Ellipse):
            cx, cy = x + size * shape.x, y + size * shape.y
            parts.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="{size * shape.radius:.1f}"/>')
        else:
            points = " ".join(f"{x + size * px:.1f},{y + size * py:.1f}" for px, py in shape)
            parts.append(f'<polygon points="{points}"/>')
    return f'<g fill="{colour or COLOURS[suit]}">{"".join(parts)}</g>'


def suit_symbol(suit: str) -> str:
    """A suit in the colour of the text around it, named `suit-H`."""
    shape = suit_shape(suit, 0, 0, 24, "currentColor")
    return f'<symbol id="suit-{suit}" viewBox="0 0 24 24">{shape}</symbol>'


def back_symbol() -> str:
    """The back of a card, named `back`."""
    lines = "".join(
        f'<path d="M{x} -10 l170 170 M{x} -10 l-170 170"/>' for x in range(-150, 260, 14)
    )
    return (
        f'<symbol id="back" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="10" fill="{_PLAIN}" '
        f'stroke="{_EDGE}" stroke-width="1.5"/>'
        f'<clipPath id="inner"><rect x="7" y="7" width="{WIDTH - 14}" height="{HEIGHT - 14}" '
        'rx="6"/></clipPath><g clip-path="url(#inner)">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#264280"/>'
        f'<g stroke="#96aee2" stroke-width="1.6">{lines}</g></g></symbol>'
    )
