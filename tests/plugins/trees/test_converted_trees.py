"""XGBoost's and CatBoost's trees against the libraries themselves."""

import json
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from ordering import ranking_problem

import rankstudio.engine
from rankstudio.engine.errors import DatasetError, MissingExtraError
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.trees import converted_trees
from rankstudio.plugins.trees.catboost_selection import _ALGORITHMS
from rankstudio.plugins.trees.lambdamart import TreeStep

FEW: dict[str, dict[str, Any]] = {
    "XGBoost": {"n_rounds": 12, "learning_rate": 0.3, "max_depth": 4},
    "CatBoost": {"n_rounds": 12, "learning_rate": 0.3, "depth": 3},
}


def library(name: str) -> Any:
    return pytest.importorskip(name.lower(), reason=f"needs the extra {name.lower()}")


@pytest.fixture(params=["XGBoost", "CatBoost"])
def name(request: pytest.FixtureRequest) -> str:
    library(request.param)
    return str(request.param)


def ranker(name: str, **others: Any) -> Any:
    return getattr(rankstudio.engine, f"{name}Trees")(**FEW[name] | others)


def steps_of(
    ranker: Any, problem: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> list[TreeStep]:
    X, y, qid = problem
    return [step for step in ranker.steps(X, y, qid=qid) if isinstance(step, TreeStep)]


def float_error(step: TreeStep) -> float:
    """Return how far a sum of floats, one of each of T trees and a constant, is at most from that of doubles.

    Each of T additions rounds a partial sum, which is at most B, the sum of the trees' greatest leaves and
    the constant, by a relative 2^-24: together at most T 2^-24 B to the first order. Twice that covers the
    second order and the doubles' own rounding.
    """
    leaves = [
        line
        for line in step.model_text().splitlines()
        if line.startswith("leaf_value=")
    ]
    greatest = sum(
        max(abs(float(v)) for v in line.partition("=")[2].split()) for line in leaves
    )
    return 2 * (len(leaves) + 1) * 2.0**-24 * (greatest + 1.0)


def test_scores_are_xgboosts() -> None:
    xgboost = library("XGBoost")
    X, y, qid = ranking_problem()
    steps = steps_of(
        ranker("XGBoost", ndcg_at=4, feature_fraction=0.5, seed=7), (X, y, qid)
    )
    training = xgboost.QuantileDMatrix(X, label=y, qid=qid)
    parameters = {
        "objective": "rank:ndcg",
        "eta": 0.3,
        "max_depth": 4,
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": 4,
        "colsample_bytree": 0.5,
        "seed": 7,
        "nthread": 1,
    }
    plain = xgboost.train(parameters, training, num_boost_round=12)
    config = json.loads(plain.save_config())["learner"]["learner_model_param"]
    # a list since XGBoost 3.1
    (constant,) = np.atleast_1d(json.loads(config["base_score"]))
    elsewhere = np.random.default_rng(1).normal(size=X.shape)
    for documents in (X, elsewhere):
        theirs = plain.predict(xgboost.DMatrix(documents), output_margin=True)
        ours = steps[-1].scores(np.ascontiguousarray(documents.T)) + constant
        assert (
            np.abs(ours - theirs).max()
            <= float_error(steps[-1]) + abs(constant) * 2.0**-22
        )
    gains = plain.get_score(importance_type="total_gain")
    np.testing.assert_allclose(
        steps[-1].coef, [gains.get(f"f{j}", 0.0) for j in range(X.shape[1])], rtol=1e-5
    )


@pytest.mark.parametrize("loss", ["YetiRank", "PairLogit", "QueryRMSE"])
def test_scores_are_catboosts(loss: str) -> None:
    catboost = library("CatBoost")
    X, y, qid = ranking_problem()
    steps = steps_of(ranker("CatBoost", objective=loss, seed=7), (X, y, qid))
    plain = catboost.CatBoostRanker(
        loss_function=loss,
        iterations=12,
        learning_rate=0.3,
        depth=3,
        random_seed=7,
        allow_writing_files=False,
        logging_level="Silent",
    ).fit(X, y, group_id=qid)
    constant = plain.get_scale_and_bias()[1]
    for documents in (X, np.random.default_rng(1).normal(size=X.shape)):
        ours = steps[-1].scores(np.ascontiguousarray(documents.T))
        # CatBoost adds doubles, like ours in the order of the trees.
        np.testing.assert_allclose(
            ours + constant, plain.predict(documents), rtol=1e-12, atol=1e-12
        )
    shares = plain.get_feature_importance(type="PredictionValuesChange")
    np.testing.assert_allclose(
        100 * steps[-1].coef / steps[-1].coef.sum(), shares, rtol=1e-6, atol=1e-9
    )


def test_a_step_scores_with_the_trees_up_to_it(name: str) -> None:
    X, y, qid = ranking_problem()
    columns = np.ascontiguousarray(X.T)
    while_it_trains = [
        step.scores(columns) for step in ranker(name).steps(X, y, qid=qid)
    ]
    steps, known = steps_of(ranker(name), (X, y, qid)), None
    assert [s.number for s in steps] == list(range(1, 13))
    for step, before in zip(steps, while_it_trains, strict=True):
        known = step.scores(columns, known)
        assert (known == step.scores(columns)).all() and (known == before).all()
        assert set(np.flatnonzero(step.coef)) == set(step.selected)
    assert not steps[0].linear and steps[-1].criterion < steps[0].criterion
    assert (
        pickle.loads(pickle.dumps(steps[3])).scores(columns) == steps[3].scores(columns)
    ).all()


def test_the_model_names_every_feature_that_a_score_depends_on(name: str) -> None:
    X, y, qid = ranking_problem()
    fitted = ranker(name, n_rounds=3).fit(X, y, qid=qid)
    for column in np.flatnonzero(fitted.coef_ == 0):
        other = X.copy()
        other[:, column] = np.random.default_rng(0).normal(size=len(X))
        assert (fitted.predict(other) == fitted.predict(X)).all()
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)


def test_contributions_add_up_to_the_scores(name: str) -> None:
    contributions = pytest.importorskip(
        "rankstudio.plugins.queries.score_contributions"
    )
    X, y, qid = ranking_problem()
    step = steps_of(ranker(name), (X, y, qid))[-1]
    found = contributions.score_contributions(step, X, np.arange(1, X.shape[1] + 1))
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.constant, step.scores(X.T), atol=1e-9
    )
    # which has no empty leaves: the mean over the training documents, by their counts
    if name == "XGBoost":
        assert found.constant == pytest.approx(step.scores(X.T).mean(), abs=1e-9)


def test_an_xgboost_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library("XGBoost"), "__version__", "2.1.4")
    with pytest.raises(MissingExtraError, match=r"2\.1\.4"):
        steps_of(ranker("XGBoost"), ranking_problem())


def test_threads_and_repetitions_change_no_bit(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, qid = ranking_problem()
    texts = []
    for threads in (1, 2, 2):
        monkeypatch.setattr(
            converted_trees, "threads_for", lambda X, threads=threads: threads
        )
        texts.append(steps_of(ranker(name), (X, y, qid))[-1].model_text())
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize("kind", ["CatBoostTrees", "CatBoostSelection"])
def test_catboost_stops_within_a_tree(kind: str) -> None:
    library("CatBoost")
    X, y, qid = ranking_problem()
    method = getattr(rankstudio.engine, kind)(n_rounds=10_000)
    work = method.work(method._group(X, y, qid))
    assert isinstance(next(work), WorkProgress)
    before = threading.active_count()
    work.close()
    assert threading.active_count() < before


@pytest.mark.parametrize("case", ["constant features", "one label", "one document"])
def test_data_without_a_split_give_equal_scores(name: str, case: str) -> None:
    X, y, qid = ranking_problem()
    if case == "constant features":
        X = np.ones_like(X)
    elif case == "one label":
        y = np.ones_like(y)
    else:
        X, y, qid = X[:1], y[:1], qid[:1]
    fitted = ranker(name).fit(X, y, qid=qid)
    assert not fitted.coef_.any() and np.ptp(fitted.predict(X)) == 0


@pytest.mark.parametrize("label", [-1.0, 0.5, 32.0])
def test_labels_that_xgboost_refuses_are_refused_in_words(label: float) -> None:
    library("XGBoost")
    X, y, qid = ranking_problem()
    with pytest.raises(DatasetError, match="XGBoost: expected labels"):
        ranker("XGBoost").fit(X, np.where(y == y.max(), label, y), qid=qid)


def test_a_missing_library_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, qid = ranking_problem()
    for name in FEW:
        monkeypatch.setitem(__import__("sys").modules, name.lower(), None)
        with pytest.raises(
            MissingExtraError, match=rf'pip install "rankstudio\[{name.lower()}\]"'
        ):
            ranker(name).fit(X, y, qid=qid)


@pytest.mark.parametrize("importance", ["loss", "shap", "scores"])
@pytest.mark.parametrize("n_stages", [1, 2, 3])
def test_the_selection_is_select_features(importance: str, n_stages: int) -> None:
    catboost = library("CatBoost")
    X, y, qid = ranking_problem()
    few = {"n_rounds": 8, "learning_rate": 0.3, "depth": 3, "seed": 3}
    found = rankstudio.engine.CatBoostSelection(
        importance=importance, n_stages=n_stages, **few
    )
    order = found.fit(X, y, qid=qid).selection_order_.tolist()
    theirs = catboost.CatBoostRanker(
        loss_function="YetiRank",
        iterations=8,
        learning_rate=0.3,
        depth=3,
        random_seed=3,
        allow_writing_files=False,
        logging_level="Silent",
    ).select_features(
        catboost.Pool(X, y, group_id=qid),
        features_for_select=list(range(X.shape[1])),
        num_features_to_select=1,
        steps=n_stages,
        algorithm=_ALGORITHMS[importance],
        train_final_model=False,
    )
    assert order == [*theirs["selected_features"], *theirs["eliminated_features"][::-1]]
    assert sorted(found.ranking_) == list(range(1, X.shape[1] + 1))


def test_the_selection_puts_constant_features_last() -> None:
    library("CatBoost")
    X, y, qid = ranking_problem()
    X[:, 0] = 7.0
    found = rankstudio.engine.CatBoostSelection(n_rounds=5, n_stages=2).fit(
        X, y, qid=qid
    )
    assert found.selection_order_[-1] == 0 and found.selection_order_.size == X.shape[1]
    many = rankstudio.engine.CatBoostSelection(n_rounds=5, n_stages=30).fit(
        X, y, qid=qid
    )
    assert (
        sorted(many.selection_order_) == list(range(X.shape[1]))
        and many.selection_order_[-1] == 0
    )
    assert rankstudio.engine.CatBoostSelection(2, n_rounds=5).fit(
        X, np.zeros_like(y), qid=qid
    ).selection_order_.tolist() == [0, 1]


@pytest.mark.parametrize("kind", ["CatBoostTrees", "CatBoostSelection"])
def test_folds_learn_side_by_side(kind: str) -> None:
    """CatBoost redirects its log for a whole process, which two threads cannot do at once."""
    library("CatBoost")
    X, y, qid = ranking_problem()
    fitted = [
        getattr(rankstudio.engine, kind)(n_rounds=40, depth=3, seed=seed)
        for seed in (0, 1, 0, 1)
    ]
    with ThreadPoolExecutor(4) as executor:
        list(executor.map(lambda method: method.fit(X, y, qid=qid), fitted))
    for one, other in zip(fitted[:2], fitted[2:], strict=True):
        assert (one.coef_ == other.coef_).all()
