"""The generated tables say what the code does."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_generated_tables_are_fresh() -> None:
    command = [sys.executable, str(ROOT / "docs" / "tables.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
