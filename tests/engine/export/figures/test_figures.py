"""Figures on paper: every name is there as text, none over another, all on the page, in every format."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace
from itertools import combinations
from math import isnan

import pytest
from export.figures.examples import FIGURES, HOSTILE, family, grid, named_features, overlaid

from rankstudio.engine.errors import OutputError, ParameterError
from rankstudio.engine.export.figures.files import figure_bytes, figure_csv, formats_for, formats_of
from rankstudio.engine.export.figures.font import inter
from rankstudio.engine.export.figures.layout import drawing_of
from rankstudio.engine.export.figures.pdf import pdf_bytes
from rankstudio.engine.export.figures.shapes import DiskShape, Drawing, PathShape, TextShape, elided, wrapped
from rankstudio.engine.export.figures.style import COLORS, PRESETS, style_of
from rankstudio.engine.export.figures.svg import svg_text
from rankstudio.engine.export.figures.values import CurvesFigure, Figure, MapFigure, RowsFigure

SVG = "{http://www.w3.org/2000/svg}"
ALL = pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
ANY_WIDTH = pytest.mark.parametrize("width", PRESETS)


def squeezed(text: str) -> str:
    """Return a text without its spaces, as readers of PDF put them where they like."""
    return re.sub(r"\s", "", text)


@ALL
@ANY_WIDTH
@pytest.mark.parametrize("colors", COLORS)
def test_no_text_is_over_another_and_all_is_on_the_page(figure: Figure, width: str, colors: str) -> None:
    drawing = drawing_of(figure, style_of(width, colors=colors))
    for text in drawing.texts:
        left, top, right, bottom = text.box
        assert left >= -0.01 and top >= -0.01, text
        assert right <= drawing.width + 0.01 and bottom <= drawing.height + 0.01, text
    for one, other in combinations(drawing.texts, 2):
        a, b = one.box, other.box
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, (one, other)
    for shape in drawing.shapes:
        at = [(shape.x, shape.y)] if isinstance(shape, DiskShape) else []
        at = list(shape.points) if isinstance(shape, PathShape) else at
        assert all(-1 <= x <= drawing.width + 1 and -1 <= y <= drawing.height + 1 for x, y in at), shape


@ALL
def test_titles_of_axes_and_names_are_there(figure: Figure) -> None:
    said = squeezed(" ".join(text.text for text in drawing_of(figure, style_of("poster")).texts))
    if isinstance(figure, CurvesFigure):
        wanted = [figure.x.text, figure.y.text, *(level.label for level in figure.levels)]
        wanted += [one.label for one in figure.series if len(figure.series) in range(2, 8)]
        wanted.append(figure.bands)
    elif isinstance(figure, RowsFigure):
        wanted = [figure.axis.text, *figure.rows]
    else:
        assert isinstance(figure, MapFigure)
        wanted = [figure.color.text, figure.column_title, figure.row_title, figure.mark_label]
    for name in wanted:
        assert squeezed(name) in said


@ANY_WIDTH
def test_names_of_many_features_stay_where_there_is_room(width: str) -> None:
    few, many = named_features(46), named_features(136)
    style = style_of(width)
    said = [text.text for text in drawing_of(few, style).texts]
    named = [text for text in said if text.startswith("LMIR.DIR of")]
    assert [text.rpartition(" ")[2] for text in named] == [f"({i})" for i in range(1, 47)]  # also of cut ones
    assert drawing_of(few, style).height <= 85 * style.em
    said = [text.text for text in drawing_of(many, style).texts]
    assert "id of the feature" in said and "1" in said and not any("LMIR" in text for text in said)
    low = replace(style, height=30 * style.em)
    said = [text.text for text in drawing_of(few, low).texts]
    assert "id of the feature" in said and not any("LMIR" in text for text in said)
    assert few.table()[1][0][0] == "LMIR.DIR of feature number 1 (1)"


@ALL
def test_svg_is_well_formed_and_its_texts_are_the_labels(figure: Figure) -> None:
    drawing = drawing_of(figure, style_of("column"))
    text = svg_text(drawing)
    root = ET.fromstring(text)
    assert root.get("width") == "85mm"
    assert not list(root.iter(f"{SVG}script"))
    assert not re.search(r'"[^"]*\b(nan|inf)\b[^"]*"', text)
    labels = [label.text.replace("\x00", "\ufffd") for label in drawing.texts]
    assert [element.text or "" for element in root.iter(f"{SVG}text")] == labels
    for element, label in zip(root.iter(f"{SVG}text"), drawing.texts, strict=True):  # in any font as wide
        assert float(element.get("textLength", label.width)) == pytest.approx(label.width, abs=0.01)


def pdf_parts(data: bytes) -> list[bytes]:
    """Return the streams of a file, unpacked."""
    return [zlib.decompress(part) for part in re.findall(rb"stream\n(.*?)\nendstream", data, re.S)]


def pdf_texts(data: bytes) -> list[str]:
    """Return the texts of a file by its own table of characters, or as the spans say."""
    content, _, table = pdf_parts(data)
    characters = {
        int(glyph, 16): bytes.fromhex(code.decode()).decode("utf-16-be")
        for glyph, code in re.findall(rb"<([0-9a-f]{4})> <([0-9a-f]{4,})>", table)
    }
    found = []
    for span, glyphs in re.findall(
        rb"(?:ActualText <feff([0-9a-f]*)> >> BDC )?BT.*?<([0-9a-f]*)> Tj", content
    ):
        codes = [int(glyphs[at : at + 4], 16) for at in range(0, len(glyphs), 4)]
        read = "".join(characters[code] for code in codes)
        found.append(bytes.fromhex(span.decode()).decode("utf-16-be") if span else read)
    return found


@ALL
def test_text_of_a_pdf_is_the_labels(figure: Figure) -> None:
    drawing = drawing_of(figure, style_of("page", colors="print"))
    data = pdf_bytes(drawing)
    assert pdf_texts(data) == [text.text for text in drawing.texts]
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data)
    assert box is not None
    assert [float(side) for side in box.groups()] == pytest.approx([drawing.width, drawing.height], abs=0.01)


def test_a_pdf_bears_its_font_and_no_clock() -> None:
    figure, style = overlaid(), style_of("column")
    data = figure_bytes(figure, style, "pdf")
    assert data == figure_bytes(figure, style, "pdf")
    assert b"/FontFile3" in data and b"/ToUnicode" in data and b"Date" not in data
    table = int(data.rpartition(b"startxref\n")[2].split()[0])
    assert data[table:].startswith(b"xref\n0 11\n")
    for number, start in enumerate(re.findall(rb"(\d{10}) 00000 n", data), start=1):
        assert data[int(start) :].startswith(b"%d 0 obj" % number)
    assert "A caption: λ.".encode("utf-16-be").hex().encode() in data


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler's pdftotext is not there")
@pytest.mark.parametrize("figure", [overlaid(), family(16), grid(31, 46)], ids=lambda figure: figure.name)
def test_poppler_reads_the_labels(figure: Figure, tmp_path) -> None:
    drawing = drawing_of(figure, style_of("page"))
    (tmp_path / "a.pdf").write_bytes(pdf_bytes(drawing))
    done = subprocess.run(["pdftotext", tmp_path / "a.pdf", "-"], capture_output=True, check=True)
    assert not done.stderr
    said = squeezed(done.stdout.decode())
    for label in (text.text for text in drawing.texts if not text.turned and "\x00" not in text.text):
        assert squeezed(label) in said


def test_a_character_that_the_font_has_not_is_read_back() -> None:
    text = TextShape(0.0, 10.0, "漢 Δ∆ 7", 10.0, "#000000")
    data = pdf_bytes(Drawing(100.0, 20.0, (text,)))
    assert pdf_texts(data) == ["漢 Δ∆ 7"]


def test_glyphs_that_are_not_needed_are_empty_and_widths_are_the_font_s() -> None:
    font = inter()
    part = font.subset([font.glyphs[ord("A")]])
    assert len(part) == len(font.program)
    assert len(zlib.compress(part)) < 0.6 * len(zlib.compress(font.program))
    assert font.width("12", 10.0) == pytest.approx(font.width("1", 10.0) + font.width("2", 10.0))
    assert {ord(c) for c in "0123456789λ⁻²−×·…"} <= set(font.glyphs)


@ALL
def test_csv_is_the_values_that_are_drawn(figure: Figure) -> None:
    header, *rows = csv.reader(io.StringIO(figure_csv(figure)))
    expected_header, expected = figure.table()
    assert header == [cell.replace("\x00", "") for cell in expected_header] or header == expected_header
    assert len(rows) == len(expected)
    for row, values in zip(rows, expected, strict=True):
        for cell, value in zip(row, values, strict=True):
            if isinstance(value, float):
                assert (cell == "" and isnan(value)) or float(cell) == value


@ALL
def test_tikz_is_for_curves_and_bars_and_balanced(figure: Figure) -> None:
    assert ("tikz" in formats_for(figure)) != isinstance(figure, MapFigure)
    if isinstance(figure, MapFigure):
        with pytest.raises(OutputError, match="expected SVG, PDF, PNG or CSV for a map"):
            figure_bytes(figure, style_of(), "tikz")
        return
    text = figure_bytes(figure, style_of(), "tikz").decode()
    assert text.count("{") - text.count("\\{") == text.count("}") - text.count("\\}")
    assert all(
        text.count(f"\\begin{{{name}}}") == text.count(f"\\end{{{name}}}") == 1
        for name in ("axis", "tikzpicture")
    )
    assert "nan" not in text.replace("tikz", "")


@pytest.mark.skipif(
    shutil.which("kpsewhich") is None
    or subprocess.run(["kpsewhich", "pgfplots.sty"], capture_output=True, check=False).returncode != 0,
    reason="LaTeX with pgfplots is not there",
)
def test_tikz_compiles(tmp_path) -> None:
    shown = [figure for figure in FIGURES if not isinstance(figure, MapFigure)]
    for at, figure in enumerate(shown):
        (tmp_path / f"f{at}.tex").write_bytes(figure_bytes(figure, style_of(colors="print"), "tikz"))
    body = "".join(f"\\input{{f{at}}}\\par\n" for at in range(len(shown)))
    packages = "\\usepackage{amssymb,pgfplots}\\pgfplotsset{compat=1.16}"
    page = f"\\documentclass{{article}}{packages}\\begin{{document}}\n{body}\\end{{document}}\n"
    (tmp_path / "page.tex").write_text(page, encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_styles_are_read_from_words() -> None:
    assert style_of("85mm") == style_of("column") == style_of("8.5 cm")
    assert style_of("2in", 9.0, "print", "50mm").height == pytest.approx(50 / 25.4 * 72)
    assert style_of("slide").font > style_of("page").font
    for wrong in ("wide", "85", "1mm", "-85mm", "9e9mm", "85px", ""):
        with pytest.raises(
            ParameterError, match=r"width: expected a length .* or column, page, slide, poster"
        ):
            style_of(wrong)
    with pytest.raises(ParameterError, match="font: expected points from 4 to 100"):
        style_of("column", float("nan"))
    with pytest.raises(ParameterError, match="colors: expected light or print"):
        style_of("column", colors="blue")
    assert formats_of("PDF, csv,pdf") == ("pdf", "csv")
    for wrong in ("", "bmp"):
        with pytest.raises(ParameterError, match="format: expected some of pdf, svg"):
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
    assert len({style.dashes(number, 1.0) for number in range(7)}) == 7


def test_long_texts_are_wrapped_and_cut() -> None:
    assert wrapped("short", 100.0, 8.0) == ["short"]
    assert wrapped("leave-query-out error per document", 90.0, 8.0) == [
        "leave-query-out",
        "error per document",
    ]
    cut = elided("a" * 100, 50.0, 8.0)
    assert cut.endswith("…") and inter().width(cut, 8.0) <= 50.0
    assert elided(HOSTILE, 1000.0, 8.0) == HOSTILE
