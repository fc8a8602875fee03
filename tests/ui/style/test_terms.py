"""Terms of the glossary in labels: what is underlined, what it tells, and where a click leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QTextBrowser, QWidget
from windows import Opened, settle

from rankstudio.ui.select.fields import TERMS
from rankstudio.ui.select.form import MethodForm
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.terms import TermLabel, glossary, slug, term_address_of
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import ElidedLabel, LambdaSlider, Panel

Stage = Callable[..., QWidget]


class Window(QWidget):
    """Remembers the places of the guide that were asked for."""

    def __init__(self, *labels: QWidget) -> None:
        super().__init__()
        self.opened: list[str] = []
        row = QHBoxLayout(self)
        for label in labels:
            row.addWidget(label)

    def open_guide(self, place: str) -> None:
        """Remember the place."""
        self.opened.append(place)


@pytest.fixture(params=[PlainLabel, ElidedLabel])
def label(request: pytest.FixtureRequest) -> Iterator[TermLabel]:
    made = request.param("drop in Leave-query-out-Fehler")
    made.set_term("leave-query-out", "leave-query-out")
    yield made


def test_the_glossary_has_terms_with_meanings_of_which_each_has_a_place_of_its_own() -> (
    None
):
    assert (
        glossary()["fold"]
        == "one division of the queries into training, validation and test part"
    )
    assert not [text for text in glossary().values() if "](" in text]
    assert "Term" not in glossary() and all(glossary().values())
    assert len({slug(term) for term in glossary()}) == len(glossary())


def test_every_term_of_a_field_is_in_the_glossary() -> None:
    assert set(TERMS.values()) <= set(glossary())


def test_a_click_on_the_word_opens_the_guide_there_and_one_beside_it_does_not(
    label: TermLabel, stage: Stage
) -> None:
    window = stage(Window(label), 500, 60)
    place = label.word_rect()
    assert 0 < place.left() < place.right() < label.width()
    QTest.mouseClick(
        label,
        Qt.MouseButton.LeftButton,
        pos=QPoint(place.left() - 4, place.center().y()),
    )
    assert window.opened == []
    QTest.mouseClick(label, Qt.MouseButton.LeftButton, pos=place.center())
    assert window.opened == ["glossary.md#leave-query-out"]


def test_the_keyboard_reaches_a_term_that_no_field_stands_for(
    label: TermLabel, stage: Stage
) -> None:
    window = stage(Window(label), 500, 60)
    assert label.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert term_address_of(label) == "glossary.md#leave-query-out"
    QTest.keyClick(label, Qt.Key.Key_Return)
    assert window.opened == ["glossary.md#leave-query-out"]


def test_a_term_is_described_as_long_as_its_word_is_shown(label: TermLabel) -> None:
    assert (
        label.accessibleDescription()
        == f"leave-query-out: {glossary()['leave-query-out']}"
    )
    label.setText("drop in error")
    assert label.accessibleDescription() == "" == label.term_address()
    assert label.focusPolicy() == Qt.FocusPolicy.NoFocus
    assert label.word_rect().isEmpty()


def test_the_tooltip_adds_the_meaning_to_what_was_there(label: TermLabel) -> None:
    label.setToolTip("5 < 6")
    said = label.explanation()
    assert said.startswith("<p>5 &lt; 6</p>") and glossary()["leave-query-out"] in said
    label.setToolTip("<b>bold</b>")
    assert label.explanation().startswith("<b>bold</b>")


def test_a_term_that_the_glossary_does_not_have_is_not_linked() -> None:
    made = PlainLabel("folds")
    made.set_term("no such term")
    assert made.term_address() == "" == made.accessibleDescription()


def test_dots_are_drawn_below_the_word_only(label: TermLabel, stage: Stage) -> None:
    stage(Window(label), 500, 60)
    with_dots, word = label.grab().toImage(), label.word_rect()
    label.set_term("")
    without = label.grab().toImage()
    changed = _differing(with_dots, without)
    assert changed and len({y for _, y in changed}) == 1
    assert all(word.left() <= x <= word.right() for x, _ in changed)


def _differing(one: QImage, other: QImage) -> list[tuple[int, int]]:
    assert one.size() == other.size()
    places = ((x, y) for x in range(one.width()) for y in range(one.height()))
    return [(x, y) for x, y in places if one.pixel(x, y) != other.pixel(x, y)]


def test_f1_in_a_field_is_for_the_term_of_its_label(stage: Stage) -> None:
    label, editor, other = PlainLabel("folds"), QLineEdit(), QLineEdit()
    label.setBuddy(editor)
    label.set_term("fold")
    stage(Window(label, editor, other), 500, 60)
    assert label.focusPolicy() == Qt.FocusPolicy.NoFocus  # the field is a stop already
    assert term_address_of(editor) == "glossary.md#fold"
    assert term_address_of(other) == ""


def test_f1_on_the_slider_of_a_parameter_is_for_its_symbol(stage: Stage) -> None:
    slider = stage(LambdaSlider(), 400, 60)
    assert term_address_of(slider.focusProxy()) == "glossary.md#λ-lambda"
    slider.set_values((1.0, 2.0), "γ")
    assert term_address_of(slider.focusProxy()) == ""


def test_a_form_links_each_term_where_it_comes_first(
    theme: Theme, stage: Stage
) -> None:
    form = stage(MethodForm(theme), 420, 700)
    assert isinstance(form, MethodForm)
    assert form.field("pinned").label.term() == "pin, ban"
    assert form.field("banned").label.term() == ""
    linked = [
        label.term()
        for label in form.findChildren(TermLabel)
        if label.isVisible() and label.term()
    ]
    assert {"λ (lambda)", "k", "fold", "criterion", "rule", "final ranker"} <= set(
        linked
    )
    assert len(linked) == len(set(linked))


def test_the_window_opens_the_guide_at_a_term_by_click_and_by_f1(
    opened: Opened, folds: Path
) -> None:
    with opened(folds) as window:
        form = window.findChild(MethodForm)
        label = form.field("rule").label
        QTest.mouseClick(
            label, Qt.MouseButton.LeftButton, pos=label.word_rect().center()
        )
        browser = window.help.guide.findChild(QTextBrowser, "guide-page")
        assert Path(browser.source().path()).name == "glossary.md"
        assert browser.textCursor().selectedText().strip("\u2029") == "rule"
        assert browser.viewport().rect().contains(browser.cursorRect())
        window.workspace.show_page("select")
        form.field("select_by").editor.setFocus()
        window.help.show_guide()
        assert browser.textCursor().selectedText().strip("\u2029") == "criterion"
        panels = [one for one in window.findChildren(TermLabel) if one.term()]
        assert {one.term() for one in panels} <= set(glossary())
        assert all(
            isinstance(one, TermLabel) and one.accessibleDescription() for one in panels
        )
        data = window.findChild(Panel, "data-panel")
        assert any(one.term() == "convention" for one in data.findChildren(TermLabel))


def test_titles_of_panels_and_plots_lead_into_the_glossary(
    opened: Opened, folds: Path
) -> None:
    """Catches titles with a term that a first-time reader meets nowhere explained."""
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    with opened(folds) as window:
        sections = window.sections
        places = [
            sections.select.curves.criterion_plot._term.term_address(),
            sections.select.curves.validation_plot._term.term_address(),
            sections.features.features._title.term_address(),
            sections.features.substitutes.panel._title.term_address(),
        ]
        names = ("leave-query-out", "validation-part", "path", "substitute")
        assert places == [f"glossary.md#{name}" for name in names]
        plot = sections.select.curves.criterion_plot
        settle(window)
        under = plot._term
        assert under.isVisible() and plot.rect().contains(under.geometry())
        QTest.mouseClick(
            under, Qt.MouseButton.LeftButton, pos=under.word_rect().center()
        )
        assert "glossary" in window.help.guide._browser.source().path()
        window.help.guide.close()
