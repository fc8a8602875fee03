"""The final model of a run: trained on all queries with what the whole protocol chose."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data.splitting.splits import (
    every_query,
    k_fold,
    single_split,
    whole,
)
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import DatasetError, PlanError
from rankstudio.engine.experiment import refit as refit_module
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.refit import _step_nearer_length, refit, refit_steps
from rankstudio.engine.experiment.results.protocol_choice import (
    ProtocolChoice,
    choose_by_protocol,
)
from rankstudio.engine.experiment.runner import collect, run_plan
from rankstudio.engine.export.formats.registry import model_formats
from rankstudio.engine.export.models import load_model, save_model
from rankstudio.engine.export.score_function import score_function
from rankstudio.engine.methods.rankers.ranksvm import RankSVM
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Waiting, WorkProgress

MODEL_FORMATS = model_formats()


def dataset(folds: int = 3):
    """Folds whose test parts are everything, or one fold of three parts."""
    data = make_ranking(n_queries=24, seed=4)
    made = k_fold(data, folds) if folds > 1 else single_split(data, (60, 20, 20))
    return replace(made, divided_by="")


def finished(plan: Plan, folds: int = 3):
    return run_plan(plan, dataset(folds))


def test_the_final_model_is_the_one_that_the_estimator_learns_from_all_queries() -> (
    None
):
    plan = Plan("small", parameters={"regularization": (0.5, 2.0, 8.0)})
    result = finished(plan)
    model = refit(result, dataset(3))
    data = every_query(dataset(3))
    choice = choose_by_protocol(plan, result.folds)
    (value,) = choice.values
    direct = GreedyRankRLS(n_features_to_select=choice.length, regularization=value)
    direct.fit(data.X, data.y, qid=data.qid)
    assert model.parameters["regularization"] == value
    assert [f.id - 1 for f in model.features] == direct.selection_order_.tolist()
    expected = [direct.coef_[f.id - 1] for f in model.features]
    np.testing.assert_allclose([f.weight for f in model.features], expected, rtol=1e-9)
    assert model.origin["fold"] == "all"


def test_the_origin_says_what_was_trained_on_and_how_it_was_chosen_and_has_no_measure() -> (
    None
):
    plan = Plan("small", parameters={"regularization": (0.5, 2.0, 8.0)}, rule="one-se")
    result = finished(plan)
    origin = refit(result, dataset(3)).origin
    assert origin["trained on"]["queries"] == every_query(dataset(3)).n_queries == 24
    chosen = origin["chosen"]
    assert (
        chosen["rule"] == "one-se"
        and chosen["select_by"] == "MAP"
        and chosen["folds"] == [1, 2, 3]
    )
    choice = choose_by_protocol(plan, result.folds)
    assert (chosen["values"]["regularization"], chosen["n_features"]) == (
        *choice.values,
        choice.length,
    )
    assert "mean validation MAP over 3 folds" in chosen["how"]
    assert not {"train", "validation", "test"} & set(origin)


@pytest.mark.ability("exports")
@pytest.mark.ability("search_engines")
def test_a_file_of_the_final_model_says_how_it_was_chosen_in_each_format_with_room(
    tmp_path: Path,
) -> None:
    result = finished(Plan("small", parameters={"regularization": (0.5, 2.0)}))
    model = refit(result, dataset(3))
    save_model(tmp_path / "all.json", model)
    assert load_model(tmp_path / "all.json").origin == model.origin
    how = "best by mean validation MAP over 3 folds"
    function = score_function(model)
    for key in ("ranklib", "python", "c", "sql", "pmml", "vespa"):
        form = next(
            form for name, form in MODEL_FORMATS.items() if name.startswith(key)
        )
        assert how in form.files(function)[""].decode()


def test_a_line_on_a_model_names_each_chosen_value() -> None:
    plan = Plan(
        "small", "l1-path", ranker="ranksvm", ranker_parameters={"C": (0.1, 1.0)}
    )
    model = refit(finished(plan), dataset())
    about = score_function(model).about
    assert f"ranker.C {model.origin['chosen']['values']['ranker.C']}, chosen: " in about
    for broken in ("text", {"how": 3}, {"how": "x", "values": 3}):
        assert score_function(
            replace(model, origin={**model.origin, "chosen": broken})
        ).about


FEW = {"regularization": (0.5, 2.0)}


@pytest.mark.parametrize(
    "plan",
    [
        Plan("small", "rankboost", {"n_rounds": 6}),
        Plan("small", "lambdamart", {"n_rounds": 4, "min_data_in_leaf": 5}),
        Plan("small", "rfe"),
        Plan("small", "l1-path", ranker="ranksvm", ranker_parameters={"C": (0.1, 1.0)}),
        Plan(
            "small", parameters=FEW, protocol="leave-query-out", select_by="criterion"
        ),
        Plan("small", parameters=FEW, protocol="5-fold, nested 2-fold"),
    ],
    ids=lambda plan: f"{plan.title}, {plan.protocol}",
)
def test_any_run_has_a_model_of_all_documents(plan: Plan) -> None:
    model = refit(finished(plan, 1), dataset(1))
    assert np.ptp(model.predict(whole(dataset(1)).X)) > 0


def test_of_an_optimiser_the_last_iteration_is_the_model() -> None:
    model = refit(finished(Plan("small", "ranksvm", {"C": 0.1})), dataset(3))
    data = whole(dataset(3))
    direct = RankSVM(C=0.1).fit(data.X, data.y, qid=data.qid)
    np.testing.assert_allclose(
        [f.weight for f in model.features], direct.coef_, rtol=1e-9
    )


def test_a_run_that_is_not_finished_has_no_final_model() -> None:
    result = finished(Plan("small"))
    for folds in ((), result.folds[:2]):
        with pytest.raises(PlanError):
            refit(collect(result.plan, dataset(), folds, 0.0), dataset())


def test_other_data_than_those_of_the_run_are_refused() -> None:
    result = finished(Plan("small"))
    other = dataset(1)
    names = tuple(f"x{name}" for name in other.feature_names)
    fold = other.folds[0]
    renamed = fold.train.changed(feature_names=names)
    other = replace(other, folds=(replace(fold, train=renamed),))
    with pytest.raises(DatasetError):
        refit(result, other)


def test_a_path_is_followed_no_farther_than_to_the_chosen_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = finished(Plan("small", rule="at most 2"))
    sizes: list[int] = []
    for event in refit_steps(result, dataset()):
        assert 0.0 <= event.share <= 1.0
        sizes.append(round(event.share * 100))
    model = refit(result, dataset())
    assert len(model.features) <= 2 and sizes[-1] == 100


def test_boosting_stays_within_the_features_that_its_rule_allows() -> None:
    plan = Plan("small", "rankboost", {"n_rounds": 12}, rule="at most 2")
    assert len(refit(finished(plan), dataset()).features) <= 2


def test_a_model_with_more_features_than_its_rule_allows_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def trained(*_: object, **__: object) -> Waiting[Step]:
        yield WorkProgress("training", 0.0)
        return step(1, 3)

    result = finished(Plan("small", rule="at most 2"))
    monkeypatch.setattr(refit_module, "_learn_model", trained)
    with pytest.raises(PlanError, match=naming("rule 3 2")):
        refit(result, dataset())


def step(number: int, size: int) -> Step:
    return Step(number, tuple(range(size)), np.zeros(9), 0.0, np.empty(0))


@pytest.mark.parametrize(
    ("sizes", "length", "number"),
    [
        ((1, 2, 3), 2, 2),
        ((1, 2, 3, 2, 3, 4), 2, 4),
        ((2, 4), 3, 1),
        ((4, 3), 2, 2),
        ((1, 2), 5, 2),
    ],
)
def test_the_last_model_of_the_chosen_size_or_the_nearest_below_is_taken(
    sizes: tuple[int, ...], length: int, number: int
) -> None:
    plan, choice = Plan("small"), ProtocolChoice((), length, (1,))
    steps = [step(n, size) for n, size in enumerate(sizes, start=1)]
    assert (
        reduce(
            lambda best, later: _step_nearer_length(plan, choice, best, later), steps
        ).number
        == number
    )
