"""A simulation as a value: its kind and parameters, the varied quantity, and code that repeats it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.as_code import (
    UNKNOWN,
    column_words,
    field_words,
    option_words,
    parameter_words,
    plan_code,
    program,
)
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import shell_command
from rankstudio.engine.support.number_grid import format_grid
from rankstudio.plugins.lab.simulation.deviations import (
    WHOLE,
    DeviationSummary,
    VariedDeviations,
    simulate_over,
)
from rankstudio.plugins.lab.simulation.parameters import (
    EACH,
    PARAMETERS,
    VARIED,
    option_of,
)


def without_test(dataset: FoldedDataset) -> FoldedDataset:
    """Return a dataset, without its test part if it has a single fold.

    A dataset with several folds is returned unchanged.
    """
    first, *rest = dataset.folds
    return dataset if rest else replace(dataset, folds=(replace(first, test=None),))


@dataclass(frozen=True, eq=False)
class SimulationProgress:
    """Current state of a simulation.

    Attributes
    ----------
    summary : DeviationSummary
        Deviations with the simulation's own values.
    varied : VariedDeviations or None
        Deviations of the varied quantity; None before it is varied.
    """

    summary: DeviationSummary
    varied: VariedDeviations | None = None

    @property
    def done(self) -> int:
        """Number of repetitions, over all values."""
        summaries = self.varied.summaries if self.varied else ()
        return self.summary.done + sum(summary.done for summary in summaries)

    def as_dict(self) -> dict[str, Any]:
        """Return the results as plain values for JSON, with those of the varied quantity if any."""
        varied = self.varied
        plain = self.summary.as_dict()
        if varied is None:
            return plain
        values = zip(varied.values, varied.summaries, strict=True)
        rows = [{"value": value, **summary.as_dict()} for value, summary in values]
        return {**plain, "varied": {"quantity": varied.quantity, "values": rows}}


@dataclass(frozen=True)
class Simulation:
    """A simulation that can be carried out: its kind and its parameters.

    Attributes
    ----------
    kind : str
        "auc" or "selection".
    parameters : mapping of str to object
        Arguments of `simulate_auc`, or those of `simulate_selection`
        without the dataset.
    quantity : str
        Argument to vary afterwards; "" for none.
    values : tuple of float
        Values of the varied argument.
    each : int
        Number of repetitions per value.
    """

    kind: str
    parameters: Mapping[str, Any]
    quantity: str = ""
    values: tuple[float, ...] = ()
    each: int = 0

    @property
    def n_repetitions(self) -> int:
        """Total number of repetitions, over all values."""
        return int(self.parameters["repetitions"]) + self.each * len(self.values)

    @property
    def counting(self) -> dict[str, Any]:
        """Values of the parameters that have an effect, by name.

        Some values make others useless: the γ of a kernel, for
        instance, has no effect without a kernel.
        """
        unused = {
            p.name for p in PARAMETERS[self.kind] if not p.counts(self.parameters)
        }
        return {
            name: value for name, value in self.parameters.items() if name not in unused
        }

    def finished(self, progress: SimulationProgress) -> Simulation:
        """Return the finished part of this simulation: its repetitions so far, and the complete values.

        ``progress`` has the results so far. Running the returned
        simulation gives the same results.
        """
        summaries = progress.varied.summaries if progress.varied is not None else ()
        n_complete = sum(summary.done == summary.n_repetitions for summary in summaries)
        parameters = {**self.parameters, "repetitions": progress.summary.done}
        if not n_complete:
            return Simulation(self.kind, parameters)
        return Simulation(
            self.kind, parameters, self.quantity, self.values[:n_complete], self.each
        )

    def check(self, dataset: FoldedDataset | RankingDataset | None = None) -> None:
        """Raise ParameterError for inconsistent values, or for values too large for the data.

        Without a dataset, only the values are checked.

        Raises
        ------
        ParameterError
            The error has the name of the parameter; "values" for values
            of the varied quantity.
        """
        parameters = self.parameters

        # All values of each parameter, with the name that an error gives them.
        tried: dict[str, list[tuple[str, Any]]] = {
            n: [(n, value)] for n, value in self.counting.items()
        }
        if self.quantity in WHOLE and not all(
            value.is_integer() for value in self.values
        ):
            raise ParameterError(
                "values",
                format_grid(self.values),
                tr("whole numbers, such as 10, 20, 50"),
            )
        if self.quantity:
            tried[self.quantity] += [("values", value) for value in self.values]
        if self.kind == "auc":
            from rankstudio.plugins.lab.simulation.auc_simulation import TwoClasses  # noqa: PLC0415 - when it is needed

            informative = (
                parameters["n_features"]
                if parameters["n_informative"] is None
                else parameters["n_informative"]
            )
            TwoClasses(  # raises for invalid values
                parameters["n_examples"],
                parameters["positive"],
                parameters["n_features"],
                informative,
                parameters["shift"],
            )
        if dataset is None:
            return

        # The data limit the numbers of features and of queries.
        parts = (
            [dataset]
            if isinstance(dataset, RankingDataset)
            else list(dataset.folds[0].parts.values())
        )
        n_features = parts[0].n_features
        n_queries = sum(part.n_queries for part in parts)
        for name, value in tried.get("n_features", ()):
            if value is not None and value > n_features:
                expected = tr(
                    "at most {n}, the number of features in these data"
                ).format(n=n_features)
                raise ParameterError(name, _integer_if_whole(value), expected)
        for name, value in tried["n_queries"]:
            if value >= n_queries:
                expected = tr("fewer than the {n} queries of these data").format(
                    n=n_queries
                )
                raise ParameterError(name, _integer_if_whole(value), expected)

    def steps(
        self, dataset: FoldedDataset | RankingDataset | None = None
    ) -> Generator[SimulationProgress | None]:
        """Run the simulation, and then repeat it for each value of the varied quantity.

        Parameters
        ----------
        dataset : FoldedDataset or RankingDataset, optional
            Data of a simulation on data.

        Yields
        ------
        SimulationProgress or None
            None if there is no new result yet, so that the caller can stop.
        """
        simulate: Callable[..., Any]
        if self.kind == "auc":
            from rankstudio.plugins.lab.simulation.auc_simulation import (  # noqa: PLC0415
                simulate_auc as simulate,
            )
        else:
            from rankstudio.plugins.lab.simulation.selection_simulation import (  # noqa: PLC0415
                simulate_selection,
            )

            assert dataset is not None  # simulations of this kind need data
            simulate = partial(simulate_selection, dataset)

        # A state of None is yielded within a long repetition.
        for state in simulate(**self.counting):
            if state is None:
                yield None
                continue
            summary = DeviationSummary.of(state)
            yield SimulationProgress(summary)
        if self.quantity:
            arguments = {**self.counting, "repetitions": self.each}
            for varied in simulate_over(
                self.quantity, self.values, simulate, **arguments
            ):
                yield None if varied is None else SimulationProgress(summary, varied)


def _integer_if_whole(value: float) -> float:
    """Return a whole number as int, and any other number unchanged."""
    return int(value) if value == int(value) else value


_DATA_FIELDS = ("data", "missing", "normalize", "protocol", "seed", "columns")
"""Fields of a plan that determine how its data are opened."""


def simulation_as_command(
    simulation: Simulation, plan: Plan | None = None, *, test: bool = True
) -> str:
    """Return the terminal command of a simulation.

    Parameters
    ----------
    simulation : Simulation
    plan : Plan, optional
        Plan that states how the data are opened, for a simulation on data.
    test : bool, default True
        Whether the test part of a single fold is included.

    Returns
    -------
    str
        One line for a POSIX shell; options with their default value are omitted.
    """
    kind = simulation.kind
    values = simulation.counting
    words = [
        "rankstudio",
        "lab",
        kind,
        *(_data_words(plan, test) if plan is not None else ()),
    ]
    words += parameter_words([p for p in PARAMETERS[kind] if p.name in values], values)
    words += ["--convention", values["convention"]] if "convention" in values else []
    if simulation.quantity:
        # the parameter that stands for the list of values
        parameter = VARIED[kind][simulation.quantity]
        words += ["--vary", option_of(kind, simulation.quantity)]
        words += option_words(parameter.option, parameter.written(simulation.values))
        words += option_words(EACH[kind].option, str(simulation.each))
    return shell_command(words)


def _data_words(plan: Plan, test: bool) -> Iterator[str]:
    """Yield the words of a command that open the data of a plan."""
    yield "--sample" if plan.data == SAMPLE else plan.data
    yield from field_words(plan, ("missing", "normalize", "protocol"))

    # The usual protocol, the folds of the files, needs no seed.
    if plan.protocol != Plan(plan.data).protocol:
        yield from ("--protocol-seed", str(plan.seed))
    yield from column_words(plan)
    if not test:
        yield "--no-test"


def simulation_as_python(
    simulation: Simulation,
    plan: Plan | None = None,
    *,
    test: bool = True,
    computed_with: Mapping[str, str] = UNKNOWN,
) -> str:
    """Return a short program that runs a simulation with the library and prints all results as JSON.

    Parameters
    ----------
    simulation : Simulation
    plan : Plan, optional
        Plan that states how the data are opened, for a simulation on data.
    test : bool, default True
        Whether the test part of a single fold is included.
    computed_with : Mapping of str to str
        Versions that give the same bits, if known.
    """
    # The imports; data are only opened for a simulation on data.
    names = "Simulation" if test else "Simulation, without_test"
    imports = ["import json", ""]
    imports += ["from rankstudio.engine import Plan"] if plan is not None else []
    imports += [f"from rankstudio.plugins.lab.simulation.simulation import {names}"]
    imports += (
        ["from rankstudio.engine.experiment.runner import open_data"]
        if plan is not None
        else []
    )

    # The simulation, with its parameters and the varied quantity.
    lines = ["simulation = Simulation(", f"    {simulation.kind!r},", "    {"]
    lines += [
        f"        {name!r}: {value!r}," for name, value in simulation.counting.items()
    ]
    lines += ["    },"]
    if simulation.quantity:
        varied = {
            "quantity": simulation.quantity,
            "values": simulation.values,
            "each": simulation.each,
        }
        lines += [f"    {name}={value!r}," for name, value in varied.items()]
    lines += [")"]

    # The plan, of which only the fields on data count, and the data.
    if plan is not None:
        opened = "open_data(plan)"
        lines += [
            plan_code(plan, _DATA_FIELDS),
            f"dataset = {opened if test else f'without_test({opened})'}",
        ]
    argument = "dataset" if plan is not None else ""

    # Steps are None between two results, and the last result has everything.
    lines += [f"*_, found = filter(None, simulation.steps({argument}))"]
    lines += ["print(json.dumps(found.as_dict(), indent=1))"]
    return program(imports, lines, computed_with)
