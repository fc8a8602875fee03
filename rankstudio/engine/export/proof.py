"""Proof that an exported file ranks as the model does, document by document."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.table import treated
from rankstudio.engine.errors import MissingExtraError, OutputError
from rankstudio.engine.export.formats.model_format import Documents, Files, ModelFormat
from rankstudio.engine.export.model_files import model_scores
from rankstudio.engine.export.models import Model
from rankstudio.engine.export.score_function import ScoreFunction, ValueRanges
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.shard import shards_of
from rankstudio.engine.support.sparse_rows import SparseRows


@dataclass(frozen=True)
class RankingProof:
    """Comparison of the rankings by a model and by the files to which it was exported.

    Attributes
    ----------
    n_queries : int
        Number of ranked queries.
    identical : int
        Number of queries with the same order of documents and the same ties.
    single : int or None
        Number of queries with the same order and ties in single
        precision; None if the other program computes in double
        precision.
    whose : str
        Program that computes in single precision.
    prints : int
        Digits of a score that the other program prints; 0 for all.
    failure : str
        Reason why the file was not verified, as a sentence; otherwise "".
    """

    n_queries: int
    identical: int
    single: int | None = None
    whose: str = ""
    prints: int = 0
    failure: str = ""

    @property
    def holds(self) -> bool:
        """Whether every query has the identical ranking by the model and by the exported file.

        The rankings are those in double precision; the other program
        may have less.
        """
        return not self.failure and self.identical == self.n_queries

    @property
    def sentence(self) -> str:
        """Result of the comparison, or why there is none, as a sentence."""
        if self.failure:
            return tr("Not verified: {reason}").format(reason=self.failure)

        # `identical` counts the queries that the file ranks like the
        # model, in double precision. For a program that prints only
        # `prints` digits, or computes in single precision, `single` is
        # a second count.
        if self.single is None:
            text = tr("Identical ranking on {identical} of {queries} queries.")
        elif self.prints and self.single == self.identical:
            text = tr(
                "Identical ranking on {identical} of {queries} queries, also with the digits "
                "that {whose} prints."
            )
        elif self.prints:
            text = tr(
                "Identical ranking on {identical} of {queries} queries; with the {digits} "
                "digits that {whose} prints, on {single} of {queries}."
            )
        elif self.single == self.identical:
            text = tr(
                "Identical ranking on {identical} of {queries} queries, also in the single "
                "precision of {whose}."
            )
        else:
            text = tr(
                "Identical ranking on {identical} of {queries} queries; in the single "
                "precision of {whose}, on {single} of {queries}."
            )
        return text.format(
            identical=self.identical,
            queries=self.n_queries,
            single=self.single,
            whose=self.whose,
            digits=self.prints,
        )


def unproved(reason: str) -> RankingProof:
    """Return an unverified result with its reason."""
    return RankingProof(n_queries=0, identical=0, failure=reason)


def ranking_proof(
    model: Model,
    function: ScoreFunction,
    form: ModelFormat,
    files: Files,
    parts: Sequence[RankingDataset],
) -> RankingProof:
    """Score documents with a model and with its exported file, and compare the rankings.

    Parameters
    ----------
    model : Model
        Exported model.
    function : ScoreFunction
        The model in the form for other programs.
    form : ModelFormat
        Format of the export.
    files : Files
        Contents of the exported files, which are read back.
    parts : sequence of RankingDataset
        Documents, filled as the model requires but not scaled. Large
        parts are processed a few queries at a time.
    """
    # `form.single` names the program, if it computes in single
    # precision or prints few digits; otherwise it is "".
    has_single_precision = form.single != ""

    # Numbers of queries: all, those with the same ranking in double
    # precision, and those with the same ranking in single precision.
    counts = np.zeros(3, dtype=np.int64)
    for part in _in_shards(parts):
        # The values of all inputs are needed at once, 8 bytes each.
        if 8.0 * len(function.inputs) * part.n_documents > memory.budget():
            return unproved(
                tr("Memory has no room for the values of all its features.")
            )
        # Score with the model, and with the file in both precisions.
        # The file scales the values itself.
        expected = model_scores(model, _scaled(part) if function.scaled else part)
        inputs = _input_columns(function, part)
        try:
            with np.errstate(all="ignore"):
                double_scores = form.read(
                    files, function, Documents(inputs, part.query_ptr)
                )
                single_scores = double_scores
                # Documents are in double precision by default.
                if has_single_precision:
                    single_scores = form.read(
                        files, function, Documents(inputs, part.query_ptr, np.float32)
                    )
        except (OutputError, MissingExtraError) as error:
            return unproved(str(error))
        except (OSError, subprocess.SubprocessError) as error:
            return unproved(f"the file could not be read back ({error}).")
        # `ranked_alike` says for each query whether its documents have
        # the same order.
        n_identical = ranked_alike(expected, double_scores, part.query_ptr).sum()
        n_identical_single = ranked_alike(expected, single_scores, part.query_ptr).sum()
        counts += [part.n_queries, n_identical, n_identical_single]
        release(part.X)  # frees the memory of rows mapped from a file
    n_queries, identical, single = counts.tolist()
    return RankingProof(
        n_queries=n_queries,
        identical=identical,
        single=single if has_single_precision else None,
        whose=form.single,
        prints=form.prints,
    )


def fitted_function(
    model: Model,
    function: ScoreFunction,
    form: ModelFormat,
    parts: Sequence[RankingDataset],
) -> ScoreFunction:
    """Return the best form of a model for another program.

    Some formats can express a model in several forms, for example with
    shifted values, which differ in their rounding. The best form ranks
    the most queries like the model.

    Parameters
    ----------
    model : Model
        Model to export.
    function : ScoreFunction
        The model in the form for other programs.
    form : ModelFormat
        Format of the export.
    parts : sequence of RankingDataset
        Documents to try the forms on, filled but not scaled.

    Returns
    -------
    ScoreFunction
        The original function if the format accepts it unchanged, or no
        other form is better.
    """
    if form.fit is None or not parts:
        return function
    if form.refusal(linear=function.linear, scaled=function.scaled, kind=function.kind):
        return function  # the export itself raises the error
    candidates = form.fit(function, _value_ranges(function, parts))
    # `single` counts the queries that the program, in its own
    # precision, ranks like the model. One candidate alone needs no
    # trial.
    best = candidates[0]
    best_count = -1
    for candidate in candidates if len(candidates) > 1 else ():
        proof = ranking_proof(model, candidate, form, form.files(candidate), parts)
        if (proof.single or 0) > best_count:
            best = candidate
            best_count = proof.single or 0
        # Better is not possible.
        if best_count == proof.n_queries:
            break
    return best


def _value_ranges(
    function: ScoreFunction, parts: Sequence[RankingDataset]
) -> ValueRanges:
    """Return the least, the greatest and the mean value of each of the k inputs of a model.

    `function` is the model in the form for other programs. The values
    are those of all documents of the parts.
    """
    k = len(function.inputs)
    n = 0
    low = np.full(k, np.inf)
    high = np.full(k, -np.inf)
    total = np.zeros(k)
    for part in _in_shards(parts):
        X = _input_columns(function, part)
        low = np.minimum(low, X.min(axis=0))
        high = np.maximum(high, X.max(axis=0))
        total = total + X.sum(axis=0)
        n = n + len(X)
        release(part.X)  # frees the memory of rows mapped from a file
    mean = total / max(n, 1)
    return ValueRanges(tuple(low.tolist()), tuple(high.tolist()), tuple(mean.tolist()))


def _in_shards(parts: Iterable[RankingDataset]) -> Iterator[RankingDataset]:
    """Yield the documents of parts of a dataset as datasets of limited size.

    A large part becomes several datasets of whole queries.
    """
    for part in parts:
        for shard in shards_of(part.query_ptr):
            yield RankingDataset(
                X=part.X[shard.rows],
                y=part.y[shard.rows],
                # Rows count from the first one of the shard.
                query_ptr=part.query_ptr[shard.first_query : shard.end_query + 1]
                - shard.first_row,
                query_ids=part.query_ids[shard.first_query : shard.end_query],
                feature_ids=part.feature_ids,
                feature_names=part.feature_names,
                sparse=part.sparse,
            )


def ranked_alike(first: Floats, second: Floats, query_ptr: Ints) -> Bools:
    """Return for each of Q queries whether two sets of scores rank its documents alike.

    Ties must be the same, too.

    Parameters
    ----------
    first, second : ndarray of shape (m,)
        The two scores of each of m documents.
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query, followed by m.

    Returns
    -------
    ndarray of shape (Q,), bool
        True for the queries with equal rankings.

    Notes
    -----
    O(m log m).
    """
    has_other_rank = _ranks_in_queries(first, query_ptr) != _ranks_in_queries(
        second, query_ptr
    )
    is_alike: Bools = ~np.logical_or.reduceat(has_other_rank, query_ptr[:-1])
    return is_alike


def _ranks_in_queries(scores: Floats, query_ptr: Ints) -> Ints:
    """Return for each document the number of different lower scores in its query.

    `scores` and the result have shape (m,) for m documents. `query_ptr`
    has the first row of each query, followed by m.
    """
    # The query of each document; sort by it, and then by the score.
    query = np.repeat(np.arange(query_ptr.size - 1), np.diff(query_ptr))
    order = np.lexsort((scores, query))
    sorted_scores = scores[order]
    is_higher = np.concatenate([[False], sorted_scores[1:] != sorted_scores[:-1]])
    is_higher[query_ptr[:-1]] = False  # the lowest score of a query
    # Numbers of rises up to each document, from the first query on;
    # each query subtracts its initial number.
    n_rises = np.cumsum(is_higher)
    ranks = np.empty(scores.size, dtype=np.int64)
    ranks[order] = n_rises - np.repeat(n_rises[query_ptr[:-1]], np.diff(query_ptr))
    return ranks


def _input_columns(function: ScoreFunction, part: RankingDataset) -> Floats:
    """Return the values of a function's k inputs, shape (m, k), in the m documents of a part.

    A feature that sparse data leave out is 0.
    """
    column_of = {i: column for column, i in enumerate(part.feature_ids.tolist())}
    zeros = np.zeros(part.n_documents)
    columns = [
        part.X[:, column_of[model_input.id]] if model_input.id in column_of else zeros
        for model_input in function.inputs
    ]
    return np.column_stack(columns) if columns else np.zeros((part.n_documents, 0))


def _scaled(part: RankingDataset) -> RankingDataset:
    """Return a part whose features are scaled to [0, 1] within each query."""
    X = part.X if isinstance(part.X, SparseRows) else np.array(part.X)
    # `treated` scales values, but can also fill missing ones and add
    # columns: here it does neither.
    scaled = treated(
        X, part.query_ptr, part.missing, fill_policy="", n_features=0, normalize=True
    )
    return part.changed(X=scaled)
