"""A user before the window: a mouse that only reaches what is in sight, a keyboard, and eyes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import (
    QCoreApplication,
    QModelIndex,
    QPoint,
    QPointF,
    QRect,
    Qt,
    QTimer,
)
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QKeySequence,
    QWheelEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QMainWindow,
    QMenu,
    QMenuBar,
    QWidget,
)
from waiting import wait_until

W = TypeVar("W", bound=QWidget)
Then = Callable[[Any], object]

_LEFT = Qt.MouseButton.LeftButton
_MOST_TABS, _MOST_TURNS = 120, 60
_PATIENCE = 15.0  # seconds for what a click opens
_POLL = 5  # milliseconds
_STILL = 4  # turns of the event loop


def found(kind: type[W], name: str, root: QWidget | None = None) -> W:
    """Return the one widget of a name that is seen: in a window, or in all of them."""
    roots = [root] if root is not None else QApplication.topLevelWidgets()
    here = [
        w
        for one in roots
        for w in [one, *one.findChildren(kind)]
        if isinstance(w, kind)
    ]
    seen = [w for w in dict.fromkeys(here) if w.objectName() == name and w.isVisible()]
    assert len(seen) == 1, f"{len(seen)} widgets named {name} are seen"
    return seen[0]


def in_sight(widget: QWidget, room: QRect | None = None) -> None:
    """Assert that a widget, or a part of it, is wholly inside its window, and that nothing covers it."""
    room = widget.rect() if room is None else room
    name = f"{type(widget).__name__} {widget.objectName() or widget.accessibleName()}"
    window = widget.window()
    assert widget.isVisible(), f"{name} is not shown"
    assert not room.isEmpty(), f"{name} has no room"
    placed = QRect(widget.mapTo(window, room.topLeft()), room.size())
    assert window.rect().contains(placed), (
        f"{name} at {placed} is outside of {window.rect()}"
    )
    assert widget.visibleRegion().boundingRect().contains(room), f"{name} is cut"
    for corner in (
        room.center(),
        room.topLeft() + QPoint(4, 4),
        room.bottomRight() - QPoint(4, 4),
    ):
        at = window.childAt(widget.mapTo(window, corner)) or window
        assert at is widget or widget.isAncestorOf(at), f"{name} is covered by {at}"
    modal = QApplication.activeModalWidget()
    assert modal is None or window is modal or QApplication.activePopupWidget(), (
        f"{name} is behind {modal}"
    )


class User:
    """What mouse and keyboard share: whatever an act opens is dealt with before the act is over."""

    def doing(
        self,
        act: Callable[[], object],
        then: Then | None,
        kind: type[QWidget] = QWidget,
    ) -> None:
        """Act; where a dialog or a menu opens by it, which waits for its end, go on there."""
        if then is None:
            act()
            QCoreApplication.processEvents()
            return
        before = (QApplication.activeModalWidget(), QApplication.activePopupWidget())
        failures: list[BaseException] = []
        polls: list[QWidget | None] = []
        timer, watch = QTimer(), QTimer()
        timer.setInterval(_POLL)
        watch.setInterval(round(2 * _PATIENCE * 1000))

        def look() -> None:
            popup = QApplication.activePopupWidget()
            opened = popup or QApplication.activeModalWidget()
            polls.append(opened)
            there = (
                opened not in before and isinstance(opened, kind) and opened.isVisible()
            )
            there = there and (
                popup is not None or QApplication.activeWindow() is opened
            )
            if not there and len(polls) * _POLL < 1000 * _PATIENCE:
                return
            timer.stop()
            try:
                assert there, f"{kind.__name__} did not open, but {opened}"
                then(opened)
            except BaseException as failure:
                failures.append(failure)
                close_all()

        def give_up() -> None:
            failures.append(AssertionError(f"{polls[-1]} is still open"))
            close_all()

        watch.timeout.connect(give_up)
        timer.timeout.connect(look)
        timer.start()
        watch.start()
        act()
        wait_until(lambda: not timer.isActive(), _PATIENCE)
        watch.stop()
        if failures:
            raise failures[0]
        QCoreApplication.processEvents()


def keep_still(widget: QWidget) -> None:
    """Let the window lay itself out, until a widget stays where it is: nobody aims at what moves."""
    window = widget.window()
    places: list[QRect] = []

    def stays() -> bool:
        QCoreApplication.sendPostedEvents()
        places.append(QRect(widget.mapTo(window, QPoint()), widget.size()))
        return (
            len(places) >= _STILL
            and len({room.getRect() for room in places[-_STILL:]}) == 1
        )

    wait_until(stays)


def give_keyboard_back() -> None:
    """Do what the system does when a dialog is closed, and the platform without a screen does not."""
    windows = [one for one in QApplication.topLevelWidgets() if one.isVisible()]
    below = QApplication.activeModalWidget() or next(
        one for one in windows if isinstance(one, QMainWindow)
    )
    below.activateWindow()
    wait_until(below.isActiveWindow)


def close_all() -> None:
    """Close menus and dialogs, so that nobody waits for them."""
    while (
        opened := QApplication.activePopupWidget() or QApplication.activeModalWidget()
    ) is not None:
        if not opened.close():
            return


class Mouse(User):
    """Moves, clicks and drags, through the window's system: what is hit is what lies there."""

    RIGHT = Qt.MouseButton.RightButton

    def click(
        self,
        widget: QWidget,
        at: QPoint | None = None,
        *,
        then: Then | None = None,
        button: Qt.MouseButton = _LEFT,
        double: bool = False,
    ) -> None:
        """Click on a widget, on its middle or on a point; with `then` deal with what opens."""
        keep_still(widget)
        if at is None:
            in_sight(widget)
        assert widget.isEnabled(), f"{widget.objectName()} is not enabled"
        at = widget.rect().center() if at is None else at
        window = widget.window()
        handle, place = window.windowHandle(), widget.mapTo(window, at)
        none = Qt.KeyboardModifier.NoModifier
        held: list[bool] = []

        def let_go() -> None:
            if held:
                held.clear()
                QTest.mouseRelease(handle, button, none, place)

        def act() -> None:
            QTest.mouseMove(handle, place)
            held.append(True)
            QTest.mousePress(handle, button, none, place)
            let_go()
            if double:
                QTest.mouseDClick(handle, button, none, place)

        def deal(opened: QWidget) -> None:
            let_go()  # of a button that opens a menu when it is pressed
            assert then is not None
            then(opened)

        self.doing(act, then and deal)

    def click_part(self, widget: QWidget, room: QRect, **how: Any) -> None:
        """Click on a part of a widget, which has to be in sight."""
        in_sight(widget, room)
        self.click(widget, room.center(), **how)

    def wheel_to(self, view: QAbstractItemView, index: QModelIndex) -> None:
        """Turn the wheel until a row is in sight."""
        for _ in range(_MOST_TURNS):
            room, seen = view.visualRect(index), view.viewport().rect()
            if seen.top() <= room.top() and room.bottom() <= seen.bottom():
                return
            self.wheel(view.viewport(), down=room.bottom() > seen.bottom())
        raise AssertionError(f"the wheel does not bring {index.data()} into sight")

    def wheel(self, widget: QWidget, *, down: bool) -> None:
        """Turn the wheel by a notch over the middle of a widget."""
        window, at = (
            widget.window(),
            widget.mapTo(widget.window(), widget.rect().center()),
        )
        turned = QPoint(0, -120 if down else 120)
        everywhere = QPointF(window.mapToGlobal(at))
        event = QWheelEvent(
            QPointF(at), everywhere, QPoint(), turned, Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QCoreApplication.sendEvent(window.windowHandle(), event)
        QCoreApplication.processEvents()

    def click_cell(
        self,
        view: QAbstractItemView,
        index: QModelIndex,
        *,
        then: Then | None = None,
        **how: Any,
    ) -> None:
        """Click on a cell of a table, a list or a tree; it has to be in sight."""
        room = view.visualRect(index)
        seen = room.intersected(view.viewport().rect())
        assert seen.height() == room.height(), (
            f"the row at {room} is cut in {view.objectName()}"
        )
        self.click_part(view.viewport(), seen, then=then, **how)

    def choose(self, menu: QMenu, text: str, *, then: Then | None = None) -> None:
        """Click on an entry of an open menu."""
        action = entry(menu, text)
        room = menu.actionGeometry(action)
        self.click_part(menu, room, then=then)

    def open_menu(
        self, bar: QMenuBar, text: str, *more: str, then: Then | None = None
    ) -> None:
        """Click through the menu bar to an entry."""
        self.click_part(bar, bar.actionGeometry(entry(bar, text)))
        opened = None
        for at, label in enumerate(more):
            wait_until(
                lambda before=opened: (
                    QApplication.activePopupWidget() not in (None, before)
                )
            )
            opened = QApplication.activePopupWidget()
            assert isinstance(opened, QMenu)
            self.choose(opened, label, then=then if at == len(more) - 1 else None)

    def choose_in_box(self, box: QComboBox, text: str) -> None:
        """Click on a box, and on one of its entries."""
        self.click(box)
        view = box.view()
        wait_until(view.isVisible)
        self.click_cell(view, view.model().index(box.findText(text), 0))


class Keyboard(User):
    """Presses keys where the focus is, and never anything else."""

    def press(self, *keys: str, then: Then | None = None) -> None:
        """Press keys one after the other: "Ctrl+O", "Down"; the last one opens what `then` deals with."""
        for at, name in enumerate(keys):
            combined = QKeySequence(name)[0]
            assert combined.key() != Qt.Key.Key_unknown, name

            def act(combined: Any = combined) -> None:
                QTest.keyClick(
                    self._window(), combined.key(), combined.keyboardModifiers()
                )

            self.doing(act, then if at == len(keys) - 1 else None)

    def type(self, text: str) -> None:
        """Type a text."""
        for letter in text:
            QTest.keyClick(self._window(), ord(letter))
        QCoreApplication.processEvents()

    def tab_to(self, name: str, key: str = "Tab") -> QWidget:
        """Press Tab until the focus is in the widget of a name; return that."""
        way: list[str] = []
        for _ in range(_MOST_TABS):
            at = QApplication.focusWidget()
            inside = at
            while inside is not None and inside.objectName() != name:
                inside = inside.parentWidget()
            if inside is not None:
                in_sight(at)
                return inside
            way.append(
                at.objectName() or type(at).__name__ if at is not None else "nowhere"
            )
            self.press(key)
        raise AssertionError(
            f"Tab does not come to {name}, but to {dict.fromkeys(way)}"
        )

    def open_menu(self, *, then: Then) -> None:
        """Press the menu key, which the system tells the window of as an event of its own."""
        window = self._window()
        at = QPoint(0, 0)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, at, at)
        self.doing(lambda: QCoreApplication.sendEvent(window, event), then, QMenu)

    def choose(self, menu: QMenu, text: str, *, then: Then | None = None) -> None:
        """Go down an open menu to an entry, and press Enter."""
        action = entry(menu, text)
        for _ in menu.actions():
            if menu.activeAction() is action:
                break
            self.press("Down")
        assert menu.activeAction() is action, f"the arrow keys do not come to {text}"
        self.press("Return", then=then)

    def find(self, text: str, *, then: Then | None = None) -> None:
        """Find something by its name and do it."""
        self.press("Ctrl+K")
        self.type(text)
        self.press("Return", then=then)

    @staticmethod
    def _window() -> Any:
        if QGuiApplication.focusWindow() is None:
            give_keyboard_back()
        return QGuiApplication.focusWindow()


def entry(menu: QMenu | QMenuBar, text: str) -> QAction:
    """Return the entry of a menu that begins with a text."""
    texts = {action.text().replace("&", ""): action for action in menu.actions()}
    matching = [action for label, action in texts.items() if label.startswith(text)]
    assert matching, f"{text} is not among {list(texts)}"
    assert matching[0].isEnabled(), f"{text} is not enabled"
    return matching[0]
