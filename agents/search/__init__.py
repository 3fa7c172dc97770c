"""Search over whole tables: exact endgames."""
