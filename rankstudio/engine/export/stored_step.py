"""A model that is not linear, as a step that was read: from a study, or from a file of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import StoreError
from rankstudio.engine.export.models import Model
from rankstudio.engine.steps import Step


@dataclass(frozen=True, eq=False)
class StoredStep(Step):
    """A model that is not linear, from a file; ``coef`` tells how much each feature is used.

    Attributes
    ----------
    beyond : Mapping
        The model as :meth:`rankstudio.engine.steps.Step.beyond_weights` gave it; empty where it was not
        kept, and then it cannot score.
    ids : tuple of int of length n
        The 1-based id of each column.
    stored : str
        Where it was read, for sentences about it.
    """

    linear: ClassVar[bool] = False

    beyond: Mapping[str, Any]
    ids: tuple[int, ...]
    stored: str = ""

    @property
    def source(self) -> str:
        """Where it was read, for sentences about it."""
        return self.stored

    @property
    def kernel(self) -> bool:
        """Whether the model is a sum of kernel functions."""
        return bool(self.beyond.get("kind") == "kernel")

    @property
    def whole(self) -> bool:
        """Whether it can score."""
        return bool(self.beyond)

    def scores(self, columns: Floats, known: Floats | None = None) -> Floats:
        """Score documents; see :meth:`rankstudio.engine.steps.Step.scores`.

        Raises
        ------
        StoreError
            Where the model was not kept.
        DataError
            Where LightGBM does not survive its trees in a process of its own.
        """
        model = Model((), "", {}, {}, self._kept(), self.source)
        return np.ascontiguousarray(model.predict(columns.T, np.array(self.ids, dtype=np.int64)))

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the model as it was kept; see :meth:`rankstudio.engine.steps.Step.beyond_weights`.

        Raises
        ------
        StoreError
            Where the model was not kept.
        """
        return dict(self._kept())

    def _kept(self) -> Mapping[str, Any]:
        if not self.whole:
            raise StoreError(
                f"Step {self.number}: the study stores only the best model of a nonlinear path; this model "
                "has to be trained again."
            )
        return self.beyond
