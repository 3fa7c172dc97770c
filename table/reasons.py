"""Why an action is not open to somebody, in words that follow from what is open."""

from trysim.envs.table_view import SUIT_SIGNS, TableView, action_label, card_label
from trysim.envs.texts import Player, Text


def why_not(table: TableView, seat: int, action: str) -> Text | None:
    """Why `seat`, through whose eyes the table is seen, cannot take an action; None if it can."""
    if table.over:
        return Text("The match is over.")
    if table.turn != seat:
        return Text("It is {player}'s turn.", player=Player(table.turn or 0))
    if action in table.legal:
        return None
    if table.phase == "name trumps":
        return Text("First a trump suit must be named.")
    if table.phase == "cut":
        return Text("First the deck must be cut.")
    if table.phase == "strike":
        return Text("It is time to strike.")
    if action not in table.seats[seat].hand:
        return Text("{action} is not possible now.", action=action_label(action))
    return _why_not_card(table, seat)


def _why_not_card(table: TableView, seat: int) -> Text:
    """Why another card must be played: told by the suits that are open."""
    led = table.trick[0].card[1]
    best = next(played.card for played in table.trick if played.winning)
    suits = {card[1] for card in table.may_play}
    held_back = any(
        card[1] in suits and card not in table.may_play for card in table.seats[seat].hand
    )
    if len(suits) == 1 and held_back:
        return Text("A card higher than {card} must be played.", card=card_label(best))
    if suits == {led}:
        return Text("The suit led must be followed: {suit}.", suit=SUIT_SIGNS[led])
    return Text(
        "Without {led} a trump must be played: {suit}.",
        led=SUIT_SIGNS[led],
        suit=SUIT_SIGNS[table.trump or led],
    )
