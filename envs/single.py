"""One learner against given opponents as a Gymnasium environment."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from trysim.envs.decisions import Agent
from trysim.envs.games import BadInput, game_named
from trysim.envs.learner import LearnerTables


class SingleEnv(gymnasium.Env[npt.NDArray[np.int8], np.int64]):
    """`gymnasium.make("trysim/Semerik-v0", opponents="greedy")`: the learner's decisions only.

    - `opponents`: a spec, an agent, or several to draw from for each episode
    - `seat`: the learner's seat; by lot for each episode if None; `"pair"`: both seats of a pair of
      Семерик, one decision at a time, each with that seat's own observation
    - every option of the game as a keyword

    Observations are int8 0/1 (the game's layout); `action_masks()` tells what is legal. An illegal
    action ends the episode with `illegal_reward` and `info["illegal_action"]`.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 2,
    }

    def __init__(
        self,
        game: str,
        opponents: str | Agent | Sequence[str | Agent] = "random",
        seat: int | str | None = None,
        render_mode: str | None = None,
        illegal_reward: float = -1.0,
        **options: Any,
    ) -> None:
        if render_mode not in (None, "ansi", "rgb_array"):
            raise BadInput(f"render_mode={render_mode!r}: allowed are ansi, rgb_array")
        self.render_mode = render_mode
        self.game = game_named(game)
        self._tables = learner_tables(game, 1, opponents, seat, options)
        self._illegal_reward = illegal_reward
        self._is_over = True  # until the first reset
        self.observation_space = spaces.Box(0, 1, (self.game.layout.size,), np.int8)
        self.action_space = spaces.Discrete(self.game.n_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.int8], dict[str, Any]]:
        """Begin an episode and play up to the learner's first decision; takes no `options`."""
        check_no_options(options)
        super().reset(seed=seed)
        self._tables.reset(seed)
        self._is_over = False
        return self._observed(), self._info()

    def step(self, action: Any) -> tuple[npt.NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """The learner's decision, then everybody's up to its next one.

        The observation after an episode's end is all zero: nothing is left to decide.
        """
        if self._is_over:
            raise BadInput("the episode is over: call reset()")
        try:
            number = operator.index(action)
        except TypeError:
            raise BadInput(f"action {action!r}: a whole number is needed") from None
        if not 0 <= number < self.game.n_actions or not self.action_masks()[number]:
            self._is_over = True
            info = {"illegal_action": True, "action_mask": np.zeros(self.game.n_actions, np.int8)}
            return np.zeros(self.game.layout.size, np.int8), self._illegal_reward, True, False, info
        self._tables.step(np.array([number]))
        reward = float(self._tables.rewards[0])
        if self._tables.done[0]:
            self._is_over = True
            info = {"action_mask": np.zeros(self.game.n_actions, np.int8)}
            return np.zeros(self.game.layout.size, np.int8), reward, True, False, info
        return self._observed(), reward, False, False, self._info()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """What is legal now: bool (n_actions,)."""
        legal: npt.NDArray[np.bool_] = self._tables.mask[0].astype(np.bool_)
        return legal

    def render(self) -> Any:
        """The table, all hands open, as text or as an image; at the end, the final position."""
        from trysim.envs import render

        if self.render_mode is None:
            gymnasium.logger.warn("render_mode is None: pass render_mode='ansi' (say) to make()")
            return None
        draw = render.ansi if self.render_mode == "ansi" else render.rgb_array
        tables = self._tables
        return draw(self.game, (tables.final_rows if tables.done[0] else tables.batch.rows)[0])

    def _observed(self) -> npt.NDArray[np.int8]:
        seen: npt.NDArray[np.int8] = self._tables.observation[0].copy()
        return seen

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._tables.mask[0].copy()}


def check_no_options(options: Mapping[str, Any] | None) -> None:
    """BadInput if `reset` was given any options: those of a game are given to `make`."""
    if options:
        raise BadInput(f"reset(options={options!r}): takes none; give a game's options to make()")


def learner_tables(
    game: str,
    n_tables: int,
    opponents: str | Agent | Sequence[str | Agent],
    seat: int | str | None,
    options: Mapping[str, Any],
) -> LearnerTables:
    """Tables with opponents by name."""
    several: Any = opponents if isinstance(opponents, (list, tuple)) else [opponents]
    agents = [_agent(opponent, game) for opponent in several]
    return LearnerTables(game, n_tables, agents, seats=seat, options=options)


def _agent(opponent: str | Agent, game: str) -> Agent:
    if hasattr(opponent, "act"):
        return cast(Agent, opponent)
    from trysim.agents import make_agent  # here, for the environments import nothing above them

    return make_agent(opponent, game)
