"""A table of folds: a row for each fold, a column for each measure or for each run, averages below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Signal, Slot

from rankstudio.engine.analysis.result_table.fold_table import (
    FoldRow,
    MeasureRow,
    fold_rows,
    measure_rows,
)
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.combinations import Axis
from rankstudio.engine.experiment.plan.left_out_names import PAIR_MEASURES
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.metrics.conventions import rules_text
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.run_tables import (
    RunColumn,
    RunTable,
    RunTableRow,
    RunTableRows,
    run_tables,
)
from rankstudio.ui.compare.view import ALL, ONE, View
from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import axis_value, plain, power
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column
from rankstudio.ui.widgets.layout import fill, named


def rows_of(
    table: RunTable, run: RunResult, data: FoldedDataset, sealed: bool
) -> RunTableRows | str:
    """Compute the rows of a plug-in's table for a run, or return the reason why it has none.

    ``data`` are the data of the run, and ``sealed`` says whether their
    test part is sealed. Called on the worker.
    """
    try:
        rows: RunTableRows = imported(table.compute)(run, data, sealed)
    except PlanError as error:
        return str(error)
    return rows


class FoldsView(View):
    """A table of folds, which shows one run or compares all runs.

    A click on a row shows its fold.

    For one run the table shows the model that each fold selected, with
    its measures, or a table of a plug-in. For all runs it shows one
    measure, with a column for each run.

    Attributes
    ----------
    tables : dict of str to RunTable
        Tables of plug-ins, which can replace the measures of one run,
        by their keys.
    foldChosen : Signal(object)
        Number of the fold that the user chose; None for all folds,
        after a click on the row of the mean.
    """

    foldChosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._columns_key: tuple[object, ...] = ()  # what the columns depend on
        # Tables of plug-ins are further choices in the header.
        self.tables = {table.key: table for table in run_tables()}
        choices = [(key, tr(table.label)) for key, table in self.tables.items()]
        help_lines = [
            tr("All measures of this run, or one measure of all runs on the same folds")
        ]
        help_lines += [
            f"{tr(table.label)}: {tr(table.help)}" for table in self.tables.values()
        ]
        self.scope = self.add_choice(
            [(ONE, tr("this run")), (ALL, tr("all runs")), *choices],
            tr("runs of the folds"),
            "folds-scope",
            "\n".join(help_lines),
        )
        placeholder = tr("Finished folds of the run appear here.")
        about_table = tr("Selected model and measures of each fold.")
        self.table = self.add_table(
            "folds",
            tr("Folds table"),
            about_table,
            placeholder,
            _row_identity,
            tr("Folds of the run"),
        )
        self.sentence = named(PlainLabel(wraps=True), "folds-sentence", role="caption")
        self.sentence.setContentsMargins(12, 4, 12, 8)
        self.sentence.hide()
        fill(self.body, (self.table, 1), self.sentence)
        self._shown_fold: int | None = None  # None for all folds
        self.table.chosen.connect(self._on_chosen)

    def show_run(self, name: str, plan: Plan, folds: Sequence[FoldResult]) -> None:
        """Show the finished folds of a run called ``name``: a row for each, with the mean and the deviation."""
        # The plan and which parts of the data were measured decide on
        # the columns: the test part, the validation part, left-out
        # training data. A part without measures has an empty mapping.
        rows = fold_rows(folds)
        tested, validated, left_out = (
            bool(rows and part) for part in _measures_by_part(rows)
        )
        measured_parts = (tested, validated, left_out)
        key = (
            plan.axes,
            plan.evaluated,
            plan.measures,
            plan.select_by,
            measured_parts,
            bool(rows),
        )
        if key != self._columns_key:
            columns = (
                _columns_of_one_run(plan, tested, validated, left_out) if rows else ()
            )
            self._set_columns(key, columns)
        self.table.set_rows(rows)
        # a text on the rules by which the plan's convention measures
        rules = rules_text(plan.convention, plan.evaluated)
        self.set_caption(
            tr("{name} · {rules} · click a row to show its fold").format(
                name=name, rules=rules
            )
            if rows
            else name
        )

    def show_runs(
        self, runs: Mapping[int, RunResult], titles: Mapping[int, str], name: str
    ) -> None:
        """Show a measure of runs on the same folds side by side, by their numbers and titles.

        ``name`` is that of the measure. New columns are made only if
        the runs, or the measure, are others than before.
        """
        named_runs = [(number, titles[number]) for number in runs]
        key = ("all", name, *named_runs)
        if key != self._columns_key:
            self._set_columns(
                key, _columns_of_several_runs(named_runs, name) if runs else ()
            )
        self.table.set_rows(measure_rows(runs, name))
        self.set_caption(
            tr("{name} of every finished run on these folds").format(name=name)
            if runs
            else ""
        )

    def show_table(
        self, table: RunTable, name: str, contents: RunTableRows | str
    ) -> None:
        """Show a plug-in's table of the run called ``name``, or the reason (a text) why it has none.

        The table may have a sentence below its rows.
        """
        if isinstance(contents, str):
            self._set_columns((table.key,), ())
            self.set_caption(f"{name} · {contents}")
            return
        columns = (
            _FOLD_COLUMN,
            *map(_contributed_column, table.columns),
            _FILLER_COLUMN,
        )
        self._set_columns((table.key,), columns)
        self.table.set_rows(contents.rows)
        self.set_caption(name)
        self.sentence.setText(contents.sentence)
        self.sentence.setVisible(bool(contents.sentence))

    def clear(self) -> None:
        """Show no run."""
        self._set_columns((), ())
        self.set_caption("")

    def mark(self, fold: int | None) -> None:
        """Select the row of the shown fold, or the mean while all folds are shown.

        ``fold`` is the number of the fold; None means all folds. This
        emits no signal.
        """
        self._shown_fold = fold
        if fold is None:
            rows = [row for row in self.table.rows() if _is_mean(row)]
        else:
            rows = [row for row in self.table.rows() if row.fold == fold]
        # Several rows may have the fold: the current one stays if it is among them.
        current = self.table.current()
        self.table.select(current if current in rows else next(iter(rows), None))

    def _set_columns(self, key: tuple[object, ...], columns: Sequence[Column]) -> None:
        """Set other columns and remove the rows, which do not fit the new columns.

        ``key`` is a tuple of all that the columns depend on; it is
        stored to notice changes.
        """
        self._columns_key = key
        self.sentence.hide()
        self.table.set_rows(())
        self.table.set_columns(columns)

    @Slot(object)
    def _on_chosen(self, row: FoldRow | MeasureRow | RunTableRow) -> None:
        """Show the fold of a clicked row, or all folds for the mean.

        The deviation has nothing to show.
        """
        if row.fold is not None or _is_mean(row):
            self.foldChosen.emit(row.fold)
        self.mark(self._shown_fold)


def _row_identity(row: FoldRow | MeasureRow | RunTableRow) -> tuple[str, str]:
    texts = row.values.values() if isinstance(row, RunTableRow) else ()
    return row.label, "\n".join(text for text in texts if isinstance(text, str))


def _is_mean(row: FoldRow | MeasureRow | RunTableRow) -> bool:
    return row.label == "mean"


# The rows of the mean and the deviation have no fold number: they stay
# below the folds in any order.
_FOLD_COLUMN = Column(
    "label", tr("fold"), format=tr, sort=lambda row: row.fold, width=64, bold=_is_mean
)
_SIZE_COLUMN = Column(
    "size",
    "k",
    "right",
    plain,
    sort=lambda row: row.size if row.fold else None,
    tooltip=tr("Number of features of the selected model"),
    bold=_is_mean,
    width=56,
)
_FILLER_COLUMN = Column("rest", "", value=lambda row: "", stretch=True, kind="dot")


def _contributed_column(column: RunColumn) -> Column:
    """Return a column of a plug-in's table.

    A column without a format (``form``) has texts, any other has
    numbers. The row of the mean has no fold, and no value to sort by,
    so that it stays below the folds.
    """
    key = column.key
    if not column.form:
        return Column(
            key,
            tr(column.label),
            value=lambda row: tr(row.values[key]),
            tooltip=tr(column.help),
            width=column.width,
        )
    return Column(
        key,
        tr(column.label),
        "right",
        column.form,
        value=lambda row: row.values[key],
        sort=lambda row: row.values[key] if row.fold else None,
        tooltip=tr(column.help),
        bold=_is_mean,
        width=column.width,
    )


def _measures_by_part(rows: Sequence[FoldRow]) -> tuple[Mapping[str, float], ...]:
    """Return the measures of the first fold on the test part, the validation part and left-out data.

    Each is a mapping of measures by name; it is empty if the part was
    not measured.
    """
    return (
        (rows[0].test, rows[0].validation, rows[0].left_out) if rows else ({}, {}, {})
    )


def _columns_of_one_run(
    plan: Plan, tested: bool, validated: bool, left_out: bool
) -> list[Column]:
    """Return the columns of one run: fold, selected values, size, and the measures of each part.

    ``tested``, ``validated`` and ``left_out`` say whether the test
    part, the validation part and left-out data of the training part
    were measured. Then comes the best single feature, to compare the
    model with. The last column is empty, and fills the width.
    """
    return [
        _FOLD_COLUMN,
        *(_chosen_value_column(number, axis) for number, axis in enumerate(plan.axes)),
        _SIZE_COLUMN,
        *(_measure_column(name, "test", plan) for name in plan.evaluated if tested),
        *(
            _measure_column(name, "validation", plan)
            for name in plan.evaluated
            if validated
        ),
        *(
            _left_out_column(name, plan)
            for name in _left_out_measures(plan)
            if left_out
        ),
        _single_feature_column(plan.measures[0]),
        _FILLER_COLUMN,
    ]


def _left_out_measures(plan: Plan) -> tuple[str, ...]:
    return tuple(
        name for name in plan.evaluated if not plan.pairs_out or name in PAIR_MEASURES
    )


def _chosen_value_column(number: int, axis: Axis) -> Column:
    """Return the column of the values of a parameter that validation selected on each fold.

    ``number`` is the position of the parameter among the axes of the
    plan. The values of a grid are printed as powers.
    """
    return Column(
        f"axis-{number}",
        tr(axis.label),
        "right",
        power if axis.is_grid else "",
        value=_chosen_value_getter(number, axis),
        tooltip=tr("Selected by validation on this fold"),
        # room for the title, of about 7 pixels a letter
        width=max(64, 12 + 7 * len(tr(axis.label))),
    )


def _measure_column(name: str, part: str, plan: Plan) -> Column:
    """Return the column of a measure on the test or the validation part.

    ``name`` is that of the measure, ``part`` that of the part, and
    ``plan`` is the plan of the run. A row has a mapping of measures for
    each part. Rows of the mean and the deviation have no fold, and no
    value to sort by, so that they stay below the folds.
    """
    tested = part == "test"
    tooltip = tr("{name} on the {part} part")
    if not tested and name == plan.select_by:
        tooltip = tr("{name} on the {part} part, the selection criterion")
    title = tr("test") if tested else tr("vali")
    return Column(
        f"{'test' if tested else 'vali'}-{name}",
        f"{title} {name}",
        "right",
        ".4f",
        value=lambda row: getattr(row, part).get(name),
        sort=lambda row: getattr(row, part).get(name) if row.fold else None,
        tooltip=tooltip.format(name=name, part=tr(part)),
        tone="text" if tested else "muted",
        bold=_is_mean if tested else None,
        width=112 if len(name) > 5 else 84,
    )


def _left_out_column(name: str, plan: Plan) -> Column:
    """Return the column of a measure on left-out queries or pairs of the training part.

    ``name`` is that of the measure. Pairs of documents are left out in
    place of queries if ``plan``, the plan of the run, selects its
    models by such a measure.
    """
    # `chosen_by` is the measure that selects the models, without the
    # words "leave-query-out".
    tooltip = tr("Leave-query-out {name} of the training queries")
    if name == plan.chosen_by:
        tooltip = tr(
            "Leave-query-out {name} of the training queries, the selection criterion"
        )
    if plan.pairs_out:
        tooltip = tr("Leave-pair-out {name} of the training documents")
    return Column(
        f"left-out-{name}",
        (
            tr("leave-pair-out {name}")
            if plan.pairs_out
            else tr("leave-query-out {name}")
        ).format(name=name),
        "right",
        ".4f",
        value=lambda row: row.left_out.get(name),
        sort=lambda row: row.left_out.get(name) if row.fold else None,
        tooltip=tooltip.format(name=name),
        tone="muted",
        width=124 if len(name) > 5 else 100,
    )


def _single_feature_column(name: str) -> Column:
    """Return the column of a measure of the best single feature of each fold, to compare a model with."""
    return Column(
        "single",
        tr("single {name}").format(name=name),
        "right",
        ".4f",
        value=lambda row: row.single.get(name),
        tooltip=tr("{name} of the best single feature of the fold").format(name=name),
        sort=lambda row: row.single.get(name) if row.fold else None,
        tone="muted",
        width=104,
    )


def _chosen_value_getter(
    number: int, axis: Axis
) -> Callable[[FoldRow], float | str | None]:
    """Return a function that returns the value of a parameter that a row's fold has selected.

    The value is a number if the parameter has a grid of numbers, and
    else its label. ``number`` is the position of the parameter among
    the axes of the plan. Rows of the mean and the deviation have no
    values: the function then returns None.
    """

    def selected_value(row: FoldRow) -> float | str | None:
        if not row.values:
            return None
        value = row.values[number]
        return float(value) if axis.is_grid else axis_value(axis, value)

    return selected_value


def _columns_of_several_runs(
    runs: Sequence[tuple[int, str]], name: str
) -> list[Column]:
    """Return the columns of several runs: the fold, and the measure called ``name`` of each run.

    ``runs`` has the number and the title of each run.
    """
    return [
        _FOLD_COLUMN,
        *(_run_column(key, title, name) for key, title in runs),
        _FILLER_COLUMN,
    ]


def _run_column(key: int, title: str, name: str) -> Column:
    """Return the column of a measure of one run, bold where the run is the best of the fold.

    ``key`` is the number of the run, ``title`` its title, and ``name``
    the name of the measure.
    """
    return Column(
        f"run-{key}",
        f"{key} {title}",
        "right",
        ".4f",
        value=lambda row: row.values[key],
        sort=lambda row: row.values[key] if row.fold else None,
        tooltip=tr("{name} of run {key}, {title}; bold: best of the row").format(
            name=name, key=key, title=title
        ),
        tone=lambda row: "muted" if row.label == "sd" else "text",
        bold=lambda row: row.values[key] == row.best,
    )
