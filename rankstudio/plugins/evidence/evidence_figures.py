"""Figures of the evidence for a selection."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    Figure,
    FigureAxis,
    Level,
    MapFigure,
    RowSeries,
    RowsFigure,
    Series,
)
from rankstudio.engine.language import tr
from rankstudio.engine.support.number_format import count_text, relative_excess
from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
from rankstudio.plugins.evidence.model_importance import MeasuredImportance
from rankstudio.plugins.evidence.model_validity import MeasuredValidity
from rankstudio.plugins.evidence.verdicts import Named

_MAX_SETS = 20
_MAX_FEATURES = 30


def evidence_figures(
    evidence: SelectionEvidence, subject: str, name_of: Named
) -> Iterator[Figure]:
    """Yield the figures of the evidence for a selection.

    Parameters
    ----------
    evidence : SelectionEvidence
    subject : str
        Data and method, for titles.
    name_of : callable
        Returns the name of a column.
    """
    # Each returns None if the evidence has no numbers for its figure.
    for make in (
        _probability_figure,
        _loss_figure,
        _near_best_figure,
        _step_figure,
        _left_out_figure,
    ):
        figure = make(evidence, subject, name_of)
        if figure is not None and not figure.empty:
            yield figure


def _size_axis() -> FigureAxis:
    """Return the axis of the sizes of sets."""
    return FigureAxis(tr("number of features, k"), whole=True)


def _probability_figure(
    evidence: SelectionEvidence, subject: str, name_of: Named
) -> CurvesFigure | None:
    """Return the figure of each feature's probability to be selected, by the size of the set.

    The probability is the share of half-samples that select the
    feature. The result is None without half-samples. ``subject`` names
    the data and method, and ``name_of`` returns the name of a column.
    """
    if evidence.stability is None or not evidence.stability.n_paths:
        return None
    probability = evidence.stability.probability  # (steps, n columns)
    series = [
        _series(name_of(row.column), probability[:, row.column], index)
        for index, row in enumerate(evidence.rows)
    ]
    template = (
        tr(
            "Share of {n} halves of the documents on which each feature is among the first k: the "
            "selected features and the most frequent others."
        )
        if evidence.one_ranking
        else tr(
            "Share of {n} halves of the queries on which each feature is among the first k: the selected "
            "features and the most frequent others."
        )
    )
    caption = template.format(n=evidence.stability.n_paths)
    return CurvesFigure(
        "evidence-probability",
        title=f"{subject}: {tr('selection probability')}",
        caption=f"{subject}. {caption}",
        x=_size_axis(),
        y=FigureAxis(tr("selection probability"), low=0.0, high=1.0),
        series=tuple(series),
        levels=(
            Level(tr("threshold"), evidence.rules.threshold),
            Level("k", float(evidence.k), vertical=True),
        ),
    )


def _series(label: str, values: Floats, number: int) -> Series:
    """Return a line of values at the set sizes 1, 2, ...; ``number`` chooses its style."""
    return Series(
        label,
        tuple(map(float, range(1, values.size + 1))),
        tuple(values.tolist()),
        number=number,
    )


def _loss_figure(
    evidence: SelectionEvidence, subject: str, name_of: Named
) -> RowsFigure | None:
    """Return the figure of the loss without each feature with its interval.

    The loss is that of the selected set without one of its features.
    The result is None without losses. ``subject`` names the data and
    method, and ``name_of`` returns the name of a column.
    """
    if evidence.losses is None:
        return None
    losses = evidence.losses.losses
    measure_name = evidence.losses.measure or tr("squared error")
    title = tr("{measure} lost without the feature").format(measure=measure_name)
    series = RowSeries(
        "",
        tuple(loss.value for loss in losses),
        tuple(loss.low for loss in losses),
        tuple(loss.high for loss in losses),
    )
    caption = tr(
        "Mean over the left-out queries, with 95 % intervals by the paired bootstrap."
    )
    rows = tuple(map(name_of, evidence.losses.features))
    text = f"{subject}. {title}. {caption}"
    axis = FigureAxis(title)
    return RowsFigure(
        "evidence-loss", f"{subject}: {title}", text, axis, rows, (series,), zero=True
    )


def importance_figure(
    measured: MeasuredImportance, subject: str, name_of: Named
) -> RowsFigure:
    """Return a figure of a model's loss with each feature permuted, greatest loss first.

    Parameters
    ----------
    measured : MeasuredImportance
        Losses of a model with each of its features permuted, and where
        they were measured.
    subject : str
        Data and method, for titles.
    name_of : callable
        Returns the name of a column.
    """
    importance = measured.found

    # position of the loss of each column: the groups are single features
    index_of = {group[0]: index for index, group in enumerate(importance.groups)}

    # the columns with the greatest losses; `measured.columns` is in this order
    columns = measured.columns[:_MAX_FEATURES]
    order = [index_of[column] for column in columns]
    title = tr("{measure} lost with the feature permuted").format(
        measure=importance.measure.name
    )
    mean, low, high = (
        tuple(losses[order].tolist())
        for losses in (importance.mean, importance.low, importance.high)
    )
    caption = tr(
        "Mean over {n} queries, with 95 % intervals; values are permuted within queries."
    ).format(n=count_text(importance.baseline.size))
    if len(columns) < len(measured.columns):
        cut = tr("The {n} greatest of {total} losses are shown.")
        caption = f"{caption} {cut.format(n=len(columns), total=len(measured.columns))}"
    rows = tuple(map(name_of, columns))
    axis = FigureAxis(title)
    text = f"{subject}. {title}. {caption}"
    name = "evidence-importance"
    return RowsFigure(
        name,
        f"{subject}: {title}",
        text,
        axis,
        rows,
        (RowSeries("", mean, low, high),),
        zero=True,
    )


def validity_figure(measured: MeasuredValidity, subject: str) -> CurvesFigure:
    """Return a figure of validity and completeness by the number of features kept.

    Parameters
    ----------
    measured : MeasuredValidity
    subject : str
        Data and method, for titles.
    """
    ranking_validity = measured.found
    sizes = tuple(map(float, measured.sizes))
    series = tuple(
        Series(
            label,
            sizes,
            tuple(means.mean.tolist()),
            tuple(means.low.tolist()),
            tuple(means.high.tolist()),
            number=number,
        )
        for number, (label, means) in enumerate(
            (
                (tr("validity"), ranking_validity.validity_means),
                (tr("completeness"), ranking_validity.completeness_means),
            )
        )
    )
    title = tr("validity and completeness of features")
    caption = tr(
        "Validity: Kendall's τ between the ranking by the model and by the kept features alone; "
        "completeness: −τ with the kept features masked. Means over {n} queries, with 95 % intervals."
    ).format(n=count_text(measured.n_queries))
    return CurvesFigure(
        "evidence-validity",
        title=f"{subject}: {title}",
        caption=f"{subject}. {caption}",
        x=FigureAxis(tr("features kept, k"), whole=True),
        y=FigureAxis(tr("Kendall's τ")),
        series=series,
        bands=tr("95 % interval"),
    )


def _near_best_figure(
    evidence: SelectionEvidence, subject: str, name_of: Named
) -> MapFigure | None:
    """Return the map of the features in the sets that are as good as the best set.

    Each row is a feature and each column a set; a cell has the relative
    excess of the set's error in percent, or NaN if the set lacks the
    feature. ``subject`` names the data and method, and ``name_of``
    returns the name of a column. The result is None without such sets.
    """
    near = evidence.near_best_of_k
    if near is None:
        return None
    sets = near.sets[:_MAX_SETS]

    # Features in most of the sets come first; `inclusion`, (n,), is the
    # share of all near-best sets with each of the n columns.
    order = np.argsort(-near.inclusion, kind="stable").tolist()
    used_columns = [
        column
        for column in order
        if any(column in near_set.features for near_set in sets)
    ]
    columns = used_columns[:_MAX_FEATURES]
    excess_percent = [
        100 * relative_excess(near_set.criterion, sets[0].criterion)
        for near_set in sets
    ]
    rows = [
        tuple(
            excess if column in near_set.features else nan
            for near_set, excess in zip(sets, excess_percent, strict=True)
        )
        for column in columns
    ]
    title = tr("sets of {k} features as good as the best").format(k=near.size)
    caption = tr(
        "The first {shown} of {n} sets not significantly different from the best one, set 1 (paired test "
        "over queries). A cell is filled where the set has the feature. Features are ordered by the share "
        "of all "
        "these sets with them."
    ).format(shown=len(sets), n=count_text(len(near.sets)))

    # The range of the axis must not be empty if the best set is the only one.
    most_excess = max(*excess_percent, 1e-9)
    return MapFigure(
        "evidence-sets",
        title=f"{subject}: {title}",
        caption=f"{subject}. {caption}",
        rows=tuple(map(name_of, columns)),
        columns=tuple(str(number + 1) for number in range(len(sets))),
        values=tuple(rows),
        row_title="",
        column_title=tr("number of the set"),
        color=FigureAxis(
            tr("left-out error above that of the best set (%)"),
            low=0.0,
            high=most_excess,
        ),
        first_dark=True,  # the set without excess has the darkest color
    )


def _step_figure(
    evidence: SelectionEvidence, subject: str, name_of: Named
) -> CurvesFigure | None:
    """Return the figure of each step's p value with the suggested stop.

    ``subject`` names the data and method. The result is None without
    significance tests. ``name_of`` is not used: all functions of
    figures are called alike.
    """
    if evidence.stop is None or evidence.significance is None:
        return None
    p = evidence.significance.p_values
    points = Series(
        "", tuple(map(float, range(1, p.size + 1))), tuple(p.tolist()), kind="points"
    )
    caption = tr(
        "p of each step given those before it, by {n} permutations of the residuals within queries."
    )

    # a vertical line at the suggested size; none if no step is better
    # than chance
    stop = Level(tr("stop"), float(evidence.stop.n_features), vertical=True)
    return CurvesFigure(
        "evidence-steps",
        title=f"{subject}: {tr('p of each step')}",
        caption=f"{subject}. {caption.format(n=evidence.significance.permuted.shape[0])} {evidence.stop.sentence}",
        x=_size_axis(),
        y=FigureAxis("p", low=0.0, high=1.0),
        series=(points,),
        levels=(stop,) if evidence.stop.n_features else (),
    )


def _left_out_figure(
    evidence: SelectionEvidence, subject: str, name_of: Named
) -> CurvesFigure | None:
    """Return the figure of the left-out error with the selection kept and repeated.

    Each query is left out of the training, and, where the selection is
    repeated, of the selection too. ``subject`` names the data and
    method. The result is None without these errors. ``name_of`` is not
    used: all functions of figures are called alike.
    """
    if evidence.repeated is None or not evidence.repeated.usual.size:
        return None

    # means over the queries, one per size of the set
    usual = evidence.repeated.usual.mean(axis=0)
    repeated = evidence.repeated.repeated.mean(axis=0)
    title = tr("left-out error with the selection kept and repeated")
    caption = tr(
        "Squared error of left-out queries. Repeated: each query is left out of the selection, too."
    )
    return CurvesFigure(
        "evidence-left-out",
        f"{subject}: {title}",
        f"{subject}. {caption}",
        _size_axis(),
        FigureAxis(tr("squared error per query")),
        (
            _series(tr("selection kept"), usual, 0),
            _series(tr("selection repeated"), repeated, 1),
        ),
    )
