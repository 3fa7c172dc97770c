"""What the end of a deal is worth in Сім листів, in the reward of the environment.

`standing` holds what every standing of the match is worth to those who are still in: for 2, 3, …
players left, for every choice of their counts (0..6, the next dealer's first, then clockwise), a
number for each of them.
"""

import numpy as np
import numpy.typing as npt

from trysim.envs.rules.bits import lowest, n_bits
from trysim.envs.rules.jit import Row, rule
from trysim.envs.rules.row import DEAL, NOBODY, PHASE
from trysim.envs.rules.sim_lystiv import (
    ALL_OUT,
    ALL_OUT_RACE,
    ALL_OUT_REPLAY,
    BLOWS_OF_RANK,
    COUNTS,
    DEALER,
    EXITS,
    HAND_SIZE,
    LEADER,
    LOSER,
    N_ACTIVE,
    N_EXITS,
    N_PLAYED,
    N_SEATS,
    N_TRICKS,
    OUT,
    PENALTY,
    PENALTY_NONE,
    REWARD,
    REWARD_BLOWS,
    REWARD_PLACEMENT,
    TRICKS_TO_LEAVE,
    n_players,
)

NAME = "worth"
MEAN_BLOWS = BLOWS_OF_RANK.mean()
_COUNT_BITS = 4  # of a player's count, where all counts are one number
_PLAYERS, _WINNERS, _PLACES = 0, 1, 1 + HAND_SIZE  # of a sampled deal

Floats = npt.NDArray[np.float64]


@rule
def worth(state: Row, standing: Floats, out: Floats) -> None:
    """Write what each seat (5,) has from the match after the deal that just ended."""
    out[:] = 0
    for place in range(state[N_EXITS]):
        out[state[EXITS + place]] = worth_of_place(state, place)
    if state[PHASE] == DEAL:
        _worth_of_counts(state, standing, out)
    elif state[LOSER] != NOBODY:
        out[state[LOSER]] = worth_of_loser(state)


@rule
def worth_of_place(state: Row, place: int) -> float:
    """The reward of the `place`-th (from 0) to leave."""
    if state[REWARD] != REWARD_PLACEMENT:
        return 0.0
    return 1 - 2 * place / (n_players(state) - 1)


@rule
def worth_of_loser(state: Row) -> float:
    """The loser's reward, blows in expectation."""
    if state[REWARD] != REWARD_BLOWS:
        return -1.0
    if state[PENALTY] == PENALTY_NONE:
        return 0.0
    return -MEAN_BLOWS * (n_players(state) - 1)


@rule
def _worth_of_counts(state: Row, standing: Floats, out: Floats) -> None:
    """Write what those who are still in may expect."""
    n = n_players(state)
    m, counts = 0, 0
    for k in range(n):
        seat = (state[DEALER] + k) % n  # the next dealer first
        if not state[OUT] >> seat & 1:
            counts |= state[COUNTS + seat] << _COUNT_BITS * m
            m += 1
    at = _entry(counts, m, 0, 0)
    for k in range(n):
        seat = (state[DEALER] + k) % n
        if not state[OUT] >> seat & 1:
            out[seat] = standing[at]
            at += 1


@rule
def first_of(m: int) -> int:
    """The first entry for `m` players."""
    at = 0
    for fewer in range(2, m):
        at += fewer * TRICKS_TO_LEAVE**fewer
    return at


@rule
def is_needed(state: Row) -> bool:
    """Whether `worth` reads `standing` under these options."""
    return True


@rule
def size(state: Row) -> int:
    """Entries of `standing`."""
    return first_of(n_players(state) + 1)


@rule
def sample_size(state: Row) -> int:
    """Numbers kept of a deal: players in it, the winner of every trick, the places of the seats."""
    return _PLACES + N_SEATS


@rule
def n_samples(state: Row) -> int:
    """Deals to sample; with five players there are seven times as many standings."""
    return 1_500 if n_players(state) == N_SEATS else 5_000


@rule
def note(state: Row, sample: Floats) -> None:
    """Keep what `fill` needs of a play that was just carried out."""
    if state[N_PLAYED]:
        return
    sample[_PLAYERS] = state[N_ACTIVE]
    sample[_WINNERS + state[N_TRICKS] - 1] = state[LEADER]
    if state[N_TRICKS] == 1:  # the dealer has not changed yet
        place = 0
        for k in range(n_players(state)):
            seat = (state[DEALER] + k) % n_players(state)
            if not state[OUT] >> seat & 1:
                sample[_PLACES + seat] = place
                place += 1


@rule
def fill(state: Row, samples: Floats, standing: Floats) -> None:
    """Write the worth of every standing from sampled deals (N, numbers)."""
    for m in range(2, n_players(state) + 1):
        sweeps = 4 if state[ALL_OUT] == ALL_OUT_REPLAY else 1  # a void deal leads back
        for _ in range(sweeps):
            for total in range(m * (TRICKS_TO_LEAVE - 1), -1, -1):  # later standings first
                _fill_total(state, samples, standing, m, total)


@rule
def _fill_total(state: Row, samples: Floats, standing: Floats, m: int, total: int) -> None:
    """Write the standings of `m` players whose counts have this total."""
    for index in range(TRICKS_TO_LEAVE**m):
        counts, rest, left = 0, index, total
        for k in range(m - 1, -1, -1):
            counts |= rest % TRICKS_TO_LEAVE << _COUNT_BITS * k
            left -= rest % TRICKS_TO_LEAVE
            rest //= TRICKS_TO_LEAVE
        if left == 0:
            _fill_standing(state, samples, standing, m, counts)


@rule
def _fill_standing(state: Row, samples: Floats, standing: Floats, m: int, counts: int) -> None:
    """Write the mean over the sampled deals of `m` players; `counts` has four bits for each."""
    worths = np.zeros(N_SEATS, np.float64)
    n = 0
    for i in range(samples.shape[0]):
        if samples[i, _PLAYERS] == m:
            _add_outcome(state, samples[i], standing, m, counts, worths)
            n += 1
    at = _entry(counts, m, 0, 0)
    for k in range(m):
        standing[at + k] = worths[k] / max(1, n)


@rule
def _add_outcome(
    state: Row, sample: Floats, standing: Floats, m: int, counts: int, worths: Floats
) -> None:
    """Add what this deal makes of these counts to the worth of each player (m,)."""
    after, out, last_out = counts, 0, NOBODY
    for trick in range(HAND_SIZE):
        k = _winner(sample, trick)
        after += 1 << _COUNT_BITS * k
        if _count(after, k) == TRICKS_TO_LEAVE:
            out |= 1 << k
            last_out = k
    n_left = m - n_bits(out)
    if n_left == 0 and state[ALL_OUT] == ALL_OUT_REPLAY:
        after, out, n_left = counts, 0, m
    race_lost = n_left == 0 and state[ALL_OUT] == ALL_OUT_RACE
    if out and state[REWARD] == REWARD_PLACEMENT:
        _add_places(state, sample, counts, m, worths, last_out if race_lost else NOBODY)
    if race_lost:
        worths[last_out] += worth_of_loser(state)
    elif n_left == 1:
        worths[lowest(~out)] += worth_of_loser(state)
    elif n_left > 1:
        _add_next(after, standing, m, out, worths)


@rule
def _winner(sample: Floats, trick: int) -> int:
    return int(sample[_PLACES + int(sample[_WINNERS + trick])])


@rule
def _count(counts: int, k: int) -> int:
    return counts >> _COUNT_BITS * k & ((1 << _COUNT_BITS) - 1)


@rule
def _add_places(
    state: Row, sample: Floats, counts: int, m: int, worths: Floats, loser: int
) -> None:
    """Add the rewards of those who leave, in the order of their seventh trick."""
    place = n_players(state) - m
    for trick in range(HAND_SIZE):
        k = _winner(sample, trick)
        counts += 1 << _COUNT_BITS * k
        if _count(counts, k) == TRICKS_TO_LEAVE and k != loser:
            worths[k] += worth_of_place(state, place)
            place += 1


@rule
def _add_next(after: int, standing: Floats, m: int, out: int, worths: Floats) -> None:
    """Add the worth of the standing that follows; the dealer's left deals next."""
    at = _entry(after, m, out, 1)
    for j in range(1, m + 1):
        k = j if j < m else 0
        if not out >> k & 1:
            worths[k] += standing[at]
            at += 1


@rule
def _entry(counts: int, m: int, out: int, first: int) -> int:
    """The place of the entries for the counts of those of `m` players who are not out."""
    index, n_left = 0, 0
    for j in range(first, first + m):
        k = j if j < m else j - m
        if not out >> k & 1:
            index = index * TRICKS_TO_LEAVE + _count(counts, k)
            n_left += 1
    return first_of(n_left) + index * n_left
