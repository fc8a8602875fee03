"""A field for sets of features: chips with id and name, and a line that finds more of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSize, QStringListModel, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QCompleter,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.catalog import Parameter
from rankstudio.ui.language import tr
from rankstudio.ui.select.fields import TIGHT, Field
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named

_HOW = tr("add by id or name")
_BETWEEN = str.maketrans("", "", ", |")


class Chip(QFrame):
    """One chosen feature: "25 BM25 of anchor" and a cross. Delete or Backspace takes it away too.

    Attributes
    ----------
    removed : Signal(int)
        The feature's id, when the user takes it away.
    """

    removed = Signal(int)

    def __init__(self, theme: Theme, feature_id: int, name: str) -> None:
        super().__init__()
        self.feature_id = feature_id
        self._theme = theme
        self._name = name
        named(
            self,
            f"chip-{feature_id}",
            tr("feature {feature_id}, {name}").format(feature_id=feature_id, name=name),
            f"{feature_id} {name}",
        )
        self.setFixedHeight(26)
        said = tr("Remove feature {feature_id}, {name}").format(feature_id=feature_id, name=name)
        self._cross = named(
            QToolButton(), said=said, tip=tr("Remove {name} (Delete)").format(name=name), role="quiet"
        )
        self._cross.setStyleSheet(TIGHT)
        self._cross.setFixedSize(20, 20)
        self._cross.setIconSize(QSize(12, 12))
        set_icon(self._cross, theme, "close", "muted", 12)
        self._cross.clicked.connect(self._remove)
        fill(QHBoxLayout(self), 1, self._cross, margins=(8, 0, 3, 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the feature out by keyboard."""
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._remove()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the chip: id in muted, then as much of the name as fits."""
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(colors.q("line"))
        painter.setBrush(colors.q("tint"))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 6.5, 6.5)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        metrics = self.fontMetrics()
        number = f"{self.feature_id}"
        place = self.rect().adjusted(8, 0, -26, 0)
        painter.setPen(colors.q("muted"))
        painter.drawText(place, left, number)
        place.setLeft(place.left() + metrics.horizontalAdvance(number + "  "))
        painter.setPen(colors.q("text"))
        painter.drawText(
            place, left, metrics.elidedText(self._name, Qt.TextElideMode.ElideMiddle, place.width())
        )

    @Slot()
    def _remove(self) -> None:
        self.removed.emit(self.feature_id)


class FeaturesField(Field):
    """Features by id, in the order in which they were added; found by id or by a part of their name."""

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        self._names: dict[int, str] = {}
        self._known = QStringListModel()
        self._box = QWidget()
        self._column = QVBoxLayout(self._box)
        self._chips: list[Chip] = []
        self._line = QLineEdit()
        super().__init__(theme, parameter, self._line)
        self._stack_chips()
        self._line.setPlaceholderText(_HOW)
        completer = QCompleter(self._known, self._line)
        self._known.setParent(completer)  # deleted with it, and not when Python finds it
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setMaxVisibleItems(10)
        popup = named(QListView(), f"completions-{parameter.name}", role="popup")
        popup.setMinimumWidth(260)
        completer.setPopup(popup)
        # Queued: the completer writes its text into the line after it has told which one was taken.
        completer.activated.connect(self._add_text, Qt.ConnectionType.QueuedConnection)
        self._line.setCompleter(completer)
        self._line.returnPressed.connect(self._add_line)
        self._line.textEdited.connect(self._forget_error)
        self._refresh()

    def set_features(self, ids: Sequence[int], names: Sequence[str]) -> None:
        """Say which features there are, for completion, names and checks."""
        self._names = {int(i): name for i, name in zip(ids, names, strict=True)}
        self._known.setStringList([f"{i} {name}" for i, name in self._names.items()])
        self.show_value()

    @Slot()
    def commit(self) -> bool:
        """Add what is written in the line."""
        if self._line.text().strip():
            self._add_line()
        return not self.has_error

    def check(self, raw: Any) -> Any:
        """Return the ids; ParameterError also for one that the data do not have."""
        ids = self.parameter.validate(raw)
        named = [i for one in self.parameter.values(ids) for i in one]
        unknown = [i for i in named if self._names and i not in self._names]
        if unknown:
            first, last = min(self._names), max(self._names)
            raise ParameterError(
                self.parameter.label,
                unknown[0],
                tr("ids of features of the data, {first} to {last}").format(first=first, last=last),
            )
        return ids

    def show_value(self) -> None:
        """Show one chip a feature; several sets, each of which is tried, as a muted text."""
        self._line.clear()
        several = self.parameter.several(self._value)
        self._line.setPlaceholderText(self.parameter.format(self._value) if several else _HOW)
        if [chip.feature_id for chip in self._chips] != list(self._ids) or self._names:
            self._make_chips()

    def without(self, ids: Sequence[int]) -> None:
        """Take out features silently, because another field took them."""
        if not self.parameter.several(self._value):
            self.set_value(tuple(i for i in self._value if i not in ids))

    @property
    def _ids(self) -> tuple[int, ...]:
        """The features of the one set; none where there are several sets."""
        return () if self.parameter.several(self._value) else self._value

    def _stack_chips(self) -> None:
        """Put the chips above the line, in the editor's place."""
        self.grid.replaceWidget(self._line, self._box)
        fill(self._column, self._line, margins=(0, 0, 0, 0), spacing=4)

    def _make_chips(self) -> None:
        for old in self._chips:
            old.setParent(None)
            old.deleteLater()
        self._chips = [
            Chip(self.theme, i, self._names.get(i, tr("feature {i}").format(i=i))) for i in self._ids
        ]
        for place, chip in enumerate(self._chips):
            self._column.insertWidget(place, chip)
            chip.removed.connect(self._take_out)

    @Slot(int)
    def _take_out(self, feature_id: int) -> None:
        self.enter(tuple(i for i in self._ids if i != feature_id))
        self._line.setFocus()

    @Slot()
    def _add_line(self) -> None:
        if self._line.text().strip():
            self._add_text(self._line.text())

    @Slot(str)
    def _add_text(self, text: str) -> None:
        if text != self._line.text() and not self._line.text():
            return  # Enter on a completion comes twice: as returnPressed, and from the completer
        try:
            added = self._meant(text)
        except ParameterError as error:
            self.show_error(str(error))
            return
        if self.parameter.several(added):
            self.enter(added)
        else:
            self.enter(self._ids + tuple(i for i in added if i not in self._ids))

    def _meant(self, text: str) -> tuple[Any, ...]:
        """Return the ids that a text means: ids, sets of them, a completion, or a part of one name only."""
        written = text.strip().casefold()
        matches = [i for i, name in self._names.items() if f"{i} {name}".casefold() == written]
        if not matches and not written.translate(_BETWEEN).isdigit():
            matches = [i for i, name in self._names.items() if name.casefold() == written]
            matches = matches or [i for i, name in self._names.items() if written in name.casefold()]
            if len(matches) > 1:
                expected = tr("an id, or more of the name ({n_matches} features match)").format(
                    n_matches=len(matches)
                )
                raise ParameterError(self.parameter.label, text, expected)
        if matches:
            return tuple(matches)
        ids: tuple[Any, ...] = self.parameter.validate(text)
        return ids

    @Slot()
    def _forget_error(self) -> None:
        self.show_error("")
