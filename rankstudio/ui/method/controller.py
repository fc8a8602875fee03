"""The Method page's controller: the form and the session's plan are two views of the same parameters."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.experiment.plan.plan import CRITERION
from rankstudio.engine.experiment.plan.protocol import BEST, LEAVE_QUERY_OUT, ONE_SE, parse_protocol
from rankstudio.ui.method.form import MethodForm
from rankstudio.ui.model.session import Session
from rankstudio.ui.style.theme import Theme


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
        self.form.selectByEdited.connect(self._select_by)
        self.form.ruleEdited.connect(self._take)
        self.form.protocolEdited.connect(self._divide)
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
        self._session.change("editing the method", **changes)

    @Slot(str)
    def _select_by(self, name: str) -> None:
        self._session.change(f"choosing by {name}", select_by=name)

    @Slot(str)
    def _divide(self, protocol: str) -> None:
        found = parse_protocol(protocol)
        changes: dict[str, Any] = {"protocol": protocol, "folds": ()}
        if found.kind == LEAVE_QUERY_OUT and not found.inner:  # nothing validates
            changes["select_by"] = CRITERION
            changes["rule"] = BEST if self._session.plan.rule == ONE_SE else self._session.plan.rule
        self._session.change(f"dividing the data: {protocol}", **changes)

    @Slot(str)
    def refuse_division(self, why: str) -> None:
        """Explain below the field why the data cannot be divided so."""
        self.form.refuse_protocol(why)

    @Slot(str)
    def _take(self, rule: str) -> None:
        self._session.change(f"taking {rule}", rule=rule)
