"""How fast the games run, layer by layer, beside well-known environments (`trysim bench`).

Every layer is measured several times; rounds go over all layers, so that a busy moment of the
machine falls on all of them, and the median counts. Rates are decisions a second (copies a second
for `copy`) on one core; deals, and the choice of a random legal action, are included.

- `engine`: compiled random play; `engine+obs`: the same with observation and mask at every decision
- `copy`: one table copied from Python
- `batch`: `BatchEnv.step` with 1 024 tables
- `aec-raw`, `aec`: PettingZoo's `last()` and `step()` on `raw_env()`; its `agent_iter` on `env()`.
  The same two loops play PettingZoo's tic-tac-toe: `peer:pettingzoo-tictactoe-raw`, and without raw
- `single`: `gymnasium.make`, one learner against random players
- `policy`, `policy-one`: the policy in the box decides at 1 024 tables at once, and at one
- `ppo-train-256`, `ppo-train-128`: self-play PPO, networks with two layers of so many; on all cores
- `sb3-train`: training with stable-baselines3, once
- `peer:openspiel-hearts`: OpenSpiel's compiled hearts (no passing) with its random bots
"""

import gc
import json
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module, util
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from rich.console import Console
from rich.table import Table

from trysim.agents import make_agent
from trysim.arena.report import LIBRARIES, checked_file, new_file, progress, versions
from trysim.arena.thinking import measure_thinking, thinking_table
from trysim.envs.batch import BatchEnv
from trysim.envs.decisions import Decisions
from trysim.envs.engine import MASK_WORDS
from trysim.envs.games import GAMES, Game
from trysim.envs.rules.jit import Row

ROUNDS = 5
SECONDS = 0.5  # of one measurement
N_TABLES = 1024
TICTACTOE, HEARTS = "tictactoe", "hearts"
TICTACTOE_RAW_LAYER, TICTACTOE_LAYER = "peer:pettingzoo-tictactoe-raw", "peer:pettingzoo-tictactoe"
HEARTS_LAYER = "peer:openspiel-hearts"
_HEARTS_PLAYS = 52
_PEERS = {"aec-raw": TICTACTOE_RAW_LAYER, "aec": TICTACTOE_LAYER, "engine": HEARTS_LAYER}

Work = Callable[[], int]  # does some work; returns how many decisions that was


@dataclass(frozen=True)
class Measurement:
    """The median rate of one layer for one game."""

    layer: str
    game: str
    per_s: float
    repeats: int


def run(
    peers: bool,
    json_path: Path | None,
    rounds: int = ROUNDS,
    seconds: float = SECONDS,
    agents: Sequence[str] = (),
) -> int:
    """Measure all layers, or the `agents` if there are any; the command's exit status.

    Prints a table and writes JSON.
    """
    if json_path is not None:
        checked_file(json_path)
    console = Console(highlight=False)
    rows: list[Any]
    if agents:
        rows = [row for game in GAMES for row in measure_thinking(game, agents)]
        console.print(thinking_table(rows))
    else:
        rows = measure(peers, rounds, seconds) + list(_training(console))
        console.print(_table(rows))
    if json_path is not None:
        with new_file(json_path) as file:
            file.write(json.dumps(_as_json(rows), indent=2) + "\n")
    return 0


def measure(peers: bool, rounds: int = ROUNDS, seconds: float = SECONDS) -> list[Measurement]:
    """The median rates of all layers but training."""
    works = dict(_layers(peers))
    for work in works.values():
        work()  # compile, and fill what fills at first use
    rates: dict[tuple[str, str], list[float]] = {key: [] for key in works}
    with progress("measurements", rounds * len(works)) as advance:
        for _ in range(rounds):
            gc.collect()
            for key, work in works.items():
                rates[key].append(_rate(work, seconds))
                advance(1)
    return [Measurement(*key, statistics.median(found), rounds) for key, found in rates.items()]


def _rate(work: Work, seconds: float) -> float:
    """How many a second, over `seconds` or a little more."""
    n, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        n += work()
    return n / passed


def _training(console: Console) -> Iterator[Measurement]:
    """The rates of training, last: its libraries are imported only now."""
    from trysim.train import ppo, sb3

    for hidden in (256, 128):
        per_s, shares = ppo.benchmark(hidden)
        told = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
        console.print(f"ppo-train, two layers of {hidden}: {told}")
        yield Measurement(f"ppo-train-{hidden}", "semerik", per_s, 1)
    yield Measurement("sb3-train", "semerik", float(sb3.benchmark()), 1)


# Layers -----------------------------------------------------------------------------------------
def _layers(peers: bool) -> Iterator[tuple[tuple[str, str], Work]]:
    """(layer, game) and its work, for each."""
    for layer, make in _MAKERS.items():
        for game in GAMES.values():
            yield (layer, game.name), make(game)
    if util.find_spec("pygame"):  # which PettingZoo's classic games import
        tictactoe = import_module("pettingzoo.classic.tictactoe.tictactoe")
        yield (TICTACTOE_RAW_LAYER, TICTACTOE), _turns(tictactoe.raw_env())
        yield (TICTACTOE_LAYER, TICTACTOE), _episodes(tictactoe.env())
    if peers and util.find_spec("pyspiel"):
        yield (HEARTS_LAYER, HEARTS), _hearts()


def _engine(game: Game) -> Work:
    rows, n = _begun(game, 16), 1000

    def work() -> int:
        game.kernels.play_random(rows, n, 1)
        return len(rows) * n

    return work


def _engine_observed(game: Game) -> Work:
    rows, n = _begun(game, 16), 1000
    packed = np.empty(game.layout.n_words, np.int64)
    observation = np.empty(game.layout.size // 8, np.int64)
    mask = np.empty(MASK_WORDS, np.int64)

    def work() -> int:
        game.kernels.play_random_observed(rows, n, 1, packed, observation, mask)
        return len(rows) * n

    return work


def _copies(game: Game) -> Work:
    row = _begun(game, 1)[0]

    def work() -> int:
        for _ in range(1000):
            row.copy()
        return 1000

    return work


def _batch(game: Game) -> Work:
    batch = BatchEnv(game.name, N_TABLES)
    batch.reset(seed=0)
    shape = (32, *batch.mask.shape)
    preferences = np.random.default_rng(0).integers(1, 128, shape, np.int8)

    def work() -> int:
        for preference in preferences:
            batch.step((batch.mask * preference).argmax(1))
        return len(preferences) * N_TABLES

    return work


def _begun(game: Game, n_tables: int) -> Row:
    rows = np.stack([game.new_row({}, seed) for seed in range(n_tables)])
    game.kernels.begin_tables(rows, np.arange(n_tables), np.zeros((n_tables, game.n_seats)))
    return rows


def _aec_raw(game: Game) -> Work:
    return _turns(_module(game).raw_env())


def _aec(game: Game) -> Work:
    return _episodes(_module(game).env())


def _module(game: Game) -> Any:
    return import_module(f"trysim.envs.{game.name}_v0")


def _turns(env: Any) -> Work:
    """Some turns of an AEC environment, as lean as its interface allows."""
    env.reset(seed=0)
    draw = random.Random(0).random

    def work() -> int:
        n_decisions = 0
        for _ in range(200):
            observation, _, termination, truncation, _ = env.last()
            action = None
            if not (termination or truncation):
                legal = np.flatnonzero(observation["action_mask"])
                action = int(legal[int(draw() * len(legal))])
                n_decisions += 1
            env.step(action)
            if not env.agents:
                env.reset()
        return n_decisions

    return work


def _episodes(env: Any) -> Work:
    """One episode of an AEC environment, by the loop of PettingZoo's documentation."""
    env.reset(seed=0)
    draw = random.Random(0).random

    def work() -> int:
        n_decisions = 0
        env.reset()
        for _ in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                action = None
            else:
                legal = np.flatnonzero(observation["action_mask"])
                action = int(legal[int(draw() * len(legal))])
                n_decisions += 1
            env.step(action)
        return n_decisions

    return work


def _single(game: Game) -> Work:
    import trysim.envs  # noqa: F401  (registers the environments)

    ids = {"sim_lystiv": "SimLystiv", "semnadtsat": "Semnadtsat", "semerik": "Semerik"}
    env = gymnasium.make(f"trysim/{ids[game.name]}-v0")
    _, info = env.reset(seed=0)
    draw = random.Random(0).random
    mask = info["action_mask"]

    def work() -> int:
        nonlocal mask
        for _ in range(50):
            legal = np.flatnonzero(mask)
            _, _, termination, _, info = env.step(int(legal[int(draw() * len(legal))]))
            mask = info["action_mask"]
            if termination:
                _, info = env.reset()
                mask = info["action_mask"]
        return 50

    return work


def _policy(game: Game, n_tables: int = N_TABLES) -> Work:
    """The policy in the box, at tables in the middle of their deals."""
    agent = make_agent(f"policy:{game.name}", game)
    batch, rng = BatchEnv(game.name, N_TABLES), np.random.default_rng(0)
    batch.reset(seed=0)
    for _ in range(len(game.deck) // 2):
        batch.step(np.where(batch.mask, rng.random(batch.mask.shape), -1).argmax(1))
    views, legal = np.empty_like(batch.rows), np.empty(N_TABLES, np.int64)
    game.kernels.view_tables(batch.rows, np.arange(N_TABLES), views, legal)
    asked = Decisions(game, views[:n_tables], legal[:n_tables], legal[:n_tables])

    def work() -> int:
        agent.act(asked)
        return n_tables

    return work


def _policy_one(game: Game) -> Work:
    return _policy(game, 1)


def _hearts() -> Work:
    import pyspiel

    game = pyspiel.load_game("hearts(pass_cards=False)")
    bots = [pyspiel.make_uniform_random_bot(player, player) for player in range(4)]
    seeds = iter(range(2**31))

    def work() -> int:
        pyspiel.evaluate_bots(game.new_initial_state(), bots, next(seeds))
        return _HEARTS_PLAYS

    return work


_MAKERS = {
    "engine": _engine,
    "engine+obs": _engine_observed,
    "copy": _copies,
    "batch": _batch,
    "aec-raw": _aec_raw,
    "aec": _aec,
    "single": _single,
    "policy": _policy,
    "policy-one": _policy_one,
}


# Reporting --------------------------------------------------------------------------------------
def _table(rows: list[Measurement]) -> Table:
    """Rates, and beside them how many times the peer's rate that is."""
    peers = {row.layer: row for row in rows if row.layer.startswith("peer:")}
    table = Table(title="per second, median; beside it how many times a peer's", expand=False)
    for heading in ("layer", "game"):
        table.add_column(heading, overflow="fold")
    for heading in ("per second", "times", "peer"):
        table.add_column(heading, justify="right", overflow="fold")
    for row in rows:
        peer = peers.get(_PEERS.get(row.layer, ""))
        ratio = (f"{row.per_s / peer.per_s:.2f}", peer.game) if peer else ("", "")
        table.add_row(row.layer, row.game, f"{row.per_s:,.0f}", *ratio)
    return table


def _as_json(rows: list[Any]) -> dict[str, Any]:
    libraries = (*LIBRARIES, "pettingzoo", "gymnasium", "stable-baselines3", "open_spiel")
    return {
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "system": platform.platform()},
        "versions": versions(libraries),
        "rows": [asdict(row) for row in rows],
    }


def _cpu() -> str:
    """The processor's name, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
