"""All evidence for a selection of features, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from rankstudio.engine.language import tr, trn
from rankstudio.engine.statistics.mean_intervals import LEAST_PAIRS
from rankstudio.engine.support.number_format import count_text, relative_excess
from rankstudio.plugins.evidence.best_subset import BestSubset
from rankstudio.plugins.evidence.decided_step import DecidedStep
from rankstudio.plugins.evidence.feature_losses import FeatureLosses
from rankstudio.plugins.evidence.near_best_sets import SizedNearBestSets
from rankstudio.plugins.evidence.repeated_left_out import RepeatedLeftOut
from rankstudio.plugins.evidence.set_changes import SetChanges
from rankstudio.plugins.evidence.shapley_shares import ShapleyShares
from rankstudio.plugins.evidence.stability_selection import StabilitySelection
from rankstudio.plugins.evidence.step_significance import StepSignificance, forward_stop
from rankstudio.plugins.evidence.verdicts import (
    Exchange,
    FeatureEvidence,
    Named,
    SetDifference,
    VerdictRules,
    partner_of,
    verdict_of,
)

N_OTHERS = 4
"""Maximum number of rows for features that are not selected: those that the halves select most often."""


@dataclass(frozen=True)
class StopAdvice:
    """Advice where to stop, from the significance of the steps.

    Attributes
    ----------
    n_features : int
        Number of features to stop at.
    n_tested : int
        Number of steps tested.
    p_next : float or None
        p value of the first step after the stop; None if the step was
        not tested.
    """

    n_features: int
    n_tested: int
    p_next: float | None

    @property
    def sentence(self) -> str:
        """The advice where to stop as a sentence, with the p value of the next step.

        ForwardStop is the rule that finds the stop from the p values of
        the steps.
        """
        if self.p_next is None:
            return tr(
                "ForwardStop accepts all {n} tested steps. A larger k tests more steps."
            ).format(n=self.n_tested)
        p_text = f"{self.p_next:.2g}"
        if not self.n_features:
            return tr(
                "No step is shown to be better than chance: the first has p = {p}."
            ).format(p=p_text)
        return tr(
            "Stop at {n}: the next step is not shown to be better than chance (p = {p})."
        ).format(n=self.n_features, p=p_text)


@dataclass(frozen=True, eq=False)
class SelectionEvidence:
    """The evidence for a selection so far; None for parts that do not apply or are not yet computed.

    Attributes
    ----------
    selected : tuple of int
        0-based columns in the order of selection, k of them.
    n_queries : int
        Number of queries of the data.
    required : tuple of int
        Columns that were given instead of selected.
    rules : VerdictRules
        ``dataclasses.replace(evidence, rules=...)`` applies other rules.
    done : tuple of str
        Names of the complete parts. Verdicts need "stability" and
        "alternatives", and six queries, or documents of one ranking.
    losses : FeatureLosses or None
    changes : SetChanges or None
        Exact left-out error of the set, and of each change by one feature.
    candidates : tuple of int
        Columns that may join the set: neither banned nor constant in
        every query.
    shares : ShapleyShares or None
    stability : StabilitySelection or None
    deciding : tuple of DecidedStep or None
        Deciding queries of each selected feature's step.
    deciding_by_margins : bool
        Whether the deciding queries are estimated by margins; those of
        greedy RankRLS are exact.
    best : BestSubset or None
        Best set of each size up to k.
    exchanges : mapping or None
        Sets with another feature in place of each selected column, for
        the most likely candidates.
    smaller : mapping or None
        A set of k - 1 features without the column, for each selected column.
    tied : mapping or None
        A column outside the set with the same score, for each selected
        column that has one at its step: only the order of the columns
        decides between them.
    near_best : tuple of SizedNearBestSets or None
        Near-best sets of k - 1 features, and of k, if their number is
        small enough.
    significance : StepSignificance or None
        Significance of the whole path.
    repeated : RepeatedLeftOut or None
        Left-out errors of the whole path.
    groups : tuple of tuple of int
        Columns that are selected jointly.
    n_documents : int or None
        Number of documents if they are one ranking, whose halves are
        taken; None for halves of the queries.
    """

    selected: tuple[int, ...]
    n_queries: int
    required: tuple[int, ...] = ()
    rules: VerdictRules = field(default_factory=VerdictRules)
    done: tuple[str, ...] = ()
    losses: FeatureLosses | None = None
    changes: SetChanges | None = None
    candidates: tuple[int, ...] = ()
    shares: ShapleyShares | None = None
    stability: StabilitySelection | None = None
    deciding: tuple[DecidedStep, ...] | None = None
    deciding_by_margins: bool = False
    best: BestSubset | None = None
    exchanges: Mapping[int, tuple[Exchange, ...]] | None = None
    smaller: Mapping[int, SetDifference] | None = None
    tied: Mapping[int, int] | None = None
    near_best: tuple[SizedNearBestSets, ...] | None = None
    significance: StepSignificance | None = None
    repeated: RepeatedLeftOut | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    n_documents: int | None = None

    @property
    def one_ranking(self) -> bool:
        """Whether all documents are one ranking, so that there are no queries to compare."""
        return self.n_documents is not None

    @property
    def n_halved(self) -> int:
        """Number of queries, or documents of one ranking, that are divided into halves."""
        return self.n_queries if self.n_documents is None else self.n_documents

    @property
    def k(self) -> int:
        """Number of selected features."""
        return len(self.selected)

    @property
    def size(self) -> int:
        """Number of selected features and groups, by which sets are compared; k without groups.

        A group of features counts as one.
        """
        first_of_group = {column: group[0] for group in self.groups for column in group}
        return len({first_of_group.get(column, column) for column in self.selected})

    @property
    def near_best_of_k(self) -> SizedNearBestSets | None:
        """Near-best sets of the size of the selection."""
        return next(
            (sets for sets in self.near_best or () if sets.size == self.size), None
        )

    @cached_property
    def rows(self) -> tuple[FeatureEvidence, ...]:
        """Evidence for each of the selected features, then for other features.

        The other features are those that halves of the queries select
        most often.
        """
        return tuple(map(self._row, (*self.selected, *self._frequent_others())))

    @property
    def stop(self) -> StopAdvice | None:
        """Advice where to stop; None if no step has enough permutations for a small p."""
        if self.significance is None or not self.significance.permuted.size:
            return None

        # If even the smallest p that this number of permutations can
        # give would not accept a step, there is nothing to advise.
        smallest_p = 1 / (self.significance.permuted.shape[0] + 1)
        if not forward_stop([smallest_p], self.rules.stop_level):
            return None
        p = self.significance.p_values
        n = self.significance.n_steps(self.rules.stop_level)
        return StopAdvice(n, p.size, float(p[n]) if n < p.size else None)

    @property
    def false_bound(self) -> float | None:
        """Bound on the number of features above the threshold that may be there by chance.

        The threshold is that of the share of halves that select a
        feature. The bound is on the expected number of features that
        are selected no more often than by chance. None without halves.
        """
        if self.stability is None or not self.stability.n_paths or not self.k:
            return None
        return self.stability.bound(
            self.rules.threshold, unimodal=True, n_features=self._n_steps_on_halves
        )

    @cached_property
    def by_chance(self) -> bool:
        """Whether all features above the threshold may be there by chance.

        The threshold is that of the share of halves that select a
        feature. The value is True if the number of these features is at
        most the expected number of features that are selected no more
        often than by chance.

        This is the case if most features are selected: if 125 of 131
        features are drawn at random, each of them is drawn with a
        probability of 95 %.
        """
        if self.stability is None or (bound := self.false_bound) is None:
            return False
        n_stable = len(
            self.stability.stable(
                self.rules.threshold, n_features=self._n_steps_on_halves
            )
        )
        return 0 < n_stable <= bound

    def best_sentences(self, name_of: Named) -> tuple[str, ...]:
        """Return sentences on the best set of k features; () if nothing is known.

        They say how far the selection is from the best set, which
        features the best set has instead, and how many sets are as
        good.

        Parameters
        ----------
        name_of : callable
            Returns the name of a column.
        """
        # The sizes ascend, up to that of the selection if it was searched.
        if (
            self.best is None
            or not self.best.sizes
            or self.best.sizes[-1].size != self.size
        ):
            return ()
        best = self.best.sizes[-1]
        selected = set(self.selected)
        if not best.features or self.changes is None or best.criterion <= 0:
            return ()
        above = max(0.0, relative_excess(self.changes.criterion, best.criterion))
        inside = sorted(set(best.features) - selected)
        outside = sorted(selected - set(best.features))
        sentences = [self._excess_sentence(above, best.proved, best.relative_gap)]
        if inside and self.groups:
            template = (
                tr("Best set of {k} groups: {features} ({added} for {removed}).")
                if best.proved
                else tr(
                    "Best set of {k} groups so far: {features} ({added} for {removed})."
                )
            )
        elif inside:
            template = (
                trn(
                    "Best set of {k}: {features}, one swap away ({added} for {removed}).",
                    "Best set of {k}: {features}, {n} swaps away ({added} for {removed}).",
                    len(inside),
                )
                if best.proved
                else trn(
                    "Best set of {k} so far: {features}, one swap away ({added} for {removed}).",
                    "Best set of {k} so far: {features}, {n} swaps away ({added} for {removed}).",
                    len(inside),
                )
            )
        if inside:
            sentences.append(
                template.format(
                    k=self.size,
                    n=len(inside),
                    features=" ".join(map(name_of, best.features)),
                    added=" ".join(map(name_of, inside)),
                    removed=" ".join(map(name_of, outside)),
                )
            )
        near = self.near_best_of_k
        if near is not None:
            sentences.append(_near_best_sentence(near))
        return tuple(sentences)

    def _excess_sentence(self, above: float, proved: bool, gap: float) -> str:
        """Return the sentence on how far the error of the selection is above the lowest error.

        Parameters
        ----------
        above : float
            Relative excess over the lowest known error.
        proved : bool
            Whether no error is lower.
        gap : float
            Share of the lowest known error by which an error may be
            lower, if it is not proved.
        """
        if not proved:
            sentence = (
                tr("No set with a lower left-out error has been found so far.")
                if above < _ROUNDING
                else tr(
                    "The selection is {above} % above the lowest left-out error found so far."
                )
            ).format(above=_percent(above))
            least = (
                tr("How much lower an error can be is not known yet.")
                if gap > _MAX_USEFUL_GAP
                else tr("Other sets may reach an error up to {gap} % lower.").format(
                    gap=_percent(gap)
                )
            )
            return f"{sentence} {least}"

        # Up to rounding, the selection is a best set itself.
        if above < _ROUNDING and self.groups:
            return trn(
                "No other single group has a lower left-out error.",
                "The selection has the lowest possible left-out error of {k} groups.",
                self.size,
            ).format(k=self.size)
        if above < _ROUNDING:
            return trn(
                "No other single feature has a lower left-out error.",
                "The selection has the lowest possible left-out error of {k} features.",
                self.k,
            ).format(k=self.k)
        return tr(
            "The selection is {above} % above the lowest possible left-out error."
        ).format(above=_percent(above))

    @property
    def one_ranking_sentence(self) -> str:
        """Sentence on the parts that one ranking lacks, and on the test to run instead.

        It is "" if the documents have queries.
        """
        if not self.one_ranking:
            return ""
        return tr(
            "The documents are one ranking. Losses, sets as good as the best and deciding queries "
            "compare queries, so there are none. A permutation test compares the whole path with "
            "chance."
        )

    @property
    def _n_steps_on_halves(self) -> int:
        """Number of steps of the paths on halves after which selected features are counted."""
        assert self.stability is not None
        return min(self.size, int(self.stability.counts.shape[0]))

    def _frequent_others(self) -> list[int]:
        """Return the columns outside the selection that the halves select most often.

        Halves are halves of the queries, from which the method selected
        again. There are at most `N_OTHERS` columns, the most frequent
        first.
        """
        if self.stability is None or not self.k:
            return []

        # number of halves on which each column is among the first k
        counts = self.stability.counts[self._n_steps_on_halves - 1]
        order = np.argsort(-counts, kind="stable").tolist()
        return [
            column
            for column in order
            if column not in self.selected and counts[column] > 0
        ][:N_OTHERS]

    def _row(self, column: int) -> FeatureEvidence:
        """Return the evidence for the feature of a 0-based column.

        Features outside the selection have only the numbers of the
        halves and of the near-best sets.
        """
        row = FeatureEvidence(column, column in self.selected)

        # `positions`, (3, n), has three quantiles of each feature's position.
        if self.stability is not None and self.stability.n_paths and self.k:
            low, median, high = (
                float(value) for value in self.stability.positions[:, column]
            )
            probability = float(
                self.stability.probability[self._n_steps_on_halves - 1, column]
            )
            row = replace(row, probability=probability, position=(low, median, high))
        if self.near_best_of_k is not None:
            row = replace(
                row, near_best_share=float(self.near_best_of_k.inclusion[column])
            )
        return self._with_verdict(self._with_set_numbers(row)) if row.selected else row

    def _with_set_numbers(self, row: FeatureEvidence) -> FeatureEvidence:
        """Return a row with the numbers that only features of the set have.

        These numbers are the loss without the feature, its share of the
        gain, its best substitute with the price of that swap, and the
        number of queries that decide its step.
        """
        index = self.selected.index(row.column)
        if self.losses is not None:
            row = replace(row, loss=self.losses.losses[index])
        if self.shares is not None and self.shares.gain > 0:
            row = replace(row, share=float(self.shares.shares[index]))
        if self.changes is not None and self.candidates:
            # error of the set with each candidate in place of the feature
            errors = self.changes.swapped[index, list(self.candidates)]
            best = int(errors.argmin())
            price = self.changes.relative(errors[best])
            row = replace(row, substitute=self.candidates[best], price=price)

        # no queries (None) if none are known to decide the step
        if self.deciding is not None:
            row = replace(row, n_deciding=len(self.deciding[index].queries) or None)
        return row

    def _with_verdict(self, row: FeatureEvidence) -> FeatureEvidence:
        """Return a row with its verdict and the values that the verdict depends on.

        The row stays as it is while parts of the evidence are missing,
        for required features, and with too few queries to compare
        halves.
        """
        has_parts = "stability" in self.done and "alternatives" in self.done
        is_ready = has_parts and row.column not in self.required
        if not is_ready or self.stability is None or self.n_halved < LEAST_PAIRS:
            return row

        # Whether each half (rows) selects each column among the first
        # `size`; a place of 0 stands for "not on the path".
        is_selected = (self.stability.places > 0) & (self.stability.places <= self.size)
        if self.exchanges is not None:
            # The partner is the feature with which this one may be
            # exchanged; a twin is a partner that is a near copy.
            exchanges = self.exchanges.get(row.column, ())
            n_tests = len(self.exchanges)
            pair = partner_of(row.column, is_selected, exchanges, self.rules, n_tests)
            if pair is not None:
                exchange, pair_probability = pair
                twin = exchange if exchange.are_twins(self.rules, n_tests) else None
                row = replace(
                    row,
                    partner=exchange.column,
                    pair_probability=pair_probability,
                    twin=twin,
                )
        if self.smaller is not None:
            row = replace(row, smaller=self.smaller.get(row.column))
        if row.probability is not None and row.probability >= self.rules.threshold:
            row = replace(
                row, by_chance=self.by_chance, tied=(self.tied or {}).get(row.column)
            )
        return replace(row, verdict=verdict_of(row, self.rules))


def _near_best_sentence(near: SizedNearBestSets) -> str:
    """Return the sentence on how many sets are as good as the best one of their size.

    "As good" means that a paired test over queries shows no significant
    difference.
    """
    n_others = len(near.sets) - 1
    if near.best.n_sets == 1:
        return tr("There is no other set of this size.")
    if not n_others and near.complete:
        return tr("Every other set is significantly worse than the best.")
    text = (
        trn(
            "{n} other set ({share} %) is not significantly different from the best.",
            "{n} other sets ({share} %) are not significantly different from the best.",
            n_others,
        )
        if near.complete
        else trn(
            "At least {n} other set ({share} %) is not significantly different from the best.",
            "At least {n} other sets ({share} %) are not significantly different from the best.",
            n_others,
        )
    )
    return text.format(
        n=count_text(n_others), share=_percent(n_others / max(near.best.n_sets, 1))
    )


# share of the criterion: a greater gap means that hardly anything is known
_MAX_USEFUL_GAP = 0.5
_ROUNDING = 1e-9  # relative excess up to which two criteria are equal


def _percent(share: float) -> str:
    """Return a share in percent, with two digits at least."""
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"
