"""Learned policies: a network over flat observations, stored as safetensors and JSON.

A policy folder holds `policy.safetensors` (weights) and `policy.json` (what they mean: game, kind
and sizes of the network, the observation's layout, how they were trained). Nothing is ever
unpickled.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.torch
import torch

from trysim.agents.compiled import compiled_for
from trysim.agents.networks import ACTIVATIONS, NETWORKS, Network
from trysim.agents.thoughts import PROBABILITY, Evaluation
from trysim.envs.decisions import Decisions
from trysim.envs.engine import uniforms
from trysim.envs.games import BadInput, Game

Floats = npt.NDArray[np.float32]

FORMAT = "trysim-policy"
VERSION = 2
MODES = ("best", "sample")
ZOO = Path(__file__).resolve().parent / "zoo"  # the policies that come with the package
_FEWEST_ROWS, _MOST_ROWS = 16, 512  # of a matrix product: what caches hold is fast


def layout_hash(game: Game) -> str:
    """Hex digest of what the observation's bits mean: weights fit one layout only."""
    fields = [
        (field.name, field.kind, field.width, len(field.groups)) for field in game.layout.fields
    ]
    return hashlib.sha256(repr((game.name, fields)).encode()).hexdigest()[:16]


class PolicyAgent:
    """Plays what a network prefers: its `best` action, or a `sample` of its probabilities."""

    def __init__(self, game: Game, net: Network, spec: str, mode: str = "best") -> None:
        if mode not in MODES:
            raise BadInput(f"agent {spec!r}: mode={mode!r}; allowed are {', '.join(MODES)}")
        self.spec = spec
        self.net = net.eval()
        self._compiled = net.compiled()
        self._kernels = compiled_for(game.name) if self._compiled else None
        self._sample = mode == "sample"

    @property
    def digest(self) -> str:
        """Hex digest of the network: of its layers and weights."""
        found = hashlib.sha256(str(self.net).encode())
        for weights in self.net.state_dict().values():
            found.update(weights.numpy().tobytes())
        return found.hexdigest()

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """A legal action for each decision (N,)."""
        logits = self.logits(decisions)
        if not self._sample:
            return logits.argmax(1)
        passed = probabilities(logits).cumsum(1)
        drawn = np.empty(decisions.n)
        uniforms(decisions.random, drawn)
        chosen = (passed <= drawn[:, None]).sum(1)
        is_legal = np.isfinite(logits)
        last_legal = (
            is_legal.shape[1] - 1 - is_legal[:, ::-1].argmax(1)
        )  # rounding may pass the end
        return np.minimum(chosen, last_legal)

    def evaluate(self, decision: Decisions) -> Evaluation:
        """How likely a sample of the policy takes each of one decision's actions."""
        return PROBABILITY, probabilities(self.logits(decision))[0]

    def logits(self, decisions: Decisions) -> Floats:
        """What the network says of every action (N, actions); -inf for illegal ones.

        The same bits whatever else is asked for at once.
        """
        if self._kernels is not None:
            logits = np.empty((decisions.n, decisions.game.n_actions), np.float32)
            self._kernels.ask_all(self._compiled, decisions.views, decisions.legal, logits)
            return logits
        observations, masks = decisions.observe()
        with torch.inference_mode():
            parts = torch.split(torch.from_numpy(observations), _MOST_ROWS)
            said = torch.cat([self._said_to_few(part) for part in parts]).numpy()
        return np.where(masks == 0, np.float32(-np.inf), said)

    def _said_to_few(self, observations: torch.Tensor) -> torch.Tensor:
        """The network's outputs (N, actions).

        Few rows are multiplied by other routines, whose sums round otherwise: hence the padding.
        """
        n = len(observations)
        missing = max(0, _FEWEST_ROWS - n)
        logits: torch.Tensor = self.net(torch.nn.functional.pad(observations, (0, 0, 0, missing)))
        return logits[:n]


def probabilities(logits: Floats) -> npt.NDArray[np.float64]:
    """What logits (N, actions) mean."""
    likely = np.exp(logits.astype(np.float64) - logits.max(1, keepdims=True))
    means: npt.NDArray[np.float64] = likely / likely.sum(1, keepdims=True)
    return means


def save_policy(
    folder: str | Path, game: Game, kind: str, net: Network, about: Mapping[str, Any]
) -> None:
    """Write a policy folder for a network of a `kind` of `NETWORKS`.

    `about` says how the policy came to be (config, seed, versions).
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    meaning = {
        "format": FORMAT,
        "version": VERSION,
        "game": game.name,
        "network": kind,
        "hidden": list(net.hidden),
        "activation": net.activation,
        "layout": layout_hash(game),
        "about": dict(about),
    }
    text = json.dumps(meaning, indent=2, ensure_ascii=False) + "\n"
    weights = safetensors.torch.save(net.state_dict())
    for name, content in (("policy.safetensors", weights), ("policy.json", text.encode())):
        part = folder / f"{name}.part"
        part.write_bytes(content)
        part.replace(folder / name)  # whole or not at all, whenever the program is killed


def load_policy(game: Game, folder: str, mode: str = "best") -> PolicyAgent:
    """The agent of a policy folder, or of the zoo's policy of that name.

    Raises BadInput if there is none or it is for something else.
    """
    spec = f"policy:{Path(folder).as_posix()}" + ("" if mode == "best" else f",mode={mode}")
    path = ZOO / folder if (ZOO / folder / "policy.json").is_file() else Path(folder)
    try:
        meaning = json.loads((path / "policy.json").read_text(encoding="utf-8"))
        weights = safetensors.torch.load_file(path / "policy.safetensors")
    except (OSError, ValueError, safetensors.SafetensorError) as error:
        raise BadInput(f"{spec}: cannot read the policy: {error}") from None
    _check_meaning(game, spec, meaning)
    try:
        net = NETWORKS[meaning["network"]](game, meaning["hidden"], meaning["activation"])
        net.load_state_dict(weights)
    except (RuntimeError, TypeError, IndexError) as error:
        raise BadInput(f"{spec}: weights and policy.json do not fit: {error}") from None
    return PolicyAgent(game, net, spec, mode)


def load_rllib(game: Game, folder: str, mode: str = "best") -> PolicyAgent:
    """The agent that a training with `algorithm: rllib` left in its folder.

    Raises BadInput if there is none; for RLlib's own checkpoints too, which are pickles.
    """
    spec = f"rllib:{Path(folder).as_posix()}" + ("" if mode == "best" else f",mode={mode}")
    if (Path(folder) / "rllib_checkpoint.json").exists():
        raise BadInput(
            f"{spec}: RLlib's own checkpoint is a pickle, which is not opened; name the folder of "
            "the training, in which the policy lies too"
        )
    agent = load_policy(game, str(Path(folder) / "policy"), mode)
    agent.spec = spec
    return agent


def _check_meaning(game: Game, spec: str, meaning: Any) -> None:
    if not isinstance(meaning, dict) or meaning.get("format") != FORMAT:
        raise BadInput(f"{spec}: policy.json is no {FORMAT}")
    if meaning.get("version") != VERSION:
        raise BadInput(f"{spec}: version {meaning.get('version')!r}; this release reads {VERSION}")
    if meaning.get("game") != game.name:
        raise BadInput(f"{spec}: a policy for {meaning.get('game')}, not for {game.name}")
    if meaning.get("layout") != layout_hash(game):
        raise BadInput(f"{spec}: trained on another observation layout; train it anew")
    for name, known in (("network", NETWORKS), ("activation", ACTIVATIONS)):
        if meaning.get(name) not in list(known):
            raise BadInput(f"{spec}: {name} {meaning.get(name)!r}; known are {', '.join(known)}")
    hidden = meaning.get("hidden")
    if not isinstance(hidden, list) or not hidden or not all(isinstance(n, int) for n in hidden):
        raise BadInput(f"{spec}: hidden {hidden!r}; sizes of layers are needed")
