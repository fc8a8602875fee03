"""The evidence for a selection as a table of values, and as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf, isfinite
from typing import Any

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.language import tr
from rankstudio.engine.statistics.mean_intervals import MeanIntervals
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.number_format import (
    NOTHING,
    fixed,
    percentage,
    significant,
)
from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
from rankstudio.plugins.evidence.model_importance import MeasuredImportance
from rankstudio.plugins.evidence.model_validity import MeasuredValidity
from rankstudio.plugins.evidence.verdicts import FeatureEvidence, Named

HEADER = (
    "feature",
    "name",
    "selected",
    "probability",
    "position_5",
    "position_50",
    "position_95",
    "share",
    "loss",
    "loss_low",
    "loss_high",
    "loss_per_millisecond",
    "deciding_queries",
    "substitute",
    "price",
    "near_best_share",
    "verdict",
    "partner",
    "pair_probability",
    "reason",
)


def loss_per_millisecond(
    row: FeatureEvidence, milliseconds: Mapping[int, float]
) -> float | None:
    """Return the loss without a feature, per millisecond of its cost; None if either is unknown or 0.

    Parameters
    ----------
    row : FeatureEvidence
    milliseconds : Mapping of int to float
        Milliseconds per query by column, as far as they are known.
    """
    cost = milliseconds.get(row.column, 0.0)
    return row.loss.value / cost if row.loss is not None and cost > 0 else None


def column_milliseconds(
    costs: FeatureCosts | None, feature_ids: Iterable[int]
) -> dict[int, float]:
    """Return the milliseconds per query that a feature costs, as a dict by 0-based column.

    Columns without a known cost are left out. ``feature_ids`` has the
    id of each column, in the order of the columns: costs are listed by
    id.
    """
    if costs is None:
        return {}
    numbered = enumerate(map(int, feature_ids))
    return {
        column: costs.milliseconds([i])
        for column, i in numbered
        if i in costs.per_query
    }


def evidence_rows(
    evidence: SelectionEvidence,
    feature_ids: Ints,
    name_of: Named,
    costs: FeatureCosts | None = None,
) -> list[dict[str, Any]]:
    """Return the evidence for each feature as a dict from column title to plain value.

    The titles are those of :data:`HEADER`. Unknown values are None, and
    so is a quantile of the position that means "not selected".

    Parameters
    ----------
    evidence : SelectionEvidence
    feature_ids : ndarray of shape (n,)
    name_of : callable
        Returns the name of a column.
    costs : FeatureCosts, optional
        Milliseconds per query of each feature, for the loss per millisecond.
    """
    milliseconds = column_milliseconds(costs, feature_ids)

    def feature(column: int | None) -> int | None:
        """Return the id of a column; None for None."""
        return None if column is None else int(feature_ids[column])

    rows = []

    for row in evidence.rows:
        # 5, 50 and 95 % quantiles; infinity means "not selected"
        position = [
            quantile if isfinite(quantile) else None
            for quantile in row.position or (float("inf"),) * 3
        ]
        loss = (
            [None] * 3
            if row.loss is None
            else [row.loss.value, row.loss.low, row.loss.high]
        )

        # in the order of HEADER
        values = [
            feature(row.column),
            name_of(row.column),
            row.selected,
            row.probability,
            *position,
        ]
        values += [
            row.share,
            *loss,
            loss_per_millisecond(row, milliseconds),
            row.n_deciding,
            feature(row.substitute),
            row.price,
        ]
        values += [
            row.near_best_share,
            _verdict_value(row),
            feature(row.partner),
            row.pair_probability,
        ]
        rows.append(dict(zip(HEADER, [*values, row.reason(name_of)], strict=True)))

    return rows


def evidence_text(
    title: str,
    evidence: SelectionEvidence,
    rows: Iterable[FeatureEvidence],
    id_of: Named,
    name_of: Named,
    milliseconds: Mapping[int, float] = FrozenMapping(),
) -> TextTable:
    """Return the evidence for features as a table to print, without empty columns.

    Parameters
    ----------
    title : str
    evidence : SelectionEvidence
    rows : iterable of FeatureEvidence
        The rows of the evidence that are shown, one for each feature;
        features that are not selected stand in parentheses.
    id_of, name_of : callable
        From a column to the feature's number as a text, and to its name.
    milliseconds : Mapping of int to float
        Milliseconds per query by column, as far as they are known.
    """
    features = list(rows)

    # number of steps of the paths of the halves
    steps = 0 if evidence.stability is None else evidence.stability.counts.shape[0]
    loss_header = (
        f"{evidence.losses.measure or 'error'} lost"
        if evidence.losses is not None
        else "lost"
    )

    # Numbers of deciding queries are estimates if they follow from margins.
    about = "≈" if evidence.deciding_by_margins else ""

    def per_millisecond(row: FeatureEvidence) -> str:
        """Return the loss per millisecond of cost, or a dash."""
        loss = loss_per_millisecond(row, milliseconds)
        return NOTHING if loss is None else fixed(loss)

    # the text of a row in each column of the table, by the column's title
    columns: dict[str, Callable[[FeatureEvidence], str]] = {
        "feature": lambda row: (
            name_of(row.column) if row.selected else f"({name_of(row.column)})"
        ),
        "selected on": lambda row: _percentage_or_dash(row.probability),
        "place": lambda row: _position_text(row, steps),
        "share": lambda row: _percentage_or_dash(row.share),
        loss_header: lambda row: f"{row.loss.value:.4f}" if row.loss else NOTHING,
        "95 % interval": lambda row: (
            f"{row.loss.low:.4f} to {row.loss.high:.4f}" if row.loss else NOTHING
        ),
        "per ms": per_millisecond,
        "queries": lambda row: (
            NOTHING if row.n_deciding is None else f"{about}{row.n_deciding}"
        ),
        "substitute": lambda row: _substitute_text(row, id_of),
        "verdict": lambda row: _verdict_text(row, id_of),
    }
    cells = {
        header: [text(row) for row in features] for header, text in columns.items()
    }
    filled = {
        header: texts
        for header, texts in cells.items()
        if any(text != NOTHING for text in texts)
    }
    return TextTable(
        title,
        header=tuple(filled),
        rows=list(zip(*filled.values(), strict=True)),
        left=(0, len(filled) - 1),  # columns of texts, the others are numbers
        note=_ONE_RANKING_NOTE if evidence.one_ranking else _TABLE_NOTE,
    )


def _position_text(row: FeatureEvidence, steps: int) -> str:
    """Return a feature's median position in the order of selection, with its 5 to 95 % range, as a text.

    Each half of the queries gives one position. A position after the
    last of 12 ``steps`` is ">12".
    """
    if row.position is None:
        return NOTHING
    low, median, high = (
        f">{steps}" if quantile == inf else f"{quantile:g}" for quantile in row.position
    )
    return f"{median} ({low}–{high})"


def _substitute_text(row: FeatureEvidence, id_of: Named) -> str:
    """Return the best substitute of a feature with its price as a text, or a dash.

    ``id_of`` returns the id of a column as a text.
    """
    if row.substitute is None or row.price is None:
        return NOTHING
    return f"{id_of(row.substitute)} ({100 * row.price:+.2f} %)"


def _verdict_text(row: FeatureEvidence, id_of: Named) -> str:
    """Return the verdict on a feature as a text, with the feature that it names, if any.

    ``id_of`` returns the id of a column as a text.
    """
    label = NOTHING if row.verdict is None else row.verdict.label
    return label if row.partner is None else f"{label} with {id_of(row.partner)}"


def importance_text(
    title: str,
    measured: MeasuredImportance,
    name_of: Named,
    max_features: int | None = None,
) -> TextTable:
    """Return the loss of a model with each feature permuted as a table to print, greatest loss first.

    Parameters
    ----------
    title : str
    measured : MeasuredImportance
    name_of : callable
        From a column to the feature's name.
    max_features : int, optional
        Number of features shown at most.
    """
    importance = measured.found
    rows = []

    # Each group is a single feature: position of its loss, by column.
    index_of = {group[0]: number for number, group in enumerate(importance.groups)}

    for column in measured.columns[:max_features]:
        index = index_of[column]
        interval = f"{importance.low[index]:.4f} to {importance.high[index]:.4f}"
        rows.append((name_of(column), f"{importance.mean[index]:.4f}", interval))

    header = (
        "feature",
        f"{importance.measure.name} lost",
        f"{100 * importance.level:g} % interval",
    )
    note = f"Lost: with the feature permuted within the queries of the {measured.part} part; the model stays."
    if len(rows) < len(measured.columns):
        note = f"{note} The {len(rows)} greatest of {len(measured.columns)} losses are shown."
    return TextTable(title, header, rows, left=(0,), note=note)


def validity_text(title: str, measured: MeasuredValidity, name_of: Named) -> TextTable:
    """Return a table to print: validity and completeness of a model by the number of features kept.

    Parameters
    ----------
    title : str
    measured : MeasuredValidity
    name_of : callable
        From a column to the feature's name.
    """
    ranking_validity = measured.found
    interval_texts = [
        [
            f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"
            for mean, low, high in zip(*_means_and_ends(means), strict=True)
        ]
        for means in (
            ranking_validity.validity_means,
            ranking_validity.completeness_means,
        )
    ]
    rows = [
        (str(size), name_of(measured.columns[size - 1]), *texts)
        for size, *texts in zip(measured.sizes, *interval_texts, strict=True)
    ]
    header = ("kept", "with", "validity", "completeness")
    note = (
        f"Kendall's τ with the ranking by all features, on the {measured.part} part: validity with the kept "
        "features alone, completeness its negative with them masked. Means over "
        f"{measured.n_queries} queries, with 95 % intervals."
    )
    return TextTable(title, header, rows, left=(1,), note=note)


def _means_and_ends(
    means: MeanIntervals,
) -> tuple[list[float], list[float], list[float]]:
    """Return means, and the lower and the upper ends of their intervals."""
    return means.mean.tolist(), means.low.tolist(), means.high.tolist()


_TABLE_NOTE = (
    "Selected on: share of the half-samples. Lost: without the feature, on left-out queries. "
    "Queries: how many decide the step."
)

_ONE_RANKING_NOTE = "Selected on: share of the halves of the documents."


def _percentage_or_dash(share: float | None) -> str:
    """Return a share as a percentage; a dash for None."""
    return NOTHING if share is None else percentage(share)


def _verdict_value(row: FeatureEvidence) -> str | None:
    """Return the verdict on a feature as JSON has it; None without one."""
    return None if row.verdict is None else row.verdict.value


def evidence_sentences(evidence: SelectionEvidence, name_of: Named) -> list[str]:
    """Return sentences on a selection: its distance to the best set, where to stop, optimism and threshold.

    Optimism is how much smaller the gain on left-out queries is if each
    query is left out of the selection, too. The threshold is that of
    the share of halves that select a feature. Sentences for which
    numbers are missing are left out.

    Parameters
    ----------
    evidence : SelectionEvidence
    name_of : callable
        Returns the name of a column.
    """
    sentences = list(evidence.best_sentences(name_of))
    if evidence.stop is not None:
        sentences.append(evidence.stop.sentence)
    is_repeated = "repeated" in evidence.done
    if (
        evidence.repeated is not None
        and is_repeated
        and evidence.repeated.optimism.size >= evidence.k
    ):
        text = tr(
            "With the selection repeated without each query, the left-out gain at {k} is {share} % smaller."
        )
        optimism = 100 * float(evidence.repeated.optimism[evidence.k - 1])
        optimism_sentence = text.format(k=evidence.k, share=significant(optimism, 2))

        # Without any gain there is no share of it, and another sentence
        # says so.
        sentences.append(evidence.repeated.no_gain(evidence.k) or optimism_sentence)
    if evidence.false_bound is not None:
        text = tr(
            "Of the features selected on at least {threshold} % of the halves, at most {bound} are expected "
            "to be selected no more often than by chance (Shah and Samworth 2013)."
        )
        threshold = f"{100 * evidence.rules.threshold:g}"
        sentences.append(
            text.format(threshold=threshold, bound=f"{evidence.false_bound:.2g}")
        )
    if evidence.one_ranking:
        sentences.append(evidence.one_ranking_sentence)
    return sentences
