"""Measure this machine: `python benchmarks/run.py [--peers] [--json FILE]`, as `trysim bench`."""

import sys

from trysim.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
