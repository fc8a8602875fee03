"""The final model: the same bytes from window, terminal and Python, and a reason where there is none."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import wait_until
from windows import finish, write_folds

from rankstudio.cli import main
from rankstudio.engine import evaluate
from rankstudio.engine.analysis.measurements.measurement import without_test
from rankstudio.engine.data.splitting.splits import every_query
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.experiment import refit as refit_module
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import save_plan
from rankstudio.engine.experiment.refit import refit
from rankstudio.engine.experiment.runner import collect, open_data, run_plan
from rankstudio.engine.export.formats.registry import model_formats
from rankstudio.engine.export.models import load_model, save_model
from rankstudio.engine.support.work import WorkProgress
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.export.dialog import ExportDialog
from rankstudio.ui.export.final_model import final_model_item
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.page.export_item import ExportItem

MODEL_FORMATS = model_formats()

GRID = {"regularization": (0.5, 4.0, 32.0)}
FILTERED: dict[str, Any] = {
    "ranker": "ranksvm",
    "ranker_parameters": {"C": (0.01, 1.0)},
}
TREES = {"n_rounds": 5, "min_data_in_leaf": 3}

CASES = {
    "greedy, best, given": (2, {"parameters": GRID}),
    "greedy, one-se, k-fold": (
        1,
        {"parameters": GRID, "rule": "one-se", "protocol": "4-fold"},
    ),
    "greedy, smallest, given": (2, {"parameters": GRID, "rule": "smallest"}),
    "greedy, at most 2, nested": (
        1,
        {"parameters": GRID, "rule": "at most 2", "protocol": "3-fold, nested 2-fold"},
    ),
    "greedy, best, one fold": (1, {"parameters": GRID}),
    "greedy, left out": (2, {"parameters": GRID, "select_by": "leave-query-out MAP"}),
    "greedy, criterion": (1, {"protocol": "leave-query-out", "select_by": "criterion"}),
    "FSMRank, best, given": (2, {"method": "fsmrank"}),
    "FSMRank, at most 7, k-fold": (
        1,
        {"method": "fsmrank", "rule": "at most 7", "protocol": "3-fold"},
    ),
    "filter and ranker, best": (2, {"method": "mutual-information", **FILTERED}),
    "filter and ranker, smallest, k-fold": (
        1,
        {
            "method": "mutual-information",
            **FILTERED,
            "rule": "smallest",
            "protocol": "3-fold",
        },
    ),
    "LambdaMART, best, given": (2, {"method": "lambdamart", "parameters": TREES}),
    "LambdaMART, one-se, nested": (
        1,
        {
            "method": "lambdamart",
            "parameters": TREES,
            "rule": "one-se",
            "protocol": "given, nested 2-fold",
        },
    ),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Data of one fold, and of two whose test parts do not contain all queries."""
    folder = tmp_path_factory.mktemp("places")
    return {n: write_folds(folder / f"data{n}", n) for n in (1, 2)}


@pytest.fixture
def worker() -> Any:
    made = Worker("test", interval=1)
    yield made
    made.close()


def recorded(plan: Plan, **changes: Any) -> RunRecord:
    """Return a finished run as the window knows it."""
    dataset = open_data(plan)
    result = run_plan(plan, dataset)
    return replace(RunRecord(1, plan, dataset, RunState.DONE, result=result), **changes)


def item_of(
    record: RunRecord | None, worker: Worker, *, has_documents: bool = True
) -> ExportItem:
    dataset = record.dataset if record is not None else None
    session: Any = SimpleNamespace(
        dataset=dataset, has_documents=has_documents, measure="MAP"
    )
    measured = (
        MeasuredRun(record.plan, result=record.result) if record is not None else None
    )
    return final_model_item(session, record, measured, worker, "small", None)


def written(item: ExportItem, position: int, path: Path) -> str:
    """Write in a format as the dialog does; return what is said."""
    begin, notes = item.writers[position].begin, list[str]()
    assert begin is not None
    begin(path, notes.append, pytest.fail)
    wait_until(lambda: bool(notes))
    return notes[0]


def test_the_number_that_estimates_its_quality_is_named(
    app: object, places: dict[int, Path], worker: Worker
) -> None:
    record = recorded(Plan(str(places[2])))
    assert record.result is not None
    mean = f"{record.result.average['MAP']:.4f}"
    n_queries = sum(record.result.queries_per_fold)
    help_text = item_of(record, worker).help
    assert mean in help_text and str(n_queries) in help_text
    folds = tuple(map(without_test, record.result.folds))
    covered = replace(record, result=replace(record.result, folds=folds))
    assert mean not in item_of(covered, worker).help


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            marks=[pytest.mark.ability("trees")]
            if case.startswith("LambdaMART")
            else [],
        )
        for case in CASES
    ],
)
def test_window_terminal_and_python_write_the_same_bytes(
    app: object, case: str, places: dict[int, Path], worker: Worker, tmp_path: Path
) -> None:
    n_folds, settings = CASES[case]
    plan = Plan(str(places[n_folds]), **settings)
    save_plan(plan, tmp_path / "plan.toml")
    assert (
        main(
            [
                "run",
                str(tmp_path / "plan.toml"),
                "--out",
                str(tmp_path / "out"),
                "--refit",
            ]
        )
        == 0
    )
    by_terminal = (tmp_path / "out" / "models" / "all.json").read_bytes()

    record = recorded(plan)
    assert record.result is not None
    save_model(tmp_path / "python.json", refit(record.result, record.dataset))
    assert (tmp_path / "python.json").read_bytes() == by_terminal

    item = item_of(record, worker)
    assert not item.unavailable
    written(item, 0, tmp_path / "window.json")
    assert (tmp_path / "window.json").read_bytes() == by_terminal
    # these data are not LETOR's
    assert record.result.plan == plan.changed(convention="standard")


@pytest.mark.ability("exports")
@pytest.mark.parametrize("case", ["greedy, best, given", "LambdaMART, best, given"])
def test_every_format_of_the_window_has_the_bytes_of_the_terminal(
    app: object, case: str, places: dict[int, Path], worker: Worker, tmp_path: Path
) -> None:
    n_folds, settings = CASES[case]
    record = recorded(Plan(str(places[n_folds]), **settings))
    assert record.result is not None
    model = refit(record.result, record.dataset)
    save_model(tmp_path / "all.json", model)
    item, n_written = item_of(record, worker), 0
    n_own = len(item.formats) - len(MODEL_FORMATS)
    for position, form in enumerate(MODEL_FORMATS.values(), start=n_own):
        here, there = (
            tmp_path / f"window{form.suffix}",
            tmp_path / f"terminal{form.suffix}",
        )
        asked = [
            "export",
            str(tmp_path / "all.json"),
            "--to",
            form.key,
            "--out",
            str(there),
            "--force",
        ]
        if item.writers[position].unavailable:
            assert main(asked) == 1
            continue
        if form.key in ("elasticsearch-rank-feature", "onnx"):
            continue  # negative weights are refused; an extra
        note = written(item, position, here)
        assert main(asked) == 0
        for own, other in zip(
            form.paths(here).values(), form.paths(there).values(), strict=True
        ):
            assert own.exists() is other.exists()
            assert not own.exists() or own.read_bytes() == other.read_bytes()
        assert "queries" in note
        n_written += 1
    assert n_written >= 6
    if not model.beyond:
        written(item, 1, tmp_path / "window.csv")
        save_model(tmp_path / "python.csv", model)
        assert (tmp_path / "window.csv").read_bytes() == (
            tmp_path / "python.csv"
        ).read_bytes()


def test_it_is_trained_on_each_query_of_all_parts_once(
    app: object, places: dict[int, Path], worker: Worker, tmp_path: Path
) -> None:
    record = recorded(Plan(str(places[2]), parameters=GRID))
    written(item_of(record, worker), 0, tmp_path / "m.json")
    model = load_model(tmp_path / "m.json")
    queries = {
        q
        for fold in record.dataset.folds
        for part in fold.parts.values()
        for q in part.query_ids
    }
    assert model.origin["trained on"]["queries"] == len(queries)
    assert model.origin["fold"] == "all"


def test_no_file_and_no_text_has_a_measure_on_its_own_queries(
    app: object, places: dict[int, Path], worker: Worker, tmp_path: Path
) -> None:
    record = recorded(Plan(str(places[2]), parameters=GRID))
    item = item_of(record, worker)
    note = written(item, 0, tmp_path / "m.json")
    model, data = load_model(tmp_path / "m.json"), every_query(record.dataset)
    scores = model.predict(np.asarray(data.X), data.feature_ids)
    value = evaluate(data.y, scores, data.qid, measures=["MAP"])["MAP"]
    said = note + item.help + (tmp_path / "m.json").read_text()
    assert not any(f"{value:.{digits}f}" in said for digits in (3, 4))
    assert not {"train", "validation", "test"} & set(model.origin)


def test_without_a_finished_run_on_open_data_it_says_why(
    app: object, places: dict[int, Path], worker: Worker
) -> None:
    record = recorded(Plan(str(places[2])))
    assert record.result is not None
    part = collect(record.plan, record.dataset, record.result.folds[:1], 0.0)
    reasons = [
        item_of(None, worker).unavailable,
        item_of(replace(record, result=None), worker).unavailable,
        item_of(record, worker, has_documents=False).unavailable,
    ]
    assert all(reasons) and len(set(reasons)) == len(reasons)
    assert item_of(replace(record, result=part), worker).unavailable == reasons[1]


def test_scores_that_were_given_have_no_final_model(
    app: object, places: dict[int, Path], worker: Worker
) -> None:
    record = recorded(Plan(str(places[2])))
    given = Plan(str(places[2]), "given-scores", scores={"name": "theirs", "path": "x"})
    reason = item_of(replace(record, plan=given), worker).unavailable
    assert "theirs" in reason


def test_changed_data_are_refused(
    app: object, places: dict[int, Path], worker: Worker, tmp_path: Path
) -> None:
    place = write_folds(tmp_path / "data", 2)
    plan = Plan(str(place))
    result = run_plan(plan, open_data(plan))
    file = place / "Fold1" / "train.txt"
    first, *rest = file.read_text().splitlines()
    changed = ("0" if first[0] != "0" else "1") + first[1:]
    file.write_text("\n".join([changed, *rest]) + "\n")
    with pytest.raises(DatasetError):
        refit(result, open_data(plan))


def test_under_all_folds_and_under_a_fold_the_dialog_writes_it_by_mouse(
    window: MainWindow, tmp_path: Path
) -> None:
    finish(window)
    contents = []
    for number, fold in enumerate((None, 2)):
        window.session.show_fold(fold)
        dialog = window.export_controller.dialog()
        dialog.show()
        click_item(dialog, "final-model")
        path = tmp_path / f"{number}.json"
        dialog._path.setText(str(path))
        QTest.mouseClick(dialog._save, Qt.MouseButton.LeftButton)
        assert dialog._stop.isVisible()
        wait_until(lambda dialog=dialog: not dialog._writing_jobs)
        assert not dialog._stop.isVisible() and not dialog._bar.isVisible()
        assert str(path) in dialog.message.text() and "k = " in dialog.message.text()
        contents.append(path.read_bytes())
        dialog.close()
        dialog.deleteLater()
    assert contents[0] == contents[1]


def test_under_all_folds_what_needs_a_fold_names_the_fold_and_the_final_model(
    window: MainWindow,
) -> None:
    finish(window)
    window.session.show_fold(None)
    dialog = window.export_controller.dialog()
    for key in ("model", "model-formats", "selected-data"):
        dialog.select(key)
        assert "all queries" in dialog.message.text() and not dialog._save.isEnabled()
    dialog.select("final-model")
    assert dialog._save.isEnabled() and not dialog.message.text()
    dialog.close()
    dialog.deleteLater()


def test_stop_ends_the_training_and_writes_nothing(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(window)
    n_told = itertools.count()

    def endless(*_: object) -> Any:
        while True:
            next(n_told)
            yield WorkProgress("comparing features", 0.5)

    monkeypatch.setattr(refit_module, "refit_steps", endless)
    dialog = window.export_controller.dialog()
    dialog.show()
    dialog.select("final-model")
    path = tmp_path / "never.json"
    dialog._path.setText(str(path))
    QTest.mouseClick(dialog._save, Qt.MouseButton.LeftButton)
    wait_until(
        lambda: (
            dialog._bar.isVisible() and "comparing features" in dialog.message.text()
        )
    )
    assert dialog._bar.value() == 500
    QTest.mouseClick(dialog._stop, Qt.MouseButton.LeftButton)
    assert (
        not dialog._writing_jobs
        and not dialog._stop.isVisible()
        and not dialog._bar.isVisible()
    )
    wait_until(lambda: not window.models.task_worker.jobs)
    assert not path.exists() and dialog._save.isEnabled()
    dialog.close()
    dialog.deleteLater()


def click_item(dialog: ExportDialog, key: str) -> None:
    """Click an item of the list with the mouse."""
    row = [item.key for item in dialog._items].index(key)
    item = dialog._list.item(row)
    dialog._list.scrollToItem(item)
    where = dialog._list.visualItemRect(item).center()
    QTest.mouseClick(dialog._list.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert dialog.current.key == key
