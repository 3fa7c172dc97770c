"""Policies saved by stable-baselines3, read without unpickling anything.

A model's zip file holds its weights (`policy.pth`, tensors only) and a JSON description. The
network's shape follows from the weights, its activation from the description's text.
"""

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import torch

from trysim.agents.networks import ACTIVATIONS, Mlp, Network
from trysim.agents.policy import PolicyAgent
from trysim.envs.games import BadInput, Game

# What comes of archives, descriptions and tensors that stable-baselines3 did not write.
_BROKEN = (OSError, KeyError, IndexError, AttributeError, TypeError, ValueError, RuntimeError,
           zipfile.BadZipFile, zlib.error)  # fmt: skip
_ACTIVATIONS = {"ReLU": torch.nn.ReLU, "Tanh": torch.nn.Tanh, "SiLU": torch.nn.SiLU}


def load_sb3(game: Game, path: str, mode: str = "best") -> PolicyAgent:
    """The agent of a model that PPO, A2C or MaskablePPO saved with an `MlpPolicy`.

    It must have been trained on the flat observation. Raises BadInput for any other file.
    """
    spec = f"sb3:{Path(path).as_posix()}" + ("" if mode == "best" else f",mode={mode}")
    try:
        net = actor(*_read(path))
    except _BROKEN as error:
        raise BadInput(f"{spec}: no readable model of stable-baselines3: {error}") from None
    if net is None:
        raise BadInput(f"{spec}: not an MlpPolicy with an action network")
    n_in, n_out = int(net[0].in_features), int(net[-1].out_features)  # type: ignore[arg-type]
    if (n_in, n_out) != (game.layout.size, game.n_actions):
        raise BadInput(
            f"{spec}: leads from {n_in} inputs to {n_out} actions; {game.name} has "
            f"{game.layout.size} and {game.n_actions}"
        )
    return PolicyAgent(game, _Layers(game, net), spec, mode)


class _Layers(Mlp):
    """Layers that were trained elsewhere."""

    def __init__(self, game: Game, layers: torch.nn.Sequential) -> None:
        sizes = [layer.out_features for layer in layers if isinstance(layer, torch.nn.Linear)]
        kinds = {type(layer) for layer in layers} - {torch.nn.Linear}
        known = [name for name, kind in ACTIVATIONS.items() if kinds == {kind}]
        Network.__init__(self, game, sizes[:-1], known[0] if known else "")
        self.layers = layers


def _read(path: str) -> tuple[dict[str, torch.Tensor], str]:
    file = Path(path)
    if not file.exists() and file.with_suffix(".zip").exists():
        file = file.with_suffix(".zip")  # stable-baselines3 adds the ending itself
    with zipfile.ZipFile(file) as archive:
        stored = io.BytesIO(archive.read("policy.pth"))
        try:
            weights = torch.load(stored, map_location="cpu", weights_only=True)
        except Exception as error:  # torch raises its own kinds for what is not plain tensors
            raise ValueError(str(error).partition("\n")[0] or type(error).__name__) from None
        data: dict[str, Any] = json.loads(archive.read("data"))
    policy_kwargs = data.get("policy_kwargs", {})
    return weights, str({k: v for k, v in policy_kwargs.items() if k != ":serialized:"})


def actor(weights: dict[str, torch.Tensor], description: str) -> torch.nn.Sequential | None:
    """The layers from observation to action logits, None if the weights have no such layers."""
    prefix = "mlp_extractor.policy_net."
    hidden = [key for key in weights if key.startswith(prefix) and key.endswith(".weight")]
    names = [key.removesuffix(".weight") for key in hidden] + ["action_net"]
    if "action_net.weight" not in weights:
        return None
    activation = next((a for name, a in _ACTIVATIONS.items() if name in description), torch.nn.Tanh)
    layers: list[torch.nn.Module] = []
    for name in names:
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
        layer.load_state_dict({"weight": weight, "bias": bias})
        layers += [layer, activation()]
    return torch.nn.Sequential(*layers[:-1])
