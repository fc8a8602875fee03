import csv
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import pytest
from PySide6.QtCore import QSizeF
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog

from rankstudio.engine.errors import OutputError
from rankstudio.ui.plots import Bar, BarsPlot, CurvesPlot, Density, DensityPlot, HeatMapPlot, export_plot
from rankstudio.ui.plots.menu import PlotMenu
from rankstudio.ui.style.colors import DARK, LIGHT

KS = np.arange(1, 47)
SVG = "{http://www.w3.org/2000/svg}"


def curves(theme):
    plot = CurvesPlot(theme, "validation MAP")
    plot.set_family([0, 1], ["λ = 2⁰", "λ = 2¹"], (1, 46))
    plot.set_curve(0, KS, 1 / 3 + 0.001 * np.sqrt(KS))
    plot.set_curve(1, KS[:5], [0.1, np.nan, 0.2, 0.3, 0.4])
    plot.select(0, 4, ("chosen",))
    return plot


def bars(theme):
    plot = BarsPlot(theme, "drop in criterion")
    plot.set_bars([Bar(3, "three", 0.7), Bar(4, "four, of title", 0.1)])
    return plot


def heat_map(theme):
    plot = HeatMapPlot(theme, "validation MAP")
    plot.set_values([[0.1, 0.2], [0.3, np.nan]], ["2⁰", "2¹"], ["1", "2"])
    return plot


def density(theme):
    plot = DensityPlot(theme, x_label="BM25")
    plot.set_densities([Density("relevant", np.linspace(0, 1, 9), np.linspace(0, 2, 9))])
    return plot


ALL = pytest.mark.parametrize("make", [curves, bars, heat_map, density])


@pytest.fixture
def plot(theme, request):
    """A plot that was never shown, as the terminal makes one."""
    made = getattr(request, "param", curves)(theme)
    made.resize(400, 260)
    yield made
    made.deleteLater()


def colors_of(image):
    return {
        image.pixelColor(x, y).name() for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)
    }


@ALL
def test_every_plot_makes_every_kind_of_file_without_a_window(theme, make, tmp_path):
    plot = make(theme)
    plot.resize(400, 260)
    for suffix in ("png", "svg", "pdf", "csv"):
        export_plot(plot, tmp_path / f"figure.{suffix}")
    image = QImage(str(tmp_path / "figure.png"))
    assert (image.width(), image.height()) == (1325, 888)
    assert len(colors_of(image)) > 5
    root = ET.parse(tmp_path / "figure.svg").getroot()
    drawn = [*root.iter(f"{SVG}path"), *root.iter(f"{SVG}polyline"), *root.iter(f"{SVG}rect")]
    assert len(drawn) > 3
    assert [t.text for t in root.iter(f"{SVG}text")]
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"figure.{s}" for s in ("csv", "pdf", "png", "svg")]
    plot.deleteLater()


def test_the_csv_is_the_numbers_with_all_digits(plot, tmp_path):
    export_plot(plot, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["k", "λ = 2⁰", "λ = 2¹"]
    assert [int(row[0]) for row in rows] == KS.tolist()
    np.testing.assert_array_equal([float(row[1]) for row in rows], 1 / 3 + 0.001 * np.sqrt(KS))
    assert [row[2] for row in rows[:6]] == ["0.1", "", "0.2", "0.3", "0.4", ""]


def test_files_are_light_whatever_the_window_is(plot, theme, tmp_path):
    export_plot(plot, tmp_path / "light.png", dpi=96)
    theme.set_mode("dark")
    export_plot(plot, tmp_path / "dark.png", dpi=96)
    light, dark = QImage(str(tmp_path / "light.png")), QImage(str(tmp_path / "dark.png"))
    assert light == dark
    assert light.pixelColor(2, 2).name() == LIGHT.panel
    assert plot.grab().toImage().pixelColor(200, 2).name() == DARK.panel


def test_three_hundred_dpi_is_the_same_picture_finer(plot, tmp_path):
    for dpi in (96, 300):
        export_plot(plot, tmp_path / f"{dpi}.png", dpi=dpi)
    coarse, fine = QImage(str(tmp_path / "96.png")), QImage(str(tmp_path / "300.png"))
    assert fine.dotsPerMeterX() == 11811
    assert (coarse.width(), coarse.height()) == (424, 284)
    ink = [
        sum(
            image.pixelColor(x, y).name() != LIGHT.panel
            for x in range(image.width())
            for y in range(image.height())
        )
        / (image.width() * image.height())
        for image in (coarse, fine.scaled(848, 568))
    ]
    # Lines that stayed one device pixel wide would lose two thirds of their ink.
    assert ink[1] > 0.6 * ink[0]


def test_the_size_of_a_figure_can_be_asked_for(plot, tmp_path):
    export_plot(plot, tmp_path / "a.png", dpi=96, size=QSizeF(800, 400))
    assert QImage(str(tmp_path / "a.png")).width() == 824


def test_a_pdf_is_a_page_of_the_figure_s_size_with_lines_on_it(plot, tmp_path):
    export_plot(plot, tmp_path / "a.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    box = data.split(b"/MediaBox [")[1].split(b"]")[0].split()
    assert [float(v) for v in box] == pytest.approx([0, 0, 318, 213], abs=0.5)
    streams = [part.split(b"\nendstream")[0] for part in data.split(b"stream\n")[1::2]]
    drawing = b"".join(_inflated(s) for s in streams)
    assert drawing.count(b" l\n") > 40


def _inflated(stream):
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


@pytest.mark.parametrize("name", ["a.bmp", "a", "a.jpeg"])
def test_an_unknown_suffix_is_a_sentence(plot, tmp_path, name):
    with pytest.raises(OutputError, match=r"expected a name ending in \.png, \.svg, \.pdf, \.csv"):
        export_plot(plot, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_a_sentence(plot, tmp_path):
    with pytest.raises(OutputError, match="could not be written"):
        export_plot(plot, tmp_path / "no" / "a.svg")


def test_the_menu_copies_picture_and_numbers(plot):
    menu = PlotMenu(plot)
    menu.copy_numbers()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t") == ["k", "λ = 2⁰", "λ = 2¹"]
    assert len(lines) == 47
    menu.copy_picture()
    assert QGuiApplication.clipboard().image().width() == 848


def test_the_menu_saves_where_it_is_told_and_says_when_it_cannot(plot, tmp_path, monkeypatch):
    said = []
    plot.failed.connect(said.append)
    menu = PlotMenu(plot)
    for name, chosen in (("a", "SVG (*.svg)"), ("no/b.png", "PNG"), ("", "")):
        answer = (str(tmp_path / name) if name else "", chosen)
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, answer=answer: answer)
        menu.save_as()
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"]
    assert len(said) == 1 and "b.png could not be written" in said[0]


def test_the_menu_of_an_empty_plot_offers_nothing(theme):
    plot = CurvesPlot(theme, "nothing")
    menu = PlotMenu(plot)
    menu.aboutToShow.emit()
    assert not any(action.isEnabled() for action in menu.actions() if action.text())
    plot.deleteLater()


def texts(path):
    return [t.text for t in ET.parse(path).getroot().iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("n", "kind", "names"),
    [
        (11, "ordered", {"λ0", "λ10", "λ3"}),
        (3, "ordered", {"λ0", "λ1", "λ2"}),
        (2, "category", {"λ0", "λ1"}),
        (1, "ordered", set()),
    ],
)
def test_a_figure_in_a_file_says_which_curve_is_which(theme, tmp_path, n, kind, names):
    plot = CurvesPlot(theme, "validation MAP")
    plot.resize(460, 260)
    plot.set_family(range(n), [f"λ{i}" for i in range(n)], kind=kind)
    for key in range(n):
        plot.set_curve(key, KS, KS / 100 + key)
    plot.select(3 if n > 3 else 0, 4)
    export_plot(plot, tmp_path / "a.svg")
    assert {text for text in texts(tmp_path / "a.svg") if "λ" in text} == names
    plot.deleteLater()
