"""Studies in the terminal: a run that writes one, and a run that goes on from one."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.engine.errors import StoreError

if TYPE_CHECKING:
    from rankstudio.engine.experiment.plan.plan import Plan
    from rankstudio.engine.experiment.storage.study import RunSummary, Study

NAME = "study.rankstudio"
"""Of the study that is written into the folder of the results."""


def study_path(path: Path | None, out: Path | None) -> Path | None:
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

    place = study_path(path, out)
    if place is None:
        yield None
        return
    with Study.open(place) if place.exists() else Study.create(place) as study:
        yield study


def tell_damage(study: Study, runs: Sequence[RunSummary]) -> None:
    """Say what is damaged of a study and of its runs."""
    for sentence in (*study.damage(), *(run.damage for run in runs if run.damage)):
        print(f"Note: {sentence}", file=sys.stderr)


def plans_to_go_on_with(study: Study) -> list[Plan]:
    """Return the plans of the runs that are not finished or are damaged; of the last run where none is.

    A run that another version of RankStudio started cannot be resumed: it is run again, with a note.

    Raises
    ------
    StoreError
        Where there is no run.
    """
    from rankstudio.engine.experiment.versions import versions

    runs = study.runs()
    tell_damage(study, runs)
    if not runs:
        raise StoreError(f"{study.path}: the study has no run to resume.")
    chosen = [run for run in runs if not run.finished or run.damage] or runs[-1:]
    for run in chosen:
        if dict(run.versions) != versions():
            title = run.key.plan.title
            print(f"Note: {title} was started with other versions and is run again.", file=sys.stderr)
    return [run.key.plan for run in chosen]
