"""How each game is played, in a few sentences: for people who sit down at a table."""

HOW_TO_PLAY = {
    "sim_lystiv": (
        "Two to five players, 36 cards, seven each. The dealer's last card is turned up: its "
        "suit is trumps, and it stays in his hand.",
        "Follow suit; without it play a trump; without trumps play any card. The highest "
        "trump takes the trick, else the highest card of the suit led.",
        "Tricks are counted over all deals. Whoever has seven is out, in safety; the last one"
        " left has lost.",
        "The loser cuts the deck: the bottom card, 6 to 10, says how many blows each other "
        "player gives; a court card or an ace forgives.",
    ),
    "semnadtsat": (
        "Three to five players, each alone. Four play with 52 cards; three leave a suit out, "
        "five the 3♦ and the 3♠. All cards are dealt.",
        "Whoever has the most threes names trumps and leads; with a tie there are none, and "
        "left of the dealer leads. Trumps rank 2 3 4 5 6 9 10 J Q K A 7 8 from low to high, "
        "other suits 2 3 4 5 6 9 10 Q K A 7 8 J.",
        "Follow suit; without it play any card. The highest trump takes the trick, else the "
        "highest card of the suit led.",
        "A seven counts 7, a two 2, a trick with neither 1. The most points win; or, under "
        "the option seventeen, 17 are the best and more count less and less.",
    ),
    "semerik": (
        "Two against two, partners opposite; 40 cards, ten each, from low to high 4 5 6 7 J Q"
        " K A 2 3. There are no trumps.",
        "Any card is led. Whoever has a higher card of that suit than the best so far must "
        "play one, over a partner too; else any card may be played. The highest card of the "
        "suit led takes the trick.",
        "Before one's first card one may declare a baba (7, 2 and ace of a suit) or three or "
        "four of a rank: that counts points and shows the cards.",
        "Every three of J Q K A 2 3 in a pair's tricks are a point. A game goes to 21; three "
        "games make a match.",
    ),
}
