"""What the documentation site is made of beside the pages in `docs/`: called by mkdocs.

Source texts, CONTRIBUTING and the changelog stand elsewhere in the repository and become pages
here; links to other files become their names. The speed page is made of the benchmark.
"""

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
GAMES = ("sim_lystiv", "semnadtsat", "semerik")
PAGES = {
    **{f"sources/{game}.md": f"envs/rules/{game}.md" for game in GAMES},
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that stand elsewhere."""
    for page, path in PAGES.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "speed.md", content=speed()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Point links that lead out of `docs/` to the page that a file has here, else name the file."""
    uri = page.file.src_uri
    folder = posixpath.dirname(PAGES.get(uri, f"docs/{uri}"))
    here = posixpath.dirname(uri)

    def link(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if "://" in target:
            return found[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        page_of = {source: name for name, source in PAGES.items()}
        is_page = path.startswith("docs/") and not path.endswith(".py")
        name = page_of.get(path, path.removeprefix("docs/") if is_page else "")
        if name:
            return f"[{text}]({posixpath.relpath(name, here or '.')}{anchor})"
        return text if text.startswith("`") else f"{text} (`{path}`)"

    return _LINK.sub(link, markdown)


def speed() -> str:
    """The page about speed: the rows of the last benchmark."""
    found = json.loads((ROOT / "benchmarks" / "latest.json").read_text(encoding="utf-8"))
    about = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8").partition("\n")[2]
    lines = ["# Speed", "", "Decisions a second, from `benchmarks/latest.json`.", ""]
    lines += ["| layer | game | a second |", "|---|---|---:|"]
    lines += [f"| `{r['layer']}` | {r['game']} | {r['per_s']:,.0f} |" for r in found["rows"]]
    lines += ["", "## Made on", "", *(f"- {k}: {v}" for k, v in found["machine"].items())]
    lines += [*(f"- {k} {v}" for k, v in found["versions"].items()), "", "## How", about]
    return "\n".join(lines)
