"""The permutation test of one path of a plan, as it grows."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankstudio.cli import main
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.experiment.units.single_path import SinglePath, single_plan
from rankstudio.engine.support.work import finish
from rankstudio.plugins.permutation.criterion_band import (
    CriterionBand,
    band_steps,
    permutation_as_command,
    permutation_as_python,
)
from rankstudio.plugins.permutation.label_permutation import (
    PermutationTest,
    permutation_steps,
    permutation_test,
)


@pytest.mark.parametrize("key", ["greedy-rankrls", "rankrls"])
def test_it_is_the_test_of_the_path_however_many_a_step(key: str) -> None:
    data = make_ranking(20, n_informative=2, n_noise=3, documents=(4, 9))
    plan = Plan(
        "x",
        method=key,
        parameters={"regularization": (0.25, 1.0, 4.0)},
        seed=3,
        select_by="NDCG@5",
    )
    single = single_plan(plan, plan.combination((4.0,)).parameters, 2)
    assert single.folds == (2,) and len(single.combinations) == 1
    assert single == single_plan(
        plan.changed(rule="one-se"), plan.combination((4.0,)).parameters, 2
    )
    bands = list(band_steps(single, data, n_permutations=99))
    assert [band.n_permutations for band in bands] == [32, 64, 96, 99]
    train = data.folds[1].train
    last = bands[-1]
    m = train.n_documents
    path = SinglePath.of(single, data, plan.entry.defaults)
    whole = finish(permutation_steps(path.method, path.data, 99, 3))
    for values, expected in (
        (last.observed, whole.observed),
        (last.mean, whole.permuted.mean(axis=0)),
        (last.low, whole.band()[0]),
        (last.high, whole.band()[1]),
    ):
        np.testing.assert_array_equal(values, expected / m)
    np.testing.assert_array_equal(last.p_values, whole.p_values)
    method = plan.entry.load()(regularization=4.0)
    alone = permutation_test(
        method, train.X, train.y, train.qid, n_permutations=99, seed=3
    )
    np.testing.assert_allclose(whole.permuted, alone.permuted, rtol=1e-9)


def test_how_many_are_as_good_is_counted() -> None:
    permuted = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    band = CriterionBand.of(PermutationTest(np.array([2.0, 4.0]), permuted), 2.0)
    assert [band.as_good(0), band.as_good(1)] == [2, 0] and band.observed.tolist() == [
        1.0,
        2.0,
    ]


@pytest.fixture
def data(tmp_path: Path) -> str:
    """A file of documents, in a folder with a space in its name."""
    place = tmp_path / "my data" / "all.txt"
    place.parent.mkdir()
    save_letor(
        make_ranking(20, n_informative=3, n_noise=3, documents=(4, 9)).folds[0].train,
        place,
    )
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
        {
            "parameters": {"regularization": (0.3,)},
            "groups": {"all pairs": (1, 4), "b": (2,)},
            **OTHERS,
        },
        {
            "method": "ranksvm",
            "parameters": {"C": (3.0,), "kernel": "rbf", "gamma": (0.5,), "n_basis": 5},
        },
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
    assert [
        {name: step[name] for name in found["steps"][0]} for step in again["steps"]
    ] == found["steps"]
    assert again["seed"] == single.seed and again["fold"] == 1
    program = permutation_as_python(single, 17, {"RankStudio": "5"})
    assert program.startswith("# The same bits, on the same data, with RankStudio 5.\n")
    exec(compile(program, "again.py", "exec"), {"__name__": "__main__"})
    assert json.loads(capsys.readouterr().out) == found


def test_the_sample_has_no_place() -> None:
    plan = Plan(SAMPLE, parameters={"n_features_to_select": 2})
    command = permutation_as_command(
        single_plan(plan, plan.combinations[0].parameters, 2), 9
    )
    assert command.startswith(
        "rankstudio permute --sample --method greedy-rankrls --lambda "
    )
    assert command.endswith(" --features 2 --permutations 9 --folds 2")
