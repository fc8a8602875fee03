"""The toolbar: what is needed on every page, in the order in which it is needed."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QEvent, QSize, Qt, Slot
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QToolBar

from rankstudio.ui.language import tr
from rankstudio.ui.shell.actions import Actions
from rankstudio.ui.shell.selection_line import SelectionLine
from rankstudio.ui.style.icons import SIZE, set_icon
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.choices import look_for_mouse
from rankstudio.ui.widgets.layout import named

_USUAL = 42  # letters of the line: of most selections, and five or six of each of its parts
_LEAST = 28
_TEXTS = 2  # buttons give way before the texts do


class ActionButton(QPushButton):
    """A button for an action. A tool button would not centre icon and text.

    Parameters
    ----------
    action : QAction
    texted : bool
        Whether the action's name stands beside the icon.
    own_icon : bool
        Whether the button has an icon in another colour than the action's, which menus show.
    """

    def __init__(self, action: QAction, texted: bool = False, own_icon: bool = False) -> None:
        super().__init__()
        self._action = action
        self._texted = texted
        self._compact = False
        self._own_icon = own_icon
        self.setObjectName(f"tool-{action.objectName()}")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.clicked.connect(action.trigger)
        action.changed.connect(self._follow)
        self._follow()

    def set_compact(self, compact: bool) -> None:
        """Show the icon alone."""
        self._compact = compact
        self._follow()

    @Slot()
    def _follow(self) -> None:
        action = self._action
        self.setText(action.iconText().replace("&", "&&") if self._texted and not self._compact else "")
        if not self._own_icon:
            self.setIcon(action.icon())
        self.setIconSize(QSize(SIZE, SIZE))
        self.setEnabled(action.isEnabled())
        self.setToolTip(action.toolTip())
        self.setAccessibleName(action.iconText())


class MainToolBar(QToolBar):
    """Open, run, what is selected, measure, convention, export, theme.

    Parameters
    ----------
    actions : Actions
    theme : Theme
    """

    def __init__(self, actions: Actions, theme: Theme) -> None:
        super().__init__(tr("Tools"))
        self.setObjectName("main-toolbar")
        self.setMovable(False)
        self.setFloatable(False)
        self.setIconSize(QSize(SIZE, SIZE))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._theme = theme
        self._level = 0
        self._shrinking = [self._add(actions["open"], texted=True)]
        self.addSeparator()
        run = ActionButton(actions["run"], texted=True, own_icon=True)
        run.setProperty("role", "primary")
        set_icon(run, theme, "run", "on_accent")
        self.addWidget(run)
        self._first = [run, *(self._add(actions[key]) for key in ("pause", "stop", "step"))]
        self.addSeparator()
        self.line = SelectionLine()
        self.line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.addWidget(self.line)
        self.measure_button = self._menu_button("measure-button", actions.submenus["measure"])
        self.convention_button = self._menu_button("convention-button", actions.submenus["convention"])
        palette = self._add(actions["palette"])  # which a key opens, too
        self._shrinking.append(self._add(actions["export"], texted=True))
        self.theme_button = named(QPushButton(), "theme-button")
        self.addWidget(self.theme_button)
        self._giving_way = palette, self.theme_button, self._first[-1], self.convention_button
        theme.changed.connect(self._show_theme)
        self._show_theme()

    def order_tabs(self) -> None:
        """Let Run and its neighbours be the first stops of Tab, in the window where the toolbar is by now."""
        for before, after in pairwise([*self._first, self._shrinking[0]]):
            self.setTabOrder(before, after)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what a narrow window has no room for."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Leave out what another text size has no room for."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit()

    def event(self, event: QEvent) -> bool:
        """Leave out what there is no room for beside longer texts of buttons."""
        handled = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._fit()
        return bool(handled)

    @Slot()
    def _fit(self) -> None:
        """Show as many texts and buttons as the width has room for, whatever the line says just now.

        It says something else after most clicks, and no button moves by that. Two buttons that a key and a
        menu replace give way to a line of usual length; then the texts of others, and further buttons, give
        way to one whose parts can be distinguished.
        """
        # To the pixel: what is left out must come back at the width at which it was there before.
        layout = self.layout()
        gap = layout.spacing() if layout is not None else 0
        gains = [button.sizeHint().width() + gap for button in self._giving_way]
        flags = Qt.TextFlag.TextShowMnemonic.value
        texts = [
            text_button.fontMetrics().size(flags, text_button.accessibleName())
            for text_button in self._shrinking
        ]
        gains.insert(_TEXTS, sum(text.width() for text in texts))
        others_width = self.sizeHint().width() - self.line.sizeHint().width()  # known before it is laid out
        room = self.width() - others_width - sum(gains[: self._level])
        level = 0
        while level < len(gains) and room < self.line.room_for(_USUAL if level < _TEXTS else _LEAST):
            room += gains[level]
            level += 1
        if level == self._level:
            return
        self._level = level
        for button in self._shrinking:
            button.set_compact(level > _TEXTS)
        places = {hideable: index + (index >= _TEXTS) for index, hideable in enumerate(self._giving_way)}
        for action in self.actions():
            widget = self.widgetForAction(action)
            if widget in places:
                action.setVisible(places[widget] >= level)

    def _add(self, action: QAction, texted: bool = False) -> ActionButton:
        button = ActionButton(action, texted)
        self.addWidget(button)
        return button

    def _menu_button(self, name: str, menu: QMenu) -> QPushButton:
        button = named(QPushButton(), name)
        button.setMenu(menu)
        menu.aboutToHide.connect(lambda: look_for_mouse(button))
        button.setProperty("menu", "true")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.addWidget(button)
        return button

    @Slot()
    def _show_theme(self) -> None:
        """Show the sun in the dark and the moon in the light: what a click brings."""
        text, icon = (tr("Light theme"), "sun") if self._theme.dark else (tr("Dark theme"), "moon")
        set_icon(named(self.theme_button, accessible_name=text, tip=text), self._theme, icon)
