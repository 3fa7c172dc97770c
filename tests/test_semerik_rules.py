"""Семерик: the sentences of `semerik.md` and the decided rules, one by one, worked by hand."""

import pytest

from tests.positions import Table, cards, late, semerik_deal_points, semerik_table, win_trick
from trysim.envs.rules import semerik
from trysim.envs.rules.row import DEAL, NOBODY, PLAY

BABA_7D = "7S 2S AS 7D 7C 4H 5D QH JC KD"  # a bare baba of spades and three sevens
# To fill a hand up without a combination.
DIAMONDS = "4D 5D 6D 7D JD QD KD 3D"
SPADES = "4S 5S 6S 7S JS QS KS 3S"
NEIGHBOURS = [semerik.RANKS[k : k + 2] for k in range(len(semerik.RANKS) - 1)]


def hand_of(key: str, fill: str) -> str:
    """Ten cards: `key`, and as many cards of `fill` as are wanted."""
    held = key.split()
    return " ".join([*held, *fill.split()[: 10 - len(held)]])


def suit_hand(ranks: str, suit: str) -> str:
    return hand_of(" ".join(rank + suit for rank in ranks), DIAMONDS)


def offers(table: Table) -> set[str]:
    return {text for text in table.legal() if text.startswith("declare:")}


def declared_points(hand: str, **options: object) -> int:
    """Points of all that seat 0 may declare with this hand."""
    table = semerik_table(hand, **options)
    table.play(" ".join(offers(table)))
    return int(table["declared_points"][0])


def last_trick(winner: int = 0, **given: object) -> Table:
    """A table after its first deal, `winner` having taken a last trick without counting cards."""
    words = {name: given.pop(name) for name in ("tricks", "taken", "totals") if name in given}
    table = semerik_table(**given)
    if "taken" in words:
        words["taken"] = [table.card_set(pile) for pile in words["taken"]]
    return table.last_trick(winner, **words)


def played_deals(*points: tuple[int, int], **options: object) -> Table:
    """A table after deals in which the pairs made these points."""
    table = Table("semerik", **options)
    for ours, theirs in points:
        semerik_deal_points(table, ours, theirs)
    return table


# The cards and the deal -------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (len(set(semerik.DECK)) == len(semerik.DECK), True),  # S1: one pack
        (len(semerik.DECK), 52 - 3 * 4),  # S2, S6
        (semerik.N_SEATS, 4),  # S3
        (semerik.HAND_SIZE, 10),  # S8
        (semerik.RANKS, "4567JQKA23"),  # S4
        ({rank for card in semerik.DECK for rank in card if rank in "89T"}, set()),  # S6
        ("declare:baba:H" in semerik.ACTIONS, True),  # S18: the expression in use
    ],
)
def test_S1_S2_S3_S4_S6_S8_S18_sizes(said, expected):
    assert said == expected


@pytest.mark.parametrize(("low", "high"), NEIGHBOURS)
def test_S4_rank_of_cards(low, high):
    assert win_trick("semerik", f"{low}C {high}C 4D 4H") == 1


def test_S5_S9_aim_is_21_points():
    assert Table("semerik")["option_target"] == 21


def test_S7_first_dealer_by_lot():
    dealers = {Table("semerik", seed).settle()["dealer"] for seed in range(40)}
    assert dealers == {0, 1, 2, 3}


@pytest.mark.parametrize("dealer", range(4))
def test_S7_dealer_option_and_turns(dealer):
    table = Table("semerik", dealer=dealer).settle()
    assert table["dealer"] == dealer
    semerik_deal_points(table, 1, 1)
    assert table.settle()["dealer"] == (dealer + 1) % 4


def test_S8_ten_cards_each_left_of_dealer_first():
    table = Table("semerik").give(list(semerik.DECK), dealer=2)
    assert table.cards_in("hands", 3) == set(semerik.DECK[0::4])
    assert table.cards_in("hands", 2) == set(semerik.DECK[3::4])


def test_S10_no_trumps():
    assert win_trick("semerik", "4H 3S 3D 3C") == 0


@pytest.mark.parametrize("dealer", range(4))
def test_S11_left_of_dealer_leads(dealer):
    table = semerik_table(dealer=dealer)
    assert table.seat == table["leader"] == (dealer + 1) % 4


# Playing ----------------------------------------------------------------------------------------
def test_S12_leader_plays_any_card():
    assert late("semerik", "4H 3S KD", "", "", "").legal() == cards("4H 3S KD")


def test_S12_must_play_higher_of_the_suit():
    table = late("semerik", "6H", "5H 7H 3H 4S", "", "").play("6H")
    assert table.legal() == cards("7H 3H")


def test_S12_cannot_beat_any_card():
    table = late("semerik", "2H", "4H KH AS", "", "").play("2H")
    assert table.legal() == cards("4H KH AS")


def test_S12_void_any_card():
    assert late("semerik", "KH", "3C 5S", "", "").play("KH").legal() == cards("3C 5S")


def test_C1_must_beat_the_best_card_so_far():
    table = late("semerik", "6D", "2D", "KD 3D 4C", "").play("6D 2D")
    assert table.legal() == cards("3D")


def test_C1_must_overtake_ones_own_partner():
    table = late("semerik", "KC", "4D", "4C AC 5S", "").play("KC 4D")
    assert table.legal() == cards("AC")


def test_C1_card_of_another_suit_need_not_be_beaten():
    table = late("semerik", "6D", "3S", "7D 4D 4C", "").play("6D 3S")
    assert table.legal() == cards("7D")


def test_C1_beat_led_looks_at_the_led_card_only():
    table = late("semerik", "6D", "3D", "KD 7D 4D 4C", "", beat="led").play("6D 3D")
    assert table.legal() == cards("KD 7D")


def test_C1_beat_none_only_follows_suit():
    table = late("semerik", "6D", "3D", "KD 4D 4C", "", beat="none").play("6D 3D")
    assert table.legal() == cards("KD 4D")


@pytest.mark.parametrize("beat", ["best", "led", "none"])
def test_C1_fallback_suit_follows_when_it_cannot_beat(beat):
    table = late("semerik", "2H", "4H KH AS", "4D 5S", "", beat=beat, fallback="suit").play("2H")
    assert table.legal() == cards("4H KH")
    assert table.play("KH").legal() == cards("4D 5S")


def test_C1_fallback_suit_still_beats_first():
    table = late("semerik", "6H", "5H 7H 4S", "", "", fallback="suit").play("6H")
    assert table.legal() == cards("7H")


@pytest.mark.parametrize(
    ("trick", "winner"),
    [("AH 3H 2H KH", 1), ("4H 5S 6S 3D", 0), ("4C 7C 5D 2C", 3), ("JD QD AD 3S", 2)],
)
def test_highest_card_of_the_suit_led_takes_the_trick(trick, winner):
    assert win_trick("semerik", trick) == winner


def test_winner_leads_and_takes_for_his_pair():
    table = late("semerik", "4H", "5H", "7H 4C AH 3D", "KS").play("4H 5H 7H KS")
    assert table.seat == table["leader"] == 2
    assert table.legal() == cards("4C AH 3D")
    assert table["tricks"] == [0, 0, 1, 0]
    assert table.cards_in("taken", 0) == cards("4H 5H 7H KS")


# What a seat may know ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "trick", "excluded"),
    [
        ({}, "KH 4H", "AH 2H 3H"),  # could not beat: lower hearts are possible
        ({}, "KH 4S", "AH 2H 3H"),
        ({}, "KH AH", ""),
        ({"beat": "led"}, "KH 4H", "AH 2H 3H"),
        ({"beat": "none"}, "KH 4H", ""),
        ({"beat": "none"}, "KH 4S", "4H 5H 6H 7H JH QH KH AH 2H 3H"),
        ({"fallback": "suit"}, "KH 4H", "AH 2H 3H"),
        ({"fallback": "suit"}, "KH 4S", "4H 5H 6H 7H JH QH KH AH 2H 3H"),
    ],
)
def test_S12_what_a_failure_to_beat_shows(options, trick, excluded):
    led, card = trick.split()
    table = late("semerik", led, card, "", "", **options).play(trick)
    assert set(semerik.DECK) - table.cards_in("may_hold", 1) == cards(excluded)


@pytest.mark.parametrize(("beat", "excluded"), [("best", "3H"), ("led", "AH 2H 3H")])
def test_C1_what_a_failure_to_beat_the_best_shows(beat, excluded):
    table = late("semerik", "KH", "2H", "4H", "", beat=beat).play("KH 2H 4H")
    assert set(semerik.DECK) - table.cards_in("may_hold", 2) == cards(excluded)


# Declarations -----------------------------------------------------------------------------------
def test_S16_declared_before_ones_own_first_card_only():
    table = semerik_table(BABA_7D, "4S 4C 4D 3H 2H AH KH 6H 5H JH")
    assert offers(table) == {"declare:baba:S", "declare:three:7"}
    table.play("4H")
    assert offers(table) == {"declare:three:4"}  # seat 1, still before its own first card
    assert table["offers"][0] == 0
    assert table["declared_points"] == [0, 0]


def test_C2_each_combination_by_itself():
    table = semerik_table(BABA_7D).play("declare:three:7")
    assert table["declared_points"] == [4, 0]
    assert offers(table) == {"declare:baba:S"}
    assert table.seat == 0
    table.play("declare:baba:S")
    assert table["declared_points"] == [7, 0]
    assert table.legal() == cards(BABA_7D)


def test_C2_declare_auto_makes_all_at_once():
    table = semerik_table(BABA_7D, declare="auto")
    assert table["declared_points"] == [7, 0]
    assert table.legal() == cards(BABA_7D)


def test_C2_declare_auto_waits_for_ones_turn():
    table = semerik_table("", BABA_7D, declare="auto")
    assert table["declared_points"] == [0, 0]
    assert table.play_any()["declared_points"] == [0, 7]


def test_C2_declare_off():
    table = semerik_table(BABA_7D, declare="off")
    assert table.legal() == cards(BABA_7D)
    assert table.play("4H")["declared_points"] == [0, 0]


@pytest.mark.parametrize(
    ("hand", "declaration", "shown"),
    [
        (suit_hand("72AK5", "C"), "baba:C", "7C 2C AC KC"),
        (suit_hand("72A63", "C"), "baba:C", "7C 2C AC 6C 3C"),
        (hand_of("KC KD KH KS", SPADES), "three:K", "KC KD KH KS"),
    ],
)
def test_C2_a_declaration_shows_its_cards(hand, declaration, shown):
    table = semerik_table(hand).play(f"declare:{declaration}")
    assert table.cards_in("shown", 0) == cards(shown)
    assert not cards(shown) & table.unseen(1)
    assert cards(hand) - cards(shown) <= table.unseen(1)


def test_S17_baba_is_seven_two_and_ace_of_one_suit():
    assert offers(semerik_table(suit_hand("72A", "C"))) == {"declare:baba:C"}
    assert offers(semerik_table("7C 2S AC 4D 5D 6D JD QD KD 3D")) == set()
    assert offers(semerik_table(suit_hand("32A", "C"))) == set()


def test_S17_option_baba_3A2():
    hand = "3C 2C AC 4D 5D 6D 7D JD QD KD"
    assert offers(semerik_table(hand, baba="3A2")) == {"declare:baba:C"}
    assert offers(semerik_table(suit_hand("72A", "C"), baba="3A2")) == set()
    assert declared_points(hand, baba="3A2") == 3
    assert declared_points("3C 2C AC KC 4D 5D 6D 7D JD QD", baba="3A2") == 4
    assert declared_points("3C 2C AC KC QC JC 7C 4D 5D 6D", baba="3A2") == 16


def test_S22_baba_3():
    assert declared_points(suit_hand("72A", "C")) == 3


@pytest.mark.parametrize(
    ("ranks", "points"),
    [
        ("72AK", 4),
        ("72AKQ", 5),
        ("72AQ", 3),  # the king is missing: not in sequence with the ace
        ("72AJQ", 5),  # with the seven
        ("72A3", 4),
        ("72A63", 5),
        ("72A6543", 7),  # rows of four and three cards
        ("72A4", 3),
        ("72AJQK", 6),  # six in one row
    ],
)
def test_S23_one_for_each_card_in_sequence(ranks, points):
    assert declared_points(suit_hand(ranks, "C")) == points


@pytest.mark.parametrize(
    ("rank", "points"), [("7", 4), *((rank, 3) for rank in "32A"), *((r, 1) for r in "456JQK")]
)
def test_S24_S25_S26_three_or_four_of_a_rank(rank, points):
    fill = " ".join(card for card in SPADES.split() if card[0] != rank)
    for suits in ("CDH", "CDS", "CHS", "DHS", "CDHS"):
        held = " ".join(rank + suit for suit in suits)
        assert declared_points(hand_of(held, fill)) == points


def test_two_of_a_rank_are_nothing():
    assert declared_points("7C 7D KC KH 4S 5S 6S JS QS 3S") == 0


@pytest.mark.parametrize("suit", "CH")
@pytest.mark.parametrize("ranks", ["72AJQK3", "72AJQK6", "72AJQK63", "4567JQKA23"])
def test_S27_seven_in_one_row_make_16(ranks, suit):
    assert declared_points(suit_hand(ranks, suit)) == 16


def test_S27_option_sixteen_whole_suit():
    assert declared_points(suit_hand("72AJQK3", "C"), sixteen="whole_suit") == 7
    assert declared_points(suit_hand("72AJQK3", "H"), sixteen="whole_suit") == 9
    assert declared_points(suit_hand("4567JQKA23", "C"), sixteen="whole_suit") == 16


@pytest.mark.parametrize(
    ("hand", "points"),
    [
        ("7S 2S AS AC AD 4H 5H 6D JD QC", 3 + 3),
        ("7S 2S AS 2C 2D 4H 5H 6D JD QC", 3 + 3),
        ("7S 2S AS 3C 3D 3H 5H 6D JD QC", 3 + 3),
        ("7S 2S AS 3S 3C 3D 5H 6D JD QC", 4 + 3),  # the three of spades serves in both
    ],
)
def test_S28_three_of_a_rank_add_to_the_baba(hand, points):
    assert declared_points(hand) == points


def test_S29_baba_in_hearts_5():
    assert declared_points(suit_hand("72A", "H")) == 5
    assert declared_points(suit_hand("72AK", "H")) == 6


# Counting a deal --------------------------------------------------------------------------------
def test_S13_points_are_counted_when_all_tricks_are_played():
    table = semerik_table(BABA_7D).play("declare:baba:S").put(taken=[semerik.ALL_CARDS, 0])
    assert table["totals"] == [0, 0]
    assert table.last_trick(0, tricks=[4, 3, 0, 2])["totals"] == [3 + 8, 0]


def test_S14_points_go_to_the_pair():
    table = last_trick(2, tricks=[3, 3, 2, 1], taken=["JC QC KC", "2C 3C AC JD QD KD"])
    assert table["totals"] == [1, 2]


@pytest.mark.parametrize(
    ("pile", "third", "none", "one"),
    [
        ("", 0, 0, 0),
        ("4C 5C 6C 7C", 0, 0, 0),
        ("JC QC KC", 1, 1, 1),
        ("2C 3C", 0, 0, 0),
        ("2C 3C JD 4C", 1, 1, 1),
        ("JC QC AC", 1, 0, 1),
        ("JC QC KC AC AD", 1, 1, 3),
        (" ".join(semerik.DECK), 8, 6, 10),
    ],
)
def test_S31_one_point_for_three_counting_cards(pile, third, none, one):
    for aces, points in {"third": third, "none": none, "one": one}.items():
        table = last_trick(1, tricks=[3, 3, 2, 1], taken=[pile, ""], aces=aces)
        assert table["score"] == [points, 0]


@pytest.mark.parametrize(
    ("before", "points"),
    [
        ([4, 0, 5, 0], [4, 0]),  # S32: all ten
        ([8, 1, 0, 0], [6, 0]),  # S33: nine of one's own
        ([8, 0, 1, 0], [10, 0]),  # C6: both
        ([9, 0, 0, 0], [10, 0]),  # ten are nine or more
        ([4, 1, 4, 0], [0, 0]),  # nine of the pair are nothing
        ([0, 0, 9, 0], [10, 0]),  # the partner's nine
    ],
)
def test_S32_S33_points_for_tricks(before, points):
    assert last_trick(0, tricks=before)["score"] == points


@pytest.mark.parametrize(("winner", "points"), [(0, [1, 0]), (2, [1, 0]), (3, [0, 1])])
def test_option_last_trick(winner, points):
    assert last_trick(winner, tricks=[4, 3, 0, 2], last_trick=1)["score"] == points
    assert last_trick(winner, tricks=[4, 3, 0, 2])["score"] == [0, 0]


def test_tressette_setting():
    options = {"beat": "none", "baba": "3A2", "aces": "one", "last_trick": 1}
    table = semerik_table("3C 2C AC 4D 5D 6D 7D JD QD KD", **options).play("declare:baba:C")
    table.put(taken=[table.card_set("AC AD JC QC"), 0]).last_trick(1, tricks=[4, 3, 0, 2])
    assert table["score"] == [3 + 2, 1]


# Games and the match ----------------------------------------------------------------------------
def test_S15_game_goes_on_below_21():
    table = played_deals((20, 15))
    assert table["games_done"] == 0
    assert table["phase"] == DEAL
    assert table["totals"] == [20, 15]


@pytest.mark.parametrize(
    ("points", "booked"), [((21, 15), [21, 0]), ((12, 23), [0, 21]), ((22, 25), [0, 21])]
)
def test_S15_greater_total_from_21_on_wins(points, booked):
    table = played_deals(points)
    assert table["booked"] == booked
    assert table["totals"] == [0, 0]  # the surplus is not carried


def test_C7_equal_totals_another_deal():
    table = played_deals((21, 21))
    assert table["games_done"] == 0
    assert table["totals"] == [21, 21]
    assert semerik_deal_points(table, 1, 0)["booked"] == [21, 0]


@pytest.mark.parametrize(("losers", "booked"), [(0, 42), (11, 42), (12, 21), (20, 21)])
def test_S30_doubled_if_the_losers_have_11_or_fewer(losers, booked):
    assert played_deals((21, losers))["booked"] == [booked, 0]
    assert played_deals((losers, 24))["booked"] == [0, booked]


@pytest.mark.parametrize(("losers", "booked"), [(5, 20), (6, 10)])
def test_C7_another_target(losers, booked):
    assert played_deals((10, losers), target=10)["booked"] == [booked, 0]


def test_S19_full_game_is_three_games():
    table = played_deals((21, 5), (5, 21))
    assert not table.over
    assert table.returns() == [0, 0, 0, 0]
    assert semerik_deal_points(table, 21, 15).over


@pytest.mark.parametrize("games", [1, 2, 5])
def test_S19_option_games(games):
    assert not played_deals(*[(21, 15)] * (games - 1), games=games).over
    assert played_deals(*[(21, 15)] * games, games=games).over


def test_S20_after_the_match_nobody_acts_until_another_begins():
    table = played_deals(*[(21, 15)] * 3)
    assert (table.seat, table["gone"], table.legal()) == (NOBODY, 0b1111, set())
    table.begin().settle()
    assert (table["booked"], table["games_done"], table["phase"]) == ([0, 0], 0, PLAY)


@pytest.mark.parametrize(
    ("deals", "booked", "payoff"),
    [
        ([(21, 5), (12, 21), (21, 12)], [63, 21], 21),
        ([(21, 12), (21, 12), (0, 21)], [42, 42], 0),
        ([(21, 12), (12, 21), (21, 12)], [42, 21], 10.5),
        ([(0, 21)] * 3, [0, 126], -63),
    ],
)
def test_S21_partners_share_the_winnings(deals, booked, payoff):
    table = played_deals(*deals)
    assert table["booked"] == booked
    assert table.returns() == [payoff, -payoff, payoff, -payoff]


def test_option_horizon_game():
    table = played_deals((20, 5), horizon="game")
    assert not table.over
    semerik_deal_points(table, 1, 0)
    assert table.over
    assert table.returns() == [21, -21, 21, -21]


@pytest.mark.parametrize("reward", ["payoff", "points"])
def test_option_horizon_deal(reward):
    table = played_deals((5, 3), horizon="deal", reward=reward)
    assert table.over
    assert table.returns() == [2, -2, 2, -2]


@pytest.mark.parametrize("horizon", ["match", "game"])
def test_option_reward_points_paid_deal_by_deal(horizon):
    table = played_deals((5, 3), horizon=horizon, reward="points")
    assert table.returns() == [2, -2, 2, -2]
    assert semerik_deal_points(table, 2, 9).returns() == [-5, 5, -5, 5]
    semerik_deal_points(table, 30, 0)
    assert table.returns() == [25, -25, 25, -25]
