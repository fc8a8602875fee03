"""Studies in the terminal: a run that writes one, and a run that goes on from one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankstudio.engine.experiment.plan.plan import Plan
    from rankstudio.engine.experiment.storage.study import Study

NAME = "study.rankstudio"
"""Of the study that is written into the folder of the results."""


def study_place(path: Path | None, out: Path | None) -> Path | None:
    """Return where the study of a run is: the one named, else one beside the results, else none."""
    return path if path is not None else out / NAME if out is not None else None


@contextmanager
def study_at(path: Path | None, out: Path | None) -> Iterator[Study | None]:
    """Provide the study that a run is written to, made where it is missing; None without a place for it.

    Raises
    ------
    StoreError
        Where there is something that is no study, or another process has it open.
    """
    from rankstudio.engine.experiment.storage.study import Study

    place = study_place(path, out)
    if place is None:
        yield None
        return
    with Study.open(place) if place.exists() else Study.create(place) as study:
        yield study


def plans_to_go_on_with(study: Study) -> list[Plan]:
    """Return the plans of the runs that are not finished; of the last run where all are.

    What another version of RankStudio began cannot be gone on with: it is said, and begun anew.
    """
    from rankstudio.engine.experiment.versions import versions

    runs = study.runs()
    chosen = [run for run in runs if not run.finished] or runs[-1:]
    for run in chosen:
        if dict(run.versions) != versions():
            title = run.key.plan.title
            print(f"Note: {title} was begun by other versions; it begins anew.", file=sys.stderr)
    return [run.key.plan for run in chosen]
