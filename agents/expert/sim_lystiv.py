"""`expert` in Сім листів: weighs each card it may play by a few principles, and plays the best.

What a card is worth is counted in hundredths of a trick: what it is likely to take now, and what
its going does to the rest of the hand. The principles:

P1. Count what is out. A card that no card out beats in its suit is a master; the price of a card
    falls with every card above it. The card turned up is out too, but one knows where.
P2. A card holds if none of those still to act beats it: with a higher card of the suit or, void,
    by the trump that he *must* play. Cards left undealt make high cards safer, and what a seat
    failed to play makes this chance more exact.
P3. Lead a master trump: it cannot lose, keeps the lead, and draws the trumps that would take one's
    other masters. Not when nobody else has any: then it holds as well later.
P4. In company lead a trump that can be beaten only for want of better: kept, it takes a trick of a
    suit one is void of.
P5. Lead a plain suit of which little is out, best one that somebody must trump: he spends a trump
    on a card of no worth. Trumping is a duty, so others' voids are no gift to them.
P6. In company lead a single plain card: void, one takes tricks with small trumps.
P7. From a plain suit lead high rather than low, the more so the more cards above one's best are
    out: that costs somebody a high card, and the low ones are as good later.
P8. With three cards or fewer to play, the chance to hold counts most: lead what holds.
P9. Following, win if it can be done: as high as is needed to hold, as low as does. Trumps one must
    play: the masters among them are kept if a lower one will do.
P10. What cannot win loses as little as may be: the lowest card. Who may throw any card throws low
    from a long suit, for a high card lives by the small ones beside it.
P11. Where the order of the seventh tricks counts, be quick: who needs but one trick more takes the
    best chance at once, whatever it costs later; who needs two or three, a little so.
P12. When another player needs but one trick more, a chance to keep him from it is worth more too.
    For the rest the match changes nothing: the more tricks, the sooner out.
"""

from math import comb

import numpy as np

from trysim.envs.engine import below, random_bits
from trysim.envs.rules import sim_lystiv as rules
from trysim.envs.rules.bits import lowest, n_bits, pick
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import PHASE, PLAY, SEAT

NAME = "expert_sim_lystiv"

# Points: hundredths of a trick ------------------------------------------------------------------
# Fitted to the tricks that each card brought when such positions were played out in many worlds.
# Leads, by columns: a duel (two at the table), early and late; company, early and late.
LATE = 4  # finished tricks (P8)
N_PRICED = 3  # the first rows of both tables: no card out above, one, two
HOLD, LOWER, HEADLESS, ABOVE_BEST, OUT, VOID, SINGLE = range(N_PRICED, N_PRICED + 7)
T_HOLD, T_LOWER, T_VOID, T_ANY, T_PLAIN = range(N_PRICED, N_PRICED + 5)
# fmt: off
LEAD_PLAIN = np.array([
    [12, 11, 9, 9],  # a master (P1)
    [3, 6, 5, 11],  # one card out above it
    [0, 0, 2, 7],  # two
    [0, 42, 0, 24],  # times its chance to hold (P8)
    [12, 10, 13, 10],  # for each lower card of the suit in hand (P7)
    [6, 5, 6, 5],  # for each of these and each card out above one's best (P7)
    [6, 3, 6, 3],  # for each card out above one's best
    [-6, -6, -7, -4],  # for each card of the suit that is out (P5)
    [56, 38, 11, 8],  # for each player who, as all know, must trump it if he can (P5)
    [-2, 13, 21, 16],  # the only one of its suit in hand (P6)
])
LEAD_TRUMP = np.array([
    [13, 99, 36, 55],  # a master (P3)
    [18, 14, 0, 12],  # one card out above it
    [9, 23, -7, -2],  # two
    [39, 56, 46, 70],  # times its chance to hold
    [16, 26, -7, 1],  # for each lower trump in hand
    [-19, 6, -24, -6],  # for each player who, as all know, has no trump (P3)
    [-14, -5, -2, -19],  # any trump (P4)
    [-8, -28, -6, -8],  # for each plain card in hand
])
FOLLOW_WIN, FOLLOW_HOLD = 25, 50  # the best so far; times its chance to hold (P9)
FOLLOW_RANK = 1  # the price of each rank (P10)
TRUMP_WIN, TRUMP_HOLD = 51, 52
TRUMP_PRICE = np.array([45, 27, 16, 8])  # a master; one trump out above it; two; three (P1)
THROW_PRICE = np.array([23, 13, 8])
THROW_LENGTH = 13  # for each card of the suit in hand (P10)
THROW_OUT = -6  # for each card of the suit that is out
THROW_ABOVE = 6  # for each card out above one's best
HASTE = np.array([0, 100, 20, 10])  # times the chance, by the tricks one needs (P11)
HINDER, HINDER_IN_ORDER = 20, 30  # times the chance (P12)
# fmt: on

# The chance that none of `marked` cards is among `drawn` of `n`: [n, marked, drawn].
NONE_DRAWN = np.array([
    [[comb(n - marked, drawn) / comb(n, drawn) if marked <= n and drawn <= n else 0
      for drawn in range(rules.HAND_SIZE + 1)]
     for marked in range(rules.N_CARDS + 1)]
    for n in range(rules.N_CARDS + 1)
])  # fmt: skip


@rule
def choose(view: Row, legal: int, word: int) -> int:
    """The action of the seat to act, from what it knows."""
    if view[PHASE] != PLAY:
        if legal & 1:
            return pick(legal, below(random_bits(word), n_bits(legal)))  # one cut is like another
        return lowest(legal)  # strike correctly: the others cost blows of one's own
    if not legal & (legal - 1):
        return lowest(legal)
    if view[rules.N_PLAYED] == 0:
        return _best_lead(view, legal)
    if legal & view[rules.FOLLOW]:
        return _best_following(view, legal)
    if legal & view[rules.TRUMPS]:
        return _best_trump(view, legal)
    return _best_throw(view, legal)


# Four situations --------------------------------------------------------------------------------
@rule
def _best_lead(view: Row, cards: int) -> int:
    out, seat = _out(view), view[SEAT]
    missing = _missing(view, out)
    column = 2 * (view[rules.N_ACTIVE] > 2) + (view[rules.N_TRICKS] >= LATE)
    urgency = _urgency(view)
    best, most = 0, -np.inf
    while cards:
        card = lowest(cards)
        suit = rules.SUIT_OF[card]
        n_void = 0 if out & suit and not missing & suit else _n_void(view, seat, suit, out)
        if suit == view[rules.TRUMPS]:
            points = _trump_lead(view, card, out, n_void, column, urgency)
        else:
            points = _plain_lead(view, card, out, n_void, column, urgency)
        if points > most:
            best, most = card, points
        cards &= cards - 1
    return best


@rule
def _best_following(view: Row, cards: int) -> int:
    """P9, P10 among cards of the suit led."""
    urgency = _urgency(view)
    best, most = 0, -np.inf
    while cards:
        card = lowest(cards)
        points = -FOLLOW_RANK * (card % rules.N_RANKS) + 0.0
        if view[rules.BEATS] >> card & 1:
            points += FOLLOW_WIN + (FOLLOW_HOLD + urgency) * _chance(view, card, view[rules.FOLLOW])
        if points > most:
            best, most = card, points
        cards &= cards - 1
    return best


@rule
def _best_trump(view: Row, cards: int) -> int:
    """P9, P10 where one must trump; of two trumps of equal points the lower."""
    out, urgency = _out(view), _urgency(view)
    best, most = 0, -np.inf
    while cards:
        card = lowest(cards)
        above = n_bits(rules.ABOVE[card] & out)
        points = 0.0
        if above < TRUMP_PRICE.size:
            points -= TRUMP_PRICE[above]
        if view[rules.BEATS] >> card & 1:
            points += TRUMP_WIN + (TRUMP_HOLD + urgency) * _chance(view, card, view[rules.FOLLOW])
        if points > most:
            best, most = card, points
        cards &= cards - 1
    return best


@rule
def _best_throw(view: Row, cards: int) -> int:
    """P10: void in the suit led and in trumps."""
    out, hand = _out(view), cards
    best, most = 0, -np.inf
    while cards:
        card = lowest(cards)
        suit = rules.SUIT_OF[card]
        above = n_bits(rules.ABOVE[card] & out)
        points = THROW_LENGTH * n_bits(hand & suit) + THROW_OUT * n_bits(out & suit)
        points += THROW_ABOVE * n_bits(out & suit & ~_up_to_best(hand & suit))
        if above < THROW_PRICE.size:
            points -= THROW_PRICE[above]
        if points > most:
            best, most = card, points
        cards &= cards - 1
    return best


# The points of a lead ---------------------------------------------------------------------------
@rule
def _plain_lead(view: Row, card: int, out: int, n_void: int, column: int, urgency: float) -> float:
    suit = rules.SUIT_OF[card]
    held = view[rules.HANDS + view[SEAT]] & suit
    above = n_bits(rules.ABOVE[card] & out)
    above_best = n_bits(out & suit & ~_up_to_best(held))
    lower = n_bits(held & ((1 << card) - 1))
    points = lower * (LEAD_PLAIN[LOWER, column] + LEAD_PLAIN[HEADLESS, column] * above_best)
    points += LEAD_PLAIN[ABOVE_BEST, column] * above_best
    points += LEAD_PLAIN[OUT, column] * n_bits(out & suit) + LEAD_PLAIN[VOID, column] * n_void
    if above < N_PRICED:
        points += LEAD_PLAIN[above, column]
    if held == 1 << card:
        points += LEAD_PLAIN[SINGLE, column]
    weight = LEAD_PLAIN[HOLD, column] + urgency
    return points + weight * _chance(view, card, suit) if weight else points + 0.0


@rule
def _trump_lead(view: Row, card: int, out: int, n_void: int, column: int, urgency: float) -> float:
    hand, trumps = view[rules.HANDS + view[SEAT]], view[rules.TRUMPS]
    above = n_bits(rules.ABOVE[card] & out)
    points = LEAD_TRUMP[T_LOWER, column] * n_bits(hand & trumps & ((1 << card) - 1))
    points += LEAD_TRUMP[T_VOID, column] * n_void + LEAD_TRUMP[T_ANY, column]
    points += LEAD_TRUMP[T_PLAIN, column] * n_bits(hand & ~trumps)
    if above < N_PRICED:
        points += LEAD_TRUMP[above, column]
    return points + (LEAD_TRUMP[T_HOLD, column] + urgency) * _chance(view, card, trumps)


# What is known ----------------------------------------------------------------------------------
@rule
def _out(view: Row) -> int:
    """P1: the cards neither played nor in one's hand, dealt or not."""
    hand = view[rules.HANDS + view[SEAT]]
    turned_up = 1 << view[rules.TRUMP_CARD] & ~(hand | view[rules.PLAYED + view[rules.DEALER]])
    return rules.unseen(view, view[SEAT]) | turned_up


@rule
def _missing(view: Row, out: int) -> int:
    """The cards out that somebody still in is known not to hold."""
    missing = 0
    for seat in range(rules.n_players(view)):
        if seat != view[SEAT] and not view[rules.OUT] >> seat & 1:
            missing |= out & ~view[rules.MAY_HOLD + seat]
    return missing


@rule
def _n_void(view: Row, seat: int, suit: int, out: int) -> int:
    """How many others are known to have none of the suit; those without trumps are passed over."""
    n = 0
    other = rules.left_of(view, seat)
    while other != seat:
        may_hold = out & view[rules.MAY_HOLD + other]
        if not may_hold & suit and (suit == view[rules.TRUMPS] or may_hold & view[rules.TRUMPS]):
            n += 1
        other = rules.left_of(view, other)
    return n


@rule
def _up_to_best(held: int) -> int:
    """A set that holds, of one suit, the best of the cards `held` and all below it."""
    held |= held >> 1
    held |= held >> 2
    held |= held >> 4
    return held | held >> 1  # nine ranks: eight steps down


@rule
def _urgency(view: Row) -> float:
    """P11, P12: what a trick now is worth beyond its place in the count."""
    seat = view[SEAT]
    needed = rules.TRICKS_TO_LEAVE - view[rules.COUNTS + seat] - view[rules.TRICKS + seat]
    if needed <= 0:
        return 0.0
    in_order = view[rules.REWARD] == rules.REWARD_PLACEMENT
    in_order |= view[rules.ALL_OUT] == rules.ALL_OUT_RACE
    points = HASTE[needed] if in_order and needed < HASTE.size else 0
    for other in range(rules.n_players(view)):
        has = view[rules.COUNTS + other] + view[rules.TRICKS + other]
        if other != seat and has == rules.TRICKS_TO_LEAVE - 1:
            return points + (HINDER_IN_ORDER if in_order else HINDER) + 0.0
    return points + 0.0


# Chances ----------------------------------------------------------------------------------------
@rule
def _chance(view: Row, card: int, led: int) -> float:
    """P2: the chance that nobody still to act beats `card`, if whoever can does."""
    in_suit = rules.ABOVE[card] & led
    trumps = view[rules.TRUMPS]
    led_or_over = led | (rules.ABOVE[card] if trumps >> card & 1 else trumps)
    unseen = rules.unseen(view, view[SEAT])
    turned_up = 1 << view[rules.TRUMP_CARD]
    chance, seat = 1.0, view[SEAT]
    for _ in range(view[rules.N_ACTIVE] - view[rules.N_PLAYED] - 1):
        seat = rules.left_of(view, seat)
        may_hold = unseen & view[rules.MAY_HOLD + seat]
        n_hidden = rules.HAND_SIZE - view[rules.N_TRICKS]
        shown = 0
        if seat == view[rules.DEALER] and not turned_up & view[rules.PLAYED + seat]:
            shown = turned_up
            n_hidden -= 1
        no_higher = _has_none(in_suit, may_hold, n_hidden, shown)
        void = _has_none(led, may_hold, n_hidden, shown)
        chance *= no_higher - void + _has_none(led_or_over, may_hold, n_hidden, shown)
    return chance


@rule
def _has_none(cards: int, may_hold: int, n_hidden: int, shown: int) -> float:
    """The chance that a seat has none of `cards`: `n_hidden` of `may_hold`, and `shown`."""
    if cards & shown:
        return 0.0
    return NONE_DRAWN[n_bits(may_hold), n_bits(may_hold & cards), n_hidden]
