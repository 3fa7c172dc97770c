"""The games for OpenSpiel: `pyspiel.load_game("trysim_semerik(horizon=deal)")`.

Importing this module registers them. Every option of a game is a parameter (`dealer=-1`: by lot).
The rules are the engine's; all it draws at random is a chance node here: the lot for the first
dealer, every card that is dealt, the penalty's deck in Сім листів, and its cut if nobody chooses
it. Cards that stay in the stock are not drawn: nobody ever sees them.

Information states are what a seat knows of the whole match, as a text and as the token history of
`observation="tokens"`; observations are the flat ones. While chance draws, a seat is told nothing.
Importing this needs the extra `openspiel`.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel

from trysim.envs.games import GAMES, BadInput, Game, game_named
from trysim.envs.observation import MAX_TOKENS, History, describe_token
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import CUT, NOBODY, OVER, PENALTY_DECK, PHASE, SEAT, STRIKE
from trysim.envs.worlds import InformationSet

_BY_LOT = -1  # the parameter that stands for the option's None

Options = Mapping[str, Any]


# Bounds -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Bounds:
    """What OpenSpiel asks of a game under some options.

    `deals` are the most in a match, a penalty being one; `least` and `most` what a seat can be paid
    in all, `is_paid_midway` whether some of it before the end.
    """

    deals: int
    least: float
    most: float
    is_zero_sum: bool = True
    is_paid_midway: bool = False


# A table that draws nothing itself --------------------------------------------------------------
class Table:
    """A match under way, and what chance has drawn for the deal that comes, or is on the table.

    It never changes: `after` gives another. `lot` is None while it is still to be drawn; `cards`
    are those drawn so far, `n_cards` how many there will be.
    """

    def __init__(self, game: Game, row: Row) -> None:
        """`row` becomes the table's own; its history begins there."""
        self.game, self.row, self.history = game, row, History(game)
        self.lot: int | None = 0
        self.cards: list[int] = []
        self.n_cards = 0
        self._row_before = row  # the last decision
        self.history.begin(row)
        if self.is_waiting:
            self._await_deck()

    def __deepcopy__(self, memo: Any) -> "Table":
        return self

    @property
    def is_waiting(self) -> bool:
        """Whether the table waits for a deck."""
        return bool(self.row[PHASE] <= 0)

    def outcomes(self) -> list[int]:
        """What chance may draw next, each as likely as the others: lots, then cards."""
        if self.lot is None:
            return list(range(_n_lots(self.game, self.row)))
        pack = int(self.game.rules.pack(self.row))
        return [c for c in range(len(self.game.deck)) if pack >> c & 1 and c not in self.cards]

    def after(self, action: int) -> "Table":
        """The table after what chance draws, or after a legal action of the seat to act."""
        other = copy.copy(self)
        if self.is_waiting and self.lot is None:
            other.lot = action
        elif self.is_waiting:
            other._draw(action)
        else:
            other._act(action)
        return other

    def _draw(self, card: int) -> None:
        """Take a card; with the last one the deal is on the table."""
        self.cards = [*self.cards, card]
        if len(self.cards) == self.n_cards:
            self.row, self.history = self.row.copy(), self.history.copy()
            deck = np.array(self.cards + self.outcomes(), np.int64)
            self.game.kernels.give_deck(self.row, deck, self.lot)
            self.history.note_result(self.row)

    def _act(self, action: int) -> None:
        self._row_before = self.row
        self.row, self.history = self.row.copy(), self.history.copy()
        self.history.note(self._row_before, action)
        self.game.kernels.apply(self.row, action)
        self.history.note_result(self.row)
        if self.is_waiting:
            self._await_deck()

    def _await_deck(self) -> None:
        self.lot = None if _n_lots(self.game, self.row) > 1 else 0
        self.cards = []
        self.n_cards = _n_dealt(self.game, self.row)

    def rewards(self) -> npt.NDArray[np.float64]:
        """What has been paid since the last decision (players,)."""
        return self.game.returns(self.row) - self.game.returns(self._row_before)

    def action_text(self, action: int) -> str:
        """An action of chance or of the seat to act in words."""
        if not self.is_waiting:
            return self.game.action_text(self.row, action)
        if self.lot is None:
            cuts = self.row[PHASE] == PENALTY_DECK
            return f"cut:{action + 1}" if cuts else f"dealer:{action}"
        return self.game.deck[action]

    def owners(self) -> list[int]:
        """The seat to which each of the `cards` was dealt."""
        return [seat for card in self.cards for seat, held in enumerate(_dealt(self.game, self.row))
                if held >> card & 1]  # fmt: skip


def _n_lots(game: Game, row: Row) -> int:
    """How many lots make a difference at a table that waits for a deck: first dealers, or cuts."""
    if row[PHASE] == PENALTY_DECK:
        return int(game.rules.N_CUTS) if game.options_of(row)["penalty"] == "auto" else 1
    return game.n_players_of(row) if row[game.words["dealer"]] == NOBODY else 1


def _n_dealt(game: Game, row: Row) -> int:
    """How many cards of the shuffled pack are looked at: those dealt, or all of a penalty's."""
    pack = [card for card in range(len(game.deck)) if int(game.rules.pack(row)) >> card & 1]
    if row[PHASE] == PENALTY_DECK:
        return len(pack)
    dealt = row.copy()
    game.kernels.give_deck(dealt, np.array(pack, np.int64), 0)
    return sum(hand.bit_count() for hand in _dealt(game, dealt))


def _dealt(game: Game, row: Row) -> list[int]:
    """The set of cards that each seat was dealt."""
    hands, played = game.words["hands"], game.words["played"]
    n = game.n_players_of(row)
    return [int(row[hands + seat]) | int(row[played + seat]) for seat in range(n)]


# OpenSpiel's game and state ---------------------------------------------------------------------
class TrickGame(pyspiel.Game):  # type: ignore[misc]
    """A game under some `options`, all of them with their values; a subclass names trysim's own."""

    game: Game

    @staticmethod
    def bounds(options: Options) -> Bounds:
        """The bounds under complete options."""
        raise NotImplementedError

    def __init__(self, params: Mapping[str, Any]) -> None:
        game = self.game
        self.options = game.complete_options(_options(game, params))
        bounds = self.bounds(self.options)
        longest = len(game.options) + bounds.deals * (game.n_actions + _MOST_NOTED)
        self.n_tokens = min(longest, MAX_TOKENS.get(game.name, longest))
        self._n_chance = bounds.deals * len(game.deck) + 2  # and the lots: first dealer, cut
        row = game.new_row(self.options, 0)
        game.kernels.begin(row)
        self.first_table = Table(game, row)
        info = pyspiel.GameInfo(
            num_distinct_actions=game.n_actions,
            max_chance_outcomes=len(game.deck),
            num_players=game.n_players(self.options),
            min_utility=float(bounds.least),
            max_utility=float(bounds.most),
            utility_sum=0.0 if bounds.is_zero_sum else None,
            max_game_length=bounds.deals * game.n_actions,  # each of them once a deal at most
        )
        super().__init__(_game_type(game, bounds), info, dict(params))

    def new_initial_state(self) -> "TrickState":
        """A match before its first deal."""
        return TrickState(self)

    def state_at(self, row: Row) -> "TrickState":
        """A state in the middle of a match, at a table or in a world.

        Its history begins there: it can be played on, but not be resampled.
        """
        state = self.new_initial_state()
        state.table = Table(self.game, row.copy())
        return state

    def max_chance_nodes_in_history(self) -> int:
        """The most draws in a match."""
        return self._n_chance

    def make_py_observer(
        self,
        iig_obs_type: pyspiel.IIGObservationType | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> "TrickObserver | None":
        """What tells of states: of all that a seat knows with perfect recall, else of the table.

        None if it should tell public facts alone, or private ones: what a seat sees mixes them.
        """
        if params:
            raise ValueError(f"no parameters of observations: {params}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        single = pyspiel.PrivateInfoType.SINGLE_PLAYER
        if not kind.public_info or kind.private_info != single:
            return None
        return TrickObserver(self, kind.perfect_recall)


# Events of a deal that are no action of a seat: the dealer, a hand of 13, and what is shown then.
_MOST_NOTED = 1 + 13 + 2


class TrickState(pyspiel.State):  # type: ignore[misc]
    """A match at some moment; `table` holds the engine's row."""

    def __init__(self, game: TrickGame) -> None:
        super().__init__(game)
        self.table = game.first_table

    def current_player(self) -> int:
        """The seat to act, or OpenSpiel's numbers for chance and the end."""
        phase, players = self.table.row[PHASE], pyspiel.PlayerId
        if phase == OVER:
            return int(players.TERMINAL)
        return int(players.CHANCE) if phase <= 0 else int(self.table.row[SEAT])

    def is_terminal(self) -> bool:
        """Whether the match is over."""
        return self.table.game.is_over(self.table.row)

    def _legal_actions(self, player: int) -> list[int]:
        return self.table.game.legal_actions(self.table.row)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The lots or cards that may be drawn, with their probabilities."""
        outcomes = self.table.outcomes()
        return [(outcome, 1 / len(outcomes)) for outcome in outcomes]

    def _apply_action(self, action: int) -> None:
        self.table = self.table.after(int(action))

    def _action_to_string(self, player: int, action: int) -> str:
        return self.table.action_text(int(action))

    def returns(self) -> list[float]:
        """What has been paid so far, by seat."""
        paid: list[float] = self.table.game.returns(self.table.row).tolist()
        return paid

    def rewards(self) -> list[float]:
        """What has been paid since the last decision, by seat; nothing while chance draws."""
        if self.table.is_waiting:
            return [0.0] * len(self.returns())
        paid: list[float] = self.table.rewards().tolist()
        return paid

    def resample_from_infostate(self, player_id: int, rng: Callable[[], float]) -> "TrickState":
        """A state that the player cannot tell from this one, drawn evenly, with its own history.

        `rng()` gives numbers in [0, 1). What is drawn depends on them and on what the player knows.
        """
        drawn = _redrawn(self.table, player_id, int(rng() * 2**53))
        moves = [(move.player, move.action) for move in self.full_history()]
        last = max(k for k, (player, _) in enumerate(moves) if player == pyspiel.PlayerId.CHANCE)
        actions = [action for _, action in moves]
        actions[last + 1 - len(drawn) : last + 1] = drawn
        state = self.get_game().new_initial_state()
        for action in actions:
            state.apply_action(action)
        other: TrickState = state
        return other

    def __str__(self) -> str:
        game, row = self.table.game, self.table.row
        hands = " | ".join(" ".join(hand) for hand in game.hands(row))
        drawn = " ".join(game.deck[card] for card in self.table.cards)
        return f"drawn: {drawn}\nhands: {hands}\n{_told(self.table, 0)}"


def _redrawn(table: Table, seat: int, seed: int) -> list[int]:
    """Cards that might have been drawn instead of `table.cards`, for all that the seat knows."""
    game, row = table.game, table.row
    if row[PHASE] in (CUT, STRIKE):
        return _redrawn_penalty(table, np.random.default_rng(seed))
    world = InformationSet(game, row, seat).worlds(1, seed)[0]
    hands = [[c for c in range(len(game.deck)) if held >> c & 1] for held in _dealt(game, world)]
    if "trump_card" in game.words:  # the dealer's last card
        hand, card = hands[row[game.words["dealer"]]], int(row[game.words["trump_card"]])
        hand.append(hand.pop(hand.index(card)))
    return [hands[owner].pop(0) for owner in table.owners()]


def _redrawn_penalty(table: Table, rng: np.random.Generator) -> list[int]:
    """The penalty's deck in another order, but for the bottom card once it is seen."""
    cards: list[int] = rng.permutation(len(table.cards)).tolist()
    depth = int(table.row[table.game.words["cut"]])
    if depth:
        bottom = cards.index(int(table.row[table.game.words["bottom"]]))
        cards[bottom], cards[depth - 1] = cards[depth - 1], cards[bottom]
    return cards


class TrickObserver:
    """Tells of states in OpenSpiel's way: `tensor` (float32), `dict` with its one part, texts."""

    def __init__(self, game: TrickGame, tells_all: bool) -> None:
        """Of the whole match if it `tells_all`, else of the table."""
        self._tells_all = tells_all
        size = game.n_tokens if tells_all else game.game.layout.size
        self.tensor = np.zeros(size, np.float32)
        self.dict = {"tokens" if tells_all else "observation": self.tensor}

    def set_from(self, state: TrickState, player: int) -> None:
        """Write what the player knows into `tensor`."""
        table = state.table
        if self._tells_all:
            self.tensor[:] = table.history.tokens(table.row, player, self.tensor.size)
        elif table.is_waiting:
            self.tensor[:] = 0
        else:
            self.tensor[:] = table.game.observe(table.row, player)[0]

    def string_from(self, state: TrickState, player: int) -> str:
        """What the player knows, in words."""
        table = state.table
        if self._tells_all:
            return _told(table, player)
        if table.is_waiting:
            return f"seat {player}"
        facts = table.game.layout.describe(table.game.observe(table.row, player)[0])
        return f"seat {player}: {facts}"


def _told(table: Table, seat: int) -> str:
    """All that the seat knows of the match, in words, other seats counted from it."""
    codes = table.history.seen(table.row, seat).tolist()
    return f"seat {seat}: " + ", ".join(_word(table.game.name, code) for code in codes)


@cache
def _word(name: str, code: int) -> str:
    return describe_token(game_named(name), code)


# Registering ------------------------------------------------------------------------------------
def _options(game: Game, params: Mapping[str, Any]) -> dict[str, Any]:
    by_lot = [option.name for option in game.options if option.default is None]
    return {k: None if k in by_lot and v == _BY_LOT else v for k, v in params.items()}


def _parameters(options: Options) -> dict[str, Any]:
    return {name: _BY_LOT if value is None else value for name, value in options.items()}


def _game_type(game: Game, bounds: Bounds) -> pyspiel.GameType:
    players = next((o.choices for o in game.options if o.name == "num_players"), (game.n_seats,))
    utility, model = pyspiel.GameType.Utility, pyspiel.GameType.RewardModel
    return pyspiel.GameType(
        short_name=f"trysim_{game.name}",
        long_name=f"trysim {game.name}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility.ZERO_SUM if bounds.is_zero_sum else utility.GENERAL_SUM,
        reward_model=model.REWARDS if bounds.is_paid_midway else model.TERMINAL,
        max_num_players=max(players),
        min_num_players=min(players),
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_parameters({o.name: o.default for o in game.options}),
    )


def register(kind: type[TrickGame]) -> None:
    """Make a game known to OpenSpiel as `trysim_<name>`."""
    defaults = kind.game.complete_options({})
    pyspiel.register_game(_game_type(kind.game, kind.bounds(defaults)), kind)


def load(game: Game | str, options: Options) -> TrickGame:
    """The game under these options."""
    name = game if isinstance(game, str) else game.name
    try:
        loaded: TrickGame = pyspiel.load_game(f"trysim_{name}", _parameters(options))
    except pyspiel.SpielError as error:
        raise BadInput(str(error)) from None
    return loaded


# The three games --------------------------------------------------------------------------------
# Void deals in Сім листів and equal totals in Семерик may go on for ever; so many never come.
_SPARE_DEALS = 30


class SimLystiv(TrickGame):
    """Сім листів."""

    game = GAMES["sim_lystiv"]

    @staticmethod
    def bounds(options: Options) -> Bounds:
        """Two deals for every player but one, the void ones aside, and the penalty."""
        n, reward = options["num_players"], options["reward"]
        deals = 2 * (n - 1) + 1 + (_SPARE_DEALS if options["all_out"] == "replay" else 0)
        if reward == "placement":
            return Bounds(deals, -1, 1, is_paid_midway=True)
        blows = 11 * (n - 1)  # ten from each of the others, and one too many
        return Bounds(deals, -blows if reward == "blows" else -1, 0, is_zero_sum=False)


class Semnadtsat(TrickGame):
    """Семнадцать."""

    game = GAMES["semnadtsat"]

    @staticmethod
    def bounds(options: Options) -> Bounds:
        """What one player is ahead of another at most, in each deal."""
        deals = options["num_deals"]
        if options["reward"] == "win":
            return Bounds(deals, -1, 1)
        most = deals * (47 if options["scoring"] == "simple" else 17 + 95)
        return Bounds(deals, -most, most)


class Semerik(TrickGame):
    """Семерик."""

    game = GAMES["semerik"]

    @staticmethod
    def bounds(options: Options) -> Bounds:
        """The pairs have six points or more together in every deal: a game comes to its end."""
        if options["horizon"] == "deal":
            return Bounds(1, -_DEAL_POINTS, _DEAL_POINTS)
        games = options["games"] if options["horizon"] == "match" else 1
        deals = games * (2 * options["target"] // 6 + 1 + _SPARE_DEALS)
        if options["reward"] == "points":
            return Bounds(deals, -_DEAL_POINTS * deals, _DEAL_POINTS * deals, is_paid_midway=True)
        return Bounds(deals, -options["target"] * games, options["target"] * games)


# Of a pair in a deal, no more than all declarations, counting cards, tricks and the last trick.
_DEAL_POINTS = 83 + 10 + 10 + 1

for _kind in (SimLystiv, Semnadtsat, Semerik):
    register(_kind)
