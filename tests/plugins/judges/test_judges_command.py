"""``rankstudio judges``, as a user calls it."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from wording import naming

from rankstudio.api import analyse
from rankstudio.cli import main
from rankstudio.engine import open_dataset, run_plan
from rankstudio.engine.analysis.catalog_analyses.analysis_code import (
    analysis_as_command,
)
from rankstudio.engine.analysis.measurements.measurement import sealed_plan_data
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.judgments import PartJudgments
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.methods.catalog.analysis import analysis
from rankstudio.plugins.judges.agreement import agreement, selection_by_judge
from rankstudio.plugins.judges.flipped_labels import flip_steps

JUDGES = ["ann", "bob"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    X = rng.random((120, 4)).round(3)
    frame = pd.DataFrame(X, columns=["tf", "idf", "bm25", "pr"])
    frame.insert(0, "qid", np.repeat(np.arange(20), 6))
    frame["ann"] = np.round(2 * X[:, 0] + 0.2 * rng.random(120))
    frame["bob"] = np.where(
        rng.random(120) < 0.2, np.nan, np.round(2 * X[:, 1] + 0.2 * rng.random(120))
    )
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path


OPTIONS = [
    "--method",
    "single-feature",
    "--k",
    "2",
    "--protocol",
    "4-fold",
    "--select-by",
    "MAP",
]


def test_json_is_what_the_functions_return(table: Path, answer) -> None:
    asked = ["judges", str(table), "--labels", "ann,bob", "--label", "bob", *OPTIONS]
    found = answer([*asked, "--flips", "20,5", "--draws", "2", "--json"])
    plan = Plan(
        str(table),
        "single-feature",
        {"n_features_to_select": 2},
        protocol="4-fold",
        columns={"labels": JUDGES, "label": "bob"},
    )
    data = open_dataset(table, columns=plan.columns)
    agreed = agreement(data.extension(PartJudgments).parts)
    (pair,) = found["agreement"]["pairs"]
    assert pair["judges"] == JUDGES and pair["documents"] == agreed.pairs[0].n_documents
    assert (
        pair["tau"] == agreed.pairs[0].mean_tau
        and found["agreement"]["alpha"] == agreed.alpha
    )
    taus = [np.nan if tau is None else tau for _, tau in pair["tau_by_query"]]
    np.testing.assert_array_equal(taus, agreed.pairs[0].tau)
    results = [
        run_plan(plan.changed(columns={**plan.columns, "label": judge}))
        for judge in JUDGES
    ]
    selection = selection_by_judge(results)
    assert found["selection"]["measures"] == [run.average for run in results]
    assert [f["feature"] for f in found["selection"]["features"]] == [
        int(selection.feature_ids[column]) for column in selection.order()
    ]
    assert [f["shares"] for f in found["selection"]["features"]] == selection.shares[
        selection.order()
    ].tolist()
    *_, flipped = flip_steps(plan, data, (0.05, 0.2), 2)
    assert found["flips"]["shares"] == [0.0, 0.05, 0.2]
    assert found["flips"]["jaccard"] == flipped.jaccard.tolist()
    assert found["flips"]["measures"] == {
        name: v.tolist() for name, v in flipped.values.items()
    }


def test_python_has_the_tables_and_nothing_of_a_sealed_test_part(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tested = []

    def measured(plan: Plan, data: FoldedDataset) -> RunResult:
        result = run_plan(plan, data)
        tested.append(any(fold.test for fold in result.folds))
        return result

    monkeypatch.setattr("rankstudio.plugins.judges.analysis.run_plan", measured)
    columns = {"labels": JUDGES, "label": "bob"}
    plan = Plan(
        str(table),
        "single-feature",
        {"n_features_to_select": 2},
        protocol="4-fold",
        columns=columns,
    )
    data = open_dataset(table, columns=columns)
    wanted = {"selects": True, "flips": True, "shares": "20", "n_draws": 1}
    *agreed, selected, flipped = analyse("judges", plan, data, **wanted)
    assert len(agreed) == 2 and selected.header == ("feature", *JUDGES, "judges")
    assert [row[0] for row in flipped.rows][-1] == plan.measures[-1]
    sealed = sealed_plan_data(plan, data)
    (*_, unmeasured, unflipped) = analyse("judges", plan, sealed, **wanted)
    assert [row[0] for row in unflipped.rows][-1] == "Jaccard with 0 %"
    n_measures = len(plan.measures)
    # selections are the same
    assert unmeasured.rows[:-n_measures] == selected.rows[:-n_measures]
    assert tested == [True, True, False, False]
    with pytest.raises(PlanError):
        analyse(
            "judges",
            plan.changed(columns={}),
            open_dataset(table, columns={"label": "ann"}),
        )


def test_the_copied_command_is_that_of_the_form(table: Path, capsys) -> None:
    entry = analysis("judges")
    plan = Plan(
        str(table),
        "single-feature",
        protocol="4-fold",
        columns={"labels": JUDGES, "label": "bob"},
    )
    command = shlex.split(analysis_as_command(entry, plan, {"n_queries": 1}))
    assert main(command[1:]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[0] == "19"
    command = shlex.split(
        analysis_as_command(entry, plan, {"flips": True, "n_draws": 3})
    )
    assert (
        command[-6:-2] == ["--flips", "5,10,20", "--draws", "3"] and "4-fold" in command
    )
    assert analysis_as_command(entry, plan.changed(columns={}), {}) == ""


def test_tables_say_what_they_are(table: Path, capsys) -> None:
    asked = ["judges", str(table), "--labels", "ann,bob"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert naming("ann bob tau_b alpha").search(said) and "selects" not in said
    assert main([*asked, "--queries", "2"]) == 0
    judged = open_dataset(table, columns={"labels": ("ann", "bob")}).extension(
        PartJudgments
    )
    assert judged is not None
    least = agreement(judged.parts).least(2)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[-2:]] == [
        [q, f"{mean:+.3f}"] for q, mean, _ in least
    ]
    assert main([*asked, "--queries", "-1"]) == 1
    assert "--queries" in capsys.readouterr().err
    assert main([*asked, *OPTIONS, "--flips", "10", "--draws", "1"]) == 0
    said = capsys.readouterr().out
    assert naming("judges Nogueira").search(said) and naming(
        "flipped 10 % Jaccard"
    ).search(said)
    assert main([*asked, "--method", "rankrls", "--protocol", "4-fold"]) == 0
    assert naming("RankRLS ann bob MAP").search(capsys.readouterr().out)


def test_a_run_names_the_judge_and_its_plan_keeps_it(
    table: Path, tmp_path: Path, capsys
) -> None:
    out = tmp_path / "out"
    asked = [
        "run",
        "--data",
        str(table),
        "--labels",
        "ann,bob",
        "--label",
        "bob",
        *OPTIONS,
    ]
    assert main([*asked, "--out", str(out)]) == 0
    assert "people (bob)" in capsys.readouterr().out
    plan = load_plan(out / "plan.toml")
    assert plan.columns == {"labels": ("ann", "bob"), "label": "bob"}
    assert main(["plan", str(out / "plan.toml"), "--to", "command"]) == 0
    words = capsys.readouterr().out
    assert "--labels ann,bob" in words and "--label bob" in words


def test_a_comparison_over_labels_has_methods_by_judges(
    table: Path, tmp_path: Path, capsys
) -> None:
    plan = tmp_path / "judges.toml"
    plan.write_text(
        f'data = "{table.as_posix()}"\nprotocol = "4-fold"\n[columns]\nlabels = ["ann", "bob"]\n'
        '[[runs]]\nmethod = ["single-feature", "rankrls"]\nlabel = ["ann", "bob"]\n'
    )
    assert main(["run", str(plan), "--out", str(tmp_path / "both")]) == 0
    said = capsys.readouterr().out
    assert "people (ann)" in said and "people (bob)" in said
    made = sorted(path.name for path in (tmp_path / "both").iterdir() if path.is_dir())
    assert [name.partition("-")[0] for name in made] == ["people (ann)"] * 2 + [
        "people (bob)"
    ] * 2


def test_one_label_is_written_and_the_sample_has_one(
    table: Path, tmp_path: Path, capsys
) -> None:
    asked = [
        "convert",
        str(table),
        str(tmp_path / "bob.txt"),
        "--labels",
        "ann,bob",
        "--label",
        "bob",
    ]
    assert main(asked) == 0
    assert naming("labels bob no others").search(capsys.readouterr().err)
    written, read = (
        open_dataset(path, columns=columns).folds[0].train
        for path, columns in (
            (tmp_path / "bob.txt", {}),
            (table, {"labels": JUDGES, "label": "bob"}),
        )
    )
    np.testing.assert_array_equal(written.y, read.y)
    assert main(["run", "--sample", "--labels", "ann,bob"]) == 1
    assert naming("sample one label").search(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ([], "labels"),
        (["--labels", "ann"], "labels"),
        (["--labels", "ann,eve"], "eve"),
        (["--labels", "ann,bob", "--label", "tf"], "label tf"),
        (["--labels", ""], "labels"),
        (["--flips", "10"], "flips method"),
        (["--method", "gas", "--flips", "0"], "flips"),
        (["--method", "gas", "--flips", "x,y"], "flips"),
        (
            ["--method", "gas", "--label", "ann", "--flips", "10", "--draws", "0"],
            "draws",
        ),
        (["--method", "rankrls", "--label", "ann", "--flips", "10"], "method"),
    ],
)
def test_a_mistake_is_one_sentence(
    table: Path, options: list[str], named: str, capsys
) -> None:
    assert main(["judges", str(table), *options]) == 1
    said = capsys.readouterr().err
    assert naming(named).search(said) and said.count("\n") == 1
