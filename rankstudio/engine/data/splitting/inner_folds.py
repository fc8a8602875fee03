"""Inner folds: within the training part of a fold, subsets of its queries validate in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.splitting.splits import check_memory, select_queries, shuffled
from rankstudio.engine.data.synthetic import concatenate
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.language import tr


def for_inner_folds(dataset: FoldedDataset, k: int, seed: int = 0) -> FoldedDataset:
    """Make folds ready for a selection by `inner_folds`: what is not tested on is learned from.

    A validation part that a fold has joins its training part, as nothing else is left for it to do.

    Parameters
    ----------
    dataset : FoldedDataset
    k : int
        How many inner folds, from 2 up.
    seed : int
        Which queries will go into which; it is noted here.

    Raises
    ------
    DatasetError
        For a training part of fewer than k queries, or inner folds too large for the memory.

    Notes
    -----
    O(mn) for each fold that has a validation part.
    """
    folds = tuple(fold if fold.vali is None else _joined(fold, fold.vali) for fold in dataset.folds)
    for fold in folds:
        if fold.train.n_queries < k:
            raise DatasetError(
                tr(
                    "{name}: {k} inner folds need {k} training queries, found {n_queries} in fold {number}."
                ).format(name=dataset.name, k=k, n_queries=fold.train.n_queries, number=fold.number)
            )
    largest = max(fold.train.n_documents for fold in folds)
    check_memory(dataset, 8 * k * largest * dataset.n_features)
    outer = f"{dataset.divided_by.partition(',')[0]}, " if dataset.divided_by else ""
    return replace(dataset, folds=folds, divided_by=f"{outer}nested {k}-fold, seed {seed}")


def _joined(fold: Fold, vali: RankingDataset) -> Fold:
    train = concatenate([fold.train, vali])
    return replace(fold, train=replace(train, warnings=fold.train.warnings + vali.warnings), vali=None)


def inner_folds(fold: Fold, k: int, seed: int = 0) -> Iterator[Fold]:
    """Divide a fold's training part into k inner folds: each subset validates what the others taught.

    Parameters
    ----------
    fold : Fold
        Of whose parts only the training part counts; its number goes to the inner folds.
    k : int
        From 2 to the number of its queries.
    seed : int
        Which queries go into which subset, from 0 up; each fold draws for itself.

    Yields
    ------
    Fold
        With a training and a validation part.

    Notes
    -----
    O(mn) for each.
    """
    subsets = np.array_split(shuffled(fold.train.n_queries, seed, fold.number), k)
    for i, subset in enumerate(subsets):
        others = np.concatenate([*subsets[:i], *subsets[i + 1 :]])
        yield Fold(fold.number, select_queries(fold.train, others), select_queries(fold.train, subset))
