"""What the Lab page was asked to simulate."""

from __future__ import annotations

from dataclasses import dataclass

from rankstudio.engine.analysis.simulation.simulation import Simulation
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
