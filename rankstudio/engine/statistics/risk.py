"""Risk of runs over queries: how much a run loses where it is worse than a baseline.

The mean of a measure lets gains in some queries pay for losses in
others. The criteria of this module weight losses more than gains: URisk
and TRisk compare a run with one baseline, ZRisk and GeoRisk compare
each run with what all runs achieve.

References
----------
Wang, L., Bennett, P. N. and Collins-Thompson, K. (2012). Robust ranking models
via risk-sensitive optimization. SIGIR, 761-770. Dinçer, B. T., Macdonald, C.
and Ounis, I. (2014). Hypothesis testing for the risk-sensitive evaluation of
retrieval systems. SIGIR, 23-32. Dinçer, B. T., Macdonald, C. and Ounis, I.
(2016). Risk-sensitive evaluation and learning to rank using multiple baselines.
SIGIR, 483-492. Sousa, D. X., Canuto, S., Gonçalves, M. A., Rosa, T. C. and
Martins, W. S. (2019). Risk-sensitive learning to rank with evolutionary
multi-objective feature selection. ACM Transactions on Information Systems 37
(2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics._checks import EPS, ROUNDINGS, paired_rows
from rankstudio.engine.statistics.paired import paired_t

ALPHA = 1.0
"""Default risk aversion: a loss counts twice as much as a gain of the same size."""


@dataclass(frozen=True)
class BaselineRisk:
    """Risk of a run against a baseline; all floats are NaN without a query.

    Attributes
    ----------
    gain, loss : float
        Mean over all queries of the gains, and of the losses, both at least 0.
    urisk : float
        ``gain - (1 + alpha) * loss``.
    trisk, p : float
        Student's t of the weighted differences and its two-sided p; NaN
        if these do not vary, for instance of equal runs or a single
        query.
    n_losses : int
        Queries in which the run is worse than the baseline.
    n : int
        Queries in which both have a value.
    """

    gain: float
    loss: float
    urisk: float
    trisk: float
    p: float
    n_losses: int
    n: int


def baseline_risk(
    run: ArrayLike,
    baseline: ArrayLike,
    alpha: float = ALPHA,
    *,
    higher_is_better: bool = True,
) -> BaselineRisk:
    r"""Return URisk and TRisk of a run against a baseline.

    Parameters
    ----------
    run, baseline : array-like of shape (Q,)
        Values of one measure in the same queries, in the same order.
        Queries with NaN in either are left out.
    alpha : float, default 1
        Risk aversion, 0 or more; 0 weights losses as gains.
    higher_is_better : bool, default True
        Whether larger values of the measure are better.

    Returns
    -------
    BaselineRisk

    Raises
    ------
    ParameterError
        For rows of different lengths, infinite values, or an alpha that
        is negative or not finite.

    Notes
    -----
    With the improvement :math:`\delta_q` of the run over the baseline in query
    :math:`q` of :math:`Q` (Wang et al. 2012):

    .. math::
        \mathrm{URisk}_\alpha = \frac{1}{Q} \Big[ \sum_{q:\ \delta_q > 0} \delta_q
        + (1 + \alpha) \sum_{q:\ \delta_q < 0} \delta_q \Big]

    TRisk is URisk divided by its standard error, with the standard deviation
    :math:`s_\alpha` of the :math:`Q` weighted differences, whose denominator is
    :math:`Q - 1` (Dinçer et al. 2014):

    .. math::
        \mathrm{TRisk}_\alpha = \frac{\sqrt{Q}}{s_\alpha}\, \mathrm{URisk}_\alpha

    It follows Student's distribution with :math:`Q - 1` degrees of freedom if the
    expected URisk is 0. With alpha 0 URisk is the mean difference, and TRisk is t of
    the paired test. Differences within rounding count as 0. O(Q).
    """
    alpha = checked_alpha(alpha)
    run_values, baseline_values = paired_rows(run, baseline)
    if run_values.size == 0:
        # Gain, loss, URisk, TRisk and its p.
        return BaselineRisk(*(math.nan,) * 5, n_losses=0, n=0)

    # Improvement in each query; differences within rounding are none.
    sign = 1.0 if higher_is_better else -1.0
    rounding = ROUNDINGS * EPS * float(np.abs([run_values, baseline_values]).max())
    improvement = sign * (run_values - baseline_values)
    improvement[np.abs(improvement) <= rounding] = 0.0

    # Losses weigh 1 + alpha times as much.
    is_loss = improvement < 0
    weighted = np.where(is_loss, (1.0 + alpha) * improvement, improvement)

    # Without variation there is no standard error.
    varies = float(np.ptp(weighted)) > 2.0 * (1.0 + alpha) * rounding
    # t of the weighted improvements is TRisk.
    test = paired_t(weighted, np.zeros(weighted.size))
    return BaselineRisk(
        gain=float(np.mean(np.maximum(improvement, 0.0))),
        loss=float(np.mean(np.maximum(-improvement, 0.0))),
        urisk=float(np.mean(weighted)),
        trisk=test.t if varies else math.nan,
        p=test.p if varies else math.nan,
        n_losses=int(np.count_nonzero(is_loss)),
        n=run_values.size,
    )


def z_risks(table: ArrayLike, alpha: float = ALPHA) -> Floats:
    r"""Return ZRisk of each run: its risk against what all runs together would lead to expect.

    Parameters
    ----------
    table : array-like of shape (Q, R)
        Values of one measure, of which larger ones are better, by query
        and run; 0 or more. Queries with NaN in any run are left out.
    alpha : float, default 1
        Risk aversion, 0 or more.

    Returns
    -------
    ndarray of shape (R,)
        ZRisk of each run: 0 if the run's value is the same share of the
        sum of all runs in every query.

    Raises
    ------
    ParameterError
        For another shape, negative or infinite values, or an alpha that
        is negative or not finite.

    Notes
    -----
    The table of values is read as in a chi-squared test. With the sums
    :math:`S_i` of run :math:`i`, :math:`T_q` of query :math:`q` and :math:`N`
    of all values, the expected value and the deviation from it are

    .. math::
        e_{iq} = \frac{S_i T_q}{N}, \qquad
        z_{iq} = \frac{x_{iq} - e_{iq}}{\sqrt{e_{iq}}},

    and ZRisk weights negative deviations like URisk (Dinçer et al.
    2016):

    .. math::
        \mathrm{ZRisk}_i = \sum_{q:\ z_{iq} > 0} z_{iq}
        + (1 + \alpha) \sum_{q:\ z_{iq} < 0} z_{iq}

    Cells with an expected value of 0 deviate by 0. O(QR).
    """
    alpha = checked_alpha(alpha)
    counted = _checked_table(table)  # only queries in which all runs have a value
    total = float(counted.sum())
    if total == 0.0:
        return np.zeros(counted.shape[1])

    # Expected value of each cell, as if runs and queries were independent.
    expected = np.outer(counted.sum(axis=1), counted.sum(axis=0) / total)

    # Deviations in units of the square root of the expected value.
    deviation = np.zeros(counted.shape)
    np.divide(counted - expected, np.sqrt(expected), out=deviation, where=expected > 0)
    weighted = np.where(deviation < 0, (1.0 + alpha) * deviation, deviation)
    sums: Floats = weighted.sum(axis=0)
    return sums


def geo_risks(table: ArrayLike, alpha: float = ALPHA) -> Floats:
    r"""Return GeoRisk of each run: its mean and its risk against all runs in one number.

    ``table`` has shape (Q, R): values of one measure from 0 up, of
    which larger ones are better, by query and run. Queries with NaN in
    any run are left out. ``alpha`` from 0 up is the aversion to risk.

    Returns
    -------
    ndarray of shape (R,)
        From 0 to the square root of the run's mean; NaN without a query.

    Notes
    -----
    GeoRisk is the geometric mean of the mean over the :math:`Q` queries
    and of the normal distribution function :math:`\Phi` at the mean
    ZRisk (Dinçer et al. 2016):

    .. math::
        \mathrm{GeoRisk}_i = \sqrt{\frac{S_i}{Q}\,
        \Phi\!\left(\frac{\mathrm{ZRisk}_i}{Q}\right)}

    It depends on all runs of the table: with other runs beside it, a
    run has another GeoRisk.
    """
    from scipy.special import ndtr  # noqa: PLC0415 - scipy, where it is needed

    counted = _checked_table(table)  # only queries in which all runs have a value
    risks = z_risks(counted, alpha)
    n_queries = len(counted)
    if n_queries == 0:
        return np.full(risks.size, math.nan)
    georisk: Floats = np.sqrt(counted.mean(axis=0) * ndtr(risks / n_queries))
    return georisk


def checked_alpha(alpha: float) -> float:
    """Return a risk aversion; raise ParameterError unless it is finite and 0 or more."""
    if isinstance(alpha, bool) or not 0 <= alpha < math.inf:
        raise ParameterError("alpha", alpha, "a finite number from 0 up")
    return float(alpha)


def _checked_table(table: ArrayLike) -> Floats:
    """Return the rows of a table in which all runs have a value.

    The table has shape (Q, R), queries by runs. Raise ParameterError
    for another shape, negative or infinite values.
    """
    numbers = np.asarray(table, dtype=np.float64)
    if numbers.ndim != 2 or numbers.shape[1] == 0:
        expected = "a row per query, a column per run"
        raise ParameterError("table", numbers.shape, expected)
    invalid = numbers[(numbers < 0) | np.isinf(numbers)]
    if invalid.size:
        expected = "finite numbers from 0 up, or NaN where there is none"
        raise ParameterError("table", float(invalid[0]), expected)
    complete: Floats = numbers[~np.isnan(numbers).any(axis=1)]
    return complete
