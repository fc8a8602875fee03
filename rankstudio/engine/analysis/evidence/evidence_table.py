"""The evidence for a selection as a table of values, and as sentences."""

from __future__ import annotations

from math import isfinite
from typing import Any

from rankstudio.engine.analysis.evidence.evidence_result import SelectionEvidence
from rankstudio.engine.analysis.evidence.verdicts import FeatureEvidence, Named
from rankstudio.engine.arrays import Ints
from rankstudio.engine.language import tr

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
    "deciding_queries",
    "substitute",
    "price",
    "near_best_share",
    "verdict",
    "partner",
    "pair_probability",
    "reason",
)


def evidence_rows(found: SelectionEvidence, feature_ids: Ints, named: Named) -> list[dict[str, Any]]:
    """Return a row of plain values per feature of the evidence, by the names of :data:`HEADER`.

    None for unknown values, and for the position of a feature that is on none of the paths.

    Parameters
    ----------
    found : SelectionEvidence
    feature_ids : ndarray of shape (n,)
    named : callable
        Returns the name of a column.
    """

    def feature(column: int | None) -> int | None:
        return None if column is None else int(feature_ids[column])

    rows = []
    for row in found.rows:
        position = [one if isfinite(one) else None for one in row.position or (float("inf"),) * 3]
        loss = [None] * 3 if row.loss is None else [row.loss.value, row.loss.low, row.loss.high]
        values = [feature(row.column), named(row.column), row.selected, row.probability, *position]
        values += [row.share, *loss, row.n_deciding, feature(row.substitute), row.price]
        values += [row.near_best_share, _verdict(row), feature(row.partner), row.pair_probability]
        rows.append(dict(zip(HEADER, [*values, row.reason(named)], strict=True)))
    return rows


def _verdict(row: FeatureEvidence) -> str | None:
    return None if row.verdict is None else row.verdict.value


def evidence_sentences(found: SelectionEvidence, named: Named) -> list[str]:
    """Return sentences on the whole set: best set, where to stop, optimism and threshold.

    Parameters
    ----------
    found : SelectionEvidence
    named : callable
        Returns the name of a column.
    """
    said = list(found.best_sentences(named))
    if found.stop is not None:
        said.append(found.stop.sentence)
    if found.repeated is not None and "repeated" in found.done and found.repeated.optimism.size >= found.k:
        text = tr(
            "With the selection repeated without each query, the left-out gain at {k} is {share} % smaller."
        )
        optimism = 100 * float(found.repeated.optimism[found.k - 1])
        said.append(text.format(k=found.k, share=f"{optimism:.2g}".replace("-", "−")))
    if found.false_bound is not None:
        text = tr(
            "Of the features selected on at least {threshold} % of the halves, at most {bound} are expected "
            "to be selected no more often than by chance (Shah and Samworth 2013)."
        )
        threshold = f"{100 * found.rules.threshold:g}"
        said.append(text.format(threshold=threshold, bound=f"{found.false_bound:.2g}"))
    return said
