"""Labels that underline a term of the glossary, explain it in a tooltip, and open the guide at the term."""

from __future__ import annotations

import re
from functools import cache
from typing import Protocol, cast, runtime_checkable

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtGui import Qt as Text
from PySide6.QtWidgets import QLabel, QToolTip, QWidget

from rankstudio.engine.support.escaping import html_text
from rankstudio.engine.support.resources import guide
from rankstudio.ui.language import tr

_PAGE = "glossary.md"
# a link in parentheses, which does not work in a tooltip
_SEE = re.compile(r" \(\[[^]]*\]\([^)]*\)\)")
_DASHES = [1.0, 2.0]  # lengths of dots and gaps in pixels
_OPACITY = 0.7
_BELOW = 2  # pixels between the baseline and the underline
_OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


@runtime_checkable
class GuideOpener(Protocol):
    """A window that can show the guide."""

    def open_guide(self, address: str) -> None:
        """Show a page of the guide, at a heading or a term: "glossary.md#fold"."""


def slug(heading: str) -> str:
    """Return the fragment of a heading in links: "who-does-the-work" for "Who does the work"."""
    letters = "".join(
        letter for letter in heading.lower() if letter.isalnum() or letter in " -_"
    )
    return letters.strip().replace(" ", "-")


@cache
def glossary() -> dict[str, str]:
    """Return the meanings of the glossary's terms, in the language of the guide.

    The keys are the terms. Return {} without a glossary.
    """
    # The glossary is a table in Markdown with lines such as "| fold | A part …
    # |": a term and its meaning.
    try:
        lines = guide(_PAGE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    table_rows = [
        line.strip().strip("|").split("|", 1) for line in lines if line.startswith("|")
    ]
    n_header_rows = 2  # the header and the rule below it
    entries = [row for row in table_rows[n_header_rows:] if len(row) > 1]

    # References in parentheses to pages do not work in a tooltip.
    return {term.strip(): _SEE.sub("", meaning).strip() for term, meaning in entries}


class TermLabel(QLabel):
    """A label that may contain a term of the glossary, underlined with dots.

    The tooltip of the term explains the term. A click on the term opens
    the guide at the term's explanation. So do Enter, the space bar and
    F1 while the label has the focus, and F1 while the field of the
    label has the focus.
    """

    def __init__(self) -> None:
        super().__init__()
        self._term = self._word = ""

    def set_term(self, term: str, word: str = "") -> None:
        """Underline a term of the glossary in the text of the label.

        Parameters
        ----------
        term : str
            Term in the first column of the glossary; "" for none. A
            term that is not there is ignored.
        word : str
            Word for the term in the label's text, in the language of
            the window; by default the whole text. Nothing is underlined
            while the text does not contain the word.
        """
        self._term = term if term in glossary() else ""
        self._word = word
        self.setMouseTracking(bool(self._term))
        if self._term:
            # Overriding `event` instead would call Python for every
            # event of all the labels of a window.
            self.installEventFilter(self)
        self.follow_text()
        self.update()

    def term(self) -> str:
        """Return the underlined term; "" for none."""
        return (
            self._term
            if self._term and self._word.lower() in self.text().lower()
            else ""
        )

    def term_address(self) -> str:
        """Return the address in the guide that explains the term: "glossary.md#fold".

        Return "" for a label without a term.
        """
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
        """Follow a change of the label's text, which may not contain the term any more.

        The explanation of the term is the description for screen
        readers. Tab stops at the label if it has a term and no field.
        """
        term = self.term()
        self.setAccessibleDescription(f"{term}: {glossary()[term]}" if term else "")

        # The buddy of a label is its field, where F1 opens the glossary.
        takes_focus = bool(term) and self.buddy() is None
        self.setFocusPolicy(
            Qt.FocusPolicy.TabFocus if takes_focus else Qt.FocusPolicy.NoFocus
        )
        if not term:
            self.unsetCursor()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the explanation of the term as a tooltip while the mouse is on the word.

        Return True if the event is handled. Beside the word, the label
        shows its own tooltip, as False is returned.
        """
        if watched is not self or event.type() != QEvent.Type.ToolTip:
            return super().eventFilter(watched, event)
        help_event = cast(QHelpEvent, event)
        is_on_word = self.word_rect().contains(help_event.pos())
        if is_on_word:
            QToolTip.showText(help_event.globalPos(), self.explanation(), self)
        return is_on_word

    def explanation(self) -> str:
        """Return the tooltip of the term as rich text: the label's own tooltip, then the term and its meaning."""
        term = self.term()
        tip = self.toolTip()
        if tip and not Text.mightBeRichText(tip):
            tip = f"<p>{html_text(tip)}</p>"
        if self.buddy() is None:
            hint = tr("Click to open the glossary.")
        else:
            hint = tr("Click, or press F1 in the field, to open the glossary.")
        return f"{tip}<p><b>{html_text(term)}</b>: {html_text(glossary()[term])}<br><i>{html_text(hint)}</i></p>"

    def word_rect(self) -> QRect:
        """Return the rectangle of the underlined word in the label; an empty one if it is not visible."""
        # In a text of several lines, the position of a word is not known.
        if not self._term or self.wordWrap():
            return QRect()
        text = self.shown_text()
        word = self._word or text
        start = text.lower().find(word.lower())
        if start < 0:
            return QRect()
        metrics = self.fontMetrics()
        flags = int(self.alignment().value)
        text_rect = self.style().itemTextRect(
            metrics, self.contentsRect(), flags, True, text
        )
        left_edge = text_rect.left() + metrics.horizontalAdvance(text[:start])
        return QRect(
            left_edge,
            text_rect.top(),
            metrics.horizontalAdvance(word),
            text_rect.height(),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text and the underline."""
        super().paintEvent(event)
        self.underline()

    def underline(self) -> None:
        """Draw a line below the word of the term: of dots, or solid in the accent color if the label has the focus."""
        rect = self.word_rect()
        if rect.isEmpty():
            return
        has_focus = self.hasFocus()
        role = QPalette.ColorRole.Link if has_focus else self.foregroundRole()
        color = QColor(self.palette().color(role))
        if not has_focus:
            color.setAlphaF(_OPACITY * color.alphaF())
        pen = QPen(color, 1)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if not has_focus:
            pen.setDashPattern(_DASHES)
        painter = QPainter(self)
        painter.setPen(pen)
        y = min(rect.top() + self.fontMetrics().ascent() + _BELOW, self.height() - 1)
        painter.drawLine(rect.left(), y, rect.right(), y)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show a pointing hand over the term."""
        if self.word_rect().contains(event.position().toPoint()):
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.unsetCursor()
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Keep a press on the term from the base class.

        The guide opens when the button is released.
        """
        if not self._opens(event):
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the guide if the button is released on the term."""
        if self._opens(event):
            self._open()
        else:
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the guide on Enter or the space bar."""
        if self.term() and event.key() in _OPENING:
            self._open()
        else:
            super().keyPressEvent(event)

    def _opens(self, event: QMouseEvent) -> bool:
        """Return whether a click there opens the guide."""
        is_left = event.button() == Qt.MouseButton.LeftButton
        return is_left and self.word_rect().contains(event.position().toPoint())

    def _open(self) -> None:
        """Open the guide at the term, by the nearest parent of the label that can open the guide.

        If the panel of the label is in a window of its own, the parents
        of that window are asked, too.
        """
        widget: QWidget | None = self
        while widget is not None and not isinstance(widget, GuideOpener):
            widget = widget.parentWidget()
        if widget is not None:
            widget.open_guide(self.term_address())


def term_address_of(widget: QWidget) -> str:
    """Return the guide's address of a term, such as "glossary.md#fold".

    The term is that in the label ``widget``, or in the label of the
    field ``widget``. Return "" without such a term.
    """
    if isinstance(widget, TermLabel):
        return widget.term_address()
    parent = widget.parentWidget()
    siblings = parent.children() if parent is not None else ()
    labels = (
        label
        for label in siblings
        if isinstance(label, TermLabel) and label.buddy() is widget
    )
    return next((label.term_address() for label in labels), "")
