"""Messages in the window instead of dialogs: notices, their stack, notes with a button; and questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QHideEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
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
_LEVEL_ROLES: dict[Level, str] = {
    "info": "accent",
    "warning": "warning",
    "error": "error",
}
_LEVEL_NAMES: dict[Level, str] = {
    "info": tr("info"),
    "warning": tr("warning"),
    "error": tr("error"),
}

_SPACE_ABOVE = 8  # pixels above the bar, which the bar's widget includes
_MAX_MESSAGES = 3  # messages that are shown at once
_MIN_WIDTH = 360  # pixels of an overlay
_MAX_WIDTH = 720
_MIN_READING_MILLISECONDS = 6000  # to notice a message
_MILLISECONDS_PER_LETTER = 60  # of a slow reader
# after a message was not hidden, as the user may be reading it
_MILLISECONDS_TO_NEXT_CHECK = 3000


class ClosedByEscape(QWidget):
    """Base of a widget that Esc closes while it has the keyboard focus.

    While the focus is in none of these widgets, Esc stops runs.
    """

    def dismiss(self) -> None:
        """Close the widget."""
        raise NotImplementedError

    def event(self, event: QEvent) -> bool:
        """Prevent that the window takes Esc as a shortcut."""
        # Qt first asks the focused widget whether a key is its own:
        # accepting the event sends the key to `keyPressEvent` instead.
        is_override = (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
        )
        if is_override and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close the widget on Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)


class Notice(ClosedByEscape):
    """A bar with a message: an icon, a selectable text, buttons of actions, and a button that closes the bar.

    The bar is hidden until `say` gives it a message.

    Parameters
    ----------
    theme : Theme
    stacked : bool
        Whether a single action's button is below the text, for a narrow
        place. Several buttons are always below the text.

    Attributes
    ----------
    closed : Signal()
        The user has closed the notice.
    expired : Signal()
        The notice has hidden itself after the time that reading it takes.
    """

    closed = Signal()
    expired = Signal()

    def __init__(self, theme: Theme, *, stacked: bool = False) -> None:
        super().__init__()
        self.setObjectName("notice")
        self._theme = theme
        self._level: Level = "info"
        self._icon_label = PlainLabel()
        self._text = PlainLabel(wraps=True)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setSizePolicy(
            QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred
        )
        self._stacked = stacked  # whether a single button is below the text

        # The functions of the present buttons by their labels, and all
        # buttons that were made, some of which may be hidden.
        self._actions: dict[str, Callable[[], object]] = {}
        self._buttons: list[QPushButton] = []
        text = tr("Close this message")
        self._close = named(QToolButton(), accessible_name=text, tip=text, role="quiet")
        self._close.clicked.connect(self.dismiss)
        icons.set_icon(self._close, theme, "close", "muted")
        self._lay_out()

        # Started by `expire_when_read`, for messages that need no answer.
        self._expiry_timer = single_shot(_MIN_READING_MILLISECONDS, self.expire, self)
        theme.changed.connect(self._restyle)
        self.hide()

    def say(
        self, text: str, level: Level = "info", actions: Actions = _NO_ACTIONS
    ) -> None:
        """Show a message.

        Parameters
        ----------
        text : str
            The message, in whole sentences.
        level : {"info", "warning", "error"}
            Determines icon and color.
        actions : mapping of str to callable
            Labels of buttons ("Retry"), and the functions that the
            buttons call.
        """
        self._level = level
        self._text.setText(text)
        self._show_buttons(dict(actions))
        self.setAccessibleName(f"{_LEVEL_NAMES[level]}: {text}")
        self._restyle()
        self._expiry_timer.stop()
        self.show()

    def expire_when_read(self) -> None:
        """Hide the message after the time that reading it takes."""
        self._expiry_timer.start(
            _MIN_READING_MILLISECONDS
            + _MILLISECONDS_PER_LETTER * len(self._text.text())
        )

    def stay(self) -> None:
        """Keep the message until the user closes it."""
        self._expiry_timer.stop()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop the timer of a message that is hidden."""
        super().hideEvent(event)
        if self.isHidden():  # the message itself, and not its window, is hidden
            self._expiry_timer.stop()

    @Slot()
    def expire(self) -> None:
        """Hide the message and emit `expired`, or try again a little later.

        The message stays while the mouse or the focus is on the bar, or
        another window is active.
        """
        focus = QApplication.focusWidget()
        has_focus = focus is not None and self.isAncestorOf(focus)
        if self.underMouse() or has_focus or not self.isActiveWindow():
            self._expiry_timer.start(_MILLISECONDS_TO_NEXT_CHECK)
        else:
            self.hide()
            self.expired.emit()

    def sizeHint(self) -> QSize:
        """Return the size with which the text has a single line, so that the bar covers little of a page."""
        hint = super().sizeHint()
        other_width = super().sizeHint().width() - self._text.sizeHint().width()
        line_width = self._text.fontMetrics().horizontalAdvance(self._text.text()) + 2
        return QSize(max(hint.width(), other_width + line_width), hint.height())

    @property
    def level(self) -> Level:
        """Level of the message: "info", "warning" or "error"."""
        return self._level

    def text(self) -> str:
        """Return the message; empty while there is none."""
        return "" if self.isHidden() else self._text.text()

    @property
    def last_text(self) -> str:
        """The message that is shown, or the last one that was shown."""
        return self._text.text()

    @Slot()
    def dismiss(self) -> None:
        """Close the message."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def _show_buttons(self, actions: dict[str, Callable[[], object]]) -> None:
        """Show a button for each action, beside the text or below it.

        ``actions`` maps the labels of the buttons to the functions that
        they call.
        """
        self._actions = actions
        while len(self._buttons) < len(actions):
            button = named(QPushButton(), "notice-action")
            button.clicked.connect(partial(self._act, len(self._buttons)))
            self._buttons.append(button)

        # Several buttons are below the text, and so is any in a narrow place.
        layout = (
            self._row_below if self._stacked or len(actions) > 1 else self._row_beside
        )

        # Buttons of earlier messages are used again; those that are too
        # many are hidden.
        for button in self._buttons:
            button.hide()
        for button, label in zip(self._buttons, actions, strict=False):
            button.setText(label)
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
            button.show()

    def _act(self, number: int) -> None:
        """Call the function of the action at a position, from 0."""
        list(self._actions.values())[number]()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar: a card with a tinted background and frame in the color of the message's level."""
        colors = self._theme.colors
        color = colors.role(_LEVEL_ROLES[self._level])
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

        # `mix` mixes two colors; the number is the share of the level's
        # color: 45 % for the frame, less inside. The line of the frame
        # is 1 pixel wide, half of which is outside of the rectangle;
        # corners have a radius of 7.
        painter.setPen(QPen(colors.q(mix(colors.panel, color, 0.45)), 1.0))
        painter.setBrush(
            colors.q(mix(colors.panel, color, 0.12 if colors.dark else 0.07))
        )
        painter.drawRoundedRect(
            self.rect().toRectF().adjusted(0.5, _SPACE_ABOVE + 0.5, -0.5, -0.5), 7, 7
        )

    def _lay_out(self) -> None:
        """Lay out the parts of the bar.

        Icon, text, the button of a single action and the close button
        are in a row. Another row below has the buttons of several
        actions.
        """
        self._row_beside = QHBoxLayout()
        self._row_below = QHBoxLayout()
        self._row_below.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        row = fill(
            QHBoxLayout(),
            self._icon_label,
            (self._text, 1),
            self._row_beside,
            spacing=9,
        )
        fill(
            QVBoxLayout(self),
            row,
            self._row_below,
            margins=(11, _SPACE_ABOVE + 7, 6, 7),
            spacing=4,
        )
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._text.setContentsMargins(0, 3, 0, 3)

    @Slot()
    def _restyle(self) -> None:
        """Draw icon and bar in the theme's present colors."""
        color = self._theme.colors.role(_LEVEL_ROLES[self._level])
        self._icon_label.setPixmap(
            icons.pixmap(self._level, color, 18, self.devicePixelRatioF())
        )
        self.update()


class Notices(QWidget):
    """A stack of messages, up to three at once, the newest at the bottom.

    A message of level "info" replaces an earlier one of this level.
    Errors stay until they are closed, or until more than three messages
    would be shown. A warning without actions hides itself after the
    time to read it, and is kept;
    :meth:`show_kept` shows the kept messages again.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    closed : Signal(str)
        Text of a message that was closed, by the user or by
        :meth:`dismiss`.
    expired : Signal(str)
        Text of a warning that has hidden itself, and is kept.
    keptChanged : Signal(int)
        The number of kept messages has changed.
    """

    closed = Signal(str)
    expired = Signal(str)
    keptChanged = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("notices")
        self._shown_bars: list[Notice] = []  # the newest last

        # Warnings that have hidden themselves, and can be shown again.
        self._kept_messages: list[tuple[str, Level]] = []
        self._last_text = ""
        self._bars = [Notice(theme) for _ in range(_MAX_MESSAGES)]
        self._column = fill(
            QVBoxLayout(self), *self._bars, margins=(0, 0, 0, 0), spacing=0
        )
        for bar in self._bars:
            bar.closed.connect(self._note_closed)
            bar.expired.connect(self._keep_expired)
        self.hide()

    @property
    def newest(self) -> Notice | None:
        """The newest of the messages that are shown; None without one."""
        return self._shown_bars[-1] if self._shown_bars else None

    @property
    def last_text(self) -> str:
        """Text of the newest message, even if it is no longer shown."""
        return self._last_text

    def text(self) -> str:
        """Return the text of the newest message that is shown; "" without one."""
        return self.newest.text() if self.newest is not None else ""

    def texts(self) -> tuple[str, ...]:
        """Return the texts of all messages that are shown, the newest last."""
        return tuple(bar.text() for bar in self._shown_bars)

    def say(
        self, text: str, level: Level = "info", actions: Actions = _NO_ACTIONS
    ) -> None:
        """Show a message below the others.

        The message replaces a shown message that it repeats or
        continues. Of several messages of level "info", only the newest
        is shown. A warning without buttons hides itself after it was
        readable for a while. The parameters are those of `Notice.say`:
        text, level, and a function for the label of each button.
        """
        # A text continues another one if it begins with it, followed by a blank.
        for bar in list(self._shown_bars):
            repeats_text = f"{text} ".startswith(f"{bar.text()} ")
            if repeats_text or bar.level == level == "info":
                self._remove(bar)

        # The oldest message gives way if there are too many.
        if len(self._shown_bars) == _MAX_MESSAGES:
            self._remove(self._shown_bars[0])

        # A bar that is not in use goes to the lower end of the column.
        bar = next(bar for bar in self._bars if bar not in self._shown_bars)
        self._shown_bars.append(bar)
        self._column.removeWidget(bar)
        self._column.addWidget(bar)
        self._last_text = text
        bar.say(text, level, actions)
        if level == "warning" and not actions:
            bar.expire_when_read()

        # A kept message with this text is shown again, and so is not
        # kept any more. Screen readers read the message at once.
        self._forget(text)
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(bar, QAccessible.Event.Alert))

    def withdraw(self, text: str) -> None:
        """Remove a message that is out of date, whether it is shown or kept."""
        for bar in [bar for bar in self._shown_bars if bar.text() == text]:
            self._remove(bar)
        self._forget(text)

    def kept(self) -> tuple[str, ...]:
        """Return the texts of the kept messages, the newest last."""
        return tuple(text for text, _ in self._kept_messages)

    def keep(self, text: str, level: Level) -> None:
        """Keep a message without showing it, so that `show_kept` can show it."""
        self._forget(text)
        self._kept_messages.append((text, level))
        self.keptChanged.emit(len(self._kept_messages))

    @Slot()
    def show_kept(self) -> None:
        """Show the newest of the kept messages, each until the user closes it."""
        for text, level in self._kept_messages[-_MAX_MESSAGES:]:
            self.say(text, level)
            self._shown_bars[-1].stay()

    def _forget(self, text: str) -> None:
        """Remove the message with a text from the kept ones; emit `keptChanged` if there was one."""
        n_before = len(self._kept_messages)
        self._kept_messages = [
            (kept_text, level)
            for kept_text, level in self._kept_messages
            if kept_text != text
        ]
        if len(self._kept_messages) != n_before:
            self.keptChanged.emit(len(self._kept_messages))

    @Slot()
    def close_newest(self) -> None:
        """Close the newest message."""
        if self.newest is not None:
            self.newest.dismiss()

    @Slot()
    def dismiss(self) -> None:
        """Close all messages, and remove all kept ones."""
        while self._shown_bars:
            self.close_newest()
        for text in self.kept():
            self._forget(text)

    @Slot()
    def _note_closed(self) -> None:
        """Remove the bars that were closed, and emit their texts."""
        for bar in [bar for bar in self._shown_bars if bar.isHidden()]:
            self._remove(bar)
            self.closed.emit(bar.last_text)

    @Slot()
    def _keep_expired(self) -> None:
        """Keep the messages that have hidden themselves."""
        for bar in [bar for bar in self._shown_bars if bar.isHidden()]:
            self._remove(bar)
            self.keep(bar.last_text, bar.level)
            self.expired.emit(bar.last_text)

    def _remove(self, bar: Notice) -> None:
        """Take a bar out of the stack, which is hidden without bars."""
        self._shown_bars.remove(bar)
        bar.hide()
        self.setVisible(bool(self._shown_bars))


class Overlay(QWidget):
    """A column of widgets over the lower part of another widget, which does not move when they appear.

    Parameters
    ----------
    below : QWidget
        The widget that the overlay covers in part.
    *widgets : QWidget
        Widgets of the column, from top to bottom; each may be hidden.
    foot : int
        Pixels at the bottom of the covered widget that stay free.
    """

    def __init__(self, below: QWidget, *widgets: QWidget, foot: int) -> None:
        super().__init__(below)
        self.setObjectName("overlay")
        self._covered_widget = below
        self._free_height = foot  # pixels below the overlay that stay free
        fill(QVBoxLayout(self), *widgets, margins=(0, 0, 0, 0), spacing=0)
        below.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the covered widget."""
        if watched is self._covered_widget and event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Follow the size that the visible widgets of the column need."""
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return handled

    def _place(self) -> None:
        """Put the overlay at the bottom of the covered widget, in the middle, as wide as its widgets need.

        The width has limits. Below the overlay, as many pixels stay
        free as ``foot`` of the constructor says.
        """
        layout = self.layout()
        area = self._covered_widget.size()
        assert layout is not None
        width = min(
            max(_MIN_WIDTH, layout.sizeHint().width()),
            _MAX_WIDTH,
            area.width() - 2 * _SPACE_ABOVE,
        )
        height = (
            layout.heightForWidth(width)
            if layout.hasHeightForWidth()
            else layout.sizeHint().height()
        )
        top = area.height() - self._free_height - height
        self.setGeometry((area.width() - width) // 2, top, width, height)
        self.raise_()


class RemovableNote(QWidget):
    """A muted text with a button that removes the subject of the text.

    The note is hidden while there is no text.

    Parameters
    ----------
    theme : Theme
    name : str
        Object name, for the program and its tests; that of the button
        ends in "-remove".
    remove : str
        Tooltip and accessible name of the button: what it removes.

    Attributes
    ----------
    button : QToolButton
        The button.
    """

    def __init__(self, theme: Theme, name: str, remove: str) -> None:
        super().__init__()
        self._text = named(PlainLabel(wraps=True), name, role="caption")
        self._text.setSizePolicy(
            QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred
        )
        self.button = named(
            QToolButton(),
            f"{name}-remove",
            accessible_name=remove,
            tip=remove,
            role="quiet",
        )
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        icons.set_icon(self.button, theme, "close", "muted")
        row = fill(
            QHBoxLayout(self),
            (self._text, 1),
            self.button,
            margins=(0, 0, 0, 0),
            spacing=4,
        )

        # The button is beside the first of several lines. Without a
        # text, all is hidden.
        row.setAlignment(self.button, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def say(self, text: str) -> None:
        """Show a text; "" hides the note with its button."""
        self._text.setText(text)
        self.setVisible(bool(text))

    def text(self) -> str:
        """Return the text of the note."""
        return self._text.text()


class CoveredNumber(QPushButton):
    """A link that shows the results of a sealed test part."""

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
        """Name the data whose test part a click on the button shows.

        Parameters
        ----------
        data : str
            Name of the data if the test parts of several data are sealed; else
            "".
        """
        self.setText(
            tr("Show test of {data}").format(data=data) if data else tr("Show test")
        )


class Question:
    """A dialog that asks whether to do something."""

    @staticmethod
    def ask(
        parent: QWidget,
        title: str,
        text: str,
        do: str,
        leave: str = "",
        *,
        detail: str = "",
    ) -> bool:
        """Ask a question in a dialog with two buttons, and wait for the answer.

        Parameters
        ----------
        parent : QWidget
        title, text : str
            Title of the dialog, and the question.
        do, leave : str
            Labels of the two buttons: "Discard results" and "Keep
            running". The second label is *Cancel* by default; Enter and
            Esc press the second button.
        detail : str
            Long text that the user can unfold, such as code that would run.

        Returns
        -------
        bool
            Whether the user pressed the first button.
        """
        box = QMessageBox(QMessageBox.Icon.Question, title, plain(text), parent=parent)
        if detail:
            box.setDetailedText(detail)
        accept_button = box.addButton(do, QMessageBox.ButtonRole.AcceptRole)
        accept_button.setObjectName("question-do")
        leave_button = box.addButton(
            leave or tr("Cancel"), QMessageBox.ButtonRole.RejectRole
        )
        box.setDefaultButton(leave_button)
        box.setEscapeButton(leave_button)
        box.exec()
        return box.clickedButton() is accept_button
