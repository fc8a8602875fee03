"""The candidates of a path, features or groups, step by step: shares of the best score, ranks and margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.feature_groups import Groups, among, candidate_names
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import CandidateScore, ScoreSource, StepKind
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.steps import Step


@dataclass(frozen=True, eq=False)
class CandidateGroups:
    """The candidates among n features: groups, and the features that are in none.

    Attributes
    ----------
    names : tuple of str of length n
        Of each column's candidate: the name of its group, if it is in one.
    columns : ColumnGroups
        Which columns each has.
    """

    names: tuple[str, ...]
    columns: ColumnGroups

    @classmethod
    def of(cls, feature_ids: Sequence[int] | Ints, names: Sequence[str], groups: Groups) -> Self:
        """Return the candidates among features, by their ids, names and groups."""
        ids = [int(i) for i in feature_ids]
        place = {i: column for column, i in enumerate(ids)}
        joint = [[place[i] for i in members] for members in among(groups, ids).values()]
        return cls(candidate_names(ids, names, groups), ColumnGroups.of(len(ids), joint))

    @cached_property
    def standing(self) -> Ints:
        """The column that stands for each column's candidate, shape (n,)."""
        return self.columns.representatives[self.columns.of_column]

    def members(self, column: int) -> tuple[int, ...]:
        """Return the columns of a column's candidate."""
        return self.columns.groups[self.columns.of_column[column]]

    def path(self, path: PathResult) -> PathResult:
        """Return a path with the standing columns alone selected and compared."""
        if self.columns.trivial:
            return path
        return replace(path, steps=HeldSteps([self._step(step) for step in path.steps]))

    def correlations(self, features: Floats) -> Floats:
        """Return correlations of features, shape (n, n), with those of candidates where their columns stand.

        The one of two candidates is that of their two most alike features.
        """
        if self.columns.trivial:
            return features
        found = features.copy()
        for group in self.columns.groups:
            if len(group) > 1:
                likest = np.abs(found[list(group)]).argmax(axis=0)
                found[group[0]] = found[np.array(group)[likest], np.arange(likest.size)]
                likest = np.abs(found[:, list(group)]).argmax(axis=1)
                found[:, group[0]] = found[np.arange(likest.size), np.array(group)[likest]]
        return found

    def _step(self, step: Step) -> Step:
        candidates = step.candidates
        if candidates.size:
            candidates = np.where(self.standing == np.arange(candidates.size), candidates, np.nan)
        selected = dict.fromkeys(self.standing[list(step.selected)].tolist())
        return replace(step, selected=tuple(selected), candidates=candidates)


_MOST_SCORES, _FEWEST_STEPS = 1_000_000, 60
"""A map has rows x steps scores, each held several times: 8 MB an array, whatever the number of features."""


@dataclass(frozen=True, eq=False)
class CandidateMap:
    """Scores of features, one row each, at steps, one column each.

    Attributes
    ----------
    features : tuple of int
        0-based columns of the R rows: in the order of the path, then the others.
    places : tuple of int
        Of the C steps in the path.
    numbers : tuple of int
        Of the same steps, as they are counted.
    scores, shares, ranks : ndarray of shape (R, C)
        What the method compared; as a share of the step's best, 1 for that (see :func:`shares`); 1 for the
        best of all candidates, 2 for the next. NaN for what was no candidate.
    taken : ndarray of shape (R, C), bool
        What the step took; of an iteration or a round, the feature with the greatest score.
    n_candidates : ndarray of shape (C,)
        How many there were.
    n_features, n_steps : int
        How many the path has, shown or not.
    growing : bool
        Whether each step adds to the one before.
    """

    features: tuple[int, ...]
    places: tuple[int, ...]
    numbers: tuple[int, ...]
    scores: Floats
    shares: Floats
    ranks: Floats
    taken: Bools
    n_candidates: Floats
    n_features: int
    n_steps: int
    growing: bool

    def view(
        self, most_features: int, most_steps: int, place: int | None = None, always: int | None = None
    ) -> CandidateMap:
        """Return the part of the map for which there is room.

        Parameters
        ----------
        most_features, most_steps : int
            Rows and columns at most, 1 at least.
        place : int, optional
            Of a step in the path, which is among those of a growing path; without it the first ones are.
            Of iterations and rounds, the first and the last are, this one, and some between that lie the
            closer the earlier they are, as most changes then.
        always : int, optional
            A feature (its column) that has a row in any case.

        Returns
        -------
        CandidateMap
            With the features taken in these steps, in the order of the path, then those with
            the greatest shares in them; without those that are candidates at none of them.
        """
        n = len(self.places)
        count = max(1, min(n, most_steps))
        at = 0 if place is None else int(np.abs(np.array(self.places) - place).argmin())
        if self.growing:
            columns = np.arange(count) + min(max(0, at - count + 1), n - count)
        else:
            columns = np.unique(np.rint(np.geomspace(1, n, count)).astype(np.int64)) - 1
            if at not in columns:
                inner = columns[1:-1] if columns.size > 2 else columns
                inner[np.abs(inner - at).argmin()] = at
        best = np.where(np.isfinite(self.shares), self.shares, -1.0)[:, columns].max(axis=1)
        if self.growing:
            came = self.taken[:, columns].any(axis=1)
            best = np.where(came, 2.0, best)
            rows = np.argsort(-best, kind="stable")
        else:
            rows = np.arange(best.size)
        rows = rows[best[rows] >= 0][: max(1, most_features)]
        if always in self.features and self.features.index(always) not in rows:
            rows[-1] = self.features.index(always)
        both = np.ix_(rows, columns)
        return replace(
            self,
            features=tuple(self.features[row] for row in rows),
            places=tuple(self.places[column] for column in columns),
            numbers=tuple(self.numbers[column] for column in columns),
            scores=self.scores[both],
            shares=self.shares[both],
            ranks=self.ranks[both],
            taken=self.taken[both],
            n_candidates=self.n_candidates[columns],
        )


@dataclass(frozen=True)
class Margin:
    """How far ahead of the next candidate a feature was when it was taken.

    Attributes
    ----------
    number : int
        Of the step.
    feature : int
        0-based column.
    score : float
        NaN where it was compared with none.
    rival : int or None
        The best of the candidates that were not taken; None where there was none.
    rival_score : float
    share : float
        The difference as a share of the larger one's size, at most 1: negative where the rival was ahead, as
        of a pinned feature; NaN without a rival.
    """

    number: int
    feature: int
    score: float
    rival: int | None
    rival_score: float
    share: float


def shares(score: CandidateScore, values: Floats) -> Floats:
    """Return the scores of a step as shares of its best, from 0 to 1; NaN for what was no candidate.

    Where no score is above 0, or 0 means nothing, they are shares of the way from the worst to the best;
    where the least one is the best, it is divided by the others.
    """
    known = np.isfinite(values)
    if not known.any():
        return np.full(values.size, np.nan)
    low, high = float(values[known].min()), float(values[known].max())
    if score.least:
        ratio = np.divide(low, values, out=np.ones(values.size), where=known & (values > low))
        return np.where(known, ratio, np.nan)
    if high > 0 and score.from_zero:
        return np.clip(values / high, 0.0, 1.0)
    return (values - low) / (high - low) if high > low else np.where(known, 1.0, np.nan)


def candidate_map(
    path: PathResult, score: CandidateScore, groups: CandidateGroups | None = None
) -> CandidateMap | None:
    """Return the scores of a path's candidates as a map; None where its steps compare none.

    Parameters
    ----------
    path : PathResult
    score : CandidateScore
        The method's.
    groups : CandidateGroups, optional
        Of the features: each has one row, that of the column that stands for it.

    Notes
    -----
    O(K n log n) for K steps and n features. Of a path with more than a million scores, fewer steps are in
    the map: the first ones of a path that grows, of iterations and rounds some at equal distances.
    """
    rows = range(path.steps[0].coef.size)
    if groups is not None:
        path, rows = groups.path(path), groups.columns.representatives.tolist()
    places = _places(path, max(_FEWEST_STEPS, _MOST_SCORES // path.steps[0].coef.size))
    every = np.array([score.of(path.steps[place], path.divisor) for place in places])
    known = np.isfinite(every)
    if not known.any():
        return None
    order = arrival_order(path, score)
    features = [*order, *sorted(set(rows) - set(order))]
    taken = np.zeros(every.shape, dtype=bool)
    for row, new in zip(taken, _taken(path, score, places, every), strict=True):
        row[new] = True
    return CandidateMap(
        tuple(features),
        tuple(places),
        tuple(path.steps[place].number for place in places),
        every[:, features].T,
        np.array([shares(score, values)[features] for values in every]).T,
        np.array([_ranks(gains)[features] for gains in score.gains(every)]).T,
        taken[:, features].T,
        known.sum(axis=1),
        len(rows),
        len(path.steps),
        path.step_kind is StepKind.FEATURES,
    )


def _ranks(gains: Floats) -> Floats:
    """Return 1 for the greatest, equal ones sharing the better rank; NaN where there is none."""
    ascending = np.sort(gains[np.isfinite(gains)])
    ranks = 1.0 + ascending.size - np.searchsorted(ascending, gains, side="right")
    return np.where(np.isfinite(gains), ranks, np.nan)


def arrival_order(path: PathResult, score: CandidateScore) -> list[int]:
    """Return the features of a path's models in their order.

    That in which they came, or, of iterations and rounds, that of their score after the last one.
    """
    if path.step_kind is not StepKind.FEATURES:
        last = path.steps[-1]
        gains = score.gains(score.of(last))
        return sorted(last.selected, key=lambda f: -gains[f])
    return list(dict.fromkeys(f for step in path.steps for f in step.selected))


def margins(path: PathResult, score: CandidateScore) -> dict[int, Margin]:
    """Return the margin of each feature of a path, by its column.

    Of a growing path, that at the step that took it; of iterations, that to the next feature after the last
    one. Of rounds there is none: what they add up has no moment at which a feature is chosen.
    """
    if path.step_kind is StepKind.ROUNDS:
        return {}
    if path.step_kind is StepKind.ITERATIONS:
        last = path.steps[-1]
        values, order = score.of(last, path.divisor), arrival_order(path, score)
        pairs = zip(order, [*order[1:], None], strict=True)
        return {
            f: _margin(
                score, last.number, f, values, np.array([] if rival is None else [rival], dtype=np.int64)
            )
            for f, rival in pairs
        }
    found: dict[int, Margin] = {}
    for place, step in enumerate(path.steps):
        for feature in taken_at(path, place):
            found.setdefault(feature, step_margin(score, step, feature, path.divisor))
    return found


def step_margin(
    score: CandidateScore, step: Step, feature: int | None = None, divisor: float = 1.0
) -> Margin:
    """Return the margin of a feature at a step.

    Parameters
    ----------
    score : CandidateScore
    step : Step
        With at least one feature.
    feature : int, optional
        Its column; what the step took last without it, or has with the greatest weight.
    divisor : float
        What criteria are divided by.
    """
    values = score.of(step, divisor)
    by_weight = score.source is ScoreSource.WEIGHT
    if feature is None:
        feature = int(np.argmax(values)) if by_weight else step.selected[-1]
    rivals = np.isfinite(values)
    rivals[feature] = False
    if not (score.least or by_weight):  # what the step took with it is no rival; of an elimination, it is
        rivals[list(step.selected)] = False
    return _margin(score, step.number, feature, values, np.flatnonzero(rivals))


def lead_without_use(score: CandidateScore, margin: Margin) -> bool:
    """Return whether a lead over a rival says nothing as a share: one of the two did not lower the criterion.

    Against a candidate that is worth nothing it is always 100 %, and between two that raise the criterion it
    is a share of what does harm.
    """
    return score.source is ScoreSource.CRITERION and min(margin.score, margin.rival_score) <= 0


def _margin(score: CandidateScore, number: int, feature: int, values: Floats, rivals: Ints) -> Margin:
    own = float(values[feature])
    if not rivals.size or not np.isfinite(own):
        return Margin(number, feature, own, None, float("nan"), float("nan"))
    gains = score.gains(values)
    rival = int(rivals[np.argmax(gains[rivals])])
    size = max(abs(own), abs(float(values[rival])))
    share = float(gains[feature] - gains[rival]) / size if size else 0.0
    # More than the whole of a score, where one is above 0 and one below, is no clearer lead than the whole.
    return Margin(number, feature, own, rival, float(values[rival]), min(max(share, -1.0), 1.0))


def _places(path: PathResult, most: int) -> list[int]:
    n = len(path.steps)
    if path.step_kind is StepKind.FEATURES or n <= most:
        return list(range(min(n, most)))
    chosen: list[int] = np.unique(np.rint(np.linspace(0, n - 1, most)).astype(np.int64)).tolist()
    return chosen


def taken_at(path: PathResult, place: int) -> list[int]:
    """Return which features are new at a step of a growing path, in its order."""
    before = path.steps[place - 1].selected if place else ()
    return [feature for feature in path.steps[place].selected if feature not in before]


def _taken(path: PathResult, score: CandidateScore, places: Sequence[int], every: Floats) -> list[list[int]]:
    if path.step_kind is StepKind.FEATURES:
        return [taken_at(path, place) for place in places]
    return [[int(np.argmax(row))] if row.max() > 0 else [] for row in score.gains(every)]
