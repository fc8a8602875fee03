"""Terms of the glossary: labels that underline one, explain it and open the guide there."""

from __future__ import annotations

import re
from functools import cache
from typing import Protocol, cast, runtime_checkable

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtGui import Qt as Text
from PySide6.QtWidgets import QLabel, QToolTip, QWidget

from rankstudio.engine.support.escaping import html_text
from rankstudio.engine.support.resources import guide
from rankstudio.ui.language import tr

_PAGE = "glossary.md"
_SEE = re.compile(r" \(\[[^]]*\]\([^)]*\)\)")  # a link to more, which a tooltip cannot follow
_DASHES = [1.0, 2.0]  # in pixels: on, off
_OPACITY = 0.7
_BELOW = 2  # pixels between the baseline and the underline
_OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


@runtime_checkable
class GuideOpener(Protocol):
    """A window that can show the guide."""

    def open_guide(self, address: str) -> None:
        """Show a page of the guide, at a heading or a term: "glossary.md#fold"."""


def slug(heading: str) -> str:
    """Return a heading as a link names it: "Who does the work" is "who-does-the-work" there."""
    letters = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
    return letters.strip().replace(" ", "-")


@cache
def glossary() -> dict[str, str]:
    """Return the meanings of the terms of the shipped glossary, in the guide's language; {} without it."""
    try:
        lines = guide(_PAGE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    rows = [line.strip().strip("|").split("|", 1) for line in lines if line.startswith("|")]
    below = rows[2:]  # the head and the rule under it
    return {row[0].strip(): _SEE.sub("", row[1]).strip() for row in below if len(row) > 1}


class TermLabel(QLabel):
    """A label that may hold a term of the glossary, underlined with dots.

    Hovering over the term explains it. A click opens the guide there, and so do Enter, the space bar and F1:
    with the focus on the label, or for F1 on the field that it names.
    """

    def __init__(self) -> None:
        super().__init__()
        self._term = self._word = ""

    def set_term(self, term: str, word: str = "") -> None:
        """Link a term.

        Parameters
        ----------
        term : str
            As in the first column of the glossary; "" for none, and one that is not there is ignored.
        word : str
            What stands for it in the text, in the language of the window; by default the whole text. Nothing
            is underlined while the text does not contain it.
        """
        self._term = term if term in glossary() else ""
        self._word = word
        self.setMouseTracking(bool(self._term))
        if (
            self._term
        ):  # not by `event`, or every event of all labels, thousands in a window, costs Python's time
            self.installEventFilter(self)
        self.follow_text()
        self.update()

    def term(self) -> str:
        """Return the term that is underlined; "" for none."""
        return self._term if self._term and self._word.lower() in self.text().lower() else ""

    def place(self) -> str:
        """Return where the guide explains the term; "" for none."""
        return f"{_PAGE}#{slug(self.term())}" if self.term() else ""

    def shown_text(self) -> str:
        """Return the text as it is drawn."""
        return self.text()

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        if self._term:
            self.follow_text()

    def follow_text(self) -> None:
        """Describe the term to screen readers, and let Tab reach it where no field is named by the label."""
        term = self.term()
        self.setAccessibleDescription(f"{term}: {glossary()[term]}" if term else "")
        takes_focus = bool(term) and self.buddy() is None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if takes_focus else Qt.FocusPolicy.NoFocus)
        if not term:
            self.unsetCursor()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Explain the term in the tooltip, below what else that says."""
        if watched is not self or event.type() != QEvent.Type.ToolTip:
            return super().eventFilter(watched, event)
        help_event = cast(QHelpEvent, event)
        is_on_word = self.word_rect().contains(help_event.pos())
        if is_on_word:
            QToolTip.showText(help_event.globalPos(), self.explanation(), self)
        return is_on_word

    def explanation(self) -> str:
        """Return the tooltip of the term, as rich text."""
        term = self.term()
        tip = self.toolTip()
        if tip and not Text.mightBeRichText(tip):
            tip = f"<p>{html_text(tip)}</p>"
        if self.buddy() is None:
            hint = tr("Click to open the glossary.")
        else:
            hint = tr("Click, or press F1 in the field, to open the glossary.")
        return (
            f"{tip}<p><b>{html_text(term)}</b>: {html_text(glossary()[term])}<br><i>{html_text(hint)}</i></p>"
        )

    def word_rect(self) -> QRect:
        """Return where the term stands in the label; empty where it cannot be seen."""
        if not self._term or self.wordWrap():
            return QRect()
        text = self.shown_text()
        word = self._word or text
        start = text.lower().find(word.lower())
        if start < 0:
            return QRect()
        metrics = self.fontMetrics()
        flags = int(self.alignment().value)
        text_rect = self.style().itemTextRect(metrics, self.contentsRect(), flags, True, text)
        left_edge = text_rect.left() + metrics.horizontalAdvance(text[:start])
        return QRect(left_edge, text_rect.top(), metrics.horizontalAdvance(word), text_rect.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text and the underline."""
        super().paintEvent(event)
        self.underline()

    def underline(self) -> None:
        """Draw dots below the term; a line in the accent colour where it has the focus."""
        rect = self.word_rect()
        if rect.isEmpty():
            return
        focused = self.hasFocus()
        role = QPalette.ColorRole.Link if focused else self.foregroundRole()
        color = QColor(self.palette().color(role))
        if not focused:
            color.setAlphaF(_OPACITY * color.alphaF())
        pen = QPen(color, 1)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if not focused:
            pen.setDashPattern(_DASHES)
        painter = QPainter(self)
        painter.setPen(pen)
        y = min(rect.top() + self.fontMetrics().ascent() + _BELOW, self.height() - 1)
        painter.drawLine(rect.left(), y, rect.right(), y)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show by the cursor what a click opens."""
        if self.word_rect().contains(event.position().toPoint()):
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.unsetCursor()
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take a press on the term, to open the guide when it is released."""
        if not self._opens(event):
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the guide."""
        if self._opens(event):
            self._open()
        else:
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the guide."""
        if self.term() and event.key() in _OPENING:
            self._open()
        else:
            super().keyPressEvent(event)

    def _opens(self, event: QMouseEvent) -> bool:
        """Return whether a click there opens the guide."""
        is_left = event.button() == Qt.MouseButton.LeftButton
        return is_left and self.word_rect().contains(event.position().toPoint())

    def _open(self) -> None:
        """Have the window open the guide; that of a panel may be another one, whose parent it is."""
        widget: QWidget | None = self
        while widget is not None and not isinstance(widget, GuideOpener):
            widget = widget.parentWidget()
        if widget is not None:
            widget.open_guide(self.place())


def place_of(widget: QWidget) -> str:
    """Return where the guide explains a label's term, or that of the label of a field; "" for neither."""
    if isinstance(widget, TermLabel):
        return widget.place()
    parent = widget.parentWidget()
    siblings = parent.children() if parent is not None else ()
    named = (label for label in siblings if isinstance(label, TermLabel) and label.buddy() is widget)
    return next((label.place() for label in named), "")
