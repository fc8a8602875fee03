"""Form fields made from the catalog's parameters: label, editor, tooltip, inline error and reset."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
from PySide6.QtCore import QPoint, QRect, QSize, QStringListModel, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QCompleter,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QInputDialog,
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyleOptionFrame,
    QToolButton,
    QVBoxLayout,
    QWidget,
    QWidgetAction,
)

from rankstudio.engine.arrays import Ints
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.protocol import (
    GIVEN,
    LEAVE_QUERY_OUT,
    parse_protocol,
)
from rankstudio.engine.methods.catalog import Kind, Parameter
from rankstudio.engine.support.escaping import html_text
from rankstudio.ui.language import tr
from rankstudio.ui.model.feature_search import MOST_LISTED, matches_of_text
from rankstudio.ui.style.fonts import LEFT, RIGHT, scaled
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.plain_text import PlainLabel, shortened
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.choices import choice_box, set_choices
from rankstudio.ui.widgets.layout import fill, named

USUAL = ("MAP", "NDCG@1", "NDCG@5", "NDCG@10", "MeanNDCG", "P@5", "P@10")
"""The measures that a field offers; any other can be typed."""
# several values are separated by commas
_KINDS_TYPED_WITH_COMMAS = (Kind.INTEGER, Kind.NUMBER, Kind.MEASURE)
_RESET_SIDE = 20
_ROW_HEIGHT = 28
_MAX_OFFERED_FEATURES = 100  # of the features that match a typed text
# pixels; the padding of a line of text at both ends, and the gap before its remark
_HINT_MARGIN = 34
_MIN_EDITOR_WIDTH = 110  # pixels; long labels in a narrow panel leave no more
TIGHT = "padding: 0; min-height: 0;"
"""Style of small square buttons, whose icon would not fit beside a text's padding."""
# Keys of items in a list of choices that are not choices themselves.
_SEVERAL_VALUES_KEY = tr("several values, each tried")
_ASK_SEVERAL_KEY = tr("select several")
_OWN_FILE_KEY = tr("select a file of own values")
_SUM_KEY = tr("enter a sum or product")
_USUAL_PROTOCOLS = (
    GIVEN,
    "5-fold",
    "10-fold",
    LEAVE_QUERY_OUT,
    "split 60/20/20",
    "nested 20",
    "nested 5-fold",
    "5-fold, nested 5-fold",
    "train 50%",
)
"""The protocols that the field for folds offers; any other can be typed."""


TERMS = {
    "regularization": "λ (lambda)",
    "n_features_to_select": "k",
    "pinned": "pin, ban",
    "banned": "pin, ban",
    "ranked_by": "final ranker",
    "protocol": "fold",
    "select_by": "criterion",
    "rule": "rule",
    "cost": "pair weight",
    "ties": "ties",
    "weighting": "query weight",
    "kernel": "kernel",
    "n_basis": "basis vector",
    "fitting": "refit",
    "importance": "importance",
    "measure": "measure",
}
"""Terms of the glossary that labels of fields are linked to, by the parameter's name."""


def tooltip(parameter: Parameter) -> str:
    """Return the tooltip of a field: help, symbol, source, range and default, as rich text."""
    # `value_as_text` returns a value in words.
    rows = [
        (tr("symbol"), parameter.symbol),
        (tr("source"), parameter.source),
        (tr("range"), _range_text(parameter)),
        (tr("default"), parameter.value_as_text(parameter.default)),
    ]
    lines = "".join(
        f"<br><b>{name}</b> {html_text(text)}" for name, text in rows if text
    )
    return (
        f"<p style='max-width: 340px'>{html_text(shortened(parameter.help))}{lines}</p>"
    )


def _range_text(parameter: Parameter) -> str:
    """Return the range in words; "" if the field itself shows all values."""
    # A list or a box shows all values, but not the sums of them that
    # can be typed. `expected` is the range in words.
    if parameter.kind in (Kind.CHOICE, Kind.SWITCH) and not parameter.summed:
        return ""
    if parameter.kind in _KINDS_TYPED_WITH_COMMAS and parameter.offers_several:
        hint = tr("Separate several values by commas to try each of them.")
        return f"{parameter.expected}. {hint}"
    return parameter.expected


class Field(QWidget):
    """One parameter in the form: label, editor, reset button, and error. The value is always valid.

    Parameters
    ----------
    theme : Theme
    parameter : Parameter
        Parameter of the catalog.
    editor : QWidget
        Widget in which the user edits the value; subclasses create it and connect it to :meth:`enter`.

    Attributes
    ----------
    edited : Signal(object)
        A new valid value was entered.
    """

    edited = Signal(object)

    def __init__(self, theme: Theme, parameter: Parameter, editor: QWidget) -> None:
        super().__init__()
        self.theme = theme
        self.parameter = parameter
        self.editor = editor

        # Values are stored and compared in the form that `validate` returns.
        self._default = self._value = parameter.validate(parameter.default)
        self.setObjectName(f"field-{parameter.name}")
        self.label = named(PlainLabel(parameter.label), role="field")
        self.error = named(PlainLabel(), f"error-{parameter.name}", role="error")
        self.reset_button = named(
            QToolButton(),
            f"reset-{parameter.name}",
            tr("Reset {label} to its default").format(label=parameter.label),
            tr("Reset to default: {parameter}").format(
                parameter=parameter.value_as_text(parameter.default)
            ),
            "quiet",
        )
        self._lay_out()
        self._name_parts()
        self.reset_button.clicked.connect(self.reset)

    @property
    def value(self) -> Any:
        """The last valid value."""
        return self._value

    @property
    def changed(self) -> bool:
        """Whether the value differs from the default."""
        return bool(self._value != self._default)

    @property
    def has_error(self) -> bool:
        """Whether the text in the editor is not a valid value."""
        return bool(self.error.text())

    def set_value(self, value: Any) -> None:
        """Show a value without emitting `edited`, and remove an error."""
        self._value = self.parameter.validate(value)
        self._refresh()

    def commit(self) -> bool:
        """Take the text in the editor, as if the user left it; return whether the text is valid."""
        return not self.has_error

    @Slot(object)
    def enter(self, raw: Any) -> None:
        """Take the user's input: emit `edited` for a valid new value, explain an invalid one."""
        try:
            value = self.check(raw)
        except ParameterError as error:
            self.show_error(str(error))
            return
        changed = value != self._value
        self._value = value
        self._refresh()  # shows the value, and removes an error
        if changed:
            self.edited.emit(value)

    def check(self, raw: Any) -> Any:
        """Return the value of the user's input; raise ParameterError if it is invalid."""
        return self.parameter.validate(raw)

    @Slot()
    def reset(self) -> None:
        """Set the value to the default."""
        self.enter(self.parameter.default)

    def show_value(self) -> None:
        """Show the value in the editor; implemented by subclasses."""
        raise NotImplementedError

    def show_error(self, sentence: str) -> None:
        """Show an error below the editor; "" removes it."""
        self.error.setText(sentence)
        self.error.setVisible(bool(sentence))
        self.editor.setAccessibleDescription(sentence or self.parameter.help)

        # The style sheet gives fields with this property a red frame.
        # Qt applies a change of the property only if the style is
        # removed and set again.
        if self.editor.property("invalid") != bool(sentence):
            self.editor.setProperty("invalid", bool(sentence))
            self.editor.style().unpolish(self.editor)
            self.editor.style().polish(self.editor)

    def _refresh(self) -> None:
        self.show_error("")
        self.show_value()
        self.reset_button.setVisible(self.changed)

    def _lay_out(self) -> None:
        """Lay out the label, the reset button and the editor in a row, and the error below."""
        # The error is hidden until there is one.
        self.error.setWordWrap(True)
        self.error.hide()

        # The reset button is hidden while the value is the default, but
        # keeps its column.
        self.reset_button.setStyleSheet(TIGHT)
        self.reset_button.setFixedSize(_RESET_SIDE, _ROW_HEIGHT)
        self.reset_button.setIconSize(QSize(14, 14))
        self.reset_button.hide()
        self.reset_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_icon(self.reset_button, self.theme, "reset", "muted", 14)

        # Label, reset button and editor are in row 0, the error is in
        # row 1 below all three.
        self.grid = grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(2)
        grid.setVerticalSpacing(3)
        top = Qt.AlignmentFlag.AlignTop
        grid.addWidget(self.label, 0, 0, top)
        grid.addWidget(self.reset_button, 0, 1, top | Qt.AlignmentFlag.AlignRight)
        grid.addWidget(self.editor, 0, 2)
        grid.addWidget(self.error, 1, 0, 1, 3)
        grid.setColumnMinimumWidth(1, _RESET_SIDE)
        grid.setColumnStretch(2, 1)
        self.editor.setMinimumWidth(scaled(_MIN_EDITOR_WIDTH))

    def _name_parts(self) -> None:
        """Give label and editor a tooltip and the editor a name for screen readers; set the Tab order."""
        text = tooltip(self.parameter)
        self.label.setBuddy(self.editor)
        self.label.setToolTip(text)
        named(
            self.editor, f"editor-{self.parameter.name}", self.parameter.label
        ).setToolTip(text)
        self.editor.setAccessibleDescription(self.parameter.help)
        self.setTabOrder(self.editor, self.reset_button)


def align_labels(fields: Collection[Field]) -> int:
    """Give the labels of a form's fields the width of the longest one; return the width, in pixels."""
    width = max(field.label.sizeHint().width() for field in fields)
    for field in fields:
        field.label.setFixedWidth(width)

        # Qt leaves out a layout that was invalidated while it was
        # hidden: the field would stay too narrow.
        field.grid.activate()
    return width


def link_terms(fields: Iterable[Field]) -> None:
    """Link the labels of a form to the glossary, each term where it comes first."""
    linked = {""}
    for field in fields:
        term = TERMS.get(field.parameter.name, "")
        field.label.set_term("" if term in linked else term)
        linked.add(term)


class HintedLineEdit(QLineEdit):
    """A line of text with a muted remark at its right end, such as "11 values"."""

    def __init__(self) -> None:
        super().__init__()
        self._hint = ""

    def set_hint(self, hint: str) -> None:
        """Show a remark; "" shows none."""
        self._hint = hint
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text of the field, and the remark at its right.

        Without keyboard focus, a long text is cut to leave room for the
        remark. With keyboard focus, the text stays whole, and the
        remark is drawn only if there is room for it.
        """
        # Pixels that the remark leaves to the text.
        text_width = (
            self.width()
            - _HINT_MARGIN
            - self.fontMetrics().horizontalAdvance(self._hint)
        )
        is_cut = self.shown_text() != self.text()
        if is_cut:
            # Qt would draw the whole text, so that Qt draws only the frame here.
            option = QStyleOptionFrame()
            self.initStyleOption(option)
            painter = QPainter(self)
            self.style().drawPrimitive(
                QStyle.PrimitiveElement.PE_PanelLineEdit, option, painter, self
            )
            painter.setPen(self.palette().text().color())
            # 12 pixels from the left edge, and 10 from the right one
            painter.drawText(
                self.rect().adjusted(12, 0, -10, 0), LEFT, self.shown_text()
            )
        else:
            super().paintEvent(event)
            painter = QPainter(self)
        if self._hint and (
            is_cut or self.fontMetrics().horizontalAdvance(self.text()) <= text_width
        ):
            painter.setPen(self.palette().placeholderText().color())
            painter.drawText(self.rect().adjusted(10, 0, -10, 0), RIGHT, self._hint)

    def shown_text(self) -> str:
        """Return the text as it is drawn: cut before the remark, but whole with keyboard focus."""
        metrics = self.fontMetrics()
        room = self.width() - _HINT_MARGIN - metrics.horizontalAdvance(self._hint)
        if not self._hint or self.hasFocus():
            return self.text()
        return metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room)


class TypedField(Field):
    """A field whose value is typed as text, and taken on Enter or when the field is left."""

    def typed(self) -> str:
        """Return the text in the editor."""
        raise NotImplementedError

    def written(self) -> str:
        """Return the value as a user would write it."""
        return self.parameter.format(self._value)

    @Slot()
    def commit(self) -> bool:
        """Take the text in the editor."""
        if self.typed() != self.written():
            self.enter(self.typed())
        elif self.has_error:
            self._refresh()
        return not self.has_error


class LineField(TypedField):
    """A field for a grid, a number, costs or a text, typed in a line."""

    editor: HintedLineEdit

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        super().__init__(theme, parameter, HintedLineEdit())

        # The parameter with a smaller maximum, if the open data require one.
        self._fitting_parameter = parameter

        # An empty line of costs means a cost of 1 for each feature; the
        # word "milliseconds" asks for measured ones.
        costs = parameter.kind is Kind.COSTS
        self.editor.setPlaceholderText(
            tr("all 1, or milliseconds") if costs else parameter.none_label
        )
        self.editor.editingFinished.connect(self.commit)
        self.editor.textEdited.connect(self._follow_typing)
        self._refresh()

    def set_most(self, maximum: float) -> None:
        """Limit the value to what the data allow; show a greater value as an error."""
        high = min(self.parameter.high, maximum)
        if high != self._fitting_parameter.high:
            self._fitting_parameter = replace(self.parameter, high=high)
            self._show_misfit()

    def check(self, raw: Any) -> Any:
        """Return the value of the user's input; raise ParameterError also if the data do not allow it."""
        return self._fitting_parameter.validate(raw)

    def _refresh(self) -> None:
        super()._refresh()
        self._show_misfit()

    def _show_misfit(self) -> None:
        """Show an error if the data do not allow the value, and remove it if they do."""
        # Called for its error only.
        try:
            self.check(self._value)
        except ParameterError as error:
            self.show_error(str(error))
        else:
            self.show_error("")

    def typed(self) -> str:
        """Return the text in the line."""
        return self.editor.text()

    def show_value(self) -> None:
        """Show the value as a user would type it."""
        self.editor.setText(self.written())
        self.editor.setCursorPosition(0)
        self._show_hint(self._value)

    @Slot(str)
    def _follow_typing(self, text: str) -> None:
        """Remove an error as soon as the typed text is valid; new errors are shown when the field is left."""
        # The remark beside a valid text is the number of its values,
        # such as "11 values".
        try:
            self._show_hint(self.check(text))
        except ParameterError:
            self.editor.set_hint("")
            return
        self.show_error("")

    def _show_hint(self, value: Any) -> None:
        """Show the number of values beside the text, such as "11 values"; nothing for a single value."""
        number = len(self.parameter.values(value))
        self.editor.set_hint(
            tr("{number} values").format(number=number) if number > 1 else ""
        )


class SwitchField(Field):
    """A field for yes or no, as a box to tick; partially checked if the plan tries both."""

    editor: QCheckBox

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        super().__init__(theme, parameter, QCheckBox())
        self.editor.clicked.connect(self.enter)
        self.editor.setMinimumHeight(_ROW_HEIGHT)
        self._refresh()

    def show_value(self) -> None:
        """Check or uncheck the box; check it partially if both values are tried."""
        if self.parameter.several(self._value):
            self.editor.setCheckState(Qt.CheckState.PartiallyChecked)
            self.editor.setText(tr("both"))
        else:
            # Otherwise further clicks would lead to the partially checked state.
            self.editor.setTristate(False)
            self.editor.setChecked(bool(self._value))
            self.editor.setText("")


class ChoiceField(Field):
    """A field for one of a few choices, in a list."""

    editor: QComboBox

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        super().__init__(theme, parameter, choice_box(parameter.choices))
        self.editor.activated.connect(self._take_current)
        self._refresh()

    def show_value(self) -> None:
        """Select the value's label."""
        self.editor.setCurrentIndex(self.editor.findData(self._value))

    def set_choices(self, parameter: Parameter) -> None:
        """Offer the choices of another parameter, and show its default."""
        self.parameter, self._default = parameter, parameter.default
        set_choices(self.editor, parameter.choices)
        self.set_value(parameter.default)

    @Slot()
    def _take_current(self) -> None:
        self.enter(self.editor.currentData())


class EditableField(TypedField):
    """A field with a list of usual values, by default measures, in which any other value can be typed."""

    editor: QComboBox

    def __init__(
        self, theme: Theme, parameter: Parameter, usual: Sequence[str] = USUAL
    ) -> None:
        super().__init__(
            theme, parameter, choice_box(tuple((name, name) for name in usual))
        )
        self.editor.setEditable(True)

        # A typed value is not added to the list.
        self.editor.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.editor.activated.connect(self.commit)
        line = self.editor.lineEdit()
        assert line is not None  # an editable box has one
        line.setAccessibleName(parameter.label)
        line.setPlaceholderText(parameter.none_label)
        line.editingFinished.connect(self.commit)
        self._refresh()

    def typed(self) -> str:
        """Return the text in the box."""
        return self.editor.currentText()

    def show_value(self) -> None:
        """Show the value, or several values."""
        self.editor.setCurrentText(self.written())


class ChoicesField(ChoiceField):
    """A field for one or several of a few choices, or for a sum or product of them.

    "several…" at the end of the list opens a menu with boxes to tick;
    the ticked choices are taken when the menu is closed. Several
    choices are shown as one additional item of the list.
    """

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        self._boxes: dict[str, QCheckBox] = {}
        self._menu: QMenu | None = None
        super().__init__(theme, parameter)

    def show_value(self) -> None:
        """Rebuild the items behind the choices, and select the one of the value."""
        # The list has the choices first. The items behind them belong
        # to an earlier value, and are removed.
        box = self.editor
        choices = self.parameter.choices
        while box.count() > len(choices):
            box.removeItem(box.count() - 1)

        # Several values, a file of own values, or a sum are no choice
        # of the list; they are shown as one more item.
        has_several = self.parameter.several(self._value)
        is_not_listed = not has_several and self._value not in dict(choices)
        if has_several or is_not_listed:
            is_own_file = is_not_listed and self.parameter.own_file
            box.addItem(
                Path(self._value).name
                if is_own_file
                else self.parameter.format(self._value),
                _SEVERAL_VALUES_KEY,
            )

        # Items that ask for several values, for a sum or for a file.
        if has_several or self.parameter.offers_several:
            box.addItem(tr("several…"), _ASK_SEVERAL_KEY)
        if self.parameter.summed:
            box.addItem(tr("sum or product…"), _SUM_KEY)
        if self.parameter.own_file:
            box.addItem(tr("own values…"), _OWN_FILE_KEY)
        box.setCurrentIndex(
            box.findData(
                _SEVERAL_VALUES_KEY if has_several or is_not_listed else self._value
            )
        )

    def menu(self) -> QMenu:
        """Return the menu with a box for each choice, in which the boxes of the present value are ticked."""
        if self._menu is None:
            self._menu = self._make_menu()
        present = self.parameter.values(self._value)
        for key, tick in self._boxes.items():
            tick.setChecked(key in present)
        return self._menu

    def _make_menu(self) -> QMenu:
        """Return the menu with a box for each choice, to tick several."""
        name = tr("{label}: several values, each tried").format(
            label=self.parameter.label
        )
        menu = named(QMenu(self), f"several-{self.parameter.name}", name)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 8, 12, 8)
        for key, label in self.parameter.choices:
            self._boxes[key] = QCheckBox(label)
            column.addWidget(self._boxes[key])
        action = QWidgetAction(menu)
        action.setDefaultWidget(page)
        menu.addAction(action)
        menu.aboutToHide.connect(self._take_ticked)
        return menu

    @Slot()
    def _take_current(self) -> None:
        """Take the chosen item: ask for a file or a sum, open the menu of several values, or set the value."""
        # Items with these keys are no values but commands: to ask for a
        # file, for a sum or for several values. The item with the key
        # `_SEVERAL_VALUES_KEY` only shows the present value, and
        # choosing it changes nothing. In all of these cases,
        # `show_value` selects the item of the present value again. The
        # key of the menu is therefore compared before.
        opens_menu = self.editor.currentData() == _ASK_SEVERAL_KEY
        if self.editor.currentData() == _OWN_FILE_KEY:
            self.show_value()
            title = tr("Own values of {label}").format(label=self.parameter.label)
            name, _ = QFileDialog.getOpenFileName(
                self.window(), title, "", tr("Tables (*.csv);;All files (*)")
            )
            if name:
                self.enter(name)
        elif self.editor.currentData() == _SUM_KEY:
            self.show_value()
            self._ask_sum()
        elif opens_menu or self.editor.currentData() == _SEVERAL_VALUES_KEY:
            self.show_value()
        else:
            super()._take_current()

        # The menu is opened below the box, with the first value focused.
        if opens_menu:
            self.menu().popup(self.editor.mapToGlobal(QPoint(0, self.editor.height())))
            next(iter(self._boxes.values())).setFocus()

    def _ask_sum(self) -> None:
        """Ask for a sum or product of choices, such as "a + b", starting with the present value."""
        text, is_accepted = QInputDialog.getText(
            self.window(),
            tr("Sum or product"),
            tr("{label}: {expected}").format(
                label=self.parameter.label, expected=self.parameter.expected
            ),
            QLineEdit.EchoMode.Normal,
            self.parameter.written(self._value),
        )
        if is_accepted:
            self.enter(text)

    @Slot()
    def _take_ticked(self) -> None:
        """Set the value to the ticked choices when the menu is closed, unless they are the present ones.

        Sums of choices, which have no box to tick, remain part of the
        value. Without any ticked box, the value stays.
        """
        ticked = [key for key, tick in self._boxes.items() if tick.isChecked()]
        present = self.parameter.values(self._value)
        is_summed = self.parameter.summed
        sums = [key for key in present if is_summed and key not in self._boxes]
        if ticked and set(ticked) != set(present) - set(sums):
            self.enter([*ticked, *sums])


def _protocol_parameter() -> Parameter:
    """Return the protocol, which says how the data are divided into folds, as a parameter of the form."""
    return Parameter(
        name="protocol",
        label=tr("folds"),
        kind=Kind.CHOICE,
        default=GIVEN,
        help=(
            tr(
                "How the folds are made. “given”: as in the files. “5-fold”: five parts, each "
                "the test part once. “leave-query-out”: each query is tested by all others. "
                "“split 60/20/20”: percentages for train, validation and test. “nested 20”: a "
                "fold without validation part takes that percentage of its training queries. "
                "“10-fold, nested 5-fold”: inner folds of each training part validate. “train "
                "50%”: half of the training queries, for a learning curve. Queries are never "
                "divided."
            )
        ),
        choices=tuple((protocol, protocol) for protocol in _USUAL_PROTOCOLS),
    )


class ProtocolField(EditableField):
    """The field for the protocol, which determines how the data are divided into folds."""

    def __init__(self, theme: Theme) -> None:
        self._refused = False
        super().__init__(
            theme, _protocol_parameter(), (tr(GIVEN), *_USUAL_PROTOCOLS[1:])
        )

    def check(self, raw: Any) -> Any:
        """Return the protocol as it is written in a plan; raise ParameterError if it is invalid."""
        # The field shows "given" in the language of the window, a plan
        # has it in English.
        try:
            return str(parse_protocol(GIVEN if raw == tr(GIVEN) else str(raw)))
        except PlanError as error:
            raise ParameterError(
                self.parameter.label, raw, _expected_text(error)
            ) from error

    def set_value(self, value: Any) -> None:
        """Show a protocol without emitting `edited`; a refusal stays if the protocol is the refused one."""
        if value != self._value or not self._refused:
            self._value = value
            self._refresh()

    def refuse(self, reason: str) -> None:
        """Show as an error that the data cannot be divided by the present protocol."""
        self.show_error(reason)
        self._refused = True

    @Slot()
    def commit(self) -> bool:
        """Take the text in the box; a protocol that was refused stays an error."""
        is_still_refused = self._refused and self.typed() == self.written()
        return not is_still_refused and super().commit()

    def written(self) -> str:
        """Return the protocol as text; "given" in the language of the window."""
        return tr(GIVEN) if self._value == GIVEN else str(self._value)

    def show_value(self) -> None:
        """Show the protocol, and end a refusal."""
        self._refused = False
        super().show_value()


def _expected_text(error: PlanError) -> str:
    """Return the expected value in the message "protocol: expected …, got …" of an error."""
    return str(error).removeprefix("protocol: expected ").rpartition(", got ")[0]


_SEARCH_HINT = tr("id or name")
_WITHOUT_SEPARATORS = str.maketrans("", "", ", |")


class FeatureChip(QFrame):
    """A chip for one feature, "25 BM25 of anchor", which a cross, Delete or Backspace removes.

    Parameters
    ----------
    theme : Theme
    feature_id : int
        Id of the feature.
    name : str
    shows_name : bool
        Whether the name is shown after the id; otherwise it is only in the tooltip.

    Attributes
    ----------
    removed : Signal(int)
        The user removes the feature (its id).
    """

    removed = Signal(int)

    def __init__(
        self, theme: Theme, feature_id: int, name: str, *, shows_name: bool = True
    ) -> None:
        super().__init__()
        self.feature_id = feature_id
        self.name = name
        self._theme = theme
        self._shows_name = shows_name

        # The chip is named after the feature, for screen readers, too.
        named(
            self,
            f"chip-{feature_id}",
            tr("feature {feature_id}, {name}").format(feature_id=feature_id, name=name),
            f"{feature_id} {name}",
        )
        self.setFixedHeight(26)

        # The cross removes the feature.
        remove_text = tr("Remove feature {feature_id}, {name}").format(
            feature_id=feature_id, name=name
        )
        self._cross = named(
            QToolButton(),
            accessible_name=remove_text,
            tip=tr("Remove {name} (Delete)").format(name=name),
            role="quiet",
        )
        self._cross.setStyleSheet(TIGHT)
        self._cross.setFixedSize(20, 20)
        self._cross.setIconSize(QSize(12, 12))
        set_icon(self._cross, theme, "close", "muted", 12)
        self._cross.clicked.connect(self._remove)
        fill(QHBoxLayout(self), 1, self._cross, margins=(8, 0, 3, 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remove the feature on Delete or Backspace."""
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._remove()
        else:
            super().keyPressEvent(event)

    def name_room(self) -> QRect:
        """Return the rectangle in which the name is drawn, right of the id."""
        number = self.fontMetrics().horizontalAdvance(f"{self.feature_id}  ")
        return self.rect().adjusted(8 + number, 0, -26, 0)

    def shown_name(self) -> str:
        """Return the name, with its middle left out if it does not fit."""
        if not self._shows_name:
            return ""
        width = self.name_room().width()
        return self.fontMetrics().elidedText(
            self.name, Qt.TextElideMode.ElideMiddle, width
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame, the id in a muted color, and the name."""
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(colors.q("line"))
        painter.setBrush(colors.q("tint"))

        # A line of one pixel is sharp only in the middle of pixels.
        painter.drawRoundedRect(
            self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 6.5, 6.5
        )
        painter.setPen(colors.q("muted"))
        # 26 pixels at the right are for the cross
        painter.drawText(self.rect().adjusted(8, 0, -26, 0), LEFT, f"{self.feature_id}")
        painter.setPen(colors.q("text"))
        painter.drawText(self.name_room(), LEFT, self.shown_name())

    @Slot()
    def _remove(self) -> None:
        self.removed.emit(self.feature_id)


class FeaturesField(Field):
    """A field for features, one chip each; features are added by typing their id or a part of their name.

    Features after the first 10,000 are found only by their whole id or name.
    """

    def __init__(self, theme: Theme, parameter: Parameter) -> None:
        # Id and name of each feature of the open data; empty without data.
        self._ids_of_data = np.empty(0, dtype=np.int64)
        self._names = cast("Sequence[str]", ())

        # The constructor of the base class shows the default value, so
        # that all parts of the field are made before it is called.
        self._completions = QStringListModel()
        self._box = QWidget()  # has the chips and the line below each other
        self._column = QVBoxLayout(self._box)
        self._chips: list[FeatureChip] = []
        self._line = QLineEdit()
        super().__init__(theme, parameter, self._line)
        self._stack_chips()
        self._line.setPlaceholderText(_SEARCH_HINT)
        completer = QCompleter(self._completions, self._line)

        # deleted with the completer, not by Python's garbage collection
        self._completions.setParent(completer)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setMaxVisibleItems(10)
        popup = named(QListView(), f"completions-{parameter.name}", role="popup")
        popup.setMinimumWidth(260)
        completer.setPopup(popup)

        # The connection is queued, because the completer writes its
        # text into the line only after it has emitted the signal.
        completer.activated.connect(self._add_text, Qt.ConnectionType.QueuedConnection)
        self._line.setCompleter(completer)
        self._line.returnPressed.connect(self._add_line)
        self._line.textEdited.connect(self._look_for)
        self._refresh()

    def set_features(self, ids: Sequence[int] | Ints, names: Sequence[str]) -> None:
        """Set the features of the data, which are used for completion, names and checks."""
        self._ids_of_data = np.asarray(ids, dtype=np.int64)
        self._names = names
        self.show_value()

    @Slot()
    def commit(self) -> bool:
        """Add the feature in the line."""
        if self._line.text().strip():
            self._add_line()
        return not self.has_error

    def check(self, raw: Any) -> Any:
        """Return ids of features as a tuple; raise ParameterError also for an id that the data do not have.

        ``raw`` is the value to check. If the plan tries several sets of
        features, the result is a tuple of such tuples.
        """
        ids = self.parameter.validate(raw)

        # Without open data, `_names` is empty, and every id is accepted.
        all_ids = [i for id_set in self.parameter.values(ids) for i in id_set]
        unknown = [i for i in all_ids if self._names and self._column_of(i) is None]
        if unknown:
            first = self._ids_of_data.min()
            last = self._ids_of_data.max()
            raise ParameterError(
                self.parameter.label,
                unknown[0],
                tr("ids of features of the data, {first} to {last}").format(
                    first=first, last=last
                ),
            )
        return ids

    def show_value(self) -> None:
        """Show a chip for each feature; if several sets are tried, show them as the line's placeholder."""
        self._line.clear()
        has_several = self.parameter.several(self._value)
        self._line.setPlaceholderText(
            self.parameter.format(self._value) if has_several else _SEARCH_HINT
        )

        # With data, the chips are made anew even for the same ids, as
        # the names of the features may have changed.
        if [chip.feature_id for chip in self._chips] != list(self._ids) or self._names:
            self._make_chips()

    def without(self, ids: Sequence[int]) -> None:
        """Remove features that were added to another field, without emitting `edited`."""
        if not self.parameter.several(self._value):
            self.set_value(tuple(i for i in self._value if i not in ids))

    @property
    def _ids(self) -> tuple[int, ...]:
        """The features of the set; none if several sets are tried."""
        return () if self.parameter.several(self._value) else self._value

    def _stack_chips(self) -> None:
        """Put the chips above the line, in the editor's place."""
        self.grid.replaceWidget(self._line, self._box)
        fill(self._column, self._line, margins=(0, 0, 0, 0), spacing=4)

    def _make_chips(self) -> None:
        """Replace the chips by one for each feature of the value, above the line to type in."""
        for old in self._chips:
            old.setParent(None)
            old.deleteLater()
        self._chips = [FeatureChip(self.theme, i, self._name(i)) for i in self._ids]
        for index, chip in enumerate(self._chips):
            self._column.insertWidget(index, chip)
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
        """Add the features that a typed text or a completion means; show an error if it means none."""
        if text != self._line.text() and not self._line.text():
            # Enter on a completion calls this method twice: for
            # returnPressed, and for the completer, when the line has
            # been emptied already.
            return
        try:
            added = self._meant(text)
        except ParameterError as error:
            self.show_error(str(error))
            return

        # Several sets of features replace the value; single features are added to it.
        if self.parameter.several(added):
            self.enter(added)
        else:
            self.enter(self._ids + tuple(i for i in added if i not in self._ids))

    def _meant(self, text: str) -> tuple[Any, ...]:
        """Return the ids of the features that a typed text means.

        The text has ids or sets of ids, or is a completion, a name or a
        part of a name.

        A part of a name has to match one feature only. Raise
        ParameterError if the text means no feature, or several ones.
        """
        # A completion has id and name, and is exact.
        written = text.strip().casefold()
        matches = [
            i for i, name in self._found(written) if f"{i} {name}".casefold() == written
        ]

        # A text that is not made of digits and separators of numbers is
        # a name: first as a whole, then as a part of one name only.
        if not matches and not written.translate(_WITHOUT_SEPARATORS).isdigit():
            features = list(self._found(written))
            matches = [i for i, name in features if name.casefold() == written]
            matches = matches or [
                i for i, name in features if written in name.casefold()
            ]
            if len(matches) > 1:
                expected = tr(
                    "an id, or more of the name ({n_matches} features match)"
                ).format(n_matches=len(matches))
                raise ParameterError(self.parameter.label, text, expected)
        if matches:
            return tuple(matches)

        # Everything else is read as ids.
        ids: tuple[Any, ...] = self.parameter.validate(text)
        return ids

    def _found(self, written: str) -> Iterator[tuple[int, str]]:
        """Yield id and name of each feature whose text, such as "25 BM25 of anchor", contains ``written``.

        ``written`` is casefolded, and so is the text for the comparison.
        """
        # Of features after the first 10,000, only those with exactly
        # the typed id or name are compared (`matches_of_text` returns
        # their columns), as comparing all of them would take too long.
        # The line has the typed text with its capital letters.
        n_listed = min(len(self._names), MOST_LISTED)
        for column in (
            *range(n_listed),
            *matches_of_text(self._ids_of_data, self._names, self._line.text().strip()),
        ):
            i = int(self._ids_of_data[column])
            name = self._names[column]
            if written in f"{i} {name}".casefold():
                yield i, name

    def _column_of(self, feature: int) -> int | None:
        """Return the column of a feature in the data; None if the data do not have the feature."""
        columns = np.flatnonzero(self._ids_of_data == feature)
        return int(columns[0]) if columns.size else None

    def _name(self, feature: int) -> str:
        """Return the name of a feature by its id: "feature 7" if the data do not have the feature."""
        column = self._column_of(feature)
        return (
            tr("feature {i}").format(i=feature)
            if column is None
            else self._names[column]
        )

    @Slot(str)
    def _look_for(self, text: str) -> None:
        """Offer the features that match the typed text, and remove an error."""
        self.show_error("")
        matches = islice(self._found(text.strip().casefold()), _MAX_OFFERED_FEATURES)
        self._completions.setStringList([f"{i} {name}" for i, name in matches])
