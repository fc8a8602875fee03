"""The figures of a report: those of the study, as wide as its page."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ET
from gettext import NullTranslations

import numpy as np
import pytest
from experiment.small import dataset, ended, quick

from rankstudio.engine import evaluate, language
from rankstudio.engine.analysis.figures.study_figures import (
    alone_figure,
    learning_figure,
    made,
    study_figures,
)
from rankstudio.engine.analysis.reported_runs import ReportedRun, ReportSource
from rankstudio.engine.data.fingerprint import fingerprint
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.storage.study_contents import (
    RecordedData,
    ReportSettings,
    RunLabel,
)
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    Figure,
    FigureAxis,
    RowsFigure,
    Series,
)
from rankstudio.engine.methods.catalog import method
from rankstudio.plugins.report.document import STYLE, ReportFigure, html_page
from rankstudio.plugins.report.report import make_report

HOSTILE = '</text><script>alert(1)</script>&"\x00'
SVG = "{http://www.w3.org/2000/svg}"


def test_a_figure_is_an_element_and_a_picture_with_its_caption() -> None:
    series = (
        Series(HOSTILE, (1.0, 2.0), (0.4, 0.5)),
        Series("run 2", (1.0,), (0.4,), number=1),
    )
    figure = CurvesFigure(
        "curves", "title", "caption", FigureAxis("features"), FigureAxis("MAP"), series
    )
    made = ReportFigure(figure)
    root = ET.fromstring(made.svg)
    assert made.caption == "caption"
    assert root.get("width") == f"{STYLE.width:g}pt" == "540pt"
    assert struct.unpack(">I", made.png[16:20]) == (1800,)
    assert {"features", "MAP", "run 2"} <= {
        element.text for element in root.iter(f"{SVG}text")
    }
    assert not list(root.iter(f"{SVG}script"))


class MadeUp(NullTranslations):
    """Shows what is looked up."""

    def gettext(self, text: str) -> str:
        return f"«{text}»"


def said_by(figure: Figure) -> list[str]:
    """Return what a figure says besides names, numbers and its caption."""
    if isinstance(figure, CurvesFigure):
        bands = [figure.bands] if figure.bands else []
        return [
            figure.x.title,
            figure.y.title,
            *bands,
            *(one.label for one in (*figure.levels, *figure.marks)),
        ]
    if isinstance(figure, RowsFigure):
        return [figure.axis.title, *filter(None, [figure.strong_label])]
    return [figure.column_title, figure.color.title, *filter(None, [figure.mark_label])]


def test_figures_of_a_study_are_in_the_language_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the figures of single plots are; what is for everybody alike, as the report, stays English."""
    data = dataset(3)
    found, ids = fingerprint(data), tuple(data.feature_ids.tolist())
    recorded = RecordedData(
        "Small", "", found.checksum, (), (1, 2, 3), ids, data.feature_names
    )
    runs = tuple(
        ReportedRun(
            number,
            ended(run(Plan("small", key, quick(method(key))), data)),
            recorded,
            data,
            RunLabel(),
        )
        for number, key in enumerate(("greedy-rankrls", "gas"), start=1)
    )
    source = ReportSource("My study", runs, ReportSettings())
    plain = [figure.caption for figure in made(study_figures(source))]
    page = html_page(make_report(source))
    monkeypatch.setattr(language._language, "catalog", MadeUp())
    figures = list(made(study_figures(source)))
    assert len(figures) == len(plain) > 12
    for figure in figures:
        assert "«" in figure.title and "«" in figure.caption, figure.name
        assert all("«" in text for text in said_by(figure)), (
            figure.name,
            said_by(figure),
        )
    assert html_page(make_report(source)) == page
    assert not any("«" in caption for caption in plain)


def test_figures_are_of_one_group_and_their_captions_name_its_runs_only() -> None:
    data = dataset(3)
    found, ids = fingerprint(data), tuple(data.feature_ids.tolist())
    recorded = RecordedData(
        "Small", "", found.checksum, (), (1, 2, 3), ids, data.feature_names
    )
    runs = []
    for number, (key, folds) in enumerate(
        (("greedy-rankrls", ()), ("gas", ()), ("gas", (3,))), start=1
    ):
        result = ended(run(Plan("small", key, quick(method(key)), folds=folds), data))
        runs.append(ReportedRun(number, result, recorded, data, RunLabel()))
    figures = {
        figure.name: figure
        for figure in made(study_figures(ReportSource("My study", tuple(runs))))
    }
    assert "differences" in figures and "differences-2" not in figures
    for name, numbers in (
        ("curves", (1, 2)),
        ("test", (1, 2)),
        ("curves-2", (3,)),
        ("front-2", (3,)),
    ):
        caption = figures[name].caption
        told = {
            number
            for number in (1, 2, 3)
            if f"{number} {runs[number - 1].plan.title}" in caption
        }
        assert told == set(numbers), caption
    single = figures["alone"].caption
    assert (
        sum(f"{number} {runs[number - 1].plan.title}" in single for number in (1, 2))
        == 1
    )


def test_features_alone_are_those_of_the_training_parts_with_the_selected_ones_apart() -> (
    None
):
    data = dataset(2)
    found, ids = fingerprint(data), tuple(data.feature_ids.tolist())
    recorded = RecordedData(
        "Small", "", found.checksum, (), (1, 2), ids, data.feature_names
    )
    result = ended(run(Plan("small", "gas", quick(method("gas"))), data))
    figure = alone_figure(
        "Small", [ReportedRun(1, result, recorded, data, RunLabel())], "MAP"
    )
    assert figure is not None
    worth = np.zeros(len(ids))
    for fold in data.folds:
        train = fold.train
        for column in range(len(ids)):
            scores = train.X[:, column]
            both = (
                evaluate(train.y, s, train.qid, measures=["MAP"])["MAP"]
                for s in (scores, -scores)
            )
            worth[column] += max(both) / 2
    drawn = sorted(
        (x, y) for one in figure.series for x, y in zip(one.x, one.y, strict=True)
    )
    assert [x for x, _ in drawn] == list(range(1, len(ids) + 1))
    assert [y for _, y in drawn] == pytest.approx(
        sorted(worth, reverse=True), abs=1e-12
    )
    selected = {column for fold in result.folds for column in fold.chosen.step.selected}
    assert len(figure.series[0].x) == len(selected)
    assert (
        alone_figure(
            "Small", [ReportedRun(1, result, recorded, None, RunLabel())], "MAP"
        )
        is None
    )


def test_runs_of_a_learning_curve_that_lack_its_measure_are_left_out() -> None:
    """Figures of such a study ended with a KeyError."""
    data = dataset(3)
    found, ids = fingerprint(data), tuple(data.feature_ids.tolist())
    recorded = RecordedData(
        "Small", "", found.checksum, (), (1, 2, 3), ids, data.feature_names
    )
    plan = Plan(
        "small", "single-feature", {"n_features_to_select": 2}, measures=("MAP",)
    )
    plans = [
        plan,
        plan.changed(protocol="train 50%"),
        plan.changed(protocol="train 60%", measures=("P@3",)),
    ]
    runs = tuple(
        ReportedRun(number, ended(run(one, data)), recorded, data, RunLabel())
        for number, one in enumerate(plans, start=1)
    )
    figure = learning_figure("Small", runs, "MAP")
    assert figure is not None
    assert [series.x for series in figure.series] == [(50.0, 100.0)]
    assert learning_figure("Small", runs[1:], "MAP") is None
    made(study_figures(ReportSource("Study", runs, ReportSettings())))
