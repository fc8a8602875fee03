"""The figures of reproduced papers, from the runs of :mod:`rankstudio.plugins.papers.reproduction`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from rankstudio.engine.analysis.comparisons.significance import ALPHA
from rankstudio.engine.analysis.figures.run_figures import path_figure
from rankstudio.engine.analysis.figures.study_figures import (
    StudyFigure,
    alone_of,
    made,
    run_curves_figure,
)
from rankstudio.engine.analysis.tried_models.run_curves import run_curves
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan, estimator
from rankstudio.engine.experiment.plan.toml import plan_from_dict
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.export.figures.files import FigureFile, figure_files
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    RowSeries,
    RowsFigure,
    Series,
)
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.statistics.paired import paired_t
from rankstudio.engine.steps import Step
from rankstudio.engine.support.threads import STEADY
from rankstudio.plugins.features.compared_densities import compared_densities
from rankstudio.plugins.papers import airola_2011
from rankstudio.plugins.papers.airola_2011 import PrintedExperiment
from rankstudio.plugins.papers.reproduction import Reproduction

Results = Mapping[str, RunResult]
SHARES = (10, 20, 40, 70, 100)
"""Percentages of the training queries for the points of a learning curve."""
_SUBGRADIENT_STEPS = 200  # maximum number of iterations of both solvers


def paper_figures(
    paper: Reproduction,
    results: Results,
    data: FoldedDataset,
    findings: Sequence[PrintedExperiment] = (),
) -> tuple[StudyFigure, ...]:
    """Return the figures of a paper whose runs are available; each figure is made on demand.

    Parameters
    ----------
    paper : Reproduction
    results : Mapping of str to RunResult
        Finished runs by the paper's names; figures of missing runs are left out.
    data : FoldedDataset
        Data of the runs, with documents.
    findings : sequence of PrintedExperiment
        Finished experiments of the thesis. Other experiments that a
        figure needs are run when it is made.

    Notes
    -----
    Figures of times and learning curves train models when they are made.
    """
    if paper.key == airola_2011.KEY:
        return tuple(_airola_figures(data, findings))
    return tuple(_FIGURES_BY_PAPER[paper.key](results, data))


def runs_of_paper(
    paper: Reproduction, runs: Sequence[RunResult]
) -> dict[str, RunResult]:
    """Return the runs that belong to a paper, by the paper's names.

    A name of the paper has a method, a ranker and parameters. Among the
    names with the method and ranker of a run, the run gets the name
    whose parameters agree best with its own. If several runs get the
    same name, the run that agrees best is returned; of equal runs, the
    last one.
    """
    best_runs: dict[str, tuple[int, RunResult]] = {}  # agreement and run, by name
    for run in runs:
        key = run.plan.method, run.plan.ranker
        names = [
            n
            for n, settings in paper.runs.items()
            if (settings["method"], settings.get("ranker", "")) == key
        ]
        agreements = {
            name: _n_agreeing(run.plan, paper.runs[name].get("parameters", {}))
            for name in names
        }
        if not agreements:
            continue
        name = max(agreements, key=agreements.__getitem__)
        best_agreement, _ = best_runs.get(name, (None, None))
        if best_agreement is None or agreements[name] >= best_agreement:
            best_runs[name] = agreements[name], run
    return {name: run for name, (_, run) in best_runs.items()}


def _n_agreeing(plan: Plan, stated: Mapping[str, Any]) -> int:
    """Return how many stated parameters have the same value in a plan, minus how many have another value.

    ``stated`` has the parameters as a file states them: grids may be texts.
    """
    # A plan of these parameters turns the texts into values.
    stated_parameters = plan_from_dict(
        {"data": plan.data, "method": plan.method, "parameters": stated}
    ).parameters
    return sum(
        1 if plan.parameters.get(name) == stated_parameters[name] else -1
        for name in stated
    )


def figure_files_of(figures: Sequence[StudyFigure], folder: Path) -> list[FigureFile]:
    """Return the files of figures in a folder: PDF and CSV, with captions."""
    return figure_files(tuple(made(figures)), folder)


def _greedy_figures(results: Results, data: FoldedDataset) -> Iterator[StudyFigure]:
    """Yield Figures 1 and 2 for MQ2007, 3 and 4 for other data: validation measures by k and λ."""
    run = results.get("GRankRLS")
    first_number = 1 if data.name.lower().startswith("mq2007") else 3
    for number, name in enumerate(("MAP", "MeanNDCG"), start=first_number):
        if run is not None and name in run.plan.evaluated:
            title = f"validation {name} by k for each λ"
            yield StudyFigure(f"figure{number}", title, partial(path_figure, run, name))


_RUNS_BY_SIZE = {
    "GAS-E": ("GAS-E",),
    "FSMSVM": ("FSMSVM, all features", "FSMSVM"),
    "FSMRank": ("FSMRank, first k",),
}
"""Runs of Figures 1 to 3 of Lai et al. 2013 by legend; the first one that is there is drawn."""


def _fsmrank_figures(results: Results, data: FoldedDataset) -> Iterator[StudyFigure]:
    """Yield Figures 1 to 5 of the paper on FSMRank, as far as its runs are there."""
    # the first run there is of each curve, by the curve's legend
    runs: dict[str, RunResult] = {}
    for legend, names in _RUNS_BY_SIZE.items():
        present = [results[name] for name in names if name in results]
        if present:
            runs[legend] = present[0]
    for name in ("NDCG@1", "NDCG@3", "NDCG@5", "NDCG@10", "MAP"):
        if runs and all(name in run.plan.evaluated for run in runs.values()):
            yield StudyFigure(
                f"figures1to3-{name.replace('@', '')}",
                f"test {name} by number of features",
                partial(_figure_by_size, data, runs, name),
            )
    run = results.get("FSMRank")
    if run is not None:
        # `alone_of` returns the figure of each feature alone.
        draw_alone = partial(alone_of, data, run, "FSMRank", "NDCG@10")
        yield StudyFigure(
            "figure4", "NDCG@10 of each feature alone, selected ones marked", draw_alone
        )
        seconds = partial(objective_by_seconds, run, data)
        yield StudyFigure("figure5", "objective of both solvers by seconds", seconds)


def _figure_by_size(
    data: FoldedDataset, runs: Mapping[str, RunResult], name: str
) -> CurvesFigure | None:
    """Return the figure of the test measure ``name`` of some runs over the number of features.

    ``runs`` are those of each curve by its legend. None if no run has the measure.
    """
    # None: the runs are not compared with a reference.
    curves = run_curves(
        list(runs.values()), name, None, [data] * len(runs), part="test"
    )

    # A curve has the same number, and so the same color, whichever runs there are.
    numbers = [list(_RUNS_BY_SIZE).index(legend) + 1 for legend in runs]
    named = list(zip(numbers, runs, strict=True))

    # A figure has a reference, here the first run.
    figure = run_curves_figure(data.name, named, curves, numbers[0], name, part="test")
    if figure is None:
        return None

    # Runs without a curve have no series in the figure.
    legends = [
        legend for legend, curve in zip(runs, curves, strict=True) if curve is not None
    ]
    series = (
        replace(curve, label=legend)
        for curve, legend in zip(figure.series, legends, strict=True)
    )
    return replace(figure, series=tuple(series))


def objective_by_seconds(run: RunResult, data: FoldedDataset) -> CurvesFigure:
    """Return a figure of the objective of FSMRank by seconds of training.

    FSMRank is trained on the first fold with each of its two solvers.
    The clock starts after similarities and importance are computed. The
    parameters are those that the run chose on the fold.
    """
    fold = data.folds[0]
    chosen = run.folds[0].chosen.unit
    train = group_training(fold)
    series = []
    for number, (solver, label) in enumerate(
        (
            ("nesterov", tr("FSMRank (Nesterov)")),
            ("subgradient", tr("subgradient descent")),
        )
    ):
        parameters = {
            **chosen.parameters,
            "solver": solver,
            "max_iter": _SUBGRADIENT_STEPS,
        }
        method = estimator(run.plan, run.plan.entry, parameters, fold.train.feature_ids)
        seconds, objectives = zip(*timed_steps(method, train), strict=True)
        series.append(Series(label, seconds, objectives, number=number))
    return CurvesFigure(
        "objective",
        tr("{data}: objective of FSMRank by time").format(data=data.name),
        tr(
            "{data}, fold {fold}: objective after each iteration by seconds since the first one, with the "
            "parameters that validation chose; importance and similarity are computed before."
        ).format(data=data.name, fold=fold.number),
        FigureAxis(tr("time"), "s", logarithmic=True),
        FigureAxis(tr("objective")),
        tuple(series),
    )


def timed_steps(
    method: LinearRanker, train: TrainingData
) -> Iterator[tuple[float, float]]:
    """Yield seconds and criterion after each step of a method but the first.

    The first step starts the clock. It also compiles, and computes what
    depends only on the data.
    """
    start: float | None = None
    for event in method.work(train):
        if isinstance(event, Step):
            moment = perf_counter()
            if start is None:
                start = moment
            else:
                yield moment - start, event.criterion


def _fs_ed_figures(results: Results, data: FoldedDataset) -> Iterator[StudyFigure]:
    """Yield Figures 2 and 3 of the paper on FS-ED whose runs are available."""
    # The paper's name of a run is "selector, ranker".
    rankers = tuple(dict.fromkeys(name.partition(", ")[2] for name in results))
    selectors = tuple(dict.fromkeys(name.partition(", ")[0] for name in results))
    if results:
        bars = partial(significance_bars, results, data.name, selectors, rankers)
        yield StudyFigure(
            "figure2",
            "NDCG@10 of selectors and rankers with marks of significance",
            bars,
        )
    run = next(
        (fs_ed_run for name, fs_ed_run in results.items() if name.startswith("FS-ED")),
        None,
    )
    for end, title in (
        ("best", "densities of the best feature"),
        ("last", "densities of the last feature"),
    ):
        if run is not None:
            yield StudyFigure(
                f"figure3-{end}", title, partial(end_densities, run, data, end)
            )


def significance_bars(
    results: Results,
    data: str,
    selectors: Sequence[str],
    rankers: Sequence[str],
    name: str = "NDCG@10",
) -> RowsFigure:
    """Return a figure of a test measure of every selector with every ranker, with marks of significance.

    "+" marks a significant difference to all features (WAF), "*" to the
    other selector, by Student's paired t over the test queries with p <
    0.05, as in Figure 2 of Gupta and Rosso 2012.
    """
    series = []
    for number, selector in enumerate(selectors):
        values = []
        marks = []
        for ranker in rankers:
            # The paper's name of a run is "selector, ranker".
            run = results.get(f"{selector}, {ranker}")
            values.append(run.average[name] if run is not None else float("nan"))
            marks.append(
                ""
                if run is None
                else _significance_marks(
                    results, run, selector, ranker, selectors, name
                )
            )
        series.append(
            RowSeries(selector, tuple(values), number=number, marks=tuple(marks))
        )
    return RowsFigure(
        "bars",
        title=tr("{data}: test {name} of selectors and rankers").format(
            data=data, name=name
        ),
        caption=tr(
            "{data}: {name} on the test part, mean over folds. + differs significantly from all features "
            "(WAF), * from the other selector (paired t over queries, p < 0.05)."
        ).format(data=data, name=name),
        axis=FigureAxis(tr("test {name}").format(name=name), low=0.0),
        rows=tuple(rankers),
        series=tuple(series),
        bars=True,
        row_title=tr("ranker"),
    )


def _significance_marks(
    results: Results,
    run: RunResult,
    selector: str,
    ranker: str,
    selectors: Sequence[str],
    name: str,
) -> str:
    """Return the marks of a run: "+" and "*" if it differs significantly from its rivals.

    The rival of "+" is the run with all features (WAF), those of "*"
    are the runs of the other selectors, with the same ranker.
    """
    if selector == "WAF":
        return ""
    rivals = {
        "+": ["WAF"],
        "*": [rival for rival in selectors if rival not in ("WAF", selector)],
    }
    marks = ""
    for mark, against in rivals.items():
        rival_runs = [
            results[f"{rival}, {ranker}"]
            for rival in against
            if f"{rival}, {ranker}" in results
        ]
        if rival_runs and all(
            paired_t(run.per_query(name), b.per_query(name)).p < ALPHA
            for b in rival_runs
        ):
            marks += mark
    return marks


def end_densities(run: RunResult, data: FoldedDataset, end: str) -> CurvesFigure | None:
    """Return a figure of the densities by which FS-ED scored a feature, on the first fold.

    The feature is the "best" or the "last" one selected, as ``end``
    says. FS-ED scores a feature by how much its densities differ
    between relevant and other documents. The figure is None if the
    feature has no densities to draw.
    """
    fold = data.folds[0]
    result = run.folds[0]
    path = result.paths[0]  # λ of the ranker does not change the order
    order = path.steps[-1].selected
    column = order[0] if end == "best" else order[-1]

    # all documents at once; the name is for the error if memory is too small
    train = group_training(fold).whole("FS-ED")
    ids = fold.train.feature_ids
    (densities,) = compared_densities(run.plan, path, train, ids, [column])
    if not densities.grid.size:
        return None
    grid = tuple(map(float, densities.grid))
    series = [
        Series(
            tr(curve.label),
            grid,
            tuple(map(float, curve.density)),
            kind="area",
            number=number,
        )
        for number, curve in enumerate(densities.classes)
    ]
    title = (
        tr("{data}: densities of the best feature")
        if end == "best"
        else tr("{data}: densities of the last feature")
    )
    return CurvesFigure(
        "densities",
        title.format(data=data.name),
        tr(
            "{data}, fold {fold}: densities by relevance of {feature}, {place} of {n} by FS-ED (expected "
            "divergence {divergence:.4g})."
        ).format(
            data=data.name,
            fold=fold.number,
            feature=fold.train.feature_names[column],
            place=densities.rank,
            n=len(order),
            divergence=densities.divergence,
        ),
        FigureAxis(
            tr("value of {feature}").format(feature=fold.train.feature_names[column])
        ),
        FigureAxis(tr("density")),
        tuple(series),
    )


def _airola_figures(
    data: FoldedDataset, findings: Sequence[PrintedExperiment]
) -> Iterator[StudyFigure]:
    """Yield the figures of the thesis; an experiment among ``findings`` is not run again."""
    yield StudyFigure(
        "paper1-figure1", "costs of a pair by its predicted difference", pair_costs
    )
    yield StudyFigure(
        "paper1-figure2", "irrelevant pairs turn the direction", turned_directions
    )
    experiment = next(
        (finding for finding in findings if finding.source == "Paper III, Figure 1"),
        None,
    )
    errors = partial(removal_curves, data, experiment)
    yield StudyFigure(
        "paper3-figure1",
        "error with basis vectors of held-out queries removed and kept",
        errors,
    )

    # A learning curve is by shares of the queries.
    if not data.origin.columns.no_queries:
        yield StudyFigure(
            "paper5-figure3", "learning curve of RankRLS", partial(learning_curve, data)
        )


MAGNITUDE = 0.5
"""Magnitude of the pair in Paper I, Figure 1."""


def pair_costs() -> CurvesFigure:
    """Return the figure of the costs (20) to (22) of a pair, and of its disagreement (Paper I, Figure 1).

    The numbers are those of the equations in Paper I.
    """
    # g is the predicted difference of the scores of the pair, whose
    # magnitude is the difference of its labels.
    g = np.linspace(-1.0, 2.0, 301)
    costs = {
        tr("disagreement"): (g < 0).astype(float),
        "(20)": (1 - g) ** 2,
        "(21)": (MAGNITUDE - g) ** 2,
        "(22)": ((MAGNITUDE - g) / MAGNITUDE) ** 2,
    }
    series = [
        Series(label, tuple(g.tolist()), tuple(values.tolist()), number=number)
        for number, (label, values) in enumerate(costs.items())
    ]
    return CurvesFigure(
        "costs",
        tr("Costs of a pair of magnitude 0.5"),
        tr(
            "Disagreement and the costs (20) to (22) of a pair of magnitude 0.5, by its predicted difference."
        ),
        FigureAxis(tr("predicted difference, g")),
        FigureAxis(tr("cost"), high=4.0),
        tuple(series),
    )


def turned_directions() -> CurvesFigure:
    """Return the figure of the scores that RankRLS learns for four inputs (Paper I, Figure 2).

    One line is learned from all pairs, the other one from relevant pairs only.
    """
    example = airola_2011.irrelevant_pairs()

    # the row with the cost (21), which is that of RankRLS
    _, relevant_weight, all_weight = next(
        row for row in example.rows if row[0].endswith("(21)")
    )
    x = airola_2011.X[:, 0]
    scores = airola_2011.SCORES
    learned_weights = (
        (tr("relevant pairs"), relevant_weight),
        (tr("all pairs"), all_weight),
    )
    series = [
        Series(
            tr("given scores"), tuple(x), tuple(scores - scores.mean()), kind="points"
        )
    ]
    for number, (label, weight) in enumerate(learned_weights, start=1):
        series.append(
            Series(
                label,
                tuple(x),
                tuple((weight * (x - x.mean())).tolist()),
                number=number,
            )
        )
    return CurvesFigure(
        "directions",
        tr("Irrelevant pairs turn the direction"),
        tr(
            "Four inputs, two of each object, and the scores of RankRLS (21) learned from the relevant pairs "
            "within objects and from all pairs."
        ),
        FigureAxis(tr("input")),
        FigureAxis(tr("centred score")),
        tuple(series),
    )


def removal_curves(
    data: FoldedDataset, finding: PrintedExperiment | None
) -> CurvesFigure:
    """Return the figure of the error by λ with the basis vectors of held-out queries removed and kept.

    The figure is Figure 1 of Paper III. ``finding`` is the finished
    experiment; if it is None, the experiment is run.
    """
    name = data.name
    train = data.folds[0].train

    # STEADY fixes the order of sums, as for the table: the ratio at the
    # smallest λ depends on rounding.
    with STEADY:
        experiment = (
            airola_2011.removal_error(train, name) if finding is None else finding
        )
    lambdas, removed, basis_kept, _ = zip(*experiment.rows, strict=True)
    series = (
        Series(tr("removed"), lambdas, removed),
        Series(tr("kept"), lambdas, basis_kept, number=1),
    )
    return CurvesFigure(
        "removal",
        tr("{data}: cross-validated error with basis vectors removed and kept").format(
            data=name
        ),
        " ".join(experiment.said),
        FigureAxis("λ", logarithmic=True),
        FigureAxis(tr("mean squared error"), logarithmic=True),
        series,
    )


def learning_curve(data: FoldedDataset) -> CurvesFigure:
    """Return the figure of the test AUC of RankRLS by the share of training queries (Paper V).

    RankRLS is trained on growing shares of the training queries of ``data``.
    """
    measures = []
    for share in SHARES:
        # the folds of the files, with a share of the training queries in per cent
        protocol = "given" if share == 100 else f"given, train {share}%"
        plan = Plan(
            data.name,
            "rankrls",
            measures=("AUC",),
            select_by="AUC",
            protocol=protocol,
        )
        measures.append(run_plan(plan, data).average["AUC"])
    return CurvesFigure(
        "learning",
        tr("{data}: learning curve of RankRLS").format(data=data.name),
        tr(
            "{data}: AUC of RankRLS on the test part, mean over folds, by the share of the training queries; "
            "validation chose λ. The paper's corpora are not available."
        ).format(data=data.name),
        FigureAxis(tr("share of the training queries"), "%", logarithmic=True),
        FigureAxis(tr("test AUC")),
        (Series("RankRLS", tuple(map(float, SHARES)), tuple(measures)),),
    )


_FIGURES_BY_PAPER = {
    "greedy-rankrls": _greedy_figures,
    "fsmrank": _fsmrank_figures,
    "fs-ed": _fs_ed_figures,
}
