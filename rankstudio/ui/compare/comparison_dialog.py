"""Several methods, rankers and datasets at once: what to run, how much work that is, and a button."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.analysis.workload import THUMB, Workload
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.language import tr, trn
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.widgets.choice_box import choice_box
from rankstudio.ui.widgets.layout import fill, named

OWN_MODEL = ""
"""The key of the ranker that is none: the selector's own weights."""


@dataclass(frozen=True)
class Offer:
    """Something that can be ticked.

    Attributes
    ----------
    key : str
        For the program; of a dataset its path.
    label : str
    ticked : bool
        At first.
    hint : str
        A sentence; where it cannot be ticked, why.
    enabled : bool
    """

    key: str
    label: str
    ticked: bool = False
    hint: str = ""
    enabled: bool = True


@dataclass(frozen=True)
class Offers:
    """What a dialog offers; plans are chosen in its box, by key and label."""

    methods: tuple[Offer, ...]
    rankers: tuple[Offer, ...]
    data: tuple[Offer, ...]
    plans: tuple[tuple[str, str], ...] = ()


Planned = Callable[[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]], Sequence[Plan]]
"""Returns the plans of a plan file ("" for none), ticked methods, rankers and data."""


class ComparisonDialog(QDialog):
    """Tick what is to be run; the number of units and about how long they take stand below.

    Parameters
    ----------
    offers : Offers
    planned : callable
        Returns the plans of what is ticked.
    measured : callable
        Returns their workload.
    plan : str
        Key of the plan file to begin with; "" for what is ticked.
    parent : QWidget, optional
    """

    planChosen = Signal(str)

    def __init__(
        self,
        offers: Offers,
        planned: Planned,
        measured: Callable[[Sequence[Plan]], Workload],
        plan: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("comparison-dialog")
        self.setWindowTitle(tr("Run a comparison"))
        self._planned, self._measured = planned, measured
        self.plan = named(choice_box(()), "comparison-plan", tr("Plan"))
        self.plan.addItem(tr("Methods selected below"), "")
        for key, label in offers.plans:
            self.plan.addItem(label, key)
        self.methods = tick_list("comparison-methods", tr("Methods"), offers.methods)
        self.rankers = tick_list("comparison-rankers", tr("Final rankers"), offers.rankers)
        self.data = tick_list("comparison-data", tr("Data"), offers.data)
        self._work = named(PlainLabel(), "comparison-work", role="muted")
        self._work.setWordWrap(True)
        self._work.setMinimumHeight(40)
        self._run = named(QPushButton(tr("&Run in the background")), "comparison-run", role="primary")
        self._cancel = QPushButton(tr("Cancel"))
        self._lay_out()
        for ticks in (self.methods, self.rankers, self.data):
            ticks.itemChanged.connect(self._update)
        self.plan.currentIndexChanged.connect(self._update)
        self._run.clicked.connect(self.accept)
        self._cancel.clicked.connect(self.reject)
        self.plan.setCurrentIndex(max(0, self.plan.findData(plan)))
        self._update()

    def plans(self) -> tuple[Plan, ...]:
        """Return what is to be run."""
        key = str(self.plan.currentData())
        return tuple(self._planned(key, *map(ticked, (self.methods, self.rankers, self.data))))

    def work(self) -> str:
        """Return what is said of the work."""
        return self._work.text()

    def _lay_out(self) -> None:
        lists = QHBoxLayout()
        for ticks, stretch in ((self.methods, 4), (self.rankers, 3), (self.data, 4)):
            title = named(PlainLabel(ticks.accessibleName()), role="title")
            fill(lists, (fill(QVBoxLayout(), title, (ticks, 1), spacing=6), stretch), spacing=12)
        buttons = fill(QHBoxLayout(), (self._work, 1), self._cancel, self._run, spacing=8)
        fill(QVBoxLayout(self), self.plan, (lists, 1), buttons, margins=(16, 16, 16, 16), spacing=12)
        self._run.setDefault(True)
        self.resize(820, 520)

    @Slot()
    def _update(self) -> None:
        """Say how much work it is."""
        own = not self.plan.currentData()
        self.methods.setEnabled(own)
        self.rankers.setEnabled(own)
        plans = self.plans()
        self._run.setEnabled(bool(plans))
        self._work.setText(
            _said(self._measured(plans)) if plans else tr("Nothing to run: select a method and data.")
        )


def ticked(ticks: QListWidget) -> tuple[str, ...]:
    """Return the keys of what is ticked in a list."""
    items = [ticks.item(row) for row in range(ticks.count())]
    on = [item for item in items if item.checkState() == Qt.CheckState.Checked]
    return tuple(item.data(Qt.ItemDataRole.UserRole) for item in on)


def tick_list(name: str, said: str, offers: Sequence[Offer]) -> QListWidget:
    """Return a list whose entries are ticked."""
    made = named(QListWidget(), name, said)
    for offer in offers:
        item = QListWidgetItem(offer.label, made)
        item.setData(Qt.ItemDataRole.UserRole, offer.key)
        item.setToolTip(plain(offer.hint))
        item.setSizeHint(QSize(0, 28))
        flags = Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsSelectable
        item.setFlags(flags | Qt.ItemFlag.ItemIsEnabled if offer.enabled else Qt.ItemFlag.NoItemFlags)
        item.setCheckState(Qt.CheckState.Checked if offer.ticked else Qt.CheckState.Unchecked)
    made.setCurrentRow(0)
    return made


def _said(work: Workload) -> str:
    runs = trn("{n} run", "{n} runs", work.n_runs).format(n=work.n_runs)
    units = trn("{n:,} fit", "{n:,} fits", work.n_units).format(n=work.n_units)
    if not work.n_guessed:
        how = tr("estimated from finished runs")
    elif work.n_guessed == work.n_runs:
        how = tr("rough estimate, {thumb:g} s per fit").format(thumb=THUMB)
    else:
        how = tr("{n_guessed} runs estimated roughly, {thumb:g} s per fit").format(
            n_guessed=work.n_guessed, thumb=THUMB
        )
    return tr("{runs}, {units}: about {seconds}, {how}.").format(
        runs=runs, units=units, seconds=_duration(work.seconds), how=how
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = seconds / 60
    return tr("{minutes:.0f} min").format(minutes=minutes) if minutes < 90 else f"{minutes / 60:.1f} h"
