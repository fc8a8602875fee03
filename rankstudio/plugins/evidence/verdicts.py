"""Verdicts on the features of a selection: which are secure, and which could be others or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import NormalDist

from rankstudio.engine.arrays import Bools
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.statistics._checks import checked_level
from rankstudio.engine.support.number_format import fixed, significant
from rankstudio.plugins.evidence.near_best_sets import NORMAL

Named = Callable[[int], str]
"""Returns the name of a column."""


class Verdict(Enum):
    """Verdict on a selected feature."""

    SECURE = "secure"
    INTERCHANGEABLE = "interchangeable"
    UNCERTAIN = "uncertain"
    DISPENSABLE = "dispensable"

    @property
    def label(self) -> str:
        """Name of the verdict in the language of the process."""
        return {
            Verdict.SECURE: tr("secure"),
            Verdict.INTERCHANGEABLE: tr("interchangeable"),
            Verdict.UNCERTAIN: tr("uncertain"),
            Verdict.DISPENSABLE: tr("dispensable"),
        }[self]


@dataclass(frozen=True)
class VerdictRules:
    """The thresholds that decide the verdicts on selected features.

    Attributes
    ----------
    threshold : float
        τ, the minimum selection probability of a secure feature; greater than
        0.5, at most 1. The default 0.9 is the strictest of the range that
        Meinshausen and Bühlmann (2010) recommend. The number of
        features above it that are selected no more often than by chance
        is bounded by
        :meth:`rankstudio.plugins.evidence.stability_selection.StabilitySelection.bound`.
    twin : float
        Minimum absolute correlation of twins within queries: they share
        98 % of their variance. Which twin a half selects is arbitrary,
        but halves share queries, so most select the same one: a twin
        that is no better is selected on 90 % of the halves in one of
        five datasets. The probability of a single twin is therefore not
        meaningful, and twins are compared by a paired test instead.
    stop_level : float
        α of ForwardStop, an upper bound of the expected share of
        useless steps before the stop.
    """

    threshold: float = 0.9
    twin: float = 0.99
    stop_level: float = 0.05

    def __post_init__(self) -> None:
        """Raise a ParameterError for a threshold outside of its range."""
        if not 0.5 < self.threshold <= 1:
            raise ParameterError(
                "threshold", self.threshold, "a number greater than 0.5 and at most 1"
            )
        if not 0 < self.twin <= 1:
            raise ParameterError(
                "twin", self.twin, "a number greater than 0 and at most 1"
            )
        checked_level(self.stop_level, "stop_level")


@dataclass(frozen=True)
class Loss:
    """How much worse a set of features is without one of its features, as a mean over queries.

    Attributes
    ----------
    value : float
        Measure with the feature minus the measure without it, reversed
        for errors: positive if the set is worse without it.
    low, high : float
        Bounds of the 95 % interval of the value, by the paired
        bootstrap over queries.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SetDifference:
    """Excess error of a set of features over another set, by left-out squared errors.

    Attributes
    ----------
    features : tuple of int
        0-based columns of the set.
    difference : float
        Error of the set minus that of the other set, summed over queries.
    standard_error : float
        Standard error of the difference, from its values in each query.
    """

    features: tuple[int, ...]
    difference: float
    standard_error: float

    @property
    def near_best(self) -> bool:
        """Whether a paired test at 5 % finds no significant excess over the best set."""
        return not self.significant()

    def significant(self, n_tests: int = 1) -> bool:
        """Return whether a paired test over queries finds that the error of the set is higher.

        The level of the test is 5 % divided by ``n_tests``, the number
        of tests (Bonferroni).
        """
        errors = max(NORMAL, NormalDist().inv_cdf(1 - 0.025 / n_tests))
        return self.difference > errors * self.standard_error


@dataclass(frozen=True)
class Exchange:
    """A set in which a selected feature is replaced by another one.

    Attributes
    ----------
    column : int
        0-based column of the other feature, which replaces the selected one.
    correlation : float
        Pearson's correlation between the two features within queries;
        NaN for a constant feature.
    result : SetDifference or None
        Difference of the resulting set from the best set; None if sets
        are not compared.
    direct : SetDifference or None
        Difference of the resulting set from the selection.
    """

    column: int
    correlation: float
    result: SetDifference | None
    direct: SetDifference | None = None

    def are_twins(self, rules: VerdictRules, n_tests: int) -> bool:
        """Return whether the two features are near copies, and neither is shown to be better.

        The comparison is one of ``n_tests`` tests, which share their 5 %.
        """
        alike = abs(self.correlation) >= rules.twin
        return alike and not (
            self.direct is not None and self.direct.significant(n_tests)
        )


@dataclass(frozen=True)
class FeatureEvidence:
    """Evidence for one feature; None for numbers that do not apply or are not computed.

    Attributes
    ----------
    column : int
        0-based.
    selected : bool
        Whether the feature is in the set.
    probability : float or None
        Share of the halves of the queries on which the feature is among
        the first k selected features.
    position : tuple of float or None
        5, 50 and 95 % quantiles of the step at which the halves select
        the feature; inf for not selected.
    share : float or None
        Shapley share of the feature in the left-out gain of the set.
    loss : Loss or None
        Loss of the set without the feature.
    n_deciding : int or None
        Number of queries whose removal makes the feature's step select
        another feature; None if no such queries were found.
    substitute : int or None
        Column whose exact swap increases the left-out error least, or
        reduces it most.
    price : float or None
        Relative change of the left-out error by that swap; negative for
        an improvement.
    near_best_share : float or None
        Share of the near-best sets of k features that contain the feature.
    partner : int or None
        Column of an interchangeable feature.
    pair_probability : float or None
        Share of the halves on which the feature or its partner is among
        the first k.
    twin : Exchange or None
        The exchange of the two if they are twins.
    smaller : SetDifference or None
        Set of k - 1 features without the feature, compared with the
        best set of k features.
    by_chance : bool
        Whether the selection is so large that all features above the
        threshold may be there by chance.
    tied : int or None
        Column outside the set that has the same score at the step of
        the feature.
    verdict : Verdict or None
        None for features that are not selected, or required.
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
    twin: Exchange | None = None
    smaller: SetDifference | None = None
    by_chance: bool = False
    tied: int | None = None
    verdict: Verdict | None = None

    def reason(self, name_of: Named) -> str:
        """Return the reason for the verdict as a sentence with its numbers; "" without a verdict.

        Parameters
        ----------
        name_of : callable
            Returns the name of a column.
        """
        if self.verdict is None or self.probability is None:
            return ""
        share = f"{100 * self.probability:.0f}"
        if self.verdict is Verdict.SECURE:
            return tr("Selected in {share} % of the half-samples.").format(share=share)
        if self.verdict is Verdict.INTERCHANGEABLE:
            assert self.partner is not None and self.pair_probability is not None
            template = tr(
                "Selected in {share} % of the half-samples, and it or {other} in {pair} %. "
                "The set is as good with {other} instead."
            )

            # `direct`: how much worse the set is with the twin in place
            # of the feature; None if sets are not compared.
            if self.twin is not None and self.twin.direct is None:
                template = tr(
                    "Selected in {share} % of the half-samples, and it or {other} in {pair} %. "
                    "The two are near copies (correlation {r})."
                )
            elif self.twin is not None:
                template = tr(
                    "Selected in {share} % of the half-samples, and it or {other} in {pair} %. "
                    "The two are near copies (correlation {r}), and neither is shown to be better."
                )
            r = fixed(self.twin.correlation, 2) if self.twin is not None else ""
            pair = f"{100 * self.pair_probability:.0f}"
            return template.format(
                share=share, other=name_of(self.partner), pair=pair, r=r
            )
        if self.verdict is Verdict.DISPENSABLE:
            assert self.loss is not None
            return tr(
                "Selected in only {share} % of the half-samples. The loss without it may be 0 "
                "(95 % interval {low} to {high}), and a smaller set without it is as good."
            ).format(
                share=share,
                low=significant(self.loss.low),
                high=significant(self.loss.high),
            )
        if self.tied is not None:
            return tr(
                "Selected in {share} % of the half-samples, but {other} has the same score at its "
                "step, and the order of the columns decides between them."
            ).format(share=share, other=name_of(self.tied))
        if self.by_chance:
            return tr(
                "Selected in {share} % of the half-samples. For a selection of this size, that may be chance."
            ).format(share=share)
        return tr(
            "Selected in only {share} % of the half-samples, but neither a substitute nor a smaller "
            "set is shown to be as good."
        ).format(share=share)


def verdict_of(row: FeatureEvidence, rules: VerdictRules) -> Verdict | None:
    """Return the verdict on a selected feature, None without a probability.

    The first rule that applies gives the verdict:

    1. Interchangeable: the feature has a partner, see :func:`partner_of`.
    2. Secure: its probability is at least the threshold, not all such features may be there by chance, and no
       feature outside the set has the same score at its step.
    3. Dispensable: its probability is below the threshold, the interval of the loss without it includes or is
       below 0, and a set of k - 1 features without it is not significantly different from the best set of k.
    4. Uncertain: all other features.

    Parameters
    ----------
    row : FeatureEvidence
        Evidence without a verdict.
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
        return (
            Verdict.UNCERTAIN
            if row.by_chance or row.tied is not None
            else Verdict.SECURE
        )
    no_loss = row.loss is not None and row.loss.low <= 0
    if no_loss and row.smaller is not None and row.smaller.near_best:
        return Verdict.DISPENSABLE
    return Verdict.UNCERTAIN


def partner_of(
    column: int,
    is_selected: Bools,
    exchanges: Sequence[Exchange],
    rules: VerdictRules,
    n_tests: int = 1,
) -> tuple[Exchange, float] | None:
    """Return the feature that is interchangeable with a selected feature.

    Let s be the selected feature and p its partner. p is not in the
    set, and s or p is among the first k on at least τ of the halves. In
    addition, one of these holds:

    - s and p are twins: near copies, and a paired test does not find the set with p in place of s
      significantly worse.
    - s is among the first k on less than τ of the halves, p replaces s, and the set with p in place of s is
      not significantly different from the best set. p replaces s if p
      is among the first k on more than half of the halves without s,
      and both are on at most 1 - τ of all halves.

    Parameters
    ----------
    column : int
        The selected feature.
    is_selected : ndarray of shape (N, n), bool
        Whether each of N halves selects each of n features among the first k.
    exchanges : sequence of Exchange
        Sets with other features in place of the selected feature.
    rules : VerdictRules
    n_tests : int
        Number of selected features that are compared with others. The
        tests of twins share their 5 %: if all twins are equally good,
        at most one selection in twenty has a pair with a significant
        difference.

    Returns
    -------
    tuple or None
        The exchange, and the share of the halves that select one of the
        two. Among several partners the one with the largest share.
    """
    # Shares are multiples of 1 / N for N halves; a computed bound such as 1 -
    # 0.9 may miss one by rounding.
    selected = is_selected[:, column]
    rounding = 1e-9
    partners: list[tuple[float, int, Exchange]] = []

    for exchange in exchanges:
        partner_selected = is_selected[:, exchange.column]
        share = float((selected | partner_selected).mean())

        # The partner is on more than half of the halves without the
        # feature: share minus selected.mean() is the share of halves
        # with the partner alone.
        is_used_instead = share - selected.mean() > (1 - selected.mean()) / 2 + rounding
        is_rarely_together = (
            selected & partner_selected
        ).mean() <= 1 - rules.threshold + rounding
        is_as_good = exchange.result is not None and exchange.result.near_best
        is_below_threshold = selected.mean() < rules.threshold
        replaces = (
            is_below_threshold and is_used_instead and is_rarely_together and is_as_good
        )
        if share >= rules.threshold and (
            exchange.are_twins(rules, n_tests) or replaces
        ):
            # The smallest tuple has the largest share, and then the
            # lowest column.
            partners.append((-share, exchange.column, exchange))

    if not partners:
        return None
    share, _, partner = min(partners)
    return partner, -share
