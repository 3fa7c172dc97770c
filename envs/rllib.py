"""The games as RLlib's `MultiAgentEnv` (extra `ray`), for its new API stack.

One seat sees the table and acts at a time. Whoever is out of a match is terminated in its midst.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from trysim.envs.aec import TrickEnv
from trysim.envs.games import BadInput, combinations, game_named

ByAgent = dict[str, Any]
_SETTINGS = ("game", "options", "skip_forced", "hands", "reward_scale")


class RLlibEnv(MultiAgentEnv):  # type: ignore[misc]
    """A game for RLlib; `config` is the `env_config`.

    - `game`: sim_lystiv, semnadtsat or semerik
    - `options` of the game; a list of values is drawn from at each match
    - `skip_forced` (True): plays with one legal action are made without asking
    - `hands` (False): observations hold the others' hands as well, for a critic
    - `reward_scale` (1.0): rewards are multiplied by this

    An observation is `{"observations": int8 0/1 (D,), "action_mask": int8 (A,)}`, with `hands`
    also `"hands": int8 (H,)`. All agents are rewarded at each deal's end. An illegal action raises
    BadInput and changes nothing.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        given: dict[str, Any] = {
            "options": {},
            "skip_forced": True,
            "hands": False,
            "reward_scale": 1.0,
        }
        given |= dict(config or {})
        unknown = [name for name in given if name not in _SETTINGS]
        if unknown or "game" not in given:
            raise BadInput(
                f"env_config {', '.join(map(repr, unknown)) or 'without game'}: there are "
                f"{', '.join(_SETTINGS)}"
            )
        self._game = game_named(given["game"])
        self._skip_forced, self._shows_hands = bool(given["skip_forced"]), bool(given["hands"])
        self._scale = float(given["reward_scale"])
        sets = combinations(given["options"])
        self._envs = [TrickEnv(self._game.name, **options) for options in sets]
        self._env = self._envs[0]
        self.possible_agents = max((env.possible_agents for env in self._envs), key=len)
        self.agents = list(self.possible_agents)
        parts: dict[str, spaces.Space[Any]] = {
            "observations": spaces.Box(0, 1, (self._game.layout.size,), np.int8),
            "action_mask": spaces.Box(0, 1, (self._game.n_actions,), np.int8),
        }
        if self._shows_hands:
            n_hands = (self._game.n_seats - 1) * len(self._game.deck)
            parts["hands"] = spaces.Box(0, 1, (n_hands,), np.int8)
        self.observation_spaces = dict.fromkeys(self.possible_agents, spaces.Dict(parts))
        self.action_spaces = dict.fromkeys(
            self.possible_agents, spaces.Discrete(self._game.n_actions)
        )
        self._is_seeded = False

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[ByAgent, ByAgent]:
        """Begin a match; `options` are those of `TrickEnv.reset`."""
        super().reset(seed=seed)
        self._env = self._envs[int(self.np_random.integers(len(self._envs)))]
        if seed is not None or not self._is_seeded:
            seeds = self.np_random.integers(2**53, size=len(self._envs))
            for env, number in zip(self._envs, seeds, strict=True):
                env.reset(seed=int(number))
            self._is_seeded = True
        self._env.reset(options=options)
        self._play_forced()  # a match never ends before anybody could choose
        self.agents = list(self._env.agents)
        acting = self._env.agent_selection
        return {acting: self._seen_by(acting)}, {}

    def step(self, actions: ByAgent) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Carry out the action of the agent to act."""
        env, before = self._env, list(self._env.agents)
        if list(actions) != [env.agent_selection]:
            raise BadInput(f"{', '.join(actions)} acts; it is the turn of {env.agent_selection}")
        gone: set[str] = set()
        rewards = dict.fromkeys(before, 0.0)
        self._do(actions[env.agent_selection], rewards, gone)
        self._play_forced(rewards, gone)
        self.agents = [agent for agent in before if agent not in gone]
        over = not self.agents
        seeing = [*gone] if over else [*gone, env.agent_selection]
        observations = {agent: self._seen_by(agent) for agent in seeing}
        terminations = {**dict.fromkeys(gone, True), "__all__": over}
        truncations = {"__all__": False}
        return observations, rewards, terminations, truncations, {}

    def _do(self, action: Any, rewards: ByAgent, gone: set[str]) -> None:
        """Carry out an action; note what it pays and who leaves."""
        env = self._env
        env.step(action)
        if env.has_paid:
            for agent, reward in env.rewards.items():
                rewards[agent] += reward * self._scale
        while env.agents and env.terminations[env.agent_selection]:
            gone.add(env.agent_selection)
            env.step(None)

    def _play_forced(self, rewards: ByAgent | None = None, gone: set[str] | None = None) -> None:
        """Make the plays that leave no choice."""
        rewards = dict.fromkeys(self._env.agents, 0.0) if rewards is None else rewards
        gone = set() if gone is None else gone
        while self._skip_forced and self._env.agents:
            mask = self._env.observe(self._env.agent_selection)["action_mask"]
            if mask.sum() != 1:
                return
            self._do(int(mask.argmax()), rewards, gone)

    def _seen_by(self, agent: str) -> ByAgent:
        seen = self._env.observe(agent)
        parts = {"observations": seen["observation"], "action_mask": seen["action_mask"]}
        if self._shows_hands:
            parts["hands"] = self._env.other_hands(agent)
        return parts
