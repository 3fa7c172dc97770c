"""The outlines of the suits, in a square from 0 to 1: all pictures of cards are made of them."""

import math
from typing import NamedTuple

Point = tuple[float, float]
Polygon = tuple[Point, ...]


class Ellipse(NamedTuple):
    """A disc around a place."""

    x: float
    y: float
    radius: float


def _heart(top: float, height: float, flip: bool = False, n: int = 120) -> Polygon:
    """A heart, or a spade's leaf where `flip`."""
    points = []
    for k in range(n):
        t = 2 * math.pi * k / n
        x = 16 * math.sin(t) ** 3
        y = 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)
        down = (12 - y) / 29  # 0 at the top of the heart, 1 at its point
        points.append((0.5 + x / 36, top + height * (1 - down if flip else down)))
    return tuple(points)


_STEM: Polygon = ((0.47, 0.5), (0.53, 0.5), (0.56, 0.8), (0.68, 0.97), (0.32, 0.97), (0.44, 0.8))
_LEAVES = tuple(Ellipse(x, y, 0.22) for x, y in ((0.5, 0.25), (0.27, 0.57), (0.73, 0.57)))

OUTLINES: dict[str, tuple[Polygon | Ellipse, ...]] = {
    "C": (*_LEAVES, _STEM),
    "D": (((0.5, 0.02), (0.86, 0.5), (0.5, 0.98), (0.14, 0.5)),),
    "H": (_heart(0.06, 0.9),),
    "S": (_heart(0.03, 0.78, flip=True), _STEM),
}
