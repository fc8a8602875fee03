"""The figures of the papers: their values are those of the runs, and their names are complete."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankstudio.engine.analysis.figures.study_figures import made
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.export.figures.files import figure_bytes
from rankstudio.engine.export.figures.style import style_of
from rankstudio.engine.statistics.paired import paired_t
from rankstudio.plugins.papers.airola_2011 import ExperimentColumn, PrintedExperiment
from rankstudio.plugins.papers.paper_figures import (
    end_densities,
    objective_by_seconds,
    pair_costs,
    paper_figures,
    runs_of_paper,
    significance_bars,
    turned_directions,
)
from rankstudio.plugins.papers.reproduction import load_reproduction

NAME = "NDCG@10"


@pytest.fixture(scope="module")
def data() -> FoldedDataset:
    return make_ranking(
        n_queries=40, n_informative=3, n_redundant=2, n_noise=3, n_constant=0, seed=5
    )


def run_of(data: FoldedDataset, method: str, **parameters: object) -> RunResult:
    return run_plan(Plan("made", method, parameters, measures=(NAME, "MAP")), data)


def test_bars_bear_the_marks_of_the_paired_tests(data: FoldedDataset) -> None:
    good, bad = (
        run_of(data, "rankrls"),
        run_of(data, "single-feature", n_features_to_select=1),
    )
    runs = {"FS-ED, RankSVM": good, "FS-BFS, RankSVM": bad, "WAF, RankSVM": good}
    figure = significance_bars(
        runs, "made", ("FS-ED", "FS-BFS", "WAF"), ("RankSVM", "RankBoost")
    )
    differ = paired_t(good.per_query(NAME), bad.per_query(NAME)).p < 0.05
    assert differ  # one feature of three: else there is no mark to see
    assert [one.marks for one in figure.series] == [("*", ""), ("+*", ""), ("", "")]
    assert [one.values[0] for one in figure.series] == [
        run.average[NAME] for run in runs.values()
    ]
    assert np.isnan([one.values[1] for one in figure.series]).all()
    text = figure_bytes(figure, style_of("column", None, "light", None), "svg").decode()
    assert "+*" in text
    assert "marks" in figure.table()[0][2]


def test_both_solvers_descend_in_time(data: FoldedDataset) -> None:
    run = run_of(data, "fsmrank", lambda1=(0.1,), lambda2=(1e-3,), project=True)
    figure = objective_by_seconds(run, data)
    minimum = run.folds[0].paths[0].steps[-1].criterion
    for one in figure.series:
        assert list(one.x) == sorted(one.x) and one.x[0] > 0
        assert min(one.y) >= minimum - 1e-9
    assert figure.series[0].y[-1] == pytest.approx(minimum, rel=1e-6)


def test_the_figures_of_each_paper_are_there(data: FoldedDataset) -> None:
    top = run_of(
        data,
        "fsmrank-top",
        lambda1=(0.1,),
        lambda2=(1e-3,),
        project=True,
        all_features=True,
    )
    fsmrank = run_of(data, "fsmrank", lambda1=(0.1,), lambda2=(1e-3,), project=True)
    found = paper_figures(
        load_reproduction("fsmrank"),
        {"FSMRank, first k": top, "FSMRank": fsmrank},
        data,
    )
    names = [one.name for one in found]
    assert names == ["figures1to3-NDCG10", "figures1to3-MAP", "figure4", "figure5"]
    drawn = {one.name: one for one in made(found)}
    assert list(drawn) == names
    (curve,) = drawn["figures1to3-MAP"].series  # type: ignore[union-attr]
    assert curve.label == "FSMRank"
    assert list(curve.x) == list(range(1, len(top.feature_ids) + 1))
    greedy = run_of(data, "greedy-rankrls", n_features_to_select=2)
    names = [
        one.name
        for one in paper_figures(
            load_reproduction("greedy-rankrls"), {"GRankRLS": greedy}, data
        )
    ]
    assert names == ["figure3"]  # MeanNDCG was not measured
    densities = run_of(data, "expected-divergence")
    found = paper_figures(
        load_reproduction("fs-ed"), {"FS-ED, RankSVM": densities}, data
    )
    assert [one.name for one in made(found)] == [
        "figure2",
        "figure3-best",
        "figure3-last",
    ]
    order = densities.folds[0].paths[0].steps[-1].selected
    for which, column in (("best", order[0]), ("last", order[-1])):
        figure = end_densities(densities, data, which)
        assert (
            figure is not None
            and data.folds[0].train.feature_names[column] in figure.x.title
        )


def test_the_figures_of_the_thesis(data: FoldedDataset) -> None:
    rows = ((1e-9, 2.0, 8.0, 4.0), (1.0, 1.0, 1.0, 1.0))
    columns = (ExperimentColumn("λ", "regularization"),) * 4
    done = PrintedExperiment("Paper III, Figure 1", "errors", columns, rows, ("Said.",))
    found = paper_figures(load_reproduction("airola-2011"), {}, data, [done])
    drawn = {one.name: one for one in made(found)}
    assert list(drawn) == [
        "paper1-figure1",
        "paper1-figure2",
        "paper3-figure1",
        "paper5-figure3",
    ]
    assert [one.y for one in drawn["paper3-figure1"].series] == [(2.0, 1.0), (8.0, 1.0)]  # type: ignore[union-attr]
    assert len(drawn["paper5-figure3"].series[0].y) == 5  # type: ignore[union-attr]
    assert replace(done).source == "Paper III, Figure 1"


def test_costs_of_a_pair_are_those_of_the_equations() -> None:
    figure = pair_costs()
    at = figure.series[0].x.index(0.0)
    assert [one.y[at] for one in figure.series] == pytest.approx([0.0, 1.0, 0.25, 1.0])
    bound = figure.series[3]  # (22) is above the disagreement everywhere
    assert all(a >= b for a, b in zip(bound.y, figure.series[0].y, strict=True))


def test_irrelevant_pairs_turn_the_direction() -> None:
    _, relevant, every = turned_directions().series
    assert relevant.y[0] > relevant.y[-1]
    assert every.y[0] < every.y[-1]


def test_runs_stand_for_the_names_with_their_parameters(data: FoldedDataset) -> None:
    paper = load_reproduction("fsmrank")
    plain = run_of(data, "fsmrank", lambda1=(0.1,), lambda2=(1e-3,))
    ones = run_of(data, "fsmrank", lambda1=(0.0,), importance="none", tol=1e-4)
    hinge = run_of(data, "ranksvm", loss="hinge", C=(1.0,))
    other = run_of(data, "mutual-information")
    found = runs_of_paper(paper, [plain, ones, hinge, other])
    assert found.get("s-ones") is ones
    assert found.get("RankSVM-Struct") is hinge
    assert "s-pearson" not in found and "RankSVM-Primal" not in found
    assert other not in found.values()
