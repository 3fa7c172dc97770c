"""Training configurations: frozen dataclasses filled from YAML and the command line."""

import dataclasses
import importlib.resources
from pathlib import Path
from typing import Any, TypeVar

import yaml
from jsonargparse import ArgumentParser

from trysim.envs.games import BadInput

Config = TypeVar("Config")


def config_file(path: str) -> Path:
    """The file itself, or the one of that name that comes with the package; BadInput if neither."""
    here = Path(path)
    if here.is_file():
        return here
    packaged = Path(str(importlib.resources.files("trysim"))) / path
    if packaged.is_file():
        return packaged
    known = sorted((Path(str(importlib.resources.files("trysim"))) / "configs").rglob("*.yaml"))
    names = ", ".join("/".join(file.parts[-3:]) for file in known)
    raise BadInput(f"no configuration {path}: there are {names}, or give a file of your own")


def read_yaml(path: Path) -> dict[str, Any]:
    """What a YAML file says; BadInput if it cannot be read or is no mapping."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BadInput(f"{path}: {' '.join(str(error).split())}") from None
    if not isinstance(found, dict):
        raise BadInput(f"{path}: a configuration is `name: value` lines")
    return found


def load_config(kind: type[Config], path: Path, overrides: list[str]) -> Config:
    """A configuration from a YAML file and `--key value` overrides; unknown keys are errors.

    Raises BadInput, saying which key and what is allowed.
    """
    parser = ArgumentParser(prog=f"trysim train {path}", exit_on_error=False)
    parser.add_argument("--config", action="config")
    parser.add_class_arguments(kind, as_positional=False)
    try:
        parsed = parser.parse_args(["--config", str(path), *overrides])
        values = {field.name: parsed[field.name] for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
        _check_given(values)
        return kind(**{name: _plain(value) for name, value in values.items()})
    except SystemExit:
        raise
    except BadInput:
        raise
    except Exception as error:  # jsonargparse raises its own and argparse's kinds
        raise BadInput(f"{path}: {error}") from None


def _check_given(values: dict[str, Any]) -> None:
    """The parser takes `name: null` for any field; none here may be nothing."""
    empty = [name for name, value in values.items() if value is None]
    if empty:
        raise BadInput(f"{', '.join(empty)}: a value is needed; leave the line out for the default")


def _plain(value: Any) -> Any:
    return dict(value) if hasattr(value, "items") else value


def save_config(config: Any, path: Path) -> None:
    """Write the resolved configuration as YAML."""
    path.write_text(yaml.safe_dump(dataclasses.asdict(config), sort_keys=False, allow_unicode=True))
