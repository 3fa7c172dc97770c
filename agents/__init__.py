"""Agents by name: `make_agent("greedy", game)` gives anything that can sit at a table.

A spec is a name, then what it needs: `random`, `greedy`, `expert`, `policy:semerik`,
`sb3:model.zip`, `policy:runs/pair,mode=sample`, `team:policy:semerik+expert`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trysim.agents.player import Player, load_own
from trysim.agents.rule_players import RulePlayer
from trysim.agents.search.agents import make_ismcts, make_oracle, make_pimc
from trysim.agents.team import make_team
from trysim.envs.decisions import Agent, Decisions
from trysim.envs.games import BadInput, Game, game_named

__all__ = ["SPECS", "Agent", "Decisions", "Player", "Spec", "make_agent"]


@dataclass(frozen=True)
class Spec:
    """A kind of agent: how its spec is written, what it is, and how it is made."""

    usage: str
    meaning: str
    make: Callable[[Game, str, Mapping[str, str]], Agent]
    needs_argument: bool = False
    settings: tuple[str, ...] = ()


def _policy(game: Game, argument: str, settings: Mapping[str, str]) -> Agent:
    from trysim.agents.policy import load_policy  # torch, only where it is needed

    return load_policy(game, argument, settings.get("mode", "best"))


def _search(game: Game, settings: Mapping[str, str]) -> Agent:
    from trysim.agents.search.with_policy import make_search  # torch, only if needed

    return make_search(game, settings)


def _sb3(game: Game, argument: str, settings: Mapping[str, str]) -> Agent:
    from trysim.agents.sb3 import load_sb3

    return load_sb3(game, argument, settings.get("mode", "best"))


def _rllib(game: Game, argument: str, settings: Mapping[str, str]) -> Agent:
    from trysim.agents.policy import load_rllib

    return load_rllib(game, argument, settings.get("mode", "best"))


def _openspiel(game: Game, argument: str, settings: Mapping[str, str]) -> Agent:
    try:
        from trysim.agents.openspiel import make_openspiel  # the extra `openspiel`
    except ImportError as error:
        raise BadInput(
            f'agent openspiel:{argument}: {error}; pip install "trysim[openspiel]"'
        ) from None
    return make_openspiel(game, argument, settings)


SPECS = {
    "random": Spec("random", "any legal action", lambda game, a, s: RulePlayer("random", game)),
    "greedy": Spec("greedy", "a simple rule player", lambda game, a, s: RulePlayer("greedy", game)),
    "expert": Spec("expert", "a strong rule player", lambda game, a, s: RulePlayer("expert", game)),
    "pimc": Spec(
        "pimc[:worlds=N,rollout=AGENT,endgame=K,ms=T,silence=yes]",
        "tries every action in N worlds that agree with what it knows",
        lambda game, a, s: make_pimc(game, s, make_agent),
        settings=("worlds", "rollout", "endgame", "ms", "silence"),
    ),
    "ismcts": Spec(
        "ismcts[:iterations=N,rollout=PLAYER,ms=T,silence=yes]",
        "grows one tree over N worlds that agree with what it knows",
        lambda game, a, s: make_ismcts(game, s),
        settings=("iterations", "rollout", "ms", "silence"),
    ),
    "oracle": Spec(
        "oracle[:iterations=N,rollout=PLAYER,ms=T]",
        "a cheater who sees all hands, for measuring only",
        lambda game, a, s: make_oracle(game, s),
        settings=("iterations", "rollout", "ms"),
    ),
    "python": Spec(
        "python:MODULE:NAME or python:FILE.py:NAME",
        "an agent of one's own: what NAME(game) makes",
        lambda game, a, s: load_own(game, a),
        needs_argument=True,
    ),
    "policy": Spec(
        "policy:GAME or policy:DIR[,mode=best|sample]",
        "the learned policy that comes with the package, or one that `trysim train` saved",
        _policy,
        needs_argument=True,
        settings=("mode",),
    ),
    "search": Spec(
        "search:policy=GAME or search:policy=DIR[,worlds=N,weight=W,endgame=K,rollout=PLAYER]",
        "a learned policy and pimc, asked together",
        lambda game, a, s: _search(game, s),
        settings=("policy", "worlds", "weight", "endgame", "rollout"),
    ),
    "team": Spec(
        "team:AGENT+AGENT",
        "partners of two kinds, in Семерик",
        lambda game, a, s: make_team(game, f"team:{a}", make_agent),
        needs_argument=True,
    ),
    "sb3": Spec(
        "sb3:FILE.zip[,mode=best|sample]",
        "a model saved by stable-baselines3 (read without unpickling)",
        _sb3,
        needs_argument=True,
        settings=("mode",),
    ),
    "rllib": Spec(
        "rllib:DIR[,mode=best|sample]",
        "the policy of a training with `algorithm: rllib`",
        _rllib,
        needs_argument=True,
        settings=("mode",),
    ),
    "openspiel": Spec(
        "openspiel:random or openspiel:ismcts[,simulations=N,uct=C]",
        "a bot of OpenSpiel: any legal action, or its tree search with random play to the end",
        _openspiel,
        needs_argument=True,
        settings=("simulations", "uct"),
    ),
}


def make_agent(spec: str, game: Game | str) -> Agent:
    """The agent that `spec` names, for a game; BadInput, naming what there is, if it names none."""
    if not isinstance(spec, str):
        raise BadInput(f"an agent is named by a text such as 'greedy', not by {spec!r}")
    if isinstance(game, str):
        game = game_named(game)
    name, _, rest = spec.partition(":")
    kind = SPECS.get(name)
    if kind is None:
        known = ", ".join(kind.usage for kind in SPECS.values())
        raise BadInput(f"no agent {spec!r}: there are {known}")
    if name == "team":
        return make_team(game, spec, make_agent)
    argument, settings = _split(spec, rest, kind)
    return kind.make(game, argument, settings)


def _split(spec: str, rest: str, kind: Spec) -> tuple[str, dict[str, str]]:
    parts = [part for part in rest.split(",") if part]
    argument = parts.pop(0) if parts and "=" not in parts[0] else ""
    if bool(argument) != kind.needs_argument:
        raise BadInput(f"agent {spec!r}: write {kind.usage}")
    settings = dict(part.partition("=")[::2] for part in parts)
    for name in settings:
        if name not in kind.settings:
            raise BadInput(f"agent {spec!r}: no setting {name!r}; write {kind.usage}")
    return argument, settings
