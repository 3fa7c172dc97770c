"""What the end of a deal is worth in Семерик, in the reward of the environment.

Where games to a target are paid, `standing` holds for each pair of totals below it what the running
game is still worth to pair 0; the games after it are even.
"""

import numpy as np
import numpy.typing as npt

from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.semerik import (
    HORIZON,
    HORIZON_DEAL,
    N_PAIRS,
    N_SEATS,
    REWARD,
    REWARD_POINTS,
    SCORE,
    SCORE_TOTALS,
    TARGET,
    booked_score,
)

NAME = "worth"

Floats = npt.NDArray[np.float64]


@rule
def worth(state: Row, standing: Floats, out: Floats) -> None:
    """Write what the deal that just ended brings each seat (4,), later deals in expectation."""
    ahead = 0.0
    if state[REWARD] == REWARD_POINTS or state[HORIZON] == HORIZON_DEAL:
        ahead += state[SCORE] - state[SCORE + 1]
    else:
        ahead += worth_of_totals(state[SCORE_TOTALS], state[SCORE_TOTALS + 1], state, standing)
    for seat in range(N_SEATS):
        out[seat] = ahead if seat % N_PAIRS == 0 else 0.0 - ahead


@rule
def worth_of_totals(mine: int, others: int, state: Row, standing: Floats) -> float:
    """What totals after a deal are worth to the pair whose are the first."""
    target = state[TARGET]
    if max(mine, others) < target:
        return standing[mine * target + others]
    if mine == others:
        return 0.0  # another deal, even
    if mine > others:
        return booked_score(target, others) / 2
    return -booked_score(target, mine) / 2


@rule
def is_needed(state: Row) -> bool:
    """Whether `worth` reads `standing` under these options."""
    return state[REWARD] != REWARD_POINTS and state[HORIZON] != HORIZON_DEAL


@rule
def fill(state: Row, samples: Floats, standing: Floats) -> None:
    """Write the worth of every standing from sampled deals (N, 2); `standing` (target ** 2,)."""
    target = state[TARGET]
    n = samples.shape[0]
    for total in range(2 * target - 2, -1, -1):  # a deal adds points: later totals first
        for mine in range(max(0, total - target + 1), min(target - 1, total) + 1):
            others = total - mine
            ahead = 0.0
            n_idle = 0
            for i in range(n):
                more, others_more = int(samples[i, 0]), int(samples[i, 1])
                if more + others_more == 0:
                    n_idle += 1
                else:  # dealt to either pair: the game is even
                    ahead += worth_of_totals(mine + more, others + others_more, state, standing)
                    ahead += worth_of_totals(mine + others_more, others + more, state, standing)
            standing[mine * target + others] = ahead / (2 * max(1, n - n_idle))


@rule
def size(state: Row) -> int:
    """Entries of `standing`."""
    return state[TARGET] * state[TARGET]


@rule
def sample_size(state: Row) -> int:
    """Numbers kept of a deal."""
    return N_PAIRS


@rule
def n_samples(state: Row) -> int:
    """Deals to sample."""
    return 4_000


@rule
def note(state: Row, sample: Floats) -> None:
    """Keep what `fill` needs of a play that was just carried out: both pairs' points."""
    sample[0] = state[SCORE]
    sample[1] = state[SCORE + 1]
