"""How much work plans are: units counted, seconds from runs of the same method, else by a rule of thumb."""

from dataclasses import replace

from experiment.runs import fold, result

from rankstudio.engine.analysis.workload import THUMB, workload
from rankstudio.engine.experiment.plan.plan import Plan


def test_units_are_combinations_times_folds_and_seconds_those_of_runs_of_the_method() -> None:
    plan = Plan("x", parameters={"regularization": (1.0, 2.0, 4.0)})
    other = Plan("x", "gas", folds=(2,))
    finished = [
        replace(
            result([fold(1, [0.5]), fold(2, [0.5])], parameters={"regularization": (1.0, 2.0)}), seconds=s
        )
        for s in (8.0, 40.0, 12.0)
    ]
    found = workload([(plan, 5), (other, 5)], finished)
    units = len(other.combinations)
    assert (found.n_runs, found.n_units, found.n_guessed) == (2, 15 + units, 1)
    assert found.seconds == 15 * 12.0 / 4 + units * THUMB
    assert workload([], finished).n_units == 0
