"""Results as files: what stands in them, and that equal runs write equal bytes."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment.small import dataset
from wording import naming

from rankstudio.engine.errors import DataError, OutputError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.experiment.reports import (
    chosen_model,
    plan_of_results,
    write_results,
)
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.export.model_files import model_scores
from rankstudio.engine.export.models import Weight, load_model, save_model
from rankstudio.engine.support.frozen_mapping import FrozenMapping

PLAN = Plan("small", parameters={"regularization": (0.5, 2.0)})


def finished(plan: Plan = PLAN):
    return run_plan(plan, dataset())


def test_results_json_has_the_promised_shape(tmp_path: Path) -> None:
    result = finished()
    write_results(result, tmp_path / "new" / "out")
    values = json.loads((tmp_path / "new" / "out" / "results.json").read_text())
    fold = values["folds"][0]
    assert values["convention"] == "standard"
    assert fold["fold"] == 1
    assert fold["chosen"].keys() == {"regularization", "n_features"}
    assert fold["chosen"]["n_features"] == len(fold["selected"]) == len(fold["weights"])
    assert all(1 <= i <= 6 for i in fold["selected"])
    assert fold["test"].keys() == {"MAP", "P@10", "MeanNDCG", "NDCG@10"}
    mean = np.mean([f["test"]["MAP"] for f in values["folds"]])
    assert values["average"]["MAP"] == pytest.approx(mean)


def test_the_same_plan_read_back_writes_the_same_bytes(tmp_path: Path) -> None:
    write_results(finished(), tmp_path / "a")
    write_results(finished(load_plan(tmp_path / "a" / "plan.toml")), tmp_path / "b")
    for name in ("results.json", "metrics.csv", "selection_path.csv", "plan.toml"):
        assert (tmp_path / "a" / name).read_bytes() == (
            tmp_path / "b" / name
        ).read_bytes()


def test_tables_hold_every_fold_and_the_whole_path(tmp_path: Path) -> None:
    result = finished()
    write_results(result, tmp_path)
    with (tmp_path / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["fold"], r["part"]) for r in rows] == [
        ("1", "validation"),
        ("1", "test"),
        ("2", "validation"),
        ("2", "test"),
        ("average", "test"),
    ]
    assert float(rows[1]["MAP"]) == result.folds[0].test["MAP"]
    with (tmp_path / "selection_path.csv").open() as file:
        features = [r for r in csv.DictReader(file) if r["fold"] == "2"]
    assert [int(r["id"]) for r in features if r["chosen"] == "1"] == list(
        result.folds[1].selected
    )
    assert len(features) == 5
    assert features[0]["feature"] == f"feature {features[0]['id']}"


def test_every_fold_has_its_model_as_a_file_that_scores_as_the_run_did(
    tmp_path: Path,
) -> None:
    result = finished()
    written = write_results(result, tmp_path)
    data = dataset()
    for fold, of_data in zip(result.folds, data.folds, strict=True):
        path = tmp_path / "models" / f"fold{fold.fold}.json"
        assert path in written
        model = load_model(path)
        assert [f.id for f in model.features] == list(fold.selected)
        assert model.origin["fold"] == fold.fold and model.origin["test"] == dict(
            fold.test
        )
        assert model.plan == json.loads((tmp_path / "results.json").read_text())["plan"]
        expected = fold.chosen.step.scores(np.ascontiguousarray(of_data.test.X.T))
        assert model_scores(model, of_data.test).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        Plan("small", "rankboost", {"n_rounds": 6}),
        Plan("small", "lambdamart", {"n_rounds": 3, "min_data_in_leaf": 5}),
        Plan("small", "ranksvm", {"C": 0.1}),
        Plan("small", "l1-path", ranker="rankboost", ranker_parameters={"n_rounds": 4}),
        Plan(
            "small",
            "l1-path",
            ranker="lambdamart",
            ranker_parameters={"n_rounds": 3, "min_data_in_leaf": 5},
        ),
        Plan("small", "l1-path", ranker="ranksvm", ranker_parameters={"C": 0.1}),
    ],
    ids=lambda plan: plan.title,
)
def test_a_model_of_any_kind_scores_the_same_when_read_back(
    tmp_path: Path, plan: Plan
) -> None:
    result = run_plan(plan, dataset(1))
    chosen = result.folds[0].chosen
    model = chosen_model(result, result.folds[0])
    save_model(tmp_path / "model.json", model)
    again = load_model(tmp_path / "model.json")
    assert again.features == model.features
    X = np.random.default_rng(0).random((40, 6))
    expected = chosen.step.scores(np.ascontiguousarray(X.T))
    assert np.ptp(expected) > 0
    np.testing.assert_allclose(again.predict(X), expected, rtol=1e-12)
    shuffled = np.array([6, 1, 2, 3, 4, 5])
    np.testing.assert_allclose(
        again.predict(X[:, shuffled - 1], shuffled), expected, rtol=1e-12
    )
    with pytest.raises(DataError, match=naming("model feature")):
        again.predict(X[:, :0])
    if chosen.step.linear:
        save_model(tmp_path / "model.csv", again)
        with (tmp_path / "model.csv").open() as file:
            rows = [(int(r["id"]), float(r["weight"])) for r in csv.DictReader(file)]
        assert rows == [(f.id, f.weight) for f in model.features]
    else:
        with pytest.raises(OutputError, match=naming("linear json")):
            save_model(tmp_path / "model.csv", again)


def test_results_tell_the_best_single_feature_to_compare_with(tmp_path: Path) -> None:
    result = finished()
    write_results(result, tmp_path)
    values = json.loads((tmp_path / "results.json").read_text())
    for fold, told in zip(result.folds, values["folds"], strict=True):
        assert told["best_single_feature"] == {
            "id": fold.baseline.feature,
            "descending": fold.baseline.descending,
            "validation": dict(fold.baseline.validation),
            "test": dict(fold.baseline.test),
        }
    assert values["best_single_feature"] == pytest.approx(result.baseline)


def test_the_features_of_an_optimiser_are_those_of_the_model_however_many_iterations_it_took(
    tmp_path: Path,
) -> None:
    result = finished(Plan("small", "ranksvm", {"C": 1.0, "max_iter": 6, "tol": 1e-15}))
    fold = result.folds[0]
    assert len(fold.paths[0].steps) == len(fold.selected) == 6
    write_results(result, tmp_path)
    with (tmp_path / "selection_path.csv").open() as file:
        rows = [r for r in csv.DictReader(file) if r["fold"] == "1"]
    assert [int(r["id"]) for r in rows] == list(fold.selected)
    assert {float(r["criterion_per_document"]) for r in rows} == {
        fold.chosen.step.criterion
    }


def test_models_that_cannot_be_written_or_read_say_why(tmp_path: Path) -> None:
    result = finished()
    model = chosen_model(result, result.folds[0])
    with pytest.raises(OutputError, match=naming("model.onnx json csv")):
        save_model(tmp_path / "model.onnx", model)
    (tmp_path / "other.json").write_text('{"format": "x", "version": 1}')
    with pytest.raises(DataError, match=naming("3 x version")):
        load_model(tmp_path / "other.json")
    (tmp_path / "text.json").write_text("[]")
    with pytest.raises(DataError, match=naming("RankStudio")):
        load_model(tmp_path / "text.json")


@pytest.mark.parametrize(
    ("sound", "damaged"),
    [
        ('"id": 3', '"id": Infinity'),
        ('"id": 3', '"id": 3.5'),
        ('"id": 3', '"id": 1e400'),
        ('"id": 3', f'"id": {"1" * 5000}'),
        ('"weight": 0.5', '"weight": NaN'),
        ('"weight": 0.5', '"weight": "0.5"'),
        ('"origin": {}', '"origin": 3'),
        ('"origin": {}', f'"origin": {"[" * 100_000}'),
        ('"origin": {}', '"origin": {}, "model": 3'),
    ],
)
def test_a_damaged_model_is_refused(sound: str, damaged: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    text = (
        '{"format": "rankstudio-model", "version": 3, "method": "gas", "parameters": {}, "origin": {}, '
        '"features": [{"id": 3, "name": "a", "weight": 0.5}]}'
    )
    path.write_text(text)
    assert load_model(path).features == (Weight(3, "a", 0.5),)
    path.write_text(text.replace(sound, damaged))
    with pytest.raises(DataError, match=naming("RankStudio")):
        load_model(path)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"plan": []}', '{"plan": {"data": 3}}', "[]"]
)
def test_results_that_cannot_be_read_have_no_plan(text: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(text)
    assert plan_of_results(tmp_path) is None


def test_sets_that_do_not_grow_from_each_other_make_a_table_too(tmp_path: Path) -> None:
    plan = Plan(
        "small", parameters={"regularization": (0.5, 2.0), "search": "floating"}
    )
    result = finished(plan)
    write_results(result, tmp_path)
    with (tmp_path / "selection_path.csv").open() as file:
        rows = list(csv.DictReader(file))
    for fold in result.folds:
        own = [row for row in rows if int(row["fold"]) == fold.fold]
        assert [int(row["id"]) for row in own if row["chosen"] == "1"] == list(
            fold.selected
        )
        path = next(p for p in fold.paths if p.unit == fold.chosen.unit)
        for row in own:
            holding = [
                step for step in path.steps if int(row["id"]) - 1 in step.selected
            ]
            assert (
                float(row["criterion_per_document"])
                == holding[0].criterion / path.divisor
            )


def test_what_no_query_defines_is_empty_in_the_table_and_null_in_json(
    tmp_path: Path,
) -> None:
    plan = Plan("small", "rankrls", {"regularization": 1.0}, measures=("MAP", "AUC"))
    result = finished(plan)
    nowhere = FrozenMapping({**result.folds[0].test, "AUC": float("nan")})
    undefined = replace(result, folds=(replace(result.folds[0], test=nowhere),))
    write_results(undefined, tmp_path / "undefined")
    values = json.loads((tmp_path / "undefined/results.json").read_text("utf-8"))
    assert values["folds"][0]["test"]["AUC"] is None
    rows = list(
        csv.DictReader(
            (tmp_path / "undefined/metrics.csv").read_text("utf-8").splitlines()
        )
    )
    assert next(row["AUC"] for row in rows if row["part"] == "test") == ""
    assert all(float(row["MAP"]) >= 0 for row in rows)
