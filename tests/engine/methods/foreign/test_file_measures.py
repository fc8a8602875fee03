"""Measures that are functions of a Python file: named, recorded and allowed as methods of files are."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from experiment.small import dataset, ended

from rankstudio.api import add_measure
from rankstudio.cli.code_options import add_named_code
from rankstudio.engine.errors import CodeNotAllowedError, PlanError
from rankstudio.engine.experiment.execution.executors import on_processes
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import (
    load_plan,
    method_keys,
    read_toml,
    save_plan,
)
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.methods.foreign.permission import add_code_of_plan
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.measure_description import (
    described_measure,
    description_of_measure,
)
from rankstudio.engine.metrics.measure_registry import MEASURES

TEXT = '''
def half(labels, cutoff=None):
    """Share of relevant documents in the first half."""
    first = labels[: max(1, len(labels) // 2)][:cutoff]
    return float((first > 0).mean())

def scores(X, y, qid):
    return X[0]

class Other:
    pass
'''


@pytest.fixture(autouse=True)
def own_measures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(MEASURES, "_listed", {})
    monkeypatch.setattr(MEASURES, "_remembered", {})
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "my measure.py"
    made.write_text(TEXT)
    return made


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MEASURES, "_listed", {})


def plan_of(name: str) -> Plan:
    return Plan(
        "small",
        "rankrls",
        {"regularization": 1.0},
        measures=("MAP", name, f"{name}@1"),
        select_by=name,
    )


def test_values_are_those_of_the_function_in_each_query(path: Path) -> None:
    name = add_measure(f"{path}:half").key
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 30).astype(float)
    scores = rng.permutation(30).astype(float)
    ptr = np.array([0, 4, 5, 18, 30])
    values = []
    for begin, end in pairwise(ptr.tolist()):
        ranked = labels[begin:end][np.argsort(-scores[begin:end])]
        values.append((ranked[: max(1, ranked.size // 2)] > 0).mean())
    measured = Evaluator(labels, ptr, measures=(name,)).evaluate(scores)
    assert measured[name] == pytest.approx(np.mean(values), abs=1e-12)


def test_options_take_functions_of_files(path: Path) -> None:
    words = add_named_code(
        [
            "run",
            "--measures",
            f"MAP,{path}:half,{path}:half@3",
            f"--select-by={path}:half",
        ]
    )
    (entry,) = MEASURES.entries()
    assert entry.key.startswith("half-") and entry.cutoff == "optional"
    assert words == [
        "run",
        "--measures",
        f"MAP,{entry.key},{entry.key}@3",
        f"--select-by={entry.key}",
    ]


def test_plans_record_the_file_and_nothing_runs_that_only_a_plan_names(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(add_measure(f"{path}:half").key)
    toml = tmp_path / "plan.toml"
    save_plan(plan, toml)
    keys = [*method_keys(read_toml(toml))]
    forget(monkeypatch)
    with pytest.raises(PlanError, match=r"my measure\.py"):
        load_plan(toml)
    add_code_of_plan(keys, (tmp_path,))  # it was named here before
    assert load_plan(toml) == plan
    forget(monkeypatch)
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "somebody else"))
    with pytest.raises(CodeNotAllowedError):
        add_code_of_plan(keys, (tmp_path,))
    assert not MEASURES.entries()
    path.write_text(TEXT + "\n# changed\n")
    with pytest.raises(PlanError, match="changed"):
        add_code_of_plan(keys, (tmp_path,), allow_code=True)
    path.write_text(TEXT)
    add_code_of_plan(keys, (tmp_path,), allow_code=True)
    assert load_plan(toml) == plan


def test_a_changed_file_is_another_measure(path: Path) -> None:
    first = add_measure(f"{path}:half").key
    path.write_text(TEXT + "\n")
    assert add_measure(f"{path}:half").key != first


def test_processes_have_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(add_measure(f"{path}:half").key)
    sent = pickle.dumps(plan)
    path.unlink()
    forget(monkeypatch)
    assert pickle.loads(sent) == plan
    (entry,) = MEASURES.entries()
    assert entry.load()(np.array([1.0, 0.0])) == 1.0


@pytest.mark.thorough
def test_worker_processes_give_the_same(path: Path) -> None:
    plan = plan_of(add_measure(f"{path}:half").key)
    alone = ended(run(plan, dataset()))
    with on_processes(2) as executor:
        together = ended(run(plan, dataset(), executor=executor))
    assert alone.average == together.average


def test_a_study_knows_which_file_is_lacking(path: Path) -> None:
    entry = add_measure(f"{path}:half")
    described = described_measure(description_of_measure(entry))
    assert entry.key in described.lacking and "my measure.py:half" in described.lacking
    with pytest.raises(PlanError):
        described.load()


@pytest.mark.parametrize("name", ["scores", "Other", "absent", "__name__", ""])
def test_what_is_no_measure_is_refused(path: Path, name: str) -> None:
    with pytest.raises(PlanError):
        add_measure(f"{path}:{name}")
    assert not MEASURES.entries()
