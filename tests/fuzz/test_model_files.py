"""Damaged models: the scores that their numbers say, or a sentence; LightGBM never ends the process."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from abilities import estimator_class
from fuzzer import Fuzz, Outcome, refusal
from mutations import mutated, mutated_value

from rankstudio.engine.errors import DataError, OutputError
from rankstudio.engine.export.formats.model_format import Documents
from rankstudio.engine.export.formats.registry import model_formats
from rankstudio.engine.export.models import (
    Model,
    Weight,
    load_model,
    model_json,
    save_model,
)
from rankstudio.engine.export.score_function import score_function

MODEL_FORMATS = model_formats()

LambdaMART = estimator_class("lambdamart")

N = 6

LINEAR = {
    "format": "rankstudio-model",
    "version": 3,
    "method": "greedy-rankrls",
    "parameters": {"regularization": 2.0, "pinned": [3]},
    "origin": {"data": "Sample", "fold": 1, "test": {"MAP": 0.5}},
    "features": [
        {"id": 3, "name": "BM25", "weight": 0.5},
        {"id": 1, "name": "é", "weight": -2},
    ],
}
THRESHOLDS = LINEAR | {
    "method": "rankboost",
    "model": {
        "kind": "thresholds",
        "thresholds": [
            {"id": 3, "above": 0.25, "adds": 1.5},
            {"id": 1, "above": 0.5, "adds": -1},
        ],
    },
}
KERNEL = LINEAR | {
    "method": "kernel-rankrls",
    "model": {
        "kind": "kernel",
        "kernel": {"function": "rbf", "gamma": 0.5, "degree": 3, "coef0": 1.0},
        "columns": [1, 3],
        "vectors": [[0.5, 0.25], [0.0, 1], [1.5, -2.0]],
        "weights": [1.0, -0.5, 2],
    },
}

WHOLE = json.loads(
    model_json(
        Model(
            (Weight(3, "BM25", 0.5), Weight(1, "é", -2.0)),
            "greedy-rankrls",
            {"regularization": 2.0},
            {
                "data": "Sample",
                "fold": 1,
                "normalize": "none",
                "missing": "zero",
                "test": {"MAP": 0.5},
            },
            plan={"data": "sample", "method": "greedy-rankrls"},
        )
    )
)
OF_PYTHON = (
    "ranklib",
    "svmlight",
    "solr",
    "elasticsearch",
    "vespa",
    "pmml",
    "python",
    "sql",
)
OF_PYTHON = tuple(key for key in OF_PYTHON if key in MODEL_FORMATS)
"""Formats whose readers are Python, whatever stands in a file."""


@cache
def documents() -> np.ndarray:
    return np.random.default_rng(3).random((60, N))


@cache
def trees() -> dict[str, Any]:
    """Return a model of trees."""
    X = documents()
    *_, step = LambdaMART(n_rounds=3, num_leaves=4, min_data_in_leaf=3).steps(
        X, np.floor(3 * X[:, 1] * X[:, 4]), qid=np.arange(len(X)) // 12
    )
    ids = range(1, N + 1)
    used = [{"id": i, "name": f"feature {i}", "weight": 1.0} for i in ids]
    return LINEAR | {"features": used, "model": step.beyond_weights(ids)}


def damaged(rng: random.Random, values: dict[str, Any]) -> bytes:
    """Return JSON with damaged text, values of another kind, or damaged trees."""
    if rng.random() < 0.4:
        return json.dumps(
            mutated_value(rng, values), ensure_ascii=rng.random() < 0.5
        ).encode(errors="surrogatepass")
    own = values.get("model", {})
    if "lightgbm" in own and rng.random() < 0.7:
        text, *_ = own["lightgbm"].partition("\nend of trees")
        changed = (
            mutated(rng, text.encode()).decode(errors="replace")
            + own["lightgbm"][len(text) :]
        )
        return json.dumps(values | {"model": own | {"lightgbm": changed}}).encode()
    others = [json.dumps(v, indent=2).encode() for v in (LINEAR, THRESHOLDS)]
    return mutated(
        rng, json.dumps(values, indent=2, ensure_ascii=False).encode(), others
    )


def scores(model: Model, row: dict[int, float]) -> float:
    """Return the score of a document by the formula, in the order of the file."""
    if not model.beyond or model.beyond.get("kind") == "linear":
        return math.fsum(f.weight * row[f.id] for f in model.features)
    if model.beyond["kind"] == "kernel":
        return kernel_score(model.beyond, row)
    return math.fsum(
        weak["adds"]
        for weak in model.beyond["thresholds"]
        if row[weak["id"]] > weak["above"]
    )


def kernel_score(beyond: Any, row: dict[int, float]) -> float:
    """Return the score of a document by the formula."""
    kernel, found = beyond["kernel"], 0.0
    with np.errstate(all="ignore"):
        for weight, vector in zip(beyond["weights"], beyond["vectors"], strict=True):
            both = [
                (row[i], np.float64(v))
                for i, v in zip(beyond["columns"], vector, strict=True)
            ]
            inner, distance = (
                sum(x * v for x, v in both),
                sum((x - v) ** 2 for x, v in both),
            )
            values = {"linear": inner, "rbf": np.exp(-kernel["gamma"] * distance)}
            power = np.power(
                kernel["gamma"] * inner + kernel["coef0"], kernel["degree"]
            )
            found += weight * values.get(kernel["function"], power)
    return float(found)


def check(path: Path) -> Outcome:
    X = documents()
    try:
        model = load_model(path)
    except DataError as error:
        return refusal(error, path)
    values = json.loads(path.read_text(encoding="utf-8"))
    assert [(f.id, f.name, f.weight) for f in model.features] == [
        (f["id"], f["name"], float(f["weight"])) for f in values["features"]
    ]
    assert (model.method, model.parameters, model.origin) == tuple(
        values[name] for name in ("method", "parameters", "origin")
    )
    check_export(model)
    again = path.with_name("again.json")
    save_model(again, model)
    assert model_json(load_model(again)) == model_json(model)
    try:
        found = model.predict(X)
    except DataError as error:
        return refusal(error)
    assert found.shape == (len(X),) and np.isfinite(found).all()
    if model.beyond.get("kind") != "trees":
        ids = range(1, N + 1)
        expected = [
            scores(model, dict(zip(ids, row, strict=True))) for row in X.tolist()
        ]
        weak = model.beyond.get("thresholds", ())
        sums = (
            *(f.weight for f in model.features),
            *(w["adds"] for w in weak),
            *found.tolist(),
        )
        size = sum(abs(w) / 1e9 for w in (*sums, *model.beyond.get("weights", ())))
        assert np.allclose(found, expected, rtol=1e-9, atol=size)
    return Outcome.READ


def check_export(model: Model) -> None:
    """Write a model for another program, and read that: the same scores, or a sentence."""
    form = MODEL_FORMATS[OF_PYTHON[len(model.method) % len(OF_PYTHON)]]
    try:
        function = score_function(model)
        files = form.files(function)
        expected = model.predict(documents())
    except (DataError, OutputError):
        return
    X = np.column_stack(
        [
            np.zeros(len(documents())),
            *(documents()[:, i.id - 1] for i in function.inputs),
        ]
    )
    with np.errstate(all="ignore"):
        found = form.read(files, function, Documents(X[:, 1:], np.array([0, len(X)])))
    size = sum(
        abs(w)
        for w in (
            *function.weights,
            *(leaf for tree in function.trees for leaf in tree.leaves),
        )
    )
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-6 * size)


@pytest.mark.parametrize(
    ("kind", "models", "checks"),
    [
        ("linear models", lambda: (LINEAR, THRESHOLDS), 1500),
        ("kernel models", lambda: (KERNEL,), 700),
        (
            "models with a digest",
            lambda: (WHOLE,),
            400,
        ),  # what was changed is refused, unless it is made anew
        ("models of trees", lambda: (trees(),), 700),
    ],
)
def test_models(
    fuzz: Fuzz, kind: str, models: Callable[[], Sequence[dict[str, Any]]], checks: int
) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "model.json"
        path.write_bytes(damaged(rng, rng.choice(models())))
        return check(path)

    fuzz(kind, attempt, checks)
