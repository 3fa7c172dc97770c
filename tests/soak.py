"""Every layer at once against the slow reference, for hours: random matches, random options.

    python tests/soak.py --plies 50_000_000 --workers 2

The same matches are played by the slow reference, the batch engine and the AEC environment, written
down as records, and the records verified. At every ply seat, legal actions and observations agree;
at every end of a match all rewards do. Memory is watched. What is found goes to `--out`; a mismatch
names game, options and seed, and `tests/differential.py` repeats it.
"""

import argparse
import itertools
import json
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.differential import REFERENCES, Duel, give_chance, random_options
from trysim.arena.report import versions
from trysim.envs.aec import TrickEnv
from trysim.envs.batch import BatchEnv
from trysim.envs.games import GAMES, Game, game_named
from trysim.envs.record import Recorder, dumps, read_text, verify

N_TABLES = 64
_PAGE = os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass
class Found:
    """What a part of the soak has played and seen."""

    plies: dict[str, int] = field(default_factory=dict)
    matches: int = 0
    mismatches: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)  # MB, after each round

    def add(self, other: "Found") -> None:
        """Take in another part."""
        for name, plies in other.plies.items():
            self.plies[name] = self.plies.get(name, 0) + plies
        self.matches += other.matches
        self.mismatches += other.mismatches
        self.memory += other.memory


class Table:
    """One match in the reference, in the AEC environment, and on paper."""

    def __init__(self, game: Game, seed: int, options: dict[str, Any], row: Any) -> None:
        self.game, self.row, self._rng = game, row, random.Random(seed)
        reference = REFERENCES[game.name](options, int(row[game.words["dealer"]]))
        self.duel = Duel(game, seed, options, row, reference)
        give_chance(self.duel)
        self.reference = reference
        self.env = TrickEnv(game.name, **options)
        self.env.reset(seed)
        self.paid = np.zeros(game.n_seats)
        self.paid_by_env = np.zeros(game.n_seats)
        self._recorder = Recorder(game, row, seed, ["random"] * game.n_players(options))

    def act(self, seat: int, mask: Any, observation: Any) -> int:
        """Compare what is told to the seat to act; an action drawn for it, carried out everywhere
        but in the batch."""
        legal = self.reference.legal()
        numbers = [self.game.action_number(self.row, text) for text in legal]
        self.same("seat", seat, self.reference.seat)
        self.same("legal", np.flatnonzero(mask).tolist(), sorted(numbers))
        agent, env = self.env.agent_selection, self.env
        self.same("agent", agent, f"player_{seat}")
        seen = env.observe(agent)
        if not np.array_equal(seen["observation"], observation):
            self.same("observation", seen["observation"].tolist(), observation.tolist())
        self.same("mask", seen["action_mask"].tobytes(), mask.tobytes())
        place = self._rng.randrange(len(legal))
        self.duel.actions.append(f"{seat}:{legal[place]}")
        self._recorder.note(self.row, numbers[place])
        self.reference.apply(legal[place])
        env.step(numbers[place])
        if env.has_paid:
            for name, reward in env.rewards.items():
                self.paid_by_env[int(name[7:])] += reward
        while env.agents and env.terminations[env.agent_selection]:
            env.step(None)
        return numbers[place]

    def follow(self, rewards: Any) -> None:
        """Note what the batch did with the action."""
        self.paid += rewards
        self._recorder.note_result(self.row)
        if self.reference.chance:
            give_chance(self.duel)
        if self.reference.over:
            self._end()

    def _end(self) -> None:
        right = np.zeros(self.game.n_seats)
        right[: len(self.reference.rewards())] = self.reference.rewards()
        for layer, paid in (("batch", self.paid), ("AEC", self.paid_by_env)):
            if not np.allclose(paid, right, atol=1e-9):
                self.same(f"rewards of {layer}", paid.tolist(), right.tolist())
        self.same("agents at the end", self.env.agents, [])
        line = dumps(self._recorder.record(self.row))
        (record,) = read_text(line.encode())
        verify(record)
        self.same("record", dumps(record), line)

    def same(self, what: str, told: Any, right: Any) -> None:
        """AssertionError, saying all that repeats it, if they differ."""
        if told != right:
            raise AssertionError(self.duel.report(what, told, right))


def soak_round(name: str, seed: int) -> Found:
    """`N_TABLES` matches of one game, their seeds from `seed` on."""
    game, seeds = game_named(name), range(seed, seed + N_TABLES)
    options = [random_options(game, random.Random(number)) for number in seeds]
    batch = BatchEnv(name, N_TABLES, options, autoreset=False)
    batch.reset(list(seeds))
    dealt = zip(seeds, options, batch.rows, strict=True)
    tables = [Table(game, *each) for each in dealt]
    found, actions = Found({name: 0}, N_TABLES), np.zeros(N_TABLES, np.int64)
    playing = dict(enumerate(tables))
    while playing:
        for number in list(playing):
            table = playing[number]
            told = int(batch.seat[number]), batch.mask[number], batch.observation[number]
            try:
                actions[number] = table.act(*told)
            except Exception as error:
                return Found(found.plies, 0, [_told(table, error)])
        batch.step(actions)
        found.plies[name] += len(playing)
        for number, table in list(playing.items()):
            try:
                table.follow(batch.rewards[number])
                table.same("done", bool(batch.done[number]), table.reference.over)
            except Exception as error:
                return Found(found.plies, 0, [_told(table, error)])
            if table.reference.over:
                del playing[number]
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
    found.memory.append(round(resident, 1))
    return found


def _told(table: Table, error: Exception) -> str:
    if isinstance(error, AssertionError):
        return str(error)
    return table.duel.report(type(error).__name__, str(error), "no error")


def soak_part(plies: int, seed: int, seconds: float, progress: Path) -> Found:
    """Rounds of all three games in turn, until so many plies or seconds; one process's work."""
    found, ends = Found(), time.monotonic() + seconds
    for number in itertools.count():
        for name in GAMES:
            found.add(soak_round(name, seed + number * N_TABLES))
        done = sum(found.plies.values())
        progress.write_text(str(done))
        if done >= plies or found.mismatches or time.monotonic() > ends:
            return found


def growth(memory: list[float]) -> float:
    """MB that a process has grown by since the first fifth of its rounds."""
    return memory[-1] - max(memory[: max(len(memory) // 5, 1)])


def main() -> int:
    """The command; 1 if anything differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plies", type=int, default=1_000_000, help="in all")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--seed", type=int, default=50_000_000, help="of the first match")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("runs/soak"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    started, share = time.monotonic(), given.plies // given.workers
    files = [given.out / f"plies-{number}" for number in range(given.workers)]
    for file in files:
        file.write_text("0")
    columns = (BarColumn(), TextColumn("{task.completed:,.0f} plies"), TimeRemainingColumn())
    with ProcessPoolExecutor(given.workers) as pool, Progress(*columns) as bar:
        task = bar.add_task("", total=given.plies)
        parts = [
            pool.submit(soak_part, share, given.seed + number * 10_000_000, given.seconds, file)
            for number, file in enumerate(files)
        ]
        while not all(part.done() for part in parts):
            time.sleep(1)
            bar.update(task, completed=sum(int(file.read_text() or 0) for file in files))
    found = Found()
    for part in parts:
        found.add(part.result())
    told = {
        "plies": found.plies,
        "matches": found.matches,
        "mismatches": found.mismatches,
        "grown_mb": [round(growth(part.result().memory), 1) for part in parts],
        "seconds": round(time.monotonic() - started),
        "versions": versions(),
    }
    text = json.dumps(told, indent=1, ensure_ascii=False)
    (given.out / "soak.json").write_text(text, encoding="utf-8")
    print(text)
    return int(bool(found.mismatches))


if __name__ == "__main__":
    sys.exit(main())
