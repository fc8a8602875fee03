"""The line of the current selection: dataset › fold › run › λ › k, each part a button that changes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.number_format import combination_label
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.widgets.choices import PickMenu, look_for_mouse
from rankstudio.ui.widgets.layout import fill, named

PARTS = {
    "dataset": tr("Open data"),
    "fold": tr("Current fold"),
    "run": tr("Current run"),
    "parameters": tr("Parameters of the run"),
    "size": tr("Number of features k of the model, or its round"),
}
"""The parts from left to right, with their meanings."""

_MIN_TEXT_WIDTH = 28  # least pixels of the text of a part
_PADDING = 14  # pixels of the padding of a part


@dataclass(frozen=True)
class SelectionPart:
    """Text and menu of a part of the selection line: data, fold, run, parameters or size.

    Attributes
    ----------
    text : str
        The selection: "fold 3". A part with nothing to select has the
        text "", and is not shown.
    entries : callable
        Returns the values that can be selected, with their texts;
        called when the menu opens.
    chosen : object
        The selected value.
    """

    text: str
    entries: Callable[[], Sequence[tuple[object, str]]]
    chosen: object = None


class SelectionLine(QWidget):
    """A line of buttons that show the current selection and change it.

    The buttons are for data, fold, run, parameters and size. Where
    there is no room, the longest texts are cut first.

    Attributes
    ----------
    picked : Signal(str, object)
        Key of a part, and the value that the user chose there.
    """

    picked = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        named(self, "selection-line", tr("selection"))

        # What is shown; and for each key of `PARTS` its button, and the
        # arrow before it.
        self._parts: dict[str, SelectionPart] = {}
        self._buttons: dict[str, QPushButton] = {}
        self._arrows: dict[str, PlainLabel] = {}
        self._row = row = fill(QHBoxLayout(self), margins=(0, 0, 0, 0), spacing=0)
        for key, label in PARTS.items():
            self._arrows[key] = named(PlainLabel("›"), role="muted")
            self._buttons[key] = self._button(key, label)
            row.addWidget(self._arrows[key])
            row.addWidget(self._buttons[key])
        row.addStretch(1)

        # The texts are cut to the width of the line, and must not determine it.
        row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.show_parts({})

    def show_parts(self, parts: dict[str, SelectionPart]) -> None:
        """Show the selection: its parts by the keys of `PARTS`.

        A part that is missing, or has no text, is hidden.
        """
        # An arrow stands before each part but the first visible one.
        self._parts = {key: part for key, part in parts.items() if part.text}
        first = next(iter(self._parts), None)
        for key, button in self._buttons.items():
            is_present = key in self._parts
            button.setVisible(is_present)
            self._arrows[key].setVisible(is_present and key != first)
            if is_present:
                text = self._parts[key].text
                button.setToolTip(plain(f"{PARTS[key]}: {text}"))
                button.setAccessibleName(f"{PARTS[key]}: {text}")
        self._fit()

    def text(self, key: str) -> str:
        """Return the full text of a part; "" if the part is not shown.

        ``key`` is the part's key in `PARTS`.
        """
        return self._parts[key].text if key in self._parts else ""

    def menu(self, key: str) -> PickMenu:
        """Fill and return the menu of a part.

        ``key`` is the part's key in `PARTS`.
        """
        menu = self._buttons[key].menu()
        assert isinstance(menu, PickMenu)
        self._fill(key)
        return menu

    def minimumSizeHint(self) -> QSize:
        """Return the least size of the line, with room for the beginnings of the texts of all parts.

        The toolbar hides buttons only after texts are cut.
        """
        return QSize(
            len(self._parts) * (_MIN_TEXT_WIDTH + _PADDING),
            super().minimumSizeHint().height(),
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut the texts to the present width."""
        super().resizeEvent(event)
        self._fit()

    def _button(self, key: str, description: str) -> QPushButton:
        """Return the button of a part, with a menu that is filled whenever it opens.

        ``key`` is the part's key in `PARTS`; ``description`` says what
        the part is.
        """
        # The description is the name for screen readers, and the tooltip.
        button = named(
            QPushButton(), f"selection-{key}", description, description, "quiet"
        )
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        menu = PickMenu(key, button)
        menu.aboutToShow.connect(lambda: self._fill(key))

        # Qt would draw the button as if the mouse were still over it.
        menu.aboutToHide.connect(lambda: look_for_mouse(button))
        menu.picked.connect(lambda value: self.picked.emit(key, value))
        button.setMenu(menu)
        return button

    def _fill(self, key: str) -> None:
        """Fill the menu of a part, by its key, with the present values."""
        menu = self._buttons[key].menu()
        part = self._parts.get(key)
        if part is not None and isinstance(menu, PickMenu):
            menu.set_entries(part.entries(), part.chosen)

    @property
    def whole_width(self) -> int:
        """The width with which no part is cut, in pixels."""
        return sum(self._text_widths().values()) + self._other_width(len(self._parts))

    def room_for(self, n_letters: int) -> int:
        """Return the width of ``n_letters`` letters with all parts of the line, in pixels."""
        return n_letters * self.fontMetrics().averageCharWidth() + self._other_width(
            len(PARTS)
        )

    def _text_widths(self) -> dict[str, int]:
        """Return the width of the full text of each part."""
        metrics = self.fontMetrics()
        return {
            key: metrics.horizontalAdvance(part.text)
            for key, part in self._parts.items()
        }

    def _other_width(self, n_parts: int) -> int:
        """Return the width of the arrows and paddings of a number of parts."""
        arrow_width = self.fontMetrics().horizontalAdvance("›") + 2
        return max(0, n_parts - 1) * arrow_width + _PADDING * n_parts

    def _fit(self) -> None:
        """Write the texts of the parts; cut the longest ones in the middle until all have room."""
        metrics = self.fontMetrics()
        full_widths = self._text_widths()

        # Pixels for all texts together, without arrows and paddings.
        free_width = self.width() - self._other_width(len(self._parts))
        widths = dict(full_widths)
        while sum(widths.values()) > free_width and widths:
            longest = max(widths, key=widths.__getitem__)
            other_widths = [width for key, width in widths.items() if key != longest]

            # Shorten the longest text until all have room, or until it
            # is as short as the next longest one.
            shorter_widths = [
                width for width in other_widths if width < widths[longest]
            ]
            new_width = max(
                [_MIN_TEXT_WIDTH, free_width - sum(other_widths), *shorter_widths]
            )

            # Texts of equal width cannot get the width of the next
            # longest one: each is shortened a little in turn.
            if new_width >= widths[longest]:
                new_width = max(_MIN_TEXT_WIDTH, widths[longest] - 8)  # pixels

            # No text may become shorter: the line is too narrow.
            if widths[longest] <= _MIN_TEXT_WIDTH:
                break
            widths[longest] = new_width
        for key, width in widths.items():
            text = self._parts[key].text
            if width < full_widths[key]:
                text = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width)
            self._buttons[key].setText(text.replace("&", "&&"))

        # Qt loses a request for a new layout while it lays out the toolbar
        self._row.activate()


Entries = Sequence[tuple[object, str]]

OPEN = ""
"""Value of the entry that asks for a file to open."""


class SelectionController(QObject):
    """Keeps the selection line up to date, and carries out the user's choices there.

    Parameters
    ----------
    models, settings
        The state that the line shows and changes.
    line : SelectionLine
        The line that is kept up to date.
    """

    openAsked = Signal()
    """The user wants to open data that are not in the list of recent paths."""
    pathChosen = Signal(str)
    """The user wants to open a recent path."""

    def __init__(
        self,
        models: Models,
        settings: Settings,
        line: SelectionLine,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = models.session
        self._settings = settings
        self._line = line
        self._runs = runs = models.runs
        self._current = current = models.current
        line.picked.connect(self._choose)
        for signal in (
            current.changed,
            runs.added,
            runs.removed,
            runs.cleared,
            runs.labelled,
        ):
            signal.connect(self._show)
        self._show()

    @Slot()
    def _show(self) -> None:
        """Show the current dataset, fold, run, parameters and size as parts of the line.

        Each part has its text, a function that returns the entries of
        its menu, and the selected entry.
        """
        view = self._current.shown
        dataset = view.dataset
        record = view.record
        model = view.model
        if dataset is None:
            self._line.show_parts({})
            return
        parts = {
            "dataset": SelectionPart(
                dataset.name, self._datasets, self._session.plan.data
            )
        }

        # With one fold there is nothing to choose.
        if len(dataset.folds) > 1:
            fold = view.fold.number if view.fold is not None else None
            fold_text = tr("fold {fold}").format(fold=fold) if fold else tr("all folds")
            parts["fold"] = SelectionPart(fold_text, self._folds, fold)
        if record is not None:
            text = tr("run {key} {title}").format(key=record.key, title=record.title)
            parts["run"] = SelectionPart(text, self._listed_runs, record.key)
        elif self._runs.records:  # there are runs, but on other data or other folds
            parts["run"] = SelectionPart(tr("no run"), self._listed_runs)
        if model is not None:
            parts["parameters"] = SelectionPart(
                view.model_label, self._combinations, model.values
            )

            # A path of iterations ends in one model, and has no size to
            # choose. The x of other models is their size or round.
            if (
                model.path.step_kind is not StepKind.ITERATIONS
                and len(model.path.steps) > 1
            ):
                word = tr("round") if model.path.step_kind is StepKind.ROUNDS else "k ="
                parts["size"] = SelectionPart(
                    f"{word} {model.x_value}", self._sizes, model.x_value
                )
        self._line.show_parts(parts)

    def _datasets(self) -> Entries:
        """Return the entries of the menu of data: recent paths, then `OPEN` to ask for one."""
        recent = [(path, Path(path).name or path) for path in self._settings.recent]
        return [*recent, (OPEN, tr("Open…"))]

    def _folds(self) -> Entries:
        """Return the entries of the menu of folds, each a value and its text.

        The values are the numbers of the folds of the open data, and
        None for all folds.
        """
        folds = self._session.dataset.folds if self._session.dataset else ()
        return [
            *(
                (fold.number, tr("fold {number}").format(number=fold.number))
                for fold in folds
            ),
            (None, tr("all folds")),
        ]

    def _listed_runs(self) -> Entries:
        """Return the entries of the menu of runs, each a run's number and its text, on any data."""
        return [
            (
                r.key,
                tr("run {key} {title} on {name}").format(
                    key=r.key, title=r.title, name=r.dataset.name
                ),
            )
            for r in self._runs.records
        ]

    def _combinations(self) -> Entries:
        """Return the entries of the menu of parameters, each a value and its text.

        The first value is None, for the choice by validation. The
        others are the combinations of the run: tuples with a value for
        each axis of the plan.
        """
        entries: list[tuple[object, str]] = [(None, tr("chosen by validation"))]
        record = self._current.shown.record
        if record is not None:
            axes = record.plan.axes
            entries += [
                (values, combination_label(axes, values))
                for values in record.combinations
            ]
        return entries

    def _sizes(self) -> Entries:
        """Return the entries of the menu of sizes or rounds, each a value and its text.

        The first value is None, for the best size by validation. The
        others are the sizes of the inspected path; their texts have the
        measure on validation data, if the path has been measured by the
        shown measure.
        """
        model = self._current.shown.inspected
        if model is None:
            return []
        measure = self._session.measure
        values = model.path.validation.get(measure)
        if values is None:
            measure_texts = [""] * len(model.path.steps)
        else:
            measure_texts = [f"   {measure} {value:.4f}" for value in values]
        sizes = [int(x) for x in model.path.x_values]
        word = tr("round") if model.path.step_kind is StepKind.ROUNDS else "k ="
        entries = [
            (size, f"{word} {size}{text}")
            for size, text in zip(sizes, measure_texts, strict=True)
        ]
        return [(None, tr("best by validation")), *entries]

    @Slot(str, object)
    def _choose(self, part: str, value: object) -> None:
        """Carry out the user's choice of a value in a part of the line.

        ``part`` is the part's key in `PARTS`. The value None, where it
        is offered, selects all folds, or what validation selected. For
        data, the value is a path, or `OPEN`, for which the user is
        asked for a path.
        """
        model = self._current.shown.inspected
        if part == "dataset":
            self.openAsked.emit() if value == OPEN else self.pathChosen.emit(str(value))
        elif part == "fold":
            self._session.choose_fold(value if isinstance(value, int) else None)
        elif part == "run" and isinstance(value, int):
            # This shows another run, with its data and its plan.
            look_at(self._session, self._runs, self._runs.record(value))
        elif part == "parameters":
            self._inspect_parameters(value if isinstance(value, tuple) else None)
        elif part == "size" and model is not None:
            # The same parameters, with another k or round.
            self._current.inspect_or_choose(
                model.values, value if isinstance(value, int) else None
            )

    def _inspect_parameters(self, values: tuple[Any, ...] | None) -> None:
        """Inspect the best model with other parameters.

        ``values`` has a value for each axis of the plan. None stands
        for the model that validation selected.
        """
        selected_model = self._current.by_protocol
        if values is not None:
            # None is the best size of the path.
            self._current.inspect_or_choose(values, None)
        elif selected_model is not None and self._current.inspects:
            self._session.inspect(selected_model.values, selected_model.x_value)
        else:
            # Without a run, models are chosen at once: None for the
            # values and for the size chooses the one that validation
            # selected.
            self._session.select(None, None)
