"""Methods over datasets on the page *Compare*: their mean ranks, the diagram, and what the tests say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QHBoxLayout

from rankstudio.engine.errors import PlanError
from rankstudio.engine.export.figures.files import figure_bytes
from rankstudio.engine.export.figures.style import style_of
from rankstudio.engine.support.files import write_bytes, write_text
from rankstudio.plugins.method_ranks.compared_methods import CandidateRun, method_table
from rankstudio.plugins.method_ranks.mean_ranks import MethodRanking, ranking_of
from rankstudio.plugins.method_ranks.rank_diagram import rank_diagram, tikz_text
from rankstudio.plugins.method_ranks.ranking_tables import ranks_table
from rankstudio.plugins.method_ranks.window.diagram_view import DiagramView
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.page.export_item import ExportItem
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Panel, TableView
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

_TITLE = tr("Methods over datasets")


@dataclass(frozen=True)
class MethodRow:
    """A row of the table of ranks: a method with its mean rank and mean value.

    Attributes
    ----------
    method : str
    mean_rank, mean : float
    best_on : int
        Number of datasets on which no method is better.
    group : str
        Letters of the groups of methods that do not differ, of which
        the method is a member.
    """

    method: str
    mean_rank: float
    mean: float
    best_on: int
    group: str


class RanksPanel(Panel):
    """A panel with the table of methods by mean rank, beside the diagram and above the notes.

    Attributes
    ----------
    table : TableView
    diagram : DiagramView
    note : WrappedLabel
        Why there is no ranking.
    """

    def __init__(self, theme: Theme) -> None:
        """Lay out the table beside the diagram, and the note above them."""
        super().__init__(theme, _TITLE, name="ranks-panel")
        about = tr(
            "Mean ranks of the methods that have comparable runs on every dataset."
        )

        # Rows are identified by their methods; `Shared` is the entry of
        # the table in the list of exports.
        self.table = TableView(
            theme,
            _COLUMNS,
            "ranks-table",
            lambda row: row.method,
            accessible_name=tr("Mean ranks of methods"),
            shared=Shared("method-ranks", _TITLE, about, compares=True),
        )
        self.diagram = named(DiagramView(theme), "ranks-diagram")
        self.note = named(WrappedLabel(), "ranks-note", role="caption")
        columns = fill(QHBoxLayout(), (self.table, 1), (self.diagram, 1), spacing=12)
        fill(self.body, self.note, (columns, 1))

    def show_ranking(self, ranking: MethodRanking | str) -> None:
        """Show a ranking, or instead of one a sentence on why there is none."""
        if isinstance(ranking, str):
            self.table.set_rows(())
            self.diagram.show_diagram(None)
            self.set_caption("")
            self.note.setText(ranking)
            self.note.show()
            return

        # The table of the report has the texts: 3 is "best on", and 4
        # the group's letter.
        text = ranks_table(ranking)
        means = ranking.table.values.mean(axis=0).tolist()
        rows = [
            MethodRow(
                name, rank, mean, int(cells[3]), cells[4] if len(cells) > 4 else ""
            )
            for name, rank, mean, cells in zip(
                ranking.methods, ranking.mean_ranks, means, text.rows, strict=True
            )
        ]
        self.table.set_rows(rows)
        self.diagram.show_diagram(rank_diagram(ranking))

        # In a low panel a note below the header would take rows of the table.
        self.note.hide()
        self.set_caption(f"{text.title} · {ranking.notes()[0]}")
        left_out = [exclusion.sentence for exclusion in ranking.table.left_out]
        sentences = [text.note, *([tr("Left out:"), *left_out] if left_out else [])]
        explanation = plain(" ".join(sentences))
        for widget in (self.header, self.diagram):
            widget.setToolTip(explanation)


_COLUMNS = (
    Column("method", tr("method"), stretch=True, least=120),
    Column(
        "mean_rank",
        tr("mean rank"),
        "right",
        ".3f",
        width=84,
        tooltip=tr("1 is the best"),
    ),
    Column(
        "mean",
        tr("mean"),
        "right",
        ".4f",
        width=72,
        tooltip=tr("Mean of the measure over the datasets"),
    ),
    Column(
        "best_on",
        tr("best on"),
        "right",
        width=64,
        tooltip=tr("Datasets on which no method is better"),
    ),
    Column(
        "group",
        tr("group"),
        width=64,
        tooltip=tr(
            "Methods with a common letter do not differ significantly by Nemenyi's test."
        ),
    ),
)


class RanksController(Controller):
    """Ranks the methods of the finished runs, once there are runs on several datasets.

    Parameters
    ----------
    theme : Theme
    models : Models
    """

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        """Make the panel, which is hidden, and update it when runs or measures change."""
        super().__init__(parent)
        self._models = models
        self._ranking: MethodRanking | None = None
        self.panel = RanksPanel(theme)
        self.panels = (self.panel,)

        # Computes the ranking in the background while the panel is
        # visible, and when it appears: if `_key` changes, by
        # `_compute`.
        self._ranking_demand = OnDemand(
            self,
            models.task_worker,
            self._key,
            self._compute,
            self.failed.emit,
            slot="method ranks",
            panel=self.panel,
            on=(self.panel.appeared,),
        )
        runs = models.runs
        for signal in (
            runs.added,
            runs.ended,
            runs.removed,
            runs.restored,
            runs.cleared,
            runs.labelled,
            models.measured.changed,
        ):
            signal.connect(self.update)
        models.session.measureChanged.connect(self.update)
        self.panel.hide()

    @property
    def ranking(self) -> MethodRanking | None:
        """The ranking that is shown; None without one."""
        return self._ranking

    @Slot()
    def update(self) -> None:
        """Show the panel if two methods have runs on several datasets, and compute their ranking.

        The ranking is only computed if the runs have changed.
        """
        # names of the datasets with a finished run, by title of the method
        titles: dict[str, set[str]] = {}
        for record in self._models.runs.records:
            if record.result is not None:
                titles.setdefault(record.title, set()).add(record.dataset.name)
        self.panel.setVisible(
            sum(len(datasets) > 1 for datasets in titles.values()) > 1
        )
        self._ranking_demand.update()

    def export_items(self) -> Iterator[ExportItem]:
        """Yield the diagram for the dialog *Export*, if it is shown."""
        if self._ranking is not None and not self.panel.isHidden():
            # Key, label, help, formats and the name of the file.
            yield ExportItem(
                "critical-difference",
                tr("Critical-difference diagram"),
                tr("The diagram of the mean ranks, for print or as a TikZ picture."),
                (
                    ("PDF", ".pdf"),
                    ("SVG", ".svg"),
                    ("PNG", ".png"),
                    (tr("TikZ"), ".tex"),
                    ("CSV", ".csv"),
                ),
                "critical-difference",
                write=partial(_write_diagram, self._ranking),
                text=partial(tikz_text, rank_diagram(self._ranking)),
            )

    def _candidates(self) -> list[CandidateRun]:
        """Return the finished runs, measured by the session's measure, without sealed test parts.

        A candidate is a run to compare. Runs that are not measured yet
        are left out.
        """
        # `view` returns a run with the session's measure, without sealed parts.
        candidates = []
        for record in self._models.runs.records:
            result = (
                self._models.measured.view(record).result
                if record.result is not None
                else None
            )
            if result is not None:
                text = tr("run {number}, {title}").format(
                    number=record.key, title=record.title
                )
                candidates.append(CandidateRun(text, result, record.label.name))
        return candidates

    def _key(self) -> Key | None:
        """Return the key of the ranking: measure and runs; None without finished runs."""
        runs = [(run.name, run.result, run.method) for run in self._candidates()]
        return (self._models.session.measure, *runs) if runs else None

    def _compute(self) -> Computation:
        """Return the computation of the ranking."""
        measure = self._models.session.measure
        return computation(
            tr("Ranking methods"), self._show, _ranking, self._candidates(), measure
        )

    def _show(self, ranking: MethodRanking | str) -> None:
        """Keep the ranking, or the reason why there is none, and show it."""
        self._ranking = None if isinstance(ranking, str) else ranking
        self.panel.show_ranking(ranking)


def _ranking(candidates: list[CandidateRun], measure: str) -> MethodRanking | str:
    """Return the ranking with its tests, or a sentence on why there is none; runs on the worker."""
    try:
        ranking = ranking_of(method_table(candidates, measure))
    except PlanError as error:
        return str(error)
    _ = ranking.tests  # cached: they take a while, and the window must not wait
    return ranking


def _write_diagram(ranking: MethodRanking, path: Path) -> None:
    """Write the diagram to a file in the format of its suffix."""
    form = path.suffix.lower().removeprefix(".")
    diagram = rank_diagram(ranking)
    if form == "tex":
        write_text(path, tikz_text(diagram))
    else:
        write_bytes(path, figure_bytes(diagram, style_of(), form))
