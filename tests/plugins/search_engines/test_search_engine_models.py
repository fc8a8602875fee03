"""The formats of search engines, each read by a reader that shares nothing with ours: all ranked alike."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from written_models import MODEL_FORMATS, names, ranklib_scores, walked, written

from rankstudio.engine.data.feature_sets import FeatureSet, read_feature_set
from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.formats.model_format import Documents
from rankstudio.engine.export.proof import fitted_function, ranking_proof
from rankstudio.engine.export.score_function import (
    ScoreFunction,
    defined,
    score_function,
)

single = np.float32


def test_solr_as_solr_computes(given) -> None:
    files = written(given, "solr")
    model, features = json.loads(files[""]), json.loads(files["-features.json"])
    known = names(given)
    assert (
        [f["name"] for f in model["features"]]
        == [f["name"] for f in features]
        == list(known)
    )
    assert {f["class"] for f in features} == {
        "org.apache.solr.ltr.feature.FieldValueFeature"
    }
    assert {f["store"] for f in features} == {model["store"]}
    kind = model["class"].removeprefix("org.apache.solr.ltr.model.")
    rows = [{name: single(row[i]) for name, i in known.items()} for row in given.rows]
    scores = []
    if kind == "LinearModel":
        weights = {
            name: single(weight) for name, weight in model["params"]["weights"].items()
        }
        for row in rows:
            score = single(0)
            for feature in model["features"]:
                score += weights[feature["name"]] * row[feature["name"]]
            scores.append(float(score))
    else:
        assert kind == "MultipleAdditiveTreesModel"
        trees = [
            (single(tree["weight"]), solr_node(tree["root"]))
            for tree in model["params"]["trees"]
        ]
        for row in rows:
            score = single(0)
            for weight, root in trees:
                score += weight * single(walked(root, row))
            scores.append(float(score))
    assert given.same(scores) == given.all


def solr_node(node: dict[str, Any]) -> Any:
    if "value" in node:
        return single(node["value"])
    threshold = single(node["threshold"]) + single(1e-6)  # Solr's slack
    return node["feature"], threshold, solr_node(node["left"]), solr_node(node["right"])


def test_elasticsearch(given) -> None:
    files = written(given, "elasticsearch")
    model = json.loads(files[""])["model"]["model"]
    chosen = json.loads(files["-featureset.json"])["featureset"]["features"]
    known = names(given)
    assert [f["name"] for f in chosen] == list(known)
    if given.linear:
        assert model["type"] == "model/linear"
        weights = json.loads(model["definition"])
        scores = [
            sum(w * row[known[name]] for name, w in weights.items())
            for row in given.rows
        ]
    else:
        assert model["type"] == "model/ranklib"
        numbered = [
            dict(enumerate((row[known[f["name"]]] for f in chosen), start=1))
            for row in given.rows
        ]
        scores = ranklib_scores(model["definition"], numbered)
    assert given.same(scores) == given.all


def test_the_learning_to_rank_of_elasticsearch_itself(grown) -> None:
    """Read as Elasticsearch's reference of trained models describes ensembles of trees."""
    model = json.loads(written(grown, "elasticsearch-native")[""])
    assert model["model_type"] == "tree_ensemble"
    known = names(grown)
    extractors = model["inference_config"]["learning_to_rank"]["feature_extractors"]
    assert [e["query_extractor"]["feature_name"] for e in extractors] == list(known)
    assert model["input"]["field_names"] == list(known)
    ensemble = model["definition"]["trained_model"]["ensemble"]
    weights = ensemble["aggregate_output"]["weighted_sum"]["weights"]
    scores = []
    for row in grown.rows:
        values = [row[known[name]] for name in ensemble["feature_names"]]
        trees = (one["tree"]["tree_structure"] for one in ensemble["trained_models"])
        leaves = [native_leaf(nodes, values) for nodes in trees]
        scores.append(sum(w * leaf for w, leaf in zip(weights, leaves, strict=True)))
    assert grown.same(scores) == grown.all


def native_leaf(nodes: list[dict[str, Any]], values: list[float]) -> float:
    by_index = {node["node_index"]: node for node in nodes}
    assert sorted(by_index) == list(range(len(nodes)))
    node = by_index[0]
    while "leaf_value" not in node:
        assert node["decision_type"] == "lte"
        assert node["default_left"] == (node["threshold"] >= 0), "no score counts as 0"
        below = values[node["split_feature"]] <= node["threshold"]
        node = by_index[node["left_child" if below else "right_child"]]
    return float(node["leaf_value"])


def test_queries_that_are_no_queries_are_refused_by_the_built_in_kind(grown) -> None:
    whole = elastic_set(max(grown.test.feature_ids))

    def all_in(language: str) -> FeatureSet:
        made = map(json.loads, whole.definitions.values())
        asked = [
            {
                **f,
                "template_language": language,
                "template": {"match": {f["name"]: HOSTILE}},
            }
            for f in made
        ]
        return replace(whole, definitions={f["name"]: json.dumps(f) for f in asked})

    function = defined(score_function(grown.model), all_in("mustache"))
    model = json.loads(proved(grown, function, "elasticsearch-native")[""])
    extractors = model["inference_config"]["learning_to_rank"]["feature_extractors"]
    queries = [e["query_extractor"]["query"] for e in extractors]
    assert queries == [{"match": {i.exported_name: HOSTILE}} for i in function.inputs]
    other = defined(score_function(grown.model), all_in("script_feature"))
    with pytest.raises(OutputError, match="script_feature"):
        MODEL_FORMATS["elasticsearch-native"].files(other)


def test_a_script_without_a_plug_in(weighted) -> None:
    form = MODEL_FORMATS["elasticsearch-script"]
    function = fitted_function(
        weighted.model, score_function(weighted.model), form, [weighted.test]
    )
    script = json.loads(proved(weighted, function, "elasticsearch-script")[""])[
        "query"
    ]["script_score"]["script"]
    asked, known = script["params"], names(weighted)
    assert not any(name in script["source"] for name in known)
    scores = [
        sum(
            w * (row[known[field]] + shift)
            for field, w, shift in zip(
                asked["fields"], asked["weights"], asked["shifts"], strict=True
            )
        )
        for row in weighted.rows
    ]
    assert min(scores) >= 0
    assert weighted.same(scores) == weighted.all


def test_rank_features_for_positive_weights_and_values(weighted) -> None:
    function = score_function(weighted.model)
    form = MODEL_FORMATS["elasticsearch-rank-feature"]
    negative = replace(function, weights=(-1.0, *map(abs, function.weights[1:])))
    with pytest.raises(OutputError, match="elasticsearch-script"):
        form.files(negative)
    positive = replace(function, weights=tuple(map(abs, function.weights)))
    body = json.loads(form.files(positive)[""])
    clauses = [clause["rank_feature"] for clause in body["query"]["bool"]["should"]]
    assert {c["field"]: c["boost"] for c in clauses} == {
        name: weight
        for name, weight in zip(names(weighted), positive.weights, strict=True)
        if weight
    }
    assert all(c["linear"] == {} for c in clauses)
    X = np.array(
        [
            [1.0, 513.0 / 512.0, 3.0e-5][: len(positive.inputs)]
            + [0.0] * (len(positive.inputs) - 3)
        ]
    )
    exact = form.read(form.files(positive), positive, Documents(X, np.array([0, 1])))
    assert exact == pytest.approx(X @ positive.weights, rel=1e-12)
    kept = form.read(
        form.files(positive), positive, Documents(X, np.array([0, 1]), np.float32)
    )
    cut = np.array([single(x) for x in X[0]])
    for place, value in enumerate(X[0]):
        exponent = np.floor(np.log2(value)) if value else 0.0
        step = 2.0 ** (exponent - 8)  # nine significant bits
        cut[place] = np.floor(value / step) * step
    # a float has 24 bits
    assert kept == pytest.approx(cut @ positive.weights, rel=1e-6)
    with pytest.raises(OutputError, match="positive"):
        form.read(form.files(positive), positive, Documents(-X - 1.0, np.array([0, 1])))


def test_vespa(given) -> None:
    text = written(given, "vespa")[""].decode()
    profile = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    pattern = (
        r"rank-profile \w+ \{\s+first-phase \{\s+expression \{([^{}]+)\}\s+\}\s+\}"
    )
    expression = re.fullmatch(pattern, profile.strip())[1]
    assert set(re.findall(r"attribute\((\w+)\)", expression)) <= set(names(given))
    terms = [line.strip() for line in expression.strip().splitlines()]
    calls = [compile(as_python(term), "term", "eval") for term in terms]
    scores = [0.0] * len(given.rows)
    for number, row in enumerate(given.rows):
        values = {f"v_{name}": row[i] for name, i in names(given).items()}
        for call in calls:
            scores[number] += eval(call, values)
    assert given.same(scores) == given.all


def as_python(term: str) -> str:
    """Return a term of Vespa as Python, its ifs resolved from the inside, by their brackets."""
    term = re.sub(r"attribute\((\w+)\)", r"v_\1", term)
    parts: list[str] = []
    while (start := term.rfind("if (")) >= 0:
        end, depth = start + 3, 0
        while True:
            depth += {"(": 1, ")": -1}.get(term[end], 0)
            if depth == 0:
                break
            end += 1
        condition, below, above = term[start + 4 : end].split(", ")
        parts.append(f"(({below}) if {condition} else ({above}))")
        term = f"{term[:start]}@{len(parts) - 1}@{term[end + 1 :]}"
    for number in reversed(range(len(parts))):
        term = term.replace(f"@{number}@", parts[number])
    return term


HOSTILE = "\"',;{}</script>${jndi:x}{{keywords}}\n*/ $(rm)"


def elastic_set(n: int) -> FeatureSet:
    """Features of which every third is derived from the one before it."""
    definitions = {}
    for i in range(1, n + 1):
        name = f"f{i} {HOSTILE}" if i % 3 == 1 else f"f{i}"
        made = {"name": name, "params": ["keywords"], "template_language": "mustache"}
        made["template"] = {"match": {f"field{i}": HOSTILE}}
        if i % 3 == 0:
            made |= {
                "template_language": "derived_expression",
                "template": f"f{i - 1} * 2 + sqrt(keywords)",
            }
        definitions[name] = json.dumps(made, ensure_ascii=False)
    return FeatureSet("elasticsearch", "movies", definitions, "featureset.json")


def solr_set(n: int) -> FeatureSet:
    kind = "org.apache.solr.ltr.feature.SolrFeature"
    made = [
        {
            "store": "s",
            "name": f"f{i} {HOSTILE}",
            "class": kind,
            "params": {"q": f"{{!func}}{i}{HOSTILE}"},
        }
        for i in range(1, n + 1)
    ]
    return FeatureSet(
        "solr",
        "s",
        {f["name"]: json.dumps(f, ensure_ascii=False) for f in made},
        "features.json",
    )


def proved(given: Any, function: ScoreFunction, key: str) -> dict[str, bytes]:
    """Return what is written, which our own reader ranks alike."""
    form = MODEL_FORMATS[key]
    files = dict(form.files(function))
    proof = ranking_proof(given.model, function, form, files, [given.test])
    assert proof.holds, proof.sentence
    return files


def test_elasticsearch_with_a_set_of_ones_own(given) -> None:
    whole = elastic_set(max(given.test.feature_ids))
    function = defined(score_function(given.model), whole)
    files = proved(given, function, "elasticsearch")
    model = json.loads(files[""])["model"]["model"]
    chosen = json.loads(files["-featureset.json"])["featureset"]["features"]
    named = [feature["name"] for feature in chosen]
    used = {i.exported_name for i in function.inputs}
    assert [json.dumps(f, ensure_ascii=False) for f in chosen] == [
        whole.definitions[n] for n in named
    ]
    needed = {f"f{i.id - 1}" for i in function.inputs if i.id % 3 == 0}
    # f2 before f3, which asks for it
    assert named == [name for name in whole.names if name in used | needed]
    by_name = {name: number for number, name in enumerate(whole.names, start=1)}
    if given.linear:
        weights = json.loads(model["definition"])
        assert set(weights) == used
        scores = [
            sum(w * row[by_name[name]] for name, w in weights.items())
            for row in given.rows
        ]
    else:
        numbered = [
            dict(enumerate((row[by_name[name]] for name in named), start=1))
            for row in given.rows
        ]
        scores = ranklib_scores(model["definition"], numbered)
    assert given.same(scores) == given.all


def test_solr_with_a_store_of_ones_own(given) -> None:
    whole = solr_set(max(given.test.feature_ids))
    function = defined(score_function(given.model), whole)
    files = proved(given, function, "solr")
    model, features = json.loads(files[""]), json.loads(files["-features.json"])
    assert model["store"] == "s"
    assert [json.dumps(f, ensure_ascii=False) for f in features] == [
        i.definition for i in function.inputs
    ]
    assert [f["name"] for f in model["features"]] == [f["name"] for f in features]


def test_vespa_with_rank_features_of_ones_own(given, tmp_path: Path) -> None:
    n = max(given.test.feature_ids)
    kinds = (
        "bm25(f{})",
        "fieldMatch(f{}).completeness",
        "closeness(field, f{})",
        'query("a b {}")',
        "x{}",
    )
    listed = [kinds[i % len(kinds)].format(i) for i in range(1, n + 1)]
    (tmp_path / "features.txt").write_text("\n".join(listed))
    function = defined(
        score_function(given.model), read_feature_set(tmp_path / "features.txt")
    )
    profile = proved(given, function, "vespa")[""].decode()
    pattern = (
        r"rank-profile \w+ inherits default \{\s+match-features \{([^{}]+)\}\s+second-phase \{"
        r"\s+rerank-count: 100\s+expression \{([^{}]+)\}\s+\}\s+\}"
    )
    lines = "\n".join(line for line in profile.splitlines() if not line.startswith("#"))
    features, expression = re.fullmatch(pattern, lines.strip()).groups()
    used = [listed[i.id - 1] for i in function.inputs]
    assert [line.strip() for line in features.strip().splitlines()] == used
    assert all(feature in expression for feature in used)
    assert "attribute" not in profile


@pytest.mark.parametrize("key", MODEL_FORMATS)
@pytest.mark.parametrize(
    "how", ["mean validation MAP of all folds", "\ud800 # */ --> \n}]}\nend of trees"]
)
def test_every_file_says_how_the_model_was_chosen(
    given: Any, key: str, how: str
) -> None:
    """Catches a format that lacks it, and a text from a model's file that ends the place it is in."""
    form = MODEL_FORMATS[key]
    plain = score_function(given.model)
    chosen = {
        "how": how,
        "values": {"regularization": 2.0},
        "n_features": 3,
        "folds": [1],
    }
    model = replace(
        given.model, origin={**given.model.origin, "fold": "all", "chosen": chosen}
    )
    function = score_function(model)
    if form.refusal(linear=plain.linear, scaled=plain.scaled, kind=plain.kind):
        return
    if key == "elasticsearch-rank-feature":
        weights = tuple(map(abs, plain.weights))
        plain, function = (replace(one, weights=weights) for one in (plain, function))
    files = form.files(function)
    if how.isascii():
        assert how.encode() in b" ".join(files.values()), key
    X = np.abs(np.random.default_rng(0).normal(size=(20, max(1, len(plain.inputs)))))[
        :, : len(plain.inputs)
    ]
    documents = Documents(X, np.array([0, 20]))
    bare = form.read(form.files(plain), plain, documents)
    np.testing.assert_array_equal(form.read(files, function, documents), bare)
