"""LightGBM's text of a model, ours and somebody else's: the same scores, or a sentence."""

from __future__ import annotations

import random
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
from abilities import estimator_class
from wording import naming

from rankstudio.engine.errors import DataError
from rankstudio.engine.experiment.storage.codec import StoredStep
from rankstudio.engine.export import models
from rankstudio.engine.export import trees as tree_texts
from rankstudio.engine.export.models import Model, load_model, save_model
from rankstudio.engine.export.trees import (
    Trees,
    checked_trees,
    tree_contributions,
    tree_scores,
)

LambdaMART = estimator_class("lambdamart")


def deep(leaves: int) -> str:
    """A tree that is as deep as it has leaves, which the checks let pass."""
    splits = leaves - 1
    rows = {
        "num_leaves": str(leaves),
        "num_cat": "0",
        "split_feature": " ".join(["0"] * splits),
        "threshold": " ".join(["0.5"] * splits),
        "decision_type": " ".join(["2"] * splits),
        "left_child": " ".join(str(~i) for i in range(splits)),
        "right_child": " ".join([*(str(i) for i in range(1, splits)), str(-leaves)]),
        "leaf_value": " ".join(["0.25"] * leaves),
    }
    block = "\n".join(f"{key}={value}" for key, value in rows.items())
    return f"tree\nnum_class=1\nnum_tree_per_iteration=1\n\nTree=0\n{block}\n\n\nend of trees\n"


N = 6


@cache
def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.random((240, N))
    X[:, 4] = np.round(X[:, 4], 1)
    return X, np.floor(3 * X[:, 1] * X[:, 4]), np.arange(240) // 12


@cache
def learned(min_data: int = 3) -> str:
    """The text of a model that does not ask for every column."""
    X, y, qid = problem()
    steps = list(
        LambdaMART(n_rounds=8, num_leaves=5, min_data_in_leaf=min_data).steps(
            X, y, qid=qid
        )
    )
    return steps[-1].model_text()


def model(text: str, ids: range = range(1, N + 1)) -> Model:
    return Model(
        (), "", {}, {}, {"kind": "trees", "columns": list(ids), "lightgbm": text}
    )


@pytest.mark.parametrize("min_data", [3, 10_000])
def test_the_scores_are_those_of_the_text_itself(min_data: int) -> None:
    X, text = problem()[0], learned(min_data)
    plain = lightgbm.Booster(model_str=text).predict(X, raw_score=True)
    assert (model(text).predict(X) == plain).all()
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    assert (
        model(text).predict(holes)
        == lightgbm.Booster(model_str=text).predict(holes, raw_score=True)
    ).all()


def test_what_is_not_checked_does_not_get_to_lightgbm() -> None:
    trees = checked_trees(learned(), N)
    assert "machines" not in trees.text and "[" not in trees.text
    assert set(trees.columns) <= set(range(N))


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(DataError, match=r"needs feature 1[0-5],"):
        model(learned(), range(10, 10 + N)).predict(problem()[0])


CHANGES = [
    ("left_child=", "left_child=99999999 "),
    ("_child=1", "_child=0"),
    ("right_child=", "right_child=-77 "),
    ("split_feature=", "split_feature=6 "),
    ("num_leaves=5", "num_leaves=2000000000"),
    ("num_leaves=5", "num_leaves=-1"),
    ("num_cat=0", "num_cat=1000000000"),
    ("is_linear=0", "is_linear=1"),
    ("decision_type=2", "decision_type=1"),
    ("threshold=", "threshold=nan "),
    ("leaf_value=", "leaf_value=1e999 "),
    ("num_class=1", "num_class=100000000"),
    ("num_class=1", "num_class=1\naverage_output"),
    ("end of trees", ""),
    ("tree\n", ""),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_changed_text_is_refused_in_a_sentence(old: str, new: str) -> None:
    changed = learned().replace(old, new, 1)
    assert changed != learned()
    with pytest.raises(DataError, match=naming("trees")):
        model(changed).predict(problem()[0])


def test_any_change_ends_in_scores_or_a_sentence() -> None:
    """Of 80 such texts LightGBM let 53 end the process when it was given them as they are."""
    X, text, draw = problem()[0], learned(), random.Random(5)
    end = text.index("end of trees")
    refused = 0
    for _ in range(150):
        at = draw.randrange(end)
        junk = draw.choice(
            [
                "9",
                "-",
                "",
                "999999999",
                " ",
                "\n",
                "=",
                "nan",
                "1e308",
                chr(draw.randrange(32, 127)),
            ]
        )
        changed = text[:at] + junk + text[at + draw.choice((0, 1, 1, 30)) :]
        try:
            assert model(changed).predict(X).shape == (len(X),)
        except DataError as error:
            refused += 1
            assert str(error).endswith(".")
    assert refused > 40


def test_a_tree_as_deep_as_it_has_leaves_is_no_danger() -> None:
    assert (model(deep(50_000)).predict(problem()[0]) == 0.25).all()


X = np.random.default_rng(8).random((60, 4))


@pytest.fixture(autouse=True)
def nothing_tried() -> None:
    tree_texts._failure_in_trial.cache_clear()


@pytest.fixture(scope="module")
def text() -> str:
    estimator = LambdaMART(n_rounds=3, num_leaves=4, min_data_in_leaf=3)
    *_, step = estimator.steps(
        X, np.floor(3 * X[:, 0] * X[:, 1]), qid=np.arange(60) // 12
    )
    return step.model_text()


def deadly(text: str) -> Trees:
    """The trees with a child far beyond their ends, which no check has seen."""
    trees = checked_trees(text, X.shape[1])
    line = next(
        line for line in trees.text.split("\n") if line.startswith("left_child=")
    )
    return Trees(
        trees.columns,
        trees.text.replace(line, "left_child=99999999 99999999 99999999", 1),
    )


@pytest.mark.parametrize("predicted", [tree_scores, tree_contributions])
def test_trees_that_end_the_process_end_another_one(predicted: Any, text: str) -> None:
    trees = deadly(text)
    with pytest.raises(
        DataError,
        match=naming("a.study 2 LightGBM"),
    ):
        predicted(trees, X[:, list(trees.columns)], "a.study, fold 2")


def test_a_file_with_such_trees_is_named(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, trees = tmp_path / "theirs.json", deadly(text)
    beyond = {"kind": "trees", "columns": [1, 2, 3, 4], "lightgbm": text}
    save_model(path, Model((), "lambdamart", {}, {}, beyond))
    monkeypatch.setattr(models, "checked_trees", lambda *_: trees)
    with pytest.raises(DataError, match=naming("theirs.json")):
        load_model(path).predict(X)


def test_trees_that_have_no_end_are_stopped(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_texts, "_MAX_PROCESSOR_SECONDS", 0.2)
    trees = checked_trees(text, X.shape[1])
    rows = dict(
        line.split("=", 1) for line in trees.text.split("\n") if "_child=" in line
    )
    circle = trees.text
    for side in ("left_child", "right_child"):
        circle = circle.replace(
            f"{side}={rows[side]}", f"{side}=" + " ".join(["0"] * 3)
        )
    with pytest.raises(DataError, match=naming("trees")):
        tree_scores(
            Trees(trees.columns, circle), X[:, list(trees.columns)], "circle.json"
        )


def test_a_tree_too_deep_to_be_split_by_feature_is_refused_and_its_scores_are_not() -> (
    None
):
    beyond = {"kind": "trees", "columns": [1, 2, 3, 4], "lightgbm": deep(30_000)}
    step = StoredStep(
        7,
        (0,),
        np.ones(4),
        0.0,
        np.empty(0),
        beyond=beyond,
        ids=(1, 2, 3, 4),
        stored="a.study",
    )
    assert (step.scores(np.ascontiguousarray(X.T)) == 0.25).all()
    trees = checked_trees(beyond["lightgbm"], 4)
    with pytest.raises(DataError, match=naming("a.study trees")):
        tree_contributions(trees, X[:, list(trees.columns)], step.source)


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
