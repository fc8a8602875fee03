"""Sizes against the measure: curves over the folds, and the models that no other beats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from experiment.small import dataset

from rankstudio.engine.experiment.events import RunFinished
from rankstudio.engine.experiment.plan import Plan
from rankstudio.engine.experiment.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.sizes import size_curve, size_front


def ran(method: str = "greedy-rankrls", folds: int = 3, **plan) -> RunResult:
    parameters = {"regularization": (0.5, 8.0)}
    made = Plan("nowhere", method, parameters=parameters, measures=("MAP", "Disagreement"), **plan)
    last = list(run(made, dataset(folds)))[-1]
    assert isinstance(last, RunFinished)
    return last.result


def test_a_curve_has_the_best_setting_of_every_fold() -> None:
    result = ran()
    for name, better in (("MAP", np.max), ("Disagreement", np.min)):
        curve = size_curve(result, name)
        assert curve is not None
        assert curve.sizes.tolist() == [1, 2, 3, 4, 5, 6]
        best = better([[path.validation[name] for path in fold.paths] for fold in result.folds], axis=1)
        np.testing.assert_allclose(curve.means, best.mean(axis=0))
        np.testing.assert_allclose(curve.errors, best.std(axis=0, ddof=1) / np.sqrt(3))


def test_one_fold_has_no_error_and_all_features_are_one_size() -> None:
    curve = size_curve(ran("rankrls", folds=1), "MAP")
    assert curve is not None
    assert curve.sizes.tolist() == [6]
    assert np.isnan(curve.errors).all()


def test_the_front_is_what_no_model_of_any_run_beats() -> None:
    runs = [ran("rankrls"), ran(), ran("single-feature")]
    for name, sign in (("MAP", 1.0), ("Disagreement", -1.0)):
        curves = [size_curve(result, name) for result in runs]
        models = [
            (int(size), sign * float(mean), place)
            for place, c in enumerate(curves)
            for size, mean in zip(c.sizes, c.means, strict=True)
        ]
        expected = {
            (size, gain)
            for size, gain, _ in models
            if not any(s <= size and g >= gain and (s, g) != (size, gain) for s, g, _ in models)
        }
        front = size_front(runs, name)
        assert {(m.size, sign * m.mean) for m in front} == expected
        assert [m.size for m in front] == sorted(m.size for m in front)
        best = front[-1]
        (chosen,) = [m for m in front if m.chosen]
        assert sign * chosen.mean >= sign * best.mean - best.error - 1e-12
        assert all(sign * m.mean < sign * best.mean - best.error for m in front if m.size < chosen.size)


def test_without_a_validation_part_there_is_no_front() -> None:
    data = dataset(2)
    bare = replace(data, folds=tuple(replace(fold, vali=None) for fold in data.folds))
    plan = Plan("nowhere", parameters={"regularization": 1.0}, select_by="criterion")
    last = list(run(plan, bare))[-1]
    assert isinstance(last, RunFinished)
    assert size_curve(last.result, "MAP") is None
    assert size_front([last.result], "MAP") == ()
