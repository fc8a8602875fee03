"""What version 0.1 writes is read by every later one: a study, a plan, the numbers of its results.

``tests/data`` has a study of five runs on the sample, the last one of which was interrupted; the results of
each of them, of the last one as if it had not been; and the plan of the second run. Once 0.1.0 is released,
nothing there is ever written anew: it stands for the files that people have.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from experiment.small import ended

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.experiment.reports import results_as_dict, write_results
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.experiment.storage.study import RunSummary, Study

DATA = Path(__file__).resolve().parents[3] / "data"
RUNS = ("greedy-rankrls", "gas-then-ranksvm", "lambdamart", "nested")
INTERRUPTED = "rankrls"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Path(shutil.copy(DATA / "study-0.1.rankstudio", tmp_path))


def written(name: str) -> dict[str, Any]:
    """The results that version 0.1 wrote."""
    values: dict[str, Any] = json.loads(
        (DATA / "results-0.1" / name / "results.json").read_text("utf-8")
    )
    return values


def test_the_runs_are_listed(path: Path) -> None:
    with Study.open(path) as study:
        assert study.title == "Study of version 0.1"
        runs = study.runs()
        recorded = study.data(runs[0].key)
    assert [run.key.plan.title for run in runs] == [
        "Greedy RankRLS",
        "GAS, then RankSVM",
        "LambdaMART",
        "Greedy RankRLS",
        "RankRLS",
    ]
    assert [(run.n_finished, run.n_units) for run in runs] == [
        (4, 4),
        (2, 2),
        (2, 2),
        (1, 1),
        (4, 6),
    ]
    assert [bool(run.finished) for run in runs] == [True, True, True, True, False]
    assert {run.versions["rankstudio"] for run in runs} == {"0.1.0"}
    assert (recorded.name, recorded.place) == (
        "Sample",
        "/srv/rankstudio/resources/sample",
    )
    assert recorded.difference(open_data(runs[0].key.plan)) == ""


@pytest.mark.parametrize(("position", "name"), list(enumerate(RUNS)), ids=RUNS)
def test_the_numbers_are_those_that_were_written(
    path: Path, tmp_path: Path, position: int, name: str
) -> None:
    with Study.open(path) as study:
        key = study.runs()[position].key
        result = study.result(key)
        units = study.finished_units(key)
    # Results said later which grade ERR calls the greatest; two methods got a parameter more.
    expected = {**written(name), "greatest_grade": None}
    later = {
        "greedy-rankrls": [("parameters", "pairs", "query")],
        "gas": [
            ("ranker_parameters", "weighting", "none"),
            ("parameters", "similarity", "kendall"),
        ],
    }
    for of, parameter, value in later.get(result.plan.method, []):
        expected["plan"] = {
            **expected["plan"],
            of: {**expected["plan"][of], parameter: value},
        }
    assert results_as_dict(result) == expected
    assert all(unit.standard_errors for unit in units.values()) == (name == "nested")
    write_results(result, tmp_path / name)
    for table in ("selection_path.csv", "metrics.csv"):
        assert (tmp_path / name / table).read_bytes() == (
            DATA / "results-0.1" / name / table
        ).read_bytes()


def test_a_model_that_is_not_linear_still_scores(path: Path) -> None:
    with Study.open(path) as study:
        key = study.runs()[2].key
        fold = study.result(key).folds[0]
    assert not fold.chosen.step.linear
    test = open_data(key.plan).folds[0].test
    assert test is not None
    assert fold.chosen.step.scores(test.X.T).shape == (test.n_documents,)


def test_the_interrupted_run_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Study.open(path) as study:
        run: RunSummary = study.runs()[-1]
        # As if nothing but RankStudio itself had changed since.
        monkeypatch.setattr(
            "rankstudio.engine.experiment.storage.study.versions",
            lambda *_: dict(run.versions),
        )
        before = study.finished_units(run.key)
        result: RunResult = ended(
            run_stored(run.key.plan, open_data(run.key.plan), study, key=run.key)
        )
        assert [bool(run.finished) for run in study.runs()] == [True] * 5
        after = study.finished_units(run.key)
    for unit, stored in before.items():
        assert [s.coef.tobytes() for s in after[unit].steps] == [
            s.coef.tobytes() for s in stored.steps
        ]
    expected = written(INTERRUPTED)
    assert result.complete
    assert [list(fold.selected) for fold in result.folds] == [
        fold["selected"] for fold in expected["folds"]
    ]
    assert result.average == pytest.approx(expected["average"], rel=1e-9)


def test_a_plan_is_read(path: Path) -> None:
    plan = load_plan(DATA / "plan-0.1.toml")
    with Study.open(path) as study:
        assert study.runs()[1].key.plan == plan
    assert plan == Plan(
        "sample",
        "gas",
        {"c": [0.0, 0.5]},
        ranker="ranksvm",
        ranker_parameters={"C": (0.1,)},
        folds=(1,),
        rule="at most 10",
        convention="letor4",
    )
