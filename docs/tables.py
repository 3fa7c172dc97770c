"""Write the generated part of the documentation: observation, action and option tables.

`python docs/tables.py` writes `docs/tables/<game>.md`; `--check` fails if they are stale.
"""

import difflib
import sys
from pathlib import Path

from trysim.envs import GAMES, Game
from trysim.envs.observation import action_table, observation_table

FOLDER = Path(__file__).parent / "tables"


def option_table(game: Game) -> str:
    """The options of a game as a Markdown table."""
    rows = ["| option | default | allowed | meaning |", "|---|---|---|---|"]
    for option in game.options:
        default = str(option.default).lower() if option.default is None else option.default
        rows.append(f"| `{option.name}` | {default} | {option.allowed()} | {option.meaning} |")
    return "\n".join(rows)


def page(game: Game) -> str:
    """The page of a game."""
    return (
        f"# {game.name}: options, actions, observation\n\n"
        "Made by `make docs` from the code; do not edit.\n\n"
        f"## Options\n\n{option_table(game)}\n\n"
        f"## Actions ({game.n_actions})\n\n{action_table(game)}\n\n"
        f"## Flat observation ({game.layout.size} × int8, 0 or 1)\n\n"
        "Seats and groups are counted clockwise from the observing seat. "
        "*cards*: one bit a card in deck order; *count*: as many ones as the count, from the left; "
        "*one of*: at most one bit; *flags*: any; *number*: two's complement, lowest bit first.\n\n"
        f"{observation_table(game)}\n"
    )


def main() -> int:
    """Write the pages, or check them."""
    stale = 0
    FOLDER.mkdir(exist_ok=True)
    for game in GAMES.values():
        path, text = FOLDER / f"{game.name}.md", page(game)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale += 1
            old = path.read_text(encoding="utf-8") if path.exists() else ""
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True)))
            print(f"{path} is stale: run `make docs`")
    return min(stale, 1)


if __name__ == "__main__":
    sys.exit(main())
