"""Messages where they belong: no dialog to click away, nothing lost while they are read; and questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleEvent, QHideEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMessageBox,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.ui.language import tr
from rankstudio.ui.process.turns import single_shot
from rankstudio.ui.style import icons
from rankstudio.ui.style.colors import mix
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named

Level = Literal["info", "warning", "error"]
Actions = Mapping[str, Callable[[], object]]
_NO_ACTIONS: Actions = MappingProxyType({})
_LEVEL_ROLES: dict[Level, str] = {"info": "accent", "warning": "warning", "error": "error"}
_LEVEL_NAMES: dict[Level, str] = {"info": tr("info"), "warning": tr("warning"), "error": tr("error")}

_SPACE_ABOVE = 8  # pixels between the bar and what it lies below; none while there is no bar
_MAX_MESSAGES = 3  # messages at once
_MIN_WIDTH = 360  # pixels, of what lies over a page
_MAX_WIDTH = 720
_MIN_READING_MILLISECONDS = 6000  # milliseconds: to notice a text, and for each letter of a slow reader
_MILLISECONDS_PER_LETTER = 60
_MILLISECONDS_TO_NEXT_CHECK = 3000  # milliseconds until the next check whether the user may be reading


class ClosedByEscape(QWidget):
    """Esc, which stops runs elsewhere, closes it where the keyboard is in it."""

    def dismiss(self) -> None:
        """Close it."""
        raise NotImplementedError

    def event(self, event: QEvent) -> bool:
        """Keep Esc from the shortcuts of the window."""
        is_override = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
        if is_override and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close it on Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)


class Notice(ClosedByEscape):
    """A bar with an icon, a text that wraps and can be selected, perhaps actions, and a way to close it.

    It is hidden until it has something to say.

    Parameters
    ----------
    theme : Theme
    stacked : bool
        Whether an action stands below the text, for a narrow place; several always do.

    Attributes
    ----------
    closed : Signal()
        The user closed the notice.
    expired : Signal()
        It was long enough in sight to be read, and went by itself.
    """

    closed = Signal()
    expired = Signal()

    def __init__(self, theme: Theme, *, stacked: bool = False) -> None:
        super().__init__()
        self.setObjectName("notice")
        self._theme = theme
        self._level: Level = "info"
        self._picture = PlainLabel()
        self._text = PlainLabel(wraps=True)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._stacked = stacked
        self._actions: dict[str, Callable[[], object]] = {}
        self._buttons: list[QPushButton] = []
        text = tr("Close this message")
        self._close = named(QToolButton(), accessible_name=text, tip=text, role="quiet")
        self._close.clicked.connect(self.dismiss)
        icons.set_icon(self._close, theme, "close", "muted")
        self._lay_out()
        self._clock = single_shot(_MIN_READING_MILLISECONDS, self.expire, self)
        theme.changed.connect(self._restyle)
        self.hide()

    def say(self, text: str, level: Level = "info", actions: Actions = _NO_ACTIONS) -> None:
        """Show a message.

        Parameters
        ----------
        text : str
            Whole sentences.
        level : {"info", "warning", "error"}
        actions : mapping of str to callable
            What buttons offer to do about it ("Retry"), and what they do then.
        """
        self._level = level
        self._text.setText(text)
        self._offer(dict(actions))
        self.setAccessibleName(f"{_LEVEL_NAMES[level]}: {text}")
        self._restyle()
        self._clock.stop()
        self.show()

    def go_when_read(self) -> None:
        """Go when it was in sight for the time that reading it takes."""
        self._clock.start(_MIN_READING_MILLISECONDS + _MILLISECONDS_PER_LETTER * len(self._text.text()))

    def stay(self) -> None:
        """Stay until it is closed."""
        self._clock.stop()

    def hideEvent(self, event: QHideEvent) -> None:
        """Have no time any more."""
        super().hideEvent(event)
        if self.isHidden():  # and not a window that is out of sight with it
            self._clock.stop()

    @Slot()
    def expire(self) -> None:
        """Go now, but not while mouse or keyboard are on the message or the user is elsewhere."""
        focus = QApplication.focusWidget()
        if self.underMouse() or not self.isActiveWindow() or (focus is not None and self.isAncestorOf(focus)):
            self._clock.start(_MILLISECONDS_TO_NEXT_CHECK)
        else:
            self.hide()
            self.expired.emit()

    def sizeHint(self) -> QSize:
        """Return the size with which the text has one line: it covers no more of a page than that takes."""
        hint = super().sizeHint()
        other_width = super().sizeHint().width() - self._text.sizeHint().width()
        line = self._text.fontMetrics().horizontalAdvance(self._text.text()) + 2
        return QSize(max(hint.width(), other_width + line), hint.height())

    @property
    def level(self) -> Level:
        """How much the message matters."""
        return self._level

    def text(self) -> str:
        """Return the message; empty while there is none."""
        return "" if self.isHidden() else self._text.text()

    @property
    def last_text(self) -> str:
        """The message that is shown, or was the last."""
        return self._text.text()

    @Slot()
    def dismiss(self) -> None:
        """Close the message."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def _offer(self, actions: dict[str, Callable[[], object]]) -> None:
        """Have a button for each action, beside the text or below it."""
        self._actions = actions
        while len(self._buttons) < len(actions):
            button = named(QPushButton(), "notice-action")
            button.clicked.connect(partial(self._act, len(self._buttons)))
            self._buttons.append(button)
        layout = self._below if self._stacked or len(actions) > 1 else self._beside
        for button in self._buttons:
            button.hide()
        for button, label in zip(self._buttons, actions, strict=False):
            button.setText(label)
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
            button.show()

    def _act(self, number: int) -> None:
        list(self._actions.values())[number]()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar: a tinted card in the colour of its level."""
        colors = self._theme.colors
        color = colors.role(_LEVEL_ROLES[self._level])
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colors.q(mix(colors.panel, color, 0.45)), 1.0))
        painter.setBrush(colors.q(mix(colors.panel, color, 0.12 if colors.dark else 0.07)))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, _SPACE_ABOVE + 0.5, -0.5, -0.5), 7, 7)

    def _lay_out(self) -> None:
        """Put icon, text and a button in a row, several buttons below it."""
        self._beside, self._below = QHBoxLayout(), QHBoxLayout()
        self._below.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        row = fill(QHBoxLayout(), self._picture, (self._text, 1), self._beside, spacing=9)
        fill(QVBoxLayout(self), row, self._below, margins=(11, _SPACE_ABOVE + 7, 6, 7), spacing=4)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._text.setContentsMargins(0, 3, 0, 3)

    @Slot()
    def _restyle(self) -> None:
        """Draw icon and bar in the theme's present colours."""
        color = self._theme.colors.role(_LEVEL_ROLES[self._level])
        self._picture.setPixmap(icons.pixmap(self._level, color, 18, self.devicePixelRatioF()))
        self.update()


class Notices(QWidget):
    """A few messages at once, the newest at the bottom.

    Offers ("info") replace each other. Errors stay until they are closed, or there are too many. Warnings go
    when there was time to read them, and are kept: see :meth:`show_kept`.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    closed : Signal(str)
        A message was closed, by the user or by :meth:`dismiss`: its text.
    put_by : Signal(str)
        A warning went by itself: its text.
    keptChanged : Signal(int)
        How many messages are kept out of sight.
    """

    closed = Signal(str)
    put_by = Signal(str)
    keptChanged = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("notices")
        self._shown: list[Notice] = []
        self._kept: list[tuple[str, Level]] = []
        self._last = ""
        self._bars = [Notice(theme) for _ in range(_MAX_MESSAGES)]
        self._column = fill(QVBoxLayout(self), *self._bars, margins=(0, 0, 0, 0), spacing=0)
        for bar in self._bars:
            bar.closed.connect(self._note_closed)
            bar.expired.connect(self._put_by)
        self.hide()

    @property
    def newest(self) -> Notice | None:
        """The message that came last of those that are shown."""
        return self._shown[-1] if self._shown else None

    @property
    def last_text(self) -> str:
        """The newest message that is shown, or the last one that was."""
        return self._last

    def text(self) -> str:
        """Return the newest message; empty while there is none."""
        return self.newest.text() if self.newest is not None else ""

    def texts(self) -> tuple[str, ...]:
        """Return all messages that are shown, the newest last."""
        return tuple(bar.text() for bar in self._shown)

    def say(self, text: str, level: Level = "info", actions: Actions = _NO_ACTIONS) -> None:
        """Show a message below those that are there, in place of one that it repeats; see `Notice.say`."""
        for bar in list(self._shown):
            if f"{text} ".startswith(f"{bar.text()} ") or bar.level == level == "info":
                self._remove(bar)
        if len(self._shown) == _MAX_MESSAGES:
            self._remove(self._shown[0])
        bar = next(bar for bar in self._bars if bar not in self._shown)
        self._shown.append(bar)
        self._column.removeWidget(bar)
        self._column.addWidget(bar)
        self._last = text
        bar.say(text, level, actions)
        if level == "warning" and not actions:
            bar.go_when_read()
        self._forget(text)
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(bar, QAccessible.Event.Alert))

    def withdraw(self, text: str) -> None:
        """Take a message away that is true no more, where it is shown."""
        for bar in [bar for bar in self._shown if bar.text() == text]:
            self._remove(bar)
        self._forget(text)

    def kept(self) -> tuple[str, ...]:
        """Return the messages that are kept out of sight, the newest last."""
        return tuple(text for text, _ in self._kept)

    def keep(self, text: str, level: Level) -> None:
        """Keep a message out of sight, the newest ones first to be shown again."""
        self._forget(text)
        self._kept.append((text, level))
        self.keptChanged.emit(len(self._kept))

    @Slot()
    def show_kept(self) -> None:
        """Show the newest messages that are kept; from now on they stay until they are closed."""
        for text, level in self._kept[-_MAX_MESSAGES:]:
            self.say(text, level)
            self._shown[-1].stay()

    def _forget(self, text: str) -> None:
        before = len(self._kept)
        self._kept = [message for message in self._kept if message[0] != text]
        if len(self._kept) != before:
            self.keptChanged.emit(len(self._kept))

    @Slot()
    def close_newest(self) -> None:
        """Close the message that came last."""
        if self.newest is not None:
            self.newest.dismiss()

    @Slot()
    def dismiss(self) -> None:
        """Close all messages, and keep none."""
        while self._shown:
            self.close_newest()
        for text in self.kept():
            self._forget(text)

    @Slot()
    def _note_closed(self) -> None:
        for bar in [bar for bar in self._shown if bar.isHidden()]:
            self._remove(bar)
            self.closed.emit(bar.last_text)

    @Slot()
    def _put_by(self) -> None:
        """Keep the messages that have gone by themselves."""
        for bar in [bar for bar in self._shown if bar.isHidden()]:
            self._remove(bar)
            self.keep(bar.last_text, bar.level)
            self.put_by.emit(bar.last_text)

    def _remove(self, bar: Notice) -> None:
        self._shown.remove(bar)
        bar.hide()
        self.setVisible(bool(self._shown))


class Overlay(QWidget):
    """Lies over the lower part of a widget, which keeps its place whatever is shown here.

    Parameters
    ----------
    below : QWidget
        What it lies over.
    *widgets : QWidget
        From top to bottom; each may be hidden.
    foot : int
        Pixels at the bottom that are not covered.
    """

    def __init__(self, below: QWidget, *widgets: QWidget, foot: int) -> None:
        super().__init__(below)
        self.setObjectName("overlay")
        self._below = below
        self._foot = foot
        fill(QVBoxLayout(self), *widgets, margins=(0, 0, 0, 0), spacing=0)
        below.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the place at the bottom when the widget below gets another size."""
        if watched is self._below and event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Take as much room as what is shown needs now."""
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return handled

    def _place(self) -> None:
        layout = self.layout()
        area = self._below.size()
        assert layout is not None
        width = min(max(_MIN_WIDTH, layout.sizeHint().width()), _MAX_WIDTH, area.width() - 2 * _SPACE_ABOVE)
        height = layout.heightForWidth(width) if layout.hasHeightForWidth() else layout.sizeHint().height()
        self.setGeometry((area.width() - width) // 2, area.height() - self._foot - height, width, height)
        self.raise_()


class RemovableNote(QWidget):
    """A muted text that wraps, with a button that removes what it is about; hidden while it has none.

    Parameters
    ----------
    theme : Theme
    name : str
        For the program and its tests; the button is called by it and "-remove".
    remove : str
        What the button does.

    Attributes
    ----------
    button : QToolButton
    """

    def __init__(self, theme: Theme, name: str, remove: str) -> None:
        super().__init__()
        self._text = named(PlainLabel(wraps=True), name, role="caption")
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.button = named(QToolButton(), f"{name}-remove", accessible_name=remove, tip=remove, role="quiet")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        icons.set_icon(self.button, theme, "close", "muted")
        row = fill(QHBoxLayout(self), (self._text, 1), self.button, margins=(0, 0, 0, 0), spacing=4)
        row.setAlignment(self.button, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def say(self, text: str) -> None:
        """Show a text; "" hides it with its button."""
        self._text.setText(text)
        self.setVisible(bool(text))

    def text(self) -> str:
        """Return its text."""
        return self._text.text()


class CoveredNumber(QPushButton):
    """A link that uncovers the test part, where its numbers are covered."""

    def __init__(self) -> None:
        super().__init__(tr("Show test"))
        text = tr("Show the results of the sealed test part")
        tip = tr(
            "The test part of these data is sealed. Click to show its results; other data stay sealed, and "
            "the study counts each look."
        )
        named(self, "covered-number", text, tip, role="link")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    def name_data(self, data: str) -> None:
        """Name the data whose test part a click shows.

        Parameters
        ----------
        data : str
            Name where other data are sealed beside; else "".
        """
        self.setText(tr("Show test of {data}").format(data=data) if data else tr("Show test"))


class Question:
    """Asks whether something may be done."""

    @staticmethod
    def ask(parent: QWidget, title: str, text: str, do: str, leave: str = "", *, detail: str = "") -> bool:
        """Ask, and wait for the answer.

        Parameters
        ----------
        parent : QWidget
        title, text : str
            The question.
        do, leave : str
            The buttons: "Discard results" and "Keep running"; *Cancel* where the second is not given. The
            second one has the keyboard, and Esc stands for it.
        detail : str
            Long text that can be shown: the code that would run.

        Returns
        -------
        bool
            Whether the first was pressed.
        """
        box = QMessageBox(QMessageBox.Icon.Question, title, plain(text), parent=parent)
        if detail:
            box.setDetailedText(detail)
        accept_button = box.addButton(do, QMessageBox.ButtonRole.AcceptRole)
        accept_button.setObjectName("question-do")
        other = box.addButton(leave or tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(other)
        box.setEscapeButton(other)
        box.exec()
        return box.clickedButton() is accept_button
