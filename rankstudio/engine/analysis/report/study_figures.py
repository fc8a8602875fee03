"""All figures of a study: each by its name, made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rankstudio.engine.analysis.figures import comparison_figures, run_figures
from rankstudio.engine.analysis.figures.captions import run_text, runs_text
from rankstudio.engine.analysis.pareto import pareto_front_of
from rankstudio.engine.analysis.report.source import ReportedRun, ReportSource, best_of, chooser, tests_of
from rankstudio.engine.analysis.run_curves import run_curves
from rankstudio.engine.analysis.selection_stability import SelectionStability, selection_stability
from rankstudio.engine.analysis.significance import ComparedRun
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.left_out_names import left_out_name
from rankstudio.engine.export.figures.values import CurvesFigure, Figure, RowsFigure

_MOST_RUNS = 12  # in one figure
_MOST_FOLDS = 40


@dataclass(frozen=True)
class StudyFigure:
    """A figure that a study may have.

    Attributes
    ----------
    name : str
        By which it is asked for, and called as a file: "run1-validation".
    title : str
        What it shows.
    make : callable
        Returns the figure, or None where there is nothing to show.
    """

    name: str
    title: str
    make: Callable[[], Figure | None]


def study_figures(source: ReportSource) -> tuple[StudyFigure, ...]:
    """Return the figures of a study: of all runs on each dataset, then of each run.

    Parameters
    ----------
    source : ReportSource
        Where its test part is sealed, none of them shows a number of that.
    """
    shown = source.shown
    datasets = shown.datasets()
    found: list[StudyFigure] = []
    for data, runs in datasets.items():
        suffix = f"-{file_stem(data)}" if len(datasets) > 1 else ""
        found += _of_dataset(data, runs, shown, suffix)
    for run in shown.runs:
        found += _of_run(run, shown)
    return tuple(found)


def made(figures: Sequence[StudyFigure]) -> Iterator[Figure]:
    """Yield the figures that have something to show, by their names, in the language of the process."""
    for one in figures:
        figure = one.make()
        if figure is not None and not figure.empty:
            yield replace(figure, name=one.name)


def named_figures(figures: Sequence[StudyFigure], names: str) -> tuple[StudyFigure, ...]:
    """Return the figures that are asked for, by names or their ends, separated by commas; all for "".

    Raises
    ------
    ParameterError
        For a name that no figure has.
    """
    asked = [name.strip().lower() for name in names.split(",") if name.strip()]
    for name in asked:
        if not any(_bears(one, name) for one in figures):
            raise ParameterError("only", name, f"some of {', '.join(one.name for one in figures)}")
    return tuple(one for one in figures if not asked or any(_bears(one, name) for name in asked))


def _bears(figure: StudyFigure, name: str) -> bool:
    return figure.name == name or figure.name.endswith(f"-{name}")


def file_stem(name: str) -> str:
    """Return a name of plain letters, as of a file."""
    return "-".join("".join(c if c.isalnum() else " " for c in name).split()).lower() or "data"


def _of_dataset(
    data: str, runs: list[ReportedRun], source: ReportSource, suffix: str
) -> Iterator[StudyFigure]:
    name = chooser(runs, source.measure)
    kept = runs[:_MOST_RUNS]
    yield StudyFigure(
        f"curves{suffix}", f"{data}: validation {name} of the runs", partial(_curves, data, kept, name)
    )
    yield StudyFigure(
        f"front{suffix}", f"{data}: size against validation {name}", partial(_front, data, kept, name)
    )
    if not source.sealed and len(runs) > 1:
        title = f"{data}: differences in {name} with their intervals"
        yield StudyFigure(f"differences{suffix}", title, partial(_differences, data, runs, name))


def curves_of(data: str, runs: Sequence[ReportedRun], name: str) -> CurvesFigure | None:
    """Return the validation curves of runs, held against the best of them."""
    stand_in = [run.data or run.recorded.without_documents() for run in runs]
    reference = best_of(list(runs), name)
    found = run_curves([run.result for run in runs], name, runs.index(reference), stand_in)
    named = [(run.number, run.title) for run in runs]
    return comparison_figures.run_curves_figure(data, named, found, reference.number, name)


def differences_of(
    data: str, runs: Sequence[ReportedRun], name: str, tested: Sequence[ComparedRun] | None = None
) -> RowsFigure | None:
    """Return the differences of runs to the best of them, tested already or not."""
    reference = best_of(list(runs), name)
    called = {run.number: run.title for run in runs}
    tested = tests_of(runs, reference, name) if tested is None else tested
    against = reference.number, reference.title
    return comparison_figures.differences_figure(data, against, tested, called, name, reference.part)


def _curves(data: str, runs: Sequence[ReportedRun], name: str) -> Figure | None:
    return _explained(curves_of(data, runs, name), runs, name)


def _front(data: str, runs: Sequence[ReportedRun], name: str) -> Figure | None:
    documents = [run.data for run in runs if run.data is not None]
    found = pareto_front_of(
        [run.result for run in runs], name, documents if len(documents) == len(runs) else ()
    )
    if found is None:
        return None
    named = [(run.number, run.title, run.plan) for run in runs]
    return _explained(comparison_figures.pareto_figure(data, named, found, name), runs, name)


def _differences(data: str, runs: Sequence[ReportedRun], name: str) -> Figure | None:
    return _explained(differences_of(data, runs, name), runs, name)


def _explained(figure: Figure | None, runs: Sequence[ReportedRun], name: str) -> Figure | None:
    """Return a figure whose caption says what the runs are."""
    if figure is None:
        return None
    said = runs_text([(run.number, run.result) for run in runs], name)
    return replace(figure, caption=f"{figure.caption} {said}")


def _of_run(run: ReportedRun, source: ReportSource) -> Iterator[StudyFigure]:
    name, result = chooser([run], source.measure), run.result
    first = result.folds[0]

    def figure(key: str, title: str, make: Callable[[], Figure | None]) -> StudyFigure:
        return StudyFigure(
            f"run{run.number}-{key}", f"{run.name}: {title}", partial(_of_one, run, name, make)
        )

    yield figure("validation", f"validation {name} by size", partial(run_figures.path_figure, result, name))
    if run.plan.leaves_out:
        left_out = left_out_name(name)
        yield figure(
            "left-out", f"left-out {name} by size", partial(run_figures.path_figure, result, left_out)
        )
    yield figure("criterion", "criterion by size", partial(run_figures.path_figure, result))
    yield figure(
        "map",
        f"validation {name} by parameters and size",
        partial(run_figures.combinations_figure, result, name),
    )
    if run.plan.entry.selects:
        if len(result.folds) <= _MOST_FOLDS:
            yield figure(
                "features",
                "features by fold",
                lambda: run_figures.fold_features_figure(result, stability(run)),
            )
        if 1 < len(result.folds) <= _MOST_FOLDS:
            yield figure(
                "stability",
                "similarity of the folds",
                lambda: run_figures.stability_figure(result, stability(run)),
            )
    if run.plan.candidate_score is not None:
        yield figure(
            "candidates",
            "candidates of the first step",
            partial(run_figures.candidates_figure, result, first),
        )
        yield figure(
            "steps", "candidates by step", partial(run_figures.candidate_steps_figure, result, first)
        )


def stability(run: ReportedRun) -> SelectionStability:
    """Return what the folds of a run have in common."""
    result = run.result
    return selection_stability(result.folds, result.feature_ids, result.feature_names)


def _of_one(run: ReportedRun, name: str, make: Callable[[], Figure | None]) -> Figure | None:
    figure = make()
    if figure is None:
        return None
    return replace(figure, caption=f"{figure.caption} {run_text(run.result, name)}")
