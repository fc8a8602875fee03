"""The toolbar, with the commands and choices that all pages need, in the order in which they are needed."""

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

_USUAL_LETTERS = (
    42  # letters of the selection line with which most selections have room
)
# letters with which the parts of a selection can be distinguished: five or six of each
_MIN_LETTERS = 28
_TEXT_STEP = 2  # step that hides texts of buttons; the steps before it hide buttons


class ActionButton(QPushButton):
    """A push button for an action, as a tool button does not center icon and text.

    Parameters
    ----------
    action : QAction
        The action that a click triggers.
    texted : bool
        Whether the button shows the action's name beside the icon.
    own_icon : bool
        Whether the button gets another icon than the action's, which
        menus show.
    """

    def __init__(
        self, action: QAction, texted: bool = False, own_icon: bool = False
    ) -> None:
        super().__init__()
        self._action = action
        self._has_text = texted  # whether the name is shown beside the icon
        self._is_compact = False  # whether the text is hidden for lack of width
        self._has_own_icon = own_icon  # whether not to take over the action's icon
        self.setObjectName(f"tool-{action.objectName()}")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.clicked.connect(action.trigger)
        action.changed.connect(self._update_from_action)
        self._update_from_action()

    def set_compact(self, compact: bool) -> None:
        """Show the icon alone, or with the text again."""
        self._is_compact = compact
        self._update_from_action()

    @Slot()
    def _update_from_action(self) -> None:
        """Show the present text, icon, state and tooltip of the action."""
        action = self._action
        shows_text = self._has_text and not self._is_compact
        self.setText(action.iconText().replace("&", "&&") if shows_text else "")
        if not self._has_own_icon:
            self.setIcon(action.icon())
        self.setIconSize(QSize(SIZE, SIZE))
        self.setEnabled(action.isEnabled())
        self.setToolTip(action.toolTip())
        self.setAccessibleName(action.iconText())


class MainToolBar(QToolBar):
    """The toolbar: open, run, the selection line, measure, convention, export and theme.

    In a narrow window it hides some buttons and texts, so that the
    selection line has room.

    Parameters
    ----------
    actions : Actions
        The actions of the window's commands.
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
        self._level = 0  # how many steps `_fit` has taken to free width
        self._text_buttons = [self._add(actions["open"], texted=True)]
        self.addSeparator()
        run = ActionButton(actions["run"], texted=True, own_icon=True)
        run.setProperty("role", "primary")

        # The icon of the action itself would not be seen on the accent color.
        set_icon(run, theme, "run", "on_accent")
        self.addWidget(run)
        self._run_buttons = [
            run,
            *(self._add(actions[key]) for key in ("pause", "stop", "step")),
        ]
        self.addSeparator()
        self.line = SelectionLine()
        self.line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.addWidget(self.line)
        self.measure_button = self._menu_button(
            "measure-button", actions.submenus["measure"]
        )
        self.convention_button = self._menu_button(
            "convention-button", actions.submenus["convention"]
        )
        palette = self._add(actions["palette"])
        self._text_buttons.append(self._add(actions["export"], texted=True))
        self.theme_button = named(QPushButton(), "theme-button")
        self.addWidget(self.theme_button)

        # Hidden in this order; a shortcut or a menu replaces each of these buttons.
        self._hideable_buttons = (
            palette,
            self.theme_button,
            self._run_buttons[-1],
            self.convention_button,
        )
        theme.changed.connect(self._show_theme)
        self._show_theme()

    def order_tabs(self) -> None:
        """Make Run and the buttons beside it the first stops of Tab, once the toolbar is in its window."""
        for before, after in pairwise([*self._run_buttons, self._text_buttons[0]]):
            self.setTabOrder(before, after)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the buttons to the new width."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Fit the buttons after a change of the text size."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit()

    def event(self, event: QEvent) -> bool:
        """Fit the buttons after a change of their texts."""
        handled = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._fit()
        return bool(handled)

    @Slot()
    def _fit(self) -> None:
        """Hide as many buttons and texts as needed to make the selection line wide enough.

        The width that the line needs does not depend on its present
        text, so that a click that changes the text moves no button.
        There are five steps, each of which frees some width: two
        buttons are hidden until a usual line fits; then the texts of
        two buttons, and two more buttons, until a shortened line fits.
        The level is the number of steps in force.
        """
        # The widths are exact to the pixel: a step is undone at the
        # same width at which it is done.
        layout = self.layout()
        gap = layout.spacing() if layout is not None else 0
        freed_widths = [
            button.sizeHint().width() + gap for button in self._hideable_buttons
        ]

        # The texts are hidden in one step, between two of the buttons.
        flags = Qt.TextFlag.TextShowMnemonic.value
        text_sizes = [
            text_button.fontMetrics().size(flags, text_button.accessibleName())
            for text_button in self._text_buttons
        ]
        freed_widths.insert(_TEXT_STEP, sum(size.width() for size in text_sizes))

        # Size hints are known before the layout. They do not contain
        # what the present level has hidden, so its widths are
        # subtracted: `line_width` is the width of the line if nothing
        # were hidden.
        others_width = self.sizeHint().width() - self.line.sizeHint().width()
        line_width = self.width() - others_width - sum(freed_widths[: self._level])
        level = 0
        while level < len(freed_widths):
            n_letters = _USUAL_LETTERS if level < _TEXT_STEP else _MIN_LETTERS
            if line_width >= self.line.room_for(n_letters):
                break
            line_width += freed_widths[level]
            level += 1
        if level == self._level:
            return
        self._level = level
        for button in self._text_buttons:
            button.set_compact(level > _TEXT_STEP)

        # The step that hides each button, from 0. Buttons from the
        # third on come one step later, as the step of the texts is
        # before them.
        steps = {
            button: index + (index >= _TEXT_STEP)
            for index, button in enumerate(self._hideable_buttons)
        }

        # A toolbar shows and hides a widget by the action that stands for it.
        for action in self.actions():
            widget = self.widgetForAction(action)
            if widget in steps:
                # The steps before `level` are in force.
                action.setVisible(steps[widget] >= level)

    def _add(self, action: QAction, texted: bool = False) -> ActionButton:
        """Add a button for an action to the toolbar, and return it; ``texted`` shows its name."""
        button = ActionButton(action, texted)
        self.addWidget(button)
        return button

    def _menu_button(self, name: str, menu: QMenu) -> QPushButton:
        """Add a button that opens a menu to the toolbar, and return it."""
        button = named(QPushButton(), name)
        button.setMenu(menu)

        # Qt would draw the button as if the mouse were still over it.
        menu.aboutToHide.connect(lambda: look_for_mouse(button))

        # The style sheet leaves room for the arrow.
        button.setProperty("menu", "true")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.addWidget(button)
        return button

    @Slot()
    def _show_theme(self) -> None:
        """Show on the button the theme to which a click changes: a sun for light, a moon for dark."""
        text, icon = (
            (tr("Light theme"), "sun")
            if self._theme.dark
            else (tr("Dark theme"), "moon")
        )
        set_icon(
            named(self.theme_button, accessible_name=text, tip=text), self._theme, icon
        )
