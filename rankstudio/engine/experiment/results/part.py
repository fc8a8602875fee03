"""The part of the data that a run is measured on."""

from __future__ import annotations

from enum import Enum

from rankstudio.engine.language import tr, translatable


class Part(Enum):
    """Part of the data behind the measures of a run.

    Only the first two are estimates for new queries: neither was used to choose the
    model that it measures.
    """

    TEST = "test"
    CROSS_FITTED = "cross-fitted"
    CHOSEN_ON = "chosen on"
    NONE = "none"

    @property
    def is_estimate(self) -> bool:
        """Whether the measures estimate those of new queries.

        Runs can then be ranked and tested by them.
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
