"""The session: the open data, the plan, the chosen model and the inspected one, held here alone."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from rankstudio.engine.analysis.measurements.measurement import Measurement
from rankstudio.engine.data.dataset import Fold, FoldedDataset, default_names
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.experiment.plan.plan import (
    CRITERION,
    SAMPLE,
    Plan,
    usual_measures,
)
from rankstudio.engine.experiment.plan.protocol import GIVEN
from rankstudio.engine.experiment.storage.study_contents import SealMark, is_sealed
from rankstudio.engine.methods.catalog import Kind
from rankstudio.ui.language import tr

_TOGGLE_TEXTS = {
    ("pinned", False): tr("pinning {feature}"),
    ("pinned", True): tr("unpinning {feature}"),
    ("banned", False): tr("banning {feature}"),
    ("banned", True): tr("allowing {feature}"),
}
"""Names of changes in the Edit menu, by the parameter and whether the feature is in it before."""


@dataclass(frozen=True)
class Choice:
    """The choice of a model of a run, by its parameters' values and its size.

    Attributes
    ----------
    values : tuple or None
        A value for each axis of the plan, a parameter of which the plan
        tries several values; None for the values that validation chose.
    x_value : int or None
        Coordinate of the model on the path: a number of features, or a
        round; None for the best model of the path.
    """

    values: tuple[Any, ...] | None = None
    x_value: int | None = None


NOTHING_CHOSEN = Choice()
"""The model that validation chose."""


@dataclass(frozen=True)
class SessionState:
    """The state that can be undone: the plan and the choice."""

    plan: Plan
    choice: Choice = NOTHING_CHOSEN


class LastingChange(QUndoCommand):
    """A change that can be undone even after other data were opened.

    The change is a command of the undo stack. The method ``redo`` does
    nothing if the change is already in effect.
    """

    def again(self) -> LastingChange:
        """Return the same change as another command."""
        raise NotImplementedError


class Session(QObject):
    """The open data, the plan in the form and the chosen model, with undo; only this class changes them.

    The plan is the one source of all parameters: the form, the pins of
    the features table and the terminal's command are views of it.
    """

    methodsAdded = Signal(object)
    """Methods were added or read again, the last one to be shown (Method)."""
    protocolRefused = Signal(str)
    """The data cannot be divided as the plan asks for (a sentence says why)."""
    datasetChanged = Signal()
    planChanged = Signal()
    choiceChanged = Signal()
    """Another model is chosen: the one that is tested, explained, exported and stored."""
    inspectionChanged = Signal()
    """Another model is inspected, or none: it is highlighted and shown, and used for nothing."""
    foldChanged = Signal()
    measureChanged = Signal()
    unsealAsked = Signal()
    """The user wants to see what was measured on the sealed test part of the open data."""
    sealMarked = Signal(object)
    """The test part of the open data was sealed or unsealed (SealMark)."""
    sealChanged = Signal()
    """The seal of the open data, or the number of times that it was broken, has changed."""
    inspectAsked = Signal(int)
    """The user asks to inspect a feature (its id)."""
    labelAsked = Signal(str)
    """The label of another judge is to be used."""
    labelsAsked = Signal()
    """The labels of all judges are to be compared."""
    inspected = Signal(int)
    """Another feature is inspected (its id)."""
    foldChosen = Signal()
    """The user shows another fold, and no longer follows the run that works."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo = QUndoStack(self)
        self._dataset: FoldedDataset | None = None
        self._state = SessionState(Plan(data=SAMPLE))
        self._inspection: Choice | None = None
        self._fold: int | None = None  # number of the shown fold; None for all
        # How runs are measured: the measure, the convention that the
        # user picked (None follows the plan), and whether the measure
        # also chooses the models.
        self._measure = self.plan.measures[0]
        self._convention: str | None = None
        self._chooses = False
        # when test parts were sealed and unsealed
        self._seal_marks: tuple[SealMark, ...] = ()
        # how the open data were read and divided
        self._reading = reading(self.plan)

    @property
    def dataset(self) -> FoldedDataset | None:
        """The open dataset; None at the beginning."""
        return self._dataset

    @property
    def plan(self) -> Plan:
        """The current plan."""
        return self._state.plan

    @property
    def choice(self) -> Choice:
        """The choice of the model that is used."""
        return self._state.choice

    @property
    def inspection(self) -> Choice | None:
        """The model that is inspected besides the chosen one; None where there is none."""
        return self._inspection

    @property
    def fold(self) -> int | None:
        """Number of the shown fold; None for all of them."""
        return self._fold

    @property
    def measure(self) -> str:
        """Name of the measure that the plots show."""
        return self._measure

    @property
    def convention(self) -> str:
        """Key of the convention in use: the picked one, else that of the plan, else that of the data."""
        usual = self._dataset.convention if self._dataset is not None else ""
        return self._convention or self.plan.convention or usual

    @property
    def chooses(self) -> bool:
        """Whether the measure that is shown also chooses the models of finished runs."""
        return self._chooses

    @property
    def seal_marks(self) -> tuple[SealMark, ...]:
        """Times at which test parts were sealed and unsealed, in order."""
        return self._seal_marks

    @property
    def sealed(self) -> bool:
        """Whether the test part of the open data is sealed."""
        return self.is_sealed(self._dataset)

    def is_sealed(self, dataset: FoldedDataset | None) -> bool:
        """Return whether the test part of some data is sealed: each dataset has its own seal."""
        return is_sealed(self._seal_marks, dataset)

    def measurement(
        self, plan: Plan, dataset: FoldedDataset | None = None
    ) -> Measurement:
        """Return how a run of a plan is measured now; ``dataset`` is by default the open one.

        The result says by which convention and measure, whether that
        measure chooses the run's models, and whether the test part is
        sealed.
        """
        # A plan that selects by the criterion of its method asks for no measure.
        chooses = self._chooses and plan.select_by != CRITERION
        sealed = self.is_sealed(dataset or self._dataset)
        return Measurement(
            self._convention or plan.convention, self._measure, chooses, sealed
        )

    @property
    def shown_fold(self) -> Fold | None:
        """The shown fold; None without data, and while all folds are shown."""
        folds = self._dataset.folds if self._dataset else ()
        return next((fold for fold in folds if fold.number == self._fold), None)

    @property
    def has_documents(self) -> bool:
        """Whether the documents of the dataset are open, rather than only its record in a study."""
        return (
            self._dataset is not None and self._dataset.folds[0].train.n_documents > 0
        )

    def column_of(self, feature: int | None) -> int | None:
        """Return the column of a feature in the open data, by its id; None where they do not have it."""
        columns = (
            np.flatnonzero(self._dataset.feature_ids == feature).tolist()
            if self._dataset
            else []
        )
        return columns[0] if columns else None

    @property
    def validates(self) -> bool:
        """Whether each fold of the data has a validation part, or inner folds."""
        folds = self._dataset.folds if self._dataset else ()
        return self.plan.inner > 0 or all(fold.vali is not None for fold in folds)

    @property
    def data_match_plan(self) -> bool:
        """Whether the open data were read and divided as the plan says by now."""
        return self._reading == reading(self.plan)

    def open(
        self,
        dataset: FoldedDataset,
        data: str,
        plan: Plan | None = None,
        choice: Choice = NOTHING_CHOSEN,
    ) -> None:
        """Work on other data from now on, on their first fold.

        Changes of the plan can no longer be undone. All signals on
        data, plan, fold and models are emitted.

        Parameters
        ----------
        dataset : FoldedDataset
        data : str
            The name of the data in a plan: a path, or ``"sample"``.
        plan : Plan, optional
            The plan to go on with. By default, the present plan without
            its pins, bans, preferences and folds, and with the groups,
            costs, columns and convention of the new data.
        choice : Choice
            The chosen model of the plan.
        """
        # The convention that the user picked and the seal, as they are
        # before the change: the signals at the end depend on what has
        # changed.
        picked = self._convention
        sealed = self.sealed
        # Without a plan, the present one is adapted: parameters that
        # depend on the features are dropped.
        if plan is None:
            parameters = {
                p.name: self.plan.parameters[p.name]
                for p in self.plan.entry.parameters
                if p.kind not in (Kind.FEATURES, Kind.COSTS)
            }
            costs = dataset.extension(FeatureCosts)
            plan = self.plan.changed(
                groups=feature_groups_of(dataset),
                parameters=parameters,
                folds=(),
                convention=dataset.convention,
                columns=dataset.origin.columns.as_dict(),
                preferences={},
                costs=costs.plain() if costs is not None else {},
            )
            # Data without queries are one ranking, which has other usual measures.
            plan = usual_measures(plan, one_ranking=dataset.origin.columns.no_queries)
            self._convention = None
            if any(fold.vali is None for fold in dataset.folds) and not plan.inner:
                # Without validation parts, only a left-out measure or
                # the criterion can select.
                plan = plan if plan.leaves_out else plan.changed(select_by=CRITERION)
            elif plan.select_by == CRITERION:  # set by data without validation parts
                plan = plan.changed(select_by=plan.measures[0])
        # The data replace the former ones with the choice made for
        # them. A plan without a convention takes over that of the data.
        plan = plan.resolved(dataset.convention)
        self._dataset = dataset
        before = self.plan
        self._state = SessionState(plan.changed(data=data), choice)
        self._inspection = None
        self._reading = reading(plan)
        self._fold = dataset.folds[0].number
        # Changes of the plan for the former data cannot be undone any
        # more. Lasting changes, such as of a run's name, can: they go
        # back on the stack as new commands.
        commands = [self.undo.command(i) for i in range(self.undo.index())]
        lasting = [
            command.again()
            for command in commands
            if isinstance(command, LastingChange)
        ]
        self.undo.clear()
        for command in lasting:
            self.undo.push(command)
        # Tell everything that depends on the session.
        self._keep_measure(before, picked)
        self._tell_seal(sealed)
        self.datasetChanged.emit()
        self.planChanged.emit()
        self.foldChanged.emit()
        self.choiceChanged.emit()
        self.inspectionChanged.emit()

    def exchange(self, dataset: FoldedDataset, plan: Plan | None = None) -> None:
        """Replace the dataset by a newer reading of the same data; plan, choice and undo stay.

        Parameters
        ----------
        dataset : FoldedDataset
        plan : Plan, optional
            The plan by which the dataset was read; by default the one
            of the previous reading.
        """
        sealed = self.sealed  # before the change
        self._dataset = dataset
        if plan is not None:
            self._reading = reading(plan)
        # If the shown fold is gone, the first one is shown; None stands for all folds.
        numbers = [fold.number for fold in dataset.folds]
        if self._fold is not None and self._fold not in numbers:
            self._fold = numbers[0]
        self._tell_seal(sealed)
        self.datasetChanged.emit()
        self.foldChanged.emit()

    def show_fold(self, fold: int | None) -> None:
        """Show another fold, or all of them."""
        if fold != self._fold:
            self._fold = fold
            self.foldChanged.emit()

    def choose_fold(self, fold: int | None) -> None:
        """Show another fold, or all of them, as the user asks."""
        self.foldChosen.emit()
        self.show_fold(fold)

    def show_measure(self, name: str) -> None:
        """Show another measure in the plots."""
        if name != self._measure:
            self._measure = name
            self.measureChanged.emit()

    def measure_by_convention(self, convention: str) -> None:
        """Measure by another convention; plan and runs stay."""
        picked = None if convention == self.plan.convention else convention
        if picked != self._convention:
            self._convention = picked
            self.measureChanged.emit()

    def select_by_measure(self, chooses: bool) -> None:
        """Let the measure that is shown choose the models of finished runs, or their own plans again."""
        if chooses != self._chooses:
            self._chooses = chooses
            self.measureChanged.emit()

    def seal(self, sealed: bool) -> None:
        """Seal the test part of the open data, or unseal it; other data keep their seals.

        While the test part is sealed, no test measure is shown. The
        sealing or unsealing is stored with its time.
        """
        if self._dataset is None or sealed == self.sealed:
            return
        mark = SealMark.now(sealed=sealed, data=self._dataset)
        self._seal_marks = (*self._seal_marks, mark)
        self.sealMarked.emit(mark)
        self._tell_seal(not sealed)  # with the previous state

    def take_seal_marks(self, marks: Sequence[SealMark]) -> None:
        """Take over the seals of a study."""
        if tuple(marks) != self._seal_marks:
            self._seal_marks = tuple(marks)
            self.measureChanged.emit()
            self.sealChanged.emit()

    def _tell_seal(self, sealed: bool) -> None:
        """Emit signals on the seal of the open data; ``sealed`` is whether the data were sealed before."""
        if sealed != self.sealed:
            self.measureChanged.emit()
        self.sealChanged.emit()

    def select(
        self, values: tuple[Any, ...] | None, step: int | None, *, gliding: bool = False
    ) -> None:
        """Choose another model; consecutive moves of the slider (``gliding``) are undone together.

        The model is named by ``values``, the values of its path on the
        plan's axes (None for those that validation chose), and
        ``step``, a number of features or a round (None for the best
        model of the path).
        """
        # Consecutive changes of the series "slider" are undone
        # together, those of the series "" one by one.
        choice = Choice(values, step)
        self._do(
            replace(self._state, choice=choice),
            tr("choosing a model"),
            "slider" if gliding else "",
        )

    def inspect(self, values: tuple[Any, ...], step: int | None) -> None:
        """Inspect another model of the shown run; the choice and all that depends on it stay as they are.

        The model is named by ``values``, the values of its path on the
        plan's axes, and ``step``, a number of features or a round (None
        for the best model of the path).
        """
        self._put_inspection(Choice(values, step))

    def end_inspection(self) -> None:
        """Show the chosen model again."""
        self._put_inspection(None)

    def _put_inspection(self, inspection: Choice | None) -> None:
        if inspection != self._inspection:
            self._inspection = inspection
            self.inspectionChanged.emit()

    def restore_choice(self, plan: Plan, choice: Choice) -> None:
        """Restore the model that was last chosen of a run with this plan; this cannot be undone."""
        if (plan.method, plan.ranker) == (self.plan.method, self.plan.ranker):
            self._put(replace(self._state, choice=choice))

    def go_back_to(
        self, plan: Plan, text: str, choice: Choice = NOTHING_CHOSEN
    ) -> None:
        """Take the plan of a run again, and the choice of its model; ``text`` is for the Edit menu.

        Consecutive changes of this kind are undone together.
        """
        self._do(SessionState(plan, choice), text, "runs")

    def change(self, text: str, **changes: Any) -> None:
        """Change attributes of the plan; ``text`` names the change in the Edit menu.

        With another method or ranker, the choice of a model is dropped:
        its values belong to the former method.

        Raises
        ------
        ParameterError, PlanError
            If the changed plan would be invalid; then nothing changes.
        """
        plan = self.plan.changed(**changes)
        same_method = (plan.method, plan.ranker) == (self.plan.method, self.plan.ranker)
        self._do(SessionState(plan, self.choice if same_method else Choice()), text)

    def toggle(self, name: str, feature: int) -> None:
        """Pin or unpin a feature if ``name`` is "pinned"; ban or allow it if ``name`` is "banned".

        Pinning a feature ends its ban, and banning it unpins it. A
        group of features is pinned or banned as a whole.
        """
        parameters = dict(self.plan.parameters)
        if name not in parameters:
            return
        other = "banned" if name == "pinned" else "pinned"
        if any(
            self.plan.entry.parameter(key).several(parameters[key])
            for key in (name, other)
        ):
            # The plan tries several sets of pinned or banned features,
            # so it is not clear which one to change.
            return
        # A feature in a group stands for the group.
        members = next(
            (ids for ids in feature_groups_of(self.plan).values() if feature in ids),
            (feature,),
        )
        # whether the feature or its group is pinned (banned) already
        present = any(i in parameters[name] for i in members)
        # Its group is removed from both sets, and the feature is added
        # to one of them unless the group was there. One member suffices
        # to pin or ban a group.
        rest = _without_excluded(parameters[name], members)
        parameters[name] = rest if present else (*rest, feature)
        parameters[other] = _without_excluded(parameters[other], members)
        text = _TOGGLE_TEXTS[name, present].format(
            feature=self._feature_in_words(feature)
        )
        self.change(text, parameters=parameters)

    def _feature_in_words(self, feature: int) -> str:
        """Return id and name of a feature, "25 BM25 of anchor", or "feature 25" if it has no own name."""
        data = self.dataset
        column = self.column_of(feature)
        name = (
            data.feature_names[column]
            if data is not None and column is not None
            else ""
        )
        # The name that features of data without names have.
        [nameless] = default_names(np.array([feature]))
        return (
            f"{feature} {name}"
            if name not in ("", nameless)
            else tr("feature {i}").format(i=feature)
        )

    def _do(self, state: SessionState, text: str, series: str = "") -> None:
        """Replace the plan and the choice, in a way that the user can undo.

        ``text`` names the change in the Edit menu; consecutive changes
        of one series are undone together, those of the series "" one by
        one.
        """
        if state != self._state:
            self.undo.push(_Change(self, self._state, state, text, series))
        else:
            self.end_inspection()

    def _put(self, state: SessionState) -> None:
        """Make a state, a plan and a choice, the present one, and emit the signals of what has changed.

        Called by undo commands and :meth:`restore_choice` only.
        """
        # Another plan or choice ends the inspection of a model.
        before = self._state
        self._state = state
        inspection = self._inspection
        self._inspection = None
        if before.plan != state.plan:
            self._keep_measure(before.plan, self._convention)
            self.planChanged.emit()
        if before.choice != state.choice:
            self.choiceChanged.emit()
        if inspection is not None:
            self.inspectionChanged.emit()

    def _keep_measure(self, before: Plan, picked: str | None) -> None:
        """Show the plan's measure and convention, unless the user picked others.

        ``before`` is the previous plan, and ``picked`` the convention
        that was picked with it. If the picked convention is dropped,
        each run is measured by its own convention again, so
        `measureChanged` is emitted.
        """
        # `_convention` is the picked one; None follows the plan, so
        # that one equal to the plan's is needless.
        if self._convention == self.plan.convention:
            self._convention = None
        has_changed = self._convention != picked
        # The shown measure was the plan's first one, which is another one now.
        main_measure_changed = (
            before.measures[0] == self._measure != self.plan.measures[0]
        )
        # The shown measure is none of the plan's any more.
        is_dropped = (
            self._measure in before.evaluated
            and self._measure not in self.plan.evaluated
        )
        if main_measure_changed or is_dropped:
            self._measure = self.plan.evaluated[0]
            has_changed = True
        if has_changed:
            self.measureChanged.emit()


def reading(plan: Plan) -> tuple[object, ...]:
    """Return the parts of a plan that determine how its data are read and divided."""
    seed = plan.seed if plan.protocol != GIVEN else 0  # given folds are not drawn
    return plan.reading, plan.protocol, seed


def _without_excluded(
    ids: tuple[int, ...], excluded: Container[int]
) -> tuple[int, ...]:
    return tuple(i for i in ids if i not in excluded)


_SERIES_IDS = {"": -1, "slider": 1, "runs": 2}
"""Ids of series of changes, for Qt: consecutive changes with one id are undone together, except with -1."""


class _Change(QUndoCommand):
    """A change of the session's state that can be undone, or a series of merged changes."""

    def __init__(
        self,
        session: Session,
        before: SessionState,
        after: SessionState,
        text: str,
        series: str,
    ) -> None:
        super().__init__(text)
        self._session = session
        self._before = before
        self._after = after
        self._series = series

    def id(self) -> int:
        return _SERIES_IDS[self._series]

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Change) or self._series != other._series:
            return False
        self._after = other._after
        self.setText(other.text())
        return True

    def redo(self) -> None:
        self._session._put(self._after)

    def undo(self) -> None:
        self._session._put(self._before)
