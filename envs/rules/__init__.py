"""The rules: one file a game, and the words, bits and layouts they are written in."""
