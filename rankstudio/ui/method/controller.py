"""The Method page's controller: the form and the session's plan are two views of the same parameters."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.experiment.plan.plan import CRITERION
from rankstudio.engine.experiment.plan.protocol import BEST, LEAVE_QUERY_OUT, ONE_SE, parse_protocol
from rankstudio.ui.language import tr
from rankstudio.ui.method.form import MethodForm
from rankstudio.ui.model.session import Session
from rankstudio.ui.style.theme import Theme

_TEXTS = {"select_by": tr("choosing by {}"), "rule": tr("taking {}"), "protocol": tr("dividing the data: {}")}
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
        self.form.edited.connect(self._edit)
        session.datasetChanged.connect(self._show_features)
        session.planChanged.connect(self._show_plan)

    @Slot()
    def _show_features(self) -> None:
        dataset = self._session.dataset
        if dataset is not None:
            self.form.set_features(dataset.feature_ids.tolist(), dataset.feature_names)

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
            if found.kind == LEAVE_QUERY_OUT and not found.inner:  # nothing validates
                changes |= {"select_by": CRITERION, "rule": BEST if rule == ONE_SE else rule}
        self._session.change(_TEXTS.get(name, tr("editing the method")).format(value), **changes)
