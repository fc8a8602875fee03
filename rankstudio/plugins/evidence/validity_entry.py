"""The entry of validity and completeness in the catalog of analyses."""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.methods.catalog.analysis import Analysis, Needs
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter

_DESCRIPTION = """\
Measure how far some features of a run's model alone explain its rankings: validity is Kendall's tau between
the ranking of a query by the model and that by the model with all other features masked; completeness is
minus Kendall's tau with these features masked (Singh et al. 2021). A masked feature has its mean over the
training documents in all documents, or 0. No labels are needed. By default the first 1, 2, ... features of
the model are kept, in the order of selection.

  rankstudio validity results/study.rankstudio --run 1
  rankstudio validity results/study.rankstudio --run 1 --fold 2 --keep 3
  rankstudio validity results/study.rankstudio --run 1 --features 2,11 --base zero --json

The documents are those of the test part, or of the validation part while the test part is sealed. With
--json the values of each query are printed, too."""

_BASES = (
    ("mean", translatable("training mean")),
    ("zero", translatable("zero")),
)

_PARAMETERS = (
    Parameter(
        name="features",
        label=translatable("features"),
        kind=Kind.FEATURES,
        default=(),
        help=translatable(
            "Features to keep; without any, the first 1, 2, … features of the model."
        ),
    ),
    Parameter(
        name="keep",
        label=translatable("keep"),
        kind=Kind.INTEGER,
        default=None,
        help=translatable("Number of first features of the model to keep."),
        low=1,
        none_label=translatable("each number"),
    ),
    Parameter(
        name="fold",
        label=translatable("fold"),
        kind=Kind.INTEGER,
        default=None,
        help=translatable("Number of the fold."),
        low=1,
        none_label=translatable("all folds"),
    ),
    Parameter(
        name="base",
        label=translatable("base value"),
        kind=Kind.CHOICE,
        default="mean",
        help=translatable("Value of masked features in all documents."),
        choices=_BASES,
    ),
    Parameter(
        name="n_queries",
        label=translatable("queries"),
        kind=Kind.INTEGER,
        default=5,
        help=translatable(
            "Number of queries to list for a single set, the least validity first."
        ),
        low=0,
    ),
)

ANALYSES = (
    Analysis(
        key="validity",
        label=translatable("Validity of a selection"),
        summary=translatable(
            "show how far some features alone explain the rankings of a model"
        ),
        compute="rankstudio.plugins.evidence.validity_analysis:validity_result",
        parameters=_PARAMETERS,
        needs=Needs.RUN,
        description=_DESCRIPTION,
    ),
)
