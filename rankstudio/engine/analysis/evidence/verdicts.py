"""Verdicts on the features of a selection: which are secure, and which could be others or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from rankstudio.engine.analysis.evidence.near_best_sets import NORMAL
from rankstudio.engine.arrays import Bools
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr

Named = Callable[[int], str]
"""Returns what a column is called."""


class Verdict(Enum):
    """What the data say of a selected feature."""

    SECURE = "secure"
    INTERCHANGEABLE = "interchangeable"
    UNCERTAIN = "uncertain"
    DISPENSABLE = "dispensable"

    @property
    def label(self) -> str:
        """Its name in the language of the process."""
        return {
            Verdict.SECURE: tr("secure"),
            Verdict.INTERCHANGEABLE: tr("interchangeable"),
            Verdict.UNCERTAIN: tr("uncertain"),
            Verdict.DISPENSABLE: tr("dispensable"),
        }[self]


@dataclass(frozen=True)
class VerdictRules:
    """The thresholds of all verdicts, in one place.

    Attributes
    ----------
    threshold : float
        τ, the selection probability from which a feature is secure; greater than 0.5, at most 1. The default
        0.9 is the strictest of the range that Meinshausen and Bühlmann (2010) recommend. How many features
        that are selected no more often than by chance reach it is bounded by
        :meth:`rankstudio.engine.analysis.evidence.stability_selection.StabilitySelection.bound`.
    twin : float
        Correlation within queries, without its sign, from which two features are twins: they share 98 % of
        their variance. Which twin a half selects is chance, but the same chance for all halves, which have
        queries in common: one that is no better is selected on 90 % of them in one dataset of five. So a
        probability says nothing of a twin alone.
    stop_level : float
        α of ForwardStop: the expected share of useless steps among those before the stop is at most this.
    """

    threshold: float = 0.9
    twin: float = 0.99
    stop_level: float = 0.05

    def __post_init__(self) -> None:
        if not 0.5 < self.threshold <= 1:
            raise ParameterError("threshold", self.threshold, "a number greater than 0.5 and at most 1")
        if not 0 < self.twin <= 1:
            raise ParameterError("twin", self.twin, "a number greater than 0 and at most 1")
        if not 0 < self.stop_level < 1:
            raise ParameterError("stop_level", self.stop_level, "a number between 0 and 1 (exclusive)")


@dataclass(frozen=True)
class Loss:
    """What a set of features loses without one of them, as the mean over queries.

    Attributes
    ----------
    value : float
        The measure with the feature less that without it; for an error the other way round: more than 0
        where the set is worse without it.
    low, high : float
        Its 95 % interval, by the paired bootstrap over queries.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SetDifference:
    """How much worse a set of features is than the best one, by left-out squared errors.

    Attributes
    ----------
    features : tuple of int
        0-based columns.
    difference : float
        Its error less that of the best set, summed over queries.
    standard_error : float
        Of the difference, from its parts in each query.
    """

    features: tuple[int, ...]
    difference: float
    standard_error: float

    @property
    def near_best(self) -> bool:
        """Whether a paired test at 5 % cannot tell it from the best set."""
        return self.difference <= NORMAL * self.standard_error


@dataclass(frozen=True)
class Exchange:
    """A set in which another feature takes the place of a selected one.

    Attributes
    ----------
    column : int
        The other feature.
    correlation : float
        Pearson's between the two within queries; NaN for a constant.
    result : SetDifference or None
        Of the set that results; None where sets are not judged.
    """

    column: int
    correlation: float
    result: SetDifference | None


@dataclass(frozen=True)
class FeatureEvidence:
    """What is known of one feature; None for what does not apply or is not computed.

    Attributes
    ----------
    column : int
        0-based.
    selected : bool
        Whether it is one of the set.
    probability : float or None
        The share of the halves of the queries on which it is among the first k.
    position : tuple of float or None
        The 5, 50 and 95 % quantiles of its place in the paths of the halves; inf where it has none.
    share : float or None
        Its Shapley share of the left-out gain of the set.
    loss : Loss or None
        What the set loses without it.
    n_deciding : int or None
        How many queries have to go for its step to select another feature; None also where none were found.
    substitute : int or None
        The column whose exact swap for it changes the left-out error least, or lowers it most.
    price : float or None
        By what share of the left-out error that swap makes it greater; below 0 where it is lower.
    near_best_share : float or None
        The share of the near-best sets of k features that contain it.
    partner : int or None
        The column with which it is interchangeable.
    pair_probability : float or None
        The share of the halves on which it or its partner is among the first k.
    smaller : SetDifference or None
        The set of k - 1 features without it that was compared with the best set of k.
    by_chance : bool
        Whether so many features are selected that all of those above the threshold may be there by chance.
    verdict : Verdict or None
        None for a feature that is not selected, or that was required.
    """

    column: int
    selected: bool
    probability: float | None = None
    position: tuple[float, float, float] | None = None
    share: float | None = None
    loss: Loss | None = None
    n_deciding: int | None = None
    substitute: int | None = None
    price: float | None = None
    near_best_share: float | None = None
    partner: int | None = None
    pair_probability: float | None = None
    smaller: SetDifference | None = None
    by_chance: bool = False
    verdict: Verdict | None = None

    def reason(self, named: Named) -> str:
        """Return why the verdict is what it is, as a sentence with its numbers; "" without a verdict.

        Parameters
        ----------
        named : callable
            Returns what a column is called.
        """
        if self.verdict is None or self.probability is None:
            return ""
        share = f"{100 * self.probability:.0f}"
        if self.verdict is Verdict.SECURE:
            return tr("Selected on {share} % of the halves of the queries.").format(share=share)
        if self.verdict is Verdict.INTERCHANGEABLE:
            assert self.partner is not None and self.pair_probability is not None
            pair = f"{100 * self.pair_probability:.0f}"
            return tr(
                "Selected on {share} % of the halves of the queries, and it or {other} on {pair} %. "
                "Either can stand for the other."
            ).format(share=share, other=named(self.partner), pair=pair)
        if self.verdict is Verdict.DISPENSABLE:
            assert self.loss is not None
            return tr(
                "Selected on only {share} % of the halves of the queries. The loss without it may be 0 "
                "(95 % interval {low} to {high}), and a smaller set without it is as good."
            ).format(share=share, low=_number(self.loss.low), high=_number(self.loss.high))
        if self.by_chance:
            return tr(
                "Selected on {share} % of the halves of the queries. For a selection of this size, "
                "that may be chance."
            ).format(share=share)
        return tr(
            "Selected on only {share} % of the halves of the queries, but neither a substitute nor a smaller "
            "set is shown to be as good."
        ).format(share=share)


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def verdict_of(row: FeatureEvidence, rules: VerdictRules) -> Verdict | None:
    """Return the verdict on a selected feature by the first rule that applies.

    1. Interchangeable: it has a partner, see :func:`partner_of`.
    2. Secure: its probability is at least the threshold, and not all features of which that is true may be
       there by chance.
    3. Dispensable: the interval of the loss without it contains 0, or is below, and a set of k - 1 features
       without it is not distinguishable from the best set of k.
    4. Uncertain: the others.

    Parameters
    ----------
    row : FeatureEvidence
        With everything but the verdict.
    rules : VerdictRules

    Examples
    --------
    >>> verdict_of(FeatureEvidence(0, True, probability=0.95), VerdictRules())
    <Verdict.SECURE: 'secure'>
    >>> verdict_of(FeatureEvidence(0, True, probability=0.6), VerdictRules())
    <Verdict.UNCERTAIN: 'uncertain'>
    """
    if row.probability is None:
        return None
    if row.partner is not None:
        return Verdict.INTERCHANGEABLE
    if row.probability >= rules.threshold:
        return Verdict.UNCERTAIN if row.by_chance else Verdict.SECURE
    no_loss = row.loss is not None and row.loss.low <= 0
    if no_loss and row.smaller is not None and row.smaller.near_best:
        return Verdict.DISPENSABLE
    return Verdict.UNCERTAIN


def partner_of(
    column: int, inside: Bools, exchanges: Sequence[Exchange], rules: VerdictRules
) -> tuple[int, float] | None:
    """Return the feature that is interchangeable with a selected one.

    It is not in the set, and on at least τ of the halves it or the selected one is among the first k.
    Besides, the two are twins; or the selected one alone is below τ, the other takes its place, and the set
    with the other is not distinguishable from the best set. That takes the place which is among the first k
    on more than half of the halves without the selected one, while both are so on at most 1 - τ of all.

    Parameters
    ----------
    column : int
        The selected feature.
    inside : ndarray of shape (N, n)
        Which features each half selects.
    exchanges : sequence of Exchange
        The sets with others in its place.
    rules : VerdictRules

    Returns
    -------
    tuple of int and float, or None
        The partner, and on which share of the halves one of the two is selected. Of several the one with the
        greatest share.
    """
    # Shares are multiples of one over the number of halves; a bound as 1 - 0.9 misses its multiple by eps.
    own, rounding = inside[:, column], 1e-9
    found: list[tuple[float, int]] = []
    for exchange in exchanges:
        other = inside[:, exchange.column]
        share = float((own | other).mean())
        twins = abs(exchange.correlation) >= rules.twin
        instead = share - own.mean() > (1 - own.mean()) / 2 + rounding
        apart = (own & other).mean() <= 1 - rules.threshold + rounding
        as_good = exchange.result is not None and exchange.result.near_best
        below = own.mean() < rules.threshold
        if share >= rules.threshold and (twins or (below and instead and apart and as_good)):
            found.append((-share, exchange.column))
    if not found:
        return None
    share, partner = min(found)
    return partner, -share
