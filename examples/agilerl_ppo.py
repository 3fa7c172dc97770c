"""AgileRL: its PPO with both seats of a pair of Семерик, at many tables at once.

python examples/agilerl_ppo.py

`gymnasium.make_vec` gives all tables in one process. The roll-out is one's own: that of AgileRL
2.58 (`collect_rollouts`) stores the ends of episodes a step late for how its buffer reads them, and
what a deal pays reaches its last decision only.
"""

import time
from pathlib import Path
from typing import NamedTuple

import gymnasium
import numpy as np
import torch
from agilerl.algorithms import PPO

import trysim.envs  # noqa: F401  registers the environments
from trysim.arena import Pair, compare
from trysim.envs.decisions import Decisions
from trysim.envs.games import Game

OPTIONS = {"horizon": "deal"}  # every deal by itself
N_TABLES, N_STEPS = 128, 32
MODEL = Path("runs/agilerl.pt")


class Trained:
    """The agent of a trained model: `python:examples/agilerl_ppo.py:Trained`."""

    def __init__(self, game: Game) -> None:
        self.ppo = PPO.load(MODEL)
        self.ppo.set_training_mode(False)

    def act(self, decisions: Decisions) -> np.ndarray:
        """A legal action for each decision."""
        observations, masks = decisions.observe()
        return self.ppo.get_action(observations, action_mask=masks)[0]


class Now(NamedTuple):
    """How the tables stand."""

    observation: np.ndarray
    info: dict[str, np.ndarray]
    has_begun: np.ndarray
    """Whether an episode begins here, after another has ended."""


def make_tables() -> gymnasium.vector.VectorEnv:
    """The tables to learn at, rewards scaled to about 1."""
    tables = gymnasium.make_vec(
        "trysim/Semerik-v0", num_envs=N_TABLES, opponents="random", seat="pair", **OPTIONS
    )
    return gymnasium.wrappers.vector.TransformReward(tables, lambda rewards: rewards * 0.2)


def roll_out(ppo: PPO, tables: gymnasium.vector.VectorEnv, now: Now) -> Now:
    """Fill the buffer with `N_STEPS` decisions at every table."""
    ppo.rollout_buffer.reset()
    for _ in range(N_STEPS):
        mask = now.info["action_mask"]
        action, log_prob, _, value = ppo.get_action(now.observation, action_mask=mask)
        observation, reward, ended, _, info = tables.step(action)
        ppo.rollout_buffer.add(
            obs=now.observation,
            action=action,
            reward=reward,
            done=now.has_begun,
            value=value,
            log_prob=log_prob,
            next_obs=observation,
            action_mask=mask,
        )
        now = Now(observation, info, ended)
    *_, value = ppo.get_action(now.observation, action_mask=now.info["action_mask"])
    ppo.rollout_buffer.compute_returns_and_advantages(value, now.has_begun)
    return now


def train(decisions: int, seed: int = 1) -> PPO:
    """A model that has learned from so many of its own decisions."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # AgileRL shuffles with it
    tables = make_tables()
    ppo = PPO(
        tables.single_observation_space,
        tables.single_action_space,
        net_config={
            "encoder_config": {"hidden_size": [128]},
            "head_config": {"hidden_size": [128]},
        },
        batch_size=1024,
        learn_step=N_TABLES * N_STEPS,
        lr=1e-3,
        gamma=1.0,
        update_epochs=3,
        num_envs=N_TABLES,
    )
    started = time.perf_counter()
    now = Now(*tables.reset(seed=seed), np.zeros(N_TABLES))
    n_updates = max(1, decisions // ppo.learn_step)
    for _ in range(n_updates):
        now = roll_out(ppo, tables, now)
        ppo.learn()
    seconds = time.perf_counter() - started
    done = n_updates * ppo.learn_step
    print(f"{done} decisions in {seconds:.0f} s: {done / seconds:.0f} a second")
    return ppo


def main(decisions: int = 200_000, deals: int = 1000) -> Pair:
    """Train a pair and measure it."""
    torch.set_num_threads(1)
    MODEL.parent.mkdir(exist_ok=True)
    train(decisions).save_checkpoint(MODEL)
    agents = [f"python:{__file__}:Trained", "random"]
    return compare("semerik", agents, deals, seed=1, options=OPTIONS, workers=1).pairs[0]


if __name__ == "__main__":
    pair = main()
    print(f"{pair.a} over {pair.b}: {pair.mean:+.2f} points a deal, {pair.ci95}")
