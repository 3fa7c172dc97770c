"""`view`: all there is to draw of a table, for everybody's eyes or for one seat's.

Only this module reads rows; text and pictures are made of the `TableView` alone. Its texts, the
title apart, are plain ASCII but for the suits ♣ ♦ ♥ ♠ and the middle dot.
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

SUIT_SIGNS = dict(zip(SUITS, "♣♦♥♠", strict=True))
TITLES = {"sim_lystiv": "Сім листів", "semnadtsat": "Семнадцать", "semerik": "Семерик"}
PHASES = {
    PENALTY_DECK: "penalty",
    DEAL: "deal",
    PLAY: "play",
    OVER: "over",
    NAME_TRUMP: "name trumps",
    CUT: "cut",
    STRIKE: "strike",
}
NOT_BEGUN = "not begun"
STRUCK_TEXTS = ("struck", "an extra blow", "extra cards")

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
    declarations: tuple[str, ...]  # "baba ♥ +6"
    shown: tuple[str, ...]  # cards in the hand that everybody knows
    notes: tuple[str, ...]  # "named ♠", "out, place 1"
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
    rows: tuple[tuple[str, tuple[int, ...]], ...]

    def row(self, name: str) -> tuple[int, ...]:
        """The numbers of that name; KeyError if there are none."""
        return dict(self.rows)[name]


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
    phase: str  # one of PHASES, or NOT_BEGUN
    seats: tuple[SeatView, ...]
    seat: int | None  # through whose eyes, None for everybody's
    turn: int | None
    trick_number: int  # of the current trick, from 1
    hand_size: int
    trick: tuple[TrickCard, ...]  # in the order of play
    last_trick: tuple[TrickCard, ...]  # the last finished one of this deal
    has_trumps: bool  # whether the game knows trumps
    trump: str | None  # suit letter, None while or if there are none
    trump_card: str | None  # the card turned up
    score: ScoreTable
    standing: tuple[str, ...]  # the match in words
    penalty: PenaltyView | None
    legal: tuple[str, ...]  # actions of the seat to act, if they may be known
    result: str  # how the match ended, "" before
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
    """What is to be drawn of a table; `seat` hides what that seat cannot see."""
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
        result=_result(game, row, words) if over else "",
        over=over,
    )


def card_text(card: str) -> str:
    """A card code for people: `T♠`."""
    return card[0] + SUIT_SIGNS[card[1]]


def action_label(action: str) -> str:
    """An action's text for people: `declare baba ♥`, `T♠`."""
    if len(action) == 2:
        return card_text(action)
    *words, last = action.replace("_", " ").split(":")
    return " ".join([*words, SUIT_SIGNS.get(last, last) if "three" not in words else last])


def player_name(seat: int) -> str:
    """The agent's name of a seat."""
    return f"player_{seat}"


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


def _declarations(game: Game, row: Row, words: Words, who: int) -> tuple[str, ...]:
    if game.name != "semerik":
        return ()
    dealt = words["hands"][who] | words["played"][who]
    return tuple(
        f"{_declaration_name(kind)} +{int(semerik.combination_points(row, dealt, kind))}"
        for kind in _members(words["declared"][who])
    )


def _declaration_name(kind: int) -> str:
    if kind < semerik.N_SUITS:
        return f"baba {SUIT_SIGNS[SUITS[kind]]}"
    return f"three {semerik.RANKS[kind - semerik.N_SUITS]}"


def _notes(game: Game, words: Words, who: int) -> tuple[str, ...]:
    notes = []
    if game.name == "semnadtsat" and words["namer"] == who and words["trump"] != NOBODY:
        notes.append(f"named {SUIT_SIGNS[SUITS[words['trump']]]}")
    place = _place(words, who)
    if place is not None:
        notes.append(f"place {place}")
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
        tuple((name, tuple(numbers[:n])) for name, numbers in rows),
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
    return ScoreTable(("0+2", "1+3"), tuple((name, tuple(numbers)) for name, numbers in rows))


def _deals_done(words: Words) -> int:
    return int(words["deals"]) - (words["phase"] in (PLAY, NAME_TRUMP))


# The match in words -----------------------------------------------------------------------------
def _standing(game: Game, row: Row, words: Words) -> tuple[str, ...]:
    options = game.options_of(row)
    if game.name == "sim_lystiv":
        return _standing_sim_lystiv(words)
    if game.name == "semnadtsat":
        hard = ["17 is the best"] if options["scoring"] == "seventeen" else []
        return (f"deal {words['deals']} of {options['num_deals']}", *hard)
    return _standing_semerik(options, words)


def _standing_sim_lystiv(words: Words) -> tuple[str, ...]:
    exits = [player_name(seat) for seat in words["exits"][: words["n_exits"]]]
    lines = [f"{place}. {name}" for place, name in enumerate(exits, start=1)]
    loser = _loser(words)
    return (*lines, f"loser: {player_name(loser)}") if loser != NOBODY else tuple(lines)


def _standing_semerik(options: dict[str, Any], words: Words) -> tuple[str, ...]:
    if options["horizon"] == "deal":
        return ("one deal",)
    games = 1 if options["horizon"] == "game" else options["games"]
    number = min(words["games_done"] + 1, games)
    lines = [f"game {number} of {games} · to {options['target']}"]
    if _deals_done(words):
        us, them = words["score_totals"]
        lines.append(f"after the last deal {us} : {them}")
    return tuple(lines)


def _result(game: Game, row: Row, words: Words) -> str:
    if game.name == "sim_lystiv":
        loser = _loser(words)
        return "nobody loses" if loser == NOBODY else f"{player_name(loser)} loses"
    if game.name == "semnadtsat":
        totals = words["totals"][: game.n_players_of(row)]
        winners = [player_name(seat) for seat, p in enumerate(totals) if p == max(totals)]
        return f"{' and '.join(winners)} {'win' if len(winners) > 1 else 'wins'}"
    by_deal = game.options_of(row)["horizon"] == "deal"
    us, them = words["score"] if by_deal else words["booked"]
    if us == them:
        return f"equal, {us} : {them}"
    return f"pair {'0+2' if us > them else '1+3'} wins {max(us, them)} : {min(us, them)}"
