"""Damaged feature sets, logs, judgments and models of other programs: what stands there, or a sentence."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from fuzzer import Fuzz, Outcome, refusal
from mutations import mutated, mutated_value

from rankstudio.engine.data.cost_files import holds_costs, read_costs
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_sets import (
    is_rank_feature,
    parsed_feature_set,
    read_feature_set,
)
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.errors import DataError
from rankstudio.engine.export.foreign.model_readers import foreign_model
from rankstudio.engine.support.escaping import one_line

# the folders of both may be absent
pytest.importorskip("rankstudio.plugins.search_engines")
pytest.importorskip("rankstudio.plugins.trees")
from test_model_files import trees

FOREIGN = Path(__file__).parents[1] / "data" / "foreign"

HOSTILE = "\"',;{}</script>${jndi:x}{{keywords}}\n*/ $(rm)"
ELASTIC = {
    "name": "movies",
    "features": [
        {
            "name": "title",
            "params": ["keywords"],
            "template": {"match": {"title": HOSTILE}},
        },
        {
            "name": HOSTILE,
            "params": [],
            "template_language": "derived_expression",
            "template": "title * 2",
        },
    ],
}
SOLR = [
    {
        "name": name,
        "store": "s",
        "class": "org.apache.solr.ltr.feature.SolrFeature",
        "params": {"q": HOSTILE},
    }
    for name in ("recency", "isBook")
]
VESPA = ["bm25(title)", "fieldMatch(title).completeness", 'query("a b")', "nativeRank"]
PROFILES = (
    b"bm25(title)\nnativeRank # more\nattribute(x)\n",
    b"rank-profile a {\n match-features {\n bm25(title) closeness(field, e)\n }\n}\n",
)

ENTRIES = [{"name": "title", "value": 9.5}, {"name": "body"}]
LOGS: tuple[object, ...] = (
    {
        "qid": "1",
        "hits": {
            "hits": [
                {"_id": d, "fields": {"_ltrlog": [{"log": ENTRIES}]}} for d in "abc"
            ]
        },
    },
    {
        "responseHeader": {"params": {"q": "1"}},
        "response": {
            "docs": [
                {"id": "a", "[features]": "title=1.0,body=2"},
                {"id": "b", "[features]": "body=0"},
            ]
        },
    },
    {
        "query": "1",
        "root": {
            "children": [
                {
                    "id": "id:x:x::a",
                    "fields": {"matchfeatures": {"bm25(title)": 1, "t": {"0": 1}}},
                },
                {"id": "b", "fields": {"matchfeatures": {"bm25(title)": 0.5}}},
            ]
        },
    },
)
JUDGMENTS = (
    b"1 0 a 2\n1 0 b 0\n1 0 c -1\n2 0 a 1\n",
    b'query,docid,rating\n1,a,3\n1,b,0.5\n"1",c,\n',
    json.dumps(
        {
            "judgmentRatings": [
                {
                    "query": "1",
                    "ratings": [
                        {"docId": "a", "rating": "2"},
                        {"docId": "b", "rating": 0},
                    ],
                }
            ]
        }
    ).encode(),
)


def as_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")


def test_feature_sets(fuzz: Fuzz) -> None:
    sound = (*map(as_bytes, ({"featureset": ELASTIC}, SOLR, VESPA)), *PROFILES)

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / rng.choice(("featureset.json", "x.profile"))
        if rng.random() < 0.5:
            content = as_bytes(
                mutated_value(rng, rng.choice(({"featureset": ELASTIC}, SOLR, VESPA)))
            )
        else:
            content = mutated(rng, rng.choice(sound), sound)
        path.write_bytes(content)
        try:
            found = read_feature_set(path)
        except DataError as error:
            return refusal(error, path)
        assert found.definitions and found.engine in ("elasticsearch", "solr", "vespa")
        again = parsed_feature_set(path, found.text())
        assert (again.engine, again.definitions) == (found.engine, found.definitions)
        if found.engine == "vespa":
            assert all(map(is_rank_feature, found.names)), (
                "nothing else goes into an expression"
            )
        found.reduced(found.names[:1]).text().encode()
        return Outcome.READ

    fuzz("feature sets", attempt, 500)


def test_feature_logs(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        log, judgments = (
            folder / "log.json",
            folder / rng.choice(("qrels", "ratings.csv", "judgments.json")),
        )
        value, graded = rng.choice(LOGS), rng.choice(JUDGMENTS)
        content = as_bytes(value)
        which = rng.random()
        if which < 0.4:
            content = as_bytes(mutated_value(rng, value))
        elif which < 0.7:
            content = mutated(rng, content, tuple(map(as_bytes, LOGS)))
        else:
            graded = mutated(rng, graded, JUDGMENTS)
        log.write_bytes(content)
        judgments.write_bytes(graded)
        try:
            data = (
                open_dataset(log, columns={"judgments": str(judgments)}).folds[0].train
            )
        except DataError as error:
            return refusal(error, log if log.name in str(error) else judgments)
        assert (
            np.isfinite(data.X).all()
            and (data.y >= 0).all()
            and np.isfinite(data.y).all()
        )
        assert data.n_documents == len(
            set(zip(data.query_index.tolist(), data.document_ids, strict=True))
        )
        assert len(set(data.feature_names)) == data.n_features > 0
        return Outcome.READ

    fuzz("feature logs", attempt, 700)


BREAKDOWN = {
    "create_weight": 900,
    "build_scorer": 100,
    "score": 40,
    "score_count": 8,
    "next_doc_count": 9,
}
TERMS = [
    {"type": "TermQuery", "time_in_nanos": 1040, "breakdown": BREAKDOWN}
    for _ in range(2)
]
LTR = {"type": "RankerQuery", "breakdown": BREAKDOWN, "children": TERMS}
COSTS: tuple[object, ...] = (
    {"title": {"per_document": 0.5, "per_query": 3}, HOSTILE: {"per_document": 0}},
    [
        {"feature": 1, "per_query": 2.5},
        {"feature": HOSTILE, "per_document": "1e-3", "per_query": ""},
    ],
    {
        "took": 1,
        "profile": {
            "shards": [
                {"searches": [{"query": [LTR, {"type": "x", "children": [LTR]}]}]}
            ]
        },
    },
)
COST_TABLES = (
    b"feature,per_document,per_query\ntitle,0.5,3\n2,1e-3,\n",
    b"\xef\xbb\xbffeature;per_query\r\n1;2.5\r\n\r\n2;0\r\n",
)
PRICED = FoldedDataset.of(
    RankingDataset.from_arrays(
        np.arange(6.0).reshape(3, 2),
        [0, 1, 2],
        [1, 1, 2],
        feature_names=("title", one_line(HOSTILE)),
    )
)


def test_costs_of_features(fuzz: Fuzz) -> None:
    sound = (*map(as_bytes, COSTS), *COST_TABLES)

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / rng.choice(("costs.csv", "costs.json"))
        which = rng.random() < 0.5
        content = (
            as_bytes(mutated_value(rng, rng.choice(COSTS)))
            if which
            else mutated(rng, rng.choice(sound), sound)
        )
        path.write_bytes(content)
        holds_costs(path)
        try:
            found = read_costs(path, PRICED)
        except DataError as error:
            return refusal(error, path)
        assert [i for i, _, _ in found.features] == [1, 2] and found.documents == 1.5
        assert all(0 <= cost < np.inf for _, *costs in found.features for cost in costs)
        assert all(0 < price < np.inf for price in found.prices().values())
        assert (
            FeatureCosts.of(found.plain()) == found == FeatureCosts.parsed(found.text())
        )
        return Outcome.READ

    fuzz("costs of features", attempt, 700)


MODELS = {
    path.name: path.read_bytes()
    for path in sorted(FOREIGN.iterdir())
    if path.suffix in (".json", ".onnx")
}
del MODELS["expected.json"]
RANKLIB = b"""## LambdaMART
<ensemble><tree id="1" weight="0.1"><split><feature> 1 </feature><threshold> 0.5 </threshold>
<split pos="left"><output> -2.0 </output></split><split pos="right"><output> 2.0 </output></split>
</split></tree></ensemble>
"""
SOLR_TREE = {
    "feature": "a",
    "threshold": "0.5",
    "left": {"value": "1"},
    "right": {"value": "2"},
}
MODELS["ranklib.txt"] = RANKLIB
MODELS["linear.txt"] = b"## Coordinate Ascent\n## x = 1\n1:0.5 2:-1e-3 4:2\n"
MODELS["solr.json"] = as_bytes(
    {
        "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
        "features": [{"name": "a"}],
        "params": {"trees": [{"weight": "1", "root": SOLR_TREE}]},
    }
)
MODELS["elastic.json"] = as_bytes(
    {
        "model": {
            "name": "m",
            "model": {"type": "model/linear", "definition": '{"a": 0.5, "b": 1}'},
        }
    }
)
MODELS["lightgbm.txt"] = trees()["model"]["lightgbm"].encode()
ROWS = np.random.default_rng(1).random((12, 4))
DATA = FoldedDataset.of(
    RankingDataset.from_arrays(
        ROWS, np.zeros(12), np.arange(12) // 4, feature_names=tuple("abcd")
    )
)


def test_models_of_other_programs(fuzz: Fuzz) -> None:
    """They become numbers for every document, without running anything of theirs."""

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        name = rng.choice(list(MODELS))
        content = MODELS[name]
        if name.endswith(".json") and rng.random() < 0.6:
            content = as_bytes(mutated_value(rng, json.loads(content)))
        else:
            content = mutated(rng, content, (content,))
        path = folder / name
        path.write_bytes(content)
        try:
            model = foreign_model(path, DATA)
            if model is None:
                return Outcome.REFUSED
            scores = model.predict(DATA.folds[0].train.X, DATA.feature_ids)
        except DataError as error:
            return refusal(error)
        assert np.isfinite(scores).all() and scores.shape == (12,)
        assert {feature.id for feature in model.features} <= {1, 2, 3, 4}
        return Outcome.READ

    fuzz("models of other programs", attempt, 40)
