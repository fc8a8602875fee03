"""All figures of a study, of single runs and of several runs.

Each figure has a name, and is made when needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import isfinite, isnan
from typing import Literal

import numpy as np

from rankstudio.engine.analysis.comparisons.significance import ComparedRun
from rankstudio.engine.analysis.features.features_alone import measuring_alone
from rankstudio.engine.analysis.features.selection_stability import (
    SelectionStability,
    stability_of_run,
)
from rankstudio.engine.analysis.figures.captions import (
    run_text,
    runs_text,
    values_label,
)
from rankstudio.engine.analysis.figures.run_figures import (
    candidate_steps_figure,
    candidates_figure,
    combinations_figure,
    fold_features_figure,
    path_figure,
    stability_figure,
)
from rankstudio.engine.analysis.reported_runs import (
    ReportedGroup,
    ReportedRun,
    ReportSource,
    best_of,
    chooser,
    tests_of,
)
from rankstudio.engine.analysis.tried_models.pareto import ParetoFront, pareto_front_of
from rankstudio.engine.analysis.tried_models.run_costs import costs_of
from rankstudio.engine.analysis.tried_models.run_curves import (
    By,
    RunCurve,
    learning_curves,
    run_curves,
)
from rankstudio.engine.analysis.tried_models.tried_models import Part as TriedPart
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    Figure,
    FigureAxis,
    Kind,
    Mark,
    RowSeries,
    RowsFigure,
    Series,
)
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.names import measure, missing_requirement
from rankstudio.engine.support.number_format import significant
from rankstudio.engine.support.work import finish

Named = tuple[int, str]
"""Number and name of a run."""


def x_axis_of(by: By, *, milliseconds: bool = False) -> FigureAxis:
    """Return the x axis of a figure of several runs, for a quantity such as "size".

    `by` is the quantity. With `milliseconds`, the costs of features are times.
    """
    if by == "cost" and milliseconds:
        return FigureAxis(tr("time for the features, per query"), "ms")
    axes = {
        "size": FigureAxis(tr("features of the model, k"), whole=True),
        "cost": FigureAxis(tr("cost of the features")),
        "train": FigureAxis(tr("share of the training queries"), "%"),
        "seconds": FigureAxis(tr("run time"), "s"),
    }
    return axes[by]


def run_label(number: int, called: str) -> str:
    """Return the label of a run in a figure, from its number and its name."""
    return tr("run {number}, {called}").format(number=number, called=called)


def run_curves_figure(
    data: str,
    runs: Sequence[Named],
    curves: Sequence[RunCurve | None],
    reference: int,
    name: str,
    by: By = "size",
    part: TriedPart = "vali",
) -> CurvesFigure | None:
    """Return a figure with a measure's curve for each run; None if no run has a curve.

    Curves that are compared with the reference run query by query have
    a band, the interval of the difference.

    Parameters
    ----------
    data : str
        Name of the dataset.
    runs : sequence of (int, str)
        Number and name of each run.
    curves : sequence of RunCurve or None
        One per run.
    reference : int
        Number of the reference run.
    name : str
        Name of the measure.
    by : {"size", "cost", "train", "seconds"}
        The x axis: features, their cost, share of the training queries,
        or run time.
    part : {"vali", "test"}
        Part of the data on which the models are measured.
    """
    # One series for each run that has a curve.
    series = []
    for (number, run_name), curve in zip(runs, curves, strict=True):
        if curve is None:
            continue
        x = tuple(map(float, curve.x))
        mean = tuple(map(float, curve.mean))
        half = tuple(map(float, curve.half))
        # Only paired runs have half-widths, and so a band.
        has_band = any(map(isfinite, half))
        low = tuple(m - h for m, h in zip(mean, half, strict=True)) if has_band else ()
        high = tuple(m + h for m, h in zip(mean, half, strict=True)) if has_band else ()
        kind: Kind = "points" if by == "seconds" else "line"
        series.append(
            Series(
                label=run_label(number, run_name),
                x=x,
                y=mean,
                low=low,
                high=high,
                kind=kind,
                number=number - 1,  # colors count from 0, runs from 1
            )
        )
    if not series:
        return None

    # Texts of the figure.
    has_bands = any(line.low for line in series)
    bands_sentence = tr(
        "The bands are as wide as the 95 % interval of the paired difference to run {number}."
    ).format(number=reference)
    if part == "test":
        y_title = tr("test {name}").format(name=name)
        caption = tr(
            "{data}: {name} on the test part by {over}, mean over folds. Validation selected the parameters."
        )
    else:
        y_title = tr("validation {name}").format(name=name)
        caption = tr(
            "{data}: {name} on the validation part by {over}, mean over folds, with the best "
            "parameters at each point."
        )
    caption = caption.format(data=data, name=name, over=x_axis_of(by).title)
    bands_label = tr(
        "band: 95 % interval of the paired difference to run {number}"
    ).format(number=reference)
    return CurvesFigure(
        name="curves",
        title=tr("{data}: {measured} of the runs").format(data=data, measured=y_title),
        caption=f"{caption} {bands_sentence}" if has_bands else caption,
        x=x_axis_of(by),
        y=FigureAxis(y_title),
        series=tuple(series),
        bands=bands_label if has_bands else "",
    )


def learning_figure(
    data: str, runs: Sequence[ReportedRun], name: str
) -> CurvesFigure | None:
    """Return a figure of a measure against the share of the training queries.

    The figure has a curve for each group of runs that differ in this
    share only. The result is None if there are no such runs with the
    measure `name`.
    """
    # A curve for each group of runs that differ only in the share.
    series = []
    for group in learning_curves([run.plan for run in runs]):
        if len(group) > 1:
            points = [
                runs[index] for index in group if name in runs[index].result.average
            ]
            # Runs that do not have the measure are left out.
            if len(points) < 2:
                continue
            shares = tuple(
                float(parse_protocol(run.plan.protocol).train) for run in points
            )
            last = points[-1]
            means = tuple(run.result.average[name] for run in points)
            series.append(
                Series(
                    run_label(last.number, last.title),
                    shares,
                    means,
                    number=last.number - 1,  # colors count from 0, runs from 1
                )
            )
    if not series:
        return None
    part = runs[0].part
    return CurvesFigure(
        name="learning",
        title=tr("{data}: {name} by training queries ({part})").format(
            data=data, part=part, name=name
        ),
        caption=tr(
            "{data}: {name} ({part}), mean over folds, by the share of the training queries. "
            "Each run chose its own parameters and size."
        ).format(data=data, name=name, part=part),
        x=x_axis_of("train"),
        y=FigureAxis(f"{name} ({part})"),
        series=tuple(series),
    )


def pareto_figure(
    data: str,
    runs: Sequence[tuple[int, str, Plan]],
    pareto_front: ParetoFront,
    name: str,
) -> CurvesFigure:
    """Return a figure of the size, or cost, of models against a validation measure.

    A line joins the Pareto-optimal models: no other model is both
    smaller and better.

    Parameters
    ----------
    data : str
        Name of the dataset.
    runs : sequence of (int, str, Plan)
        Runs in the order of the models' positions.
    pareto_front : ParetoFront
        Models of the runs, and which of them are optimal.
    name : str
        Name of the measure.
    """
    # The front as steps, in a color of its own. The x of a model is its
    # size or its cost.
    front = [pareto_front.models[i] for i in pareto_front.optimal]
    series = [
        Series(
            label=tr("models on the Pareto front"),
            x=tuple(model.x for model in front),
            y=tuple(model.mean for model in front),
            kind="steps",
            number=6,  # position of its color among those of the series
        )
    ]

    # All tried models as points, by run.
    for index, (number, run_name, _) in enumerate(runs):
        models = [model for model in pareto_front.models if model.run == index]
        if models:
            x = tuple(m.x for m in models)
            y = tuple(m.mean for m in models)
            series.append(
                Series(
                    run_label(number, run_name), x, y, kind="points", number=number - 1
                )
            )

    # Texts by what the x axis shows.
    by_size = pareto_front.by == "size"
    title = tr("{data}: size against validation {name}")
    if not by_size:
        title = tr("{data}: cost against validation {name}")
    return CurvesFigure(
        name="front" if by_size else "cost-front",
        title=title.format(data=data, name=name),
        caption=_pareto_caption(data, pareto_front, name),
        x=x_axis_of(
            "size" if by_size else "cost",
            milliseconds=pareto_front.by == "milliseconds",
        ),
        y=FigureAxis(tr("validation {name}").format(name=name)),
        series=tuple(series),
        marks=tuple(_pareto_marks([plan for *_, plan in runs], pareto_front)),
    )


def _pareto_marks(plans: Sequence[Plan], front: ParetoFront) -> Iterator[Mark]:
    """Yield marks in a figure for the best model, and for the smallest good model.

    There is one mark if both are the same model. `front` has the
    models, and `plans` are those of the runs, in the order of the
    models' `run`.
    """
    position_by_name = {tr("best"): front.best}
    if front.suggested != front.best:
        suggested_name = tr("smallest within one standard error")
        # The rule for good models: with tests of pairs of models in
        # each query, no significant difference, otherwise one standard
        # error.
        if front.paired:
            suggested_name = tr("smallest not significantly worse")
        position_by_name[suggested_name] = front.suggested
    for name, position in position_by_name.items():
        model = front.models[position]
        values = values_label(plans[model.run], model.values)
        cost = (
            tr("{number} ms").format(number=significant(model.x))
            if front.by == "milliseconds"
            else ""
        )
        label = ", ".join(filter(None, [f"{name}: k = {model.size:g}", cost, values]))
        yield Mark(label, model.x, model.mean)


def _pareto_caption(data: str, front: ParetoFront, name: str) -> str:
    """Return the caption of a figure of a Pareto front by size or by cost.

    `data` is the name of the dataset, and `name` that of the measure.
    """
    rule = (
        tr("not significantly worse than the best")
        if front.paired
        else tr("within one standard error")
    )
    caption = tr(
        "{data}: number of features against mean {name} on the validation part, for the best "
        "combination of each size and run. The line joins the Pareto-optimal models. Marked: the best "
        "model, and the smallest model {rule}."
    )
    if front.by != "size":
        caption = tr(
            "{data}: cost of the features against mean {name} on the validation part, for the models that no "
            "other of their run beats. The line joins the Pareto-optimal models. Marked: the best model, and "
            "the cheapest model {rule}."
        )
    return caption.format(data=data, name=name, rule=rule)


def differences_figure(
    data: str,
    reference: Named,
    tested: Sequence[ComparedRun],
    run_names: dict[int, str],
    name: str,
    part: str,
) -> RowsFigure | None:
    """Return a figure of the differences of runs from a reference run, with intervals.

    `reference` is the number and the name of the reference run.
    `tested` has the tests of the runs by the measure `name`,
    `run_names` the name of each run by its number, and `part` names the
    part of the data. The result is None if there are no differences.
    """
    # Runs with a test; the difference may be undefined.
    rows = [
        # `paired_test` is the test of a run.
        (row.key, row.paired_test)
        for row in tested
        if row.paired_test is not None and not isnan(row.paired_test.mean_difference)
    ]
    if not rows:
        return None
    difference = tr("difference in {name} to run {number}").format(
        name=name, number=reference[0]
    )
    caption = tr(
        "{data}: mean difference in {name} ({part}) to {run}, with its 95 % interval over the queries."
    ).format(data=data, name=name, part=part, run=run_label(*reference))

    # Differences with their intervals.
    means = tuple(float(test.mean_difference) for _, test in rows)
    lows = tuple(float(test.low) for _, test in rows)
    highs = tuple(float(test.high) for _, test in rows)
    return RowsFigure(
        name="differences",
        title=f"{data}: {difference}",
        caption=caption,
        axis=FigureAxis(difference),
        rows=tuple(run_label(key, run_names[key]) for key, _ in rows),
        series=(RowSeries(label="", values=means, low=lows, high=highs),),
        zero=True,
        row_title=tr("run"),
        numbers=tuple(key - 1 for key, _ in rows),  # colors count from 0, runs from 1
    )


_Draws = Callable[[str, Sequence[ReportedRun], str], Figure | None]
"""Returns a figure of the name of the data, its runs and a measure."""

# figures of the queries that the title of a group counts
_FIGURES_OF_QUERIES = ("test", "differences")
_MAX_RUNS = 12  # runs in one figure
_MAX_FOLDS = 40


@dataclass(frozen=True)
class StudyFigure:
    """A figure of a study, drawn only when it is needed.

    Attributes
    ----------
    name : str
        Name of the figure and of its file: "run1-validation".
    title : str
        Contents of the figure.
    make : callable
        Returns the figure, or None if it would be empty.
    """

    name: str
    title: str
    make: Callable[[], Figure | None]


def study_figures(source: ReportSource) -> tuple[StudyFigure, ...]:
    """Return the figures of a study: of each group of comparable runs, then of each run.

    Parameters
    ----------
    source : ReportSource
        The study to show; no figure has a number of a test part that is sealed.
    """
    # The study without numbers of sealed test parts.
    reported = source.shown
    groups = reported.groups
    has_several_data = len({group.data for group in groups}) > 1
    figures: list[StudyFigure] = []
    for group in groups:
        # Only several datasets, and several groups of one, need different names.
        data_suffix = f"-{file_stem(group.data)}" if has_several_data else ""
        group_suffix = f"-{group.position}" if group.position > 1 else ""
        figures += _group_figures(group, data_suffix + group_suffix)
    for run in reported.runs:
        figures += _run_figures(run, reported)
    return tuple(figures)


def made(figures: Sequence[StudyFigure]) -> Iterator[Figure]:
    """Yield the nonempty figures by name, in the language of the process."""
    for study_figure in figures:
        figure = study_figure.make()
        if figure is not None and not figure.empty:
            yield replace(figure, name=study_figure.name)


def named_figures(
    figures: Sequence[StudyFigure], names: str
) -> tuple[StudyFigure, ...]:
    """Return the figures of a study with certain names; all figures for "".

    `names` are names of figures or their endings, separated by commas.

    Raises
    ------
    ParameterError
        For a name without a figure.
    """
    requested = [name.strip().lower() for name in names.split(",") if name.strip()]
    for name in requested:
        if not any(_is_requested(figure, name) for figure in figures):
            raise ParameterError(
                "only",
                name,
                f"one or more of {', '.join(figure.name for figure in figures)}",
            )
    return tuple(
        figure
        for figure in figures
        if not requested or any(_is_requested(figure, name) for name in requested)
    )


def _is_requested(figure: StudyFigure, name: str) -> bool:
    """Return whether a name is that of a figure, or its end."""
    return figure.name == name or figure.name.endswith(f"-{name}")


def file_stem(name: str) -> str:
    """Return a name in plain letters, as for a file."""
    words = "".join(c if c.isalnum() else " " for c in name).split()
    return "-".join(words).lower() or "data"


def _group_figures(group: ReportedGroup, suffix: str) -> Iterator[StudyFigure]:
    """Yield the figures of a group of comparable runs; each is drawn only when it is needed.

    `suffix` is at the end of the names of the figures.
    """
    runs = group.runs
    name = group.measure

    def figure(
        key: str, title: str, make: _Draws, runs: Sequence[ReportedRun]
    ) -> StudyFigure:
        """Return a figure of a group that `make(group_title, runs, name)` draws later.

        `key` begins the name of the figure's file, and `title` ends the
        title of the figure. The group, its measure `name`, and the
        `suffix` of file names are variables of the enclosing function.
        """
        # The title of the group counts its queries: only some figures are about them.
        group_title = group.title if key in _FIGURES_OF_QUERIES else group.folds_title
        draw = partial(
            _figure_with_run_texts, partial(make, group_title, runs, name), runs, name
        )
        return StudyFigure(f"{key}{suffix}", f"{group_title}: {title}", draw)

    # Curves by size, of few runs so that they stay readable.
    first_runs = runs[:_MAX_RUNS]
    yield figure("curves", f"validation {name} of the runs", curves_of, first_runs)
    # The part of the data on which the runs are measured.
    if group.group.key.part is Part.TEST:
        yield figure(
            "test", f"test {name} of the runs by size", test_curves_of, first_runs
        )

    # Figures that only some methods and plans have.
    if any(
        len(shares) > 1 for shares in learning_curves([run.plan for run in first_runs])
    ):
        yield figure(
            "learning",
            f"{name} by the share of the training queries",
            learning_figure,
            first_runs,
        )
    if any(run.plan.entry.selects for run in first_runs):
        yield figure(
            "alone", f"training {name} of each feature alone", alone_figure, first_runs
        )

    # Figures that rank the models of several runs; one run alone needs
    # no comparability.
    if group.is_ranked or len(runs) == 1:
        yield figure(
            "front", f"size against validation {name}", _front_figure, first_runs
        )
        if costs_of([run.result for run in first_runs]) is not None:
            draw_costs = partial(_front_figure, by="cost")
            yield figure(
                "cost-front", f"cost against validation {name}", draw_costs, first_runs
            )
    if group.is_ranked:
        yield figure(
            "differences",
            f"differences in {name} with their intervals",
            differences_of,
            runs,
        )


def _figure_with_text(
    make: Callable[[], Figure | None], explanation: Callable[[], str]
) -> Figure | None:
    """Draw a figure, and add a description of its runs to the end of its caption.

    `make` draws the figure, and `explanation` writes the description.
    The result is None if there is nothing to draw.
    """
    figure = make()
    return figure and replace(figure, caption=f"{figure.caption} {explanation()}")


def _figure_with_run_texts(
    make: Callable[[], Figure | None], runs: Sequence[ReportedRun], name: str
) -> Figure | None:
    """Draw a figure of several runs, and add a description of these to its caption.

    Only runs that the figure shows are described. `make` draws the
    figure, and `name` is the measure. The result is None if there is
    nothing to draw.
    """
    figure = make()
    if figure is None:
        return None
    shown_runs = [
        (run.number, run.result)
        for run in runs
        if _shows(figure, run_label(run.number, run.title))
    ]
    if not shown_runs:
        return figure
    return replace(figure, caption=f"{figure.caption} {runs_text(shown_runs, name)}")


def _shows(figure: Figure, label: str) -> bool:
    """Return whether a figure shows the run with a label.

    A figure shows a run as a series or row, or as its subject.
    """
    labels = figure.rows if isinstance(figure, RowsFigure) else ()
    if isinstance(figure, CurvesFigure):
        labels = tuple(series.label for series in figure.series)
    return label in labels or label in figure.caption


def curves_of(
    data: str, runs: Sequence[ReportedRun], name: str, part: TriedPart = "vali"
) -> CurvesFigure | None:
    """Return a figure of the curves of runs on a part of the data.

    The runs are compared with the best run.

    `data` is a title that names the dataset, and `name` is the measure.
    The result is None if no run has a curve.
    """
    # Data that are missing are replaced by what the study records of them.
    datasets = [run.data or run.recorded.without_documents() for run in runs]
    reference = best_of(runs, name)
    curves = run_curves(
        [run.result for run in runs], name, runs.index(reference), datasets, part=part
    )
    named_runs = [(run.number, run.title) for run in runs]
    return run_curves_figure(
        data, named_runs, curves, reference.number, name, part=part
    )


def alone_figure(
    data: str, runs: Sequence[ReportedRun], name: str
) -> CurvesFigure | None:
    """Return a figure of the measure of each feature when it ranks documents alone.

    The features that the best run selected are marked. The result is
    None if the documents are not available.

    As Figure 4 of Lai et al. 2013, the figure shows whether there are a
    few strong features among many weak ones, or many similar ones.
    """
    best = best_of(runs, name)
    if best.data is None or missing_requirement(name):
        return None
    return alone_of(best.data, best.result, run_label(best.number, best.title), name)


def alone_of(
    data: FoldedDataset, run: RunResult, run_name: str, name: str
) -> CurvesFigure:
    """Return a figure of the measure of each feature alone, with a run's features marked.

    `run_name` is the name of the run, and `name` that of the measure.
    """
    # Mean training measure of each feature over the folds.
    convention = run.plan.convention
    folds = [
        # Called without the progress that the generator yields, and
        # without the test part, which the figure does not show.
        finish(measuring_alone(fold, name, convention, sealed=True))
        for fold in data.folds
    ]
    # the features measured in every fold
    columns = reduce(np.intersect1d, [fold.columns for fold in folds])
    means = np.mean(
        [fold.parts["train"][np.searchsorted(fold.columns, columns)] for fold in folds],
        axis=0,
    )

    # Rank of each feature, and whether a fold selected it.
    order = np.argsort(
        -means if measure(name).higher_is_better else means, kind="stable"
    )
    chosen_columns = [
        column for fold in run.folds for column in fold.chosen.step.selected
    ]
    is_selected = np.isin(columns[order], chosen_columns)
    ranks = np.arange(1, order.size + 1)
    labelled_masks = (
        (tr("selected in at least one fold"), is_selected),
        (tr("not selected"), ~is_selected),
    )
    series = [
        Series(
            label,
            x=tuple(map(float, ranks[mask])),
            y=tuple(map(float, means[order[mask]])),
            kind="points",
            number=number,
        )
        for number, (label, mask) in enumerate(labelled_masks)
        if mask.any()
    ]
    return CurvesFigure(
        name="alone",
        title=tr("{data}: training {name} of each feature alone").format(
            data=data.name, name=name
        ),
        caption=tr(
            "{data}: {name} of ranking by each feature alone on the training part, mean over folds. Features "
            "are in order of this value; {run} selected the marked ones."
        ).format(data=data.name, name=name, run=run_name),
        x=FigureAxis(tr("features, best first"), whole=True),
        y=FigureAxis(tr("training {name}").format(name=name)),
        series=tuple(series),
    )


test_curves_of = partial(curves_of, part="test")
"""Returns the curves of runs on the test part, as Figures 1 to 3 of Lai et al. 2013."""


def differences_of(
    data: str,
    runs: Sequence[ReportedRun],
    name: str,
    tested: Sequence[ComparedRun] | None = None,
) -> RowsFigure | None:
    """Return a figure of the differences of runs from the best run by a measure.

    `data` is a title that names the dataset, and `name` the measure.
    The tests are computed unless `tested` has them. The result is None
    if there are no differences.
    """
    reference = best_of(runs, name)
    run_names = {run.number: run.title for run in runs}
    tested = tests_of(runs, reference, name) if tested is None else tested
    named_reference = reference.number, reference.title
    return differences_figure(
        data,
        reference=named_reference,
        tested=tested,
        run_names=run_names,
        name=name,
        part=reference.part,
    )


def _front_figure(
    data: str,
    runs: Sequence[ReportedRun],
    name: str,
    by: Literal["size", "cost"] = "size",
) -> CurvesFigure | None:
    """Return a figure of the Pareto-optimal models of runs, by size or cost.

    `data` is a title that names the dataset, and `name` the measure.
    The result is None if there is no model to show.
    """
    # Tests in each query need the data of all runs: without them there are none.
    datasets = [run.data for run in runs if run.data is not None]
    usable_datasets = datasets if len(datasets) == len(runs) else ()
    front = pareto_front_of([run.result for run in runs], name, usable_datasets, by)
    if front is None:
        return None
    return pareto_figure(
        data, [(run.number, run.title, run.plan) for run in runs], front, name
    )


def _run_figures(run: ReportedRun, source: ReportSource) -> Iterator[StudyFigure]:
    """Yield the figures of a single run; each is drawn only when it is needed.

    `source` is the report, whose measure is shown if the report names one.
    """
    # The measure shown: that of the report, or the one that chose the model.
    name = chooser([run], source.measure)
    result = run.result
    first = result.folds[0]
    n_folds = len(result.folds)

    def figure(
        key: str, title: str, make: Callable[..., Figure | None], *arguments: object
    ) -> StudyFigure:
        """Return a figure of the run that `make(result, *arguments)` draws later.

        `key` ends the name of the figure's file, and `title` the title
        of the figure. The run, its result, and the measure `name` are
        variables of the enclosing function.
        """
        # Draws the figure, and adds a text on the run to its caption.
        draw = partial(
            _figure_with_text,
            partial(make, result, *arguments),
            partial(run_text, result, name),
        )
        return StudyFigure(f"run{run.number}-{key}", f"{run.name}: {title}", draw)

    # Measures and the criterion by size.
    yield figure("validation", f"validation {name} by size", path_figure, name)
    # Only some runs measure queries that were left out of training.
    if run.plan.leaves_out:
        yield figure(
            "left-out",
            f"left-out {name} by size",
            path_figure,
            run.plan.left_out_by(name),
        )
    # Without the name of a measure, the figure shows the criterion.
    yield figure("criterion", "criterion by size", path_figure)
    yield figure(
        "map", f"validation {name} by parameters and size", combinations_figure, name
    )

    # Selected features over the folds. The last argument makes the
    # figure from the stability of the selections.
    if run.plan.entry.selects and n_folds <= _MAX_FOLDS:
        yield figure(
            "features", "features by fold", _stability_figure_of, fold_features_figure
        )
        if n_folds > 1:
            yield figure(
                "stability",
                "similarity of the folds",
                _stability_figure_of,
                stability_figure,
            )

    # Candidates of single steps.
    if run.plan.candidate_score is not None:
        yield figure(
            "candidates", "candidates of the first step", candidates_figure, first
        )
        yield figure("steps", "candidates by step", candidate_steps_figure, first)


def _stability_figure_of(
    result: RunResult, make: Callable[[RunResult, SelectionStability], Figure | None]
) -> Figure | None:
    """Return the figure that `make` draws of a run and the agreement of its folds."""
    return make(result, stability_of_run(result))
