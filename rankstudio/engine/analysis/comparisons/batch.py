"""Comparisons of several methods on several datasets.

A comparison is a file with many plans; its result is a table of the runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import nan
from pathlib import Path
from typing import Any

from rankstudio.engine.analysis.comparisons.published import printed_of
from rankstudio.engine.analysis.comparisons.significance import (
    RunComparison,
    compare_groups,
    is_named,
    named,
)
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import DatasetError, ParameterError, PlanError, shown
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.plan.toml import plan_from_dict, read_toml
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import method
from rankstudio.engine.support.item_groups import grouped

# fields of a run that may be lists
_LIST_FIELDS = ("label", "protocol", "method", "ranker")
# fields of a run that are tables
_PARAMETER_FIELDS = ("parameters", "ranker_parameters")
# fields of a comparison
_BATCH_FIELDS = ("title", "data", "runs", "parameters", "against")


@dataclass(frozen=True)
class Comparison:
    """Several plans that are run one after the other, with one table of the results.

    Attributes
    ----------
    title : str
        Title of the table.
    data : tuple of str
        Data files or folders.
    runs : tuple of Mapping
        Each run has "method", and optionally "ranker", "protocol" and
        "label" (the judge). Each of these is a text or a list, and
        every combination is a plan. A run may also have its own
        "parameters" and "ranker_parameters".
    parameters : Mapping
        Parameters by method, applied wherever the method occurs, as
        selector or as ranker.
    protocol : Mapping
        Fields common to all plans, by name: "select_by", "measures",
        "folds" and others.
    against : str
        Reference run of the tests: the key of its method, "gas", or of
        method and ranker, "gas/ranksvm"; "" for the run with the best
        average.
    divisions : Mapping of str to str
        Protocols of single datasets, by their data, for runs without one.
    """

    title: str
    data: tuple[str, ...]
    runs: tuple[Mapping[str, Any], ...]
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    protocol: Mapping[str, Any] = field(default_factory=dict)
    against: str = ""
    divisions: Mapping[str, str] = field(default_factory=dict)

    def plans(self, data: str) -> tuple[Plan, ...]:
        """Return the plans of all runs of the comparison for one of its data.

        A run with several methods, rankers, protocols or labels has a
        plan for each of their combinations. `data` is the path of a
        file or folder, or "sample" for the sample data that come with
        RankStudio.

        Raises
        ------
        PlanError, ParameterError
            If a run has a field or a parameter that is not valid in a plan.
        """
        return tuple(
            self._plan(
                data, run, label=label, protocol=protocol, key=key, ranker=ranker
            )
            for run in self.runs
            for label, protocol, key, ranker in _combinations_of_run(run)
        )

    def _plan(
        self,
        data: str,
        run: Mapping[str, Any],
        label: str,
        protocol: str,
        key: str,
        ranker: str,
    ) -> Plan:
        """Return the plan of one combination of the values of a run in the comparison.

        A run is a table of the comparison's file, in which some fields
        have several values. `label` is the column of a judge's labels,
        `protocol` divides the data into folds, and `key` and `ranker`
        are the keys of the method and the final ranker; each but `key`
        may be "".
        """
        # Parameters of the run replace those of all runs with this method.
        parameters = {**self.parameters.get(key, {}), **run.get("parameters", {})}
        values = {
            # Settings that all runs share, such as the measures.
            **self.protocol,
            "data": data,
            "method": key,
            "parameters": parameters,
        }
        if ranker:
            ranker_parameters = {
                **self.parameters.get(ranker, {}),
                **run.get("ranker_parameters", {}),
            }
            values |= {"ranker": ranker, "ranker_parameters": ranker_parameters}
        # A protocol of the run replaces that of the dataset.
        protocol = protocol or self.divisions.get(data, "")
        if protocol:
            values["protocol"] = protocol
        columns = values.get("columns", {})
        if label and isinstance(columns, Mapping):
            # The labels of all judges are named, so that no label
            # column is read as a feature.
            adds_labels = isinstance(run["label"], list) and not columns.keys() & {
                "labels",
                "judgments",
            }
            judges = {"labels": run["label"]} if adds_labels else {}
            values["columns"] = {**columns, **judges, "label": label}
        return plan_from_dict(values)


def _combinations_of_run(run: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield every combination of label, protocol, method and ranker of a run."""
    values = (run.get(name, "") for name in _LIST_FIELDS)
    choices = [value if isinstance(value, list) else [value] for value in values]
    yield from product(*choices)


def is_comparison(path: str | Path) -> bool:
    """Return whether a plan file contains several runs."""
    try:
        return "runs" in read_toml(Path(path))
    except PlanError:
        return False  # reading it as a plan reports the error


def load_comparison(path: str | Path) -> Comparison:
    """Read a comparison, which describes several plans, from a TOML file.

    Raises
    ------
    PlanError
        If the file cannot be read or is not a comparison; the message
        names the file.
    """
    # Check the fields, and that the methods with parameters exist.
    values = read_toml(Path(path))
    data = values.get("data", ())
    try:
        _check_kinds(values)
        for key in values.get("parameters", {}):
            # Called for its error only.
            method(key)
        # The remaining fields are those of every plan.
        comparison = Comparison(
            title=values.get("title", Path(path).stem),
            data=(data,) if isinstance(data, str) else tuple(data),
            runs=tuple(values["runs"]),
            parameters=values.get("parameters", {}),
            protocol={
                name: value
                for name, value in values.items()
                if name not in _BATCH_FIELDS
            },
            against=values.get("against", ""),
        )
        # Plans are made for their errors only, so any name of the data will do.
        plans = comparison.plans("nowhere")
        if comparison.against:
            # Called for its error only: the reference must be one of the runs.
            named(plans, comparison.against)
    except (PlanError, ParameterError) as error:
        raise PlanError(f"{path}: {error}") from error
    return comparison


def _check_kinds(values: Mapping[str, Any]) -> None:
    """Raise a PlanError for a field of a comparison with a value of a wrong type.

    `values` has the fields by name. Values inside tables and lists are
    checked later, when plans are made of them.
    """
    runs = _checked_runs(values)
    data = values.get("data", [])

    # Fields of the whole comparison.
    if not _is_text_or_texts(data):
        raise PlanError(
            tr("data: expected a text or a list of texts, got {data}.").format(
                data=shown(data)
            )
        )
    for name in ("title", "against"):
        if not isinstance(values.get(name, ""), str):
            raise PlanError(
                tr("{name}: expected a text, got {values}.").format(
                    name=name, values=shown(values[name])
                )
            )

    # Parameters by method, and those of single runs.
    entries = values.get("parameters", {})
    run_parameters = [run.get(name, {}) for run in runs for name in _PARAMETER_FIELDS]
    if not isinstance(entries, dict) or not _is_list_of_tables(
        [*entries.values(), *run_parameters]
    ):
        raise PlanError(
            tr(
                "parameters: expected a table for each method, such as [parameters.gas]."
            )
        )


def _checked_runs(values: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the runs in the values of a comparison: each has a method and known fields.

    `values` has the fields of the comparison by name. PlanError is
    raised for anything else.
    """
    runs: list[Mapping[str, Any]] = values.get("runs", [])
    if (
        not _is_list_of_tables(runs)
        or not runs
        or not all(run.get("method") for run in runs)
    ):
        raise PlanError(
            tr('runs: expected tables [[runs]], each with a line like method = "gas".')
        )
    unknown = sorted(
        {name for run in runs for name in run} - {*_LIST_FIELDS, *_PARAMETER_FIELDS}
    )
    if unknown:
        text = tr("runs: a run has no field {name}; the fields are {known}.")
        raise PlanError(
            text.format(
                name=shown(unknown[0]),
                known=", ".join((*_LIST_FIELDS, *_PARAMETER_FIELDS)),
            )
        )

    # Fields of runs that may be one text or several.
    for name in _LIST_FIELDS:
        stated_values = [run[name] for run in runs if run.get(name) is not None]
        if not all(_is_text_or_texts(value) and value != [] for value in stated_values):
            raise PlanError(
                tr('runs: expected a text or a list of texts after "{name} =".').format(
                    name=name
                )
            )
    return runs


def _is_list_of_tables(values: Any) -> bool:
    """Return whether a value is a list of tables."""
    return isinstance(values, list) and all(isinstance(value, dict) for value in values)


def _is_text_or_texts(value: Any) -> bool:
    """Return whether a value is a text or a list of texts."""
    return all(
        isinstance(item, str)
        for item in (value if isinstance(value, list) else [value])
    )


def check_measured(plan: Plan, dataset: FoldedDataset) -> None:
    """Raise an error if the data of a plan have no part on which runs can be compared.

    Raises
    ------
    DatasetError
        If no fold has a validation or a test part.
    """
    folds = [
        fold for fold in dataset.folds if not plan.folds or fold.number in plan.folds
    ]
    # Inner folds validate without a validation part.
    if not plan.inner and all(
        fold.vali is None and fold.test is None for fold in folds
    ):
        raise DatasetError(
            tr(
                "{name}: found no validation or test part, so a comparison has nothing to measure. Choose "
                'folds with a protocol, such as protocol = "5-fold".'
            ).format(name=dataset.name)
        )


def folder_name(plan: Plan) -> str:
    """Return a short name for the folder of a plan's results: "gas-ranksvm-train-20".

    The name differs for different parameters. Values of grids are left
    out, because the run selects one of them.
    """
    parameter_texts = [
        "+".join(map(str, p.values(plan.parameters[p.name])))
        for p in plan.entry.parameters
        if p not in plan.entry.grids and plan.parameters[p.name] != p.default
    ]
    # Percentage of the training queries that is used.
    share = parse_protocol(plan.protocol).train
    names = [
        plan.method,
        plan.ranker,
        *parameter_texts,
        f"train-{share}" if share < 100 else "",
    ]
    # A measure such as NDCG@10 may be a parameter; the sign is unusual
    # in names of folders.
    return "-".join(filter(None, names)).replace("@", "-at-")


def tests_of(
    comparison: Comparison, results: Sequence[RunResult]
) -> tuple[RunComparison, ...]:
    """Test the runs of each group of comparable runs against a reference run of the group.

    The reference is the run that the comparison names. If the
    comparison names none, or the group does not have this run, the
    reference is the best run of the group. Runs count from 1 on each
    dataset. A single run of a group, and runs without estimates, have
    no tests.
    """
    comparisons: list[RunComparison] = []
    for runs in grouped(results, lambda result: result.data_name).values():
        against = comparison.against
        has_reference = against and any(
            is_named(result.plan, against) for result in runs
        )
        # Numbers identify the runs in tables.
        numbered = dict(enumerate(runs, start=1))
        comparisons += compare_groups(
            numbered, against=against if has_reference else None
        )
    return tuple(
        comparison for comparison in comparisons if comparison.reference is not None
    )


def comparison_table(
    results: Sequence[RunResult],
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the header and the rows of a file's table of the runs of a comparison.

    There is a row for each run and measure, and for each published
    number to compare it with. Numbers have all digits.
    """
    header = [
        "data",
        "method",
        "ranker",
        "convention",
        "features_mean",
        "features_min",
        "features_max",
    ]
    header += [
        "measure",
        "average",
        "best_single_feature",
        "published",
        "difference",
        "source",
    ]
    header += ["part", "folds"]
    rows: list[tuple[Any, ...]] = []
    for result in results:
        # Cells of the run, repeated in each of its rows.
        plan = result.plan
        sizes = result.sizes
        published = printed_of(result)
        head = (result.data_name, plan.method, plan.ranker, plan.convention)
        contents = (
            result.part.value,
            " ".join(str(fold.fold) for fold in result.folds),
        )
        size = (
            (sum(sizes) / len(sizes), min(sizes), max(sizes)) if sizes else ("", "", "")
        )
        for name in plan.measures:
            ours = result.average.get(name, nan)
            single = result.baseline.get(name, nan)
            # One row per published number. Without any, None makes one
            # row with empty cells in their place.
            for published_number in published.get(name, ()) or (None,):
                printed = (
                    (
                        published_number.value,
                        ours - published_number.value,
                        f"{published_number.label}: {published_number.source}",
                    )
                    if published_number
                    else ("", "", "")
                )
                rows.append((*head, *size, name, ours, single, *printed, *contents))
    return header, rows
