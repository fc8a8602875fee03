"""New folds: k-fold, leave-query-out, a single split, a validation part or inner folds for training.

Queries are dealt to the parts. The documents of a query stay together,
and queries and documents keep their order. Missing values are filled
and features scaled within a query, so that the values do not depend on
the folds.

All documents of a dataset with a single query are one global ranking.
Then documents are dealt instead of queries, and each part has some
documents of that query.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data import store
from rankstudio.engine.data.comments import TakenComments
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.splitting.leave_query_out import leave_query_out_folds
from rankstudio.engine.errors import DatasetError, ParameterError, between
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory
from rankstudio.engine.support.file_pages import in_file, joined_rows, taken_rows
from rankstudio.engine.support.sparse_rows import concatenated

PERCENT = 100
_DISK_SHARE = 0.9  # of the free disk space that folds may take
_MEMORY_SHARE = 0.9  # of the free memory that folds may take
LEAVE_QUERY_OUT = "leave-query-out"


def k_fold(dataset: FoldedDataset, k: int, seed: int = 0) -> FoldedDataset:
    """Make k folds as in LETOR: each of the subsets S1 … Sk is the test part of one fold.

    Fold i trains on k - 2 subsets, validates on the next one and tests
    on the following one. With k = 2 no validation part is left: models
    are trained on one half, selected by their criterion, and tested on
    the other half.

    Parameters
    ----------
    dataset : FoldedDataset
        Data whose documents are divided: those of all parts of a single
        fold, or of the test parts of several folds.
    k : int
        Number of folds, from 2 to the number of queries, or of
        documents if these are one ranking.
    seed : int
        Seed of the assignment of queries to subsets, from 0 up. The
        sizes of subsets differ by at most one query.

    Raises
    ------
    ParameterError
        For k or a seed out of range.
    DatasetError
        For fewer than k queries or documents, folds too large for
        memory or disk, or if the test parts do not contain each query
        once.

    Notes
    -----
    O(k m n) time and memory for m documents with n features, as for folds read from files.
    """
    between("k", k, 2)  # called for its errors only
    data = whole(dataset)
    n = _n_items(dataset, data)
    if n < k:
        text = (
            tr("{name}: {k} folds of one ranking need {k} documents, found {n}.")
            if is_one_ranking(dataset)
            else tr("{name}: {k} folds need {k} queries, found {n}.")
        )
        raise DatasetError(text.format(name=dataset.name, k=k, n=n))
    check_memory(dataset, k * data.X.nbytes)
    # Deal the queries to k subsets of nearly equal size.
    subsets = np.array_split(shuffled(n, seed), k)
    folds = []
    for i in range(k):
        # In this order: the training subsets, the validation subset, the test subset.
        rotated = [subsets[(i + j) % k] for j in range(k)]
        vali = rotated[-2] if k > 2 else rotated[0][:0]  # empty if no subset is left
        train = rotated[: max(k - 2, 1)]
        folds.append(
            _fold(i + 1, data, train=np.concatenate(train), vali=vali, test=rotated[-1])
        )
    # The text records how the folds were made.
    return _with_new_folds(dataset, data, folds, f"{k}-fold, seed {seed}")


def leave_query_out(dataset: FoldedDataset) -> FoldedDataset:
    """Make a fold for each query: the query is the test part, all other queries are the training part.

    There is no validation part; models are selected by their criterion.
    For RankRLS this protocol has a closed form, its leave-query-out
    error; other methods have no such shortcut.

    Parameters
    ----------
    dataset : FoldedDataset
        Data whose documents are divided: those of all parts of a single
        fold, or of the test parts of several folds.

    Raises
    ------
    DatasetError
        For fewer than two queries, data too large for memory, or if the
        test parts do not contain each query once.

    Notes
    -----
    Folds share the data (see
    `rankstudio.engine.data.splitting.leave_query_out`): O(mn) memory
    for any number of queries. A method is trained Q times per
    combination of settings.
    """
    data = whole(dataset)
    if data.n_queries < 2:
        text = tr(
            "{name}: leave-query-out needs 2 queries, found {n_queries}. Documents of one ranking can be "
            "divided by k-fold or a split."
        )
        raise DatasetError(text.format(name=dataset.name, n_queries=data.n_queries))
    # The data, and the training part in use, which is nearly as large.
    check_memory(dataset, 2 * data.X.nbytes)
    return replace(
        dataset, folds=leave_query_out_folds(data), divided_by=LEAVE_QUERY_OUT
    )


def single_split(
    dataset: FoldedDataset, shares: tuple[int, int, int], seed: int = 0
) -> FoldedDataset:
    """Make one fold with given shares of the queries, or of the documents if these are one ranking.

    Parameters
    ----------
    dataset : FoldedDataset
        Data whose documents are divided: those of all parts of a single
        fold, or of the test parts of several folds.
    shares : tuple of int
        Percentages of train, vali and test that add up to 100; only
        vali may be 0, for no validation part.
    seed : int
        Seed of the assignment of queries, from 0 up.

    Raises
    ------
    ParameterError
        For shares or a seed out of range.
    DatasetError
        If a part would have no query, or if the test parts do not
        contain each query once.

    Notes
    -----
    O(mn). Numbers of queries are the exact shares rounded by largest
    remainder; ties go to the earlier part.
    """
    train, vali, test = shares  # in percent
    if min(train, test) < 1 or vali < 0 or sum(shares) != PERCENT:
        raise ParameterError(
            "shares",
            shares,
            tr("a total of {percent}, and more than 0 for train and test").format(
                percent=PERCENT
            ),
        )
    data = whole(dataset)
    # Cut a random order of the queries, or of the documents of one ranking.
    ends = np.cumsum(_counts(dataset, data, shares))
    order = shuffled(_n_items(dataset, data), seed)
    train_end, vali_end, _ = ends
    fold = _fold(
        1,
        data,
        train=order[:train_end],
        vali=order[train_end:vali_end],
        test=order[vali_end:],
    )
    return _with_new_folds(
        dataset, data, [fold], f"split {train}/{vali}/{test}, seed {seed}"
    )


def nested(dataset: FoldedDataset, share: int, seed: int = 0) -> FoldedDataset:
    """Take a validation part from the training queries of each fold without one.

    Test parts stay unchanged. The selection is nested in the training
    part: the model is selected on queries used neither for training nor
    for testing. There is one inner split per fold, and the selected
    model is not retrained on all training queries; for an inner
    cross-validation see `for_inner_folds`.

    Parameters
    ----------
    dataset : FoldedDataset
        Data with folds.
    share : int
        Percentage of the training queries for validation, 1 to 99.
    seed : int
        Seed of the split, from 0 up; each fold is drawn independently.

    Raises
    ------
    ParameterError
        For a share or a seed out of range.
    DatasetError
        If the training or the validation part would have no query.

    Notes
    -----
    O(mn) per fold.
    """
    between("share", share, 1, PERCENT - 1)  # called for its errors only
    folds = [
        fold if fold.vali is not None else _inner(dataset, fold, share, seed)
        for fold in dataset.folds
    ]
    return replace(
        dataset, folds=tuple(folds), divided_by=f"nested {share}, seed {seed}"
    )


def _inner(dataset: FoldedDataset, fold: Fold, share: int, seed: int) -> Fold:
    """Return a fold with a share of its training part, in percent, moved to a new validation part.

    The queries, or the documents of one ranking, are drawn at random
    with ``seed``.
    """
    data = fold.train
    # Both parts get at least one query, or an error is raised.
    n_train, _ = _counts(dataset, data, (PERCENT - share, share))
    order = shuffled(_n_items(dataset, data), seed, fold.number)
    train = select_items(data, order[:n_train])
    vali = select_items(data, order[n_train:])
    # A selection has no warnings of its own: keep those about the file.
    return replace(fold, train=replace(train, warnings=data.warnings), vali=vali)


def training_share(dataset: FoldedDataset, share: int, seed: int = 0) -> FoldedDataset:
    """Keep a share of the training queries of each fold, for a learning curve.

    Other parts stay unchanged. The queries of a smaller share are among
    the queries of a larger share with the same seed. An existing
    validation part stays whole, unless it joins the training part for
    inner folds (`for_inner_folds`).

    Parameters
    ----------
    dataset : FoldedDataset
        Data with folds.
    share : int
        Percentage of the training queries (documents of one ranking) to
        keep, 1 to 100.
    seed : int
        Seed of the choice, from 0 up; each fold is drawn independently.

    Raises
    ------
    ParameterError
        For a share or a seed out of range.
    DatasetError
        If no training query would be left.

    Notes
    -----
    O(mn) per fold.
    """
    between("share", share, 1, PERCENT)  # called for its errors only
    folds = tuple(_reduced(dataset, fold, share, seed) for fold in dataset.folds)
    parts = (part for fold in dataset.folds for part in fold.parts.values())
    # The files of the whole parts still identify the data.
    sources = tuple(part.source for part in parts if part.source is not None)
    how = f"train {share}%, seed {seed}"
    origin = replace(dataset.origin, whole_sources=sources)
    return replace(dataset, folds=folds, divided_by=how, origin=origin)


def _reduced(dataset: FoldedDataset, fold: Fold, share: int, seed: int) -> Fold:
    """Return a fold whose training part is reduced to a share in percent, drawn at random.

    Queries are drawn, or documents if ``dataset`` is one ranking. Raise
    DatasetError if no query is left.
    """
    data = fold.train
    n = _n_items(dataset, data)
    n_kept = n * share // PERCENT
    if not n_kept:
        text = (
            tr(
                "{name}: found {n} training documents, too few to keep {share} %. Choose a larger share."
            )
            if is_one_ranking(dataset)
            else tr(
                "{name}: found {n} training queries, too few to keep {share} %. Choose a larger share."
            )
        )
        raise DatasetError(text.format(name=dataset.name, share=share, n=n))
    # A selection has no warnings of its own: keep those about the file.
    train = select_items(data, shuffled(n, seed, fold.number)[:n_kept])
    return replace(fold, train=replace(train, warnings=data.warnings))


def whole(dataset: FoldedDataset) -> RankingDataset:
    """Return all documents of a dataset, each once.

    For one fold the result has the documents of all parts; for several
    folds the documents of all test parts, as for LETOR's five subsets.

    Raises
    ------
    DatasetError
        If the test parts of several folds do not contain all queries,
        or a query is in two parts.

    Notes
    -----
    O(mn).
    """
    parts = disjoint_parts(dataset)
    return parts[0] if len(parts) == 1 else concatenate(parts)


def every_query(dataset: FoldedDataset) -> RankingDataset:
    """Return all queries of all parts of a dataset, each once.

    The queries of the test parts come first, then queries that only
    validation or training parts have. If the test parts contain all
    queries, the result is the same as that of `whole`.

    Raises
    ------
    DatasetError
        If the queries of different parts cannot be matched, or a query
        has other documents in another part.

    Notes
    -----
    O(mn).
    """
    parts = parts_of_every_query(dataset)
    return parts[0] if len(parts) == 1 else concatenate(parts)


def parts_of_every_query(dataset: FoldedDataset) -> list[RankingDataset]:
    """Return parts that together have every query of a dataset once.

    The test parts of all folds come first, then the validation and the
    training parts, each without the queries of the parts before it.

    Raises
    ------
    DatasetError
        If queries of different parts cannot be matched, or a query has
        other documents in another part.
    """
    # Queries cannot be compared by id if only their sizes are known, or
    # there is only one. One fold, or folds that leave out a query each,
    # have disjoint parts anyway.
    unmatched = dataset.origin.read_as.by_sizes or is_one_ranking(dataset)
    if unmatched or len(dataset.folds) == 1 or dataset.divided_by == LEAVE_QUERY_OUT:
        return disjoint_parts(dataset)
    parts: list[RankingDataset] = []
    labels: dict[str, Floats] = {}  # of the queries so far, by id
    for name in ("test", "vali", "train"):
        for part in (fold.parts[name] for fold in dataset.folds if name in fold.parts):
            positions = _new_queries(dataset, part, labels)
            if len(positions) == part.n_queries:
                parts.append(part)
            elif positions:
                parts.append(select_queries(part, np.array(positions, dtype=np.int64)))
    return parts


def _new_queries(
    dataset: FoldedDataset, part: RankingDataset, labels: dict[str, Floats]
) -> list[int]:
    """Return the positions of a part's queries that no earlier part has.

    The labels of these queries are added to ``labels``, which has the
    sorted labels of the queries of all earlier parts, by id. If an id
    occurs again with other labels, the id belongs to another query:
    raise DatasetError.
    """
    # Compare the labels of each query with those of the same id before.
    positions = []
    ends = part.query_ptr[1:-1]
    labels_by_query = zip(part.query_ids, np.split(part.y, ends), strict=True)
    for position, (query, values) in enumerate(labels_by_query):
        # The order of the documents may differ between parts.
        sorted_labels = np.sort(values)
        if query not in labels:
            labels[query] = sorted_labels
            positions.append(position)
        elif not np.array_equal(labels[query], sorted_labels):
            text = tr(
                "{name}: query {query} has other documents in another part. Give different queries different "
                "ids."
            )
            raise DatasetError(text.format(name=dataset.name, query=query))
    return positions


def is_one_ranking(dataset: FoldedDataset) -> bool:
    """Return whether all documents of a dataset belong to one query.

    If so, folds are made by distributing documents instead of queries.
    """
    parts = [part for _, part in _named_parts(dataset)]
    # The empty tuple stands for a part with several queries.
    ids = {part.query_ids if part.n_queries == 1 else () for part in parts}
    # Each file of query sizes numbers its queries from 1: equal ids in
    # several parts are different queries.
    has_comparable_ids = len(parts) == 1 or not dataset.origin.read_as.by_sizes
    return len(ids) == 1 and () not in ids and has_comparable_ids


def _n_items(dataset: FoldedDataset, data: RankingDataset) -> int:
    """Return the number of items of a part that are divided: its queries, or documents of one ranking.

    Documents are divided if the whole ``dataset`` is one ranking.
    """
    return data.n_documents if is_one_ranking(dataset) else data.n_queries


def _n_items_of_part(data: RankingDataset) -> int:
    """Return the number of items of a part that are divided.

    The items are the queries of the part or, if it has a single query,
    its documents.
    """
    return data.n_queries if data.n_queries > 1 else data.n_documents


def select_items(data: RankingDataset, indices: Ints) -> RankingDataset:
    """Return some queries of a dataset, or some documents if it has only one query.

    ``indices`` are the positions of the queries or documents, from 0;
    the result has them in this order.
    """
    return (
        select_queries(data, indices)
        if data.n_queries > 1
        else _select_documents(data, indices)
    )


def disjoint_parts(dataset: FoldedDataset) -> list[RankingDataset]:
    """Return parts that together contain all documents of a dataset once.

    The result has all parts of a single fold, or the test parts of
    several folds.

    Raises
    ------
    DatasetError
        If the test parts of several folds do not contain all queries,
        or a query is in two parts.
    """
    # With sizes of queries instead of ids, every file numbers its
    # queries from 1: give each part its own numbers.
    if len(dataset.folds) == 1 and dataset.origin.read_as.by_sizes:
        return _renumbered(list(dataset.folds[0].parts.values()))
    # The test parts of several folds, or all parts of a single fold.
    parts = [
        part
        for name, part in _named_parts(dataset)
        if len(dataset.folds) == 1 or name.endswith("test")
    ]
    # A single ranking has no queries to compare: count its documents.
    if is_one_ranking(dataset):
        _check_all_there(dataset, sum(part.n_documents for part in parts))
        return parts
    # Without ids, the same query cannot be recognised in two folds.
    ids = [query for part in parts for query in part.query_ids]
    distinct = set(ids)  # those of the test parts
    if len(distinct) < len(ids) and dataset.origin.read_as.by_sizes:
        raise DatasetError(
            tr(
                "{name}: {file} gives sizes of queries but no ids, so queries of different folds cannot be "
                "matched. Add query ids to the data, or use a single fold."
            ).format(name=dataset.name, file=dataset.origin.read_as.qid)
        )
    # Every query of the dataset has to be in one of the parts.
    for name, part in _named_parts(dataset):
        untested = [query for query in part.query_ids if query not in distinct]
        if untested:
            raise DatasetError(
                tr(
                    "{name}: new folds are made from the test parts of all folds, but query "
                    "{beyond} of {name_2} is in none of them. Open all folds with their test "
                    "parts."
                ).format(name=dataset.name, beyond=untested[0], name_2=name)
            )
    # No query may be in two of the parts.
    if len(distinct) < len(ids):
        ((twice, _),) = Counter(ids).most_common(1)
        raise DatasetError(
            tr(
                "{name}: found query {twice} in two parts; new folds need each query in one part only."
            ).format(name=dataset.name, twice=twice)
        )
    return parts


def _check_all_there(dataset: FoldedDataset, n_documents: int) -> None:
    """Raise `DatasetError` unless each fold has ``n_documents`` documents.

    ``n_documents`` is the number of documents in all test parts
    together. The function is called for data that are one ranking:
    without queries, only the number of documents can show that some are
    not in a fold.
    """
    for fold in dataset.folds:
        n_found = sum(part.n_documents for part in fold.parts.values())
        if n_found != n_documents:
            text = tr(
                "{name}: new folds are made from the test parts of all folds, which have {n_documents} "
                "documents, but fold {number} has {found}. Open all folds with their test parts."
            )
            raise DatasetError(
                text.format(
                    name=dataset.name,
                    n_documents=n_documents,
                    number=fold.number,
                    found=n_found,
                )
            )


def _renumbered(parts: list[RankingDataset]) -> list[RankingDataset]:
    """Return parts of a dataset whose queries have distinct ids.

    The ids are numbers that begin with 1 in each part: in the result,
    the ids of the next part continue after those of the part before.
    Parts whose ids are distinct already are returned unchanged.
    """
    ids = [query for part in parts for query in part.query_ids]
    if len(set(ids)) == len(ids):
        return parts
    begins = np.cumsum([0, *(part.n_queries for part in parts)]).tolist()
    return [
        part.changed(
            query_ids=tuple(str(begin + query + 1) for query in range(part.n_queries))
        )
        # ``begins`` has one more number, that of all queries.
        for begin, part in zip(begins, parts, strict=False)
    ]


def _named_parts(dataset: FoldedDataset) -> Iterator[tuple[str, RankingDataset]]:
    """Yield every part with its name: "Fold 1, test"."""
    for fold in dataset.folds:
        for name, part in fold.parts.items():
            yield f"Fold {fold.number}, {name}", part


def _joined(features: Sequence[Floats]) -> Floats:
    """Return the concatenation of some matrices of features, one below the other.

    The result is mapped from a file if one of the matrices is.
    """
    if any(in_file(X) for X in features):
        return joined_rows(features, store.scratch_folder())
    joined: Floats = concatenated(features)
    return joined


def _missing_together(counts: Sequence[Ints]) -> Ints:
    """Return the number of missing values of each feature in all parts together.

    ``counts`` has the numbers in each part. Return an empty array if a
    part has no counts. A part that has only some queries of a file has
    no counts, while a part that is a whole file has them.
    """
    if any(not part_counts.size for part_counts in counts):
        return np.zeros(0, dtype=np.int64)
    total: Ints = np.sum(counts, axis=0)
    return total


def concatenate(datasets: Sequence[RankingDataset]) -> RankingDataset:
    """Concatenate datasets with the same features and different queries.

    If all datasets have the same single query, they are parts of one
    ranking, and the result has one query. Other attributes, such as the
    feature names, are those of the first dataset.

    Raises
    ------
    ParameterError
        If the numbers of features of the datasets differ.
    """
    first = datasets[0]
    n_features = [dataset.n_features for dataset in datasets]
    if len(set(n_features)) > 1:
        raise ParameterError(
            "datasets", n_features, "the same number of features in all parts"
        )
    # Join the queries and arrays; all arrays are read-only.
    sizes, ids = _joined_queries(datasets)
    arrays = (
        _joined([dataset.X for dataset in datasets]),
        np.concatenate([dataset.y for dataset in datasets]),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        _missing_together([dataset.missing for dataset in datasets]),
    )
    for array in arrays:
        array.flags.writeable = False
    X, y, query_ptr, missing = arrays
    return replace(
        first,
        X=X,
        y=y,
        query_ptr=query_ptr,
        query_ids=ids,
        comments=tuple(chain.from_iterable(dataset.comments for dataset in datasets)),
        source=None,
        missing=missing,
        warnings=tuple(chain.from_iterable(dataset.warnings for dataset in datasets)),
        file_rows=None,
        greatest_grade=max(dataset.greatest_grade for dataset in datasets),
    )


def _joined_queries(datasets: Sequence[RankingDataset]) -> tuple[Ints, tuple[str, ...]]:
    """Return (sizes, ids) of the queries of all datasets, in sequence.

    Datasets that are parts of one ranking have together a single query.
    """
    sizes = np.concatenate([np.diff(d.query_ptr) for d in datasets])
    ids = tuple(chain.from_iterable(d.query_ids for d in datasets))
    is_one_ranking = len(datasets) == len(ids) and len(set(ids)) == 1
    return (sizes.sum(keepdims=True), ids[:1]) if is_one_ranking else (sizes, ids)


def select_queries(dataset: RankingDataset, queries: Ints) -> RankingDataset:
    """Return some queries of a dataset, in their original order.

    Parameters
    ----------
    dataset : RankingDataset
        The data; not changed.
    queries : ndarray of int64
        Indices of the queries, from 0, in any order; at least one,
        without repetition.

    Notes
    -----
    O(m'n) for the m' selected documents. If the data are mapped from
    files, so is the result. Information about the file (source,
    warnings, counts of missing values) is dropped; comments are still
    decoded on demand.
    """
    chosen = np.sort(queries)
    rows = np.flatnonzero(
        np.isin(np.arange(dataset.n_queries), chosen)[dataset.query_index]
    )
    return _rows(dataset, rows, chosen, np.diff(dataset.query_ptr)[chosen])


def _select_documents(dataset: RankingDataset, documents: Ints) -> RankingDataset:
    """Return some documents of a dataset with one query, as :func:`select_queries` does queries."""
    first_query = np.zeros(1, dtype=np.int64)
    return _rows(dataset, np.sort(documents), first_query, np.array([documents.size]))


def select_documents(dataset: RankingDataset, rows: Ints) -> RankingDataset:
    """Return some documents of a dataset, and their queries.

    ``rows``, of shape (m',), are the row numbers of the documents,
    ascending. The result keeps source, warnings and counts of missing
    values of the whole file. O(m'n).
    """
    queries, sizes = np.unique(dataset.query_index[rows], return_counts=True)
    selected = _rows(dataset, rows, queries, sizes)
    # Argsort of argsort gives ranks: the positions among the selected
    # rows of the file. A grade of -1 stands for the greatest one of the
    # selected documents.
    file_rows = (
        None
        if dataset.file_rows is None
        else np.argsort(np.argsort(dataset.file_rows[rows]))
    )
    return replace(
        selected,
        source=dataset.source,
        missing=dataset.missing,
        warnings=dataset.warnings,
        file_rows=file_rows,
        greatest_grade=-1.0,
    )


def _rows(
    dataset: RankingDataset, rows: Ints, queries: Ints, sizes: Ints
) -> RankingDataset:
    """Return some rows of a dataset as a dataset of their own.

    Parameters
    ----------
    dataset : RankingDataset
        The data; not changed.
    rows : ndarray of shape (m',)
        Row numbers, which ascend.
    queries : ndarray of shape (Q',)
        Indices of the queries that the rows belong to.
    sizes : ndarray of shape (Q',)
        Number of rows of each of these queries.
    """
    # Rows mapped from a file are copied to another file.
    features = (
        taken_rows(dataset.X, rows, store.scratch_folder())
        if in_file(dataset.X)
        else dataset.X[rows]
    )
    # Features, labels and query_ptr; arrays of a dataset are read-only.
    arrays = features, dataset.y[rows], np.concatenate([[0], np.cumsum(sizes)])
    for array in arrays:
        array.flags.writeable = False
    X, y, query_ptr = arrays
    ids = dataset.query_ids
    return RankingDataset(
        X=X,
        y=y,
        query_ptr=query_ptr,
        query_ids=tuple(ids[q] for q in queries.tolist()),
        feature_ids=dataset.feature_ids,
        feature_names=dataset.feature_names,
        comments=TakenComments(dataset.comments, rows) if len(dataset.comments) else (),
        sparse=dataset.sparse,
        greatest_grade=dataset.greatest_grade,
    )


def select_features(dataset: RankingDataset, ids: Collection[int]) -> RankingDataset:
    """Return the same documents with some of their features, in the order of the file.

    ``ids`` are the 1-based ids of the features.

    Raises
    ------
    ParameterError
        For an id without a feature.
    """
    existing = dataset.feature_ids
    unknown = [i for i in ids if i not in existing]
    if unknown:
        expected = f"ids of existing features, {existing[0]} to {existing[-1]}"
        raise ParameterError("--features", unknown[0], expected)
    columns = np.flatnonzero(np.isin(existing, list(ids)))
    return dataset.with_features(columns)


def _fold(
    number: int, data: RankingDataset, train: Ints, vali: Ints, test: Ints
) -> Fold:
    """Make fold ``number`` from the indices of the queries of each part.

    If the data are one ranking, the indices are row numbers of
    documents. There is no validation part if ``vali`` is empty.
    """
    return Fold(
        number,
        train=select_items(data, train),
        vali=select_items(data, vali) if vali.size else None,
        test=select_items(data, test),
    )


def _with_new_folds(
    dataset: FoldedDataset, data: RankingDataset, folds: Sequence[Fold], how: str
) -> FoldedDataset:
    """Return a dataset with new folds, of which the first has the reader's warnings.

    ``data`` has all documents, and these warnings; ``how`` is a text
    that says how the folds were made.
    """
    first = replace(folds[0], train=replace(folds[0].train, warnings=data.warnings))
    return replace(dataset, folds=(first, *folds[1:]), divided_by=how)


def shuffled(n: int, *seeds: int) -> Ints:
    """Return a seeded permutation of 0 … n - 1; ParameterError for a negative seed."""
    between("seed", seeds[0], 0)
    return np.random.default_rng(seeds).permutation(n)


def _counts(
    dataset: FoldedDataset, data: RankingDataset, shares: Sequence[int]
) -> list[int]:
    """Return the number of queries, or documents of one ranking, for each share.

    ``shares`` are percentages of the queries of ``data`` that add up to
    100. Exact shares are rounded by largest remainder. Raise
    DatasetError if a share above 0 has no query.
    """
    n = _n_items(dataset, data)
    # Round down, then add 1 to the shares with the largest remainders;
    # n * share is in percent of an item.
    counts = [n * share // PERCENT for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda i: -(n * shares[i] % PERCENT))
    for i in by_remainder[: n - sum(counts)]:
        counts[i] += 1
    if any(share and not count for share, count in zip(shares, counts, strict=True)):
        text = "/".join(map(str, shares))
        template = (
            tr(
                "{name}: found {n} documents of one ranking, too few for parts of {text} percent."
            )
            if is_one_ranking(dataset)
            else tr("{name}: found {n} queries, too few for parts of {text} percent.")
        )
        raise DatasetError(template.format(name=dataset.name, n=n, text=text))
    return counts


def check_memory(dataset: FoldedDataset, needed: int) -> None:
    """Raise DatasetError if new folds exceed the memory, or the disk for mapped files.

    ``needed`` is the number of bytes of the folds.
    """
    # The folds of mapped data are written to the disk.
    if in_file(dataset.folds[0].train.X):
        folder = store.scratch_folder()
        free = shutil.disk_usage(folder).free
        if needed > _DISK_SHARE * free:
            raise DatasetError(
                tr(
                    "{name}: these folds of data on disk need {needed} in {folder}, which "
                    "has {free} free. Use fewer folds, a single split, or another folder "
                    "(RANKSTUDIO_CACHE_DIR)."
                ).format(
                    name=dataset.name,
                    needed=memory.size(needed),
                    folder=folder,
                    free=memory.size(free),
                )
            )
        return
    if needed > _MEMORY_SHARE * memory.available():
        raise DatasetError(
            tr(
                "{name}: these folds need {needed:.1f} GB of memory, more than is free. Use "
                "fewer folds or a single split."
            ).format(name=dataset.name, needed=needed / 1e9)
        )


def for_inner_folds(dataset: FoldedDataset, k: int, seed: int = 0) -> FoldedDataset:
    """Prepare folds for an inner cross-validation of each training part.

    All documents outside of the test part are used for training: an
    existing validation part joins the training part, because it has no
    other use.

    Parameters
    ----------
    dataset : FoldedDataset
        Data with folds.
    k : int
        Number of inner folds, from 2 up.
    seed : int
        Seed of the inner folds, recorded here.

    Raises
    ------
    DatasetError
        For a training part with fewer than k queries, or inner folds
        too large for memory.

    Notes
    -----
    O(mn) per fold with a validation part.
    """
    folds = tuple(
        fold if fold.vali is None else _with_vali(fold, fold.vali)
        for fold in dataset.folds
    )
    for fold in folds:
        n = _n_items(dataset, fold.train)
        if n < k:
            text = (
                tr(
                    "{name}: {k} inner folds need {k} training documents, found {n} in fold {number}."
                )
                if is_one_ranking(dataset)
                else tr(
                    "{name}: {k} inner folds need {k} training queries, found {n} in fold {number}."
                )
            )
            raise DatasetError(
                text.format(name=dataset.name, k=k, n=n, number=fold.number)
            )
    check_memory(dataset, k * max(fold.train.X.nbytes for fold in folds))
    # Record how the outer folds were made, without their seed. It
    # follows a comma: "5-fold, seed 0". Folds of files have no such
    # text.
    outer = f"{dataset.divided_by.partition(',')[0]}, " if dataset.divided_by else ""
    return replace(
        dataset, folds=folds, divided_by=f"{outer}nested {k}-fold, seed {seed}"
    )


def _with_vali(fold: Fold, vali: RankingDataset) -> Fold:
    """Return a fold whose validation part has joined its training part."""
    train = concatenate([fold.train, vali])
    return replace(
        fold,
        train=replace(train, warnings=fold.train.warnings + vali.warnings),
        vali=None,
    )


def inner_folds(fold: Fold, k: int, seed: int = 0) -> Iterator[Fold]:
    """Divide a fold's training part into k inner folds.

    The training documents are divided into k subsets. Each subset is
    the validation part of one inner fold, and the other subsets its
    training part.

    Parameters
    ----------
    fold : Fold
        Fold whose training part is divided; its number seeds the inner folds.
    k : int
        Number of inner folds, from 2 to the number of queries, or of
        documents if these are one ranking.
    seed : int
        Seed of the assignment of queries to subsets, from 0 up; each
        fold is drawn independently.

    Yields
    ------
    Fold
        Fold with a training and a validation part.

    Notes
    -----
    O(mn) each.
    """
    # Subsets of numbers of queries, or of documents of one ranking.
    subsets = np.array_split(
        shuffled(_n_items_of_part(fold.train), seed, fold.number), k
    )
    for i, subset in enumerate(subsets):
        train = np.concatenate([*subsets[:i], *subsets[i + 1 :]])
        yield Fold(
            fold.number,
            train=select_items(fold.train, train),
            vali=select_items(fold.train, subset),
        )
