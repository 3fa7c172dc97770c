"""Worlds: whole tables that agree with everything a seat knows."""
