"""Columns of plug-ins in the table of features, computed on the worker while the table is visible."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.feature_columns import (
    FeatureColumn,
    FeatureValue,
    feature_columns,
)
from rankstudio.engine.support.work import finish
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.session import Session


class ContributedColumn(QObject):
    """A plug-in's column of the table of features, whose numbers are computed for the shown fold.

    Parameters
    ----------
    entry : FeatureColumn
        The column, as the plug-in describes it.
    session : Session
    worker : Worker
        Computes the numbers on its thread.
    fail : callable
        Called with an error message if the computation fails.
    panel : QWidget
        Panel that shows the column; nothing is computed while it is hidden.
    """

    changed = Signal()
    """Other numbers have been computed."""

    def __init__(
        self,
        entry: FeatureColumn,
        session: Session,
        worker: Worker,
        fail: Callable[[str], object],
        panel: QWidget,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.entry = entry
        self._session = session

        # The last computed values by the id of the feature, and the key
        # of what they depend on (`_key`).
        self._values: dict[int, FeatureValue] = {}
        self._values_key: Key | None = None

        # Has the worker compute the values when their key has changed
        # and the panel is visible.
        self._values_demand = OnDemand(
            self, worker, self._key, self._compute, fail, slot=entry.key, panel=panel
        )

    def values(self) -> Mapping[int, FeatureValue]:
        """Return the values for the shown fold by the ids of the features.

        Return {} until the values are computed.
        """
        return self._values if self._values_key == self._key() else {}

    def update(self) -> None:
        """Have the column computed, unless it already is."""
        self._values_demand.update()

    def forget(self) -> None:
        """Forget the values, as other data are open."""
        self._values_demand.forget()

    def _key(self) -> Key | None:
        """Return the key of the values: dataset, number of the shown fold, and convention.

        The values are computed anew when the key has changed. Return
        None if the values cannot be computed on the shown fold, or if
        all folds are shown.
        """
        fold = self._session.shown_fold
        if fold is None or not self._session.has_documents:
            return None

        # The entry names the parts of the data that it reads beside the
        # training part, and the number of documents that it can handle.
        if any(name not in fold.parts for name in self.entry.parts):
            return None

        # The set has each part once, as the entry may name the training part.
        parts = [fold.parts[name] for name in {"train", *self.entry.parts}]
        if sum(part.n_documents for part in parts) > self.entry.most_documents:
            return None
        return self._session.dataset, fold.number, self._session.convention

    def _compute(self) -> Computation | None:
        """Return the computation of the column on the shown fold.

        Return None while no single fold is shown. The computation is
        carried out on the worker, and then calls the inner function
        `show` with the values.
        """
        fold = self._session.shown_fold
        key = self._key()
        if fold is None:
            return None

        # The key is that of the time of the request, as another fold
        # may be shown later.
        def show(values: dict[int, FeatureValue]) -> None:
            """Store the values by the ids of features, and emit `changed`."""
            self._values = values
            self._values_key = key
            self.changed.emit()

        convention = self._session.convention
        return computation(
            tr(self.entry.task),
            show,
            _column_values,
            self.entry.compute,
            fold,
            convention,
        )


def contributed_columns(
    session: Session,
    worker: Worker,
    fail: Callable[[str], object],
    panel: QWidget,
    parent: QObject,
) -> tuple[ContributedColumn, ...]:
    """Return the columns of the table of features that plug-ins add.

    ``session`` has the shown fold, for which the worker computes the
    numbers; ``fail`` is called with a sentence if that fails. ``panel``
    shows the columns: nothing is computed while it is hidden.
    ``parent`` owns them.
    """
    return tuple(
        ContributedColumn(entry, session, worker, fail, panel, parent)
        for entry in feature_columns()
    )


def _column_values(
    function: str, fold: Fold, convention: str
) -> dict[int, FeatureValue]:
    """Return the values of a column by the ids of the features.

    ``function`` is the path of the plug-in's function, "module:name",
    whose module is imported here, on the worker. The function is called
    with the shown fold and the key of the convention of measures.
    """
    values: dict[int, FeatureValue] = finish(imported(function)(fold, convention))
    return values
