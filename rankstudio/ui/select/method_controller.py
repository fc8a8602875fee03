"""The controller of the form, and the hint that data have no validation or test part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.plan.protocol import (
    BEST,
    GIVEN,
    Protocol,
    parse_protocol,
    parse_rule,
)
from rankstudio.ui.language import tr
from rankstudio.ui.model.session import Session
from rankstudio.ui.select.form import MethodForm
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.notice import Notice

_CHANGE_TEXTS = {
    "select_by": tr("choosing by {}"),
    "rule": tr("choosing k: {}"),
    "protocol": tr("dividing the data: {}"),
    "preferences": tr("removing the preferences"),
}
"""Name of an edit of an attribute of the plan in the Edit menu."""


class MethodController(QObject):
    """Fills the form of the Select page, and turns edits in it into changes of the plan.

    Parameters
    ----------
    theme : Theme
    session : Session
    """

    def __init__(
        self, theme: Theme, session: Session, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self.form = MethodForm(theme)
        self.form.set_plan(session.plan)

        # Whether the given folds of a dataset have validation parts, by
        # the name of the data in a plan.
        self._has_validation: dict[str, bool] = {}

        # criterion and rule of the last plan with validation, to be restored
        self._last_choice: tuple[str, str] | None = None
        self.form.edited.connect(self._edit)
        session.datasetChanged.connect(self._show_features)
        session.planChanged.connect(self._show_plan)

    @Slot()
    def _show_features(self) -> None:
        """Tell the form the features and the greatest relevance label of newly opened data."""
        dataset = self._session.dataset
        if dataset is not None:
            # whether the folds of the files have validation parts, for later
            self._note_given_folds(dataset)
            ids = dataset.feature_ids
            names = dataset.feature_names
            self.form.set_features(ids, names, dataset.greatest_grade)

    def _with_possible_criterion(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Return changes of the method, with another criterion if the method cannot use the present one.

        ``changes`` are attributes of the plan by name. Only some
        methods have measures of left-out queries. For other methods,
        the same measure is taken on the validation part or, without
        such a part, the training criterion.
        """
        # `leaves_out` says that the plan selects by a left-out measure;
        # `chosen_by` is the name of that measure, without
        # "leave-query-out". `validates` says that the present folds
        # have validation parts.
        plan = self._session.plan
        if not plan.leaves_out or plan.changed(**changes).can_leave_out:
            return changes
        if self._session.validates:
            return {**changes, "select_by": plan.chosen_by}
        return {**changes, **_criterion_choice(plan)}  # the training criterion

    def _criterion_for_protocol(self, protocol: Protocol) -> dict[str, Any]:
        """Return the criterion and rule that choose a model, for a new protocol; {} if both stay.

        Without validation, the training criterion chooses the model.
        Once a protocol has validation again, the criterion and rule
        from before are restored.
        """
        plan = self._session.plan

        # Whether the present folds have validation parts.
        validates = self._session.validates
        if not (
            protocol.validates or (protocol.kind == GIVEN and self._given_validates())
        ):
            # A measure of left-out training queries needs no validation part.
            if plan.leaves_out:
                return {}
            if validates:
                self._last_choice = plan.select_by, plan.rule
            return _criterion_choice(plan)  # the training criterion
        if plan.select_by != CRITERION or validates:
            return {}
        select_by, rule = self._last_choice or (plan.measures[0], plan.rule)
        return {"select_by": select_by, "rule": rule}

    def _note_given_folds(self, dataset: FoldedDataset) -> None:
        """Note whether the folds given by the files have validation parts, for a later return to them."""
        plan = self._session.plan
        if self._session.data_match_plan and plan.protocol == GIVEN:
            self._has_validation[plan.data] = all(
                fold.vali is not None for fold in dataset.folds
            )

    def _given_validates(self) -> bool:
        """Return whether the folds given by the files have validation parts; True if that is not known."""
        return self._has_validation.get(self._session.plan.data, True)

    @Slot()
    def _show_plan(self) -> None:
        self.form.set_plan(self._session.plan)

    @Slot(object)
    def _edit(self, changes: dict[str, Any]) -> None:
        """Change the plan by an edit of the form: new values by the names of the plan's attributes."""
        # The form sends either one attribute, or the method first and
        # its parameters with it, so that the first attribute is the
        # kind of edit.
        name, value = next(iter(changes.items()))
        if name == "protocol":
            # Other folds are made, so that the plan drops the numbers of old ones.
            changes = {
                **changes,
                "folds": (),
                **self._criterion_for_protocol(parse_protocol(value)),
            }
        elif name == "method":
            changes = self._with_possible_criterion(changes)
        # The text names the change in the Edit menu, which can undo it.
        self._session.change(
            _CHANGE_TEXTS.get(name, tr("editing the method")).format(value), **changes
        )


def _criterion_choice(plan: Plan) -> dict[str, str]:
    """Return the change to the training criterion; a rule that needs measures of queries becomes "best"."""
    return {
        "select_by": CRITERION,
        "rule": BEST if parse_rule(plan.rule).needs_queries else plan.rule,
    }


_MISSING_PART_TEXTS = {
    ("validation",): tr(
        "{name} has no validation part. Choose folds in the form, for example 5-fold."
    ),
    ("test",): tr(
        "{name} has no test part. Choose folds in the form, for example 5-fold."
    ),
    ("validation", "test"): tr(
        "{name} has neither a validation part nor a test part. Choose folds in the form, for example 5-fold."
    ),
}


class FoldHint(QObject):
    """Shows a sentence on missing parts of the data, with a button that leads to the choice of folds.

    Parameters
    ----------
    session : Session
    notices : mapping of str to sequence of Notice
        The notices that show the sentence, by the missing part: "validation" or "test".
    """

    asked = Signal()
    """The user wants to choose folds."""

    def __init__(
        self,
        session: Session,
        notices: Mapping[str, Sequence[Notice]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._notices = notices  # by the part that is missing where they are
        self._message = ""  # the sentence that is shown, or was until it was closed
        session.datasetChanged.connect(self._update)
        session.planChanged.connect(self._update)

    @Slot()
    def _update(self) -> None:
        """Show which parts the data lack; a notice that was closed stays closed until the message changes."""
        # The message on the parts that the data lack; "" if they lack none.
        session = self._session
        dataset = session.dataset if session.has_documents else None
        missing_parts = (
            missing_parts_of(dataset, session.plan) if dataset is not None else ()
        )
        message = ""
        if dataset is not None and missing_parts:
            message = _MISSING_PART_TEXTS[missing_parts].format(name=dataset.name)
        if message == self._message:
            return

        # Each notice is where the measures of one part (validation or
        # test) would be, and is shown only if this part is missing.
        self._message = message
        for part, notices in self._notices.items():
            for notice in notices:
                if part in missing_parts:
                    notice.say(
                        self._message, "info", {tr("Choose folds"): self.asked.emit}
                    )
                else:
                    notice.hide()


def missing_parts_of(dataset: FoldedDataset, plan: Plan) -> tuple[str, ...]:
    """Return which parts, of "validation" and "test", the folds of the files lack.

    For a protocol that makes the folds itself, nothing counts as
    lacking: a user who leaves each query out, for instance, wants no
    validation part.
    """
    protocol = parse_protocol(plan.protocol)
    if protocol.kind not in ("given", "nested"):
        return ()

    # Inner folds of the training part validate instead of a validation part.
    validated = protocol.inner or all(fold.vali is not None for fold in dataset.folds)
    tested = all(fold.test is not None for fold in dataset.folds)
    return tuple(
        part
        for part, has_part in (("validation", validated), ("test", tested))
        if not has_part
    )
