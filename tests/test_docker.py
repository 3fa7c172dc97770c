"""The image is built from what the package needs, with the versions that are tested."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_all_of_the_package_reaches_the_image():
    let_through = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.M))
    (listed,) = re.findall(
        r"targets\.wheel\]\nonly-include = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), re.S
    )
    assert {path.split("/")[0] for path in re.findall(r'"([^"]+)"', listed)} <= let_through
    assert {"pyproject.toml", "README.md", "constraints.txt"} <= let_through


def test_tools_are_pinned_as_elsewhere():
    (version,) = re.findall(r"build==([\d.]+)", (ROOT / "Dockerfile").read_text())
    assert f"\nbuild=={version}\n" in (ROOT / "constraints.txt").read_text()


def test_a_linter_has_nothing_to_say():
    linter = shutil.which("hadolint")
    if linter is None:
        pytest.skip("no hadolint here")
    assert subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True).stdout == b""
