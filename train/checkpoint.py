"""The checkpoint of a training: all its tensors in one safetensors file, with a digest of them."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch

from trysim.envs.games import BadInput

CHECKPOINT = "checkpoint.safetensors"


def write_checkpoint(path: Path, tensors: Mapping[str, torch.Tensor], about: Any) -> None:
    """Write tensors and what is said about them, whole or not at all."""
    whole, text = {name: t.contiguous() for name, t in tensors.items()}, json.dumps(about)
    part = path.with_suffix(".part")
    safetensors.torch.save_file(whole, part, {"about": text, "digest": _digest(whole, text)})
    part.replace(path)


def read_checkpoint(path: Path) -> tuple[dict[str, torch.Tensor], Any]:
    """Tensors, and what is said about them; BadInput unless they are as they were written.

    Tables go on in compiled code, which trusts them: a damaged one could end the program.
    """
    try:
        tensors = safetensors.torch.load_file(path)
        with safetensors.safe_open(path, "pt") as file:
            told = file.metadata() or {}
    except (OSError, ValueError, KeyError, safetensors.SafetensorError) as error:
        raise BadInput(f"{path}: {' '.join(str(error).split())}") from None
    text = told.get("about", "")
    if told.get("digest") != _digest(tensors, text):
        raise BadInput(f"{path}: damaged, or of another release: it is not what was written")
    return tensors, json.loads(text)


def _digest(tensors: Mapping[str, torch.Tensor], text: str) -> str:
    found = hashlib.sha256(safetensors.torch.save(dict(tensors)))
    found.update(text.encode())
    return found.hexdigest()


def part_of(tensors: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    """The tensors whose names begin so, without it."""
    start = f"{prefix}."
    return {name[len(start) :]: t for name, t in tensors.items() if name.startswith(start)}
