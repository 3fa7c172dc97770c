"""`Game`: a game's rules with its compiled functions, options, action texts and cards.

Rules and engine speak in numbers and rows; everything above them asks a `Game`.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from trysim.envs.engine import GAME_MODULES, KERNELS, MASK_WORDS
from trysim.envs.rules.jit import Row, compile_once
from trysim.envs.rules.layout import Layout, option_bits
from trysim.envs.rules.row import (
    CUT,
    FIRST_OPTION,
    GONE,
    NOBODY,
    OVER,
    PHASE,
    RANDOM,
    SEAT,
    Option,
    complete,
    word,
)

_COMPILED: set[str] = set()  # games this process need not compile any more


def combinations(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the options' values, of which some may be lists."""
    values = [value if isinstance(value, list) else [value] for value in options.values()]
    return [dict(zip(options, each, strict=True)) for each in itertools.product(*values)]


class BadInput(ValueError):
    """What a person gave is wrong: the message says what, and what is allowed."""


def whole_number(text: str) -> int | None:
    """A whole number from 0 as people write it, in at most 18 digits; None for other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


@dataclass(frozen=True)
class Game:
    """One game. `n_seats` and `n_actions` are the largest of all options."""

    rules: ModuleType
    kernels: SimpleNamespace

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return game_named, (self.name,)

    @cached_property
    def _n_bits(self) -> int:
        return self.layout.size

    @cached_property
    def _n_seen_words(self) -> int:
        return self.layout.size // 8 + MASK_WORDS

    @property
    def name(self) -> str:
        """The game's name, as in environment ids, records and on the command line."""
        return str(self.rules.NAME)

    @property
    def options(self) -> tuple[Option, ...]:
        """The options in the order of their words."""
        return tuple(self.rules.OPTIONS)

    @property
    def deck(self) -> tuple[str, ...]:
        """Card codes by number."""
        return tuple(self.rules.DECK)

    @property
    def actions(self) -> tuple[str, ...]:
        """Action texts by number; while cutting, action k is `cut:k+1` instead."""
        return tuple(self.rules.ACTIONS)

    @cached_property
    def n_actions(self) -> int:
        """Size of the action space."""
        return len(self.rules.ACTIONS)

    @property
    def n_seats(self) -> int:
        """The most players."""
        return int(self.rules.N_SEATS)

    @property
    def layout(self) -> Layout:
        """What the observation's bits mean."""
        layout: Layout = self.rules.OBSERVATION
        return layout

    @property
    def n_words(self) -> int:
        """Words of a row."""
        return int(self.rules.STATE.itemsize) // 8

    @cached_property
    def words(self) -> dict[str, int]:
        """The place of each named word in a row."""
        return {name: word(self.rules.STATE, name) for name in self.rules.STATE.names}

    # Options ------------------------------------------------------------------------------------
    def complete_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every option with its value; BadInput for unknown names or values."""
        try:
            options = complete(self.options, given)
        except ValueError as error:
            raise BadInput(f"{self.name}: {error}") from None
        n = options.get("num_players", self.n_seats)
        if options["dealer"] is not None and options["dealer"] >= n:
            raise BadInput(f"{self.name}: option dealer={options['dealer']}: seats are 0..{n - 1}")
        return options

    def n_players(self, options: Mapping[str, Any]) -> int:
        """Players under complete options."""
        return int(options.get("num_players", self.n_seats))

    def compile(self) -> None:
        """Compile the game's functions now, saying so, unless this machine has done it before.

        Happens by itself with a process's first table; call it before starting workers.
        """
        if self.name not in _COMPILED:
            _COMPILED.add(self.name)
            compile_once(self.name, self._use_every_kernel)

    def _use_every_kernel(self) -> None:
        """Call what environments call: numba compiles a function when it is first called."""
        kernels, one = self.kernels, np.zeros(1, np.int64)
        rows = self.new_row({}, 0)[None]
        row, n_seats = rows[0], self.n_seats
        kernels.begin(row)
        deck = np.array([self.card_number(card) for card in self.cards(self.rules.pack(row))])
        kernels.give_deck(row, deck, 0)
        self.observe(row, 0), self.view(row, 0), self.other_hands(row, 0), self.returns(row)
        kernels.apply(row, self.legal_actions(row)[0])
        kernels.settle(row)
        kernels.step(row, self.legal_actions(row)[0])
        paid, rewards, done = np.zeros((1, n_seats)), np.zeros((1, n_seats)), np.zeros(1, np.bool_)
        kernels.begin_tables(rows, one, paid)
        actions = np.array(self.legal_actions(row)[:1])
        kernels.first_illegal(rows, one, actions)
        kernels.step_tables(rows, one, actions, paid, rewards, done)
        observations = np.zeros((1, self.layout.size // 8), np.int64)
        masks, packed = np.zeros((1, MASK_WORDS), np.int64), np.zeros(self.layout.n_words, np.int64)
        kernels.observe_tables(rows, one, packed, observations, masks, one.copy())
        kernels.view_tables(rows, one, np.zeros_like(rows), one.copy())
        kernels.count_legal(rows, one, one.copy())
        hands = np.zeros((1, (n_seats - 1) * len(self.deck)), np.int8)
        kernels.other_hands_tables(rows, one, hands)

    def new_row(self, options: Mapping[str, Any], seed: int) -> Row:
        """A table with these options and this seed; no match has begun."""
        self.compile()
        full = self.complete_options(options)
        row = np.zeros(self.n_words, np.int64)
        values = [option.encode(full[option.name]) for option in self.options]
        row[FIRST_OPTION : FIRST_OPTION + len(values)] = values
        row[self.words["option_bits"]] = option_bits(self.options, values)
        row[PHASE] = OVER
        row[SEAT] = NOBODY
        self.reseed(row, seed)
        return row

    def options_of(self, row: Row) -> dict[str, Any]:
        """The options of a table."""
        values = row[FIRST_OPTION : FIRST_OPTION + len(self.options)]
        return {o.name: o.decode(int(v)) for o, v in zip(self.options, values, strict=True)}

    @staticmethod
    def reseed(row: Row, seed: int) -> None:
        """Set the table's random word from a seed (any whole number from 0)."""
        row[RANDOM] = np.random.SeedSequence(seed).generate_state(1, np.uint64).view(np.int64)[0]

    # Actions ------------------------------------------------------------------------------------
    def legal_actions(self, row: Row) -> list[int]:
        """The numbers of the actions open to the seat to act, rising."""
        legal = int(self.kernels.legal(row))
        return [action for action in range(self.n_actions) if legal >> action & 1]

    def action_text(self, row: Row, action: int) -> str:
        """The text of an action at this table."""
        if row[PHASE] == CUT:
            return f"cut:{action + 1}"
        return self.actions[action]

    def action_number(self, row: Row, text: str) -> int:
        """The number of an action; BadInput if this game has none of that text."""
        place = whole_number(text.removeprefix("cut:")) if text.startswith("cut:") else None
        if row[PHASE] == CUT and place is not None:
            return place - 1
        try:
            return self._action_numbers[text]
        except KeyError:
            raise BadInput(f"{self.name}: no action {text!r}; a card is written 7H") from None

    @cached_property
    def _action_numbers(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self.actions)}

    def check_legal(self, row: Row, action: Any) -> None:
        """Raise BadInput, naming action and legal ones, unless `action` is a legal number."""
        exists = isinstance(action, (int, np.integer)) and 0 <= action < self.n_actions
        if exists and int(self.kernels.legal(row)) >> int(action) & 1:
            return
        named = self.action_text(row, int(action)) if exists else "no action of this game"
        allowed = " ".join(self.action_text(row, other) for other in self.legal_actions(row))
        seat = int(row[SEAT])
        raise BadInput(
            f"{self.name}: action {action!r} ({named}) is not legal for seat {seat}; "
            f"legal: {allowed or 'nothing, the match is over'}"
        )

    # Cards --------------------------------------------------------------------------------------
    def cards(self, card_set: int) -> list[str]:
        """The codes of a set of cards, in deck order."""
        return [code for number, code in enumerate(self.deck) if int(card_set) >> number & 1]

    def card_number(self, code: Any) -> int:
        """A card's number; BadInput for a code that is no card of this game."""
        number = self._action_numbers.get(code) if isinstance(code, str) else None
        if number is None or number >= len(self.deck):
            raise BadInput(f"{self.name}: {code!r} is no card; cards are written 7H, TS")
        return number

    def hands(self, row: Row) -> list[list[str]]:
        """The cards in each seat's hand."""
        first = self.words["hands"]
        return [self.cards(row[first + seat]) for seat in range(self.n_players_of(row))]

    def n_players_of(self, row: Row) -> int:
        """Players of a table."""
        return int(self.rules.n_players(row))

    # What is seen and paid ----------------------------------------------------------------------
    def observe(self, row: Row, seat: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """What a seat sees and may do: 0/1 int8 (layout.size,) and (n_actions,), fresh arrays."""
        out = np.empty(self._n_seen_words, np.int64)
        self.kernels.observe(row, seat, out)
        seen = out.view(np.int8)
        return seen[: self._n_bits], seen[self._n_bits : self._n_bits + self.n_actions]

    def view(self, row: Row, seat: int) -> Row:
        """The table as a seat knows it: a row with everything hidden from it blank."""
        out = np.empty_like(row)
        self.kernels.view(row, seat, out)
        return out

    def other_hands(self, row: Row, seat: int) -> npt.NDArray[np.int8]:
        """The other seats' hands, clockwise from `seat`: 0/1 int8 ((n_seats - 1) * cards,)."""
        out = np.empty((self.n_seats - 1) * len(self.deck), np.int8)
        self.kernels.other_hands(row, seat, out)
        return out

    def returns(self, row: Row) -> npt.NDArray[np.float64]:
        """Rewards paid so far in the episode, by seat (players,)."""
        out = np.zeros(self.n_seats)
        self.kernels.returns(row, out)
        return out[: self.n_players_of(row)]

    @staticmethod
    def is_over(row: Row) -> bool:
        """Whether the match is over."""
        return bool(row[PHASE] == OVER)

    @staticmethod
    def is_gone(row: Row, seat: int) -> bool:
        """Whether a seat will never act again and has its final reward."""
        return bool(int(row[GONE]) >> seat & 1)

    # Giving deals -------------------------------------------------------------------------------
    def give_deal(
        self, row: Row, hands: Sequence[Sequence[str]], dealer: int, trump_card: str | None = None
    ) -> None:
        """Deal these hands, one list of cards a seat, at a table that waits for a deal.

        Сім листів: `trump_card` is the dealer's last card; seats that are out hold nothing.
        Raises BadInput, leaving the table as it was, if they cannot have been dealt.
        """
        n = self.n_players_of(row)
        if not isinstance(dealer, (int, np.integer)) or not 0 <= dealer < n:
            raise BadInput(f"{self.name}: dealer {dealer!r}: seats are 0..{n - 1}")
        due = int(row[self.words["dealer"]])
        if due not in (NOBODY, dealer) and int(row[self.words["deals"]]):
            raise BadInput(f"{self.name}: dealer {dealer}: seat {due} is to deal")
        if not isinstance(hands, (list, tuple)) or len(hands) != n:
            raise BadInput(f"{self.name}: hands must be {n} lists of cards, one a seat")
        if not all(isinstance(hand, (list, tuple)) for hand in hands):
            raise BadInput(f"{self.name}: each hand must be a list of cards")
        deck = self._deck_for(row, [list(hand) for hand in hands], int(dealer), trump_card)
        row[self.words["dealer"]] = dealer
        self.kernels.give_deck(row, deck, 0)

    def _deck_for(
        self, row: Row, hands: list[list[str]], dealer: int, trump_card: str | None
    ) -> Row:
        """The deck that, dealt from `dealer`'s left, gives these hands."""
        out = int(row[self.words["out"]]) if "out" in self.words else 0
        active = [seat for seat in range(len(hands)) if not out >> seat & 1]
        pack = self.cards(self.rules.pack(row))
        size = self.rules.HAND_SIZE if self.name == "sim_lystiv" else len(pack) // len(active)
        for seat, hand in enumerate(hands):
            expected = size if seat in active else 0
            if len(hand) != expected:
                raise BadInput(f"{self.name}: seat {seat} has {len(hand)} cards, not {expected}")
        held = [card for hand in hands for card in hand]
        for card in held:
            self.card_number(card)
            if card not in pack:
                raise BadInput(f"{self.name}: {card} is not in the deck of this table")
            if held.count(card) > 1:
                raise BadInput(f"{self.name}: {card} is dealt twice")
        if self.name == "sim_lystiv":
            if trump_card not in hands[dealer]:
                raise BadInput(
                    f"{self.name}: trump_card {trump_card!r} is not in the dealer's hand"
                )
            hands[dealer].remove(trump_card)
            hands[dealer].append(trump_card)
        order = [seat for seat in active if seat > dealer] + [s for s in active if s <= dealer]
        dealt = [hands[seat][k] for k in range(size) for seat in order]
        rest = [card for card in pack if card not in held]
        return np.array([self.card_number(card) for card in dealt + rest], np.int64)

    def give_deck(self, row: Row, deck: Sequence[str], dealer: int | None = None) -> None:
        """Deal from a whole deck, top first, one card at a time, left of the dealer first."""
        pack = self.cards(self.rules.pack(row))
        numbers = [self.card_number(card) for card in deck]
        if sorted(numbers) != [self.card_number(card) for card in pack]:
            raise BadInput(f"{self.name}: a deck of this table has these cards: {' '.join(pack)}")
        n = self.n_players_of(row)
        if dealer is not None:
            if not isinstance(dealer, (int, np.integer)) or not 0 <= dealer < n:
                raise BadInput(f"{self.name}: dealer {dealer!r}: seats are 0..{n - 1}")
            row[self.words["dealer"]] = dealer
        self.kernels.give_deck(row, np.array(numbers, np.int64), 0)


GAMES = {
    module.NAME: Game(module, kernels)
    for module, kernels in zip(GAME_MODULES, KERNELS, strict=True)
}


def game_named(name: str) -> Game:
    """The game of that name; BadInput, naming the games, if there is none."""
    try:
        return GAMES[name]
    except KeyError:
        raise BadInput(f"no game {name!r}: there are {', '.join(GAMES)}") from None
