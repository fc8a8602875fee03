"""Methods without scikit-learn where a process only learns step by step, and with it as its estimators."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankstudio.engine.data.synthetic import load_sample
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS

_BEGINNING = (
    "import sys\n"
    "from rankstudio.engine.data.synthetic import load_sample\n"
    "from rankstudio.engine.methods.catalog import methods\n"
    "train = load_sample().folds[0].train\n"
)


def _printed(text: str) -> list[object]:
    """Return what a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", _BEGINNING + text],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [ast.literal_eval(line) for line in done.stdout.splitlines()]


def test_every_method_is_there_without_scikit_learn_and_tells_the_same_parameters() -> (
    None
):
    parameters, heavy = _printed(
        "there = [entry for entry in methods() if not entry.lacking]\n"
        "print({entry.key: list(entry.load()().get_params().items()) for entry in there})\n"
        "print([m for m in ('sklearn', 'joblib', 'pandas', 'scipy.stats') if m in sys.modules])\n"
    )
    there = [entry for entry in methods() if not entry.lacking]
    assert parameters == {
        entry.key: list(entry.load()().get_params().items()) for entry in there
    }
    assert heavy == []


def test_steps_are_the_same_and_fit_is_still_that_of_an_estimator() -> None:
    text = (
        "from rankstudio.engine.methods.rankers.rankrls import RankRLS\n"
        "from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS\n"
        "steps = GreedyRankRLS(3).steps(train.X, train.y, qid=train.qid)\n"
        "print([(step.selected, step.coef.tolist(), step.criterion) for step in steps])\n"
        "print([m for m in ('sklearn', 'joblib', 'pandas') if m in sys.modules])\n"
        "for model in GreedyRankRLS(3), RankRLS(regularization=2.0):\n"
        "    model.fit(train.X, train.y, qid=train.qid)\n"
        "    print((model.n_features_in_, model.predict(train.X[:9]).tolist()))\n"
    )
    train = load_sample().folds[0].train
    steps = GreedyRankRLS(3).steps(train.X, train.y, qid=train.qid)
    expected: list[object] = [
        [(step.selected, step.coef.tolist(), step.criterion) for step in steps],
        [],
    ]
    for model in GreedyRankRLS(3), RankRLS(regularization=2.0):
        model.fit(train.X, train.y, qid=train.qid)
        expected.append((model.n_features_in_, model.predict(train.X[:9]).tolist()))
    assert _printed(text) == expected


def test_metadata_are_routed_to_fit_as_scikit_learn_routes_them() -> None:
    train = load_sample().folds[0].train
    expected = make_pipeline(StandardScaler(), RankRLS()).fit(
        train.X, train.y, rankrls__qid=train.qid
    )
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(RankRLS().set_fit_request(qid=True))
        pipeline = make_pipeline(StandardScaler(), model).fit(
            train.X, train.y, qid=train.qid
        )
        assert pipeline.predict(train.X).tolist() == expected.predict(train.X).tolist()
        with pytest.raises(ValueError, match=r"qid.*not explicitly set"):
            make_pipeline(StandardScaler(), RankRLS()).fit(
                train.X, train.y, qid=train.qid
            )
    with pytest.raises(TypeError, match=r"RankRLS\.fit has no argument 'weights'"):
        RankRLS().set_fit_request(weights=True)


def test_an_estimator_says_what_differs_from_its_defaults() -> None:
    assert repr(GreedyRankRLS()) == "GreedyRankRLS()"
    assert repr(clone(GreedyRankRLS(3, regularization=2.0))) == (
        "GreedyRankRLS(n_features_to_select=3, regularization=2.0)"
    )
    assert "n_features_to_select" in GreedyRankRLS(3)._repr_html_()
    assert (
        GreedyRankRLS()
        .set_params(n_features_to_select=4)
        .get_params()["n_features_to_select"]
        == 4
    )
    with pytest.raises(
        ValueError,
        match="'depth' is not a parameter of GreedyRankRLS; expected one of n_features_to_select, ",
    ):
        GreedyRankRLS().set_params(depth=1)
