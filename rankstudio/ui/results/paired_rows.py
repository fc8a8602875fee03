"""Runs held against one of them as rows of a table: difference, interval, tests, and what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rankstudio.engine.analysis.pairing import why_unpaired
from rankstudio.engine.experiment.plan.difference import differences, only_pins_differ
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.statistics.paired import PairedComparison, holm

Role = Literal["reference", "compared", "waiting", "left out"]


@dataclass(frozen=True)
class PairedRow:
    """One run beside the reference.

    Attributes
    ----------
    key : int
        The run's number.
    method : str
    role : {"reference", "compared", "waiting", "left out"}
        What it is here; one that waits is being compared.
    differs : str
        In what it differs from the reference, or why it is left out.
    mean : float or None
        Of the measure over the folds.
    found : PairedComparison or None
    p_fisher, p_t : float or None
        Of both tests, corrected by Holm for all the runs compared; None until all of them are.
    """

    key: int
    method: str
    role: Role
    differs: str
    mean: float | None = None
    found: PairedComparison | None = None
    p_fisher: float | None = None
    p_t: float | None = None


def paired_rows(
    runs: Mapping[int, RunResult], reference: int, name: str, found: Mapping[int, PairedComparison]
) -> list[PairedRow]:
    """Return a row for each run: the reference first, then those compared, then those left out.

    Parameters
    ----------
    runs : Mapping of int to RunResult
        The finished ones, by their numbers.
    reference : int
        Number of the one to compare with.
    name : str
        Of the measure.
    found : Mapping of int to PairedComparison
        The comparisons that are done, by the run's number.
    """
    against = runs[reference]
    why = {key: why_unpaired(run, against, name) for key, run in runs.items()}
    others = [key for key in runs if key != reference and not why[key]]
    corrected = _corrected(others, found)
    rows = [PairedRow(reference, against.plan.title, "reference", "", against.average.get(name))]
    for key in others:
        fisher, t = corrected.get(key, (None, None))
        role: Role = "compared" if key in found else "waiting"
        said, mean = _said(runs[key], against), runs[key].average[name]
        rows.append(PairedRow(key, runs[key].plan.title, role, said, mean, found.get(key), fisher, t))
    rows += [
        PairedRow(key, runs[key].plan.title, "left out", f"left out: {w}") for key, w in why.items() if w
    ]
    return rows


def _said(run: RunResult, reference: RunResult) -> str:
    """Return what differs; where that is pins alone, the difference is their effect, and is called so."""
    names = dict(zip(run.feature_ids.tolist(), run.feature_names, strict=True))
    text = " · ".join(differences(run.plan, reference.plan, names))
    if only_pins_differ(run.plan, reference.plan):
        return f"effect of pins: {text}"
    return text or "nothing"


def _corrected(
    others: Sequence[int], found: Mapping[int, PairedComparison]
) -> dict[int, tuple[float, float]]:
    """Return both p-values by Holm, once all runs are compared."""
    if not others or any(key not in found for key in others):
        return {}
    fisher = holm([found[key].p_randomisation for key in others])
    t = holm([found[key].p_t for key in others])
    return {key: (float(f), float(s)) for key, f, s in zip(others, fisher, t, strict=True)}
