"""A field for one of a few, or for several of them, each of which is tried."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Slot
from PySide6.QtWidgets import QCheckBox, QMenu, QVBoxLayout, QWidget, QWidgetAction

from rankstudio.engine.methods.catalog import Parameter
from rankstudio.ui.language import tr
from rankstudio.ui.select.fields import ChoiceField
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import named

_SEVERAL = tr("several, tried each")  # keys of the items that stand for no one choice
_ASK = tr("tick several")


class ChoicesField(ChoiceField):
    """One of a few; "several…" at the end of the list opens boxes to tick.

    What is ticked is taken when the boxes are left; several choices are shown as one item more.
    """

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        self._boxes: dict[str, QCheckBox] = {}
        self._menu: QMenu | None = None
        super().__init__(theme, parameter)

    def show_value(self) -> None:
        """Select the value's label, or that of several values."""
        box, choices = self.editor, self.parameter.choices
        while box.count() > len(choices):
            box.removeItem(box.count() - 1)
        several = self.parameter.several(self._value)
        if several:
            box.addItem(self.parameter.format(self._value), _SEVERAL)
        box.addItem(tr("several…"), _ASK)
        box.setCurrentIndex(box.findData(_SEVERAL if several else self._value))

    def menu(self) -> QMenu:
        """Return the boxes to tick, those of the present value ticked."""
        if self._menu is None:
            self._menu = self._make_menu()
        present = self.parameter.values(self._value)
        for key, tick in self._boxes.items():
            tick.setChecked(key in present)
        return self._menu

    def _make_menu(self) -> QMenu:
        said = tr("{label}: several, each of which is tried").format(label=self.parameter.label)
        menu, page = named(QMenu(self), f"several-{self.parameter.name}", said), QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 8, 12, 8)
        for key, label in self.parameter.choices:
            self._boxes[key] = QCheckBox(label)
            column.addWidget(self._boxes[key])
        action = QWidgetAction(menu)
        action.setDefaultWidget(page)
        menu.addAction(action)
        menu.aboutToHide.connect(self._take_ticked)
        return menu

    @Slot()
    def _take_current(self) -> None:
        asked = self.editor.currentData() == _ASK
        if asked or self.editor.currentData() == _SEVERAL:
            self.show_value()  # what stands there stays until other boxes are ticked
        else:
            super()._take_current()
        if asked:
            self.menu().popup(self.editor.mapToGlobal(QPoint(0, self.editor.height())))
            next(iter(self._boxes.values())).setFocus()

    @Slot()
    def _take_ticked(self) -> None:
        ticked = [key for key, tick in self._boxes.items() if tick.isChecked()]
        present = self.parameter.values(self._value)
        if ticked and set(ticked) != set(present):
            self.enter(ticked)
