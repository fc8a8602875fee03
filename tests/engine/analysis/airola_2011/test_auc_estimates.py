"""The conclusions of section 5.4 hold in the simulation, and each is told with its numbers."""

from rankstudio.engine.analysis.airola_2011.auc_estimates import SIMULATIONS, auc_estimates
from rankstudio.engine.analysis.simulation.auc_simulation import ESTIMATORS, simulate_auc
from rankstudio.engine.support.work import finish


def test_every_conclusion_holds_here() -> None:
    found = auc_estimates(0.3)
    assert len(found.rows) == len(SIMULATIONS) * len(ESTIMATORS)
    assert [text.split(":")[0] for text in found.said[1:]] == ["Holds here"] * 5


def test_rows_are_those_of_the_simulation() -> None:
    found = auc_estimates(0.02, seed=3)
    first = finish(simulate_auc(n_examples=30, shift=0.0, repetitions=200, seed=3))
    assert [row[2] for row in found.rows[:6]] == first.bias.tolist()
    assert [row[4] for row in found.rows[:6]] == first.conditional_sd.tolist()
    assert [row[1] for row in found.rows[:6]] == list(ESTIMATORS)
