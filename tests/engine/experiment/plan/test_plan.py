"""Plans: canonical form, TOML there and back, errors that name the field, how far their paths reach."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiment.small import plan_of_command, plan_of_program
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.errors import (
    FileAccessError,
    OutputError,
    ParameterError,
    PlanError,
)
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.difference import differences
from rankstudio.engine.experiment.plan.plan import Plan, has_map, longest_path, n_steps
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.plan.toml import (
    load_plan,
    plan_as_dict,
    plan_as_toml,
    plan_from_dict,
    save_plan,
    with_data_beside,
)
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.methods.catalog.method import StepKind


def test_what_is_left_out_has_its_default_and_grids_are_sorted_numbers() -> None:
    plan = Plan("data", parameters={"regularization": "4, 1, 2^1, 1"})
    assert plan.parameters["regularization"] == (1.0, 2.0, 4.0)
    assert plan.parameters["pinned"] == ()
    assert [s.parameters["regularization"] for s in plan.combinations] == [
        1.0,
        2.0,
        4.0,
    ]
    assert [s.values for s in plan.combinations] == [(1.0,), (2.0,), (4.0,)]


@given(
    st.lists(st.floats(2**-30, 2**30), min_size=1, max_size=5),
    st.lists(st.integers(1, 200), unique=True, max_size=4),
    st.one_of(st.none(), st.integers(1, 100)),
    st.text(
        st.characters(
            codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]
        ),
        min_size=1,
    ),
)
def test_a_plan_comes_back_from_its_values_as_it_was(grid, pins, k, data) -> None:
    plan = Plan(
        data,
        parameters={
            "regularization": tuple(grid),
            "pinned": pins,
            "n_features_to_select": k,
        },
    )
    assert plan_from_dict(plan_as_dict(plan)) == plan
    assert pickle.loads(pickle.dumps(plan)) == plan


def assert_comes_back(plan: Plan, folder: Path) -> None:
    """From a file, from JSON and from another process, and as the same key."""
    save_plan(plan, folder / "plan.toml")
    for copy in (
        load_plan(folder / "plan.toml"),
        plan_from_dict(json.loads(json.dumps(plan_as_dict(plan)))),
        pickle.loads(pickle.dumps(plan)),
    ):
        assert copy == plan
        assert {plan: "a key"}[copy] == "a key"
    assert [pickle.loads(pickle.dumps(s)) for s in plan.combinations] == list(
        plan.combinations
    )


def test_a_plan_comes_back_from_a_file_bit_for_bit(tmp_path: Path) -> None:
    values = {"regularization": (0.1, 1 / 3, 2.0**-15)}
    assert_comes_back(
        Plan('a "quoted" folder\\ü', parameters=values, folds=(2, 1)), tmp_path
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("data = 1 2", "TOML"),
        ("method = 'rankrls'", "data"),
        ("data = 'x'\nlambda = 3", "lambda"),
        ("data = 'x'\nmethod = 'magic'", "magic methods"),
        ("data = 'x'\n[parameters]\nC = 3", "Greedy RankRLS C"),
        ("data = 'x'\nmissing = 'drop'", "missing query_min drop"),
        ("data = 'x'\n[parameters]\nregularization = [-1.0]", "plan.toml λ 0"),
        ("data = 'x'\nselect_by = 'MAPS'", "MAPS"),
        ("data = 'x'\nconvention = 'mine'", "mine"),
        ("data = 'x'\nfolds = 'all'", "folds"),
        ("data = 3", "data 3"),
        ("data = 'x'\n[convention]\na = 1", "convention"),
        ("data = 'x'\nparameters = ['a']", "parameters"),
        ("data = 'x'\nmeasures = 'MAP'", "measures"),
        ("data = 'x'\nmeasures = []", "measures"),
        ("data = 'x'\nfolds = [true]", "folds"),
        ("data = 'x'\nseed = 'one'", "seed 0"),
        ("data = 'x'\n[parameters]\nalgorithm = ['magic']", "algorithm"),
        ("data = 'x'\n[parameters]\npinned = [1.5]", "pinned"),
        ("data = 'x'\nprotocol = 5", "protocol 5"),
        ("data = 'x'\nrule = ['best']", "rule"),
        (
            "data = 'x'\nprotocol = '1-fold'",
            "plan.toml given 5-fold 2 leave-query-out split 60/20/20 nested 4-fold 1-fold",
        ),
        ("data = 'x'\nprotocol = 'nested 100'", "protocol"),
        ("data = 'x'\nprotocol = 'split 60/20'", "protocol"),
        ("data = 'x'\nprotocol = 'split 60/20/10'", "protocol 100"),
        ("data = 'x'\nprotocol = 'split 80/20/0'", "0 test"),
        ("data = 'x'\nrule = 'at most 0'", "rule best one-se at 10"),
        (
            "data = 'x'\nmethod = 'fsmrank'\nparameters = { lambda1 = '1..999', lambda2 = '1..999' }",
            "λ1 λ2 100000 998001",
        ),
        ("data = 'x'\npreferences = 3", "preferences SHA-256 3"),
        ("data = 'x'\n[preferences]\nchecksum = 'a'", "preferences"),
        ("data = 'x'\n[preferences]\npath = 3", "preferences"),
        ("data = 'x'\nranker = 3", "ranker 3"),
        ("data = 'x'\nranker = 'magic'", "magic"),
        ("data = 'x'\nranker = 'gas'", "ranker rankrls ranksvm"),
        (
            "data = 'x'\nmethod = 'ranksvm'\nranker = 'rankrls'",
            "ranker RankSVM rankrls",
        ),
        ("data = 'x'\n[ranker_parameters]\nC = 3", "ranker_parameters C 3"),
        ("data = 'x'\nranker_parameters = 3", "ranker_parameters 3"),
        (
            "data = 'x'\nranker = 'ranksvm'\n[ranker_parameters]\nregularization = 3",
            "RankSVM regularization C",
        ),
        ("data = 'x'\nranker = 'ranksvm'\n[ranker_parameters]\nC = -1", "plan.toml 0"),
    ],
)
def test_a_file_that_is_no_plan_is_refused_with_a_sentence(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        load_plan(path)
    assert naming(message).search(str(caught.value))


def test_measures_and_folds_named_twice_count_once() -> None:
    plan = Plan("x", measures=("MAP", "NDCG@10", "map"), folds=(2, 1, 2))
    assert (plan.measures, plan.folds) == (("MAP", "NDCG@10"), (2, 1))


def test_a_missing_plan_and_a_folder_that_is_not_there_are_named(
    tmp_path: Path,
) -> None:
    with pytest.raises(PlanError, match=naming("none.toml")):
        load_plan(tmp_path / "none.toml")
    with pytest.raises(OutputError, match=naming("plan.toml")):
        save_plan(Plan("x"), tmp_path / "nowhere" / "plan.toml")


def test_data_with_a_name_that_no_file_can_have_are_not_there(tmp_path: Path) -> None:
    plan = Plan("x" * 5000)
    assert with_data_beside(plan, tmp_path / "plan.toml") == plan
    with pytest.raises(FileAccessError, match="File name too long"):
        open_data(plan)


JUDGED = Plan(
    "x",
    "gas",
    {"n_features_to_select": 3, "regularization": (1.0, 2.0)},
    ranker="ranksvm",
    ranker_parameters={"C": "1, 0.25", "loss": "hinge"},
)


def test_a_plan_with_a_ranker_comes_back_from_a_file_and_from_another_process(
    tmp_path: Path,
) -> None:
    assert_comes_back(JUDGED, tmp_path)
    assert (JUDGED.ranker_parameters["C"], JUDGED.ranker_parameters["loss"]) == (
        (0.25, 1.0),
        "hinge",
    )
    assert len(set(JUDGED.combinations)) == len(JUDGED.combinations)
    assert "ranker" not in plan_as_dict(Plan("x"))


def test_a_plan_says_who_selects_and_who_ranks() -> None:
    assert Plan("x").title == "Greedy RankRLS"
    assert JUDGED.title == "GAS, then RankSVM"
    assert JUDGED.criterion == "objective"
    # However the ranker learns: a path of selected features is drawn over their number.
    assert JUDGED.step_kind is StepKind.FEATURES
    assert Plan("x", "fsmrank", ranker="rankboost").step_kind is StepKind.FEATURES
    assert Plan("x", "fsmrank").step_kind is StepKind.ITERATIONS


def test_a_path_follows_the_slider_where_selector_and_ranker_both_are_fast() -> None:
    assert Plan("x", "l1-path", ranker="rankrls").live
    assert not Plan("x", "l1-path", ranker="ranksvm").live
    assert not Plan("x", "fs-bfs", ranker="rankrls").live


def test_axes_are_the_grids_in_the_order_of_the_form_and_the_last_one_runs_fastest() -> (
    None
):
    plan = Plan("x", "fsmrank", {"lambda1": "1, 0.5", "lambda2": "0.001, 0.01"})
    assert [(axis.name, axis.label, axis.values) for axis in plan.axes] == [
        ("lambda1", "λ1", (0.5, 1.0)),
        ("lambda2", "λ2", (0.001, 0.01)),
    ]
    assert [s.values for s in plan.combinations] == [
        (0.5, 0.001),
        (0.5, 0.01),
        (1.0, 0.001),
        (1.0, 0.01),
    ]
    for setting in plan.combinations:
        assert (
            setting.parameters["lambda1"],
            setting.parameters["lambda2"],
        ) == setting.values
        assert dict(setting.ranker) == {}
    assert Plan("x", "rankboost").axes == ()
    assert [s.values for s in Plan("x", "rankboost").combinations] == [()]


def test_a_ranker_adds_its_grids_and_takes_away_those_that_only_rank() -> None:
    assert [
        axis.name for axis in JUDGED.changed(ranker="", ranker_parameters={}).axes
    ] == ["regularization"]
    assert [(a.name, a.label, a.ranker, a.values) for a in JUDGED.axes] == [
        ("ranker.C", "RankSVM C", "RankSVM", (0.25, 1.0)),
    ]
    assert [
        (s.values, s.ranker["C"], s.ranker["loss"]) for s in JUDGED.combinations
    ] == [
        ((0.25,), 0.25, "hinge"),
        ((1.0,), 1.0, "hinge"),
    ]
    # λ is not tried, but every setting has a value of it: the selector is made with it.
    assert {s.parameters["regularization"] for s in JUDGED.combinations} == {1.0}
    plan = Plan("x", "rfe", {"regularization": (1.0, 2.0)}, ranker="rankrls", ranker_parameters={
        "regularization": (4.0, 8.0)})  # fmt: skip
    assert [axis.label for axis in plan.axes] == ["λ", "RankRLS λ"]
    assert [s.values for s in plan.combinations] == [
        (1.0, 4.0),
        (1.0, 8.0),
        (2.0, 4.0),
        (2.0, 8.0),
    ]
    assert [
        (s.parameters["regularization"], s.ranker["regularization"])
        for s in plan.combinations
    ] == [s.values for s in plan.combinations]


def test_a_setting_between_the_grids_values_can_be_asked_for() -> None:
    setting = JUDGED.combination((0.7,))
    assert (setting.values, setting.ranker["C"]) == ((0.7,), 0.7)
    assert setting.parameters["n_features_to_select"] == 3
    with pytest.raises(ValueError, match="zip"):
        JUDGED.combination((0.7, 1.0))


def test_settings_and_units_go_to_other_processes() -> None:
    unit = Unit(2, 1, JUDGED.combinations[1])
    copied_unit = pickle.loads(pickle.dumps(unit))
    assert copied_unit == unit
    assert copied_unit.values == (1.0,)
    assert copied_unit.parameters == unit.parameters
    with pytest.raises(TypeError):
        copied_unit.parameters["c"] = 3


@pytest.mark.parametrize(
    ("field", "written", "kept"),
    [
        ("protocol", " Given ", "given"),
        ("protocol", "10 folds", "10-fold"),
        ("protocol", "5-FOLD", "5-fold"),
        ("protocol", "split 80 / 0 / 20", "split 80/0/20"),
        ("protocol", "nested 20 %", "nested 20"),
        ("rule", "One-SE", "one-se"),
        ("rule", "at  most 10 features", "at most 10"),
    ],
)
def test_protocol_and_rule_are_kept_in_one_spelling_and_come_back(
    tmp_path: Path, field: str, written: str, kept: str
) -> None:
    plan = Plan("x", **{field: written})
    assert getattr(plan, field) == kept
    assert Plan("x", **{field: kept}) == plan
    assert_comes_back(plan, tmp_path)


def test_a_plan_written_before_there_were_protocols_is_on_the_given_folds() -> None:
    plan = plan_from_dict({"data": "x"})
    assert (plan.protocol, plan.rule) == ("given", "best")


SEVERAL = Plan(
    "x",
    "rfe",
    {"n_features_to_select": (3, None), "regularization": (1.0, 2.0)},
    ranker="ranksvm",
    ranker_parameters={"C": 1.0, "loss": ["hinge", "squared_hinge"]},
)


def test_whatever_has_several_values_is_an_axis_in_the_order_of_the_form() -> None:
    assert [(axis.name, axis.label, axis.values) for axis in SEVERAL.axes] == [
        ("regularization", "λ", (1.0, 2.0)),
        ("n_features_to_select", "features k", (3, None)),
        ("ranker.C", "RankSVM C", (1.0,)),
        ("ranker.loss", "RankSVM loss", ("hinge", "squared_hinge")),
    ]
    first, second, third = SEVERAL.combinations[:3]
    assert first.values == (1.0, 3, 1.0, "hinge")
    assert (first.ranker["loss"], second.ranker["loss"]) == ("hinge", "squared_hinge")
    assert third.parameters["n_features_to_select"] is None
    labels = [
        axis.format(v) for axis, v in zip(SEVERAL.axes, third.values, strict=True)
    ]
    assert labels == ["2^0", "all", "2^0", "hinge"]
    assert (
        len({s.values for s in SEVERAL.combinations}) == len(SEVERAL.combinations) == 8
    )


def test_an_axis_takes_what_is_listed_and_a_grid_any_number() -> None:
    grid, size, _, loss = SEVERAL.axes
    assert grid.allows(1.5)
    assert size.allows(None)
    assert not size.allows(4)
    assert loss.allows("hinge")
    assert not loss.allows(1.0)
    assert not grid.allows("hinge")


def test_what_only_ranks_is_no_axis_beside_a_ranker() -> None:
    plan = Plan(
        "x",
        "gas",
        {"regularization": (1.0, 2.0)},
        ranker="ranksvm",
        ranker_parameters={"C": 1.0},
    )
    assert [axis.name for axis in plan.axes] == ["ranker.C"]
    assert plan.combinations[0].parameters["regularization"] == 1.0


def test_a_plan_with_several_values_comes_back_from_a_file_from_json_and_from_another_process(
    tmp_path: Path,
) -> None:
    parameters = {
        "pinned": [[3], []],
        "costs": [[[1, 2.0]], []],
        "n_features_to_select": "2, all",
    }
    for plan in (SEVERAL, Plan("x", parameters=parameters)):
        assert_comes_back(plan, tmp_path)
    assert plan_as_dict(SEVERAL)["parameters"]["n_features_to_select"] == [3, "all"]


def test_one_value_in_a_list_is_that_value() -> None:
    assert Plan(
        "x", parameters={"n_features_to_select": [3], "algorithm": ["auto"]}
    ) == Plan("x", parameters={"n_features_to_select": 3})


def test_what_does_not_count_with_the_other_parameters_is_no_axis() -> None:
    plan = Plan(
        "x", parameters={"regularization": [1.0], "cost": "unit", "ties": ["yes", "no"]}
    )
    assert [axis.name for axis in plan.axes] == ["regularization"]
    two_costs = plan.changed(
        parameters={**plan.parameters, "cost": ["unit", "magnitude"]}
    )
    assert [axis.name for axis in two_costs.axes] == ["regularization", "cost", "ties"]
    ranked = Plan(
        "x",
        "gas",
        ranker="rankrls",
        ranker_parameters={"cost": "unit", "ties": ["yes", "no"]},
    )
    assert "ranker.ties" not in [axis.name for axis in ranked.axes]


def test_preferences_come_back_from_a_file_with_their_path_beside_it(
    tmp_path: Path,
) -> None:
    plan = Plan("x", preferences={"path": "some.csv", "checksum": "ab"})
    assert_comes_back(plan, tmp_path)
    (tmp_path / "some.csv").write_text("7,1,2\n", encoding="utf-8")
    moved_plan = with_data_beside(plan, tmp_path / "plan.toml")
    assert preferences_of(moved_plan) == {
        "path": str(tmp_path / "some.csv"),
        "checksum": "ab",
    }


TOLD = {
    "qid": "session",
    "label": "it's clicked",
    "features": ["a b", 'c, "d"'],
    "ids_from": 0,
    "part": "when",
}


def test_a_plan_without_columns_is_written_as_before() -> None:
    assert "columns" not in plan_as_toml(Plan("some.txt"))
    assert Plan("some.txt").columns == {}


def test_columns_come_back_from_toml_command_and_program() -> None:
    plan = Plan("/some/clicks.csv", columns=TOLD)
    assert plan_from_dict(plan_as_dict(plan)) == plan
    assert plan_from_dict(plan_as_dict(plan)).columns["features"] == ("a b", 'c, "d"')
    assert plan_of_command(plan).columns == plan.columns
    assert plan_of_program(plan) == plan
    assert differences(plan, plan.changed(columns={})) == ("other columns",)


def test_costs_are_named_as_there_others_or_none() -> None:
    costs: list[dict[str, Any]] = [
        {},
        *({"documents": 10, "features": [[1, ms, 0.0]]} for ms in (1, 2)),
    ]
    without, one, two = (Plan("some.txt", costs=told) for told in costs)
    assert differences(one, without) == ("with costs of features",)
    assert differences(without, one) == ("without costs of features",)
    assert differences(two, one) == ("other costs of features",)


def test_columns_are_told_as_a_list_or_as_one_text() -> None:
    assert DataColumns.of(TOLD) and not DataColumns.of({})
    assert DataColumns.of({"ignore": "a, b"}).ignore == ("a", "b")


@pytest.mark.parametrize(
    "columns",
    [
        3,
        "qid",
        {"query": "a"},
        {"qid": 3},
        {"ignore": [3]},
        {"ignore": [""]},
        {"ids_from": 2},
        {"ids_from": True},
        {"qid": "a", "label": "a"},
        {"features": ["a", "a"]},
    ],
)
def test_what_names_no_columns_is_refused(columns: Any) -> None:
    with pytest.raises(ParameterError, match="columns: expected"):
        Plan("some.csv", columns=columns)


@pytest.mark.parametrize(
    ("method", "parameters", "longest", "mapped"),
    [
        ("greedy-rankrls", {"regularization": "1, 2"}, 46, True),
        (
            "greedy-rankrls",
            {"regularization": "1, 2", "n_features_to_select": 10},
            10,
            True,
        ),
        ("gas", {}, 46, True),
        ("rankrls", {"regularization": "1, 2"}, 1, False),
        ("adarank", {"n_rounds": 30}, 30, False),
    ],
)
def test_a_path_reaches_as_far_as_its_method_goes(
    method: str, parameters: dict[str, object], longest: int, mapped: bool
) -> None:
    plan = Plan("data", method, parameters)
    assert (longest_path(plan, 46), has_map(plan)) == (longest, mapped)


def test_a_group_is_one_step_of_several_features() -> None:
    plan = Plan(
        "data", parameters={"n_features_to_select": 2}, groups={"fields": (1, 2, 3)}
    )
    assert longest_path(plan, 46) == 4


def test_a_banned_feature_that_is_pinned_is_named_by_its_id() -> None:
    """Catches the column, which counts from 0."""
    ids = np.arange(1, 7)
    for banned, groups in ((6, {}), (5, {"title": (2, 5)})):
        plan = Plan(
            "x", parameters={"pinned": (2, 6), "banned": (banned,)}, groups=groups
        )
        with pytest.raises(ParameterError, match=naming(f"banned {banned} pinned")):
            n_steps(plan, ids)


def test_an_empty_number_that_is_no_default_is_kept() -> None:
    plan = Plan("sample", "kernel-rankrls", {"n_basis": None})
    assert plan.parameters["n_basis"] is None
    assert plan_from_dict(plan_as_dict(plan)) == plan
