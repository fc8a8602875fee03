"""The plan leaves the window in every format that the terminal has."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QGuiApplication

from rankstudio.engine.experiment.plan.as_code import PLAN_FORMATS
from rankstudio.ui.main_window import MainWindow


def test_every_format_of_a_plan_is_offered_saved_and_copied(window: MainWindow, tmp_path: Path) -> None:
    dialog = window.export_controller.dialog()
    labels = [dialog._list.item(row).text() for row in range(dialog._list.count())]
    assert labels[-len(PLAN_FORMATS) :] == [form.label for form in PLAN_FORMATS]
    for form in PLAN_FORMATS:
        dialog.select(f"plan-{form.key}")
        assert dialog.path.suffix == form.suffix
        path = tmp_path / f"plan{form.suffix}"
        dialog._path.setText(str(path))
        dialog.save()
        expected = form.text(window.session.plan, "", {})
        assert path.read_text(encoding="utf-8") == expected
        dialog.copy()
        assert QGuiApplication.clipboard().text() == expected.rstrip()
    dialog.deleteLater()
