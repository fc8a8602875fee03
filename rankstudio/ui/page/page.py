"""A page of the window: panels in splitters; each panel can fill the page or move to a window of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QByteArray, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QSplitter, QVBoxLayout, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.plots.base import Plot
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.notice import ClosedByEscape
from rankstudio.ui.widgets.panel import Disclosure, Panel
from rankstudio.ui.widgets.table import TableView

GAP = 8
"""Distance between panels, in logical pixels."""
_MAX_SIZE = 1 << 16  # pixels; stored sizes above this are damaged
_MIN_WINDOW_SIZE = QSize(420, 320)
_Widget = TypeVar("_Widget", bound=QWidget)
_Shown = TypeVar("_Shown", TableView, Plot)
Part = tuple[QWidget, int, int]
"""A widget of a splitter, its stretch factor and its initial size."""


@dataclass(frozen=True, eq=False)
class _PoppedOut:
    """State of a panel that is in a window of its own.

    Attributes
    ----------
    window : PanelWindow
        The window that holds the panel.
    splitter : Splitter
        The splitter from which the panel was taken.
    stand_in : QWidget
        Hidden widget that keeps the panel's place in the splitter.
    sizes_before : dict
        Sizes of all splitters of the page before the panel was taken.
    """

    window: PanelWindow
    splitter: Splitter
    stand_in: QWidget
    sizes_before: dict[Splitter, list[int]]


class Page(QWidget):
    """A page of the window: panels between splitters.

    A double click on the header of a panel gives the panel the whole
    page, or takes the page back. The menu of the header also gives the
    panel a window of its own.

    Parameters
    ----------
    name : str
        Name in object names and settings.
    content : Splitter
        The splitter with the panels; see `row` and `column`.
    controllers : sequence of Controller
        Controllers of all pages; the page takes those whose first panel it contains.
    foot, head : QWidget, optional
        A line at the bottom or at the top, which stays visible when a
        panel fills the page.

    Attributes
    ----------
    failed, said : Signal(str)
        A message of a controller, a table or a plot to the user: of a
        failure, or of something done.
    figureAsked : Signal(object)
        The user wants a plot as a figure (Plot).
    paintAsked : Signal(object, object)
        Signal of a plot: a function that paints a picture, and the one
        to call with the picture.
    """

    failed = Signal(str)
    said = Signal(str)
    figureAsked = Signal(object)
    paintAsked = Signal(object, object)

    def __init__(
        self,
        name: str,
        content: Splitter,
        controllers: Sequence[Controller] = (),
        foot: QWidget | None = None,
        head: QWidget | None = None,
    ) -> None:
        super().__init__()
        named(self, f"{name}-page", role="ground")
        self._content = content
        # While a panel fills the page: that panel, the widgets that are
        # hidden for it, and the sizes of all splitters from before.
        self._maximized_panel: Panel | None = None
        self._hidden_widgets: list[QWidget] = []
        self._sizes: dict[Splitter, list[int]] = {}
        # Geometries of the windows, by the names of their panels; and
        # the panels that have windows now, each with what is needed to
        # bring it back.
        self._geometries: dict[str, QByteArray] = {}
        self._windows: dict[Panel, _PoppedOut] = {}
        # Names of the panels whose windows were open last time, and
        # open again when the page is shown first.
        self._panels_to_reopen: list[str] = []
        lines = [line for line in (head, (content, 1), foot) if line is not None]
        fill(QVBoxLayout(self), *lines, margins=(GAP, GAP, GAP, GAP), spacing=GAP)
        # Controllers of all pages are passed in; a controller belongs
        # to the page that contains its first panel.
        self._controllers = [
            candidate
            for candidate in controllers
            if candidate.panels and self.isAncestorOf(candidate.panels[0])
        ]
        # Searched once, as searching for children takes milliseconds;
        # all of them exist by now.
        self._panels = content.findChildren(Panel)
        self._tables = self.findChildren(TableView)
        self._folds = self.findChildren(Disclosure)
        self._splitters = [content, *content.findChildren(Splitter)]
        for panel in self._panels:
            panel.header.doubleClicked.connect(partial(self.toggle, panel))
            panel.header.menuAsked.connect(partial(self._show_menu, panel))
        for controller in self._controllers:
            controller.failed.connect(self.failed)
            controller.said.connect(self.said)
        for table in self._tables:
            table.failed.connect(self.failed)
        for plot in self.findChildren(Plot):
            plot.failed.connect(self.failed)
            plot.figureAsked.connect(partial(self.figureAsked.emit, plot))
            plot.paintAsked.connect(self.paintAsked)
        for panel in self._panels:
            if panel.findChildren(Plot):
                button = named(
                    panel.add_tool("figure", tr("Figure for print…")), "figure-button"
                )
                button.clicked.connect(partial(self._ask_figure, panel))

    def show_again(self) -> None:
        """Bring the page up to date before it is shown."""
        for controller in self._controllers:
            controller.update()

    def leave(self) -> None:
        """Stop the work for panels that are no longer visible."""
        for controller in self._controllers:
            controller.leave()

    def shared(self, kind: type[_Shown]) -> list[_Shown]:
        """Return the tables or plots that can be exported now: those that are visible or always shared.

        ``kind`` is the class of tables or that of plots.
        """
        return [
            widget
            for widget in self._inside(kind)
            if widget.shared.key and (widget.shared.always or widget.isVisible())
        ]

    @property
    def maximised(self) -> Panel | None:
        """The panel that fills the page; None while the panels share it."""
        return self._maximized_panel

    def maximise(self, panel: Panel) -> None:
        """Give a panel the whole page by hiding the siblings of the panel and of the splitters around it."""
        self.restore_panels()
        if panel in self._windows:  # a panel in a window of its own is not on the page
            return
        # The sizes of all splitters are remembered, to be restored later.
        self._maximized_panel = panel
        self._sizes = {splitter: splitter.sizes() for splitter in self._splitters}
        for splitter in self._splitters:
            if splitter.isAncestorOf(panel):
                widgets = (
                    splitter.widget(position) for position in range(splitter.count())
                )
                siblings = (
                    widget
                    for widget in widgets
                    if widget is not None
                    and widget is not panel
                    and not widget.isHidden()
                )
                self._hidden_widgets += [
                    other for other in siblings if not other.isAncestorOf(panel)
                ]
        for other in self._hidden_widgets:
            other.hide()

    def restore_panels(self) -> None:
        """Let all panels share the page again, with the sizes from before one of them filled it."""
        for other in self._hidden_widgets:
            other.show()
        for splitter, sizes in self._sizes.items():
            splitter.setSizes(sizes)
        self._hidden_widgets = []
        self._sizes = {}
        self._maximized_panel = None

    def pop_out(self, panel: Panel) -> None:
        """Give a panel a window of its own; the remaining panels share its space.

        The window has the position and size that it had last. When it
        is closed, the panel comes back.
        """
        if panel in self._windows or not self.isAncestorOf(panel):
            return
        self.restore_panels()
        # A hidden widget takes the position of the panel, so that it can come back.
        splitter = panel.parentWidget()
        assert isinstance(splitter, Splitter)
        stand_in = QWidget()
        # The sizes of the splitters, to be restored when the panel is back.
        sizes = {
            each_splitter: each_splitter.sizes() for each_splitter in self._splitters
        }
        splitter.replaceWidget(splitter.indexOf(panel), stand_in)
        stand_in.hide()
        window = PanelWindow(panel, self.window())
        self._windows[panel] = _PoppedOut(
            window=window, splitter=splitter, stand_in=stand_in, sizes_before=sizes
        )
        self._show_if_used(splitter)
        if panel.objectName() in self._geometries:
            window.restoreGeometry(self._geometries[panel.objectName()])
        window.closed.connect(partial(self._bring_back, panel))
        panel.show()
        window.show()

    def bring_back(self) -> None:
        """Take all panels back from windows of their own."""
        for outside in list(self._windows.values()):
            outside.window.close()

    def _bring_back(self, panel: Panel) -> None:
        """Put a panel, whose window was closed, back into its splitter.

        Once no panel has a window any more, all splitters get the sizes
        back that they had before.
        """
        outside = self._windows.pop(panel)
        self._geometries[panel.objectName()] = outside.window.saveGeometry()
        self.restore_panels()
        outside.splitter.replaceWidget(
            outside.splitter.indexOf(outside.stand_in), panel
        )
        panel.show()
        outside.stand_in.deleteLater()
        outside.window.deleteLater()
        self._show_if_used(outside.splitter)
        if not self._windows:
            for splitter, sizes in outside.sizes_before.items():
                splitter.setSizes(sizes)

    def _show_if_used(self, splitter: Splitter) -> None:
        """Hide a splitter without visible widgets, or show it again; do the same with the splitters around it.

        The space of hidden widgets goes to the largest visible widget.
        """
        while True:
            # The sum of the sizes stays, although a hidden widget has the size 0.
            total_size = sum(splitter.sizes())
            widgets = [splitter.widget(i) for i in range(splitter.count())]
            visible = [
                widget is not None and not widget.isHidden() for widget in widgets
            ]
            sizes = [
                size if is_visible else 0
                for size, is_visible in zip(splitter.sizes(), visible, strict=True)
            ]
            if any(sizes):
                sizes[sizes.index(max(sizes))] += total_size - sum(sizes)
                splitter.setSizes(sizes)
            parent = splitter.parentWidget()
            if splitter is self._content or not isinstance(parent, Splitter):
                return
            splitter.setVisible(any(visible))
            splitter = parent

    def _ask_figure(self, panel: Panel) -> None:
        """Ask for the figure of the first plot that a panel shows, preferably one that is not empty."""
        plots = [plot for plot in panel.findChildren(Plot) if plot.isVisibleTo(panel)]
        drawn = [plot for plot in plots if not plot.is_empty()]
        for plot in (drawn or plots)[:1]:  # at most one
            plot.figureAsked.emit()

    def _inside(self, kind: type[_Widget]) -> list[_Widget]:
        """Return the widgets of a kind, including those in panels that have windows of their own."""
        roots = (self, *(outside.window for outside in self._windows.values()))
        return [widget for root in roots for widget in root.findChildren(kind)]

    def _show_menu(self, panel: Panel, position: QPoint) -> None:
        """Offer in a menu to give a panel the whole page or a window of its own, or to take it back."""
        menu = QMenu(self)
        menu.setObjectName("panel-menu")
        if panel in self._windows:
            menu.addAction(tr("Restore panel"), self._windows[panel].window.close)
        else:
            is_maximised = panel is self._maximized_panel
            menu.addAction(
                tr("Restore panel") if is_maximised else tr("Maximise panel"),
                partial(self.toggle, panel),
            )
            menu.addAction(tr("Pop out panel"), partial(self.pop_out, panel))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(position)

    def save(self, settings: Settings) -> None:
        """Store the sizes of panels, the widths of columns, open disclosures and windows of panels.

        While panels have windows of their own, the sizes from before
        the first of them left the page are stored. Sizes that are
        stored already stay while a panel fills the page. Those of a
        splitter also stay if it was never on the screen, so that it was
        not laid out, or if one of its parts is hidden.
        """
        # None removes a stored setting.
        for table in self._tables:
            settings.set(
                f"columns/{table.objectName()}", table.widths.as_text() or None
            )
        for fold in self._folds:
            settings.set(f"folds/{fold.objectName()}", "open" if fold.wanted else None)
        # Position and size of each panel's window, whether it is open
        # now or was open before. `_windows` has the panels with open
        # windows.
        for panel, outside in self._windows.items():
            self._geometries[panel.objectName()] = outside.window.saveGeometry()
        for name, geometry in self._geometries.items():
            settings.set(f"panels/{name}", geometry)
        # The names of the panels that have windows. A page that was not
        # visited yet has not opened the windows of last time, whose
        # names are stored once more.
        outside_now = self._panels_to_reopen or [
            panel.objectName() for panel in self._windows
        ]
        settings.set(f"windows/{self.objectName()}", " ".join(outside_now) or None)
        if self._maximized_panel is None:
            if self._windows:
                # the sizes from before the first of these panels left the page
                first_outside = next(iter(self._windows.values()))
                all_sizes = first_outside.sizes_before
            else:
                all_sizes = {splitter: splitter.sizes() for splitter in self._splitters}
            for splitter, sizes in all_sizes.items():
                if splitter.seen and all(sizes):
                    settings.set(
                        f"sizes/{splitter.objectName()}", " ".join(map(str, sizes))
                    )

    def reopen_windows(self) -> None:
        """Open the windows of the panels that had windows of their own when the settings were stored."""
        names = self._panels_to_reopen
        self._panels_to_reopen = []
        for panel in self._panels:
            if panel.objectName() in names:
                self.pop_out(panel)

    def restore(self, settings: Settings) -> None:
        """Restore the stored sizes of panels, widths of columns and open disclosures.

        Windows of panels open later, with :meth:`reopen_windows`.
        """
        # The names of the panels that had windows of their own.
        self._panels_to_reopen = settings.text(f"windows/{self.objectName()}").split()
        for panel in self._panels:
            geometry = settings.bytes(f"panels/{panel.objectName()}")
            if geometry is not None:
                self._geometries[panel.objectName()] = geometry
        for table in self._tables:
            table.restore_widths(settings.text(f"columns/{table.objectName()}"))
        for fold in self._folds:
            fold.restore(settings.text(f"folds/{fold.objectName()}") == "open")
        for splitter in self._splitters:
            text = settings.text(f"sizes/{splitter.objectName()}")
            # Damaged sizes, or those of another number of widgets, are ignored.
            sizes = [
                int(size)
                for size in text.split()
                if size.isdecimal() and int(size) <= _MAX_SIZE
            ]
            if len(sizes) == splitter.count() and any(sizes):
                splitter.setSizes(sizes)

    def toggle(self, panel: Panel) -> None:
        """Give a panel the whole page; put it back if it fills the page already, or has a window."""
        if panel in self._windows:
            self._windows[panel].window.close()
        elif panel is self._maximized_panel:
            self.restore_panels()
        elif self.isAncestorOf(panel):
            self.maximise(panel)


def row(name: str, *parts: Part) -> Splitter:
    """Return widgets side by side, with handles between them.

    Parameters
    ----------
    name : str
        Name under which the sizes are stored.
    *parts : (QWidget, int, int)
        Each widget with its stretch factor, by which it shares
        additional space, and its initial size in pixels.
    """
    return Splitter(Qt.Orientation.Horizontal, name, parts)


def column(name: str, *parts: Part) -> Splitter:
    """Return widgets below each other, with handles between them; the parameters are those of `row`."""
    return Splitter(Qt.Orientation.Vertical, name, parts)


class Splitter(QSplitter):
    """Widgets with handles between them.

    Attributes
    ----------
    seen : bool
        Whether the splitter has been on the screen; before that, its
        size is not that of the page.
    """

    def __init__(
        self, orientation: Qt.Orientation, name: str, parts: Sequence[Part]
    ) -> None:
        super().__init__(orientation)
        self.seen = False  # whether it has been on the screen
        self.setObjectName(name)  # under which its sizes are stored
        self.setHandleWidth(GAP)
        self.setChildrenCollapsible(False)
        # a part is a widget, its share of additional space, and its initial size
        for position, (widget, stretch, _) in enumerate(parts):
            self.addWidget(widget)
            self.setStretchFactor(position, stretch)
        self.setSizes([size for _, _, size in parts])

    def showEvent(self, event: QShowEvent) -> None:
        """Set `seen`."""
        self.seen = True
        super().showEvent(event)


class PanelWindow(ClosedByEscape):
    """A window that holds one panel until it is closed, by its frame or by Esc.

    Shortcuts of the main window's commands work in this window, too.

    Parameters
    ----------
    panel : Panel
        A panel that has been taken out of its page.
    main : QWidget
        The main window, which closes this window when it closes.

    Attributes
    ----------
    closed : Signal()
        The window was closed, so the panel has to go back to its page.
    """

    closed = Signal()

    def __init__(self, panel: Panel, main: QWidget) -> None:
        super().__init__(main, Qt.WindowType.Window)
        named(self, f"{panel.objectName()}-window", role="ground")
        self.setAttribute(
            Qt.WidgetAttribute.WA_StyledBackground
        )  # without it, a plain widget has no background
        self.setWindowTitle(f"{panel.accessibleName()} – RankStudio")
        size = panel.size().expandedTo(_MIN_WINDOW_SIZE)  # as large as it was
        fill(QVBoxLayout(self), (panel, 1), margins=(8, 8, 8, 8))
        self.resize(size)
        # Shortcuts of the main window work in this one, too.
        self.addActions(
            [action for action in main.findChildren(QAction) if action.shortcuts()]
        )

    def dismiss(self) -> None:
        """Close the window on Esc."""
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emit `closed`, so that the panel goes back to its page."""
        super().closeEvent(event)
        self.closed.emit()
