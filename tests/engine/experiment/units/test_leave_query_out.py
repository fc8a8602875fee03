"""The protocol of leaving each query out: equal to retraining and to the closed form, and small in memory."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiment.small import AtOnce, part
from experiment.small import assert_same as assert_same_run
from wording import naming

from rankstudio.cli.output.run_summary import summary
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.data import fingerprint as fingerprints
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.fingerprint import fingerprint
from rankstudio.engine.data.splitting.splits import leave_query_out, select_queries
from rankstudio.engine.data.synthetic import load_sample
from rankstudio.engine.errors import DatasetError, PlanError
from rankstudio.engine.experiment.execution.data_transport import write_folds
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.reports import metrics_table, results_as_dict
from rankstudio.engine.experiment.results.events import RunFinished, UnitFinished
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run, run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.metrics.evaluation import evaluate

LAMBDA = {"regularization": 0.5}
PLAN = Plan(
    "one",
    "rankrls",
    LAMBDA,
    "criterion",
    ("MAP", "Disagreement"),
    protocol="leave-query-out",
)


def one_file(queries: int = 12) -> FoldedDataset:
    data = part(5, queries)
    commented = replace(
        data, comments=tuple(f"docid = {i}" for i in range(data.n_documents))
    )
    return FoldedDataset("One", None, (Fold(1, commented),))


def others(data: RankingDataset, query: int) -> RankingDataset:
    return select_queries(data, np.delete(np.arange(data.n_queries), query))


def finished(plan: Plan, data: FoldedDataset, **beside: Any) -> RunResult:
    return run_plan(plan, data, **beside)


def test_each_query_is_tested_once_by_all_others_and_nothing_is_copied_for_it() -> None:
    given = one_file()
    data = given.folds[0].train
    folds = leave_query_out(given).folds
    assert [fold.number for fold in folds] == list(range(1, data.n_queries + 1))
    for q, fold in enumerate(folds):
        assert fold.vali is None
        assert fold.test is not None
        assert np.shares_memory(fold.test.X, data.X)
        assert_same(fold.test, select_queries(data, np.array([q])))
        assert_same(fold.train, others(data, q))
        assert not fold.train.X.flags.writeable


def assert_same(found: RankingDataset, expected: RankingDataset) -> None:
    for name in (
        "X",
        "y",
        "query_ptr",
        "feature_ids",
        "qid",
        "query_index",
        "constant_features",
    ):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for name in (
        "query_ids",
        "n_documents",
        "n_queries",
        "n_features",
        "document_ids",
        "feature_names",
    ):
        assert getattr(found, name) == getattr(expected, name)
    assert list(found.comments) == list(expected.comments)
    assert len(found.comments) == found.n_documents


def test_folds_go_to_other_processes_without_what_was_put_together() -> None:
    fold = leave_query_out(one_file()).folds[3]
    before = len(pickle.dumps(fold))
    expected = fold.train.X.copy()
    assert len(pickle.dumps(fold)) == before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fold)).train.X, expected)


def test_memory_does_not_grow_with_the_number_of_queries() -> None:
    rng = np.random.default_rng(0)
    many = RankingDataset.from_arrays(
        rng.random((20_000, 20)), rng.integers(0, 3, 20_000), np.arange(20_000) // 50
    )
    data = FoldedDataset("Many", None, (Fold(1, many),))
    tracemalloc.start()
    divided = leave_query_out(data)
    for fold in divided.folds:
        assert fold.train.X.shape[0] == many.n_documents - 50
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(divided.folds) == 400
    assert peak < 1.5 * many.X.nbytes


@pytest.mark.parametrize("method", ["rankrls", "mutual-information"])
def test_a_run_is_explicit_retraining_without_each_query(method: str) -> None:
    plan = PLAN.changed(method=method, parameters=LAMBDA)
    data = one_file()
    result = finished(plan, data)
    whole = data.folds[0].train
    assert [fold.fold for fold in result.folds] == list(range(1, whole.n_queries + 1))
    assert result.complete
    for q, fold in enumerate(result.folds):
        held_out = select_queries(whole, np.array([q]))
        alone = FoldedDataset(
            "Alone", None, (Fold(1, others(whole, q), None, held_out),)
        )
        (explicit,) = finished(plan.changed(protocol="given"), alone).folds
        assert fold.chosen.step.coef.tobytes() == explicit.chosen.step.coef.tobytes()
        assert fold.selected == explicit.selected
        scores = held_out.X @ fold.chosen.step.coef
        assert (
            fold.test["MAP"]
            == evaluate(held_out.y, scores, held_out.qid, measures=("MAP",))["MAP"]
        )
        assert fold.per_query["MAP"].tolist() == [fold.test["MAP"]]


@pytest.mark.parametrize("regularization", [2.0**-6, 1.0, 2.0**6])
def test_held_out_predictions_of_rankrls_are_those_of_the_closed_form(
    regularization: float,
) -> None:
    """Both solve (T - G_q + λI) w = (T - G_q)[:, y], once by subtraction and once by summing anew.

    A sum of m products errs by at most m ε of its size, and so the system by m ε ‖T‖ on either side; its
    least eigenvalue is at least λ, so that w errs by m ε ‖T‖ (1 + ‖w‖) / λ, and each solver adds as much.
    """
    data = one_file()
    result = finished(PLAN.changed(parameters={"regularization": regularization}), data)
    whole = data.folds[0].train
    grouped = group(whole.X, whole.y, whole.qid)
    closed = RankRLS(regularization).leave_query_out(whole.X, whole.y, qid=whole.qid)
    centred, _ = grouped.centred
    size = np.linalg.norm(grouped.statistics.total, 2)
    for q, fold in enumerate(result.folds):
        rows = whole.query_index == q
        coef = fold.chosen.step.coef
        predicted = centred[rows] @ coef
        err = (
            4
            * whole.n_documents
            * np.finfo(float).eps
            * size
            * (1 + np.linalg.norm(coef))
            / regularization
        )
        assert (
            np.abs(predicted - closed[rows]).max()
            <= err * np.linalg.norm(centred[rows], axis=1).max()
        )
        assert err < 1e-6


def test_what_is_undefined_in_one_query_is_left_out_of_the_mean() -> None:
    data = one_file()
    labels = data.folds[0].train.y.copy()
    labels[: data.folds[0].train.query_ptr[1]] = 1.0  # no pair to disagree about
    by_query = np.split(labels, data.folds[0].train.query_ptr[1:-1])
    flat = FoldedDataset(
        "Flat", None, (Fold(1, replace(data.folds[0].train, y=labels)),)
    )
    result = finished(PLAN, flat)
    values = np.array([fold.test["Disagreement"] for fold in result.folds])
    assert np.flatnonzero(np.isnan(values)).tolist() == [
        q for q, y in enumerate(by_query) if np.ptp(y) == 0
    ]
    assert result.average["Disagreement"] == values[~np.isnan(values)].mean()
    table = json.loads(json.dumps(results_as_dict(result), allow_nan=False))
    assert table["folds"][0]["test"]["Disagreement"] is None
    assert len(metrics_table(result)[1]) == len(result.folds) + 1


def test_the_data_are_hashed_once_and_any_change_of_them_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashed: list[int] = []
    of_arrays = fingerprints._arrays_checksum
    monkeypatch.setattr(
        fingerprints,
        "_arrays_checksum",
        lambda p: hashed.append(p.n_documents) or of_arrays(p),
    )
    first = fingerprint(leave_query_out(one_file()))
    m = one_file().folds[0].train.n_documents
    assert sum(hashed) == 2 * m  # the whole, and every query alone
    assert fingerprint(leave_query_out(one_file())) == first
    assert fingerprint(one_file()) != first
    for q in (0, 11):
        data = one_file().folds[0].train
        X = data.X.copy()
        X[data.query_ptr[q], 0] += 1e-9
        changed = FoldedDataset("One", None, (Fold(1, replace(data, X=X)),))
        assert fingerprint(leave_query_out(changed)).checksum != first.checksum


def test_it_is_one_of_the_plans_protocols_whatever_the_seed(tmp_path: Path) -> None:
    assert Plan("x", protocol="Leave query out").protocol == "leave-query-out"
    divided = parse_protocol("leave-query-out").divide(one_file(), 3)
    assert parse_protocol("leave-query-out").divide(divided, 4) is divided
    with pytest.raises(PlanError, match=naming("MAP 1 One")):
        next(run(PLAN.changed(select_by="MAP"), one_file()))
    with pytest.raises(PlanError, match=naming("5-fold 0")):
        next(run(PLAN.changed(protocol="5-fold"), divided))
    with pytest.raises(DatasetError, match=naming("2 1 queries")):
        leave_query_out(one_file(1))
    assert len(leave_query_out(load_sample()).folds) == sum(
        f.test.n_queries for f in load_sample().folds if f.test
    )


def test_a_run_is_stored_resumed_and_shares_nothing_between_folds(
    tmp_path: Path,
) -> None:
    whole = results_as_dict(finished(PLAN, leave_query_out(one_file())))
    grouped: dict[int, Any] = {}
    with Study.create(tmp_path / "a.rankstudio") as study:
        for event in run_stored(PLAN, leave_query_out(one_file()), study, grouped):
            if isinstance(event, UnitFinished) and event.unit.fold == 5:
                break
        assert grouped == {}
        *_, last = run_stored(PLAN, leave_query_out(one_file()), study)
        assert isinstance(last, RunFinished)
        assert results_as_dict(last.result) == whole
        assert study.runs()[0].n_units == 12


def test_other_processes_map_one_part_and_have_the_same_bits() -> None:
    divided = leave_query_out(one_file())
    files = write_folds(divided.folds)
    assert len(files.names) == 1
    for fold in divided.folds:
        mapped = files.fold(fold.number)
        assert (mapped.number, mapped.vali) == (fold.number, None)
        for name in ("train", "test"):
            assert mapped.parts[name].X.tobytes() == fold.parts[name].X.tobytes()
            assert mapped.parts[name].query_ids == fold.parts[name].query_ids
    assert_same_run(finished(PLAN, divided, executor=AtOnce()), finished(PLAN, divided))


def test_of_many_folds_the_terminal_prints_the_mean() -> None:
    few, many = (
        finished(PLAN.changed(measures=("MAP",)), one_file(queries))
        for queries in (30, 31)
    )
    assert len(summary(few).splitlines()) == 3 + 30 + 3
    assert "leave-query-out (31 folds)" in summary(many)
    _, _, _, mean, single, _ = summary(many).splitlines()
    assert mean.split() == ["mean", f"{many.average['MAP']:.4f}"]
    assert single.startswith("best single")
