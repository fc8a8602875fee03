"""A method in one file is everywhere: in the form and its tooltips, the terminal, the guide, a run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from experiment.small import dataset
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from toy_method import ENTRY, Toy

from rankstudio.cli import main
from rankstudio.engine.experiment.plan.as_code import as_command
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.results import FoldResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.methods import catalog
from rankstudio.engine.methods.catalog.registry import MethodRegistry
from rankstudio.ui.select.form import MethodForm
from rankstudio.ui.style.theme import Theme

ROOT = Path(__file__).resolve().parents[2]
[POWER] = ENTRY.parameters


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog with one entry more, and nothing else changed."""
    monkeypatch.setattr(catalog, "METHODS", MethodRegistry((*catalog.methods(), ENTRY)))


@pytest.fixture
def form(theme: Theme, stage: Callable[..., MethodForm]) -> MethodForm:
    made = stage(MethodForm(theme), 280, 700)
    QApplication.processEvents()
    return made


def test_the_form_offers_it_with_a_field_that_explains_itself(form: MethodForm) -> None:
    edits: list[dict[str, object]] = []
    form.edited.connect(edits.append)
    box = form.field("method").editor
    box.setCurrentIndex(box.findText("Toy covariance"))
    box.activated.emit(box.currentIndex())
    assert form.method_key() == "toy"
    assert form.caption() == "Nobody 2031"
    for text in (
        ENTRY.description.title,
        ENTRY.description.summary,
        ENTRY.description.formula,
    ):
        assert text in box.toolTip()
    field = form.field("power")
    assert field.isVisible()
    for text in (POWER.help, POWER.symbol, POWER.source, POWER.expected):
        assert text in field.editor.toolTip()
    field.editor.setFocus()
    field.editor.selectAll()
    QTest.keyClicks(field.editor, "11")
    QTest.keyClick(field.editor, Qt.Key.Key_Return)
    assert field.error.text() == "power: expected a number from 0 to 10, got '11'."
    field.editor.selectAll()
    QTest.keyClicks(field.editor, "0.5")
    QTest.keyClick(field.editor, Qt.Key.Key_Return)
    assert edits[-1]["parameters"] == {"power": 0.5}
    assert form.field("ranked_by").isVisible(), (
        "it selects, so others may rank with its features"
    )


def test_the_terminal_has_its_option_and_its_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--method", "toy", "--help"])
    assert ended.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "--toy-power X" in text
    assert POWER.expected in text and POWER.help in text
    assert main(["methods", "toy"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    paper = ENTRY.description
    for part in (
        "toy – Toy covariance (selector), Nobody 2031",
        paper.summary,
        paper.formula,
        POWER.source,
    ):
        assert part in text
    assert f"--toy-power power: {POWER.expected}; default 1 {POWER.help}" in text
    assert main(["methods"]) == 0
    assert "Toy covariance" in capsys.readouterr().out


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "generate", ROOT / "docs" / "generate.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.shipped
def test_the_guide_has_its_section() -> None:
    page = generator().methods_page()
    section = page[page.index("## Toy covariance") :].split("\n## ")[0]
    assert (
        page.index("# Selectors")
        < page.index("## Toy covariance")
        < page.index("# Rankers")
    )
    paper = ENTRY.description
    texts = (
        paper.citation,
        paper.title,
        "`toy`",
        paper.summary,
        paper.formula,
        ENTRY.criterion.name,
    )
    for text in texts:
        assert text in section
    row = next(line for line in section.splitlines() if "`--toy-power`" in line)
    for text in (POWER.label, POWER.expected, POWER.help, POWER.symbol, POWER.source):
        assert text in row


def folds(plan: Plan) -> tuple[FoldResult, ...]:
    *_, ended = run(plan, dataset(2))
    assert isinstance(ended, RunFinished)
    assert np.isfinite(list(ended.result.average.values())).all()
    return ended.result.folds


def test_a_plan_runs_it_and_others_rank_with_what_it_selects() -> None:
    own = folds(Plan("small", "toy", {"power": 0.5}))
    rows = folds(
        Plan(
            "small",
            "toy",
            ranker="rankrls",
            ranker_parameters={"regularization": (0.5, 2.0)},
        )
    )
    for fold, alone, ranked in zip(dataset(2).folds, own, rows, strict=True):
        [path] = alone.paths
        fitted = Toy(power=0.5).fit(fold.train.X, fold.train.y, qid=fold.train.qid)
        np.testing.assert_array_equal(path.steps[-1].coef, fitted.coef_)
        assert path.x_values.tolist() == [1, 2, 3, 4, 5]  # the last feature is constant
        assert [p.unit.values for p in ranked.paths] == [(0.5,), (2.0,)]
        for p in ranked.paths:
            assert [s.selected for s in p.steps] == [s.selected for s in path.steps]
            assert p.steps[-1].coef.tolist() != path.steps[-1].coef.tolist()


def test_its_plan_is_a_file_and_a_command_like_any_other(tmp_path: Path) -> None:
    plan = Plan("/data/MQ2008", "toy", {"power": "2^-1"}, ranker="ranksvm")
    save_plan(plan, tmp_path / "plan.toml")
    assert load_plan(tmp_path / "plan.toml") == plan
    assert "--method toy --toy-power 0.5 --ranker ranksvm" in as_command(plan)
