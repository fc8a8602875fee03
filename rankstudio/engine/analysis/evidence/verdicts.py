"""Verdicts on the features of a selection: which are secure, and which could be others or none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from rankstudio.engine.analysis.evidence.near_best_sets import NearBestSet, SizedNearBestSets
from rankstudio.engine.analysis.evidence.stability_selection import StabilitySelection
from rankstudio.engine.arrays import Floats
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
        Selection probability from which a feature, or one of two that are interchangeable, is secure; greater
        than 0.5, at most 1. The default 0.9 is the strictest of the range that Meinshausen and Bühlmann
        (2010) recommend.
    stop_level : float
        Level of ForwardStop, the expected share of useless steps among those before the stop.
    """

    threshold: float = 0.9
    stop_level: float = 0.05

    def __post_init__(self) -> None:
        if not 0.5 < self.threshold <= 1:
            raise ParameterError("threshold", self.threshold, "a number greater than 0.5 and at most 1")
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
    partner : int or None
        The column with which it is interchangeable, by the rules for that verdict.
    pair_probability : float or None
        The share of the halves on which it or its partner is among the first k.
    near_best_share : float or None
        The share of the near-best sets of size k that contain it.
    smaller : NearBestSet or None
        The best set of k - 1 features that lacks it, if that is not distinguishable from the best set of k:
        its difference and standard error are against that.
    verdict : Verdict or None
        None for features that are not selected, or that were required.
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
    partner: int | None = None
    pair_probability: float | None = None
    near_best_share: float | None = None
    smaller: NearBestSet | None = None
    verdict: Verdict | None = None

    def reason(self, named: Named) -> str:
        """Return why the verdict is what it is, as a sentence with its numbers; "" without a verdict.

        Parameters
        ----------
        named : callable
            Returns what a column is called.
        """
        share = "" if self.probability is None else f"{100 * self.probability:.0f}"
        if self.verdict is None or not share:
            return ""
        if self.verdict is Verdict.SECURE:
            return tr("Selected on {share} % of the halves of the queries.").format(share=share)
        if self.verdict is Verdict.INTERCHANGEABLE:
            assert self.partner is not None and self.pair_probability is not None
            return tr("Selected on {share} % of the halves alone, but it or {other} on {pair} %.").format(
                share=share, other=named(self.partner), pair=f"{100 * self.pair_probability:.0f}"
            )
        if self.verdict is Verdict.DISPENSABLE:
            assert self.loss is not None
            return tr(
                "Selected on {share} % of the halves, and the loss without it may be 0: "
                "95 % interval {low} to {high}."
            ).format(share=share, low=f"{self.loss.low:.4g}", high=f"{self.loss.high:.4g}")
        return tr("Selected on only {share} % of the halves, and no feature takes its place.").format(
            share=share
        )


def verdict_of(row: FeatureEvidence, rules: VerdictRules, *, smaller_known: bool) -> Verdict | None:
    """Return the verdict on a selected feature, by the first rule that applies.

    Parameters
    ----------
    row : FeatureEvidence
        Its partner is one that the rules allow.
    rules : VerdictRules
    smaller_known : bool
        Whether near-best sets of fewer features were searched; without them the loss decides alone.
    """
    if row.probability is None:
        return None
    if row.probability >= rules.threshold:
        return Verdict.SECURE
    if row.partner is not None:
        return Verdict.INTERCHANGEABLE
    no_loss = row.loss is not None and row.loss.low <= 0
    if no_loss and (row.smaller is not None or not smaller_known):
        return Verdict.DISPENSABLE
    return Verdict.UNCERTAIN


def partner_of(
    column: int,
    stability: StabilitySelection,
    n_features: int,
    near: SizedNearBestSets | None,
    rules: VerdictRules,
    apart: Collection[int] = (),
) -> tuple[int, float] | None:
    """Return the feature that is interchangeable with another one, and how often one of the two is selected.

    Both are below the threshold alone, one of the two is selected on at least that share of the halves, and
    of the near-best sets some have the one without the other and some the other without the one.

    Parameters
    ----------
    column : int
    stability : StabilitySelection
    n_features : int
        Among how many first features of a half they are, k.
    near : SizedNearBestSets or None
        Of size k; without it the halves decide alone.
    rules : VerdictRules
    apart : collection of int
        Columns that are nobody's partner.
    """
    inside = (stability.places > 0) & (stability.places <= n_features)
    alone = inside.mean(axis=0)
    pairs: Floats = (inside | inside[:, [column]]).mean(axis=0)
    if alone[column] >= rules.threshold:
        return None
    for other in np.argsort(-pairs, kind="stable").tolist():
        if pairs[other] < rules.threshold:
            break
        if other == column or other in apart or not 0 < alone[other] < rules.threshold:
            continue
        if near is None or _exchanged(near, column, other):
            return other, float(pairs[other])
    return None


def _exchanged(near: SizedNearBestSets, one: int, other: int) -> bool:
    """Return whether near-best sets have either of two features without the other."""
    return bool(near.containing([one], [other])) and bool(near.containing([other], [one]))


def most_frequent(
    stability: StabilitySelection, n_features: int, known: Sequence[int], count: int
) -> list[int]:
    """Return the columns that are selected most often, without some that are known."""
    probability = stability.probability[min(n_features, stability.counts.shape[0]) - 1]
    order = np.argsort(-probability, kind="stable")
    return [int(one) for one in order if one not in known and probability[one] > 0][:count]
