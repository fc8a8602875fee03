"""How a selection changes if a share of the labels is wrong: runs on labels that are flipped at random."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.errors import DatasetError, ParameterError, PlanError, between
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.language import tr

SHARES = (0.05, 0.1, 0.2)
"""Shares of flipped labels that are usually tried."""

_MAX_DRAWS = 10_000


@dataclass(frozen=True, eq=False)
class FlippedLabels:
    """Selections and measures of runs with a share of their labels flipped.

    Attributes
    ----------
    plan : Plan
    feature_ids, feature_names : of length n
    shares : tuple of float
        S shares of flipped labels, ascending; the first is 0, for the
        run without flips.
    selected : ndarray of shape (S, n)
        Selection probability: share of the runs and folds whose model has a feature.
    jaccard : ndarray of shape (S,)
        Mean over runs and folds of Jaccard's index between a fold's
        selection and its selection without flips.
    values : dict of str to ndarray of shape (S, N)
        Each measure on the test part, whose labels are not flipped, for
        N draws; empty without a test part.
    n_draws : int
        N, the number of draws so far.
    """

    plan: Plan
    feature_ids: Ints
    feature_names: tuple[str, ...]
    shares: tuple[float, ...]
    selected: Floats
    jaccard: Floats
    values: dict[str, Floats]
    n_draws: int

    def order(self) -> Ints:
        """Return the 0-based columns of the features that some run selects.

        Columns selected without flips come first; ties are ordered by
        the mean share of the runs and folds that select the feature.
        """
        selected = np.flatnonzero(self.selected.any(axis=0))
        original = self.selected[0, selected]
        mean = self.selected[1:, selected].mean(axis=0)
        columns: Ints = selected[np.lexsort((selected, -mean, -original))]
        return columns


def flip_labels(
    data: RankingDataset,
    share: float,
    grades: Sequence[float] | Floats,
    seed: int = 0,
    draw: int = 0,
) -> Floats:
    """Replace a share of the labels of each query by other grades, drawn with equal probability.

    The number of flips in a query of s documents is share · s, rounded
    down or up at random so that its mean is exact. The flips depend
    only on seed, draw and the id of the query, so that they are the
    same in every fold. A larger share flips all documents that a
    smaller share flips, to the same labels, and others.

    Parameters
    ----------
    data : RankingDataset
        Documents with labels and ids of their queries.
    share : float
        Share of the labels to flip, from 0 to 1.
    grades : sequence of float
        All labels that occur in the data, or more; at least two different ones.
    seed, draw : int
        Seed and number of the draw, which determine the flips.

    Returns
    -------
    ndarray of shape (m,)
        The labels after the flips; those of the data stay as they are.

    Notes
    -----
    O(m log |q|).
    """
    sorted_grades = np.unique(np.asarray(grades, dtype=np.float64))
    y = data.y.copy()
    for query, begin, end in zip(
        data.query_ids, data.query_ptr[:-1], data.query_ptr[1:], strict=True
    ):
        rng = np.random.default_rng([seed, draw, crc32(query.encode())])
        n = int(np.floor(share * (end - begin) + rng.random()))

        # The first rows are flipped: a larger share takes more rows of the same order.
        rows = begin + rng.permutation(end - begin)
        flipped = rows[:n]

        # A step of 1 to G - 1 among G grades, modulo G, leads to each
        # other grade with equal probability.
        steps = rng.integers(1, sorted_grades.size, rows.size)
        grade_indices = np.searchsorted(sorted_grades, y[flipped])
        y[flipped] = sorted_grades[(grade_indices + steps[:n]) % sorted_grades.size]
    return y


def flip_steps(
    plan: Plan,
    dataset: FoldedDataset,
    shares: Sequence[float] = SHARES,
    n_draws: int = 20,
    seed: int = 0,
) -> Generator[FlippedLabels | None, None, FlippedLabels]:
    """Repeat a run with flipped labels, and yield the results so far after each draw.

    Labels of the training and validation parts are flipped, as these
    parts determine the selection. Measures are on the test part, whose
    labels are not flipped.

    Parameters
    ----------
    plan : Plan
        Plan of a method that selects features.
    dataset : FoldedDataset
        Data of the plan.
    shares : sequence of float, default (0.05, 0.1, 0.2)
        Shares of flipped labels, each above 0 and up to 1.
    n_draws : int, default 20
        Number of runs for each share.
    seed : int, default 0
        Seed of the flips.

    Yields
    ------
    FlippedLabels or None
        The results so far after each draw; None within a draw, so that
        the caller can stop there, too.

    Raises
    ------
    ParameterError
        If the shares or the number of draws are out of range.
    PlanError
        If the method uses all features, or the plan learns from preferences.
    DatasetError
        If all labels are equal.

    Notes
    -----
    1 + S N runs of the plan.
    """
    sorted_shares = tuple(sorted(set(map(float, shares))))
    if not sorted_shares or not (sorted_shares[0] > 0 and sorted_shares[-1] <= 1):
        raise ParameterError("shares", shares, tr("shares above 0 and up to 1"))
    between("n_draws", n_draws, 1, _MAX_DRAWS)
    if not plan.entry.selects or preferences_of(plan):
        raise PlanError(
            tr(
                "Flipped labels need a method that selects features and learns from labels."
            )
        )
    divided = parse_protocol(plan.protocol).divide(dataset, plan.seed)
    grades = _distinct_grades(divided)

    # The run with the original labels: later runs are compared with its selections.
    original = yield from _run_steps(plan, divided)
    columns = {int(i): column for column, i in enumerate(original.feature_ids)}
    original_selections = [frozenset(fold.selected) for fold in original.folds]

    # Sums over the draws so far; row 0 is for unflipped labels, the
    # next rows for the shares.
    counts = np.zeros((1 + len(sorted_shares), len(columns)))
    similarities = np.zeros(1 + len(sorted_shares))

    # Without a test part there are no measures to collect.
    measures = original.average if original.folds[0].test else {}
    values: dict[str, list[list[float]]] = {
        name: [[] for _ in counts] for name in measures
    }

    def add_result(share_index: int, result: RunResult) -> None:
        """Add the result of a run to the counts, similarities and values of a share of flipped labels.

        ``share_index`` is the row of the share in the arrays of the
        enclosing function: ``counts`` (shares, features),
        ``similarities`` (shares,), and the lists in ``values``.
        """
        for fold, original_selection in zip(
            result.folds, original_selections, strict=True
        ):
            selected = frozenset(fold.selected)  # ids of features
            counts[share_index, [columns[i] for i in selected]] += 1 / len(result.folds)
            union = selected | original_selection

            # Two folds that both select nothing have equal selections.
            jaccard = len(selected & original_selection) / len(union) if union else 1.0
            similarities[share_index] += jaccard / len(original_selections)
        for name, rows in values.items():
            rows[share_index].append(result.average[name])

    for draw in range(n_draws):
        # The original run is counted once per draw, so that all rows
        # are divided by the same number.
        add_result(0, original)
        for share_index, share in enumerate(sorted_shares, start=1):
            flipped_dataset = _with_flipped_labels(divided, share, grades, seed, draw)
            result = yield from _run_steps(plan, flipped_dataset)
            add_result(share_index, result)
        state = FlippedLabels(
            plan=plan,
            feature_ids=original.feature_ids,
            feature_names=original.feature_names,
            shares=(0.0, *sorted_shares),
            selected=counts / (draw + 1),
            jaccard=similarities / (draw + 1),
            values={name: np.array(rows) for name, rows in values.items()},
            n_draws=draw + 1,
        )
        yield state
    return state


def _distinct_grades(dataset: FoldedDataset) -> Floats:
    """Return the distinct labels in all parts of all folds of a dataset, ascending.

    Raise DatasetError if there is only one label.
    """
    parts = [part for fold in dataset.folds for part in fold.parts.values()]
    grades = np.unique(np.concatenate([np.unique(part.y) for part in parts]))
    if grades.size < 2:
        raise DatasetError(
            tr("{name}: all labels are equal, so none can be flipped.").format(
                name=dataset.name
            )
        )
    return grades


def _run_steps(plan: Plan, dataset: FoldedDataset) -> Generator[None, None, RunResult]:
    """Carry out a plan on some data, and return the result of the run.

    Yield None after each event of the run, so that the caller can stop there.
    """
    for event in run(plan, dataset):
        if isinstance(event, RunFinished):
            return event.result
        yield None
    raise AssertionError("a run ends with its results")


def _with_flipped_labels(
    dataset: FoldedDataset, share: float, grades: Floats, seed: int, draw: int
) -> FoldedDataset:
    """Return a dataset with flipped labels in the training and validation parts.

    ``share`` of the labels become other ``grades``; the flips depend on
    ``seed`` and ``draw``.
    """

    def flip(part: RankingDataset | None) -> RankingDataset | None:
        """Return a part with flipped labels; None for an absent part."""
        if part is None:
            return None
        y = flip_labels(part, share, grades, seed, draw)
        y.flags.writeable = False
        return part.changed(y=y)

    folds = []
    for fold in dataset.folds:
        train = flip(fold.train)
        vali = flip(fold.vali)
        assert train is not None
        folds.append(Fold(fold.number, train=train, vali=vali, test=fold.test))
    return replace(dataset, folds=tuple(folds))
