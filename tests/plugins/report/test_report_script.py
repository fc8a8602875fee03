"""The script of a report in a browser: curves with values, runs to hide, tables to sort, and nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from headless_browser import CHROMIUM, Browser

from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Level,
    RowSeries,
    RowsFigure,
    Series,
)
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.support.resources import resource
from rankstudio.plugins.report.curve_points import points_of
from rankstudio.plugins.report.document import (
    Report,
    ReportFigure,
    ReportSection,
    html_page,
)

NAN = float("nan")
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&amp;\u202e${1}`"
SCRIPT = resource("templates", "report.js").read_text(encoding="utf-8")

CURVES = CurvesFigure(
    "curves",
    "Curves",
    "Two runs",
    FigureAxis("features, k", whole=True),
    FigureAxis("MAP"),
    (
        Series(
            "run 1", (1, 2, 3), (0.1, 0.123456789, 0.3), (0, 0.1, 0.2), (0.2, 0.2, 0.4)
        ),
        Series("run 2", (1, 2, 3), (0.2, NAN, 0.25), number=1),
        Series(HOSTILE, (1, 3), (0.15, 0.05), number=2),
    ),
    levels=(Level("best single feature", 0.12),),
)
LOGARITHMIC = CurvesFigure(
    "times",
    "Times",
    "Seconds",
    FigureAxis("documents", logarithmic=True),
    FigureAxis("time", "s", logarithmic=True),
    (Series("one", (0, 10, 100, 1000), (1, 0.001, 0.01, 10)),),
)
ROWS = TextTable(
    "Values",
    ("run", "value", "p"),
    (
        ("run 10", "0.4712 ± 0.02", "< 0.001"),
        ("run 9", "−0.5", "0.04"),
        ("", "–", ""),
        (HOSTILE, "1,200", "0.3"),
    ),
    left=(0,),
)
AS_WRITTEN = ["run 10", "run 9", "", HOSTILE.replace("\u202e", "\ufffd")]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a report with a table and figures with hostile names."""
    bars = RowsFigure(
        "bars", "Bars", "", FigureAxis("w"), ("a", "b"), (RowSeries("", (1.0, 2.0)),)
    )
    figures = [ReportFigure(figure) for figure in (CURVES, LOGARITHMIC, bars)]
    section = ReportSection("results", HOSTILE, (ROWS, *figures))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html_page(Report(HOSTILE, "", (section,))), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Return a browser, which all tests share."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium, in which the script would run")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


def test_the_policy_allows_the_script_of_the_page_and_nothing_else(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert script == SCRIPT
    assert directives == {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest}'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_the_script_makes_no_markup_of_texts_and_loads_nothing() -> None:
    forbidden = "innerHTML|outerHTML|insertAdjacent|document.write|eval|Function|fetch|XMLHttp|import|cookie|Storage"
    assert not re.findall(rf"\b({forbidden})\b", SCRIPT)
    assert "</" not in SCRIPT and "<!--" not in SCRIPT


def curves_in(page: Path) -> list[dict[str, Any]]:
    """Return what the script reads of each figure."""
    text = page.read_text(encoding="utf-8")
    attributes = re.findall(r'data-curves="([^"]*)"', text)
    return [json.loads(html.unescape(attribute)) for attribute in attributes]


def test_the_points_of_curves_are_those_of_the_figure(page: Path) -> None:
    curves, times = curves_in(page)
    assert [series["number"] for series in curves["series"]] == [0, 1, 2]
    assert curves["series"][0]["y"] == [0.1, 0.123456789, 0.3]
    assert curves["series"][1]["y"] == [0.2, None, 0.25]
    assert curves["series"][2]["name"] == HOSTILE.replace("\u202e", " ")
    assert times["x"]["logarithmic"] is True
    assert times["y"]["title"] == "time (s)"


def test_the_position_of_a_value_is_where_the_figure_has_it() -> None:
    """The line of a series goes through the points that the axes of the script give."""
    svg = ReportFigure(CURVES).svg
    curves = points_of(CURVES, svg)
    left_edge, top, width, height = curves["box"]
    # The first path of the series is its band, the second one its line.
    _, line = re.findall(r'data-series="0">.*?d="([^"]*)"', svg, re.DOTALL)[:2]
    drawn = [
        tuple(map(float, point)) for point in re.findall(r"[ML] (\S+) (\S+)", line)
    ]
    x, y = curves["x"], curves["y"]
    expected = [
        (
            left_edge + width * (k - x["low"]) / (x["high"] - x["low"]),
            top + height * (1 - (value - y["low"]) / (y["high"] - y["low"])),
        )
        for k, value in zip(CURVES.series[0].x, CURVES.series[0].y, strict=True)
    ]
    # Matplotlib writes six decimals.
    assert drawn == [pytest.approx(point, abs=2e-6) for point in expected]


def point_at(browser: Browser, figure: int, k: float, *, y: float = 0.5) -> None:
    """Move the mouse to a value of the x axis of a figure."""
    svg = f"document.querySelectorAll('figure[data-curves] svg')[{figure}]"
    browser.get(f"{svg}.scrollIntoView({{block: 'center'}})")
    corner = browser.get(
        f"(r => [r.left, r.top, r.width, r.height])({svg}.getBoundingClientRect())"
    )
    curves = browser.get(
        f"JSON.parse(document.querySelectorAll('figure[data-curves]')[{figure}].dataset.curves)"
    )
    box = curves["box"]
    share = browser.get(
        f"shareOf(JSON.parse(document.querySelectorAll('figure[data-curves]')[{figure}].dataset.curves).x, {k})"
    )
    scale = corner[2] / browser.get(f"{svg}.viewBox.baseVal.width")
    browser.point(
        corner[0] + scale * (box[0] + box[2] * share),
        corner[1] + scale * (box[1] + box[3] * y),
    )


def values(browser: Browser, figure: int = 0) -> list[str]:
    """Return the lines of the box with values; none if it is hidden."""
    box = f"document.querySelectorAll('figure[data-curves] .values')[{figure}]"
    return browser.get(
        f"{box}.hidden ? [] : [...{box}.children].map(line => line.textContent)"
    )


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_values_are_shown_at_the_mouse_and_the_page_stays_inert(
    browser: Browser, page: Path, width: int, dark: bool
) -> None:
    browser.open(page, width, dark=dark)
    name = HOSTILE.replace("\u202e", " ")
    point_at(browser, 0, 1.1)
    assert values(browser) == [
        "features, k 1",
        "run 2: 0.2",
        f"{name}: 0.15",
        "run 1: 0.1 (0 to 0.2)",
    ]
    point_at(browser, 0, 2.2)
    assert values(browser) == ["features, k 2", "run 1: 0.123457 (0.1 to 0.2)"]
    browser.point(1, 1)
    assert values(browser) == []
    assert browser.get("document.querySelectorAll('img, iframe, object').length") == 0
    assert browser.get("document.scripts.length") == 1
    # Nothing is wider than the window, nothing was loaded, and no error was reported.
    assert browser.get("document.documentElement.scrollWidth") <= width
    assert browser.problems() == []


def test_the_policy_refuses_other_scripts(
    browser: Browser, page: Path, tmp_path
) -> None:
    changed = page.read_text(encoding="utf-8").replace(
        "<main>",
        "<main><script>window.other = 1</script>"
        '<img src="data:image/png;base64,x" onerror="window.other = 2">',
    )
    path = tmp_path / "changed.html"
    path.write_text(changed, encoding="utf-8")
    browser.open(path)
    assert browser.get("window.other === undefined")
    assert browser.get("document.querySelectorAll('th button').length") == 3


def test_values_on_logarithmic_axes_are_found(browser: Browser, page: Path) -> None:
    browser.open(page)
    point_at(browser, 1, 110.0)
    assert values(browser, 1) == ["documents 100", "one: 0.01"]
    point_at(browser, 1, 9.0)
    assert values(browser, 1)[0] == "documents 10"


def test_the_arrow_keys_go_through_the_values(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.get("document.querySelector('figure[data-curves] svg').focus()")
    visible_values = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        browser.press(key)
        visible_values.append(values(browser)[0])
    assert visible_values == [f"features, k {k}" for k in (1, 2, 3, 3, 2)]
    browser.press("Escape")
    assert values(browser) == []


def test_a_name_in_the_legend_hides_its_run(browser: Browser, page: Path) -> None:
    browser.open(page)
    name = "document.querySelector('figure[data-curves] g[data-name=\"0\"]')"
    visible = (
        "[...document.querySelectorAll('figure[data-curves]')[0]"
        ".querySelectorAll('g[data-series=\"0\"]')].map(g => getComputedStyle(g).display)"
    )
    assert browser.get(f"{name}.getAttribute('aria-pressed')") == "true"
    assert {*browser.get(visible)} == {"inline"}
    browser.get(f"{name}.scrollIntoView({{block: 'center'}})")
    x, y = browser.get(
        f"(r => [r.left + 4, r.top + r.height / 2])({name}.getBoundingClientRect())"
    )
    browser.point(x, y, click=True)
    assert browser.get(f"{name}.getAttribute('aria-pressed')") == "false"
    assert {*browser.get(visible)} == {"none"}
    point_at(browser, 0, 2.0)
    assert values(browser) == []  # the other run has no value there
    point_at(browser, 0, 1.0)
    assert not any(line.startswith("run 1") for line in values(browser))
    browser.get(f"{name}.focus()")
    browser.press("Enter")
    assert browser.get(f"{name}.getAttribute('aria-pressed')") == "true"
    assert {*browser.get(visible)} == {"inline"}


def column(browser: Browser, number: int) -> list[str]:
    """Return the texts of a column of the table."""
    return browser.get(
        f"[...document.querySelector('main table').tBodies[0].rows].map(row => row.cells[{number}].textContent.trim())"
    )


@pytest.mark.parametrize(
    ("number", "descending"),
    [
        (0, ["run 10", "run 9", AS_WRITTEN[3], ""]),
        (1, ["1,200", "0.4712 ± 0.02", "−0.5", "–"]),
        (2, ["0.3", "0.04", "< 0.001", ""]),
    ],
)
def test_a_header_sorts_its_table_by_mouse_and_by_key(
    browser: Browser, page: Path, number: int, descending: list[str]
) -> None:
    browser.open(page)
    button = f"document.querySelectorAll('main th button')[{number}]"
    order = f"{button}.parentElement.getAttribute('aria-sort')"
    written = column(browser, number)
    assert browser.get(order) == "none"
    browser.get(f"{button}.scrollIntoView({{block: 'center'}})")
    x, y = browser.get(
        f"(r => [r.left + 2, r.top + r.height / 2])({button}.getBoundingClientRect())"
    )
    browser.point(x, y, click=True)
    assert browser.get(order) == "descending"
    assert column(browser, number) == descending
    browser.get(f"{button}.focus()")
    browser.press("Enter")
    assert browser.get(order) == "ascending"
    # Cells without a value stay last.
    assert column(browser, number) == [*descending[-2::-1], descending[-1]]
    browser.press(" ")
    assert browser.get(order) == "none"
    assert column(browser, number) == written


def test_the_page_is_complete_without_scripts_and_on_paper(
    browser: Browser, page: Path
) -> None:
    browser.open(page, scripts=False)
    assert browser.get("document.querySelectorAll('button, .values').length") == 0
    assert browser.get("document.querySelectorAll('figure svg').length") == 3
    assert column(browser, 0) == AS_WRITTEN
    browser.open(page)
    point_at(browser, 0, 1.0)
    printed = browser.pdf()
    assert printed.startswith(b"%PDF")
    browser.ask("Emulation.setEmulatedMedia", media="print")
    box = "getComputedStyle(document.querySelector('.values')).display"
    assert browser.get(box) == "none"
    browser.ask("Emulation.setEmulatedMedia", media="")
