"""The fields of one method in the form, kept for each method that was shown."""

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
    """A column of fields, one a parameter; those that most runs leave alone fold under *More options*.

    The fold opens by itself for a method or a plan with a value in it that differs from its default.

    Parameters
    ----------
    theme : Theme
    prefix : str
        Of the names of the fields, where two sections may show parameters of one name.
    fold : str
        Name of the fold, for the settings.

    Attributes
    ----------
    edited : Signal(object)
        The field that the user gave a new valid value.
    more : Disclosure
        The fold.
    """

    edited = Signal(object)

    def __init__(self, theme: Theme, prefix: str = "", fold: str = "more-options") -> None:
        super().__init__()
        self._theme = theme
        self._prefix = prefix
        self._features: tuple[Sequence[int] | Ints, Sequence[str]] = ((), ())
        self._kept: dict[str, dict[str, Field]] = {}
        self._key = ""
        self._visible = True
        self._n_changed = 0  # folded values, and whether they are another method's
        self._unseen = True
        self._column = fill(QVBoxLayout(), margins=(0, 0, 0, 0), spacing=6)
        self.more = Disclosure(theme, f"{prefix}{fold}")
        fill(QVBoxLayout(self), self._column, self.more, margins=(0, 0, 0, 0), spacing=6)

    @property
    def fields(self) -> dict[str, Field]:
        """The fields of the method that is shown, by the parameter's name, hidden ones too."""
        return self._kept.get(self._key, {})

    def shown(self) -> list[Field]:
        """Return the fields that count, from top to bottom, folded ones at the end."""
        if not self._visible:
            return []
        values = self.values()
        counting = [field for field in self.fields.values() if field.parameter.counts(values)]
        return sorted(counting, key=lambda field: not field.parameter.basic)

    def tab_order(self) -> Iterator[QWidget]:
        """Yield the widgets that take the keyboard focus, from top to bottom."""
        before = True
        for field in self.shown():
            if before and not field.parameter.basic:
                yield self.more.button
                before = False
            yield from (field.editor, field.reset_button)

    def values(self) -> dict[str, Any]:
        """Return the parameters; a field in error has its last valid value."""
        return {name: field.value for name, field in self.fields.items()}

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show values of the parameters that it has, without emitting a signal."""
        for name, field in self.fields.items():
            if name in values:
                field.set_value(values[name])
        self._hide_others()
        self._unseen = False

    def set_features(self, ids: Sequence[int] | Ints, names: Sequence[str]) -> None:
        """Take the features of the data, for the fields that name or count some."""
        self._features = (ids, names)
        for fields in self._kept.values():
            for field in fields.values():
                self._fit(field)

    def show_parameters(self, key: str, parameters: Sequence[Parameter], visible: bool = True) -> None:
        """Show the fields of a method, made when it is first shown.

        Parameters
        ----------
        key : str
            Of the method; "" for none.
        parameters : sequence of Parameter
        visible : bool
            Whether they count. Where they do not, they keep their values.
        """
        self._unseen |= key != self._key
        self._key = key
        self._visible = visible
        if key not in self._kept:
            self._kept[key] = {p.name: self._make(p) for p in parameters}
        self._hide_others()

    def reveal(self, field: Field) -> None:
        """Open the fold where a field of it is to be seen."""
        if field in self.fields.values() and not field.parameter.basic:
            self.more.set_open(True)

    def _hide_others(self) -> None:
        """Show the fields that count, and no others."""
        visible = self.shown()
        for fields in self._kept.values():
            for field in fields.values():
                field.setVisible(field in visible)
        self.setVisible(bool(visible))
        self._show_more([field for field in visible if not field.parameter.basic])

    def _show_more(self, folded: Sequence[Field]) -> None:
        """Show how many folded values differ from their defaults, and open the fold for the first of them."""
        n_changed = sum(field.changed for field in folded)
        before = self._n_changed
        self._n_changed = n_changed
        text = tr("More options ({n} changed)").format(n=n_changed) if n_changed else tr("More options")
        self.more.button.setText(text)
        self.more.setVisible(bool(folded))
        if self._unseen:
            self.more.set_open(self.more.wanted or n_changed > 0)
        elif n_changed and not before:
            self.more.set_open(True)

    def _make(self, parameter: Parameter) -> Field:
        named = replace(translated(parameter), name=f"{self._prefix}{parameter.name}")
        field = _EDITORS[parameter.kind](self._theme, named)
        self._fit(field)
        field.edited.connect(self._tell)
        (self._column if parameter.basic else self.more.column).addWidget(field)
        return field

    def _fit(self, field: Field) -> None:
        """Let a field take what the data have."""
        _, names = self._features
        if isinstance(field, FeaturesField):
            field.set_features(*self._features)
        elif isinstance(field, LineField) and field.parameter.name == StepKind.FEATURES.limit and names:
            field.set_most(len(names))

    @Slot(object)
    def _tell(self, _value: object) -> None:
        self._unseen = False
        self._hide_others()
        self.edited.emit(self.sender())
