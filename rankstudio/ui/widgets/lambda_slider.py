"""The slider over the values of a parameter: λ, from 2⁰ to 2¹⁰."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSlider, QStyle, QStyleOptionSlider, QWidget

from rankstudio.ui.style.fonts import BASE, font
from rankstudio.ui.style.number_format import power, power_and_value
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.widgets.layout import fill, named

LEAST_WIDTH = 160
"""Pixels of the slider itself, with which its ticks can be told apart."""


class TickedSlider(QSlider):
    """A horizontal slider with ticks at some of its stops."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._ticks: tuple[int, ...] = ()

    def set_ticks(self, places: Sequence[int]) -> None:
        """Draw ticks at stops, by their places."""
        self._ticks = tuple(places)
        self.update()

    def ticks(self) -> tuple[int, ...]:
        """Return the places of the ticks."""
        return self._ticks

    def tick_pixels(self) -> list[int]:
        """Return where the ticks are: below the middle of the handle at each stop."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        part = QStyle.SubControl.SC_SliderHandle
        slider = QStyle.ComplexControl.CC_Slider
        handle = self.style().subControlRect(slider, option, part, self)
        room, half = self.width() - handle.width(), handle.width() / 2
        steps = max(1, self.maximum() - self.minimum())
        return [round(half + room * (place - self.minimum()) / steps) for place in self._ticks]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the slider, and the ticks below its groove."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        bottom = self.height() - 1
        for x in self.tick_pixels():
            painter.drawLine(x, bottom - 3, x, bottom)


class LambdaSlider(QWidget):
    """A slider whose stops are given values, with the present one beside it: "2⁶ = 64".

    Parameters
    ----------
    symbol : str
        What is moved: "λ".
    values : sequence of float
        Ascending.

    Attributes
    ----------
    moved : Signal(float)
        The value the user moved to; not emitted by `select`.
    """

    moved = Signal(float)

    def __init__(self, symbol: str = "λ", values: Sequence[float] = (1.0,)) -> None:
        super().__init__()
        self._values: tuple[float, ...] = ()
        self._compact = False
        self._symbol = named(PlainLabel(symbol), role="muted")
        self._slider = named(TickedSlider(), "lambda-slider", symbol)
        self._slider.setMinimumWidth(LEAST_WIDTH)
        self._slider.valueChanged.connect(self._on_value)
        self._label = named(PlainLabel(), role="title")
        row = (self._symbol, (self._slider, 1), self._label)
        fill(QHBoxLayout(self), *row, margins=(0, 0, 0, 0), spacing=10)
        self.setFocusProxy(self._slider)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.set_values(values)

    def set_values(
        self, values: Sequence[float], symbol: str = "", marked: Sequence[float] | None = None
    ) -> None:
        """Offer other values; the present one stays if it is among them, else the nearest is taken.

        Those ``marked`` have ticks; by default all.
        """
        if symbol:
            self._symbol.setText(symbol)
            self._slider.setAccessibleName(symbol)
        before = self.value() if self._values else None
        self._values = tuple(values)
        with QSignalBlocker(self._slider):
            self._slider.setRange(0, max(0, len(values) - 1))
        of = set(self._values if marked is None else marked)
        self._slider.set_ticks([place for place, value in enumerate(self._values) if value in of])
        self._slider.setPageStep(max(1, len(values) // 5))
        self._slider.setEnabled(len(values) > 1)
        if before is not None and values:
            self.select(before)
        self._fit_label()

    def set_compact(self, compact: bool) -> None:
        """Show the power alone ("2⁶"), where there is no room for its value."""
        if compact != self._compact:
            self._compact = compact
            self._fit_label()

    def values(self) -> tuple[float, ...]:
        """Return the values on offer."""
        return self._values

    def value(self) -> float:
        """Return the present value."""
        return self._values[self._slider.value()]

    def select(self, value: float) -> None:
        """Move to the nearest value without telling anybody."""
        with QSignalBlocker(self._slider):
            places = range(len(self._values))
            self._slider.setValue(min(places, key=lambda i: abs(self._values[i] - value)))
        self._show()

    def changeEvent(self, event: QEvent) -> None:
        """Make room for larger text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self._values:
            self._fit_label()

    def _fit_label(self) -> None:
        """Give the label the width of the widest text, so that nothing moves with the slider."""
        metrics = QFontMetrics(font(BASE, bold=True))
        widest = max((metrics.horizontalAdvance(self._text(v)) for v in self._values), default=0)
        self._label.setFixedWidth(widest + 4)
        self._show()

    def _text(self, value: float) -> str:
        return power(value) if self._compact else power_and_value(value)

    def _show(self) -> None:
        """Write the present value beside the slider."""
        text = power_and_value(self.value()) if self._values else ""
        self._label.setText(self._text(self.value()) if self._values else "")
        self._slider.setAccessibleDescription(text)
        self._slider.setToolTip(f"{self._symbol.text()} = {text}" if text else "")

    @Slot()
    def _on_value(self) -> None:
        """Tell where the user moved to."""
        self._show()
        self.moved.emit(self.value())
