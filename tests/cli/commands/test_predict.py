"""``rankstudio predict``, and models with ``run`` and ``evaluate``, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from rankstudio.cli import main
from rankstudio.engine import load_data, load_letor, load_model
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import DataError
from rankstudio.engine.experiment.storage.study import Study


def test_a_run_leaves_a_model_for_each_fold_and_one_of_all_documents(
    place: Path,
) -> None:
    run = json.loads((place / "out" / "results.json").read_text())
    folds = run["folds"]
    names = {path.name for path in (place / "out" / "models").iterdir()}
    assert names == {"all.json", *(f"fold{fold['fold']}.json" for fold in folds)}
    model = load_model(place / "out" / "models" / "all.json")
    chosen = model.origin["chosen"]
    assert chosen["folds"] == [fold["fold"] for fold in folds]
    with Study.open(place / "out" / "study.rankstudio", reading=True) as study:
        result = study.result(study.runs()[0].key)
    means = {}
    for paths in zip(*(fold.paths for fold in result.folds), strict=True):
        (regularization,) = paths[0].unit.values
        for k, values in enumerate(
            zip(*(path.validation["MAP"] for path in paths), strict=True), start=1
        ):
            means[regularization, k] = sum(values) / len(values)
    found = chosen["values"]["regularization"], chosen["n_features"]
    assert means[found] == pytest.approx(max(means.values()), abs=1e-12)
    equals = [
        one
        for one, mean in means.items()
        if mean == pytest.approx(means[found], abs=1e-12)
    ]
    assert found == min(equals)  # the smaller λ, then fewer features
    assert model.parameters["regularization"] == found[0]
    assert len(model.features) == found[1]
    assert model.plan == run["plan"]


def test_predicted_scores_are_those_that_evaluate_measures(
    place: Path, tmp_path: Path, answer, done
) -> None:
    data, model = (
        str(place / "data" / "Fold1" / "test.txt"),
        str(place / "out" / "models" / "fold1.json"),
    )
    out = tmp_path / "scores"
    assert done(["predict", data, "--model", model, "--out", str(out)]).out == ""
    found = [float(line) for line in out.read_text().splitlines()]
    assert found == load_model(model).predict(load_letor(data).X).tolist()
    printed = [
        answer(["evaluate", data, *source, "--json"])
        for source in ([str(out)], ["--model", model])
    ]
    assert printed[0] == printed[1]
    results = json.loads((place / "out" / "results.json").read_text())
    assert printed[0]["MAP"] == results["folds"][0]["test"]["MAP"]
    assert answer(["predict", data, "--model", model, "--json"]) == found
    assert done(["predict", data, "--model", model]).out == out.read_text()


def test_scores_stand_in_the_order_of_the_file_and_values_are_prepared_as_the_model_needs_it(
    tmp_path: Path, answer, refused
) -> None:
    (tmp_path / "test.txt").write_text(
        "1 qid:1 1:2\n0 qid:2 1:9\n0 qid:1 1:4\n1 qid:2 1:NULL\n"
    )
    values = {
        "format": "rankstudio-model",
        "version": 3,
        "method": "gas",
        "parameters": {},
    }
    features = [{"id": 1, "name": "a", "weight": 1}]
    for origin, expected in (
        ({}, [2.0, 9.0, 4.0, 9.0]),
        ({"missing": "zero"}, [2.0, 9.0, 4.0, 0.0]),
        ({"missing": "zero", "normalize": "query_minmax"}, [0.0, 1.0, 1.0, 0.0]),
    ):
        (tmp_path / "model.json").write_text(
            json.dumps(values | {"origin": origin, "features": features})
        )
        command = [
            "predict",
            str(tmp_path / "test.txt"),
            "--model",
            str(tmp_path / "model.json"),
            "--json",
        ]
        assert answer(command) == expected
    (tmp_path / "model.json").write_text(
        json.dumps(values | {"origin": {}, "features": [features[0] | {"id": 7}]})
    )
    refused(command, "model.json 7")


def test_moved_columns_are_listed_in_the_order_of_the_training_data(
    tmp_path: Path, answer, refused
) -> None:
    values = {
        "format": "rankstudio-model",
        "version": 3,
        "method": "gas",
        "parameters": {},
        "origin": {},
    }
    features = [{"id": 1, "name": "a", "weight": 1}]
    (tmp_path / "model.json").write_text(json.dumps(values | {"features": features}))
    (tmp_path / "moved.csv").write_text("qid,label,b,a\n1,0,5,7\n1,0,6,8\n")
    command = [
        "predict",
        str(tmp_path / "moved.csv"),
        "--model",
        str(tmp_path / "model.json"),
    ]
    refused(command, "moved.csv a 2 1 --columns")
    assert answer([*command, "--columns", "a,b", "--json"]) == [7.0, 8.0]


def test_models_of_another_run_are_not_replaced_without_force(
    place: Path, tmp_path: Path, refused
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "fold1.json").write_text("mine")
    refused(
        ["run", "--data", str(place / "data"), "--folds", "1", "--out", str(tmp_path)],
        "fold1.json",
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "--data", "x", "--refit"], "--refit --out"),
        (["run", "selectors", "--data", "x", "--refit"], "--refit"),
        (["run", "selectors", "--data", "x", "--folds", "1"], "--folds comparison"),
        (["evaluate", "x"], "SCORES --model neither"),
        (["evaluate", "x", "y", "--model", "z"], "both"),
    ],
)
def test_what_cannot_be_done_is_said(words: list[str], sentence: str, refused) -> None:
    refused(words, sentence)


def test_tables_are_scored_as_the_text_is(
    tmp_path: Path, refused, done, capsys
) -> None:
    """With columns as they are told; a table with its columns in another order is refused."""
    ranking = make_ranking(n_queries=30, seed=5).folds[0].train
    frame = ranking.to_frame().rename(columns={"qid": "session", "label": "clicked"})
    frame.to_csv(tmp_path / "clicks.csv", index=False)
    save_letor(ranking, tmp_path / "clicks.txt")
    told = ["--qid", "session", "--label", "clicked"]
    table, out = str(tmp_path / "clicks.csv"), tmp_path / "out"
    run = [
        "run",
        "--data",
        table,
        *told,
        "--lambda",
        "1",
        "--features",
        "2",
        "--out",
        str(out),
    ]
    assert main(run) == 0
    model = ["--model", str(out / "models" / "fold1.json")]
    capsys.readouterr()
    # the model's plan tells the last
    given = [[str(tmp_path / "clicks.txt")], [table, *told], [table]]
    found = [done(["predict", *words, *model]).out for words in given]
    assert found[0] == found[1] == found[2]
    assert "documents" in done(["evaluate", table, *model, *told]).out
    names = list(ranking.feature_names)
    frame[["session", "clicked", *reversed(names)]].to_csv(
        tmp_path / "other.csv", index=False
    )
    refused(["predict", str(tmp_path / "other.csv"), *model], "data model")
    assert main(["run", str(out / "plan.toml")]) == 0


ROWS = [
    (1, "q1", "d1", 2.0),
    (0, "q2", "d2", 9.0),
    (0, "q1", "d3", 4.0),
    (1, "q2", "d4", 1.0),
]


def write_rows(path: Path, columns: list[str]) -> Path:
    frame = pd.DataFrame(ROWS, columns=["grade", "qid", "docid", "a"])[columns]
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


def write_model(path: Path, columns: dict[str, object]) -> Path:
    features = [{"id": 1, "name": "a", "weight": 1}]
    plan = {"data": "somewhere", "columns": columns}
    values = {
        "format": "rankstudio-model",
        "version": 3,
        "method": "gas",
        "parameters": {},
        "plan": plan,
    }
    origin = {"missing": "query_min", "normalize": "query_minmax"}
    whole = values | {"origin": origin, "features": features}
    path.write_text(json.dumps(whole))
    return path


EXPECTED_SCORES = [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "ending",
    [
        "csv",
        *(
            pytest.param(ending, marks=pytest.mark.ability("tables"))
            for ending in ("parquet", "jsonl")
        ),
    ],
)
@pytest.mark.parametrize(
    "told",
    [
        {},
        {"label": "grade"},
        {"label": "grade", "ignore": ["url"], "document": "docid"},
    ],
)
def test_documents_without_labels_are_scored(
    tmp_path: Path, answer, ending: str, told: dict[str, object]
) -> None:
    model = str(write_model(tmp_path / "model.json", told))
    for columns in (
        ["qid", "docid", "a"],
        ["qid", "a"],
        ["grade", "qid", "docid", "a"],
    ):
        data = write_rows(tmp_path / f"{len(columns)}.{ending}", columns)
        assert (
            answer(["predict", str(data), "--model", model, "--json"])
            == EXPECTED_SCORES
        )
    unlabelled = load_data(tmp_path / f"2.{ending}", labels=False)
    assert unlabelled.y.tolist() == [0.0] * 4 and unlabelled.feature_names == ("a",)
    with pytest.raises(DataError):  # learning needs them
        load_data(tmp_path / f"2.{ending}")


def test_labels_that_are_no_numbers_are_not_read_for_scores(
    tmp_path: Path, answer, refused
) -> None:
    model = str(write_model(tmp_path / "model.json", {}))
    data = tmp_path / "odd.csv"
    data.write_text("label,qid,a\n,q1,2\n?,q2,9\nbad,q1,4\n1,q2,1\n")
    assert answer(["predict", str(data), "--model", model, "--json"]) == EXPECTED_SCORES
    refused(["evaluate", str(data), "--model", model], "odd.csv label")


@pytest.mark.ability("search_engines")
def test_logs_without_judgments_are_scored(tmp_path: Path, answer) -> None:
    hits = [
        {"query": query, "id": document, "[features]": f"a={value}"}
        for _, query, document, value in ROWS
    ]
    data = tmp_path / "log.jsonl"
    data.write_text("".join(json.dumps(hit) + "\n" for hit in hits))
    model = str(write_model(tmp_path / "model.json", {}))
    assert answer(["predict", str(data), "--model", model, "--json"]) == EXPECTED_SCORES
    (tmp_path / "qrels.txt").write_text("q1 0 d3 1\n")  # judges one of four
    assert answer(["predict", str(data), "--model", model, "--json"]) == EXPECTED_SCORES


def test_no_plan_says_that_data_have_no_labels(tmp_path: Path, refused) -> None:
    data = write_rows(tmp_path / "a.csv", ["qid", "a"])
    plan = tmp_path / "plan.toml"
    plan.write_text(f'data = "{data}"\nmethod = "gas"\n[columns]\nno_labels = true\n')
    refused(["run", str(plan)], "columns no_labels")
