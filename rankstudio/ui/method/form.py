"""The Method place: a form that is generated from the catalog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QScrollArea, QToolButton, QVBoxLayout, QWidget

from rankstudio.engine.catalog import CATALOG, Kind, Parameter, method
from rankstudio.engine.experiment.plan import CRITERION, Plan
from rankstudio.ui.method.features_field import FeaturesField
from rankstudio.ui.method.fields import ChoiceField, Field, LineField
from rankstudio.ui.theme import Theme
from rankstudio.ui.widgets import Panel

_EDITORS: dict[Kind, Callable[[Theme, Parameter], Field]] = {
    Kind.GRID: LineField,
    Kind.INTEGER: LineField,
    Kind.CHOICE: ChoiceField,
    Kind.FEATURES: FeaturesField,
}

_METHOD = Parameter(
    name="method",
    label="method",
    kind=Kind.CHOICE,
    default=CATALOG[0].key,
    help="What is run. Each method keeps the parameters that were entered for it.",
    choices=tuple((entry.key, entry.label) for entry in CATALOG),
)


def _select_by(measures: Sequence[str]) -> Parameter:
    """Return the protocol's "choose by" as a parameter, for the measures that a plan reports."""
    choices = tuple((name, f"validation {name}") for name in measures)
    return Parameter(
        name="select_by",
        label="choose by",
        kind=Kind.CHOICE,
        default=measures[0],
        help=(
            "What chooses the parameters and the number of features: a measure on the validation part, or "
            "the method's own criterion where there is no such part. Ties go to the smaller λ, then to fewer "
            "features."
        ),
        choices=(*choices, (CRITERION, "criterion")),
    )


class MethodForm(Panel):
    """Method, its parameters and how the model is chosen.

    The form keeps one set of fields for each method that was shown, so that going to another method and back
    loses nothing.

    Attributes
    ----------
    edited : Signal(str, object)
        Key of the method and its parameters, all valid, after the user changed either.
    selectByEdited : Signal(object)
        The measure, or "criterion", after the user changed it.
    """

    edited = Signal(str, object)
    selectByEdited = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Method", padding=0, parent=parent)
        self.setObjectName("method-form")
        self._features: tuple[Sequence[int], Sequence[str]] = ((), ())
        self._fields: dict[str, dict[str, Field]] = {}
        self._method = ChoiceField(theme, _METHOD)
        self._select_by = ChoiceField(theme, _select_by(("MAP",)))
        self._reset: QToolButton = self.add_tool("reset", "Reset all parameters to their defaults")
        self._reset.setObjectName("reset-all")
        self._page = QWidget()
        self._column = QVBoxLayout(self._page)
        self._lay_out()
        self._method.edited.connect(self._change_method)
        self._select_by.edited.connect(self.selectByEdited)
        self._reset.clicked.connect(self.reset)
        self._show_method(self._method.value)

    def method_key(self) -> str:
        """Return the key of the method that is shown."""
        return str(self._method.value)

    def values(self) -> dict[str, Any]:
        """Return the parameters of the method that is shown; a field in error has its last valid value."""
        return {name: field.value for name, field in self._shown.items()}

    def select_by(self) -> str:
        """Return what chooses the model."""
        return str(self._select_by.value)

    def field(self, name: str) -> Field:
        """Return the field of a parameter of the method that is shown, or of "method" and "select_by"."""
        return {"method": self._method, "select_by": self._select_by, **self._shown}[name]

    def set_plan(self, plan: Plan) -> None:
        """Show a plan, telling nobody."""
        self._method.set_value(plan.method)
        self._show_method(plan.method)
        for name, value in plan.parameters.items():
            self._shown[name].set_value(value)
        self._offer(plan)
        self._update_reset()

    def set_features(self, ids: Sequence[int], names: Sequence[str]) -> None:
        """Say which features the data have, for the fields that name some."""
        self._features = (ids, names)
        for fields in self._fields.values():
            for field in fields.values():
                if isinstance(field, FeaturesField):
                    field.set_features(ids, names)

    def commit(self) -> bool:
        """Take what is still being typed and tell whether all of it is valid; else go to the first error.

        To be called before a run: a shortcut starts one without leaving the field.
        """
        wrong = [field for field in self._shown.values() if not field.commit()]
        if wrong:
            wrong[0].editor.setFocus()
        return not wrong

    @Slot()
    def reset(self) -> None:
        """Set all parameters of the method that is shown to their defaults, as one edit."""
        before = self.values()
        for field in self._shown.values():
            field.set_value(field.parameter.default)
        if self.values() != before:
            self._tell()

    @property
    def _shown(self) -> dict[str, Field]:
        return self._fields[self.method_key()]

    def _lay_out(self) -> None:
        self._page.setProperty("role", "page")
        self._column.setContentsMargins(12, 12, 12, 12)
        self._column.setSpacing(6)
        self._column.addWidget(self._method)
        self._column.addWidget(self._select_by)
        self._column.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("method-scroll")
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self._page)
        self.set_content(scroll)

    def _show_method(self, key: str) -> None:
        """Show the fields of a method, made when it is first shown."""
        if key not in self._fields:
            self._make_fields(key)
        for other, fields in self._fields.items():
            for field in fields.values():
                field.setVisible(other == key)
        entry = method(key)
        self.set_caption(entry.citation)
        self._method.editor.setToolTip(
            f"<p><b>{entry.title}</b><br>{entry.citation}</p><p>{entry.summary}</p>"
        )
        self._align()
        self._order_tabs()
        self._update_reset()

    def _make_fields(self, key: str) -> None:
        fields: dict[str, Field] = {}
        for parameter in method(key).parameters:
            field = _EDITORS[parameter.kind](self._theme, parameter)
            if isinstance(field, FeaturesField):
                field.set_features(*self._features)
            field.edited.connect(self._tell_edit)
            self._column.insertWidget(self._column.count() - 2, field)  # before "choose by" and the stretch
            fields[parameter.name] = field
        self._fields[key] = fields

    def _align(self) -> None:
        """Give all labels the width of the longest one shown."""
        fields = [self._method, *self._shown.values(), self._select_by]
        width = max(field.label.sizeHint().width() for field in fields)
        for field in fields:
            field.label.setFixedWidth(width)

    def _order_tabs(self) -> None:
        fields = [self._method, *self._shown.values(), self._select_by]
        order = [part for field in fields for part in (field.editor, field.reset_button)]
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    def _offer(self, plan: Plan) -> None:
        """Offer the measures of a plan under "choose by"."""
        parameter = _select_by(plan.evaluated)
        if parameter != self._select_by.parameter:
            self._select_by.set_choices(parameter)
        self._select_by.set_value(plan.select_by)

    @Slot(object)
    def _change_method(self, key: str) -> None:
        self._show_method(key)
        self._tell()

    @Slot(object)
    def _tell_edit(self, value: object) -> None:
        """Tell an edit; a feature that one field has taken leaves the other ones."""
        edited = self.sender()
        if isinstance(edited, FeaturesField):
            for field in self._shown.values():
                if isinstance(field, FeaturesField) and field is not edited:
                    field.without(edited.value)
        self._tell()

    def _tell(self) -> None:
        self._update_reset()
        self.edited.emit(self.method_key(), self.values())

    def _update_reset(self) -> None:
        defaults = {
            name: field.parameter.validate(field.parameter.default) for name, field in self._shown.items()
        }
        self._reset.setVisible(self.values() != defaults)
