"""Names, notes and costs of features, written on the Data page; groups come with them from files."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QInputDialog, QLineEdit, QWidget

from rankstudio.engine.data.feature_groups import Groups
from rankstudio.engine.data.feature_names import (
    FeatureNotes,
    load_notes,
    read_feature_names,
    renamed,
    save_notes,
)
from rankstudio.engine.errors import RankStudioError
from rankstudio.ui.data.controller import DataController
from rankstudio.ui.data.described_features import DescribedFeature
from rankstudio.ui.data.feature_groups import FeatureGroups
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.process.settings import Settings

_FILTER = tr("Names of features (*.csv *.txt *.json);;All files (*)")


class FeatureNames(Controller):
    """Keeps what the user calls features, and what they cost.

    Names, notes and groups go with the contents of the data, whichever study is open: they are a table in the
    folder of the settings, under the checksum of the first file. Groups and costs are in the plan, too, as
    they were when a run began.

    Parameters
    ----------
    models : Models
    data : DataController
        Where they are written.
    settings : Settings
        Beside which they are kept.
    parent : QWidget
        Over which questions are asked.

    Attributes
    ----------
    groups : FeatureGroups
        Those that are made on the same table.
    """

    def __init__(self, models: Models, data: DataController, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._runs, self._data = models.session, models.runs, data
        self._folder = settings.names_folder
        self._window = parent
        self._notes = FeatureNotes()
        self.groups = FeatureGroups(models.session, data, parent)
        self.groups.failed.connect(self.failed)
        self.groups.changed.connect(self._keep_groups)
        self._of = ""  # checksum of the data whose notes these are
        models.session.datasetChanged.connect(self._load)
        data.statistics.edited.connect(self._change)
        data.statistics.namesAsked.connect(self.ask)
        data.statistics.table.row_actions = self._actions

    @Slot()
    def ask(self) -> None:
        """Ask for a file with names, and take them."""
        dataset = self._session.dataset
        if dataset is None:
            return
        folder = str(dataset.path.parent if dataset.path is not None else Path.home())
        name, _ = QFileDialog.getOpenFileName(self._window, tr("Names of features"), folder, _FILTER)
        if name:
            self.read(Path(name))

    def read(self, path: Path) -> None:
        """Take the names and groups in a file; one that has neither is refused."""
        dataset = self._session.dataset
        if dataset is None:
            return
        has_groups = self.groups.read(path)
        try:
            found = read_feature_names(path)
        except RankStudioError as error:
            if not has_groups:
                self.failed.emit(str(error))
            return
        ids = set(dataset.feature_ids.tolist())
        known = {i: name for i, name in found.items() if i in ids}
        if not known and not has_groups:
            self.failed.emit(
                tr("{path}: found names of other features than the data have ({n_ids} of them).").format(
                    path=path, n_ids=len(ids)
                )
            )
            return
        self._keep(replace(self._notes, names={**self._notes.names, **known}))

    @Slot()
    def _load(self) -> None:
        dataset = self._session.dataset
        if dataset is not None and dataset.checksum != self._of:
            self._of = dataset.checksum
            self._notes = load_notes(self._folder, dataset)
            self._data.set_notes(self._notes.notes)

    @Slot(object, str, str)
    def _change(self, row: DescribedFeature, key: str, text: str) -> None:
        if key == "cost":
            self._set_cost(row.feature_id, text)
        elif key == "name":
            self._keep(self._notes.with_name(row.feature_id, text))

    def _actions(self, row: DescribedFeature) -> list[QAction]:
        """Return what can be done with a feature of the table."""
        note = QAction(tr("Note…"), self._data.statistics.table)
        note.triggered.connect(lambda: self._ask_note(row))
        return [note, self.groups.action()]

    def _ask_note(self, row: DescribedFeature) -> None:
        text, agreed = QInputDialog.getText(
            self._window,
            tr("Note"),
            tr("Feature {feature_id}:").format(feature_id=row.feature_id),
            QLineEdit.EchoMode.Normal,
            row.note,
        )
        if agreed:
            self._keep(self._notes.with_note(row.feature_id, text))

    @Slot(object)
    def _keep_groups(self, groups: Groups) -> None:
        self._keep(replace(self._notes, groups=groups))

    def _keep(self, notes: FeatureNotes) -> None:
        """Show other names and notes everywhere, and keep them."""
        dataset, names = self._session.dataset, notes.names != self._notes.names
        if dataset is None or notes == self._notes:
            return
        self._notes = notes
        self._data.set_notes(notes.notes)
        if names:
            new = renamed(dataset, notes.names)
            self._runs.adopt([r for r in self._runs.records if r.dataset is dataset], new)
            self._data.keep_reports()
            self._session.rename_features(new)
        try:
            save_notes(self._folder, dataset, notes)
        except RankStudioError as error:
            self.failed.emit(str(error))

    def _set_cost(self, feature: int, text: str) -> None:
        parameter = self._data.costs_parameter()
        try:
            cost = float(text)
        except ValueError:
            cost = math.nan
        if parameter is None:
            return
        if not 0 < cost < math.inf:
            self.failed.emit(
                tr("cost of feature {feature}: found {text!r}, expected a number greater than 0.").format(
                    feature=feature, text=text
                )
            )
            return
        parameters = dict(self._session.plan.parameters)
        costs = dict(parameters[parameter.name])
        costs[feature] = cost
        parameters[parameter.name] = tuple(sorted((i, c) for i, c in costs.items() if c != 1.0))
        self._session.change(
            tr("the cost of feature {feature}").format(feature=feature), parameters=parameters
        )
