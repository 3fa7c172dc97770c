"""Two agents and a random player at a PettingZoo table.

python examples/pettingzoo_loop.py
"""

import numpy as np

from trysim.agents import Player, make_agent
from trysim.envs import semnadtsat_v0


def main(seed: int = 1) -> dict[str, float]:
    """Play a deal; what every agent got."""
    env = semnadtsat_v0.env(num_players=3)
    players = {
        "player_0": Player(make_agent("pimc:worlds=50", "semnadtsat"), seed),
        "player_1": Player(make_agent("expert", "semnadtsat"), seed),
    }
    rng, rewards = np.random.default_rng(seed), {}
    env.reset(seed=seed)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        if termination or truncation:
            rewards[agent], action = reward, None
        elif agent in players:
            action = players[agent](env)
        else:  # a player of one's own: here any legal action
            action = rng.choice(np.flatnonzero(observation["action_mask"]))
        env.step(action)
    return rewards


if __name__ == "__main__":
    for agent, reward in main().items():
        print(f"{agent}: {reward:+.2f}")
