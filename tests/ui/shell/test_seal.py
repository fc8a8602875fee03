"""The sealed test part, in the real window: nothing measured there is seen until the seal is broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from waiting import wait_until
from windows import Opened, finish, open_window, settle, write_folds

from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.ui.export.items import export_items
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import CoveredNumber, TableView

pytestmark = pytest.mark.usefixtures("shelf_folder")


def seal_text(window: MainWindow) -> str:
    return window.status._seal.text()


def numbers_of_the_test(record: RunRecord) -> set[str]:
    """Return everything that was measured on the test part, as tables write it."""
    folds = [*record.folds.values()]
    measured = [value for fold in folds for value in fold.test.values()]
    measured += [value for fold in folds for value in fold.baseline.test.values()]
    measured += list(record.result.average.values()) if record.result else []
    return {f"{value:.4f}" for value in measured if 0.0 < value < 1.0}


def shown_texts(window: MainWindow) -> str:
    """Return the texts of all tables of Compare and of what Select and Features say of the test."""
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    results, inspect = window.sections.compare, window.sections.features
    tables = []
    for key in ("pareto", "tests", "folds", "stability", "conventions", "published"):
        window.workspace.show_page("compare")
        results.views.show_view(key)
        settle(window)
        tables += [
            table.rows_as_csv()
            for table in window.sections.pages["compare"].shared(TableView)
        ]
    panels = [
        window.sections.select.strip._state.text(),
        inspect.features._test.text(),
        inspect.features._test.toolTip(),
    ]
    return "\n".join([*tables, results.panel.table.rows_as_csv(), *panels])


def test_a_sealed_test_part_is_covered_everywhere_and_each_look_is_counted(
    window: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    finish(window)
    record = window.runs.records[0]
    validated = {
        f"{v:.4f}"
        for path in record.paths.values()
        for row in path.validation.values()
        for v in row
    }
    validated |= {
        f"{v:.4f}"
        for fold in record.folds.values()
        for v in fold.baseline.validation.values()
    }
    secret = numbers_of_the_test(record) - validated
    assert secret
    before = shown_texts(window)
    assert any(number in before for number in secret)
    assert seal_text(window) == ""
    window.commands["seal"].trigger()
    settle(window)
    assert seal_text(window) == "test part sealed"
    assert window.current.test == {}
    text = shown_texts(window)
    row = window.sections.compare.panel.rows()[0]
    assert row.summary.part is Part.CROSS_FITTED
    assert window.sections.compare.panel.caption().endswith(" · test part sealed")
    means = {f"{value:.4f}" for value in row.summary.means.values()}
    assert {number for number in secret - means if number in text} == set()
    assert not window.sections.features.features._covered.isHidden()
    items = {item.key: item for item in export_items(window.models, window.sections)}
    assert "sealed" in items["results"].unavailable
    window.commands["seal"].trigger()
    settle(window)
    assert seal_text(window) == "test part shown once"
    assert shown_texts(window) == before


def test_a_new_study_is_sealed_until_a_covered_number_is_clicked(
    opened: Opened, folds: Path
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    with opened(folds, sealed=True) as window:
        finish(window)
        sections, secret = window.sections, numbers_of_the_test(window.runs.records[0])
        for page, panel in (
            ("select", sections.select.strip),
            ("compare", sections.compare.panel),
        ):
            window.workspace.show_page(page)
            settle(window)
            covered = panel.findChild(CoveredNumber)
            assert covered is not None and covered.isVisible()
        window.workspace.show_page("features")
        settle(window)
        path = sections.features.path
        assert path._covered.isVisible() and path._test.text() == ""
        path._covered.click()
        settle(window)
        assert not path._covered.isVisible()
        assert any(number in path._test.text() for number in secret)
        assert seal_text(window) == "test part shown once"
        study = window.models.study_store.study
        wait_until(lambda: [mark.sealed for mark in study.seal_marks] == [True, False])


def test_a_study_that_was_never_sealed_opens_unsealed(
    opened: Opened, tmp_path: Path
) -> None:
    with Study.create(tmp_path / "old.rankstudio") as study:
        path = study.path
    with opened(sealed=True) as window:
        assert window.session.sealed
        window.open_path(str(path))
        wait_until(lambda: window.study_files.name == "old")
        assert not window.session.sealed and seal_text(window) == ""


def said_by_report(window: MainWindow) -> None:
    """See that the report, which is on the open data, says that their test part is sealed."""
    from rankstudio.plugins.report.document import Paragraph  # noqa: PLC0415
    from rankstudio.plugins.report.window.report_tasks import report_of  # noqa: PLC0415

    report = report_of(window.sections.report.request())
    [shown] = [s for s in report.sections if s.key == "seal"]
    texts = [block.text for block in shown.blocks if isinstance(block, Paragraph)]
    assert texts == ["Second: test part sealed."]


def test_a_look_at_one_dataset_leaves_the_others_sealed(
    opened: Opened, tmp_path: Path
) -> None:
    first, second = (write_folds(tmp_path / name) for name in ("First", "Second"))
    with opened(first, sealed=True) as window:
        finish(window)
        window.session.unsealAsked.emit()
        settle(window)
        assert seal_text(window) == "test part shown once"
        assert not window.commands["seal"].isChecked()
        window.open_path(str(second))
        wait_until(
            lambda: (
                window.session.dataset is not None
                and window.session.dataset.name == "Second"
            )
        )
        assert window.session.sealed and window.commands["seal"].isChecked()
        assert seal_text(window) == "test part sealed"
        finish(window)
        parts = [row.summary.part for row in window.sections.compare.panel.rows()]
        assert parts == [Part.TEST, Part.CROSS_FITTED]
        assert window.sections.compare.panel.caption().endswith(
            "test part of Second sealed"
        )
        # the folder of an ability may be absent
        if "report" in window.sections.controllers:
            said_by_report(window)
        window.commands["seal"].trigger()
        settle(window)
        assert seal_text(window) == "test part shown once"
        window.open_path(str(first))
        wait_until(
            lambda: (
                window.session.dataset is not None
                and window.session.dataset.name == "First"
            )
        )
        assert seal_text(window) == "test part shown once"
        study = window.models.study_store.study
        wait_until(
            lambda: [mark.sealed for mark in study.seal_marks] == [True, False, False]
        )
        assert study.seal_marks == window.session.seal_marks


@pytest.mark.thorough
def test_differences_and_queries_of_a_sealed_test_part_are_those_of_the_validation(
    window: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.queries")  # its folder may be absent
    finish(window)
    window.session.change(
        "editing", method="rankrls", parameters={"regularization": (0.5, 2.0)}
    )
    finish(window)
    results, queries = window.sections.compare, window.sections.queries
    window.workspace.show_page("queries")
    settle(window)
    assert [key for key, _ in queries.bar.part.options()] == ["test", "vali", "train"]
    assert queries.queries
    window.commands["seal"].trigger()
    # at once, not only when those of the validation are there
    assert not queries.queries
    settle(window)
    assert queries.queries
    assert queries.bar.part.options() == [("vali", "validation"), ("train", "training")]
    assert queries._shown[0].part == "vali"
    window.workspace.show_page("compare")
    settle(window)
    measured = [
        window.models.measured.view(record).result for record in window.runs.records
    ]
    values = [run.per_query("MAP") for run in measured if run is not None]
    found = [
        compared.paired_test
        for compared in results._tests.rows
        if compared.paired_test is not None
    ]
    assert len(found) == 1
    assert abs(found[0].mean_difference) == pytest.approx(
        abs(np.nanmean(values[0] - values[1]))
    )
    n_validated = sum(
        fold.vali.n_queries
        for fold in window.runs.records[0].dataset.folds
        if fold.vali
    )
    assert values[0].size == n_validated
    window.commands["seal"].trigger()
    settle(window)
    window.workspace.show_page("queries")
    settle(window)
    assert [key for key, _ in queries.bar.part.options()] == ["test", "vali", "train"]


@pytest.mark.thorough
def test_the_study_remembers_the_seal(theme: Theme, tmp_path: Path) -> None:
    folder, config = write_folds(tmp_path / "Small"), tmp_path / "config.ini"
    with open_window(theme, config, folder, sealed=True) as window:
        assert seal_text(window) == "test part sealed"  # before there is a study
        finish(window)
        for _ in range(2):
            window.commands["seal"].trigger()
        settle(window)
        assert seal_text(window) == "test part sealed, shown once before"
        path = window.models.study_store.path
    assert path is not None
    with open_window(theme, config, folder) as window:
        assert not window.session.sealed
        window.study_files.open(str(path))
        wait_until(
            lambda: bool(window.runs.records) and not window.models.task_worker.jobs
        )
        assert window.commands["seal"].isChecked()
        assert seal_text(window) == "test part sealed, shown once before"
        assert window.current.test == {}
        window.commands["seal"].trigger()
        settle(window)
        assert seal_text(window) == "test part shown 2 times"
        window.study_files.new()
        assert seal_text(window) == "test part sealed"
        assert window.session.sealed


@pytest.mark.thorough
def test_runs_of_a_sealed_study_are_measured_anew_as_soon_as_their_data_are_there(
    window: MainWindow,
) -> None:
    finish(window)
    window.commands["seal"].trigger()
    window.session.show_measure("Disagreement")  # the run did not measure it
    settle(window)

    def shown() -> tuple[object, ...]:
        (row,) = window.sections.compare.panel.rows()
        curves = window.sections.select.curves.validation_plot.family.curves
        return dict(row.summary.means), [
            (list(one.xs), list(one.ys)) for one in curves.values() if one.xs
        ]

    before, path = shown(), window.models.study_store.path
    assert "Disagreement" in before[0] and before[1]  # type: ignore[operator]
    window.study_files.new()
    settle(window)
    window.study_files.open(str(path))
    wait_until(lambda: bool(window.runs.records) and not window.models.task_worker.jobs)
    settle(window)
    assert window.session.sealed and window.runs.records[0].recorded is None
    assert shown() == before


def test_data_without_a_test_part_have_none_that_is_sealed(
    empty: MainWindow, folds: Path
) -> None:
    empty.open_controller.open_path(str(folds / "Fold1" / "train.txt"))
    settle(empty)
    assert seal_text(empty) == "no test part"
