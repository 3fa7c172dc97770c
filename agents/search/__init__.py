"""Search: looking ahead in worlds that agree with what a seat knows."""
