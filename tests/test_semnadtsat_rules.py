"""Семнадцать: the sentences of `semnadtsat.md` and the decided rules, worked by hand."""

from itertools import pairwise, product
from math import perm, prod

import pytest

from tests.positions import Table, cards, late, semnadtsat_table, threes_table, win_trick
from trysim.envs.games import BadInput
from trysim.envs.rules import semnadtsat
from trysim.envs.rules.row import DEAL, NAME_TRUMP, NOBODY, PLAY

TRUMP_RANKS = "234569TJQKA78"
PLAIN_RANKS = "234569TQKA78J"
EVEN_THREES = {3: [1, 1, 1], 4: [1, 1, 1, 1], 5: [1, 1, 0, 0, 0]}


def no_trumps(n: int = 4, **options: object) -> Table:
    """A table of `n` just dealt, without trumps."""
    return threes_table(EVEN_THREES[n], **options)


def after_deal(points: list[int], **options: object) -> Table:
    """A table whose seats have made these points in their first deal (seat 0 at least one)."""
    before = [points[0] - 1, *points[1:]] + [0] * (5 - len(points))
    return no_trumps(len(points), **options).last_trick(0, points=before)


# Sizes ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (len(set(semnadtsat.DECK)) == len(semnadtsat.DECK), True),  # S1
        (len(semnadtsat.DECK), 52),  # S2
        (Table("semnadtsat").n, 4),  # the default
        ([Table("semnadtsat", num_players=n).n for n in (3, 4, 5)], [3, 4, 5]),  # S3
    ],
)
def test_S1_S2_S3_sizes(said, expected):
    assert said == expected


@pytest.mark.parametrize("n", [2, 6])
def test_S3_three_to_five_players(n):
    with pytest.raises(BadInput):
        Table("semnadtsat", num_players=n)


# Rank -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("low", "high"), [*pairwise(TRUMP_RANKS)])
def test_S4_rank_in_trumps(low, high):
    assert win_trick("semnadtsat", f"{low}S {high}S 2D 3D", "S") == 1
    assert win_trick("semnadtsat", f"{high}S {low}S 2D 3D", "S") == 0


@pytest.mark.parametrize("trump", ["H", None])
@pytest.mark.parametrize(("low", "high"), [*pairwise(PLAIN_RANKS)])
def test_S5_rank_in_other_suits(low, high, trump):
    assert win_trick("semnadtsat", f"{low}S {high}S 2D 3D", trump) == 1
    assert win_trick("semnadtsat", f"{high}S {low}S 2D 3D", trump) == 0


@pytest.mark.parametrize("suit", "SH")
@pytest.mark.parametrize(("low", "high"), [*pairwise(TRUMP_RANKS)])
def test_C4_jack_by_deal_every_suit_ranks_as_trumps(low, high, suit):
    trick = f"{low}{suit} {high}{suit} 2D 3D"
    assert win_trick("semnadtsat", trick, "H", jack="by_deal") == 1


def test_C4_jack_by_deal_is_high_without_trumps():
    assert win_trick("semnadtsat", "8S JS AS 7S", jack="by_deal") == 1


# The deal ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({"num_players": 4}, ""),
        ({"num_players": 5}, "3D 3S"),
        ({"num_players": 3}, " ".join(f"{rank}C" for rank in TRUMP_RANKS)),
        *(
            ({"num_players": 3, "removed_suit": s}, " ".join(f"{rank}{s}" for rank in TRUMP_RANKS))
            for s in "CDHS"
        ),
    ],
)
def test_S7_pack_by_number_of_players(options, missing):
    assert set(semnadtsat.DECK) - set(Table("semnadtsat", **options).pack()) == cards(missing)


def test_S8_dealer_by_lot():
    dealers = {Table("semnadtsat", seed).settle()["dealer"] for seed in range(40)}
    assert dealers == {0, 1, 2, 3}


@pytest.mark.parametrize("dealer", range(5))
def test_S8_dealer_as_wished(dealer):
    table = Table("semnadtsat", num_players=5, dealer=dealer).settle()
    assert table["dealer"] == dealer


@pytest.mark.parametrize(("n", "size"), [(3, 13), (4, 13), (5, 10)])
def test_S9_whole_pack_dealt_left_of_dealer_first(n, size):
    table = Table("semnadtsat", num_players=n)
    deck = table.pack()[::-1]
    table.give(deck, dealer=1)
    for place in range(n):
        assert table.cards_in("hands", (2 + place) % n) == set(deck[place::n])
        assert len(deck[place::n]) == size == table["hand_size"]


@pytest.mark.parametrize(
    ("threes", "namer"),
    [
        ([0, 3, 1, 0], 1),
        ([2, 1, 1, 0], 0),  # 2-1-1 is no tie
        ([1, 0, 1, 2], 3),
        ([0, 0, 4, 0], 2),
        ([0, 2, 1], 1),
        ([0, 0, 3], 2),
        ([0, 0, 2, 0, 0], 2),
    ],
)
def test_S10_most_threes_name_trumps_and_lead(threes, namer):
    table = threes_table(threes, dealer=0)
    assert (table["phase"], table.seat, table["namer"]) == (NAME_TRUMP, namer, namer)
    table.play("trump:H")
    assert (table["phase"], table.seat, table["leader"]) == (PLAY, namer, namer)
    assert table["trump"] == "CDHS".index("H")


@pytest.mark.parametrize(
    "threes", [[2, 2, 0, 0], [0, 2, 0, 2], [1, 1, 1, 1], [1, 1, 1], [1, 0, 0, 0, 1]]
)
def test_S11_a_tie_for_the_most_means_no_trumps(threes):
    table = threes_table(threes, dealer=1)
    assert (table["phase"], table["namer"], table["trump"]) == (PLAY, NOBODY, NOBODY)
    assert table.seat == table["leader"] == 2  # S12


@pytest.mark.parametrize(("n", "percent"), [(3, 24.0), (4, 24.0), (5, 81.6)])
def test_C1_odds_of_no_trumps(n, percent):
    table = Table("semnadtsat", num_players=n)
    threes = [table.card_set(card) for card in table.pack() if card[0] == "3"]
    size = len(table.pack()) // n
    ways = 0  # in which the threes lie so that nobody names trumps
    for seats in product(range(n), repeat=len(threes)):
        hands = [sum(t for t, s in zip(threes, seats, strict=True) if s == k) for k in range(5)]
        if semnadtsat.most_threes(table.put(hands=hands).row) == NOBODY:
            ways += prod(perm(size, seats.count(seat)) for seat in range(n))
    assert round(100 * ways / perm(size * n, len(threes)), 1) == percent


def test_C2_first_lead_left():
    table = threes_table([0, 3, 1, 0], dealer=3, first_lead="left")
    assert table.seat == 1
    assert table.play("trump:C").seat == 0
    assert threes_table([1, 1, 1, 1], dealer=2, first_lead="left").seat == 3


@pytest.mark.parametrize(
    ("options", "suits"),
    [
        ({"num_players": 4}, "CDHS"),
        ({"num_players": 5}, "CDHS"),
        ({"num_players": 3}, "DHS"),
        ({"num_players": 3, "removed_suit": "H"}, "CDS"),
    ],
)
def test_C3_the_suit_named_is_in_the_deck(options, suits):
    n = options["num_players"]
    n_threes = sum(EVEN_THREES[n])
    rest = {name: value for name, value in options.items() if name != "num_players"}
    table = threes_table([n_threes] + [0] * (n - 1), **rest)
    assert table.legal() == {f"trump:{suit}" for suit in suits}


@pytest.mark.parametrize("dealer", range(4))
def test_S12_left_of_dealer_leads_without_trumps(dealer):
    assert no_trumps(dealer=dealer).seat == (dealer + 1) % 4


# Playing ----------------------------------------------------------------------------------------
def test_S13_leader_plays_any_card():
    assert late("semnadtsat", "2S 7D JH", "", "", "", trump="S").legal() == cards("2S 7D JH")


def test_S13_follow_suit():
    table = late("semnadtsat", "9D", "2S 7D KD", "", "", trump="S").play("9D")
    assert table.legal() == cards("7D KD")


def test_S13_C5_void_any_card_no_duty_to_trump():
    table = late("semnadtsat", "9D", "2S 7H KC", "", "", trump="S").play("9D")
    assert table.legal() == cards("2S 7H KC")


def test_S13_trump_led_is_followed_no_duty_to_beat():
    table = late("semnadtsat", "9S", "2S 8S 7H", "", "", trump="S").play("9S")
    assert table.legal() == cards("2S 8S")


def test_S13_turns_go_clockwise():
    table = late("semnadtsat", "9D", "4D", "5D", "6D")
    assert [table.seat] + [table.play(card).seat for card in ("9D", "4D", "5D")] == [0, 1, 2, 3]


@pytest.mark.parametrize("n", [3, 4, 5])
def test_S14_a_trick_is_one_card_from_each(n):
    table = no_trumps(n).play_any(n - 1)
    assert (table["n_played"], table["n_tricks"]) == (n - 1, 0)
    table.play_any()
    assert (table["n_played"], table["n_tricks"]) == (0, 1)


@pytest.mark.parametrize(
    ("trick", "trump", "winner"),
    [
        ("4H KH 9H AH", "S", 3),  # the highest of the suit led
        ("4H KH 2S AH", "S", 2),  # a trump
        ("4H 2S 3S AH", "S", 2),  # the highest trump
        ("4H 3S 2S AH", "S", 1),
        ("4H 5C 8D JS", None, 0),  # without trumps no other suit counts
        ("2S AH 8H JH", "S", 0),  # trumps led
        ("JD 8D 2H AD", "H", 2),
        ("JS QS 7S AS", "S", 2),
        ("JH 2S JS 8H", "S", 2),
        ("JH 8H 7H", None, 0),
        ("9D TD 2C QD KD", "C", 2),
    ],
)
def test_S15_who_takes_the_trick(trick, trump, winner):
    options = {"removed_suit": "C"} if len(trick.split()) == 3 else {}
    assert win_trick("semnadtsat", trick, trump, **options) == winner


def test_S16_winner_leads():
    table = late("semnadtsat", "4H", "9H", "AH 6C 8S 3H", "KH", trump="S").play("4H 9H AH KH")
    assert table.seat == table["leader"] == 2
    assert table["tricks"] == [0, 0, 1, 0, 0]
    assert table.legal() == cards("6C 8S 3H")


@pytest.mark.parametrize(
    ("n", "plies", "low", "high"), [(3, 39, 34, 38), (4, 52, 41, 47), (5, 50, 38, 44)]
)
def test_S17_all_cards_are_played_then_points_are_counted(n, plies, low, high):
    table = no_trumps(n).play_any(plies - 1)
    assert not table.over
    assert table["totals"] == [0] * 5
    table.play_any()
    assert table.over
    assert table["hands"] == [0] * 5
    assert low <= sum(table["totals"]) <= high
    assert table["totals"] == table["points"]


def test_what_a_failure_to_follow_shows():
    table = late("semnadtsat", "9D", "2S", "KD", "5H", trump="S").play("9D 2S KD")
    diamonds = {card for card in semnadtsat.DECK if card[1] == "D"}
    assert set(semnadtsat.DECK) - table.cards_in("may_hold", 1) == diamonds
    assert table.cards_in("may_hold", 2) == set(semnadtsat.DECK)


def test_cards_left_out_are_held_by_nobody():
    assert not cards("3D 3S") & semnadtsat_table(num_players=5).cards_in("may_hold", 1)


# Counting ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("trick", "points"),
    [
        ("7S 8S AS KS", 7),  # S19
        ("7C 7D 7H 7S", 28),
        ("2C 3C 4C 5C", 2),  # S20
        ("2C 2D 2H 2S", 8),
        ("7S 2S 7H KS", 16),  # no point for the trick itself
        ("3C 4C 5C 8C", 1),  # S21
    ],
)
def test_S19_S20_S21_points_of_a_trick(trick, points):
    table = late("semnadtsat", *trick.split()).play(trick)
    assert sum(table["points"]) == table["points"][table["leader"]] == points


@pytest.mark.parametrize(
    ("points", "shares"),
    [
        ([10, 16, 10, 5], [-1 / 4, 3 / 4, -1 / 4, -1 / 4]),
        ([16, 16, 5, 4], [1 / 4, 1 / 4, -1 / 4, -1 / 4]),  # C7
        ([10, 10, 10, 11], [-1 / 4, -1 / 4, -1 / 4, 3 / 4]),
        ([12, 12, 12], [0, 0, 0]),
        ([8, 10, 10, 2, 10], [-1 / 5, 1 / 3 - 1 / 5, 1 / 3 - 1 / 5, -1 / 5, 1 / 3 - 1 / 5]),
    ],
)
def test_S6_S18_most_points_win(points, shares):
    table = after_deal(points, reward="win")
    assert table.over
    assert table.returns() == pytest.approx(shares)


def test_S18_reward_score_is_total_less_the_mean():
    assert after_deal([10, 16, 10, 6]).returns() == pytest.approx([-0.5, 5.5, -0.5, -4.5])
    assert after_deal([10, 20, 6]).returns() == pytest.approx([-2, 8, -6])


def test_rewards_come_at_the_end():
    table = no_trumps().put(totals=[5, 0, 0, 0, 0])
    assert table.returns() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("points", "count"),
    [
        *((points, points) for points in (0, 1, 16, 17)),
        *zip(range(18, 23), (16, 15, 14, 13, 12), strict=True),  # S23
        *zip(range(23, 29), (10, 8, 6, 4, 2, 0), strict=True),  # S24
        *((29, -5), (30, -10), (36, -40), (47, -95)),  # S25
    ],
)
def test_S22_S23_S24_S25_the_harder_count(points, count):
    assert semnadtsat.seventeen(points) == count


def test_S22_option_scoring():
    points = [19, 17, 5, 3]
    assert after_deal(points)["totals"] == [19, 17, 5, 3, 0]
    assert after_deal(points, scoring="seventeen")["totals"] == [15, 17, 5, 3, 0]


@pytest.mark.parametrize(("scoring", "winner"), [("simple", 0), ("seventeen", 1)])
def test_S22_best_place_to_stop_is_17(scoring, winner):
    shares = after_deal([19, 17, 5, 3], scoring=scoring, reward="win").returns()
    assert shares.index(max(shares)) == winner


# The match --------------------------------------------------------------------------------------
def test_C8_scores_of_the_deals_add_up_and_the_deal_rotates():
    table = after_deal([19, 17, 5, 3], num_deals=2, scoring="seventeen", dealer=2)
    assert (table.over, table["phase"], table["dealer"]) == (False, DEAL, 3)
    assert table.returns() == [0, 0, 0, 0]
    table.deal("3C", "3D", "3H", "3S", dealer=3).last_trick(0, points=[9, 20, 8, 5, 0])
    assert table.over
    assert table["totals"] == [25, 31, 13, 8, 0]  # 15+10, 17+14, 5+8, 3+5: each deal by itself
    assert table.returns() == pytest.approx([5.75, 11.75, -6.25, -11.25])


def test_C8_one_deal_by_default():
    table = after_deal([10, 16, 10, 5])
    assert (table.over, table.seat, table["gone"]) == (True, NOBODY, 0b1111)
