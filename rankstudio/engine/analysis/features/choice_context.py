"""What a feature's choice is explained with: its path, and the other paths of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rankstudio.engine.analysis.features.candidate_groups import CandidateGroups
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import CandidateScore


@dataclass(frozen=True, eq=False)
class Alternative:
    """Another path of the same run.

    Attributes
    ----------
    label : str
        "2⁸"; "2" for a fold.
    path : PathResult
    """

    label: str
    path: PathResult


@dataclass(frozen=True, eq=False)
class ChoiceContext:
    """What a feature's choice is explained with.

    Attributes
    ----------
    path : PathResult
    position : int
        Of the chosen model among its steps.
    score : CandidateScore
        The method's.
    names : sequence of str of length n
        Of the features.
    axis : str
        What differs between `combinations`: "λ"; "combination" where it is more than one thing.
    combinations : sequence of Alternative
        The paths of the fold, this one among them, in the order of the grid.
    folds : sequence of Alternative
        The paths of the other folds with the same parameters.
    groups : CandidateGroups, optional
        Of the features: candidates are counted and named as groups.
    """

    path: PathResult
    position: int
    score: CandidateScore
    names: Sequence[str]
    axis: str = ""
    combinations: Sequence[Alternative] = ()
    folds: Sequence[Alternative] = ()
    groups: CandidateGroups | None = None

    @property
    def size(self) -> int:
        """How many features the chosen model has."""
        return len(self.path.steps[self.position].selected)

    @property
    def n_candidates(self) -> int:
        """How many features there are, a group counting as one."""
        return len(self.names) if self.groups is None else len(self.groups.columns.groups)

    def by_candidate(self, groups: CandidateGroups) -> ChoiceContext:
        """Return it with paths of candidates, each told by the column that stands for it."""
        combinations, folds = (
            [replace(one, path=groups.path(one.path)) for one in several]
            for several in (self.combinations, self.folds)
        )
        path, names = groups.path(self.path), groups.names
        return replace(self, path=path, names=names, combinations=combinations, folds=folds)
