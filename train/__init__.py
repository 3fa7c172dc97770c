"""Training: one readable file per algorithm, each a function `train(config, out) -> Result`."""

import importlib
import sys
from pathlib import Path
from typing import Any

__all__ = ["ALGORITHMS", "run"]

ALGORITHMS = ("ppo", "dmc", "imitate", "sb3", "rllib")


def run(config_path: str, overrides: list[str], out: Path | None, resume: bool = False) -> int:
    """Train as a YAML file says, with `--key value` overrides; returns the exit status."""
    from trysim.train.config import config_file, load_config
    from trysim.train.watch import TrainingStopped

    path = config_file(config_path)
    module = _algorithm(path)
    config = load_config(module.CONFIG, path, overrides)
    out = out or Path("runs") / f"{config.game}-{path.stem}"
    try:
        result = module.train(config, out, resume)
    except TrainingStopped as stop:
        print(f"trysim: {stop}", file=sys.stderr)
        return 1
    print(f"policy         {result.policy}")
    print(f"learning curve {result.curve}")
    options = "".join(
        f" --option {name}={value}" for name, value in config.options_to_evaluate().items()
    )
    agents = f"--agents policy:{result.policy} greedy"
    print(f"play it with   trysim arena {config.game} {agents}{options} --deals 1000 --seed 1")
    return 0


def _algorithm(path: Path) -> Any:
    """The module of the algorithm that a configuration names."""
    from trysim.arena.report import check_installed
    from trysim.envs.games import BadInput
    from trysim.train.config import read_yaml

    name = read_yaml(path).get("algorithm", "none is named")
    if name not in ALGORITHMS:
        raise BadInput(f"{path}: algorithm: {name}; allowed are {', '.join(ALGORITHMS)}")
    if name == "rllib":
        check_installed("rllib", "ray", extra="ray")
    return importlib.import_module(f"trysim.train.{name}")
