"""The tables of papers with our values next to the printed ones, and the plans that should reproduce them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import DatasetError, PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import plan_from_dict
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.support.number_grid import format_power, parse_grid
from rankstudio.engine.support.resources import resource, table

if TYPE_CHECKING:
    from rankstudio.engine.statistics.paired import PairedComparison

_FOLDS = 5  # of LETOR's datasets
_ABOUT = "note", "datasets", "when"
"""Fields of a paper's run that are not fields of a plan."""


@dataclass(frozen=True)
class Cell:
    """One cell of a paper's table: the printed value and ours.

    Attributes
    ----------
    printed, ours : str
        Value as printed, and ours in the same format; "" if missing.
    """

    printed: str
    ours: str

    @property
    def agrees(self) -> bool:
        """Whether the printed text and ours are equal."""
        return self.printed == self.ours


@dataclass(frozen=True)
class PaperTable:
    """One table of a paper, with our values next to it.

    Attributes
    ----------
    title : str
        "Table 7: MAP results on MQ2008".
    columns : tuple of str
        Names of the columns, such as methods, folds or measures.
    rows : tuple of (label, tuple of Cell)
        Label and cells of each row.
    promised : tuple of bool
        Whether the cells of each column should agree; they need not if
        the paper does not specify the experiment completely.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    promised: tuple[bool, ...]

    def cells(self, promised: bool = True) -> Iterator[Cell]:
        """Yield the cells that should agree, or those that need not; missing cells are skipped."""
        for _, cells in self.rows:
            for cell, should_agree in zip(cells, self.promised, strict=True):
                if should_agree == promised and cell.printed:
                    yield cell


@dataclass(frozen=True)
class Claim:
    """A claim of a paper without numbers, and our test of it.

    Attributes
    ----------
    printed : str
        Claim, as a sentence without its end.
    run, against : str
        Paper's names of the two runs that are compared.
    comparisons : Mapping of str to PairedComparison
        Comparison of the run with the other over the test queries, by measure.
    """

    printed: str
    run: str
    against: str
    comparisons: Mapping[str, PairedComparison]


@dataclass(frozen=True)
class Reproduction:
    """Tables of a paper, and the plans that should reproduce them.

    Attributes
    ----------
    key, title : str
        Key, such as "greedy-rankrls", and title of the paper.
    runs : Mapping of str to Mapping
        Runs by the paper's name: method, ranker and their parameters,
        and optionally a note or a restriction to datasets.
    tables : sequence of Mapping
        Number, title, dataset and contents of each table, as in
        ``resources/published``. For a paper on other data they have
        only the dataset, the measures and the names of the rows.
    notes : tuple of str
        General notes.
    figure_runs : tuple of str
        Names of runs that only figures need.
    claims : sequence of Mapping
        Claims without numbers: "printed", "run", "against" and "measures".
    """

    key: str
    title: str
    runs: Mapping[str, Mapping[str, Any]]
    tables: Sequence[Mapping[str, Any]]
    notes: tuple[str, ...] = ()
    figure_runs: tuple[str, ...] = ()
    claims: Sequence[Mapping[str, Any]] = ()

    def datasets(self) -> tuple[str, ...]:
        """Return the names of the datasets that have tables."""
        return tuple(dict.fromkeys(str(table["dataset"]) for table in self.tables))

    @property
    def normalize(self) -> str:
        """Scaling of the data for all runs: "none", or "query_minmax"."""
        return str(next(iter(self.runs.values())).get("normalize", "none"))

    @property
    def methods(self) -> frozenset[tuple[str, str]]:
        """Methods and final rankers of the runs."""
        return frozenset(
            (run["method"], run.get("ranker", "")) for run in self.runs.values()
        )

    def of(self, data: str) -> tuple[Mapping[str, Any], ...]:
        """Return the tables of the paper on a dataset, found by the beginning of its name.

        Raises
        ------
        PlanError
            If the paper has no table for data of this name.
        """
        tables = tuple(
            t for t in self.tables if data.lower().startswith(str(t["dataset"]).lower())
        )
        if not tables:
            raise PlanError(
                f"{self.key} has no table for {data}. Datasets with tables: {', '.join(self.datasets())}."
            )
        return tables

    def check_folds(self, data: FoldedDataset) -> None:
        """Raise DatasetError if the data have not as many folds as a table that lists the folds.

        Raises
        ------
        DatasetError
            If a table of the dataset lists five folds, and the data do not have five.
        """
        # fields of the tables with values of each fold
        lists_folds = any(
            "columns" in table or "first" in table for table in self.of(data.name)
        )
        if lists_folds and len(data.folds) != _FOLDS:
            raise DatasetError(
                f"{data.name}: found {len(data.folds)} folds, expected the {_FOLDS} of the paper."
            )

    def plans(
        self, data: str, location: str, convention: str, *, figures: bool = False
    ) -> dict[str, Plan]:
        """Return the plans of the runs that the tables of a dataset need, by the paper's names of the runs.

        Parameters
        ----------
        data, location : str
            Name of the dataset, and its location.
        convention : str
            Convention of the measures.
        figures : bool, default False
            Whether to include the plans that only figures need.
        """
        tables = self.of(data)
        table_measures = [
            name for table in tables for name in _measures_of_table(table)
        ] or ["MAP"]  # a plan needs at least one measure
        claim_measures = [name for claim in self.claims for name in claim["measures"]]
        measures = tuple(dict.fromkeys((*table_measures, *claim_measures)))
        extra_runs = self.figure_runs if figures else ()
        claim_runs = [
            name for claim in self.claims for name in (claim["run"], claim["against"])
        ]
        table_runs = [name for table in tables for name in _runs_of_table(table)]

        # a dict keeps the order, without repetitions
        names = dict.fromkeys((*table_runs, *claim_runs, *extra_runs))
        return {
            name: self._plan(name, location, convention, measures) for name in names
        }

    def _plan(
        self, name: str, location: str, convention: str, measures: tuple[str, ...]
    ) -> Plan:
        """Return the plan of the run ``name`` of the paper on the data at a location.

        What the paper sets for this run goes before what it sets for all runs.
        """
        # `_ABOUT` are the fields of a run that are not fields of a plan.
        settings = {
            key: value for key, value in self.runs[name].items() if key not in _ABOUT
        }
        protocol = {
            "data": location,
            "select_by": "MAP",
            "measures": measures,
            "convention": convention,
        }
        return plan_from_dict({**protocol, **settings})

    def compared_claims(self, results: Mapping[str, RunResult]) -> tuple[Claim, ...]:
        """Return the claims of the paper, each with a test of our two runs by each measure.

        ``results`` are our runs by the paper's names.
        """
        from rankstudio.engine.analysis.comparisons.significance import compare_with  # noqa: PLC0415 - scipy

        return tuple(
            Claim(
                claim["printed"],
                claim["run"],
                claim["against"],
                {
                    name: compare_with(
                        results[claim["run"]], results[claim["against"]], name
                    )
                    for name in claim["measures"]
                },
            )
            for claim in self.claims
        )

    def table(
        self,
        printed: Mapping[str, Any],
        results: Mapping[str, RunResult],
        data: FoldedDataset | None = None,
    ) -> PaperTable:
        """Return one of the tables with our values next to the printed ones.

        ``printed`` has the printed numbers; its fields say which kind
        of table it is. ``results`` are our runs by the paper's names.
        Without data, rows that must be measured again are left out.
        """
        title = f"{printed['number']}: {printed['title']}"
        if "columns" in printed:
            return self._table_of_folds(title, printed, results)
        if "rows" in printed:
            return self._table_of_averages(title, printed, results)
        if "used" in printed:
            return _used_features_table(title, printed, results, data)
        return _selected_features_table(title, printed, results[printed["run"]])

    def _table_of_folds(
        self, title: str, printed: Mapping[str, Any], results: Mapping[str, RunResult]
    ) -> PaperTable:
        """Return a table of one measure with a row per fold and a column per method.

        ``printed`` has the printed numbers of each method: those of the
        five folds, and their mean. ``results`` are our runs by the
        paper's names.
        """
        measure = printed["measure"]
        values_of_method = printed["columns"]
        rows = []
        for row_index, label in enumerate(["1", "2", "3", "4", "5", "avg"]):
            runs = [results[name] for name in values_of_method]
            ours = [
                (run.average if label == "avg" else run.folds[row_index].test)[measure]
                for run in runs
            ]
            printed_values = (values[row_index] for values in values_of_method.values())
            rows.append((label, _cells(printed_values, ours)))

        # The note of a run states what the paper does not specify: its
        # numbers need not agree.
        promised = tuple("note" not in self.runs[name] for name in values_of_method)
        return PaperTable(
            title,
            columns=tuple(values_of_method),
            rows=tuple(rows),
            promised=promised,
        )

    def _table_of_averages(
        self, title: str, printed: Mapping[str, Any], results: Mapping[str, RunResult]
    ) -> PaperTable:
        """Return a table of averages over the folds, with a row per method and a column per measure.

        ``printed`` has the printed numbers, and ``results`` are our
        runs by the paper's names. No cell need agree: the paper does
        not specify the experiment completely.
        """
        measures = tuple(printed["measures"])
        rows = [
            (name, _cells(values, [results[name].average[m] for m in measures]))
            for name, values in printed["rows"].items()
        ]
        return PaperTable(
            title,
            columns=measures,
            rows=tuple(rows),
            promised=(False,) * len(measures),
        )


def _selected_features_table(
    title: str, printed: Mapping[str, Any], result: RunResult
) -> PaperTable:
    """Return the table of λ, size and first features of each fold's model, with a column per fold.

    ``printed`` has the printed values of each fold, and ``result`` is our run.
    """
    columns = tuple(f"fold {fold.fold}" for fold in result.folds)

    # λ is the only parameter with several values.
    lambdas = [format_power(fold.chosen.unit.values[0]) for fold in result.folds]
    printed_features = printed["first"]
    our_features = [
        fold.selected[: len(features)]
        for features, fold in zip(printed_features, result.folds, strict=True)
    ]
    rows = [
        (
            "λ",
            _cells(
                [format_power(parse_grid(text)[0]) for text in printed["lambda"]],
                lambdas,
            ),
        ),
        ("k", _cells(printed["sizes"], result.sizes)),
    ]
    features_by_rank = zip_longest(
        _features_by_rank(printed_features),
        _features_by_rank(our_features),
        fillvalue=("",) * len(columns),
    )
    for rank, (theirs, ours) in enumerate(features_by_rank, start=1):
        rows.append((f"selected {rank}", _cells(theirs, ours)))
    return PaperTable(title, columns, rows=tuple(rows), promised=(True,) * len(columns))


def _features_by_rank(
    selected: Iterable[Iterable[int]],
) -> Iterator[tuple[int | str, ...]]:
    """Yield the rows of a table with a column per fold: the first features selected, then the second ones.

    ``selected`` has the ids of each fold in the order of selection. The
    cell is "" for a fold with fewer features.
    """
    return zip_longest(*selected, fillvalue="")


def _cells(
    printed: Iterable[float | str], ours: Iterable[float | str]
) -> tuple[Cell, ...]:
    """Return the cells of a row; floats, which are measures, have four decimals as in the papers."""
    return tuple(
        Cell(_cell_text(theirs), _cell_text(our_cell))
        for theirs, our_cell in zip(printed, ours, strict=True)
    )


def _cell_text(value: float | str) -> str:
    """Return a value as a text, numbers with four decimals."""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _used_features_table(
    title: str,
    printed: Mapping[str, Any],
    results: Mapping[str, RunResult],
    data: FoldedDataset | None,
) -> PaperTable:
    """Return the table of the number of features by selector and ranker, followed by our test measures.

    ``printed["used"]`` has the printed number of features by selector
    and ranker. No cell need agree, because the paper does not state how
    these numbers were chosen. With data, the table also has the sizes
    with the best test result out of a coarse list, for the selectors
    whose printed numbers suggest such a choice.
    """
    measure = printed["measure"]
    rankers = tuple(next(iter(printed["used"].values())))
    rows = []
    further_rows = []

    # Rows with the sizes of the best test results are shown last.
    sizes = tuple(printed.get("coarse_sizes", ()))
    for selector in printed.get("coarse", ()):
        if data is None:
            break
        our_results = [results[f"{selector}, {ranker}"] for ranker in rankers]
        best_sizes = [
            _best_test_size(result, measure, sizes, data) for result in our_results
        ]
        label = f"{selector}, best test result of {', '.join(map(str, sizes))}"
        numbers = printed["used"][selector]
        further_rows.append(
            (label, _cells((numbers[ranker] for ranker in rankers), best_sizes))
        )
    for selector, numbers in printed["used"].items():
        our_results = [results[f"{selector}, {ranker}"] for ranker in rankers]
        counts = [steps_of_all_folds(result, measure) for result in our_results]
        rows.append((selector, _cells((numbers[ranker] for ranker in rankers), counts)))
        averages = [result.average[measure] for result in our_results]
        further_rows.append(
            (f"{selector}, {measure}", _cells([""] * len(our_results), averages))
        )
    return PaperTable(
        title, rankers, rows=(*rows, *further_rows), promised=(False,) * len(rankers)
    )


def _best_test_size(
    result: RunResult, measure: str, sizes: Sequence[int], data: FoldedDataset
) -> int | str:
    """Return the size with the best mean test measure; "" if it is unknown.

    The size is the number of features, out of ``sizes``, of a model of
    our run. It is unknown if the run has no model of these sizes, or
    does not keep all of them. The choice by the test part imitates a
    flaw that a paper may have. At each size, parameters are chosen by
    validation.
    """
    from rankstudio.engine.analysis.tried_models.run_curves import run_curves  # noqa: PLC0415 - reads models

    # mean test measure at each size; 0 is the position of the
    # reference, the run itself
    (curve,) = run_curves([result], measure, 0, [data], part="test")
    if curve is None:
        return ""
    means = dict(zip(curve.sizes.tolist(), curve.mean.tolist(), strict=True))
    tested = [size for size in sizes if size in means]
    # The study of a run that was resumed does not keep the trees of all steps.
    if not tested or not all(isfinite(means[size]) for size in tested):
        return ""
    return max(tested, key=lambda size: means[size])


def steps_of_all_folds(result: RunResult, measure: str) -> int:
    """Return the number of selection steps that is best for all folds together.

    The best number has the greatest mean of the measure over the
    validation parts, with the best combination of parameters of each
    fold at every step. Of equally good numbers, the smallest one is
    returned. For a method without selection, the result is the number
    of features.
    """
    if not result.plan.entry.selects:
        return len(result.feature_ids)
    length = min(len(path.steps) for fold in result.folds for path in fold.paths)

    # best validation measure of any combination at each step, of each fold
    best = [
        np.max([path.validation[measure][:length] for path in fold.paths], axis=0)
        for fold in result.folds
    ]
    return int(np.argmax(np.mean(best, axis=0))) + 1


def _measures_of_table(table: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the measures of a table."""
    if "measures" in table:
        return tuple(table["measures"])
    return (table["measure"],) if "measure" in table else ()


def _runs_of_table(table: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the runs whose results a table has.

    A table has one run, or a run for each selector and ranker, or a run
    for each column or row.
    """
    if "run" in table:
        return (table["run"],)
    if "used" in table:
        return tuple(
            f"{selector}, {ranker}"
            for selector, row in table["used"].items()
            for ranker in row
        )
    return tuple(table["columns"] if "columns" in table else table["rows"])


def _runs_on_data(runs: Mapping[str, Mapping[str, Any]], data: str) -> tuple[str, ...]:
    """Return the names of the runs that belong to a dataset."""
    return tuple(
        name for name, run in runs.items() if data in run.get("datasets", (data,))
    )


def cells_of(tables: Sequence[PaperTable]) -> tuple[list[Cell], list[Cell]]:
    """Return the cells of several tables: those that should agree, and those that need not."""
    return (
        [cell for table in tables for cell in table.cells()],
        [cell for table in tables for cell in table.cells(promised=False)],
    )


def reproductions() -> tuple[str, ...]:
    """Return the keys of the papers with known tables."""
    return tuple(sorted(path.stem for path in resource("published").glob("*.toml")))


def load_reproduction(key: str) -> Reproduction:
    """Return the tables of a paper with its plans, read from a file of the package.

    Raises
    ------
    PlanError
        For an unknown key; the message lists the known keys.
    """
    if key not in reproductions():
        raise PlanError(
            f"No reproduction of {key!r}; expected one of {', '.join(reproductions())}."
        )
    values = table("published", f"{key}.toml")

    # The data of some papers are not available. Their runs on other
    # datasets are put into tables without printed numbers, one per
    # dataset.
    notes = tuple(values.get("notes", ()))
    tables = values.get("tables") or [
        {
            "dataset": data,
            "measures": values["measures"],
            "rows": dict.fromkeys(_runs_on_data(values["runs"], data), ()),
        }
        for data in values["datasets"]
    ]
    figure_runs = tuple(values.get("figure_runs", ()))
    claims = tuple(values.get("claims", ()))
    return Reproduction(
        key, values["title"], values["runs"], tables, notes, figure_runs, claims
    )
