"""One PettingZoo AEC environment for all three games."""

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from trysim.envs.games import BadInput, Game, game_named
from trysim.envs.observation import MAX_TOKENS, N_TOKENS, History
from trysim.envs.record import give_deal, penalty_of, replay_onto, result_of
from trysim.envs.rules.row import SEAT

RENDER_MODES = ("human", "rgb_array", "ansi")
OBSERVATIONS = ("flat", "tokens")


class TrickEnv(AECEnv):  # type: ignore[misc]
    """A game as a turn-based environment: one card (declaration, naming, strike) is one turn.

    `observe(agent)` gives `{"observation": …, "action_mask": int8 (n_actions,)}`: the flat
    observation is int8 0/1 in the layout of `game.layout`, `observation="tokens"` an int16 history.
    The mask is non-zero for the agent about to act only. Rewards are those of the option `reward`;
    an illegal action raises `BadInput` and changes nothing.
    `infos` are empty until the match is over; then they tell its `result` (and the `penalty`).
    `has_paid` says whether the last step ended a deal: `rewards` are what it brought.

    `reset(options={"deal": {"dealer": 0, "hands": [[…], …], "trump_card": "9H"}})` starts from a
    given deal (or `"deck"`: all cards, top first, instead of hands), `{"record": …, "position": n}`
    from the position after `n` decisions of a record.
    """

    def __init__(
        self,
        game: str,
        render_mode: str | None = None,
        observation: str = "flat",
        **options: Any,
    ) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode={render_mode!r}: allowed are {', '.join(RENDER_MODES)}")
        if observation not in OBSERVATIONS:
            raise ValueError(f"observation={observation!r}: allowed are {', '.join(OBSERVATIONS)}")
        super().__init__()
        self.game: Game = game_named(game)
        self.options = self.game.complete_options(options)
        self.render_mode = render_mode
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "name": f"{game}_v{self.game.rules.VERSION}",
            "is_parallelizable": False,
            "render_fps": 2,
        }
        n = self.game.n_players(self.options)
        self.possible_agents = [f"player_{seat}" for seat in range(n)]
        self.agents: list[str] = []
        self.agent_selection: str = self.possible_agents[0]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        space = _observation_space(self.game, observation)
        self.observation_spaces = {agent: _copy_of(space) for agent in self.possible_agents}
        self.action_spaces = {
            agent: spaces.Discrete(self.game.n_actions) for agent in self.possible_agents
        }
        n_state = len(self.game.deck) * self.game.n_seats + self.game.layout.size
        self.state_space = spaces.Box(0, 1, (n_state,), np.int8)
        seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self._row = self.game.new_row(self.options, seed)
        self._history = History(self.game) if observation == "tokens" else None
        self._window: Any = None

    # The contract -------------------------------------------------------------------------------
    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same space object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same space object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a match; without a seed the environment's own random stream goes on."""
        row = self._row.copy()
        if seed is not None:
            self.game.reseed(row, seed)
        history = History(self.game) if self._history is not None else None
        self._begin(row, history, options or {})
        self._row, self._history = row, history  # only now: a bad deal changes nothing
        playing = [a for a in self.possible_agents if not self.game.is_gone(row, self._seat_of[a])]
        self.agents = playing or list(self.possible_agents)  # a record may begin at its end
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._returns = self.game.returns(self._row)
        self.has_paid = False
        self._skip_agent_selection = None
        self._select()
        if self.game.is_over(self._row):
            self._settle_rewards()

    def step(self, action: Any) -> None:
        """Carry out the selected agent's action (None for an agent that has left)."""
        agent = self.agent_selection
        if not self.agents:
            raise BadInput("the match is over and everybody has left: call reset()")
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        number = self._checked(action)
        if self._history is not None:
            self._history.note(self._row, number)
        self._cumulative_rewards[agent] = 0.0
        if self.has_paid:
            self._clear_rewards()
            self.has_paid = False
        ended = self.game.kernels.step(self._row, number)
        if self._history is not None:
            self._history.note_result(self._row)
        if ended:
            self._settle_rewards()
        else:
            self.agent_selection = self.possible_agents[self._row[SEAT]]
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """What an agent sees and may do; for every possible agent at any time after reset."""
        seat = self._seat_of[agent]
        observation, mask = self.game.observe(self._row, seat)
        if self._history is not None:
            return {"observation": self._history.tokens(self._row, seat), "action_mask": mask}
        return {"observation": observation, "action_mask": mask}

    def state(self) -> npt.NDArray[np.int8]:
        """The global view: all hands by seat, then what seat 0 sees; 0/1 int8 (state_space,)."""
        observation, _ = self.game.observe(self._row, 0)
        own = observation[self.game.layout.slice("hand")]
        return np.concatenate([own, self.other_hands(self.possible_agents[0]), observation])

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The table as text (`ansi`), as an image (`rgb_array`) or in a window (`human`)."""
        from trysim.envs import render

        if self.render_mode is None:
            from gymnasium import logger

            logger.warn("render_mode is None: pass render_mode='ansi' (say) to the constructor")
            return None
        if self.render_mode == "ansi":
            return render.ansi(self.game, self._row)
        frame = render.rgb_array(self.game, self._row)
        if self.render_mode == "rgb_array":
            return frame
        if self._window is None:
            self._window = render.Window(self.game.name)
        self._window.show(frame)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    # More than PettingZoo asks ------------------------------------------------------------------
    @property
    def teams(self) -> list[list[str]]:
        """The agents who win and lose together."""
        if self.game.name == "semerik":
            return [self.possible_agents[0::2], self.possible_agents[1::2]]
        return [[agent] for agent in self.possible_agents]

    def action_text(self, action: int) -> str:
        """An action in words: `7H`, `trump:S`, `declare:baba:H`, `cut:17`."""
        return self.game.action_text(self._row, int(action))

    def action_number(self, text: str) -> int:
        """The number of an action given in words."""
        return self.game.action_number(self._row, text)

    def describe(self, observation: npt.ArrayLike) -> dict[str, Any]:
        """A flat observation in readable words."""
        return self.game.layout.describe(observation)

    def other_hands(self, agent: str) -> npt.NDArray[np.int8]:
        """The others' hands, clockwise, for critics: 0/1 int8 ((seats - 1) * cards,)."""
        return self.game.other_hands(self._row, self._seat_of[agent])

    def view(self, agent: str) -> npt.NDArray[np.int64]:
        """The table as an agent knows it, for search: a row with all that is hidden blank."""
        return self.game.view(self._row, self._seat_of[agent])

    # Inside -------------------------------------------------------------------------------------
    def _begin(self, row: Any, history: History | None, options: Mapping[str, Any]) -> None:
        kernels = self.game.kernels
        kernels.begin(row)
        if "record" in options:
            replay_onto(self.game, row, options["record"], options.get("position", 0), history)
            return
        if "deal" in options:
            give_deal(self.game, row, options["deal"])
        kernels.settle(row)
        if history is not None:
            history.begin(row)

    def _checked(self, action: Any) -> int:
        """The action as a legal number; BadInput, before anything changes, otherwise."""
        try:
            number = operator.index(action)
        except TypeError:
            number = -1
        if number < 0 or not int(self.game.kernels.legal(self._row)) >> number & 1:
            self.game.check_legal(self._row, number if number >= 0 else action)
        return number

    def _select(self) -> None:
        """Let the seat to act, as the rules say, be the selected agent."""
        seat = int(self._row[SEAT])
        self.agent_selection = self.agents[0] if seat < 0 else self.possible_agents[seat]

    def _settle_rewards(self) -> None:
        """After a deal: pay what it brought, and let those who have left go first."""
        returns = self.game.returns(self._row)
        for agent in self.agents:
            seat = self._seat_of[agent]
            self.rewards[agent] = float(returns[seat] - self._returns[seat])
            self.terminations[agent] = self.game.is_gone(self._row, seat)
        self._returns = returns
        self.has_paid = True
        if self.game.is_over(self._row):
            info: dict[str, Any] = {"result": result_of(self.game, self._row)}
            penalty = penalty_of(self.game, self._row)
            if penalty is not None:
                info["penalty"] = penalty
            self.infos = {agent: dict(info) for agent in self.agents}
        self._accumulate_rewards()
        self._select()
        self._deads_step_first()

    def __str__(self) -> str:
        return str(self.metadata["name"])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _observation_space(game: Game, observation: str) -> spaces.Dict:
    seen: spaces.Box
    if observation == "tokens":
        seen = spaces.Box(0, N_TOKENS - 1, (MAX_TOKENS[game.name],), np.int16)
    else:
        seen = spaces.Box(0, 1, (game.layout.size,), np.int8)
    mask = spaces.Box(0, 1, (game.n_actions,), np.int8)
    return spaces.Dict({"observation": seen, "action_mask": mask})


def _copy_of(space: spaces.Dict) -> spaces.Dict:
    """A space of its own for each agent: seeding one must not seed the others."""
    return spaces.Dict(
        {
            name: spaces.Box(box.low, box.high, dtype=box.dtype.type)
            for name, box in space.spaces.items()
            if isinstance(box, spaces.Box) and box.dtype is not None
        }
    )


# Wrappers ---------------------------------------------------------------------------------------
def _straight(name: str) -> property:
    """An attribute read from the bare environment, not through every wrapper on the way."""
    return property(lambda wrapper: getattr(wrapper._bare, name))


class _Straight:
    """PettingZoo's wrappers look attributes up one by one through each other: half their time."""

    agents = _straight("agents")
    agent_selection = _straight("agent_selection")
    rewards = _straight("rewards")
    terminations = _straight("terminations")
    truncations = _straight("truncations")
    infos = _straight("infos")
    _cumulative_rewards = _straight("_cumulative_rewards")

    def __init__(self, env: AECEnv, **kwargs: Any) -> None:
        super().__init__(env, **kwargs)  # type: ignore[call-arg]
        self._bare = env.unwrapped


class TerminateIllegal(_Straight, wrappers.TerminateIllegalWrapper):  # type: ignore[misc]
    """PettingZoo's wrapper."""


class AssertOutOfBounds(_Straight, wrappers.AssertOutOfBoundsWrapper):  # type: ignore[misc]
    """PettingZoo's wrapper."""


class OrderEnforcing(_Straight, wrappers.OrderEnforcingWrapper):  # type: ignore[misc]
    """PettingZoo's wrapper."""

    def __str__(self) -> str:
        return str(self.env)


def wrapped(env: TrickEnv) -> AECEnv:
    """The environment in PettingZoo's customary wrappers.

    An illegal action ends the episode: the offender, and in Семерик he alone and not his partner,
    gets -1, everybody else 0. The wrappers cost far more time than the game: train on the raw
    environment, which raises an error instead.
    """
    return OrderEnforcing(AssertOutOfBounds(TerminateIllegal(env, illegal_reward=-1)))
