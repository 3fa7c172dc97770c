"""`view`: all there is to draw of a table, for everybody's eyes or for one seat's.

Only this module reads rows; text and pictures are made of the `TableView` alone. Its texts, the
title apart, are English and plain ASCII but for the suits ♣ ♦ ♥ ♠ and the middle dot; those of the
kind `Text` can be said in other languages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trysim.envs.games import Game
from trysim.envs.rules import semerik
from trysim.envs.rules.cards import SUITS
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import (
    CUT,
    DEAL,
    NAME_TRUMP,
    NOBODY,
    OVER,
    PENALTY_DECK,
    PLAY,
    STRIKE,
    named,
)
from trysim.envs.texts import Pair, Player, Text

SUIT_SIGNS = dict(zip(SUITS, "♣♦♥♠", strict=True))
TITLES = {"sim_lystiv": "Сім листів", "semnadtsat": "Семнадцать", "semerik": "Семерик"}
PHASES = {
    PENALTY_DECK: Text("penalty"),
    DEAL: Text("deal"),
    PLAY: Text("play"),
    OVER: Text("over"),
    NAME_TRUMP: Text("name trumps"),
    CUT: Text("cut"),
    STRIKE: Text("strike"),
}
NOT_BEGUN = Text("not begun")
STRUCK_TEXTS = (Text("struck"), Text("an extra blow"), Text("extra cards"))

Words = dict[str, Any]  # a row's words by name: whole numbers, or lists of them


@dataclass(frozen=True)
class SeatView:
    """A seat; cards are codes such as `TS`, a place in the match counts from 1."""

    seat: int
    name: str
    hand: tuple[str, ...]  # the cards that may be seen
    n_hidden: int  # and how many more it has
    to_act: bool
    dealer: bool
    leader: bool
    gone: bool  # will never act again
    out: bool  # has left the game (Сім листів)
    place: int | None
    loser: bool
    tricks: int  # in this deal
    declarations: tuple[Text, ...]  # "baba ♥ +6"
    shown: tuple[str, ...]  # cards in the hand that everybody knows
    notes: tuple[Text, ...]  # "named ♠", "out, place 1"
    reward: float | None  # when the match is over


@dataclass(frozen=True)
class TrickCard:
    """A card on the table, who played it, and whether it wins the trick."""

    seat: int
    card: str
    winning: bool


@dataclass(frozen=True)
class ScoreTable:
    """Numbers by player or pair: `rows` are names with one number for each of `columns`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Text, tuple[int, ...]], ...]

    def row(self, name: str) -> tuple[int, ...]:
        """The numbers of that name; KeyError if there are none."""
        return dict[str, tuple[int, ...]](self.rows)[name]


@dataclass(frozen=True)
class PenaltyView:
    """The penalty of Сім листів; before the cut `depth` is 0 and `bottom` None."""

    depth: int
    bottom: str | None
    blows: int
    received: tuple[int, ...]  # by seat


@dataclass(frozen=True)
class TableView:
    """A table to be drawn."""

    game: str
    title: str
    deal: int  # from 1; 0 before the match
    phase: Text  # one of PHASES, or NOT_BEGUN
    seats: tuple[SeatView, ...]
    seat: int | None  # through whose eyes; None: all hands are seen, NOBODY: none
    turn: int | None
    trick_number: int  # of the current trick, from 1
    hand_size: int
    trick: tuple[TrickCard, ...]  # in the order of play
    last_trick: tuple[TrickCard, ...]  # the last finished one of this deal
    has_trumps: bool  # whether the game knows trumps
    trump: str | None  # suit letter, None while or if there are none
    trump_card: str | None  # the card turned up
    score: ScoreTable
    standing: tuple[Text, ...]  # the match in words
    penalty: PenaltyView | None
    legal: tuple[str, ...]  # actions of the seat to act, if they may be known
    result: Text  # how the match ended, "" before
    over: bool

    @property
    def may_play(self) -> frozenset[str]:
        """The legal actions that are cards (codes)."""
        return frozenset(action for action in self.legal if len(action) == 2)

    @property
    def may_choose(self) -> tuple[str, ...]:
        """The legal actions that are no cards, as texts."""
        return tuple(action for action in self.legal if len(action) != 2)


def view(game: Game, row: Row, seat: int | None = None) -> TableView:
    """What is to be drawn of a table; `seat` hides what that seat cannot see.

    With `NOBODY` only what everybody knows is left.
    """
    words: Words = {name: value.tolist() for name, value in _named_words(game, row)}
    begun = words["deals"] > 0
    over = begun and words["phase"] == OVER
    trump, trump_card = _trumps(game, words)
    return TableView(
        game=game.name,
        title=TITLES[game.name],
        deal=words["deals"],
        phase=PHASES[words["phase"]] if begun else NOT_BEGUN,
        seats=tuple(_seat(game, row, words, who, seat) for who in range(game.n_players_of(row))),
        seat=seat,
        turn=None if words["seat"] == NOBODY else words["seat"],
        trick_number=words["n_tricks"] + 1,
        hand_size=_hand_size(game, words),
        trick=_trick(game, words),
        last_trick=_last_trick(game, words),
        has_trumps=game.name != "semerik",
        trump=trump if begun else None,
        trump_card=trump_card if begun else None,
        score=_score(game, row, words),
        standing=_standing(game, row, words) if begun else (),
        penalty=_penalty(game, words) if begun else None,
        legal=_legal(game, row, words, seat),
        result=_result(game, row, words) if over else Text(""),
        over=over,
    )


def card_text(card: str) -> str:
    """A card code for people: `T♠`."""
    return card[0] + SUIT_SIGNS[card[1]]


def card_label(card: str) -> Text:
    """The same, to be said in a language with its own letters."""
    return Text("{rank}{suit}", rank=Text(card[0]), suit=SUIT_SIGNS[card[1]])


def action_label(action: str) -> Text:
    """An action's text for people: `declare baba ♥`, `T♠`."""
    if len(action) == 2:
        return card_label(action)
    kind, _, rest = action.partition(":")
    if kind == "trump":
        return Text("trump {suit}", suit=SUIT_SIGNS[rest])
    if kind == "cut":
        return Text("cut {depth}", depth=rest)
    if kind == "declare":
        return Text("declare {what}", what=_combination_name(*rest.split(":")))
    return _STRIKES[kind]


_STRIKES = {
    "strike": Text("strike"),
    "extra_blow": Text("extra blow"),
    "extra_cards": Text("extra cards"),
}


def _combination_name(kind: str, of: str) -> Text:
    """A combination of Семерик: `baba:H`, `three:7`."""
    return (
        Text("baba {suit}", suit=SUIT_SIGNS[of])
        if kind == "baba"
        else Text("three {rank}", rank=Text(of))
    )


def player_name(seat: int) -> str:
    """The agent's name of a seat."""
    return f"{Player(seat)}"


def _named_words(game: Game, row: Row) -> list[tuple[str, Any]]:
    record = named(game.rules.STATE, row)
    return [(name, record[name]) for name in game.rules.STATE.names]


def _members(bits: int) -> list[int]:
    return [k for k in range(bits.bit_length()) if bits >> k & 1]


def _hand_size(game: Game, words: Words) -> int:
    return int(words["hand_size"] if game.name == "semnadtsat" else game.rules.HAND_SIZE)


# Seats ------------------------------------------------------------------------------------------
def _seat(game: Game, row: Row, words: Words, who: int, eyes: int | None) -> SeatView:
    hand = words["hands"][who]
    shown = hand & _public_cards(game, words, who)
    seen = hand if eyes in (None, who) else shown
    under_way = words["phase"] in (PLAY, NAME_TRUMP)
    over = words["phase"] == OVER and words["deals"] > 0
    return SeatView(
        seat=who,
        name=player_name(who),
        hand=tuple(game.cards(seen)),
        n_hidden=(hand & ~seen).bit_count(),
        to_act=words["seat"] == who,
        dealer=under_way and words["dealer"] == who,
        leader=under_way and words["leader"] == who,
        gone=game.is_gone(row, who),
        out=bool(words.get("out", 0) >> who & 1),
        place=_place(words, who),
        loser=_loser(words) == who,
        tricks=words["tricks"][who],
        declarations=_declarations(game, row, words, who),
        shown=tuple(game.cards(shown)),
        notes=_notes(game, words, who),
        reward=float(game.returns(row)[who]) + 0.0 if over else None,
    )


def _public_cards(game: Game, words: Words, who: int) -> int:
    """The set of cards that everybody knows the seat to have been dealt."""
    if game.name == "semerik":
        return int(words["shown"][who])
    turned_up = game.name == "sim_lystiv" and words["dealer"] == who
    return 1 << words["trump_card"] if turned_up else 0


def _loser(words: Words) -> int:
    return int(words["loser"]) if words["deals"] and "loser" in words else NOBODY


def _place(words: Words, who: int) -> int | None:
    exits = words["exits"][: words["n_exits"]] if "exits" in words else []
    return exits.index(who) + 1 if who in exits else None


def _declarations(game: Game, row: Row, words: Words, who: int) -> tuple[Text, ...]:
    if game.name != "semerik":
        return ()
    dealt = words["hands"][who] | words["played"][who]
    return tuple(
        Text(
            "{what} +{points}",
            what=_declaration_name(kind),
            points=int(semerik.combination_points(row, dealt, kind)),
        )
        for kind in _members(words["declared"][who])
    )


def _declaration_name(kind: int) -> Text:
    if kind < semerik.N_SUITS:
        return _combination_name("baba", SUITS[kind])
    return _combination_name("three", semerik.RANKS[kind - semerik.N_SUITS])


def _notes(game: Game, words: Words, who: int) -> tuple[Text, ...]:
    notes = []
    if game.name == "semnadtsat" and words["namer"] == who and words["trump"] != NOBODY:
        notes.append(Text("named {suit}", suit=SUIT_SIGNS[SUITS[words["trump"]]]))
    place = _place(words, who)
    if place is not None:
        notes.append(Text("place {place}", place=place))
    if "struck" in words and words["struck"][who]:
        notes.append(STRUCK_TEXTS[words["struck"][who] - 1])
    return tuple(notes)


# Cards on the table -----------------------------------------------------------------------------
def _trick(game: Game, words: Words) -> tuple[TrickCard, ...]:
    n = len(words["hands"])
    order = [(words["leader"] + k) % n for k in range(n)]
    return _trick_cards(game, words, words["trick"], order, words["best_seat"])


def _last_trick(game: Game, words: Words) -> tuple[TrickCard, ...]:
    """The last finished trick; its winner leads now."""
    number, cards = words["n_tricks"], 0
    for played in words["played"]:
        cards |= played
    for plane, bits in enumerate(words["when"]):
        cards &= bits if number >> plane & 1 else ~bits
    order = range(len(words["hands"]))
    return _trick_cards(game, words, cards if number else 0, order, words["leader"])


def _trick_cards(
    game: Game, words: Words, cards: int, order: Sequence[int], winner: int
) -> tuple[TrickCard, ...]:
    """The cards of a trick: each seat's is the one it has played."""
    return tuple(
        TrickCard(seat, game.deck[card], seat == winner)
        for seat in order
        for card in _members(cards & words["played"][seat])
    )


def _trumps(game: Game, words: Words) -> tuple[str | None, str | None]:
    """The trump suit and the card turned up."""
    if game.name == "sim_lystiv":
        card = game.deck[words["trump_card"]]
        return card[1], card
    trump = words.get("trump", NOBODY)
    return (None if trump == NOBODY else SUITS[trump]), None


def _legal(game: Game, row: Row, words: Words, eyes: int | None) -> tuple[str, ...]:
    """The legal actions, none where they would tell another seat's cards."""
    if words["phase"] == PLAY and eyes not in (None, words["seat"]):
        return ()
    return tuple(game.action_text(row, action) for action in game.legal_actions(row))


def _penalty(game: Game, words: Words) -> PenaltyView | None:
    if game.name != "sim_lystiv" or (words["phase"] != CUT and words["bottom"] == NOBODY):
        return None
    bottom = None if words["bottom"] == NOBODY else game.deck[words["bottom"]]
    return PenaltyView(words["cut"], bottom, words["blows"], tuple(words["received"]))


# Scores -----------------------------------------------------------------------------------------
def _score(game: Game, row: Row, words: Words) -> ScoreTable:
    if game.name == "semerik":
        return _score_of_pairs(words)
    n = game.n_players_of(row)
    rows = [("tricks", words["tricks"])]
    rows += _score_sim_lystiv(words) if game.name == "sim_lystiv" else _score_semnadtsat(words)
    return ScoreTable(
        tuple(player_name(seat) for seat in range(n)),
        tuple((Text(name), tuple(numbers[:n])) for name, numbers in rows),
    )


def _score_sim_lystiv(words: Words) -> list[tuple[str, list[int]]]:
    """All tricks of the match, those of the running deal included; blows if there were any."""
    counts, tricks = words["counts"], words["tricks"]
    if words["phase"] == PLAY:
        counts = [before + now for before, now in zip(counts, tricks, strict=True)]
    blows = [("blows", words["received"])] if any(words["received"]) else []
    return [("in all", counts), *blows]


def _score_semnadtsat(words: Words) -> list[tuple[str, list[int]]]:
    last = [("last deal", words["score"])] if _deals_done(words) else []
    return [("points", words["points"]), *last, ("total", words["totals"])]


def _score_of_pairs(words: Words) -> ScoreTable:
    taken, tricks = words["taken"], words["tricks"]
    cards = [int(semerik.pile_points(pile, words["option_aces"])) for pile in taken]
    rows = [
        ("tricks", [tricks[0] + tricks[2], tricks[1] + tricks[3]]),
        ("in cards", cards),
        ("declared", words["declared_points"]),
    ]
    if _deals_done(words):
        rows.append(("last deal", words["score"]))
    rows += [("game", words["totals"]), ("booked", words["booked"])]
    return ScoreTable(("0+2", "1+3"), tuple((Text(name), tuple(numbers)) for name, numbers in rows))


def _deals_done(words: Words) -> int:
    return int(words["deals"]) - (words["phase"] in (PLAY, NAME_TRUMP))


# The match in words -----------------------------------------------------------------------------
def _standing(game: Game, row: Row, words: Words) -> tuple[Text, ...]:
    options = game.options_of(row)
    if game.name == "sim_lystiv":
        return _standing_sim_lystiv(words)
    if game.name == "semnadtsat":
        hard = [Text("17 is the best")] if options["scoring"] == "seventeen" else []
        return (
            Text("deal {number} of {all}", number=words["deals"], all=options["num_deals"]),
            *hard,
        )
    return _standing_semerik(options, words)


def _standing_sim_lystiv(words: Words) -> tuple[Text, ...]:
    exits = [Player(seat) for seat in words["exits"][: words["n_exits"]]]
    lines = [
        Text("{place}. {player}", place=place, player=player)
        for place, player in enumerate(exits, start=1)
    ]
    loser = _loser(words)
    if loser != NOBODY:
        lines.append(Text("loser: {player}", player=Player(loser)))
    return tuple(lines)


def _standing_semerik(options: dict[str, Any], words: Words) -> tuple[Text, ...]:
    if options["horizon"] == "deal":
        return (Text("one deal"),)
    games = 1 if options["horizon"] == "game" else options["games"]
    number = min(words["games_done"] + 1, games)
    lines = [
        Text(
            "game {number} of {all} · to {target}",
            number=number,
            all=games,
            target=options["target"],
        )
    ]
    if _deals_done(words):
        us, them = words["score_totals"]
        lines.append(Text("after the last deal {us} : {them}", us=us, them=them))
    return tuple(lines)


def _result(game: Game, row: Row, words: Words) -> Text:
    if game.name == "sim_lystiv":
        loser = _loser(words)
        if loser == NOBODY:
            return Text("nobody loses")
        return Text("{player} loses", player=Player(loser))
    if game.name == "semnadtsat":
        totals = words["totals"][: game.n_players_of(row)]
        winners = [Player(seat) for seat, p in enumerate(totals) if p == max(totals)]
        template = "{players} win" if len(winners) > 1 else "{players} wins"
        return Text(template, players=_all_of(winners))
    by_deal = game.options_of(row)["horizon"] == "deal"
    us, them = words["score"] if by_deal else words["booked"]
    if us == them:
        return Text("equal, {us} : {them}", us=us, them=them)
    pair = Pair(0 if us > them else 1)
    return Text("pair {pair} wins {us} : {them}", pair=pair, us=max(us, them), them=min(us, them))


def _all_of(players: Sequence[Player]) -> Text:
    """The players' names, with "and" between them."""
    if len(players) == 1:
        return Text("{player}", player=players[0])
    return Text("{player} and {others}", player=players[0], others=_all_of(players[1:]))
