"""A permutation test as a command and as a program: both find the same bits again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from rankstudio.cli import main
from rankstudio.engine.analysis.permutation.as_code import permutation_as_command, permutation_as_python
from rankstudio.engine.analysis.permutation.criterion_band import band_steps, single_plan
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.runner import open_data


@pytest.fixture
def data(tmp_path: Path) -> str:
    """A file of documents, in a folder with a space in its name."""
    place = tmp_path / "my data" / "all.txt"
    place.parent.mkdir()
    save_letor(make_ranking(20, n_informative=3, n_noise=3, documents=(4, 9)).folds[0].train, place)
    return str(place)


GREEDY: dict[str, Any] = {
    "method": "greedy-rankrls",
    "parameters": {
        "regularization": (2.0**-15 / 3,),
        "n_features_to_select": 4,
        "cost": "unit",
        "weighting": "pairs",
        "pinned": (3,),
        "banned": (1, 6),
        "costs": ((2, 1.5),),
    },
}
OTHERS: dict[str, Any] = {
    "missing": "zero",
    "normalize": "query_minmax",
    "protocol": "10-fold",
    "seed": 7,
}


@pytest.mark.parametrize(
    "told",
    [
        {"method": "rankrls", "parameters": {"regularization": (0.1, 0.7)}},
        {**GREEDY, **OTHERS},
        {"parameters": {"regularization": (0.3,)}, "groups": {"all pairs": (1, 4), "b": (2,)}, **OTHERS},
        {"method": "ranksvm", "parameters": {"C": (3.0,), "kernel": "rbf", "gamma": (0.5,), "n_basis": 5}},
    ],
)
def test_command_and_program_find_the_same_bits(
    data: str, told: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    plan = Plan(data, **told)
    single = single_plan(plan, plan.combinations[-1].parameters, 1)
    *_, band = band_steps(single, open_data(single), 17)
    found = json.loads(json.dumps(band.as_dict()))
    assert found["permutations"] == 17
    words = shlex.split(permutation_as_command(single, 17))
    assert words[:2] == ["rankstudio", "permute"]
    assert main([*words[1:], "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert [{name: step[name] for name in found["steps"][0]} for step in again["steps"]] == found["steps"]
    assert again["seed"] == single.seed and again["fold"] == 1
    program = permutation_as_python(single, 17, {"RankStudio": "5"})
    assert program.startswith("# The same bits, on the same data, with RankStudio 5.\n")
    exec(compile(program, "again.py", "exec"), {"__name__": "__main__"})
    assert json.loads(capsys.readouterr().out) == found


def test_the_sample_has_no_place() -> None:
    plan = Plan(SAMPLE, parameters={"n_features_to_select": 2})
    command = permutation_as_command(single_plan(plan, plan.combinations[0].parameters, 2), 9)
    assert command.startswith("rankstudio permute --sample --method greedy-rankrls --lambda ")
    assert command.endswith(" --features 2 --permutations 9 --folds 2")
