"""Figures on paper: every name is there as text, none over another, all on the page, in every format."""

from __future__ import annotations

import csv
import io
import re
import struct
import threading
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import inf, isnan, nan

import matplotlib as mpl
import numpy as np
import pytest
from export.figures.examples import (
    FIGURES,
    HOSTILE,
    dots,
    grid,
    named_features,
    overlaid,
)
from matplotlib.text import Text
from wording import naming

from rankstudio.engine.errors import OutputError, ParameterError
from rankstudio.engine.export.figures.files import figure_bytes, formats_of
from rankstudio.engine.export.figures.page import FigurePage
from rankstudio.engine.export.figures.painter import painting, paper_of
from rankstudio.engine.export.figures.style import (
    COLORS,
    DASHES,
    PRESETS,
    FigureStyle,
    style_of,
)
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    Figure,
    FigureAxis,
    Kind,
    Level,
    MapFigure,
    Mark,
    RowSeries,
    RowsFigure,
    Series,
)

SVG = "{http://www.w3.org/2000/svg}"
ALL = pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
ONE_OF_EACH = pytest.mark.parametrize(
    "figure", [overlaid(), dots(), named_features(46)], ids=lambda figure: figure.name
)
Box = tuple[float, float, float, float]


def squeezed(text: str) -> str:
    """Return a text without its spaces, and its lines as one."""
    return re.sub(r"\s", "", text)


@cache
def boxes(
    figure: Figure, style: FigureStyle
) -> tuple[list[tuple[str, Box]], float, float]:
    """Return the texts of a figure with their boxes in points, and the size of the page.

    The area is wide enough, and legends are above it, in all of them.
    """
    with painting():
        paper = paper_of(figure, style)
        paper.set_dpi(72)
        paper.draw_without_rendering()
        shown = [
            t
            for t in paper.findobj(Text)
            if isinstance(t, Text) and t.get_text() and t.get_visible()
        ]
        found = [(t.get_text(), t.get_window_extent().extents) for t in shown]
        wide, high = paper.get_size_inches() * 72
        area = paper.axes[0].get_window_extent()
        assert area.width > 0.2 * wide
        assert all(legend.get_window_extent().y0 > area.y1 for legend in paper.legends)
    return found, wide, high


def said(figure: Figure, style: FigureStyle) -> list[str]:
    return [text for text, _ in boxes(figure, style)[0]]


@ALL
@pytest.mark.parametrize(
    "width",
    [
        pytest.param(w, marks=() if w == "column" else pytest.mark.thorough)
        for w in PRESETS
    ],
)
def test_no_text_is_over_another_and_all_is_on_the_page(
    figure: Figure, width: str
) -> None:
    style = style_of(width)
    texts, wide, high = boxes(figure, style)
    for text, (left, below, right, above) in texts:
        assert (
            left >= -0.01
            and below >= -0.01
            and right <= wide + 0.01
            and above <= high + 0.01
        ), text
    line = 0.12 * style.em  # of the height of a line, which is higher than its letters
    for (one, a), (other, b) in combinations(texts, 2):
        beside = a[2] <= b[0] or b[2] <= a[0]
        assert beside or a[3] - line <= b[1] + line or b[3] - line <= a[1] + line, (
            one,
            other,
        )


@ALL
def test_titles_of_axes_and_names_are_there(figure: Figure) -> None:
    # where names of rows are cut
    width = "slide" if isinstance(figure, RowsFigure) else "column"
    texts = squeezed(" ".join(said(figure, style_of(width))))
    if isinstance(figure, CurvesFigure):
        wanted = [
            figure.x.text,
            figure.y.text,
            *(level.label for level in figure.levels),
        ]
        wanted += [
            one.label for one in figure.series if len(figure.series) in range(2, 8)
        ]
        wanted.append(figure.bands)
    elif isinstance(figure, RowsFigure):
        wanted = [figure.axis.text, *figure.rows]
    else:
        assert isinstance(figure, MapFigure)
        wanted = [
            figure.color.text,
            figure.column_title,
            figure.row_title,
            figure.mark_label,
        ]
    for name in wanted:
        assert squeezed(name.replace("\0", "")) in texts


@pytest.mark.parametrize("width", ["column", "poster"])
def test_names_of_many_features_stay_where_there_is_room(width: str) -> None:
    few, many = named_features(46), named_features(136)
    style = style_of(width)
    texts, _, high = boxes(few, style)
    named = [text for text, _ in texts if text.startswith("LMIR.DIR of")]
    # also of cut ones
    assert [text.rpartition(" ")[2] for text in named] == [
        f"({i})" for i in range(1, 47)
    ]
    assert high <= 85 * style.em
    texts = said(many, style)
    assert (
        "id of the feature" in texts
        and "1" in texts
        and not any("LMIR" in text for text in texts)
    )
    texts = said(few, replace(style, height=30 * style.em))
    assert "id of the feature" in texts and not any("LMIR" in text for text in texts)
    assert few.table()[1][0][0] == "LMIR.DIR of feature number 1 (1)"


@ONE_OF_EACH
def test_the_size_of_the_page_is_what_is_asked_for(figure: Figure) -> None:
    style = style_of("85mm", height="90mm")
    root = ET.fromstring(figure_bytes(figure, style, "svg"))
    size = [
        float(str(root.get(side)).removesuffix("pt")) for side in ("width", "height")
    ]
    assert size == pytest.approx([85 / 25.4 * 72, 90 / 25.4 * 72], abs=0.01)
    box = re.search(
        rb"/MediaBox *\[ *0 0 ([\d.]+) ([\d.]+) *\]", figure_bytes(figure, style, "pdf")
    )
    assert box is not None
    assert [float(side) for side in box.groups()] == pytest.approx(size, abs=0.01)


@ONE_OF_EACH
def test_svg_is_well_formed_and_its_texts_are_the_labels(figure: Figure) -> None:
    text = figure_bytes(figure, style_of("column"), "svg").decode()
    root = ET.fromstring(text)
    assert not list(root.iter(f"{SVG}script"))
    assert not re.search(r'"[^"]*\b(nan|inf)\b[^"]*"', text)
    labels = [
        line for label in said(figure, style_of("column")) for line in label.split("\n")
    ]
    assert sorted(element.text or "" for element in root.iter(f"{SVG}text")) == sorted(
        labels
    )
    assert {
        e.get("style", "").partition("'")[2].partition("'")[0]
        for e in root.iter(f"{SVG}text")
    } == {"Inter"}


def pdf_texts(data: bytes) -> list[str]:
    """Return the texts of a file, as its own tables of characters say."""
    objects = {
        int(n): body
        for n, body in re.findall(rb"(\d+) 0 obj\n(.*?)\nendobj", data, re.S)
    }

    def stream(number: int) -> bytes:
        packed = objects[number].partition(b"stream\n")[2].rpartition(b"\nendstream")[0]
        return zlib.decompress(packed)

    fonts = dict(re.findall(rb"/(F\d+(?:-\d+)?) (\d+) 0 R", data))
    tables = {}
    for name, number in fonts.items():
        (at,) = re.findall(rb"/ToUnicode (\d+) 0 R", objects[int(number)])
        tables[name] = dict(characters(stream(int(at))))
    (content,) = re.findall(rb"/Contents (\d+) 0 R", data)
    found = []
    for block in re.findall(rb"BT\n(.*?)\nET", stream(int(content)), re.S):
        read, name = "", b""
        for font, shown in re.findall(
            rb"/(F\d+(?:-\d+)?) [\d.]+ Tf|\[(.*?)\]\s*TJ", block, re.S
        ):
            name = font or name
            for part in re.findall(rb"\(((?:\\.|[^\\()])*)\)", shown, re.S):
                codes = unescaped(part)
                read += "".join(
                    tables[name][codes[at] * 256 + codes[at + 1]]
                    for at in range(0, len(codes), 2)
                )
        found += [read] if read else []
    return found


def unescaped(part: bytes) -> bytes:
    known = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
    return re.sub(
        rb"\\([0-7]{3}|.)",
        lambda m: bytes([int(m[1], 8)]) if m[1].isdigit() else known.get(m[1], m[1]),
        part,
        flags=re.S,
    )


def characters(table: bytes) -> Iterator[tuple[int, str]]:
    """Yield codes with their characters, from a table."""
    for first, _, codes in re.findall(
        rb"<([0-9a-f]{4})> <([0-9a-f]{4})> \[(.*?)\]", table
    ):
        for at, code in enumerate(re.findall(rb"<([0-9a-f]+)>", codes)):
            yield int(first, 16) + at, bytes.fromhex(code.decode()).decode("utf-16-be")


@ONE_OF_EACH
def test_text_of_a_pdf_is_the_labels(figure: Figure) -> None:
    style = style_of("column")
    labels = [line for label in said(figure, style) for line in label.split("\n")]
    assert sorted(pdf_texts(figure_bytes(figure, style, "pdf"))) == sorted(labels)


def test_a_pdf_bears_its_font_as_truetype_and_its_caption() -> None:
    data = figure_bytes(overlaid(), style_of("column"), "pdf")
    assert b"/CIDFontType2" in data and b"/FontFile2" in data and b"/Type3" not in data
    assert b"Inter-Regular" in data and b"DejaVu" not in data
    assert b"Date" not in data and b"atplotlib" not in data
    assert "A caption: λ.".encode("utf-16-be") in re.sub(rb"\\(.)", rb"\1", data)
    assert len(data) < 40_000  # the part of the font that is needed


@pytest.mark.parametrize("name", ["pdf", "svg", "png"])
def test_the_same_figure_is_the_same_bytes_whatever_the_settings_and_the_thread(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure, style = overlaid(), style_of("column")
    data = figure_bytes(figure, style, name)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    with mpl.rc_context(
        {
            "lines.linewidth": 9.0,
            "axes.grid": True,
            "font.size": 30.0,
            "savefig.dpi": 50,
        }
    ):
        assert figure_bytes(figure, style, name) == data
        assert (
            mpl.rcParams["lines.linewidth"] == 9.0
            and mpl.rcParams["svg.hashsalt"] is None
        )
    with ThreadPoolExecutor(2) as pool:
        assert (
            list(pool.map(lambda _: figure_bytes(figure, style, name), range(2)))
            == [data] * 2
        )
    assert threading.active_count() < 20


def test_a_png_has_its_resolution_its_title_and_no_more_pixels_than_there_can_be() -> (
    None
):
    data = figure_bytes(overlaid(), style_of("85mm"), "png", 300.0)
    at = data.index(b"pHYs") + 4
    assert struct.unpack(">IIB", data[at : at + 9]) == (11811, 11811, 1)
    assert struct.unpack(">I", data[16:20]) == (1003,)
    assert b"Runs" in data and "A caption: λ.".encode() in data
    with pytest.raises(OutputError):
        figure_bytes(overlaid(), style_of("2000mm"), "png", 2400.0)


def test_a_character_that_the_font_has_not_is_read_back() -> None:
    figure = replace(overlaid(), x=replace(overlaid().x, title="漢 Δ∆ 7"))
    assert "漢 Δ∆ 7" in pdf_texts(figure_bytes(figure, style_of("page"), "pdf"))
    assert ">漢 Δ∆ 7<" in figure_bytes(figure, style_of("page"), "svg").decode()


def test_a_script_that_inter_has_not_is_set_in_another_font() -> None:
    figure = replace(overlaid(), x=replace(overlaid().x, title="תכונות"))
    data = figure_bytes(figure, style_of("page"), "pdf")
    assert (
        b"DejaVuSans" in data and b"Inter-Regular" in data and b"LastResort" not in data
    )
    assert sum("ת" in text for text in pdf_texts(data)) == 1


def test_what_could_be_mathematics_or_a_line_end_is_text() -> None:
    figure = replace(overlaid(), x=replace(overlaid().x, title="$a_b$ \\frac{1}{2}\n$"))
    assert "$a_b$ \\frac{1}{2} $" in said(figure, style_of("page"))
    assert "$a_b$ \\frac{1}{2} $" in pdf_texts(
        figure_bytes(figure, style_of("page"), "pdf")
    )


@pytest.mark.parametrize("colors", COLORS)
def test_cells_of_a_map_meet(colors: str) -> None:
    with painting():
        paper = paper_of(grid(31, 46), style_of("column", colors=colors))
        (cells,) = paper.axes[0].collections
        assert np.ptp(cells.get_paths()[0].vertices, axis=0) == pytest.approx(
            [1.2, 1.2]
        )  # each reaches under the next
        assert max(path.vertices[:, 0].max() for path in cells.get_paths()) == 45.5
        assert max(path.vertices[:, 1].max() for path in cells.get_paths()) == 30.5


@ALL
def test_csv_is_the_values_that_are_drawn(figure: Figure) -> None:
    header, *rows = csv.reader(
        io.StringIO(figure_bytes(figure, style_of(), "csv").decode())
    )
    expected_header, expected = figure.table()
    assert (
        header == [cell.replace("\x00", "") for cell in expected_header]
        or header == expected_header
    )
    assert len(rows) == len(expected)
    for row, values in zip(rows, expected, strict=True):
        for cell, value in zip(row, values, strict=True):
            if isinstance(value, float):
                assert (cell == "" and isnan(value)) or float(cell) == value


def test_styles_are_read_from_words() -> None:
    assert style_of("85mm") == style_of("column") == style_of("8.5 cm")
    assert style_of("2in", 9.0, "print", "50mm").height == pytest.approx(50 / 25.4 * 72)
    assert style_of("slide").font > style_of("page").font
    for wrong in ("wide", "85", "1mm", "-85mm", "9e9mm", "85px", ""):
        with pytest.raises(ParameterError, match=naming("width")):
            style_of(wrong)
    with pytest.raises(ParameterError, match=naming("font 4 100")):
        style_of("column", float("nan"))
    with pytest.raises(ParameterError, match=naming("colors")):
        style_of("column", colors="blue")
    assert formats_of("PDF, csv,pdf") == ("pdf", "csv")
    for wrong in ("", "bmp"):
        with pytest.raises(ParameterError, match=naming("format pdf")):
            formats_of(wrong)


def test_colours_for_print_are_told_apart_in_grey() -> None:
    style = style_of("column", colors="print")

    def grey(color: str) -> float:
        red, green, blue = bytes.fromhex(color[1:])
        return 0.299 * red + 0.587 * green + 0.114 * blue

    first = [grey(style.category(number)) for number in range(4)]
    assert min(abs(a - b) for a, b in combinations(first, 2)) > 20
    ordered = [grey(style.ordered(at / 6)) for at in range(7)]
    assert ordered == sorted(ordered) and ordered[-1] < 190
    assert grey(style.heat(1.0)) < grey(style.heat(0.5)) < grey(style.heat(0.0))
    assert len(set(DASHES)) == 7


ODD = (nan, inf, -inf, -1.0, 0.0, 1e-300, 2.0)


@pytest.mark.parametrize(
    ("values", "logarithmic"),
    [(ODD, False), (ODD, True), ((inf,) * 7, False), ((), False)],
    ids=["odd", "odd of a logarithm", "infinite", "none"],
)
def test_what_an_axis_cannot_show_is_left_out(
    values: tuple[float, ...], logarithmic: bool
) -> None:
    axis, x = (
        FigureAxis("v", logarithmic=logarithmic),
        tuple(map(float, range(len(values)))),
    )
    kinds: tuple[Kind, ...] = (
        ("line", "steps", "points", "area", "bars") if logarithmic else ("line", "bars")
    )
    marks = (Level("level", -1.0),), (Mark("mark", 1.0, inf),)
    drawn: list[Figure] = [
        CurvesFigure(
            "x",
            "",
            "",
            axis,
            axis,
            (Series(kind, x, values, values, values, kind),),
            *marks,
        )
        for kind in kinds
    ]
    names = tuple(f"row {at}" for at in range(len(values)))
    rows = (RowSeries("a", values, values, values),)
    drawn += [
        RowsFigure("x", "", "", axis, names, rows, bars=bars) for bars in (False, True)
    ]
    drawn.append(
        MapFigure(
            "x", "", "", names, ("1",), tuple((v,) for v in values), "r", "c", axis
        )
    )
    for figure in drawn:
        text = figure_bytes(figure, style_of(), "svg").decode()
        assert not re.search(r"\b(nan|inf)\b", text)
        places = [
            abs(float(number)) for number in re.findall(r" d=\"M ([-\d.e]+)", text)
        ]
        # within the page, or nearly: lines are cut at its area
        assert max(places) < 1000


def test_long_texts_are_wrapped_and_cut() -> None:
    with painting():
        page = FigurePage(style_of("column"))
        assert page.wrapped("short", 100.0) == "short"
        assert (
            page.wrapped("leave-query-out error per document", 90.0)
            == "leave-query-out\nerror per document"
        )
        cut = page.elided("a" * 100, 50.0)
        assert cut.endswith("…") and page.width(cut) <= 50.0 < page.width(f"a{cut}")
        assert page.elided(HOSTILE, 1000.0) == HOSTILE.rstrip("\0")
        assert page.elided("wide", 0.0) == "…"


def test_what_is_counted_has_no_tick_beyond_what_there_is() -> None:
    sizes = tuple(map(float, range(1, 201)))
    line = Series("run", sizes, tuple(0.4 + x / 1000 for x in sizes))
    figure = CurvesFigure(
        "k", "k", "", FigureAxis("k", whole=True), FigureAxis("MAP"), (line,)
    )
    texts = [text for text, _ in boxes(figure, style_of("85mm"))[0]]
    assert "1" in texts and "200" in texts
    assert not {"−1", "−2", "−3", "0"} & set(texts)
