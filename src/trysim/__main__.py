"""`python -m trysim` is the `trysim` command."""

import sys

from trysim.cli import main

sys.exit(main())
