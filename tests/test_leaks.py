"""No seat is told what it cannot know: whatever the hidden cards may be, it sees the same.

An alternative world is another deal of the cards a seat cannot see under which every action of the
deal so far was legal and every public fact is the same. It is found by trial, with the rules as the
judge; what a table notes about who may hold what plays no part.
"""

import copy
import random
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.test_aec import each_set
from trysim.agents import make_agent
from trysim.envs.decisions import decide
from trysim.envs.games import GAMES
from trysim.envs.observation import History
from trysim.envs.record import penalty_of, result_of
from trysim.envs.rules.row import CUT, DEAL, NAME_TRUMP, NOBODY, OVER, PHASE, PLAY, RANDOM, SEAT

OWN = Path(__file__).parents[1] / "examples" / "own_agent.py"
AGENTS = [
    "random",
    "greedy",
    "expert",
    "pimc:worlds=3",
    "pimc:worlds=3,endgame=4,silence=yes",
    f"pimc:worlds=2,endgame=2,rollout=python:{OWN}:LowCards",
    "ismcts:iterations=9",
    "policy:{game}",
    "search:policy={game},worlds=3,endgame=2",
]
NO_HISTORY = SimpleNamespace(note=lambda row, action: None, note_result=lambda row: None)
CARDS_PER_WORD, CARD_BITS = 9, 6  # of a penalty deck
PUBLIC = {"sim_lystiv": (), "semnadtsat": ("namer",), "semerik": ("declared", "shown")}


@dataclass
class Position:
    """A table, and how the running deal came to it."""

    game: object
    before: object  # the table that waits for the deal, and the history so far
    dealt: object  # the table right after the deal
    row: object
    history: History
    actions: list  # (seat, action) of the deal


def words(game, row, name):
    first = game.words[name]
    return row[first : first + game.rules.STATE[name].itemsize // 8].tolist()


def positions(game, options, seed):
    """Every position of a random match, the last one included."""
    rng = random.Random(seed)
    row, history = game.new_row(options, seed), History(game)
    game.kernels.begin(row)
    while True:
        if row[PHASE] == DEAL:
            before = row.copy(), copy.deepcopy(history)
            game.kernels.settle(row)
            at = Position(game, before, row.copy(), row, history, [])
        game.kernels.settle(row)  # the deck of the penalty
        history.note_result(row)
        yield at
        if row[PHASE] == OVER:
            return
        at.actions.append((int(row[SEAT]), rng.choice(game.legal_actions(row))))
        carry_out(game, row, history, at.actions[-1][1])


def carry_out(game, row, history, action):
    history.note(row, action)
    game.kernels.apply(row, action)
    if row[SEAT] != NOBODY:
        history.note_result(row)


# Alternative worlds -----------------------------------------------------------------------------
def another_world(at, seat, rng):
    """Another table and history that `seat` cannot tell from the true ones; None if not found."""
    if at.row[PHASE] in (PLAY, NAME_TRUMP):
        return _another_deal(at, seat, rng)
    row = at.row.copy()  # no cards are held: only random words and the penalty's deck are hidden
    row[RANDOM] = rng.getrandbits(63)
    if at.game.name == "sim_lystiv" and (row[PHASE] != OVER or words(at.game, row, "cut")[0]):
        _shuffle_penalty(at.game, row, rng)
    return row, at.history


def _another_deal(at, seat, rng):
    slots = _hidden_slots(at, seat)
    true = cards = [card for _, card in slots]
    for attempt in range(12):
        other = _shuffled(cards, rng) if attempt < 4 else _swapped(cards, slots, rng)
        if other != cards and _replayed(at, seat, slots, other, rng):
            cards = other
            if attempt < 4:
                break
    return None if cards == true else _replayed(at, seat, slots, cards, rng, keep_history=True)


def _hidden_slots(at, seat):
    """(owner, card) for the cards that `seat` cannot place; the owner of the stock is None."""
    game, row = at.game, at.row
    hands = game.hands(at.dealt)
    slots = []
    for other, hand in enumerate(hands):
        known = set(game.cards(words(game, row, "played")[other]))
        if "shown" in game.words:
            known |= set(game.cards(words(game, row, "shown")[other]))
        if "trump_card" in game.words:
            known.add(game.deck[words(game, row, "trump_card")[0]])
        slots += [(other, card) for card in hand if other != seat and card not in known]
    if game.name == "sim_lystiv":
        dealt = {card for hand in hands for card in hand}
        slots += [(None, card) for card in game.deck if card not in dealt]
    return slots


def _shuffled(cards, rng):
    return rng.sample(cards, len(cards))


def _swapped(cards, slots, rng):
    """Two cards of different owners change places."""
    out = list(cards)
    owners = {owner for owner, _ in slots}
    if len(owners) > 1:
        a, b = rng.sample(sorted(owners, key=str), 2)
        i = rng.choice([k for k, (owner, _) in enumerate(slots) if owner == a])
        j = rng.choice([k for k, (owner, _) in enumerate(slots) if owner == b])
        out[i], out[j] = out[j], out[i]
    return out


def _replayed(at, seat, slots, cards, rng, keep_history=False):
    """The deal so far with these cards in the hidden slots; None if it cannot have been so."""
    game = at.game
    row, history = at.before[0].copy(), copy.deepcopy(at.before[1]) if keep_history else NO_HISTORY
    row[RANDOM] = rng.getrandbits(63)
    trump = words(game, at.row, "trump_card")[0] if game.name == "sim_lystiv" else None
    hands = _hands(game, at.dealt, slots, cards)
    dealer = words(game, at.dealt, "dealer")[0]
    game.give_deal(row, hands, dealer, None if trump is None else game.deck[trump])
    history.note_result(row)
    for actor, action in at.actions:
        if row[SEAT] != actor or not int(game.kernels.legal(row)) >> action & 1:
            return None
        carry_out(game, row, history, action)
    facts = ("seat", "phase", *PUBLIC[game.name])
    same = all(words(game, row, fact) == words(game, at.row, fact) for fact in facts)
    return (row, history) if same else None


def _hands(game, dealt, slots, cards):
    hidden = {card for _, card in slots}
    hands = [[card for card in hand if card not in hidden] for hand in game.hands(dealt)]
    for (owner, _), card in zip(slots, cards, strict=True):
        if owner is not None:
            hands[owner].append(card)
    return hands


def _shuffle_penalty(game, row, rng):
    """Shuffle the penalty's deck; a bottom card that has been seen stays where it is."""
    deck = list(range(len(game.deck)))
    rng.shuffle(deck)
    if row[PHASE] != CUT:
        bottom, place = words(game, row, "bottom")[0], words(game, row, "cut")[0] - 1
        deck.remove(bottom)
        deck.insert(place, bottom)
    first = game.words["penalty_deck"]
    for k in range(4):
        cards = deck[CARDS_PER_WORD * k : CARDS_PER_WORD * (k + 1)]
        row[first + k] = sum(card << CARD_BITS * i for i, card in enumerate(cards))


def worlds(name, options, n):
    """(position, seat, other table, its history): about `n` of them, from three random matches."""
    game, rng = GAMES[name], random.Random(7)
    lengths = [sum(1 for _ in positions(game, options, seed)) for seed in range(3)]
    share = n / sum(lengths) / game.n_players(game.complete_options(options))
    for seed in range(3):
        for at in positions(game, options, seed):
            last = at.row[PHASE] not in (PLAY, NAME_TRUMP) or not at.actions
            for seat in range(game.n_players_of(at.row)):
                if last or rng.random() < share:
                    world = another_world(at, seat, rng)
                    if world is not None:
                        yield at, seat, *world


# What must not change ---------------------------------------------------------------------------
@each_set
def test_hidden_cards_change_nothing_a_seat_sees(name, options):
    game = GAMES[name]
    n_worlds, phases = 0, set()
    for at, seat, row, history in worlds(name, options, 150):
        n_worlds += row.tobytes() != at.row.tobytes()
        phases.add(int(at.row[PHASE]))
        for seen, expected in zip(game.observe(row, seat), game.observe(at.row, seat), strict=True):
            assert (seen == expected).all()
        assert (game.view(row, seat) == game.view(at.row, seat)).all()
        assert (history.tokens(row, seat) == at.history.tokens(at.row, seat)).all()
        assert (game.returns(row) == game.returns(at.row)).all()
        if game.is_over(at.row):
            assert result_of(game, row) == result_of(game, at.row)
            assert penalty_of(game, row) == penalty_of(game, at.row)
    assert n_worlds > 60
    assert OVER in phases
    assert {PLAY} < phases


@each_set
def test_what_a_seat_may_hold_holds_every_world(name, options):
    """The observation rules out nothing that is possible."""
    game = GAMES[name]
    n_cards = len(game.deck)
    for at, seat, row, _ in worlds(name, options, 60):
        n = game.n_players_of(row)
        may_hold = game.observe(at.row, seat)[0][game.layout.slice("may_hold")]
        for k in range(1, n):
            hand = words(game, row, "hands")[(seat + k) % n]
            held = np.array([hand >> card & 1 for card in range(n_cards)])
            assert (held <= may_hold[n_cards * (k - 1) :][:n_cards]).all()


@each_set
def test_views_hold_what_observations_and_agents_need(name, options):
    """A view alone gives the same observation; hidden cards do not change what agents choose."""
    game = GAMES[name]
    agents = [make_agent(spec.replace("{game}", name), game) for spec in AGENTS]
    for at, seat, row, _ in worlds(name, options, 60):
        view = game.view(at.row, seat)
        assert (game.observe(view, seat)[0] == game.observe(at.row, seat)[0]).all()
        if at.row[SEAT] != seat:
            continue
        assert game.legal_actions(view) == game.legal_actions(at.row)
        for k in range(len(agents)):
            streams = [np.full((1, game.n_seats), 5, np.int64) for _ in range(2)]
            here, there = (
                decide(game, table[None], np.array([0]), agents, np.array([k]), stream)
                for table, stream in zip((at.row, row), streams, strict=True)
            )
            assert here == there


@pytest.mark.parametrize("name", GAMES)
def test_views_blank_what_is_hidden(name):
    """Other hands, the deck of the penalty and the random word are not in a view at all."""
    game = GAMES[name]
    for at in positions(game, {}, 1):
        for seat in range(game.n_players_of(at.row)):
            view = game.view(at.row, seat)
            hands = words(game, view, "hands")
            assert hands[seat] == words(game, at.row, "hands")[seat]
            assert not any(hand for other, hand in enumerate(hands) if other != seat)
            assert view[RANDOM] == 0
