"""LambdaMART against LightGBM called plainly, and what is added to it."""

import pickle
import re
import subprocess
import sys
import threading

import lightgbm
import numpy as np
import pytest
from ordering import ranking_problem
from sklearn.base import clone

from rankstudio.engine import LambdaMART, RankRLS, evaluate
from rankstudio.engine.errors import DatasetError, MissingExtraError
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.plugins.trees import lambdamart
from rankstudio.plugins.trees.lambdamart import (
    LONGEST_QUERY,
    TreeStep,
    repeatable_text,
    threads_for,
)

SMALL = {"n_rounds": 12, "num_leaves": 5, "min_data_in_leaf": 3}


def xor_problem(
    m: int = 1200, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Queries of 20; relevant is what is high in one of two features and not in the other."""
    rng = np.random.default_rng(seed)
    X = rng.random((m, 4))
    return X, ((X[:, 0] > 0.5) ^ (X[:, 2] > 0.5)).astype(float), np.arange(m) // 20


def steps_of(
    method: LambdaMART, X: np.ndarray, y: np.ndarray, qid: np.ndarray
) -> list[TreeStep]:
    return [s for s in method.steps(X, y, qid=qid) if isinstance(s, TreeStep)]


def test_it_is_a_plain_call_of_lightgbm() -> None:
    X, y, qid = ranking_problem()
    parameters = {
        "objective": "lambdarank",
        "learning_rate": 0.3,
        "num_leaves": 5,
        "min_data_in_leaf": 3,
        "lambdarank_truncation_level": 4,
        "feature_fraction": 0.5,
        "seed": 7,
        "deterministic": True,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(X, y, group=[12] * 10)
    # Otherwise train hands back a copy by way of its text, which has six digits of each gain.
    plain = lightgbm.train(
        parameters, data, num_boost_round=12, keep_training_booster=True
    )
    ours = LambdaMART(
        **SMALL, learning_rate=0.3, ndcg_at=4, feature_fraction=0.5, seed=7
    ).fit(X, y, qid=qid)
    assert (ours.predict(X) == plain.predict(X)).all()
    assert ours.n_iter_ == 12
    np.testing.assert_array_equal(ours.coef_, plain.feature_importance("gain"))
    np.testing.assert_allclose(ours.feature_importances_, ours.coef_ / ours.coef_.sum())


def test_a_step_scores_with_the_trees_up_to_it() -> None:
    X, y, qid = ranking_problem()
    columns, known = np.ascontiguousarray(X.T), None
    method = LambdaMART(**SMALL)
    while_it_trains = [step.scores(X.T) for step in method.steps(X, y, qid=qid)]
    steps = steps_of(method, X, y, qid)
    assert [s.number for s in steps] == list(range(1, method.n_steps(6) + 1))
    # later rounds change no earlier step
    for step, before in zip(steps, while_it_trains, strict=True):
        full = step.scores(columns)
        assert (full == step.booster.predict(X, num_iteration=step.number)).all() and (
            full == before
        ).all()
        known = step.scores(columns, known)
        assert (known == full).all()
    assert (
        pickle.loads(pickle.dumps(steps[4])).scores(columns) == steps[4].scores(columns)
    ).all()
    assert not steps[0].linear and len(steps) == 12
    assert len({id(s.booster) for s in steps}) == 1


def test_the_text_is_read_by_lightgbm() -> None:
    X, y, qid = ranking_problem()
    for step in steps_of(LambdaMART(**SMALL), X, y, qid)[::5]:
        reader = lightgbm.Booster(model_str=step.model_text())
        assert reader.num_trees() == step.number
        assert (reader.predict(X) == step.scores(X.T)).all()


def test_the_criterion_is_minus_ndcg_as_lightgbm_has_it() -> None:
    X, y, qid = ranking_problem()
    y[qid < 3] = 0.0  # queries without a relevant document count 1
    measured: dict[str, dict[str, list[float]]] = {}
    data = lightgbm.Dataset(X, y, group=[12] * 10)
    lightgbm.train(
        {
            "objective": "lambdarank",
            "num_leaves": 5,
            "min_data_in_leaf": 3,
            "verbosity": -1,
            "eval_at": 4,
        }
        | {"lambdarank_truncation_level": 4, "metric": "ndcg"},
        data,
        num_boost_round=12,
        valid_sets=[data],
        callbacks=[lightgbm.record_evaluation(measured)],
    )
    steps = steps_of(LambdaMART(**SMALL, ndcg_at=4), X, y, qid)
    # Means of ten queries, in another order.
    np.testing.assert_allclose(
        [-s.criterion for s in steps], measured["training"]["ndcg@4"], rtol=1e-14
    )
    evaluator = Evaluator(y, np.arange(0, 121, 12), "lightgbm", ["NDCG@4"])
    assert [-s.criterion for s in steps] == [
        evaluator.evaluate(s.scores(X.T))["NDCG@4"] for s in steps
    ]


def test_features_are_told_in_the_order_of_their_use() -> None:
    X, y, qid = ranking_problem()
    before = None
    # when it has ended, gains have fewer digits
    for step in LambdaMART(**SMALL).steps(X, y, qid=qid):
        assert isinstance(step, TreeStep)
        tree = step.booster.trees_to_dataframe().query(
            f"tree_index == {step.number - 1}"
        )
        splits = tree[tree.split_feature.notna()]
        gains = splits.groupby("split_feature").split_gain.sum()
        new = step.coef - (before.coef if before else 0.0)
        # LightGBM keeps a gain in single precision; the frame holds it with all its digits.
        np.testing.assert_allclose(
            [gains.get(f"Column_{j}", 0.0) for j in range(6)], new, rtol=1e-6
        )
        known = before.selected if before else ()
        assert step.selected[: len(known)] == known
        added = step.selected[len(known) :]
        assert set(step.selected) == set(np.flatnonzero(step.coef).tolist())
        assert list(added) == sorted(added, key=lambda j: -gains[f"Column_{j}"])
        assert step.selected[0] == 4  # what the labels are made of, most of all
        before = step


def test_it_learns_what_no_linear_model_can() -> None:
    X, y, qid = xor_problem()
    held_out = xor_problem(seed=1)
    found = {}
    for method in (LambdaMART(n_rounds=60, num_leaves=4), RankRLS()):
        ranked = evaluate(
            held_out[1], method.fit(X, y, qid=qid).predict(held_out[0]), held_out[2]
        )
        found[type(method).__name__] = ranked["MAP"]
    assert found["LambdaMART"] > 0.95
    # half of the documents are relevant, whatever a linear model says
    assert found["RankRLS"] < 0.7


def hard_problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Enough documents for several threads, and labels 0 … 30, whose gradients differ in size.

    Sums of numbers of one size are exact in double precision, in any order; these are not: row-wise sums
    (``force_row_wise``) differ from the 14th tree on.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 6))
    y = 7 * (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(20_000)) + 15
    return X, np.clip(np.round(y), 0, 30), np.arange(20_000) // 100


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, qid = hard_problem()
    texts = []
    for threads in (1, 3):
        monkeypatch.setattr(lambdamart, "threads_for", lambda _, n=threads: n)
        method = LambdaMART(n_rounds=20, learning_rate=1.0)
        steps = steps_of(method, X, y, qid)
        # LightGBM's own text, which ours changes, says how many threads it used.
        assert f"[num_threads: {threads}]" in steps[-1].booster.model_to_string()
        texts.append(
            (
                steps[-1].model_text(),
                [step.criterion for step in steps],
                steps[-1].scores(X.T).tolist(),
            )
        )
    assert texts[0] == texts[1]


def test_small_trees_have_one_thread_on_a_busy_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RANKSTUDIO_THREADS", "3")
    small, large = np.empty((20_000, 6)), np.empty((500_000, 6))
    for is_busy, counts in ((False, (3, 3)), (True, (1, 3))):
        monkeypatch.setattr(lambdamart, "is_busy", lambda busy=is_busy: busy)
        assert tuple(map(threads_for, (small, large))) == counts
    assert threads_for(np.empty((10, 6))) == 1


def test_the_seed_decides_and_nothing_else() -> None:
    X, y, qid = ranking_problem()
    method = LambdaMART(**SMALL, feature_fraction=0.5)
    texts = [
        steps_of(m, X, y, qid)[-1].model_text() for m in (method, method, clone(method))
    ]
    assert texts[0] == texts[1] == texts[2]
    other = clone(method).set_params(seed=1).fit(X, y, qid=qid)
    assert (other.predict(X) != method.fit(X, y, qid=qid).predict(X)).any()


def test_it_ends_where_no_split_gains_anything() -> None:
    X, y, qid = ranking_problem()
    for features, labels in ((np.ones((120, 6)), y), (X, np.ones(120)), (X[:1], y[:1])):
        m = len(features)
        steps = steps_of(LambdaMART(), features, labels, qid[:m])
        assert [(s.number, s.selected, s.coef.tolist()) for s in steps] == [
            (1, (), [0.0] * 6)
        ]
        assert (steps[0].scores(features.T) == 0).all()
        assert (
            LambdaMART().fit(features, labels, qid=qid[:m]).feature_importances_ == 0
        ).all()


def test_an_unlucky_draw_of_features_does_not_end_it() -> None:
    rng = np.random.default_rng(0)
    X = np.stack([np.repeat(rng.random(10), 12), rng.random(120)], axis=1)
    y = (X[:, 1] > 0.5).astype(float)
    # splits nothing off that has three documents
    X[:, 0] = np.where(np.arange(120) == 0, 1.0, 0.0)
    method = LambdaMART(
        n_rounds=30, num_leaves=4, min_data_in_leaf=3, feature_fraction=0.5
    )
    steps = steps_of(method, X, y, np.arange(120) // 12)
    assert 1 < len(steps) <= 30
    assert steps[-1].selected == (1,)
    assert (steps[-1].scores(X.T) == steps[-1].booster.predict(X)).all()


def test_it_prints_nothing_in_any_thread(capfd: pytest.CaptureFixture[str]) -> None:
    X, y, qid = ranking_problem()

    def work() -> None:
        method = pickle.loads(pickle.dumps(LambdaMART(**SMALL).fit(X, y, qid=qid)))
        method.predict(X)
        list(LambdaMART().steps(np.ones((120, 6)), y, qid=qid))

    work()
    # LightGBM has its level of talk in each thread anew
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("label", [-1.0, 0.5, 31.0])
def test_labels_that_lightgbm_does_not_take_are_refused(
    label: float, capfd: pytest.CaptureFixture[str]
) -> None:
    X, y, qid = ranking_problem()
    y[5] = label
    with pytest.raises(lightgbm.basic.LightGBMError):
        lightgbm.train(
            {"objective": "lambdarank", "verbosity": -1},
            lightgbm.Dataset(X, y, group=[120]),
            1,
        )
    capfd.readouterr()  # what LightGBM prints, and we do not
    with pytest.raises(
        DatasetError, match=rf"whole numbers from 0 to 30, found {label:g}\."
    ):
        LambdaMART(**SMALL).fit(X, y, qid=qid)
    assert capfd.readouterr() == ("", "")
    y[5] = LambdaMART.entry.greatest_label
    LambdaMART(**SMALL).fit(X, y, qid=qid)


def test_queries_that_lightgbm_does_not_take_are_refused(
    capfd: pytest.CaptureFixture[str],
) -> None:
    rng = np.random.default_rng(0)
    X, y = (
        rng.random((LONGEST_QUERY + 1, 2)),
        rng.integers(0, 3, LONGEST_QUERY + 1).astype(float),
    )
    data = lightgbm.Dataset(X, y, group=[LONGEST_QUERY + 1])
    with pytest.raises(lightgbm.basic.LightGBMError):
        lightgbm.train({"objective": "lambdarank", "verbosity": -1}, data, 1)
    capfd.readouterr()
    with pytest.raises(
        DatasetError, match=r"queries of at most 10000 documents, found one of 10001\."
    ):
        LambdaMART(n_rounds=1).fit(X, y, qid=np.ones(y.size))
    assert capfd.readouterr() == ("", "")
    LambdaMART(n_rounds=1).fit(X[1:], y[1:], qid=np.ones(y.size - 1))


def test_without_lightgbm_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError) as caught:
        LambdaMART().fit(*ranking_problem()[:2], qid=ranking_problem()[2])
    text = "LambdaMART needs LightGBM, which is not installed: pip install lightgbm."
    assert str(caught.value) == text
    assert isinstance(caught.value, ImportError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == text


def test_a_lightgbm_that_cannot_be_loaded_is_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "lightgbm":
                raise OSError("libgomp.so.1: cannot open shared object file")

    monkeypatch.delitem(sys.modules, "lightgbm")
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(MissingExtraError, match=r"cannot be loaded: .*libgomp1 "):
        LambdaMART().fit(*ranking_problem()[:2], qid=ranking_problem()[2])


def test_lightgbm_is_imported_where_it_is_needed() -> None:
    code = "import sys; from rankstudio.engine import LambdaMART; LambdaMART(); print('lightgbm' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout == "False\n"


@pytest.mark.parametrize("garbage", ["", "0", "6.9e-310", "-1.7976931348623157e+308"])
def test_a_tree_of_one_leaf_has_the_same_bytes_whatever_was_in_memory(
    garbage: str,
) -> None:
    X, y, qid = ranking_problem()
    alone = {**SMALL, "min_data_in_leaf": y.size}  # nothing can be split
    (step,) = steps_of(LambdaMART(**alone), X, y, qid)
    written = step.booster.model_to_string()
    (weight,) = [
        line for line in written.splitlines() if line.startswith("leaf_weight=")
    ]
    (sizes,) = [line for line in written.splitlines() if line.startswith("tree_sizes=")]
    longer = int(sizes.partition("=")[2]) + len(f"leaf_weight={garbage}") - len(weight)
    found = written.replace(weight, f"leaf_weight={garbage}").replace(
        sizes, f"tree_sizes={longer}"
    )
    assert (
        repeatable_text(found)
        == step.model_text()
        == repeatable_text(step.model_text())
    )
    assert "\nleaf_weight=0\n" in repeatable_text(found)
    read = lightgbm.Booster(model_str=repeatable_text(found))
    np.testing.assert_array_equal(
        read.predict(X, raw_score=True), step.booster.predict(X, raw_score=True)
    )


def test_trees_with_splits_keep_the_bytes_that_lightgbm_writes() -> None:
    X, y, qid = ranking_problem()
    step = steps_of(LambdaMART(**SMALL), X, y, qid)[-1]
    text = step.booster.model_to_string(num_iteration=step.number)
    assert step.model_text() == re.sub(r"(num_threads: )\d+", r"\g<1>0", text)
    # of trees with and without splits the sizes are said anew, and those with splits are the same
    one = step.model_text().replace(
        "end of trees",
        "Tree=12\nnum_leaves=1\nleaf_value=0\nleaf_weight=\n\n\nend of trees",
    )
    sizes = next(
        line
        for line in repeatable_text(one).splitlines()
        if line.startswith("tree_sizes=")
    )
    assert (
        sizes.split("=")[1].split()[:-1]
        == next(
            line
            for line in step.model_text().splitlines()
            if line.startswith("tree_sizes=")
        )
        .split("=")[1]
        .split()
    )
