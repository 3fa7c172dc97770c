"""The engine against the slow reference: random matches, random options, compared at every ply.

    python tests/differential.py --plies 100000 --seed 1 --game semerik

The engine shuffles; the reference is given its hands, its penalty deck and its cut. One number, the
match's seed, fixes options, cards and choices: `--seed` of a mismatch with `--plies 1` repeats it.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.reference import semerik, semnadtsat, sim_lystiv
from trysim.envs.games import GAMES, Game, game_named
from trysim.envs.rules import semnadtsat as fast_semnadtsat
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import CUT, DEAL, GONE, NOBODY, OVER, PHASE, PLAY, SEAT

SUITS = "CDHS"
REFERENCES: dict[str, Any] = {
    "sim_lystiv": sim_lystiv.SimLystiv,
    "semnadtsat": semnadtsat.Semnadtsat,
    "semerik": semerik.Semerik,
}
# Numbers that are drawn less often than the value here, to keep matches of a useful length.
USUAL = {"num_deals": 1, "target": 21, "games": 3}
USUAL_SHARE = 0.75

View = dict[str, Any]


class MismatchError(AssertionError):
    """Engine and reference differ; the message says where and how to see it again."""


@dataclass
class Duel:
    """One match in both implementations."""

    game: Game
    seed: int
    options: Mapping[str, Any]
    row: Row
    reference: Any
    actions: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Raise MismatchError unless both tell the same of the position."""
        engine, reference = engine_view(self.game, self.row), reference_view(self)
        for key in reference:
            if engine[key] != reference[key]:
                raise MismatchError(self.report(key, engine[key], reference[key]))

    def report(self, key: str, engine: Any, reference: Any) -> str:
        return "\n".join(
            [
                f"{self.game.name}: {key} differs after {len(self.actions)} actions",
                f"  options    {dict(self.options)}",
                f"  seed       {self.seed}",
                f"  actions    {' '.join(self.actions)}",
                f"  engine     {engine}",
                f"  reference  {reference}",
            ]
        )


# Playing ----------------------------------------------------------------------------------------
def random_options(game: Game, rng: random.Random) -> dict[str, Any]:
    """A value for every option; the first dealer is given in half of the draws."""
    options = {option.name: _random_value(option, rng) for option in game.options}
    options["dealer"] = rng.choice([None, rng.randrange(game.n_players(options))])
    return options


def _random_value(option: Any, rng: random.Random) -> Any:
    if option.choices:
        return rng.choice(option.choices)
    if rng.random() < USUAL_SHARE:
        return USUAL.get(option.name)
    return rng.randint(option.low, option.high)


def compare_match(game: Game, seed: int, options: Mapping[str, Any] | None = None) -> int:
    """Play one random match in both; returns its plies, raises MismatchError."""
    rng = random.Random(seed)
    drawn = random_options(game, rng)
    duel = _begin(game, seed, drawn if options is None else options)
    while not duel.reference.over:
        _act(duel, rng)
    return len(duel.actions)


def _begin(game: Game, seed: int, options: Mapping[str, Any]) -> Duel:
    row = game.new_row(options, seed)
    game.kernels.begin(row)
    game.kernels.settle(row)
    dealer = int(row[game.words["dealer"]])
    duel = Duel(game, seed, options, row, REFERENCES[game.name](options, dealer))
    if options["dealer"] not in (None, dealer):
        raise MismatchError(duel.report("dealer", dealer, options["dealer"]))
    give_chance(duel)
    duel.check()
    return duel


def _act(duel: Duel, rng: random.Random) -> None:
    """One action in both, then the cards that may follow; compared before and after these."""
    text = rng.choice(duel.reference.legal())
    duel.actions.append(f"{duel.reference.seat}:{text}")
    duel.game.kernels.apply(duel.row, duel.game.action_number(duel.row, text))
    duel.reference.apply(text)
    duel.check()
    if duel.reference.chance:
        duel.game.kernels.settle(duel.row)
        give_chance(duel)
        duel.check()


def give_chance(duel: Duel) -> None:
    """Give the reference the cards that the engine has just dealt itself."""
    game, row = duel.game, duel.row
    if duel.reference.chance == "deal":
        trump = row[game.words["trump_card"]] if game.name == "sim_lystiv" else NOBODY
        duel.reference.deal(game.hands(row), None if trump == NOBODY else game.deck[trump])
    elif duel.reference.chance == "penalty":
        cut = int(row[game.words["cut"]]) or None
        duel.reference.penalty_deck(penalty_deck(game, row), cut)


def penalty_deck(game: Game, row: Row) -> list[str]:
    """The penalty deck of a row, top first."""
    at = game.words["penalty_deck"]
    words = [int(row[at + i // 9]) for i in range(len(game.deck))]
    return [game.deck[word >> 6 * (i % 9) & 63] for i, word in enumerate(words)]


# What both tell ---------------------------------------------------------------------------------
def engine_view(game: Game, row: Row) -> View:
    """A position of the engine in plain values."""
    words, n = row.tolist(), game.n_players_of(row)
    phase = words[PHASE]

    def one(name: str) -> Any:
        return words[game.words[name]]

    def many(name: str, count: int = n) -> list[Any]:
        return words[game.words[name] : game.words[name] + count]

    view = {
        "seat": None if words[SEAT] == NOBODY else words[SEAT],
        "legal": sorted(game.action_text(row, action) for action in game.legal_actions(row)),
        "over": phase == OVER,
        "gone": members(words[GONE]),
        "rewards": game.returns(row).tolist(),
        "dealer": one("dealer"),
        "hands": [sorted(game.cards(hand)) for hand in many("hands")],
        "leader": one("leader") if phase == PLAY else None,
        "trick": sorted(game.cards(one("trick"))),
        "winning": one("best_seat") if one("trick") else None,
        "tricks": many("tricks"),
    }
    view |= _ENGINE_VIEWS[game.name](game, row, one, many)
    return view


def reference_view(duel: Duel) -> View:
    """A position of the reference in the same values."""
    reference, facts = duel.reference, duel.reference.facts()
    played = [card for _, card in facts["trick"]]
    view = {
        "seat": reference.seat,
        "legal": reference.legal(),
        "over": reference.over,
        "gone": reference.gone(),
        "rewards": reference.rewards(),
        "dealer": facts["dealer"],
        "hands": facts["hands"],
        "leader": facts["leader"],
        "trick": sorted(played),
        "winning": facts["trick"][_winning(duel, played)][0] if played else None,
        "tricks": facts["tricks"],
    }
    view |= _REFERENCE_VIEWS[duel.game.name](reference, facts)
    return view


def _winning(duel: Duel, played: list[str]) -> int:
    """Index of the card that is winning the trick."""
    if duel.game.name == "semerik":
        return semerik.trick_winner(played)
    trump = duel.reference.facts()["trump"]
    if duel.game.name == "sim_lystiv":
        return sim_lystiv.trick_winner(played, trump)
    return semnadtsat.trick_winner(played, trump, duel.reference.jack)


def members(number_set: int) -> list[int]:
    """The numbers of a set, rising."""
    return [number for number in range(number_set.bit_length()) if number_set >> number & 1]


def _sim_lystiv_engine(game: Game, row: Row, one: Callable[..., Any], many: Any) -> View:
    exits, n_left = many("exits")[: one("n_exits")], len(members(one("out")))
    penalty = {
        "cut": one("cut"),
        "bottom": game.deck[one("bottom")],
        "blows": one("blows"),
        "received": many("received"),
    }
    return {
        "trump": game.deck[one("trump_card")][1],
        "counts": many("counts"),
        "exits": exits[:n_left],
        "reached seven": sorted(exits[n_left:]),
        "loser": None if one("loser") == NOBODY else one("loser"),
        "penalty": None if one("bottom") == NOBODY else penalty,
        "penalty deck": penalty_deck(game, row) if row[PHASE] == CUT else None,
    }


def _sim_lystiv_reference(reference: sim_lystiv.SimLystiv, facts: View) -> View:
    counts, tricks = facts["counts"], facts["tricks"]
    in_deal = facts["leader"] is not None
    reached = [s for s, n in enumerate(tricks) if in_deal and counts[s] < 7 <= counts[s] + n]
    cutting = any(text.startswith("cut:") for text in reference.legal())
    return {
        "trump": facts["trump"],
        "counts": counts,
        "exits": facts["exits"],
        "reached seven": reached,
        "loser": facts["loser"],
        "penalty": facts["penalty"],
        "penalty deck": reference._deck if cutting else None,
    }


def _semnadtsat_engine(game: Game, row: Row, one: Any, many: Any) -> View:
    over = row[PHASE] == OVER
    finished = row[PHASE] in (DEAL, OVER)
    return {
        "trump": None if one("trump") == NOBODY else SUITS[one("trump")],
        "namer": None if one("namer") == NOBODY else one("namer"),
        "points": many("points"),
        "score": many("score") if finished else None,
        "totals": many("totals"),
        "winners": members(int(fast_semnadtsat.winner_set(row))) if over else [],
    }


def _semnadtsat_reference(reference: semnadtsat.Semnadtsat, facts: View) -> View:
    finished = reference.over or reference.chance
    score = [semnadtsat.convert(points, reference.scoring) for points in facts["points"]]
    view = {key: facts[key] for key in ("trump", "namer", "points", "totals", "winners")}
    return {**view, "score": score if finished else None}


def _semerik_engine(game: Game, row: Row, one: Any, many: Any) -> View:
    finished = row[PHASE] in (DEAL, OVER)
    declarations = game.actions[len(game.deck) :]
    return {
        "dealer": one("dealer"),
        "declared": [sorted(declarations[k] for k in members(d)) for d in many("declared")],
        "shown": [sorted(game.cards(shown)) for shown in many("shown")],
        "declared points": many("declared_points", 2),
        "score": many("score", 2),
        "totals": many("score_totals" if finished else "totals", 2),
        "booked": many("booked", 2),
        "games done": one("games_done"),
    }


def _semerik_reference(reference: semerik.Semerik, facts: View) -> View:
    points = facts["declaration_points"]
    return {
        "dealer": facts["dealer"],
        "declared": facts["declared"],
        "shown": facts["shown"],
        "declared points": [points[0] + points[2], points[1] + points[3]],
        "score": facts["scores"],
        "totals": facts["totals"],
        "booked": facts["booked"],
        "games done": facts["games_done"],
    }


_ENGINE_VIEWS: dict[str, Callable[..., View]] = {
    "sim_lystiv": _sim_lystiv_engine,
    "semnadtsat": _semnadtsat_engine,
    "semerik": _semerik_engine,
}
_REFERENCE_VIEWS: dict[str, Callable[..., View]] = {
    "sim_lystiv": _sim_lystiv_reference,
    "semnadtsat": _semnadtsat_reference,
    "semerik": _semerik_reference,
}


# Many matches -----------------------------------------------------------------------------------
@dataclass
class Tally:
    """What a run has compared."""

    plies: int = 0
    matches: int = 0
    mismatches: int = 0


def compare_plies(game: Game, plies: int, seed: int) -> Iterator[tuple[Tally, str]]:
    """Whole matches from `seed` on until `plies` are reached; the tally and any report of each."""
    tally = Tally()
    while tally.plies < plies:
        report = ""
        try:
            tally.plies += compare_match(game, seed + tally.matches)
        except MismatchError as mismatch:
            report = str(mismatch)
            tally.plies += 1
            tally.mismatches += 1
        tally.matches += 1
        yield tally, report


def run(game: Game, plies: int, seed: int) -> Tally:
    """`compare_plies` with a progress line."""
    start = shown = time.perf_counter()
    tally = Tally()
    for tally, report in compare_plies(game, plies, seed):
        if report:
            print(f"\n{report}", flush=True)
        now = time.perf_counter()
        if now - shown > 1 or tally.plies >= plies:
            shown = now
            rate = tally.plies / (now - start)
            left = max(plies - tally.plies, 0) / rate
            print(_progress(game, tally, rate, left), end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return tally


def _progress(game: Game, tally: Tally, rate: float, left: float) -> str:
    return (
        f"\r{game.name}: {tally.plies} plies in {tally.matches} matches, "
        f"{tally.mismatches} mismatches, {rate:.0f} plies/s, {left:.0f} s left   "
    )


def main() -> int:
    """The command; 1 if anything differs."""
    parser = argparse.ArgumentParser(description="Compare the engine with the slow reference.")
    parser.add_argument("--plies", type=int, default=100_000, help="plies of each game")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first match")
    parser.add_argument("--game", choices=[*GAMES], help="all three without it")
    args = parser.parse_args()
    mismatches = 0
    for name in [args.game] if args.game else GAMES:
        tally = run(game_named(name), args.plies, args.seed)
        print(f"{name}: {tally}", flush=True)
        mismatches += tally.mismatches
    return int(mismatches > 0)


if __name__ == "__main__":
    sys.exit(main())
