"""The fields of one method in the form, kept for each method that was shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.engine.methods.catalog import Kind, Method, Parameter
from rankstudio.ui.language import tr
from rankstudio.ui.select.features_field import FeaturesField
from rankstudio.ui.select.fields import ChoicesField, Field, LineField, SwitchField, measure_field
from rankstudio.ui.style.theme import Theme

_EDITORS: dict[Kind, Callable[[Theme, Parameter], Field]] = {
    Kind.GRID: LineField,
    Kind.INTEGER: LineField,
    Kind.NUMBER: LineField,
    Kind.CHOICE: ChoicesField,
    Kind.SWITCH: SwitchField,
    Kind.MEASURE: measure_field,
    Kind.FEATURES: FeaturesField,
    Kind.COSTS: LineField,
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
    """A column of fields, one a parameter.

    Parameters
    ----------
    theme : Theme
    prefix : str
        Of the names of the fields, where two sections may show parameters of one name.

    Attributes
    ----------
    edited : Signal(object)
        The field that the user gave a new valid value.
    """

    edited = Signal(object)

    def __init__(self, theme: Theme, prefix: str = "") -> None:
        super().__init__()
        self._theme, self._prefix = theme, prefix
        self._features: tuple[Sequence[int], Sequence[str]] = ((), ())
        self._kept: dict[str, dict[str, Field]] = {}
        self._entry: Method | None = None
        self._without_ranking = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)

    @property
    def fields(self) -> dict[str, Field]:
        """The fields of the method that is shown, by the parameter's name, hidden ones too."""
        return self._kept[self._entry.key] if self._entry else {}

    def shown(self) -> list[Field]:
        """Return the fields that can be seen, from top to bottom."""
        hidden, values = self._without_ranking, self.values()
        return [
            field
            for field in self.fields.values()
            if field.parameter.counts(values) and not (hidden and field.parameter.ranks)
        ]

    def values(self) -> dict[str, Any]:
        """Return the parameters; a field in error has its last valid value."""
        return {name: field.value for name, field in self.fields.items()}

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show values, telling nobody."""
        for name, value in values.items():
            self.fields[name].set_value(value)
        self._hide_others()

    def set_features(self, ids: Sequence[int], names: Sequence[str]) -> None:
        """Say which features the data have, for the fields that name some."""
        self._features = (ids, names)
        for fields in self._kept.values():
            for field in fields.values():
                if isinstance(field, FeaturesField):
                    field.set_features(ids, names)

    def show_method(self, entry: Method | None, without_ranking: bool = False) -> None:
        """Show the fields of a method, made when it is first shown; None shows nothing.

        Parameters
        ----------
        entry : Method or None
        without_ranking : bool
            Whether another method ranks with what this one selects.
        """
        self._entry, self._without_ranking = entry, without_ranking
        if entry is not None and entry.key not in self._kept:
            self._kept[entry.key] = {p.name: self._make(p) for p in entry.parameters}
        self._hide_others()

    def _hide_others(self) -> None:
        """Show the fields that count, and no others."""
        seen = self.shown()
        for fields in self._kept.values():
            for field in fields.values():
                field.setVisible(field in seen)
        self.setVisible(bool(seen))

    def _make(self, parameter: Parameter) -> Field:
        named = replace(translated(parameter), name=f"{self._prefix}{parameter.name}")
        field = _EDITORS[parameter.kind](self._theme, named)
        if isinstance(field, FeaturesField):
            field.set_features(*self._features)
        field.edited.connect(self._tell)
        self._column.addWidget(field)
        return field

    @Slot(object)
    def _tell(self, _value: object) -> None:
        self._hide_others()
        self.edited.emit(self.sender())
