"""Figures of one run: curves and maps of its models, and candidates of its steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import nan

import numpy as np

from rankstudio.engine.analysis.features.candidate_map import (
    CandidateGroups,
    candidate_map,
)
from rankstudio.engine.analysis.features.selection_stability import (
    ChosenFeature,
    SelectionStability,
)
from rankstudio.engine.analysis.figures.captions import values_label
from rankstudio.engine.analysis.result_table.fold_table import average_paths
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.experiment.plan.left_out_names import (
    is_left_out,
    is_pair_out,
    plain_name,
)
from rankstudio.engine.experiment.results.results import (
    FoldResult,
    PathResult,
    RunResult,
)
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Level,
    MapFigure,
    RowSeries,
    RowsFigure,
    Series,
)
from rankstudio.engine.language import together, tr
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.number_format import fixed

# of the greatest to the least value: a linear axis would show flat lines
_MIN_LOGARITHMIC_RATIO = 100.0
# rows and columns of figures
_MAX_CANDIDATES = 20
_MAX_FEATURES = 30
_MAX_STEPS = 25


def step_axis(kind: StepKind) -> FigureAxis:
    """Return the x axis of the curves."""
    titles = {
        StepKind.FEATURES: tr("number of features, k"),
        StepKind.ITERATIONS: tr("iteration"),
    }
    return FigureAxis(titles.get(kind, tr("boosting round")), whole=True)


def _title(run: RunResult, subject: str) -> str:
    """Return a title with data, method and subject."""
    return f"{run.data_name}, {run.plan.title}: {subject}"


def _size_caption(run: RunResult, y_title: str, last_sentence: str = "") -> str:
    """Return the caption of a figure of a run with sizes of models on the x axis.

    The caption names the run and the title of the y axis, and ends with
    `last_sentence`.
    """
    n = len(run.folds)
    steps = step_axis(run.plan.step_kind).title
    text = (
        tr("{of} by {steps}, mean over {n} folds.") if n > 1 else tr("{of} by {steps}.")
    )
    sentence = text.format(of=y_title, steps=steps, n=n)
    return _title(run, " ".join(filter(None, (sentence, last_sentence))))


def _axes_text(run: RunResult) -> str:
    """Return the labels of the plan's axes as text: of the parameters with several values."""
    return together([axis.label for axis in run.plan.axes])


def path_figure(run: RunResult, name: str = "") -> CurvesFigure | None:
    """Return curves of a validation measure or the criterion by size of the model.

    There is a curve for each combination of parameter values that the
    run tried.

    Parameters
    ----------
    run : RunResult
        Run to draw.
    name : str
        Name of the measure, such as "NDCG@10" for the validation part,
        or "leave-query-out NDCG@10" for training queries that were left
        out; "" for the criterion, which the method itself optimises.

    Returns
    -------
    CurvesFigure or None
        Means over the folds; None if the paths of models have a single
        step, or there is no validation part.
    """
    # For each combination of parameter values, its paths on all folds.
    # A fold has them in the order of the combinations.
    by_combination = list(zip(*(fold.paths for fold in run.folds), strict=True))
    if not _has_curves(by_combination, name):
        return None
    n = len(by_combination)
    # Positions from 0 to 1 in the color scale; a single curve has the middle.
    orders = [index / (n - 1) if n > 1 else 0.5 for index in range(n)]
    series = [
        _combination_curve(run, paths, name, order)
        for paths, order in zip(by_combination, orders, strict=True)
    ]

    # Mean of the best single features, as a level to compare with. The
    # criterion has none (NaN).
    baselines = (
        [fold.baseline.validation.get(name, nan) for fold in run.folds]
        if name
        else [nan]
    )
    reference = float(np.mean(baselines))
    y_title = _measure_axis_title(name) if name else tr(run.plan.criterion)

    # A positive criterion that spans magnitudes is shown on a logarithmic axis.
    finite = [y for curve in series for y in curve.y if np.isfinite(y)]
    is_positive_criterion = not name and min(finite, default=0.0) > 0
    is_logarithmic = (
        is_positive_criterion and max(finite) / min(finite) >= _MIN_LOGARITHMIC_RATIO
    )
    note = tr("One curve per {axes}.").format(axes=_axes_text(run)) if n > 1 else ""
    return CurvesFigure(
        name="validation" if name else "criterion",
        title=_title(run, y_title),
        caption=_size_caption(run, y_title, note),
        x=step_axis(run.plan.step_kind),
        y=FigureAxis(y_title, logarithmic=is_logarithmic),
        series=tuple(series),
        levels=(Level(tr("best single feature"), reference),)
        if np.isfinite(reference)
        else (),
    )


def _has_curves(by_combination: Sequence[Sequence[PathResult]], name: str) -> bool:
    """Return whether paths of models have several steps, and all of them a measure.

    `by_combination` has, for each combination of parameter values, its
    paths on all folds. `name` is the measure, "" for the criterion,
    which every path has.
    """
    paths = [path for fold_paths in by_combination for path in fold_paths]
    has_several_steps = max((len(path.steps) for path in paths), default=0) > 1
    has_measure = not name or all(name in path.validation for path in paths)
    return has_several_steps and has_measure


def _combination_curve(
    run: RunResult, paths: Sequence[PathResult], name: str, order: float
) -> Series:
    """Return the curve of a combination of parameters' values: its mean over the folds.

    `name` is the measure, "" for the criterion of the method. A
    criterion that is the negative of a measure is drawn as that
    measure. `order`, from 0 to 1, is the position of the curve's color
    in the scale.
    """
    mean = average_paths(paths)
    values = mean.validation[name] if name else mean.criterion
    # Such a criterion is the negative of a measure, as criteria are minimised.
    sign = -1.0 if run.plan.measured_criterion and not name else 1.0
    label = values_label(run.plan, paths[0].unit.values) or run.plan.title
    return _curve(label, mean.x_values, sign * values.mean, order)


def _measure_axis_title(name: str) -> str:
    """Return the title of an axis for a measure and its queries."""
    template = (
        tr("leave-query-out {name}") if is_left_out(name) else tr("validation {name}")
    )
    template = tr("leave-pair-out {name}") if is_pair_out(name) else template
    return template.format(name=plain_name(name))


def _curve(label: str, x: Iterable[float], values: Floats, order: float) -> Series:
    """Return a curve with its position in the order."""
    return Series(label, tuple(map(float, x)), tuple(map(float, values)), order=order)


def combinations_figure(run: RunResult, name: str) -> MapFigure | None:
    """Return a map of a validation measure by combination of parameter values (rows) and size.

    `name` is the validation measure. The result is None for a single
    combination, or without values.
    """
    # The same values as curves, one per combination.
    figure = path_figure(run, name)
    if figure is None or len(figure.series) < 2:
        return None

    # Cells by combination and size; NaN where a combination has no model of the size.
    columns = sorted({x for curve in figure.series for x in curve.x})
    # the last combination at the top, as on an axis
    rows = list(reversed(figure.series))
    values = [dict(zip(curve.x, curve.y, strict=True)) for curve in rows]
    cells = np.array([[row.get(x, nan) for x in columns] for row in values])
    finite = cells[np.isfinite(cells)]
    if not finite.size:
        return None
    axes = run.plan.axes
    # With one parameter its label is the title of the rows, so each row
    # needs the value only: "1" of "λ = 1".
    has_one_axis = len(axes) == 1
    names = [
        curve.label.partition(" = ")[2] if has_one_axis else curve.label
        for curve in rows
    ]

    # The best cell is marked; of equal ones the first.
    best = float(finite.max() if measure(name).higher_is_better else finite.min())
    row, column = np.argwhere(cells == best)[0].tolist()
    low, high = _color_ends(finite)
    note = tr("One row per value of {axes}; the outlined cell is the best.")
    return MapFigure(
        name="map",
        title=_title(run, tr("{of} by parameters and size").format(of=figure.y.title)),
        caption=_size_caption(run, figure.y.title, note.format(axes=_axes_text(run))),
        rows=tuple(names),
        columns=tuple(f"{x:g}" for x in columns),
        values=tuple(map(tuple, cells.tolist())),
        row_title=axes[0].label if has_one_axis else "",
        column_title=figure.x.title,
        color=FigureAxis(figure.y.title, low=low, high=high),
        marked=((row, column),),
        mark_label=tr("best mean: {value}").format(value=fixed(best)),
    )


def _color_ends(finite: np.ndarray) -> tuple[float, float]:
    """Return the least and the greatest value of a map that have colors of their own.

    `finite` has all values of the map. More extreme values have the
    same color as the returned ones. The returned values lie outside the
    10th and 90th percentile by at most the distance between these
    percentiles, so that a few extreme values do not make all others
    alike.
    """
    low = float(finite.min())
    high = float(finite.max())
    percentile_10, percentile_90 = (float(v) for v in np.quantile(finite, (0.1, 0.9)))
    if percentile_90 > percentile_10:
        low = max(low, 2 * percentile_10 - percentile_90)
        high = min(high, 2 * percentile_90 - percentile_10)
    # Equal values get the color in the middle.
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def named_feature(feature: ChosenFeature) -> str:
    """Return a feature with its id: "BM25 of body (23)"."""
    usual = f"feature {feature.feature}"
    return (
        feature.name if feature.name == usual else f"{feature.name} ({feature.feature})"
    )


def fold_features_figure(
    run: RunResult, stability: SelectionStability, max_features: int = _MAX_FEATURES
) -> MapFigure:
    """Return a map of the features that each fold selected, with their positions.

    The map has a row per feature and a column per fold. `stability` has
    the features of the run in the order of the rows; at most
    `max_features` are shown.
    """
    # Only the first features are shown; the caption counts the others.
    features = stability.features[:max_features]
    n_more = len(stability.features) - len(features)
    more_text = ""
    if n_more:
        more_text = tr(
            "{n} more features were selected by fewer folds or later."
        ).format(n=n_more)
    caption = tr(
        "features selected by each fold, with their position; blank where not selected."
    )

    # Position of each feature in each fold.
    ranks = [
        tuple(float(feature.ranks.get(fold, nan)) for fold in stability.folds)
        for feature in features
    ]
    greatest = max(
        (rank for row in ranks for rank in row if np.isfinite(rank)), default=1.0
    )
    return MapFigure(
        name="features",
        title=_title(run, tr("features by fold")),
        caption=f"{_title(run, caption)} {more_text}".rstrip(),
        rows=tuple(map(named_feature, features)),
        columns=tuple(str(fold) for fold in stability.folds),
        values=tuple(ranks),
        row_title="",
        column_title=tr("fold"),
        # From the position 1 to 2 at least, so that the colors have a range.
        color=FigureAxis(
            tr("selected as"), whole=True, low=1.0, high=max(greatest, 2.0)
        ),
        decimals=0,
        written=True,
        first_dark=True,
    )


def stability_figure(run: RunResult, stability: SelectionStability) -> MapFigure | None:
    """Return a map of the similarity of the selected features of each pair of folds.

    `stability` has the indices of agreement of the run's folds. The
    result is None for a single fold.
    """
    n = len(stability.folds)
    if n < 2:
        return None

    # The features of each fold, and the similarity of each pair of folds.
    sets = [
        {feature.feature for feature in stability.features if fold in feature.ranks}
        for fold in stability.folds
    ]
    # The Jaccard similarity is the number of the common features of two
    # folds, divided by the number of the features of either.
    pairs = tuple(
        tuple(_jaccard(fold_set, other_set) for other_set in sets) for fold_set in sets
    )

    # The caption has the indices over all folds.
    index = stability.indices.nogueira
    folds = tuple(str(fold) for fold in stability.folds)
    caption = tr(
        "Jaccard similarity of the features selected by each pair of folds. Mean over pairs: "
        "{jaccard}. Nogueira's index: {nogueira} (95 % interval {low} to {high})."
    )
    caption = caption.format(
        jaccard=fixed(stability.indices.jaccard, 3),
        nogueira=fixed(index.value, 3),
        low=fixed(index.low, 3),
        high=fixed(index.high, 3),
    )
    return MapFigure(
        name="stability",
        title=_title(run, tr("stability of the selection")),
        caption=_title(run, caption),
        rows=folds,
        columns=folds,
        values=pairs,
        row_title=tr("fold"),
        column_title=tr("fold"),
        color=FigureAxis(tr("Jaccard similarity"), low=0.0, high=1.0),
        decimals=2,
        written=True,
    )


def _jaccard(a: set[int], b: set[int]) -> float:
    """Return the Jaccard index; NaN for two empty sets."""
    return len(a & b) / len(a | b) if a | b else nan


def candidates_figure(
    run: RunResult, fold: FoldResult, number: int = 1
) -> RowsFigure | None:
    """Return a figure of the candidates at a step of a fold's path, the best first.

    Candidates are the features or groups that the step compared; a path
    is the sequence of models, and `number` is that of the step.

    The result is None if the method compares no candidates.
    """
    score = run.plan.candidate_score
    path = chosen_path(fold)
    step = next((step for step in path.steps if step.number == number), None)
    if score is None or step is None:
        return None

    # Scores of the candidates in this step.
    groups = CandidateGroups.of(
        run.feature_ids, run.feature_names, feature_groups_of(run.plan)
    )
    whole_map = candidate_map(path, score, groups)
    if whole_map is None or number not in whole_map.numbers:
        return None
    column = whole_map.numbers.index(number)
    scores = whole_map.scores[:, column]

    # The best candidates first; NaN marks what was not a candidate.
    # `gains` are scores with the sign by which larger is better.
    gains = score.gains(scores)
    order = [
        int(i) for i in np.argsort(-gains, kind="stable") if np.isfinite(scores[i])
    ]
    best_rows = order[:_MAX_CANDIDATES]
    selected = frozenset(
        index
        for index, row in enumerate(best_rows)
        if whole_map.is_selected[row, column]
    )

    # Texts of the figure.
    subject = tr("candidates of step {step} of fold {fold}").format(
        step=number, fold=fold.fold
    )
    # Values of the parameters with which the path was trained.
    combination = values_label(run.plan, path.unit.values)
    title = tr(score.title)
    caption = tr("{where} by {score}.")
    if combination:
        caption = tr("{where} with {combination} by {score}.")
    caption = caption.format(where=subject, combination=combination, score=title)
    if len(order) > len(best_rows):
        limit_text = tr("The first {n} of {of} are shown.").format(
            n=len(best_rows), of=len(order)
        )
        caption = f"{caption} {limit_text}"
    return RowsFigure(
        name="candidates",
        title=_title(run, subject),
        caption=_title(run, caption),
        axis=FigureAxis(title),
        rows=tuple(groups.names[whole_map.features[row]] for row in best_rows),
        series=(RowSeries("", tuple(float(scores[row]) for row in best_rows)),),
        bars=True,
        strong=selected,
        strong_label=tr("selected") if selected else "",
        row_title=tr("feature"),
    )


def candidate_steps_figure(run: RunResult, fold: FoldResult) -> MapFigure | None:
    """Return a map of the candidates at each step of a fold's path, with their scores.

    Candidates are the features or groups that a step compares. The
    values are shares of the step's best score. The result is None if
    the method compares no candidates.
    """
    score = run.plan.candidate_score
    path = chosen_path(fold)
    if score is None:
        return None

    # All candidates by step; a map needs at least two steps.
    groups = CandidateGroups.of(
        run.feature_ids, run.feature_names, feature_groups_of(run.plan)
    )
    whole_map = candidate_map(path, score, groups)
    if whole_map is None or len(whole_map.numbers) < 2:
        return None

    # The part of the map that fits the figure; `is_selected` marks the
    # selected cells.
    view = whole_map.view(_MAX_FEATURES, _MAX_STEPS)
    marked = [(int(row), int(column)) for row, column in np.argwhere(view.is_selected)]
    caption = tr(
        "{score} of each candidate on the path of fold {fold}, as a share of the step's best. "
        "Outlined: the selected feature. Blank: not a candidate."
    )
    return MapFigure(
        name="steps",
        title=_title(run, tr("candidates by step")),
        caption=_title(run, caption.format(score=tr(score.title), fold=fold.fold)),
        rows=tuple(groups.names[feature] for feature in view.features),
        columns=tuple(str(number) for number in view.numbers),
        values=tuple(tuple(map(float, row)) for row in view.shares),
        row_title="",
        column_title=tr("step"),
        color=FigureAxis(tr("share of the best score of the step"), low=0.0, high=1.0),
        decimals=2,
        marked=tuple(marked),
        mark_label=tr("selected"),
    )


def chosen_path(fold: FoldResult) -> PathResult:
    """Return the path of a fold's selected model."""
    return next(path for path in fold.paths if path.unit == fold.chosen.unit)
