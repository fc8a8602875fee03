"""The analysis of cascades: a table of the cascades that no other cascade beats."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.errors import PlanError, one_line
from rankstudio.engine.experiment.plan.as_code import parameter_words
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.analysis import (
    AnalysisResult,
    AnalysisTable,
    Cell,
    analysis,
    formatted,
)
from rankstudio.engine.support.number_format import significant
from rankstudio.engine.support.work import Waiting
from rankstudio.plugins.search_engines.cascades import (
    DEPTHS,
    Cascade,
    CascadeFront,
    find_cascades,
)


def cascade_result(
    run: RunResult,
    data: FoldedDataset,
    costs: FeatureCosts | None = None,
    name: str = "",
    /,
    *,
    budget: float | None = None,
    measure: str | None = None,
    depths: int | tuple[int, ...] = DEPTHS,
) -> Waiting[AnalysisResult]:
    """Find the best cascades of a run by time and the validation measure.

    In a cascade, a cheap model ranks all documents, and a larger one
    ranks the first of them again. A cascade is one of the best if no
    other is both faster and better.

    Parameters
    ----------
    run : RunResult
        Finished run with paths of several sizes.
    data : FoldedDataset
        Data of the run.
    costs : FeatureCosts, optional
        Costs of the features; by default those of the run or, if it has
        none, of the data.
    name : str
        Name of a measure of the run; it takes precedence over ``measure``.
    budget : float or None
        Limit in milliseconds per query; the best cascade within this limit is marked.
    measure : str or None
        Measure of the run; by default the measure that selects the
        model, or the first one.
    depths : int or tuple of int
        Numbers of documents that the second model ranks again.

    Raises
    ------
    PlanError
        If there are no costs, or no cascades.
    """
    # Costs given as an argument precede those of the plan and those of the data.
    plan = run.plan
    costs = costs or plan.extension(FeatureCosts) or data.extension(FeatureCosts)
    if costs is None:
        raise PlanError(
            tr("The run has no costs of features. Import them before the run.")
        )
    depths = (depths,) if isinstance(depths, int) else depths

    # Data without any test part, such as those of a sealed run, give no test measures.
    is_sealed = all(fold.test is None for fold in data.folds)
    measure = name or measure or _selecting_measure(plan)

    # The front has the best cascades, the fastest one first.
    front = yield from find_cascades(
        run, data, costs, measure, depths, sealed=is_sealed
    )

    # Warn if no cascade is within the budget.
    best = front.within(budget) if budget is not None else None
    warnings: tuple[str, ...] = ()
    if budget is not None and best is None:
        text = tr(
            "no cascade costs at most {budget:g} ms; the cheapest costs {least} ms."
        )
        least = significant(front.cascades[0].milliseconds)
        warnings = (text.format(budget=budget, least=least),)
    tables = (_cascade_table(run, front, best),)
    return AnalysisResult(tables, _front_as_dict(front, best), warnings)


def cascade_words(_: Plan, values: Mapping[str, Any]) -> list[str]:
    """Return the words of the command line after the path of the study."""
    return list(parameter_words(analysis("cascade").parameters, values))


def _selecting_measure(plan: Plan) -> str:
    """Return the measure that selects the model; the first one if the criterion selects it."""
    return plan.measures[0] if plan.chosen_by == CRITERION else plan.chosen_by


def _front_as_dict(front: CascadeFront, best: Cascade | None) -> dict[str, Any]:
    """Return the best cascades as dicts and lists of plain values, for JSON.

    `best` is the cascade that is marked, or None.
    """
    # A single model has no second stage; a sealed test measure is left out.
    rows = [
        {
            "first_features": cascade.first,
            "second_features": cascade.second if cascade.depth is not None else None,
            "depth": cascade.depth,
            "milliseconds": cascade.milliseconds,
            "validation": cascade.validation,
            **({} if isnan(cascade.test) else {"test": cascade.test}),
            "chosen": cascade is best,
            "features": [
                {"first": list(first), "second": list(second)}
                for first, second in cascade.features
            ],
        }
        for cascade in front.cascades
    ]
    return {"measure": front.measure, "tried": front.n_tried, "cascades": rows}


def _cascade_table(
    run: RunResult, front: CascadeFront, best: Cascade | None
) -> AnalysisTable:
    """Return the table of the best cascades, with the chosen one marked."""
    # Lines above the table: the run, and the parameters of the path
    # whose models are combined.
    axes = zip(run.plan.axes, front.values, strict=True)
    path = ", ".join(f"{axis.label} {axis.format(value)}" for axis, value in axes)
    text = tr("{run} on {data}: cascades that no other of {count:,} beats")
    line = text.format(run=run.plan.title, data=run.data_name, count=front.n_tried)
    models = (
        tr("Models of the path with {path}").format(path=path)
        if path
        else tr("Models of its path")
    )

    # The test part is sealed, or the data have none.
    is_untested = all(isnan(candidate.test) for candidate in front.cascades)

    # One row for each cascade; a single model has no second stage.
    rows: list[tuple[Cell, ...]] = []
    for cascade in front.cascades:
        # shown as empty cells
        second_stage: tuple[float, float] = (float("nan"), float("nan"))
        if cascade.depth is not None:
            second_stage = (cascade.second, cascade.depth)
        values = (
            (cascade.validation,) if is_untested else (cascade.validation, cascade.test)
        )
        rows.append(
            (
                formatted(cascade.milliseconds, significant),
                cascade.first,
                *(formatted(number, "d") for number in second_stage),
                *(formatted(value, ".4f") for value in values),
                tr("chosen") if cascade is best else "",
            )
        )

    # The header has a column for the test part only if the rows have one.
    titles = [tr("validation {measure}")]
    if not is_untested:
        titles.append(tr("test {measure}"))
    header = (
        tr("ms per query"),
        tr("features"),
        tr("then"),
        tr("first K"),
        *(title.format(measure=front.measure) for title in titles),
        "",
    )
    above = "\n".join((one_line(line), one_line(models), ""))
    return AnalysisTable(tr("Cascades"), header, tuple(rows), above=above)
