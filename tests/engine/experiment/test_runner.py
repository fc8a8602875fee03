"""The protocol: order of events, choice, what a fold's model measures, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment.small import assert_same, dataset, ended, part
from wording import naming

from rankstudio.engine import GreedyRankRLS, RankSVM, evaluate
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.splitting.splits import leave_query_out
from rankstudio.engine.errors import OutOfMemoryError, ParameterError, PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import (
    BaselineFound,
    FoldFinished,
    RunFinished,
    RunStarted,
    StepDone,
    UnitFinished,
    UnitProgress,
    UnitStarted,
)
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import check, run, run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.methods import catalog
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.catalog.method import Requirement
from rankstudio.engine.methods.catalog.registry import MethodRegistry
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.steps import Step

PLAN = Plan("small", parameters={"regularization": (0.5, 1.0, 2.0)})


def test_events_come_in_order_and_tell_how_much_work_there_is() -> None:
    events = list(run(PLAN, dataset()))
    kinds = [type(e) for e in events]
    unit = [UnitStarted, *[StepDone] * 5, UnitFinished]  # one feature is constant
    fold = [UnitProgress, BaselineFound, *(unit * 3), FoldFinished]
    assert kinds == [RunStarted, *fold, *fold, RunFinished]
    started = events[0]
    assert isinstance(started, RunStarted)
    assert len(started.units) == 6
    assert started.steps_per_unit == 6
    assert [u.parameters["regularization"] for u in started.units[:3]] == [
        0.5,
        1.0,
        2.0,
    ]


def test_the_chosen_model_is_the_best_on_validation_and_measured_on_test() -> None:
    data = dataset()
    finished = [e.result for e in run(PLAN, data) if isinstance(e, FoldFinished)]
    for fold, result in zip(data.folds, finished, strict=True):
        assert fold.vali is not None
        assert fold.test is not None
        tried = []
        for regularization in (0.5, 1.0, 2.0):
            method = GreedyRankRLS(regularization=regularization)
            method.fit(fold.train.X, fold.train.y, qid=fold.train.qid)
            for k, coef in enumerate(method.coef_path_, start=1):
                scores = fold.vali.X @ coef
                value = evaluate(fold.vali.y, scores, fold.vali.qid, measures=("MAP",))[
                    "MAP"
                ]
                tried.append((-value, regularization, k, coef))
        _, regularization, k, coef = min(tried, key=lambda t: t[:3])
        assert result.chosen.unit.parameters["regularization"] == regularization
        assert len(result.selected) == k
        expected = evaluate(
            fold.test.y, fold.test.X @ coef, fold.test.qid, measures=PLAN.measures
        )
        assert dict(result.test) == pytest.approx(dict(expected))
        assert result.selected == tuple(c + 1 for c in result.chosen.step.selected)


def test_without_a_validation_part_the_criterion_chooses() -> None:
    alone = FoldedDataset("Alone", None, (Fold(1, part(1)),))
    with pytest.raises(PlanError, match=naming("MAP 1 Alone")):
        list(run(PLAN, alone))
    fold = run_plan(PLAN.changed(select_by="criterion"), alone).folds[0]
    least = min(p.criterion.min() for p in fold.paths)
    assert fold.chosen.step.criterion / fold.paths[0].divisor == least
    assert dict(fold.test) == {}


@pytest.mark.parametrize(
    ("plan", "error", "message"),
    [
        (
            PLAN.changed(folds=(3,)),
            PlanError,
            "folds: Small has no fold 3; it has 1, 2.",
        ),
        (
            PLAN.changed(parameters={"pinned": (7,)}),
            ParameterError,
            "pinned: expected ids of the dataset's features, 1 to 6, got 7.",
        ),
    ],
)
def test_a_plan_that_does_not_fit_the_data_is_refused(
    plan: Plan, error: type, message: str
) -> None:
    with pytest.raises(error) as caught:
        list(run(plan, dataset()))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "changes", [{"method": "ranksvm"}, {"method": "gas", "ranker": "ranksvm"}]
)
def test_what_is_not_installed_is_said_before_the_first_event(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, str]
) -> None:
    absent = Requirement("no_such_module", "boosting")
    lacking = tuple(
        replace(m, requires=absent) if m.key == "ranksvm" else m for m in methods()
    )
    monkeypatch.setattr(catalog, "METHODS", MethodRegistry(lacking))
    with pytest.raises(PlanError, match=naming("RankSVM no_such_module")):
        next(run(Plan("small", **changes), dataset()))


def test_pins_and_bans_are_feature_ids() -> None:
    plan = PLAN.changed(
        parameters={"regularization": (1.0,), "pinned": (6,), "banned": (3,)},
        folds=(2,),
    )
    steps = run_plan(plan, dataset()).folds[0].paths[0].steps
    assert steps[0].selected == (5,)
    assert len(steps) == 4
    assert all(2 not in step.selected for step in steps)


def test_rankrls_is_one_step_with_all_features() -> None:
    result = run_plan(
        Plan("small", "rankrls", {"regularization": "2^-3..2^3"}), dataset()
    )
    assert [len(f.selected) for f in result.folds] == [6, 6]
    assert result.complete


def test_of_an_optimisers_iterations_only_the_last_is_chosen() -> None:
    plan = Plan("small", "ranksvm", {"C": (0.01, 1.0), "max_iter": 4, "tol": 1e-12})
    for select_by in ("MAP", "criterion"):
        fold = run_plan(plan.changed(select_by=select_by), dataset(1)).folds[0]
        assert all(len(p.steps) > 1 for p in fold.paths)
        ends = [
            p.criterion[-1] if select_by == "criterion" else -p.validation["MAP"][-1]
            for p in fold.paths
        ]
        path = fold.paths[int(np.argmin(ends))]
        assert fold.chosen.unit == path.unit
        assert fold.chosen.step is path.steps[-1]
        assert path.x_values.tolist() == list(range(1, len(path.steps) + 1))
        assert path.sizes.tolist() == [6] * len(path.steps)


def test_a_ranked_run_chooses_setting_and_size_on_validation_and_tests_that_model() -> (
    None
):
    plan = Plan(
        "small",
        "l1-path",
        ranker="ranksvm",
        ranker_parameters={"C": (0.01, 1.0)},
        folds=(1,),
    )
    data = dataset()
    fold, parts = run_plan(plan, data).folds[0], data.folds[0]
    assert parts.vali is not None
    assert parts.test is not None
    order = list(fold.paths[0].steps[-1].selected)
    tried = []
    for C in (0.01, 1.0):
        for k in range(1, len(order) + 1):
            ranker = RankSVM(C=C).fit(
                parts.train.X[:, order[:k]], parts.train.y, qid=parts.train.qid
            )
            scores = ranker.predict(parts.vali.X[:, order[:k]])
            value = evaluate(parts.vali.y, scores, parts.vali.qid, measures=("MAP",))[
                "MAP"
            ]
            tried.append((-value, C, k, ranker))
    _, C, k, ranker = min(tried, key=lambda t: t[:3])
    assert (fold.chosen.unit.values, len(fold.selected)) == ((C,), k)
    scores = ranker.predict(parts.test.X[:, order[:k]])
    expected = evaluate(parts.test.y, scores, parts.test.qid, measures=plan.measures)
    assert dict(fold.test) == pytest.approx(dict(expected))


def test_a_plan_is_checked_without_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "rankstudio.engine.experiment.units.fold_context.FoldContext.__init__", None
    )
    check(PLAN, dataset())
    with pytest.raises(PlanError, match=naming("3 fold")):
        check(PLAN.changed(folds=(3,)), dataset())
    with pytest.raises(PlanError, match=naming("1 Data")):
        check(PLAN, part(1))
    with pytest.raises(ParameterError, match="banned"):
        check(PLAN.changed(parameters={"banned": (99,)}), dataset())
    with pytest.raises(
        ParameterError, match=naming("dataset FoldedDataset RankingDataset")
    ):
        check(PLAN, "MQ2008")  # type: ignore[arg-type]


def test_one_part_alone_is_trained_on(tmp_path: Path) -> None:
    plan, alone = PLAN.changed(select_by="criterion"), part(1)
    (fold,) = run_plan(plan, alone).folds
    assert (fold.test, fold.validation) == ({}, {})
    assert_same(
        run_plan(plan, alone),
        run_plan(plan, FoldedDataset("Data", None, (Fold(1, alone),))),
    )
    with Study.create(tmp_path / "study.rankstudio") as study:
        assert ended(run_stored(plan, alone, study)).data_name == "Data"
    save_letor(alone, tmp_path / "letters.v2.txt", comments=False)
    read = load_letor(tmp_path / "letters.v2.txt")
    assert (
        FoldedDataset.of(read).name
        == open_dataset(tmp_path / "letters.v2.txt").name
        == "letters"
    )
    assert len(run_plan(plan.changed(protocol="3-fold"), alone).folds) == 3


def test_data_are_told_apart_in_a_line() -> None:
    data = dataset()
    assert repr(data) == "<FoldedDataset Small: 2 folds, 6 features>"
    one = "<RankingDataset: 70 documents of 12 queries, 6 features>"
    assert repr(data.folds[0].train) == one
    assert repr(data.folds[0]).startswith(
        f"<Fold 1: {{'train': {one}, 'vali': <RankingDataset: "
    )
    left = leave_query_out(FoldedDataset("One", None, (Fold(1, part(3)),)))
    assert repr(left) == "<FoldedDataset One: 12 folds by leave-query-out, 6 features>"
    assert repr(left.folds[0].train).endswith(" documents of 11 queries, 6 features>")


@pytest.mark.parametrize("workers", [0, 2])
def test_a_method_out_of_memory_ends_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    def learn(self: GreedyRankRLS, data: object) -> Iterator[Step]:
        raise MemoryError("Unable to allocate 18.6 GiB")
        yield

    monkeypatch.setattr(GreedyRankRLS, "work", learn)
    said = r"^Greedy RankRLS on fold 1, \d+ documents with 6 features: not enough memory: Unable to "
    with ExitStack() as stack:
        executor = stack.enter_context(ThreadPoolExecutor(workers)) if workers else None
        with pytest.raises(OutOfMemoryError, match=said):
            list(run(PLAN, dataset(), executor=executor))


def test_a_measure_out_of_memory_ends_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def evaluate_many(self: Evaluator, scores: object) -> object:
        raise MemoryError

    monkeypatch.setattr(Evaluator, "evaluate_many", evaluate_many)
    with pytest.raises(OutOfMemoryError, match=naming("Greedy RankRLS")):
        list(run(PLAN, dataset()))


@pytest.mark.parametrize(
    "method", ["rankrls", "kernel-rankrls", "greedy-rankrls", "single-feature"]
)
def test_nothing_is_chosen_by_leaving_out_the_only_query(method: str) -> None:
    alone = FoldedDataset(
        "Alone", None, (Fold(1, part(1, queries=1), part(2), part(3)),)
    )
    plan = Plan("small", method, {"regularization": (0.5, 1.0)}, select_by="criterion")
    with pytest.raises(PlanError, match=r"leave-query-out error.* fold 1 of Alone"):
        check(plan, alone)
    # where nothing is to be chosen, or something else chooses, one query is enough
    if method == "rankrls":
        assert run_plan(
            plan.changed(parameters={"regularization": 1.0}), alone
        ).complete
        assert run_plan(plan.changed(select_by="MAP"), alone).complete
