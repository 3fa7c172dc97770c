"""Draw the tables that the documentation shows: `python docs/pictures.py` writes `docs/pictures/`.

The pictures of the browser there are made by the test that plays in it:
`TRYSIM_PICTURES=docs/pictures pytest tests/test_browser.py`.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trysim.envs.games import game_named
from trysim.envs.table_view import TableView, view
from trysim.table.match import Match
from trysim.table.vector import drawing

FOLDER = Path(__file__).parent / "pictures"


def moment(name: str, options: dict[str, Any], shown: Callable[[TableView], bool]) -> TableView:
    """The first moment of its kind in matches between experts."""
    game = game_named(name)
    n = game.n_players(game.complete_options(options))
    for seed in range(1, 1000):
        match = Match(game, options, ["expert"] * n, seed)
        while not match.is_over:
            table = view(game, match.row, 0)
            if shown(table):
                return table
            match.let_agent_act()
    raise LookupError(f"{name}: there is no such moment")


PICTURES: dict[str, tuple[str, dict[str, Any], Callable[[TableView], bool]]] = {
    "semerik": (
        "semerik",
        {"horizon": "deal"},
        lambda t: len(t.trick) == 3 and t.turn == 0 and t.trick_number == 3
        and 0 < len(t.may_play) < 4,
    ),
    "semnadtsat": ("semnadtsat", {}, lambda t: t.phase == "name trumps" and t.turn == 0),
    "sim_lystiv": (
        "sim_lystiv", {}, lambda t: len(t.trick) == 3 and t.turn == 0 and 0 < len(t.may_play) < 4,
    ),
    "penalty": (
        "sim_lystiv", {"penalty": "interactive"}, lambda t: t.phase == "cut" and t.turn == 0,
    ),
}  # fmt: skip


def main() -> int:
    """Draw and write."""
    FOLDER.mkdir(exist_ok=True)
    for name, (game, options, shown) in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(drawing(moment(game, options, shown)), encoding="utf-8")
    print(f"wrote {', '.join(f'{name}.svg' for name in PICTURES)} into {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
