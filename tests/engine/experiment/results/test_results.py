"""Results: what is noted of them; in a notebook, frames, tables and curves with the numbers of the run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from experiment import runs
from experiment.small import dataset
from wording import naming

from rankstudio.cli.output.run_summary import summary
from rankstudio.engine import Plan, RunResult, run_plan
from rankstudio.engine.errors import ParameterError

mpl.use("Agg")


def ran(method: str = "greedy-rankrls", **plan: Any) -> RunResult:
    parameters = plan.pop("parameters", {"regularization": (0.5, 2.0)})
    return run_plan(
        Plan("nowhere", method, parameters=parameters, measures=("MAP", "P@1"), **plan),
        dataset(2),
    )


@pytest.fixture(scope="module")
def result() -> RunResult:
    return ran()


def test_a_frame_has_a_row_for_each_fold(result: RunResult) -> None:
    frame = result.to_frame()
    assert list(frame.index) == [1, 2]
    assert frame.index.name == "fold"
    assert list(frame.columns)[:2] == ["regularization", "n_features"]
    for fold in result.folds:
        row = frame.loc[fold.fold]
        assert row["regularization"] == fold.chosen.unit.values[0]
        assert row["n_features"] == len(fold.selected)
        assert row["test MAP"] == fold.test["MAP"]
        assert row["validation P@1"] == fold.validation["P@1"]
    assert frame["test MAP"].mean() == pytest.approx(result.average["MAP"])


def test_the_terminal_names_the_features_that_it_lists(result: RunResult) -> None:
    chosen = dict.fromkeys(i for fold in result.folds for i in fold.selected)
    names = tuple(f"signal {i}" for i in result.feature_ids.tolist())
    listed = ", ".join(f"{i} signal {i}" for i in chosen)
    assert listed in summary(replace(result, feature_names=names)).splitlines()
    assert "signal" not in summary(
        result
    ) and f"{next(iter(chosen))} feature" not in summary(result)


def test_the_paths_have_a_row_for_each_step(result: RunResult) -> None:
    frame = result.path_frame()
    at = 0
    for fold in result.folds:
        for path in fold.paths:
            own = path.to_frame()
            for number, step in enumerate(path.steps):
                row = frame.iloc[at]
                assert (row["fold"], row["regularization"]) == (
                    fold.fold,
                    path.unit.values[0],
                )
                assert row["feature"] == result.feature_ids[step.selected[-1]]
                assert row["name"] == result.feature_names[step.selected[-1]]
                assert (
                    row["criterion"]
                    == own["criterion"][number]
                    == path.criterion[number]
                )
                assert row["validation MAP"] == path.validation["MAP"][number]
                assert own["column"][number] == step.selected[-1]
                at += 1
    assert len(frame) == at


def test_a_notebook_shows_a_table_of_rounded_numbers(result: RunResult) -> None:
    html = result._repr_html_()
    assert naming("Greedy RankRLS Small MAP Standard").search(html)
    assert f"{result.folds[0].test['MAP']:.4f}" in html
    assert f"MAP {result.average['MAP']:.4f}" in html
    assert (
        f"{result.folds[0].paths[0].validation['MAP'][0]:.4f}"
        in result.folds[0].paths[0]._repr_html_()
    )


def test_names_of_data_are_no_markup() -> None:
    bad = replace(ran(parameters={"regularization": 1.0}), data_name="<script>")
    assert "<script>" not in bad._repr_html_()


def test_curves_are_the_means_over_the_folds(result: RunResult) -> None:
    axes = result.plot("P@1")
    assert axes.get_ylabel() == "validation P@1"
    assert axes.get_xlabel() == "features"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "λ = $2^{-1}$",
        "λ = $2^{1}$",
    ]
    for number, line in enumerate(axes.get_lines()):
        values = [fold.paths[number].validation["P@1"] for fold in result.folds]
        np.testing.assert_allclose(line.get_ydata(), np.mean(values, axis=0))
        np.testing.assert_array_equal(
            line.get_xdata(), result.folds[0].paths[number].sizes
        )
    path = result.folds[1].paths[0]
    alone = path.plot(ax=axes)
    assert alone is axes
    np.testing.assert_allclose(axes.get_lines()[-1].get_ydata(), path.validation["MAP"])


@pytest.mark.parametrize("method", ["gas", "fsmrank", "listnet", "rankboost"])
def test_every_kind_of_step_is_drawn(method: str) -> None:
    done = ran(method, parameters={})
    assert len(done.plot().get_lines()) == len(done.plan.combinations)
    assert len(done.path_frame()) == sum(
        len(path.steps) for fold in done.folds for path in fold.paths
    )


def test_what_cannot_be_drawn_is_told(result: RunResult) -> None:
    with pytest.raises(ParameterError, match=naming("name MAP P@1 ERR")):
        result.plot("ERR")


@pytest.fixture(autouse=True)
def closed():
    yield
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the backend is chosen

    plt.close("all")


def chose(values: tuple[float, ...], grid: object) -> RunResult:
    """A run whose folds have chosen these values of λ."""
    paths = [
        runs.path(number, [0.5], at=value) for number, value in enumerate(values, 1)
    ]
    folds = [runs.fold(path.unit.fold, [0.5], paths=(path,)) for path in paths]
    return runs.result(folds, parameters={"regularization": grid})


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ((0.25,), ["λ = 2⁻² is the smallest value tried"]),
        ((4.0,), ["λ = 2² is the largest value tried"]),
        ((1.0,), []),
        ((0.25, 1.0, 0.25), ["smallest value tried, is chosen in 2 of 3 folds"]),
        (
            (0.25, 4.0),
            [
                "smallest value tried, is chosen in 1 of 2",
                "largest value tried, is chosen in 1 of 2",
            ],
        ),
    ],
)
def test_ends_of_a_grid_are_told(chosen: tuple[float, ...], told: list[str]) -> None:
    run = chose(chosen, (0.25, 1.0, 4.0))
    assert len(run.notes) == len(told)
    for note, text in zip(run.notes, told, strict=True):
        assert text in note.what
    assert summary(run).count("Note: ") == len(told)


@pytest.mark.parametrize("values", [1.0, (0.25, 1.0)])
def test_fewer_than_three_values_have_no_ends_to_tell(values: object) -> None:
    assert chose((0.25,), values).notes == ()
