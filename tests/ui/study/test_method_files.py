"""A Python file dropped on the window: asked about, run, shown on every page, changed, and missing later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hands import drop
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog
from waiting import wait_until
from windows import finish, settle

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import save_plan
from rankstudio.engine.methods import catalog
from rankstudio.engine.methods.foreign.measures import measure_of_file
from rankstudio.engine.metrics.measure_registry import MEASURES
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.shell.plugin_list import plugin_rows
from rankstudio.ui.widgets import Question

TEXT = '''
"""<b>Methods</b> &amp; more."""
import numpy as np


class Covariance:
    """Orders features by their covariance with the labels <i>within</i> queries.

    Parameters
    ----------
    power : float
        Exponent, without effect on the order.
    """

    def __init__(self, power: float = 1.0):
        self.power = power

    def fit(self, X, y):
        self.scores_ = np.abs(X.T @ (y - y.mean())) ** self.power
        return self


def broken(X, y):
    raise RuntimeError("no luck")
'''


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Whether a question is agreed to, the last one; what was shown of the code comes after it."""
    given: list[Any] = [True]

    def ask(*_: object, detail: str = "") -> bool:
        given.append(detail)
        return bool(given[0])

    monkeypatch.setattr(Question, "ask", ask)
    return given


def test_a_dropped_file_is_a_method(
    ran: MainWindow, tmp_path: Path, answers: list[Any]
) -> None:
    path = tmp_path / "my method.py"
    path.write_text(TEXT, encoding="utf-8")
    answers[0] = False
    drop(ran, path)
    wait_until(lambda: len(answers) > 1)
    settle(ran)
    assert "def broken" in answers[1] and ran.session.plan.entry.origin is None
    answers[0] = True
    drop(ran, path)
    wait_until(lambda: ran.session.plan.entry.label == "Covariance")
    settle(ran)
    form = ran.sections.select.method.form
    assert form.method_key() == ran.session.plan.method
    assert form.field("power").editor.isVisible()
    assert [row[0] for row in plugin_rows()][-2:] == ["Covariance", "broken"]
    ran.session.change("editing", parameters={"regularization": (1.0,), "power": 2.0})
    finish(ran)
    record = ran.runs.shown
    assert record.failure == "" and len(record.folds) == len(ran.session.dataset.folds)
    for page in PAGES:
        ran.workspace.show_page(page.key)
        settle(ran)
    key = next(entry.key for entry in catalog.methods() if entry.label == "broken")
    ran.session.change("editing", method=key, parameters={})
    finish(ran)
    assert "no luck" in ran.runs.shown.failure and "line 24" in ran.runs.shown.failure


def test_a_changed_file_is_read_again(
    ran: MainWindow, tmp_path: Path, answers: list[Any]
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(TEXT, encoding="utf-8")
    drop(ran, path)
    wait_until(lambda: ran.session.plan.entry.label == "Covariance")
    before = ran.session.plan.method
    ran.session.change("editing", parameters={"power": 3.0})
    files = ran.method_files
    path.write_text("def f(X, y:\n", encoding="utf-8")
    failures: list[str] = []
    files.failed.connect(failures.append)
    files._add(str(path))
    wait_until(lambda: failures)
    assert "line 1" in failures[0] and ran.session.plan.method == before
    path.write_text(TEXT.replace("abs", "absolute"), encoding="utf-8")
    files._add(str(path))
    wait_until(lambda: ran.session.plan.method != before)
    assert (
        ran.session.plan.entry.label == "Covariance"
        and ran.session.plan.parameters["power"] == 3.0
    )
    assert len(answers) == 2, "to read again what the user edits is no new question"
    settle(ran)


def test_a_plan_that_names_code_is_asked_about(
    ran: MainWindow, tmp_path: Path, answers: list[Any]
) -> None:
    mark = tmp_path / "ran"
    text = f"import pathlib\npathlib.Path({str(mark)!r}).mkdir()\ndef f(X, y): return X.var(axis=0)\n"
    (tmp_path / "theirs.py").write_text(text, encoding="utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text('data = "sample"\nmethod = "theirs.py:f"\n', encoding="utf-8")
    answers[0] = False
    drop(ran, plan)
    wait_until(lambda: len(answers) > 1)
    settle(ran)
    assert "theirs.py" in answers[1] and not mark.exists()
    answers[0] = True
    drop(ran, plan)
    wait_until(lambda: ran.session.plan.entry.label == "f")
    assert mark.exists()
    settle(ran)


def test_a_file_that_hangs_is_stopped(
    ran: MainWindow, tmp_path: Path, answers: list[Any]
) -> None:
    end = tmp_path / "end"
    path = tmp_path / "hangs.py"
    path.write_text(
        f"import pathlib\nwhile not pathlib.Path({str(end)!r}).exists():\n    pass\n{TEXT}"
    )
    offers: list[Any] = []
    ran.method_files.offered.connect(lambda *offer: offers.append(offer))
    failures: list[str] = []
    ran.method_files.failed.connect(failures.append)
    ran.method_files._slow_timer.setInterval(0)
    try:
        drop(ran, path)
        wait_until(lambda: offers)
        stop = ran.commands["stop"]
        assert ran.method_files.busy and stop.isEnabled() and "hangs.py" in offers[0][0]
        ran.workspace.show_page("data")
        stop.trigger()
        assert not ran.method_files.busy and "hangs.py" in failures[0]
        wait_until(lambda: not stop.isEnabled())
        settle(ran)
        assert ran.session.plan.entry.origin is None
        drop(ran, path)
        wait_until(lambda: len(offers) > 1)
        path.write_text(TEXT, encoding="utf-8")  # the editor's next save heals it
        ran.method_files._add(str(path))
        wait_until(lambda: ran.session.plan.entry.label == "Covariance")
        settle(ran)
    finally:
        end.touch()
    assert not ran.method_files.busy


MEASURE = '''
def half(labels, cutoff=None):
    """Share of relevant documents in the first half."""
    first = labels[: max(1, len(labels) // 2)][:cutoff]
    return float((first > 0).mean())


def _helper(labels):
    return 0.0
'''


@pytest.fixture
def own_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MEASURES, "_listed", {})
    monkeypatch.setattr(MEASURES, "_remembered", {})


def listed(window: MainWindow) -> list[str]:
    return [action.data() for action in window.commands.submenus["measure"].actions()]


@pytest.mark.usefixtures("own_measures")
def test_a_dropped_file_is_a_measure(
    ran: MainWindow, tmp_path: Path, answers: list[Any]
) -> None:
    path = tmp_path / "my measure.py"
    path.write_text(MEASURE, encoding="utf-8")
    method, session = ran.session.plan.method, ran.session
    drop(ran, path)
    wait_until(lambda: session.measure.startswith("half-"))
    settle(ran)
    key = session.measure
    assert "first half" in answers[1] and len(answers) == 2
    assert session.plan.measures[-1] == key and session.plan.method == method
    assert key in listed(ran) and ran.toolbar.measure_button.text() == key
    criteria = [
        name
        for name, _ in ran.sections.select.method.form.field(
            "select_by"
        ).parameter.choices
    ]
    assert key in criteria
    session.change(
        "editing", parameters={"regularization": (1.0,), "n_features_to_select": 2}
    )
    finish(ran)
    fold = ran.runs.shown.folds[1]
    assert 0.0 < fold.test[key] <= 1.0
    plan = tmp_path / "plan.toml"
    save_plan(session.plan, plan)
    assert "my measure.py:half@" in plan.read_text(encoding="utf-8")
    # Another text of the file is another measure, which takes the place of the earlier one.
    path.write_text(MEASURE.replace("max(1", "max(2"), encoding="utf-8")
    ran.method_files._add(str(path))
    wait_until(lambda: session.measure != key)
    settle(ran)
    assert session.measure.startswith("half-") and key not in session.plan.measures
    assert session.plan.measures[-1] == session.measure and len(answers) == 2
    session.undo.undo()
    session.show_measure("MAP")
    settle(ran)


@pytest.mark.usefixtures("own_measures")
def test_a_plan_with_a_measure_shows_its_code(
    ran: MainWindow, tmp_path: Path, answers: list[Any]
) -> None:
    path = tmp_path / "theirs.py"
    path.write_text(MEASURE, encoding="utf-8")
    key = MEASURES.add(measure_of_file(f"{path}:half")).key
    plan = tmp_path / "plan.toml"
    save_plan(Plan("sample", measures=("MAP", key)), plan)
    MEASURES._listed = {}
    answers[0] = False
    drop(ran, plan)
    wait_until(lambda: len(answers) > 1)
    settle(ran)
    assert "def half" in answers[1] and not MEASURES.entries()
    answers[0] = True
    drop(ran, plan)
    wait_until(lambda: key in ran.session.plan.measures)
    settle(ran)


@pytest.mark.usefixtures("own_measures")
def test_beside_a_method_a_measure_is_only_offered(
    ran: MainWindow, tmp_path: Path, answers: list[Any]
) -> None:
    path = tmp_path / "two.py"
    path.write_text(f"{TEXT}\n{MEASURE}", encoding="utf-8")
    shown, measures = ran.session.measure, ran.session.plan.measures
    drop(ran, path)
    wait_until(lambda: ran.session.plan.entry.label == "Covariance")
    settle(ran)
    assert ran.session.measure == shown and ran.session.plan.measures == measures
    assert any(name.startswith("half-") for name in listed(ran))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", "half(labels)"),
        ("def half(ranked):\n    return 1.0\n", "half(labels)"),
        ("def half(labels:\n", "line 1"),
        (
            "def share_of_the_relevant_ones_in_the_first_half(labels):\n    return 1.0\n",
            "share_of",
        ),
    ],
)
@pytest.mark.usefixtures("own_measures", "answers")
def test_an_odd_file_is_one_sentence(
    ran: MainWindow, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "odd.py"
    path.write_text(text, encoding="utf-8")
    failures: list[str] = []
    ran.method_files.failed.connect(failures.append)
    drop(ran, path)
    wait_until(lambda: failures)
    assert said in failures[0] and "\n" not in failures[0] and len(failures) == 1
    assert not MEASURES.entries()


@pytest.mark.usefixtures("own_measures", "answers")
def test_a_measure_is_chosen_where_measures_are(
    ran: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MEASURE, encoding="utf-8")
    monkeypatch.setattr(
        QInputDialog, "getText", lambda *_, **__: (f"{path}:half@3", True)
    )
    menu = ran.commands.submenus["measure"]
    menu.popup(ran.mapToGlobal(ran.rect().center()))
    place = menu.actionGeometry(menu.actions()[-1]).center()
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=place)
    wait_until(lambda: ran.session.measure.startswith("half-"))
    settle(ran)
