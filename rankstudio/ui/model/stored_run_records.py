"""Runs of an opened study as the window's records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from rankstudio.ui.language import tr
from rankstudio.ui.model.run_record import Clock, RunRecord, RunState
from rankstudio.ui.model.study_store import RestoredRun

READ_ONLY = tr("Its study may not be written.")
"""Why a run of a study that can only be read is not gone on with."""


def record_of(run: RestoredRun, versions: Mapping[str, str], read_only: bool = False) -> RunRecord:
    """Return the record of a stored run; in the window it has the number that it has in the study.

    Parameters
    ----------
    run : RestoredRun
    versions : Mapping of str to str
        By which it would go on.
    read_only : bool
        Whether its study may not be written.
    """
    summary = run.summary
    record = RunRecord(
        run.key.id,
        summary.key.plan,
        run.dataset,
        state=RunState.DONE if summary.finished else RunState.UNFINISHED,
        paths=dict(run.paths),
        folds={fold.fold: fold for fold in run.folds},
        result=run.result,
        baselines={fold.fold: fold.baseline for fold in run.folds},
        stored=run.key,
        label=run.label,
        recorded=run.recorded,
        origin=f"{_when(summary.finished or summary.created)}, {_by(summary.versions)}",
        why_not_on=_why_not_on(summary.versions, versions) or (READ_ONLY if read_only else ""),
        steps_per_unit=1,
        n_units=summary.n_units,
        units_done=summary.n_finished,
        clock=Clock(worked=summary.seconds),
    )
    if run.problem:
        record.state, record.failure = RunState.FAILED, run.problem
    return record


def _when(moment: str) -> str:
    """Return a moment of a study, in UTC, as a clock here shows it."""
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"


def _by(found: Mapping[str, str]) -> str:
    return tr("by RankStudio {rankstudio}").format(
        rankstudio=found.get("rankstudio", tr("of an unknown version"))
    )


def _why_not_on(found: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return why a run of other versions is not gone on with; its numbers would have two origins."""
    for name, number in now.items():
        if found.get(name) != number:
            what = "RankStudio" if name == "rankstudio" else name
            return tr("It was begun by {what} {found}, here is {number}.").format(
                what=what, found=found.get(name, tr("of an unknown version")), number=number
            )
    return ""
