"""The base of our plots: a pyqtgraph view with layers, a theme, one redraw per frame, and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyqtgraph import GraphicsView
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QMenu, QSizePolicy
from shiboken6 import isValid

from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.figures.files import figure_bytes
from rankstudio.engine.export.figures.style import FigureStyle, style_of
from rankstudio.engine.export.figures.values import Figure
from rankstudio.engine.export.tables import csv_of_values
from rankstudio.engine.support.files import write_bytes
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes, cut_texts, draw_axes, shown_title, title_box
from rankstudio.ui.plots.layers import Draw, Frame, Layer, pen
from rankstudio.ui.plots.readout import Line, Pixels, ValueBox
from rankstudio.ui.process.files_read import save_as
from rankstudio.ui.process.turns import single_shot, turns
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import SMALL, font
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.shared import NOT_SHARED
from rankstudio.ui.style.terms import TermLabel
from rankstudio.ui.style.theme import Theme

MOST_ROWS = 40
"""Names below each other in a figure."""

MOST_BARS = 20
DEFAULT_FILE_NAME = "figure"  # of a file, unless another one is given
NEUTRAL = 6  # number of the style of a series that belongs to no category


def floats(values: Iterable[float]) -> tuple[float, ...]:
    """Return numbers as a tuple of Python floats."""
    return tuple(map(float, values))


LABELS = {
    "pdf": "PDF",
    "svg": "SVG",
    "png": "PNG",
    "csv": tr("CSV, the numbers"),
}
"""Names of the formats."""

FORMATS = tuple((LABELS[name], f".{name}") for name in ("png", "svg", "pdf", "csv"))
"""Formats in which every plot can be saved: name and file suffix of each."""

PRINT_DPI = 300.0


def save_figure(
    figure: Figure, path: str | Path, style: FigureStyle, dpi: float = PRINT_DPI
) -> None:
    """Write a figure to a file, in the format of the file's suffix.

    ``dpi`` is the resolution of a format made of pixels.

    Raises
    ------
    OutputError
        If the suffix is none of `FORMATS` or the file cannot be
        written; no half-written file is left.
    """
    suffix = Path(path).suffix.lower()
    format_names = {f".{name}": name for name in LABELS}
    if suffix not in format_names:
        ending = f'"{suffix}"' if suffix else tr("no suffix")
        raise OutputError(
            tr("{path}: found {found}, expected a name ending in {makers}.").format(
                path=path, found=ending, makers=", ".join(format_names)
            )
        )
    write_bytes(path, figure_bytes(figure, style, format_names[suffix], dpi))


def figure_image(figure: Figure, style: FigureStyle, dpi: float) -> QImage:
    """Return a figure for print as a picture, with ``dpi`` dots per inch.

    Raises
    ------
    OutputError
        If the picture is larger than the memory.
    """
    return QImage.fromData(figure_bytes(figure, style, "png", dpi))


FRAME_MS = 33
"""Least time between two redraws after changes of data, in milliseconds: at most 30 redraws a second."""

CellValue = str | float | int
Numbers = tuple[list[str], list[list[CellValue]]]

ARROWS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
"""Direction of each arrow key: steps to the right, and steps down."""

_KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class _TitleTerm(TermLabel):
    """A label that underlines a term of the glossary in the title of a plot.

    The plot draws the title's text itself.
    """

    def __init__(self, plot: Plot) -> None:
        super().__init__()
        # This label has the text of the title, so that its underline is
        # below the term; the text itself is drawn by the plot.
        self._plot = plot
        self.setParent(plot)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.show()

    def paintEvent(self, _: QPaintEvent) -> None:
        """Draw only the underline of the term, as the plot draws the text of the title."""
        self.underline()

    def changeEvent(self, event: QEvent) -> None:
        """Place the underline again after a change of style, which may change the title's font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._plot.place_term()


class Plot(GraphicsView):  # type: ignore[misc] # pyqtgraph has no types
    """Base of all plots: a widget that draws layers, shows values at the mouse, and can be saved as a figure.

    A subclass adds layers and implements `is_empty`, `numbers`,
    `figure`, `summary`, and what the mouse does.

    Parameters
    ----------
    theme : Theme
    axes : Axes
        Title, axis texts and kind of ticks.

    Attributes
    ----------
    failed : Signal(str)
        An error message, when an action of the user, such as saving the
        plot, did not work.
    figureAsked : Signal()
        The user wants the plot as a figure: copied with its caption, or
        in a file.
    paintAsked : Signal(object, object)
        Two functions: the first paints a picture, for which the window
        must not wait; the second is called with the picture.
    placeholder : str
        Text of an empty plot.
    shared : Shared
        Entry of the plot in the list of exports; by default the plot is
        not listed.
    under_mouse : object
        Target that :meth:`hit_test` returned for the mouse's position;
        None for none.
    pointed : Signal(int)
        Id of the feature that the mouse has reached; 0 when the mouse
        has left the last one.
    confirms : bool
        Whether the targets are models: a double click or Enter then
        chooses one.
    confirmed : Signal()
        The user chooses the model that was picked last.
    about_feature : callable
        Returns the lines that the box of values adds about a feature,
        given the feature's id.
    """

    failed = Signal(str)
    figureAsked = Signal()
    paintAsked = Signal(object, object)
    pointed = Signal(int)
    confirmed = Signal()
    confirms = False

    def __init__(self, theme: Theme, axes: Axes) -> None:
        super().__init__(background=theme.colors.panel)
        self.theme = theme
        self.axes = axes
        self.placeholder = ""
        self.shared = NOT_SHARED  # its entry in the list of exports
        self.under_mouse: Any = None  # what the mouse points at, such as a curve
        # returns what the box of values tells about a feature, given its id
        self.about_feature: Callable[[int], Sequence[Line]] = lambda _: ()
        self._hovered_feature = 0  # id of the feature under the mouse, 0 for none
        self._box_position = QPointF()  # where the box of values was shown last
        self.setCentralItem(None)  # layers fill the whole view
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(120, 72)  # pixels
        self.setAccessibleName(axes.title)
        self.box = ValueBox(theme, self)  # shows values at the mouse
        # the underline of a glossary term in the title, if it has one
        self._term: _TitleTerm | None = None
        self._layers: list[Layer] = []
        self._axes_tooltip = ""  # texts of the axes that have no room
        self._focus_shown = False
        self._pressed: QPointF | None = None  # where the left button went down
        self._painted: Frame | None = None  # the frame of a painting in progress
        # After it, the plot is drawn with all contents set in the meantime.
        self._timer = single_shot(FRAME_MS, self._ask_turn, self)
        # Below and above the layers of all subclasses: axes, and the ring of the focus.
        self.add_layer(self._draw_axes, -10.0, clipped=False)
        self.add_layer(self._draw_focus, 100.0, clipped=False)
        theme.changed.connect(self._on_theme)

    # What subclasses override

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the x and y range to show: those of the contents, or 0 to 1 while the plot is empty."""
        return ((0.0, 1.0), (0.0, 1.0)) if self.is_empty() else self.spans()

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the x and y range of the contents of a plot that is not empty."""
        return (0.0, 1.0), (0.0, 1.0)

    def show_anew(self) -> None:
        """Redraw after a change of contents, and forget which of the former contents was under the mouse."""
        self.under_mouse = None
        self.box.hide_readout()
        self.mark_dirty()

    def is_empty(self) -> bool:
        """Return whether there is nothing to show yet."""
        raise NotImplementedError

    def numbers(self) -> Numbers:
        """Return the numbers behind the plot: column names, and rows of texts and numbers."""
        raise NotImplementedError

    def figure(self) -> Figure:
        """Return the contents as a figure for print.

        The owner of the plot sets the name and the caption of the figure later.
        """
        raise NotImplementedError

    def summary(self) -> str:
        """Describe the drawing for a screen reader: "validation MAP, best 0.5341 at k = 3"."""
        raise NotImplementedError

    def beside_title(self, frame: Frame) -> float:
        """Return the width of the text at the right of the title, in pixels."""
        return 0.0

    def refresh(self) -> None:
        """Prepare the drawing of contents that were set since the last redraw."""

    def hit_test(self, point: QPointF) -> Any:
        """Return the target at a pixel of the plot, such as a bar; None without one."""
        return None

    def readout(self, target: Any) -> list[Line]:
        """Return the lines of the box on a target that :meth:`hit_test` found."""
        return []

    def kept_in_sight(self, target: Any) -> Pixels | None:
        """Return pixels that the value box of a target should leave visible.

        A target is what the mouse points at. Return None if no pixels
        have to be visible.
        """
        return None

    def feature_of(self, target: Any) -> int:
        """Return the id of the feature of a target that :meth:`hit_test` found.

        Return 0 for no feature.
        """
        return 0

    def hover(self, point: QPointF | None) -> None:
        """Highlight the target at the mouse, such as a bar, and show its box of values.

        The point is None after the mouse has left the plot; then the
        box disappears.
        """
        # `hit_test` returns what is at a point, or None.
        target = None if point is None else self.hit_test(point)
        if target != self.under_mouse:
            self.under_mouse = target  # which the layers highlight
            self.redraw()
        if target is None or point is None:
            self.box.hide_readout()  # hides it
            self._set_hovered_feature(0)
        else:
            self.say(target, point)

    def say(self, target: Any, point: QPointF) -> None:
        """Show the box of values for a target, at a point of the plot.

        A target is what the mouse points at, such as a bar. If it has a
        feature, as many lines about the feature follow as have room, at
        least one.
        """
        feature = self.feature_of(target)  # 0 for none
        readout = self.readout(target)
        self._box_position = point
        feature_lines = self.about_feature(feature) if feature else ()
        n_free_lines = self.box.room_for() - len(readout)
        lines = [*readout, *feature_lines[: max(1, n_free_lines)]]
        # The last argument are pixels that the box should not cover.
        self.box.say(lines, point, self.kept_in_sight(target))
        self._set_hovered_feature(feature)

    @Slot()
    def show_readout_again(self) -> None:
        """Show the box of values again, if the mouse is on a feature.

        More may be known about the feature by now, which
        `about_feature` returns.
        """
        if self._hovered_feature and self.under_mouse is not None and self.box.lines():
            self.say(self.under_mouse, self._box_position)

    def _set_hovered_feature(self, feature: int) -> None:
        if feature != self._hovered_feature:
            self._hovered_feature = feature
            self.pointed.emit(feature)

    def click(self, point: QPointF) -> None:
        """Pick the target at a pixel, such as a bar, after a click; do nothing without one."""
        target = self.hit_test(point)
        if target is not None:
            self.pick(target)

    def pick(self, target: Any) -> None:
        """Handle a click on a target that :meth:`hit_test` found.

        By default nothing is done.
        """

    def confirm(self, target: Any) -> None:
        """Choose a double-clicked model, in a plot whose targets are models.

        ``target`` is the model, as :meth:`hit_test` returns it. A
        single click only picks the model.
        """
        self.pick(target)
        self.confirmed.emit()

    def step(self, right: int, down: int) -> bool:
        """Move to the next target by an arrow key; ``right`` and ``down`` are 1, 0 or -1.

        Return whether this kind of plot uses the key; by default it does not.
        """
        return False

    def add_actions(self, menu: QMenu) -> None:
        """Add the actions of this kind of plot to its menu."""

    # Drawing

    def link_title(self, term: str, word: str = "") -> None:
        """Underline a term of the glossary in the title of the plot, and link it to its entry.

        ``term`` is the entry; ``word`` is the part of the title that is
        underlined, "" for the whole title.
        """
        if self._term is None:
            self._term = _TitleTerm(self)
        self._term.set_term(term, word)
        self.place_term()

    def place_term(self) -> None:
        """Put the underline of a glossary term below the title.

        The underline follows the title as it is drawn now, which may be
        cut or shortened.
        """
        if self._term is not None:
            frame = self.frame()
            self._term.setText(shown_title(self.axes, frame, self.beside_title(frame)))
            self._term.setFont(font(SMALL))
            self._term.setGeometry(title_box(frame).toRect())
            self._term.resize(self._term.sizeHint().width(), self._term.height())

    def add_layer(self, draw: Draw, z: float, *, clipped: bool = True) -> None:
        """Add a layer that is drawn by a function.

        ``draw`` draws the layer. Layers with a greater ``z`` lie above.
        A clipped layer is cut off at the edges of the plot area.
        """
        layer = Layer(self.theme, self.frame, draw, z, clipped)
        self._layers.append(layer)
        self.addItem(layer)
        layer.fit(QRectF(self.rect()))

    def frame(self) -> Frame:
        """Return the map between data and pixels of the plot at its present size."""
        return self._painted or self.frame_for(QSizeF(self.size()))

    def frame_for(self, size: QSizeF) -> Frame:
        """Return the map between data and pixels for a drawing of any size."""
        return self.axes.frame(size, *self.ranges())

    def set_axes(self, axes: Axes) -> None:
        """Change title, axis texts or ticks."""
        self.axes = axes
        self.setAccessibleName(axes.title)
        self.mark_dirty()

    def mark_dirty(self) -> None:
        """Schedule a redraw; all calls within `FRAME_MS` lead to a single one."""
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _ask_turn(self) -> None:
        turns().ask(self.flush)

    @Slot()
    def flush(self) -> None:
        """Redraw now, with the contents that were set since the last redraw."""
        # Neither the timer nor a later turn of the event loop has to redraw any more.
        self._timer.stop()
        turns().drop(self.flush)
        self.refresh()  # what a kind of plot computes from its contents
        self.place_term()
        self.setAccessibleDescription("" if self.is_empty() else self.summary())
        self.redraw()

    def redraw(self) -> None:
        """Have every layer painted again."""
        for layer in self._layers:
            layer.update()

    @Slot()
    def _on_theme(self) -> None:
        """Draw the plot in the colors of another theme.

        Do nothing if Qt has deleted the plot, as the signal of the
        theme outlives closed windows.
        """
        if isValid(self):
            self.restyle()

    def restyle(self) -> None:
        """Draw the plot in the present colors of the theme."""
        self.setBackground(self.theme.colors.panel)
        self.box.update()
        self.redraw()

    def _draw_axes(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw title, axes and grid; the tooltip of the plot has in full the texts that are cut."""
        placeholder = self.placeholder if self.is_empty() else None
        beside_width = self.beside_title(frame)  # pixels of the text beside the title
        draw_axes(self.axes, painter, frame, colors, beside_width, placeholder)
        tooltip = "\n".join(cut_texts(self.axes, frame, beside_width, placeholder))
        if tooltip != self._axes_tooltip:
            self._axes_tooltip = tooltip
            self.setToolTip(plain(tooltip))

    def _draw_focus(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw a ring around a plot that has got the keyboard focus by a key, not by a click."""
        if self._focus_shown:
            painter.setPen(pen(colors.q("accent"), 2.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(frame.outer.adjusted(1, 1, -1, -1), 6, 6)

    # Qt

    def showEvent(self, event: QShowEvent) -> None:
        """Draw changes that were made while the plot was hidden, before it is painted for the first time."""
        super().showEvent(event)
        if self._timer.isActive():
            self.flush()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the plot; its frame is computed once, so that not each layer lays out the ticks again."""
        self._painted = self.frame()
        try:
            super().paintEvent(event)
        finally:
            self._painted = None

    def sizeHint(self) -> QSize:
        """Return a fixed size, as the size hint of QGraphicsView depends on the present size."""
        return QSize(320, 200)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Fit the layers, and the underline in the title, to the new size."""
        super().resizeEvent(event)
        # The constructor of GraphicsView resizes the plot before it has layers.
        for layer in getattr(self, "_layers", ()):
            layer.fit(QRectF(self.rect()))
        if getattr(self, "_term", None) is not None:
            self.place_term()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where a click may have begun: where the left button went down."""
        self._pressed = (
            event.position() if event.button() == Qt.MouseButton.LeftButton else None
        )
        super().mousePressEvent(event)
        if self._pressed is not None:
            event.accept()  # so that Qt sends the release of the button here, too

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Recognise a click: press and release at one spot."""
        super().mouseReleaseEvent(event)
        press_position = self._pressed
        self._pressed = None
        if press_position is None:
            return
        event.accept()
        # A hand is not quite still. Five pixels or more apart, the mouse was dragged.
        if (press_position - event.position()).manhattanLength() < 5:
            self.click(event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Choose the model at the mouse in a plot of models; other plots ignore a double click.

        ``confirms`` says whether it is a plot of models.
        """
        if not self.confirms:
            super().mouseDoubleClickEvent(event)
            return
        self._pressed = None  # so that the second release is no further click
        event.accept()
        target = self.hit_test(event.position())
        if target is not None and event.button() == Qt.MouseButton.LeftButton:
            self.confirm(target)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the target under the mouse, unless a button is held."""
        super().mouseMoveEvent(event)
        if not event.buttons():
            self.hover(event.position())

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the box with values."""
        super().leaveEvent(event)
        self.hover(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move with the arrow keys, confirm with Enter, and leave other keys to the window.

        Enter confirms the model that was picked last, in a plot of models.
        """
        if self.confirms and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.confirmed.emit()
            event.accept()
            return
        # steps to the right and down; None for a key that is no arrow
        move = ARROWS.get(event.key())
        event.setAccepted(move is not None and self.step(*move))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus ring if the focus came by a key."""
        super().focusInEvent(event)
        self._focus_shown = event.reason() in _KEYBOARD
        self.redraw()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the focus ring."""
        super().focusOutEvent(event)
        self._focus_shown = False
        self.redraw()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy and to save."""
        menu = PlotMenu(self)
        menu.exec(event.globalPos())
        menu.deleteLater()


def describe(lines: Sequence[str]) -> str:
    """Join the sentences on a plot into one text for a screen reader."""
    return ". ".join(line for line in lines if line)


class PlotMenu(QMenu):
    """The context menu of a plot: copy it as a picture or as numbers, save it, or make a figure for print.

    All actions are disabled while the plot is empty.

    Parameters
    ----------
    plot : Plot
        The plot that the menu is for.
    """

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot)
        self.setObjectName("plot-menu")
        self._plot = plot
        self.addAction(tr("Figure for print…")).triggered.connect(plot.figureAsked)
        self.addSeparator()
        self.addAction(tr("Copy picture")).triggered.connect(self.copy_picture)
        self.addAction(tr("Copy numbers")).triggered.connect(self.copy_numbers)
        self.addSeparator()
        self.addAction(tr("Save as PNG, SVG, PDF or CSV…")).triggered.connect(
            self.save_as
        )
        plot.add_actions(self)  # those of its kind of plot
        for action in self.actions():
            action.setEnabled(not plot.is_empty())

    @Slot()
    def copy_picture(self) -> None:
        """Put the figure on the clipboard, two columns wide."""
        self._plot.flush()
        paint = partial(figure_image, self._plot.figure(), style_of("page"), 220.0)
        self._plot.paintAsked.emit(paint, QGuiApplication.clipboard().setImage)

    @Slot()
    def copy_numbers(self) -> None:
        """Put the numbers behind the plot on the clipboard, ready for a spreadsheet."""
        QGuiApplication.clipboard().setText(
            csv_of_values(*self._plot.numbers(), separator="\t")
        )

    @Slot()
    def save_as(self) -> None:
        """Ask for a file, and save the plot there; the plot reports a failure by its signal `failed`.

        The suggested name is the title of the plot, as a picture (.png).
        """
        # Characters of the title that may not be in a file's name become "-".
        suggested = (
            "".join(c if c.isalnum() else "-" for c in self._plot.axes.title).strip("-")
            or "plot"
        )
        plot = self._plot
        save_as(
            plot, tr("Save plot"), f"{suggested}.png", FORMATS, self._save, plot.failed
        )

    def _save(self, path: str) -> None:
        self._plot.paintAsked.emit(plot_writer(self._plot, path), lambda _: None)


def plot_writer(plot: Plot, path: str | Path) -> Callable[[], None]:
    """Return a function that writes the present figure of a plot to a file, in the format of the suffix.

    The function can be called on any thread, and raises OutputError if
    the suffix is unknown or the file cannot be written.
    """
    plot.flush()
    return partial(save_figure, plot.figure(), path, style_of("page"))
