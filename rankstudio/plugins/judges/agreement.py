"""Measures how far judges agree in each query, and compares the features selected under each judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.judgments import Judgments
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.statistics.paired import doubled_ranks
from rankstudio.engine.statistics.stability import membership, nogueira, similarity


@dataclass(frozen=True, eq=False)
class PairAgreement:
    """Agreement of two judges on the documents that both judged.

    Attributes
    ----------
    first, second : str
        Names of the judges.
    tau : ndarray of shape (Q,)
        Kendall's τ_b of their labels in each query; NaN if either gives
        all its documents the same label, or they have no two documents
        in common.
    alpha : float
        Krippendorff's α for ordinal labels, see :func:`krippendorff_alpha`.
    n_documents : int
        Number of documents that both judged.
    """

    first: str
    second: str
    tau: Floats
    alpha: float
    n_documents: int

    @property
    def n_queries(self) -> int:
        """Number of queries with a τ_b."""
        return int((~np.isnan(self.tau)).sum())

    @property
    def mean_tau(self) -> float:
        """Mean of τ_b over the queries that have one; NaN without any."""
        return float(np.nanmean(self.tau)) if self.n_queries else np.nan


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement of J judges.

    Attributes
    ----------
    names : tuple of str
        Names of the judges.
    query_ids : tuple of str
        Ids of the Q queries, part by part.
    pairs : tuple of PairAgreement
        Each pair of judges.
    alpha : float
        Krippendorff's α of all judges together.
    """

    names: tuple[str, ...]
    query_ids: tuple[str, ...]
    pairs: tuple[PairAgreement, ...]
    alpha: float

    def of_query(self) -> Floats:
        """Return the mean τ_b over the pairs of judges for each query, shape (Q,).

        The mean is NaN if no pair has a τ_b in the query.
        """
        taus = np.array([pair.tau for pair in self.pairs])  # (pairs, Q)
        is_defined = ~np.isnan(taus)
        n = is_defined.sum(axis=0)
        sums = np.where(is_defined, taus, 0.0).sum(axis=0)
        means: Floats = np.where(n, sums / np.maximum(n, 1), np.nan)
        return means

    def least(self, n: int | None = 5) -> list[tuple[str, float, tuple[float, ...]]]:
        """Return the n queries in which the judges agree least.

        For each query, return its id, the mean τ_b, and the τ_b of each
        pair. Queries without a mean τ_b are left out; None for n
        returns all others.
        """
        means = self.of_query()
        defined = np.flatnonzero(~np.isnan(means))
        order = defined[np.argsort(means[defined], kind="stable")][:n].tolist()
        taus = [tuple(float(pair.tau[q]) for pair in self.pairs) for q in order]
        return [
            (self.query_ids[q], float(means[q]), pair_taus)
            for q, pair_taus in zip(order, taus, strict=True)
        ]


def agreement(judgments: Sequence[Judgments]) -> Agreement:
    """Measure the agreement of judges in each query.

    Parameters
    ----------
    judgments : sequence of Judgments
        The judgments of each part of the data: a label of each document
        by each judge, for the same judges.

    Raises
    ------
    ParameterError
        If there are no judgments, because the data have only one label.

    Notes
    -----
    O(J² m log m) for J judges of m documents.
    """
    if not judgments:
        raise ParameterError(
            "judgments", 0, "labels of at least two judges; the data have one label"
        )

    # The labels of all parts in one array, with the number of the query
    # of each document.
    labels = np.concatenate([part.labels for part in judgments])
    sizes = np.concatenate([np.diff(part.query_ptr) for part in judgments])
    query = np.repeat(np.arange(sizes.size), sizes)

    # Each pair of judges is compared by query, and all judges together
    # over all documents.
    names = judgments[0].names
    return Agreement(
        names=names,
        query_ids=tuple(query_id for part in judgments for query_id in part.query_ids),
        pairs=tuple(
            _pair_agreement(names, labels, query, sizes.size, i, j)
            for i, j in combinations(range(len(names)), 2)
        ),
        alpha=krippendorff_alpha(labels),
    )


def _pair_agreement(
    names: Sequence[str], labels: Floats, query: Ints, n: int, i: int, j: int
) -> PairAgreement:
    """Return the agreement of two judges, those of the columns i and j of the labels.

    The agreement is Kendall's τ_b in each query, and Krippendorff's α
    of all documents.

    ``labels``, (m, J), has the labels of m documents by J judges (NaN:
    not judged), and ``query``, (m,), the number of the query of each
    document, of n queries.
    """
    from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba, where it is needed
    from rankstudio.engine.support.grades import Grading  # noqa: PLC0415

    pair = labels[:, [i, j]]
    judged = np.flatnonzero(~np.isnan(pair).any(axis=1))  # documents with both labels
    tau = np.full(n, np.nan)
    if judged.size:
        # `first` is the position in `judged` where each query begins.
        queries, first = np.unique(query[judged], return_index=True)

        # τ_b depends on ranks only. Ranks in [0, 1) replace the labels,
        # whose gains could be infinite.
        _, ranks = np.unique(pair[judged, 0], return_inverse=True)
        scaled_ranks = ranks / judged.size

        # The grading says which grades there are. That of the dataset
        # would not fit, as the ranks are no labels of the dataset.
        grading = Grading.of(scaled_ranks)
        query_ptr = np.append(first, judged.size)
        evaluator = Evaluator(
            scaled_ranks,
            query_ptr,
            measures=("Tau",),
            grading=grading,
        )
        tau[queries] = evaluator.per_query(pair[judged, 1])["Tau"]
    return PairAgreement(names[i], names[j], tau, krippendorff_alpha(pair), judged.size)


def krippendorff_alpha(labels: Floats) -> float:
    """Compute Krippendorff's α for ordinal labels.

    α is 1 for perfect agreement of judges, and 0 for agreement by chance.

    α = 1 - D_o / D_e compares D_o, the disagreement among the labels of
    each document, with D_e, the disagreement among all labels. The
    difference of two ordinal labels is the number of given labels
    between the two, where each label that equals one of the two counts
    half. This is the difference of their mean ranks among all labels.

    Parameters
    ----------
    labels : ndarray of shape (m, J)
        Labels of each document by each judge; NaN for a document that a
        judge has not judged. All judges use the same scale.

    Returns
    -------
    float
        NaN if no document has two labels, or all labels are equal.

    Notes
    -----
    O(Jm log Jm). Documents with a single label are left out.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability.
    """
    # Only the documents with at least two labels, of which there are n in all.
    labels = labels[(~np.isnan(labels)).sum(axis=1) > 1]
    is_judged = ~np.isnan(labels)
    n_judged = is_judged.sum(axis=1)
    n = int(n_judged.sum())
    if not n:
        return np.nan

    # Ranks of the labels, minus their mean (n + 1) / 2; 0 where there is none.
    ranks = np.zeros(labels.shape)
    ranks[is_judged] = (doubled_ranks(labels[is_judged], 0.0) - (n + 1)) / 2

    # The squared differences of all ordered pairs of n values with sum
    # s and sum of squares t add up to 2 (n t - s²). Among all labels, s
    # is 0.
    squares = (ranks**2).sum(axis=1)
    sums = ranks.sum(axis=1)
    observed = float((2 * (n_judged * squares - sums**2) / (n_judged - 1)).sum()) / n
    expected = 2 * n * float(squares.sum()) / (n * (n - 1))
    return 1.0 - observed / expected if expected else np.nan


@dataclass(frozen=True, eq=False)
class JudgeSelections:
    """Features that one plan selects under J judges.

    Attributes
    ----------
    judges : tuple of str
    feature_ids, feature_names : of length n
    shares : ndarray of shape (n, J)
        For each feature and judge, the share of the folds whose model has the feature.
    jaccard : ndarray of shape (J, J)
        Jaccard's index of the selections of two judges, mean over the folds.
    nogueira : float
        Nogueira's index of the J selections of a fold, mean over the folds; see
        :func:`rankstudio.engine.statistics.stability.nogueira`.
    """

    judges: tuple[str, ...]
    feature_ids: Ints
    feature_names: tuple[str, ...]
    shares: Floats
    jaccard: Floats
    nogueira: float

    @property
    def n_judges(self) -> Ints:
        """Number of judges under whom at least half of the folds select a feature, shape (n,)."""
        counts: Ints = (self.shares >= 0.5).sum(axis=1)
        return counts

    def order(self) -> Ints:
        """Return the 0-based columns of the features that are selected under some judge.

        Columns selected under most judges come first; ties are ordered
        by the share of folds.
        """
        # `shares`, (n, J), has a row for each feature. lexsort() sorts
        # by its last key first.
        selected = np.flatnonzero(self.shares.any(axis=1))
        columns: Ints = selected[
            np.lexsort(
                (selected, -self.shares[selected].sum(axis=1), -self.n_judges[selected])
            )
        ]
        return columns


def selection_by_judge(results: Sequence[RunResult]) -> JudgeSelections:
    """Compare the features that runs of one plan selected under different judges.

    Parameters
    ----------
    results : sequence of RunResult
        The run of each judge, with the same plan on the same folds.

    Raises
    ------
    ParameterError
        For fewer than two runs, plans that differ in more than the
        label, different folds, or a method that uses all features.
    """
    # The runs must differ in the judge, whose labels are a column, and in nothing else.
    judges = tuple(str(result.plan.columns.get("label", "")) for result in results)
    if len(results) < 2 or len(set(judges)) < len(results):
        raise ParameterError(
            "results", ", ".join(judges), "runs of at least two judges, one of each"
        )
    first = results[0]
    plans = {result.plan.changed(columns=first.plan.columns) for result in results}
    folds = {tuple(fold.fold for fold in result.folds) for result in results}
    if len(plans) > 1 or len(folds) > 1 or not first.folds:
        raise ParameterError(
            "results", ", ".join(judges), "runs of the same plan on the same folds"
        )
    if not first.plan.entry.selects:
        raise ParameterError(
            "results", first.plan.title, "runs of a method that selects features"
        )

    # Whether each feature is selected, for each fold and judge.
    # `membership` returns a row for each judge. Features are columns of
    # the data.
    columns = {int(i): column for column, i in enumerate(first.feature_ids)}
    n = len(columns)
    members = np.array(  # (folds, judges, features)
        [
            membership(
                [[columns[i] for i in run.folds[index].selected] for run in results], n
            )
            for index in range(len(first.folds))
        ]
    )

    # Similarity is computed across judges within each fold, then
    # averaged over the folds. Jaccard's index is of each pair of
    # judges, (J, J). Nogueira's is of all judges.
    return JudgeSelections(
        judges=judges,
        feature_ids=first.feature_ids,
        feature_names=first.feature_names,
        shares=members.mean(axis=0).T,
        jaccard=np.mean([similarity(fold_members) for fold_members in members], axis=0),
        nogueira=float(
            np.mean([nogueira(fold_members).value for fold_members in members])
        ),
    )
