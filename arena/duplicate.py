"""Which agent is stronger: the same deals with every seating.

Deal k of a comparison is the match that table seed (seed, k) gives; every seating of a pair of
agents plays it, and every seat draws from the same random stream each time. So luck of the cards
falls on both alike, and one deal gives one number:

    value of a deal for A against B = mean over its tables of
                                      (mean reward of A's seats - mean reward of the table)

Семерик has two seatings: the pairs, and the pairs changed over. The other games have 2n: A alone
against B in every seat, and B alone against A (with two players that is the same).

A control variate is the value of the same deals for two cheap agents, its expectation estimated
from deals apart. What it explains of a pair's values is taken out of their mean.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

import trysim.agents
from trysim.agents import make_agent
from trysim.arena.jobs import Job, Line, Plan
from trysim.arena.journal import Journal, opened_journal
from trysim.arena.pool import n_workers
from trysim.arena.report import progress as progress_bar
from trysim.arena.report import versions
from trysim.arena.results import Comparison, pair_of, ranking_of
from trysim.arena.statistics import Control, Floats, linked
from trysim.arena.workers import Arena, played
from trysim.envs.games import BadInput, Game, game_named
from trysim.envs.rules.jit import source_digest

CHEAP_AGENTS = ("greedy", "random")  # the pair of a control variate, if no other is named
N_REPEATS = 4  # of each deal by the control's agents: their own luck averages out
N_APART = 8  # deals apart for each deal: the expectation is 8 times as sure as the mean
_MOST_DEALS = 2**27  # so that deals apart stay apart

Names = tuple[str, str]
Numbers = dict[Line, Floats]


def compare(
    game: str,
    agents: Sequence[str],
    deals: int,
    seed: int,
    options: Mapping[str, Any] | None = None,
    workers: int | None = None,
    progress: bool = True,
    *,
    against: Sequence[str] = (),
    pairs: Literal["all", "chain"] | Sequence[Names] = "all",
    control: bool | Names = False,
    rating: bool = False,
    out: str | Path | None = None,
    ray: str | None = None,
) -> Comparison:
    """Compare `agents` (specs) over `deals` duplicate deals.

    Which pairs play: every two of the agents; with `against`, each agent against each of those;
    with `pairs`, a "chain" of neighbours or the pairs named. `control` adds means adjusted by a
    control variate: the values for `CHEAP_AGENTS` or for the two agents named. `rating` adds
    OpenSkill ratings. With `out`, a folder, everything is written there as well, ratings included,
    and what an earlier call played there is not played again.

    The result is the same for any number of `workers` (processes; all cores by default), and for
    those of the Ray cluster whose address `ray` is ("local" begins one here). More than one need a
    main module that may be imported again: scripts call this under `if __name__ == "__main__":`.
    Raises BadInput for anything it cannot do.
    """
    match = game_named(game)
    complete = match.complete_options(options or {})
    _check(deals, seed, workers)
    names, chosen = _chosen(match, agents, against, pairs)
    cheap = _control_pair(match, control)
    _check_packages(rating, out)
    arena = Arena(match, complete, [*dict.fromkeys((*names, *(cheap or ())))], seed)
    controls = _control_lines(arena, cheap)
    config = _config(match, complete, seed, names, chosen, arena)
    wanted = _wanted(chosen, controls, deals)
    with _journal(out, config) as journal:
        numbers = _play(arena, wanted, n_workers(workers, ray), progress, journal, ray)
        values = np.column_stack([numbers[Line(*pair)][:, 0] for pair in chosen])
        known = _control(numbers, controls) if controls else None
        results = tuple(pair_of(*pair, numbers[Line(*pair)], known) for pair in chosen)
        comparison = Comparison(
            match.name,
            complete,
            int(deals),
            int(seed),
            config["versions"],
            results,
            config["agents"],
            cheap,
            ranking_of(names, results, values, known),
            _ratings(names, chosen, values) if rating or out is not None else (),
        )
        if out is not None:
            from trysim.arena.folder import write_folder

            of_pairs = [numbers[Line(*pair)] for pair in chosen]
            write_folder(Path(out), comparison, of_pairs, known.values if known else None)
    return comparison


# What is asked for ------------------------------------------------------------------------------
def _check(deals: int, seed: int, workers: int | None) -> None:
    _check_number("deals", deals, 2)
    _check_number("seed", seed, 0)
    if deals > _MOST_DEALS:
        raise BadInput(f"deals={deals}: {_MOST_DEALS} are the most")
    if workers is not None:
        _check_number("workers", workers, 1)


def _check_number(name: str, value: Any, lowest: int) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < lowest:
        raise BadInput(f"{name}={value!r}: a whole number from {lowest} is needed")


def _check_packages(rating: bool, out: str | Path | None) -> None:
    """Before hours of play, not after."""
    from trysim.arena.report import check_installed

    if out is not None:
        check_installed("a folder of results", "pyarrow", "openskill", "jinja2")
    elif rating:
        check_installed("a rating", "openskill")


def _chosen(
    game: Game,
    agents: Sequence[str],
    against: Sequence[str],
    pairs: Literal["all", "chain"] | Sequence[Names],
) -> tuple[list[str], list[Names]]:
    """All agents, each under the one spelling of its spec, and the pairs that play."""
    if isinstance(agents, str) or isinstance(against, str) or len(agents) + len(against) < 2:
        raise BadInput("a comparison needs at least two agents")
    specs, anchors = _specs(game, agents), _specs(game, against)
    names = [*dict.fromkeys(specs + anchors)]
    if len(names) < 2:
        raise BadInput(f"agent {names[0]!r} against itself is worth exactly 0")
    if anchors and pairs != "all":
        raise BadInput("say either `against` or `pairs`, not both")
    if anchors:
        crossed = [(a, b) for a in specs for b in anchors if a != b]
        chosen = [pair for k, pair in enumerate(crossed) if pair[::-1] not in crossed[:k]]
    elif pairs == "all":
        chosen = [*combinations(names, 2)]
    elif pairs == "chain":
        chosen = [*pairwise(names)]
    elif isinstance(pairs, str):
        raise BadInput(f"pairs={pairs!r}: allowed are 'all', 'chain', or a list of pairs")
    else:
        chosen = [_named(game, pair, names) for pair in pairs]
    _check_pairs(names, chosen)
    return names, chosen


def _specs(game: Game, agents: Sequence[str]) -> list[str]:
    specs = [make_agent(spec, game).spec for spec in agents]
    for spec in specs:
        if specs.count(spec) > 1:
            raise BadInput(f"agent {spec!r} is given twice: against itself it is worth exactly 0")
    return specs


def _named(game: Game, pair: Names, names: Sequence[str]) -> Names:
    if isinstance(pair, str) or len(pair) != 2:
        raise BadInput(f"pairs: {pair!r} is no pair of agents")
    a, b = (make_agent(spec, game).spec for spec in pair)
    for spec in (a, b):
        if spec not in names:
            raise BadInput(f"pairs: {spec!r} is none of the agents {', '.join(names)}")
    return a, b


def _check_pairs(names: Sequence[str], pairs: Sequence[Names]) -> None:
    seen = [frozenset(pair) for pair in pairs]
    for pair, both in zip(pairs, seen, strict=True):
        if len(both) == 1:
            raise BadInput(f"pairs: {pair[0]!r} against itself is worth exactly 0")
        if seen.count(both) > 1:
            raise BadInput(f"pairs: {pair[0]!r} against {pair[1]!r} is given twice")
    lonely = [spec for spec in names if spec not in linked(names, pairs)]
    if lonely:
        raise BadInput(f"pairs: none links {lonely[0]!r} with {names[0]!r}: compare them apart")


def _control_pair(game: Game, control: bool | Sequence[str]) -> Names | None:
    """The agents whose values serve as control variate, None if there is to be none."""
    if isinstance(control, (bool, np.bool_)):
        return CHEAP_AGENTS if control else None
    if isinstance(control, str) or len(control) != 2:
        raise BadInput("a control variate needs two agents, such as greedy and random")
    a, b = _specs(game, control)
    return a, b


def _control_lines(arena: Arena, cheap: Names | None) -> list[Line]:
    """The repetitions of the comparison's deals, then the deals apart; none without a control."""
    if cheap is None:
        return []
    weights = "-".join(filter(None, (arena.digests[spec] for spec in cheap)))
    repeats = [Line(*cheap, stream, False, weights) for stream in range(1, N_REPEATS + 1)]
    return [*repeats, Line(*cheap, 0, True, weights)]


def _config(
    game: Game,
    options: Mapping[str, Any],
    seed: int,
    names: Sequence[str],
    pairs: Sequence[Names],
    arena: Arena,
) -> dict[str, Any]:
    """What every value of a comparison depends on, and that must not change when it goes on.

    Controls are no part of it: they may come later.
    """
    agents_folder = Path(trysim.agents.__file__).resolve().parent
    return {
        "game": game.name,
        "options": dict(options),
        "seed": int(seed),
        "pairs": [list(pair) for pair in pairs],
        "agents": {name: arena.digests[name] for name in names},
        "versions": {**versions(), "agents": source_digest(agents_folder)},
    }


def _journal(out: str | Path | None, config: Mapping[str, Any]) -> Any:
    return nullcontext() if out is None else opened_journal(Path(out), config)


# Playing ----------------------------------------------------------------------------------------
def _wanted(pairs: Sequence[Names], controls: Sequence[Line], deals: int) -> dict[Line, int]:
    """How many deals of which lines."""
    wanted = {Line(*pair): int(deals) for pair in pairs}
    return wanted | {line: int(deals) * (N_APART if line.apart else 1) for line in controls}


def _play(
    arena: Arena,
    wanted: Mapping[Line, int],
    workers: int,
    show: bool,
    journal: Journal | None,
    ray: str | None,
) -> Numbers:
    """The numbers of all lines, (deals, numbers) each; those in the journal are not played."""
    numbers = {line: np.zeros((n, arena.n_numbers(line))) for line, n in wanted.items()}
    known = journal.entries if journal else []
    for job, found in known:
        _put(numbers, job, found)
    plan = Plan(wanted, [job for job, _ in known])
    total = sum(wanted.values())
    with progress_bar("deals", total, show, total - plan.n_deals) as advance:
        for job, found in played(arena, plan, workers, ray):
            if journal:
                journal.note(job, found)
            _put(numbers, job, found)
            advance(job.n_deals)
    return numbers


def _put(numbers: Numbers, job: Job, found: Floats) -> None:
    if job.line in numbers:  # a journal may hold a control that is not asked for now
        into = numbers[job.line][job.first : job.last]
        into[:] = found[: len(into)]  # and more deals


def _control(numbers: Numbers, lines: Sequence[Line]) -> Control:
    *repeats, last = lines
    values = np.mean([numbers[line][:, 0] for line in repeats], 0)
    apart = numbers[last][:, 0]
    error = apart.std(ddof=1) / np.sqrt(len(apart))
    return Control(values, float(apart.mean()), float(error))


def _ratings(names: Sequence[str], pairs: Sequence[Names], values: Floats) -> Any:
    from trysim.arena.rating import ratings_of

    return ratings_of(names, pairs, values)
