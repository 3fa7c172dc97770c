"""Whole matches in readable files: a change of play, dealing or scoring shows as a diff.

    python tests/test_playthroughs.py --write

writes `playthroughs/*.txt` anew; look at the difference before committing it.
"""

import difflib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trysim.envs.engine import random_bits
from trysim.envs.games import Game, game_named
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import NOBODY, OVER, PHASE, PLAY, SEAT, named

FOLDER = Path(__file__).resolve().parent / "playthroughs"

# File name: game, seed, options.
MATCHES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "sim_lystiv_default": ("sim_lystiv", 1, {}),
    "sim_lystiv_interactive": (
        "sim_lystiv",
        2,
        {
            "num_players": 5,
            "must_beat": True,
            "penalty": "interactive",
            "strike_cards": 3,
            "reward": "blows",
        },
    ),
    "sim_lystiv_race": (
        "sim_lystiv",
        30,
        {"num_players": 2, "all_out": "race", "reward": "placement", "dealer": 0},
    ),
    "semnadtsat_default": ("semnadtsat", 1, {}),
    "semnadtsat_three": (
        "semnadtsat",
        2,
        {"num_players": 3, "removed_suit": "H", "jack": "by_deal", "num_deals": 3, "reward": "win"},
    ),
    "semnadtsat_seventeen": (
        "semnadtsat",
        3,
        {"num_players": 5, "first_lead": "left", "scoring": "seventeen", "num_deals": 3},
    ),
    "semerik_default": ("semerik", 2, {}),
    "semerik_auto": (
        "semerik",
        2,
        {
            "beat": "led",
            "fallback": "suit",
            "declare": "auto",
            "sixteen": "whole_suit",
            "aces": "none",
            "horizon": "game",
            "reward": "points",
        },
    ),
    "semerik_tressette": (
        "semerik",
        7,
        {"beat": "none", "baba": "3A2", "aces": "one", "last_trick": 1, "horizon": "game"},
    ),
}


# Writing a match --------------------------------------------------------------------------------
def playthrough(name: str, seed: int, given: dict[str, Any]) -> str:
    """A random match as text, one line a trick."""
    game = game_named(name)
    options = game.complete_options(given)
    row = game.new_row(options, seed)
    game.kernels.begin(row)
    game.kernels.settle(row)
    lines = [name, *(f"{key} = {value}" for key, value in options.items()), f"seed = {seed}"]
    return "\n".join([*lines, *_match(game, row)]) + "\n"


def _match(game: Game, row: Row) -> Iterator[str]:
    yield from _deal(game, row)
    trick: list[str] = []
    ply = 0
    while row[PHASE] != OVER:
        ply += 1
        before = row.copy()
        actions = game.legal_actions(row)
        action = actions[int(random_bits(ply)) % len(actions)]
        game.kernels.step(row, action)
        trick.append(f"{before[SEAT]}:{game.action_text(before, action)}")
        if before[PHASE] != PLAY or _ends_trick(game, before, row):
            yield f"  {' '.join(trick)}{_taker(game, before, row)}"
            trick = []
        if row[PHASE] == OVER or row[game.words["deals"]] > before[game.words["deals"]]:
            yield from _declared(game, before)
            yield from _standing(game, row)
            yield from _deal(game, row) if row[PHASE] != OVER else ()


def _ends_trick(game: Game, before: Row, after: Row) -> bool:
    """Whether the card between the two positions was the last of its trick."""
    return bool(after[game.words["n_played"]] == 0 and before[game.words["trick"]])


def _taker(game: Game, before: Row, after: Row) -> str:
    """Who took the trick, as long as the deal goes on."""
    going_on = after[PHASE] == PLAY and after[game.words["deals"]] == before[game.words["deals"]]
    if before[PHASE] == PLAY and going_on:
        return f"  -> {after[game.words['leader']]}"
    return ""


def _deal(game: Game, row: Row) -> Iterator[str]:
    words = named(game.rules.STATE, row)
    yield ""
    yield f"deal {words['deals']}, dealer {words['dealer']}"
    if game.name == "sim_lystiv":
        yield f"trump card {game.deck[words['trump_card']]}"
    for seat, hand in enumerate(game.hands(row)):
        yield f"hand {seat}: {' '.join(hand) or '-'}"


def _standing(game: Game, row: Row) -> Iterator[str]:
    """What the table tells after a deal, or after the penalty."""
    words = named(game.rules.STATE, row)
    yield from _STANDINGS[game.name](game, words, game.n_players_of(row))
    yield f"rewards {_listed(round(reward, 4) for reward in game.returns(row).tolist())}"


def _declared(game: Game, before: Row) -> Iterator[str]:
    """What was declared in the deal whose last position but one is `before`."""
    if game.name != "semerik":
        return
    words = named(game.rules.STATE, before)
    for seat, declared in enumerate(words["declared"]):
        texts = [game.actions[40 + k] for k in range(14) if declared >> k & 1]
        if texts:
            yield f"declared by {seat}: {_listed(text.split(':', 1)[1] for text in texts)}"


def _listed(values: Iterable[Any]) -> str:
    return " ".join(map(str, values))


def _sim_lystiv_standing(game: Game, words: Any, n: int) -> Iterator[str]:
    yield f"counts {_listed(words['counts'][:n])}"
    yield f"left the match: {_listed(words['exits'][: words['n_exits']]) or 'nobody'}"
    if words["phase"] != OVER:
        return
    yield f"loser: {'nobody' if words['loser'] == NOBODY else words['loser']}"
    if words["bottom"] != NOBODY:
        deck = [game.deck[word >> 6 * i & 63] for word in words["penalty_deck"] for i in range(9)]
        yield f"penalty deck {_listed(deck)}"
        yield f"cut {words['cut']}, bottom card {game.deck[words['bottom']]}"
        yield f"blows {words['blows']}, received {_listed(words['received'][:n])}"


def _semnadtsat_standing(_: Game, words: Any, n: int) -> Iterator[str]:
    yield f"score {_listed(words['score'][:n])}, totals {_listed(words['totals'][:n])}"


def _semerik_standing(_: Game, words: Any, __: int) -> Iterator[str]:
    totals = f"score {_listed(words['score'])}, totals {_listed(words['score_totals'])}"
    yield f"{totals}, booked {_listed(words['booked'])}"


_STANDINGS = {
    "sim_lystiv": _sim_lystiv_standing,
    "semnadtsat": _semnadtsat_standing,
    "semerik": _semerik_standing,
}


# The test ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MATCHES)
def test_play_is_as_written(name: str) -> None:
    written = (FOLDER / f"{name}.txt").read_text()
    played = playthrough(*MATCHES[name])
    diff = difflib.unified_diff(written.splitlines(), played.splitlines(), "written", "played")
    assert played == written, "\n".join(diff)


def test_every_file_is_a_match() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(MATCHES)


def write() -> None:
    """Write every match to its file."""
    FOLDER.mkdir(exist_ok=True)
    for name, match in MATCHES.items():
        (FOLDER / f"{name}.txt").write_text(playthrough(*match))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    write()
