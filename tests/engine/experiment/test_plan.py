"""Plans: canonical form, TOML there and back, errors that name the field."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.errors import OutputError, PlanError
from rankstudio.engine.experiment.plan import Plan, load_plan, plan_as_dict, plan_from_dict, save_plan


def test_what_is_left_out_has_its_default_and_grids_are_sorted_numbers() -> None:
    plan = Plan("data", parameters={"regularization": "4, 1, 2^1, 1"})
    assert plan.parameters["regularization"] == (1.0, 2.0, 4.0)
    assert plan.parameters["pinned"] == ()
    assert [s["regularization"] for s in plan.settings] == [1.0, 2.0, 4.0]


@given(
    st.lists(st.floats(2**-30, 2**30), min_size=1, max_size=5),
    st.lists(st.integers(1, 200), unique=True, max_size=4),
    st.one_of(st.none(), st.integers(1, 100)),
    st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), min_size=1),
)
def test_a_plan_comes_back_from_its_values_as_it_was(grid, pins, k, data) -> None:
    plan = Plan(data, parameters={"regularization": tuple(grid), "pinned": pins, "n_features_to_select": k})
    assert plan_from_dict(plan_as_dict(plan)) == plan
    assert pickle.loads(pickle.dumps(plan)) == plan


def test_a_plan_comes_back_from_a_file_bit_for_bit(tmp_path: Path) -> None:
    plan = Plan('a "quoted" folder\\ü', parameters={"regularization": (0.1, 1 / 3, 2.0**-15)}, folds=(2, 1))
    save_plan(plan, tmp_path / "plan.toml")
    assert load_plan(tmp_path / "plan.toml") == plan


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("data = 1 2", PlanError, "this is not a plan in TOML"),
        ("method = 'rankrls'", PlanError, "does not say which data"),
        ("data = 'x'\nlambda = 3", PlanError, "A plan has no field 'lambda'"),
        (
            "data = 'x'\nmethod = 'magic'",
            PlanError,
            "There is no method 'magic'; the catalog has greedy-rankrls",
        ),
        (
            "data = 'x'\n[parameters]\nC = 3",
            PlanError,
            "Greedy RankRLS has no parameter 'C'; it has regularization",
        ),
        (
            "data = 'x'\nmissing = 'drop'",
            PlanError,
            "missing: expected one of query_min, zero, refuse, got 'drop'",
        ),
        (
            "data = 'x'\n[parameters]\nregularization = [-1.0]",
            PlanError,
            "plan.toml: λ: expected numbers greater than 0",
        ),
        ("data = 'x'\nselect_by = 'MAPS'", PlanError, "MAPS"),
        ("data = 'x'\nconvention = 'mine'", PlanError, "mine"),
        ("data = 'x'\nfolds = 'all'", PlanError, "folds"),
        ("data = 3", PlanError, "data: expected a text, got 3"),
        ("data = 'x'\n[convention]\na = 1", PlanError, "convention: expected a text"),
        ("data = 'x'\nparameters = ['a']", PlanError, "parameters: expected a table"),
        ("data = 'x'\nmeasures = 'MAP'", PlanError, "measures: expected a list of names"),
        ("data = 'x'\nmeasures = []", PlanError, "measures: expected a list of names"),
        ("data = 'x'\nfolds = [true]", PlanError, "folds: expected a list of numbers"),
        ("data = 'x'\nseed = 'one'", PlanError, "seed: expected a whole number from 0 up"),
        ("data = 'x'\n[parameters]\nalgorithm = ['auto']", PlanError, "algorithm: expected one of"),
        ("data = 'x'\n[parameters]\npinned = [1.5]", PlanError, "pinned: expected feature ids"),
    ],
)
def test_a_file_that_is_no_plan_is_refused_with_a_sentence(tmp_path: Path, text, error, message) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(error) as caught:
        load_plan(path)
    assert message in str(caught.value)


def test_measures_and_folds_named_twice_count_once() -> None:
    plan = Plan("x", measures=("MAP", "NDCG@10", "map"), folds=(2, 1, 2))
    assert (plan.measures, plan.folds) == (("MAP", "NDCG@10"), (2, 1))


def test_a_missing_plan_and_a_folder_that_is_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"none\.toml: the plan cannot be read: No such file"):
        load_plan(tmp_path / "none.toml")
    with pytest.raises(OutputError, match=r"plan\.toml could not be written: No such file"):
        save_plan(Plan("x"), tmp_path / "nowhere" / "plan.toml")
