"""`expert` in Сім листів: each principle in a position, fair and stronger than `greedy`."""

import numpy as np
import pytest

from tests.positions import late, penalty_table, sim_lystiv_table
from tests.test_agents import tables
from trysim.agents.expert import sim_lystiv as expert
from trysim.arena.duplicate import compare
from trysim.envs.rules.row import CUT, PHASE, PLAY, SEAT, STRIKE

GAME = "sim_lystiv"


def chosen(table):
    """The action, in text, of the seat to act; from the table itself and from the seat's view."""
    legal, word = table.rules.legal(table.row), 7
    actions = {
        int(expert.choose(row, legal, word))
        for row in (table.row, table.game.view(table.row, table.seat))
    }
    (action,) = actions
    return table.game.action_text(table.row, action)


# Fair -------------------------------------------------------------------------------------------
def test_chooses_the_same_from_the_view_and_from_the_true_row():
    batch = tables(GAME, 60)
    batch.reset(seed=8)
    phases, n = set(), 0
    for step in range(80):
        actions = np.empty(60, np.int64)
        for k, row in enumerate(batch.rows):
            legal, word = batch.game.kernels.legal(row), 1000 * step + k
            view = batch.game.view(row, int(row[SEAT]))
            actions[k] = expert.choose(row, legal, word)
            assert actions[k] == expert.choose(view, legal, word)
            assert legal >> int(actions[k]) & 1
            phases.add(int(row[PHASE]))
            n += 1
        batch.step(actions)
    assert n == 4800
    assert phases == {PLAY, CUT, STRIKE}


def test_penalty_is_taken_and_given_correctly():
    table = penalty_table("9H")
    assert {chosen(table), chosen(table.play("strike"))} == {"strike"}


# The principles ---------------------------------------------------------------------------------
def deal(hand, counts=(), trump_card="6S", **options):
    """Seat 0 leads from this hand; the last seat deals."""
    table = sim_lystiv_table(hand, trump_card=trump_card, **options)
    return table.put(counts=[*counts, 0, 0, 0, 0, 0][:5])


def lacking(table, seats, text):
    """These seats are known to hold none of the cards."""
    for seat in seats:
        table.row[table.rules.MAY_HOLD + seat] &= ~table.card_set(text)
    return table


def whole_suit(letter):
    return " ".join(rank + letter for rank in "6789TJQKA")


def chance(table, card):
    """The chance that seat 0's lead of `card` holds."""
    number = table.game.card_number(card)
    return expert._chance(table.row, number, table.rules.SUIT_OF[number])


def none_of(marked, n, drawn):
    return np.prod([(n - marked - k) / (n - k) for k in range(drawn)])


def test_P1_P3_a_master_trump_is_led_and_only_a_master():
    assert chosen(deal("AS 6H 9H TD JD 7C 9C", trump_card="KS")) == "AS"
    assert chosen(deal("KS 6H 9H TD JD 7C 9C", trump_card="AS")) == "9C"
    after_the_ace = deal("KS 6H 9H TD JD 7C 9C", trump_card="QS")
    assert chosen(after_the_ace) == "9C"
    assert chosen(after_the_ace.put(played=[0, after_the_ace.card_set("AS"), 0, 0, 0])) == "KS"


def test_P2_the_chance_to_hold_in_a_duel():
    """The dealer has six of 28 unseen cards and the six of trumps: void he beats, by duty."""
    table = deal("JH 6H 7H 6D 7D 6C 7C", num_players=2)
    void = none_of(6, 28, 6)
    assert chance(table, "JH") == pytest.approx(none_of(3, 28, 6) - void)
    no_queen = lacking(table, [1], "QH")
    assert chance(no_queen, "JH") == pytest.approx(none_of(2, 27, 6) - none_of(5, 27, 6))


def test_P2_the_card_turned_up_is_known():
    assert chance(deal("KS 6H 9H TD JD 7C 9C", trump_card="AS"), "KS") == 0
    assert 0 < chance(deal("KS 6H 9H TD JD 7C 9C"), "KS") < 1


def test_P2_undealt_cards_make_a_high_card_safer():
    chances = [chance(deal("KH 6H 9H TD JD 7C 9C", num_players=n), "KH") for n in (2, 3, 4, 5)]
    assert chances == sorted(chances, reverse=True)


def test_P3_no_trump_is_led_to_draw_nothing():
    table = late(GAME, "AS 6H 8C TD", "7H 8H 9H TH", "6D 7D 8D 9D", "6C 7C 9C TC", trump="S")
    assert chosen(table) == "AS"
    assert chosen(lacking(table, [1, 2, 3], whole_suit("S"))) == "6H"


def test_P4_other_trumps_are_kept():
    assert chosen(deal("KS 9S 7H 9H 8D JD 9C")) == "9H"


def test_P5_a_suit_that_somebody_must_trump():
    hand = "9S 7S 8H 9H 8D 9D 8C"
    assert chosen(lacking(deal(hand), [1], whole_suit("D"))) == "9D"
    assert chosen(lacking(deal(hand), [1], whole_suit("H"))) == "9H"


def test_P5_a_suit_of_which_little_is_out():
    hand = "9S 7S 8H 9H 8D 9D 8C"
    for suit in "DH":
        table = deal(hand)
        gone = table.card_set(f"6{suit} 7{suit} T{suit}")
        assert chosen(table.put(played=[0, gone, 0, 0, 0])) == f"9{suit}"


def test_P6_a_single_card_in_company_only():
    hand = "TS 8S 7S 6S 6D JC TC"
    assert chosen(deal(hand, trump_card="9S")) == "6D"
    assert chosen(deal(hand, trump_card="9S", num_players=2)) != "6D"


def test_P7_the_highest_of_a_suit_without_its_master():
    assert chosen(deal("7H TH JH 9S 8S 7S 8C")) == "JH"


def test_P8_with_few_cards_left_lead_what_holds():
    """King and queen of hearts are gone, most diamonds and trumps as well."""
    table = late(GAME, "6D 8H JH", "9C TC 6H", "7H 9D JD", "TD AD KC", trump="S")
    gone = table.card_set("QH KH 9H TH 7C 8C JC QC 7D 8D QD KD 7S 8S KS AS")
    assert chosen(table.put(played=[0, gone, 0, 0, 0])) == "JH"
    assert chosen(table.put(n_tricks=3)) == "6D"


def test_P9_win_as_high_as_is_needed():
    """In second place with the ace, in last place with the jack."""
    second = sim_lystiv_table("9H", "AH 7H JH 6C 7C 8C 9C", trump_card="6S").play("9H")
    assert chosen(second) == "AH"
    others = "9H 6D 7D 8D 9D TD JD", "6H 7S 8S 9S TS JS QS", "TH 6C 7C 8C 9C TC JC"
    last = sim_lystiv_table(*others, "AH KH JH 7H QC KC 6S").play("9H 6H TH")
    assert chosen(last) == "JH"


def test_P9_trump_low():
    others = "9H 7D 8D 9D TD JD AD", "AS JS 9S 7S QC KC 6D", "TH 6C 7C 8C 9C TC JC"
    assert chosen(sim_lystiv_table(*others).play("9H")) == "7S"


def test_P10_the_lowest_card_when_beaten():
    others = "9H 6D 7D 8D 9D TD JD", "6H 7S 8S 9S TS JS QS", "AH 6C 7C 8C 9C TC JC"
    last = sim_lystiv_table(*others, "QH KH JH 7H QC KC 6S").play("9H 6H AH")
    assert chosen(last) == "7H"


def test_P10_throw_low_from_a_long_suit():
    others = "9H 7D TD JD 8H QC 9C", "6C 8D 9D QD KD AC KC", "TH 7C TC JC"
    assert chosen(sim_lystiv_table(*others).play("9H")) == "8D"


@pytest.mark.parametrize(
    ("counts", "options", "lead"),
    [
        ((0,), {"reward": "placement"}, "QD"),
        ((6,), {"reward": "placement"}, "AC"),
        ((6,), {"all_out": "race"}, "AC"),
        ((6,), {"reward": "loser"}, "QD"),  # the order counts for nothing
    ],
)
def test_P11_the_seventh_trick_at_once(counts, options, lead):
    assert chosen(deal("7C AC TD QD 7S TS QS", counts, **options)) == lead


@pytest.mark.parametrize(
    ("counts", "lead"),
    [((3, 5), "6C"), ((3, 6), "AH"), ((3, 0, 0, 6), "AH"), ((7, 6), "6C"), ((3, 7), "6C")],
)
def test_P12_keep_another_from_his_seventh(counts, lead):
    """Who is out already (here: who has seven) neither hinders nor is hindered."""
    assert chosen(deal("6C JD 6H 8H 9H 8S AH", counts)) == lead


# Strength ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_expert_beats_greedy(n):
    """By more than three standard errors."""
    options = {"num_players": n, "reward": "placement"}
    deals = {2: 3000, 3: 800, 4: 500, 5: 300}[n]
    (pair,) = compare(GAME, ["expert", "greedy"], deals, 3, options, 1, progress=False).pairs
    error = (pair.ci95[1] - pair.ci95[0]) / (2 * 1.96)
    assert pair.mean - 3 * error > 0
