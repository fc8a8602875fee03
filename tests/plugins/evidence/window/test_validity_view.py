"""Validity on the Evidence page: measured, stopped, kept, exported and reported."""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evidence_page import K, rest
from hands import click, press
from waiting import wait_until
from windows import Opened, finish, write_item

from rankstudio.engine import ranking_validity
from rankstudio.plugins.evidence.window import validity
from rankstudio.plugins.evidence.window.controller import EvidenceController
from rankstudio.plugins.evidence.window.evidence import Progress
from rankstudio.plugins.evidence.window.probability_panel import VALIDITY
from rankstudio.ui.export.items import export_items
from rankstudio.ui.main_window import MainWindow


@pytest.fixture(autouse=True)
def own_studies(shelf_folder: Path) -> Path:
    """Studies of other tests may know the validity."""
    return shelf_folder


def prepare(window: MainWindow) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKSTUDIO_DATA_DIR", f"{window._settings.folder}-user")
        finish(window)
        show_three(window)


def show_three(window: MainWindow) -> EvidenceController:
    """Show the page of a selection of three features."""
    window.session.select((1.0,), K)
    window.workspace.show_page("evidence")
    rest(window)
    return window.sections.evidence


@pytest.fixture
def page(ran: MainWindow) -> EvidenceController:
    return show_three(ran)


def open_view(page: EvidenceController) -> None:
    """Press the switch to the validity."""
    press(page.probability.view._group.buttons()[1])
    assert page.probability.view.value() == VALIDITY


def close_view(page: EvidenceController) -> None:
    """Press the switch to the halves."""
    press(page.probability.view._group.buttons()[0])


def test_the_view_measures_the_shown_model_and_a_click_inspects_a_feature(
    ran: MainWindow, page: EvidenceController
) -> None:
    """Catches another part, model, order or base value."""
    assert page.validity.progress is Progress.OFFERED, "its view was not opened"
    assert page.probability.plot.isVisible()
    open_view(page)
    rest(ran)
    view = page.probability.validity
    assert view.plot.isVisible() and not page.probability.plot.isVisible()
    assert page.validity.progress is Progress.DONE and not view.work.isVisible()
    model = ran.current.model
    part = model.fold.vali
    order = model.step.selected
    expected = ranking_validity(
        lambda X: X @ model.step.coef,
        part.X,
        qid=part.qid,
        feature_sets=[order[: size + 1] for size in range(K)],
        base=model.fold.train.X.mean(axis=0),
    )
    values, completeness = view.plot.curves
    means = expected.validity_means
    others = expected.completeness_means
    assert values.y == pytest.approx(means.mean)
    assert values.low == pytest.approx(means.low)
    assert completeness.y[:-1] == pytest.approx(others.mean[:-1])
    # All features rank as the model does; the root in τ_b is rounded. Without them, all
    # documents have one score.
    assert values.y[-1] == pytest.approx(1.0, abs=1e-12)
    assert completeness.y[-1] == 0.0
    assert f"{values.y[0]:+.3f}" in view.sentence.text()
    assert f"{part.n_queries} validation" in page.probability.caption()
    inspected: list[int] = []
    page.probability.inspected.connect(inspected.append)
    click(view.plot, view.plot.frame().point(2.0, float(values.y[1])))
    ids = ran.session.dataset.feature_ids
    assert inspected[-1] == ids[order[1]]
    close_view(page)
    assert page.probability.plot.isVisible() and not view.isVisible()


def test_another_model_is_measured_anew(
    ran: MainWindow, page: EvidenceController
) -> None:
    open_view(page)
    rest(ran)
    before = page.validity.found
    ran.session.select((1.0,), K + 1)
    rest(ran)
    assert page.validity.found.sizes == tuple(range(1, K + 2))
    plot = page.probability.validity.plot
    assert plot.curves[0].x.size == K + 1
    ran.session.select((1.0,), K)
    rest(ran)
    assert page.validity.found is before
    assert plot.curves[0].x.size == K
    close_view(page)


def test_stop_ends_it_and_the_button_begins_again(
    ran: MainWindow, page: EvidenceController, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = validity._validity_steps

    def slow(*given: Any) -> Iterator[Any]:
        for update in usual(*given):
            yield update
            time.sleep(0.2)

    monkeypatch.setattr(validity, "_validity_steps", slow)
    monkeypatch.setattr(type(page.validity), "seconds", property(lambda _: inf))
    ran.session.select((1.0,), K + 2)
    open_view(page)
    rest(ran)
    work = page.probability.validity.work
    assert work.button.isVisible() and page.validity.found is None
    press(work.button)
    wait_until(work.stop.isVisible)
    press(work.stop)
    rest(ran)
    assert page.validity.progress is Progress.STOPPED and work.button.isVisible()
    monkeypatch.setattr(validity, "_validity_steps", usual)
    press(work.button)
    rest(ran)
    assert page.validity.progress is Progress.DONE and not work.isVisible()
    assert page.probability.validity.plot.curves
    close_view(page)


@pytest.mark.thorough
def test_the_curves_are_exported_while_they_are_seen(
    ran: MainWindow, page: EvidenceController, tmp_path: Path
) -> None:
    open_view(page)
    rest(ran)
    items = {item.key: item for item in export_items(ran.models, ran.sections)}
    assert not items["plot-validity"].unavailable
    write_item(items["plot-validity"], tmp_path / "validity.png")
    assert (tmp_path / "validity.png").stat().st_size > 1000
    header, rows = page.probability.validity.plot.numbers()[:2]
    assert {"low", "high"} <= set(header) and len(rows) == 2 * K
    close_view(page)


@pytest.mark.thorough
def test_it_comes_back_with_the_run_and_stands_in_the_report(
    opened: Opened, folds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches what is kept for another model or part."""
    kept = tmp_path / "kept.rankstudio"
    with opened(folds) as window:
        window.session.change(
            "rankrls", method="rankrls", parameters={"regularization": (1.0,)}
        )
        finish(window)
        window.study_files.save_as(str(kept))
        wait_until(lambda: window.models.study_store.path == kept.resolve())
        window.workspace.show_page("evidence")
        rest(window)
        page = window.sections.evidence
        assert page.probability.isVisible() and not page.probability.view.isVisible()
        wait_until(lambda: not window.models.task_worker.jobs)
        fold, before = window.session.fold, page.validity.found
        assert before is not None and not before.selects
        window.workspace.show_page("report")
        wait_until(lambda: window.sections.report.report is not None)
        sections = {
            section.key: section for section in window.sections.report.report.sections
        }
        table, figure = sections["evidence"].blocks[-2:]
        n_features = len(before.columns)
        assert table.title.startswith(f"Run 1, fold {fold}: validity")
        assert table.title.endswith(f"with {n_features} features")
        assert [row[0] for row in table.rows] == list(map(str, before.sizes))
        means = before.found.validity_means.mean
        assert figure.figure.series[0].y == tuple(means)

    def never(*_: object) -> object:
        raise AssertionError("it is known")

    monkeypatch.setattr(validity, "_validity_steps", never)
    with opened(folds, config="other") as window:
        window.open_path(str(kept))
        wait_until(lambda: window.runs.records and window.session.has_documents)
        window.session.show_fold(fold)
        wait_until(lambda: window.current.model is not None)
        window.workspace.show_page("evidence")
        rest(window)
        found = window.sections.evidence.validity.found
        assert found is not None and found is not before
        np.testing.assert_array_equal(found.found.validity, before.found.validity)
        assert window.sections.evidence.probability.validity.plot.curves
