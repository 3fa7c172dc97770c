"""`expert` in Семерик: a strong rule player, written as principles with their reasons.

Who cannot beat may play anything, so nobody runs out of a suit and low cards never grow: a card
takes a trick when nobody *can* beat it, and everybody sees what those who threw do not hold. Hence:

- P1  Declare everything: what it shows helps the partner as much as the opponents (measured: who
      keeps a combination back loses what it is worth, no less).
- P2  Second hand low: the partner plays last, sees what is needed, and has to beat it anyway.
- P3  Third hand high: it is the pair's last word on the trick, and a card that the left opponent
      can beat is lost whatever its rank.
- P4  Last hand low: any card that beats takes the trick.
- P5  Where the rules leave a choice, leave the trick to the partner: if his card stands, or if he
      plays last and may hold a better one.
- P6  Throw counting cards on the partner's trick, plain ones on the opponents', and twos and threes
      on neither: those take tricks. Aces as the option `aces` counts them.
- P7  Keep the cards that nobody can beat, then those that one or two cards beat: they will win.
- P8  Keep something in every suit and throw from long ones: in a suit of which one has nothing the
      opponents' lowest lead takes the trick.
- P9  Throw from suits of which the others hold little: they will not be led again. Lead them, for
      there nobody beats.
- P10 Lead cards that nobody can beat: they take the trick, the partner throws counting cards. The
      middle ones before twos and threes, which also win when others lead; late in the deal there is
      nothing left to wait for.
- P11 Lead low where the partner may hold what no opponent can beat: he takes over, and whoever is
      in between has to spend a card.
- P12 Do not lead low from a suit in which one has a master: wait until others lead it.
- P13 Do not lead what the right opponent may beat: he plays last and does it cheaply.
- P14 Lead from long suits: the others are short of them, and one's single cards guard the rest. Of
      cards that may be beaten lead the lower ones: the better ones grow.

P6-P14 pull in different directions, so each has a weight in hundredths of a point, by what one is
about to do (the plan). The weights were fitted to the outcomes of some million play-outs, moved
while duels of 30 000 deals against their neighbours gained, and rounded.
"""

import numpy as np

from trysim.envs.rules import semerik
from trysim.envs.rules.bits import lowest, n_bits
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import SEAT

NAME = "expert_semerik"

# Plans: the rows of the tables below.
_LEAD_EARLY, _LEAD_LATE, _THROW_OPEN, _THROW_THEIRS, _THROW_OURS = range(5)
_LATE = 6  # finished tricks from which a lead is a late one: few cards are left to guard

# P6, P10: the rank of the card, 4 5 6 7 J Q K A 2 3.
_RANKS = np.array(
    [
        [0, 0, 0, 0, 15, 15, 15, 0, -20, -75],
        [10, 10, 10, 10, 10, 10, 10, 5, 0, 0],
        [5, 5, 5, 5, 5, 5, 5, 10, 0, -30],
        [35, 35, 35, 35, -5, -5, -5, -10, -10, -40],
        [-15, -15, -15, -15, 25, 25, 25, 20, 20, 5],
    ],
    np.int64,
)
# P6: what the option `aces` adds to an ace, by option: third, none, one.
_ACE = np.array([[0, 0, 0, 0, 0], [0, 0, 0, 40, -30], [0, 0, -10, -40, 40]], np.int64)
_RANK = np.array([_RANKS] * 3)  # by option, plan and rank
_RANK[:, :, semerik.ACE] += _ACE
# P8, P14: one's own cards of the suit, 0 to 10.
_LENGTH = np.array(
    [
        [0, -65, -55, -40, -15, 0, 0, 0, 0, 0, 0],
        [0, -15, -10, 15, 0, 0, 0, 0, 0, 0, 0],
        [0, -25, -20, -15, -10, 0, 0, 0, 0, 0, 0],
        [0, -35, -20, -15, -5, 0, 0, 0, 0, 0, 0],
        [0, -15, -15, -10, -5, 0, 0, 0, 0, 0, 0],
    ],
    np.int64,
)
# P9: the cards of the suit that others may hold, 0 to 10.
_OUT = np.array(
    [
        [155, 30, 30, 15, 15, 0, 0, 0, 0, 0, 0],
        [65, 15, 15, 15, 15, 0, 0, 0, 0, 0, 0],
        [70, 20, 20, 10, 10, 0, 0, 0, 0, 0, 0],
        [65, 15, 15, 10, 10, 0, 0, 0, 0, 0, 0],
        [85, 25, 25, 10, 10, 0, 0, 0, 0, 0, 0],
    ],
    np.int64,
)
# P7: the cards of the opponents that may beat it, 0 (a master) to 9.
_BEATEN_BY = np.array(
    [
        [-20, -20, -5, 0, 0, 0, 0, 0, 0, 0],
        [-45, -25, -15, 0, 0, 0, 0, 0, 0, 0],
        [-50, -35, -15, 0, 0, 0, 0, 0, 0, 0],
        [-25, -30, -20, 0, 0, 0, 0, 0, 0, 0],
        [-60, -35, -15, 0, 0, 0, 0, 0, 0, 0],
    ],
    np.int64,
)
# P7, P10: nobody at all can beat it.
_STANDS = np.array([95, 170, -35, -60, -35], np.int64)
# P11: the partner may hold, and beyond that surely holds, what no opponent can beat.
_PARTNER_MAY = np.array([35, 55], np.int64)
_PARTNER_WILL = np.array([20, 60], np.int64)
# P12: one holds a master of the suit, this card or a better one.
_HAS_MASTER = np.array([-30, -25], np.int64)
# P13: the right opponent may hold a card that beats it.
_RIGHT_BEATS = np.array([-20, -30], np.int64)
# P14: it may be beaten, and so may a better one that one holds.
_LOWER = np.array([15, 15], np.int64)
_LEAST = -1000  # less than any worth
_LEFT, _PARTNER, _RIGHT = 1, 2, 3  # places of the other seats, from one's own
# By 1, 2, 4 and 8 ranks down, the cards that a card of the same suit falls on.
_REACH = np.array(
    [
        sum(((1 << semerik.N_RANKS - down) - 1) << semerik.N_RANKS * suit for suit in range(4))
        for down in (1, 2, 4, 8)
    ],
    np.int64,
)


@rule
def choose(view: Row, legal: int, word: int) -> int:
    """The action of the seat to act, from what it knows."""
    if legal >> semerik.N_CARDS:
        return lowest(legal >> semerik.N_CARDS) + semerik.N_CARDS  # P1
    if legal & (legal - 1) == 0:
        return lowest(legal)
    if view[semerik.N_PLAYED] == 0:
        return _lead(view, legal)
    plan = _plan(view)
    beating = legal & semerik.ABOVE[view[semerik.BEST]]
    if not beating or (beating != legal and _leave_it(view, plan)):
        return _throw(view, legal, plan)
    if view[semerik.N_PLAYED] == 2:
        return _highest(beating)  # P3
    return lowest(beating)  # P2, P4


# What is known ----------------------------------------------------------------------------------
@rule
def _may_hold(view: Row, k: int) -> int:
    """The cards that the `k`-th seat to one's left may hold, as far as one knows."""
    seat = (view[SEAT] + k) % semerik.N_SEATS
    shown = view[semerik.SHOWN + seat] & ~view[semerik.PLAYED + seat]
    return semerik.unseen(view, view[SEAT]) & view[semerik.MAY_HOLD + seat] | shown


@rule
def _below(cards: int) -> int:
    """The cards that some of `cards` beat."""
    lower = cards >> 1 & _REACH[0]
    lower |= lower >> 1 & _REACH[0]
    lower |= lower >> 2 & _REACH[1]
    lower |= lower >> 4 & _REACH[2]
    return lower | lower >> 8 & _REACH[3]


@rule
def _highest(cards: int) -> int:
    """The highest of some cards of one suit."""
    while cards & (cards - 1):
        cards &= cards - 1
    return lowest(cards)


# Following --------------------------------------------------------------------------------------
@rule
def _plan(view: Row) -> int:
    """Whose the trick will be if one throws a card on it."""
    above = semerik.ABOVE[view[semerik.BEST]]
    ours = (view[semerik.BEST_SEAT] - view[SEAT]) % semerik.N_PAIRS == 0
    if view[semerik.N_PLAYED] == 1 and above & _may_hold(view, _PARTNER):
        return _THROW_OPEN
    if view[semerik.N_PLAYED] == 2 and ours and above & _may_hold(view, _LEFT):
        return _THROW_OPEN
    return _THROW_OURS if ours else _THROW_THEIRS


@rule
def _leave_it(view: Row, plan: int) -> bool:
    """P5: whether to leave the trick to the partner, where the rules allow it."""
    return plan == _THROW_OURS or (plan == _THROW_OPEN and view[semerik.N_PLAYED] == 1)


@rule
def _throw(view: Row, cards: int, plan: int) -> int:
    """The card that does best on a trick that one does not take."""
    hand = view[semerik.HANDS + view[SEAT]]
    theirs = _may_hold(view, _LEFT) | _may_hold(view, _RIGHT)
    others = theirs | _may_hold(view, _PARTNER)
    best, most = 0, _LEAST
    while cards:
        card = lowest(cards)
        worth = _worth(plan, view[semerik.ACES], card, hand, theirs, others)
        if worth > most:
            best, most = card, worth
        cards &= cards - 1
    return best


@rule
def _worth(plan: int, aces: int, card: int, hand: int, theirs: int, others: int) -> int:
    """What speaks for a card, whether led or thrown; the sets are what they may hold."""
    suit, above = semerik.SUIT_OF[card], semerik.ABOVE[card]
    worth = _RANK[aces, plan, card % semerik.N_RANKS]  # P6, P10
    worth += _LENGTH[plan, n_bits(hand & suit)]  # P8, P14
    worth += _OUT[plan, n_bits(others & suit)]  # P9
    worth += _BEATEN_BY[plan, n_bits(theirs & above)]  # P7
    if not others & above:
        worth += _STANDS[plan]  # P7, P10
    return worth


# Leading ----------------------------------------------------------------------------------------
@rule
def _lead(view: Row, cards: int) -> int:
    """The card that does best as a lead."""
    plan = _LEAD_LATE if view[semerik.N_TRICKS] >= _LATE else _LEAD_EARLY
    partner, right = _may_hold(view, _PARTNER), _may_hold(view, _RIGHT)
    theirs = _may_hold(view, _LEFT) | right
    beaten = _below(theirs)
    masters, stoppers = cards & ~beaten, partner & ~beaten
    best, most = 0, _LEAST
    left = cards
    while left:
        card = lowest(left)
        worth = _worth(plan, view[semerik.ACES], card, cards, theirs, theirs | partner)
        worth += _towards_partner(plan, card, stoppers, theirs)
        worth += _from_suit(plan, card, cards, masters)
        if semerik.ABOVE[card] & right:
            worth += _RIGHT_BEATS[plan]  # P13
        if worth > most:
            best, most = card, worth
        left &= left - 1
    return best


@rule
def _towards_partner(plan: int, card: int, stoppers: int, theirs: int) -> int:
    """P11, of the cards with which the partner might take over for good."""
    over = stoppers & semerik.ABOVE[card]
    if over & ~theirs:
        return _PARTNER_MAY[plan] + _PARTNER_WILL[plan]
    return _PARTNER_MAY[plan] if over else 0


@rule
def _from_suit(plan: int, card: int, hand: int, masters: int) -> int:
    """P12 and P14, of the other cards one holds of the suit."""
    worth = 0
    if masters & semerik.SUIT_OF[card]:
        worth += _HAS_MASTER[plan]
    if hand & ~masters & semerik.ABOVE[card]:
        worth += _LOWER[plan]
    return worth
