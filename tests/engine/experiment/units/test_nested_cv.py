"""Selection by an inner cross-validation, against one written out with the public estimators."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from experiment.small import AtOnce, assert_same, dataset, ended, two_settings
from representatives import every
from scipy.stats import ttest_rel
from wording import naming

from rankstudio.engine import RankSVM, evaluate
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.splitting import splits as protocols
from rankstudio.engine.data.splitting.splits import inner_folds
from rankstudio.engine.errors import DatasetError, PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import Protocol, parse_protocol
from rankstudio.engine.experiment.results.cross_fit import query_groups, query_subsets
from rankstudio.engine.experiment.results.events import (
    StepDone,
    UnitFinished,
    UnitProgress,
)
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run, run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.units.fold_context import make_fold_context
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.metrics.evaluator import average

LAMBDAS = (0.25, 2.0, 16.0)
PLAN = Plan(
    "small", parameters={"regularization": LAMBDAS}, protocol="nested 3-fold", seed=7
)


def rows(
    data: list[RankingDataset], queries: list[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, y and qid of some queries, in the order of the data."""
    X, y = (
        np.vstack([part.X for part in data]),
        np.concatenate([part.y for part in data]),
    )
    qid = np.concatenate([np.array(part.query_ids)[part.query_index] for part in data])
    there = np.isin(qid, queries)
    return X[there], y[there], qid[there]


def renamed(fold: Fold) -> Fold:
    """A fold whose parts have queries of different names: what is joined must not be one query."""
    parts = {
        name: RankingDataset(
            p.X,
            p.y,
            p.query_ptr,
            tuple(f"{name}{q}" for q in p.query_ids),
            p.feature_ids,
            p.feature_names,
        )
        for name, p in fold.parts.items()
    }
    return Fold(fold.number, **parts)


def data(validated: bool = True) -> FoldedDataset:
    folds = tuple(renamed(fold) for fold in dataset().folds)
    if not validated:
        folds = tuple(Fold(fold.number, fold.train, None, fold.test) for fold in folds)
    return FoldedDataset("Small", None, folds)


def mean_map(X: np.ndarray, y: np.ndarray, qid: np.ndarray, coef: np.ndarray) -> float:
    return evaluate(y, X @ coef, qid, measures=("MAP",))["MAP"]


def in_queries(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, coef: np.ndarray
) -> list[float]:
    return [
        mean_map(X[qid == q], y[qid == q], qid[qid == q], coef)
        for q in dict.fromkeys(qid)
    ]


def by_hand(fold: Fold, k: int, seed: int, learn, measured=mean_map) -> np.ndarray:
    """Return the MAP of every step of every inner fold, shape (k, steps): plain loops and public names.

    With `in_queries` that of every query, those of one inner fold after the other: shape (steps, queries).
    """
    learned = [part for name, part in fold.parts.items() if name != "test"]
    queries = [q for part in learned for q in part.query_ids]
    dealt = np.random.default_rng((seed, fold.number)).permutation(len(queries))
    table = []
    for subset in np.array_split(dealt, k):
        held_out = [queries[i] for i in subset]
        X, y, qid = rows(learned, [q for q in queries if q not in held_out])
        X_out, y_out, qid_out = rows(learned, held_out)
        coefs = learn(X, y, qid)
        table.append([measured(X_out, y_out, qid_out, coef) for coef in coefs])
    return (
        np.array(table)
        if measured is mean_map
        else np.hstack([np.array(one) for one in table])
    )


def greedy(regularization: float):
    def learn(X, y, qid):
        varying = GreedyRankRLS(
            n_features_to_select=5, regularization=regularization
        )  # the sixth is constant
        return [step.coef for step in varying.steps(X, y, qid=qid)]

    return learn


@pytest.mark.parametrize(
    ("rule", "validated"),
    [
        ("best", True),
        ("one-se", True),
        ("smallest", True),
        ("at most 2", True),
        ("smallest", False),
    ],
)
def test_the_chosen_model_is_that_of_a_nested_cross_validation_by_hand(
    validated: bool, rule: str
) -> None:
    given = data(validated)
    result = run_plan(PLAN.changed(rule=rule), given)
    for fold, found in zip(given.folds, result.folds, strict=True):
        tables = [by_hand(fold, 3, 7, greedy(value)) for value in LAMBDAS]
        means = np.array([table.mean(axis=0) for table in tables])
        for path, mean in zip(found.paths, means, strict=True):
            np.testing.assert_allclose(path.validation["MAP"], mean, rtol=1e-13)
        allowed = means[:, :2] if rule == "at most 2" else means
        setting, step = np.unravel_index(allowed.argmax(), allowed.shape)
        if rule == "smallest":
            queries = by_hand(fold, 3, 7, greedy(LAMBDAS[setting]), in_queries)
            # equal models
            p = np.nan_to_num(
                [ttest_rel(q, queries[step]).pvalue for q in queries], nan=1.0
            )
            np.testing.assert_allclose(found.paths[setting].p_values["MAP"], p)
            step = min(k for k in range(step + 1) if p[k] >= 0.05)
        if rule == "one-se":
            error = tables[setting][:, step].std(ddof=1) / np.sqrt(3)
            step = int(
                np.flatnonzero(means[setting] >= means[setting, step] - error)[0]
            )
        assert (found.chosen.unit.position, found.chosen.step.number) == (
            setting,
            step + 1,
        )
        learned = [part for name, part in fold.parts.items() if name != "test"]
        X, y, qid = rows(learned, [q for part in learned for q in part.query_ids])
        model = GreedyRankRLS(
            n_features_to_select=int(step) + 1, regularization=LAMBDAS[setting]
        )
        model.fit(X, y, qid=qid)
        np.testing.assert_array_equal(found.chosen.step.coef, model.coef_)
        assert fold.test is not None
        tested = evaluate(
            fold.test.y, fold.test.X @ model.coef_, fold.test.qid, measures=("MAP",)
        )["MAP"]
        assert found.test["MAP"] == tested
        assert found.validation["MAP"] == pytest.approx(means[setting, step], rel=1e-13)


@pytest.mark.parametrize("validated", [True, False])
def test_a_query_is_measured_by_inner_models_that_it_did_not_choose(
    validated: bool,
) -> None:
    given = data(validated)
    for fold, found in zip(given.folds, run_plan(PLAN, given).folds, strict=True):
        values = np.vstack(
            [by_hand(fold, 3, 7, greedy(value), in_queries) for value in LAMBDAS]
        )
        n_queries = values.shape[1]
        ends = np.cumsum(
            [len(subset) for subset in np.array_split(np.arange(n_queries), 3)]
        )[:-1]
        groups, subsets = query_groups(n_queries), query_subsets(n_queries)
        fitted = np.zeros(n_queries)
        for split, row in enumerate(groups):
            for query, group in enumerate(row):
                others = np.split(subsets[split * 5 + group], ends)
                parts = zip(np.split(values, ends, axis=1), others, strict=True)
                means = [
                    average(np.ascontiguousarray(part[:, mask])) for part, mask in parts
                ]
                fitted[query] += values[
                    average(np.stack(means, axis=1)).argmax(), query
                ] / len(groups)
        np.testing.assert_allclose(found.cross_fitted["MAP"], fitted, rtol=1e-12)


def test_of_an_optimisers_iterations_the_last_ones_count_on_every_inner_fold() -> None:
    plan = PLAN.changed(method="ranksvm", parameters={"C": (0.01, 1.0)})
    given = data()
    found = run_plan(plan, given).folds[0]
    for path, C in zip(found.paths, (0.01, 1.0), strict=True):
        table = by_hand(
            given.folds[0],
            3,
            7,
            lambda X, y, qid, C=C: [RankSVM(C=C).fit(X, y, qid=qid).coef_],
        )
        assert path.validation["MAP"][-1] == pytest.approx(table.mean(), rel=1e-13)
        error = table.std(ddof=1) / np.sqrt(3)
        assert path.standard_errors["MAP"][-1] == pytest.approx(
            error, rel=1e-10, abs=1e-15
        )


def test_no_query_is_learned_from_and_validated_or_tested() -> None:
    alone = FoldedDataset("One", None, data().folds[:1])
    divided = parse_protocol("5-fold, nested 3-fold").divide(alone, 7)
    everything = {q for part in alone.folds[0].parts.values() for q in part.query_ids}
    assert divided.divided_by == "5-fold, nested 3-fold, seed 7"
    for fold in divided.folds:
        assert fold.vali is None
        assert fold.test is not None
        assert not set(fold.train.query_ids) & set(fold.test.query_ids)
        inner = list(inner_folds(fold, 3, 7))
        validated = [set(part.vali.query_ids) for part in inner if part.vali]
        assert set.union(*validated) == set(fold.train.query_ids)
        assert not any(one & other for one, other in combinations(validated, 2))
        for part, held_out in zip(inner, validated, strict=True):
            assert set(part.train.query_ids) == set(fold.train.query_ids) - held_out
    assert {
        q for fold in divided.folds if fold.test for q in fold.test.query_ids
    } == everything


@every("plan", two_settings())
def test_every_method_is_validated_so_and_has_the_same_bits_on_an_executor(
    plan: Plan,
) -> None:
    plan = plan.changed(protocol="nested 2-fold", folds=(1,))
    alone = run_plan(plan, data())
    assert_same(run_plan(plan, data(), executor=AtOnce()), alone)
    (fold,) = alone.folds
    assert set(fold.validation) == set(plan.measures)
    assert np.isfinite(fold.validation["MAP"])
    n_queries = sum(
        part.n_queries for name, part in data().folds[0].parts.items() if name != "test"
    )
    assert {
        name: values.shape for name, values in fold.cross_fitted.items()
    } == dict.fromkeys(fold.validation, (n_queries,))
    assert np.isfinite(fold.cross_fitted["MAP"]).all()
    for path in fold.paths:
        assert (
            path.validation["MAP"].shape
            == path.standard_errors["MAP"].shape
            == (len(path.steps),)
        )


def test_an_interrupted_run_goes_on_and_chooses_by_the_stored_standard_errors(
    tmp_path: Path,
) -> None:
    plan = PLAN.changed(rule="one-se")
    divided = parse_protocol(plan.protocol).divide(data(), plan.seed)
    whole = run_plan(plan, divided)
    with Study.create(tmp_path / "a.rankstudio") as study:
        done = 0
        for event in run_stored(plan, divided, study):
            done += isinstance(event, UnitFinished)
            if done == 2:
                break
        resumed = ended(run_stored(plan, divided, study))
        assert_same(resumed, whole)
        stored = study.result(study.runs()[0].key).folds[0].paths[0]
    for name, errors in whole.folds[0].paths[0].standard_errors.items():
        assert stored.standard_errors[name].tobytes() == errors.tobytes()


def test_steps_are_told_with_what_the_inner_folds_measured_after_signs_of_life() -> (
    None
):
    events = list(run(PLAN, data()))
    said = {event.working.what for event in events if isinstance(event, UnitProgress)}
    assert {"inner fold 1 of 3", "inner fold 3 of 3"} <= said
    path = next(event.path for event in events if isinstance(event, UnitFinished))
    steps = [e for e in events if isinstance(e, StepDone) and e.unit == path.unit]
    assert [step.validation["MAP"] for step in steps] == path.validation["MAP"].tolist()


def test_the_single_feature_is_validated_by_each_inner_fold_for_itself() -> None:
    divided = parse_protocol(PLAN.protocol).divide(data(), PLAN.seed)
    prepared = make_fold_context(PLAN, divided.folds[0])
    inner = [
        make_fold_context(PLAN.changed(protocol="given"), fold).baseline.validation[
            "MAP"
        ]
        for fold in inner_folds(divided.folds[0], 3, PLAN.seed)
    ]
    assert prepared.baseline.validation["MAP"] == pytest.approx(
        np.mean(inner), rel=1e-14
    )
    whole = make_fold_context(PLAN.changed(protocol="given"), divided.folds[0]).baseline
    assert dict(prepared.baseline.test) == dict(whole.test)


@pytest.mark.parametrize(
    ("written", "kept", "protocol"),
    [
        ("nested 5-fold", "nested 5-fold", Protocol(inner=5)),
        ("Given,nested 5 folds", "nested 5-fold", Protocol(inner=5)),
        (
            "10-fold, nested 5-fold",
            "10-fold, nested 5-fold",
            Protocol("k-fold", (10,), 5),
        ),
        (
            "leave query out, nested 3-fold",
            "leave-query-out, nested 3-fold",
            Protocol("leave-query-out", inner=3),
        ),
        (
            "split 80/0/20, nested 2-fold",
            "split 80/0/20, nested 2-fold",
            Protocol("split", (80, 0, 20), 2),
        ),
    ],
)
def test_it_is_written_after_how_the_folds_come_about(
    written: str, kept: str, protocol: Protocol
) -> None:
    plan = Plan("x", protocol=written)
    assert (plan.protocol, parse_protocol(written), plan.inner) == (
        kept,
        protocol,
        protocol.inner,
    )
    assert Plan("x", protocol=kept) == plan


@pytest.mark.parametrize(
    "wrong",
    ["nested 1-fold", "nested 20, nested 5-fold", "nested 3-fold, nested 2-fold"],
)
def test_what_is_no_inner_cross_validation_is_refused(wrong: str) -> None:
    with pytest.raises(PlanError, match=naming("inner folds")):
        parse_protocol(wrong)


def test_more_inner_folds_than_training_queries_are_refused_before_any_work() -> None:
    with pytest.raises(DatasetError, match=naming("25 24 1")):
        next(run(PLAN.changed(protocol="nested 25-fold"), data()))


def test_inner_folds_too_large_for_the_memory_are_refused_before_any_work(
    monkeypatch,
) -> None:
    monkeypatch.setattr(protocols.memory, "available", lambda: 10_000.0)
    with pytest.raises(DatasetError, match=naming("Small folds")):
        next(run(PLAN, data()))


def test_leaving_each_query_out_can_be_nested_too() -> None:
    alone = FoldedDataset("One", None, (Fold(1, data().folds[0].train),))
    plan = PLAN.changed(protocol="leave-query-out, nested 2-fold", folds=(3,))
    (fold,) = run_plan(plan, alone).folds
    assert np.isfinite(fold.validation["MAP"])
    assert not fold.cross_fitted  # too many folds to keep measures of inner models
