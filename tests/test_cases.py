"""The hand-worked cases of `cases/`: every example and every full deal, through the engine.

What is asked is told by the names an example gives (options apart). An example that gives names
nobody here answers to is an error.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.positions import (
    Table,
    cards,
    late,
    penalty_table,
    semerik_deal_points,
    semerik_table,
    sim_lystiv_match,
    threes_table,
    win_trick,
)
from trysim.envs.rules import semerik, semnadtsat, sim_lystiv
from trysim.envs.rules.bits import n_bits
from trysim.envs.rules.row import NAME_TRUMP, NOBODY

Given = dict[str, Any]
Answer = Callable[[Given, Given], Any]  # of what is given and the options; compared to `expect`

FILES = sorted((Path(__file__).parent / "cases").glob("*.json"))
CASES = {case["game"]: case for case in (json.loads(file.read_text("utf-8")) for file in FILES)}
COUNTING = [card for card in semerik.DECK if card[0] in "JQKA23"]
EVEN_THREES = {3: [1, 1, 1], 4: [1, 1, 1, 1], 5: [1, 1, 0, 0, 0]}  # nobody names trumps


def lowest_not_in(hand: list[str], suit: str, deck: tuple[str, ...]) -> str:
    return next(card for card in deck if card[1] == suit and card not in hand)


def seat_or_none(seat: int) -> int | None:
    return None if seat == NOBODY else seat


# Семерик ----------------------------------------------------------------------------------------
def semerik_legal(given: Given, options: Given) -> list[str]:
    trick = given["trick"]
    hands = [*trick, " ".join(given["hand"]), "", "", ""][:4]
    return in_hand_order(late("semerik", *hands, **options).play(" ".join(trick)), given["hand"])


def in_hand_order(table: Table, hand: list[str]) -> list[str]:
    legal = table.legal()
    assert legal <= set(hand)
    return [card for card in hand if card in legal]


def semerik_winner(given: Given, options: Given) -> int:
    return win_trick("semerik", " ".join(given["trick"]), **options)


def semerik_declarations(given: Given, options: Given) -> int:
    table = semerik_table(" ".join(given["hand"]), **options)
    found = table["offers"][0]
    hand = table["hands"][0]
    points = sum(
        semerik.combination_points(table.row, hand, declaration)
        for declaration in range(semerik.N_DECLARATIONS)
        if found >> declaration & 1
    )
    table.play(" ".join(sorted(table.legal() - set(semerik.DECK))))
    assert table["declared_points"] == [points, 0]
    return int(points)


def semerik_pile(given: Given, options: Given) -> int:
    table = Table("semerik", **options)
    pile = table.card_set(" ".join(given["pile"]))
    return int(semerik.pile_points(pile, table["option_aces"]))


def semerik_split(given: Given, options: Given) -> list[int]:
    n = given["x"]
    pairs = [{"pile": COUNTING[:n]}, {"pile": COUNTING[n:]}]
    return [semerik_pile(pair, options) for pair in pairs]


def semerik_bonus(given: Given, options: Given) -> list[int]:
    a, b, c, d = given["tricks"]
    return [int(semerik.trick_points(a, c)), int(semerik.trick_points(b, d))]


def semerik_game(given: Given, options: Given) -> list[int] | None:
    table = semerik_deal_points(Table("semerik", **options), given["a"], given["b"])
    if table["games_done"] == 0:
        return None
    winner = 0 if table["booked"][0] else 1
    booked = semerik.booked_score(table["option_target"], given["b" if winner == 0 else "a"])
    assert table["booked"][winner] == booked
    return [winner, int(booked)]


def semerik_match(given: Given, options: Given) -> list[list[float]]:
    table = Table("semerik", **options)
    for winner, booked in given["games"]:
        points = (21, 11 if booked == 42 else 12)
        semerik_deal_points(table, *(points if winner == 0 else points[::-1]))
    assert table.over
    ours, theirs = table.returns()[:2]
    assert table.returns()[2:] == [ours, theirs]
    return [table["booked"], [ours, theirs]]


def semerik_deal(given: Given, options: Given) -> list[list[int]]:
    table = semerik_table(**options)
    n = given["cards"][0]
    table.put(
        totals=given["before"],
        declared_points=given["decl"],
        taken=[table.card_set(" ".join(part)) for part in (COUNTING[:n], COUNTING[n:])],
    )
    tricks = list(given["tricks"])
    tricks[0] -= 1
    table.last_trick(0, tricks=tricks)
    return [
        table["score_totals"],
        [table["booked"].index(max(table["booked"])), max(table["booked"])],
    ]


# Семнадцать -------------------------------------------------------------------------------------
def semnadtsat_namer(given: Given, options: Given) -> int | None:
    table = threes_table(given["threes"], **options)
    assert table["namer"] == semnadtsat.most_threes(table.row)
    return seat_or_none(table["namer"])


def semnadtsat_leader(given: Given, options: Given) -> int:
    n, namer = given["n"], given["namer"]
    all_threes = sum(EVEN_THREES[n])
    threes = [all_threes if seat == namer else 0 for seat in range(n)]
    threes = EVEN_THREES[n] if namer is None else threes
    table = threes_table(threes, dealer=given["dealer"], **options)
    if table["phase"] == NAME_TRUMP:
        table.play("trump:H")
    assert table.seat == table["leader"]
    return int(table.seat)


def semnadtsat_winner(given: Given, options: Given) -> int:
    return win_trick("semnadtsat", " ".join(given["trick"]), given["trump"], **options)


def semnadtsat_legal(given: Given, options: Given) -> list[str]:
    led = lowest_not_in(given["hand"], given["led"], semnadtsat.DECK)
    table = late("semnadtsat", led, " ".join(given["hand"]), "", "", **options).play(led)
    return in_hand_order(table, given["hand"])


def semnadtsat_trick(given: Given, options: Given) -> int:
    return int(semnadtsat.trick_points(Table("semnadtsat").card_set(" ".join(given["trick"]))))


def semnadtsat_count(given: Given, options: Given) -> Any:
    if isinstance(given["raw"], int):
        return int(semnadtsat.seventeen(given["raw"]))
    simple, converted = (scored(given["raw"], scoring) for scoring in ("simple", "seventeen"))
    assert simple["totals"][: simple.n] == given["raw"]
    return {
        "simple_winners": winners(simple),
        "converted": converted["totals"][: converted.n],
        "seventeen_winners": winners(converted),
    }


def scored(raw: list[int], scoring: str) -> Table:
    """A table whose seats have made these points in their only deal."""
    table = threes_table(EVEN_THREES[len(raw)], scoring=scoring)
    return table.last_trick(0, points=[raw[0] - 1, *raw[1:], 0])


def winners(table: Table) -> list[int]:
    found = semnadtsat.winner_set(table.row)
    return [seat for seat in range(table.n) if found >> seat & 1]


def semnadtsat_totals(given: Given, options: Given) -> dict[str, list[int]]:
    """Least and most points of a deal, from sevens, twos, tricks and cards a trick."""
    return {key: point_bounds(*given[key]) for key in given}


def point_bounds(n_sevens: int, n_twos: int, n_tricks: int, size: int) -> list[int]:
    table = Table("semnadtsat")
    scoring = [f"7{s}" for s in "CDHS"[:n_sevens]] + [f"2{s}" for s in "CDHS"[:n_twos]]
    bounds = []
    for n_together in (1, size):  # scoring cards spread over the tricks, or heaped
        heaps = [scoring[k : k + n_together] for k in range(0, len(scoring), n_together)]
        points = [semnadtsat.trick_points(table.card_set(" ".join(heap))) for heap in heaps]
        bounds.append(sum(points) + semnadtsat.trick_points(0) * (n_tricks - len(heaps)))
    return [int(bound) for bound in bounds]


# Сім листів -------------------------------------------------------------------------------------
def sim_lystiv_legal(given: Given, options: Given) -> list[str]:
    hand, trump, led = given["hand"], given["trump"], given["led"]
    if led is None:
        return in_hand_order(late("sim_lystiv", " ".join(hand), "", trump=trump, **options), hand)
    trick = [given.get("best") or lowest_not_in(hand, led, sim_lystiv.DECK)]
    if trick[0][1] != led:
        trick.insert(0, lowest_not_in(hand, led, sim_lystiv.DECK))
    table = late("sim_lystiv", *trick, " ".join(hand), trump=trump, **options)
    return in_hand_order(table.play(" ".join(trick)), hand)


def sim_lystiv_winner(given: Given, options: Given) -> int:
    return win_trick("sim_lystiv", " ".join(given["trick"]), given["trump"], **options)


def sim_lystiv_count(given: Given, options: Given) -> Given:
    counts = list(given["before"].values())
    seats = range(len(counts))
    if sum(counts) % 7:  # whole deals were played: another player took the rest and has left
        counts.append(7 + (-sum(counts)) % 7)
    table = sim_lystiv_match(*counts, dealer=0, **options)
    n_exits = table["n_exits"]
    table.win(*given["trick_winners"]).settle()
    return {
        "totals": {str(seat): table["counts"][seat] for seat in seats},
        "exits_in_order": table["exits"][n_exits : table["n_exits"]],
        "remaining": [seat for seat in seats if not table["out"] >> seat & 1],
        "over": table.over,
        "loser": seat_or_none(table["loser"]),
    }


def sim_lystiv_next_dealer(given: Given, options: Given) -> Given:
    leaving = [seat for seat in range(given["n"]) if seat not in given["active"]]
    counts = [6 if seat in leaving else 0 for seat in range(given["n"])]
    table = sim_lystiv_match(*counts, dealer=given["old_dealer"], **options)
    table.win(*leaving, *[leaving[0]] * (7 - len(leaving))).settle()
    held = [seat for seat in range(table.n) if table["hands"][seat]]
    assert held == table.active() == given["active"]
    return {"dealer": table["dealer"], "leader": table.seat}


def sim_lystiv_cut(given: Given, options: Given) -> Given:
    listed, depth = given["deck_top_to_bottom"], given["k"]
    table = sim_lystiv_match(0, 6, dealer=0, penalty="interactive", **options).win(*[1] * 7)
    table.give([*listed, *(card for card in table.pack() if card not in listed)])
    bottoms = [sim_lystiv.DECK[sim_lystiv.card_after_cut(table.row, k + 1)] for k in range(4)]
    assert bottoms == listed
    table.play(f"cut:{depth}")
    return {
        "deck": listed[depth:] + listed[:depth],
        "bottom": sim_lystiv.DECK[table["bottom"]],
    }


def sim_lystiv_blows(given: Given, options: Given) -> Given:
    n, strike_cards = given["n"], given["cards_per_striker"]
    table = penalty_table(given["bottom"], n=n, strike_cards=strike_cards, **options)
    if table.over:
        return {"blows": table["blows"], "forgiven": True}
    table.play("strike " * (n - 1))
    return {
        "blows": table["blows"],
        "forgiven": False,
        "total": table["received"][0],
        "cheek_halves": [int(half) for half in sim_lystiv.shield_halves(table.row)],
    }


def sim_lystiv_violation(given: Given, options: Given) -> Given:
    n, loser, blows, struck = (given[name] for name in ("n", "loser", "N", "struck"))
    table = penalty_table(f"{blows}C", n=n, loser=loser, **options)
    violators = [seat for seat in range(n) if struck.get(str(seat), blows) > blows]
    for seat in [(loser + place) % n for place in range(1, n)]:
        assert table.seat == seat
        table.play("extra_blow" if seat in violators else "strike")
    (received,) = {table["received"][seat] for seat in violators}
    return {
        "loser_received": table["received"][loser],
        "violators": violators,
        "violator_receives": received,
    }


# Every example ----------------------------------------------------------------------------------
def names(text: str) -> frozenset[str]:
    return frozenset(cards(text))


ANSWERS: dict[str, dict[frozenset[str], Answer]] = {
    "semerik": {
        names("hand trick"): semerik_legal,
        names("trick"): semerik_winner,
        names("hand"): semerik_declarations,
        names("pile"): semerik_pile,
        names("x"): semerik_split,
        names("tricks"): semerik_bonus,
        names("a b"): semerik_game,
        names("games"): semerik_match,
        names("before decl cards tricks"): semerik_deal,
    },
    "semnadtsat": {
        names("threes"): semnadtsat_namer,
        names("dealer namer n"): semnadtsat_leader,
        names("trick trump"): semnadtsat_winner,
        names("hand led"): semnadtsat_legal,
        names("trick"): semnadtsat_trick,
        names("raw"): semnadtsat_count,
        names("3p 4p 5p"): semnadtsat_totals,
    },
    "sim_lystiv": {
        names("hand led trump best"): sim_lystiv_legal,
        names("hand led trump"): sim_lystiv_legal,
        names("trick trump"): sim_lystiv_winner,
        names("before trick_winners"): sim_lystiv_count,
        names("old_dealer active n"): sim_lystiv_next_dealer,
        names("deck_top_to_bottom k"): sim_lystiv_cut,
        names("bottom n cards_per_striker"): sim_lystiv_blows,
        names("n loser N struck"): sim_lystiv_violation,
    },
}
NOT_OPTIONS = {"dealer", "games"}  # options by name, but examples ask about them


def split(game: str, given: Given) -> tuple[Given, Given]:
    """What an example gives, and its options."""
    known = {option.name for option in Table(game).game.options} - NOT_OPTIONS
    options = {name: value for name, value in given.items() if name in known}
    return {name: value for name, value in given.items() if name not in known}, options


def answer_for(game: str, given: Given) -> Any:
    """What the engine says to an example; KeyError if nobody answers to what it gives."""
    rest, options = split(game, given)
    return ANSWERS[game][frozenset(rest)](rest, options)


@pytest.mark.parametrize(
    ("game", "example"),
    [
        pytest.param(game, example, id=f"{game}-{example['id']}")
        for game, case in CASES.items()
        for example in case["examples"]
    ],
)
def test_example(game, example):
    assert answer_for(game, example["in"]) == example["expect"]


def test_every_file_and_every_kind_is_used():
    assert set(CASES) == set(ANSWERS)
    for game, answers in ANSWERS.items():
        asked = {frozenset(split(game, example["in"])[0]) for example in CASES[game]["examples"]}
        assert asked == set(answers)
    with pytest.raises(KeyError):
        answer_for("semerik", {"unheard": 1})


# Full deals -------------------------------------------------------------------------------------
def play_listed(table: Table, tricks: list[list[Any]], held: dict[str, list[str]]) -> None:
    """Play the tricks; each seat must be found to play its first legal card in hand order."""
    held = {seat: list(hand) for seat, hand in held.items()}
    for leader, trick, winner, *_ in tricks:
        assert table.seat == leader
        for card in trick:
            hand = held[str(table.seat)]
            assert card == in_hand_order(table, hand)[0]
            hand.remove(card)
            table.play(card)
        assert table["leader"] == winner


def dealt(game: str, deal: Given, **options: Any) -> Table:
    hands = [" ".join(deal["hands"][str(seat)]) for seat in range(len(deal["hands"]))]
    trump_card = deal.get("trump_card", "")
    return Table(game, **options).deal(*hands, dealer=deal["dealer"], trump_card=trump_card)


@pytest.mark.parametrize("deal", CASES["semerik"]["full_deals"])
def test_full_deal_of_semerik(deal):
    table = dealt("semerik", deal, declare="auto", horizon="deal")
    play_listed(table, deal["tricks_leader_cards_winner"], deal["hands"])
    declared = [
        sum(semerik.combination_points(table.row, hand, d) for d in range(14) if made >> d & 1)
        for hand, made in zip(table["played"], table["declared"], strict=True)
    ]
    counting = table.card_set(" ".join(COUNTING))
    a, b, c, d = table["tricks"]
    assert declared == deal["decl_by_seat"]
    assert table["tricks"] == deal["tricks_by_seat"]
    assert [n_bits(pile & counting) for pile in table["taken"]] == deal["counting_cards"]
    assert [semerik.pile_points(pile, 0) for pile in table["taken"]] == deal["card_points"]
    assert [semerik.trick_points(a, c), semerik.trick_points(b, d)] == deal["bonus"]
    assert table["score"] == deal["deal_score"]


@pytest.mark.parametrize("scoring", ["simple", "seventeen"])
@pytest.mark.parametrize("deal", CASES["semnadtsat"]["full_deals"])
def test_full_deal_of_semnadtsat(deal, scoring):
    table = dealt("semnadtsat", deal, num_players=deal["n"], scoring=scoring)
    assert table.seat == table["namer"] == deal["namer"]
    table.play(f"trump:{deal['trump']}")
    points = [0] * 5
    for trick in deal["tricks_leader_cards_winner_points"]:
        points[trick[2]] += trick[3]
    play_listed(table, deal["tricks_leader_cards_winner_points"], deal["hands"])
    assert table.over
    assert table["points"] == points
    assert table["points"][:4] == deal["raw"]
    assert table["totals"][:4] == deal["raw" if scoring == "simple" else "converted"]


@pytest.mark.parametrize("deal", CASES["sim_lystiv"]["full_deals"])
def test_full_deal_of_sim_lystiv(deal):
    table = dealt("sim_lystiv", deal, num_players=deal["n"])
    assert sim_lystiv.DECK[table["trump_card"]] == deal["trump_card"]
    play_listed(table, deal["tricks_leader_cards_winner"], deal["hands"])
    assert table["counts"][: deal["n"]] == deal["tricks_won"]
