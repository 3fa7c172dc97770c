"""Training: one readable file per algorithm, each a function `train(config, out) -> Result`."""

import sys
from pathlib import Path

__all__ = ["ALGORITHMS", "run"]

ALGORITHMS = ("sb3",)


def run(config_path: str, overrides: list[str], out: Path | None) -> int:
    """Train as a YAML file says, with `--key value` overrides; returns the exit status."""
    from trysim.train.config import config_file, load_config
    from trysim.train.sb3 import SB3Config, TrainingStopped, train

    path = config_file(config_path)
    config = load_config(SB3Config, path, overrides)
    try:
        result = train(config, out or Path("runs") / f"{config.game}-{path.stem}")
    except TrainingStopped as stop:
        print(f"trysim: {stop}", file=sys.stderr)
        return 1
    print(f"policy         {result.policy}")
    print(f"learning curve {result.curve}")
    options = "".join(f" --option {name}={value}" for name, value in config.options.items())
    agents = f"--agents policy:{result.policy} greedy"
    print(f"play it with   trysim arena {config.game} {agents}{options} --deals 1000 --seed 1")
    return 0
