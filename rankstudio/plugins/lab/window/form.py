"""The form of a simulation: its values, what is varied, and the buttons that start and stop it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.catalog import Kind, Parameter
from rankstudio.plugins.lab.window.request import FIELDS, REPEATED, SHORT, VALUES
from rankstudio.ui.background.simulation import SimulationState
from rankstudio.ui.language import tr
from rankstudio.ui.select.fields import (
    ChoiceField,
    EditableField,
    Field,
    LineField,
    align_labels,
)
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.progress_bar import DeferredProgressBar
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import ElidedLabel, Panel, Segmented
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import ColumnArea

_STATE_TEXTS = {
    SimulationState.NEW: "",
    SimulationState.RUNNING: "",
    SimulationState.PAUSED: tr("paused"),
    SimulationState.STOPPED: tr("stopped"),
    SimulationState.DONE: tr("done"),
}


class SingleField(LineField):
    """A field for a single number.

    Other fields of a form take several numbers.
    """

    def check(self, raw: Any) -> Any:
        """Return the number; ParameterError if there are several."""
        value = self.parameter.validate(raw)
        if self.parameter.kind is not Kind.GRID and self.parameter.several(value):
            raise ParameterError(self.parameter.label, raw, self.parameter.expected)
        return value

    @Slot(str)
    def _follow_typing(self, text: str) -> None:
        """Remove an error as soon as the typed text is a valid single number."""
        try:
            self.check(text)
        except ParameterError:
            return
        super()._follow_typing(text)


class LabForm(Panel):
    """A form with the parameters of a simulation, and buttons that start, pause and stop it.

    The last fields are for the quantity that is varied afterwards: its
    values, and the repetitions of each.

    Parameters
    ----------
    theme : Theme
    name : str
        Object name of the panel.
    title, caption : str
    kind : str
        Kind of the simulation, "auc" or "selection".

    Attributes
    ----------
    start, pause, stop : QPushButton
    """

    def __init__(
        self, theme: Theme, name: str, title: str, caption: str, kind: str
    ) -> None:
        """Make the panel with its fields and buttons.

        ``name`` is the object name of the panel, and ``title`` and
        ``caption`` are above the fields. ``kind`` is that of the
        simulation, "auc" or "selection".
        """
        super().__init__(theme, title, caption, padding=0, name=name)
        self.kind = kind
        self._fields: dict[str, Field] = {
            p.name: _field_of_kind(theme, p) for p in FIELDS[kind]
        }

        # The field with the values of each quantity that can be varied.
        self._value_lists = {
            key: SingleField(theme, p) for key, p in VALUES[kind].items()
        }
        self._repetitions = SingleField(theme, REPEATED[kind])  # of each value
        self.quantity = named(
            Segmented((), tr("parameter to vary"), wide=True),
            f"{name}-quantity",
            tip=tr("Parameter to vary afterwards"),
        )
        self.start = named(QPushButton(tr("Start")), f"{name}-start", role="primary")
        self.start.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.start.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        set_icon(self.start, theme, "run", "on_accent")
        self.pause = self._button("pause", tr("Pause or resume the simulation"))
        self.stop = self._button(
            "stop", tr("Stop the simulation and keep the results so far")
        )
        self.progress = named(
            DeferredProgressBar(), f"{name}-progress", tr("progress of the simulation")
        )
        self.status = named(ElidedLabel(), f"{name}-status", role="caption")

        # state for which the buttons are enabled
        self._state: SimulationState | None = None
        self._lay_out()
        theme.restyled.connect(self._align)
        self.quantity.chosen.connect(self._show_relevant)
        for field in self._fields.values():
            field.edited.connect(self._show_relevant)
        self._show_relevant()
        self.show_state(SimulationState.NEW, 0.0, "")

    def field(self, name: str) -> Field:
        """Return a field by the name of its parameter.

        "values" is the field with the values of the varied quantity.
        """
        if name == "values":
            return self._value_lists[str(self.quantity.value())]
        return (
            self._repetitions
            if name == self._repetitions.parameter.name
            else self._fields[name]
        )

    def fields(self) -> list[Field]:
        """Return the fields that have an effect with the present values, from top to bottom."""
        values = self.values()
        relevant = [
            field for field in self._fields.values() if field.parameter.counts(values)
        ]
        return [*relevant, self.field("values"), self._repetitions]

    def values(self) -> dict[str, Any]:
        """Return the values of the fields, by the names of the parameters."""
        return {name: field.value for name, field in self._fields.items()}

    def varied(self) -> tuple[str, tuple[float, ...], int]:
        """Return the quantity to vary, its values, and the number of repetitions of each value."""
        return (
            str(self.quantity.value()),
            self.field("values").value,
            self._repetitions.value,
        )

    def commit(self) -> bool:
        """Commit unfinished input and return whether all of it is valid.

        If some input is invalid, the first field with an error gets the focus.
        """
        invalid_fields = [field for field in self.fields() if not field.commit()]
        if invalid_fields:
            self._go_to(invalid_fields[0])
        return not invalid_fields

    def refuse(self, error: ParameterError) -> None:
        """Show an error below the field of its parameter, or below the first field if there is none."""
        has_field = error.name in (*self._fields, "values")
        field = self.field(error.name) if has_field else self.fields()[0]

        # The error with the label of the field instead of the parameter's name.
        field.show_error(
            str(
                ParameterError(
                    field.parameter.label, error.value, error.expected, error.meant
                )
            )
        )
        self._go_to(field)

    def show_state(self, state: SimulationState, share: float, text: str) -> None:
        """Enable the buttons for a state of the simulation, and show its progress.

        ``share`` is the share that is done, and ``text`` says how much that is.
        """
        if state is not self._state:
            self._state = state
            is_active = state in (SimulationState.RUNNING, SimulationState.PAUSED)
            self.start.setText(
                tr("Start") if state is SimulationState.NEW else tr("Start again")
            )
            set_icon(
                self.pause,
                self._theme,
                "run" if state is SimulationState.PAUSED else "pause",
            )
            self.pause.setEnabled(is_active)
            self.stop.setEnabled(is_active)
        self.progress.set_share(share)
        status = " · ".join(part for part in (_STATE_TEXTS[state], text) if part)
        if status != self.status.text():
            self.status.setText(status)

    def _button(self, icon: str, text: str) -> QPushButton:
        """Return a button with an icon instead of a text, which is its tooltip."""
        button = named(
            QPushButton(),
            f"{self.objectName()}-{icon}",
            accessible_name=text,
            tip=text,
        )
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_icon(button, self._theme, icon)
        return button

    def _lay_out(self) -> None:
        """Lay out the fields in a scroll area, the buttons and the progress, in their tab order."""
        page = named(QWidget(), role="page")
        column = fill(
            QVBoxLayout(page),
            *self._fields.values(),
            margins=(12, 12, 12, 8),
            spacing=6,
        )
        heading = named(ElidedLabel(tr("then varied over")), role="caption")
        fill(
            column,
            heading,
            self.quantity,
            *self._value_lists.values(),
            self._repetitions,
        )
        column.addStretch(1)
        self._scroll = named(ColumnArea(), f"{self.objectName()}-scroll")
        self._scroll.setWidget(page)
        buttons = fill(QHBoxLayout(), (self.start, 1), self.pause, self.stop, spacing=8)
        foot = fill(
            QVBoxLayout(),
            buttons,
            self.progress,
            self.status,
            margins=(12, 4, 12, 10),
            spacing=8,
        )
        fill(self.body, (self._scroll, 1), foot, spacing=0)
        self._align()
        order = [
            *self._fields.values(),
            self.quantity,
            *self._value_lists.values(),
            self._repetitions,
        ]
        editors = [
            part
            for f in order
            if isinstance(f, Field)
            for part in (f.editor, f.reset_button)
        ]
        for widget, next_widget in pairwise(
            [*editors, self.start, self.pause, self.stop]
        ):
            QWidget.setTabOrder(widget, next_widget)

    @Slot()
    def _show_relevant(self) -> None:
        """Show the fields, and offer the quantities to vary, that have an effect with the present values.

        γ, for instance, has an effect only with some kernels.
        """
        values = self.values()
        chosen = self.quantity.value()
        for field in self._fields.values():
            field.setVisible(field.parameter.counts(values))
        offered = [
            (key, SHORT[key])
            for key, f in self._value_lists.items()
            if f.parameter.counts(values)
        ]
        if offered != self.quantity.options():
            self.quantity.set_options(offered)
            self.quantity.select(chosen)
        for key, field in self._value_lists.items():
            field.setVisible(key == self.quantity.value())

    @Slot()
    def _align(self) -> None:
        """Give all labels the width of the longest one."""
        align_labels(
            [*self._fields.values(), *self._value_lists.values(), self._repetitions]
        )

    def _go_to(self, field: Field) -> None:
        """Scroll to a field and let the user type in it."""
        self._scroll.ensureWidgetVisible(field)
        field.editor.setFocus(Qt.FocusReason.ShortcutFocusReason)


def _field_of_kind(theme: Theme, parameter: Parameter) -> Field:
    """Return a field for a parameter, by the kind of its values."""
    if parameter.kind is Kind.MEASURE:
        return EditableField(theme, parameter)
    if parameter.kind is Kind.CHOICE:
        return ChoiceField(theme, parameter)
    return SingleField(theme, parameter)
