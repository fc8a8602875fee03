"""Measuring many models on the same queries: everything that depends only on labels is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.arrays import Floats, Ints, unwritable
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.metrics._kernels import (
    Codes,
    Rules,
    Truth,
    measure_all,
    rank_all,
    scratch_space,
)
from rankstudio.engine.metrics.conventions import DEFAULT, Convention, Ties
from rankstudio.engine.metrics.conventions import convention as find_convention
from rankstudio.engine.metrics.families import PAIRED, Reads
from rankstudio.engine.metrics.foreign_values import ForeignValues
from rankstudio.engine.metrics.names import Measure, measure
from rankstudio.engine.support.grades import Grading, order_of_ranks

_MAX_BYTE_CODES = 128  # labels for which twice a position plus a bit fits into a byte


def check_labels(y: ArrayLike) -> Floats:
    """Check and return the labels as float64 of shape (m,), in an array that kernels accept.

    Raises
    ------
    DatasetError
        For no labels, or a label that is not a finite number; the
        message gives the number of the document, from 1.
    ParameterError
        Unless there is one number per document.
    """
    try:
        labels = np.require(y, dtype=np.float64, requirements=["C", "W"])
    except (TypeError, ValueError):
        raise ParameterError(
            "y", y, "a number for each document: its relevance label"
        ) from None
    if labels.ndim != 1:
        raise ParameterError(
            "y",
            f"an array of shape {labels.shape}",
            "one relevance label for each document",
        )
    if not labels.size:
        raise DatasetError("The data have no documents to evaluate.")
    wrong = np.flatnonzero(~np.isfinite(labels))
    if wrong.size:
        raise DatasetError(
            f"The label of document {wrong[0] + 1} is {labels[wrong[0]]}; expected a finite number."
        )
    return labels


def check_query_ptr(query_ptr: ArrayLike, n_documents: int) -> Ints:
    """Check and return the query pointer as int64 of shape (Q + 1,); ParameterError if it is invalid.

    Query q has the documents ``query_ptr[q]:query_ptr[q + 1]``, at least one.
    """
    ptr = np.array(query_ptr, dtype=np.int64)
    has_bounds = (
        ptr.ndim == 1 and ptr.size >= 2 and ptr[0] == 0 and ptr[-1] == n_documents
    )
    if not has_bounds or (np.diff(ptr) < 1).any():
        raise ParameterError(
            "query_ptr",
            query_ptr,
            f"increasing positions from 0 to {n_documents}, the number of documents",
        )
    return ptr


def check_document_ids(
    ids: Sequence[object] | NDArray[np.generic], n_documents: int
) -> NDArray[np.str_]:
    """Check and return the document ids as text of shape (m,); ParameterError unless there is one per document."""
    names = np.asarray(ids).astype(np.str_)
    if names.shape != (n_documents,):
        raise ParameterError(
            "document_ids",
            f"an array of shape {names.shape}",
            f"one id for each of the {n_documents} documents",
        )
    return names


def compile_rules(convention: Convention, *, ties_reversed: bool = False) -> Rules:
    """Return the rules of a convention as numbers, the form of the compiled kernels.

    ``ties_reversed`` is whether documents with equal scores are in the
    reverse order in rankings.
    """
    return Rules(
        empty_query=float(convention.empty_query),
        short_ndcg=int(convention.short_ndcg),
        short_precision=int(convention.short_precision),
        map_cut_divides_by_k=bool(convention.map_cut_divides_by_k),
        ties_averaged=convention.ties is Ties.AVERAGED,
        ties_reversed=ties_reversed,
    )


def label_codes(labels: Floats) -> tuple[Floats, Codes]:
    """Return the distinct labels, ascending, and each document's position among them.

    Positions have one byte if there are at most 128 distinct labels, otherwise four.
    """
    values, level = np.unique(labels, return_inverse=True)
    return values, level.astype(
        np.uint8 if values.size <= _MAX_BYTE_CODES else np.uint32
    )


def compile_truth(
    labels: Floats,
    query_ptr: Ints,
    convention: Convention,
    greatest_grade: float,
    *,
    pairs: bool,
) -> Truth:
    """Compute the numbers of measures that depend only on the labels, not on the ranking, in O(m log m).

    Parameters
    ----------
    labels : ndarray of shape (m,)
        Labels, grouped by query.
    query_ptr : ndarray of shape (Q + 1,)
        First document of each query, followed by m.
    convention : Convention
        Gains, discounts and the least relevant label.
    greatest_grade : float
        Greatest label of the dataset, for ERR.
    pairs : bool
        Whether pairs of documents are counted, as for the disagreement error.

    Returns
    -------
    Truth
        Numbers of each distinct label, such as its gain, and of each
        query, such as the DCG of the best order.

    Raises
    ------
    DatasetError
        For a label with an infinite gain.
    """
    # Compute the gain of each distinct label; level (m,) has the
    # position of each document's label among them.
    values, level = label_codes(labels)
    with np.errstate(over="ignore"):
        gain = convention.gains(values)
        total = np.add.reduceat(gain[level], query_ptr[:-1])
    # Exponential gains overflow if the labels are no grades.
    if not np.isfinite(total).all():
        raise DatasetError(
            f"The largest label, {labels.max():g}, is too large for NDCG with the gain "
            f"{convention.gain.value} of the {convention.label} convention. "
            "Labels are usually grades such as 0 … 4."
        )
    # Ideal DCG, relevant documents and pairs of each query.
    weight = convention.weights(int(np.diff(query_ptr).max()))
    ideal = _ideal_dcg(gain[level], query_ptr, weight)
    relevant = (values >= convention.relevant_from).astype(np.float64)
    n_pairs = count_pairs(labels, query_ptr) if pairs else np.zeros(0, np.int64)
    n_relevant = np.add.reduceat(relevant[level], query_ptr[:-1]).astype(np.int64)
    # ERR stops at each label by chance; labels below 0 are no judgments.
    stop = convention.stop_chances(values, greatest_grade)
    judged = (values >= 0.0).astype(np.float64)
    n_judged = np.add.reduceat(judged[level], query_ptr[:-1]).astype(np.int64)
    return Truth(
        query_ptr=query_ptr,
        ideal=ideal,
        n_relevant=n_relevant,
        n_pairs=n_pairs,
        weight=weight,
        gain=gain,
        relevant=relevant,
        stop=stop,
        n_judged=n_judged,
        judged=judged,
    )


def _ideal_dcg(gain: Floats, query_ptr: Ints, weight: Floats) -> Floats:
    """Return the DCG at every rank of every query in the best order, shape (m,), in O(m log m).

    ``gain`` (m,) is that of each document, and ``weight`` the discount
    of each rank. Query q has the documents query_ptr[q] to query_ptr[q
    + 1] - 1.
    """
    lengths = np.diff(query_ptr)
    query = np.repeat(np.arange(lengths.size), lengths)
    rank = np.arange(gain.size) - query_ptr[query]
    # by descending gain in each query
    ideal: Floats = gain[np.lexsort((-gain, query))] * weight[rank]
    for first, last in pairwise(query_ptr.tolist()):
        np.cumsum(ideal[first:last], out=ideal[first:last])
    return ideal


def count_pairs(labels: Floats, query_ptr: Ints) -> Ints:
    """Return the number of pairs of documents with different labels in each query, shape (Q,).

    Query q has the documents query_ptr[q] to query_ptr[q + 1] - 1.
    """
    lengths = np.diff(query_ptr)
    query = np.repeat(np.arange(lengths.size), lengths)
    order = np.lexsort((labels, query))  # by query, so that query_ptr stays valid
    # Documents of a query with the same label are a group. Of n²
    # ordered pairs, each document also with itself, Σ size² are within
    # groups.
    starts = np.zeros(labels.size, dtype=np.bool_)
    starts[1:] = np.diff(labels[order]) > 0
    starts[query_ptr[:-1]] = True
    group_sizes = np.diff(np.append(np.flatnonzero(starts), labels.size))
    first_group = np.cumsum(starts)[query_ptr[:-1]] - 1
    same_label_pairs = np.add.reduceat(group_sizes * group_sizes, first_group)
    n_pairs: Ints = (lengths * lengths - same_label_pairs) // 2
    return n_pairs


_MAX_BLOCK_VALUES = 1 << 22  # values per query kept at a time: 32 MB


class Evaluator:
    """Computes measures for any number of rankings of the same documents.

    The documents of a query are ranked once, by descending score, and
    all measures are computed from that ranking.

    Parameters
    ----------
    y : array-like of shape (m,)
        Relevance labels, grouped by query.
    query_ptr : array-like of shape (Q + 1,)
        First document of each query, followed by m; no query is empty.
    convention : str or Convention
        Key of the convention.
    measures : sequence of str or Measure
        Measures to compute.
    grading : Grading, optional
        Largest grade of the whole dataset, and the ranks of the
        document ids for conventions that order equal scores by id.
        Without ids the later document comes first, as for ids that
        ascend in the file. By default the documents are a whole
        dataset.

    Attributes
    ----------
    convention : Convention
    measures : tuple of Measure
    n_documents, n_queries : int

    Raises
    ------
    ParameterError
        For an unknown convention or measure, or inconsistent arrays.
    DatasetError
        For no documents, or a label that is not a finite number or has
        an infinite gain.

    Notes
    -----
    Creation takes O(m log m), evaluating K models O(K m log n) with n
    documents per query. An evaluator does not change afterwards:
    several threads may use one evaluator at a time.

    Examples
    --------
    >>> import numpy as np
    >>> evaluator = Evaluator(np.array([0, 1, 1, 0]), np.array([0, 2, 4]), measures=("MAP",))
    >>> evaluator.evaluate(np.array([1.0, 2.0, 3.0, 4.0]))
    {'MAP': 0.75}
    """

    def __init__(
        self,
        y: ArrayLike,
        query_ptr: ArrayLike,
        convention: str | Convention = DEFAULT,
        measures: Sequence[str | Measure] = ("MAP", "P@10", "MeanNDCG", "NDCG@10"),
        *,
        grading: Grading | None = None,
    ) -> None:
        # Query q has the documents query_ptr[q] to query_ptr[q + 1] -
        # 1. `grading` has the greatest grade of the dataset, and ids
        # that may order equal scores.
        labels = check_labels(y)
        ptr = check_query_ptr(query_ptr, labels.size)
        self.convention = (
            find_convention(convention) if isinstance(convention, str) else convention
        )
        self.measures = tuple(dict.fromkeys(measure(m) for m in measures))
        self.n_documents = labels.size
        self.n_queries = ptr.size - 1
        # The order in which equal scores are ranked; None for that of the file.
        grading = grading or Grading.of(labels)
        self._order = reading_order(ptr, self.convention, grading, last_first=True)
        # From here on, documents are in this order: a stable sort by
        # score then ranks equal scores by the convention.
        if self._order is not None:
            labels = labels[self._order]
        self._labels = labels
        # A mask of the measures that need the scores themselves, not
        # only a ranking.
        self._needs_scores = np.array(
            [not m.by_rank for m in self.measures], dtype=np.bool_
        )
        # The measures of plug-ins and files; None without any.
        self._foreign = self._foreign_values(labels, ptr, grading.greatest_grade)
        _, self._level = label_codes(labels)
        self._rules = compile_rules(self.convention)
        # For a convention that orders ties by document id, the function
        # `rank` writes them in the reverse order, so its rankings have
        # rules of their own.
        backwards = self.convention.ties is Ties.DOCUMENT_ID
        self._ranking_rules = compile_rules(self.convention, ties_reversed=backwards)
        self._query_ptr = ptr
        self._batches = self._compile_batches(labels, grading.greatest_grade)

    def _compile_batches(
        self, labels: Floats, greatest_grade: float
    ) -> tuple[_Batch, ...]:
        """Return the measures that the compiled kernel computes, in batches.

        A batch is computed by one call of the kernel. The measures of a
        batch have the same least relevant label. Measures of plug-ins,
        and those that need scores, not only ranks, are in none.
        ``labels`` (m,) are in the order of equal scores.
        ``greatest_grade`` is the greatest label of the dataset, for
        ERR.
        """
        # Group the measures by the least label that is relevant for them.
        indices_by_threshold: dict[float, list[int]] = {}
        for index, m in enumerate(self.measures):
            if m.foreign or not m.by_rank:
                continue
            relevant_from = m.relevant_from
            if relevant_from is None:
                relevant_from = self.convention.relevant_from
            indices_by_threshold.setdefault(relevant_from, []).append(index)
        # The truth of a group has its own numbers of relevant documents.
        batches = []
        for relevant_from, batch_indices in indices_by_threshold.items():
            measures = [self.measures[index] for index in batch_indices]
            # Some measures, such as Kendall's tau, count pairs of documents.
            pairs = any(m.family.name in PAIRED for m in measures)
            rules = replace(self.convention, relevant_from=relevant_from)
            truth = compile_truth(
                labels, self._query_ptr, rules, greatest_grade, pairs=pairs
            )
            batches.append(_Batch.of(measures, batch_indices, truth))
        return tuple(batches)

    def _foreign_values(
        self, labels: Floats, ptr: Ints, greatest_grade: float
    ) -> ForeignValues | None:
        """Return the object that computes the measures of plug-ins and files; None if no measure is one of these.

        ``ptr`` (Q + 1,) has the first document of each query.
        ``labels`` (m,) are in the order of equal scores, and
        ``greatest_grade`` is the greatest label of the dataset.
        """
        indices = [index for index, m in enumerate(self.measures) if m.foreign]
        if not indices:
            return None
        measures = [self.measures[index] for index in indices]
        return ForeignValues(
            measures, indices, labels, ptr, self.convention, greatest_grade
        )

    def evaluate(self, scores: ArrayLike) -> dict[str, float]:
        """Return each measure of one model, averaged over the queries.

        Parameters
        ----------
        scores : array-like of shape (m,)
            Predicted scores of the documents.

        Raises
        ------
        ParameterError
            For another shape.
        DatasetError
            For a NaN score; the message names the document.
        """
        averages = self._averages(self._score_row(scores))
        return {name: float(values[0]) for name, values in averages.items()}

    def evaluate_many(self, scores: ArrayLike) -> dict[str, Floats]:
        """Return each measure of K models, averaged over the queries, each of shape (K,).

        Parameters
        ----------
        scores : array-like of shape (K, m)
            One row per model: the scores of a model are contiguous in
            memory, as a ranking reads them. ``coef @ X.T`` has this
            shape; ``(X @ coef.T).T`` is copied.

        Raises
        ------
        ParameterError
            For another shape.
        DatasetError
            For a NaN score; the message names the model and the document.
        """
        return self._averages(self._score_rows(scores))

    def per_query(self, scores: ArrayLike) -> dict[str, Floats]:
        """Return each measure of one model in each query, each of shape (Q,).

        A measure of pairs, such as the disagreement error, is NaN for a
        query without a pair of different labels. See ``evaluate`` for
        the parameters and errors. ``scores`` (m,) has one per document.
        """
        return self._by_name(self._table(self._score_row(scores))[:, 0])

    def per_query_many(self, scores: ArrayLike) -> dict[str, Floats]:
        """Return each measure of K models in each query, each of shape (K, Q).

        See ``evaluate_many`` for the parameters and errors,
        ``per_query`` for what is NaN. ``scores`` (K, m) has a row per
        model.
        """
        return self._by_name(self._table(self._score_rows(scores)))

    def _by_name(self, table: Floats) -> dict[str, Floats]:
        return {m.name: values for m, values in zip(self.measures, table, strict=True)}

    def evaluate_rankings(self, ranked: Codes) -> dict[str, Floats]:
        """Return each measure of K rankings, averaged over the queries, each of shape (K,).

        Parameters
        ----------
        ranked : ndarray of shape (K, m)
            Rankings of :func:`rank`, of the evaluator's documents in their
            :func:`reading_order`. Every convention with that order uses the same
            rankings.

        Notes
        -----
        O(K m), or O(K Q k) if every measure has a cut-off k.
        """
        # Some rankings at a time, to limit the memory; without
        # rankings, one empty block, so that the result has the right
        # shape.
        step = self._rows_at_a_time
        blocks = [
            ranked[start : start + step]
            for start in range(0, max(1, ranked.shape[0]), step)
        ]
        averages = [
            average(self._measured(block, self._ranking_rules)) for block in blocks
        ]
        joined = np.concatenate(averages, axis=-1)
        return self._by_name(joined)

    def rankings_per_query(self, ranked: Codes) -> dict[str, Floats]:
        """Return each measure of one ranking (1, m) in each query, by name, each of shape (Q,).

        ``ranked`` has the labels in ranked order, with marks of ties.
        """
        return self._by_name(self._measured(ranked[:1], self._ranking_rules)[:, 0])

    def measure_rows(
        self, ranked: Codes, begins: Ints, ends: Ints, out: Floats
    ) -> None:
        """Write each measure of some rankings of each query, for :class:`DistinctRankings`.

        Parameters
        ----------
        ranked : ndarray of shape (K, m)
            Labels in ranked order, with marks of ties.
        begins, ends : ndarray of shape (Q,)
            Rows to measure, for each query.
        out : ndarray of shape (M, K, Q)
            Receives the values; those of other rows are unchanged.
        """
        self._measure(ranked, begins, ends, self._ranking_rules, out)

    @property
    def by_rank(self) -> bool:
        """Whether rankings determine all measures.

        A measure that needs scores is NaN for a ranking.
        """
        return not self._needs_scores.any()

    @property
    def _rows_at_a_time(self) -> int:
        """How many models are measured at once, to limit the memory."""
        return max(
            1, _MAX_BLOCK_VALUES // (self.n_queries * max(1, len(self.measures)))
        )

    def _score_row(self, scores: ArrayLike) -> Floats:
        return self._score_rows(np.expand_dims(np.asarray(scores), 0))

    def _score_rows(self, scores: ArrayLike) -> Floats:
        """Check and return the scores of K models, shape (K, m), in the order of equal scores.

        The result is a writable C array, the type that kernels are
        compiled for.
        """
        try:
            rows = np.require(scores, dtype=np.float64, requirements=["C", "W"])
        except (TypeError, ValueError):
            raise ParameterError(
                "scores", scores, "one number for each document"
            ) from None
        if rows.ndim != 2 or rows.shape[1] != self.n_documents:
            raise ParameterError(
                "scores",
                f"an array of shape {rows.shape}",
                f"one score for each of the {self.n_documents} documents, one row per model",
            )
        if self._order is None:
            return rows
        # Unlike rows[:, order], the result of take is in C order.
        return np.take(rows, self._order, axis=1)

    def _averages(self, rows: Floats) -> dict[str, Floats]:
        """Return each measure of K models with scores (K, m), averaged over queries, each of shape (K,)."""
        averages = np.empty((len(self.measures), rows.shape[0]))
        step = self._rows_at_a_time
        for start in range(0, rows.shape[0], step):
            block = self._table(rows[start : start + step], start)
            averages[:, start : start + step] = average(block)
        return self._by_name(averages)

    def _table(self, rows: Floats, first_model: int = 0) -> Floats:
        """Return the measures of each model in each query, shape (M, K, Q), for scores (K, m).

        ``first_model`` is the number of the first model, for the error
        about a NaN score.
        """
        # The rankings (K, m); `bad` is the position of a NaN in the
        # flattened scores, or -1. The error names the document in the
        # caller's order.
        ranked, bad = _rank_rows(rows, self._level, self._query_ptr)
        if bad >= 0:
            model, position = divmod(bad, self.n_documents)
            document = position if self._order is None else int(self._order[position])
            raise _not_a_number_error(document, first_model + model)
        table = self._measured(ranked, self._rules)
        if not self.by_rank:  # the squared error is the one measure of scores
            with np.errstate(over="ignore"):
                errors = np.add.reduceat(
                    (rows - self._labels) ** 2, self._query_ptr[:-1], axis=1
                )
            table[self._needs_scores] = errors / np.diff(self._query_ptr)
        return table

    def _measured(self, ranked: Codes, rules: Rules) -> Floats:
        """Return the measures of each ranking in each query, shape (M, K, Q); NaN for measures of scores.

        M counts the measures, K the rankings and Q the queries.
        ``ranked`` (K, m) are the labels of the m documents in the order
        of each ranking, with marks of ties. ``rules`` are those of the
        convention.
        """
        out = np.empty((len(self.measures), ranked.shape[0], self.n_queries))
        # Measure all K rankings in every query: of each query, the rows 0 to K
        # - 1 of ``ranked``.
        begins = np.zeros(self.n_queries, dtype=np.int64)
        ends = np.full(self.n_queries, ranked.shape[0])
        out[self._needs_scores] = np.nan
        self._measure(ranked, begins, ends, rules, out)
        return out

    def _measure(
        self, ranked: Codes, begins: Ints, ends: Ints, rules: Rules, out: Floats
    ) -> None:
        """Write the measures of some rankings of each query into ``out`` (M, K, Q).

        Of query q, these are the rows begins[q] to ends[q] - 1 of
        ``ranked`` (K, m), the labels of the documents in ranked order.
        ``rules`` are those of the convention. M counts the measures, K
        the rankings and Q the queries.
        """
        models = int(begins.min()), int(ends.max())  # all of these rows
        for batch in self._batches:
            # Indexing copies, so a batch with all measures writes to `out` directly.
            is_all = batch.indices.size == len(self.measures)
            values = out if is_all else out[batch.indices]
            batch.measure(ranked, models, begins, ends, rules, values)
            if not is_all:
                out[batch.indices] = values
        if self._foreign is not None:
            self._foreign.measure(
                ranked, begins, ends, backwards=rules.ties_reversed, out=out
            )


class _Batch(NamedTuple):
    """Measures that one call of the kernel computes.

    Attributes
    ----------
    indices : ndarray of shape (B,)
        Positions of the measures among the evaluator's measures.
    kinds, cuts, persistences : ndarray of shape (B,)
    deepest : int
        Greatest cut-off.
    reads : frozenset of Reads
        Information that the measures need from a ranking.
    truth : Truth
        With the labels that are relevant for these measures.
    """

    indices: Ints
    kinds: Ints
    cuts: Ints
    persistences: Floats
    deepest: int
    reads: frozenset[Reads]
    truth: Truth

    @classmethod
    def of(
        cls, measures: Sequence[Measure], indices: Sequence[int], truth: Truth
    ) -> _Batch:
        """Return the batch of some measures.

        ``indices`` are their positions among the evaluator's measures,
        and ``truth`` has what the labels alone determine.
        """
        # `deepest` is the last rank that a measure reads: without a
        # cut-off, it reads all ranks. `kind` is the measure's number in
        # the kernels. Only rank-biased precision has a persistence: its
        # own, or the usual one of its family.
        n_documents = int(truth.query_ptr[-1])
        return cls(
            indices=np.array(indices, dtype=np.int64),
            kinds=np.array([m.kind for m in measures], dtype=np.int64),
            cuts=np.array([m.cut or 0 for m in measures], dtype=np.int64),
            persistences=np.array(
                [m.persistence or m.family.persistence or 0.0 for m in measures]
            ),
            deepest=max(m.cut or n_documents for m in measures),
            reads=frozenset[Reads]().union(*(m.family.reads for m in measures)),
            truth=truth,
        )

    def measure(
        self,
        ranked: Codes,
        models: tuple[int, int],
        begins: Ints,
        ends: Ints,
        rules: Rules,
        out: Floats,
    ) -> None:
        """Write the B measures of some rankings of each query into ``out`` of shape (B, K, Q).

        Of query q, these are the rows begins[q] to ends[q] - 1 of
        ``ranked`` (K, m), all of them from models[0] to models[1] - 1.
        ``rules`` are those of the convention.
        """
        # `weight` has the discount of each rank, so its size is that of
        # the longest query. The tree is work space that the simplest
        # measures do not need: with None, the kernel compiles without
        # it. What no measure reads is not computed.
        space = scratch_space(self.truth.weight.size)
        needs_tree = Reads.ORDER in self.reads or rules.ties_averaged
        tree = (
            np.zeros(self.truth.gain.size + 1, dtype=np.int64) if needs_tree else None
        )
        graded = Reads.GAINS in self.reads
        counted = Reads.HITS in self.reads
        measure_all(
            ranked, models, begins, ends, self.truth, rules, self.kinds, self.cuts, self.persistences,
            self.deepest, graded, counted, out, *space, tree,
        )  # fmt: skip


def reading_order(
    query_ptr: Ints,
    convention: Convention,
    grading: Grading,
    *,
    last_first: bool = False,
) -> Ints | None:
    """Return the order of all documents in which a convention places those with equal scores.

    None means the order of the file.

    Parameters
    ----------
    query_ptr : ndarray of shape (Q + 1,)
        First document of each query, followed by m.
    convention : Convention
        Rules, of which one orders documents with equal scores.
    grading : Grading
        Ids of the documents, as ranks.
    last_first : bool, default False
        Whether to return the order in which documents with equal scores
        are placed. By default it is reversed within each query, as
        :func:`rank` expects it: measures by these conventions read ties
        backwards. Without ids, these conventions place the last
        document first; its reverse is the order of the file, so the
        result is None.
    """
    if convention.ties is not Ties.DOCUMENT_ID:
        return None
    ranks = grading.id_ranks
    if last_first:
        return order_of_ranks(query_ptr, ranks)
    if ranks is None:
        return None
    # The reverse order within each query: by descending position in the
    # order of a ranking.
    positions = np.empty(ranks.size, dtype=np.int64)
    positions[order_of_ranks(query_ptr, ranks)] = np.arange(ranks.size)
    return order_of_ranks(query_ptr, positions)


def rank(
    scores: Floats, y: Floats, query_ptr: Ints, order: Ints | None = None
) -> Codes:
    """Sort the documents of each query by the scores of K models, for `evaluate_rankings`.

    Parameters
    ----------
    scores : ndarray of shape (K, m)
        Scores; larger is better.
    y : ndarray of shape (m,)
        Relevance labels, grouped by query.
    query_ptr : ndarray of shape (Q + 1,)
        First document of each query, followed by m.
    order : ndarray of shape (m,), optional
        Documents in the reverse order in which equal scores are ranked, from
        :func:`reading_order`; by default that of the file.

    Returns
    -------
    ndarray of shape (K, m)
        Labels in that order, with marks of equal scores: one byte per
        document, or four for more than 128 distinct labels.

    Raises
    ------
    DatasetError
        For a NaN score.

    Notes
    -----
    O(K m log n), or O(K m) if consecutive models rank almost identically.
    """
    if order is not None:
        scores = np.ascontiguousarray(scores[:, order])
        y = y[order]
    # The position of each label among the different ones. `bad` is the
    # position of a NaN in the flattened scores, or -1.
    _, level = label_codes(y)
    ranked, bad = _rank_rows(scores, level, np.asarray(query_ptr, dtype=np.int64))
    if bad >= 0:
        model, position = divmod(bad, y.size)
        raise _not_a_number_error(
            position if order is None else int(order[position]), model
        )
    return ranked


def _rank_rows(rows: Floats, level: Codes, query_ptr: Ints) -> tuple[Codes, int]:
    """Return the labels in ranked order by each of K models (K, m), and the position of a NaN, or -1.

    ``rows`` (K, m) are the scores, and ``level`` (m,) has the position
    of each document's label among the different ones. The position is
    in the flattened scores. ``query_ptr`` (Q + 1,) has the first
    document of each query, followed by m.
    """
    ranked = np.empty(rows.shape, dtype=level.dtype)
    order = np.empty(rows.shape[1], dtype=np.int64)
    space = scratch_space(int(np.diff(query_ptr).max()))
    return ranked, rank_all(rows, unwritable(query_ptr), level, ranked, order, *space)


def _not_a_number_error(document: int, model: int) -> DatasetError:
    return DatasetError(
        f"The score of document {document + 1} by model {model + 1} is not a number (NaN); expected a number."
    )


def average(values: Floats) -> Floats:
    """Return the mean of ``values`` (…, Q) over the last axis, ignoring NaN; NaN if there are no other values."""
    undefined = np.isnan(values)
    if not undefined.any():
        return np.asarray(values.mean(axis=-1))
    count = np.count_nonzero(~undefined, axis=-1)
    total = np.where(undefined, 0.0, values).sum(axis=-1)
    return np.asarray(
        np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)
    )


def standard_error(values: Floats) -> float:
    """Return the standard error of the mean of values, s / √n, ignoring NaN; 0 for fewer than two."""
    values = values[~np.isnan(values)]
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else 0.0
