"""The level that curves are compared with: the best single feature."""

from PySide6.QtTest import QTest


def row_at(plot, y):
    """The row of pixels that a level is drawn on, over the width of the plot area."""
    area, at = plot.frame().area, round(plot.frame().y_px(y))
    image = plot.grab().toImage()
    return [image.pixelColor(x, at) for x in range(int(area.left()) + 2, int(area.right()) - 2)]


def test_a_level_to_compare_with_is_drawn_from_side_to_side_and_goes(plot):
    before = row_at(plot, 0.48)
    plot.set_reference(0.48, "best single feature: BM25")
    plot.flush()
    with_level = row_at(plot, 0.48)
    differing = [i for i, (a, b) in enumerate(zip(before, with_level, strict=True)) if a != b]
    assert len(differing) > 0.2 * len(before), "dotted, and so not every pixel"
    assert min(differing) < 6
    assert max(differing) > len(before) - 7
    plot.set_reference(None)
    plot.flush()
    assert row_at(plot, 0.48) == before


def test_the_box_lists_the_level_to_compare_with(plot):
    plot.set_reference(0.48, "best single feature: BM25")
    plot.hover(plot.frame().point(20, 0.41))
    last = plot.box.lines()[-1]
    assert (last.text, last.value) == ("best single feature: BM25", "0.4800")
    plot.set_reference(None)
    plot.hover(plot.frame().point(21, 0.4105))
    assert [line.text for line in plot.box.lines()] == ["k = 21 · λ = 2⁰", "λ = 2²", "λ = 2¹"]


def test_a_level_is_brought_into_sight_and_is_not_drawn_where_the_user_zoomed_past_it(plot):
    plot.set_reference(0.8, "far above")
    plot.flush()
    assert plot.ranges()[1][1] > 0.8
    QTest.keyClicks(plot, "++++")
    assert plot.ranges()[1][1] < 0.8
    out_of_sight = plot.grab().toImage()
    plot.reference = None
    plot.redraw()
    assert plot.grab().toImage() == out_of_sight


def test_a_level_alone_is_no_curve(plot):
    plot.clear()
    plot.set_reference(0.8, "best single feature")
    plot.flush()
    assert plot.is_empty()
    assert plot.numbers() == (["k", "λ = 2⁰", "λ = 2¹", "λ = 2²"], [])
    blank = plot.grab().toImage()
    plot.set_reference(None)
    plot.flush()
    assert plot.grab().toImage() == blank
