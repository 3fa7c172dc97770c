"""Whatever is given, people get a message that names what is wrong, never a traceback."""

import copy
import dataclasses
import json
import os
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trysim.agents import SPECS, make_agent
from trysim.agents.policy import ZOO, load_policy
from trysim.arena.play import play_match
from trysim.arena.shards import load_manifest, shard_files
from trysim.cli import main
from trysim.envs.games import GAMES, BadInput, game_named
from trysim.envs.record import dumps, read_text, verify
from trysim.train.config import load_config
from trysim.train.ppo import PPOConfig

FEW = settings(
    max_examples=int(os.environ.get("TRYSIM_EXAMPLES", 60)), deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
PLAIN = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)  # fmt: skip


def record(name):
    game = game_named(name)
    options = {"horizon": "deal"} if name == "semerik" else {"num_players": 3}
    n = game.n_players(game.complete_options(options))
    return play_match(game, options, [make_agent("greedy", name)] * n, 1)


def told(error):
    """Whoever is given this error reads something."""
    assert str(error).strip()


RECORDS = {name: record(name) for name in GAMES}


def places(thing, path=()):
    """The paths to everything in a JSON value."""
    yield path
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield from places(value, (*path, key))
    elif isinstance(thing, list):
        for number, value in enumerate(thing):
            yield from places(value, (*path, number))


def put(thing, path, value):
    """A copy with another value in one place."""
    if not path:
        return value
    changed = copy.deepcopy(thing)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return changed


@pytest.mark.parametrize("name", GAMES)
@FEW
@given(data=st.data())
def test_records_with_anything_in_one_place(name, data):
    path = data.draw(st.sampled_from(list(places(RECORDS[name]))))
    changed = put(RECORDS[name], path, data.draw(JSON))
    try:
        for found in read_text(dumps(changed).encode("utf-8", "surrogatepass")):
            verify(found)
    except BadInput as error:
        told(error)


@FEW
@given(st.binary(max_size=300))
def test_records_of_any_bytes(content):
    try:
        for found in read_text(content):
            verify(found)
    except BadInput as error:
        told(error)


WORDS = st.sampled_from(
    [
        *SPECS,
        *[
            "semerik",
            "worlds",
            "policy",
            "rollout",
            "0",
            "-1",
            "1e9",
            "nan",
            "x",
            "../..",
            "/dev/null",
            "=",
            ":",
            ",",
            "+",
            "é",
        ],
    ]
)


@FEW
@given(st.lists(WORDS, max_size=6).map("".join) | st.text(max_size=12), st.sampled_from([*GAMES]))
def test_specs_of_anything(spec, name):
    try:
        make_agent(spec, name)
    except BadInput as error:
        told(error)


FIELDS = [field.name for field in dataclasses.fields(PPOConfig)]


@FEW
@given(st.dictionaries(st.sampled_from([*FIELDS, "typo"]), JSON, min_size=1, max_size=3))
def test_configurations_of_anything(tmp_path, values):
    path = tmp_path / "any.yaml"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    try:
        load_config(PPOConfig, path, []).check()
    except BadInput as error:
        told(error)


@FEW
@given(data=st.data())
def test_policies_with_anything_in_one_place(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("policy")
    meaning = json.loads((ZOO / "semerik" / "policy.json").read_text())
    path = data.draw(st.sampled_from(list(places(meaning))))
    text = json.dumps(put(meaning, path, data.draw(JSON)))
    (folder / "policy.json").write_text(text, encoding="utf-8")
    weights = (ZOO / "semerik" / "policy.safetensors").read_bytes()
    (folder / "policy.safetensors").write_bytes(data.draw(st.sampled_from([weights, weights[:-9]])))
    try:
        load_policy(game_named("semerik"), str(folder))
    except BadInput as error:
        told(error)


SHARD = {"files": ["a", "b"], "decisions": 1, "episodes": 1, "sha256": ["", ""]}
MANIFEST = {"format": "trysim-dataset", "version": 1, "game": "semerik", "shards": [SHARD]}


@FEW
@given(data=st.data())
def test_manifests_with_anything_in_one_place(data, tmp_path):
    path = data.draw(st.sampled_from(list(places(MANIFEST))))
    (tmp_path / "dataset.json").write_text(json.dumps(put(MANIFEST, path, data.draw(JSON))))
    try:
        load_manifest(tmp_path)
        shard_files(tmp_path)
    except BadInput as error:
        told(error)


COMMANDS = ["games", "record", "verify", "dataset", "arena", "cross-play", "render", "watch"]
ARGUMENTS = st.sampled_from(
    [
        "semerik",
        "nothing",
        "--agents",
        "--deals",
        "--episodes",
        "--seed",
        "-1",
        "0",
        "x",
        "--out",
        "--option",
        "horizon=deal",
        "a=b",
        "--workers",
        "--json",
        "/dev/null",
        "/nowhere/file",
        "--ray=nowhere:1",
        "--records",
        "--help",
    ]
)


@FEW
@given(st.sampled_from(COMMANDS), st.lists(ARGUMENTS, max_size=6))
def test_command_lines_of_anything(capsys, monkeypatch, tmp_path, command, words):
    monkeypatch.chdir(tmp_path)
    assert main([command, *words]) in (0, 1, 2)
    assert "Traceback" not in capsys.readouterr().err
    assert Path.cwd() == tmp_path
