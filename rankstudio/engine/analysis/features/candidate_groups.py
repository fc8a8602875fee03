"""Paths of groups of features, told by candidate: each group is one, for which its first column stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.feature_groups import Groups, among, candidate_names
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
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
