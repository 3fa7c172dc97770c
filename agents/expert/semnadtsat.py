"""`expert` in Семнадцать: weighs what each card may bring against what it is worth kept.

The worth of a card is a sum, in 1/256 of a point:

1. *The trick won*: the chance that no seat still to play beats the card, counted from what is gone
   and from who is void, times what the trick's points are worth to one's own count.
2. *The trick lost*: what its points are worth to the seat that then has it, times the remaining
   chance. That is a loss, or a gain where it pushes a seat past the best count.
3. *The card kept*, taken off: masters, trumps, sevens and the low cards that guard a seven earn
   points later. How much that counts is the hunger: what further points are worth. Who has enough
   holds them for a burden and throws them.
4. *The lead*: having to lead costs a little; who follows knows more.

Points are worth themselves under `scoring="simple"`. Under `scoring="seventeen"` they are worth
what the count is expected to be at the end of the deal (`_expected_counts`), so that one takes
points up to about 17, also the last few by tricks of one, ducks and gives from there on.

The weights were found by play against `greedy` and against earlier versions of this player.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trysim.envs.rules import semnadtsat
from trysim.envs.rules.bits import lowest, n_bits
from trysim.envs.rules.cards import rank_set
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import NAME_TRUMP, PHASE, SEAT

NAME = "expert_semnadtsat"

_ONE = 256  # a point, and certainty
_BITS = 8  # what a product of two such numbers is shifted by

# What a card is worth if it is kept, where a point more is worth a point.
_MASTER = 249  # no card out beats it in its suit
_SECOND = 150  # one does
_THIRD = 89  # two do
_TRUMP_MASTER = 1500  # takes whatever trick one likes, with a seven in it
_TRUMP_SECOND = 500
_TRUMP_LOW = 350  # still ruffs
_SEVEN = 680  # seven points if one takes a trick with it, on top of its rank
_HUNTER = 140  # of the best two in a suit whose seven is still out: may catch it
_GUARD = 290  # a low card of a short suit whose seven one holds: falls in its stead
_SINGLETON = -60  # of a plain suit, with trumps in hand: once gone, one ruffs
_SHORT_SUIT = 3  # the most cards with which that counts
_SATED = 115  # all this counts so much, of 256, for who has enough: it may take unwanted tricks
# Chances
_EAGER = 215  # that a seat which can beat a card does
_RELUCTANT = 60  # the same for a seat to which the points would do harm
_SEVEN_FALLS, _SEVEN_FORCED = 20, 150  # that the seven (two) of the suit led comes, and what is …
_TWO_FALLS, _TWO_FORCED = 10, 40  # … added as the suit runs out, if all other seats are to play
_LEAD = -20  # what it is worth to have to lead: those who play after one know more
# What a suit is worth as trumps, in no unit
_LENGTH = 170  # each card of the suit
_TRUMP_SEVEN = 210
_TRUMP_JACK = -45  # it would be the best card of a plain suit
# Which part of the tricks left a seat takes, that wants them, or does not, in % of its share.
_WANTED, _UNWANTED = 170, 30
_TWO_TRICKS = 0.3  # of the tricks without a seven, worth two

_RANKS = semnadtsat.RANKS
_N_RANKS = semnadtsat.N_RANKS
_SEVEN_BIT, _JACK_BIT = _RANKS.index("7"), _RANKS.index("J")
# The cards that are as good as the one above them: both count nothing, and no rank is between.
_PAIRED = sum(rank_set(_N_RANKS, _RANKS.index(rank)) for rank in "34569QK")
_COUNTING = semnadtsat.SEVENS | semnadtsat.TWOS
_COURT = sum(rank_set(_N_RANKS, _RANKS.index(rank)) for rank in "QK")  # of which, and the ace, …
_QUEENS = rank_set(_N_RANKS, _RANKS.index("Q"))
# … the highest is led, if any; of these the lowest.
_LOW = sum(rank_set(_N_RANKS, _RANKS.index(rank)) for rank in "34569T")
_BOTTOM_RANK, _TOP_RANK = rank_set(_N_RANKS, 0), rank_set(_N_RANKS, _N_RANKS - 1)
_BELOW_TOP = semnadtsat.ALL_CARDS & ~_TOP_RANK
_UP_TO_SEVEN = 7  # the bits of a small count
_N_POINTS = 64  # more than anybody can have, with a trick's points added
_N_SEVENS = 5  # 0 to 4 of them
_MAX_TRICKS = semnadtsat.MAX_HAND
_WORST = -(1 << 40)


# Tables -----------------------------------------------------------------------------------------
def _worths() -> npt.NDArray[np.int64]:
    """What points are worth: (scoring and players, sevens left, tricks left, points), flat.

    First index 0: `scoring="simple"`; players - 2: `scoring="seventeen"`. See `_worth_row`.
    """
    simple = np.broadcast_to(np.arange(_N_POINTS), (_N_SEVENS, _MAX_TRICKS, _N_POINTS))
    harder = [_expected_counts(n) for n in (3, 4, 5)]
    return np.rint(np.array([simple, *harder]) * _ONE).astype(np.int64).ravel()


def _expected_counts(n: int) -> npt.NDArray[np.float64]:
    """What points will count at the end: (sevens left, tricks left, points).

    As if every trick held a seven, or two points, or one, and a seat got it with one of two chances
    as it likes.
    """
    counts = np.zeros((_N_SEVENS, _MAX_TRICKS, _N_POINTS))
    counts[:, 0] = [semnadtsat.seventeen(points) for points in range(_N_POINTS)]
    for tricks in range(1, _MAX_TRICKS):
        for sevens in range(_N_SEVENS):
            before = counts[:, tricks - 1]
            seven = min(1.0, sevens / tricks)
            plain = (1 - _TWO_TRICKS) * _after(before[sevens], 1, n)
            plain += _TWO_TRICKS * _after(before[sevens], 2, n)
            with_seven = _after(before[max(sevens - 1, 0)], 7, n)
            counts[sevens, tricks] = seven * with_seven + (1 - seven) * plain
    return counts


def _after(counts: npt.NDArray[np.float64], points: int, n: int) -> npt.NDArray[np.float64]:
    """The expected counts before a trick of so many points, given those after it."""
    won = counts[np.minimum(np.arange(_N_POINTS) + points, _N_POINTS - 1)]
    share = (won - counts) / (100 * n)
    return counts + np.maximum(_WANTED * share, _UNWANTED * share)


_WORTH = _worths()
# The chance that a seat has none of x cards which k seats may hold: (k, x).
_NONE = np.array(
    [[round(_ONE * (1 - 1 / max(k, 1)) ** x) for x in range(_N_POINTS)] for k in range(5)], np.int64
)


# One part in n of a number: multiply, then shift; a division takes longer.
_SHARE = np.array([round(_ONE / max(n, 1)) for n in range(8)], np.int64)


# Choosing ---------------------------------------------------------------------------------------
class _Outlook(NamedTuple):
    """What a seat knows when it chooses a card; values are in 1/256 of a point."""

    me: int
    n: int  # players
    share: int  # one part in n
    later: int  # seats that play to the trick after this one
    hand: int  # set
    hidden: int  # set: the cards that others hold
    led: int  # set: the suit led, empty for the leader
    trumps: int  # set
    low_jacks: int  # set
    holders: int  # how many others may hold a suit, at the place of its lowest card
    points: int  # of the seat, in the deal
    table: int  # points of the sevens and twos in the trick
    worth: int  # where in `_WORTH` the worths of 0, 1, 2 … points begin
    hunger: int  # what a point more is worth
    seven_hunger: int  # the same where seven come at once


@rule
def choose(view: Row, legal: int, word: int) -> int:
    """The action of the seat to act, from what it knows."""
    if view[PHASE] == NAME_TRUMP:
        return _best_trump(view, legal >> semnadtsat.N_CARDS) + semnadtsat.N_CARDS
    cards = _distinct(view, legal)
    if not cards & (cards - 1):
        return lowest(cards)
    return _best_card(view, cards, _outlook(view))


@rule
def _distinct(view: Row, legal: int) -> int:
    """The cards worth a thought: to lead, of low cards and of queen to ace one of each suit."""
    if view[semnadtsat.N_PLAYED]:
        return legal & ~(legal >> 1 & _PAIRED)
    low = legal & _LOW
    # Each suit for itself: less one, all bits up to the lowest change. Its top bit is lent.
    lowest_low = low & ~((low | _TOP_RANK) - _BOTTOM_RANK)
    return legal & ~_LOW & ~(legal >> 1 & _COURT | legal >> 2 & _QUEENS) | lowest_low


@rule
def _best_card(view: Row, cards: int, outlook: _Outlook) -> int:
    beaten = cards & ~view[semnadtsat.BEATS] if view[semnadtsat.N_PLAYED] else 0
    lost = stays = 0
    if beaten:
        stays = _stays(view, outlook)
        lost = _if_beaten(view, 0, stays, outlook)
    best = -1
    most = _WORST
    while cards:
        card = lowest(cards)
        if not beaten >> card & 1:
            worth = _if_best(view, card, outlook)
        elif _COUNTING >> card & 1:
            worth = _if_beaten(view, 1 << card, stays, outlook)
        else:
            worth = lost
        worth -= _kept(card, outlook)
        if worth > most:
            most = worth
            best = card
        cards &= cards - 1
    return best


@rule
def _stays(view: Row, outlook: _Outlook) -> int:
    """The chance that the best card so far takes the trick; idle where it matters to nobody."""
    return _holds(view, view[semnadtsat.BEST], outlook) if view[semnadtsat.SCORING] else 0


@rule
def _outlook(view: Row) -> _Outlook:
    me = view[SEAT]
    n = semnadtsat.n_players(view)
    hand = view[semnadtsat.HANDS + me]
    hidden = semnadtsat.unseen(view, me)
    points = view[semnadtsat.POINTS + me]
    sevens = n_bits((hand | hidden) & semnadtsat.SEVENS)
    tricks = view[semnadtsat.HAND_SIZE] - view[semnadtsat.N_TRICKS] - 1
    worth = _worth_row(n - 2 if view[semnadtsat.SCORING] else 0, sevens, tricks)
    had = _WORTH[worth + points]
    return _Outlook(
        me,
        n,
        _SHARE[n],
        n - 1 - view[semnadtsat.N_PLAYED],
        hand,
        hidden,
        view[semnadtsat.FOLLOW],
        view[semnadtsat.TRUMPS],
        view[semnadtsat.LOW_JACKS],
        _holders(view, hidden, n),
        points,
        _card_points(view[semnadtsat.TRICK]),
        worth,
        _hunger((_WORTH[worth + points + 4] - had) >> 2),
        _hunger((_WORTH[worth + points + 7] - had) * _SHARE[7] >> _BITS),
    )


@rule
def _worth_row(scoring: int, sevens: int, tricks: int) -> int:
    """Where in `_WORTH` the worths of 0, 1, 2 … points begin."""
    return ((scoring * _N_SEVENS + sevens) * _MAX_TRICKS + tricks) * _N_POINTS


@rule
def _hunger(gain: int) -> int:
    """How much cards kept count, given what a point more is worth."""
    return gain if gain > 0 else gain * _SATED >> _BITS


@rule
def _card_points(cards: int) -> int:
    """The points of the sevens and twos among the cards."""
    return semnadtsat.SEVEN_POINTS * n_bits(
        cards & semnadtsat.SEVENS
    ) + semnadtsat.TWO_POINTS * n_bits(cards & semnadtsat.TWOS)


# The trick --------------------------------------------------------------------------------------
@rule
def _if_best(view: Row, card: int, outlook: _Outlook) -> int:
    """What a card is worth in the trick that would be the best there."""
    wins = _holds(view, card, outlook)
    points = outlook.table + _card_points(1 << card)
    own = wins * _own_gain(points * _ONE + _coming(card, outlook), outlook) >> _BITS
    own -= own * outlook.share >> _BITS
    own += wins * _LEAD >> _BITS
    if wins < _ONE:
        own -= (_ONE - wins) * _later_gain(view, max(points, 1), outlook) >> _BITS
    return own


@rule
def _if_beaten(view: Row, cards: int, stays: int, outlook: _Outlook) -> int:
    """What it is worth to add `cards` to the trick, which the best card takes by `stays`."""
    points = max(outlook.table + _card_points(cards), 1)
    if not view[semnadtsat.SCORING]:
        return -points * outlook.share  # whoever takes them
    gain = _gain(view, view[semnadtsat.BEST_SEAT], points, outlook) * stays
    if stays < _ONE:
        gain += _later_gain(view, points, outlook) * (_ONE - stays)
    return -(gain >> _BITS)


@rule
def _own_gain(points: int, outlook: _Outlook) -> int:
    """What it is worth to take points (in 1/256), at least those of a trick."""
    points = max(points, _ONE)
    whole = outlook.worth + outlook.points + (points >> _BITS)
    step = _WORTH[whole + 1] - _WORTH[whole]
    part = step * (points & (_ONE - 1)) >> _BITS
    return _WORTH[whole] - _WORTH[outlook.worth + outlook.points] + part


@rule
def _gain(view: Row, seat: int, points: int, outlook: _Outlook) -> int:
    """What one loses, as part of the mean, if another seat takes points."""
    had = outlook.worth + view[semnadtsat.POINTS + seat]
    return (_WORTH[had + points] - _WORTH[had]) * outlook.share >> _BITS


@rule
def _later_gain(view: Row, points: int, outlook: _Outlook) -> int:
    """The same for some seat still to play, on average."""
    if not view[semnadtsat.SCORING]:
        return points * outlook.share
    gain = 0
    seat = outlook.me
    for _ in range(outlook.later):
        seat = semnadtsat.left_of(view, seat)
        gain += _gain(view, seat, points, outlook)
    return gain * _SHARE[outlook.later] >> _BITS


@rule
def _holds(view: Row, card: int, outlook: _Outlook) -> int:
    """The chance that no seat still to play beats the card.

    A seat beats it in the suit led, or is void there and ruffs; it wishes to do so unless the
    points would harm it.
    """
    higher = _higher(card, outlook) & outlook.hidden
    led = _suit_led(card, outlook)
    holders = _n_holders(led, outlook)
    ruffers = _n_holders(outlook.trumps, outlook)
    points = max(outlook.table + _card_points(1 << card & outlook.hand), 1)
    chance = _ONE
    seat = outlook.me
    for _ in range(outlook.later if higher else 0):
        seat = seat + 1 if seat + 1 < outlook.n else 0
        may = outlook.hidden & view[semnadtsat.MAY_HOLD + seat]
        beats = _ONE - _NONE[holders, n_bits(may & led & higher)]
        ruffs = _ONE - _NONE[ruffers, n_bits(may & ~led & higher)]
        beats += _NONE[holders, n_bits(may & led)] * ruffs >> _BITS
        had = outlook.worth + view[semnadtsat.POINTS + seat]
        wish = _EAGER if _WORTH[had + points] > _WORTH[had] else _RELUCTANT
        chance = chance * (_ONE - (beats * wish >> _BITS)) >> _BITS
    return chance


@rule
def _higher(card: int, outlook: _Outlook) -> int:
    """The cards that would beat the card."""
    higher = semnadtsat.above(card, outlook.low_jacks)
    return higher if outlook.trumps >> card & 1 else higher | outlook.trumps


@rule
def _suit_led(card: int, outlook: _Outlook) -> int:
    """The suit led, as a set, if this card is played."""
    return outlook.led if outlook.led else semnadtsat.SUIT_OF[card]


@rule
def _coming(card: int, outlook: _Outlook) -> int:
    """The points (in 1/256) to be expected of later seats: seven and two of the suit led."""
    suit = outlook.hidden & _suit_led(card, outlook)
    lower = suit & ~semnadtsat.above(card, outlook.low_jacks)
    if not lower & _COUNTING:
        return 0
    scarce = _NONE[outlook.n - 1, n_bits(suit)]
    coming = 0
    if lower & semnadtsat.SEVENS:
        coming += semnadtsat.SEVEN_POINTS * (_SEVEN_FALLS + (scarce * _SEVEN_FORCED >> _BITS))
    if lower & semnadtsat.TWOS:
        coming += semnadtsat.TWO_POINTS * (_TWO_FALLS + (scarce * _TWO_FORCED >> _BITS))
    return coming * outlook.later * _SHARE[outlook.n - 1] >> _BITS


@rule
def _holders(view: Row, hidden: int, n: int) -> int:
    """How many other seats may hold hidden cards of a suit: at the place of its lowest card."""
    counts = 0
    for seat in range(n):
        if seat != view[SEAT]:
            may = hidden & view[semnadtsat.MAY_HOLD + seat]
            # Each suit for itself: its top bit tells whether any card is there.
            some = ((may & _BELOW_TOP) + _BELOW_TOP | may) & _TOP_RANK
            counts += some >> (_N_RANKS - 1)
    return counts


@rule
def _n_holders(suit: int, outlook: _Outlook) -> int:
    """How many other seats may hold hidden cards of the suit (a set, perhaps empty)."""
    return outlook.holders >> lowest(suit) & _UP_TO_SEVEN if suit else 0


# Keeping ----------------------------------------------------------------------------------------
@rule
def _kept(card: int, outlook: _Outlook) -> int:
    """What the card is worth to keep."""
    above = n_bits(outlook.hidden & semnadtsat.above(card, outlook.low_jacks))
    if outlook.trumps >> card & 1:
        kept = _TRUMP_MASTER if above == 0 else _TRUMP_SECOND if above == 1 else _TRUMP_LOW
    elif above > 2:
        kept = _low_kept(card, outlook)
    else:
        kept = _MASTER if above == 0 else _SECOND if above == 1 else _THIRD
    if above <= 1 and outlook.hidden & semnadtsat.SUIT_OF[card] & semnadtsat.SEVENS:
        kept += _HUNTER
    kept *= outlook.hunger
    if semnadtsat.SEVENS >> card & 1:
        kept += _SEVEN * outlook.seven_hunger
    return kept >> _BITS


@rule
def _low_kept(card: int, outlook: _Outlook) -> int:
    """What a low plain card is worth to keep: it may guard a seven, or be in the way of ruffs."""
    suit = outlook.hand & semnadtsat.SUIT_OF[card]
    if suit == 1 << card:
        return _SINGLETON if outlook.hand & outlook.trumps else 0
    guards = suit & semnadtsat.SEVENS & ~(1 << card) and n_bits(suit) <= _SHORT_SUIT
    return _GUARD if guards else 0


# Naming trumps ----------------------------------------------------------------------------------
@rule
def _best_trump(view: Row, suits: int) -> int:
    hand = view[semnadtsat.HANDS + view[SEAT]]
    best = -1
    most = _WORST
    while suits:
        suit = lowest(suits)
        held = hand >> suit * _N_RANKS & (1 << _N_RANKS) - 1
        worth = _trump_worth(held, view[semnadtsat.JACK] == semnadtsat.JACK_BY_DEAL)
        if worth > most:
            most = worth
            best = suit
        suits &= suits - 1
    return best


@rule
def _trump_worth(held: int, by_deal: bool) -> int:
    """What a suit is worth as trumps.

    Length counts most: each trump ruffs, and draws others. A seven is nearly sure to make its
    points there; a jack is a loss, unless it is low in every suit anyway.
    """
    worth = n_bits(held) * _LENGTH + (held >> _SEVEN_BIT & 1) * _TRUMP_SEVEN
    return worth if by_deal else worth + (held >> _JACK_BIT & 1) * _TRUMP_JACK
