"""Groups of features in a plan: honoured, or refused in one sentence; kept in files and told in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiment.small import dataset, quick
from wording import naming

from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.as_code import as_command
from rankstudio.engine.experiment.plan.difference import differences, distinctions
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import (
    load_plan,
    plan_as_dict,
    plan_from_dict,
    save_plan,
)
from rankstudio.engine.experiment.reports import features_table
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.steps import Step

DATA = dataset(2)
GROUPS = {"late": (4, 6), "early": (1, 3)}


def result_of(plan: Plan) -> RunResult:
    return next(e.result for e in run(plan, DATA) if isinstance(e, RunFinished))


def steps_of(plan: Plan) -> list[Step]:
    return [
        step
        for fold in result_of(plan).folds
        for path in fold.paths
        for step in path.steps
    ]


def small(entry: Method, **others: object) -> Plan:
    """A plan for small data, all features selected."""
    parameters = {k: v for k, v in quick(entry).items() if k != "n_features_to_select"}
    return Plan(
        "small", entry.key, parameters, select_by="criterion", groups=GROUPS, **others
    )


@pytest.mark.parametrize("entry", methods(), ids=lambda m: m.key)
def test_a_method_honours_groups_or_refuses_them(entry: Method) -> None:
    plan = small(entry)
    if not entry.groups:
        assert entry.group_rule == ""
        with pytest.raises(PlanError, match=naming(f"{entry.label} 2")):
            next(run(plan, DATA))
        return
    if not entry.selects:
        assert all(step.selected == tuple(range(6)) for step in steps_of(plan))
        return
    assert naming("group features").search(entry.group_rule)
    ranked_by_few = plan.changed(ranker="rankboost", ranker_parameters={"n_rounds": 1})
    ranked_by_all = plan.changed(
        ranker="rankrls", ranker_parameters={"regularization": 1.0}
    )
    for ranked in (plan, ranked_by_all, ranked_by_few):
        for path in (path for fold in result_of(ranked).folds for path in fold.paths):
            assert [step.number for step in path.steps] == [1, 2, 3]
            for step in path.steps:
                ids = {column + 1 for column in step.selected}
                assert all(
                    set(group) <= ids or not set(group) & ids
                    for group in GROUPS.values()
                )


def test_a_ranker_has_all_features_and_so_every_group() -> None:
    plain = Plan("small", "rankrls", {"regularization": 1.0})
    grouped = plain.changed(groups=GROUPS)
    assert result_of(grouped).average == result_of(plain).average


@pytest.mark.parametrize("method", ["greedy-rankrls", "rankrls", "rankboost"])
def test_a_group_of_features_that_the_data_do_not_have_is_named(method: str) -> None:
    with pytest.raises(ParameterError, match=naming("far 1 6")):
        next(run(Plan("small", method, groups={"far": (7,)}), DATA))


def test_groups_are_kept_in_files_and_told_in_words(tmp_path: Path) -> None:
    plain = Plan("small")
    plan = plain.changed(groups=GROUPS)
    assert list(feature_groups_of(plan)) == ["early", "late"]
    assert "groups" not in plan_as_dict(plain)
    assert plan_from_dict(plan_as_dict(plan)) == plan
    save_plan(plan, tmp_path / "plan.toml")
    assert load_plan(tmp_path / "plan.toml") == plan
    (tmp_path / "own.toml").write_text(
        'data = "small"\ngroups = "late: 4, 6; early: 1 3"\n'
    )
    assert load_plan(tmp_path / "own.toml") == plan
    assert "--groups 'early: 1, 3; late: 4, 6'" in as_command(plan)
    assert differences(plan, plain) == ("groups: early (2), late (2)",)
    assert differences(plain, plan) == ("groups: none",)
    assert distinctions({1: plan, 2: plain})[1] == "groups early (2), late (2)"


def test_the_table_of_the_path_names_groups_where_there_are_some() -> None:
    plan = Plan("small", parameters={"regularization": 1.0})
    assert "group" not in features_table(result_of(plan))[0]
    header, rows = features_table(result_of(plan.changed(groups=GROUPS)))
    assert header[-1] == "group"
    assert {row[2]: row[-1] for row in rows} == {
        1: "early",
        3: "early",
        4: "late",
        5: "",
        6: "late",
    }
