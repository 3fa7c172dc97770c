"""Positions in cards: a table dealt by hand, moved by texts, read by the names of its words.

A hand is a text of cards, `"7H 2H AH"`. Seat 0 leads wherever a test does not say otherwise.
"""

from typing import Any

import numpy as np

from tests.test_aec import OPTION_SETS
from trysim.envs.batch import BatchEnv
from trysim.envs.decisions import Decisions
from trysim.envs.games import Game, game_named
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import OVER, PENALTY_DECK, named

# Cards that count nothing, low to high: a trick of them goes to the last one.
PLAIN_TRICK = {
    "semerik": "4H 5H 6H 7H",
    "semnadtsat": "3H 4H 5H 6H 9H",
    "sim_lystiv": "6H 7H 8H 9H TH",
}


def cards(text: str) -> set[str]:
    """The set of the texts in `text`."""
    return set(text.split())


class Table:
    """One table: `play`, `legal` and `deal` in texts, `table["word"]` to read a word by name."""

    def __init__(self, name: str, seed: int = 0, **options: Any) -> None:
        self.game: Game = game_named(name)
        self.rules: Any = self.game.rules
        self.row: Row = self.game.new_row(options, seed)
        self.begin()

    # Words --------------------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Any:
        """The word of that name: a number, or a list of numbers."""
        return named(self.rules.STATE, self.row)[name].tolist()

    def put(self, **words: Any) -> "Table":
        """Write words by name."""
        for name, value in words.items():
            named(self.rules.STATE, self.row)[name] = value
        return self

    def cards_in(self, name: str, seat: int) -> set[str]:
        """A seat's (or pair's) set of cards in the word of that name."""
        return set(self.game.cards(self[name][seat]))

    def card_set(self, text: str) -> int:
        """The number that stands for the set of these cards."""
        return sum(1 << self.game.card_number(card) for card in text.split())

    @property
    def seat(self) -> int:
        """The seat to act."""
        return int(self["seat"])

    @property
    def over(self) -> bool:
        """Whether the match is over."""
        return bool(self["phase"] == OVER)

    @property
    def n(self) -> int:
        """Players."""
        return self.game.n_players_of(self.row)

    def returns(self) -> list[float]:
        """Rewards paid so far, by seat."""
        paid: list[float] = self.game.returns(self.row).tolist()
        return paid

    def unseen(self, seat: int) -> set[str]:
        """The cards whose place a seat does not know."""
        return set(self.game.cards(self.rules.unseen(self.row, seat)))

    # Acting -------------------------------------------------------------------------------------
    def legal(self) -> set[str]:
        """The actions open to the seat to act."""
        return {self.game.action_text(self.row, a) for a in self.game.legal_actions(self.row)}

    def play(self, texts: str) -> "Table":
        """Carry out one action or more; each must be legal."""
        for text in texts.split():
            action = self.game.action_number(self.row, text)
            self.game.check_legal(self.row, action)
            self.game.kernels.apply(self.row, action)
        return self

    def play_any(self, n: int = 1) -> "Table":
        """`n` times the first legal action."""
        for _ in range(n):
            self.game.kernels.apply(self.row, self.game.legal_actions(self.row)[0])
        return self

    # Dealing ------------------------------------------------------------------------------------
    def begin(self) -> "Table":
        """Begin a match; a deal is wanted."""
        self.game.kernels.begin(self.row)
        return self

    def settle(self) -> "Table":
        """Shuffle and deal if a deck is wanted."""
        self.game.kernels.settle(self.row)
        return self

    def pack(self) -> list[str]:
        """The cards to shuffle, in deck order."""
        return self.game.cards(self.rules.pack(self.row))

    def give(self, deck: list[str], dealer: int | None = None) -> "Table":
        """Deal from a deck, top first."""
        self.game.give_deck(self.row, deck, dealer)
        return self

    def deal(self, *hands: str, dealer: int | None = None, trump_card: str = "") -> "Table":
        """Deal these hands, short ones filled up from the rest of the deck in its order.

        The last seat deals if no `dealer` is given. Сім листів: `trump_card` is turned up.
        """
        dealer = self.n - 1 if dealer is None else dealer
        held = [text.split() for text in hands] + [[] for _ in range(self.n - len(hands))]
        if trump_card and trump_card not in held[dealer]:
            held[dealer].append(trump_card)
        rest = [card for card in self.pack() if not any(card in hand for hand in held)]
        size = 7 if self.game.name == "sim_lystiv" else len(self.pack()) // self.n
        for hand in held:
            while len(hand) < size:
                hand.append(rest.pop(0))
        self.game.give_deal(self.row, held, dealer, trump_card or None)
        return self

    # Late in a deal -----------------------------------------------------------------------------
    @property
    def hand_size(self) -> int:
        """Cards that each seat was dealt."""
        return int(self["hand_size"] if self.game.name == "semnadtsat" else self.rules.HAND_SIZE)

    def hold(self, *hands: str) -> "Table":
        """Make the table one late in its deal, the seats holding these cards and nothing else.

        The longest hand tells how many tricks are still to be played.
        """
        held = " ".join(hands).split()
        assert len(held) == len(set(held)), "a card is held twice"
        sets = [self.card_set(hand) for hand in hands] + [0] * (self.game.n_seats - len(hands))
        if "offers" in self.game.words:
            self.put(offers=0)
        n_tricks = self.hand_size - max(len(hand.split()) for hand in hands)
        return self.put(hands=sets, n_tricks=n_tricks)

    def win(self, *winners: int) -> "Table":
        """Play a trick that counts nothing for each of these seats, which takes it.

        Every seat holds just the card it plays; all are of one suit, the winner's is the highest.
        """
        for winner in winners:
            n_tricks = self["n_tricks"]
            active = self.active()
            plain = PLAIN_TRICK[self.game.name].split()[: len(active)]
            hands = {winner: plain.pop(), **{s: plain.pop() for s in active if s != winner}}
            self.hold(*(hands.get(seat, "") for seat in range(self.n))).put(n_tricks=n_tricks)
            self.play_any(len(active))
        return self

    def active(self) -> list[int]:
        """The seats that have not left the game."""
        out = self["out"] if "out" in self.game.words else 0
        return [seat for seat in range(self.n) if not out >> seat & 1]

    def last_trick(self, winner: int, **words: Any) -> "Table":
        """End the deal with a trick for `winner`; `words` tell what happened before it."""
        return self.put(n_tricks=self.hand_size - 1, **words).win(winner)


def semerik_table(*hands: str, dealer: int = 3, **options: Any) -> Table:
    """A Семерик table just dealt."""
    return Table("semerik", **options).deal(*hands, dealer=dealer)


def semnadtsat_table(*hands: str, dealer: int | None = None, **options: Any) -> Table:
    """A Семнадцать table just dealt."""
    return Table("semnadtsat", **options).deal(*hands, dealer=dealer)


def threes_table(threes: list[int], dealer: int | None = None, **options: Any) -> Table:
    """A Семнадцать table whose seats were dealt these numbers of threes."""
    table = Table("semnadtsat", num_players=len(threes), **options)
    left = [card for card in table.pack() if card[0] == "3"]
    hands = [" ".join(left.pop(0) for _ in range(count)) for count in threes]
    return table.deal(*hands, dealer=dealer)


def sim_lystiv_table(
    *hands: str, trump_card: str = "6S", dealer: int | None = None, **options: Any
) -> Table:
    """A Сім листів table just dealt."""
    return Table("sim_lystiv", **options).deal(*hands, dealer=dealer, trump_card=trump_card)


def sim_lystiv_match(*counts: int, dealer: int = 0, seed: int = 0, **options: Any) -> Table:
    """A Сім листів match whose seats have these tricks from earlier deals, just dealt.

    Who has seven or more has left, in seat order; `dealer` deals.
    """
    out = [seat for seat, count in enumerate(counts) if count >= 7]
    table = Table("sim_lystiv", seed, num_players=len(counts), dealer=dealer, **options)
    table.put(n_exits=len(out), out=sum(1 << seat for seat in out))
    if table["option_penalty"] != table.rules.PENALTY_INTERACTIVE:
        table.put(gone=table["out"])
    table.put(counts=[*counts, 0, 0, 0][:5], exits=[*out, 0, 0, 0, 0, 0][:5])
    return table.settle()


def late(game: str, *hands: str, trump: str | None = None, **options: Any) -> Table:
    """A table late in a deal, one hand a player, seat 0 to lead: see `Table.hold`."""
    n = len(hands)
    if game == "semerik":
        table = semerik_table(**options)
    elif game == "sim_lystiv":
        table = sim_lystiv_table(trump_card=f"6{trump}", num_players=n, **options)
    else:
        table = _with_trump(n, trump, **options)
    return table.hold(*hands)


def _with_trump(n: int, trump: str | None, **options: Any) -> Table:
    """A Семнадцать deal with these trumps, or none, seat 0 to lead."""
    n_threes = {3: 3, 4: 4, 5: 2}[n]
    if trump is None:
        return threes_table([1] * n_threes + [0] * (n - n_threes), **options)
    return threes_table([n_threes] + [0] * (n - 1), **options).play(f"trump:{trump}")


def win_trick(game: str, trick: str, trump: str | None = None, **options: Any) -> int:
    """The place in `trick` (from 0, in playing order) of the card that takes it."""
    table = late(game, *trick.split(), trump=trump, **options).play(trick)
    return int(table["leader"])


def semerik_deal_points(table: Table, ours: int, theirs: int) -> Table:
    """Play a Семерик deal in which the pairs make just these points, all by declarations."""
    assert table.game.name == "semerik"
    return table.settle().last_trick(0, declared_points=[ours, theirs], tricks=[4, 3, 0, 2])


def penalty_table(bottom: str, n: int = 4, loser: int = 0, **options: Any) -> Table:
    """A Сім листів table whose loser has cut `bottom` to the bottom (he lifted one card)."""
    winner = (loser + 1) % n
    counts = [6 if seat == winner else 0 if seat == loser else 7 for seat in range(n)]
    table = sim_lystiv_match(*counts, dealer=loser, penalty="interactive", **options)
    table.win(*[winner] * 7)
    assert table["phase"] == PENALTY_DECK
    deck = [bottom, *(card for card in table.pack() if card != bottom)]
    return table.give(deck).play("cut:1")


# Many tables at once ------------------------------------------------------------------------------
def mixed_tables(name: str, n: int, n_plays: int, seed: int = 5) -> BatchEnv:
    """Tables of many options, each after so many random plays."""
    options = [each for other, each in OPTION_SETS if other == name]
    env = BatchEnv(name, n, [options[k % len(options)] for k in range(n)])
    env.reset(seed)
    rng = np.random.default_rng(seed)
    for _ in range(n_plays):
        env.step(np.where(env.mask, rng.random(env.mask.shape), -1).argmax(1))
    return env


def mixed_decisions(name: str, n: int, n_plays: int, seed: int = 5) -> Decisions:
    """The decisions that wait at such tables, the k-th with the random word k."""
    env = mixed_tables(name, n, n_plays, seed)
    views, legal = np.empty_like(env.rows), np.empty(n, np.int64)
    env.game.kernels.view_tables(env.rows, np.arange(n), views, legal)
    return Decisions(env.game, views, legal, np.arange(n)).only(legal != 0)
