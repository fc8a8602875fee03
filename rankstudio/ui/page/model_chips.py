"""The button "Choose k = 7", and chips on a model chosen by hand and on a form that differs from the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QPushButton

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import Runs, look_at
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import CurrentModel, SelectedModel
from rankstudio.ui.model.session import NOTHING_CHOSEN, Choice, Session
from rankstudio.ui.style.number_format import combination_label
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.chip import Chip
from rankstudio.ui.widgets.layout import named

_BY_PROTOCOL = tr("back to the model of the protocol")


def as_choice(model: SelectedModel | None) -> Choice:
    """Return the choice that selects a model; for None, the choice that validation makes."""
    return NOTHING_CHOSEN if model is None else Choice(model.values, model.x_value)


def model_words(plan: Plan, choice: Choice, other: Choice = NOTHING_CHOSEN) -> str:
    """Return the name of the model of a choice, which tells it apart from the choice ``other``.

    The name is "k = 7", or "λ = 2³, k = 7" if the choice ``other`` has
    another λ. Both choices are models of ``plan``.
    """
    # A choice has a value for each axis of its plan (a parameter with
    # several values), and an `x_value`: a number of features or a
    # round.
    axes = plan.axes
    values = choice.values
    label = ""
    if values is not None and len(values) == len(axes):
        # While the session changes to another plan, the choice may
        # still be one of the other plan.
        fits = all(axis.allows(value) for axis, value in zip(axes, values, strict=True))
        label = combination_label(axes, values).replace(" · ", ", ") if fits else ""
    size = ""
    if choice.x_value is not None and plan.step_kind is not StepKind.ITERATIONS:
        counts_rounds = plan.step_kind is StepKind.ROUNDS
        size = (
            tr("round {number}").format(number=choice.x_value)
            if counts_rounds
            else f"k = {choice.x_value}"
        )
    # With the parameters of the other model, the size suffices to tell them apart.
    parts = [size] if size and values == other.values else [label, size]
    return ", ".join(filter(None, parts)) or tr("this model")


class ChooseButtons(QObject):
    """Keeps a button in the header of each panel in which models are inspected: "Choose k = 7".

    The button is visible while another model than the chosen one is
    inspected; it chooses the inspected model.

    Parameters
    ----------
    current : CurrentModel
        Knows the chosen and the inspected model.
    session : Session
    panels : sequence of Panel
        The panels whose headers get a button.

    Attributes
    ----------
    buttons : list of QPushButton
        The buttons, in the order of the panels.
    """

    def __init__(
        self,
        current: CurrentModel,
        session: Session,
        panels: Sequence[Panel],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._current = current
        self._session = session
        self.buttons: list[QPushButton] = []
        # for each button, whether its panel inspects models now
        self._offers: list[Callable[[], bool]] = []
        for panel in panels:
            self.add(panel)
        for signal in (current.changed, current.inspected):
            signal.connect(self.show)

    def add(self, panel: Panel, offers: Callable[[], bool] = lambda: True) -> None:
        """Add a button to a panel.

        Parameters
        ----------
        panel : Panel
        offers : callable
            Returns whether models are inspected in the panel now; called by
            :meth:`show`.
        """
        button = named(QPushButton(), f"{panel.objectName()}-choose", role="choose")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(self._current.choose_inspected)
        button.hide()
        panel.tools.insertWidget(0, button)
        self.buttons.append(button)
        self._offers.append(offers)

    @Slot()
    def show(self) -> None:
        """Update the buttons: show them while another model than the chosen one is inspected."""
        # `inspected_choice` is None if the inspected model is the
        # chosen one. While all folds are shown, the view has no models
        # (`model` and `inspection` are None), so the choices are named.
        view = self._current.shown
        choice = self._current.inspected_choice
        text = ""
        if choice is not None:
            inspected = (
                choice if view.inspection is None else as_choice(view.inspection)
            )
            chosen = (
                self._session.choice if view.model is None else as_choice(view.model)
            )
            text = tr("Choose {model}").format(
                model=model_words(view.plan, inspected, chosen)
            )
        tip = tr(
            "Use this model for tests, evidence, comparisons and exports (Enter or double click)."
        )
        for button, offers in zip(self.buttons, self._offers, strict=True):
            button.setText(text.replace("&", "&&"))  # a single one marks a mnemonic
            button.setAccessibleName(text)
            button.setToolTip(tip)
            button.setVisible(bool(text) and offers())


class ChoiceChip(QObject):
    """Keeps a chip, a short message, that names a model chosen by hand; a button leads back to the run's choice.

    Parameters
    ----------
    current : CurrentModel
        Knows the chosen model, and that which the run chose.
    session : Session
    chip : Chip
        The chip that is kept up to date.

    Attributes
    ----------
    wentBack : Signal()
        The user went back to the model that the run chose.
    """

    wentBack = Signal()

    def __init__(
        self,
        current: CurrentModel,
        session: Session,
        chip: Chip,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._current = current
        self._session = session
        self._chip = chip
        for signal in (current.changed, session.choiceChanged):
            signal.connect(self.show)
        self.show()

    @Slot()
    def show(self) -> None:
        """Update the chip: show it if a model was chosen by hand."""
        view = self._current.shown
        choice = self._session.choice
        if not self._current.is_by_hand:
            self._chip.say("", {})  # hides the chip
            return
        # The model of the protocol is the one that validation chose;
        # None if it is not known. `as_choice` returns the values and
        # the size of a model.
        protocol = self._current.by_protocol
        chosen = choice if view.model is None else as_choice(view.model)
        usual = as_choice(protocol)
        text = tr("{model}, chosen by hand").format(
            model=model_words(view.plan, chosen, usual)
        )
        action_text = _BY_PROTOCOL
        if protocol is not None and usual != chosen:
            action_text = tr("back to {model}").format(
                model=model_words(view.plan, usual, chosen)
            )
        self._chip.say(text, {action_text: self._go_back})

    def _go_back(self) -> None:
        self._session.select(None, None)
        self.wentBack.emit()


class FormChip(QObject):
    """Keeps a chip, a short message, that is visible while the form has other settings than the shown run.

    Its buttons take the settings of the run, or show the last run that
    has the settings of the form.

    Parameters
    ----------
    models : Models
    chip : Chip
        The chip that is kept up to date.
    """

    def __init__(
        self, models: Models, chip: Chip, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session: Session = models.session
        self._runs: Runs = models.runs
        self._current: CurrentModel = models.current
        self._chip = chip
        runs = models.runs
        # The chip tells of the form, the shown run, and the runs of the list.
        form_or_run_changed = models.current.changed, models.session.planChanged
        list_changed = (
            runs.labelled,
            runs.added,
            runs.removed,
            runs.restored,
            runs.cleared,
        )
        for signal in (*form_or_run_changed, *list_changed):
            signal.connect(self.show)
        self.show()

    @Slot()
    def show(self) -> None:
        """Update the chip: show it if the form differs from the shown run."""
        record = self._current.shown.record
        form = self._session.plan
        if record is None or record.plan.agrees(form):
            self._chip.say("", {})  # hides the chip
            return
        # The form is the plan of the Select page. If it has the title
        # of the run, the text calls it "changed" instead.
        has_same_title = form.title == record.plan.title
        buttons = {tr("take the run's settings"): self._take_settings}
        if self._run_of_form() is not None:
            text = tr("Form: {form} · shown: run {key} {run}")
            if has_same_title:
                text = tr("Form: changed · shown: run {key} {run}")
            buttons = {tr("show form's settings"): self._show_form, **buttons}
        else:
            text = tr("Form: {form}, no run yet · shown: run {key} {run}")
            if has_same_title:
                text = tr("Form: changed, no run yet · shown: run {key} {run}")
        self._chip.say(
            text.format(form=form.title, key=record.key, run=record.title), buttons
        )

    def _run_of_form(self) -> RunRecord | None:
        """Return the last run on the open data with the settings of the form; None without one."""
        form = self._session.plan
        dataset = self._session.dataset
        runs = (
            run
            for run in reversed(self._runs.records)
            if run.dataset is dataset and run.plan.agrees(form)
        )
        return next(runs, None)

    def _show_form(self) -> None:
        """Show the last run with the settings of the form."""
        record = self._run_of_form()
        if record is not None:
            look_at(self._session, self._runs, record)

    def _take_settings(self) -> None:
        record = self._current.shown.record
        if record is not None:
            text = tr("taking the settings of run {key}").format(key=record.key)
            self._session.go_back_to(record.plan, text, self._session.choice)
