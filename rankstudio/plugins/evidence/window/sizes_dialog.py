"""The best set of each size, searched while the dialog is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from rankstudio.engine.support.number_format import count_text
from rankstudio.ui.background.simulation import BackgroundSimulation, SimulationState
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr
from rankstudio.ui.style.progress_bar import DeferredProgressBar
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, TableView
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import ElidedLabel, WrappedLabel

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.best_subset import BestSubset, SizedSubset

_DIALOG_SIZE = 720, 420
# Half of the last digit of a percentage with three decimals; smaller
# numbers are shown as 0.000 without sign.
_MIN_EXCESS = 5e-6


@dataclass(frozen=True, eq=False)
class SizeRow:
    """A row of the table: the best set of one size.

    Attributes
    ----------
    size : int
    listed : str
        Ids of the set's features.
    above : float
        Relative excess error of the greedy set over this set.
    n_sets : int
        Number of sets of the size.
    n_evaluated : int
        Number of sets whose error was computed exactly; the others were
        excluded by bounds.
    state : str
        "proved", or the gap: by how much a better set may be better.
    seconds : float
        Duration of the search.
    found : SizedSubset
    """

    size: int
    listed: str
    above: float
    n_sets: int
    n_evaluated: int
    state: str
    seconds: float
    found: SizedSubset


def size_rows(best: BestSubset, ids: Sequence[int]) -> list[SizeRow]:
    """Return a row of the dialog's table for each size of which a set is known.

    ``ids`` are those of the data's columns.
    """
    return [
        SizeRow(
            size=subset.size,
            listed="  ".join(
                str(i) for i in sorted(int(ids[column]) for column in subset.features)
            ),
            above=subset.greedy_gap,  # excess error of the greedy set
            n_sets=subset.n_sets,
            n_evaluated=subset.n_evaluated,
            state=_state_text(subset),
            seconds=subset.seconds,
            found=subset,
        )
        for subset in best.sizes
        if subset.features
    ]


def _state_text(subset: SizedSubset) -> str:
    """Return whether a set is proved, or its gap."""
    if subset.proved:
        return tr("proved")
    return tr("gap {gap} %").format(gap=f"{100 * subset.relative_gap:.2g}")


_COLUMNS = (
    Column("size", "k", "right", width=36, full_title="k"),
    Column("listed", tr("best set"), stretch=True),
    Column(
        "above",
        tr("greedy above"),
        "right",
        lambda value: tr("{share} %").format(
            share=f"{100 * value if value > _MIN_EXCESS else 0:.3f}"
        ),
        tooltip=tr("Excess error of the set found by greedy selection"),
        width=104,
    ),
    Column(
        "n_sets",
        tr("sets"),
        "right",
        lambda n: count_text(n) if n < 1e10 else f"{n:.2g}",
        width=110,
    ),
    Column(
        "n_evaluated",
        tr("computed"),
        "right",
        ",",
        tooltip=tr("Sets whose error was computed exactly; bounds excluded the others"),
        width=84,
    ),
    Column("seconds", tr("seconds"), "right", ".2f", width=70),
    Column(
        "state",
        tr("proof"),
        width=92,
        tone=lambda row: "ok" if row.found.proved else "muted",
    ),
)


class SizesDialog(QDialog):
    """A table of the best set of each size that grows during the search; closing it stops the search.

    Parameters
    ----------
    theme : Theme
    worker : Worker
    search : callable
        Returns a generator of the best sets known so far; called on the worker.
    ids : sequence of int
        Feature ids of the data's columns.
    parent : QWidget, optional

    Attributes
    ----------
    chosen : Signal(object)
        The set that the user wants to use (SizedSubset).
    """

    chosen = Signal(object)

    def __init__(
        self,
        theme: Theme,
        worker: Worker,
        search: Callable[[], Iterator[BestSubset]],
        ids: Sequence[int],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        title = tr("Best set of each size")
        searching = tr("Searching …")
        named(self, "sizes-dialog", title)
        self.setWindowTitle(title)
        self._ids = tuple(ids)
        self.table = TableView(
            theme,
            _COLUMNS,
            "sizes-table",
            lambda row: row.size,
            accessible_name=title,
            placeholder=searching,
        )
        about = named(WrappedLabel(), role="caption")
        about.setText(
            tr(
                "The sets with the lowest leave-query-out error. Larger sizes take many times as long."
            )
        )
        self.bar = named(DeferredProgressBar(), "sizes-progress", tr("progress"))
        self.bar.setFixedWidth(120)
        self.status = named(ElidedLabel(), "sizes-status", role="muted")
        self.stop = named(QPushButton(tr("Stop")), "sizes-stop")
        self.use = named(QPushButton(tr("Use this set")), "sizes-use", role="primary")
        self.close_button = named(QPushButton(tr("Close")), "sizes-close")
        row = fill(
            QHBoxLayout(),
            self.bar,
            (self.status, 1),
            self.stop,
            self.use,
            self.close_button,
            spacing=8,
        )
        fill(
            QVBoxLayout(self),
            about,
            (self.table, 1),
            row,
            margins=(16, 14, 16, 14),
            spacing=10,
        )
        self.resize(*_DIALOG_SIZE)
        self.search = BackgroundSimulation(
            worker, tr("Searching for the best set"), "sizes", self
        )
        self.search.grew.connect(self._grow)
        self.search.changed.connect(self._show)
        self.stop.clicked.connect(self.search.stop)
        self.use.clicked.connect(self._use)
        self.table.chosen.connect(self._show)
        self.table.failed.connect(self.status.setText)
        self.close_button.clicked.connect(self.reject)
        self.finished.connect(self.search.stop)
        self.search.start(search)

    @Slot(object)
    def _grow(self, best: BestSubset) -> None:
        """Show the best sets found so far, and the share of all sets that was searched."""
        n_sets = sum(subset.n_sets for subset in best.sizes)
        self.bar.set_share(
            sum(subset.share * subset.n_sets for subset in best.sizes) / n_sets
            if n_sets
            else 1.0
        )
        self.table.set_rows(size_rows(best, self._ids))
        n_proved = sum(subset.proved for subset in best.sizes)
        self.status.setText(
            tr("{proved} of {n} sizes proved").format(
                proved=n_proved, n=len(best.sizes)
            )
        )

    @Slot()
    def _show(self) -> None:
        """Show the progress while the search runs."""
        is_running = self.search.state is SimulationState.RUNNING
        self.stop.setVisible(is_running)
        self.bar.setVisible(is_running)
        self.use.setEnabled(self.table.current() is not None)

    @Slot()
    def _use(self) -> None:
        """Emit the set in the marked row, and close the dialog."""
        row = self.table.current()
        if row is not None:
            self.chosen.emit(row.found)
            self.accept()
