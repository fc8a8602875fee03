"""The stability of the selection: how much the features of the folds agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.export.tables import TextTable, range_text
from rankstudio.engine.language import tr
from rankstudio.engine.statistics.stability import INDICES, Stability, stability

# with at least as many sets, the coverage of an interval is almost its nominal coverage
_MIN_MANY_SETS = 50


@dataclass(frozen=True)
class ChosenFeature:
    """A feature that the model of at least one fold has selected.

    Attributes
    ----------
    feature : int
        1-based id of the feature.
    name : str
        Name of the feature.
    ranks : Mapping of int to int
        Position at which each fold selected it, from 1; only folds
        whose model contains it.
    """

    feature: int
    name: str
    ranks: Mapping[int, int]

    @property
    def times(self) -> int:
        """Number of folds that selected it."""
        return len(self.ranks)


@dataclass(frozen=True, eq=False)
class SelectionStability:
    """Agreement of the features that the models of several folds have selected.

    Attributes
    ----------
    folds : tuple of int
        Numbers of the M folds.
    indices : Stability
        Indices of agreement over all folds, and for each pair of folds.
    features : tuple of ChosenFeature
        Features selected by any fold: most frequent first, ties by position.
    """

    folds: tuple[int, ...]
    indices: Stability
    features: tuple[ChosenFeature, ...]

    @property
    def warning(self) -> str:
        """Note on the interval for few folds, as sentences; "" for many folds."""
        n = len(self.folds)
        if not 1 < n < _MIN_MANY_SETS:
            return ""
        return tr(
            "With {n} folds this interval is too narrow: for independent sets, the actual "
            "coverage of a 95 % interval is about 15 % with 2 sets, 55 % with 3, 73 % with 5, 87 % with 10 "
            "and 94 % with 50. The training parts of folds also overlap."
        ).format(n=n)


def stability_of(result: RunResult) -> Stability | None:
    """Return the agreement of the features that the folds of a run have selected.

    The result is None for fewer than two folds, or if nothing was selected.
    """
    if not result.plan.entry.selects or len(result.folds) < 2:
        return None
    return stability(
        _selected_columns(result.folds, result.feature_ids), len(result.feature_ids)
    )


def stability_of_run(result: RunResult) -> SelectionStability:
    """Return the agreement of the selected models of a run."""
    return selection_stability(result.folds, result.feature_ids, result.feature_names)


def stability_table(
    title: str, runs: Iterable[tuple[int, str, RunResult]]
) -> TextTable:
    """Return a table, to print, of the agreement between the folds of each run.

    Parameters
    ----------
    title : str
        Title of the table.
    runs : iterable of (int, str, RunResult)
        Number, name and result of each run; each with several folds.
    """
    rows = []
    warnings = []
    for number, name, result in runs:
        run_stability = stability_of_run(result)
        indices = run_stability.indices
        # The first index, Jaccard, always applies. Of the two others,
        # which are corrected for chance, one applies to the run; the
        # other has a dash.
        corrected = [
            f"{indices.consistency:.3f}" if indices.index == index else "–"
            for index in INDICES[1:]
        ]
        interval = f"{indices.nogueira.low:.3f} … {indices.nogueira.high:.3f}"
        agree = [
            f"{indices.jaccard:.3f}",
            *corrected,
            f"{indices.nogueira.value:.3f}",
            interval,
        ]
        rows.append([str(number), name, range_text(result.sizes), *agree])
        warnings.append(run_stability.warning)
    note = (
        "1: identical selections in all folds; 0: agreement by chance (not for Jaccard). Kuncheva's index "
        "applies to selections of equal size, Lustgarten's to different sizes."
    )

    # The first warning is enough, below the table.
    first_warning = next(filter(None, warnings), "")
    note = f"{note} {first_warning}".rstrip()
    header = ["run", "method", "features", *INDICES, "Nogueira", "95 % interval"]
    # Only the names, in column 1, are aligned to the left.
    return TextTable(title=title, header=header, rows=rows, left=(1,), note=note)


def selection_stability(
    folds: Sequence[FoldResult], feature_ids: Ints, names: Sequence[str]
) -> SelectionStability:
    """Return how similar the selected features of the folds are, and the folds of each.

    Parameters
    ----------
    folds : sequence of FoldResult
        Folds of at least one run.
    feature_ids, names : of length n
        Ids and names of the dataset's columns.
    """
    return SelectionStability(
        folds=tuple(fold.fold for fold in folds),
        indices=stability(_selected_columns(folds, feature_ids), len(feature_ids)),
        features=_chosen_features(
            folds, dict(zip(feature_ids.tolist(), names, strict=True))
        ),
    )


def _selected_columns(
    folds: Sequence[FoldResult], feature_ids: Ints
) -> list[list[int]]:
    """Return the columns of the features of each fold's model."""
    columns = {int(i): column for column, i in enumerate(feature_ids)}
    return [[columns[i] for i in fold.selected] for fold in folds]


def _chosen_features(
    folds: Sequence[FoldResult], names: Mapping[int, str]
) -> tuple[ChosenFeature, ...]:
    """Return the features that any fold selected, with their ranks by fold.

    Ranks count from 1 in the order of selection. Features that most
    folds selected come first, then those with the smaller sum of ranks.
    `names` has the name of each feature by its id.
    """
    # Ranks by feature, and by the number of the fold.
    ranks: dict[int, dict[int, int]] = {}
    for fold in folds:
        for rank, feature in enumerate(fold.selected, start=1):
            ranks.setdefault(feature, {})[fold.fold] = rank
    features = [
        ChosenFeature(feature, names[feature], by_fold)
        for feature, by_fold in ranks.items()
    ]
    return tuple(
        sorted(
            features,
            key=lambda feature: (
                -feature.times,
                sum(feature.ranks.values()),
                feature.feature,
            ),
        )
    )


def selection_matrix(folds: Sequence[FoldResult], feature_ids: Ints) -> Floats:
    """Return the position at which each fold's model selected each feature.

    Parameters
    ----------
    folds : sequence of FoldResult
        F folds, run by run.
    feature_ids : ndarray of shape (n,)
        1-based ids of the dataset's columns.

    Returns
    -------
    ndarray of shape (n, F)
        Positions from 1; NaN if a model does not contain the feature.
    """
    ranks = np.full((len(feature_ids), len(folds)), np.nan)
    # Ids need not ascend, so they are searched in sorted order.
    order = np.argsort(feature_ids)
    for index, fold in enumerate(folds):
        selected = np.array(fold.selected, dtype=np.int64)
        columns = order[np.searchsorted(feature_ids, selected, sorter=order)]
        ranks[columns, index] = np.arange(1, selected.size + 1)
    return ranks
