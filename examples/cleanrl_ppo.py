"""PPO in one file, in the manner of CleanRL: one network plays every seat of many tables.

python examples/cleanrl_ppo.py

The seats take turns, so what a seat decides and what it is paid stand at different steps:
advantages follow the decisions of each seat by themselves. `trysim/train/ppo.py` does the same with
a critic that sees all hands, compiled, and without forced moves.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from trysim.agents.networks import Mlp, linear
from trysim.agents.policy import save_policy
from trysim.arena import Pair, compare
from trysim.envs.batch import BatchEnv
from trysim.envs.games import Game, game_named

OPTIONS = {"horizon": "deal"}  # Семерик, every deal by itself


@dataclass(frozen=True)
class Args:
    """What to train, and how."""

    decisions: int = 500_000
    """Decisions in all, of all seats."""
    n_tables: int = 256
    """Tables played at once."""
    n_steps: int = 64
    """Decisions at each table between two updates."""
    batch_size: int = 2048
    """Decisions in a minibatch."""
    n_epochs: int = 2
    """Passes over the decisions at each update."""
    learning_rate: float = 1e-3
    """At the start; falls to nothing in a straight line."""
    gae_lambda: float = 0.95
    """Of the advantage estimate; there is no discount."""
    clip: float = 0.2
    """How far an update may move a probability."""
    entropy: float = 0.01
    """Weight of the entropy bonus."""
    reward_scale: float = 0.2
    """Makes rewards, a few points a deal, about 1."""
    seed: int = 1
    """Of the deals, the weights and the choices."""


class Agent(nn.Module):
    """A policy and a critic, both of what the seat to act sees."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.actor = Mlp(game, [128, 128], "relu")
        n = game.layout.size
        self.critic = nn.Sequential(
            linear(n, 128), nn.ReLU(), linear(128, 128), nn.ReLU(), linear(128, 1, gain=1.0)
        )

    def policy(self, seen: torch.Tensor, mask: torch.Tensor) -> torch.distributions.Categorical:
        """Probabilities of actions; an illegal one has none."""
        return torch.distributions.Categorical(
            logits=self.actor(seen).masked_fill(mask == 0, -torch.inf), validate_args=False
        )

    def value(self, seen: torch.Tensor) -> torch.Tensor:
        """What is still to come for the seat (N,)."""
        return self.critic(seen.float()).squeeze(1)


def entropy_of(policy: torch.distributions.Categorical) -> torch.Tensor:
    """The mean entropy: torch's own is not a number where a probability is 0."""
    return -(policy.probs * policy.logits.clamp(min=-1e9)).sum(1).mean()


# Play -------------------------------------------------------------------------------------------
def roll_out(env: BatchEnv, agent: Agent, n_steps: int) -> dict[str, torch.Tensor]:
    """`n_steps` decisions at every table; what was seen, done and paid, each (T, B, …)."""
    steps = []
    with torch.no_grad():
        for _ in range(n_steps):
            # the environment writes these arrays anew at every step
            seen, mask = torch.tensor(env.observation), torch.tensor(env.mask)
            policy, step = agent.policy(seen, mask), {"seat": torch.tensor(env.seat)}
            action = policy.sample()
            env.step(action.numpy())
            step |= {"seen": seen, "mask": mask, "action": action, "value": agent.value(seen)}
            step |= {"rewards": torch.tensor(env.rewards), "done": torch.tensor(env.done)}
            steps.append(step | {"log_prob": policy.log_prob(action)})
    return {name: torch.stack([step[name] for step in steps]) for name in steps[0]}


def advantages_of(played: dict[str, torch.Tensor], args: Args) -> tuple[torch.Tensor, torch.Tensor]:
    """Advantages (T, B) along each seat's own decisions, and whether they are known.

    Not known is what comes of a seat's last decision if its deal goes on after the roll-out.
    """
    n_steps, n_tables, n_seats = played["rewards"].shape
    paid, following, advantage = torch.zeros(3, n_tables, n_seats)  # since a seat's next decision
    is_known = torch.zeros(n_tables, n_seats, dtype=torch.bool)
    found, known = torch.zeros(n_steps, n_tables), torch.zeros(n_steps, n_tables, dtype=torch.bool)
    tables = torch.arange(n_tables)
    for t in reversed(range(n_steps)):
        done, mine = played["done"][t], (tables, played["seat"][t])
        for array in (paid, following, advantage):
            array[done] = 0
        is_known[done] = True
        paid += played["rewards"][t] * args.reward_scale
        surprise = paid[mine] + following[mine] - played["value"][t]
        known[t] = is_known[mine]
        advantage[mine] = (surprise + args.gae_lambda * advantage[mine]) * known[t]
        found[t] = advantage[mine]
        paid[mine], following[mine], is_known[mine] = 0, played["value"][t], True
    return found, known


# Learn ------------------------------------------------------------------------------------------
def update(
    agent: Agent, optimizer: torch.optim.Optimizer, played: dict[str, torch.Tensor], args: Args
) -> None:
    """Some passes over what has been played."""
    played["advantage"], known = advantages_of(played, args)
    played["return"] = played["advantage"] + played["value"]
    flat = {name: array[known] for name, array in played.items()}
    for _ in range(args.n_epochs):
        for rows in torch.randperm(len(flat["action"])).split(args.batch_size):
            loss = loss_of(agent, {name: array[rows] for name, array in flat.items()}, args)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def loss_of(agent: Agent, batch: dict[str, torch.Tensor], args: Args) -> torch.Tensor:
    """PPO's: the clipped policy loss, the critic's squared error, the entropy bonus."""
    policy = agent.policy(batch["seen"], batch["mask"])
    ratio = (policy.log_prob(batch["action"]) - batch["log_prob"]).exp()
    advantage = batch["advantage"]
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
    policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
    value_loss = (agent.value(batch["seen"]) - batch["return"]).square().mean()
    return policy_loss + 0.5 * value_loss - args.entropy * entropy_of(policy)


def train(args: Args) -> Agent:
    """Play and learn in turns."""
    torch.manual_seed(args.seed)
    env = BatchEnv("semerik", args.n_tables, OPTIONS)
    env.reset(seed=args.seed)
    agent = Agent(env.game)
    optimizer = torch.optim.Adam(agent.parameters(), eps=1e-5)
    n_updates = max(1, args.decisions // (args.n_tables * args.n_steps))
    started = time.perf_counter()
    for done in range(n_updates):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - done / n_updates)
        update(agent, optimizer, roll_out(env, agent, args.n_steps), args)
    seconds = time.perf_counter() - started
    decisions = n_updates * args.n_tables * args.n_steps
    print(f"{decisions} decisions in {seconds:.0f} s: {decisions / seconds:.0f} a second")
    return agent


def main(
    decisions: int = Args.decisions, deals: int = 1000, out: str | Path = "runs/cleanrl"
) -> Pair:
    """Train a pair and measure it; the policy is then `policy:runs/cleanrl` everywhere."""
    torch.set_num_threads(1)
    agent = train(Args(decisions=decisions))
    save_policy(out, game_named("semerik"), "mlp", agent.actor, {"decisions": decisions})
    agents = [f"policy:{out}", "random"]
    return compare("semerik", agents, deals, seed=1, options=OPTIONS, workers=1).pairs[0]


if __name__ == "__main__":
    pair = main()
    print(f"{pair.a} over {pair.b}: {pair.mean:+.2f} points a deal, {pair.ci95}")
