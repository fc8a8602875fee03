"""The panel on judges: their agreement, selections under each judge, and selections with flipped labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.judgments import PartJudgments
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.support.number_format import (
    count_text,
    fixed,
    percentage,
    signed,
)
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.background.simulation import BackgroundSimulation
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Panel, Segmented, TableView
from rankstudio.ui.widgets.choices import choice_box, set_choices
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstudio.plugins.judges.agreement import Agreement, JudgeSelections
    from rankstudio.plugins.judges.flipped_labels import FlippedLabels

AGREEMENT = "agreement"
QUERIES = "queries"
SELECTION = "selection"
FLIPS = "flips"
N_DRAWS = 20
"""Runs for each share of flipped labels."""

_VIEWS = (
    (AGREEMENT, tr("agreement")),
    (QUERIES, tr("by query")),
    (SELECTION, tr("selections")),
    (FLIPS, tr("flipped labels")),
)
_NO_RUNS = tr(
    "Run the plan under two judges or more to compare the features that it selects."
)
_NO_FLIPS = tr(
    "Flip labels to see how the selection of the current run depends on them."
)
_FLIPS_HELP = tr(
    "Repeats the current run on this fold with 5, 10 and 20 % of the labels of the training and validation "
    "parts replaced by other grades, 20 times each."
)


@dataclass(frozen=True)
class _Row:
    """A row of one of the tables of the panel on judges.

    A row has its key, the id of its feature if it shows a feature, and
    its texts by the keys of the columns.
    """

    key: str
    feature: int | None
    texts: Mapping[str, str] = field(default_factory=dict)

    def text(self, key: str) -> str | None:
        """Return the text of a column, by its key; None if the row has none."""
        return self.texts.get(key)


class JudgesPanel(Panel):
    """Shows one of four tables: agreement of the judges, agreement by query, selections, or flipped labels.

    The user can choose the judge whose label is used, compare runs on
    all labels, and flip labels.

    Attributes
    ----------
    label : QComboBox
        The judge in use.
    compare, flip : QPushButton
        Buttons to compare runs on the labels of all judges, and to flip
        labels or stop that.
    view : Segmented
        Chooses the table.
    """

    def __init__(self, theme: Theme) -> None:
        """Lay out choices and commands above the table, and the note below."""
        super().__init__(
            theme,
            tr("Judges"),
            name="judges-panel",
            keeps_title=True,
        )

        # The choice of the table, and that of the label in use.
        self.view = named(Segmented(_VIEWS, tr("show")), "judges-view")
        self.tools.addWidget(self.view)
        self.label = named(choice_box(()), "judges-label", tr("Label in use"))
        self._label_title = PlainLabel(tr("&Label in use"))
        self._label_title.setBuddy(self.label)

        # Commands that compute the tables.
        tip = tr("Run pipelines on the labels of every judge and compare them.")
        self.compare = named(
            QPushButton(tr("Compare labels…")), "judges-compare", tip=tip
        )
        self.flip = named(
            QPushButton(tr("Flip labels")), "judges-flip", tip=_FLIPS_HELP
        )
        about = tr(
            "Agreement of the judges, selections under each, or selections with flipped labels."
        )

        # The columns of the table depend on what it shows; see
        # `show_rows`. `Shared` is its entry in the list of exports.
        self.table = TableView(
            theme,
            (),
            "judges-table",
            lambda row: row.key,
            accessible_name=tr("Agreement and selections"),
            shared=Shared("judges", tr("Judges"), about),
            feature_of=lambda row: row.feature or 0,  # 0: none
        )
        self._columns: list[str] = []
        self.note = named(WrappedLabel(), "judges-note", role="caption")
        line = fill(
            QHBoxLayout(),
            self._label_title,
            (self.label, 1),
            1,
            self.compare,
            self.flip,
            spacing=8,
        )
        fill(self.body, line, (self.table, 1), self.note, spacing=6)

    def show_judges(self, judges: Sequence[str], used: str) -> None:
        """Offer the judges for a comparison.

        ``used`` is the judge whose labels are in use. Without judges
        (one label column), only flipped labels are offered.
        """
        set_choices(self.label, tuple((name, name) for name in judges))
        self.label.setCurrentIndex(self.label.findData(used))
        for widget in (self._label_title, self.label, self.compare, self.view):
            widget.setVisible(bool(judges))
        self.set_title(tr("Judges") if judges else tr("Flipped labels"))

    def show_rows(
        self, columns: Sequence[tuple[str, str]], rows: Sequence[_Row], note: str
    ) -> None:
        """Show a table in the panel: rows of texts.

        ``columns`` are the keys and titles of the columns, and ``note``
        stands below the table.
        """
        # The first column stretches and is on the left; the others are
        # numbers. Widths are in pixels.
        table_columns = [
            Column(
                key,
                title,
                align="right" if index else "left",
                value=partial(_Row.text, key=key),
                stretch=not index,
                least=120,
                width=0 if not index else 84,
            )
            for index, (key, title) in enumerate(columns)
        ]

        # The columns of the table are replaced only if they differ.
        if [column.key for column in table_columns] != self._columns:
            self._columns = [column.key for column in table_columns]
            self.table.set_columns(table_columns)
        self.table.set_rows(rows)
        self.note.setText(note)
        self.note.setVisible(bool(note))


class JudgesController(Controller):
    """Compares the judges of the open data, and repeats runs with flipped labels, for the panel on judges.

    Parameters
    ----------
    theme : Theme
    models : Models
    """

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        """Make the panel, and connect it with the session and the runs."""
        super().__init__(parent)
        self._models = models
        self._session = models.session
        self.panel = JudgesPanel(theme)
        self.panels = (self.panel,)

        # Results for the data and the runs that are shown; None until
        # they are computed.
        self._agreement: Agreement | None = None
        self._selection: JudgeSelections | None = None
        self._flips: tuple[RunRecord, FlippedLabels] | None = None

        # the run whose labels are flipped now
        self._flipped_run: RunRecord | None = None

        # Agreement and selections are computed in the background when
        # the panel shows them.
        worker = models.task_worker
        panel = self.panel
        fail = self.failed.emit
        self._agreement_demand = OnDemand(
            parent=self,
            worker=worker,
            key=self._agreement_key,
            compute=self._compare_judges,
            failed=fail,
            panel=panel,
        )
        self._selection_demand = OnDemand(
            parent=self,
            worker=worker,
            key=self._selection_key,
            compute=self._compare_selections,
            failed=fail,
            panel=panel,
        )

        # Flipped labels are computed on command, and shown as they grow.
        self._simulation = BackgroundSimulation(
            worker, tr("Flipping labels"), "flips", self
        )
        self._simulation.failed.connect(self.failed)
        self._simulation.grew.connect(self._grow)
        self._simulation.changed.connect(self.update)

        # Commands of the user.
        panel.view.chosen.connect(self.update)
        panel.label.activated.connect(self._choose)
        panel.compare.clicked.connect(self._session.labelsAsked)
        panel.flip.clicked.connect(self.toggle)
        panel.table.chosen.connect(self._inspect)

        # Changes of the session and of the runs.
        self._session.datasetChanged.connect(self._forget)
        self._session.measureChanged.connect(self.update)
        models.runs.shownChanged.connect(self.update)
        models.runs.ended.connect(self.update)
        panel.hide()

    @property
    def possible(self) -> bool:
        """Whether runs with flipped labels can be started for the shown run, or stopped.

        Runs with flipped labels can be stopped while they are under way.
        """
        record = self._models.runs.shown
        if self.busy:
            return True
        if (
            record is None
            or record.result is None
            or record.dataset is not self._session.dataset
        ):
            return False
        selects_by_labels = record.plan.entry.selects and not preferences_of(
            record.plan
        )
        return self._session.has_documents and selects_by_labels

    @property
    def busy(self) -> bool:
        """Whether runs with flipped labels are under way."""
        return self._simulation.busy

    @property
    def _judges(self) -> tuple[str, ...]:
        """Names of the judges of the open data."""
        dataset = self._session.dataset
        return dataset.origin.columns.judges if dataset is not None else ()

    @Slot()
    def update(self) -> None:
        """Show the chosen table with the results so far."""
        # The panel is hidden unless there is something to show in it.
        self.panel.setVisible(
            bool(self._judges) or self.busy or self._flips is not None
        )
        if not self.panel.isVisible():
            return

        # Results that are out of date are computed in the background,
        # and shown by another call of this method.
        self._agreement_demand.update()
        self._selection_demand.update()
        self.panel.flip.setText(tr("Stop") if self.busy else tr("Flip labels"))
        self.panel.flip.setEnabled(self.busy or self.possible)

        # With one judge, only flipped labels can be shown.
        view = self.panel.view.value() if self._judges else FLIPS
        if view == AGREEMENT:
            self._show_agreement()
        elif view == QUERIES:
            self._show_queries()
        elif view == SELECTION:
            self._show_selection()
        else:
            self._show_flips()

    @Slot()
    def toggle(self) -> None:
        """Start runs of the shown run's plan with flipped labels, or stop them.

        A start removes earlier results, and shows the table of the new
        ones. A stop leaves the results so far. If the user has chosen a
        fold, only this fold is run.
        """
        if self.busy:
            self._simulation.stop()
            return
        record = self._models.runs.shown
        fold = self._session.fold
        if record is None or not self.possible:
            return
        self._flipped_run = record
        self._flips = None
        self.panel.view.select(FLIPS)
        plan = record.plan if fold is None else record.plan.changed(folds=(fold,))
        dataset = record.dataset
        self._simulation.start(lambda: _flip_steps(plan, dataset))

    @Slot()
    def _forget(self) -> None:
        """Stop runs with flipped labels, forget all results, and show the judges of the open data.

        This is done when other data are opened.
        """
        self._simulation.stop()
        self._agreement = self._selection = self._flips = None
        dataset = self._session.dataset
        if dataset is not None:
            self.panel.show_judges(self._judges, dataset.origin.columns.label)
        self.update()

    @Slot()
    def _choose(self) -> None:
        """Ask for the labels of the judge that the user has chosen."""
        name = str(self.panel.label.currentData())
        dataset = self._session.dataset
        if dataset is not None and name != dataset.origin.columns.label:
            self._session.labelAsked.emit(name)

    @Slot(object)
    def _inspect(self, row: _Row) -> None:
        """Ask to inspect the feature of a row, if it has one."""
        if row.feature is not None:
            self._session.inspectAsked.emit(row.feature)

    def _agreement_key(self) -> Key | None:
        """Return the key of the agreement: the open data; None without several judges."""
        return (
            (self._session.dataset,)
            if self._judges and self._session.has_documents
            else None
        )

    def _compare_judges(self) -> Computation | None:
        """Return the computation of the judges' agreement; None without data."""
        dataset = self._session.dataset
        if dataset is None:
            return None

        def show(agreement: Agreement) -> None:
            """Keep the agreement, and show it."""
            self._agreement = agreement
            self.update()

        return computation(
            tr("Comparing the judges"), show, _agreement_of_judges, dataset
        )

    def _results(self) -> list[RunResult]:
        """Return the last finished run of the shown run's plan under each judge.

        Such runs have the same plan, except for the column of the
        label. Judges without such a run are left out.
        """
        current = self._models.runs.shown
        judges = self._judges
        if current is None or not judges:
            return []

        # The judge of a run is the column of its label. Later runs
        # replace earlier ones.
        by_judge: dict[str, RunResult] = {}
        for record in self._models.runs.records:
            plan = record.plan
            if (
                record.result is not None
                and plan.changed(columns=current.plan.columns) == current.plan
            ):
                by_judge[str(plan.columns.get("label", ""))] = record.result
        return [by_judge[name] for name in judges if name in by_judge]

    def _selection_key(self) -> Key | None:
        """Return the key of the comparison of selections: the runs; None without it."""
        results = self._results()
        selects = len(results) > 1 and results[0].plan.entry.selects
        return tuple(map(id, results)) if selects else None

    def _compare_selections(self) -> Computation | None:
        """Return the computation that compares the selections under the judges."""

        def show(selections: JudgeSelections) -> None:
            """Keep the selections, and show them."""
            self._selection = selections
            self.update()

        return computation(
            tr("Comparing the selections"), show, _selections_of_judges, self._results()
        )

    @Slot(object)
    def _grow(self, flips: FlippedLabels) -> None:
        """Keep the results with flipped labels so far, and show them."""
        if self._flipped_run is not None:
            self._flips = self._flipped_run, flips
            self.update()

    def _show_agreement(self) -> None:
        """Show the agreement of each pair of judges."""
        # The columns are there before the agreement is computed; the rows are not.
        titles = tr("judges"), tr("documents"), tr("queries"), "τ_b", "α"
        columns = list(
            zip(("judges", "documents", "queries", "tau", "alpha"), titles, strict=True)
        )
        self.panel.table.placeholder = tr("Comparing the judges …")
        agreement = self._agreement
        note = ""

        # One row for each pair of judges.
        rows = []
        if agreement is not None:
            note = tr(
                "Mean of Kendall's τ_b within queries; Krippendorff's α for judges with one scale, of all "
                "{alpha}."
            ).format(alpha=_signed_or_dash(agreement.alpha))
            rows = [
                _Row(
                    key=f"{pair.first}\n{pair.second}",
                    feature=None,
                    texts={
                        "judges": f"{pair.first} · {pair.second}",
                        "documents": count_text(pair.n_documents),
                        "queries": count_text(pair.n_queries),
                        "tau": _signed_or_dash(pair.mean_tau),
                        "alpha": _signed_or_dash(pair.alpha),
                    },
                )
                for pair in agreement.pairs
            ]
        self.panel.show_rows(columns, rows, note)

    def _show_queries(self) -> None:
        """Show the agreement of the judges in each query, the least agreement first."""
        self.panel.table.placeholder = tr("Comparing the judges …")

        # One column for the query, one for the mean, and one for each pair of judges.
        pairs = self._agreement.pairs if self._agreement is not None else ()
        titles = (f"{pair.first} · {pair.second}" for pair in pairs)
        columns = [("query", tr("query")), ("mean", tr("mean"))]
        columns += [(str(index), title) for index, title in enumerate(titles)]

        # The values are in the order of the columns, whose keys a dict lists.
        rows = [
            _Row(
                key=query,
                feature=None,
                texts=dict(
                    zip(
                        dict(columns),
                        (query, *map(_signed_or_dash, (mean, *taus))),
                        strict=True,
                    )
                ),
            )
            # None: all queries
            for query, mean, taus in (
                self._agreement.least(None) if self._agreement is not None else ()
            )
        ]
        note = tr(
            "Kendall's τ_b of the labels within each query, least agreement first."
        )
        self.panel.show_rows(columns, rows, note if rows else "")

    def _show_selection(self) -> None:
        """Show the share of the folds that select each feature under each judge."""
        # Without several runs to compare, no selection is shown.
        selection = self._selection if self._selection_key() is not None else None
        self.panel.table.placeholder = _NO_RUNS
        if selection is None:
            self.panel.show_rows((), (), "")
            return

        # "=" keeps the keys of judges apart from those of the other columns.
        columns = [
            ("feature", tr("feature")),
            *((f"={j}", j) for j in selection.judges),
            ("n", tr("judges")),
        ]

        # One row for each feature that is selected; most judges first.
        rows = []
        for column in selection.order().tolist():
            shares = {
                f"={j}": percentage(s)
                for j, s in zip(selection.judges, selection.shares[column], strict=True)
            }
            name = _id_and_name(
                int(selection.feature_ids[column]), selection.feature_names[column]
            )
            texts = {"feature": name, **shares, "n": str(selection.n_judges[column])}
            rows.append(_Row(name, int(selection.feature_ids[column]), texts))
        note = tr(
            "Share of folds with a feature, and judges with at least half of the folds. Nogueira's index "
            "across judges: {index}."
        ).format(index=f"{selection.nogueira:.2f}")
        self.panel.show_rows(columns, rows, note)

    def _show_flips(self) -> None:
        """Show the selections and measures by the share of flipped labels."""
        self.panel.table.placeholder = (
            tr("Flipping labels …") if self.busy else _NO_FLIPS
        )
        if self._flips is None:
            self.panel.show_rows((), (), "")
            return
        record, flips = self._flips

        # The first column names the feature; the others are for the
        # shares of flipped labels.
        columns = [("feature", tr("feature"))]
        columns += [
            (str(index), f"{100 * share:g} %")
            for index, share in enumerate(flips.shares)
        ]

        def row(
            name: str,
            feature: int | None,
            numbers: Sequence[Any],
            text_of: Callable[[Any], str],
        ) -> _Row:
            """Return a row with a name and a number for each share of flips, formatted by ``text_of``.

            ``feature`` is the id of a feature; None for the row of a measure.
            """
            texts = {
                str(index): text_of(number) for index, number in enumerate(numbers)
            }
            return _Row(name, feature, {"feature": name, **texts})

        # One row for each feature, then one for the similarity of selections.
        rows = [
            row(
                _id_and_name(
                    int(flips.feature_ids[column]), flips.feature_names[column]
                ),
                int(flips.feature_ids[column]),
                flips.selected[:, column].tolist(),
                percentage,
            )
            for column in flips.order().tolist()
        ]
        rows.append(
            row(tr("Jaccard with 0 %"), None, flips.jaccard.tolist(), "{:.2f}".format)
        )

        # Measures of a sealed test part stay hidden.
        if not self._session.is_sealed(record.dataset):
            rows += [
                # v has a row for each share, and a column for each draw
                row(name, None, v.mean(axis=1).tolist(), fixed)
                for name, v in flips.values.items()
            ]
        note = tr(
            "{title}: selection probability by share of flipped labels, {n} draws. Test labels are kept."
        ).format(title=record.title, n=flips.n_draws)
        self.panel.show_rows(columns, rows, note)


def _signed_or_dash(value: float) -> str:
    """Return a number with its sign; a dash for NaN."""
    return signed(value, 2) if not np.isnan(value) else "–"


def _id_and_name(feature: int, name: str) -> str:
    """Return id and name of a feature; only the id if the name just repeats it."""
    return f"{feature} {name}".removesuffix(f" feature {feature}")


def _agreement_of_judges(dataset: FoldedDataset) -> Agreement:
    """Return the agreement of the judges of all parts; runs on the worker."""
    from rankstudio.plugins.judges.agreement import agreement  # noqa: PLC0415 - on the worker only

    judged = dataset.extension(PartJudgments)
    return agreement(() if judged is None else judged.parts)


def _selections_of_judges(results: Sequence[RunResult]) -> JudgeSelections:
    """Return the selections under each judge; runs on the worker."""
    from rankstudio.plugins.judges.agreement import selection_by_judge  # noqa: PLC0415 - on the worker only

    return selection_by_judge(results)


def _flip_steps(plan: Plan, dataset: FoldedDataset) -> Iterator[FlippedLabels | None]:
    """Yield the results with flipped labels so far; runs on the worker."""
    from rankstudio.plugins.judges.flipped_labels import flip_steps  # noqa: PLC0415 - on the worker only

    yield from flip_steps(plan, dataset, n_draws=N_DRAWS, seed=plan.seed)
