"""What section 5.4 concludes of estimates of AUC, by simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankstudio.engine.analysis.airola_2011.experiment import ExperimentColumn, PrintedExperiment
from rankstudio.engine.analysis.simulation.auc_simulation import ESTIMATORS, simulate_auc
from rankstudio.engine.analysis.simulation.deviations import Deviations
from rankstudio.engine.support.work import finish

PAIRS, ONE, POOLED, AVERAGED = (
    "leave-pair-out",
    "leave-one-out, pooled",
    "10-fold, pooled",
    "10-fold, averaged",
)
NEARLY_UNBIASED, ALIKE = 0.02, 0.01
"""Up to which mean deviation an estimate is nearly unbiased, and up to which difference two sd are alike."""


@dataclass(frozen=True)
class AUCSimulation:
    """A setting of :func:`rankstudio.engine.analysis.simulation.auc_simulation.simulate_auc`."""

    name: str
    options: dict[str, Any]
    repetitions: int


SIMULATIONS = (
    AUCSimulation("30 examples, no signal", {"n_examples": 30, "shift": 0.0}, 10_000),
    AUCSimulation("30 examples, signal", {"n_examples": 30, "shift": 0.5}, 10_000),
    AUCSimulation("30 examples, 10 % positive", {"n_examples": 30, "positive": 0.1, "shift": 0.5}, 10_000),
    AUCSimulation("100 examples, signal", {"n_examples": 100, "shift": 0.5}, 3000),
    AUCSimulation("400 examples, signal", {"n_examples": 400, "shift": 0.5}, 200),
)

_COLUMNS = (
    ExperimentColumn("simulation", "simulation"),
    ExperimentColumn("estimator", "estimator"),
    ExperimentColumn("bias", "bias", "+.4f"),
    ExperimentColumn("± s.e.", "standard_error", ".4f"),
    ExperimentColumn("sd", "sd", ".4f"),
)


def auc_estimates(share: float = 1.0, seed: int = 0) -> PrintedExperiment:
    """Estimate AUC in six ways in several simulations, and hold the conclusions of section 5.4 against it.

    Parameters
    ----------
    share : float, default 1.0
        Of the repetitions.
    seed : int, default 0
    """
    found = {
        one.name: finish(
            simulate_auc(**one.options, repetitions=max(2, round(share * one.repetitions)), seed=seed)
        )
        for one in SIMULATIONS
    }
    rows = tuple(
        (
            name if at == 0 else "",
            estimator,
            *(float(v[at]) for v in (one.bias, one.standard_error, one.conditional_sd)),
        )
        for name, one in found.items()
        for at, estimator in enumerate(ESTIMATORS)
    )
    said = (
        "Two normal classes with 10 features, λ = 1; the true AUC of each model is known. Deviations are "
        "measured from the AUC of the individual model (conditional performance). The thesis lists Paper IV "
        "by title only, so its conclusions in section 5.4 are checked, not its figures.",
        *(f"{'Holds' if holds else 'Does not hold'} here: {text}." for text, holds in _conclusions(found)),
    )
    return PrintedExperiment("Section 5.4", "deviation of AUC estimates from the AUC", _COLUMNS, rows, said)


def _conclusions(found: dict[str, Deviations]) -> list[tuple[str, bool]]:
    """Return each conclusion with its numbers, and whether it holds."""
    none, signal, few, hundred, many = found.values()
    worst = max(abs(_of(one.bias, PAIRS)) for one in (none, signal))
    sd = {name: _of(few.conditional_sd, name) for name in (PAIRS, AVERAGED)}
    apart = {n: abs(_of(one.conditional_sd, AVERAGED) - _of(one.conditional_sd, PAIRS))
             for n, one in ((100, hundred), (400, many))}  # fmt: skip
    least = min(_of(few.conditional_sd, name) for name in ESTIMATORS)
    return [
        (
            f"pooling has a clear negative bias (without signal: {ONE} {_of(none.bias, ONE):+.3f}, {POOLED} "
            f"{_of(none.bias, POOLED):+.3f})",
            _of(none.bias, ONE) < -NEARLY_UNBIASED,
        ),
        (
            f"{PAIRS} is nearly unbiased, with and without signal (bias at most {worst:.3f})",
            worst <= NEARLY_UNBIASED,
        ),
        (
            f"averaging has a high variance on small data with few positives (sd {sd[AVERAGED]:.3f}, {PAIRS} "
            f"{sd[PAIRS]:.3f})",
            sd[AVERAGED] > sd[PAIRS] + ALIKE,
        ),
        (
            f"the variance of {PAIRS} is as low as that of the best other estimate (sd {sd[PAIRS]:.3f}, best "
            f"{least:.3f})",
            sd[PAIRS] <= least + ALIKE,
        ),
        (
            f"with several hundred examples averaging is as reliable (difference in sd {apart[100]:.4f} "
            f"with 100 examples, {apart[400]:.4f} with 400)",
            apart[400] <= ALIKE,
        ),
    ]


def _of(values: Any, estimator: str) -> float:
    return float(values[ESTIMATORS.index(estimator)])
