"""The game of `tiny_rules` once more, as OpenSpiel wants it; written from its sentences alone.

Only some of the deals can be dealt.
"""

from itertools import combinations

import pyspiel

CARDS = [rank + suit for suit in "CDHS" for rank in "QKA"]
EVERY = 61  # deals of 18,480: OpenSpiel's own measure walks through Python objects
DEALS = [
    (first, second)
    for first in combinations(CARDS, 3)
    for second in combinations([card for card in CARDS if card not in first], 3)
][::EVERY]
N_TRICKS = 3

GAME_TYPE = pyspiel.GameType(
    short_name="python_tiny",
    long_name="three tricks with twelve cards",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
)
GAME_INFO = pyspiel.GameInfo(
    num_distinct_actions=len(CARDS),
    max_chance_outcomes=len(DEALS),
    num_players=2,
    min_utility=-3.0,
    max_utility=3.0,
    utility_sum=0.0,
    max_game_length=2 * N_TRICKS,
)


class TinyGame(pyspiel.Game):
    def __init__(self, params=None):
        super().__init__(GAME_TYPE, GAME_INFO, params or {})

    def new_initial_state(self):
        return TinyState(self)

    def make_py_observer(self, iig_obs_type=None, params=None):
        raise NotImplementedError


class TinyState(pyspiel.State):
    def __init__(self, game):
        super().__init__(game)
        self.deal = None
        self.played = []  # (player, card)

    def _tricks(self):
        """Winners of the finished tricks."""
        winners = []
        for k in range(0, len(self.played) - 1, 2):
            (leader, led), (other, answer) = self.played[k : k + 2]
            if answer[1] == led[1]:
                takes = "QKA".index(answer[0]) > "QKA".index(led[0])
            else:
                takes = answer[1] == "S"
            winners.append(other if takes else leader)
        return winners

    def current_player(self):
        if self.deal is None:
            return pyspiel.PlayerId.CHANCE
        if len(self.played) == 2 * N_TRICKS:
            return pyspiel.PlayerId.TERMINAL
        if len(self.played) % 2:
            return 1 - self.played[-1][0]
        return self._tricks()[-1] if self.played else 0

    def _hand(self, player):
        gone = [card for _, card in self.played]
        return [card for card in self.deal[player] if card not in gone]

    def _legal_actions(self, player):
        hand = self._hand(player)
        if len(self.played) % 2:
            led = self.played[-1][1]
            hand = [card for card in hand if card[1] == led[1]] or hand
        return sorted(CARDS.index(card) for card in hand)

    def chance_outcomes(self):
        return [(k, 1 / len(DEALS)) for k in range(len(DEALS))]

    def _apply_action(self, action):
        if self.deal is None:
            self.deal = DEALS[action]
        else:
            self.played.append((self.current_player(), CARDS[action]))

    def _action_to_string(self, player, action):
        return f"deal {action}" if player == pyspiel.PlayerId.CHANCE else CARDS[action]

    def is_terminal(self):
        return len(self.played) == 2 * N_TRICKS

    def returns(self):
        if not self.is_terminal():
            return [0.0, 0.0]
        winners = self._tricks()
        ahead = float(winners.count(0) - winners.count(1))
        return [ahead, -ahead]

    def information_state_string(self, player=None):
        player = self.current_player() if player is None else player
        return f"{player} {self.deal[player]} {self.played}"

    def __str__(self):
        return f"{self.deal} {self.played}"


def new_game():
    """The game; registered when it is first asked for."""
    if GAME_TYPE.short_name not in pyspiel.registered_names():
        pyspiel.register_game(GAME_TYPE, TinyGame)
    return pyspiel.load_game(GAME_TYPE.short_name)
