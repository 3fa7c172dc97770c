"""What the numbers of a comparison are worth: intervals, controls, strengths, deals to come.

All are numbers of deals: `values` (N,) one number a deal, in the unit of the game's reward.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

N_RESAMPLES = 5000
MOST_MORE_DEALS = 1_000_000  # beyond that nobody waits for a decision
_BATCH = 2**21  # numbers drawn at once for the bootstrap
_NORMAL_95 = 1.96  # standard errors from the mean to the end of a 95 % interval
_NORMAL_80 = 0.84  # and further, so that four of five repetitions are clear of zero
_FEWEST_FOR_SLOPE = 10
_ZERO = 1e-9  # what is closer to zero than this is rounding

Floats = npt.NDArray[np.float64]


def interval(values: Floats) -> tuple[float, float]:
    """The 95 % bootstrap interval (percentiles) of the mean of values (N,)."""
    # Here, for it is slow to import.
    from scipy.stats import bootstrap  # type: ignore[import-untyped, unused-ignore]

    result = bootstrap(
        (values,),
        np.mean,
        n_resamples=N_RESAMPLES,
        batch=max(1, _BATCH // len(values)),
        method="percentile",
        rng=np.random.default_rng(0),
    )
    low, high = result.confidence_interval
    return float(low), float(high)


# Control variates -------------------------------------------------------------------------------
@dataclass(frozen=True)
class Control:
    """Another number of the same deals, `values` (N,), whose expectation is known.

    `error` is the standard error of `expected`: 0 if it is exact.
    """

    values: Floats
    expected: float
    error: float = 0.0


@dataclass(frozen=True)
class Adjusted:
    """A mean freed from what a control explains, and its 95 % interval.

    `mean` is the plain mean - `coefficient` * (the control's mean - its expectation). The interval
    counts the error of that expectation. `narrower` is the part of the plain interval's width that
    is gone (below 0: it grew).
    """

    mean: float
    ci95: tuple[float, float]
    coefficient: float
    correlation: float
    narrower: float


def adjust(values: Floats, control: Control, plain: tuple[float, float] | None = None) -> Adjusted:
    """The mean of values (N,) with the help of a control of the same deals.

    `plain` is the interval without it, if it is known already.
    """
    coefficient, correlation = _slope(values, control)
    freed = values - coefficient * (control.values - control.expected)
    mean, ends = float(freed.mean()), interval(freed)
    # A slope fitted to N deals makes them look closer together than they are.
    fitted = math.sqrt((len(values) - 1) / (len(values) - 2)) if coefficient else 1.0
    unsure = _NORMAL_95 * abs(coefficient) * control.error
    below, above = (math.hypot(fitted * (end - mean), unsure) for end in ends)
    plain_low, plain_high = plain or interval(values)
    width = plain_high - plain_low
    narrower = 1 - (above + below) / width if width > 0 else 0.0
    return Adjusted(mean, (mean - below, mean + above), coefficient, correlation, narrower)


def adjusted_mean(values: Floats, control: Control | None) -> float:
    """The mean of values (N,), with the help of a control if there is one."""
    if control is None:
        return float(values.mean())
    coefficient, _ = _slope(values, control)
    return float((values - coefficient * (control.values - control.expected)).mean())


def _slope(values: Floats, control: Control) -> tuple[float, float]:
    """The coefficient that leaves least variance, and the correlation of values and control."""
    n = len(values)
    if n < _FEWEST_FOR_SLOPE:
        return 0.0, 0.0
    (var, covariance), (_, var_control) = np.cov(values, control.values)
    if var <= 0 or var_control <= 0:
        return 0.0, 0.0
    correlation = covariance / math.sqrt(var * var_control)
    return float(covariance / (var_control + n * control.error**2)), float(correlation)


# Decisions --------------------------------------------------------------------------------------
def is_decided(ci95: tuple[float, float]) -> bool:
    """Whether an interval is clear of zero."""
    return ci95[0] > _ZERO or ci95[1] < -_ZERO


def more_deals(mean: float, ci95: tuple[float, float], deals: int) -> int | None:
    """About how many deals more would decide which side of zero a mean is on; 0 if it is decided.

    If the mean is as large as it looks, so many give an interval clear of zero in four of five
    comparisons. None if that takes more than `MOST_MORE_DEALS`. The standard deviation of a deal is
    taken from the interval (of `deals` deals).
    """
    if is_decided(ci95):
        return 0
    sd = (ci95[1] - ci95[0]) / 2 / _NORMAL_95 * math.sqrt(deals)
    if abs(mean) <= _ZERO * max(sd, 1):
        return None
    needed = ((_NORMAL_95 + _NORMAL_80) * sd / mean) ** 2
    more = max(math.ceil(needed) - deals, 1)
    return more if more <= MOST_MORE_DEALS else None


def strengths(agents: Sequence[str], pairs: Sequence[tuple[str, str]], values: Floats) -> Floats:
    """What each agent is worth above the average of all, deal by deal: (deals, agents).

    `values` (deals, pairs) are the pairs' numbers. Of all worths these have differences that fit
    them best (least squares); where all pairs are played they are in the order of the agents'
    means against all others.
    """
    differences = np.zeros((len(pairs), len(agents)))
    for row, (a, b) in zip(differences, pairs, strict=True):
        row[agents.index(a)], row[agents.index(b)] = 1, -1
    return np.asarray(values @ np.linalg.pinv(differences).T)


def linked(agents: Sequence[str], pairs: Sequence[tuple[str, str]]) -> set[str]:
    """The agents that a chain of pairs links with the first one."""
    found = {agents[0]}
    while more := {x for pair in pairs if found & {*pair} for x in pair} - found:
        found |= more
    return found
