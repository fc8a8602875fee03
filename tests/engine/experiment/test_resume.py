"""Runs that a study remembers: interrupted anywhere, even by kill -9, they end with the same bits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from experiment.small import assert_same, dataset, ended, two_settings
from representatives import every
from wording import naming

from rankstudio.engine.errors import ChangedDataError, PlanError
from rankstudio.engine.experiment import resume as resuming
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import (
    BaselineFound,
    FoldFinished,
    RunFinished,
    RunStarted,
    StepDone,
    UnitFinished,
    UnitStarted,
)
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run, run_plan
from rankstudio.engine.experiment.storage.study import Study

PLAN = Plan("small", parameters={"regularization": (0.5, 1.0, 2.0)})


def interrupt(plan: Plan, study: Study, units: int, folds: int = 2) -> None:
    """Run until so many units are shown, and into the next one if there is one."""
    events = run_stored(plan, dataset(folds), study)
    shown = 0
    for event in events:
        shown += isinstance(event, UnitFinished)
        if shown == units and isinstance(event, StepDone | FoldFinished):
            break
    events.close()


def test_an_own_file_that_changed_is_noticed(path: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    ids = dataset().feature_ids.tolist()
    own.write_text("\n".join(["feature,importance", *(f"{i},{i}" for i in ids)]))
    plan = Plan("small", "fsmrank", {"importance": str(own), "max_iter": 10})
    with Study.create(path) as study:
        events = run_stored(plan, dataset(), study)
        next(event for event in events if isinstance(event, UnitFinished))
        events.close()
        (first,) = study.runs()
        study.check(first.key, dataset())
        own.write_text(own.read_text().replace("1,1", "1,9"))
        with pytest.raises(ChangedDataError, match=naming("own.csv importance 1")):
            study.check(first.key, dataset())
        changed = ended(run_stored(plan, dataset(), study))
        assert len(study.runs()) == 2
        assert_same(changed, run_plan(plan, dataset()))
        assert_same(ended(run_stored(plan, dataset(), study)), changed)
        assert len(study.runs()) == 2


def test_the_stream_is_that_of_any_run(path: Path) -> None:
    with Study.create(path) as study:
        stored = list(run_stored(PLAN, dataset(), study))
    plain = list(run(PLAN, dataset()))
    assert [type(e) for e in stored] == [type(e) for e in plain]
    assert isinstance(stored[-1], RunFinished)
    assert isinstance(plain[-1], RunFinished)
    assert_same(stored[-1].result, plain[-1].result)


def test_a_unit_is_stored_before_it_is_shown(path: Path) -> None:
    with Study.create(path) as study:
        shown = []
        for event in run_stored(PLAN, dataset(), study):
            (summary,) = study.runs() or [None]
            if isinstance(event, UnitFinished):
                shown.append((event.unit.fold, event.unit.position))
                assert list(study.finished_units(summary.key)) == shown
            if isinstance(event, FoldFinished):
                assert study.folds(summary.key)[-1].fold == event.result.fold
            if isinstance(event, RunFinished):
                assert summary.finished
                assert summary.seconds == event.result.seconds


@pytest.mark.parametrize("units", range(7))
def test_what_is_stored_is_told_without_steps_and_not_computed(
    path: Path, units: int
) -> None:
    undisturbed = run_plan(PLAN, dataset())
    with Study.create(path) as study:
        interrupt(PLAN, study, units)
    with Study.open(path) as study:
        events = list(run_stored(PLAN, dataset(), study))
        assert [s.n_finished for s in study.runs()] == [6]
    computed = {
        (e.unit.fold, e.unit.position) for e in events if isinstance(e, StepDone)
    }
    order = [(fold, position) for fold in (1, 2) for position in range(3)]
    assert computed == set(order[units:])
    assert [
        (e.unit.fold, e.unit.position) for e in events if isinstance(e, UnitFinished)
    ] == order
    counts = Counter(type(e) for e in events)
    assert counts[UnitStarted] == counts[UnitFinished] == 6
    assert counts[BaselineFound] == counts[FoldFinished] == 2
    assert counts[RunStarted] == counts[RunFinished] == 1
    result = events[-1]
    assert isinstance(result, RunFinished)
    assert_same(result.result, undisturbed)


def test_a_fold_that_is_not_stored_though_its_units_are_is_put_together_again(
    path: Path,
) -> None:
    with Study.create(path) as study:
        events = run_stored(PLAN, dataset(), study)
        while not (
            isinstance(event := next(events), UnitFinished) and event.unit.position == 2
        ):
            pass
        events.close()
        key = study.runs()[0].key
        assert (len(study.finished_units(key)), study.folds(key)) == (3, ())
        assert_same(
            ended(run_stored(PLAN, dataset(), study)), run_plan(PLAN, dataset())
        )


def test_a_finished_run_is_told_again_at_once(path: Path) -> None:
    with Study.create(path) as study:
        first = ended(run_stored(PLAN, dataset(), study))
        again = list(run_stored(PLAN, dataset(), study))
        assert not any(isinstance(e, StepDone) for e in again)
        assert isinstance(again[-1], RunFinished)
        assert_same(again[-1].result, first)
        assert again[-1].result.seconds == first.seconds
        assert len(study.runs()) == 1
        assert any(
            isinstance(e, StepDone)
            for e in run_stored(PLAN, dataset(), study, anew=True)
        )
        assert len(study.runs()) == 2


def test_the_seconds_of_all_parts_are_added_up(path: Path) -> None:
    with Study.create(path) as study:
        interrupt(PLAN, study, 2)
        key = study.runs()[0].key
        before = study.seconds(key)
        assert before > 0
        assert ended(run_stored(PLAN, dataset(), study)).seconds > before


def test_time_in_which_nobody_asks_is_not_counted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(resuming.time, "perf_counter", lambda: now)
    with Study.create(path) as study:
        for event in run_stored(PLAN, dataset(), study):
            now += 3600
            if isinstance(event, FoldFinished):
                assert study.seconds(study.runs()[0].key) == 0
        assert study.runs()[0].seconds == 0


def test_what_does_not_fit_leaves_no_run(path: Path) -> None:
    with Study.create(path) as study:
        with pytest.raises(PlanError, match="has no fold 3"):
            next(run_stored(PLAN.changed(folds=(3,)), dataset(), study))
        assert study.runs() == []


@every("plan", two_settings())
def test_every_method_goes_on_with_the_same_bits(path: Path, plan: Plan) -> None:
    undisturbed = run_plan(plan, dataset(1))
    with Study.create(path) as study:
        interrupt(plan, study, 1, folds=1)
        (before,) = study.runs()
        assert before.n_finished == 1
    with Study.open(path) as study:
        assert_same(ended(run_stored(plan, dataset(1), study)), undisturbed)
        (after,) = study.runs()
        assert after.n_finished == after.n_units
        assert_same(study.result(after.key), undisturbed)


@pytest.mark.parametrize("last", [UnitFinished, FoldFinished])
@pytest.mark.parametrize("rule", ["one-se", "smallest"])
def test_what_a_rule_of_queries_chose_of_a_boosting_is_kept(
    path: Path, last: type[UnitFinished | FoldFinished], rule: str
) -> None:
    """It is not the best model of its path, and a study keeps one of them that can score."""
    plan = Plan("small", method="rankboost", parameters={"n_rounds": 12}, rule=rule)
    undisturbed = run_plan(plan, dataset(2))
    chosen = [fold.chosen.step.number for fold in undisturbed.folds]
    best = [
        int(fold.paths[0].validation["MAP"].argmax()) + 1 for fold in undisturbed.folds
    ]
    assert chosen[0] != best[0], "the rule has something to do"
    with Study.create(path) as study:
        events = run_stored(plan, dataset(2), study)
        assert any(isinstance(event, last) for event in events)
        events.close()
    with Study.open(path) as study:
        assert_same(ended(run_stored(plan, dataset(2), study)), undisturbed)
    with Study.open(path) as study:
        kept = study.result(study.runs()[0].key)
    assert [fold.chosen.step.number for fold in kept.folds] == chosen
    for fold, same in zip(kept.folds, undisturbed.folds, strict=True):
        assert (
            fold.paths[0].p_values["MAP"].tobytes()
            == same.paths[0].p_values["MAP"].tobytes()
        )
    assert all(fold.chosen.step.whole and fold.test for fold in kept.folds)
