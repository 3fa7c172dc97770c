"""The folder of a comparison: numbers, table of deals, picture and report."""

import base64
import io
import json
import shlex
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from trysim.arena import results
from trysim.arena.charts import draw_matrix
from trysim.arena.report import write_whole
from trysim.arena.results import Comparison
from trysim.arena.statistics import Floats
from trysim.arena.views import grids, headline

DEALS, PICTURE, REPORT = "deals.parquet", "matrix.png", "report.html"
_TEMPLATE = "report.html.jinja"


def write_folder(
    folder: Path, comparison: Comparison, numbers: Sequence[Floats], control: Floats | None
) -> None:
    """Write all files but the journal.

    `numbers` are those of each pair's deals (deals, 1 + seats), `control` the control variate of
    each deal.
    """
    picture = draw_matrix(comparison)
    write_whole(folder / DEALS, _parquet(comparison, numbers, control))
    write_whole(folder / PICTURE, picture)
    write_whole(folder / REPORT, _report(comparison, picture).encode())
    # Last, so that a folder with this file is complete.
    write_whole(folder / results.FILE_NAME, f"{comparison.to_json()}\n".encode())


def _parquet(comparison: Comparison, numbers: Sequence[Floats], control: Floats | None) -> bytes:
    """A row for every pair and deal; the comparison itself goes along as metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = comparison.deals
    columns: dict[str, Any] = {
        name: pa.array(
            [getattr(pair, name) for pair in comparison.pairs for _ in range(n)]
        ).dictionary_encode()
        for name in ("a", "b")
    }
    columns["deal"] = np.tile(np.arange(n), len(numbers))
    stacked = np.concatenate(numbers)
    columns["value"] = stacked[:, 0]
    for seat in range(stacked.shape[1] - 1):
        columns[f"seat_{seat}"] = stacked[:, 1 + seat]
    if control is not None:
        columns["control"] = np.tile(control, len(numbers))
    about = json.dumps(json.loads(comparison.to_json()), ensure_ascii=False)
    table = pa.table(columns).replace_schema_metadata({"trysim-comparison": about})
    content = io.BytesIO()
    pq.write_table(table, content, compression="zstd")
    return content.getvalue()


def _report(comparison: Comparison, picture: bytes) -> str:
    """One page of HTML that needs no other file."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(_TEMPLATE).render(
        comparison=comparison,
        headline=headline(comparison),
        grids=grids(comparison),
        picture=base64.b64encode(picture).decode(),
        command=command(comparison),
    )


def command(comparison: Comparison) -> str:
    """What repeats a comparison: a command line, or a call from Python for pairs chosen freely."""
    agents, pairs = [*comparison.agents], [(pair.a, pair.b) for pair in comparison.pairs]
    who = _agents_words(agents, pairs)
    if who is None:
        return _call(comparison, agents, pairs)
    words = ["trysim", "arena", comparison.game, *who]
    words += ["--deals", str(comparison.deals), "--seed", str(comparison.seed)]
    for name, value in comparison.options.items():
        words += ["--option", f"{name}={'none' if value is None else value}"]
    if comparison.control:
        words += ["--control-variate", *comparison.control]
    return shlex.join([*words, "--out", "again"])


def _agents_words(agents: list[str], pairs: list[tuple[str, str]]) -> list[str] | None:
    if pairs == [*combinations(agents, 2)]:
        return ["--agents", *agents]
    if pairs == [*pairwise(agents)]:
        return ["--agents", *agents, "--chain"]
    anchors = [*dict.fromkeys(b for _, b in pairs)]
    others = [*dict.fromkeys(a for a, _ in pairs)]
    if pairs == [(a, b) for a in others for b in anchors]:
        return ["--agents", *others, "--against", *anchors]
    return None


def _call(comparison: Comparison, agents: list[str], pairs: list[tuple[str, str]]) -> str:
    arguments = f"{comparison.game!r}, {agents!r}, deals={comparison.deals}"
    more = f"seed={comparison.seed}, options={comparison.options!r}, pairs={pairs!r}"
    control = f", control={comparison.control!r}" if comparison.control else ""
    return f"trysim.arena.compare({arguments}, {more}{control}, out='again')"
