"""What the Lab page was asked to simulate."""

from __future__ import annotations

from dataclasses import dataclass

import rankstudio
from rankstudio.engine.analysis.simulation.simulation import (
    Simulation,
    SimulationProgress,
    simulation_as_command,
    simulation_as_python,
)
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan


@dataclass(frozen=True, eq=False)
class SimulationRequest:
    """What is simulated, and on what.

    Attributes
    ----------
    simulation : Simulation
    dataset : FoldedDataset or None
        From which queries are drawn; None where nothing is.
    plan : Plan or None
        That says how these data are opened.
    test : bool
        Whether their test part is among them.
    """

    simulation: Simulation
    dataset: FoldedDataset | None = None
    plan: Plan | None = None
    test: bool = True

    def as_code(self, progress: SimulationProgress) -> dict[str, str]:
        """Return what does again what is finished, to the same bits, by suffix: a command and a program."""
        finished = self.simulation.finished(progress)
        with_these = {"RankStudio": rankstudio.__version__}
        return {
            ".sh": simulation_as_command(finished, self.plan, test=self.test) + "\n",
            ".py": simulation_as_python(finished, self.plan, test=self.test, computed_with=with_these),
        }
