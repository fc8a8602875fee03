"""A simulation as a value: what it does, and that its command and program do it again to the same bits."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.support.work import finish
from rankstudio.plugins.lab.simulation.auc_simulation import simulate_auc
from rankstudio.plugins.lab.simulation.parameters import (
    AUC,
    EACH,
    PARAMETERS,
    SELECTION,
    VARIED,
)
from rankstudio.plugins.lab.simulation.selection_simulation import simulate_selection
from rankstudio.plugins.lab.simulation.simulation import (
    Simulation,
    SimulationProgress,
    simulation_as_command,
    simulation_as_python,
    without_test,
)


def usual(kind: str, **changes: Any) -> dict[str, Any]:
    return {**{p.name: p.default for p in PARAMETERS[kind]}, **changes}


def last(simulation: Simulation, *data: Any) -> SimulationProgress:
    *_, found = filter(None, simulation.steps(*data))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One fold whose parts have queries of their own, with a space in its name."""
    place = tmp_path / "one fold"
    place.mkdir()
    made = make_ranking(n_queries=60, seed=3).folds[0]
    for name, part in made.parts.items():
        save_letor(part, place / f"{name}.txt")
    return place


AUC_ASKED = usual(
    "auc",
    n_examples=20,
    positive=0.30000000000000004,
    shift=-1e-05,
    n_informative=3,
    regularization=1 / 3,
    repetitions=300,
    seed=7,
)


def test_it_simulates_and_then_varies() -> None:
    simulation = Simulation("auc", AUC_ASKED, "n_examples", (10.0, 15.0), 40)
    steps = list(simulation.steps())
    assert [step.done for step in steps if step] == [
        250,
        300,
        340,
        380,
    ] and simulation.n_repetitions == 380
    whole = finish(simulate_auc(**AUC_ASKED))
    assert steps[-1].summary.bias.tolist() == whole.bias.tolist()
    fifteen = finish(simulate_auc(**{**AUC_ASKED, "n_examples": 15, "repetitions": 40}))
    assert steps[-1].varied.bias[1].tolist() == fifteen.bias.tolist()


def test_what_does_not_count_is_not_passed_on() -> None:
    data = make_ranking(n_queries=30, seed=1)
    asked = usual("selection", n_queries=6, kernel="linear", per_query=1, repetitions=1)
    simulation = Simulation("selection", asked)
    assert (
        "n_features" not in simulation.counting and "gamma" not in simulation.counting
    )
    simulation.check(data)
    whole = finish(
        simulate_selection(data, 6, kernel="linear", per_query=1, repetitions=1)
    )
    assert last(simulation, data).summary.bias.tolist() == whole.bias.tolist()


@pytest.mark.parametrize(
    ("simulation", "said"),
    [
        (Simulation("auc", usual("auc", n_informative=11)), "n_informative"),
        (Simulation("auc", usual("auc"), "n_examples", (10.5,), 1), "values"),
        (Simulation("selection", usual("selection", n_queries=18)), "n_queries 18"),
        (Simulation("selection", usual("selection", n_features=999)), "n_features"),
        (
            Simulation(
                "selection",
                usual("selection", n_queries=5),
                "n_queries",
                (5.0, 18.0),
                1,
            ),
            "values",
        ),
        (
            Simulation(
                "selection", usual("selection", n_queries=5), "n_features", (999.0,), 1
            ),
            "values",
        ),
    ],
)
def test_what_cannot_be_simulated_is_refused_before_any_work(
    simulation: Simulation, said: str
) -> None:
    with pytest.raises(ParameterError, match=naming(said)):
        simulation.check(make_ranking(n_queries=30, seed=1).folds[0].train)


def printed(command: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return what a command prints, carried out in this process."""
    program, *words = shlex.split(command)
    assert program == "rankstudio"
    assert main([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def program_prints(program: str, folder: Path) -> dict[str, Any]:
    """Return what a program prints, as a process of its own."""
    path = folder / "again.py"
    path.write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_command_and_program_of_auc_give_the_same_bits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulation = Simulation("auc", AUC_ASKED, "regularization", (0.1, 2.0**-3, 7.0), 30)
    found = last(simulation).as_dict()
    again = printed(simulation_as_command(simulation), capsys)
    assert {name: again[name] for name in found} == found
    program = simulation_as_python(simulation, computed_with={"RankStudio": "1"})
    assert program.startswith(
        "# The same bits, on the same data, with RankStudio 1.\nimport json\n"
    )
    assert program_prints(program, tmp_path) == found


@pytest.mark.parametrize(
    "asked", [{"n_features": 2}, {"kernel": "rbf", "gamma": 0.1, "per_query": 1}]
)
def test_command_and_program_on_data_give_the_same_bits(
    asked: dict[str, Any],
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = Plan(
        str(folder), normalize="query_minmax", missing="zero", protocol="4-fold", seed=5
    )
    values = usual(
        "selection", n_queries=5, repetitions=2, measure="NDCG@3", seed=3, **asked
    )
    simulation = Simulation(
        "selection", {**values, "convention": "letor3"}, "n_queries", (4.0, 7.0), 2
    )
    found = last(simulation, open_data(plan)).as_dict()
    again = printed(simulation_as_command(simulation, plan), capsys)
    assert {name: again[name] for name in found} == found
    if "kernel" in asked:  # one process is enough
        assert program_prints(simulation_as_python(simulation, plan), tmp_path) == found


def test_a_sealed_test_part_stays_out_of_what_is_done_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = Plan(str(folder))
    values = usual("selection", n_queries=5, repetitions=2, n_features=None)
    simulation = Simulation("selection", {**values, "convention": "letor4"})
    dataset = open_data(plan)
    sealed = last(simulation, without_test(dataset)).as_dict()
    assert sealed != last(simulation, dataset).as_dict()
    command = simulation_as_command(simulation, plan, test=False)
    assert command.endswith(
        " --no-test --queries 5 --features all --repetitions 2 --convention letor4"
    )
    assert {
        name: value
        for name, value in printed(command, capsys).items()
        if name in sealed
    } == sealed
    assert (
        program_prints(simulation_as_python(simulation, plan, test=False), tmp_path)
        == sealed
    )


def test_what_was_stopped_is_done_again_as_far_as_it_came() -> None:
    simulation = Simulation(
        "auc", {**AUC_ASKED, "repetitions": 1000}, "positive", (0.2, 0.5), 300
    )
    steps = [step for step in simulation.steps() if step]
    # 500 repetitions; all of them, a value, and a part of the next
    half, three = steps[1], steps[6]
    assert (half.done, three.done) == (500, 1550)
    assert last(simulation.finished(half)).as_dict() == half.as_dict()
    again = last(simulation.finished(three)).as_dict()
    assert again["estimators"] == three.as_dict()["estimators"]
    assert again["varied"]["values"] == three.as_dict()["varied"]["values"][:1]
    assert last(simulation.finished(steps[-1])).as_dict() == steps[-1].as_dict()


def test_every_parameter_has_an_option_of_its_own_and_a_default_within_its_range() -> (
    None
):
    for kind, parameters in (("auc", AUC), ("selection", SELECTION)):
        options = [p.option for p in (*parameters, EACH[kind])]
        assert len(set(options)) == len(options) and all(
            option.startswith("--") for option in options
        )
        for p in (*parameters, *VARIED[kind].values(), EACH[kind]):
            assert p.validate(p.default) == p.default
            assert p.validate(p.written(p.default)) == p.default
    rng = np.random.default_rng(0)
    shift = {p.name: p for p in AUC}["shift"]
    assert all(
        shift.validate(shift.written(value)) == value
        for value in rng.normal(size=50).tolist()
    )
