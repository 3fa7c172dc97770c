"""Datasets of decisions (`trysim.arena.dataset`) as a stream of batches for torch."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

from trysim.arena.shards import bits, load_manifest, shard_files
from trysim.envs.games import BadInput, game_named

Batch = dict[str, torch.Tensor]
_NUMBERS = {
    "episode": torch.int64, "decision": torch.int64, "seat": torch.int64, "agent": torch.int64,
    "action": torch.int64, "reward": torch.float32, "return": torch.float32, "last": torch.bool,
}  # fmt: skip


class DecisionStream(IterableDataset[Batch]):
    """The decisions of a dataset, `batch_size` at a time, a shard in memory at once.

    A batch has, for N decisions: `observation` int8 (N, layout.size), `mask` bool (N, n_actions),
    `hands` int8 (N, (seats - 1) * cards), and the other columns of `dataset.json` (N,). With a
    `shuffle` seed shards, and decisions within each, come in an order of their own; the next pass
    has another one. `forced` plays, where there is nothing to choose, are left out unless wanted.

    A `DataLoader(stream, batch_size=None, num_workers=…)` shares shards out among its workers.
    """

    def __init__(
        self, folder: str | Path, batch_size: int, shuffle: int | None = None, forced: bool = False
    ) -> None:
        """BadInput if there is no complete dataset in `folder`, or its game has changed since."""
        if batch_size < 1:
            raise BadInput(f"batch_size: {batch_size}; at least 1 is needed")
        self.manifest = load_manifest(Path(folder))
        self.game = game_named(self.manifest["game"])
        self._files = [decisions for decisions, _ in shard_files(Path(folder))]
        self._check_layout()
        self._batch_size, self._shuffle, self._forced = batch_size, shuffle, forced
        self._n_passes = 0

    def _check_layout(self) -> None:
        import pyarrow.parquet as pq

        width = pq.read_schema(self._files[0]).field("observation").type.byte_width
        if width != -(-self.game.layout.size // 8):
            raise BadInput(
                f"{self._files[0]}: observations of another layout: make the dataset anew, "
                "from its records (trysim dataset --unpack)"
            )

    def __iter__(self) -> Iterator[Batch]:
        """One pass over all decisions."""
        files, random = list(self._files), None
        if self._shuffle is not None:
            random = np.random.default_rng([self._shuffle, self._n_passes])
            random.shuffle(files)
        self._n_passes += 1
        worker = get_worker_info()
        if worker is not None:
            files = files[worker.id :: worker.num_workers]
        for path in files:
            yield from self._of_shard(path, random)

    def _of_shard(self, path: Path, random: np.random.Generator | None) -> Iterator[Batch]:
        import pyarrow.parquet as pq

        table, game = pq.read_table(path), self.game
        masks = bits(table["mask"], game.n_actions).astype(np.bool_)
        chosen = np.arange(len(masks)) if self._forced else np.flatnonzero(masks.sum(1) > 1)
        if random is not None:
            random.shuffle(chosen)
        whole = {
            "observation": torch.from_numpy(bits(table["observation"], game.layout.size)),
            "hands": torch.from_numpy(bits(table["hands"], (game.n_seats - 1) * len(game.deck))),
            "mask": torch.from_numpy(masks),
            **{
                name: torch.tensor(table[name].to_numpy(), dtype=kind)
                for name, kind in _NUMBERS.items()
            },
        }
        for some in torch.split(torch.from_numpy(chosen), self._batch_size):
            yield {name: column[some] for name, column in whole.items()}
