import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest

from rankstudio.ui.plots import Bar, BarsPlot
from rankstudio.ui.plots.axes import AIR
from rankstudio.ui.style.fonts import TINY, font


@pytest.fixture
def plot(theme, stage):
    made = BarsPlot(theme, "drop in criterion")
    stage(made, 400, 200)
    made.set_bars(
        [
            Bar(i, f"feature {i}", v)
            for i, v in ((7, 0.1), (25, 0.9), (28, 0.7), (3, float("nan")))
        ]
    )
    made.flush()
    return made


def middle(plot, number):
    return plot.slots(plot.frame(), plot.shown())[number].center()


def test_bars_go_from_the_longest_down_and_their_lengths_are_their_values(plot):
    assert [bar.id for bar in plot.shown()] == [25, 28, 7]
    heights = [rect.height() for rect in plot.slots(plot.frame(), plot.shown())]
    assert heights[0] == pytest.approx(plot.frame().area.height())
    assert heights[1] / heights[0] == pytest.approx(0.7 / 0.9)
    assert heights[2] / heights[0] == pytest.approx(0.1 / 0.9)


def test_numbers_of_many_digits_have_room_beside_the_axis(plot):
    plot.set_bars([Bar(1, "one", 1.2e-5), Bar(2, "two", 1.1e-5)])
    plot.flush()
    frame = plot.frame()
    metrics = QFontMetricsF(font(TINY))
    texts = [text for _, text in plot.axes.y_ticks(frame.y_range, frame.area.height())]
    assert max(map(len, texts)) > 6
    # whole pixels
    assert frame.area.left() >= max(map(metrics.horizontalAdvance, texts)) + AIR - 0.5


def test_a_screen_reader_hears_the_winner_and_its_lead(plot):
    plot.flush()
    told = [plot.accessibleDescription()]
    for bars, winner in (
        ([Bar(1, "one", 0.5), Bar(2, "two", 0.5)], None),
        ([Bar(1, "one", 0.5), Bar(2, "two", 0.8)], 1),
        ([Bar(1, "one", 0.5)], None),
        ([], None),
    ):
        plot.set_bars(bars, winner)
        plot.flush()
        told.append(plot.accessibleDescription())
    heard = [
        "feature 25 0.9, ahead of feature 28 by 0.2",
        "one 0.5, tied with two",
        "one 0.5, behind two by 0.3",
        "one 0.5",
    ]
    assert told == [*(f"drop in criterion. {text}" for text in heard), ""]


def test_a_click_picks_a_bar_by_its_column(plot):
    told = []
    plot.picked.connect(told.append)
    for number in (2, 0):
        at = QPointF(middle(plot, number).x(), plot.frame().area.top() + 5)
        QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
    QTest.mouseClick(
        plot.viewport(),
        Qt.MouseButton.LeftButton,
        pos=plot.frame().area.bottomRight().toPoint(),
    )
    assert told == [7, 25]


def test_the_keys_walk_along_the_bars(plot):
    told = []
    plot.picked.connect(told.append)
    plot.picked.connect(plot.select)
    for key in (
        Qt.Key.Key_Right,
        Qt.Key.Key_Right,
        Qt.Key.Key_Right,
        Qt.Key.Key_Right,
        Qt.Key.Key_Left,
    ):
        QTest.keyClick(plot, key)
    assert told == [25, 28, 7, 7, 28]


def test_hovering_names_the_bar_and_its_distance(plot):
    plot.hover(middle(plot, 1))
    assert [(line.text, line.value) for line in plot.box.lines()] == [
        ("feature 28", "0.7"),
        ("id 28", ""),
        ("behind the longest by", "0.2"),
    ]
    plot.hover(None)
    assert plot.box.isHidden()


def test_only_what_fits_is_shown_and_the_winner_always(plot):
    plot.set_bars([Bar(i, str(i), 100.0 - i) for i in range(100)], winner=77)
    shown = plot.shown()
    assert 10 < len(shown) < 30
    assert shown[-1].id == 77
    assert [bar.id for bar in shown[:-1]] == list(range(len(shown) - 1))
    assert len(plot.numbers()[1]) == 100


def test_the_winner_alone_has_the_accent(plot):
    image = plot.grab().toImage()
    colors = [image.pixelColor(middle(plot, i).toPoint()).name() for i in range(3)]
    assert colors[0] == plot.theme.colors.accent
    assert set(colors[1:]) <= {plot.theme.colors.bar}


def test_numbers_are_all_candidates_best_first(plot):
    header, rows = plot.numbers()
    assert header == ["id", "name", "drop in criterion"]
    assert rows == [
        ["25", "feature 25", 0.9],
        ["28", "feature 28", 0.7],
        ["7", "feature 7", 0.1],
    ]


def test_the_title_leaves_room_for_the_count(plot):
    plot.set_bars([Bar(i, f"feature {i}", 1.0 / i) for i in range(1, 42)])
    frame = plot.frame()
    assert plot.count_text(frame) == f"{len(plot.shown())} of 41"
    assert plot.beside_title(frame) > 30
    plot.set_bars([Bar(1, "one", 0.5)])
    assert plot.beside_title(plot.frame()) == 0


def test_values_below_zero_go_down_from_it(plot):
    plot.set_bars([Bar(1, "one", 0.1), Bar(2, "two", -0.1), Bar(3, "three", -0.3)])
    frame, bars = plot.frame(), plot.shown()
    up, down, further = plot.slots(frame, bars)
    zero = frame.y_px(0.0)
    assert up.bottom() == pytest.approx(zero)
    assert down.top() == further.top() == pytest.approx(zero)
    assert (up.top(), further.bottom()) == pytest.approx(
        (frame.area.top(), frame.area.bottom())
    )
    assert further.height() == pytest.approx(3 * down.height())
