"""Folds as papers print them: a row a fold, a column a measure or a column a run, averages below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QSizePolicy, QWidget

from rankstudio.engine.experiment.plan.combinations import Axis
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.metrics.conventions import convention
from rankstudio.ui.results.fold_rows import FoldRow, fold_rows
from rankstudio.ui.results.run_columns import side_columns, side_rows
from rankstudio.ui.results.view import ALL, ONE, View
from rankstudio.ui.style.number_format import axis_value, plain, power
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Segmented, Table

Part = Callable[[FoldRow], Mapping[str, float]]


class FoldsView(View):
    """What validation chose on every fold, and what that measures; or one measure of every run.

    Attributes
    ----------
    foldChosen : Signal(int)
        Number of the fold that the user moved to.
    scopeChosen : Signal()
        The user wants one run, or all.
    """

    foldChosen = Signal(int)
    scopeChosen = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._shape: tuple[object, ...] = ()
        self.scope = Segmented([(ONE, "this run"), (ALL, "all runs")], "runs of the folds")
        self.scope.setObjectName("folds-scope")
        self.scope.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.scope.setToolTip("Everything of the run that is shown, or one measure of all runs on its folds")
        self.tools = (self.scope,)
        self.scope.chosen.connect(self.scopeChosen)
        self.table = Table(theme, (), "folds-table", lambda row: row.label)
        self.table.setAccessibleName("Folds of the run")
        self.table.placeholder = "The folds of a run are listed here as they are done."
        self.body.addWidget(self.table)
        self.table.chosen.connect(self._on_chosen)

    def tables(self) -> Sequence[tuple[str, str, str, Table]]:
        """Return the table of folds for export."""
        return (("folds", "Folds table", "Every fold of the run with its choice and measures.", self.table),)

    def show_run(self, name: str, plan: Plan, folds: Sequence[FoldResult]) -> None:
        """Show the folds of a run that are done; ``name`` says which run it is."""
        rows = fold_rows(folds)
        measured = bool(rows and rows[0].test), bool(rows and rows[0].validation)
        shape = (plan.axes, plan.evaluated, plan.measures, plan.select_by, measured)
        if shape != self._shape:
            self._reshape(shape, _columns(plan, *measured) if rows else ())
        self.table.set_rows(rows)
        rules = convention(plan.convention).label
        self.set_caption(f"{name} · {rules} · click a row to look at its fold" if rows else name)

    def show_runs(self, runs: Mapping[int, RunResult], name: str) -> None:
        """Show a measure of runs on the same folds side by side, by their numbers."""
        shape = ("all", name, tuple(runs))
        if shape != self._shape:
            self._reshape(shape, side_columns(runs, name) if runs else ())
        self.table.set_rows(side_rows(runs, name))
        self.set_caption(f"{name} of every finished run on these folds" if runs else "")

    def clear(self) -> None:
        """Show no run."""
        self._reshape((), ())
        self.set_caption("")

    def choose(self, fold: int | None) -> None:
        """Mark the fold that is looked at; tells nobody."""
        rows = [row for row in self.table.rows() if fold is not None and row.fold == fold]
        self.table.choose(rows[0] if rows else None)

    def _reshape(self, shape: tuple[object, ...], columns: Sequence[Column]) -> None:
        """Take other columns; the rows of before would not fit them."""
        self._shape = shape
        self.table.set_rows(())
        self.table.set_columns(columns)

    @Slot(object)
    def _on_chosen(self, row: FoldRow) -> None:
        if row.fold is not None:
            self.foldChosen.emit(row.fold)


def _columns(plan: Plan, tested: bool, validated: bool) -> list[Column]:
    """Return the columns: fold, choice, test measures, validation measures."""
    columns = [Column("label", "fold", sort=_order("label"), width=64, bold=_is_mean)]
    columns += [
        Column(
            f"axis-{number}",
            axis.label,
            "right",
            power if axis.is_grid else "",
            value=_value_on(number, axis),
            tooltip="Chosen by validation on this fold",
            width=max(64, 12 + 7 * len(axis.label)),
        )
        for number, axis in enumerate(plan.axes)
    ]
    columns.append(
        Column(
            "size",
            "k",
            "right",
            plain,
            sort=_order("size"),
            tooltip="Features of the chosen model",
            bold=_is_mean,
            width=56,
        )
    )
    parts: list[tuple[str, bool, Part]] = [
        ("test", tested, lambda row: row.test),
        ("vali", validated, lambda row: row.validation),
    ]
    for part, there, get in parts:
        columns += [_measure(name, part, get, plan) for name in plan.evaluated if there]
    first = plan.measures[0]
    columns.append(
        Column(
            "single",
            f"single {first}",
            "right",
            ".4f",
            value=lambda row: row.single.get(first),
            tooltip=f"{first} of ranking by the fold's best single feature alone",
            sort=lambda row: row.single.get(first) if row.fold else None,
            tone="muted",
            width=104,
        )
    )
    columns.append(Column("rest", "", value=lambda row: "", stretch=True, kind="dot"))
    return columns


def _measure(name: str, part: str, get: Part, plan: Plan) -> Column:
    chooser = part == "vali" and name == plan.select_by
    return Column(
        f"{part}-{name}",
        f"{part} {name}",
        "right",
        ".4f",
        value=lambda row: get(row).get(name),
        sort=lambda row: get(row).get(name) if row.fold else None,
        tooltip=f"{name} on the {'test' if part == 'test' else 'validation'} part"
        + (", by which the model was chosen" if chooser else ""),
        tone="text" if part == "test" else "muted",
        bold=_is_mean if part == "test" else None,
        width=112 if len(name) > 5 else 84,
    )


def _is_mean(row: FoldRow) -> bool:
    return row.label == "mean"


def _order(key: str) -> Callable[[FoldRow], object]:
    """Sort by an attribute, mean and deviation staying below the folds."""
    return lambda row: (row.fold if key == "label" else getattr(row, key)) if row.fold else None


def _value_on(number: int, axis: Axis) -> Callable[[FoldRow], float | str | None]:
    """Return what gets a chosen value: a number of a grid, which sorts as one, else its label."""

    def of(row: FoldRow) -> float | str | None:
        if not row.values:
            return None
        value = row.values[number]
        return float(value) if axis.is_grid else axis_value(axis, value)

    return of
