"""The finished run of the sample that the window shows at its first start, kept as a study.

python packaging/sample_run.py    compute it anew, after a change of the sample, the defaults or the method
"""

from __future__ import annotations

from pathlib import Path

from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import open_data, usual_choices
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.support.resources import resource


def write_run(path: Path) -> None:
    """Compute the run of the sample by the default plan, and store it in a new study."""
    dataset = open_data(Plan(SAMPLE))
    plan = usual_choices(Plan(SAMPLE), dataset, ())
    with Study.create(path) as study:
        for _ in run_stored(plan, dataset, study):
            pass


if __name__ == "__main__":
    place = resource("sample", "run.rankstudio")
    place.unlink(missing_ok=True)
    write_run(place)
