"""``rankstudio thresholds``, as a user calls it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankstudio.api import analyse
from rankstudio.cli import main
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.plugins.papers.decision_thresholds import run_decisions


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of one run on a table without queries."""
    root = tmp_path_factory.mktemp("thresholds")
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(90, 3))
    labels = (rows[:, 0] + rng.normal(size=90) > 0).astype(int)
    lines = [
        f"{label},{','.join(f'{v:.4f}' for v in row)}"
        for label, row in zip(labels, rows, strict=True)
    ]
    (root / "objects.csv").write_text("label,a,b,c\n" + "\n".join(lines) + "\n")
    words = [
        "run",
        "--data",
        str(root / "objects.csv"),
        "--no-queries",
        "--protocol",
        "3-fold",
    ]
    assert main([*words, "--lambda", "1", "--study", str(root / "s.rankstudio")]) == 0
    return root / "s.rankstudio"


def test_the_table_is_that_of_the_function(study: Path, answer, done) -> None:
    values = answer(["thresholds", str(study), "--json"])
    with Study.open(study) as kept:
        run = kept.result(kept.runs()[0].key)
    found = run_decisions(run, open_data(run.plan))
    assert values["mean_auc_interval"] == list(found.mean_auc_interval)
    assert [fold["best"]["f"] for fold in values["folds"]] == [
        one.best.f for one in found.folds
    ]
    text = done(["thresholds", str(study)]).out
    for one in found.folds:
        assert f"{one.share.precision:.4f}" in text
    assert f"{found.mean_auc_interval[0]:.4f}" in text


def test_python_has_the_same_tables(study: Path) -> None:
    with Study.open(study) as kept:
        run = kept.result(kept.runs()[0].key)
    data = open_data(run.plan)
    decisions, areas = analyse("thresholds", run, data)
    found = run_decisions(run, data)
    assert (
        decisions.rows[0][5] == found.folds[0].best.f and decisions.rows[-1][2] is None
    )
    assert areas.rows[-1][1:] == (found.mean_auc, *found.mean_auc_interval)
