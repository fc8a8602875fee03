"""The evidence for a selection as a command, a program and a notebook, which print the same numbers."""

from __future__ import annotations

import ast
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from fresh_process import in_a_fresh_process, run_notebook
from letor_folder import save_folds

from rankstudio.engine import Plan
from rankstudio.engine.experiment.runner import open_data
from rankstudio.plugins.evidence.evidence_code import (
    evidence_as_command,
    evidence_as_notebook,
    evidence_as_python,
)
from rankstudio.plugins.evidence.evidence_table import evidence_rows, evidence_sentences
from rankstudio.plugins.evidence.judged_selection import JudgedSelection
from rankstudio.plugins.evidence.selection_evidence import EvidenceOptions

Expected = tuple[list[dict[str, Any]], list[str]]


def plans(data: Path) -> dict[str, tuple[Plan, str]]:
    """Plans of one path, as the window exports them, with the measure of the losses."""
    greedy = {"regularization": (4.0,), "n_features_to_select": 3}
    filters = {"n_features_to_select": 2, "regularization": (2.0,)}
    return {
        "greedy": (
            Plan(str(data), "greedy-rankrls", greedy, folds=(2,), seed=3),
            "MAP",
        ),
        "searched": (
            Plan(
                str(data),
                "greedy-rankrls",
                {**greedy, "search": "swap", "n_features_to_select": 2},
                folds=(1,),
            ),
            "",
        ),
        "filter": (
            Plan(
                str(data),
                "single-feature",
                filters,
                folds=(1,),
                convention="sklearn",
                normalize="query_minmax",
            ),
            "NDCG@10",
        ),
    }


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("code") / "with blanks & 'quotes'"
    return save_folds(
        folder, 2, n_queries=20, n_redundant=1, n_noise=2, n_constant=1, seed=5
    )


def expected(plan: Plan, measure: str, named: bool = False) -> Expected:
    """Gather the evidence in this process."""
    dataset = open_data(plan)
    ids = dataset.feature_ids
    convention = plan.convention or dataset.convention
    options = EvidenceOptions(measure=measure, convention=convention, seed=plan.seed)
    *_, last = JudgedSelection.of_plan(
        plan, dataset, plan.entry.defaults, options
    ).steps()
    names = dataset.feature_names if named else tuple(map(str, ids.tolist()))
    rows = evidence_rows(last.found, ids, lambda column: names[column])
    return rows, evidence_sentences(last.found, lambda column: str(ids[column]))


@pytest.mark.parametrize("key", ["greedy", "searched", "filter"])
def test_the_command_prints_the_numbers(data: Path, key: str, answer) -> None:
    """Catches an option that is missing, or that the command understands as another one."""
    plan, measure = plans(data)[key]
    command = shlex.split(evidence_as_command(plan, measure))
    assert command[:2] == ["rankstudio", "evidence"]
    printed = answer([*command[1:], "--json"])
    rows, sentences = expected(plan, measure)
    assert json.dumps(
        [without_names(row) for row in printed["features"]]
    ) == json.dumps([without_names(row) for row in rows])
    assert printed["sentences"] == sentences


def without_names(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what the command calls by full names."""
    return {
        name: value for name, value in row.items() if name not in ("name", "reason")
    }


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["greedy", "filter"])
def test_the_program_prints_the_numbers(data: Path, key: str, tmp_path: Path) -> None:
    plan, measure = plans(data)[key]
    rows, sentences = expected(plan, measure)
    (tmp_path / "evidence.py").write_text(
        evidence_as_python(plan, measure), encoding="utf-8"
    )
    lines = in_a_fresh_process(
        sys.executable, "evidence.py", folder=tmp_path
    ).splitlines()
    assert [ast.literal_eval(line) for line in lines[: len(rows)]] == rows
    assert lines[len(rows) :] == sentences


@pytest.mark.thorough
def test_the_notebook_shows_the_numbers(data: Path, tmp_path: Path) -> None:
    plan, measure = plans(data)["greedy"]
    rows, sentences = expected(plan, measure, named=True)
    place = tmp_path / "evidence.ipynb"
    place.write_text(evidence_as_notebook(plan, measure), encoding="utf-8")
    nbformat.validate(nbformat.read(place, 4))
    run_notebook(place)
    *_, table, said = nbformat.read(place, 4).cells
    shown = table.outputs[0].data["text/html"]
    assert all(
        f"{row['feature']}</td>" in shown and row["name"] in shown for row in rows
    )
    assert all(f"{row['probability']:.2f}" in shown for row in rows)
    assert said.outputs[0].text.splitlines() == sentences
