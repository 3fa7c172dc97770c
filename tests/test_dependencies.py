"""Every dependency has its reason in the documentation, and a licence that fits MIT."""

import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

if sys.version_info < (3, 11):
    pytest.skip("tomllib came with Python 3.11", allow_module_level=True)
import tomllib

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = {k: v for k, v in PROJECT["optional-dependencies"].items() if k != "dev"}
FREE = re.compile(
    r"MIT|BSD|Apache|PSF|Python Software|LGPL|Lesser|ISC|Zlib|HPND|MPL|Unlicense", re.I
)


def name_of(requirement):
    return re.match(r"[\w.-]+", requirement).group()


USED = [
    *map(name_of, PROJECT["dependencies"]),
    *(name_of(r) for each in EXTRAS.values() for r in each),
]


def test_every_dependency_has_a_reason():
    page = (ROOT / "docs" / "dependencies.md").read_text()
    told = {name for line in page.splitlines() if line.startswith("| `")
            for name in re.findall(r"`([\w.-]+)`", line)}  # fmt: skip
    assert set(USED) - told == set()
    for extra, requirements in EXTRAS.items():
        for requirement in requirements:
            line = next(x for x in page.splitlines() if f"`{name_of(requirement)}`" in x)
            assert line.startswith(f"| `{extra}`") or name_of(requirement) in map(
                name_of, PROJECT["dependencies"]
            ), requirement


@pytest.mark.parametrize("name", sorted(set(USED)))
def test_its_licence_is_free(name):
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    classifiers = [c for c in about.get_all("Classifier") or [] if c.startswith("License")]
    told = " ".join(
        [about.get("License-Expression") or "", *classifiers, about.get("License") or ""]
    )
    assert FREE.search(told), told


def test_versions_have_lower_bounds():
    every = [*PROJECT["dependencies"], *(r for each in EXTRAS.values() for r in each)]
    assert [r for r in every if ">=" not in r] == []
