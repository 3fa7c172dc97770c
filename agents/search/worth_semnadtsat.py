"""What the end of a deal is worth in Семнадцать, in the reward of the environment.

Where the shared win of several deals is paid, `standing` holds sampled sums of the scores of the
deals to come: (deals - 1, N_FUTURES, seats).
"""

import numpy as np
import numpy.typing as npt

from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import DEALS, OVER, PHASE
from trysim.envs.rules.semnadtsat import (
    N_SEATS,
    NUM_DEALS,
    REWARD,
    REWARD_WIN,
    SCORE,
    TOTALS,
    n_players,
    returns,
)

NAME = "worth"
N_FUTURES = 128

Floats = npt.NDArray[np.float64]


@rule
def worth(state: Row, standing: Floats, out: Floats) -> None:
    """Write what the deal that just ended brings each seat (5,), later deals in expectation."""
    if state[REWARD] != REWARD_WIN:
        _worth_of_scores(state, out)
    elif state[PHASE] == OVER:
        returns(state, out)
    else:
        _chance_to_win(state, standing, out)


@rule
def _worth_of_scores(state: Row, out: Floats) -> None:
    n = n_players(state)
    total = 0
    for seat in range(n):
        total += state[SCORE + seat]
    for seat in range(n):
        out[seat] = state[SCORE + seat] - total / n


@rule
def _chance_to_win(state: Row, standing: Floats, out: Floats) -> None:
    n = n_players(state)
    deals_left = state[NUM_DEALS] - state[DEALS]
    first = (deals_left - 1) * N_FUTURES * N_SEATS
    for seat in range(n):
        out[seat] = -1 / n
    for future in range(first, first + N_FUTURES * N_SEATS, N_SEATS):
        most = state[TOTALS] + standing[future]
        n_winners = 0
        for seat in range(n):
            total = state[TOTALS + seat] + standing[future + seat]
            n_winners = 1 if total > most else n_winners + (total == most)
            most = max(most, total)
        for seat in range(n):
            if state[TOTALS + seat] + standing[future + seat] == most:
                out[seat] += 1 / (n_winners * N_FUTURES)


@rule
def is_needed(state: Row) -> bool:
    """Whether `worth` reads `standing` under these options."""
    return state[REWARD] == REWARD_WIN and state[NUM_DEALS] > 1


@rule
def fill(state: Row, samples: Floats, standing: Floats) -> None:
    """Write sampled sums of later deals' scores from sampled deals (N, 5)."""
    n = n_players(state)
    for future in range(standing.size // N_SEATS):
        before = future - N_FUTURES
        for seat in range(n):
            alike = (seat + future) % n  # every seat stands for every other
            standing[future * N_SEATS + seat] = samples[future % samples.shape[0], alike]
            if before >= 0:
                standing[future * N_SEATS + seat] += standing[before * N_SEATS + seat]


@rule
def size(state: Row) -> int:
    """Entries of `standing`."""
    return (state[NUM_DEALS] - 1) * N_FUTURES * N_SEATS


@rule
def sample_size(state: Row) -> int:
    """Numbers kept of a deal."""
    return N_SEATS


@rule
def n_samples(state: Row) -> int:
    """Deals to sample."""
    return 4_000


@rule
def note(state: Row, sample: Floats) -> None:
    """Keep what `fill` needs of a play that was just carried out: the scores."""
    for seat in range(N_SEATS):
        sample[seat] = state[SCORE + seat]
