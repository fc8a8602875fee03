"""What a method tells while it works: one immutable step per selected feature or iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, ClassVar

from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats


@dataclass(frozen=True, eq=False)
class Step:
    """One thing a method has learned: one more feature selected, or one more iteration done.

    Attributes
    ----------
    number : int
        Counted from 1.
    selected : tuple of int
        0-based columns of the features in use, in the order in which they were selected.
    coef : ndarray of shape (n,)
        Weights of the model as it is after this step, 0 for the features not in use.
    criterion : float
        What the method minimises; NaN for a method without one.
    candidates : ndarray of shape (n,)
        What the method compared the features by in this step: the criterion that each would have given, or
        a score of the method's own; the catalog says which, as
        :class:`rankstudio.engine.methods.catalog.method.CandidateScore`. NaN for what was no
        candidate; of size 0 for a method that compares none, or by the weights in ``coef``.
    before : float
        The criterion before this step: that of the step before, in the first one that of the model that
        predicts nothing. NaN for a method that learns in one step, or has no criterion.
    linear : bool
        Class attribute: whether ``coef`` is the model. Where it is not, ``coef`` tells how much each feature
        is used.
    learned : bool
        Class attribute: whether it was learned from features, and so can score any documents.
    """

    linear: ClassVar[bool] = True
    learned: ClassVar[bool] = True

    number: int
    selected: tuple[int, ...]
    coef: Floats
    criterion: float
    candidates: Floats
    before: float = field(default=nan, kw_only=True)

    @property
    def n_selected(self) -> int:
        """How many features are in use."""
        return len(self.selected)

    @property
    def kernel(self) -> bool:
        """Whether the model is a sum of kernel functions."""
        return False

    @property
    def whole(self) -> bool:
        """Whether it can score: of a path that is not linear a study keeps only one model whole."""
        return True

    def covers(self, X: Floats) -> bool:
        """Return whether it can score the documents with these features, shape (m, n)."""
        return self.whole

    @property
    def source(self) -> str:
        """Where it was read, for sentences about it; "" for one that was learned here."""
        return ""

    def scores(self, columns: Floats, known: Floats | None = None) -> Floats:
        """Score documents.

        Parameters
        ----------
        columns : ndarray of shape (n, m), C order
            Features of the documents, one row a feature: ``np.ascontiguousarray(X.T)``.
        known : ndarray of shape (m,), optional
            What the step before gave for the same documents: a model that grows by addition goes on from
            there.

        Returns
        -------
        ndarray of shape (m,)
            The higher, the more relevant.
        """
        scores: Floats = linear_scores(columns, self.coef[None, :])[0]
        return scores

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return what a file needs of a model besides its weights; {} for a linear one.

        Parameters
        ----------
        ids : sequence of int of length n
            The 1-based id of each column.

        Returns
        -------
        dict
            "kind", and by a name of its own what the model is, in plain values.
        """
        return {}


@dataclass(frozen=True, eq=False)
class Iteration(Step):
    """One iteration of an optimiser that knows how far it is from the minimum at most.

    Attributes
    ----------
    gap : float
        Duality gap: the criterion is at most this much above its minimum.
    converged : bool
        Whether that is close enough for the optimiser to stop.
    """

    gap: float
    converged: bool
