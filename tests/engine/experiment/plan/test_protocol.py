"""Runs on folds made anew: what is opened, what is run, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from wording import naming

from rankstudio.engine.analysis.comparisons.published import printed_of
from rankstudio.engine.analysis.comparisons.significance import why_unpaired
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.splitting.splits import (
    for_inner_folds,
    k_fold,
    nested,
    single_split,
    training_share,
)
from rankstudio.engine.data.synthetic import load_sample
from rankstudio.engine.errors import DatasetError, PlanError
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.results.events import RunStarted
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import open_data, run, run_plan

PLAN = Plan(SAMPLE, "single-feature", {"n_features_to_select": 2}, seed=3)


def parts(dataset: FoldedDataset) -> list[dict[str, tuple[str, ...]]]:
    return [
        {name: part.query_ids for name, part in fold.parts.items()}
        for fold in dataset.folds
    ]


def finished(plan: Plan, dataset: FoldedDataset | None = None) -> RunResult:
    return run_plan(plan, dataset)


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("given", lambda d: d),
        ("7-fold", lambda d: k_fold(d, 7, 3)),
        ("split 60/20/20", lambda d: single_split(d, (60, 20, 20), 3)),
        ("nested 20", lambda d: nested(d, 20, 3)),
        ("train 30%", lambda d: training_share(d, 30, 3)),
        ("7-fold, train 30%", lambda d: training_share(k_fold(d, 7, 3), 30, 3)),
        (
            "nested 4-fold, train 30%",
            lambda d: for_inner_folds(training_share(d, 30, 3), 4, 3),
        ),
    ],
)
def test_data_are_opened_with_the_plans_folds_by_the_plans_seed(
    protocol: str, expected
) -> None:
    opened = open_data(PLAN.changed(protocol=protocol))
    assert parts(opened) == parts(expected(load_sample()))
    assert parse_protocol(protocol).divide(opened, 3) is opened


def test_a_run_is_the_same_on_data_as_given_and_on_data_already_divided() -> None:
    plan = PLAN.changed(protocol="3-fold")
    alone, given, divided = (
        finished(plan, d) for d in (None, load_sample(), open_data(plan))
    )
    assert [fold.fold for fold in alone.folds] == [1, 2, 3]
    assert alone.complete
    for fold, other, another in zip(
        alone.folds, given.folds, divided.folds, strict=True
    ):
        assert dict(fold.test) == dict(other.test) == dict(another.test)
    assert finished(plan.changed(seed=4)).average != alone.average
    (only,) = finished(plan.changed(folds=(2,))).folds
    assert dict(only.test) == dict(alone.folds[1].test)


def test_the_share_of_the_training_queries_is_written_in_one_way() -> None:
    for said, written in [
        ("train 20", "train 20%"),
        ("given, Train 20 %", "train 20%"),
        ("5 folds, nested 4-fold, train 7%", "5-fold, nested 4-fold, train 7%"),
        ("5-fold, train 100%", "5-fold"),
    ]:
        assert str(parse_protocol(said)) == written
        assert parse_protocol(written) == parse_protocol(said)
    for wrong in (
        "train 0%",
        "train 101%",
        "leave-query-out, train 20%",
        "train 20%, nested 3-fold",
        "train 20%, train 30%",
    ):
        with pytest.raises(PlanError):
            parse_protocol(wrong)


def test_a_run_on_a_share_is_the_run_on_data_reduced_by_hand() -> None:
    by_plan = finished(PLAN.changed(protocol="train 30%"))
    by_hand = finished(
        PLAN, replace(training_share(load_sample(), 30, 3), divided_by="")
    )
    for fold, other in zip(by_plan.folds, by_hand.folds, strict=True):
        assert dict(fold.test) == dict(other.test)
        assert fold.chosen.step.selected == other.chosen.step.selected
    assert why_unpaired(by_plan, finished(PLAN), by_plan.plan.measures[0]) == ""


def test_folds_of_another_protocol_or_seed_are_refused() -> None:
    divided = open_data(PLAN.changed(protocol="3-fold"))
    for other, sentence in [
        (PLAN, "created by 3-fold, seed 3, expected the files"),
        (
            PLAN.changed(protocol="3-fold", seed=4),
            "expected 3-fold, seed 4. Open the data again",
        ),
    ]:
        with pytest.raises(PlanError, match=sentence):
            next(run(other, divided))


def test_one_file_is_divided(tmp_path: Path) -> None:
    save_letor(load_sample().folds[0].test, tmp_path / "one.txt")
    result = finished(
        PLAN.changed(data=str(tmp_path / "one.txt"), protocol="split 50/30/20")
    )
    assert result.folds[0].validation
    assert result.folds[0].test
    validated = finished(
        PLAN.changed(data=str(tmp_path / "one.txt"), protocol="nested 30")
    )
    assert validated.folds[0].validation
    assert not validated.folds[0].test


def test_two_folds_have_no_validation_part_and_choose_by_the_criterion() -> None:
    with pytest.raises(PlanError, match=naming("MAP 1 Sample")):
        next(run(PLAN.changed(protocol="2-fold")))
    assert finished(PLAN.changed(protocol="2-fold", select_by="criterion")).average


def test_one_of_several_folds_is_not_divided() -> None:
    some = FoldedDataset("Some", None, load_sample().folds[:2])
    with pytest.raises(DatasetError, match=naming("folds test")):
        next(run(PLAN.changed(protocol="5-fold"), some))
    alone = FoldedDataset(
        "One", None, (Fold(1, *load_sample().folds[0].parts.values()),)
    )
    started = next(run(PLAN.changed(protocol="5-fold"), alone))
    assert isinstance(started, RunStarted)
    assert started.folds == (1, 2, 3, 4, 5)


@pytest.mark.ability("papers")
def test_printed_numbers_stand_beside_the_given_folds_alone() -> None:
    plan = Plan(SAMPLE, "rankrls", {"regularization": (1.0,)})
    for protocol, expected in (("given", set(plan.measures)), ("5-fold", set())):
        assert set(printed_of(finished(plan.changed(protocol=protocol)))) == expected


@pytest.mark.parametrize(
    ("protocol", "validates"),
    [
        ("given", False),
        ("leave-query-out", False),
        ("2-fold", False),
        ("3-fold", True),
        ("split 80/0/20", False),
        ("split 60/20/20", True),
        ("nested 20", True),
        ("nested 3-fold", True),
        ("2-fold, nested 3-fold", True),
    ],
)
def test_a_protocol_says_whether_it_validates(protocol: str, validates: bool) -> None:
    assert parse_protocol(protocol).validates is validates
