"""One choice out of a few, all in sight: folds 1 2 3 4 5 all."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from rankstudio.ui.style.fonts import BASE, font
from rankstudio.ui.widgets.layout import fill, named

_STEPS: dict[int, int] = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}


class _Segment(QPushButton):
    """A button that can become narrow: its text is a figure or a short word."""

    def sizeHint(self) -> QSize:
        """Return room for the bold text, so that choosing does not move the neighbours."""
        width = QFontMetrics(font(BASE, bold=True)).horizontalAdvance(self.text()) + 20
        return QSize(max(30, width), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the least width that still shows the text."""
        return QSize(self.sizeHint().width() - 12, super().minimumSizeHint().height())


class Segmented(QWidget):
    """A row of buttons of which exactly one is chosen; one stop for Tab, arrows move within.

    Parameters
    ----------
    options : sequence of (object, str)
        Values and what is written on their buttons.
    name : str
        What is chosen here, for screen readers: "fold".

    Attributes
    ----------
    chosen : Signal(object)
        The value that the user chose; not emitted by `choose`.
    """

    chosen = Signal(object)

    def __init__(self, options: Sequence[tuple[object, str]] = (), name: str = "") -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._values: list[object] = []
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._group.buttonClicked.connect(self._on_clicked)
        self._row = fill(QHBoxLayout(self), margins=(0, 0, 0, 0), spacing=6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_options(options)

    def set_options(self, options: Sequence[tuple[object, str]]) -> None:
        """Offer other values; the first becomes the chosen one."""
        for button in self._buttons():
            self._group.removeButton(button)
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._values = [value for value, _ in options]
        for i, (_, text) in enumerate(options):
            self._group.addButton(self._button(text), i)
        self._keep_place_in_tab_order()
        if options:
            self.select(self._values[0])

    def options(self) -> list[tuple[object, str]]:
        """Return what is offered: values and what is written on their buttons."""
        texts = [button.text() for button in self._buttons()]
        return list(zip(self._values, texts, strict=True))

    def select(self, value: object) -> None:
        """Make a value the chosen one. A value that is not offered is ignored."""
        if value in self._values:
            button = self._group.button(self._values.index(value))
            button.setChecked(True)
            self._keep_one_tab_stop()

    def value(self) -> object:
        """Return the chosen value; None where nothing is offered."""
        return self._values[self._group.checkedId()] if self._group.checkedId() >= 0 else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the choice by the arrow keys."""
        step = _STEPS.get(event.key())
        at = self._group.checkedId()
        if step is None or at < 0:
            event.ignore()
            return
        to = at + step
        if 0 <= to < len(self._values):
            button = self._group.button(to)
            button.setFocus(Qt.FocusReason.TabFocusReason)
            button.click()
        event.accept()

    def _button(self, text: str) -> QPushButton:
        """Make one button."""
        name = self.accessibleName()
        button = named(_Segment(text, self), said=f"{name} {text}" if name else text, role="segment")
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.installEventFilter(self)
        self._row.addWidget(button, 1)
        return button

    def eventFilter(self, watched: object, event: object) -> bool:
        """Take the arrow keys from the buttons, which would move the focus out of the row."""
        if not isinstance(event, QKeyEvent) or event.type() != QKeyEvent.Type.KeyPress:
            return False
        if event.key() not in _STEPS:
            return False
        self.keyPressEvent(event)
        return True

    def _buttons(self) -> list[QAbstractButton]:
        """Return the buttons in order."""
        return list(self._group.buttons())

    def _keep_place_in_tab_order(self) -> None:
        """Let Tab come to the buttons where it comes to the row: Qt puts new ones behind everything else."""
        before: QWidget = self
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # without which Qt moves nothing behind the row
        for button in self._buttons():
            QWidget.setTabOrder(before, button)
            before = button
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def _keep_one_tab_stop(self) -> None:
        """Let Tab stop at the chosen button only, as it does for radio buttons."""
        for button in self._buttons():
            focusable = Qt.FocusPolicy.TabFocus if button.isChecked() else Qt.FocusPolicy.NoFocus
            button.setFocusPolicy(focusable)

    @Slot(QAbstractButton)
    def _on_clicked(self, button: QAbstractButton) -> None:
        """Tell what the user chose."""
        self._keep_one_tab_stop()
        self.chosen.emit(self._values[self._group.id(button)])
