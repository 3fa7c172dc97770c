"""Self-play PPO whose tables are shared out among workers of a Ray cluster (extra `ray`).

    trysim train configs/semerik/ppo.yaml --ray local --workers 2 --out runs/team

A worker is a `PPO` that only plays: it is sent the weights, plays its share of the tables, and
sends back what was played, for the one learner. A worker that dies is begun anew by Ray, at new
tables, and does again what it was asked for.
"""

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from trysim.agents.networks import Network
from trysim.arena.ray_pool import connect
from trysim.train.checkpoint import part_of
from trysim.train.guide import SELF
from trysim.train.ppo import PPO, PPOConfig, Rollout

Arrays = dict[str, npt.NDArray[Any]]
Weights = Mapping[str, npt.NDArray[Any]]


class TableWorker:
    """A worker's share of the tables."""

    def __init__(self, config: PPOConfig, number: int) -> None:
        import ray

        self.is_anew = bool(ray.get_runtime_context().was_current_actor_reconstructed)
        luck = [int.from_bytes(os.urandom(7), "big")] if self.is_anew else []
        seed = np.random.SeedSequence([config.seed, number, *luck]).generate_state(1)[0]
        self._ppo = PPO(
            replace(
                config, seed=int(seed), n_tables=config.n_tables // config.workers, workers=0,
                threads=1, device="cpu", start="",
            )
        )  # fmt: skip

    def play(self, weights: Weights, snapshots: Sequence[Network], n_decisions: int) -> Arrays:
        """What was played with these weights, packed; `n_decisions` had been made before.

        `snapshots` are the past selves at the mixed tables.
        """
        ppo = self._ppo
        ppo.n_decisions = n_decisions
        ppo.learner.load_state_dict(
            {name: torch.from_numpy(array.copy()) for name, array in weights.items()}, strict=False
        )
        ppo.seat_snapshots([copy.deepcopy(net) for net in snapshots])  # Ray's are read-only
        is_guided = ppo.is_guided()
        ppo.play()
        played = {**packed(ppo.rollout, is_guided), "anew": np.array(self.is_anew)}
        self.is_anew = False  # told once
        return played

    def pid(self) -> int:
        """The worker's process."""
        return os.getpid()

    def state(self) -> Arrays:
        """Everything that `restore` needs."""
        tables = {name: tensor.numpy() for name, tensor in self._ppo.state_of_tables().items()}
        return {**tables, "random": self._ppo.random.get_state().numpy()}

    def restore(self, state: Arrays) -> None:
        """Go on as the worker did whose state this is."""
        tensors = {name: torch.from_numpy(array.copy()) for name, array in state.items()}
        self._ppo.random.set_state(tensors.pop("random"))
        self._ppo.restore_tables(tensors)


class RayPPO(PPO):
    """A training by PPO that is played by the workers of a cluster."""

    def __init__(self, config: PPOConfig) -> None:
        super().__init__(config, n_tables=1)
        self.rollout = Rollout.empty(self.game, config.n_steps, config.n_tables)
        connect(config.ray)
        import ray

        self._ray = ray
        actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(TableWorker)
        self.workers = [actor.remote(config, number) for number in range(config.workers)]
        self.n_anew = 0  # workers begun anew

    def iterate(self) -> dict[str, float]:
        """Let the workers play, then learn; figures that tell how it goes."""
        return {**super().iterate(), "workers_begun_anew": self.n_anew}

    def play(self) -> None:
        """Fill the rollout with what the workers play by the current policy."""
        weights = {
            name: tensor.detach().cpu().numpy()
            for name, tensor in self.learner.state_dict().items()
            if self.config.guide == SELF or not name.startswith("mean_actor.")
        }
        sent, snapshots = self._ray.put(weights), self._ray.put(self.snapshots)
        asked = [w.play.remote(sent, snapshots, self.n_decisions) for w in self.workers]
        share = self.config.n_tables // self.config.workers
        for number, played in enumerate(self._ray.get(asked)):
            self.n_anew += bool(played["anew"])
            unpack(played, self.rollout, slice(number * share, (number + 1) * share))
        self.n_decisions += self.config.n_steps * self.config.n_tables

    def seat_snapshots(self, snapshots: Sequence[Network]) -> None:
        """Nobody sits here: workers are sent them with the weights."""

    def state_of_tables(self) -> dict[str, torch.Tensor]:
        """Everything that `restore_tables` needs."""
        states = self._ray.get([worker.state.remote() for worker in self.workers])
        return {
            f"{number}.{name}": torch.from_numpy(array.copy())
            for number, state in enumerate(states)
            for name, array in state.items()
        }

    def restore_tables(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on at the tables whose state this is."""
        asked = []
        for number, worker in enumerate(self.workers):
            own = {name: tensor.numpy() for name, tensor in part_of(state, str(number)).items()}
            asked.append(worker.restore.remote(own))
        self._ray.get(asked)

    def close(self) -> None:
        """Let the workers go."""
        for worker in self.workers:
            self._ray.kill(worker)


# Between processes ------------------------------------------------------------------------------
def packed(rollout: Rollout, is_guided: bool) -> Arrays:
    """A rollout as few bytes: bits as bits, what the guide said only where there was one."""
    bits = {"observation": rollout.observation, "hidden": rollout.hidden, "mask": rollout.mask}
    arrays: Arrays = {name: np.packbits(tensor.numpy(), axis=-1) for name, tensor in bits.items()}
    arrays["action"] = rollout.action.numpy().astype(np.int16)
    arrays["log_probability"] = rollout.log_probability.numpy()
    arrays["value"] = rollout.value.numpy()
    arrays["seat"] = rollout.seat.astype(np.int8)
    arrays["rewards"], arrays["done"] = rollout.rewards, rollout.done
    if is_guided:
        arrays["worth"] = rollout.worth.numpy()
    return arrays


def unpack(arrays: Arrays, into: Rollout, tables: slice) -> None:
    """Write what some of the tables played."""
    for name in ("observation", "hidden", "mask"):
        room: torch.Tensor = getattr(into, name)
        bits = np.unpackbits(arrays[name], axis=-1, count=room.shape[-1])
        room[:, tables] = torch.from_numpy(bits).to(room.dtype)
    for name in ("action", "log_probability", "value"):
        room = getattr(into, name)
        room[:, tables] = torch.from_numpy(arrays[name].copy()).to(room.dtype)
    for name in ("seat", "rewards", "done"):
        getattr(into, name)[:, tables] = arrays[name]
    if "worth" in arrays:
        into.worth[:, tables] = torch.from_numpy(arrays["worth"].copy())
