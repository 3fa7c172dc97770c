"""RLlib's PPO on its new API stack: one policy in all four seats of Семерик.

python examples/rllib_ppo.py

`RLlibEnv` is the environment, `PolicyModule` the network with its mask; everything else is RLlib.
`trysim train configs/semerik/rllib.yaml` does the same with evaluations, logs and a learning curve.
"""

import math
import time
from pathlib import Path

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from trysim.agents.policy import save_policy
from trysim.arena import Pair, compare
from trysim.envs.games import game_named
from trysim.envs.rllib import RLlibEnv
from trysim.train.rllib import PolicyModule, decisions_of, policy_of

OPTIONS = {"horizon": "deal"}  # every deal by itself
NETWORK = {"network": "mlp", "hidden": [128, 128], "activation": "relu"}


def make_config(batch: int) -> PPOConfig:
    """PPO of whole deals, for one policy named `policy`."""
    env = {"game": "semerik", "options": OPTIONS, "hands": True, "reward_scale": 0.2}
    module = RLModuleSpec(PolicyModule, model_config={"game": "semerik", **NETWORK})
    return (
        PPOConfig()
        .environment(RLlibEnv, env_config=env, disable_env_checking=True)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=16, batch_mode="complete_episodes")
        .multi_agent(
            policies={"policy"},
            policy_mapping_fn=lambda agent, episode, **more: "policy",
            count_steps_by="agent_steps",
        )
        .rl_module(rl_module_spec=module)
        .training(
            lr=1e-3, gamma=1.0, lambda_=0.95, entropy_coeff=0.01, use_kl_loss=False,
            vf_clip_param=math.inf, grad_clip=0.5, train_batch_size_per_learner=batch,
            minibatch_size=min(batch, 512), num_epochs=4,
        )
        .debugging(seed=1, log_level="ERROR")
    )  # fmt: skip


def main(decisions: int = 60_000, deals: int = 1000, out: Path = Path("runs/rllib_ppo")) -> Pair:
    """Learn from so many decisions; the value of a deal over `random`."""
    ray.init(include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    game, made = game_named("semerik"), 0
    algorithm = make_config(min(4096, decisions)).build_algo()
    started = time.perf_counter()
    while made < decisions:
        made = decisions_of(algorithm.train())
    seconds = time.perf_counter() - started
    print(f"{made} decisions in {seconds:.0f} s: {made / seconds:.0f} a second")
    net = policy_of(algorithm)
    algorithm.stop()
    ray.shutdown()
    save_policy(out, game, "mlp", net, {"library": f"ray {ray.__version__}", "decisions": made})
    return compare("semerik", [f"policy:{out}", "random"], deals, 1, OPTIONS, workers=1).pairs[0]


if __name__ == "__main__":
    pair = main()
    print(f"over random: {pair.mean:+.2f} points a deal, 95 % interval {pair.ci95}")
