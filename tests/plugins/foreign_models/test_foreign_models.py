"""Models of other programs: read from their own files, they score as these programs do."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.engine.errors import DataError, DatasetError
from rankstudio.engine.export.exported_names import SHIFTED
from rankstudio.engine.export.foreign.model_readers import (
    foreign_model,
    is_foreign_text,
)
from rankstudio.engine.export.foreign.parsed_model import greatest_below, greatest_up_to
from rankstudio.engine.export.formats.registry import model_formats
from rankstudio.engine.export.model_files import (
    files_of_models,
    holds_models,
    model_and_data,
    models_in,
)
from rankstudio.engine.export.models import Model, Weight, save_model
from rankstudio.engine.export.proof import ranked_alike
from rankstudio.engine.export.score_function import score_function

MODEL_FORMATS = model_formats()

FOREIGN = Path(__file__).parents[2] / "data" / "foreign"
EXPECTED = json.loads((FOREIGN / "expected.json").read_text())
X = np.array(EXPECTED["X"])
NAMED = ("BM25 of title", "clicks", "tf", "age")


def data_of(values: np.ndarray, names: tuple[str, ...] | None = None) -> FoldedDataset:
    qid = np.arange(len(values)) // 6
    return FoldedDataset.of(
        RankingDataset.from_arrays(
            values, np.zeros(len(values)), qid, feature_names=names
        )
    )


def scores_of(path: Path, data: FoldedDataset) -> np.ndarray:
    model = foreign_model(path, data)
    assert model is not None
    return model.predict(data.folds[0].train.X, data.feature_ids)


@pytest.mark.parametrize("name", EXPECTED["scores"])
def test_what_xgboost_and_catboost_saved_scores_as_they_do(name: str) -> None:
    """Scores differ by a constant, XGBoost's base score; that of the sums of floats is 6e-8 of each leaf."""
    path = FOREIGN / f"{name}{'.onnx' if name.endswith('onnx') else '.json'}"
    found = scores_of(path, data_of(X, NAMED))
    difference = found - np.array(EXPECTED["scores"][name])
    assert np.ptp(difference) < 1e-6
    assert holds_models(path)


def test_named_features_are_found_by_name_in_any_order() -> None:
    turned = data_of(np.ascontiguousarray(X[:, ::-1]), NAMED[::-1])
    expected = np.array(EXPECTED["scores"]["xgboost-named"])
    assert np.ptp(scores_of(FOREIGN / "xgboost-named.json", turned) - expected) < 1e-6
    with pytest.raises(
        DatasetError, match=naming("xgboost-named.json XGBoost data 4 features")
    ):
        foreign_model(FOREIGN / "xgboost-named.json", data_of(X))


def test_features_without_names_need_as_many_columns(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=naming("xgboost.json 4 2 features names")):
        foreign_model(FOREIGN / "xgboost.json", data_of(X[:, :2]))
    values = json.loads((FOREIGN / "xgboost.json").read_text())
    # A library that read LETOR text has a column 0, which no feature has.
    values["learner"]["learner_model_param"]["num_feature"] = "5"
    for tree in values["learner"]["gradient_booster"]["model"]["trees"]:
        tree["split_indices"] = [i + 1 for i in tree["split_indices"]]
    path = tmp_path / "from_text.json"
    path.write_text(json.dumps(values))
    assert (
        np.ptp(scores_of(path, data_of(X)) - np.array(EXPECTED["scores"]["xgboost"]))
        < 1e-6
    )


def test_a_feature_that_is_not_there_is_told_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text("## Coordinate Ascent\n1:0.5 2:0.25 7:1.0\n")
    with pytest.raises(DatasetError, match=naming("m.txt RankLib 7 Data 4 features 1")):
        foreign_model(path, data_of(X))
    booster = lightgbm.train(
        {"objective": "regression", "verbose": -1},
        lightgbm.Dataset(np.zeros((9, 4)), np.zeros(9)),
        2,
    )
    booster.save_model(path)
    with pytest.raises(DatasetError, match=naming("m.txt LightGBM no features")):
        foreign_model(path, data_of(X))


@pytest.mark.parametrize("names", ["auto", ["BM25_of_title", "clicks", "tf", "age"]])
def test_lightgbm(tmp_path: Path, names: Any) -> None:
    rng = np.random.default_rng(1)
    train, y = rng.random((200, 4)), rng.integers(0, 3, 200)
    options = {
        "objective": "lambdarank",
        "num_leaves": 5,
        "min_data_in_leaf": 3,
        "verbose": -1,
    }
    given = lightgbm.Dataset(train, y, group=[10] * 20, feature_name=names)
    booster = lightgbm.train(options, given, 6)
    path = tmp_path / "model.txt"
    booster.save_model(path)
    assert is_foreign_text(path) and holds_models(path)
    data = data_of(X, NAMED)
    np.testing.assert_array_equal(
        scores_of(path, data), booster.predict(X, raw_score=True)
    )
    path.write_text(path.read_text().replace("num_class=1", "num_class=3"))
    with pytest.raises(DatasetError, match=r"model.txt"):
        foreign_model(path, data)


@pytest.mark.parametrize(
    "key", ["ranklib", "solr", "elasticsearch", "lightgbm", "onnx"]
)
def test_what_is_written_for_another_program_is_read_as_its_own(
    given, key: str, tmp_path: Path
) -> None:
    """The files are held against readers of their own in test_written_models and test_written_exports."""
    function, form = score_function(given.model), MODEL_FORMATS[key]
    if form.refusal(linear=function.linear, scaled=function.scaled):
        return
    path = tmp_path / f"m{form.suffix}"
    form.save(path, form.files(function))
    test = given.test
    called = {i.id: i.name for i in function.inputs}
    names = tuple(called.get(i, f"other {i}") for i in test.feature_ids.tolist())
    data = FoldedDataset.of(test.changed(feature_names=names))
    model = foreign_model(path, data)
    assert model is not None
    found = model.predict(test.X, test.feature_ids)
    expected = given.model.predict(test.X, test.feature_ids)
    assert ranked_alike(expected, found, test.query_ptr).all()
    assert {f.id for f in model.features} <= {f.id for f in given.model.features}


@pytest.mark.parametrize("key", ["ranklib", "solr", "elasticsearch", "onnx"])
def test_features_without_names_are_found_by_their_ids(
    key: str, tmp_path: Path
) -> None:
    """Catches feature 4, the first of the model, read as the first of the data."""
    data = data_of(np.random.default_rng(2).random((20, 6)))
    ours = Model(
        (Weight(4, "feature 4", 0.25), Weight(6, "feature 6", -1.5)), "rankrls", {}, {}
    )
    form = MODEL_FORMATS[key]
    form.save(tmp_path / f"m{form.suffix}", form.files(score_function(ours)))
    X = data.folds[0].train.X
    found = scores_of(tmp_path / f"m{form.suffix}", data)
    assert (found.argsort() == ours.predict(X).argsort()).all()


def test_columns_that_a_library_counts_from_0_are_no_ids(tmp_path: Path) -> None:
    features = [{"name": f"feature_{number}"} for number in range(4)]
    weights = {"feature_1": 1.0, "feature_2": 0.5}
    solr = {**SOLR_LINEAR, "features": features, "params": {"weights": weights}}
    (tmp_path / "m.json").write_text(json.dumps(solr))
    X = np.random.default_rng(2).random((8, 4))
    for names in (None, tuple(f"feature_{number}" for number in range(4))):
        np.testing.assert_allclose(
            scores_of(tmp_path / "m.json", data_of(X, names)), X @ [0, 1, 0.5, 0]
        )


def test_places_in_a_feature_set_need_the_set(tmp_path: Path) -> None:
    """The set is next to the model or that of the data; data without names have the numbers of the set."""
    path, beside = tmp_path / "m.json", tmp_path / "m-featureset.json"
    path.write_text(json.dumps({"type": "model/ranklib", "definition": RANKLIB}))
    X, names = np.random.default_rng(3).random((30, 3)), ("a", "b", "c")
    placed, named = scores_of(path, data_of(X)), data_of(X, names)
    with pytest.raises(DatasetError, match=beside.name):
        foreign_model(path, named)
    turned = data_of(X[:, ::-1], names[::-1])
    known = FeatureSet(
        "elasticsearch", "", dict.fromkeys(names, "{}"), ids={3: "a", 2: "b", 1: "c"}
    )
    np.testing.assert_array_equal(scores_of(path, turned.extended(known)), placed)
    features = [{"name": name, "template": {"match_all": {}}} for name in names]
    beside.write_text(json.dumps({"featureset": {"name": "s", "features": features}}))
    np.testing.assert_array_equal(scores_of(path, named), placed)
    np.testing.assert_array_equal(scores_of(path, turned), placed)
    assert files_of_models(tmp_path) == [path]
    features[1]["template"] = {
        "script_score": {"script": {"source": SHIFTED, "params": {"shift": 1.0}}}
    }
    beside.write_text(json.dumps({"featureset": {"name": "s", "features": features}}))
    with pytest.raises(DatasetError, match="constants"):
        foreign_model(path, named)


# Solr's reference guide, "Learning To Rank": a LinearModel and a MultipleAdditiveTreesModel.
STANDARD = "org.apache.solr.ltr.norm.StandardNormalizer"
SOLR_LINEAR = {
    "class": "org.apache.solr.ltr.model.LinearModel",
    "name": "myModel",
    "features": [
        {
            "name": "documentRecency",
            "norm": {"class": STANDARD, "params": {"avg": "1", "std": "2"}},
        },
        {"name": "isBook"},
    ],
    "params": {"weights": {"documentRecency": 1.0, "isBook": 0.1}},
}
SOLR_TREES = {
    "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
    "name": "multipleadditivetreesmodel",
    "features": [{"name": "userTextTitleMatch"}, {"name": "originalScore"}],
    "params": {
        "trees": [
            {
                "weight": "1",
                "root": {
                    "feature": "userTextTitleMatch",
                    "threshold": "0.5",
                    "left": {"value": "-100"},
                    "right": {
                        "feature": "originalScore",
                        "threshold": "10.0",
                        "left": {"value": "50"},
                        "right": {"value": "75"},
                    },
                },
            },
            {"weight": "2", "root": {"value": "-10"}},
        ]
    },
}
# The plug-in's documentation, "Uploading a model": XGBoost's splits and a linear model.
ELASTIC_XGBOOST = {
    "model": {
        "name": "my_xgboost_model",
        "model": {
            "type": "model/xgboost+json",
            "definition": json.dumps(
                [
                    {
                        "nodeid": 0,
                        "split": "tmdb_multi",
                        "split_condition": 11.2009,
                        "yes": 1,
                        "no": 2,
                        "children": [
                            {"nodeid": 1, "leaf": 0.1},
                            {"nodeid": 2, "leaf": 0.5},
                        ],
                    }
                ]
            ),
        },
    }
}
ELASTIC_LINEAR = {
    "_source": {
        "name": "m",
        "definition": {
            "type": "model/linear",
            "definition": '{"title_query": 0.3, "body_query": 0.5}',
        },
        "feature_set": {
            "name": "s",
            "features": [{"name": "title_query"}, {"name": "body_query"}],
        },
    }
}
# RankLib's wiki, "File format": an ensemble; up to the threshold is left.
RANKLIB = """## LambdaMART
## No. of trees = 1

<ensemble>
    <tree id="1" weight="0.1">
        <split>
            <feature> 1 </feature>
            <threshold> 0.45867884 </threshold>
            <split pos="left">
                <feature> 2 </feature>
                <threshold> 0.0 </threshold>
                <split pos="left">
                    <output> -2.0 </output>
                </split>
                <split pos="right">
                    <output> 1.0 </output>
                </split>
            </split>
            <split pos="right">
                <output> 2.0 </output>
            </split>
        </split>
    </tree>
</ensemble>
"""


@pytest.mark.parametrize(
    ("content", "names", "rows", "expected"),
    [
        (SOLR_LINEAR, ("isBook", "documentRecency"), [[1, 5], [0, 3]], [2.6, 1.5]),
        (
            SOLR_TREES,
            ("userTextTitleMatch", "originalScore"),
            [[0.5, 0], [0.6, 10.0], [0.6, 10.1]],
            [-100, 50, 75],
        ),
        (
            ELASTIC_XGBOOST,
            ("tmdb_multi", "x"),
            [[11.2008, 0], [11.2009, 0], [12, 0]],
            [0.1, 0.5, 0.5],
        ),
        (ELASTIC_LINEAR, ("body_query", "title_query"), [[2, 10]], [4.0]),
        (RANKLIB, ("a", "b"), [[0.4, 0], [0.4, 1], [0.5, 0]], [-0.2, 0.1, 0.2]),
        ("## Coordinate Ascent\n## x\n1:0.5 2:-1\n", ("a", "b"), [[2, 3]], [-2.0]),
        ("## Linear Regression\n## x\n0:7 1:0.5 2:-1\n", ("a", "b"), [[2, 3]], [-2.0]),
    ],
)
def test_examples_of_documentations(
    tmp_path: Path,
    content: object,
    names: tuple[str, ...],
    rows: list[list[float]],
    expected: list[float],
) -> None:
    text = isinstance(content, str)
    path = tmp_path / ("m.txt" if text else "m.json")
    path.write_text(str(content) if text else json.dumps(content))
    data = FoldedDataset.of(
        RankingDataset.from_arrays(
            np.array(rows, float), np.zeros(len(rows)), feature_names=names
        )
    )
    found = scores_of(path, data)
    assert found - found[0] == pytest.approx(np.array(expected) - expected[0])


@given(
    st.one_of(
        st.floats(width=32, allow_nan=False, allow_infinity=False),
        st.sampled_from((-1e300, 1e300)),
    ),
    st.floats(-3, 3),
)
def test_a_threshold_of_floats_parts_doubles_as_the_rounded_values(
    threshold: float, factor: float
) -> None:
    near = [
        threshold * (1 + factor * 2.0**-24),
        threshold,
        greatest_up_to(threshold),
        greatest_below(threshold),
    ]
    near += [math.nextafter(x, end) for x in near for end in (-math.inf, math.inf)]
    with np.errstate(over="ignore"):
        rounded = [
            (value, np.float32(value)) for value in filter(math.isfinite, (0.0, *near))
        ]
        low = np.float32(threshold)
    for value, as_float in rounded:
        if np.isfinite(as_float):
            assert (as_float <= low) == (value <= greatest_up_to(threshold))
            assert (as_float < low) == (value <= greatest_below(threshold))


@pytest.mark.parametrize(
    "content",
    [
        "## LambdaMART\n<!DOCTYPE x [<!ENTITY a 'b'>]><ensemble></ensemble>",
        "## LambdaMART\n<ensemble><tree><split><feature>1</feature></split></tree></ensemble>",
        "## Coordinate Ascent\n1:x\n",
        "## RankNet\n1 2 3\n",
        "tree\nversion=v4\n",
        {"learner": {}},
        {
            "learner": {
                "learner_model_param": {"num_target": math.inf},
                "gradient_booster": {},
            }
        },
        {
            "oblivious_trees": [{"splits": [], "leaf_values": [1, 2]}],
            "features_info": {"float_features": []},
        },
        {
            "class": "org.apache.solr.ltr.model.NeuralNetworkModel",
            "features": [],
            "params": {},
        },
        {"model": {"name": "x", "model": {"type": "model/other", "definition": ""}}},
        [{"nodeid": 0, "split": "f0"}],
    ],
)
def test_what_is_no_model_is_refused_in_a_sentence(
    tmp_path: Path, content: object
) -> None:
    path = tmp_path / ("m.txt" if isinstance(content, str) else "m.json")
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(DataError, match="expected") as refused:
        foreign_model(path, data_of(X))
    assert path.name in str(refused.value)


def test_our_own_models_and_other_files_are_none(tmp_path: Path, given) -> None:
    save_model(tmp_path / "own.json", given.model)
    (tmp_path / "data.txt").write_text("2 qid:1 1:0.5\n")
    (tmp_path / "odd.json").write_text("[1]")
    for name in ("own.json", "data.txt", "odd.json"):
        assert foreign_model(tmp_path / name, data_of(X)) is None
    assert not is_foreign_text(tmp_path / "data.txt")
    assert not holds_models(tmp_path / "data.txt")


def test_models_of_folds_and_of_single_files(tmp_path: Path) -> None:
    for fold in (1, 2):
        (tmp_path / f"fold{fold}.txt").write_text(RANKLIB)
    assert list(models_in(tmp_path)) == [1, 2]
    (tmp_path / "test.txt").write_text("2 qid:1 1:0.4 2:1\n0 qid:1 1:0.5 2:0\n")
    model, data = model_and_data(tmp_path / "fold1.txt", tmp_path / "test.txt")
    assert isinstance(model, Model) and model.predict(data.X) == pytest.approx(
        [0.1, 0.2]
    )
