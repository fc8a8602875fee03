"""What the window exports of the plan, and of the data with the features of the current model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication
from waiting import wait_until
from windows import finish
from wording import naming

from rankstudio.engine import open_dataset
from rankstudio.engine.data.formats.format_catalog import written_formats
from rankstudio.engine.errors import OutputError
from rankstudio.engine.experiment.plan.as_code import PLAN_FORMATS
from rankstudio.engine.export import dataset_files
from rankstudio.ui.export.dialog import ExportDialog
from rankstudio.ui.main_window import MainWindow


@pytest.mark.thorough
def test_the_report_is_saved_although_its_page_was_never_seen(
    window: MainWindow, tmp_path: Path
) -> None:
    """Catches a report that only the Report page can write, and one without its words or numbers."""
    dialog = window.export_controller.dialog()
    dialog.select("report")
    assert dialog._unavailable == "The study has no finished run yet."
    dialog.close()
    finish(window)
    window.sections.report.words.notes.setPlainText("Two features do.")
    dialog = window.export_controller.dialog()
    dialog.select("report")
    for place, ending, beginning in (
        (0, "html", b"<!doctype html>"),
        (1, "pdf", b"%pdf"),
    ):
        path = tmp_path / f"report.{ending}"
        assert str(path) in save(dialog, place, path)
        assert path.read_bytes().lower().startswith(beginning)
    result = window.runs.records[0].result
    assert result is not None
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Two features do." in html and f"{result.average['MAP']:.4f}" in html
    dialog.close()


def test_every_format_of_a_plan_is_offered_saved_and_copied(
    ran: MainWindow, tmp_path: Path
) -> None:
    dialog = ran.export_controller.dialog()
    labels = [dialog._list.item(row).text() for row in range(dialog._list.count())]
    assert labels[-len(PLAN_FORMATS) :] == [form.label for form in PLAN_FORMATS]
    for form in PLAN_FORMATS:
        dialog.select(f"plan-{form.key}")
        assert dialog.path.suffix == form.suffix
        path = tmp_path / f"plan{form.suffix}"
        dialog._path.setText(str(path))
        dialog.save()
        expected = form.text(ran.session.plan, "", {})
        assert path.read_text(encoding="utf-8") == expected
        dialog.copy()
        assert QGuiApplication.clipboard().text() == expected.rstrip()
    dialog.deleteLater()


def opened(window: MainWindow) -> ExportDialog:
    """Return the dialog with the item selected."""
    dialog = window.export_controller.dialog()
    dialog.select("selected-data")
    return dialog


def save(dialog: ExportDialog, place: int, path: Path) -> str:
    """Save in a format, and return what is said in the end."""
    dialog._format.setCurrentIndex(place)
    dialog._format.activated.emit(place)
    dialog._path.setText(str(path))
    dialog.save()
    wait_until(lambda: not dialog._writing_jobs)
    return dialog.message.text()


def test_the_parts_of_the_fold_are_written_in_every_format(
    ran: MainWindow, tmp_path: Path
) -> None:
    ran.session.show_fold(2)
    model, dataset = ran.current.model, ran.session.dataset
    assert model is not None and dataset is not None
    columns = sorted(model.step.selected)
    dialog = opened(ran)
    assert f"fold 2 with the {len(columns)} features" in dialog._help.text()
    for place, form in enumerate(written_formats()):
        out = tmp_path / form.key
        said = save(dialog, place, out)
        assert said.startswith(f"Written to {out}.") and "names of features" not in said
        found = open_dataset(out)
        assert [fold.number for fold in found.folds] == [2]
        assert found.feature_ids.tolist() == list(range(1, len(columns) + 1))
        for name, part in model.fold.parts.items():
            again = found.folds[0].parts[name]
            np.testing.assert_array_equal(again.X, part.X[:, columns])
            np.testing.assert_array_equal(again.y, part.y)
        table = [
            line.split(",")
            for line in (out / "features.csv").read_text().splitlines()[1:]
        ]
        assert [int(old) for *_, old in table] == dataset.feature_ids[columns].tolist()
    dialog.deleteLater()


def test_plots_are_written_with_data_and_fold_while_the_dialog_goes_on(
    ran: MainWindow, tmp_path: Path
) -> None:
    ran.session.show_fold(2)
    dialog = ran.export_controller.dialog()
    paths = [tmp_path / "criterion.svg", tmp_path / "validation.csv"]
    for path in paths:
        dialog.select(f"plot-{path.stem}")
        dialog._path.setText(str(path))
        dialog.save()
        assert path in dialog._writing_jobs and dialog._list.isEnabled()
    wait_until(lambda: not dialog._writing_jobs)
    assert ran.session.dataset is not None
    for path in paths:
        said = path.with_name(path.name + ".txt").read_text(encoding="utf-8")
        assert path.exists() and ran.session.dataset.name in said and "fold 2" in said
    assert f"{ran.session.dataset.name}, fold 2" in paths[0].read_text(encoding="utf-8")
    dialog.save()  # asks before it replaces
    assert not dialog._writing_jobs
    dialog.deleteLater()


def test_nothing_is_replaced_before_it_is_asked_for_twice(
    ran: MainWindow, tmp_path: Path
) -> None:
    dialog = opened(ran)
    out = tmp_path / "few"
    out.mkdir()
    (out / "features.csv").write_text("mine")
    assert "features.csv already exists" in save(dialog, 0, out)
    assert [path.name for path in out.iterdir()] == ["features.csv"]
    dialog.save()
    wait_until(lambda: not dialog._writing_jobs)
    assert dialog.message.text().startswith("Written to") and open_dataset(out).folds
    dialog.deleteLater()


def test_a_full_disk_is_a_sentence(
    ran: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def full(*_: object, **__: object) -> None:
        raise OutputError("train.txt could not be written: No space left on device.")

    monkeypatch.setattr(dataset_files, "save_dataset", full)
    dialog = opened(ran)
    told: list[Path] = []
    dialog.saved.connect(told.append)
    assert naming("No space left on device").search(save(dialog, 0, tmp_path / "few"))
    assert not told and dialog._save.isEnabled()
    dialog.deleteLater()


def test_without_a_model_it_says_why(window: MainWindow) -> None:
    dialog = opened(window)
    assert (
        naming("model").search(dialog.message.text()) and not dialog._save.isEnabled()
    )
    dialog.deleteLater()


@pytest.mark.thorough
def test_the_figures_of_a_paper_are_written_from_the_runs(
    window: MainWindow, tmp_path: Path
) -> None:
    finish(window)
    dialog = window.export_controller.dialog()
    dialog.select("figures-greedy-rankrls")
    if window.session.sealed:
        assert not dialog._save.isEnabled()
        window.session.seal(False)
        dialog.deleteLater()
        dialog = window.export_controller.dialog()
        dialog.select("figures-greedy-rankrls")
    said = save(dialog, 0, tmp_path / "figures")
    assert said.startswith("Written to")
    written = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {"figure3.pdf", "figure3.csv", "figure3.txt"} <= written
    dialog.deleteLater()
