"""The simulations of the Lab page, carried out on the task worker.

The engine's modules that bring compiled kernels are imported on that thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankstudio.engine.analysis.simulation.summary import DeviationSummary
    from rankstudio.engine.analysis.simulation.variation import VariedDeviations
    from rankstudio.engine.data.dataset import FoldedDataset


@dataclass(frozen=True)
class AucRequest:
    """What is simulated of estimates of AUC.

    Attributes
    ----------
    parameters : mapping of str to object
        Of `rankstudio.engine.analysis.simulation.auc_simulation.simulate_auc`.
    quantity : str
        What takes other values afterwards.
    values : tuple of float
        These values.
    repetitions : int
        Of each of them.
    """

    parameters: Mapping[str, Any]
    quantity: str
    values: tuple[float, ...]
    repetitions: int

    def share(self, done: AucProgress) -> float:
        """Return the share of all repetitions that is done."""
        total = self.parameters["repetitions"] + self.repetitions * len(self.values)
        varied = done.varied.summaries if done.varied is not None else ()
        return float((done.found.done + sum(one.done for one in varied)) / total)


@dataclass(frozen=True, eq=False)
class AucProgress:
    """What is simulated so far.

    Attributes
    ----------
    found : DeviationSummary
    varied : VariedDeviations or None
        None before the quantity is varied.
    """

    found: DeviationSummary
    varied: VariedDeviations | None = None


def check_auc(request: AucRequest) -> None:
    """Refuse values that do not go together.

    Raises
    ------
    ParameterError
        With the name of the parameter.
    """
    from rankstudio.engine.analysis.simulation.auc_simulation import TwoClasses  # noqa: PLC0415 - the engine's, where it is needed

    asked = request.parameters
    informative = asked["n_features"] if asked["n_informative"] is None else asked["n_informative"]
    TwoClasses(asked["n_examples"], asked["positive"], asked["n_features"], informative, asked["shift"])


def auc_steps(request: AucRequest) -> Iterator[AucProgress]:
    """Yield the deviations as they grow, then those of the varied quantity too."""
    from rankstudio.engine.analysis.simulation.auc_simulation import simulate_auc  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.analysis.simulation.summary import DeviationSummary  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.analysis.simulation.variation import simulate_auc_over  # noqa: PLC0415 - on the worker only

    for state in simulate_auc(**request.parameters):
        found = DeviationSummary.of(state)
        yield AucProgress(found)
    again = {**request.parameters, "repetitions": request.repetitions}
    for varied in simulate_auc_over(request.quantity, request.values, **again):
        yield AucProgress(found, varied)


def selection_steps(
    dataset: FoldedDataset, sealed: bool, parameters: Mapping[str, Any]
) -> Iterator[DeviationSummary]:
    """Yield the summary of the deviations on real data as it grows."""
    from rankstudio.engine.analysis.simulation.selection_simulation import simulate_selection  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.analysis.simulation.summary import DeviationSummary  # noqa: PLC0415 - on the worker only

    for state in simulate_selection(dataset, **parameters):
        yield DeviationSummary.of(state)
