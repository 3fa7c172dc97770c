"""Gymnasium and stable-baselines3: MaskablePPO learns both seats of a pair of Семерик.

python examples/gymnasium_sb3.py

It learns at 128 tables at once against opponents drawn for each deal. What it has learned plays at
any Gymnasium table, and is `sb3:runs/sb3.zip` everywhere an agent is asked for.
"""

import time
from pathlib import Path

import gymnasium
import torch
from sb3_contrib import MaskablePPO

import trysim.envs  # noqa: F401  registers the environments
from trysim.agents import make_agent
from trysim.arena import Pair, compare
from trysim.envs.learner import LearnerTables
from trysim.train.vec_env import LearnerVecEnv

OPTIONS = {"horizon": "deal"}  # every deal by itself
N_TABLES, N_STEPS = 128, 32


def train(decisions: int, seed: int = 1) -> MaskablePPO:
    """A model that has learned from so many of its own decisions; forced ones are not counted."""
    opponents = [make_agent(name, "semerik") for name in ("random", "greedy")]
    tables = LearnerTables(
        "semerik", N_TABLES, opponents, seats="pair", options=OPTIONS, skip_forced=True
    )
    env = LearnerVecEnv(tables, reward_scale=0.2)  # a few points a deal become about 1
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=1e-3,
        n_steps=N_STEPS,
        batch_size=1024,
        n_epochs=3,
        gamma=1.0,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
        seed=seed,
        device="cpu",
    )
    started = time.perf_counter()
    model.learn(decisions)
    seconds, done = time.perf_counter() - started, model.num_timesteps
    print(f"{done} decisions in {seconds:.0f} s: {done / seconds:.0f} a second")
    return model


def play(model: MaskablePPO, seed: int = 1) -> float:
    """What the pair gets in one deal against random players, at a Gymnasium table."""
    env = gymnasium.make("trysim/Semerik-v0", opponents="random", seat="pair", **OPTIONS)
    observation, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        mask = env.unwrapped.action_masks()
        action, _ = model.predict(observation, action_masks=mask, deterministic=True)
        observation, reward, over, _, _ = env.step(action)
        total += float(reward)
    return total


def main(decisions: int = 300_000, deals: int = 1000, out: str | Path = "runs/sb3") -> Pair:
    """Train a pair and measure it."""
    torch.set_num_threads(1)
    model = train(decisions)
    model.save(out)
    print(f"one deal against random players: {play(model):+.0f}")
    agents = [f"sb3:{out}.zip", "random"]
    return compare("semerik", agents, deals, seed=1, options=OPTIONS, workers=1).pairs[0]


if __name__ == "__main__":
    pair = main()
    print(f"{pair.a} over {pair.b}: {pair.mean:+.2f} points a deal, {pair.ci95}")
