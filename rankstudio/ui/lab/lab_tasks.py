"""The simulations of the Lab page, carried out on the task worker.

The engine's modules that bring compiled kernels are imported on that thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support.number_grid import format_grid
from rankstudio.ui.language import tr

if TYPE_CHECKING:
    from rankstudio.engine.analysis.simulation.summary import DeviationSummary
    from rankstudio.engine.analysis.simulation.variation import VariedDeviations
    from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset


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
    if request.quantity == "n_examples" and not all(value == int(value) for value in request.values):
        raise ParameterError("values", format_grid(request.values), tr("whole numbers, such as 10, 20, 50"))
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


@dataclass(frozen=True, eq=False)
class SelectionRequest:
    """What is simulated on real data.

    Attributes
    ----------
    dataset : FoldedDataset
    sealed : bool
        Whether the test part of a single fold is covered, and left out.
    parameters : mapping of str to object
        Of `rankstudio.engine.analysis.simulation.selection_simulation.simulate_selection`.
    """

    dataset: FoldedDataset
    sealed: bool
    parameters: Mapping[str, Any]

    @property
    def parts(self) -> list[RankingDataset]:
        """The parts with the documents that may be seen, where there is one fold; else none."""
        folds = self.dataset.folds
        hidden = "test" if self.sealed else ""
        return [part for name, part in folds[0].parts.items() if name != hidden] if len(folds) == 1 else []


def check_selection(request: SelectionRequest) -> None:
    """Refuse more features or queries than there are.

    Raises
    ------
    ParameterError
        With the name of the parameter.
    """
    asked, first = request.parameters, request.dataset.folds[0].train
    if asked["n_features"] is not None and asked["n_features"] > first.n_features:
        expected = tr("at most {n}, the features of these data").format(n=first.n_features)
        raise ParameterError("n_features", asked["n_features"], expected)
    there = sum(part.n_queries for part in request.parts or request.dataset.folds[0].parts.values())
    if asked["n_queries"] >= there:
        expected = tr("fewer than the {n} queries of these data").format(n=there)
        raise ParameterError("n_queries", asked["n_queries"], expected)


def selection_steps(request: SelectionRequest) -> Iterator[DeviationSummary]:
    """Yield the summary of the deviations on real data as it grows."""
    from rankstudio.engine.analysis.simulation.selection_simulation import simulate_selection  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.analysis.simulation.summary import DeviationSummary  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.data.synthetic import concatenate  # noqa: PLC0415 - on the worker only

    hidden = request.sealed and request.parts
    dataset = concatenate(request.parts) if hidden else request.dataset
    for state in simulate_selection(dataset, **request.parameters):
        yield DeviationSummary.of(state)
