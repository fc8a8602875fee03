"""The part of the data that a run is measured on."""

from __future__ import annotations

from enum import Enum

from rankstudio.engine.language import tr, translatable


class Part(Enum):
    """Part of the data on which the models of a run are measured.

    `TEST` is the test part. `CROSS_FITTED` are validation queries, each
    measured by a model that was chosen without it; `CHOSEN_ON` are
    validation queries that chose the model. Only the first two give
    estimates for new queries.
    """

    TEST = "test"
    CROSS_FITTED = "cross-fitted"
    CHOSEN_ON = "chosen on"
    NONE = "none"

    @property
    def is_estimate(self) -> bool:
        """Whether measures on this part are estimates for new queries.

        If they are, runs can be ranked and tested by these measures.
        """
        return self in (Part.TEST, Part.CROSS_FITTED)

    @property
    def label(self) -> str:
        """Description for captions and headers."""
        return tr(_LABELS[self])


_LABELS = {
    Part.TEST: translatable("test"),
    Part.CROSS_FITTED: translatable("validation, cross-fitted"),
    Part.CHOSEN_ON: translatable("validation, chosen on it"),
    Part.NONE: translatable("not measured"),
}
