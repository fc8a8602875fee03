"""A section of the form with the fields of a method; the fields of each method shown before are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.engine.arrays import Ints
from rankstudio.engine.methods.catalog import Kind, Parameter
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.ui.language import tr
from rankstudio.ui.select.fields import (
    ChoicesField,
    EditableField,
    FeaturesField,
    Field,
    LineField,
    SwitchField,
)
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill
from rankstudio.ui.widgets.panel import Disclosure

_EDITORS: dict[Kind, Callable[[Theme, Parameter], Field]] = {
    Kind.GRID: LineField,
    Kind.INTEGER: LineField,
    Kind.NUMBER: LineField,
    Kind.CHOICE: ChoicesField,
    Kind.SWITCH: SwitchField,
    Kind.MEASURE: EditableField,
    Kind.FEATURES: FeaturesField,
    Kind.COSTS: LineField,
    Kind.TEXT: LineField,
}


def translated(parameter: Parameter) -> Parameter:
    """Return a parameter of the catalog with its texts in the language of the window."""
    return replace(
        parameter,
        label=tr(parameter.label),
        help=tr(parameter.help),
        none_label=tr(parameter.none_label),
        choices=tuple((key, tr(label)) for key, label in parameter.choices),
    )


class ParameterSection(QWidget):
    """A column of fields, one for each parameter; rarely changed parameters are under *More options*.

    *More options* opens by itself for a method or a plan that has a value in it other than the default.

    Parameters
    ----------
    theme : Theme
    prefix : str
        Prefix of the fields' names, needed if two sections may show
        parameters of the same name.
    fold : str
        Name under which the settings store whether *More options* is open.

    Attributes
    ----------
    edited : Signal(object)
        The user gave a field a new valid value (Field).
    more : Disclosure
        The part *More options*.
    """

    edited = Signal(object)

    def __init__(
        self, theme: Theme, prefix: str = "", fold: str = "more-options"
    ) -> None:
        super().__init__()
        self._theme = theme
        self._prefix = prefix  # of the names of the fields, and of `fold`

        # ids and names of the features of the open data
        self._features: tuple[Sequence[int] | Ints, Sequence[str]] = ((), ())

        # the fields that were made, by the keys of methods and the names of parameters
        self._fields_by_method: dict[str, dict[str, Field]] = {}
        self._key = ""  # of the shown method
        self._visible = True

        # values under *More options* that differ from their defaults
        self._n_changed = 0

        # whether another method was shown since the last values or edit
        self._is_new_method = True
        # the basic parameters; the others are in `more` below them,
        # which is stored as open or closed under the name `fold`
        self._column = fill(QVBoxLayout(), margins=(0, 0, 0, 0), spacing=6)
        self.more = Disclosure(theme, f"{prefix}{fold}")
        fill(
            QVBoxLayout(self),
            self._column,
            self.more,
            margins=(0, 0, 0, 0),
            spacing=6,
        )

    @property
    def fields(self) -> dict[str, Field]:
        """The fields of the method that is shown, by the parameter's name, hidden ones too."""
        return self._fields_by_method.get(self._key, {})

    def shown(self) -> list[Field]:
        """Return the fields that apply with the present values, from top to bottom, folded ones last."""
        if not self._visible:
            return []

        # A parameter may have an effect only with certain values of another one.
        values = self.values()
        applicable = [
            field for field in self.fields.values() if field.parameter.counts(values)
        ]

        # Parameters that are not basic are under *More options*.
        return sorted(applicable, key=lambda field: not field.parameter.basic)

    def tab_order(self) -> Iterator[QWidget]:
        """Yield the widgets of the shown fields that take the keyboard focus, from top to bottom."""
        # The button *More options* comes before the first folded field.
        is_before_fold = True
        for field in self.shown():
            if is_before_fold and not field.parameter.basic:
                yield self.more.button
                is_before_fold = False
            yield from (field.editor, field.reset_button)

    def values(self) -> dict[str, Any]:
        """Return the parameters; a field in error has its last valid value."""
        return {name: field.value for name, field in self.fields.items()}

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show values of those parameters that the section has, without emitting a signal."""
        for name, field in self.fields.items():
            if name in values:
                field.set_value(values[name])
        self._hide_others()
        self._is_new_method = False

    def set_features(self, ids: Sequence[int] | Ints, names: Sequence[str]) -> None:
        """Set the features of the data, for the fields that take features or a number of features."""
        self._features = (ids, names)
        for fields in self._fields_by_method.values():
            for field in fields.values():
                self._adapt_to_data(field)

    def show_parameters(
        self, key: str, parameters: Sequence[Parameter], visible: bool = True
    ) -> None:
        """Show the fields of a method, which are created when the method is first shown.

        Parameters
        ----------
        key : str
            Key of the method; "" for none.
        parameters : sequence of Parameter
            Parameters of the method.
        visible : bool
            Whether the fields are visible; hidden fields keep their values.
        """
        # stays True until the values of the method are set or edited
        self._is_new_method |= key != self._key
        self._key = key
        self._visible = visible
        if key not in self._fields_by_method:
            self._fields_by_method[key] = {
                p.name: self._new_field(p) for p in parameters
            }
        self._hide_others()

    def reveal(self, field: Field) -> None:
        """Open *More options* if it contains a field."""
        if field in self.fields.values() and not field.parameter.basic:
            self.more.set_open(True)

    def _hide_others(self) -> None:
        """Show the fields that apply with the present values, and hide all others."""
        visible = self.shown()
        for fields in self._fields_by_method.values():
            for field in fields.values():
                field.setVisible(field in visible)
        self.setVisible(bool(visible))
        self._show_more([field for field in visible if not field.parameter.basic])

    def _show_more(self, folded: Sequence[Field]) -> None:
        """Show how many values under *More options* are no defaults; open that part when the first one is.

        ``folded`` are the fields under *More options*. For another
        method, that part is as the user left it, or open if values
        differ.
        """
        # `changed` says whether the value of a field differs from its
        # default; `wanted` is whether the user has opened the fold.
        n_changed = sum(field.changed for field in folded)
        n_changed_before = self._n_changed
        self._n_changed = n_changed
        text = (
            tr("More options ({n} changed)").format(n=n_changed)
            if n_changed
            else tr("More options")
        )
        self.more.button.setText(text)
        self.more.setVisible(bool(folded))
        if self._is_new_method:
            self.more.set_open(self.more.wanted or n_changed > 0)
        elif n_changed and not n_changed_before:
            self.more.set_open(True)

    def _new_field(self, parameter: Parameter) -> Field:
        """Return a new field of a parameter, in the column or, unless it is basic, under *More options*."""
        own_parameter = replace(
            translated(parameter), name=f"{self._prefix}{parameter.name}"
        )
        field = _EDITORS[parameter.kind](self._theme, own_parameter)
        self._adapt_to_data(field)
        field.edited.connect(self._take_edit)
        (self._column if parameter.basic else self.more.column).addWidget(field)
        return field

    def _adapt_to_data(self, field: Field) -> None:
        """Give a field what depends on the data: a field of features the features, that of k their number."""
        # `limit` is the name of the parameter k, the number of features to select.
        _, names = self._features
        if isinstance(field, FeaturesField):
            field.set_features(*self._features)
        elif (
            isinstance(field, LineField)
            and field.parameter.name == StepKind.FEATURES.limit
            and names
        ):
            field.set_most(len(names))

    @Slot(object)
    def _take_edit(self, _value: object) -> None:
        """Emit the field that was edited; show and hide fields that depend on its value."""
        self._is_new_method = False
        self._hide_others()
        self.edited.emit(self.sender())
