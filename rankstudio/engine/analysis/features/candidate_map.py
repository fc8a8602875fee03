"""The candidates of a path, features or groups, at each step.

The map has shares of the best score, ranks and margins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Self

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.feature_groups import Groups, among, candidate_names
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import (
    CandidateScore,
    ScoreSource,
    StepKind,
)
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.steps import Step


@dataclass(frozen=True, eq=False)
class CandidateGroups:
    """Candidates for selection among n features: groups, and features without a group.

    Attributes
    ----------
    names : tuple of str of length n
        Name of the candidate of each column: its group, or the feature itself.
    columns : ColumnGroups
        Columns of each candidate.
    """

    names: tuple[str, ...]
    columns: ColumnGroups

    @classmethod
    def of(
        cls, feature_ids: Sequence[int] | Ints, names: Sequence[str], groups: Groups
    ) -> Self:
        """Return the candidates among features, by the features' ids, names and groups.

        `feature_ids` and `names` have length n; `groups` has lists of ids by name.
        """
        if not groups:
            return cls(tuple(names), ColumnGroups.of(len(names), ()))
        ids = [int(i) for i in feature_ids]
        column_of = {i: column for column, i in enumerate(ids)}
        # Columns of the members of each group.
        member_columns = [
            [column_of[i] for i in members] for members in among(groups, ids).values()
        ]
        return cls(
            candidate_names(ids, names, groups),
            ColumnGroups.of(len(ids), member_columns),
        )

    @cached_property
    def representative_columns(self) -> Ints:
        """Representative column of each column's candidate, shape (n,)."""
        return self.columns.representatives[self.columns.of_column]

    def members(self, column: int) -> tuple[int, ...]:
        """Return the columns of a column's candidate."""
        return self.columns.groups[self.columns.of_column[column]]

    def path(self, path: PathResult) -> PathResult:
        """Return a path in which a group is one feature, its representative column."""
        # Without groups, each column is a candidate of its own.
        if self.columns.trivial:
            return path
        return replace(
            path,
            steps=HeldSteps([self._representative_step(step) for step in path.steps]),
        )

    def correlations(self, features: Floats) -> Floats:
        """Return correlations, shape (n, n), in which a group is one feature.

        `features`, shape (n, n), has the correlations of the features.
        The correlation of two groups is that of their two most similar
        features. The value is in the row and the column of the first
        feature of each group.
        """
        # Without groups, each column is a candidate of its own.
        if self.columns.trivial:
            return features
        merged = features.copy()
        for group in self.columns.groups:
            if len(group) > 1:
                representative = group[0]
                members = np.array(group)
                # First the row of the representative, then its column,
                # from the member of greatest size.
                largest = np.abs(merged[list(group)]).argmax(axis=0)
                merged[representative] = merged[
                    members[largest], np.arange(largest.size)
                ]
                largest = np.abs(merged[:, list(group)]).argmax(axis=1)
                merged[:, representative] = merged[
                    np.arange(largest.size), members[largest]
                ]
        return merged

    def _representative_step(self, step: Step) -> Step:
        """Return a step in which a group is one feature, its representative column."""
        candidates = step.candidates
        if candidates.size:
            # Only the representative of each group keeps its score.
            candidates = np.where(
                self.representative_columns == np.arange(candidates.size),
                candidates,
                np.nan,
            )
        # Each selected column becomes the representative of its group, once.
        selected = dict.fromkeys(
            self.representative_columns[list(step.selected)].tolist()
        )
        return replace(step, selected=tuple(selected), candidates=candidates)


_MAX_ROWS = 10_000  # rows of features that the path did not select
_MAX_SCORES = 1_000_000  # scores of all features at the steps of a map
_MIN_STEPS = 60
"""Number of steps that a map may have even with more scores than `_MAX_SCORES`.

An array of the map then takes about 8 MB at most, for any number of features.
"""


@dataclass(frozen=True, eq=False)
class CandidateMap:
    """Map of the scores of features at the steps of a path, with a row per feature.

    A path is the sequence of models that training makes; a column of
    the map is a step.

    Attributes
    ----------
    features : tuple of int
        0-based columns of the R rows: first the path's features in
        order, then the others, or the best of very many others.
    step_positions : tuple of int
        Positions of the C steps on the path.
    numbers : tuple of int
        Numbers of these steps, as displayed.
    scores, shares, ranks : ndarray of shape (R, C)
        Scores of the method, shares of the step's best score (see
        :func:`shares`), or ranks among the candidates. NaN for
        features that were not candidates.
    is_selected : ndarray of shape (R, C), bool
        Whether the feature is selected at the step; for an iteration or
        round, whether it has the largest score.
    n_candidates : ndarray of shape (C,)
        Number of candidates that each step compared.
    n_features, n_steps : int
        Numbers of candidates and of steps of the path, with those that
        are not in the map.
    growing : bool
        Whether each step extends the previous one.
    """

    features: tuple[int, ...]
    step_positions: tuple[int, ...]
    numbers: tuple[int, ...]
    scores: Floats
    shares: Floats
    ranks: Floats
    is_selected: Bools
    n_candidates: Floats
    n_features: int
    n_steps: int
    growing: bool

    def view(
        self,
        most_features: int,
        most_steps: int,
        step: int | None = None,
        always: int | None = None,
    ) -> CandidateMap:
        """Return the part of the map that fits a number of rows and columns.

        Parameters
        ----------
        most_features, most_steps : int
            Maximum number of rows and of columns, at least 1.
        step : int, optional
            Position of a step on the path that is included; on a
            growing path, by default the first steps are included. Of
            iterations and rounds, the first, the last and this step are
            included, and some in between, more densely at the start,
            where most changes occur.
        always : int, optional
            Column of a feature that always has a row.

        Returns
        -------
        CandidateMap
            A map of some steps. The rows are the features selected at
            these steps, in order of the path, then the features with
            the largest shares. Features that are candidates at none of
            the steps are left out.
        """
        # `step_positions` has the position on the path of each step of
        # the map. A growing path shows successive steps up to the
        # wanted one.
        n = len(self.step_positions)
        count = max(1, min(n, most_steps))
        nearest = (
            0
            if step is None
            else int(np.abs(np.array(self.step_positions) - step).argmin())
        )
        if self.growing:
            # The wanted step is the last one, if it is not among the first.
            columns = np.arange(count) + min(max(0, nearest - count + 1), n - count)
        else:
            # Steps at equal ratios: denser at the start.
            columns = np.unique(np.rint(np.geomspace(1, n, count)).astype(np.int64)) - 1
            # The wanted step replaces the closest one, if possible not
            # the first or the last.
            if nearest not in columns:
                inner_columns = columns[1:-1] if columns.size > 2 else columns
                inner_columns[np.abs(inner_columns - nearest).argmin()] = nearest

        # Best share of each feature in these steps.
        best = np.where(np.isfinite(self.shares), self.shares, -1.0)[:, columns].max(
            axis=1
        )

        # Selected features come first, if the features grow with the steps.
        if self.growing:
            # `is_selected` says which features each step selects.
            is_selected_here = self.is_selected[:, columns].any(axis=1)
            # before all others, whose shares are at most 1
            best = np.where(is_selected_here, 2.0, best)
            rows = np.argsort(-best, kind="stable")
        else:
            # The rows of iterations are in the order of their last scores.
            rows = np.arange(best.size)
        rows = rows[best[rows] >= 0][: max(1, most_features)]
        # The feature that must be shown takes the last row.
        if always in self.features and self.features.index(always) not in rows:
            rows[-1] = self.features.index(always)
        # All combinations of these rows and columns.
        cells = np.ix_(rows, columns)
        return replace(
            self,
            features=tuple(self.features[row] for row in rows),
            step_positions=tuple(self.step_positions[column] for column in columns),
            numbers=tuple(self.numbers[column] for column in columns),
            scores=self.scores[cells],
            shares=self.shares[cells],
            ranks=self.ranks[cells],
            is_selected=self.is_selected[cells],
            n_candidates=self.n_candidates[columns],
        )


@dataclass(frozen=True)
class Margin:
    """Lead of a selected feature over the best candidate that was not selected.

    Attributes
    ----------
    number : int
        Number of the step.
    feature : int
        0-based column of the selected feature.
    score : float
        Score of the selected feature; NaN if it was not compared.
    rival : int or None
        Column of the best candidate that was not selected, the rival;
        None without one.
    rival_score : float
        Score of the rival.
    share : float
        Difference of the scores as a share of the larger absolute
        score, at most 1: negative if the rival was ahead, as for a
        pinned feature; NaN without a rival.
    """

    number: int
    feature: int
    score: float
    rival: int | None
    rival_score: float
    share: float


def shares(score: CandidateScore, values: Floats) -> Floats:
    """Return the scores of candidates at a step as shares of the best score, from 0 to 1.

    A share is the score divided by the best score. If the smallest
    score is the best, the best score is divided by the score instead.
    If no score is positive, or 0 has no meaning, a share is the
    position of the score between the worst and the best score.

    `values` has shape (n,), with one score per feature, and so has the
    result. Features that were not candidates have NaN.
    """
    is_candidate = np.isfinite(values)
    if not is_candidate.any():
        return np.full(values.size, np.nan)
    low = float(values[is_candidate].min())
    high = float(values[is_candidate].max())
    # `least` says that the smallest score is the best one.
    if score.least:
        ratio = np.divide(
            low, values, out=np.ones(values.size), where=is_candidate & (values > low)
        )
        return np.where(is_candidate, ratio, np.nan)
    # `from_zero` says that a worthless feature has the score 0, so that
    # scores can be divided.
    if high > 0 and score.from_zero:
        return np.clip(values / high, 0.0, 1.0)
    return (
        (values - low) / (high - low)
        if high > low
        else np.where(is_candidate, 1.0, np.nan)
    )


def candidate_map(
    path: PathResult, score: CandidateScore, groups: CandidateGroups | None = None
) -> CandidateMap | None:
    """Return the scores of a path's candidates as a map; None if no step compares any.

    Parameters
    ----------
    path : PathResult
        Path of K steps, each a model.
    score : CandidateScore
        Score by which the method compares candidates.
    groups : CandidateGroups, optional
        Groups of the features; each group has one row, that of its
        representative column.

    Notes
    -----
    O(K n log n) for K steps and n features. For a path with more than a
    million scores, the map has fewer steps: the first ones of a growing
    path, or evenly spaced iterations and rounds.
    """
    # Groups are candidates as a whole: one column stands for each group.
    rows = np.arange(path.steps[0].coef.size)
    if groups is not None:
        path = groups.path(path)
        rows = groups.columns.representatives

    # Scores by step and column; NaN where a column was no candidate.
    step_positions = _shown_steps(
        path, max(_MIN_STEPS, _MAX_SCORES // path.steps[0].coef.size)
    )
    # Shape (steps, n). The divisor makes a sum over documents a value
    # per document.
    scores = np.array(
        [score.of(path.steps[index], path.divisor) for index in step_positions]
    )
    is_candidate = np.isfinite(scores)
    if not is_candidate.any():
        return None

    # Rows of the map: selected features in the order of the path, then
    # the others. `gains` are scores with the sign by which larger is
    # better.
    order = arrival_order(path, score)
    other_columns = np.setdiff1d(rows, order)
    if other_columns.size > _MAX_ROWS:  # keep those with the best scores
        best = np.nanmax(
            np.where(is_candidate, score.gains(scores), -np.inf)[:, other_columns],
            axis=0,
        )
        other_columns = np.sort(
            other_columns[np.argsort(-best, kind="stable")[:_MAX_ROWS]]
        )
    features = [*order, *other_columns.tolist()]

    # Selected features in each step.
    is_taken = np.zeros(scores.shape, dtype=bool)
    for is_taken_at_step, columns in zip(
        is_taken, _chosen_columns(path, score, step_positions, scores), strict=True
    ):
        is_taken_at_step[columns] = True
    return CandidateMap(
        features=tuple(features),
        step_positions=tuple(step_positions),
        numbers=tuple(path.steps[index].number for index in step_positions),
        scores=scores[:, features].T,
        shares=np.array([shares(score, values)[features] for values in scores]).T,
        ranks=np.array(
            [_ranks_of_gains(gains)[features] for gains in score.gains(scores)]
        ).T,
        is_selected=is_taken[:, features].T,
        n_candidates=is_candidate.sum(axis=1),
        n_features=len(rows),
        n_steps=len(path.steps),
        growing=path.step_kind is StepKind.FEATURES,
    )


def _ranks_of_gains(gains: Floats) -> Floats:
    """Return the rank of each gain: 1 for the greatest, NaN for gains that are not finite.

    A gain is a score with the sign by which larger is better. Equal
    gains share the better rank.
    """
    ascending = np.sort(gains[np.isfinite(gains)])
    ranks = 1.0 + ascending.size - np.searchsorted(ascending, gains, side="right")
    return np.where(np.isfinite(gains), ranks, np.nan)


def arrival_order(path: PathResult, score: CandidateScore) -> list[int]:
    """Return the columns of the features of a path's models, in order of selection.

    For iterations and rounds, the order is that of the last scores, the
    best first.
    """
    if path.step_kind is not StepKind.FEATURES:
        last = path.steps[-1]
        # Scores with the sign by which larger is better.
        gains = score.gains(score.of(last))
        return sorted(last.selected, key=lambda feature: -gains[feature])
    return list(
        dict.fromkeys(feature for step in path.steps for feature in step.selected)
    )


def margins(path: PathResult, score: CandidateScore) -> dict[int, Margin]:
    """Return the lead of each feature of a path over its best rival, by column.

    A margin is the lead over the best candidate that was not selected,
    as a share of the larger score.

    On a path whose steps add features, the margin is that at the step
    that selects the feature. For iterations, the margin is that over
    the next feature by the scores of the last iteration. Rounds have no
    margins, because no round selects a feature.
    """
    if path.step_kind is StepKind.ROUNDS:
        return {}
    by_feature: dict[int, Margin] = {}
    if path.step_kind is StepKind.ITERATIONS:
        last = path.steps[-1]
        values = score.of(last, path.divisor)
        order = arrival_order(path, score)
        # the last feature has no rival
        for feature, rival in zip_longest(order, order[1:]):
            rivals = np.array([] if rival is None else [rival], dtype=np.int64)
            by_feature[feature] = _margin_to_rival(
                score, last.number, feature, values, rivals
            )
        return by_feature
    # A growing path: the step that first selects the feature counts.
    for index, step in enumerate(path.steps):
        # The features that this step adds to those of the step before.
        for feature in added_at(path, index):
            by_feature.setdefault(
                feature, step_margin(score, step, feature, path.divisor)
            )
    return by_feature


def step_margin(
    score: CandidateScore, step: Step, feature: int | None = None, divisor: float = 1.0
) -> Margin:
    """Return the lead of a feature over its best rival at a step, as a `Margin`.

    A rival is a candidate that the step did not select. The margin has
    the scores of both, and their difference as a share of the larger
    score.

    Parameters
    ----------
    score : CandidateScore
        Score by which the method compares features.
    step : Step
        A step with at least one feature.
    feature : int, optional
        Column of the feature; by default the one selected by the step,
        or the one with the largest weight.
    divisor : float
        Divisor that makes the criteria comparable between folds.
    """
    values = score.of(step, divisor)
    by_weight = score.source is ScoreSource.WEIGHT
    if feature is None:
        feature = int(np.argmax(values)) if by_weight else step.selected[-1]
    rivals = np.isfinite(values)
    rivals[feature] = False
    # Features that the model has already are no rivals, except in an
    # elimination, or if weights are compared.
    if not (score.least or by_weight):
        rivals[list(step.selected)] = False
    return _margin_to_rival(score, step.number, feature, values, np.flatnonzero(rivals))


def is_share_meaningless(score: CandidateScore, margin: Margin) -> bool:
    """Return whether the share of a margin means nothing, as a candidate reduces nothing.

    A margin is the lead of a feature over a rival; scores are
    reductions of the method's criterion. The lead over a candidate
    without any reduction is always 100 %, and a lead between candidates
    that raise the criterion has no meaning.
    """
    return (
        score.source is ScoreSource.CRITERION
        and min(margin.score, margin.rival_score) <= 0
    )


def _margin_to_rival(
    score: CandidateScore, number: int, feature: int, values: Floats, rivals: Ints
) -> Margin:
    """Return the lead of a feature over the best of its rivals, as a `Margin`.

    `values`, shape (n,), has the scores of all features at step
    `number`, and `rivals` the columns of the rivals, perhaps none.
    """
    own_score = float(values[feature])
    # Without a rival or a score there is no margin.
    if not rivals.size or not np.isfinite(own_score):
        nan = float("nan")
        return Margin(
            number, feature, own_score, rival=None, rival_score=nan, share=nan
        )
    gains = score.gains(values)
    rival = int(rivals[np.argmax(gains[rivals])])
    size = max(abs(own_score), abs(float(values[rival])))
    # Share of the larger of the two scores.
    share = float(gains[feature] - gains[rival]) / size if size else 0.0

    # Between scores of opposite signs the difference exceeds the larger
    # score: the share is limited to 1.
    return Margin(
        number=number,
        feature=feature,
        score=own_score,
        rival=rival,
        rival_score=float(values[rival]),
        share=min(max(share, -1.0), 1.0),
    )


def _shown_steps(path: PathResult, max_steps: int) -> list[int]:
    """Return the positions on a path of the steps that a map shows, at most `max_steps`.

    These are the first steps of a path that adds features, otherwise
    evenly spaced iterations or rounds.
    """
    n = len(path.steps)
    if path.step_kind is StepKind.FEATURES or n <= max_steps:
        return list(range(min(n, max_steps)))
    chosen: list[int] = np.unique(
        np.rint(np.linspace(0, n - 1, max_steps)).astype(np.int64)
    ).tolist()
    return chosen


def added_at(path: PathResult, position: int) -> list[int]:
    """Return the features that the step at a position of a growing path adds, in order."""
    before = path.steps[position - 1].selected if position else ()
    return [
        feature for feature in path.steps[position].selected if feature not in before
    ]


def _chosen_columns(
    path: PathResult,
    score: CandidateScore,
    step_positions: Sequence[int],
    scores: Floats,
) -> list[list[int]]:
    """Return the columns that each of C steps selects; for an iteration the best column.

    `step_positions` are the positions on the path of C steps, and
    `scores`, shape (C, n), has their scores of n features. For an
    iteration or round, the best column is that of the largest score,
    with the sign by which larger is better.
    """
    if path.step_kind is StepKind.FEATURES:
        return [added_at(path, index) for index in step_positions]
    gains = score.gains(scores)
    return [[int(np.argmax(row))] if row.max() > 0 else [] for row in gains]
