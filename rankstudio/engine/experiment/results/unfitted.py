"""Why a run has no cross-fitted values."""

from __future__ import annotations

from enum import Enum

from rankstudio.engine.language import tr, translatable


class Unfitted(Enum):
    """Reason why a run has no cross-fitted values.

    Cross-fitted values are measures in each validation query, by models
    that were chosen without this query.

    See `rankstudio.engine.experiment.results.cross_fit`.
    """

    NO_VALIDATION = "no validation part"
    LEFT_OUT_ONE_BY_ONE = "leave-query-out"
    TOO_FEW = "too few queries"
    INNER_NOT_STORED = "inner models not stored"
    NOT_STORED = "not stored"

    @property
    def sentence(self) -> str:
        """The reason, as part of a sentence."""
        return tr(_SENTENCES[self])


_SENTENCES = {
    Unfitted.NO_VALIDATION: translatable("there is no validation part"),
    Unfitted.LEFT_OUT_ONE_BY_ONE: translatable(
        "each query is a fold of its own, and its test value is from a model that was chosen without it"
    ),
    Unfitted.TOO_FEW: translatable("a single validation query chose the model"),
    Unfitted.INNER_NOT_STORED: translatable(
        "an earlier version did not store the models of the inner folds; run it again"
    ),
    Unfitted.NOT_STORED: translatable(
        "an earlier version did not store them, and the data or some models to compute them are missing"
    ),
}
