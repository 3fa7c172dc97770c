"""The learner's tables as a vector environment of stable-baselines3."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from trysim.envs.learner import LearnerTables


class LearnerVecEnv(VecEnv):
    """`LearnerTables` for PPO and MaskablePPO; answers `env_method("action_masks")`.

    Rewards are multiplied by `reward_scale`; `infos[i]["episode"]` of a finished episode holds the
    unscaled sum `r` and the learner's decisions `l`, as `VecMonitor` would write them.
    """

    def __init__(self, tables: LearnerTables, reward_scale: float = 1.0) -> None:
        game = tables.game
        super().__init__(
            tables.n_tables,
            spaces.Box(0, 1, (game.layout.size,), np.int8),
            spaces.Discrete(game.n_actions),
        )
        self.tables = tables
        self.n_illegal = 0  # illegal actions so far; `step` raises an error at the first
        self._scale = reward_scale
        self._actions = np.zeros(tables.n_tables, np.int64)
        self._sums = np.zeros(tables.n_tables)
        self._lengths = np.zeros(tables.n_tables, np.int64)
        self._seed: int | None = None

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """The next `reset` begins with this seed."""
        self._seed = seed
        return [seed] * self.num_envs

    def reset(self) -> npt.NDArray[np.int8]:
        """Begin an episode at every table."""
        self.tables.reset(self._seed)
        self._seed = None
        self._sums[:] = 0
        self._lengths[:] = 0
        observation: npt.NDArray[np.int8] = self.tables.observation.copy()
        return observation

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Take the learner's decisions."""
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> Any:
        """Carry them out: observations (B, D), rewards (B,), dones (B,), infos."""
        tables = self.tables
        legal = np.take_along_axis(tables.mask, self._actions[:, None], 1)
        self.n_illegal += int((legal == 0).sum())
        tables.step(self._actions)
        self._sums += tables.rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for table in np.flatnonzero(tables.done):
            episode = {"r": float(self._sums[table]), "l": int(self._lengths[table]), "t": 0.0}
            infos[table]["episode"] = episode
        self._sums[tables.done] = 0
        self._lengths[tables.done] = 0
        rewards = (tables.rewards * self._scale).astype(np.float32)
        return tables.observation.copy(), rewards, tables.done.copy(), infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """What is legal at every table: bool (B, n_actions)."""
        return self.tables.mask.astype(np.bool_)

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> list[Any]:
        """`action_masks` of each table; there are no other methods."""
        if method_name != "action_masks":
            raise AttributeError(f"{type(self).__name__} has no method {method_name!r} by table")
        masks = self.action_masks()
        return [masks[table] for table in self._get_indices(indices)]

    def has_attr(self, attr_name: str) -> bool:
        """Whether tables answer to this name."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute for each table: all tables share this object's."""
        value = getattr(self, attr_name, None)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of this object, shared by all tables."""
        setattr(self, attr_name, value)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No table is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing to close."""
