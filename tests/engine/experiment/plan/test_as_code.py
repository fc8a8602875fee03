"""A plan as a command and as a program: both are run, and do what the plan says."""

from __future__ import annotations

import contextlib
import io
import shlex
from pathlib import Path

import pytest
from experiment.small import plan_of_command, plan_of_program
from hypothesis import given
from hypothesis import strategies as st
from letor_folder import save_folds

from rankstudio.cli import main
from rankstudio.engine.experiment.plan.as_code import as_command, as_python
from rankstudio.engine.experiment.plan.plan import CRITERION, SAMPLE, Plan
from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.methods.catalog import Kind, Method, methods


@pytest.fixture(scope="module")
def folds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "with blanks & more"
    return save_folds(
        folder,
        2,
        n_queries=30,
        n_informative=3,
        n_redundant=1,
        n_noise=1,
        n_constant=0,
        documents=(4, 8),
    )


ids = st.lists(st.integers(1, 46), unique=True, max_size=4).map(tuple)
numbers = st.floats(1e-6, 1e6)
plans = st.builds(
    lambda pinned, banned, grid, k, **rest: Plan(
        data=SAMPLE,
        parameters={
            "regularization": grid,
            "n_features_to_select": k,
            "pinned": pinned,
            "banned": tuple(i for i in banned if i not in pinned),
            "algorithm": "statistics",
        },
        **rest,
    ),
    pinned=ids,
    banned=ids,
    grid=st.lists(numbers, min_size=1, max_size=4).map(tuple),
    k=st.none() | st.integers(1, 46),
    select_by=st.sampled_from(["MAP", "NDCG@3", "Disagreement", CRITERION]),
    measures=st.lists(
        st.sampled_from(["MAP", "P@5", "NDCG@10"]), min_size=1, unique=True
    ).map(tuple),
    convention=st.sampled_from(["letor4", "letor3", "ranklib"]),
    folds=st.lists(st.integers(1, 5), unique=True).map(tuple),
    missing=st.sampled_from(["query_min", "zero", "refuse"]),
    normalize=st.sampled_from(["none", "query_minmax"]),
    protocol=st.sampled_from(["given", "10-fold", "split 60/20/20", "nested 20"]),
    rule=st.sampled_from(["best", "one-se", "at most 10"]),
)


@pytest.mark.parametrize("entry", methods(), ids=lambda entry: entry.key)
def test_defaults_are_left_out_but_for_the_grid(entry: Method) -> None:
    text = as_command(Plan(data="/data/MQ2008", method=entry.key))
    first = entry.parameters[0]
    grid = (
        [first.option, first.format(first.default)] if first.kind is Kind.GRID else []
    )
    words = [
        "rankstudio",
        "run",
        "--data",
        "/data/MQ2008",
        "--method",
        entry.key,
        *grid,
    ]
    # the convention is that of the data
    assert shlex.split(text) == [*words, "--select-by", "MAP"]
    stated = as_command(
        Plan(data="/data/MQ2008", method=entry.key, convention="letor4")
    )
    assert shlex.split(stated) == [
        *words,
        "--select-by",
        "MAP",
        "--convention",
        "letor4",
    ]
    if entry.key == "greedy-rankrls":
        assert "--lambda '2^0..2^10'" in text


two_stage_plans = st.builds(
    lambda grid, measure, **rest: Plan(
        data=SAMPLE,
        method="single-feature",
        parameters={"measure": measure, "n_features_to_select": 3},
        ranker_parameters=(
            {"C": grid, "loss": "hinge"}
            if rest["ranker"] == "ranksvm"
            else {"regularization": grid}
        ),
        **rest,
    ),
    grid=st.lists(numbers, min_size=1, max_size=4).map(tuple),
    measure=st.sampled_from(["MAP", "NDCG@10", "P@3"]),
    ranker=st.sampled_from(["ranksvm", "rankrls", "listnet"]),
    seed=st.integers(0, 100),
)


@given(plan=plans | two_stage_plans)
def test_command_and_program_say_the_whole_plan(plan: Plan) -> None:
    assert plan_of_command(plan) == plan_of_program(plan) == plan


def test_where_a_ranker_ranks_the_methods_own_grid_is_said_where_it_is_not_the_default() -> (
    None
):
    plan = Plan(
        data="/data/MQ2008",
        method="gas",
        ranker="ranksvm",
        ranker_parameters={"C": 0.5},
    )
    words = shlex.split(as_command(plan))
    assert "--lambda" not in words
    assert words[words.index("--ranker") :][:4] == [
        "--ranker",
        "ranksvm",
        "--ranker-C",
        "0.5",
    ]
    other = plan.changed(parameters={"regularization": (3.0,)})
    assert plan_of_command(other) == other


def test_the_command_runs(folds: Path, tmp_path: Path) -> None:
    plan = Plan(
        data=str(folds),
        parameters={"regularization": (1.0, 4.0), "pinned": (2,)},
        folds=(2,),
    )
    arguments = shlex.split(as_command(plan, out=str(tmp_path / "out")))[1:]
    assert main(arguments) == 0
    assert load_plan(tmp_path / "out" / "plan.toml") == plan.changed(
        convention="standard"
    )


def test_the_program_runs(folds: Path) -> None:
    plan = Plan(
        data=str(folds), parameters={"regularization": (1.0, 4.0), "banned": (1,)}
    )
    *_, finished = run(plan)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(as_python(plan), {})
    assert said.getvalue().splitlines()[-1] == str(finished.result.average)
