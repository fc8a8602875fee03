"""No dialog of the window saves over what the window reads: its data, by whichever name, and its study."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from windows import finish, open_window, write_folds

from rankstudio.engine.errors import OutputError
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.plots import Plot
from rankstudio.ui.plots.base import PlotMenu
from rankstudio.ui.process.files_read import refuse_read
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import TableView


@pytest.fixture
def window(theme: Theme, tmp_path: Path) -> Iterator[MainWindow]:
    with open_window(
        theme, tmp_path / "config", write_folds(tmp_path / "Made")
    ) as made:
        yield made


@pytest.mark.thorough
def test_no_dialog_saves_over_data_or_study(
    window: MainWindow, tmp_path: Path, monkeypatch
) -> None:
    finish(window)
    study = window.models.study_store.path
    assert study is not None
    data = tmp_path / "Made" / "Fold1" / "vali.txt"
    (tmp_path / "link.toml").symlink_to(data)
    (tmp_path / "hard.html").hardlink_to(data)
    before = {
        path: path.read_bytes() for path in (data, *(tmp_path / "Made").rglob("*.txt"))
    }
    said: list[str] = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(chosen), ""))
    exports, report = window.export_controller, window.sections.report
    exports.failed.connect(said.append)
    report.failed.connect(said.append)

    chosen = tmp_path / "link.toml"
    exports.ask_save_plan()
    report.save(tmp_path / "hard.html")
    table = next(t for t in window.findChildren(TableView) if t.model().rowCount())
    plot = next(p for p in window.findChildren(Plot) if not p.is_empty())
    table.failed.connect(said.append)
    plot.failed.connect(said.append)
    for chosen in (data, study):  # noqa: B007 - the file dialog answers it
        table.save_as()
        PlotMenu(plot).save_as()
    assert len(said) == 6 and all(
        "overwrite the input" in sentence for sentence in said
    ), said

    figures = exports.figure_dialog(plot)
    figures.save(data)
    assert "overwrite the input" in figures.message.text()
    dialog = exports.dialog()
    dialog._path.setText(str(data))
    dialog.save()
    dialog.save()
    assert "overwrite the input" in dialog.message.text()
    for made in (figures, dialog):
        made.deleteLater()
    with pytest.raises(OutputError):
        refuse_read(table, [study])
    assert {path: path.read_bytes() for path in before} == before
    chosen = tmp_path / "plan.toml"
    exports.ask_save_plan()
    assert chosen.is_file(), "elsewhere is as it was"
