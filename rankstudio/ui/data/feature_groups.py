"""Groups of features, made on the Data page: what a selector takes or leaves as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QWidget

from rankstudio.engine.data.feature_groups import (
    Groups,
    among,
    group_name,
    group_names,
    in_other_group,
    read_groups,
)
from rankstudio.engine.errors import RankStudioError
from rankstudio.ui.data.controller import DataController
from rankstudio.ui.data.described_features import DescribedFeature
from rankstudio.ui.language import tr
from rankstudio.ui.model.session import Session
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.widgets.columns import ROW_ROLE


class FeatureGroups(Controller):
    """Puts features into groups, and takes them out. Groups are a part of the plan: they can be undone.

    Parameters
    ----------
    session : Session
    data : DataController
        On whose table features are selected, and their groups written.
    parent : QWidget
        Over which questions are asked.
    """

    changed = Signal(object)
    """The user has made other groups, or undone or redone that; they are in the plan by now."""

    def __init__(self, session: Session, data: DataController, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._table, self._window = session, data.statistics.table, parent
        self._groups: Groups = session.plan.groups
        self._edits: set[tuple[str, Groups, Groups]] = set()  # of which data, and the groups before and after
        data.statistics.edited.connect(self._write)
        session.planChanged.connect(self._follow)

    def action(self) -> QAction:
        """Return what asks for the group of the selected features, for the menu of a row."""
        action = QAction(tr("Group…"), self._table)
        action.triggered.connect(self.ask)
        return action

    @Slot()
    def ask(self) -> None:
        """Ask in which group the selected features are to be."""
        rows: list[DescribedFeature] = [
            index.data(ROW_ROLE) for index in sorted(self._table.selectionModel().selectedRows())
        ]
        if not rows:
            self.failed.emit(
                tr("No feature is selected: select rows of the table of features on the Data page.")
            )
            return
        groups = self._session.plan.groups
        known = group_names(groups)
        now = known.get(rows[0].feature_id, "")
        offered = [now, *(name for name in ("", *groups) if name != now)]
        what = rows[0].name if len(rows) == 1 else tr("{n_rows} features").format(n_rows=len(rows))
        name, agreed = QInputDialog.getItem(
            self._window,
            tr("Group"),
            tr("Group of {what}; empty for none:").format(what=what),
            offered,
            0,
            True,
        )
        if agreed:
            self._put(rows, name)

    def read(self, path: Path) -> bool:
        """Take the groups in a table of features; tell whether there are any of features of the data."""
        dataset = self._session.dataset
        if dataset is None:
            return False
        try:
            found = among(read_groups(path), dataset.feature_ids.tolist())
        except RankStudioError:
            return False
        if found:
            self._change(tr("the groups of {name}").format(name=path.name), found)
        return bool(found)

    @Slot(object, str, str)
    def _write(self, row: DescribedFeature, key: str, text: str) -> None:
        if key == "group":
            self._put([row], text)

    def _put(self, rows: Sequence[DescribedFeature], name: str) -> None:
        members = [row.feature_id for row in rows]
        what = (
            tr("feature {members}").format(members=members[0])
            if len(members) == 1
            else tr("{n_members} features").format(n_members=len(members))
        )
        self._change(
            tr("the group of {what}").format(what=what),
            in_other_group(group_name(name), members, self._session.plan.groups),
        )

    def _change(self, text: str, groups: Groups) -> None:
        dataset, before = self._session.dataset, self._session.plan.groups
        if dataset is not None and groups != before:
            self._edits.add((dataset.checksum, before, groups))
            self._session.change(text, groups=groups)

    @Slot()
    def _follow(self) -> None:
        """Tell what the user's edits, also undone and redone ones, made of the groups.

        Those that come with the plan of a run or of a file are the plan's alone.
        """
        dataset, before, now = self._session.dataset, self._groups, self._session.plan.groups
        self._groups = now
        checksum = dataset.checksum if dataset is not None else ""
        if before != now and {(checksum, before, now), (checksum, now, before)} & self._edits:
            self.changed.emit(now)
