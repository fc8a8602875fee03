"""Trees that LightGBM does not survive: they end a process of their own, and a sentence says so."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export.deep_trees import deep
from wording import naming

from rankstudio.engine import LambdaMART
from rankstudio.engine.analysis.features.score_contributions import score_contributions
from rankstudio.engine.errors import DataError
from rankstudio.engine.experiment.storage.codec import StoredStep
from rankstudio.engine.export import models
from rankstudio.engine.export import trees as tree_texts
from rankstudio.engine.export.models import Model, load_model, save_model
from rankstudio.engine.export.trees import Trees, checked_trees, tree_contributions, tree_scores
from rankstudio.engine.methods.rankers.lambdamart import TreeStep

X = np.random.default_rng(8).random((60, 4))


@pytest.fixture(autouse=True)
def nothing_tried() -> None:
    tree_texts._end_of_trial.cache_clear()


@pytest.fixture(scope="module")
def text() -> str:
    estimator = LambdaMART(n_rounds=3, num_leaves=4, min_data_in_leaf=3)
    *_, step = estimator.steps(X, np.floor(3 * X[:, 0] * X[:, 1]), qid=np.arange(60) // 12)
    assert isinstance(step, TreeStep)
    return step.model_text()


def deadly(text: str) -> Trees:
    """The trees with a child far beyond their ends, which no check has seen."""
    trees = checked_trees(text, X.shape[1])
    line = next(line for line in trees.text.split("\n") if line.startswith("left_child="))
    return Trees(trees.columns, trees.text.replace(line, "left_child=99999999 99999999 99999999", 1))


@pytest.mark.parametrize("predicted", [tree_scores, tree_contributions])
def test_trees_that_end_the_process_end_another_one(predicted: Any, text: str) -> None:
    trees = deadly(text)
    with pytest.raises(
        DataError,
        match=naming("a.study 2 LightGBM"),
    ):
        predicted(trees, X[:, list(trees.columns)], "a.study, fold 2")


def test_a_file_with_such_trees_is_named(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, trees = tmp_path / "theirs.json", deadly(text)
    beyond = {"kind": "trees", "columns": [1, 2, 3, 4], "lightgbm": text}
    save_model(path, Model((), "lambdamart", {}, {}, beyond))
    monkeypatch.setattr(models, "checked_trees", lambda *_: trees)
    with pytest.raises(DataError, match=naming("theirs.json")):
        load_model(path).predict(X)


def test_trees_that_have_no_end_are_stopped(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_texts, "_SECONDS", 1)
    trees = checked_trees(text, X.shape[1])
    rows = dict(line.split("=", 1) for line in trees.text.split("\n") if "_child=" in line)
    circle = trees.text
    for side in ("left_child", "right_child"):
        circle = circle.replace(f"{side}={rows[side]}", f"{side}=" + " ".join(["0"] * 3))
    with pytest.raises(DataError, match=naming("trees")):
        tree_scores(Trees(trees.columns, circle), X[:, list(trees.columns)], "circle.json")


def test_a_tree_too_deep_to_be_split_by_feature_is_refused_and_its_scores_are_not() -> None:
    beyond = {"kind": "trees", "columns": [1, 2, 3, 4], "lightgbm": deep(30_000)}
    step = StoredStep(
        7, (0,), np.ones(4), 0.0, np.empty(0), beyond=beyond, ids=(1, 2, 3, 4), stored="a.study"
    )
    assert (step.scores(np.ascontiguousarray(X.T)) == 0.25).all()
    with pytest.raises(DataError, match=naming("a.study trees")):
        score_contributions(step, X, np.arange(1, 5))


def test_a_text_is_tried_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trees, started, run = checked_trees(text, X.shape[1]), [], subprocess.run

    def counted(*args: Any, **options: Any) -> Any:
        started.append(args)
        return run(*args, **options)

    monkeypatch.setattr(subprocess, "run", counted)
    given = X[:, list(trees.columns)]
    scores = tree_scores(trees, given)
    assert (tree_scores(trees, given) == scores).all()
    assert len(started) == 1
    values, constant = tree_contributions(trees, given)
    np.testing.assert_allclose(values.sum(axis=1) + constant, scores, rtol=1e-12)
    assert len(started) == 2
