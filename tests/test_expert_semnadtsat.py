"""`expert` in Семнадцать: its principles one by one, in cards; what it may see; its strength."""

import numpy as np
import pytest

from tests.positions import late, semnadtsat_table
from tests.test_agents import tables
from trysim.agents import make_agent
from trysim.agents.expert import semnadtsat as expert
from trysim.agents.rule_players import RulePlayer
from trysim.arena import compare
from trysim.envs.decisions import decide, new_streams
from trysim.envs.rules.row import NAME_TRUMP, PHASE, PLAY, SEAT


def choice(table):
    """What expert does at a table, in text."""
    seat, legal = table.seat, table.game.kernels.legal(table.row)
    action = expert.choose(table.game.view(table.row, seat), legal, 0)
    return table.game.action_text(table.row, action)


def end(*hands, trump=None, points=(0, 0, 0, 0), **options):
    """A table late in its deal: all cards that nobody holds are gone. Seat 0 leads."""
    table = late("semnadtsat", *hands, trump=trump, **options)
    held = sum(table["hands"])
    return table.put(played=[table["deck"] & ~held, 0, 0, 0, 0], points=[*points, 0][:5])


def void(table, seat, suits):
    """All see that the seat has none of these suits."""
    may = table["may_hold"]
    for card in table.game.cards(may[seat]):
        if card[1] in suits:
            may[seat] &= ~table.card_set(card)
    return table.put(may_hold=may)


# Naming trumps ----------------------------------------------------------------------------------
def named(hand, **options):
    return choice(semnadtsat_table(hand, **options))


def test_names_its_longest_suit():
    assert named("3C 3D 3H 2S 4S 5S 6S 9S TS QC KD AH 4C") == "trump:S"


def test_names_the_suit_of_its_seven_among_equals():
    assert named("3C 3D 3H QC KC AC QD KD 7D QH KH AH 4S") == "trump:D"


def test_leaves_a_jack_its_high_place_where_trumps_would_lower_it():
    hand = "3C 3D 3H 5C 6C JC 5D 6D 9D 5H 6H JH 4S"
    assert named(hand) == "trump:D"
    assert named(hand, jack="by_deal") == "trump:C"


# Tricks -----------------------------------------------------------------------------------------
def test_takes_a_seven_and_spends_no_more_than_it_must():
    table = end("7S AS QS", "3S JS", "4S 5H", "KS 8S 6S", trump="H")
    assert choice(table.play("QS 3S 4S")) == "KS"
    table = end("7S AS QS", "3S JS", "4S 5H", "KS 8S 6S", trump="H")
    assert choice(table.play("7S 3S 4S")) == "8S"


def test_ruffs_a_seven_and_not_a_trick_of_one():
    assert choice(end("7S 4C", "3S 5C", "4S 6C", "8H 3D", trump="H").play("7S 3S 4S")) == "8H"
    assert choice(end("QS 4C", "3S 5C", "7S 6C", "8H 3D", trump="H").play("QS 3S")) == "7S"
    assert choice(end("QS 4C", "3S 5C", "4S 6C 7C", "8H 3D", trump="H").play("QS 3S 4S")) == "3D"


def test_adds_no_seven_to_a_trick_that_another_takes():
    table = end("JS 4H", "7S 5S", "3S 6H", "4S 9H", trump="H").play("JS")
    assert choice(table) == "5S"


def test_leads_a_seven_that_nobody_can_beat():
    assert choice(end("7S 3D", "3S 4D", "4S 5D", "5S 6D")) == "7S"


def test_leads_no_seven_that_a_void_seat_may_ruff():
    table = end("7S 3D 4D 5D", "8H 3S 6S 8D", "4S 9S QS AD", "5S TS KS KD", trump="H")
    assert choice(table) == "7S"
    assert choice(void(table, 1, "S")) == "3D"


# Keeping ----------------------------------------------------------------------------------------
def test_keeps_the_low_card_that_guards_its_seven():
    table = end("AH 4H JD QD", "7S 4S 4D 6D", "3S AS KD 8D", "8S JS AD 9D").play("AH")
    assert choice(table) == "4D"


def test_keeps_the_cards_that_may_catch_a_seven():
    table = end("AH 4H", "8S 8D", "7S 5H JS", "6D JD", points=(9, 9, 9, 9)).play("AH")
    assert choice(table) == "8D"


def test_throws_a_last_plain_card_to_be_able_to_ruff():
    table = end("AH 4H", "3S 4D 5D 6C", "JS KS AS", "JD 8D AD", trump="C").play("AH")
    assert choice(table) == "3S"


# The harder count -------------------------------------------------------------------------------
def harder(points, *hands):
    return end(*hands, points=points, scoring="seventeen")


def test_takes_a_trick_of_one_to_come_to_seventeen_and_no_further():
    hands = "5S 4H", "3S 5H", "4S 6H", "QS 2S"
    assert choice(harder((9, 9, 9, 16), *hands).play("5S 3S 4S")) == "QS"
    hands = "5S 4H", "6S 5H", "9S 6H", "QS 3S"
    assert choice(harder((9, 9, 9, 16), *hands).play("5S 6S 9S")) == "QS"
    assert choice(harder((9, 9, 8, 17), *hands).play("5S 6S 9S")) == "3S"


def test_gives_a_seven_to_a_seat_that_it_pushes_too_far():
    hands = "5S 4H", "6S 5H", "AS 6H", "7D 3D"
    assert choice(harder((5, 5, 16, 17), *hands).play("5S 6S AS")) == "7D"
    assert choice(harder((5, 5, 16, 5), *hands).play("5S 6S AS")) == "3D"
    assert choice(end(*hands, points=(5, 5, 16, 17)).play("5S 6S AS")) == "3D"


def test_gets_rid_of_high_cards_once_it_has_enough():
    hands = "JS 4H QS", "6S 5H 8S", "9S 6H KS", "AS 3S JH"
    assert choice(harder((3, 5, 5, 19), *hands).play("JS 6S 9S")) == "AS"
    assert choice(harder((3, 5, 5, 6), *hands).play("JS 6S 9S")) == "3S"


def test_leads_low_once_it_has_enough():
    hands = "3S AS 8D", "4S 6S 4H", "9S 5S 5H", "TS QS 6H"
    assert choice(harder((18, 5, 5, 6), *hands)) == "3S"


def test_counts_under_the_harder_count_rise_to_seventeen_and_fall():
    for n in (3, 4, 5):
        few_left = expert._WORTH[expert._worth_row(n - 2, 0, 1) :][:30]
        assert few_left.argmax() in (16, 17)
        begun = expert._WORTH[expert._worth_row(n - 2, 4, 9) :][:30]
        assert begun.argmax() < few_left.argmax()  # more is still to come


# What it sees, and how strong it is -------------------------------------------------------------
def test_chooses_the_same_from_its_view_and_from_the_true_table():
    batch, agents = tables("semnadtsat", 90), [make_agent("expert", "semnadtsat")]
    batch.reset(seed=1)
    streams, every, phases = new_streams(range(90), batch.game.n_seats), np.arange(90), set()
    for _ in range(120):
        phases |= set(batch.rows[:, PHASE].tolist())
        actions = decide(batch.game, batch.rows, every, agents, np.zeros(90, int), streams)
        true = [expert.choose(row, batch.game.kernels.legal(row), 5) for row in batch.rows]
        assert true == actions.tolist()
        assert (batch.rows[:, SEAT] >= 0).all()
        batch.step(actions)
    assert phases == {NAME_TRUMP, PLAY}


@pytest.mark.parametrize("num_players", [3, 4, 5])
@pytest.mark.parametrize(
    ("options", "deals"),
    [
        ({"scoring": "simple"}, 200),
        ({"scoring": "seventeen"}, 700),
        ({"scoring": "simple", "reward": "win"}, 300),
        ({"scoring": "seventeen", "reward": "win"}, 500),
    ],
)
def test_beats_greedy(num_players, options, deals):
    """By three standard errors of the mean over deals."""
    chosen = {"num_players": num_players, **options}
    pair = compare("semnadtsat", ["expert", "greedy"], deals, 3, chosen, workers=1).pairs[0]
    error = (pair.ci95[1] - pair.ci95[0]) / (2 * 1.96)
    assert pair.mean - 3 * error > 0


def test_is_a_rule_player():
    assert isinstance(make_agent("expert", "semnadtsat"), RulePlayer)
