"""Sparse data in the window: every page and panel shows what it shows of the same data dense."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from random import Random
from typing import Any

import pytest
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget
from sparse_draws import stored, write_data
from walks.complaints import Complaints, listening
from walks.stage import Places, Stage
from walks.steps import KINDS
from windows import unseal

from rankstudio.engine.support.sparse_rows import SparseRows
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, TableView

CHECKS = 4
"""Methods of a check; with --sparse-runs, so many."""

NOT_SHOWN = {
    ("features", "substitutes-panel"),
    ("evidence", "evidence-panel"),
    ("evidence", "best-set-panel"),
    ("evidence", "probability-panel"),
    ("evidence", "sets-panel"),
    ("evidence", "stop-panel"),
    ("features", ""),
    ("evidence", ""),
}
"""Panels that compare pairs or sets of features, which of sparse ones they do not: a sentence says so.

Outside of panels there is the tray, with a set that evidence brings.
"""
SECTIONS = ("report", "report-preview-panel")
"""A report has no section on substitutes then."""

SPARSE = "or sparse."
NONE = {"", "–"}

_NUMBER = re.compile(r"[-+−]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
_DURATION = re.compile(
    r"\d+(?:\.\d+)? (?:ms|s|min|h)\b|\d+:\d\d(?::\d\d)?|\d+(?:\.\d+)? (?:B|kB|MB|GB)\b"
)

Texts = dict[tuple[str, str], list[str]]
"""What is said, by page or tab and panel."""


def places(window: MainWindow) -> list[str]:
    """Return the keys of all pages."""
    return [page.key for page in window.workspace.entries]


def panel_of(widget: QWidget | None) -> str:
    """Return the name of the panel that a widget is in; "" for none."""
    while widget is not None and not isinstance(widget, Panel):
        widget = widget.parentWidget()
    return "" if widget is None else widget.objectName()


def said(widget: QWidget) -> Iterator[str]:
    """Yield what a widget says."""
    match widget:
        case QLabel() | QAbstractButton():
            yield widget.text()
        case TableView() if (model := widget.model()) is not None:
            for row in range(model.rowCount()):
                for column in range(model.columnCount()):
                    yield str(model.index(row, column).data() or "")
    if hasattr(widget, "placeholder"):
        yield str(widget.placeholder)


def shown(stage: Stage, plan: dict[str, Any], complaints: Complaints) -> Texts:
    """Run a plan, and return what each panel of each page says of it, without durations and sizes."""
    window = stage.window
    bare: dict[str, Any] = {"parameters": {}, "ranker": "", "ranker_parameters": {}}
    window.session.change("editing", **{**bare, **plan})
    window.commands["run"].trigger()
    stage.rest()
    assert window.runs.shown.failure == ""
    window.session.show_fold(1)
    texts: Texts = {}
    for place in places(window):
        window.workspace.show_page(place)
        stage.rest()
        assert not complaints.take(), f"{plan}, {place}"
        texts["notices", place] = [
            window.notice.text() if window.notice.isVisible() else ""
        ]
        for widget in window.findChildren(QWidget):
            if widget.isVisible():
                own = texts.setdefault((place, panel_of(widget)), [])
                own += [
                    _DURATION.sub("T", text) for text in said(widget) if "…" not in text
                ]
    return texts


def close(a: str, b: str) -> bool:
    """Return whether two texts are equal but for the rounding of their numbers."""
    if a == b:
        return True
    if _NUMBER.sub("#", a) != _NUMBER.sub("#", b):
        return False
    numbers = (
        (float(n.replace("−", "-").replace(",", "")) for n in _NUMBER.findall(text))
        for text in (a, b)
    )
    return all(
        isclose(*pair, rel_tol=1e-3, abs_tol=1.1e-4)
        for pair in zip(*numbers, strict=True)
    )


def in_windows(
    kinds: list[str], theme: Theme, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[list[Texts]]:
    """Return what is said after runs of some kinds, in a window with dense and in one with sparse rows."""
    write_data(folder / "data")
    texts = []
    for is_sparse in (False, True):
        own = folder / f"sparse-{is_sparse}"
        own.mkdir()
        monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(own / "user"))
        monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(own / "cache"))
        stage = Stage(theme, own, Places((str(folder / "data"),), folder, folder))
        with stored(sparse=is_sparse), listening() as complaints:
            stage.open()
            try:
                unseal(stage.window)
                stage.window.open_path(str(folder / "data"))
                stage.rest()
                dataset = stage.window.session.dataset
                assert dataset is not None
                assert isinstance(dataset.folds[0].train.X, SparseRows) is is_sparse
                texts.append([shown(stage, KINDS[kind], complaints) for kind in kinds])
            finally:
                stage.close()
    return texts


def differences(dense: Texts, sparse: Texts) -> Iterator[str]:
    """Yield what a window says of sparse rows alone, or of dense ones alone."""
    for place in dense | sparse:
        ours, theirs = dense.get(place, []), sparse.get(place, [])
        if place in NOT_SHOWN and any(
            SPARSE in text for text in sparse.get((place[0], NAMED[place[0]]), [])
        ):
            continue
        if place == SECTIONS:
            ours, theirs = (
                [text for text in said if "sections" not in text]
                for said in (ours, theirs)
            )
        odd = [pair for pair in zip(ours, theirs, strict=False) if not close(*pair)]
        if odd or len(ours) != len(theirs):
            yield f"{place}: {odd[:5]}, {ours[len(theirs) :]} and {theirs[len(ours) :]}"


NAMED = {"features": "substitutes-panel", "evidence": "evidence-panel"}
"""Which panel says why those of `NOT_SHOWN` are empty."""


def held_against_dense(kinds: list[str], *given: Any) -> None:
    dense, sparse = in_windows(kinds, *given)
    faults = [
        f"{kind}, {fault}"
        for kind, *own in zip(kinds, dense, sparse, strict=True)
        for fault in differences(*own)
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.thorough
def test_pages_of_drawn_methods(
    theme: Theme,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pytestconfig: pytest.Config,
) -> None:
    option = pytestconfig.getoption
    drawn = Random(option("--sparse-seed") or 1).sample(sorted(KINDS), len(KINDS))
    held_against_dense(
        drawn[: option("--sparse-runs") or CHECKS], theme, tmp_path, monkeypatch
    )
