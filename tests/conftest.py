"""What all tests need."""

import signal

# A script's shell has what it starts in the background ignore Ctrl-C, and the programs that tests
# stop that way would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)
