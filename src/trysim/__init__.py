"""Three traditional trick-taking games as fast, exact multi-agent environments."""

__version__ = "0.1.0"
