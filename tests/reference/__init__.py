"""Slow, plain reference versions of the three games, for comparison with the real engines."""
