"""Several judges in the window: named in the columns dialog, switched and compared; and flipped labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PySide6.QtWidgets import QDialogButtonBox
from waiting import wait_until
from windows import finish, settle

from rankstudio.cli import main
from rankstudio.engine.data.judgments import PartJudgments
from rankstudio.engine.support.number_format import signed
from rankstudio.plugins.judges.agreement import agreement, selection_by_judge
from rankstudio.plugins.judges.flipped_labels import flip_steps
from rankstudio.plugins.judges.window import judges_panel
from rankstudio.plugins.judges.window.judges_panel import (
    AGREEMENT,
    FLIPS,
    QUERIES,
    SELECTION,
)
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.study.dialogs import ColumnsDialog


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    X = rng.random((96, 4)).round(3)
    frame = pd.DataFrame(X, columns=["tf", "idf", "bm25", "pr"])
    frame.insert(0, "qid", np.repeat(np.arange(16), 6))
    for place, judge in enumerate(("label", "model")):
        frame[judge] = np.round(2 * X[:, place] + 0.2 * rng.random(96))
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path


def opened(window: MainWindow, path: Path) -> None:
    """Open the table, and name the second label in the dialog."""
    window.open_path(str(path))
    wait_until(lambda: window.session.dataset is not None)
    settle(window)
    assert window.sections.contributed.controllers["judges"].panel.isHidden()
    before = window.session.dataset
    window.commands["columns"].trigger()
    wait_until(lambda: [d for d in window.findChildren(ColumnsDialog) if d.isVisible()])
    (dialog,) = (d for d in window.findChildren(ColumnsDialog) if d.isVisible())
    (action,) = (
        a for a in dialog._judges_button.menu().actions() if a.text() == "model"
    )
    action.trigger()
    assert dialog._judges_button.text() == "model"
    texts = [row.role for row in dialog._table.rows()]
    assert texts == ["query", *["feature"] * 4, "label", "other label"]
    dialog.findChildren(QDialogButtonBox)[0].button(
        QDialogButtonBox.StandardButton.Open
    ).click()
    wait_until(lambda: window.session.dataset is not before)
    settle(window)


def shown(window: MainWindow, view: str) -> list[dict[str, str]]:
    window.workspace.show_page("data")
    window.sections.contributed.controllers["judges"].panel.view.select(view)
    window.sections.contributed.controllers["judges"].update()
    settle(window)
    return [
        dict(row.texts)
        for row in window.sections.contributed.controllers["judges"].panel.table.rows()
    ]


def test_labels_are_named_switched_run_and_compared(
    empty: MainWindow, table: Path
) -> None:
    opened(empty, table)
    session, judges = empty.session, empty.sections.contributed.controllers["judges"]
    plan, dataset = session.plan, session.dataset
    assert dataset is not None and dataset.name == "people (label)"
    assert plan.columns == {
        "qid": "qid",
        "label": "label",
        "labels": ("label", "model"),
    }
    agreed = agreement(dataset.extension(PartJudgments).parts)
    (row,) = shown(empty, AGREEMENT)
    assert row["judges"] == "label · model" and row["documents"] == "96"
    assert row["tau"] == f"{agreed.pairs[0].mean_tau:+.2f}".replace("-", "−")
    of_queries = [(row["query"], row["0"]) for row in shown(empty, QUERIES)]
    least = [(query, signed(mean, 2)) for query, mean, _ in agreed.least(None)]
    assert of_queries == least and len(least) > 5
    assert judges.panel.isVisible() and judges.panel.label.currentText() == "label"

    session.change("short", protocol="4-fold", parameters={"n_features_to_select": 2})
    wait_until(lambda: session.data_match_plan)
    settle(empty)
    finish(empty)
    assert not shown(empty, SELECTION), "there is a run under one judge"
    labels = empty.comparison.dialog(every_label=True)
    assert [row.plan.columns["label"] for row in labels.rows()] == ["label", "model"]
    assert [row.finished for row in labels.rows()] == [True, False]
    empty.comparison.start(labels.plans())
    labels.deleteLater()
    wait_until(lambda: len(empty.runs.records) == 2 and not empty.runs.busy)
    settle(empty)
    results = [record.result for record in empty.runs.records]
    assert [result.data_name for result in results if result] == [
        "people (label)",
        "people (model)",
    ]
    selection = selection_by_judge([result for result in results if result])
    rows = shown(empty, SELECTION)
    names = [selection.feature_names[column] for column in selection.order()]
    assert [row["feature"].split()[1] for row in rows] == names
    assert [row["n"] for row in rows] == [
        str(selection.n_judges[c]) for c in selection.order()
    ]

    judges.panel.label.setCurrentIndex(judges.panel.label.findData("model"))
    judges.panel.label.activated.emit(judges.panel.label.currentIndex())
    wait_until(
        lambda: session.dataset is not None and session.dataset.name == "people (model)"
    )
    settle(empty)
    assert (
        session.plan.columns["label"] == "model" and session.plan.protocol == "4-fold"
    )
    assert judges.panel.label.currentText() == "model"


@pytest.mark.thorough
def test_a_study_reopens_with_the_judge_of_its_run(
    empty: MainWindow, table: Path, tmp_path: Path
) -> None:
    study = tmp_path / "s.rankstudio"
    options = [
        "--labels",
        "label,model",
        "--label",
        "model",
        "--protocol",
        "4-fold",
        "--method",
        "rankrls",
    ]
    assert (
        main(
            [
                "run",
                "--data",
                str(table),
                *options,
                "--lambda",
                "1",
                "--study",
                str(study),
            ]
        )
        == 0
    )
    empty.open_path(str(study))
    wait_until(lambda: empty.session.has_documents)
    settle(empty)
    assert (
        empty.session.dataset is not None
        and empty.session.dataset.name == "people (model)"
    )
    assert empty.session.plan.columns["label"] == "model"
    assert (
        empty.sections.contributed.controllers["judges"].panel.label.currentText()
        == "model"
    )
    (elsewhere,) = empty.comparison.dialog()._pipelines.rows(
        [empty.session.plan], ["sample"]
    )
    assert not elsewhere.plan.columns


@pytest.mark.thorough
def test_labels_of_the_current_run_are_flipped_and_stopped(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judges_panel, "N_DRAWS", 2)
    judges, session = window.sections.contributed.controllers["judges"], window.session
    assert not window.commands["flips"].isEnabled()
    session.change(
        "quick", parameters={"n_features_to_select": 2, "regularization": 1.0}
    )
    finish(window)
    session.choose_fold(1)
    window.commands["flips"].trigger()
    wait_until(
        lambda: (
            judges._flips is not None
            and judges._flips[1].n_draws == 2
            and not judges.busy
        )
    )
    record = window.runs.shown
    assert record is not None and session.dataset is not None
    *_, found = flip_steps(record.plan.changed(folds=(1,)), session.dataset, n_draws=2)
    rows = shown(window, FLIPS)
    assert judges.panel.isVisible() and judges.panel.label.isHidden()
    for row, column in zip(rows, found.order(), strict=False):
        assert [row[str(at)] for at in range(4)] == [
            f"{100 * share:.0f} %" for share in found.selected[:, column]
        ]
    assert [row["feature"] for row in rows].count("MAP") == (not session.sealed)
    session.seal(not session.sealed)
    assert [row["feature"] for row in shown(window, FLIPS)].count("MAP") == (
        not session.sealed
    )

    monkeypatch.setattr(judges_panel, "N_DRAWS", 10_000)
    judges.panel.flip.click()
    wait_until(lambda: judges._flips is not None)
    judges.panel.flip.click()
    assert (
        not judges.busy
        and judges._flips is not None
        and judges._flips[1].n_draws < 10_000
    )
    settle(window)
