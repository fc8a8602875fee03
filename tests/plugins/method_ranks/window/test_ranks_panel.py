"""Methods over datasets in the window: a panel of *Compare*, once runs are on several datasets."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from waiting import wait_until
from windows import settle

from rankstudio.plugins.method_ranks.rank_diagram import RankDiagram
from rankstudio.plugins.method_ranks.window.diagram_view import DiagramView
from rankstudio.plugins.method_ranks.window.ranks_panel import RanksController
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme


def ranks_controller(window: MainWindow) -> RanksController:
    controller = window.sections.contributed.controllers["method-ranks"]
    assert isinstance(controller, RanksController)
    return controller


def test_a_study_on_several_datasets_has_ranks(
    empty: MainWindow, five_datasets: Path, tmp_path: Path
) -> None:
    study = tmp_path / "copy.rankstudio"
    shutil.copy(five_datasets, study)
    ranks = ranks_controller(empty)
    assert ranks.panel.isHidden()
    empty.open_path(str(study))
    wait_until(lambda: empty.session.dataset is not None)
    settle(empty)
    empty.workspace.show_page("compare")
    settle(empty)
    wait_until(lambda: ranks.ranking is not None)
    panel = ranks.panel
    assert panel.isVisible()
    assert {row.method for row in panel.table.rows()} == {"GAS", "RankRLS"}
    assert sum(row.mean_rank for row in panel.table.rows()) == 3
    assert "Friedman" in panel.caption()
    assert "Nemenyi" in panel.header.toolTip()
    assert panel.note.isHidden()
    (export_item,) = ranks.export_items()
    for suffix in (".pdf", ".tex", ".csv"):
        assert export_item.write is not None
        export_item.write(tmp_path / f"diagram{suffix}")
        assert (tmp_path / f"diagram{suffix}").stat().st_size > 40

    runs = empty.models.runs
    name = runs.records[0].dataset.name
    others = [record for record in runs.records if record.dataset.name != name]
    for record in others:
        runs.remove(record)
    assert panel.isHidden()
    for record in others:
        runs.restore(record)
    assert panel.isVisible()


def test_runs_that_are_read_one_by_one_show_the_panel(
    empty: MainWindow,
    five_datasets: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a reopened study nothing else is announced than that runs were added."""
    study = tmp_path / "copy.rankstudio"
    shutil.copy(five_datasets, study)
    controller = ranks_controller(empty)
    empty.models.measured.changed.disconnect(controller.update)
    empty.open_path(str(study))
    wait_until(lambda: len(empty.models.runs.records) == 10)
    settle(empty)
    assert not controller.panel.isHidden()
    empty.workspace.show_page("compare")
    wait_until(lambda: controller.ranking is not None)


def test_runs_on_one_dataset_have_no_panel(ran: MainWindow) -> None:
    ran.workspace.show_page("compare")
    settle(ran)
    assert ranks_controller(ran).panel.isHidden()
    assert list(ranks_controller(ran).export_items()) == []


def test_a_diagram_is_drawn_at_any_size(theme: Theme, stage) -> None:
    view = stage(DiagramView(theme))
    names = tuple(f"method {n} <b>&" for n in range(9))
    view.show_diagram(
        RankDiagram("d", "", "<b>c", names, tuple(range(1, 10)), ((0, 1),), 1.5)
    )
    for size in ((240, 60), (900, 400)):
        view.resize(*size)
        image = view.grab().toImage()
        colors = {
            image.pixel(x, y)
            for x in range(0, image.width(), 3)
            for y in range(0, image.height(), 2)
        }
        assert len(colors) > 3
    view.show_diagram(None)
    view.grab()
