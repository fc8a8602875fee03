"""Sentences on simulated estimates say what is drawn, and no more than is sure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstudio.plugins.lab.simulation.auc_simulation import ESTIMATORS
from rankstudio.plugins.lab.simulation.deviations import (
    DeviationSummary,
    VariedDeviations,
)
from rankstudio.plugins.lab.simulation.learners import BASIS_ESTIMATORS
from rankstudio.plugins.lab.simulation.learners import (
    ESTIMATORS as SELECTION_ESTIMATORS,
)
from rankstudio.plugins.lab.window.estimators import AUC, BASIS, SELECTION, text_of
from rankstudio.plugins.lab.window.sentences import (
    bias_text,
    deviations_sentence,
    summary_of,
    variation_sentence,
)

NAN = float("nan")


def summary(
    bias: Sequence[float],
    sd: Sequence[float],
    error: float = 0.001,
    names: Sequence[str] = ESTIMATORS,
) -> DeviationSummary:
    """Return a summary with these means and standard deviations."""
    n, spread = len(bias), np.array(sd)
    return DeviationSummary(
        tuple(names)[:n],
        *(1000, 1000, 0.5, 0.0, np.array(bias), np.full(n, error), spread, spread),
        np.full(n, 1000),
        np.array([0.0, 0.1]),
        np.ones((n, 1)),
    )


def test_every_estimator_of_the_engine_is_described() -> None:
    assert tuple(AUC) == ESTIMATORS
    assert tuple(SELECTION) == tuple(SELECTION_ESTIMATORS)
    assert tuple(BASIS) == tuple(BASIS_ESTIMATORS)
    assert all(
        text.about for text in (*AUC.values(), *SELECTION.values(), *BASIS.values())
    )
    assert (
        SELECTION["5-fold of documents, pooled, selected once"].short
        == "documents, pooled · once"
    )
    assert (
        BASIS["leave-query-out, basis vectors kept"].short == "leave-query-out · kept"
    )
    assert text_of(AUC, "bootstrap").label == "bootstrap"


def test_the_furthest_one_is_named_with_the_reason() -> None:
    said = deviations_sentence(summary((0.01, -0.06, -0.02), (0.10, 0.15, 0.12)), AUC)
    assert said == (
        "Leave-one-out, pooled is 0.06 too low on average. Models are biased against held-out "
        "examples, and their scores are compared. Leave-one-out, pooled varies most (sd 0.150), "
        "leave-pair-out least (sd 0.100)."
    )
    said = deviations_sentence(summary((0.0, 0.06), (0.1, 0.1)), AUC)
    assert said.startswith(
        "Leave-one-out, pooled is 0.06 too high on average. All have a similar standard deviation (0.100"
    )


def test_what_may_be_chance_is_not_called_too_low() -> None:
    said = deviations_sentence(summary((0.01, -0.06), (0.1, 0.1), error=0.04), AUC)
    assert said.startswith(
        "No mean deviation is both larger than 0.005 and more than twice its standard error."
    )
    assert bias_text(-0.06) == "−0.06" and bias_text(0.004) == "0"
    assert bias_text(0.0071) == "+0.007"


def test_an_estimator_without_a_value_is_left_out() -> None:
    said = deviations_sentence(summary((NAN, -0.06, 0.0), (NAN, 0.2, 0.1)), AUC)
    assert "nan" not in said and "leave-pair-out" not in said.lower()
    assert "leave-pair-out mean –, sd –" in summary_of(summary((NAN,), (NAN,)), AUC)


def test_the_varied_quantity_is_told_at_its_ends_and_at_the_worst() -> None:
    steps = tuple(summary((0.0, bias), (0.1, 0.1)) for bias in (-0.02, -0.09, -0.01))
    found = VariedDeviations("regularization", (0.25, 2.0, 8.0), steps)
    assert variation_sentence(found, AUC) == (
        "Mean deviation of leave-one-out, pooled: −0.02 with λ = 2⁻², −0.09 with λ = 2¹, −0.01 with λ = 2³."
    )
    unsure = VariedDeviations(
        "n_examples", (10.0,), (summary((0.01,), (0.1,), error=0.1),)
    )
    assert (
        variation_sentence(unsure, AUC)
        == "No mean deviation is more than twice its standard error."
    )
