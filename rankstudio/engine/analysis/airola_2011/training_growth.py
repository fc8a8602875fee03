"""How training time grows with the number of documents (Paper I, section 4.2 and Table 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import process_time
from typing import Any

import numpy as np

from rankstudio.engine.analysis.airola_2011.experiment import ExperimentColumn, PrintedExperiment
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.rankers.kernel_rankrls import KernelRankRLS
from rankstudio.engine.methods.rankers.ranksvm import RankSVM

SIZES = (200, 500, 750, 1000, 1500)
_FEATURES, _POSITIVE, _SHIFT = 20, 94 / 500, 0.5  # of the positive documents as in the set acq
_LEAST = 750  # documents, below which what does not grow takes a part of the time

_COLUMNS = (
    ExperimentColumn("documents", "documents", ","),
    ExperimentColumn("RankRLS, s", "rankrls_seconds", ".2f"),
    ExperimentColumn("printed", "rankrls_printed", ",g"),
    ExperimentColumn("RankSVM, s", "ranksvm_seconds", ".2f"),
    ExperimentColumn("printed", "ranksvm_printed", ",g"),
)


def training_growth(
    printed: Mapping[str, Sequence[float]], sizes: Sequence[int] = SIZES, seed: int = 0
) -> PrintedExperiment:
    """Time nonlinear RankRLS and RankSVM on simulated documents of one ranking.

    Parameters
    ----------
    printed : mapping of str to sequence of float
        "inputs", and the seconds of "RankRLS" and of "RankSVM", which has fewer.
    sizes : sequence of int
        Numbers of documents.
    seed : int, default 0
    """
    old = {name: dict(zip(printed["inputs"], printed[name], strict=False)) for name in ("RankRLS", "RankSVM")}
    ours: dict[str, dict[float, float]] = {name: {} for name in old}
    for m in (50, *sizes):  # the first compiles
        for name, estimator in _estimators().items():
            ours[name][m] = _seconds(*_drawn(m, seed), estimator)
    rows = tuple((m, *(value for name in old for value in (ours[name][m], old[name].get(m)))) for m in sizes)
    told = [f"{name} {_exponent(ours[name])} here, {_exponent(old[name])} as printed" for name in old]
    said = (
        "The Reuters data set acq is not available. Documents are simulated from two normal classes with the "
        "same share of positives, so only the growth of the printed times can be compared.",
        f"From {_LEAST:,} documents up, time grows as m^e with e = {'; '.join(told)}. The printed RankSVM "
        "enumerates pairs; ours trains on the Nyström map of all documents, as the paper proposes after the "
        "table.",
    )
    return PrintedExperiment(
        "Paper I, Table 1",
        "training time with a Gaussian kernel, processor time in seconds",
        _COLUMNS,
        rows,
        said,
    )


def _estimators() -> dict[str, Any]:
    return {"RankRLS": KernelRankRLS(), "RankSVM": RankSVM(kernel="rbf", loss="hinge", tol=1e-3)}


def _drawn(m: int, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng([seed, m])
    y = (np.arange(m) < round(m * _POSITIVE)).astype(np.float64)
    X: Floats = rng.standard_normal((m, _FEATURES))
    X[y > 0] += _SHIFT
    return X, y


def _seconds(X: Floats, y: Floats, estimator: Any) -> float:
    began = process_time()
    estimator.fit(X, y, qid=np.ones(len(y), dtype=np.int64))
    return process_time() - began


def _exponent(seconds: Mapping[float, float]) -> str:
    """Return the slope of log seconds over log documents, of those large enough."""
    large = {m: max(s, 1e-9) for m, s in seconds.items() if m >= _LEAST}
    if len(large) < 2:
        return "too few sizes"
    slope = np.polyfit(np.log(list(large)), np.log(list(large.values())), 1)[0]
    return f"{slope:.1f}"
