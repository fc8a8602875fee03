"""Steps of a method while it works: an immutable one per selected feature or iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, ClassVar

from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.work import Waiting, WorkProgress


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a method: one more feature selected, or one more iteration done.

    Attributes
    ----------
    number : int
        Number of the step, from 1.
    selected : tuple of int
        0-based columns of the features in use, in the order of selection.
    coef : ndarray of shape (n,)
        Weights of the model after this step, 0 for the features not in use.
    criterion : float
        Criterion that the method minimises; NaN for a method without one.
    candidates : ndarray of shape (n,)
        Values by which the method compared the features: the criterion
        with each candidate, or a score of its own; the catalog defines
        which, as
        :class:`rankstudio.engine.methods.catalog.method.CandidateScore`.
        NaN for features that were not candidates; of size 0 for a
        method that compares none, or compares by the weights in
        ``coef``.
    before : float
        Criterion before this step: that of the previous step, or of the
        empty model. NaN for a method that learns in one step, or has no
        criterion.
    linear : bool
        Class attribute: whether ``coef`` is the model. Otherwise
        ``coef`` is the importance of each feature.
    learned : bool
        Class attribute: whether the model was trained on features, so
        that it can score any documents.
    narrow : bool
        Class attribute: whether :meth:`scores` reads only the features
        that the model needs, so that the others need not be copied into
        C order.
    additive : bool
        Class attribute: whether the scores are the scores of the
        previous step plus those of one new term.

    Examples
    --------
    >>> import numpy as np
    >>> step = Step(1, (2,), np.array([0.0, 0.0, 0.5]), 12.5, np.array([3.0, 2.0, 1.0]))
    >>> step.selected
    (2,)
    """

    linear: ClassVar[bool] = True
    learned: ClassVar[bool] = True
    narrow: ClassVar[bool] = False
    additive: ClassVar[bool] = False

    number: int
    selected: tuple[int, ...]
    coef: Floats
    criterion: float
    candidates: Floats
    before: float = field(default=nan, kw_only=True)

    @property
    def n_selected(self) -> int:
        """Number of features in use."""
        return len(self.selected)

    @property
    def kind(self) -> str:
        """Unusual part of a model that few programs support: "kernel" functions, or "sums"; "" otherwise."""
        return ""

    @property
    def whole(self) -> bool:
        """Whether the model can score: of a nonlinear path, a study stores only one complete model."""
        return True

    def can_score(self, X: Floats) -> bool:
        """Return whether the model can score documents with these features, shape (m, n)."""
        return self.whole

    @property
    def source(self) -> str:
        """Where the model comes from, for messages; "" for a model trained by RankStudio."""
        return ""

    def scores(self, columns: Floats, previous_scores: Floats | None = None) -> Floats:
        """Score documents.

        Parameters
        ----------
        columns : ndarray of shape (n, m), C order
            Features of the documents, one row per feature:
            ``np.ascontiguousarray(X.T)``.
        previous_scores : ndarray of shape (m,), optional
            Scores of the previous step for the same documents, from
            which additive models continue.

        Returns
        -------
        ndarray of shape (m,)
            Scores; higher is more relevant.
        """
        scores: Floats = linear_scores(columns, self.coef[None, :])[0]
        return scores

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the definition of a nonlinear model for files; {} for a linear one.

        Parameters
        ----------
        ids : sequence of int of length n
            1-based id of each column.

        Returns
        -------
        dict
            "kind", and the definition of the model, as plain values.
        """
        return {}


@dataclass(frozen=True, eq=False)
class Iteration(Step):
    """One iteration of an optimiser with a bound on the distance from the minimum.

    Attributes
    ----------
    gap : float
        Duality gap: an upper bound of the distance of the criterion from its minimum.
    converged : bool
        Whether the gap is small enough for the optimiser to stop.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import Iteration
    >>> step = Iteration(5, (0,), np.array([0.5]), 1.25, np.array([np.nan]), gap=1e-9, converged=True)
    >>> step.converged
    True
    """

    gap: float
    converged: bool


def steps_of(
    work: Iterator[Step | WorkProgress],
    progress_of: Callable[[Step], WorkProgress] | None = None,
) -> Waiting[list[Step]]:
    """Run a selection of features, yield its progress, and return its steps.

    A step is a feature that is added, with the weights after it.

    The progress consists of the work's own events, and of
    ``progress_of(step)`` after each step.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import Step, WorkProgress, finish, steps_of
    >>> def work():
    ...     yield WorkProgress("comparing", 0.5)
    ...     yield Step(1, (0,), np.ones(1), 2.5, np.ones(1))
    >>> [step.criterion for step in finish(steps_of(work()))]
    [2.5]
    """
    steps: list[Step] = []
    for event in work:
        if isinstance(event, Step):
            steps.append(event)
            if progress_of is not None:
                yield progress_of(event)
        else:
            yield event
    return steps
