"""Agents against agents: comparisons over duplicate deals, whole matches, their records."""

from trysim.arena.duplicate import compare
from trysim.arena.play import play_match, play_out, table_seed
from trysim.arena.results import Comparison, Lead, Pair, Place, Rating, load_comparison
from trysim.arena.statistics import Adjusted

__all__ = [
    "Adjusted",
    "Comparison",
    "Lead",
    "Pair",
    "Place",
    "Rating",
    "compare",
    "load_comparison",
    "play_match",
    "play_out",
    "table_seed",
]
