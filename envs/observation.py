"""Observations in words: readable facts, tables for the documentation, and token histories.

The flat observation's layout stands in each rules file (`OBSERVATION`). The token history is the
complete story of a match as one seat knows it: options, then for every deal the dealer, one's own
cards, the card turned up or the seat that names trumps, and every action in order.
"""

from array import array
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.envs.games import Game
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import CUT, DEALS, FIRST_OPTION, NOBODY, SEAT

# Token codes ------------------------------------------------------------------------------------
# Seats are absolute in a stored history and relative (0 is oneself, clockwise) in an observation.
_SEATS, _CARDS = 5, 64  # room for seats, and for cards or actions
ACTED = 1  # + 64 * seat + action
DEALER = ACTED + _SEATS * _CARDS  # + seat: a new deal
HELD = DEALER + _SEATS  # + 64 * seat + card: dealt to a seat; others do not see it
TURNED_UP = HELD + _SEATS * _CARDS  # + card
DECLARED = TURNED_UP + _CARDS  # + 64 * seat + action: declared without a choice
CUT_DEPTH = DECLARED + _SEATS * _CARDS  # + depth
BOTTOM = CUT_DEPTH + _CARDS  # + card
OPTION = BOTTOM + _CARDS  # + 1 + word: the options come first, in their order
NAMER = OPTION + _CARDS  # + seat: it has the most threes and names trumps
N_TOKENS = NAMER + _SEATS
PADDING = 0

# Room for whole matches under the default options (longer ones lose their oldest deals).
MAX_TOKENS = {"sim_lystiv": 512, "semnadtsat": 1536, "semerik": 2048}


class History:
    """The events of one match, as token codes with absolute seats."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._codes = array("h")
        self._deal_starts: list[int] = []
        self._declared = [0] * game.n_seats

    def begin(self, row: Row) -> None:
        """Forget everything; note the deal on the table, be it the first of the match or not."""
        del self._codes[:]
        self._deal_starts[:] = [0] * (int(row[DEALS]) - 1)
        self.note_result(row)

    def copy(self) -> "History":
        """Another history of the same events."""
        other = History(self._game)
        other._codes = self._codes[:]
        other._deal_starts, other._declared = self._deal_starts[:], self._declared[:]
        return other

    def note(self, row_before: Row, action: int) -> None:
        """Note the action about to be carried out."""
        seat = int(row_before[SEAT])
        if row_before[self._game.words["phase"]] == CUT:
            self._codes.append(CUT_DEPTH + action + 1)
            return
        self._codes.append(ACTED + _CARDS * seat + action)
        if action >= len(self._game.deck) and self._game.name == "semerik":
            self._declared[seat] |= 1 << action - len(self._game.deck)

    def note_result(self, row: Row) -> None:
        """Note what else became public: a new deal, declarations without choice, the cut card."""
        words = self._game.words
        if row[DEALS] != len(self._deal_starts):
            self._note_deal(row)
        if self._game.name == "semerik":
            self._note_declared(row)
        elif "cut" in words and row[words["cut"]]:
            self._note_bottom(row)

    def _note_bottom(self, row: Row) -> None:
        if any(BOTTOM <= code < OPTION for code in self._codes[self._deal_starts[-1] :]):
            return
        cut = CUT_DEPTH + int(row[self._game.words["cut"]])
        if self._codes[-1] != cut:  # the cut was drawn, nobody chose it
            self._codes.append(cut)
        self._codes.append(BOTTOM + int(row[self._game.words["bottom"]]))

    def _note_deal(self, row: Row) -> None:
        game, words = self._game, self._game.words
        self._deal_starts.append(len(self._codes))
        self._declared = [0] * game.n_seats
        self._codes.append(DEALER + int(row[words["dealer"]]))
        for seat in range(game.n_players_of(row)):
            hand = int(row[words["hands"] + seat])
            held = HELD + _CARDS * seat
            self._codes.extend(held + card for card in range(len(game.deck)) if hand >> card & 1)
        if "trump_card" in words:
            self._codes.append(TURNED_UP + int(row[words["trump_card"]]))
        if "namer" in words and row[words["namer"]] != NOBODY:
            self._codes.append(NAMER + int(row[words["namer"]]))

    def _note_declared(self, row: Row) -> None:
        first, n_cards = self._game.words["declared"], len(self._game.deck)
        for seat in range(self._game.n_seats):
            new = int(row[first + seat]) & ~self._declared[seat]
            self._declared[seat] |= new
            declared = DECLARED + _CARDS * seat + n_cards
            self._codes.extend(
                declared + k for k in range(self._game.n_actions - n_cards) if new >> k & 1
            )

    def tokens(self, row: Row, seat: int, size: int = 0) -> npt.NDArray[np.int16]:
        """The match as `seat` knows it: int16 (`size` or MAX_TOKENS,), padded with 0 at the end."""
        game = self._game
        n_options = len(game.options)
        out = np.zeros(size or MAX_TOKENS[game.name], np.int16)
        out[:n_options] = OPTION + 1 + row[FIRST_OPTION : FIRST_OPTION + n_options]
        for start in self._deal_starts:
            seen = self.seen(row, seat, start)
            if n_options + seen.size <= out.size:
                out[n_options : n_options + seen.size] = seen
                break
        return out

    def seen(self, row: Row, seat: int, start: int = 0) -> npt.NDArray[np.int16]:
        """The codes that `seat` knows (N,), seats counted from it, from event `start` on."""
        table = _relative_codes(self._game.n_players_of(row), seat)
        codes = table[np.array(self._codes[start:], np.int16)]
        seen: npt.NDArray[np.int16] = codes[codes != PADDING]
        return seen


@cache
def _relative_codes(n_players: int, seat: int) -> npt.NDArray[np.int16]:
    """By code with absolute seats, the code `seat` sees: 0 for what it may not know."""
    table = np.arange(N_TOKENS, dtype=np.int16)
    numbers = np.arange(_CARDS, dtype=np.int16)
    for other in range(n_players):
        k = (other - seat) % n_players
        table[DEALER + other] = DEALER + k
        table[NAMER + other] = NAMER + k
        for block in (ACTED, DECLARED):
            table[block + _CARDS * other :][:_CARDS] = block + _CARDS * k + numbers
        held = HELD + numbers if k == 0 else PADDING
        table[HELD + _CARDS * other :][:_CARDS] = held
    return table


def describe_tokens(game: Game, tokens: npt.ArrayLike) -> list[str]:
    """A token history in words, one a token, padding left out."""
    codes = [int(token) for token in np.asarray(tokens) if token != PADDING]
    n = len(game.options)
    options = [
        f"{option.name}={option.decode(code - OPTION - 1)}"
        for option, code in zip(game.options, codes[:n], strict=True)
    ]
    return options + [describe_token(game, code) for code in codes[n:]]


def describe_token(game: Game, token: int) -> str:
    """One token of a history, not an option, in words."""
    names = game.rules.SEAT_NAMES
    if token >= NAMER:
        return f"{names[token - NAMER]} to name trumps"
    if token >= BOTTOM:
        return f"bottom card {game.deck[token - BOTTOM]}"
    if token >= CUT_DEPTH:
        return f"cut:{token - CUT_DEPTH}"
    if token >= DECLARED:
        seat, action = divmod(token - DECLARED, _CARDS)
        return f"{names[seat]} {game.actions[action]}"
    if token >= TURNED_UP:
        return f"turned up {game.deck[token - TURNED_UP]}"
    if token >= HELD:
        return f"dealt {game.deck[token - HELD]}"
    if token >= DEALER:
        return f"deal by {names[token - DEALER]}"
    seat, action = divmod(token - ACTED, _CARDS)
    return f"{names[seat]} {game.actions[action]}"


# Descriptions -----------------------------------------------------------------------------------
def describe(game: Game, observation: npt.ArrayLike) -> dict[str, Any]:
    """A flat observation (layout.size,) in readable words, field by field."""
    return game.layout.describe(observation)


def observation_table(game: Game) -> str:
    """The observation's layout as a Markdown table."""
    rows = ["| bits | name | groups | kind | meaning |", "|---|---|---|---|---|"]
    for field in game.layout.fields:
        part = game.layout.slice(field.name)
        groups = ", ".join(field.groups) if len(field.groups) > 1 else ""
        each = f"{len(field.groups)} × {field.width}" if groups else str(field.width)
        bits = f"{part.start}–{part.stop - 1}"
        rows.append(
            f"| {bits} | `{field.name}` | {groups} | {field.kind} ({each}) | {field.meaning} |"
        )
    if game.layout.used < game.layout.size:
        rows.append(f"| {game.layout.used}–{game.layout.size - 1} | | | | always 0 |")
    return "\n".join(rows)


def action_table(game: Game) -> str:
    """The action space as a Markdown table."""
    n = len(game.deck)
    rows = ["| ids | text | meaning |", "|---|---|---|"]
    per_suit = n // 4
    for suit, name in enumerate(("clubs", "diamonds", "hearts", "spades")):
        codes = game.deck[suit * per_suit : (suit + 1) * per_suit]
        ids = f"{suit * per_suit}–{(suit + 1) * per_suit - 1}"
        rows.append(f"| {ids} | `{' '.join(codes)}` | play a card of {name} |")
    for number in range(n, game.n_actions):
        text = game.actions[number]
        rows.append(f"| {number} | `{text}` | {_ACTION_MEANINGS[text.split(':')[0]]} |")
    if game.name == "sim_lystiv":
        rows.append("| 0–34 | `cut:1` … `cut:35` | while cutting: lift so many cards |")
    return "\n".join(rows)


_ACTION_MEANINGS = {
    "trump": "name the trump suit",
    "declare": "declare the combination before one's first card",
    "strike": "strike as often and with as many cards as agreed",
    "extra_blow": "strike once too often",
    "extra_cards": "strike with too many cards",
}
