"""The Method page's controller: the form and the session's plan are two views of the same parameters."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import CRITERION
from rankstudio.engine.experiment.plan.protocol import (
    BEST,
    GIVEN,
    LEAVE_QUERY_OUT,
    ONE_SE,
    Protocol,
    parse_protocol,
)
from rankstudio.ui.language import tr
from rankstudio.ui.method.form import MethodForm
from rankstudio.ui.model.session import Session
from rankstudio.ui.style.theme import Theme

_TEXTS = {
    "select_by": tr("choosing by {}"),
    "rule": tr("taking {}"),
    "protocol": tr("dividing the data: {}"),
    "preferences": tr("removing the preferences"),
}
"""What an edit of an attribute of the plan is called in the Edit menu."""


class MethodController(QObject):
    """Feeds the form, and turns edits into changes of the plan.

    Parameters
    ----------
    theme : Theme
    session : Session
    """

    def __init__(self, theme: Theme, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.form = MethodForm(theme)
        self.form.set_plan(session.plan)
        self._validating: dict[str, bool] = {}
        self.form.edited.connect(self._edit)
        session.datasetChanged.connect(self._show_features)
        session.planChanged.connect(self._show_plan)

    @Slot()
    def _show_features(self) -> None:
        dataset = self._session.dataset
        if dataset is not None:
            self._note_given_folds(dataset)
            self.form.set_features(dataset.feature_ids.tolist(), dataset.feature_names)

    def _choosable(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Return changes of the method with what can choose its models."""
        plan = self._session.plan
        if not plan.leaves_out or plan.changed(**changes).can_leave_out:
            return changes
        if self._session.validates:
            return {**changes, "select_by": plan.chosen_by}
        return {**changes, "select_by": CRITERION, "rule": BEST if plan.rule == ONE_SE else plan.rule}

    def _note_given_folds(self, dataset: FoldedDataset) -> None:
        """Remember whether the folds of the data's own files validate: who divides them may come back."""
        plan = self._session.plan
        if self._session.read_as_planned and plan.protocol == GIVEN:
            self._validating[plan.data] = all(fold.vali is not None for fold in dataset.folds)

    def _given_validates(self, protocol: Protocol) -> bool:
        """Tell whether some part validates, as far as is known, with a protocol without inner folds."""
        return protocol.kind != GIVEN or self._validating.get(self._session.plan.data, True)

    @Slot()
    def _show_plan(self) -> None:
        self.form.set_plan(self._session.plan)

    @Slot(object)
    def _edit(self, changes: dict[str, Any]) -> None:
        name, value = next(iter(changes.items()))
        if name == "protocol":
            found, plan, rule = parse_protocol(value), self._session.plan, self._session.plan.rule
            changes = {**changes, "folds": ()}
            if plan.select_by == CRITERION and found.validates and not self._session.validates:
                changes["select_by"] = plan.measures[0]
            unvalidated = found.kind == LEAVE_QUERY_OUT or not self._given_validates(found)
            if not found.inner and unvalidated and not plan.leaves_out:
                changes |= {"select_by": CRITERION, "rule": BEST if rule == ONE_SE else rule}
        elif name == "method":
            changes = self._choosable(changes)
        self._session.change(_TEXTS.get(name, tr("editing the method")).format(value), **changes)
