"""Numbers and names as a report writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan

from rankstudio.engine.analysis.report.source import ReportedRun
from rankstudio.engine.experiment.plan.difference import differences
from rankstudio.engine.experiment.plan.plan import Plan

NOTHING = "–"
"""For a number that is not there."""

_MINUS = "−"


def fixed(value: float, decimals: int = 4, *, sign: bool = False) -> str:
    """Return a number with so many decimals and a true minus; a dash for NaN."""
    if isnan(value):
        return NOTHING
    text = f"{value:{'+' if sign else ''}.{decimals}f}"
    return text.replace("-", _MINUS) if text.strip("+-0.") else f"{0:.{decimals}f}"


def spread(mean: float, deviation: float | None) -> str:
    """Return a mean with its deviation over the folds: "0.4712 ± 0.0210"."""
    return fixed(mean) if deviation is None else f"{fixed(mean)} ± {fixed(deviation)}"


def listed(words: Iterable[object]) -> str:
    """Return words as they are said: "1, 2 and 3"."""
    texts = [str(word) for word in words]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def runs_text(runs: Sequence[ReportedRun]) -> str:
    """Return runs by their numbers: "run 2", "runs 1, 2 and 4"."""
    return f"run{'s' if len(runs) > 1 else ''} {listed(run.number for run in runs)}"


def set_otherwise(run: ReportedRun) -> str:
    """Return what a run has otherwise than by default: "λ 1, 2 · pinned BM25"."""
    plan = run.plan
    names = dict(zip(run.result.feature_ids.tolist(), run.result.feature_names, strict=True))
    default = Plan(plan.data, plan.method, ranker=plan.ranker, convention=plan.convention)
    return " · ".join(differences(plan, default, names))
