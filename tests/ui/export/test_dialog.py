from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from rankstudio.engine.errors import OutputError
from rankstudio.ui.export.dialog import ExportDialog
from rankstudio.ui.page.export_item import ExportItem, FormatWriter
from rankstudio.ui.plots.base import FORMATS


def refuse(path: Path) -> None:
    raise OutputError(f"{path}: no room.")


@pytest.fixture
def dialog(app, theme, tmp_path):
    items = (
        ExportItem(
            "table",
            "Features table",
            "The path.",
            (("CSV", ".csv"), ("TSV", ".tsv")),
            "features",
            lambda path: path.write_text(path.suffix),
        ),
        ExportItem("curves", "Curves", "The plot.", FORMATS, "curves", refuse),
        ExportItem(
            "command",
            "Run as a command",
            "For a terminal.",
            text=lambda: "rankstudio run plan.toml",
        ),
        ExportItem(
            "model",
            "Chosen model",
            "Its weights.",
            (("JSON", ".json"),),
            write=refuse,
            unavailable="No model yet.",
        ),
        ExportItem(
            "gone",
            "Elsewhere",
            "Fails.",
            (("CSV", ".csv"),),
            write=lambda path: path.write_text("x"),
        ),
    )
    made = ExportDialog(theme, items, tmp_path)
    made.show()
    yield made
    made.close()
    made.deleteLater()
    QCoreApplication.sendPostedEvents()


def test_an_item_is_written_where_the_dialog_says(dialog, tmp_path):
    told = []
    dialog.saved.connect(told.append)
    assert dialog.path == tmp_path / "features.csv"
    QTest.mouseClick(dialog._save, Qt.MouseButton.LeftButton)
    assert (tmp_path / "features.csv").read_text() == ".csv"
    assert told == [tmp_path / "features.csv"]
    assert "Written to" in dialog.message.text()


def test_format_and_suffix_follow_each_other(dialog, tmp_path):
    dialog._format.setCurrentIndex(1)
    dialog._format.activated.emit(1)
    assert dialog.path == tmp_path / "features.tsv"
    dialog._path.setText(str(tmp_path / "other.csv"))
    dialog._path.textEdited.emit(dialog._path.text())
    assert dialog._format.currentData() == ".csv"


def test_an_existing_file_is_replaced_only_on_the_second_ask(dialog, tmp_path):
    (tmp_path / "features.csv").write_text("old")
    dialog.save()
    assert (tmp_path / "features.csv").read_text() == "old"
    assert "already exists" in dialog.message.text()
    dialog._path.textEdited.emit(
        dialog._path.text()
    )  # the permission is for what was there when it was asked
    dialog.save()
    assert (tmp_path / "features.csv").read_text() == "old"
    dialog.save()
    assert (tmp_path / "features.csv").read_text() == ".csv"


def test_failures_are_sentences(dialog, tmp_path):
    dialog.select("curves")
    dialog.save()
    assert dialog.message.text() == f"{tmp_path / 'curves.png'}: no room."
    dialog.select("gone")
    dialog._path.setText(str(tmp_path / "no such folder" / "x.csv"))
    dialog.save()
    assert "could not be written: No such file or directory." in dialog.message.text()


def test_what_is_text_is_copied_and_asks_for_no_file(dialog):
    assert not dialog._copy.isVisible()
    assert dialog._path.isVisible() and dialog._save.isVisible()
    dialog.select("command")
    assert dialog._copy.isVisible()
    assert not dialog._save.isEnabled()
    assert (
        not dialog._path.isVisible()
        and not dialog._format.isVisible()
        and not dialog._save.isVisible()
    )
    dialog.copy()
    assert QGuiApplication.clipboard().text() == "rankstudio run plan.toml"


def test_what_is_not_there_says_why_and_writes_nothing(dialog, tmp_path):
    dialog.select("model")
    assert dialog.message.text() == "No model yet."
    assert not dialog._save.isEnabled()
    dialog.save()
    assert not list(tmp_path.iterdir())


def test_a_format_without_a_suffix_has_no_empty_brackets(app, theme, tmp_path):
    item = ExportItem(
        "results", "Results", "A folder.", (("Folder", ""),), "sample", write=refuse
    )
    dialog = ExportDialog(theme, (item,), tmp_path)
    assert dialog._format.currentText() == "Folder"
    assert dialog.path == tmp_path / "sample"


def test_a_format_says_what_it_is_what_it_writes_beside_and_what_was_found(
    app, theme, tmp_path
):
    written, found = [], []

    class Told:
        abandoned = False

        def abandon(self) -> None:
            self.abandoned = True

    job = Told()

    def check(path, say):
        found.append(say)
        return job

    def paths(path):
        return path, path.with_name(f"{path.stem}-features.json")

    one = FormatWriter("For one.", written.append, paths, check)
    other = FormatWriter("For another.", refuse, paths, unavailable="It has no trees.")
    formats = (("One", ".json"), ("Another", ".json"))
    item = ExportItem(
        "model-formats", "Model", "A model.", formats, "m", writers=(one, other)
    )
    dialog = ExportDialog(theme, (item,), tmp_path)
    assert dialog._help.text() == "A model.\n\nFor one."
    dialog._format.setCurrentIndex(1)
    dialog._format.activated.emit(1)
    assert (dialog.message.text(), dialog._save.isEnabled()) == (
        "It has no trees.",
        False,
    )
    assert dialog.path == tmp_path / "m.json"
    dialog.save()
    dialog._format.setCurrentIndex(0)
    dialog._format.activated.emit(0)
    assert dialog._save.isEnabled() and dialog.message.text() == ""
    (tmp_path / "m-features.json").write_text("mine")
    dialog.save()
    assert dialog.message.text().startswith("m-features.json already exists.")
    assert not written
    dialog.save()
    assert written == [tmp_path / "m.json"]
    assert dialog.message.text().endswith("m.json. Verifying the file …")
    found[0]("Identical ranking on 2 of 2 queries.")
    assert dialog.message.text().endswith(
        "m.json. Identical ranking on 2 of 2 queries."
    )
    dialog.done(0)
    assert job.abandoned
