"""scikit-learn's conventions, for every method that the engine offers under its own name.

Methods that are added to ``rankstudio.engine`` are tested here without a line being written.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from ordering import ranking_problem
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import rankstudio.engine
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.methods.base import LinearRanker

METHODS = [
    found
    for found in (getattr(rankstudio.engine, name) for name in rankstudio.engine.__all__)
    if isinstance(found, type) and issubclass(found, LinearRanker)
]

# Parameters that make a method quick; the others are quick as they are.
QUICK: dict[str, dict[str, Any]] = {
    "AdaRank": {"n_rounds": 5},
    "CoordinateAscent": {"n_restarts": 1, "max_iter": 2},
    "FSBFS": {"max_iter": 2, "subset_size": 2},
    "FSMRank": {"max_iter": 30},
    "FSMSVM": {"max_iter": 30},
    "LambdaMART": {"n_rounds": 4, "min_data_in_leaf": 2, "feature_fraction": 0.8},
    "ListNet": {"max_iter": 20},
    "RankBoost": {"n_rounds": 5},
}

# scikit-learn's checks that a method does not pass, and why that is right.
NOT_MEANT: dict[str, dict[str, str]] = {
    "FSBFS": {
        "check_transformer_n_iter": "max_iter bounds each of very many coordinate ascents: there is no one "
        "number of iterations to tell."
    },
}


def method_of(kind: type[LinearRanker]) -> Any:
    return kind(**QUICK.get(kind.__name__, {}))


def learned(method: Any) -> dict[str, Any]:
    """Everything that ``fit`` left behind, in a form that == compares to the last bit."""
    found = {name: value for name, value in vars(method).items() if name.endswith("_")}
    return {name: _comparable(value) for name, value in found.items()}


def _comparable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if hasattr(value, "model_to_string"):
        return value.model_to_string()
    return value


every_method = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)


def test_the_methods_are_found() -> None:
    assert {"GreedyRankRLS", "RankSVM", "GAS", "LambdaMART"} <= {kind.__name__ for kind in METHODS}
    assert set(QUICK) | set(NOT_MEANT) <= {kind.__name__ for kind in METHODS}


@every_method
def test_the_checks_of_scikit_learn(kind: type[LinearRanker]) -> None:
    not_meant = NOT_MEANT.get(kind.__name__, {})
    checks = check_estimator(method_of(kind), expected_failed_checks=not_meant, on_skip=None, on_fail=None)
    failed = {c["check_name"]: c["exception"] for c in checks if c["status"] in ("failed", "xfail")}
    assert set(failed) == set(not_meant), failed
    skipped = {c["check_name"] for c in checks if c["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}  # needs a setting of the environment
    assert len(checks) > 40


@every_method
def test_parameters_come_back_as_they_were_given(kind: type[LinearRanker]) -> None:
    method = method_of(kind)
    copy = clone(method)
    assert copy is not method
    assert copy.get_params() == method.get_params()
    for name, default in kind().get_params().items():
        odd = object()  # nothing looks at parameters before fit
        assert kind(**{name: odd}).get_params()[name] is odd
        assert method.set_params(**{name: default}) is method
    assert method.get_params() == kind().get_params()


@every_method
def test_without_qid_all_documents_are_one_query(kind: type[LinearRanker]) -> None:
    X, y, _ = ranking_problem()
    with_one = method_of(kind).fit(X, y, qid=np.full(120, 7))
    assert learned(method_of(kind).fit(X, y)) == learned(with_one)


@every_method
def test_the_rows_of_a_query_need_not_stand_together(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    mixed = np.random.default_rng(0).permutation(120)
    X, y, qid = X[mixed], y[mixed], qid[mixed]
    queries = list(dict.fromkeys(qid.tolist()))
    together = np.concatenate([np.flatnonzero(qid == query) for query in queries])
    expected = learned(method_of(kind).fit(X[together], y[together], qid=qid[together]))
    assert learned(method_of(kind).fit(X, y, qid=qid)) == expected
    for names in (qid.tolist(), [f"q{9 - q}" for q in qid], pd.Series(qid, index=mixed)):
        assert learned(method_of(kind).fit(X, y, qid=names)) == expected


@every_method
def test_fitting_again_forgets_what_was_before(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    other = ranking_problem(seed=2)
    method = method_of(kind).fit(other[0][:, :5], other[1], qid=other[2])
    first = learned(method.fit(X, y, qid=qid))
    assert first == learned(method.fit(X, y, qid=qid)) == learned(clone(method).fit(X, y, qid=qid))
    assert "coef_" in first


@every_method
def test_nothing_is_written_to_what_is_given(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    kept = X.copy(), y.copy(), qid.copy()
    expected = learned(method_of(kind).fit(X, y, qid=qid))
    for given, before in zip((X, y, qid), kept, strict=True):
        assert (given == before).all()
        given.flags.writeable = False
    method = method_of(kind).fit(X, y, qid=qid)
    assert learned(method) == expected
    method.predict(X)


@every_method
def test_a_copy_by_pickle_predicts_the_same(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    method = method_of(kind).fit(X, y, qid=qid)
    copy = pickle.loads(pickle.dumps(method))
    assert (copy.predict(X) == method.predict(X)).all()
    assert learned(copy) == learned(method)


@every_method
def test_what_cannot_be_used_is_refused_in_words(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    with pytest.raises(NotFittedError, match=kind.__name__):
        method_of(kind).predict(X)
    for given, target, queries, text in (
        (X, None, qid, "requires y to be passed, but the target y is None"),
        (X, y[:-1], qid, "inconsistent numbers of samples"),
        (X, y, qid[:-1], "qid: expected one query id for each of the 120 rows"),
        (np.where(X > 0.9, np.nan, X), y, qid, "contains NaN"),
    ):
        with pytest.raises((ValueError, DatasetError), match=text):
            method_of(kind).fit(given, target, qid=queries)
    with pytest.raises(ValueError, match=r"X has 5 features, but .* is expecting 6"):
        method_of(kind).fit(X, y, qid=qid).predict(X[:, :5])


@every_method
def test_sparse_documents_are_refused_or_give_the_same(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    X[X < 0.3] = 0.0
    method, sparse = method_of(kind), scipy.sparse.csr_array(X)
    if not get_tags(method).input_tags.sparse:
        with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
            method.fit(sparse, y, qid=qid)
        return
    expected = method_of(kind).fit(X, y, qid=qid).predict(X)
    np.testing.assert_allclose(method.fit(sparse, y, qid=qid).predict(sparse), expected, rtol=1e-6)


@every_method
def test_names_of_columns_are_kept(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    method = method_of(kind).fit(frame, y, qid=qid)
    assert method.n_features_in_ == 6
    assert method.feature_names_in_.tolist() == list("abcdef")
    assert (method.predict(frame) == method_of(kind).fit(X, y, qid=qid).predict(X)).all()
    with pytest.raises(ValueError, match="feature names should match"):
        method.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    "kind", [kind for kind in METHODS if hasattr(kind, "transform")], ids=lambda kind: kind.__name__
)
def test_selectors_are_transformers(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    method = method_of(kind).set_params(n_features_to_select=2)
    cut = method.fit_transform(frame, y, qid=qid)
    assert cut.shape == (120, 2)
    names = method.get_feature_names_out().tolist()
    named = clone(method).set_output(transform="pandas").fit(frame, y, qid=qid).transform(frame)
    assert named.columns.tolist() == names
    assert (named.to_numpy() == cut).all()
    if kind.__name__ != "FSBFS":  # that makes new features
        assert (frame[names].to_numpy() == cut).all()
        assert np.flatnonzero(method.get_support()).tolist() == sorted(method.selection_order_.tolist())
    step = kind.__name__.lower()
    ranker = rankstudio.engine.RankRLS()
    pipeline = make_pipeline(clone(method), ranker).fit(X, y, **{f"{step}__qid": qid, "rankrls__qid": qid})
    assert (pipeline.predict(X) == clone(ranker).fit(cut, y, qid=qid).predict(cut)).all()
