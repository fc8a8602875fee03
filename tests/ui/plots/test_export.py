import csv
import struct
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog
from wording import naming

from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.figures.files import figure_bytes
from rankstudio.engine.export.figures.style import style_of
from rankstudio.ui.plots import (
    Bar,
    BarsPlot,
    CurvesPlot,
    Density,
    DensityPlot,
    HeatMapPlot,
    plot_writer,
)
from rankstudio.ui.plots.base import PlotMenu, figure_image, save_figure
from rankstudio.ui.style.colors import DARK

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
    plot.set_densities(
        [Density("relevant", np.linspace(0, 1, 9), np.linspace(0, 2, 9))]
    )
    return plot


ALL = pytest.mark.parametrize("make", [curves, bars, heat_map, density])


@pytest.fixture
def plot(theme, stage):
    return stage(curves(theme), 400, 260)


def colors_of(image):
    return {
        image.pixelColor(x, y).name()
        for x in range(0, image.width(), 2)
        for y in range(0, image.height(), 2)
    }


@ALL
def test_every_plot_makes_every_kind_of_file_without_a_window(theme, make, tmp_path):
    plot = make(theme)
    plot.resize(400, 260)
    for suffix in ("png", "svg", "pdf", "csv"):
        plot_writer(plot, tmp_path / f"figure.{suffix}")()
    image = QImage(str(tmp_path / "figure.png"))
    assert image.width() == int(178 / 25.4 * 300)
    assert len(colors_of(image)) > 3
    root = ET.parse(tmp_path / "figure.svg").getroot()
    drawn = [*root.iter(f"{SVG}path"), *root.iter(f"{SVG}use")]
    assert len(drawn) > 3
    said = " ".join(texts(tmp_path / "figure.svg"))
    figure = plot.figure()
    names = {"x", "y", "axis", "color"} & set(vars(figure))
    assert all(getattr(figure, name).text in said for name in names)
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        f"figure.{s}" for s in ("csv", "pdf", "png", "svg")
    ]
    plot.deleteLater()


def test_the_csv_is_what_is_drawn_with_all_digits(plot, tmp_path):
    plot_writer(plot, tmp_path / "a.csv")()
    with (tmp_path / "a.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["series", "features selected, k", "validation MAP"]
    first = [(float(x), float(y)) for name, x, y in rows if name == "λ = 2⁰"]
    np.testing.assert_array_equal(
        first, np.column_stack([KS, 1 / 3 + 0.001 * np.sqrt(KS)])
    )
    assert [y for name, _, y in rows if name == "λ = 2¹"] == [
        "0.1",
        "",
        "0.2",
        "0.3",
        "0.4",
    ]
    assert rows[-1][:2] == ["chosen: λ = 2⁰, k = 4", "4.0"]


def test_files_are_light_whatever_the_window_is(plot, theme, tmp_path):
    plot_writer(plot, tmp_path / "light.png")()
    theme.set_mode("dark")
    plot_writer(plot, tmp_path / "dark.png")()
    assert (tmp_path / "light.png").read_bytes() == (tmp_path / "dark.png").read_bytes()
    assert QImage(str(tmp_path / "light.png")).pixelColor(2, 2).name() == "#ffffff"
    assert plot.grab().toImage().pixelColor(200, 2).name() == DARK.panel


def test_a_png_says_its_resolution_and_bears_the_caption(plot, tmp_path):
    for dpi in (96, 300):
        save_figure(
            replace(plot.figure(), caption="λ of all"),
            tmp_path / f"{dpi}.png",
            style_of("85mm"),
            dpi,
        )
    coarse, fine = QImage(str(tmp_path / "96.png")), QImage(str(tmp_path / "300.png"))
    data = (tmp_path / "300.png").read_bytes()
    at = data.index(b"pHYs") + 4
    assert struct.unpack(">IIB", data[at : at + 9]) == (11811, 11811, 1)
    assert (coarse.width(), fine.width()) == (321, 1003)
    assert fine.text("Description") == "λ of all"
    assert abs(coarse.height() / coarse.width() - fine.height() / fine.width()) < 0.01


def test_cells_of_a_map_meet(theme):
    figure = heat_map(theme).figure()
    picture = figure_image(figure, style_of("column"), 133.0)
    grounds = [
        picture.pixelColor(x, picture.height() // 3).name()
        for x in range(picture.width())
    ]
    inside = grounds[grounds.index("#440154") if "#440154" in grounds else 60 :]
    first = next(i for i, color in enumerate(inside) if color != "#ffffff")
    assert "#ffffff" not in inside[first : first + 40]


def test_the_same_figure_is_the_same_bytes_on_any_thread(plot):
    figure, style = plot.figure(), style_of("column")
    with ThreadPoolExecutor(1) as pool:
        other = [
            pool.submit(figure_bytes, figure, style, name).result()
            for name in ("png", "pdf")
        ]
    assert other == [figure_bytes(figure, style, name) for name in ("png", "pdf")]


@pytest.mark.parametrize("name", ["a.bmp", "a", "a.jpeg"])
def test_an_unknown_suffix_is_a_sentence(plot, tmp_path, name):
    with pytest.raises(OutputError, match=naming("pdf csv")):
        plot_writer(plot, tmp_path / name)()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_a_sentence(plot, tmp_path):
    with pytest.raises(OutputError, match="could not be written"):
        plot_writer(plot, tmp_path / "no" / "a.svg")()


def test_the_menu_copies_picture_and_numbers(plot):
    menu = PlotMenu(plot)
    menu.copy_numbers()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t") == ["k", "λ = 2⁰", "λ = 2¹"]
    assert len(lines) == 47
    plot.paintAsked.connect(lambda paint, show: show(paint()))
    menu.copy_picture()
    assert QGuiApplication.clipboard().image().width() > 800


def test_the_menu_saves_where_it_is_told_and_says_when_it_cannot(
    plot, tmp_path, monkeypatch
):
    said = []

    def paint_here(paint, show):
        try:
            show(paint())
        except OutputError as error:
            said.append(str(error))

    plot.paintAsked.connect(paint_here)
    menu = PlotMenu(plot)
    for name, chosen in (("a", "SVG (*.svg)"), ("no/b.png", "PNG"), ("", "")):
        answer = (str(tmp_path / name) if name else "", chosen)
        monkeypatch.setattr(
            QFileDialog, "getSaveFileName", lambda *_, answer=answer: answer
        )
        menu.save_as()
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"]
    assert len(said) == 1 and naming("b.png").search(said[0])


def test_the_menu_of_an_empty_plot_offers_nothing(theme):
    plot = CurvesPlot(theme, "nothing")
    menu = PlotMenu(plot)
    assert not any(action.isEnabled() for action in menu.actions() if action.text())
    plot.deleteLater()


def texts(path):
    return [t.text or "" for t in ET.parse(path).getroot().iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("n", "names"),
    [
        (11, {"λ0 … λ10", "chosen: λ3, k = 4"}),
        (3, {"λ0", "λ1", "λ2", "chosen: λ0, k = 4"}),
        (1, {"λ0", "chosen: λ0, k = 4"}),
    ],
)
def test_a_figure_in_a_file_says_which_curve_is_which(theme, tmp_path, n, names):
    plot = CurvesPlot(theme, "validation MAP")
    plot.resize(460, 260)
    plot.set_family(range(n), [f"λ{i}" for i in range(n)])
    for key in range(n):
        plot.set_curve(key, KS, KS / 100 + key)
    plot.select(3 if n > 3 else 0, 4)
    plot_writer(plot, tmp_path / "a.svg")()
    assert {text for text in texts(tmp_path / "a.svg") if "λ" in text} == names
    plot.deleteLater()
