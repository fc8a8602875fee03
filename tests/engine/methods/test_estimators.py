"""scikit-learn's conventions, for every method that the engine offers under its own name.

Methods that are added to ``rankstudio.engine`` are tested here without a line being written.
"""

from __future__ import annotations

import inspect
import pickle
import traceback
from contextlib import nullcontext
from functools import cache
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
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import DatasetError, MissingQueryWarning, ParameterError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.catalog.absent import recorded_methods
from rankstudio.engine.methods.selection import fsmrank

METHODS = [
    found
    for found in (
        getattr(rankstudio.engine, name) for name in rankstudio.engine.__all__
    )
    if isinstance(found, type) and issubclass(found, LinearRanker)
]

# Parameters that make a method quick; the others are quick as they are.
QUICK: dict[str, dict[str, Any]] = {
    "AdaRank": {"n_rounds": 5},
    "CatBoostSelection": {"n_rounds": 2, "depth": 2, "n_stages": 2},
    "CatBoostTrees": {"n_rounds": 4, "depth": 2},
    "CoordinateAscent": {"n_restarts": 1, "max_iter": 2},
    "FSBFS": {"max_iter": 2, "subset_size": 2},
    "FSMRank": {"max_iter": 30},
    "FSMRankTop": {"max_iter": 30},
    "FSMSVM": {"max_iter": 30},
    "LambdaMART": {"n_rounds": 4, "min_data_in_leaf": 2, "feature_fraction": 0.8},
    "LambdaMARTElimination": {"n_rounds": 3, "min_data_in_leaf": 2},
    "LambdaMARTTop": {"n_rounds": 3, "min_data_in_leaf": 2},
    "ListNet": {"max_iter": 20},
    "RankBoost": {"n_rounds": 5},
    "RankSVM": {"max_iter": 50},
    "SVMMAP": {"max_iter": 50},
    "SparseRankSVM": {"n_penalties": 8, "smallest_penalty": 0.01},
    "XGBoostTrees": {"n_rounds": 4, "min_child_weight": 0.01, "feature_fraction": 0.8},
}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_all_but_the_first_parameters_go_by_name(method: type) -> None:
    """``FSMRank(0.1)`` set the solver."""
    parameters = inspect.signature(method).parameters.values()
    by_place = [
        parameter.name
        for parameter in parameters
        if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    pairs = ["n_features_to_select", "regularization"], ["kernel", "regularization"]
    assert len(by_place) < 2 or by_place in pairs


class GreedyRankRLSWithQueries(rankstudio.engine.GreedyRankRLS):
    """What scikit-learn's checks, which know no qid, can fit: without qid, every three rows are a query.

    Greedy RankRLS itself takes them as one ranking, for which it needs dense X.
    """

    def fit(self, X: Any, y: Any, *, qid: Any = None) -> Any:
        made = (
            np.arange(np.asarray(y).shape[0]) // 3
            if y is not None and qid is None
            else qid
        )
        return super().fit(X, y, qid=made)


CHECKED: dict[str, type[LinearRanker]] = {"GreedyRankRLS": GreedyRankRLSWithQueries}

# scikit-learn's checks that a method does not pass, and why that is right.
NOT_MEANT: dict[str, dict[str, str]] = {
    "GreedyRankRLS": {
        "check_fit2d_1sample": "One document is one query, which cannot be left out; scikit-learn wants to "
        "read of one sample."
    },
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


@cache
def fitted(kind: type[LinearRanker]) -> Any:
    """A method that has learned the usual problem, for tests that only look at it."""
    X, y, qid = ranking_problem()
    return method_of(kind).fit(X, y, qid=qid)


SELECTS = {entry.estimator.partition(":")[2]: entry.selects for entry in methods()}

every_method = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)


def test_the_methods_are_found() -> None:
    assert {"GreedyRankRLS", "RankSVM", "GAS"} <= {kind.__name__ for kind in METHODS}
    assert {kind.__name__ for kind in METHODS} == set(SELECTS)
    # no ability is absent
    if recorded_methods().keys() <= {entry.key for entry in methods()}:
        assert set(QUICK) | set(NOT_MEANT) <= {kind.__name__ for kind in METHODS}


# They keep to what is asked of an estimator and inherit nothing: to import it takes 150 MB, which runs lack.
without_inheritance = pytest.mark.filterwarnings(
    "ignore:.* does not inherit from .sklearn.base.BaseEstimator."
)


# The checks fit without qid, of which all methods warn; that they do is tested below.
@pytest.mark.filterwarnings("ignore::rankstudio.engine.errors.MissingQueryWarning")
@without_inheritance
@pytest.mark.thorough
@every_method
def test_the_checks_of_scikit_learn(kind: type[LinearRanker]) -> None:
    not_meant = NOT_MEANT.get(kind.__name__, {})
    method = CHECKED.get(kind.__name__, kind)(**QUICK.get(kind.__name__, {}))
    checks = check_estimator(
        method, expected_failed_checks=not_meant, on_skip=None, on_fail=None
    )
    failed = {
        c["check_name"]: c["exception"]
        for c in checks
        if c["status"] in ("failed", "xfail")
    }
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
def test_without_qid_all_documents_are_one_query_and_a_warning_says_so(
    kind: type[LinearRanker],
) -> None:
    X, y, _ = ranking_problem()
    with_one = method_of(kind).fit(X, y, qid=np.full(120, 7))
    with pytest.warns(
        MissingQueryWarning, match=f"{kind.__name__}: the argument qid is missing"
    ) as caught:
        fitted = method_of(kind).fit(X, y)
    assert [w.filename for w in caught] == [__file__]
    assert learned(fitted) == learned(with_one)
    with pytest.warns(
        MissingQueryWarning, match=f"{kind.__name__}: the argument qid is missing"
    ):
        next(method_of(kind).steps(X, y))


def test_predictions_with_each_query_left_out_need_two_of_them() -> None:
    X, y, _ = ranking_problem()
    for qid, said in (
        (None, pytest.warns(MissingQueryWarning)),
        (np.ones(120), nullcontext()),
    ):
        with (
            said,
            pytest.raises(
                DatasetError,
                match=r"leave-query-out .* RankRLS: expected .* two queries",
            ),
        ):
            rankstudio.engine.RankRLS().leave_query_out(X, y, qid=qid)


@every_method
def test_fit_returns_the_method_and_weights_score_documents(
    kind: type[LinearRanker],
) -> None:
    X, y, qid = ranking_problem()
    method = method_of(kind)
    assert method.fit(X, y, qid=qid) is method
    if kind._score is LinearRanker._score:
        np.testing.assert_allclose(
            method.predict(X), X @ method.coef_, rtol=1e-12, atol=1e-12
        )
    if "n_features_to_select" in method.get_params():
        method.set_params(n_features_to_select=7)
        with pytest.raises(
            ParameterError,
            match="n_features_to_select: expected a whole number from 1 to 6",
        ):
            method.fit(X, y, qid=qid)


@every_method
def test_the_rows_of_a_query_need_not_stand_together(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    mixed = np.random.default_rng(0).permutation(120)
    X, y, qid = X[mixed], y[mixed], qid[mixed]
    queries = list(dict.fromkeys(qid.tolist()))
    together = np.concatenate([np.flatnonzero(qid == query) for query in queries])
    apart = method_of(kind).fit(X[together], y[together], qid=qid[together])
    if hasattr(apart, "basis_"):  # rows, as they were given
        apart.basis_ = together[apart.basis_]
    expected = learned(apart)
    assert learned(method_of(kind).fit(X, y, qid=qid)) == expected
    for names in (
        qid.tolist(),
        [f"q{9 - q}" for q in qid],
        pd.Series(qid, index=mixed),
    ):
        assert learned(method_of(kind).fit(X, y, qid=names)) == expected


@every_method
def test_fitting_again_forgets_what_was_before(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    other = ranking_problem(seed=2)
    method = method_of(kind).fit(other[0][:, :5], other[1], qid=other[2])
    first = learned(method.fit(X, y, qid=qid))
    assert first == learned(fitted(kind))
    assert "coef_" in first


@every_method
def test_nothing_is_written_to_what_is_given(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    for given in (X, y, qid):
        given.flags.writeable = False
    method = method_of(kind).fit(X, y, qid=qid)
    assert learned(method) == learned(fitted(kind))
    method.predict(X)
    writeable = ranking_problem()
    method_of(kind).fit(*writeable[:2], qid=writeable[2])
    assert all(map(np.array_equal, writeable, (X, y, qid)))


@every_method
def test_a_copy_by_pickle_predicts_the_same(kind: type[LinearRanker]) -> None:
    X, method = ranking_problem()[0], fitted(kind)
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
        (X, y, qid[:-1], "qid: expected one query id per row"),
        (np.where(X > 0.9, np.nan, X), y, qid, "contains NaN"),
    ):
        with pytest.raises((ValueError, DatasetError), match=text):
            method_of(kind).fit(given, target, qid=queries)
    with pytest.raises(ValueError, match=r"X has 5 features, but .* is expecting 6"):
        fitted(kind).predict(X[:, :5])


@pytest.mark.smoke
@every_method
def test_sparse_documents_are_refused_or_give_the_same(
    kind: type[LinearRanker],
) -> None:
    X, y, qid = ranking_problem()
    X[X < 0.3] = 0.0
    method, sparse = method_of(kind), scipy.sparse.csr_array(X)
    if not get_tags(method).input_tags.sparse:
        with pytest.raises(
            TypeError, match="Sparse data was passed for X, but dense data is required"
        ):
            method.fit(sparse, y, qid=qid)
        return
    expected = method_of(kind).fit(X, y, qid=qid).predict(X)
    np.testing.assert_allclose(
        method.fit(sparse, y, qid=qid).predict(sparse), expected, rtol=1e-6
    )


BEYOND = {
    "great": (
        1e160,
        r"expected values from -1e\+30 to 1e\+30, found values from .* to \d.*e\+159; .* Scale",
    ),
    "smallest": (
        5e-323,
        r"expected differences of at least 1e-30 inside some query, or none at all, found",
    ),
}


@pytest.mark.parametrize("magnitude", BEYOND)
@every_method
def test_magnitudes_beyond_the_arithmetic_are_refused_by_the_feature(
    kind: type[LinearRanker], magnitude: str
) -> None:
    factor, text = BEYOND[magnitude]
    X, y, qid = ranking_problem()
    X[:, 3] *= factor
    frame = pd.DataFrame(X, columns=list("abcdef"))
    given = [(X, "column 3"), (frame, "column 'd'")]
    if kind.accepts_sparse:
        given.append((scipy.sparse.csr_array(X), "column 3"))
    for documents, name in given:
        with pytest.raises(DatasetError, match=f"Values of {name}: {text}"):
            method_of(kind).fit(documents, y, qid=qid)
        with pytest.raises(DatasetError, match=f"Values of {name}: {text}"):
            next(method_of(kind).steps(documents, y, qid=qid))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("kind", "factor"),
    [
        pytest.param(
            kind,
            factor,
            marks=() if quick else pytest.mark.thorough,
            id=f"{kind.__name__}-{factor}",
        )
        for kind in METHODS
        for factor, quick in (
            (1.1e-30, True),
            (1e-12, False),
            (1e12, False),
            (9e29, True),
        )
    ],
)
def test_magnitudes_up_to_there_give_models(
    kind: type[LinearRanker], factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, qid = ranking_problem()
    # rounding alone is between them and the minimum
    monkeypatch.setattr(fsmrank, "_MAX_ITER", 50)
    one, constant = X.copy(), X.copy()
    one[:, 3] *= factor
    constant[:, 3] = 1e-200
    for documents in (factor * X / X.max(), one / one[:, 3].max() * factor, constant):
        method = method_of(kind).fit(documents, y, qid=qid)
        assert np.isfinite(method.coef_).all()
        assert np.isfinite(method.predict(documents)).all()


@every_method
def test_labels_beyond_the_arithmetic_are_refused(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    with pytest.raises(
        DatasetError,
        match=r"y: expected labels from -1e\+30 to 1e\+30, found .* 2e\+160",
    ):
        method_of(kind).fit(X, 1e160 * y, qid=qid)


@every_method
def test_frames_of_pandas_give_what_arrays_do(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    # what counts is where a row stands
    index = np.random.default_rng(0).permutation(120)
    frame = pd.DataFrame(X, columns=list("abcdef"), index=index)
    labels, queries = pd.Series(y, index=index), pd.Series(qid, index=index[::-1])
    method = method_of(kind).fit(frame, labels, qid=queries)
    found = learned(method)
    assert found.pop("feature_names_in_")[1] == (6,)
    assert method.n_features_in_ == 6
    assert method.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ValueError, match="feature names should match"):
        method.predict(frame.rename(columns={"a": "z"}))
    assert found == learned(fitted(kind))
    assert (method.predict(frame) == fitted(kind).predict(X)).all()
    *_, last = method_of(kind).steps(frame, labels, qid=queries)
    assert (last.coef == method.coef_).all()


def test_frames_of_pandas_beside_the_training_documents() -> None:
    X, y, qid = ranking_problem()
    frame = pd.DataFrame(X[::-1], columns=list("abcdef"))
    method = rankstudio.engine.ExpectedDivergence()
    expected = learned(method.fit(X, y, qid=qid, X_validation=X[::-1]))
    assert learned(method.fit(X, y, qid=qid, X_validation=frame)) == expected
    ranker = rankstudio.engine.RankRLS()
    left_out = ranker.leave_query_out(frame, pd.Series(y), qid=pd.Series(qid))
    assert (left_out == ranker.leave_query_out(X[::-1], y, qid=qid)).all()


def test_new_features_cannot_be_turned_back() -> None:
    X, y, qid = ranking_problem()
    method = method_of(rankstudio.engine.FSBFS).fit(X, y, qid=qid)
    with pytest.raises(NotImplementedError, match="FS-BFS"):
        method.inverse_transform(method.transform(X))


@pytest.mark.parametrize(
    "kind",
    [kind for kind in METHODS if SELECTS[kind.__name__]],
    ids=lambda kind: kind.__name__,
)
def test_selectors_are_transformers(kind: type[LinearRanker]) -> None:
    X, y, qid = ranking_problem()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    method = method_of(kind)
    if kind is rankstudio.engine.FSMRank:  # it chooses how many
        method.set_params(lambda2=0.1)
    else:
        method.set_params(n_features_to_select=2)
    cut = method.fit_transform(frame, y, qid=qid)
    assert cut.shape == (120, 2), method.selection_order_
    names = method.get_feature_names_out().tolist()
    named = (
        clone(method)
        .set_output(transform="pandas")
        .fit(frame, y, qid=qid)
        .transform(frame)
    )
    assert named.columns.tolist() == names
    assert (named.to_numpy() == cut).all()
    if kind.__name__ != "FSBFS":  # that makes new features
        assert (frame[names].to_numpy() == cut).all()
        assert np.flatnonzero(method.get_support()).tolist() == sorted(
            method.selection_order_.tolist()
        )
        assert method.get_support(indices=True).tolist() == sorted(
            method.selection_order_.tolist()
        )
    step = kind.__name__.lower()
    ranker = rankstudio.engine.RankRLS()
    pipeline = make_pipeline(clone(method), ranker).fit(
        X, y, **{f"{step}__qid": qid, "rankrls__qid": qid}
    )
    assert (
        pipeline.predict(X) == clone(ranker).fit(cut, y, qid=qid).predict(cut)
    ).all()


@pytest.mark.parametrize(
    ("qid", "row"),
    [
        ([None, *[1] * 11], 0),
        (np.where(np.arange(12) == 3, np.nan, 1.0), 3),
        (np.array(["a", "a", None, *"bbbbbbbbb"], dtype=object), 2),
        (np.ma.masked_array(np.arange(12) // 3, mask=np.arange(12) == 5), 5),
        (pd.Series(["a", pd.NA, *"bbbbbbbbbb"], dtype="string"), 1),
        (pd.Series([*"aaaabbbb", None, *"ccc"], dtype="category"), 8),
        (
            np.array(
                ["2026-01-01"] * 7 + ["NaT"] + ["2026-01-02"] * 4, dtype="datetime64[D]"
            ),
            7,
        ),
    ],
)
def test_a_missing_query_id_is_named_by_its_row(qid: Any, row: int) -> None:
    X, y = np.random.default_rng(0).random((12, 3)), np.arange(12.0) % 3
    for refuse in (
        lambda: rankstudio.engine.RankRLS().fit(X, y, qid=qid),
        lambda: RankingDataset.from_arrays(X, y, qid),
        lambda: rankstudio.engine.evaluate(y, y, qid),
    ):
        with pytest.raises(DatasetError, match=f"qid: .*row {row} "):
            refuse()


@pytest.mark.parametrize(
    "qid", [[1, "1"] * 6, np.array([1, "b"] * 6, dtype=object), [2.5, "b"] * 6]
)
def test_query_ids_of_several_types_are_refused(qid: Any) -> None:
    X, y = np.random.default_rng(0).random((12, 3)), np.arange(12.0) % 3
    for refuse in (
        lambda: rankstudio.engine.RankRLS().fit(X, y, qid=qid),
        lambda: RankingDataset.from_arrays(X, y, qid),
    ):
        with pytest.raises(DatasetError, match="qid: expected ids of one type"):
            refuse()


@pytest.mark.parametrize(
    "qid",
    [
        [1, 2.0, True] * 4,
        list("abc") * 4,
        np.array([1, 2, 3] * 4, dtype=object),
        np.ma.masked_array([1, 2, 3] * 4, mask=False),
        pd.Series(list("abc") * 4, dtype="category"),
    ],
)
def test_query_ids_of_one_type_are_taken_in_any_container(qid: Any) -> None:
    X, y = np.random.default_rng(0).random((12, 3)), np.arange(12.0) % 3
    found = rankstudio.engine.RankRLS().fit(X, y, qid=qid).coef_
    expected = 2 if isinstance(qid, list) and qid[2] is True else 3
    plain = np.array([0, 1, 0] * 4 if expected == 2 else [0, 1, 2] * 4)
    np.testing.assert_array_equal(
        found, rankstudio.engine.RankRLS().fit(X, y, qid=plain).coef_
    )


@pytest.mark.parametrize(
    "value", [np.ones(3), np.ones((3, 3)), [1.0, 1.0, 1.0], np.array(["nesterov"] * 3)]
)
def test_an_array_in_place_of_a_choice_is_refused_in_a_sentence(value: Any) -> None:
    X, y, qid = ranking_problem()
    with pytest.raises(
        ParameterError, match="solver: expected nesterov or subgradient"
    ):
        rankstudio.engine.FSMRank(solver=value).fit(X, y, qid=qid)


# Documents of one query are one ranking, for which it takes dense X of three or more documents.
ONE_QUERY = {"GreedyRankRLS"}


@pytest.mark.filterwarnings("ignore::rankstudio.engine.errors.MissingQueryWarning")
@without_inheritance
@pytest.mark.parametrize("name", ["GreedyRankRLS", "FSBFS"])
def test_the_checks_of_scikit_learn_with_default_arguments(name: str) -> None:
    method = getattr(rankstudio.engine, name)()
    failed = [
        c
        for c in check_estimator(method, on_skip=None, on_fail=None)
        if c["status"] == "failed"
    ]
    if name in ONE_QUERY:
        for check in failed:
            said = "".join(traceback.format_exception(check["exception"]))
            assert "One ranking" in said or "without queries" in said, check[
                "check_name"
            ]
    else:
        assert {check["check_name"] for check in failed} == set(NOT_MEANT[name])
