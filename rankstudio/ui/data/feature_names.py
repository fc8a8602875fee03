"""Names, notes, costs and groups of features, written on the Data page or read from files."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QInputDialog, QLineEdit, QWidget

from rankstudio.engine.data.cost_files import read_costs
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_groups import (
    Groups,
    among,
    feature_groups_of,
    group_name,
    group_names,
    in_other_group,
    read_groups,
)
from rankstudio.engine.data.feature_names import (
    FeatureNotes,
    load_notes,
    read_feature_names,
    renamed,
    save_notes,
    set_mismatch,
    with_feature_set,
)
from rankstudio.engine.data.feature_sets import FeatureSet, read_feature_set
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.methods.catalog import Kind
from rankstudio.engine.methods.catalog.parameter import MILLISECONDS
from rankstudio.engine.support.number_format import significant
from rankstudio.ui.data.controller import DataController
from rankstudio.ui.data.statistics_panel import DescribedFeature
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.session import Session
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.process.files_read import ask_beside
from rankstudio.ui.widgets.columns import ROW_ROLE
from rankstudio.ui.widgets.table import RowAction

_FEATURE_SET_FILTER = tr("Feature sets (*.json *.profile *.sd *.txt);;All files (*)")
_COST_FILTER = tr("Costs of features (*.csv *.json);;All files (*)")
_NAME_FILTER = tr("Names of features (*.csv *.txt *.json);;All files (*)")


class FeatureNames(Controller):
    """Stores the names, notes, costs and groups that the user gives to features, or reads from files.

    Names, notes, costs and groups belong to the contents of the data,
    and not to a study: they are stored in a table in the folder of the
    settings, under the checksum of the first data file. Groups and
    costs are also in the plan of a run, as they were when the run
    began.

    Parameters
    ----------
    models : Models
    data : DataController
        Shows the table of features, in which the user writes.
    parent : QWidget
        Widget over which questions open.

    Attributes
    ----------
    groups : FeatureGroups
        Handles the groups that the user writes into the same table.
    """

    warned = Signal(str)
    """A note for the user on a feature set."""

    def __init__(self, models: Models, data: DataController, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = models.session
        self._runs = models.runs
        self._data = data
        self._folder = models.names_folder
        self._window = parent
        self._notes = FeatureNotes()  # names, notes and costs of the open data
        self.groups = FeatureGroups(models.session, data, parent)
        self.groups.failed.connect(self.failed)
        self.groups.said.connect(self.said)
        self.groups.changed.connect(self._keep_groups)
        self._checksum = ""  # of the data to which the notes belong
        models.session.datasetChanged.connect(self._load)

        # `written` has the text that the user wrote into a cell.
        data.statistics.table.rows_model.written.connect(self._change)

        # `names` is the button that reads names from a file;
        # `row_actions` makes the context menu of a row.
        data.statistics.names.clicked.connect(self.ask)
        data.statistics.table.row_actions = self._actions

    @Slot()
    def ask(self) -> None:
        """Ask for a file with names of features, and apply the names."""
        self._ask(tr("Names of features"), _NAME_FILTER, self.read)

    def _ask(self, title: str, kinds: str, read: Callable[[Path], None]) -> None:
        """Ask the user for a file that goes with the open data, and read it with ``read``.

        ``title`` is that of the dialog, which begins in the folder of
        the data. ``kinds`` is the dialog's filter of file names.
        Without open data nothing happens.
        """
        dataset = self._session.dataset
        name = (
            ask_beside(self._window, title, kinds, dataset.path)
            if dataset is not None
            else ""
        )
        if name:
            read(Path(name))

    def read(self, path: Path) -> None:
        """Take over the names and groups of features in a file.

        A file at ``path`` that has neither a name nor a group for any
        feature of the data is refused, with an error.
        """
        dataset = self._session.dataset
        if dataset is None:
            return

        # A file may have groups, names or both.
        has_groups = self.groups.read(path)
        try:
            names = read_feature_names(path)
        except RankStudioError as error:
            if not has_groups:
                self.failed.emit(str(error))
            return
        ids = set(dataset.feature_ids.tolist())
        known_names = {i: name for i, name in names.items() if i in ids}
        if not known_names and not has_groups:
            self.failed.emit(
                tr("{path}: names {n_ids} features that the data do not have.").format(
                    path=path, n_ids=len(names)
                )
            )
            return

        # Names in the file replace earlier ones; other features keep theirs.
        self._keep(replace(self._notes, names={**self._notes.names, **known_names}))

    @Slot()
    def ask_set(self) -> None:
        """Ask for a file with a feature set of a search engine, and take over the feature set."""
        self._ask(tr("Import feature set"), _FEATURE_SET_FILTER, self.read_set)

    def read_set(self, path: Path | str) -> None:
        """Take over the feature set in a file, which defines how a search engine computes features.

        A set that defines no feature of the data is refused, with an
        error. A warning says if the set does not match the data.
        """
        dataset = self._session.dataset
        path = Path(path)
        if dataset is None:
            self.failed.emit(
                tr("{path}: open the data of this feature set first.").format(path=path)
            )
            return
        try:
            new_dataset = with_feature_set(dataset, read_feature_set(path))
        except RankStudioError as error:
            self.failed.emit(str(error))
            return
        feature_set = new_dataset.extension(FeatureSet)
        assert feature_set is not None  # it was just added
        self._notes = replace(self._notes, feature_set=feature_set)

        # Session and runs use the dataset with the set from now on.
        self._exchange(dataset, new_dataset)
        self.said.emit(
            trn(
                "The feature set defines {n} of {total} feature.",
                "The feature set defines {n} of {total} features.",
                dataset.n_features,
            ).format(n=len(feature_set.ids), total=dataset.n_features)
        )
        if note := set_mismatch(new_dataset):
            self.warned.emit(note)
        self._save(dataset)

    @Slot()
    def ask_costs(self) -> None:
        """Ask for a file with costs of features, and apply the costs."""
        self._ask(tr("Import costs"), _COST_FILTER, self.read_costs)

    def read_costs(self, path: Path | str) -> None:
        """Take over the costs of features in a file, in milliseconds.

        A method with costs selects by them from now on. An error says
        if the file cannot be used.
        """
        dataset = self._session.dataset
        plan = self._session.plan
        path = Path(path)
        if dataset is None:
            self.failed.emit(
                tr("{path}: open the data with these features first.").format(path=path)
            )
            return
        try:
            costs = read_costs(path, dataset)
        except RankStudioError as error:
            self.failed.emit(str(error))
            return
        self._notes = replace(self._notes, costs=costs)

        # Session and runs use the dataset with the costs from now on.
        self._exchange(dataset, dataset.extended(costs))

        # The value MILLISECONDS makes a method with a parameter of
        # costs use these costs.
        cost_parameters = {
            p.name: MILLISECONDS for p in plan.entry.parameters if p.kind is Kind.COSTS
        }
        parameters = {**plan.parameters, **cost_parameters}
        self._session.change(
            tr("the costs of {name}").format(name=path.name),
            costs=costs.plain(),
            parameters=parameters,
        )
        text = tr("All features cost {number} ms per query.")
        if cost_parameters:
            text = tr(
                "All features cost {number} ms per query. {method} now selects by milliseconds."
            )
        total = significant(costs.milliseconds(costs.per_query))
        self.said.emit(text.format(number=total, method=plan.entry.label))
        self._save(dataset)

    @Slot()
    def _load(self) -> None:
        """Load the user's notes on the features of the open data, unless they are the same data as before."""
        dataset = self._session.dataset
        if dataset is not None and dataset.origin.checksum != self._checksum:
            self._checksum = dataset.origin.checksum
            self._notes = load_notes(self._folder, dataset)
            self._data.set_notes(self._notes.notes)

    @Slot(object, str, str)
    def _change(self, row: DescribedFeature, key: str, text: str) -> None:
        """Take over a cost or name that the user wrote into a cell of the table.

        ``key`` is that of the column, ``row`` the feature. For other
        columns, nothing is done.
        """
        if key == "cost":
            self._set_cost(row.feature_id, text)
        elif key == "name":
            self._keep(self._notes.with_name(row.feature_id, text))

    def _actions(self, row: DescribedFeature) -> list[RowAction]:
        """Return the actions of the context menu for a feature.

        The cost is among them if the method has costs.
        """
        actions = [
            RowAction(tr("Note…"), partial(self._ask_note, row)),
            RowAction(tr("Group…"), self.groups.ask),
        ]
        if row.cost is not None:
            actions.append(RowAction(tr("Cost…"), partial(self._ask_cost, row)))
        return actions

    def _ask_note(self, row: DescribedFeature) -> None:
        """Ask the user for a note on a feature, and store it; an empty text removes the note."""
        text, agreed = QInputDialog.getText(
            self._window,
            tr("Note"),
            tr("Feature {feature_id}:").format(feature_id=row.feature_id),
            QLineEdit.EchoMode.Normal,
            row.note,
        )
        if agreed:
            self._keep(self._notes.with_note(row.feature_id, text))

    def _ask_cost(self, row: DescribedFeature) -> None:
        """Ask the user for the cost of a feature, and change it in the plan."""
        text, agreed = QInputDialog.getText(
            self._window,
            tr("Cost"),
            tr("Feature {feature_id}:").format(feature_id=row.feature_id),
            QLineEdit.EchoMode.Normal,
            f"{row.cost:g}",
        )
        if agreed:
            self._set_cost(row.feature_id, text)

    @Slot(object)
    def _keep_groups(self, groups: Groups) -> None:
        """Store other groups of features with the user's notes."""
        self._keep(replace(self._notes, groups=groups))

    def _keep(self, notes: FeatureNotes) -> None:
        """Show other names and notes of features everywhere, and store these for the open data.

        ``notes`` has all of them. Do nothing if none has changed. For
        new names, the dataset is copied, and session and runs use the
        copy from now on.
        """
        dataset = self._session.dataset
        names_differ = notes.names != self._notes.names
        if dataset is None or notes == self._notes:
            return
        self._notes = notes
        self._data.set_notes(notes.notes)
        if names_differ:
            self._exchange(dataset, renamed(dataset, notes.names))
        self._save(dataset)

    def _exchange(self, dataset: FoldedDataset, new: FoldedDataset) -> None:
        """Replace a dataset by one that differs in names or definitions of features only.

        The session and the runs use ``new`` in place of ``dataset``
        from now on. Statistics that were computed of the features stay.
        """
        self._runs.give_dataset(
            [r for r in self._runs.records if r.dataset is dataset], new
        )
        self._data.keep_reports()
        self._session.exchange(new)

    def _save(self, dataset: FoldedDataset) -> None:
        """Store the notes for a dataset, and report if that fails."""
        try:
            save_notes(self._folder, dataset, self._notes)
        except RankStudioError as error:
            self.failed.emit(str(error))

    def _set_cost(self, feature: int, text: str) -> None:
        """Set the cost of a feature, by its id, in the plan; ``text`` is the number that the user typed.

        A text that is no number above 0 is reported, and changes nothing.
        """
        parameter = self._data.costs_parameter()
        try:
            cost = float(text)
        except ValueError:
            cost = math.nan  # fails the check below
        if parameter is None:
            return
        if not 0 < cost < math.inf:
            self.failed.emit(
                tr(
                    "cost of feature {feature}: found {text!r}, expected a number greater than 0."
                ).format(feature=feature, text=text)
            )
            return

        # The value MILLISECONDS stands for imported costs; a typed cost
        # ends their use. Costs of 1, the default, are not stored.
        parameters = dict(self._session.plan.parameters)
        old_costs = parameters[parameter.name]
        costs = {} if old_costs == MILLISECONDS else dict(old_costs)
        costs[feature] = cost
        parameters[parameter.name] = tuple(
            sorted((i, c) for i, c in costs.items() if c != 1.0)
        )
        self._session.change(
            tr("the cost of feature {feature}").format(feature=feature),
            parameters=parameters,
        )


class FeatureGroups(Controller):
    """Puts features into groups, and removes them.

    Changes can be undone, as groups are part of the plan.

    Parameters
    ----------
    session : Session
    data : DataController
        Shows the table in which the user selects features and writes their groups.
    parent : QWidget
        Widget over which questions open.
    """

    changed = Signal(object)
    """The user has made other groups, or undone or redone such a change; the plan already has the groups."""

    def __init__(self, session: Session, data: DataController, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._table = data.statistics.table
        self._window = parent
        self._groups: Groups = feature_groups_of(session.plan)  # before the next change

        # The changes that the user made here, to tell them from other
        # changes of the plan: checksum of the data, groups before and
        # groups after the change.
        self._edits: set[tuple[str, Groups, Groups]] = set()
        data.statistics.table.rows_model.written.connect(self._write)
        session.planChanged.connect(self._follow)

    @Slot()
    def ask(self) -> None:
        """Ask for the group of the features that are selected in the table, and put them into it.

        Without a selection, a message says what to do first.
        """
        rows: list[DescribedFeature] = [
            index.data(ROW_ROLE)
            for index in sorted(self._table.selectionModel().selectedRows())
        ]
        if not rows:
            self.said.emit(
                tr("Select rows of the feature table on the Data page first")
            )
            return

        # The present group of the first feature is the first one offered; "" is none.
        groups = feature_groups_of(self._session.plan)
        present_group = group_names(groups).get(rows[0].feature_id, "")
        offered = [
            present_group,
            *(name for name in ("", *groups) if name != present_group),
        ]
        subject = (
            rows[0].name
            if len(rows) == 1
            else tr("{n_rows} features").format(n_rows=len(rows))
        )
        name, agreed = QInputDialog.getItem(
            self._window,
            tr("Group"),
            tr("Group for {what}. Leave empty for no group:").format(what=subject),
            offered,
            0,  # the first one is selected
            True,  # a new name can be typed
        )
        if agreed:
            self._put(rows, name)

    def read(self, path: Path) -> bool:
        """Take over the groups in a file, for features that the data have.

        Return whether the file has such groups. A file without groups
        is no error here, as it may have names of features.
        """
        dataset = self._session.dataset
        if dataset is None:
            return False
        try:
            groups = among(read_groups(path), dataset.feature_ids.tolist())
        except RankStudioError:
            return False
        if groups:
            self._change(tr("the groups of {name}").format(name=path.name), groups)
        return bool(groups)

    @Slot(object, str, str)
    def _write(self, row: DescribedFeature, key: str, text: str) -> None:
        """Take over a group that the user wrote into a cell of the table.

        ``key`` is that of the column, ``row`` the feature. For other
        columns, nothing is done.
        """
        if key == "group":
            self._put([row], text)

    def _put(self, rows: Sequence[DescribedFeature], name: str) -> None:
        """Put features into the group called ``name``, and out of their present groups.

        The name "" stands for no group.
        """
        members = [row.feature_id for row in rows]
        if len(members) == 1:
            subject = tr("feature {members}").format(members=members[0])
        else:
            subject = tr("{n_members} features").format(n_members=len(members))

        # `group_name` removes characters that a name must not have.
        groups = in_other_group(
            group_name(name), members, feature_groups_of(self._session.plan)
        )
        self._change(tr("the group of {what}").format(what=subject), groups)

    def _change(self, text: str, groups: Groups) -> None:
        """Change the groups of the plan, and note the change as the user's; ``text`` is for the Edit menu."""
        dataset = self._session.dataset
        old_groups = feature_groups_of(self._session.plan)
        if dataset is not None and groups != old_groups:
            self._edits.add((dataset.origin.checksum, old_groups, groups))
            self._session.change(text, groups=groups)

    @Slot()
    def _follow(self) -> None:
        """Emit `changed` if the user has changed the plan's groups here, or has undone or redone such a change.

        The signal leads to storing the groups with the user's notes on
        the data. Groups that come with the plan of a run or of a file
        are not stored.
        """
        dataset = self._session.dataset
        old_groups = self._groups
        groups = feature_groups_of(self._session.plan)
        self._groups = groups
        checksum = dataset.origin.checksum if dataset is not None else ""
        is_edit = (checksum, old_groups, groups) in self._edits

        # An undone change leads from the groups after it to those before it.
        is_undone_edit = (checksum, groups, old_groups) in self._edits
        if old_groups != groups and (is_edit or is_undone_edit):
            self.changed.emit(groups)
