"""The entry of cascades in the catalog of analyses."""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.methods.catalog.analysis import Analysis, Needs
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter

_DESCRIPTION = """\
Find two-stage cascades: a model with few features ranks all documents of a query, and a larger one ranks the
first K again. Models of the best path of a run are combined; the table lists the cascades that no other one
beats in milliseconds per query and validation measure. Costs are those of the run, or of --costs.

  rankstudio cascade results/study.rankstudio --run 1 --budget 2.5 --costs costs.csv
  rankstudio cascade results/study.rankstudio --run 3 --measure MAP --depths 10,50 --costs costs.csv"""

_PARAMETERS = (
    Parameter(
        name="budget",
        label=translatable("budget in ms"),
        kind=Kind.NUMBER,
        default=None,
        help=translatable("Milliseconds per query; the best cascade within is marked."),
        low=0,
        open_low=True,
        none_label=translatable("none"),
    ),
    Parameter(
        name="measure",
        label=translatable("measure"),
        kind=Kind.MEASURE,
        default=None,
        help=translatable("Measure of the run."),
        none_label=translatable("the one that selects, or the first"),
    ),
    Parameter(
        name="depths",
        label=translatable("depths"),
        kind=Kind.INTEGER,
        default=(5, 10, 20, 50, 100),
        help=translatable("Numbers of documents that are ranked again."),
        low=1,
    ),
)

ANALYSES = (
    Analysis(
        key="cascade",
        label=translatable("Cascades"),
        summary=translatable("find two-stage cascades of a run within a time budget"),
        compute="rankstudio.plugins.search_engines.cascade_analysis:cascade_result",
        parameters=_PARAMETERS,
        needs=Needs.RUN,
        description=_DESCRIPTION,
        terminal="rankstudio.plugins.search_engines.command",
        words="rankstudio.plugins.search_engines.cascade_analysis:cascade_words",
    ),
)
