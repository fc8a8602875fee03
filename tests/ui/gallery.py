"""Every widget and plot with believable numbers, laid out like the window. Not a test: it is for looking.

    python tests/ui/gallery.py              opens it
    python tests/ui/gallery.py FOLDER       writes gallery-light.png and gallery-dark.png there

QT_SCALE_FACTOR=2 shows it as a screen of 200 % does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from gallery_numbers import FEATURES, KS, LAMBDAS, RUNS, curves
from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMainWindow,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.ui.plots import Bar, BarsPlot, CurvesPlot, Density, DensityPlot, HeatMapPlot
from rankstudio.ui.style import icons
from rankstudio.ui.style.number_format import power
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import (
    BarRows,
    Column,
    Dot,
    Fact,
    KeyValue,
    LambdaSlider,
    Notice,
    Panel,
    Segmented,
    TableView,
)


class Gallery(QMainWindow):
    """The window's places with numbers that stand still."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.resize(1440, 900)
        for name in ("File", "Edit", "View", "Run", "Help"):
            self.menuBar().addMenu(name).addAction("Nothing")
        self._toolbar()
        ground = QWidget()
        ground.setProperty("role", "ground")
        rows = QVBoxLayout(ground)
        rows.setContentsMargins(9, 9, 9, 9)
        rows.setSpacing(9)
        places = QHBoxLayout()
        places.setSpacing(9)
        small = QHBoxLayout()
        small.setSpacing(9)
        small.addWidget(self._bars())
        small.addWidget(self._map())
        middle = _column(self._curves())
        middle.addLayout(small, 4)
        places.addLayout(_column(self._data(), self._method(), width=276))
        places.addLayout(middle, 1)
        places.addLayout(_column(self._features(), self._density(), width=330))
        rows.addLayout(places, 1)
        rows.addWidget(self._runs())
        self.setCentralWidget(ground)
        self.statusBar().showMessage("Running FS-ED → RankSVM, fold 3 of 5")
        for text in ("autosaved 14:02", "2 workers", "412 MB"):
            self.statusBar().addPermanentWidget(QLabel(text))

    def _toolbar(self) -> None:
        bar = self.addToolBar("Main")
        bar.setObjectName("main-toolbar")
        bar.setMovable(False)
        bar.setIconSize(QSize(icons.SIZE, icons.SIZE))
        for name, text in (("open", "Open…"), ("sample", "Sample")):
            bar.addWidget(self._button(text, name))
        bar.addSeparator()
        run = self._button("Run", "run", "on_accent")
        run.setProperty("role", "primary")
        bar.addWidget(run)
        for name in ("pause", "stop"):
            bar.addWidget(self._button("", name))
        step = self._button("Step", "step")
        step.setEnabled(False)
        bar.addWidget(step)
        bar.addSeparator()
        slider = LambdaSlider("λ", LAMBDAS)
        slider.select(64.0)
        slider.setFixedWidth(340)
        bar.addWidget(slider)
        bar.addSeparator()
        for items in (("MAP", "NDCG@10"), ("LETOR 4.0", "RankLib")):
            box = QComboBox()
            box.addItems(items)
            bar.addWidget(box)
        gap = QWidget()
        gap.setSizePolicy(gap.sizePolicy().Policy.Expanding, gap.sizePolicy().Policy.Preferred)
        bar.addWidget(gap)
        bar.addWidget(self._button("Compare", "compare"))
        bar.addWidget(self._button("Export…", "export"))
        moon = QToolButton()
        moon.clicked.connect(lambda: self.theme.set_mode("light" if self.theme.dark else "dark"))
        icons.set_icon(moon, self.theme, "moon")
        bar.addWidget(moon)

    def _button(self, text: str, icon: str, role: str = "text") -> QPushButton:
        button = QPushButton(text)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        icons.set_icon(button, self.theme, icon, role)
        return button

    def _data(self) -> Panel:
        panel = Panel(self.theme, "Data", "LETOR 4.0")
        heading = QLabel("MQ2008")
        heading.setProperty("role", "heading")
        panel.body.addWidget(heading)
        folds = Segmented([(i, str(i)) for i in range(1, 6)] + [("all", "all")], "fold")
        folds.select(4)
        panel.body.addWidget(folds)
        panel.body.addWidget(
            KeyValue(
                [
                    Fact("train / vali / test", "8,514 / 3,635 / 3,062"),
                    Fact("queries", "470 / 157 / 157"),
                    Fact("features", "46", "6 constant"),
                ]
            )
        )
        label = QLabel("relevance, training documents")
        label.setProperty("role", "muted")
        panel.body.addWidget(label)
        rows = BarRows(self.theme, "documents by relevance")
        rows.set_rows([("0", 7002), ("1", 1190), ("2", 534)])
        panel.body.addWidget(rows)
        return panel

    def _method(self) -> Panel:
        panel = Panel(self.theme, "Method", "Pahikkala et al. 2010", padding=0)
        page = QWidget()
        page.setProperty("role", "page")
        form = QGridLayout(page)
        form.setContentsMargins(12, 12, 12, 12)
        form.setVerticalSpacing(8)
        combo = QComboBox()
        combo.addItems(["Greedy RankRLS", "RankRLS", "FSMRank"])
        off = QLineEdit("0.001")
        off.setEnabled(False)
        bad = QLineEdit("2^0 … 2^x")
        bad.setProperty("invalid", True)
        check = QCheckBox("leave one query out")
        check.setChecked(True)
        fields = [
            ("method", combo),
            ("λ", bad),
            ("features k", QLineEdit("46")),
            ("tolerance", off),
            ("pinned", QLineEdit("25 BM25 of anchor")),
            ("criterion", check),
        ]
        for i, (name, field) in enumerate(fields):
            key = QLabel(name)
            key.setProperty("role", "muted")
            form.addWidget(key, i, 0)
            form.addWidget(field, i, 1)
        error = QLabel('λ: found "2^x", expected powers such as 2^0 … 2^10.')
        error.setProperty("role", "error")
        error.setWordWrap(True)
        form.addWidget(error, len(fields), 0, 1, 2)
        bar = QProgressBar()
        bar.setTextVisible(False)
        bar.setValue(40)
        form.addWidget(bar, len(fields) + 1, 0, 1, 2)
        form.setRowStretch(len(fields) + 2, 1)
        form.setColumnStretch(1, 1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(page)
        panel.set_content(scroll)
        return panel

    def _curves(self) -> Panel:
        panel = Panel(
            self.theme,
            "Greedy RankRLS · MQ2008 fold 4",
            "one curve per λ, 2⁰ dark … 2¹⁰ bright · click a curve to choose k",
        )
        notice = Notice(self.theme)
        notice.say("220 queries have no relevant document; LETOR 4.0 counts them as 0.", "warning", "Details")
        panel.body.addWidget(notice)
        self.error_plot = CurvesPlot(self.theme, "leave-query-out error per document")
        self.measure_plot = CurvesPlot(self.theme, "validation MAP")
        row = QHBoxLayout()
        row.setSpacing(16)
        panel.body.addLayout(row, 1)
        for plot, family in zip((self.error_plot, self.measure_plot), curves(), strict=True):
            plot.set_family(range(11), [f"λ = {power(v)}" for v in LAMBDAS], (1, 46))
            for i, ys in enumerate(family):
                plot.set_curve(i, KS, ys)
            plot.picked.connect(self._choose)
            row.addWidget(plot)
        self.error_plot.hovered.connect(self.measure_plot.set_cursor)
        self.measure_plot.hovered.connect(self.error_plot.set_cursor)
        panel.add_tool("export", "Export")
        self._choose(6, 4)
        return panel

    def _choose(self, key: int, k: int) -> None:
        value = self.measure_plot.family[key].value_at(k)
        note = (
            f"k = {k} · λ = 2{'⁰¹²³⁴⁵⁶⁷⁸⁹'[key % 10]} · chosen",
            f"validation MAP {value:.4f}",
            "one-SE rule: k = 2",
        )
        self.error_plot.select(key, k)
        self.measure_plot.select(key, k, note)

    def _bars(self) -> Panel:
        panel = Panel(self.theme, "Candidates at step 3", "drop in criterion")
        plot = BarsPlot(self.theme, "drop in criterion")
        ids = [25, 28, 26, 2, 12, 23, 27, 18, 46, 19, 41, 42, 17, 16, 3, 7, 11, 9, 40, 36, 35, 34, 33, 32, 31]
        names = {25: "BM25 of anchor", 28: "LMIR.JM of anchor"}
        values = [1 / (1 + 0.35 * i**1.1) for i in range(len(ids))]
        plot.set_bars(
            [Bar(i, names.get(i, f"feature {i}"), 2e-4 * v) for i, v in zip(ids, values, strict=True)]
        )
        plot.picked.connect(plot.select)
        panel.set_content(plot)
        return panel

    def _map(self) -> Panel:
        panel = Panel(self.theme, "λ × k", "validation MAP")
        plot = HeatMapPlot(self.theme)
        values = np.array(curves()[1])
        values[9:, 30:] = np.nan
        plot.set_values(values, [power(v) for v in LAMBDAS], [str(k) for k in KS])
        plot.select(6, 3)
        plot.picked.connect(plot.select)
        panel.set_content(plot)
        return panel

    def _density(self) -> Panel:
        panel = Panel(self.theme, "LMIR.DIR of whole document", "39")
        plot = DensityPlot(self.theme)
        xs = np.linspace(0, 1, 200)
        plot.set_densities(
            [
                Density("not relevant", xs, 0.7 + 0.5 * np.exp(-(((xs - 0.7) / 0.3) ** 2)) - 0.5 * xs**4),
                Density("relevant", xs, 0.05 + 2.2 * np.exp(-(((xs - 0.79) / 0.16) ** 2))),
                Density("highly relevant", xs, 0.1 + 2.6 * np.exp(-(((xs - 0.95) / 0.19) ** 2))),
            ]
        )
        panel.set_content(plot)
        text = QLabel("alone: MAP 0.4712 · NDCG@10 0.2203 · divergence 0.31 · closest: 38 (r = 0.97)")
        text.setProperty("role", "caption")
        text.setWordWrap(True)
        panel.body.addWidget(text)
        return panel

    def _features(self) -> Panel:
        panel = Panel(self.theme, "Features", "8 of 46 steps shown", padding=0)

        def tone(row: tuple) -> str:
            return "text" if row[0] <= 4 else "muted"

        table = TableView(
            self.theme,
            [
                Column("rank", "#", value=lambda r: r[0], tone=tone, align="right"),
                Column("id", "id", value=lambda r: r[1], tone="muted", align="right"),
                Column(
                    "name", "feature", value=lambda r: r[2], tone=tone, stretch=True, mark=lambda r: r[0] == 3
                ),
                Column("weight", "weight", value=lambda r: r[3], tone=tone, kind="weight"),
                Column("map", "MAP", value=lambda r: r[4], format=".4f", align="right", tone=tone),
            ],
            "features",
            identity=lambda r: r[1],
        )
        table.set_rows(FEATURES)
        table.select(FEATURES[0])
        panel.set_content(table)
        return panel

    def _runs(self) -> Panel:
        panel = Panel(
            self.theme,
            "Runs",
            "mean over folds ± sd · differences against the first, Holm-corrected",
            padding=0,
        )
        number = {"format": ".4f", "align": "right"}
        table = TableView(
            self.theme,
            [
                Column("dot", "", kind="dot", value=lambda r: Dot(r[0]), width=30),
                Column("method", "method", value=lambda r: r[1], stretch=True),
                Column("data", "data", value=lambda r: r[2], tone="muted", width=229),
                Column("status", "status", value=lambda r: r[3], kind="progress", width=229,
                       tone=lambda r: "ok" if isinstance(r[3], str) else "muted"),
                Column("map", "MAP", value=lambda r: r[4], bold=lambda r: r[0] == 2, width=110, **number),
                Column("ndcg", "NDCG@10", value=lambda r: r[5], width=130, **number),
                Column("sd", "sd MAP", value=lambda r: r[6], format="±.3f".replace("±", ""), align="right",
                       tone="muted", width=110),
                Column("k", "k", value=lambda r: r[7], align="right", width=90),
                Column("p", "against baseline", value=lambda r: r[8], format="p {:.2f}".format, align="right",
                       tone="muted", width=180),
            ],
            "runs",
        )  # fmt: skip
        table.set_rows(RUNS)
        table.select(RUNS[0])
        panel.set_content(table)
        panel.setFixedHeight(192)
        return panel


def _column(*panels: Panel, width: int = 0) -> QVBoxLayout:
    """Return panels below each other."""
    column = QVBoxLayout()
    column.setSpacing(9)
    for i, panel in enumerate(panels):
        column.addWidget(panel, (0, 5)[i] if panel.accessibleName() in ("Data", "Method") else 5)
        if width:
            panel.setFixedWidth(width)
    return column


def main() -> int:
    """Open the gallery, or write its pictures."""
    app = QApplication(sys.argv[:1])
    theme = Theme("light")
    theme.apply(app)
    app.setWindowIcon(icons.app_icon())
    window = Gallery(theme)
    window.show()
    if len(sys.argv) < 2:
        return app.exec()
    window.setFocus()
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        theme.finish()
        for plot in (window.error_plot, window.measure_plot):
            plot.flush()
        for _ in range(8):
            QCoreApplication.processEvents()
        window.grab().save(str(Path(sys.argv[1]) / f"gallery-{mode}.png"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
