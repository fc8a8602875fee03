"""Requests of the Lab page: the engine's parameters within the window's limits, and one simulation."""

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
"""Limits of the window. Beyond them a step takes too long, or too much memory; the terminal has none."""


def _limited(parameter: Parameter, name: str = "") -> Parameter:
    """Return a parameter as the window asks for it, within the limits of one of a name."""
    return replace(translated(parameter), **_LIMITS.get(name or parameter.name, {}))


FIELDS: Mapping[str, tuple[Parameter, ...]] = {
    kind: tuple(_limited(p) for p in parameters) for kind, parameters in PARAMETERS.items()
}
"""Parameters of each simulation, by its name."""

VALUES: Mapping[str, Mapping[str, Parameter]] = {
    kind: {name: _limited(p, name) for name, p in varied.items()} for kind, varied in VARIED.items()
}
"""The values of what can be varied, by the simulation and by the name of its argument."""

REPEATED: Mapping[str, Parameter] = {kind: _limited(p) for kind, p in EACH.items()}
"""The repetitions of each value, by the simulation."""

SHORT = {
    "n_examples": tr("examples"),
    "positive": tr("positives"),
    "regularization": tr("λ"),
    "n_queries": tr("queries"),
    "n_features": tr("features"),
    "per_query": tr("basis"),
}
"""Names of the quantities to vary, in a word."""


@dataclass(frozen=True, eq=False)
class SimulationRequest:
    """A simulation and its data.

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
        """Return a command and a program, by suffix, that repeat the finished part to the same bits."""
        finished = self.simulation.finished(progress)
        with_these = {"RankStudio": rankstudio.__version__}
        return {
            ".sh": simulation_as_command(finished, self.plan, test=self.test) + "\n",
            ".py": simulation_as_python(finished, self.plan, test=self.test, computed_with=with_these),
        }
