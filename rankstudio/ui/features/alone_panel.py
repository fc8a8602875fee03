"""Single features: the dot plot with its order, and the controller that feeds it while it is seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.arrays import Ints
from rankstudio.ui.background.job import CancelFlag
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.features.alone_plot import AlonePlot
from rankstudio.ui.features.controller import FeaturesController
from rankstudio.ui.language import tr
from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented
from rankstudio.ui.widgets.layout import named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.features_alone import FeaturesAlone
    from rankstudio.engine.data.dataset import Fold, FoldedDataset

_NO_DOCUMENTS = tr("The documents are not at hand: open the data again to see how each feature ranks alone.")
_MEASURING = tr("Measuring each feature alone…")
_OPTIONS = ((False, tr("sorted")), (True, tr("by id")))


class AlonePanel(Panel):
    """Shows a `FeaturesAlone`.

    Attributes
    ----------
    picked : Signal(int)
        Column of the feature that was picked.
    """

    picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Single features"))
        self.setObjectName("alone-panel")
        self.plot = named(AlonePlot(theme), "alone-plot", tr("Single features"))
        self.switch = named(Segmented(_OPTIONS, tr("order")), "alone-switch")
        self.tools.addWidget(self.switch)
        self.set_content(self.plot)
        self.switch.chosen.connect(self._on_switched)
        self.plot.picked.connect(self.picked)
        self.clear()

    def show_features(self, shown: FeaturesAlone, ids: Ints, names: Sequence[str]) -> None:
        """Show how features rank alone; ``ids`` and ``names`` are of all columns."""
        self.plot.set_features(shown, ids, names)
        self.set_caption(tr("filled: in the model"))

    def show_share(self, share: float | None) -> None:
        """Say how much is measured, where that takes a while; None says nothing more."""
        self.set_caption(tr("{share:.0%} measured").format(share=share) if share is not None else "")

    def clear(self, why: str = _NO_DOCUMENTS) -> None:
        """Show no feature, and why there is none."""
        self.plot.placeholder = why
        self.plot.set_features(None, np.empty(0, dtype=np.int64), ())
        self.set_caption("")

    @Slot(object)
    def _on_switched(self, by_id: object) -> None:
        self.plot.set_by_id(bool(by_id))


class AloneController(Controller):
    """Has every feature of the fold that is looked at measured alone, by the measure that is shown.

    Parameters
    ----------
    theme : Theme
    session, current
        What is shown.
    inspect : FeaturesController
        Which feature is looked at, and who follows a click.
    worker : Worker
        Where features are measured.
    """

    def __init__(
        self,
        theme: Theme,
        session: Session,
        current: CurrentModel,
        inspect: FeaturesController,
        worker: Worker,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._current, self._inspect = session, current, inspect
        self._measured: FoldedDataset | None = None  # whose features are shown, or are being measured
        self.panel = AlonePanel(theme)
        self.panel.picked.connect(self._on_picked)
        self._demand = OnDemand(
            worker,
            self._key,
            self._measure,
            slot="alone",
            panel=self.panel,
            on=(session.datasetChanged, session.foldChanged, session.measureChanged, session.planChanged),
            clear=self._clear,
            stops=True,
            gives_way=True,
            parent=self,
        )
        self._demand.failed.connect(self.failed)
        current.changed.connect(self._mark)
        inspect.inspected.connect(self._mark)

    @Slot()
    def update(self) -> None:
        """Show how the features rank alone, where somebody sees it."""
        self._demand.update()
        self._mark()

    def leave(self) -> None:
        """Measure no longer what nobody looks at."""
        self._demand.update()

    def _key(self) -> Key | None:
        session, dataset = self._session, self._session.dataset
        if dataset is None or not session.has_documents:
            return None
        return session.watched or dataset.folds[0], session.measure, session.convention, session.sealed

    def _measure(self) -> Computation | None:
        session, dataset = self._session, self._session.dataset
        if dataset is None:
            return None
        if self.panel.plot.shown is None or dataset is not self._measured:
            self.panel.clear(_MEASURING)
        self._measured = dataset
        ids, names = dataset.feature_ids, dataset.feature_names

        def show(shown: FeaturesAlone | float) -> None:
            if isinstance(shown, float):
                self.panel.show_share(shown)
            else:
                self.panel.show_features(shown, ids, names)
                self._mark()

        fold = session.watched or dataset.folds[0]
        work = partial(_measured, fold, session.measure, session.convention, session.sealed)
        return Computation(tr("Measuring features alone"), work, show)

    def _clear(self) -> None:
        self._measured = None
        self.panel.clear()

    @Slot()
    def _mark(self) -> None:
        model = self._current.model
        if self.panel.isVisible() and self.panel.plot.shown is not None:
            self.panel.plot.mark(model.step.selected if model else (), self._inspect.column)

    @Slot(int)
    def _on_picked(self, column: int) -> None:
        if self._session.dataset is not None:
            self._inspect.show_at(int(self._session.dataset.feature_ids[column]), None)


def _measured(
    fold: Fold, measure: str, convention: str, sealed: bool, _: CancelFlag
) -> Iterator[FeaturesAlone | float]:
    """Yield the share that is done whenever some features are measured, and then all."""
    from rankstudio.engine.analysis.features.features_alone import measuring_alone  # noqa: PLC0415 - on the worker only

    yield (yield from measuring_alone(fold, measure, convention, sealed=sealed))
