"""The games in OpenSpiel: its own tests, the engine's matches, and algorithms on a small deck."""

import pickle
import random

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms import best_response, exploitability, external_sampling_mccfr
from open_spiel.python.algorithms.cfr import CFRPlusSolver
from open_spiel.python.algorithms.generate_playthrough import playthrough
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator
from open_spiel.python.policy import UniformRandomPolicy

from tests import tiny_rules as tiny
from tests.exploit import Tree
from tests.test_aec import OPTION_SETS, each_set
from trysim.agents import make_agent
from trysim.arena import compare
from trysim.arena.play import play_match
from trysim.envs import engine
from trysim.envs.decisions import Decisions
from trysim.envs.games import GAMES, BadInput, Game
from trysim.envs.observation import History
from trysim.envs.openspiel import Bounds, TrickGame, load
from trysim.envs.rules.jit import specialise
from trysim.envs.rules.row import OVER, PENALTY_DECK, PHASE, RANDOM, SEAT

each_game = pytest.mark.parametrize("name", GAMES)
WHOLE_MATCHES = [
    ("sim_lystiv", {"num_players": 2, "reward": "placement"}),
    ("sim_lystiv", {"num_players": 3, "all_out": "replay", "reward": "blows"}),
    ("semnadtsat", {"num_deals": 3}),
    ("semerik", {"reward": "points"}),
]


def played(game, rng, n=10**6):
    """A state after `n` draws and decisions, or at the end."""
    state = game.new_initial_state()
    while n and not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
        n -= 1
    return state


def decisions_of(game, rng, n):
    """`n` states of a match where a player is to act."""
    state, found = game.new_initial_state(), []
    while not state.is_terminal():
        if not state.is_chance_node():
            found.append(state.clone())
        state.apply_action(rng.choice(state.legal_actions()))
    return rng.sample(found, min(n, len(found)))


# OpenSpiel's tests --------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "options"), OPTION_SETS + WHOLE_MATCHES)
def test_openspiels_simulation(name, options):
    """Clones, serialised copies, legal actions, sums of rewards, lengths, bounds, tensors."""
    short = (name, options) in OPTION_SETS and options.get("horizon") == "deal"
    pyspiel.random_sim_test(load(name, options), 3 if short else 1, True, False)


@each_game
def test_openspiels_playthrough(name):
    game = load(name, {"horizon": "deal"} if name == "semerik" else {})
    told = playthrough(str(game), None, seed=1)
    assert f'GameType.short_name = "trysim_{name}"' in told
    assert "IsTerminal() = True" in told


@each_game
def test_a_parameter_is_an_option(name):
    game = GAMES[name]
    defaults = pyspiel.load_game(f"trysim_{name}")
    assert defaults.options == game.complete_options({})
    for option in game.options:
        for value in option.choices or (option.low, 2, option.default):
            loaded = load(name, {option.name: value})
            assert loaded.options == game.complete_options({option.name: value})
            again = pyspiel.load_game(str(loaded))
            assert again.options == loaded.options
    with pytest.raises(BadInput, match="allowed"):
        load(name, {"dealer": 77})
    with pytest.raises(BadInput, match="wild"):
        load(name, {"wild": 1})


@pytest.mark.parametrize(("name", "options"), WHOLE_MATCHES)
def test_openspiels_test_of_python_games(name, options):
    """Clones, serialised and pickled games and states, the range of what is paid."""
    tests = pytest.importorskip("open_spiel.python.tests.games_sim_test")
    tests.GamesSimTest().sim_game(load(name, options))


def test_states_are_pickled():
    game = load("semerik", {"horizon": "game", "target": 1})
    rng = random.Random(1)
    for n in (0, 20, 60, 120):
        state = played(game, rng, n)
        other = pickle.loads(pickle.dumps(state))
        while not state.is_terminal():
            action = rng.choice(state.legal_actions())
            state.apply_action(action), other.apply_action(action)
        assert str(other) == str(state)
        assert other.returns() == state.returns()


# The engine's matches -----------------------------------------------------------------------------
def deal_like(row, state, game):
    """Let the engine shuffle and deal, and the state draw the same."""
    while row[PHASE] <= 0:
        shuffled, deck = row.copy(), np.empty(engine.MAX_CARDS, np.int64)
        engine.shuffle(shuffled, game.rules.pack(row), deck)
        lot = engine.draw_lot(shuffled)
        outcomes = [o for o, _ in state.chance_outcomes()]
        text = state.action_to_string(state.current_player(), outcomes[0])
        if text.startswith(("dealer:", "cut:")):
            state.apply_action(int(lot) % len(outcomes))
        cards = iter(deck)
        while state.is_chance_node():
            state.apply_action(int(next(cards)))
        game.kernels.settle(row)


@each_set
def test_the_match_is_the_engines(name, options):
    """The same deals and actions: rows, actions, rewards, observations and histories are equal."""
    game, seen = GAMES[name], load(name, options)
    rng = random.Random(1)
    for seed in range(3):
        row, state, history = game.new_row(options, seed), seen.new_initial_state(), History(game)
        game.kernels.begin(row)
        deal_like(row, state, game)
        history.begin(row)
        while row[PHASE] != OVER:
            same = np.arange(row.size) != RANDOM
            assert (state.table.row == row)[same].all()
            assert (state.current_player(), state.legal_actions()) == (
                row[SEAT], game.legal_actions(row),
            )  # fmt: skip
            for seat in range(seen.num_players()):
                assert state.observation_tensor(seat) == game.observe(row, seat)[0].tolist()
                tokens = history.tokens(row, seat, seen.information_state_tensor_size())
                assert state.information_state_tensor(seat) == tokens.tolist()
            action = rng.choice(state.legal_actions())
            text = state.action_to_string(state.current_player(), action)
            assert text == game.action_text(row, action)
            history.note(row, action)
            game.kernels.apply(row, action)
            state.apply_action(action)
            history.note_result(row)
            deal_like(row, state, game)
            history.note_result(row)
            assert state.returns() == game.returns(row).tolist()
        assert state.is_terminal()


# Chance -------------------------------------------------------------------------------------------
@each_set
def test_every_draw_is_even_and_no_card_comes_twice(name, options):
    game = GAMES[name]
    loaded, rng = load(name, options), random.Random(2)
    state, n_drawn, n_deals = loaded.new_initial_state(), 0, 0
    while not state.is_terminal():
        outcomes = state.chance_outcomes() if state.is_chance_node() else []
        if outcomes:
            assert {chance for _, chance in outcomes} == {1 / len(outcomes)}
            is_lot = state.action_to_string(-1, outcomes[0][0]).startswith(("dealer", "cut"))
            pack = int(game.rules.pack(state.table.row)).bit_count()
            if is_lot:
                assert len(outcomes) in (loaded.num_players(), 35)
            else:
                assert len(outcomes) == pack - n_drawn
                n_drawn += 1
        else:
            n_deals += n_drawn > 0
            n_drawn = 0
        state.apply_action(rng.choice(state.legal_actions()))
    assert n_deals >= state.table.row[game.words["deals"]]


@each_game
def test_the_first_dealer_is_drawn_by_lot_or_given(name):
    game = load(name, {})
    n = game.num_players()
    for lot in range(n):
        state = game.new_initial_state()
        assert state.legal_actions() == [*range(n)]
        assert state.action_to_string(-1, lot) == f"dealer:{lot}"
        state.apply_action(lot)
        while state.is_chance_node():
            state.apply_action(state.legal_actions()[-1])
        assert state.table.row[GAMES[name].words["dealer"]] == lot
    given = load(name, {"dealer": 1}).new_initial_state()
    assert given.action_to_string(-1, 0) == GAMES[name].deck[0]


def test_the_penalty_is_drawn():
    game = load("sim_lystiv", {"num_players": 2})
    rng, seen = random.Random(1), set()
    for _ in range(40):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.table.row[PHASE] == PENALTY_DECK:
                break
            state.apply_action(rng.choice(state.legal_actions()))
        if state.is_terminal():
            continue  # both got rid of their tricks in one deal
        cut = rng.choice(state.legal_actions())
        assert (len(state.legal_actions()), state.action_to_string(-1, cut)) == (
            35,
            f"cut:{cut + 1}",
        )
        state.apply_action(cut)
        cards = random.Random(cut).sample(range(36), 36)
        for card in cards:
            state.apply_action(card)
        words, row = GAMES["sim_lystiv"].words, state.table.row
        assert state.is_terminal()
        assert (row[words["cut"]], row[words["bottom"]]) == (cut + 1, cards[cut])
        seen.add(cut)
    assert len(seen) > 5


def test_rewards_come_when_they_are_paid():
    game = load("semerik", {"reward": "points", "horizon": "game", "dealer": 0})
    rng, state = random.Random(3), None
    state, told, n_paid = game.new_initial_state(), np.zeros(4), 0
    while not state.is_terminal():
        if state.is_chance_node():
            assert not any(state.rewards())
        else:
            told += state.rewards()
            n_paid += any(state.rewards())
            assert told.tolist() == state.returns()
        state.apply_action(rng.choice(state.legal_actions()))
    assert n_paid > 1
    assert (told + state.rewards()).tolist() == state.returns()


# Information states -------------------------------------------------------------------------------
@each_set
def test_a_resampled_state_is_the_same_to_the_player(name, options):
    """And to anybody who draws it from another state that the player cannot tell from this one."""
    game, rng = load(name, options), random.Random(4)
    hidden = set()
    for state in decisions_of(game, rng, 12):
        for player in range(game.num_players()):
            seed = rng.random()
            other = state.resample_from_infostate(player, lambda seed=seed: seed)
            again = other.resample_from_infostate(player, lambda seed=seed: seed)
            for tell in ("information_state_string", "information_state_tensor",
                         "observation_string", "observation_tensor"):  # fmt: skip
                assert getattr(other, tell)(player) == getattr(state, tell)(player)
            assert other.current_player() == state.current_player()
            assert len(other.history()) == len(state.history())
            assert str(again) == str(other)
            assert again.history() == other.history()
            hidden.add((state.move_number(), player, str(other) != str(state)))
    assert sum(differs for *_, differs in hidden) > len(hidden) / 3
    played_on = played(game, rng, 60)
    if not played_on.is_chance_node() and not played_on.is_terminal():
        other = played_on.resample_from_infostate(0, rng.random)
        replayed = game.new_initial_state()
        for action in other.history():
            replayed.apply_action(action)
        assert str(replayed) == str(other)


def test_strings_keep_what_tensors_have_no_room_for():
    game = load("semerik", {"target": 42, "games": 5, "declare": "off", "dealer": 0})
    state = played(game, random.Random(1))
    told = state.information_state_string(0)
    first = told.split(", ")[1:11]
    assert told.startswith("seat 0: deal by me, dealt ")
    assert told.count("deal by") == state.table.row[GAMES["semerik"].words["deals"]]
    assert len(first) == 10
    assert np.count_nonzero(state.information_state_tensor(0)) > 2000


def test_what_is_hidden_is_not_told():
    game = load("sim_lystiv", {"num_players": 3, "dealer": 0})
    state = played(game, random.Random(1), 21)
    turned_up = state.table.action_text(
        int(state.table.row[GAMES["sim_lystiv"].words["trump_card"]])
    )
    hands = GAMES["sim_lystiv"].hands(state.table.row)
    for seat in range(3):
        told = state.information_state_string(seat)
        for other in range(3):
            for card in hands[other]:
                assert (f"dealt {card}" in told) == (seat == other)
        assert told.endswith(f"turned up {turned_up}")


def test_other_ways_of_observing_are_refused():
    game = load("semerik", {})
    public = pyspiel.IIGObservationType(public_info=True, perfect_recall=True,
                                        private_info=pyspiel.PrivateInfoType.NONE)  # fmt: skip
    assert game.make_py_observer(public) is None
    with pytest.raises(ValueError, match="parameters"):
        game.make_py_observer(None, {"x": 1})


# Twelve cards, two players ------------------------------------------------------------------------
class Tiny(TrickGame):
    """The game of `tiny_rules`."""

    game = Game(tiny, specialise(engine._TEMPLATES, rules=tiny))
    known = ((), ())

    @staticmethod
    def bounds(options):
        return Bounds(1, -tiny.HAND_SIZE, tiny.HAND_SIZE)

    def __init__(self, params):
        """A match begins after the cards that are `known` to have been dealt."""
        super().__init__(params)
        for card in order(*self.known):
            self.first_table = self.first_table.after(card)


class FewDeals(Tiny):
    """56 deals: one card of each hand is unknown."""

    known = ((0, 5), (10, 4))


def order(first, second):
    """Cards dealt in turns, to seat 0 first."""
    return [
        hand[k] for k in range(len(first)) for hand in (first, second) if k < len(hand)
    ]  # fmt: skip


class OpenSpielTree(Tree):
    """The tree for policies that are asked at OpenSpiel's states."""

    def __init__(self, game):
        super().__init__(game.game, known=game.known)
        self.openspiel = game

    def state(self, level, node):
        actions = []
        for k in range(level, 0, -1):
            actions.append(int(self.action[k][node]))
            node = self.parent[k][node]
        hands = [
            [c for c in range(tiny.N_CARDS) if int(held) >> c & 1 and c not in known]
            for held, known in zip(self.hands[node], self.openspiel.known, strict=True)
        ]
        n_known = len(order(*self.openspiel.known))
        state = self.openspiel.new_initial_state()
        for k in range(n_known, 2 * tiny.HAND_SIZE):
            state.apply_action(hands[k % 2].pop())
        for action in reversed(actions):
            state.apply_action(action)
        return state

    def _answers(self, level, nodes, policy):
        answers = np.zeros((len(nodes), tiny.N_CARDS))
        for answer, node in zip(answers, nodes, strict=True):
            for card, chance in policy.action_probabilities(self.state(level, node)).items():
                answer[card] = chance
        return answers


@pytest.fixture(scope="module", autouse=True)
def small_game():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(GAMES, "tiny", Tiny.game)
        yield


class Weighed(UniformRandomPolicy):
    """Higher cards more often."""

    def action_probabilities(self, state, player_id=None):
        legal = state.legal_actions()
        return {card: (card + 1) / (sum(legal) + len(legal)) for card in legal}


def test_best_responses_agree():
    """Every card dealt as a draw of chance, against all deals as sets."""
    game = FewDeals({"dealer": 1})
    tree, policy = OpenSpielTree(game), Weighed(game)
    assert len(tree.rows[0]) == 56
    gains = [best_response.BestResponsePolicy(game, k, policy).value(game.new_initial_state())
             for k in range(2)]  # fmt: skip
    assert tree.best_response_values(policy) == pytest.approx(gains, abs=1e-9)


@pytest.mark.slow
def test_cfr_comes_closer_to_the_solution_and_both_measure_it_alike():
    game = FewDeals({"dealer": 1})
    tree, solver = OpenSpielTree(game), CFRPlusSolver(game)
    found = []
    for n in (1, 9):
        for _ in range(n):
            solver.evaluate_and_update_policy()
        policy = solver.average_policy()
        measured = sum(tree.best_response_values(policy)) / 2
        assert exploitability.exploitability(game, policy) == pytest.approx(measured, abs=1e-6)
        found.append(measured)
    assert found[0] > 10 * found[1] >= 0


def test_the_compiled_measure_agrees():
    game = FewDeals({"dealer": 1})
    ours = sum(OpenSpielTree(game).best_response_values(UniformRandomPolicy(game))) / 2
    theirs = pyspiel.exploitability(game, pyspiel.UniformRandomPolicy(game))
    assert theirs == pytest.approx(ours, abs=1e-6)


def test_sampling_learns_in_the_whole_game():
    game = Tiny({"dealer": 1})
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    for _ in range(20):
        solver.iteration()
    state = played(game, random.Random(1), 6)
    likely = solver.average_policy().action_probabilities(state)
    assert sum(likely.values()) == pytest.approx(1)
    assert {*likely} == {*state.legal_actions()}


def other_deal(state, player, rng):
    """A state that `player` cannot tell from this one: deals are drawn until one could be so."""
    drawn, acted = state.history()[: 2 * tiny.HAND_SIZE], state.history()[2 * tiny.HAND_SIZE :]
    mine = drawn[player::2]
    while True:
        rest = rng.permutation([c for c in range(tiny.N_CARDS) if c not in mine]).tolist()
        hands = [mine, rest[: tiny.HAND_SIZE]]
        other = state.get_game().new_initial_state()
        for k in range(2 * tiny.HAND_SIZE):
            other.apply_action(hands[k % 2 != player][k // 2])
        if all(_carried_out(other, action) for action in acted):
            return other


def _carried_out(state, action):
    if action not in state.legal_actions():
        return False
    state.apply_action(action)
    return True


def test_tree_search_beats_chance():
    game, rng = Tiny({"dealer": 1}), np.random.RandomState(1)
    bot = ISMCTSBot(game, RandomRolloutEvaluator(random_state=rng), 2.0, 30, random_state=rng)
    bot.set_resampler(lambda state, player: other_deal(state, player, rng))
    ahead = 0
    for match in range(24):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.current_player() == match % 2:
                state.apply_action(bot.step(state))
            else:
                state.apply_action(rng.choice(state.legal_actions()))
        ahead += state.returns()[match % 2]
    assert ahead > 10


# Bots in the arena --------------------------------------------------------------------------------
BOTS = ("openspiel:random", "openspiel:ismcts,simulations=3")


@each_set
def test_bots_play_whole_deals_of_every_option(name, options):
    agents = [make_agent(spec, name) for spec in BOTS]
    game = GAMES[name]
    if options.get("horizon") != "deal" and name == "semerik":
        options = {**options, "horizon": "deal"}
    seats = [agents[k % 2] for k in range(game.n_players(game.complete_options(options)))]
    records = [play_match(game, options, seats, 5) for _ in range(2)]
    assert records[0] == records[1]


def decision(name, options, seed, n=0):
    """A decision after `n` random actions."""
    game, rng = GAMES[name], random.Random(seed)
    row = game.new_row(options, seed)
    game.kernels.begin(row)
    game.kernels.settle(row)
    for _ in range(n):
        game.kernels.step(row, rng.choice(game.legal_actions(row)))
    view = game.view(row, int(row[SEAT]))
    return Decisions(game, view[None], np.array([game.kernels.legal(row)]), np.array([-7 - seed]))


def test_tree_search_beats_the_random_bot():
    agents = ["openspiel:ismcts,simulations=12", "openspiel:random"]
    found = compare("semerik", agents, 6, 1, {"horizon": "deal"}, workers=1, progress=False)
    assert found.pairs[0].mean > 1


def test_tree_search_tells_how_it_divided_its_simulations():
    agent = make_agent("openspiel:ismcts,simulations=30", "sim_lystiv")
    shares = []
    for seed in range(3):
        asked = decision("sim_lystiv", {"num_players": 2, "dealer": 0}, seed, 8)
        kind, share = agent.evaluate(asked)
        legal = [a for a in range(39) if int(asked.legal[0]) >> a & 1]
        assert kind == "visits"
        assert share[legal].sum() == pytest.approx(1)
        assert agent.act(asked)[0] == share.argmax()
        shares.append(share.max())
    assert np.mean(shares) > 0.3  # five cards are left


def test_the_random_bot_is_even():
    agent = make_agent("openspiel:random", "semerik")
    one = decision("semerik", {"horizon": "deal"}, 1)
    many = Decisions(one.game, np.repeat(one.views, 2000, 0), np.repeat(one.legal, 2000),
                     np.random.default_rng(1).integers(-(2**62), 2**62, 2000))  # fmt: skip
    _, counts = np.unique(agent.act(many), return_counts=True)
    assert len(counts) == int(one.legal[0]).bit_count()
    assert counts.min() > 2000 / len(counts) * 0.75


def test_specs_have_one_spelling():
    for given, spec in (
        ("openspiel:ismcts", "openspiel:ismcts,simulations=100"),
        ("openspiel:ismcts,uct=2,simulations=5", "openspiel:ismcts,simulations=5"),
        ("openspiel:ismcts,uct=0.5", "openspiel:ismcts,simulations=100,uct=0.5"),
        ("openspiel:random", "openspiel:random"),
    ):
        assert make_agent(given, "semerik").spec == spec
    for wrong, said in (
        ("openspiel", "write openspiel:random"),
        ("openspiel:nobody", "there are openspiel:random, openspiel:ismcts"),
        ("openspiel:random,simulations=3", "no settings"),
        ("openspiel:ismcts,simulations=0", "allowed are whole numbers from 1"),
        ("openspiel:ismcts,worlds=3", "no setting 'worlds'"),
    ):
        with pytest.raises(BadInput, match=said):
            make_agent(wrong, "semerik")


def test_without_openspiel_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "trysim.agents.openspiel", None)
    with pytest.raises(BadInput, match=r"trysim\[openspiel\]"):
        make_agent("openspiel:random", "semerik")
