"""Single features as a dot plot, in the real window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import wait_until
from windows import Opened, finish, settle

from rankstudio.engine.analysis.features import features_alone
from rankstudio.engine.errors import DatasetError
from rankstudio.plugins.features.window.alone_panel import AlonePlot
from rankstudio.ui.main_window import MainWindow


def prepare(window: MainWindow) -> None:
    window.session.change(
        "editing", method="greedy-rankrls", parameters={"regularization": (1.0,)}
    )
    finish(window)


def shown_plot(window: MainWindow) -> AlonePlot:
    window.session.show_fold(1)
    window.workspace.show_page("data")
    settle(window)
    plot = window.sections.features.alone.panel.plot
    wait_until(lambda: plot.shown is not None)
    return plot


def test_nothing_is_measured_for_a_page_that_is_not_seen(window: MainWindow) -> None:
    finish(window)
    settle(window)
    assert window.sections.features.alone.panel.plot.shown is None


def test_while_features_are_measured_it_is_said_and_it_stops_with_the_page(
    opened: Opened, folds: Path, monkeypatch
) -> None:
    turns = []

    def endless(*_: object, **__: object) -> Iterator[float]:
        while True:
            turns.append(None)
            yield 0.5

    with monkeypatch.context() as patch:
        patch.setattr(features_alone, "measuring_alone", endless)
        with opened(folds) as window:  # on the page Data
            plot = window.sections.features.alone.panel.plot
            wait_until(lambda: turns)
            assert plot.shown is None
            assert plot.placeholder
            window.workspace.show_page("features")
            settle(window)
            patch.undo()
            window.workspace.show_page("data")
            wait_until(lambda: plot.shown is not None)


def test_features_that_cannot_be_measured_say_why(
    window: MainWindow, monkeypatch
) -> None:
    def failing(*_: object, **__: object) -> Iterator[float]:
        raise DatasetError("The labels are too large.")
        yield 0.5

    monkeypatch.setattr(features_alone, "measuring_alone", failing)
    window.workspace.show_page("data")
    plot = window.sections.features.alone.panel.plot
    wait_until(lambda: "The labels are too large." in plot.placeholder)
    assert plot.shown is None


def test_a_click_looks_at_the_feature_everywhere(ran: MainWindow) -> None:
    plot = shown_plot(ran)
    ran.session.select(ran.current.model.values, 2)
    wait_until(lambda: [row[-1] for row in plot.numbers()[1]].count("yes") == 2)
    column = int(plot.shown.order[4])
    feature = int(ran.session.dataset.feature_ids[column])
    at = plot.frame().point(5.0, float(plot.shown.parts["train"][column]))
    lines = plot.readout(plot.hit_test(at))
    assert lines[0].text == f"{ran.session.dataset.feature_names[column]} ({feature})"
    assert [line.text for line in lines[1:4]] == ["train", "validation", "test"]
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert ran.sections.features.feature == feature
    assert ran.sections.features.features.table.current().feature_id == feature
    assert ran.current.model.x_value == 2


def test_arrow_keys_go_from_feature_to_feature(ran: MainWindow) -> None:
    plot = shown_plot(ran)
    ids = ran.session.dataset.feature_ids
    plot.picked.emit(int(plot.shown.order[0]))
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert ran.sections.features.feature == int(ids[plot.shown.order[1]])
    ran.sections.features.alone.panel.switch._buttons()[1].click()
    assert plot.axes.x_label == "id of the feature"
    plot.picked.emit(0)
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert ran.sections.features.feature == int(ids[1])
    assert [row[0] for row in plot.numbers()[1]] == sorted(ids.tolist())
    ran.sections.features.alone.panel.switch._buttons()[0].click()


def test_it_follows_the_measure_and_the_seal(ran: MainWindow) -> None:
    plot = shown_plot(ran)
    assert plot.axes.title == "MAP alone"
    assert list(plot.shown.parts) == ["train", "validation", "test"]
    ran.session.show_measure("NDCG@10")
    wait_until(lambda: plot.axes.title == "NDCG@10 alone")
    texts = ran.sections.features.profile.tables.texts
    wait_until(lambda: "test" in [row[0] for row in texts()])
    ran.session.seal(True)
    wait_until(lambda: list(plot.shown.parts) == ["train", "validation"])
    wait_until(lambda: texts() and "test" not in [row[0] for row in texts()])
    assert "test" not in plot.numbers()[0]
