"""TorchRL's PettingZoo wrapper: PPO with one network in all four seats of Семерик.

python examples/torchrl_ppo.py

The wrapper shows all seats at every step: `mask` tells who acts, and `action_mask` what that seat
may do (for the others it is all true, and their actions are ignored). So the critic can follow
every seat through all steps, but only what the acting seat decided is to be learned. One table at a
time: the wrapper makes a few hundred steps a second.
"""

import time
from pathlib import Path

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import PettingZooWrapper, RewardScaling, TransformedEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from trysim.agents.networks import Mlp, linear
from trysim.agents.policy import save_policy
from trysim.arena import Pair, compare
from trysim.envs import semerik_v0
from trysim.envs.games import Game, game_named

OPTIONS = {"horizon": "deal"}  # every deal by itself
SEATS = {"seats": ["player_0", "player_1", "player_2", "player_3"]}  # one group: they are alike
SEEN = ("seats", "observation", "observation")
STEPS = 1024  # decisions between two updates


def make_env(seed: int) -> TransformedEnv:
    """The table; rewards, a few points a deal, are scaled to about 1."""
    table = PettingZooWrapper(
        semerik_v0.raw_env(**OPTIONS), use_mask=True, group_map=SEATS, seed=seed
    )
    return TransformedEnv(table, RewardScaling(0, 0.2, in_keys=[("seats", "reward")]))


def make_actor(net: nn.Module) -> ProbabilisticActor:
    """The policy: illegal actions have no probability."""
    return ProbabilisticActor(
        TensorDictModule(net, in_keys=[SEEN], out_keys=[("seats", "logits")]),
        in_keys={"logits": ("seats", "logits"), "mask": ("seats", "action_mask")},
        out_keys=[("seats", "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=("seats", "log_prob"),
    )


def make_critic(game: Game) -> ValueOperator:
    """What is still to come for a seat, of what it sees."""

    class Critic(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            n = game.layout.size
            self.layers = nn.Sequential(linear(n, 128), nn.ReLU(), linear(128, 1, gain=1.0))

        def forward(self, seen: torch.Tensor) -> torch.Tensor:
            return self.layers(seen.float())

    return ValueOperator(Critic(), in_keys=[SEEN], out_keys=[("seats", "state_value")])


def make_loss(actor: ProbabilisticActor, critic: ValueOperator) -> ClipPPOLoss:
    """PPO's loss, told where everything stands."""
    loss = ClipPPOLoss(
        actor, critic, entropy_coeff=0.01, critic_coeff=0.5, normalize_advantage=True
    )
    loss.set_keys(
        action=("seats", "action"),
        sample_log_prob=("seats", "log_prob"),
        value=("seats", "state_value"),
        advantage=("seats", "advantage"),
        value_target=("seats", "value_target"),
    )
    return loss


def make_advantages(critic: ValueOperator) -> GAE:
    """Advantages of every seat through all steps, its own and the others'."""
    gae = GAE(gamma=1.0, lmbda=0.98, value_network=critic, time_dim=0)
    gae.set_keys(
        reward=("seats", "reward"),
        done=("seats", "done"),
        terminated=("seats", "terminated"),
        value=("seats", "state_value"),
        advantage=("seats", "advantage"),
        value_target=("seats", "value_target"),
    )
    return gae


def decisions_of(played: TensorDict) -> TensorDict:
    """What the acting seats saw and did, one row a decision."""
    seats = played["seats"][played["seats", "mask"]]
    return TensorDict({"seats": seats}, batch_size=seats.batch_size)


def train(decisions: int, seed: int = 1) -> Mlp:
    """Play and learn in turns; the policy's network."""
    torch.manual_seed(seed)
    game = game_named("semerik")
    net, critic = Mlp(game, [128], "relu"), make_critic(game)
    actor = make_actor(net)
    loss, estimate = make_loss(actor, critic), make_advantages(critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    steps = min(STEPS, decisions)
    collector = Collector(
        make_env(seed), actor, frames_per_batch=steps, total_frames=decisions // steps * steps
    )
    started = time.perf_counter()
    for played in collector:
        with torch.no_grad():
            estimate(played)
        flat = decisions_of(played)
        for _ in range(4):
            for rows in torch.randperm(len(flat)).split(256):
                losses = loss(flat[rows])
                optimizer.zero_grad()
                sum(value for name, value in losses.items() if name.startswith("loss_")).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
    seconds = time.perf_counter() - started
    collector.shutdown()
    print(f"{decisions} decisions in {seconds:.0f} s: {decisions / seconds:.0f} a second")
    return net


def main(decisions: int = 8_192, deals: int = 1000, out: str | Path = "runs/torchrl") -> Pair:
    """Train a pair and measure it; the policy is then `policy:runs/torchrl` everywhere."""
    torch.set_num_threads(1)
    save_policy(out, game_named("semerik"), "mlp", train(decisions), {"decisions": decisions})
    agents = [f"policy:{out}", "random"]
    return compare("semerik", agents, deals, seed=1, options=OPTIONS, workers=1).pairs[0]


if __name__ == "__main__":
    pair = main()
    print(f"{pair.a} over {pair.b}: {pair.mean:+.2f} points a deal, {pair.ci95}")
