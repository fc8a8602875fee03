"""By what a method compares its candidates: the name and unit of the scores that its steps hold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.steps import Step

_ROUNDING = 1e-12  # of a criterion before a step: less than this is only the rounding of its sum


class ScoreSource(Enum):
    """What the numbers are that a step has of each feature.

    A step does not name them itself: name and unit are the same for every step, and a study would keep them
    as often as it has steps.
    """

    CRITERION = "the criterion with the feature added: its drop is the score"
    SCORE = "the score itself"
    WEIGHT = "the size of the feature's weight, which is in the step's coef"


@dataclass(frozen=True)
class CandidateScore:
    """What a method compares its candidates by.

    Attributes
    ----------
    name : str
        "drop in leave-query-out error", as the title of an axis.
    unit : str
        "per document"; what the number is of, or in.
    source : ScoreSource
    least : bool
        Whether the candidate with the least score gets the step's place, rather than the greatest.
    from_zero : bool
        Whether a candidate that is worth nothing has the score 0: a measure of ranking has no such zero.
    """

    name: str
    unit: str
    source: ScoreSource = ScoreSource.SCORE
    least: bool = False
    from_zero: bool = True

    @property
    def title(self) -> str:
        """Name and unit: "drop in leave-query-out error per document"."""
        return f"{self.name} {self.unit}".strip()

    @property
    def criterion(self) -> str:
        """What a drop is one in: "leave-query-out error"; the name of any other score."""
        return self.name.removeprefix("drop in ")

    def of(self, step: Step, divisor: float = 1.0) -> Floats:
        """Return the score of each feature in a step.

        Parameters
        ----------
        step : Step
            Of n features.
        divisor : float
            What criteria are divided by, so that folds compare.

        Returns
        -------
        ndarray of shape (n,)
            NaN for what was no candidate; all NaN where the step compares none.
        """
        n = step.coef.size
        if self.source is ScoreSource.WEIGHT:
            return np.abs(step.coef)
        if step.candidates.size != n:
            return np.full(n, np.nan)
        if self.source is ScoreSource.SCORE:
            return step.candidates
        drops = step.before - step.candidates
        return np.where(np.abs(drops) <= _ROUNDING * abs(step.before), 0.0, drops) / divisor

    def gains(self, scores: Floats) -> Floats:
        """Return scores in the sense in which more is better."""
        return -scores if self.least else scores
