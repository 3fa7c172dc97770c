"""Agents against agents: comparisons over duplicate deals, whole matches, their records."""

from trysim.arena.duplicate import Comparison, Pair, compare
from trysim.arena.play import play_match, play_out, table_seed

__all__ = ["Comparison", "Pair", "compare", "play_match", "play_out", "table_seed"]
