"""Sentences of a report about the runs of a group: which one is best, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan, nan

import numpy as np

from rankstudio.engine.analysis.comparisons.significance import ALPHA
from rankstudio.engine.analysis.measurements.baseline_model import baseline_step
from rankstudio.engine.analysis.reported_runs import ReportedGroup, ReportedRun
from rankstudio.engine.arrays import Floats
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import Chosen
from rankstudio.engine.export.tables import p_text, range_text
from rankstudio.engine.metrics.names import measure, missing_requirement
from rankstudio.engine.plugins.report_parts import Paragraph
from rankstudio.engine.statistics.paired import PairedComparison, compare_paired
from rankstudio.engine.support.number_format import fixed
from rankstudio.plugins.report.document import Block


def group_sentences(group: ReportedGroup) -> Iterator[Block]:
    """Yield paragraphs on a group of comparable runs: its scope, and its best or only run.

    The scope says on which queries and folds the measures are averaged.
    """
    # The scope of the measures, and why these runs form a group.
    name = group.measure
    scope = group.group.scope
    yield Paragraph(" ".join(filter(None, [f"{group.data}: {scope}.", group.reason])))

    # Nothing more can be said without measures, or if the runs cannot be compared.
    measured = [run for run in group.runs if name in run.result.average]
    if not measured:
        yield Paragraph(
            f"No run of this group has {name}: there was no part to evaluate on."
        )
        return
    if group.group.unranked:  # the reason, if the runs must not be ranked
        return

    # The best run, or the only one.
    best = group.best if group.is_ranked else measured[0]
    value = best.result.average[name]
    sizes = range_text(best.result.sizes)
    features = f" with {sizes} feature{'' if sizes == '1' else 's'}" if sizes else ""
    capitalized = f"{best.name[0].upper()}{best.name[1:]}"
    predicate = (
        f"has the best mean {name}" if len(measured) > 1 else f"has the mean {name}"
    )

    # Sentences on the best run, on its lead over the next run, and on
    # the best single feature.
    sentences = [f"{capitalized}, {predicate}, {fixed(value)}{features}."]
    if len(measured) > 1:
        sentences.append(_next_sentence(group, best))
    sentences.append(_single_sentence(best, name))
    yield Paragraph(" ".join(filter(None, sentences)))


def _next_sentence(group: ReportedGroup, best: ReportedRun) -> str:
    """Return a sentence on the next best run, and whether ``best`` is significantly better."""
    name = group.measure
    sign = 1.0 if measure(name).higher_is_better else -1.0

    # The best of the other runs.
    rivals = [
        run for run in group.runs if run is not best and name in run.result.average
    ]
    follower = max(rivals, key=lambda run: sign * run.result.average[name])

    # Its test against the best run.
    test = next((row for row in group.tests if row.key == follower.number), None)

    # `paired_test` has the results of the test, except for the corrected p value.
    if test is None or test.paired_test is None or test.p_holm is None:
        return f"The next is {follower.name}, with {fixed(follower.result.average[name])}; it was not tested."
    significant = "" if test.p_holm < ALPHA else " not"

    # The test subtracts the best run from the other one; the sentence
    # is the other way round.
    difference = fixed(-test.paired_test.mean_difference, sign=True)
    return (
        f"It is{significant} significantly better than the next, {follower.name}: difference {difference}, "
        f"p (Holm) {p_text(test.p_holm)}."
    )


def _single_sentence(run: ReportedRun, name: str) -> str:
    """Return a sentence that compares a run with the best single feature of each fold.

    ``name`` is that of the measure. Return "" without the measure of single features.
    """
    single = run.result.baseline.get(name, nan)
    if isnan(single):
        return ""
    text = f"The best single feature has {fixed(single)}"
    test = against_single_feature(run, name)
    if test is None:
        return f"{text}; the difference cannot be tested without the data."
    better = (
        test.mean_difference > 0
        if measure(name).higher_is_better
        else test.mean_difference < 0
    )
    kind = "better" if better else "worse"
    significant = "" if test.p_randomisation < ALPHA else "not "
    return (
        f"{text}; the run is {significant}significantly {kind}: difference "
        f"{fixed(test.mean_difference, sign=True)}, p {p_text(test.p_randomisation)}."
    )


def against_single_feature(run: ReportedRun, name: str) -> PairedComparison | None:
    """Compare a run with the best single feature of each fold, query by query.

    ``name`` is that of the measure.

    Returns
    -------
    PairedComparison or None
        None if the documents or the measure's code are not available,
        or if the run has no values of the measure for each query.
    """
    # `missing_requirement` returns why a measure of a plug-in cannot be computed.
    if (
        run.data is None
        or missing_requirement(name)
        or not run.result.has_per_query(name)
    ):
        return None
    values = _single_per_query(run, name)
    run_scores = run.result.per_query(name)
    if values is None or values.size != run_scores.size:
        return None
    return compare_paired(
        run_scores, values, higher_is_better=measure(name).higher_is_better
    )


def _single_per_query(run: ReportedRun, name: str) -> Floats | None:
    """Return the measure of each fold's best single feature in each query of the run's part.

    The shape is (Q,), over the queries of all folds; ``name`` is that
    of the measure. The result is None if the measure has no values for
    each query.
    """
    from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement  # noqa: PLC0415 - brings numba

    assert run.data is not None
    result = run.result
    ids = result.feature_ids.tolist()

    # The result of a run that has chosen the best single feature of each fold.
    folds = tuple(
        replace(
            fold,
            chosen=Chosen(fold.chosen.unit, baseline_step(fold.baseline, ids)),
            validation={},
            test={},
            per_query={},
        )
        for fold in result.folds
    )

    # A run without results on the test part is measured on the validation part.
    sealed = result.part is not Part.TEST
    ranked = Remeasurement().with_measures(
        replace(result, folds=folds), run.data, [name], sealed=sealed
    )
    if not all(name in fold.per_query for fold in ranked.folds):
        return None
    return np.concatenate([fold.per_query[name] for fold in ranked.folds])
