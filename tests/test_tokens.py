"""The token history is the complete story of a match as one seat knows it, and nothing more."""

import copy
import random

import numpy as np
import pytest

from tests.test_aec import at_ply, each_set, make
from tests.test_leaks import carry_out, positions, words
from trysim.agents import make_agent
from trysim.envs.decisions import decide
from trysim.envs.games import GAMES
from trysim.envs.observation import MAX_TOKENS, N_TOKENS, PADDING, History, describe_tokens
from trysim.envs.rules.row import CUT, DEAL, OVER, PHASE, SEAT


class Story:
    """What happened at a table, in words and with seats as they are: kept apart from `History`."""

    def __init__(self, game, row):
        self.game, self.events, self.declared, self.deals = game, [], [0] * game.n_seats, 0
        self.n = game.n_players_of(row)
        self.events.append(("options", tuple(game.options_of(row).items())))
        self.note(row)

    def note(self, row):
        game = self.game
        if row[game.words["deals"]] != self.deals:
            self.deals, self.declared = self.deals + 1, [0] * game.n_seats
            self.events.append(("dealer", words(game, row, "dealer")[0]))
            self.events += [
                ("hand", seat, tuple(hand)) for seat, hand in enumerate(game.hands(row))
            ]
            self.events += [("turned up", words(game, row, name)[0])
                            for name in ("trump_card",) if name in game.words]  # fmt: skip
            self.events += [("namer", seat) for name in ("namer",) if name in game.words
                            for seat in words(game, row, name) if seat >= 0]  # fmt: skip
        if "declared" in game.words:
            self.events += [("declared", seat, declared)
                            for seat, declared in enumerate(words(game, row, "declared"))
                            if declared != self.declared[seat]]  # fmt: skip
            self.declared = words(game, row, "declared")
        if "cut" in game.words and words(game, row, "cut")[0]:
            bottom = "bottom", words(game, row, "cut")[0], words(game, row, "bottom")[0]
            self.events += [bottom] if bottom not in self.events else []

    def act(self, row_before, action, row_after):
        if row_before[PHASE] != CUT:
            self.events.append(("act", int(row_before[SEAT]), action))
        self.note(row_after)

    def known_to(self, seat):
        """The events that `seat` knows, other seats counted from it."""
        return tuple(self._seen(event, seat) for event in self.events if self._is_seen(event, seat))

    def _is_seen(self, event, seat):
        return event[0] != "hand" or event[1] == seat

    def _seen(self, event, seat):
        if event[0] in ("dealer", "namer", "hand", "declared", "act"):
            return event[0], (event[1] - seat) % self.n, *event[2:]
        return event


def tellings(name, options, seed):
    """(tokens, what is known) by seats, at every position of a match and after some actions."""
    game = GAMES[name]
    for at in _told(game, options, seed):
        row, history, story, rng = at
        for seat in range(game.n_players_of(row)):
            yield history.tokens(row, seat).tobytes(), story.known_to(seat)
        if row[PHASE] == OVER:
            return
        for action in rng.sample(game.legal_actions(row), min(3, len(game.legal_actions(row)))):
            after, other, branch = row.copy(), copy.deepcopy(history), copy.deepcopy(story)
            _step(game, after, other, branch, action)
            seat = rng.randrange(game.n_players_of(row))
            yield other.tokens(after, seat).tobytes(), branch.known_to(seat)


def _told(game, options, seed):
    rng = random.Random(seed)
    row, history = game.new_row(options, seed), History(game)
    game.kernels.begin(row)
    game.kernels.settle(row)
    history.begin(row)
    story = Story(game, row)
    while True:
        yield row, history, story, rng
        if row[PHASE] == OVER:
            return
        _step(game, row, history, story, rng.choice(game.legal_actions(row)))


def _step(game, row, history, story, action):
    before = row.copy()
    history.note(row, action)
    game.kernels.step(row, action)
    history.note_result(row)
    story.act(before, action, row)


def same_own_hand(name, options):
    """Tellings of first deals: seat 0 holds the same cards, dealers and other hands vary."""
    game, rng = GAMES[name], random.Random(3)
    first = next(positions(game, {**options, "dealer": 0}, 1)).row.copy()
    hands = game.hands(first)
    others = [card for card in game.cards(game.rules.pack(first)) if card not in hands[0]]
    for k in range(60):
        rng.shuffle(others)
        given = [hands[0], *(others[i : i + len(hands[0])] for i in _starts(hands))]
        row, history = game.new_row({**options, "dealer": k % len(hands)}, 1), History(game)
        game.kernels.begin(row)
        game.give_deal(row, given, k % len(hands), given[k % len(hands)][-1])
        history.begin(row)
        yield history.tokens(row, 0).tobytes(), Story(game, row).known_to(0)


def _starts(hands):
    return [len(hands[0]) * k for k in range(len(hands) - 1)]


@each_set
def test_tokens_differ_exactly_where_what_is_known_differs(name, options):
    """Over all pairs of many histories, most of them one action or one dealer apart."""
    told = [*same_own_hand(name, options)]
    told += [telling for seed in range(2) for telling in tellings(name, options, seed)]
    known_by_tokens, tokens_by_known = {}, {}
    for tokens, known in told:
        assert known_by_tokens.setdefault(tokens, known) == known
        assert tokens_by_known.setdefault(known, tokens) == tokens
    assert len(known_by_tokens) > 100


@pytest.mark.parametrize("name", GAMES)
def test_options_are_told(name):
    game = GAMES[name]
    seen = set()
    for option in game.options:
        for value in option.choices or range(option.low, min(option.high, option.low + 3) + 1):
            row, history = game.new_row({option.name: value}, 1), History(game)
            game.kernels.begin(row)
            game.kernels.settle(row)
            history.begin(row)
            tokens = history.tokens(row, 0)
            assert f"{option.name}={value}" in describe_tokens(game, tokens)
            seen.add(tokens[: len(game.options)].tobytes())
    n_values = sum(len(o.choices) - 1 if o.choices else 3 for o in game.options)
    assert len(seen) >= n_values


@each_set
def test_the_space_holds_them(name, options):
    env = at_ply(name, 12, observation="tokens", **options)
    space = env.observation_space("player_0")["observation"]
    assert (space.shape, space.dtype) == ((MAX_TOKENS[name],), np.int16)
    assert int(space.high.max()) == N_TOKENS - 1
    for agent in env.possible_agents:
        tokens = env.observe(agent)["observation"]
        n = np.count_nonzero(tokens)
        assert space.contains(tokens)
        assert (tokens[:n] != PADDING).all()
        assert not tokens[n:].any()


def test_they_read_well():
    env = make("sim_lystiv", num_players=2, penalty="interactive", observation="tokens", dealer=0)
    env.reset(seed=1)
    hand = env.game.hands(env._row)[1]
    card = hand[0]
    env.step(env.action_number(card))
    mine, other = (
        describe_tokens(env.game, env.observe(agent)["observation"])[len(env.game.options) :]
        for agent in ("player_1", "player_0")
    )
    turned_up = env.game.deck[words(env.game, env._row, "trump_card")[0]]
    assert mine == [
        "deal by +1",
        *(f"dealt {c}" for c in hand),
        f"turned up {turned_up}",
        f"me {card}",
    ]
    assert other[0] == "deal by me"
    assert other[-2:] == [f"turned up {turned_up}", f"+1 {card}"]
    assert not set(other) & {f"dealt {c}" for c in hand}


def test_the_end_of_a_penalty_reads_well():
    for penalty in ("auto", "interactive"):
        for seed in range(30):
            *_, at = positions(GAMES["sim_lystiv"], {"num_players": 3, "penalty": penalty}, seed)
            cut = words(at.game, at.row, "cut")[0]
            if not cut:
                continue
            bottom = at.game.deck[words(at.game, at.row, "bottom")[0]]
            told = describe_tokens(at.game, at.history.tokens(at.row, 1))
            place = told.index(f"cut:{cut}")
            assert told[place + 1] == f"bottom card {bottom}"
            strikes = [text.split()[1] for text in told[place + 2 :]]
            assert bool(strikes) == (penalty == "interactive" and bottom[0] in "6789T")


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("agent", ["greedy", "random"])
def test_whole_matches_of_the_default_options_fit(name, agent):
    game, agents = GAMES[name], [make_agent(agent, name)]
    for seed in range(12):
        row, history = game.new_row({}, seed), History(game)
        game.kernels.begin(row)
        game.kernels.settle(row)
        history.begin(row)
        streams = np.full((1, game.n_seats), seed, np.int64)
        n_deals = 1
        while row[PHASE] != OVER:
            action = decide(game, row[None], np.array([0]), agents, np.array([0]), streams)[0]
            history.note(row, int(action))
            game.kernels.step(row, action)
            history.note_result(row)
            n_deals = words(game, row, "deals")[0]
        told = describe_tokens(game, history.tokens(row, 0))
        assert sum(text.startswith("deal by") for text in told) == n_deals


def test_a_longer_match_loses_its_oldest_deals():
    game = GAMES["semerik"]
    options = {"target": 42, "games": 5, "declare": "off"}
    row, history, rng = game.new_row(options, 1), History(game), random.Random(1)
    game.kernels.begin(row)
    longest = 0
    while row[PHASE] != OVER:
        if row[PHASE] == DEAL:
            game.kernels.settle(row)
            history.note_result(row)
            tokens = history.tokens(row, 0)
            told = describe_tokens(game, tokens)
            assert told[: len(game.options)] == [
                f"{k}={v}" for k, v in game.options_of(row).items()
            ]
            assert told[len(game.options)].startswith("deal by")
            assert told[-len(game.hands(row)[0]) :] == [f"dealt {c}" for c in game.hands(row)[0]]
            longest = max(longest, np.count_nonzero(tokens))
        carry_out(game, row, history, rng.choice(game.legal_actions(row)))
    assert MAX_TOKENS["semerik"] - 60 < longest <= MAX_TOKENS["semerik"]
    assert words(game, row, "deals")[0] > longest // 51
