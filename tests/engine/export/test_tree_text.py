"""LightGBM's text of a model, ours and somebody else's: the same scores, or a sentence."""

from __future__ import annotations

import random
from functools import cache

import lightgbm
import numpy as np
import pytest
from export.deep_trees import deep
from wording import naming

from rankstudio.engine import LambdaMART
from rankstudio.engine.errors import DataError
from rankstudio.engine.export.models import Model
from rankstudio.engine.export.trees import checked_trees
from rankstudio.engine.methods.rankers.lambdamart import TreeStep

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
    steps = list(LambdaMART(n_rounds=8, num_leaves=5, min_data_in_leaf=min_data).steps(X, y, qid=qid))
    assert isinstance(steps[-1], TreeStep)
    return steps[-1].model_text()


def model(text: str, ids: range = range(1, N + 1)) -> Model:
    return Model((), "", {}, {}, {"kind": "trees", "columns": list(ids), "lightgbm": text})


@pytest.mark.parametrize("min_data", [3, 10_000])
def test_the_scores_are_those_of_the_text_itself(min_data: int) -> None:
    X, text = problem()[0], learned(min_data)
    plain = lightgbm.Booster(model_str=text).predict(X, raw_score=True)
    assert (model(text).predict(X) == plain).all()
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    assert (
        model(text).predict(holes) == lightgbm.Booster(model_str=text).predict(holes, raw_score=True)
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
    for _ in range(400):
        at = draw.randrange(end)
        junk = draw.choice(
            ["9", "-", "", "999999999", " ", "\n", "=", "nan", "1e308", chr(draw.randrange(32, 127))]
        )
        changed = text[:at] + junk + text[at + draw.choice((0, 1, 1, 30)) :]
        try:
            assert model(changed).predict(X).shape == (len(X),)
        except DataError as error:
            refused += 1
            assert str(error).endswith(".")
    assert refused > 100


def test_a_tree_as_deep_as_it_has_leaves_is_no_danger() -> None:
    assert (model(deep(50_000)).predict(problem()[0]) == 0.25).all()
