"""The dialog of figures for print, with a preview and a caption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QMimeData, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.export.figures.files import caption_text, figure_bytes
from rankstudio.engine.export.figures.style import PRESETS, FigureStyle, style_of
from rankstudio.engine.export.figures.values import Figure
from rankstudio.engine.support.files import write_text
from rankstudio.ui.background.worker import Job, Worker
from rankstudio.ui.language import tr
from rankstudio.ui.plots.base import LABELS, figure_image, save_figure
from rankstudio.ui.process.turns import single_shot
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.widgets.choices import Segmented, choice_box
from rankstudio.ui.widgets.layout import fill, named, spaced
from rankstudio.ui.widgets.saving_dialog import SavingDialog

Result = TypeVar("Result")

_SIDE = 330  # pixels of the column of options
_WIDTHS = (
    ("column", tr("one column, 85 mm")),
    ("page", tr("two columns, 178 mm")),
    ("slide", tr("slide, 254 mm")),
    ("poster", tr("poster, 400 mm")),
    ("", tr("other width")),
)
_COLORS = (("light", tr("Screen")), ("print", tr("Print (greyscale-safe)")))
_PREVIEW_DPI = 96.0
_SETTLE = 50  # milliseconds without a change before the preview is painted again


class FigureDialog(SavingDialog):
    """A dialog with a preview, in which the user chooses a figure and its style, and copies or saves it.

    Parameters
    ----------
    figures : sequence of Figure
        The figures to choose from; at least one.
    folder : Path
        Suggested folder of the file.
    worker : Worker
        Paints figures, for which the window must not wait.
    parent : QWidget, optional

    Attributes
    ----------
    allAsked : Signal(object, str, float)
        The user wants to save all figures of the study, in this style,
        format and dots per inch.
    """

    allAsked = Signal(object, str, float)

    def __init__(
        self,
        figures: Sequence[Figure],
        folder: Path,
        worker: Worker,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("figure-dialog", tr("Figure for print"), folder, parent)
        self._worker = worker
        self._jobs: dict[str, Job] = {}  # jobs that paint, by what each paints
        self._figures = tuple(figures)
        self.figure_box = named(choice_box(()), "figure-choice", tr("Figure"))
        self.width_box = named(choice_box(()), "figure-width", tr("Width"))

        # `spaced` gives the text of a box a margin.
        self.millimetres = named(
            spaced(QDoubleSpinBox()), "figure-millimetres", tr("Width in millimetres")
        )
        self.font_size = named(spaced(QDoubleSpinBox()), "figure-font", tr("Text size"))

        # A row of buttons, one for each choice of colors.
        self.colors = Segmented(_COLORS, tr("Colours"), wide=True)
        self.format_box = named(choice_box(()), "figure-format", tr("Format"))
        self.dpi = named(spaced(QSpinBox()), "figure-dpi", tr("Dots per inch"))
        self.caption = named(QPlainTextEdit(), "figure-caption", tr("Caption"))
        self.preview = named(PlainLabel(), "figure-preview", tr("Preview"))

        # The preview is painted once the options have not changed for a moment.
        self._draw_timer = single_shot(_SETTLE, self._draw, self)

        # Qt deletes the dialog with its window, without closing it first.
        self.destroyed.connect(partial(_abandon, self._jobs))
        self._fill()
        self._lay_out()
        self._connect()
        self._show_figure()

    @property
    def figure(self) -> Figure:
        """The shown figure, with the caption as the user edited it."""
        figure = self._figures[max(0, self.figure_box.currentIndex())]
        return replace(figure, caption=self.caption.toPlainText())

    @property
    def style_chosen(self) -> FigureStyle:
        """The style in which the figure is printed."""
        width = self.width_box.currentData() or f"{self.millimetres.value():g}mm"
        return style_of(width, self.font_size.value(), str(self.colors.value()))

    @property
    def format_name(self) -> str:
        """Name of the chosen format."""
        return str(self.format_box.currentData())

    @Slot()
    def copy(self) -> None:
        """Paint the figure, and put it on the clipboard with its caption.

        The clipboard then has an image, the same as SVG and, for
        programs that take texts only, the caption.
        """
        figure = self.figure
        style = self.style_chosen
        dpi = float(self.dpi.value())

        def paint() -> tuple[QImage, bytes]:
            """Return the figure as an image and as SVG; called on the worker."""
            return figure_image(figure, style, dpi), figure_bytes(figure, style, "svg")

        def put_on_clipboard(pictures: tuple[QImage, bytes]) -> None:
            """Put the painted picture, a pair of image and SVG, on the clipboard, with the caption as text.

            The caption is that of the figure that was chosen when the
            picture was requested.
            """
            image, svg = pictures
            data = QMimeData()
            data.setImageData(image)
            data.setData("image/svg+xml", svg)
            data.setText(caption_text(figure))
            QGuiApplication.clipboard().setMimeData(data)
            self.say(tr("Picture and caption copied."), "ok")

        # The second function gets what the first returns.
        self.paint("copy", paint, put_on_clipboard)

    @Slot()
    def ask_save(self) -> None:
        """Ask for a file and write the figure there, with its caption beside it."""
        label = LABELS[self.format_name]
        path = self.ask_path(
            tr("Save figure"), self.figure.name, label, f".{self.format_name}"
        )
        if path is not None:
            self.save(path)

    def save(self, path: Path) -> None:
        """Write the figure to ``path``, and beside it a text file with its caption.

        A text file that exists already is not replaced. The worker writes.
        """
        figure = self.figure
        style = self.style_chosen
        dpi = float(self.dpi.value())
        caption_path = path.with_suffix(".txt")

        def write() -> None:
            """Write the figure and its caption; called on the worker."""
            save_figure(figure, path, style, dpi)
            if not caption_path.exists():
                write_text(caption_path, caption_text(figure))

        # This method writes nothing here: it only refuses a file that
        # is open in this window.
        if self.write(path, lambda: None):
            self.paint("save", write, lambda _: self.tell_written(path))

    def done(self, result: int) -> None:
        """Close the dialog, and abandon all painting."""
        self._draw_timer.stop()
        _abandon(self._jobs)
        super().done(result)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the preview into the available room."""
        super().resizeEvent(event)
        self._draw_soon()

    # Contents, layout and connections

    def _fill(self) -> None:
        """Fill the boxes with figures, formats and widths, and set the ranges of the numbers.

        Each entry of a box has the key of its format or width as its data.
        """
        for figure in self._figures:
            self.figure_box.addItem(figure.title)
        for name, label in LABELS.items():
            self.format_box.addItem(label, name)
        for key, label in _WIDTHS:
            self.width_box.addItem(label, key)
        self.millimetres.setRange(20.0, 2000.0)
        self.millimetres.setDecimals(1)
        self.millimetres.setSuffix(f" {tr('mm')}")
        self.font_size.setRange(4.0, 100.0)
        self.font_size.setDecimals(1)
        self.font_size.setSuffix(f" {tr('pt')}")
        self.dpi.setRange(30, 2400)
        self.dpi.setValue(300)
        self.dpi.setSuffix(" dpi")
        self._follow_width()
        self._follow_format()

    def _lay_out(self) -> None:
        """Lay out the options, the preview and the buttons."""
        form = QFormLayout()
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(8)
        form.addRow(tr("F&igure"), self.figure_box)
        form.addRow(tr("&Width"), self.width_box)
        form.addRow("", self.millimetres)
        form.addRow(tr("&Text"), self.font_size)
        form.addRow(tr("Colours"), self.colors)
        form.addRow(tr("F&ormat"), self.format_box)
        form.addRow("", self.dpi)
        caption = PlainLabel(tr("C&aption"))
        caption.setBuddy(self.caption)
        self.caption.setTabChangesFocus(True)
        self.preview.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.preview.setMinimumSize(420, 320)
        self.copy_button = QPushButton(tr("&Copy"))
        self.all_button = QPushButton(tr("Save &all figures…"))
        self.save_button = named(QPushButton(tr("&Save…")), role="primary")
        self.save_button.setDefault(True)
        self.close_button = QPushButton(tr("Close"))
        options = QWidget()
        options.setFixedWidth(scaled(_SIDE))
        fill(
            QVBoxLayout(options),
            form,
            caption,
            (self.caption, 1),
            self.message,
            margins=(0, 0, 0, 0),
            spacing=10,
        )
        upper = fill(QHBoxLayout(), options, (self.preview, 1), spacing=18)
        buttons = fill(
            QHBoxLayout(),
            self.close_button,
            1,
            self.all_button,
            self.copy_button,
            self.save_button,
            spacing=8,
        )
        fill(
            QVBoxLayout(self), (upper, 1), buttons, margins=(16, 16, 16, 16), spacing=14
        )
        self.resize(1000, 600)

    def _connect(self) -> None:
        """Connect the widgets of the dialog to their actions."""
        self.figure_box.currentIndexChanged.connect(self._show_figure)
        self.width_box.currentIndexChanged.connect(self._follow_width)
        self.millimetres.valueChanged.connect(self._draw_soon)
        self.font_size.valueChanged.connect(self._draw_soon)
        self.colors.chosen.connect(self._draw_soon)
        self.format_box.currentIndexChanged.connect(self._follow_format)
        self.copy_button.clicked.connect(self.copy)
        self.save_button.clicked.connect(self.ask_save)
        self.all_button.clicked.connect(self._ask_all)
        self.close_button.clicked.connect(self.close)

    @Slot()
    def _show_figure(self) -> None:
        """Show the caption of the chosen figure, and paint its preview soon."""
        figure = self._figures[max(0, self.figure_box.currentIndex())]

        # The box may cut the title of a figure; the tooltip has all of it.
        self.figure_box.setToolTip(plain(self.figure_box.currentText()))
        self.caption.setPlainText(figure.caption)
        self.say("", "muted")
        self._draw_soon()

    @Slot()
    def _follow_width(self) -> None:
        """Set the width and the text size of the chosen preset, such as a column of a journal.

        For the entry "other width", the width can be typed.
        """
        preset = PRESETS.get(self.width_box.currentData())

        # The entry "other width" has no preset.
        self.millimetres.setEnabled(preset is None)
        if preset is not None:
            width, text_size = preset
            self.millimetres.setValue(width)
            self.font_size.setValue(text_size)
        self._draw_soon()

    @Slot()
    def _follow_format(self) -> None:
        """Let dots per inch be chosen only for PNG, the format of pixels."""
        self.dpi.setEnabled(self.format_box.currentData() == "png")

    @Slot()
    def _draw_soon(self) -> None:
        """Have the preview painted once the options have not changed for a moment."""
        self._draw_timer.start()

    @Slot()
    def _draw(self) -> None:
        """Have the preview painted as large as it has room, at most twice the size in print."""
        style = self.style_chosen
        ratio = self.devicePixelRatioF()
        preview_size = self.preview.contentsRect().size() * ratio  # in device pixels

        # The width of the figure is in points, 72 to an inch.
        # `_PREVIEW_DPI` are the dots per inch of a usual screen.
        dpi = min(72 * preview_size.width() / style.width, 2 * _PREVIEW_DPI * ratio)
        paint = partial(figure_image, self.figure, style, dpi)

        # The size at this time, as the dialog may be resized meanwhile.
        self.paint("preview", paint, partial(self._show, preview_size, ratio))

    def _show(self, preview_size: QSize, ratio: float, image: QImage) -> None:
        """Show a painted figure in the preview, scaled down if it is too high.

        ``preview_size`` is in pixels of the screen, ``ratio`` of which
        are one logical pixel.
        """
        picture = QPixmap.fromImage(image)
        if picture.height() > preview_size.height():
            picture = picture.scaledToHeight(
                preview_size.height(), Qt.TransformationMode.SmoothTransformation
            )
        picture.setDevicePixelRatio(ratio)
        self.preview.setPixmap(picture)

    def paint(
        self,
        description: str,
        paint: Callable[[], Result],
        show: Callable[[Result], object],
    ) -> None:
        """Have the worker paint something, and pass the result to ``show``.

        ``description`` names the purpose, such as "preview". ``show``
        is not called if painting for the same purpose is requested
        again before, or the dialog is closed. An error is shown in the
        dialog.
        """
        if description in self._jobs:
            self._jobs[description].abandon()
        self._jobs[description] = self._worker.task(
            tr("Painting the figure"),
            paint,
            on_done=show,
            on_error=lambda reason: self.say(reason, "error"),
            slot=f"figure-{description}",
        )

    @Slot()
    def _ask_all(self) -> None:
        """Emit the request to save all figures, with style, format and dots per inch."""
        self.allAsked.emit(self.style_chosen, self.format_name, float(self.dpi.value()))


def _abandon(jobs: dict[str, Job], *_: object) -> None:
    """Abandon all jobs that paint."""
    for job in jobs.values():
        job.abandon()
    jobs.clear()
