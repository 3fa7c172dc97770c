"""Three traditional trick-taking games as fast, exact multi-agent environments.

`trysim.envs` holds the environments, `trysim.agents` the agents, `trysim.arena` the evaluation and
`trysim.train` the training; each is imported when it is first used.
"""

import importlib
from types import ModuleType

__version__ = "0.1.0"

_PARTS = ("envs", "agents", "arena", "train")


def __getattr__(name: str) -> ModuleType:
    if name in _PARTS:
        return importlib.import_module(f"trysim.{name}")
    raise AttributeError(f"module 'trysim' has no attribute {name!r}")
