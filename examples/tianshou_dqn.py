"""Tianshou's PettingZoo wrapper: deep Monte Carlo in all four seats of Семерик.

python examples/tianshou_dqn.py

The wrapper stores what all seats are paid with the step that brought it, and a seat's next stored
step is another seat's. So an algorithm that looks one step ahead learns from a stranger's view (and
PPO, which adds up its own seat's steps only, misses what is paid at the end). Here `DQN` looks
further ahead than a deal is long: it learns what the deal paid to the seat in the end, and nothing
else. Whole deals are collected, so that no deal in the buffer lacks its end.
"""

import logging
import time
from pathlib import Path
from typing import Any

import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.utils.torch_utils import policy_within_training_step
from torch import nn

from trysim.agents.networks import Mlp
from trysim.agents.policy import save_policy
from trysim.arena import Pair, compare
from trysim.envs import semerik_v0
from trysim.envs.games import game_named

OPTIONS = {"horizon": "deal"}  # every deal by itself
logging.getLogger("tianshou").setLevel(logging.ERROR)  # a line for each collection otherwise
LONGER_THAN_A_DEAL = 64  # 40 cards and the declarations
N_TABLES = 64
KEPT = 20_000  # decisions in the buffer
N_UPDATES = 12  # after so many deals as there are tables


class Values(nn.Module):
    """What every action is worth, as Tianshou asks for it."""

    def __init__(self, net: Mlp) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        """Values (N, actions) and the state, which there is none of."""
        return self.net(torch.as_tensor(obs)), state


def make_table() -> PettingZooEnv:
    """One table."""
    return PettingZooEnv(semerik_v0.raw_env(**OPTIONS))


def make_algorithm(net: Mlp) -> MultiAgentOffPolicyAlgorithm:
    """One learner in all four seats. The policy sees to the mask, which stands beside `obs`."""
    table = make_table()
    policy = DiscreteQLearningPolicy(
        model=Values(net), action_space=table.action_space, eps_training=0.1
    )
    learner = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        n_step_return_horizon=LONGER_THAN_A_DEAL,
    )
    return MultiAgentOffPolicyAlgorithm(algorithms=[learner] * len(table.agents), env=table)


def train(decisions: int, seed: int = 1) -> Mlp:
    """Play and learn in turns; the network of values."""
    torch.manual_seed(seed)
    net = Mlp(game_named("semerik"), [128, 128], "relu")
    algorithm = make_algorithm(net)
    tables = DummyVectorEnv([make_table] * N_TABLES)
    buffer = VectorReplayBuffer(KEPT, N_TABLES)
    collector = Collector(algorithm, tables, buffer)
    tables.seed(seed)
    collector.reset()
    done, started = 0, time.perf_counter()
    while done < decisions:
        with policy_within_training_step(algorithm.policy):
            played = collector.collect(n_episode=N_TABLES)
            for _ in range(N_UPDATES):
                algorithm.update(buffer=buffer, sample_size=2048)
        done += played.n_collected_steps
    seconds = time.perf_counter() - started
    print(f"{done} decisions in {seconds:.0f} s: {done / seconds:.0f} a second")
    return net


def main(decisions: int = 40_000, deals: int = 1000, out: str | Path = "runs/tianshou") -> Pair:
    """Train a pair and measure it; the policy is then `policy:runs/tianshou` everywhere."""
    torch.set_num_threads(1)
    save_policy(out, game_named("semerik"), "mlp", train(decisions), {"decisions": decisions})
    agents = [f"policy:{out}", "random"]
    return compare("semerik", agents, deals, seed=1, options=OPTIONS, workers=1).pairs[0]


if __name__ == "__main__":
    pair = main()
    print(f"{pair.a} over {pair.b}: {pair.mean:+.2f} points a deal, {pair.ci95}")
