"""Parameters of the Lab page's forms, and the request for a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import rankstudio
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.catalog import Parameter
from rankstudio.plugins.lab.simulation.parameters import EACH, PARAMETERS, VARIED
from rankstudio.plugins.lab.simulation.simulation import (
    Simulation,
    SimulationProgress,
    simulation_as_command,
    simulation_as_python,
)
from rankstudio.ui.language import tr
from rankstudio.ui.select.section import translated

_LIMITS: Mapping[str, Mapping[str, Any]] = {
    "n_examples": {"high": 2000},
    "positive": {"low": 0.01, "high": 0.99},
    "shift": {"low": -10.0, "high": 10.0},
    "n_informative": {"high": 1000},
    "n_queries": {"high": 10_000},
    "repetitions": {"high": 100_000},
    "each": {"high": 100_000},
}
"""Limits of parameters in the window; beyond them a step would take too long or too much memory.

The terminal has no such limits.
"""


def _limited(parameter: Parameter, name: str = "") -> Parameter:
    """Return a parameter translated and within the window's limits, by default those of its own name."""
    return replace(translated(parameter), **_LIMITS.get(name or parameter.name, {}))


FIELDS: Mapping[str, tuple[Parameter, ...]] = {
    kind: tuple(_limited(p) for p in parameters)
    for kind, parameters in PARAMETERS.items()
}
"""Parameters of each simulation, by its name."""

VALUES: Mapping[str, Mapping[str, Parameter]] = {
    kind: {name: _limited(p, name) for name, p in varied.items()}
    for kind, varied in VARIED.items()
}
"""Parameters for the values of each quantity that can be varied, by simulation and argument."""

REPEATED: Mapping[str, Parameter] = {kind: _limited(p) for kind, p in EACH.items()}
"""Parameter for the repetitions of each value, by simulation."""

SHORT = {
    "n_examples": tr("examples"),
    "positive": tr("positives"),
    "regularization": tr("λ"),
    "n_queries": tr("queries"),
    "n_features": tr("features"),
    "per_query": tr("basis"),
}
"""Short names of the quantities to vary."""


@dataclass(frozen=True, eq=False)
class SimulationRequest:
    """A request to run a simulation: the simulation and its data.

    Attributes
    ----------
    simulation : Simulation
    dataset : FoldedDataset or None
        Data from which queries are drawn; None for a simulation without data.
    plan : Plan or None
        Plan that determines how the data are opened.
    test : bool
        Whether queries are also drawn from the test part.
    """

    simulation: Simulation
    dataset: FoldedDataset | None = None
    plan: Plan | None = None
    test: bool = True

    def as_code(self, progress: SimulationProgress) -> dict[str, str]:
        """Return a command and a program that repeat the finished part of the simulation, by file suffix.

        ``progress`` has the results so far. The command and the program
        give identical results.
        """
        finished = self.simulation.finished(progress)
        versions = {"RankStudio": rankstudio.__version__}
        return {
            ".sh": simulation_as_command(finished, self.plan, test=self.test) + "\n",
            ".py": simulation_as_python(
                finished,
                self.plan,
                test=self.test,
                computed_with=versions,
            ),
        }
