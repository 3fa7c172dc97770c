"""Сім листів: the sentences of `sim_lystiv.md` and the decided rules, one by one, by hand."""

import random
from itertools import pairwise

import pytest

from tests.positions import (
    Table,
    cards,
    late,
    penalty_table,
    sim_lystiv_match,
    sim_lystiv_table,
    win_trick,
)
from trysim.envs.games import BadInput
from trysim.envs.rules import sim_lystiv
from trysim.envs.rules.row import CUT, DEAL, NOBODY, OVER, PENALTY_DECK, PLAY, STRIKE

GAME = "sim_lystiv"
STRIKES = cards("strike extra_blow extra_cards")


def suit(letter: str) -> set[str]:
    return {card for card in sim_lystiv.DECK if card[1] == letter}


def exits(table: Table) -> list[int]:
    """The seats that have seven tricks, in the order of their seventh."""
    return list(table["exits"][: table["n_exits"]])


def excluded(table: Table, seat: int) -> set[str]:
    """The cards that a seat is known not to hold, by what it failed to play."""
    return set(sim_lystiv.DECK) - table.cards_in("may_hold", seat)


def play_match(n: int, choose: object, **options: object) -> Table:
    """A whole match in which `choose(table)` names the winner of each trick."""
    table = Table(GAME, num_players=n, **options).settle()
    while table["phase"] == PLAY:
        table.win(choose(table)).settle()
    return table


# Sizes and rank ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (len(set(sim_lystiv.DECK)) == len(sim_lystiv.DECK), True),  # S1
        (len(sim_lystiv.DECK), 36),  # S2
        (Table(GAME).n, 4),  # the default
        ([Table(GAME, num_players=n).n for n in (2, 3, 4, 5)], [2, 3, 4, 5]),  # S3
        (sim_lystiv.TRICKS_TO_LEAVE, 7),  # S5
    ],
)
def test_S1_S2_S3_S5_sizes(said, expected):
    assert said == expected


@pytest.mark.parametrize("n", [1, 6])
def test_S3_two_to_five_players(n):
    with pytest.raises(BadInput):
        Table(GAME, num_players=n)


@pytest.mark.parametrize("trump", "SH")
@pytest.mark.parametrize(("low", "high"), [*pairwise("6789TJQKA")])
def test_S4_rank_of_cards_the_same_in_trumps(low, high, trump):
    assert win_trick(GAME, f"{low}S {high}S 6D 7D", trump) == 1
    assert win_trick(GAME, f"{high}S {low}S 6D 7D", trump) == 0


# The deal ---------------------------------------------------------------------------------------
def test_S6_first_dealer_by_lot():
    assert {Table(GAME, seed).settle()["dealer"] for seed in range(40)} == {0, 1, 2, 3}


@pytest.mark.parametrize("dealer", range(3))
def test_S6_dealer_option_and_turns(dealer):
    table = sim_lystiv_match(0, 0, 0, dealer=dealer)
    assert table["dealer"] == dealer
    assert table.win(0, 1, 2, 0, 1, 2, 0).settle()["dealer"] == (dealer + 1) % 3


@pytest.mark.parametrize(
    ("counts", "winners", "dealer", "leader"),
    [
        ((0, 6, 6, 0), [1, 2, 1, 1, 1, 1, 1], 3, 0),  # the dealer and his left have left
        ((0, 0, 6, 0), [2] * 7, 3, 0),  # seat 2 would deal next
        ((0, 6, 0, 0), [1] * 7, 2, 3),  # the dealer has left
    ],
)
def test_S6_C5_players_who_left_do_not_deal_or_lead(counts, winners, dealer, leader):
    table = sim_lystiv_match(*counts, dealer=1, penalty="none").win(*winners).settle()
    assert (table["dealer"], table.seat) == (dealer, leader)
    assert all(table["hands"][seat] == 0 for seat in range(4) if seat not in table.active())


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_S7_seven_cards_each_left_of_dealer_first(n):
    deck = list(sim_lystiv.DECK)[::-1]
    table = Table(GAME, num_players=n).give(deck, dealer=1)
    for place in range(n):
        assert table.cards_in("hands", (2 + place) % n) == set(deck[place : 7 * n : n])
    assert len(table.unseen(0)) == 36 - 7 - 1  # all but one's own and the card turned up


def test_S8_S9_the_dealers_last_card_is_shown_and_makes_trumps():
    deck = list(sim_lystiv.DECK)
    table = Table(GAME).give(deck, dealer=2)
    turned_up = deck[7 * 4 - 1]
    assert table["trump_card"] == 27
    assert turned_up in table.cards_in("hands", 2)  # C1: it stays in his hand
    assert turned_up not in table.unseen(0)
    assert table["trumps"] == table.card_set(" ".join(suit(turned_up[1])))


def test_C1_the_card_turned_up_is_played_like_any_other():
    table = sim_lystiv_table("6H AH KC QC JC TC 9C", "7H", trump_card="8H", num_players=2)
    assert "8H" in table.play("6H").legal()
    assert table.play("8H").seat == 1


@pytest.mark.parametrize("dealer", range(4))
def test_S10_left_of_dealer_leads(dealer):
    table = sim_lystiv_match(0, 0, 0, 0, dealer=dealer)
    assert table.seat == table["leader"] == (dealer + 1) % 4


# Playing ----------------------------------------------------------------------------------------
def test_S11_one_card_a_turn_clockwise():
    table = late(GAME, "9D 6D", "7D", "8D", "TD", trump="S")
    seats = [table.play(card).seat for card in ("9D", "7D", "8D")]
    assert seats == [1, 2, 3]


def test_S12_leader_plays_any_card():
    assert late(GAME, "9S 6D AH", "", trump="S").legal() == cards("9S 6D AH")


@pytest.mark.parametrize(
    ("hand", "legal"),
    [
        ("6H AH KS 7C", "6H AH"),  # follow suit
        ("6S KS AD 7C", "6S KS"),  # void: must trump
        ("9D AD 7C", "9D AD 7C"),  # void in trumps too: any card
    ],
)
def test_S13_follow_suit_else_trump_else_any_card(hand, legal):
    assert late(GAME, "9H", hand, trump="S").play("9H").legal() == cards(legal)


def test_S13_trumps_led_are_followed_or_any_card():
    assert late(GAME, "9S", "6S AH", trump="S").play("9S").legal() == cards("6S")
    assert late(GAME, "9S", "6C AH", trump="S").play("9S").legal() == cards("6C AH")


def test_S13_void_must_trump_even_when_it_cannot_win():
    table = late(GAME, "9H", "AS", "6S KS AD 7C", trump="S").play("9H AS")
    assert table.legal() == cards("6S KS")


def test_C2_no_duty_to_beat():
    table = late(GAME, "9H", "6H 8H QH KS", trump="S").play("9H")
    assert table.legal() == cards("6H 8H QH")


@pytest.mark.parametrize(
    ("trick", "hand", "legal"),
    [
        ("9H", "6H 8H QH KS", "QH"),  # able to beat: must
        ("QH", "6H 8H KS", "6H 8H"),  # unable: any of the suit
        ("9H JH", "TH QH", "QH"),  # the best card so far
        ("9H 6S", "8H QH", "8H QH"),  # a trumped trick
        ("9S", "6S AS KH", "AS"),  # trumps led
        ("9H TS", "6S AS KC", "6S AS"),  # void: no duty to overtrump
        ("9H", "6C KD", "6C KD"),
    ],
)
def test_C2_option_must_beat(trick, hand, legal):
    seats = [*trick.split(), hand]
    table = late(GAME, *seats, trump="S", must_beat=True).play(trick)
    assert table.legal() == cards(legal)


@pytest.mark.parametrize(
    ("trick", "trump", "winner"),
    [
        ("9H AH KH 8H", "S", 1),  # the highest of the suit led
        ("9H AH 6S 7S", "S", 3),  # the highest trump
        ("AH 6S KH", "S", 1),
        ("9H AD AC 8H", "S", 0),  # other suits do not count
        ("TS KS AH AS", "S", 3),  # trumps led
    ],
)
def test_S14_who_takes_the_trick(trick, trump, winner):
    assert win_trick(GAME, trick, trump) == winner


def test_S14_winner_leads():
    table = late(GAME, "9H", "AH", "6S 7C 8D AS", trump="S").play("9H AH 6S")
    assert table.seat == table["leader"] == 2
    assert table["tricks"][:3] == [0, 0, 1]
    assert table.legal() == cards("7C 8D AS")


# What a seat may know ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("card", "shown"), [("6H", set()), ("6S", suit("H")), ("AD", suit("H") | suit("S"))]
)
def test_S13_what_a_failure_to_follow_or_trump_shows(card, shown):
    assert excluded(late(GAME, "9H", card, "", trump="S").play(f"9H {card}"), 1) == shown


@pytest.mark.parametrize(
    ("trick", "shown"),
    [
        ("QH 6H", cards("KH AH")),  # following lower
        ("QH KH", set()),
        ("QH 6S 8H", set()),  # a trumped trick need not be beaten
        ("QH 6S", suit("H")),
        ("QS 6S", cards("KS AS")),
        ("QH AD", suit("H") | suit("S")),
    ],
)
def test_C2_what_a_failure_to_beat_shows(trick, shown):
    table = late(GAME, *trick.split(), "7C", trump="S", must_beat=True).play(trick)
    assert excluded(table, len(trick.split()) - 1) == shown


# Leaving and losing -----------------------------------------------------------------------------
def test_S15_tricks_are_counted_at_the_end_and_carry_over():
    table = sim_lystiv_match(0, 0, 0).win(0, 0, 0, 1, 1, 2)
    assert table["counts"][:3] == [0, 0, 0]
    assert table.win(2)["counts"][:3] == [3, 2, 2]
    assert table.settle().win(0, 0, 1, 1, 1, 2, 2)["counts"][:3] == [5, 5, 4]


@pytest.mark.parametrize(
    ("counts", "winners", "order"),
    [
        ((5, 6, 3), [0, 1, 2, 0, 2, 2, 0], [1, 0]),
        ((6, 6, 2), [0, 1, 2, 2, 2, 2, 0], [0, 1]),
        ((0, 0, 0), [1] * 7, [1]),
        ((7, 6, 6, 2), [2, 1, 3, 3, 3, 3, 1], [0, 2, 1]),
    ],
)
def test_S16_who_has_seven_leaves_in_the_order_of_the_seventh(counts, winners, order):
    table = sim_lystiv_match(*counts, dealer=len(counts) - 1).win(*winners)
    assert exits(table) == order
    assert table["out"] == sum(1 << seat for seat in order)


def test_S16_he_leaves_when_the_deal_ends():
    table = sim_lystiv_match(6, 0, 0, dealer=2).win(0)
    assert (table["out"], table["gone"], table.seat) == (0, 0, 0)  # and he leads the next trick
    table.win(1, 1, 1, 2, 2, 2)
    assert (table["out"], table["gone"]) == (0b001, 0b001)


def test_C3_tricks_beyond_seven_have_no_effect():
    table = sim_lystiv_match(6, 6, 2, dealer=2, penalty="none").win(0, 0, 0, 0, 0, 0, 1)
    assert table["counts"][:3] == [12, 7, 2]
    assert (exits(table), table["loser"]) == ([0, 1], 2)


def test_S17_the_last_player_left_has_lost():
    table = sim_lystiv_match(7, 7, 6, 3, dealer=3, penalty="none").win(*[2] * 7)
    assert (table.over, table["loser"], table["gone"]) == (True, 3, 0b1111)
    assert table.returns() == [0, 0, 0, -1]


def longest(table: Table) -> int:
    """The seat to give the trick to in a match that is to last: fill everybody up to six first."""
    have = [c + t for c, t in zip(table["counts"], table["tricks"], strict=True)]
    below_six = [seat for seat in table.active() if have[seat] < 6]
    return below_six[0] if sum(have) < 7 * (table.n - 1) else table.active()[0]


@pytest.mark.parametrize(("n", "n_deals"), [(2, 2), (3, 4), (4, 6), (5, 8)])
def test_S17_a_match_ends_after_two_deals_a_player_less_two(n, n_deals):
    assert play_match(n, longest, penalty="none")["deals"] == n_deals
    for seed in range(8):
        rng = random.Random(seed)
        table = play_match(n, lambda table, rng=rng: rng.choice(table.active()), penalty="none")
        assert table["deals"] <= n_deals


# All who are left reach seven -------------------------------------------------------------------
def all_out(**options: object) -> Table:
    """The end of a deal in which both who are left reach seven, seat 1 last."""
    return sim_lystiv_match(4, 3, dealer=1, **options).win(0, 1, 0, 1, 1, 0, 1)


@pytest.mark.parametrize("penalty", ["none", "auto", "interactive"])
def test_C4_no_loser(penalty):
    table = all_out(penalty=penalty)
    assert (table.over, table["loser"], exits(table)) == (True, NOBODY, [0, 1])
    assert table.returns() == [0, 0]
    assert all_out(penalty=penalty, reward="placement").returns() == [1, -1]


def test_C4_race_the_last_to_take_his_seventh_loses():
    table = all_out(all_out="race", penalty="none")
    assert (table.over, table["loser"], table["counts"][:2]) == (True, 1, [7, 7])
    assert table.returns() == [0, -1]
    assert all_out(all_out="race", penalty="none", reward="placement").returns() == [1, -1]
    assert all_out(all_out="race", penalty="auto")["phase"] == PENALTY_DECK


def test_C4_race_with_the_most_tricks():
    table = sim_lystiv_match(6, 6, 6, 6, 11, dealer=0, all_out="race", penalty="none")
    table.win(2, 3, 1, 0, 0, 0, 0)
    assert (table["loser"], exits(table)) == (0, [4, 2, 3, 1, 0])


def test_C4_replay_the_deal_is_void():
    table = all_out(all_out="replay")
    assert (table["phase"], table["loser"], exits(table)) == (DEAL, NOBODY, [])
    assert (table["counts"][:2], table["out"], table["gone"]) == ([4, 3], 0, 0)
    assert table.settle()["dealer"] == 0  # the deal moves on
    table.win(1, 1, 1, 1, 0, 0, 1)
    assert (table["loser"], exits(table)) == (0, [1])


def test_C4_replay_keeps_those_who_had_left():
    table = sim_lystiv_match(7, 4, 3, dealer=2, all_out="replay").win(1, 2, 1, 2, 2, 1, 2)
    assert (exits(table), table["counts"][:3], table["gone"]) == ([0], [7, 4, 3], 0b001)


# The penalty ------------------------------------------------------------------------------------
def test_S18_penalty_none_the_match_ends_with_the_loser_known():
    table = sim_lystiv_match(0, 0, dealer=1, penalty="none").win(*[0] * 7)
    assert (table.over, table["loser"], table["received"]) == (True, 1, [0] * 5)


@pytest.mark.parametrize("strike_cards", [1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_S18_penalty_auto_is_drawn_and_everyone_strikes_correctly(seed, strike_cards):
    table = sim_lystiv_match(7, 6, 0, 7, dealer=2, seed=seed, strike_cards=strike_cards)
    assert table.win(*[1] * 7)["phase"] == PENALTY_DECK
    table.settle()
    bottom = sim_lystiv.DECK[table["bottom"]]
    blows = {"6": 6, "7": 7, "8": 8, "9": 9, "T": 10}.get(bottom[0], 0)
    assert table.over
    assert 1 <= table["cut"] <= 35
    assert table["struck"] == ([1, 1, 0, 1, 0] if blows else [0] * 5)
    assert table["received"] == [0, 0, 3 * blows, 0, 0]


def test_S18_penalty_auto_draws_every_kind_of_card():
    tables = [sim_lystiv_match(6, 0, dealer=1, seed=seed).win(*[0] * 7) for seed in range(60)]
    ranks = {sim_lystiv.DECK[table.settle()["bottom"]][0] for table in tables}
    assert ranks == set("6789TJQKA")


def at_the_cut(**options: object) -> Table:
    """A table whose loser, seat 0 of four, is to cut the deck in its order, 6C on top."""
    table = sim_lystiv_match(0, 6, 7, 7, dealer=0, penalty="interactive", **options)
    return table.win(*[1] * 7).give(list(sim_lystiv.DECK))


def test_S19_the_loser_cuts_the_whole_deck():
    table = sim_lystiv_match(0, 6, 7, 7, dealer=0, penalty="interactive").win(*[1] * 7)
    assert table["phase"] == PENALTY_DECK
    assert table.pack() == list(sim_lystiv.DECK)
    table.settle()
    assert (table["phase"], table.seat) == (CUT, 0)
    assert table.legal() == {f"cut:{depth}" for depth in range(1, 36)}


@pytest.mark.parametrize("depth", ["", "²", "-1", "9" * 5000])
def test_a_cut_is_a_whole_number(depth):
    table = at_the_cut()
    with pytest.raises(BadInput, match="no action"):
        table.game.action_number(table.row, f"cut:{depth}")


@pytest.mark.parametrize("depth", [1, 9, 10, 18, 27, 28, 35])
def test_S20_bottom_card_after_the_cut(depth):
    table = at_the_cut().play(f"cut:{depth}")
    assert table["cut"] == depth
    assert table["bottom"] == depth - 1  # the lowest of the cards that were lifted


@pytest.mark.parametrize(("rank", "blows"), [("T", 10), ("9", 9), ("8", 8), ("7", 7), ("6", 6)])
def test_S21_S23_blows_by_cards(rank, blows):
    table = penalty_table(f"{rank}H")
    assert (table["blows"], table["phase"], table.seat) == (blows, STRIKE, 1)
    assert table.legal() == STRIKES


@pytest.mark.parametrize("rank", "JQKA")
def test_S22_forgiven(rank):
    table = penalty_table(f"{rank}D", reward="blows")
    assert (table["phase"], table["blows"], table["received"]) == (OVER, 0, [0] * 5)
    assert table.returns() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("n", "strike_cards", "halves"),
    [(2, 1, (17, 18)), (3, 1, (17, 17)), (4, 1, (16, 17)), (5, 1, (16, 16)),
     (2, 3, (16, 17)), (3, 3, (15, 15)), (4, 3, (13, 14)), (5, 3, (12, 12))],
)  # fmt: skip
def test_S24_S25_the_rest_of_the_deck_shields_the_cheeks(n, strike_cards, halves):
    table = penalty_table("6C", n=n, strike_cards=strike_cards)
    assert tuple(sim_lystiv.shield_halves(table.row)) == halves


def test_S24_one_card_by_default():
    assert tuple(sim_lystiv.shield_halves(penalty_table("6C").row)) == (16, 17)


@pytest.mark.parametrize("loser", range(4))
def test_S26_all_the_others_strike_clockwise_from_the_losers_left(loser):
    table = penalty_table("8C", loser=loser)
    for place in range(1, 4):  # two of them left the game early
        assert table.seat == (loser + place) % 4
        assert not table.over
        table.play("strike")
    assert table.over
    assert table["received"][loser] == 24
    assert sum(table["received"]) == 24


@pytest.mark.parametrize(
    ("strikes", "received"),
    [
        ("strike extra_blow strike", [25, 0, 24, 0]),
        ("strike extra_cards strike", [24, 0, 24, 0]),
        ("extra_blow extra_cards extra_blow", [26, 24, 24, 24]),  # C7: it does not cascade
    ],
)
def test_S27_who_strikes_too_much_gets_the_same_from_all(strikes, received):
    table = penalty_table("8C", reward="blows").play(strikes)
    assert table.over
    assert table["received"][:4] == received
    assert table.returns() == [-blows for blows in received]


def test_C6_players_who_left_stay_until_an_interactive_penalty_is_over():
    table = sim_lystiv_match(7, 6, 0, 7, dealer=2, penalty="interactive")
    assert table["gone"] == 0
    assert table.win(*[1] * 7)["gone"] == 0
    table.give(list(sim_lystiv.DECK)).play("cut:1 strike strike")
    assert table["gone"] == 0
    assert table.play("strike")["gone"] == 0b1111


# Rewards ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("penalty", ["none", "auto", "interactive"])
def test_reward_loser(penalty):
    table = sim_lystiv_match(7, 6, 0, dealer=2, penalty=penalty).win(*[1] * 7).settle()
    if penalty == "interactive":
        assert table.returns() == [0, 0, 0]
        table.play("cut:1").play_any(2 if table["phase"] == STRIKE else 0)
    assert table.over
    assert table.returns() == [0, 0, -1]


@pytest.mark.parametrize(
    ("counts", "order", "paid"),
    [
        ((6, 0), [0, 1], [1, -1]),
        ((0, 6, 7), [2, 1, 0], [-1, 0, 1]),
        ((7, 0, 7, 6), [0, 2, 3, 1], [1, -1, 1 / 3, -1 / 3]),
        ((7, 7, 7, 0, 6), [0, 1, 2, 4, 3], [1, 0.5, 0, -1, -0.5]),
    ],
)
def test_reward_placement_is_linear_from_first_out_to_last(counts, order, paid):
    table = sim_lystiv_match(*counts, dealer=order[-1], penalty="none", reward="placement")
    table.win(*[order[-2]] * 7)
    assert [*exits(table), table["loser"]] == order
    assert table.returns() == pytest.approx(paid)


def test_reward_placement_is_paid_when_a_player_leaves():
    table = sim_lystiv_match(6, 0, 0, dealer=2, reward="placement").win(*[0] * 7)
    assert (table.over, table["gone"]) == (False, 0b001)
    assert table.returns() == [1, 0, 0]


def test_reward_placement_of_all_out_is_by_the_seventh_trick():
    table = sim_lystiv_match(6, 6, 4, dealer=2, reward="placement").win(1, 0, 2, 2, 2, 0, 0)
    assert table.over
    assert table["loser"] == NOBODY
    assert table.returns() == [0, 1, -1]


def test_reward_blows_of_an_automatic_penalty():
    table = sim_lystiv_match(7, 6, 0, dealer=2, reward="blows").win(*[1] * 7)
    table.give(["TC", *sim_lystiv.DECK[:4], *sim_lystiv.DECK[5:]])  # cut by lot 0: one card
    assert table.over
    assert table.returns() == [0, 0, -20]
