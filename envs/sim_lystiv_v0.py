"""Сім листів as a PettingZoo environment. Rules and choices: `rules/sim_lystiv.py`.

Version history
- v0: first release.
"""

from typing import Any

from trysim.envs.aec import TrickEnv, wrapped


def raw_env(**kwargs: Any) -> TrickEnv:
    """The bare environment: options of the game, `render_mode` and `observation` as keywords."""
    return TrickEnv("sim_lystiv", **kwargs)


def env(**kwargs: Any) -> Any:
    """The environment in PettingZoo's customary wrappers; keywords as for `raw_env`."""
    return wrapped(raw_env(**kwargs))
