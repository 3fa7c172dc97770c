"""Coverage-guided fuzzing of everything that reads what others wrote; needs `pip install atheris`.

    python tests/fuzz.py records -max_total_time=60

Targets: see `TARGETS`. Whatever the bytes say, a reader returns or raises `BadInput` with a
message, in time (`-timeout`), and opens no pickle of objects. Arguments after the target are
libFuzzer's; a crash is written to `crash-…` in the current folder, and
`python tests/fuzz.py TARGET FILE` repeats it.
"""

import contextlib
import inspect
import io
import json
import os
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from trysim import agents
from trysim.agents import SPECS, make_agent, picking, policy, sb3, team
from trysim.agents.policy import ZOO, load_policy
from trysim.agents.sb3 import load_sb3
from trysim.arena import shards
from trysim.arena.play import play_match
from trysim.arena.shards import load_manifest, shard_files
from trysim.cli import main as command
from trysim.envs import games, record
from trysim.envs.games import GAMES, BadInput, Game, game_named
from trysim.envs.record import dumps, read_text, verify
from trysim.train import config, learning, settings
from trysim.train.config import load_config
from trysim.train.ppo import PPO, PPOConfig

READERS = [agents, config, games, learning, picking, policy, record, sb3, settings, shards, team]
HERE = Path(tempfile.mkdtemp(prefix="trysim-fuzz-"))
SEMERIK = game_named("semerik")
POLICY = ZOO / "semerik"
TINY = PPOConfig(n_tables=2, n_steps=2, hidden=[2], batch_size=4, options={"horizon": "deal"})


def _records(data: bytes) -> None:
    for found in read_text(data):
        verify(found)


def _specs(data: bytes) -> None:
    make_agent(data.decode("utf-8", "replace"), SEMERIK)


def _configurations(data: bytes) -> None:
    path = HERE / "any.yaml"
    path.write_bytes(data)
    load_config(PPOConfig, path, []).check()


def _policies(data: bytes) -> None:
    folder = HERE / "policy"
    folder.mkdir(exist_ok=True)
    meaning, _, weights = data.partition(b"\0\0")
    (folder / "policy.json").write_bytes(meaning)
    (folder / "policy.safetensors").write_bytes(
        weights or (POLICY / "policy.safetensors").read_bytes()
    )
    load_policy(SEMERIK, str(folder))


def _manifests(data: bytes) -> None:
    (HERE / "dataset.json").write_bytes(data)
    load_manifest(HERE)
    shard_files(HERE)


def _models(data: bytes) -> None:
    """A model of stable-baselines3: the parts of its archive, or any archive."""
    path = HERE / "model.zip"
    if data.startswith(b"PK"):
        path.write_bytes(data)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            weights, _, told = data.partition(b"\0\0")
            archive.writestr("policy.pth", weights)
            archive.writestr("data", told)
    load_sb3(SEMERIK, str(path))


def _checkpoints(data: bytes) -> None:
    path = HERE / "checkpoint.safetensors"
    path.write_bytes(data)
    TRAINING.load(path)


def _arguments(data: bytes) -> None:
    words = data.replace(b"\0", b"").decode("utf-8", "replace").split("\n")[:8]
    if words[0] in ("games", "verify", "render", "policy"):  # what plays may take its time
        before = Path.cwd()
        os.chdir(HERE)  # for what a command writes
        try:
            with (
                contextlib.redirect_stderr(io.StringIO()),
                contextlib.redirect_stdout(io.StringIO()),
            ):
                assert command(words) in (0, 1, 2)
        finally:
            os.chdir(before)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "records": _records,
    "specs": _specs,
    "configurations": _configurations,
    "policies": _policies,
    "manifests": _manifests,
    "models": _models,
    "checkpoints": _checkpoints,
    "arguments": _arguments,
}
TRAINING: Any = None


def _record(game: Game, options: dict[str, Any]) -> bytes:
    n_players = game.n_players(game.complete_options(options))
    greedy = make_agent("greedy", game)
    return dumps(play_match(game, options, [greedy] * n_players, 1)).encode()


def seeds(target: str) -> list[bytes]:
    """What mutations begin with."""
    if target == "records":
        short: dict[str, dict[str, Any]] = {
            "sim_lystiv": {"num_players": 3, "penalty": "interactive"},
            "semnadtsat": {"num_players": 3},
            "semerik": {"horizon": "deal"},
        }
        return [_record(game, short[name]) for name, game in GAMES.items()]
    if target == "policies":
        return [(POLICY / "policy.json").read_bytes()]
    if target == "configurations":
        return [path.read_bytes() for path in Path(__file__).parents[1].glob("configs/*/ppo.yaml")]
    if target == "checkpoints":
        TRAINING.save(HERE / "whole.safetensors", {"seconds": 0.0})
        return [(HERE / "whole.safetensors").read_bytes()]
    if target == "manifests":
        shard = {"files": ["a", "b"], "decisions": 1, "episodes": 1, "sha256": ["", ""]}
        told = {"format": "trysim-dataset", "version": 1, "game": "semerik", "shards": [shard]}
        return [json.dumps(told).encode()]
    if target == "models":
        return [b"\0\0{}", b'\0\0{"policy_kwargs": {}}']
    if target == "arguments":
        return [b"render\nfile\n--out\na.gif\n--seat\n0", b"verify\nfile"]
    return [f"{name}:worlds=2".encode() for name in SPECS]


def instrument() -> None:
    """Let the fuzzer see which branches readers take, and leave alone what numba compiles."""
    for module in READERS:
        for thing in vars(module).values():
            for part in [thing, *(vars(thing).values() if inspect.isclass(thing) else [])]:
                if inspect.isfunction(part) and part.__module__ == module.__name__:
                    atheris.instrument_func(part)


def watch_pickles(event: str, _: Any) -> None:
    """No reader may look up a class that a pickle names; numba's own compiled code is one."""
    if event == "pickle.find_class":
        callers = [frame.filename for frame in traceback.extract_stack()]
        if not any("/numba/" in name for name in callers):
            raise AssertionError("a pickle was opened")


def main() -> None:
    """Fuzz one target."""
    target = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if target not in TARGETS:
        sys.exit(f"usage: python tests/fuzz.py {{{','.join(TARGETS)}}} [-max_total_time=60]")
    global TRAINING
    if target == "checkpoints":
        TRAINING = PPO(TINY)
    corpus = HERE / "corpus"
    corpus.mkdir()
    beginnings = seeds(target)
    for number, seed in enumerate(beginnings):
        (corpus / str(number)).write_bytes(seed)
    read = TARGETS[target]

    def once(data: bytes) -> None:
        try:
            read(data)
        except BadInput as error:
            if not str(error).strip():
                raise AssertionError("an error without a message") from error

    for data in beginnings:
        once(data)  # compiles what there is to compile, so that no later input waits for it
    instrument()
    sys.addaudithook(watch_pickles)
    own = [] if any(not word.startswith("-") for word in sys.argv[1:]) else [str(corpus)]
    atheris.Setup([sys.argv[0], "-timeout=20", "-rss_limit_mb=4096", *sys.argv[1:], *own], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
