"""`expert` in Семерик: it reads only what it knows, plays its principles, and beats `greedy`.

P1, P2 … are the principles in the docstring of the player.
"""

import numpy as np
import pytest

from tests.positions import Table, late, semerik_table
from trysim.agents.expert import semerik as expert
from trysim.arena import compare
from trysim.envs.batch import BatchEnv
from trysim.envs.rules.row import SEAT

OPTION_SETS = [
    {"horizon": "deal"},
    {"horizon": "game", "target": 3, "declare": "auto", "baba": "3A2", "reward": "points"},
    {"target": 1, "games": 2, "beat": "led", "fallback": "suit", "aces": "one"},
    {"horizon": "deal", "beat": "none", "declare": "off", "last_trick": 1},
    {"horizon": "deal", "beat": "none", "aces": "one", "baba": "3A2", "last_trick": 1},
    {"horizon": "deal", "beat": "led", "aces": "none", "sixteen": "whole_suit"},
    {"horizon": "deal", "fallback": "suit", "declare": "auto"},
]


def test_it_chooses_the_same_from_view_and_table():
    """In thousands of decisions under all options; what it chooses is legal."""
    batch = BatchEnv("semerik", 70, [OPTION_SETS[k % len(OPTION_SETS)] for k in range(70)])
    batch.reset(seed=1)
    game, rng, n_choices = batch.game, np.random.default_rng(1), 0
    for _ in range(90):
        actions = np.empty(70, np.int64)
        for table, row in enumerate(batch.rows):
            legal = game.kernels.legal(row)
            actions[table] = expert.choose(row, legal, 0)
            view = game.view(row, int(row[SEAT]))
            assert actions[table] == expert.choose(view, legal, int(rng.integers(1 << 60)))
            assert legal >> actions[table] & 1
            n_choices += legal & (legal - 1) != 0
            if rng.random() < 0.1:  # now and then another way, so that positions vary
                actions[table] = rng.choice(game.legal_actions(row))
        batch.step(actions)
    assert n_choices > 3000


def chosen(table: Table) -> str:
    """What it chooses for the seat to act, from the view of that seat."""
    view = table.game.view(table.row, table.seat)
    return table.game.action_text(table.row, expert.choose(view, table.game.kernels.legal(view), 0))


def position(*hands: str, early: bool = False, **options: str) -> Table:
    """Seat 0 leads; every other card of the deck is gone."""
    table = late("semerik", *hands, **options)
    gone = table.card_set(" ".join(table.pack())) & ~table.card_set(" ".join(hands))
    table.put(played=[gone, 0, 0, 0])
    return table.put(n_tricks=0) if early else table


def has_no(table: Table, seat: int, cards: str) -> Table:
    """Let everybody know that a seat does not hold these cards."""
    may_hold = table["may_hold"]
    may_hold[seat] &= ~table.card_set(cards)
    return table.put(may_hold=may_hold)


@pytest.mark.parametrize("hand", ["4C 4D 4H", "7H 2H AH", "3C 3D 3H 3S"])
def test_P1_declares_everything(hand):
    table = semerik_table(hand + " 5S")
    while table["offers"][0]:
        assert chosen(table).startswith("declare:")
        table.play(chosen(table))
    assert table["declared"][0]


def test_P2_second_hand_low():
    assert chosen(position("4H 4S", "5H AH", "KH 5S", "QH 6S").play("4H")) == "5H"


def test_P3_third_hand_high():
    """Whether the partner's card wins so far or not."""
    assert chosen(position("4H 4S", "5S 6S", "6H KH", "QH 7S").play("4H 5S")) == "KH"
    assert chosen(position("4H 4S", "5H 6S", "6H KH", "QH 7S").play("4H 5H")) == "KH"


def test_P4_last_hand_low():
    assert chosen(position("4H 4S", "5H 6S", "6H 5S", "JH KH").play("4H 5H 6H")) == "JH"


def test_P5_leaves_the_trick_to_the_partner():
    """Where one need not beat: if his card stands, or if he plays last and may beat."""
    stands = position("KH 4S", "4H 5S", "5H AH", "7S JH", beat="none").play("KH 4H")
    assert chosen(stands) == "5H"
    may_beat = position("6H 4S", "4H AH", "JH 5S", "2H 6S", beat="none").play("6H")
    assert chosen(may_beat) == "4H"
    assert chosen(has_no(may_beat, 3, "2H JH")) == "AH"


def test_P6_feeds_the_partner_and_starves_the_opponents():
    ours = position("3H 4S", "5H 5S", "4C QC", "KC AC").play("3H 5H")
    assert chosen(ours) == "QC"
    theirs = position("3H 4S", "4C QC", "5H 5S", "KC AC").play("3H")
    assert chosen(theirs) == "4C"


def test_P6_spares_twos_and_threes():
    assert chosen(position("3H 4S", "5H 5S", "QC 2C", "KC 3C").play("3H 5H")) == "QC"


@pytest.mark.parametrize(("aces", "card"), [("third", "KC"), ("none", "KC"), ("one", "AC")])
def test_P6_feeds_aces_by_what_they_count(aces, card):
    hands = "3H 4S", "5H 2C", "KC AC", "4C 3C"
    assert chosen(position(*hands, aces=aces).play("3H 5H")) == card


def test_P7_keeps_masters_and_guards():
    master = position("3H 4S", "5H 4C", "QC QD", "KD AD").play("3H 5H")
    assert chosen(master) == "QD"
    guard = position("3H 4S", "5H KC", "QC QD", "KD AD").play("3H 5H")
    assert chosen(guard) == "QD"


def test_P8_throws_from_long_suits():
    hands = "3H 4S 5S 6S", "4C 4D 5D 6D", "7C QC 7D QD", "AC KC AD KD"
    assert chosen(position(*hands).play("3H")) == "4D"


def test_P9_throws_from_suits_that_are_over():
    """One card beats each of the kings; nobody else has another diamond."""
    hands = "3H 4C 5C", "5H AD 4S", "KC KD 5S", "AC 6C 7C"
    assert chosen(position(*hands).play("3H 5H")) == "KD"


def test_P9_leads_suits_that_are_over():
    assert chosen(position("4C 4D", "5D 5S", "6D 6S", "7D 7S")) == "4C"


def test_P10_leads_masters():
    assert chosen(position("KC KD", "QC 5S", "QD 6S", "AD 7S")) == "KC"


def test_P10_leads_the_middle_masters_first():
    assert chosen(position("3C KD", "QC 5S", "QD 6S", "6D 6C", early=True)) == "KD"


def test_P11_leads_towards_the_partner():
    """To the suit whose three he may hold, to the one whose three he does hold still rather."""
    hands = "5C 5D", "6C 6D", "3C 3D", "7C 7D"
    assert chosen(has_no(position(*hands), 2, "3D 6D 7D")) == "5C"
    assert chosen(has_no(position(*hands), 2, "3C 6C 7C")) == "5D"
    surely = has_no(has_no(position(*hands), 1, "3D"), 3, "3D")
    assert chosen(surely) == "5D"


def test_P12_does_not_lead_from_under_a_master():
    """Not even though the suit is longer."""
    others = "QC KC QD KD", "6C 7C 6D 7D", "AC 2C AD 2D"
    assert chosen(position("3C 4C 5C 4D 5D", *others, early=True)) == "4D"
    assert chosen(position("4C 5C 3D 4D 5D", *others, early=True)) == "4C"
    assert chosen(position("2C 4C 5C 4D 5D", *others[:2], "AC 3C AD 2D", early=True)) == "4C"


def test_P13_leads_away_from_the_right_opponent():
    hands = "5C 5D", "6C 6D", "4C 4D", "7C 7D"
    for suit, other in ("CD", "DC"):
        table = has_no(position(*hands), 3, f"6{suit} 7{suit}")
        assert chosen(has_no(table, 1, f"7{other}")) == f"5{suit}"


def test_P14_leads_long_suits_and_low_cards():
    hands = "4C QD KD 5D", "QC KC 4S 5S", "6C 7C 6D 7D", "AC 2C AD 2D"
    assert chosen(position(*hands, early=True)) in {"QD", "5D"}
    hands = "7D QD", "4S 5S", "6S KD", "AD 2D"
    assert chosen(position(*hands, early=True)) == "7D"


@pytest.mark.parametrize("options", [{}, {"beat": "none", "aces": "one"}])
def test_it_beats_greedy(options):
    """With three standard errors to spare."""
    options = {"horizon": "deal", **options}
    result = compare("semerik", ["expert", "greedy"], 300, 1, options, workers=1, progress=False)
    low, high = result.pairs[0].ci95
    error = (high - low) / 3.92
    assert result.pairs[0].mean - 3 * error > 0
