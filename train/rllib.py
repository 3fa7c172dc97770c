"""PPO of RLlib, on its new API stack (extra `ray`): one policy for all seats.

    trysim train configs/semerik/rllib.yaml --total_decisions 500000 --out runs/rllib

Environments are `trysim.envs.rllib`, one process of Ray for each of the `env_runners`; the network
is one of `trysim.agents.networks` with a critic that sees all hands. The policy is kept as
safetensors, for `rllib:runs/rllib` as well as `policy:runs/rllib/policy`. RLlib's own checkpoints
are pickles: one is written for RLlib's tools at the end, none is ever read here.
"""

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig as RLlibPPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.inference_only_api import InferenceOnlyAPI
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule

from trysim.agents.networks import NETWORKS, Network
from trysim.agents.policy import save_policy
from trysim.arena.ray_pool import LOCAL, connect
from trysim.envs.games import BadInput, game_named
from trysim.envs.rllib import RLlibEnv
from trysim.train.config import save_config
from trysim.train.critics import CRITICS
from trysim.train.settings import LibraryPPOConfig, NetworkConfig
from trysim.train.watch import (
    Result,
    Watch,
    check_finite,
    check_free,
    story,
)

LIBRARIES = ("numpy", "torch", "ray", "gymnasium")
POLICY = "policy"  # the one module, which decides for everybody
CHECKPOINT = "rllib"  # RLlib's own, in the folder of a training


@dataclass(frozen=True)
class RLlibConfig(LibraryPPOConfig, NetworkConfig):
    """What to train, and how."""

    algorithm: str = "rllib"
    """rllib: this one."""
    total_decisions: int = 2_000_000
    """Decisions in all."""
    ray: str = LOCAL
    """The cluster's address: local begins one on this machine, auto finds the running one."""
    env_runners: int = 2
    """Processes that play; 0 plays in this one."""
    envs_per_runner: int = 16
    """Tables of each."""
    learners: int = 0
    """Processes that learn; 0 learns in this one."""
    gpus_per_learner: float = 0
    """GPUs of each learner."""
    train_batch: int = 16_384
    """Decisions between two updates, of each learner."""

    @property
    def n_ray_cores(self) -> int:
        """Cores of the cluster `ray` that are asked for."""
        return self.env_runners + self.learners + self.evaluators

    def check(self) -> None:
        """BadInput, naming field and allowed values, if this cannot be trained."""
        super().check()
        self.check_known("network", CRITICS)
        self.check_least(
            {
                "env_runners": 0, "envs_per_runner": 1, "learners": 0, "gpus_per_learner": 0,
                "train_batch": 2,
            }
        )  # fmt: skip


CONFIG = RLlibConfig


class PolicyModule(TorchRLModule, InferenceOnlyAPI, ValueFunctionAPI):  # type: ignore[misc]
    """Policy and critic for RLlib; illegal actions get no probability.

    `model_config`: `game`, `network`, `hidden`, `activation`.
    """

    def setup(self) -> None:
        """Make the networks; those who only play need no critic."""
        about: Mapping[str, Any] = self.model_config
        sizes = game_named(about["game"]), about["hidden"], about["activation"]
        self.actor = NETWORKS[about["network"]](*sizes)
        if not self.inference_only:
            self.critic = CRITICS[about["network"]](*sizes)

    def get_non_inference_attributes(self) -> list[str]:
        """What is left out where nothing is learned."""
        return ["critic"]

    def _forward(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        logits = self.actor(seen["observations"])
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen["action_mask"] == 0, -1e9)}

    def compute_values(self, batch: Mapping[str, Any], embeddings: Any = None) -> torch.Tensor:
        """What the critic expects to be paid (N,)."""
        seen = batch[Columns.OBS]
        said: torch.Tensor = self.critic(self.actor.first(seen["observations"]), seen["hands"])
        return said.squeeze(1)


def algorithm_config(config: RLlibConfig) -> RLlibPPOConfig:
    """RLlib's own configuration, to change or to give to Tune."""
    game = game_named(config.game)
    env_config = {
        "game": game.name,
        "options": config.options,
        "hands": True,
        "reward_scale": config.reward_scale,
    }
    model_config = {
        "game": game.name,
        "network": config.network,
        "hidden": list(config.hidden),
        "activation": config.activation,
    }
    schedule = [[0, config.learning_rate], [config.total_decisions, config.learning_rate / 10]]
    return (
        RLlibPPOConfig()
        .environment(
            RLlibEnv,
            env_config=env_config,
            disable_env_checking=True,  # it tries actions without looking at masks
        )
        .env_runners(
            num_env_runners=config.env_runners,
            num_envs_per_env_runner=config.envs_per_runner,
            batch_mode="complete_episodes",  # rewards come at the end of deals
        )
        .learners(num_learners=config.learners, num_gpus_per_learner=config.gpus_per_learner)
        .multi_agent(policies={POLICY}, policy_mapping_fn=_policy_of, count_steps_by="agent_steps")
        .rl_module(rl_module_spec=RLModuleSpec(PolicyModule, model_config=model_config))
        .training(
            lr=schedule,
            gamma=1.0,
            lambda_=config.gae_lambda,
            clip_param=config.clip_range,
            vf_clip_param=math.inf,
            vf_loss_coeff=0.5,
            entropy_coeff=config.entropy,
            use_kl_loss=False,
            grad_clip=1.0,
            train_batch_size_per_learner=config.train_batch,
            minibatch_size=config.batch_size,
            num_epochs=config.n_epochs,
        )
        .fault_tolerance(restart_failed_env_runners=True)
        .debugging(seed=config.seed, log_level="ERROR")
    )


def _policy_of(agent: str, episode: Any, **kwargs: Any) -> str:
    return POLICY


def train(
    config: RLlibConfig, out: Path, resume: bool = False, stop_after: float = math.inf
) -> Result:
    """Train a policy; everything about it lies in `out`.

    `config.yaml`; `policy/` for `policy:` specs; `log/`: CSV and TensorBoard; `evaluations.csv`;
    `learning_curve.png`; `rllib/`: RLlib's own checkpoint. After `stop_after` decisions it stops as
    if interrupted.

    Raises BadInput if the configuration is wrong, `out` holds a training already, there is no
    cluster, or it is to `resume` (RLlib's checkpoints are pickles, which are not read here);
    TrainingStopped if the weights are no numbers.
    """
    config.check()
    if resume:
        raise BadInput("--resume: only trainings with `algorithm: ppo` or `dmc` can go on")
    check_free(out)
    connect(config.ray)
    watch = Watch(config, out)
    save_config(config, out / "config.yaml")
    algorithm = algorithm_config(config).build_algo()
    n_decisions = 0

    def save() -> None:
        about = story("rllib", config, n_decisions, watch, LIBRARIES)
        save_policy(
            out / "policy", game_named(config.game), config.network, policy_of(algorithm), about
        )

    end = min(config.total_decisions, stop_after)
    try:
        with watch:
            save()
            while n_decisions < end and watch.has_time():
                found = algorithm.train()
                figures = figures_of(found)
                check_finite(figures, n_decisions, out)
                before, n_decisions = n_decisions, decisions_of(found)
                watch.note(n_decisions, figures)
                if n_decisions // config.evaluate_every > before // config.evaluate_every:
                    save()
                    watch.evaluate(n_decisions)
            save()
            if watch.last_evaluated < n_decisions:
                watch.evaluate(n_decisions)
        algorithm.save_to_path(str((out / CHECKPOINT).resolve()))
    finally:
        algorithm.stop()
    return watch.result(n_decisions)


def policy_of(algorithm: Algorithm) -> Network:
    """A copy of the policy that RLlib has trained, on the CPU."""
    weights = algorithm.learner_group.get_weights()[POLICY]
    spec = algorithm.get_module(POLICY).model_config
    net = NETWORKS[spec["network"]](game_named(spec["game"]), spec["hidden"], spec["activation"])
    own = {name.removeprefix("actor."): torch.as_tensor(value) for name, value in weights.items()
           if name.startswith("actor.")}  # fmt: skip
    net.load_state_dict(copy.deepcopy(own))
    return net.cpu()


def decisions_of(found: Mapping[str, Any]) -> int:
    """How many decisions an iteration's results say have been made in all."""
    return int(found["env_runners"]["num_env_steps_sampled_lifetime"])


def figures_of(found: Mapping[str, Any]) -> dict[str, float]:
    """What an iteration's results say of learning."""
    learned = found["learners"][POLICY]
    names = {
        "policy_loss": "policy_loss", "vf_loss": "value_loss", "entropy": "entropy",
        "vf_explained_var": "explained",
    }  # fmt: skip
    return {ours: float(learned[theirs]) for theirs, ours in names.items()}
