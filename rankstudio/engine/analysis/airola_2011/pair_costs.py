"""Costs and pairs side by side on graded labels (Paper I, Tables 2, 3 and 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from rankstudio.engine.analysis.airola_2011.experiment import P_VALUE, ExperimentColumn, PrintedExperiment
from rankstudio.engine.analysis.corrected_test import family
from rankstudio.engine.analysis.significance import ALPHA, compare_with
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.export.tables import p_text

MEASURE = "Disagreement"
REFERENCE = "RankRLS (21)"
ALL_PAIRS = " All pairs"
"""What the names of rows end in that learn from pairs of different queries too."""

_LETOR2_FEATURES = 25  # of OHSUMED in LETOR 2.0, which Table 3 is of

_COST_COLUMNS = (
    ExperimentColumn("method", "method"),
    ExperimentColumn("BioInfer, printed", "bioinfer_printed", ".3f"),
    ExperimentColumn("Jester, printed", "jester_printed", ".3f"),
    ExperimentColumn("ours", "ours", ".4f"),
    ExperimentColumn("less (21)", "difference", "+.4f"),
    ExperimentColumn("p (Wilcoxon)", "p_wilcoxon", P_VALUE),
    ExperimentColumn("p (Holm)", "p_holm", P_VALUE),
)
_OHSUMED_COLUMNS = (
    ExperimentColumn("method", "method"),
    ExperimentColumn("printed", "printed", ".3f"),
    ExperimentColumn("ours", "ours", ".4f"),
    ExperimentColumn("agrees", "agrees"),
)


def cost_rows(
    results: Mapping[str, RunResult], printed: Mapping[str, Mapping[str, float]]
) -> PrintedExperiment:
    """Set the rows of Tables 2 and 6 beside what runs on graded labels measured.

    Parameters
    ----------
    results : mapping of str to RunResult
        By the paper's names, on the same data.
    printed : mapping of str to mapping
        "BioInfer" and "Jester", each by the paper's names.
    """
    reference = results[REFERENCE]
    others = [name for name in results if name != REFERENCE]
    tests = dict(
        zip(others, family([compare_with(results[n], reference, MEASURE) for n in others]), strict=True)
    )
    rows: list[tuple[Any, ...]] = []
    for name, result in results.items():
        found = tests.get(name)
        compared: tuple[float | None, ...] = (None,) * 3
        if found is not None:
            compared = found.test.mean_difference, found.test.p_wilcoxon, found.p_wilcoxon_holm
        old = [printed[data].get(name) for data in ("BioInfer", "Jester")]
        rows.append((name, *old, result.average[MEASURE], *compared))
    return PrintedExperiment(
        "Paper I, Tables 2 and 6",
        f"disagreement error on {reference.data_name}, graded, mean over {len(reference.folds)} folds",
        _COST_COLUMNS,
        tuple(rows),
        tuple(_said(results)),
    )


def _said(results: Mapping[str, RunResult]) -> Iterator[str]:
    n = int((~np.isnan(results[REFERENCE].per_query(MEASURE))).sum())
    yield (
        "BioInfer and Jester are not available: the printed numbers are from other data, so only the order "
        f"of the rows can be compared. p: Wilcoxon signed-rank test against {REFERENCE} over {n:,} test "
        "queries that have a pair, with Holm correction for the other rows."
    )
    pairs = [(name, name.removesuffix(ALL_PAIRS)) for name in results if name.endswith(ALL_PAIRS)]
    tested = family([compare_with(results[every], results[own], MEASURE) for every, own in pairs])
    changes = [
        f"{own.removeprefix('RankRLS ')} {one.test.mean_difference:+.4f} (p {p_text(one.p_wilcoxon_holm)})"
        for (_, own), one in zip(pairs, tested, strict=True)
    ]
    harmful = sum(one.test.mean_difference > 0 and one.p_wilcoxon_holm < ALPHA for one in tested)
    yield (
        f"Pairs across queries change the error by {', '.join(changes)} (Wilcoxon with Holm correction for "
        f"{len(pairs)}): significantly more error in {harmful} of {len(pairs)}. In the printed parse ranking "
        "they are harmful with each cost."
    )


def ohsumed_rows(
    results: Mapping[str, RunResult], dataset: FoldedDataset, printed: Mapping[str, float]
) -> PrintedExperiment:
    """Set Table 3's rows on Ohsumed beside the same models, tested on 2 against 0 and 1.

    Parameters
    ----------
    results : mapping of str to RunResult
        By the paper's names in Tables 2 and 6.
    dataset : FoldedDataset
    printed : mapping of str to float
        By the paper's names in Table 3; a row that has no run has no number of ours.
    """
    same = dataset.n_features == _LETOR2_FEATURES
    rows, agrees = [], []
    for name, value in printed.items():
        result = results.get(_run_of(name))
        ours = None if result is None else bipartite_error(result, dataset)
        agree = ours is not None and f"{ours:.3f}" == f"{value:.3f}"
        if same and ours is not None:
            agrees.append(agree)
        rows.append((name, value, ours, "✓" if same and agree else None))
    why = (
        "The data have the 25 features of LETOR 2.0, so cells should agree. Settings that the paper does not "
        "specify: graded training labels, and λ chosen by the graded disagreement error on the validation "
        "part. Choosing λ by the disagreement error of 2 against 0 and 1 was not tried."
        if same
        else f"Table 3 uses LETOR 2.0 with {_LETOR2_FEATURES} features, but these data have "
        f"{dataset.n_features}. Cells are not expected to agree; our values are for comparison only."
    )
    pairs = (
        "All pairs: the relevant pairs, pairs across queries and pairs with equal scores, as in section 5.3."
    )
    said = why, pairs, "A pair with equal scores counts as an error, as in (1).", *_rounds_said(results)
    return PrintedExperiment(
        "Paper I, Table 3",
        "disagreement error on Ohsumed, label 2 against 0 and 1",
        _OHSUMED_COLUMNS,
        tuple(rows),
        said,
        tuple(agrees),
    )


def _rounds_said(results: Mapping[str, RunResult]) -> Iterator[str]:
    boosted = results.get("RankBoost")
    if boosted is not None:
        rounds = ", ".join(str(fold.chosen.step.number) for fold in boosted.folds)
        yield (
            "The paper does not specify the number of RankBoost rounds. Up to "
            f"{boosted.plan.parameters['n_rounds']} were run; the graded disagreement error on the "
            f"validation part selected {rounds} in the folds."
        )


def _run_of(name: str) -> str:
    """Return what the run of a row of Table 3 is called: relevant pairs alone are a row of Table 2, too."""
    return REFERENCE if name == "RankRLS" else name


def bipartite_error(result: RunResult, dataset: FoldedDataset, relevant: float = 2.0) -> float:
    """Return the disagreement error of a run's models for one label against all lower ones.

    The mean over the folds of the mean over the test queries that have both.
    """
    folds = {fold.number: fold for fold in dataset.folds}
    errors = []
    for found in result.folds:
        test = folds[found.fold].test
        if test is None:
            continue
        step = found.chosen.step
        scores = test.X @ step.coef if step.linear else step.scores(np.ascontiguousarray(test.X.T))
        errors.append(disagreement(test.y >= relevant, scores, test.query_ptr))
    return float(np.mean(errors))


def disagreement(positive: Any, scores: Floats, ptr: Ints) -> float:
    """Return the share of pairs in the wrong order, equal scores counting as errors (Paper I, (1)).

    The mean over the queries that have documents of both kinds.
    """
    shares = []
    for first, last in pairwise(ptr.tolist()):
        own, kind = scores[first:last], np.asarray(positive[first:last], dtype=np.bool_)
        if kind.any() and not kind.all():
            shares.append(float(np.mean(own[kind][:, None] <= own[~kind])))
    return float(np.mean(shares))
