"""What a plan says of the columns of tables: checked, written, told apart."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from rankstudio.cli import command_line
from rankstudio.cli.run_options import plan_from
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.as_code import as_command, as_python
from rankstudio.engine.experiment.plan.difference import differences
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import plan_as_dict, plan_as_toml, plan_from_dict

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
    words = shlex.split(as_command(plan))
    assert plan_from(command_line(("run",)).parse_args(words[1:])).columns == plan.columns
    assert "'session'" in as_python(plan)
    assert differences(plan, plan.changed(columns={})) == ("other columns",)


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
