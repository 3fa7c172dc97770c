"""Measure PPO with tables on Ray's workers, simulate many more, write `docs/results/scale.*`.

`python docs/scale.py` needs the extra `ray` and a machine with nothing else to do; it takes some
minutes. What a bigger cluster would give is worked out from the times and sizes measured here.
"""

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ladder import cpu

from trysim.arena.report import versions
from trysim.train.ppo import PPO, PPOConfig
from trysim.train.ray_ppo import RayPPO, packed, unpack

CONFIG: dict[str, Any] = {
    "options": {"horizon": "deal"}, "network": "mlp", "hidden": [256, 256], "batch_size": 4096,
    "n_tables": 1024, "n_steps": 16, "threads": 1, "loggers": [],
}  # fmt: skip
CORES, GPUS = (2, 10, 100, 1000), (0, 1, 8)
NETWORK = 10e9 / 8  # bytes a second into the learner's machine
LATENCY = 1e-3  # seconds to ask a worker and to be answered
JITTER = 0.1  # spread of workers' times, as a share
GPU_STEP, GPU_DECISIONS = 2e-3, 2e6  # seconds an update takes at least; decisions a second beyond
N_SIMULATED = 200  # iterations


@dataclass(frozen=True)
class Measured:
    """Seconds a decision takes on one core to be played, packed, unpacked and learned; bytes."""

    play: float
    pack: float
    unpack: float
    learn: float
    bytes_a_decision: float
    bytes_of_weights: float


@dataclass(frozen=True)
class Run:
    """Decisions a second with so many workers here, and the shares of playing and learning."""

    workers: int
    per_second: float
    playing: float
    learning: float


def timed(do: Any, n: int = 6) -> float:
    """Seconds a call takes, the first one not counted."""
    do()
    started = time.perf_counter()
    for _ in range(n):
        do()
    return (time.perf_counter() - started) / n


def measure() -> Measured:
    """Everything on one core of this machine."""
    ppo = PPO(PPOConfig(**CONFIG))
    n = ppo.config.n_steps * ppo.config.n_tables
    played = packed(ppo.rollout, False)
    weights = [t for name, t in ppo.learner.state_dict().items() if not name.startswith("mean")]
    return Measured(
        play=timed(ppo.play) / n,
        pack=timed(lambda: packed(ppo.rollout, False)) / n,
        unpack=timed(lambda: unpack(played, ppo.rollout, slice(None))) / n,
        learn=timed(ppo.learn) / n,
        bytes_a_decision=sum(array.nbytes for array in played.values()) / n,
        bytes_of_weights=sum(tensor.nbytes for tensor in weights),
    )


def run(workers: int, n_iterations: int = 12) -> Run:
    """Train here for some iterations; without workers all in this process."""
    config = PPOConfig(**CONFIG, ray="local" if workers else "", workers=workers)
    ppo: PPO = RayPPO(config) if workers else PPO(config)
    for _ in range(3):
        ppo.iterate()
    playing = learning = 0.0
    for _ in range(n_iterations):
        started = time.perf_counter()
        ppo.play()
        between = time.perf_counter()
        ppo.learn()
        playing += between - started
        learning += time.perf_counter() - between
    if isinstance(ppo, RayPPO):
        ppo.close()
    seconds = playing + learning
    n = n_iterations * config.n_steps * config.n_tables
    return Run(workers, n / seconds, playing / seconds, learning / seconds)


def simulate(at: Measured, cores: int, gpus: int) -> tuple[float, dict[str, float]]:
    """Decisions a second on a cluster, and the shares of what they take.

    One core learns, the others play 64 tables each and are waited for; with GPUs, among which a
    batch is shared out, the core feeds them.
    """
    rng, workers = np.random.default_rng(0), max(cores - 1, 1)
    n_each = 64 * CONFIG["n_steps"]
    n = workers * n_each
    spread = 1 + JITTER * np.abs(rng.standard_normal((N_SIMULATED, workers)))
    playing = float((spread * n_each * (at.play + at.pack)).max(1).mean())
    moving = (n * at.bytes_a_decision + workers * at.bytes_of_weights) / NETWORK + LATENCY
    learning = n * at.learn
    if gpus:
        n_updates = max(n / (gpus * CONFIG["batch_size"]), 1)
        learning = n_updates * GPU_STEP + n / (gpus * GPU_DECISIONS)
    parts = {
        "playing": playing, "moving": moving, "unpacking": n * at.unpack, "learning": learning,
    }  # fmt: skip
    seconds = sum(parts.values())
    return n / seconds, {name: part / seconds for name, part in parts.items()}


def page(at: Measured, runs: list[Run]) -> str:
    """The page of results."""
    lines = [
        "# Throughput on a cluster",
        "",
        "Made by `python docs/scale.py`; do not edit. Семерик in single deals, two layers of 256.",
        "",
        "## Measured here",
        "",
        "| workers | decisions/s | playing | learning |",
        "|---|---|---|---|",
        *(
            f"| {run.workers or 'none, one process'} | {run.per_second:,.0f} | {run.playing:.0%} | "
            f"{run.learning:.0%} |"
            for run in runs
        ),
        "",
        f"On one core a decision takes {at.play * 1e6:.1f} µs to be played, {at.pack * 1e6:.1f} to "
        f"be packed, {at.unpack * 1e6:.1f} to be unpacked, {at.learn * 1e6:.1f} to be learned. It "
        f"is {at.bytes_a_decision:.0f} bytes on its way; the weights are "
        f"{at.bytes_of_weights / 1e6:.1f} MB, sent to every worker at each iteration.",
        "",
        "## Simulated",
        "",
        f"Assumed: {NETWORK * 8 / 1e9:.0f} Gbit/s into the learner's machine, workers' times "
        f"{JITTER:.0%} apart, an update on a GPU at least {GPU_STEP * 1e3:.0f} ms, one GPU "
        f"{GPU_DECISIONS / 1e6:.0f} million decisions a second.",
        "",
        "| cores | GPUs | decisions/s | playing | moving | unpacking | learning |",
        "|---|---|---|---|---|---|---|",
    ]
    for gpus in GPUS:
        for cores in CORES:
            rate, parts = simulate(at, cores, gpus)
            shares = " | ".join(f"{share:.0%}" for share in parts.values())
            lines.append(f"| {cores} | {gpus} | {rate:,.0f} | {shares} |")
    lines += [
        "",
        "## How it was made",
        "",
        f"- machine {cpu()}, {os.cpu_count()} cores",
        *(f"- {name} {version}" for name, version in versions(("numpy", "torch", "ray")).items()),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, simulate, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    at = measure()
    runs = [run(workers) for workers in arguments.workers]
    results = Path(__file__).parent / "results"
    (results / "scale.md").write_text(page(at, runs), encoding="utf-8")
    found = {"measured": asdict(at), "runs": [asdict(each) for each in runs]}
    (results / "scale.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
