"""Learners at many tables, each against given opponents, as one Gymnasium vector environment."""

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from trysim.envs.decisions import Agent
from trysim.envs.learner import LearnerTables
from trysim.envs.single import check_no_options, learner_tables

Bits = npt.NDArray[np.int8]


class TablesVectorEnv(gymnasium.vector.VectorEnv[Bits, npt.NDArray[np.int64], Any]):
    """`gymnasium.make_vec("trysim/Semerik-v0", num_envs=64, opponents="greedy")`: all at once.

    `opponents`, `seat` and the game's options are `SingleEnv`'s. Observations are int8 0/1 (B, D);
    `infos["action_mask"]` int8 (B, A) and `action_masks()` tell what is legal. The step that ends
    an episode gives the first observation and mask of the next one (`SAME_STEP`); episodes are
    never truncated, so that no value of what followed is needed. An illegal action raises
    `BadInput`, and nothing has changed.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        opponents: str | Agent | Sequence[str | Agent] = "random",
        seat: int | str | None = None,
        **options: Any,
    ) -> None:
        self.num_envs = num_envs
        self.tables: LearnerTables = learner_tables(game, num_envs, opponents, seat, options)
        self.game = self.tables.game
        self.single_observation_space = spaces.Box(0, 1, (self.game.layout.size,), np.int8)
        self.single_action_space = spaces.Discrete(self.game.n_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Bits, dict[str, Any]]:
        """Begin every table's episode and play up to its first decision; takes no `options`."""
        check_no_options(options)
        super().reset(seed=seed)
        self.tables.reset(seed)
        return self.tables.observation.copy(), self._info()

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Bits, npt.NDArray[np.float64], npt.NDArray[np.bool_], Any, dict[str, Any]]:
        """The learner's decision at every table, then everybody's up to its next one."""
        tables = self.tables
        tables.step(actions)
        ended, truncated = tables.done.copy(), np.zeros(self.num_envs, np.bool_)
        return tables.observation.copy(), tables.rewards.copy(), ended, truncated, self._info()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """What is legal now: bool (B, n_actions)."""
        return self.tables.mask.astype(np.bool_)

    def _info(self) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, np.bool_)  # Gymnasium's way to say whose mask is there
        return {"action_mask": self.tables.mask.copy(), "_action_mask": everywhere}
