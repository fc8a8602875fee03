"""Models that somebody changed: refused by a sentence that names the field, and never scored by halves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.errors import DataError, OutputError, ParameterError
from rankstudio.engine.export.formats.registry import model_formats
from rankstudio.engine.export.model_files import model_scores, other_names, read_for
from rankstudio.engine.export.models import Model, Weight, load_model, save_model
from rankstudio.engine.export.score_function import score_function

MODEL_FORMATS = model_formats()

FEATURE = {"id": 3, "name": "BM25", "weight": 0.5}
WEAK = {"id": 3, "above": 0.25, "adds": 1}
VALUES: dict[str, Any] = {
    "format": "rankstudio-model",
    "version": 3,
    "method": "rankboost",
    "parameters": {},
    "origin": {"test": {"MAP": float("nan")}},
    "features": [FEATURE],
}


def write(folder: Path, **changes: Any) -> Path:
    path = folder / "model.json"
    path.write_text(json.dumps(VALUES | changes), encoding="utf-8")
    return path


def thresholds(*weak: dict[str, Any]) -> dict[str, Any]:
    return {"model": {"kind": "thresholds", "thresholds": list(weak)}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"format": "\u202e"},
            r"model\.json: expected rankstudio-model .*, found '\\u202e' of version 3",
        ),
        (
            {"version": 4},
            r"model\.json: expected rankstudio-model of version 3, found .* of version 4",
        ),
        (
            {"version": 2},
            r"model\.json: expected rankstudio-model of version 3, found .* of version 2",
        ),
        (
            {"parameter": {}},
            "found the field 'parameter', expected format, version, digest, method, parameters",
        ),
        ({"version": True}, "found True as version, expected a whole number from 1 up"),
        ({"method": None}, "found None as method, expected a text"),
        ({"features": {}}, "found {} as features, expected a list"),
        ({"features": [3]}, "expected id, found none"),
        (
            {"features": [FEATURE | {"id": 2**63}]},
            "as id, expected a whole number from 1 up",
        ),
        ({"features": [FEATURE | {"name": 5}]}, "found 5 as name, expected a text"),
        ({"features": [FEATURE | {"name": "\ud800"}]}, "surrogates not allowed"),
        (
            {"features": [FEATURE | {"weight": 10**400}]},
            "as weight, expected a finite number",
        ),
        ({"features": [FEATURE, FEATURE]}, "a feature occurs twice"),
        ({"model": {}}, "expected kind, found none"),
        (
            {"model": {"kind": "linear"}},
            "found the kind 'linear', expected thresholds or trees",
        ),
        ({"model": {"kind": "thresholds"}}, "expected thresholds, found none"),
        (
            thresholds(WEAK | {"adds": "1"}),
            "found '1' as adds, expected a finite number",
        ),
        (thresholds(WEAK | {"id": 4}), "a threshold uses feature 4"),
        (
            {"model": {"kind": "trees", "columns": 3, "lightgbm": ""}},
            "found 3 as columns, expected a list",
        ),
        (
            {"model": {"kind": "trees", "columns": [3], "lightgbm": "tree\n"}},
            "trees cannot be used",
        ),
    ],
    ids=str,
)
def test_what_is_no_model_is_told_by_its_field(
    tmp_path: Path, changes: Any, message: str
) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(DataError, match=message) as raised:
        load_model(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert len(str(raised.value)) < 400


def kernel_of(**changes: Any) -> dict[str, Any]:
    kernel = {"function": "rbf", "gamma": 0.5, "degree": 3, "coef0": 1.0}
    values = {
        "kind": "kernel",
        "kernel": kernel,
        "columns": [3],
        "vectors": [[0.5], [1]],
        "weights": [1, -0.5],
    }
    return {"model": values | changes}


RBF = kernel_of()["model"]["kernel"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kernel": None}, "None coef0"),
        ({"kernel": RBF | {"function": "precomputed"}}, "rbf poly linear"),
        ({"kernel": RBF | {"function": "linear + "}}, "rbf poly linear"),
        ({"kernel": RBF | {"function": ["rbf"]}}, "rbf poly linear"),
        ({"kernel": RBF | {"gamma": 0}}, "degree gamma"),
        ({"kernel": RBF | {"degree": 2.5}}, "degree gamma"),
        ({"kernel": RBF | {"coef0": "1"}}, "coef0 2"),
        ({"columns": [4]}, "[4]"),
        ({"columns": "3"}, "3 columns list"),
        ({"weights": [1, 10**400]}, "weights list"),
        ({"weights": [1, True]}, "weights list"),
        ({"vectors": [[0.5]]}, "2 vectors weight"),
        ({"vectors": [[0.5], [0.5, 1.0]]}, "1 list numbers"),
    ],
    ids=str,
)
def test_a_kernel_model_that_is_none_is_refused(
    tmp_path: Path, changes: Any, message: str
) -> None:
    with pytest.raises(DataError, match=naming(message)):
        load_model(write(tmp_path, **kernel_of(**changes)))


def test_a_kernel_model_scores_with_its_basis_vectors(tmp_path: Path) -> None:
    model = load_model(write(tmp_path, **kernel_of()))
    X = np.array([[9.0, 9.0, 0.5], [9.0, 9.0, 1.0]])
    expected = [1 - 0.5 * np.exp(-0.125), np.exp(-0.125) - 0.5]
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-14)
    save_model(tmp_path / "again.json", model)
    assert load_model(tmp_path / "again.json").beyond == model.beyond
    with pytest.raises(OutputError, match=naming("linear json csv")):
        save_model(tmp_path / "model.csv", model)
    with pytest.raises(OutputError, match=naming("RankStudio JSON")):
        score_function(model)
    for form in MODEL_FORMATS.values():
        assert "kernel functions" in form.refusal(
            linear=False, scaled=False, kind="kernel"
        )


def sums_of(**changes: Any) -> dict[str, Any]:
    """Return changes of a file to a model of sums of its feature 3."""
    weak = {
        "kind": "thresholds",
        "thresholds": [WEAK | {"id": 2, "above": 0.5, "adds": 2.0}],
    }
    return {
        "model": {
            "kind": "sums",
            "columns": [3],
            "sums": [[1.0], [-1.0]],
            "model": weak,
        }
        | changes
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": [4]}, "[4]"),
        ({"columns": [3, 3]}, "columns distinct"),
        ({"sums": [[1.0]]}, "2"),
        ({"sums": [[1.0], [1.0, 2.0]]}, "sum 1 numbers"),
        ({"sums": 1}, "sums list"),
        ({"model": sums_of()["model"]}, "sums of sums"),
        ({"model": {"kind": "trees", "columns": [5], "lightgbm": ""}}, ""),
        ({"model": 3}, "model object"),
    ],
    ids=str,
)
def test_a_model_of_sums_that_is_none_is_refused(
    tmp_path: Path, changes: Any, message: str
) -> None:
    with pytest.raises(DataError, match=naming(message)):
        load_model(write(tmp_path, **sums_of(**changes)))


def test_a_model_of_sums_scores_the_sums(tmp_path: Path) -> None:
    model = load_model(write(tmp_path, **sums_of()))
    assert model.predict(np.array([[-1.0], [0.0]]), np.array([3])).tolist() == [
        2.0,
        0.0,
    ]
    with pytest.raises(DataError, match=naming("feature 3")):
        model.predict(np.array([[1.0]]))


def test_a_field_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(
        path.read_text().replace('"weight": 0.5', '"weight": 0.5, "weight": 0.7')
    )
    with pytest.raises(DataError, match="a field occurs twice"):
        load_model(path)


def test_whole_numbers_of_any_size_are_scored_as_numbers(tmp_path: Path) -> None:
    model = load_model(
        write(
            tmp_path, **thresholds(WEAK | {"adds": 10**30}, WEAK | {"above": -(10**30)})
        )
    )
    assert model.predict(np.array([[0.5], [0.0]]), np.array([3])).tolist() == [
        1e30 + 1,
        1.0,
    ]
    save_model(tmp_path / "again.json", model)
    assert load_model(tmp_path / "again.json").beyond == model.beyond


def test_scores_beyond_the_range_of_numbers_are_refused() -> None:
    model = Model((Weight(1, "a", 1e308), Weight(2, "b", 1e308)), "", {}, {})
    assert model.predict(np.array([[1.0, 0.5]])).tolist() == [1.5e308]
    with pytest.raises(DataError, match=naming("range")):
        model.predict(np.array([[1.0, 1.0]]))


def test_a_file_that_was_changed_is_told_by_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    save_model(
        path,
        Model(
            (Weight(3, "BM25", 0.5),), "gas", {}, {"data": "Small"}, plan={"seed": 1}
        ),
    )
    model = load_model(path)
    assert (model.plan, model.normalize, model.missing) == (
        {"seed": 1},
        "none",
        "query_min",
    )
    text = path.read_text()
    path.write_text(json.dumps(dict(reversed(json.loads(text).items()))))
    assert load_model(path) == model, "neither order nor spaces count"
    for changed, message in (
        (text.replace("0.5", "0.25"), "the file was modified: found 'sha256:"),
        (
            text.replace('"method"', '"methods"'),
            "found the field 'methods', expected format, version, digest",
        ),
        (text.replace('"digest"', '"model"'), "as model, expected an object"),
    ):
        path.write_text(changed)
        with pytest.raises(DataError, match=message):
            load_model(path)


@pytest.mark.parametrize("name", ["normalize", "missing"])
def test_a_preparation_of_the_values_that_nobody_knows_is_refused(
    tmp_path: Path, name: str
) -> None:
    path = write(tmp_path, origin={name: "z-score"})
    with pytest.raises(DataError, match=naming(f"z-score {name}")):
        load_model(path)


def test_features_that_a_file_leaves_out_are_zero(tmp_path: Path) -> None:
    model = Model((Weight(1, "a", 2.0), Weight(3, "c", 5.0)), "", {}, {})
    (tmp_path / "sparse.txt").write_text("1 qid:1 1:0.5\n0 qid:1 2:1\n")
    data = load_letor(tmp_path / "sparse.txt", cache=False)
    assert data.sparse and model_scores(model, data).tolist() == [1.0, 0.0]
    (tmp_path / "dense.txt").write_text("1 qid:1 1:0.5 2:0\n0 qid:1 1:1 2:1\n")
    with pytest.raises(DataError, match=naming("3 feature data")):
        model_scores(model, load_letor(tmp_path / "dense.txt", cache=False))


def test_a_feature_that_the_data_call_otherwise_is_named(tmp_path: Path) -> None:
    (tmp_path / "clicks.csv").write_text(
        "qid,label,BM25,length\n1,0,0.5,3\n1,1,0.25,4\n"
    )
    model = Model((Weight(2, "length", 1.0), Weight(1, "BM25", 8.0)), "", {}, {})
    data = read_for(model, tmp_path / "clicks.csv")
    assert other_names(model, data) == ()
    assert model_scores(model, data).tolist() == [7.0, 6.0]
    other = Model((Weight(1, "feature 1", 1.0), Weight(2, "PageRank", 1.0)), "", {}, {})
    (note,) = other_names(other, data)
    assert naming("2 'PageRank' 'length'").search(note)


def test_columns_are_those_of_the_plan(tmp_path: Path) -> None:
    (tmp_path / "clicks.csv").write_text(
        "session,clicked,url,BM25\n1,0,x,0.5\n1,1,y,0.25\n"
    )
    columns = {"qid": "session", "label": "clicked", "ignore": ["url"]}
    model = Model((Weight(1, "BM25", 8.0),), "", {}, {}, plan={"columns": columns})
    assert model_scores(model, read_for(model, tmp_path / "clicks.csv")).tolist() == [
        4.0,
        2.0,
    ]
    with pytest.raises(ParameterError, match="columns"):
        read_for(replace(model, plan={"columns": 3}), tmp_path / "clicks.csv")
