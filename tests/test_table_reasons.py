"""Why a card may not be played."""

import pytest

from tests.positions import Table
from trysim.envs.table_view import view
from trysim.table.reasons import why_not


def reason(table, card):
    seen = view(table.game, table.row, table.seat)
    return why_not(seen, table.seat, card)


@pytest.fixture
def semerik():
    def deal(**options):
        table = Table("semerik", dealer=3, declare="off", **options)
        hands = [
            "7H 4C 5C 6C 7C JC QC KC AC 2C",
            "JH 4H 4D 5D 6D 7D JD QD KD AD",
            "KH 5H 4S 5S 6S 7S JS QS KS AS",
            "6H QH AH 2H 3H 2D 3D 2S 3S 3C",
        ]
        table.deal(*hands, dealer=3)
        return table

    return deal


def test_semerik_a_higher_card_must_be_played(semerik):
    table = semerik()
    table.play("7H")
    assert reason(table, "JH") is None
    assert reason(table, "4H") == "A card higher than 7♥ must be played."
    assert reason(table, "4D") == "A card higher than 7♥ must be played."


def test_semerik_plain_following(semerik):
    table = semerik(beat="none")
    table.play("7H")
    assert reason(table, "4H") is None
    assert reason(table, "4D") == "The suit led must be followed: ♥."


def test_whose_turn_it_is(semerik):
    table = semerik()
    seen = view(table.game, table.row, 2)
    assert why_not(seen, 2, "KH") == "It is player_0's turn."


def test_cards_of_others(semerik):
    assert reason(semerik(), "3C") == "3♣ is not possible now."


def test_sim_lystiv_trumping():
    table = Table("sim_lystiv", dealer=2, num_players=3)
    table.deal(
        "7H 8H 9H TH JH QH KH",
        "6S 7S 6C 7C 8C 9C TC",
        "6D 7D 8D 9D TD JD AS",
        dealer=2,
        trump_card="AS",
    )
    table.play("7H")
    assert reason(table, "6S") is None
    assert reason(table, "6C") == "Without ♥ a trump must be played: ♠."
