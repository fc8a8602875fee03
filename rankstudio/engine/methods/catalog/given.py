"""The entries of what learns nothing: a ranking that is there already, of another program or of the file."""

from __future__ import annotations

from rankstudio.engine.methods.catalog.method import Method

GIVEN_SCORES = Method(
    key="given-scores",
    label="Given scores",
    family="given",
    citation="any program",
    title="Scores from files",
    summary=(
        "Ranks the documents by scores that another program wrote: they are measured and compared as any "
        "run is. Nothing is learned, so there are no weights, and no other documents can be ranked."
    ),
    criterion="",
    estimator="",
    parameters=(),
)

GIVEN_MODEL = Method(
    key="given-model",
    label="Given model",
    family="model",
    citation="any run",
    title="Models from files",
    summary=(
        "Ranks the documents by a model that was learned before, one for all folds or one for each: it is "
        "measured, looked into and compared as the model of any run is. Nothing is learned."
    ),
    criterion="",
    estimator="",
    parameters=(),
)

GIVEN_ORDER = Method(
    key="given-order",
    label="Given order",
    family="given",
    citation="the data",
    title="The order of the documents in the file",
    summary=(
        "Ranks the documents of a query in the order in which they stand in the data: that of the engine "
        "which wrote them, often, or of chance. Nothing is learned."
    ),
    criterion="",
    estimator="",
    parameters=(),
)

GIVEN: tuple[Method, ...] = (GIVEN_SCORES, GIVEN_MODEL, GIVEN_ORDER)

FROM_FILES: tuple[str, ...] = (GIVEN_SCORES.key, GIVEN_MODEL.key)
"""Those whose plans name files."""
