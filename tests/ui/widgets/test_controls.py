import pytest
from hands import fact_texts
from hypothesis import example, given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from rankstudio.ui.style import palettes
from rankstudio.ui.widgets import (
    BarRows,
    ElidedLabel,
    Fact,
    KeyValue,
    LambdaSlider,
    Notice,
    Notices,
    Overlay,
    Panel,
    Segmented,
)
from rankstudio.ui.widgets.choices import LEAST_WIDTH
from rankstudio.ui.widgets.panel import Caption

FOLDS = [(1, "1"), (2, "2"), (3, "3"), (None, "all")]


@pytest.fixture
def segments(app, theme, stage):
    made = Segmented(FOLDS, "fold")
    stage(made, 220, 30)
    told = []
    made.chosen.connect(told.append)
    return made, told


def test_a_click_on_a_segment_chooses_its_value(segments):
    row, told = segments
    assert row.value() == 1
    for text, value in (("3", 3), ("all", None), ("2", 2)):
        button = next(b for b in row.findChildren(QPushButton) if b.text() == text)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        assert row.value() == value
    assert told == [3, None, 2]


def test_choosing_from_outside_tells_nobody_and_unknown_values_are_ignored(segments):
    row, told = segments
    row.select(3)
    row.select(99)
    assert row.value() == 3 and told == []


def test_the_row_is_one_stop_for_tab_and_arrows_move_within(app, theme, stage):
    holder = QWidget()
    column = QVBoxLayout(holder)
    first, row, last = (
        QPushButton("first"),
        Segmented(FOLDS, "fold"),
        QPushButton("last"),
    )
    for widget in (first, row, last):
        column.addWidget(widget)
    stage(holder, 240, 160)
    told = []
    row.chosen.connect(told.append)
    holder.activateWindow()
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_Tab)
    for key in (
        Qt.Key.Key_Right,
        Qt.Key.Key_Right,
        Qt.Key.Key_Left,
        Qt.Key.Key_Left,
        Qt.Key.Key_Left,
    ):
        QTest.keyClick(holder.focusWidget(), key)
    assert told == [2, 3, 2, 1]
    assert holder.focusWidget().accessibleName() == "fold 1"
    QTest.keyClick(holder.focusWidget(), Qt.Key.Key_Tab)
    assert last.hasFocus()


def test_other_options_replace_the_old_ones(segments):
    row, told = segments
    row.set_options([("a", "A"), ("b", "B")])
    QCoreApplication.processEvents()
    assert row.value() == "a"
    row.select("b")
    row.set_options([])
    assert row.value() is None and told == []


@pytest.fixture
def slider(app, theme, stage):
    made = LambdaSlider()
    made.set_values([2.0**i for i in range(11)])
    stage(made, 300, 30)
    told = []
    made.moved.connect(told.append)
    return made, told


def test_the_slider_moves_over_values_and_shows_them_as_powers(slider):
    row, told = slider
    handle = row.focusProxy()
    QTest.keyClick(handle, Qt.Key.Key_Right)
    assert (row.value(), row._label.text()) == (2.0, "2¹")
    QTest.keyClick(handle, Qt.Key.Key_End)
    assert row._label.text() == "2¹⁰"
    assert told == [2.0, 1024.0]
    assert handle.accessibleDescription() == "2¹⁰ = 1024"


def test_the_values_that_were_run_have_ticks_where_the_handle_stands_on_them(slider):
    row, _ = slider
    row.set_values([2.0**i for i in range(9)], marked=[4.0, 64.0])
    handle = row.focusProxy()
    assert handle.ticks() == (2, 6)
    assert handle.width() >= LEAST_WIDTH
    left, right = handle.tick_pixels()
    assert (left + right) / 2 == pytest.approx(handle.width() / 2, abs=1)
    assert right - left == pytest.approx((handle.width() - 16) / 2, abs=2)


def test_moving_from_outside_tells_nobody(slider):
    row, told = slider
    row.select(64.0)
    assert row._label.text() == "2⁶" and told == []


def test_other_values_keep_the_nearest(slider):
    row, told = slider
    row.select(64.0)
    row.set_values([0.1, 60.0, 1000.0])
    assert (row.value(), row._label.text()) == (60.0, "60")
    row.set_values([5.0])
    assert row.value() == 5.0 and not row.focusProxy().isEnabled()
    assert told == []


def test_facts_are_shown_with_their_notes(theme, stage):
    facts = KeyValue(
        [
            Fact("queries", "470"),
            Fact("features", "46", "6 constant", tooltip="id 6-10 and 43"),
        ]
    )
    stage(facts, 220, 60)
    assert fact_texts(facts) == [("queries", "470"), ("features", "46 · 6 constant")]
    note = next(
        label for label in facts.findChildren(QLabel) if "constant" in label.text()
    )
    assert note.property("role") == "warning"
    assert note.palette().color(note.foregroundRole()).name() == theme.colors.warning
    facts.set_rows([Fact("a", "b" * 200)])
    QCoreApplication.processEvents()
    assert fact_texts(facts) == [("a", "b" * 200)]
    label = next(label for label in facts.findChildren(ElidedLabel))
    assert label.shown_text().endswith("…") and label.toolTip() == "b" * 200


FACTS = st.builds(
    Fact,
    st.just("documents"),
    st.sampled_from(["", "470", "9,630 / 2,707 / 2,874"]),
    note=st.sampled_from(["", "6 constant"]),
    wraps=st.booleans(),
)


@given(st.lists(st.lists(FACTS, max_size=2), min_size=2, max_size=4))
@example(
    [
        [Fact("documents", "9,630 / 2,707", wraps=True)],
        [Fact("documents", "470", wraps=True)],
    ]
)
def test_what_was_shown_before_makes_no_difference(app, theme, shown):
    facts = KeyValue(shown[0])
    for rows in shown[1:]:
        facts.set_rows(rows)
    assert fact_texts(facts) == fact_texts(KeyValue(shown[-1]))


def test_a_label_gives_way_and_tells_in_full_only_where_it_does(app, theme, stage):
    label = ElidedLabel("one curve per λ, click a curve to choose k")
    stage(label, 400, 20)
    assert label.shown_text() == label.text() and label.toolTip() == ""
    label.resize(90, 20)
    assert label.shown_text().endswith("…") and label.toolTip() == label.text()
    label.setText("short")
    assert label.shown_text() == "short" and label.toolTip() == ""
    assert label.minimumSizeHint().width() < 40


def test_bars_are_as_long_as_their_counts(theme, stage):
    rows = BarRows(theme, "documents by relevance")
    rows.set_rows([("0", 7002), ("1", 3501), ("2", 0)])
    stage(rows, 300, rows.sizeHint().height())
    image = rows.grab().toImage()

    def length(row):
        color, y = palettes.category(theme.colors, row).color.name(), row * 19 + 9
        return sum(image.pixelColor(x, y).name() == color for x in range(image.width()))

    assert length(0) > 180
    assert length(1) == pytest.approx(length(0) / 2, abs=2)
    assert length(2) == 0
    assert rows.accessibleDescription() == "0: 7,002\n1: 3,501\n2: 0"


def test_a_notice_is_silent_until_it_speaks(theme, stage):
    notice = Notice(theme)
    stage(QWidget())
    assert notice.isHidden() and notice.text() == ""
    acted, closed = [], []
    notice.closed.connect(lambda: closed.append(1))
    stage(notice, 500, 60)
    notice.say(
        "train.txt, line 3: found “x”, expected a number.",
        "error",
        {"Retry": lambda: acted.append(1)},
    )
    assert notice.text().startswith("train.txt")
    assert (
        notice.accessibleName()
        == "error: train.txt, line 3: found “x”, expected a number."
    )
    QTest.mouseClick(notice.findChild(QPushButton), Qt.MouseButton.LeftButton)
    QTest.keyClick(notice, Qt.Key.Key_Escape)
    assert acted == closed == [1] and notice.isHidden()
    notice.say("Saved.")
    assert notice.findChild(QPushButton).isHidden()
    notice.dismiss()
    notice.dismiss()
    assert closed == [1, 1]


def test_a_long_message_wraps_and_can_be_selected(theme, stage):
    notice = Notice(theme)
    stage(notice, 300, 300)
    notice.say("word " * 60, "warning")
    text = next(label for label in notice.findChildren(QLabel) if label.text())
    assert notice.heightForWidth(300) > 3 * notice.heightForWidth(2000) / 2
    assert text.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


def test_a_few_messages_lie_over_the_lower_part_and_move_nothing(theme, stage):
    page, notices = QWidget(), Notices(theme)
    over = Overlay(page, notices, foot=40)
    stage(page, 900, 500)
    closed = []
    notices.closed.connect(closed.append)
    assert not over.height() and notices.text() == ""
    notices.say("Saved.")
    notices.say("Opened.")
    assert notices.texts() == ("Opened.",)  # offers replace each other
    for number in range(3):
        notices.say(f"File {number} is damaged.", "error")
    assert notices.texts() == (
        "File 0 is damaged.",
        "File 1 is damaged.",
        "File 2 is damaged.",
    )
    QCoreApplication.processEvents()
    QCoreApplication.processEvents()
    assert over.geometry().bottom() == 500 - 40 - 1 and 60 < over.height() < 250
    tops = [bar.mapTo(page, bar.rect().topLeft()).y() for bar in notices._shown_bars]
    assert tops == sorted(tops)  # the newest at the bottom
    notices.withdraw("File 1 is damaged.")
    notices.close_newest()
    assert (notices.text(), closed) == ("File 0 is damaged.", ["File 2 is damaged."])
    notices.dismiss()
    assert notices.isHidden() and notices.last_text == "File 2 is damaged."


def test_a_message_is_never_read_as_markup(theme, stage):
    notice = Notice(theme)
    stage(notice, 300, 60)
    notice.say("<b>not bold</b>")
    assert notice.text() == "<b>not bold</b>"
    label = next(label for label in notice.findChildren(QLabel) if label.text())
    assert label.textFormat() == Qt.TextFormat.PlainText


def test_a_caption_is_cut_between_words_and_no_stub_is_left(app, theme, stage):
    caption = Caption("784 validation queries · click a point")
    stage(caption, 400, 20)
    widths = [
        caption.fontMetrics().horizontalAdvance(text) + 8
        for text in ("784 validation queries …", "784 v…")
    ]
    for width, shown in zip(widths, ("784 validation queries …", ""), strict=True):
        caption.resize(width, 20)
        assert (caption.shown_text(), caption.toolTip()) == (shown, caption.text())


def test_a_panel_has_a_header_of_36_pixels_and_its_caption_gives_way_first(
    theme, stage
):
    panel = Panel(
        theme, "Candidates at step 3", "what the criterion would drop to, " * 4
    )
    content = QLabel("content")
    panel.set_content(content)
    stage(panel, 260, 120)
    title, caption = panel.findChildren(ElidedLabel)
    assert title.parentWidget().height() == 36
    assert title.shown_text() == "Candidates at step 3"
    assert len(caption.shown_text()) < len(caption.text())
    assert content.geometry().top() >= 37
    panel.set_title("Other")
    panel.set_caption("all")
    assert (panel._title.text(), panel.caption(), panel.accessibleName()) == (
        "Other",
        "all",
        "Other",
    )


def test_a_tool_in_the_header_acts_and_says_what_it_does(theme, stage):
    panel = Panel(theme, "Runs")
    clicks = []
    tool = panel.add_tool("export", "Export")
    tool.clicked.connect(lambda: clicks.append(1))
    stage(panel, 200, 100)
    QTest.mouseClick(tool, Qt.MouseButton.LeftButton)
    assert clicks == [1]
    assert tool.accessibleName() == tool.toolTip() == "Export"
