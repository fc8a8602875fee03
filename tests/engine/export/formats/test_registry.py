"""What every format has in common: refusals, names, files beside, our own readers; no name is code."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import (
    DataError,
    MissingExtraError,
    OutputError,
    ParameterError,
)
from rankstudio.engine.export.exported_names import identifier
from rankstudio.engine.export.formats.model_format import Documents
from rankstudio.engine.export.formats.registry import (
    absent_plugin_of,
    model_format,
    model_formats,
)
from rankstudio.engine.export.models import Model, Weight
from rankstudio.engine.export.proof import fitted_function, ranked_alike, ranking_proof
from rankstudio.engine.export.score_function import model_inputs, score_function

MODEL_FORMATS = model_formats()

KEYS = [
    "ranklib",
    "svmlight",
    "svmrank",
    "lightgbm",
    "solr",
    "elasticsearch",
    "elasticsearch-native",
    "elasticsearch-script",
    "elasticsearch-rank-feature",
    "vespa",
    "onnx",
    "pmml",
]
KEYS += ["python", "c", "sql"]
KEYS = [key for key in KEYS if not absent_plugin_of(key)]
ONLY_TREES = ("lightgbm", "elasticsearch-native")
ONLY_WEIGHTS = (
    "svmlight",
    "svmrank",
    "elasticsearch-script",
    "elasticsearch-rank-feature",
)
WEIGHTED = [key for key in KEYS if key not in ONLY_TREES]


def linear(*weights: float, **origin: Any) -> Model:
    named = tuple(Weight(i, f"name {i}", w) for i, w in enumerate(weights, start=1))
    return Model(named, "gas", {}, {"data": "Small", "fold": 1, **origin})


def test_the_registry_has_the_formats_that_were_promised() -> None:
    assert list(MODEL_FORMATS) == KEYS
    assert all(
        form.key == key and form.summary.endswith(".")
        for key, form in MODEL_FORMATS.items()
    )
    with pytest.raises(ParameterError, match=naming("format rank")):
        model_format("rank")


@pytest.mark.parametrize("key", KEYS)
def test_our_own_reader_ranks_alike_and_what_cannot_be_expressed_is_refused(
    given, key: str
) -> None:
    form, function = MODEL_FORMATS[key], score_function(given.model)
    if reason := form.refusal(linear=function.linear, scaled=function.scaled):
        assert key in (ONLY_TREES if given.linear else ONLY_WEIGHTS)
        with pytest.raises(OutputError) as raised:
            form.files(function)
        assert str(raised.value) == reason and reason.endswith(
            ("is a weighted sum.", "trees.")
        )
        return
    if key == "elasticsearch-rank-feature" and min(function.weights) < 0:
        with pytest.raises(
            OutputError, match=naming("rank_feature elasticsearch-script")
        ):
            form.files(function)
        return
    written = form.files(fitted_function(given.model, function, form, [given.test]))
    proof = ranking_proof(given.model, function, form, written, [given.test])
    assert proof.holds, proof.sentence
    assert proof.sentence.startswith(f"Identical ranking on {given.all} queries")
    assert (proof.single is None) == (not form.single)


@pytest.mark.parametrize("key", WEIGHTED)
def test_scaling_within_a_query_travels_along_or_is_refused(key: str) -> None:
    model, form = linear(1.0, -0.7, normalize="query_minmax"), MODEL_FORMATS[key]
    function = score_function(model)
    if key != "python":
        with pytest.raises(OutputError, match=naming("query_minmax")):
            form.files(function)
        return
    X = np.random.default_rng(1).integers(0, 9, (40, 2)).astype(float)
    X[:4] = 3.0  # nothing to scale in the first query
    data = RankingDataset.from_arrays(X, np.zeros(40), np.arange(40) // 4)
    proof = ranking_proof(model, function, form, form.files(function), [data])
    assert proof.sentence == "Identical ranking on 10 of 10 queries."
    scaled = form.read(form.files(function), function, Documents(X, data.query_ptr))
    assert not ranked_alike(scaled, X @ np.array([1.0, -0.7]), data.query_ptr).all(), (
        "it is another ranking unscaled"
    )


@pytest.mark.parametrize(
    "key", [key for key in WEIGHTED if not key.startswith("elasticsearch-")]
)
def test_extreme_numbers_survive(key: str) -> None:
    weights = (1e-300, -1e300, 5e-324, 0.1 + 0.2, -0.0, 1 / 3, 123456789.123456789)
    form, function = MODEL_FORMATS[key], score_function(linear(*weights))
    X = np.eye(len(weights))
    found = form.read(
        form.files(function), function, Documents(X, np.array([0, len(weights)]))
    )
    if key in ("sql", "onnx"):  # SQLite reads decimals to the last place or so
        np.testing.assert_allclose(found, weights, rtol=1e-15, atol=1e-320)
    else:
        assert found.tolist() == list(weights)


def test_a_model_without_a_feature_scores_nothing() -> None:
    for key, form in MODEL_FORMATS.items():
        if form.linear:
            function = score_function(linear())
            found = form.read(
                form.files(function),
                function,
                Documents(np.zeros((3, 0)), np.array([0, 3])),
            )
            assert found.tolist() == [0.0, 0.0, 0.0], key


def test_files_stand_beside_each_other() -> None:
    for key, form in MODEL_FORMATS.items():
        if form.linear:
            paths = form.paths(Path("out") / f"model{form.suffix}")
            assert list(paths) == list(form.files(score_function(linear(1.0))))
            expected = {
                "solr": ["model-features.json"],
                "elasticsearch": ["model-featureset.json", "model-about.txt"],
                "elasticsearch-rank-feature": ["model-about.txt"],
            }.get(key, [])
            assert [path.name for path in paths.values()][1:] == expected


def test_identifiers_are_names_in_every_language_and_no_two_are_the_same() -> None:
    assert identifier("TF*IDF of whole document") == "tf_idf_of_whole_document"
    assert identifier("Ähnlichkeit ≥ 3") == "ahnlichkeit_3"
    given = [(1, "BM25"), (2, "bm25!"), (3, "feature 9"), (9, "日本"), (10, "42nd")]
    named = [i.identifier for i in model_inputs(given)]
    assert named == ["feature_1", "feature_2", "feature_3", "feature_9", "feature_10"]


def test_trees_that_others_cannot_have_are_refused(grown) -> None:
    if "lightgbm" not in grown.model.beyond:
        return
    text = grown.model.beyond["lightgbm"]
    zero_is_missing = text.replace("decision_type=2 ", "decision_type=6 ")
    changed = replace(
        grown.model, beyond={**grown.model.beyond, "lightgbm": zero_is_missing}
    )
    with pytest.raises(OutputError, match=naming("0 LightGBM")):
        score_function(changed)
    chain = 150
    deep = {
        "num_leaves": chain + 1,
        "split_feature": " ".join(["0"] * chain),
        "threshold": " ".join(map(str, range(chain))),
        "decision_type": " ".join(["2"] * chain),
        "left_child": " ".join(str(~n) for n in range(chain)),
        "right_child": " ".join([*(str(n + 1) for n in range(chain - 1)), str(~chain)]),
        "leaf_value": " ".join(map(str, range(chain + 1))),
    }
    tree = "\n".join(f"{key}={value}" for key, value in deep.items())
    text = f"tree\nversion=v4\n\nTree=0\n{tree}\n\nend of trees\n"
    changed = replace(grown.model, beyond={**grown.model.beyond, "lightgbm": text})
    with pytest.raises(OutputError, match=naming("150 100")):
        score_function(changed)


@pytest.mark.ability("exports")
def test_an_expression_that_sqlite_does_not_read_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form, function = MODEL_FORMATS["sql"], score_function(linear(1.0))
    data = RankingDataset.from_arrays(np.ones((2, 1)), np.zeros(2))
    files = {"": b"0e0" + b"\n+ 1e0" * 5000}
    proof = ranking_proof(linear(1.0), function, form, files, [data])
    assert not proof.holds
    assert "SQLite" in proof.failure
    assert isinstance(sqlite3.sqlite_version, str)


@pytest.mark.ability("exports")
def test_a_library_that_is_missing_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=naming("ONNX rankstudio[onnx]")):
        MODEL_FORMATS["onnx"].write(score_function(linear(1.0)))


@pytest.mark.ability("exports")
def test_documents_without_a_feature_of_the_model_are_refused() -> None:
    form, function = MODEL_FORMATS["ranklib"], score_function(linear(1.0, 2.0))
    data = RankingDataset.from_arrays(np.ones((2, 1)), np.zeros(2))
    with pytest.raises(DataError, match=naming("2 feature data")):
        ranking_proof(linear(1.0, 2.0), function, form, form.files(function), [data])


def near_scores(spread: float, offset: float) -> tuple[Model, RankingDataset]:
    """Return twelve queries with great values, and small ones that tell documents apart."""
    rng = np.random.default_rng(7)
    X = np.column_stack(
        [offset + rng.integers(0, 2, 240), rng.integers(0, 60, 240) * spread]
    )
    data = RankingDataset.from_arrays(
        np.float64(np.float32(X)), np.zeros(240), np.arange(240) // 20
    )
    return linear(0.25, 1.0), data


@pytest.mark.parametrize(
    ("key", "prints"), [("svmlight", "%.8g"), ("svmrank", "%.8f"), ("solr", "")]
)
def test_the_proof_counts_what_the_program_prints_and_fitting_helps(
    key: str, prints: str
) -> None:
    model, data = (
        near_scores(2.0**-12, 2.0**17)
        if prints != "%.8f"
        else near_scores(2.0**-36, 2.0**6)
    )
    form, function = MODEL_FORMATS[key], score_function(model)
    before = ranking_proof(model, function, form, form.files(function), [data])
    assert before.identical == 12 and before.single is not None and before.single < 12
    assert f"{before.single} of 12" in before.sentence
    if prints:  # brute force, without our reader
        scores = data.X @ np.array([0.25, 1.0])
        seen = np.array([float(prints % score) for score in scores])
        assert before.single == ranked_alike(scores, seen, data.query_ptr).sum()
    fitted = fitted_function(model, function, form, [data])
    after = ranking_proof(model, function, form, form.files(fitted), [data])
    assert fitted != function and after.single == after.identical == 12, after.sentence


def test_a_function_that_needs_no_fitting_is_left_as_it_is() -> None:
    data = RankingDataset.from_arrays(
        np.random.default_rng(1).integers(0, 9, (40, 2)) / 8, np.zeros(40)
    )
    function = score_function(linear(0.5, -0.25))
    for key in {"svmlight", "svmrank", "solr", "elasticsearch", "c", "ranklib"} & set(
        KEYS
    ):
        assert (
            fitted_function(linear(0.5, -0.25), function, MODEL_FORMATS[key], [data])
            == function
        ), key


@pytest.mark.ability("search_engines")
def test_elasticsearch_is_given_no_negative_score_of_a_feature(given) -> None:
    """Each template is evaluated here as Elasticsearch does; it refuses a search for a negative score."""
    form, function = MODEL_FORMATS["elasticsearch"], score_function(given.model)
    data = replace(given.test, X=given.test.X - given.test.X.mean(axis=0))
    values = {
        i.identifier: data.X[:, data.feature_ids.tolist().index(i.id)]
        for i in function.inputs
    }
    negative = [name for name, column in values.items() if column.min() < 0]
    refused = ranking_proof(given.model, function, form, form.files(function), [data])
    assert (
        negative[0] in refused.failure
        and f"{values[negative[0]].min():.6g}" in refused.failure
    )
    files = form.files(fitted_function(given.model, function, form, [data]))
    shifted = []
    for feature in json.loads(files["-featureset.json"])["featureset"]["features"]:
        served = values[feature["name"]]
        if "script_score" in feature["template"]:
            script = feature["template"]["script_score"]["script"]
            assert (
                "Math.max(0.0, " in script["source"]
                and script["params"]["field"] == feature["name"]
            )
            served = served + script["params"]["shift"]
            shifted.append(feature["name"])
        assert served.min() >= 0
    assert shifted == negative
    proof = ranking_proof(given.model, function, form, files, [data])
    assert proof.identical == proof.n_queries, proof.sentence
