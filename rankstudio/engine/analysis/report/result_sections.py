"""What runs found: measures by run and fold, paired tests, and what papers print for the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan

from rankstudio.engine.analysis.comparability import paired_over
from rankstudio.engine.analysis.fold_table import (
    MeasureSummary,
    best_of_several,
    measure_rows,
    measure_summary,
)
from rankstudio.engine.analysis.published import published_rows, set_otherwise
from rankstudio.engine.analysis.report.document import Block, Paragraph, ReportFigure
from rankstudio.engine.analysis.report.source import (
    ReportedRun,
    ReportSource,
    best_of,
    chooser,
    listed,
    spread,
    tests_of,
)
from rankstudio.engine.analysis.report.study_figures import curves_of, differences_of
from rankstudio.engine.analysis.significance import ALPHA, ComparedRun
from rankstudio.engine.export.tables import TextTable, p_text, range_text
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.support.number_format import NOTHING, fixed

_MOST_FOLDS, _MOST_RUNS = 30, 12


def sealed_text(source: ReportSource) -> str:
    """Return which test parts are sealed, as a sentence."""
    names = source.sealed_datasets
    sealed = f"part of {names[0]} is" if len(names) == 1 else f"parts of {listed(names)} are"
    return f"The test {sealed} sealed; test measures are left out until the seal is broken."


def result_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the averages of the runs on each dataset, and the folds by the selection criterion."""
    if source.sealed_datasets:
        yield Paragraph(f"{sealed_text(source)} These results are from the validation parts.")
    for data, runs in source.datasets().items():
        yield from _sentence(data, runs, source.measure)
        yield _averages(data, runs)
        for run in runs:
            yield from (Paragraph(f"Run {run.number}, {run.title}: {note.what}") for note in run.result.notes)
        drawn = _curves(data, runs, chooser(runs, source.measure))
        if drawn is not None:
            yield drawn
        by_fold = _folds(data, runs, chooser(runs, source.measure))
        if by_fold is not None:
            yield by_fold


def _sentence(data: str, runs: list[ReportedRun], asked: str) -> Iterator[Block]:
    """Yield a sentence on which run is best, and by how much it beats the best single feature."""
    name = chooser(runs, asked)
    measured = [run for run in runs if name in run.result.average]
    if not measured:
        yield Paragraph(f"No run on {data} has {name}: there was no part to evaluate on.")
        return
    best = best_of(measured, name)
    value, single = best.result.average[name], best.result.baseline.get(name, float("nan"))
    sizes = range_text(best.result.sizes)
    plural = "" if sizes == "1" else "s"
    text = (
        f"On {data}, {best.name}, has the best mean {name} on the {best.part} part of its folds, "
        f"{fixed(value)}{f' with {sizes} feature{plural}' if sizes else ''}"
    )
    beside = f"; the best single feature has {fixed(single)}." if not isnan(single) else "."
    yield Paragraph(text + beside)


def _averages(data: str, runs: Sequence[ReportedRun]) -> TextTable:
    names = list(dict.fromkeys(name for run in runs for name in run.plan.measures))
    found = [measure_summary(run.plan, run.result.folds) for run in runs]
    rows = [_average_row(run, one, names) for run, one in zip(runs, found, strict=True)]
    single = runs[0].result.baseline
    cells = [fixed(single[name]) if name in single else NOTHING for name in names]
    rows.append(("", "best single feature", "1", *cells))
    parts = listed(dict.fromkeys(run.part for run in runs))
    rules = listed(dict.fromkeys(convention(run.plan.convention).label for run in runs))
    how = "Each fold has the model that the run's rule chose, not one chosen by hand."
    note = f"Mean ± standard deviation over the folds, on the {parts} part by {rules}. {how}"
    header = ("run", "method", "features", *names)
    return TextTable(f"{data}: averages", header, tuple(rows), (1,), note, _best_cells(runs, found, names))


def _average_row(run: ReportedRun, found: MeasureSummary, names: Sequence[str]) -> tuple[str, ...]:
    cells = [
        spread(found.means[name], found.deviations.get(name)) if name in found.means else NOTHING
        for name in names
    ]
    title = " · ".join(filter(None, [run.title, set_otherwise(run.result)]))
    return (str(run.number), title, range_text(run.result.sizes), *cells)


def _best_cells(
    runs: Sequence[ReportedRun], found: Sequence[MeasureSummary], names: Sequence[str]
) -> frozenset[tuple[int, int]]:
    """Return where the best means stand; nowhere where they are not of the same folds by the same rules."""
    kinds = {(r.plan.convention, r.plan.protocol, r.plan.seed, r.plan.folds, r.part) for r in runs}
    if len(kinds) > 1:
        return frozenset()
    best = {name: best_of_several([one.means.get(name, nan) for one in found], name) for name in names}
    return frozenset(
        (at, column)
        for column, name in enumerate(names, start=3)
        for at, one in enumerate(found)
        if best[name] is not None and one.means.get(name) == best[name]
    )


def _curves(data: str, runs: Sequence[ReportedRun], name: str) -> ReportFigure | None:
    """Return validation by size, the bands paired with the best run; None where nothing was validated."""
    figure = curves_of(data, runs[:_MOST_RUNS], name)
    return ReportFigure(figure) if figure is not None else None


def _folds(data: str, runs: Sequence[ReportedRun], name: str) -> TextTable | None:
    """Return a measure fold by fold; None where runs have too many folds, or different ones."""
    numbers = [fold.fold for fold in runs[0].result.folds]
    same = [run for run in runs if [fold.fold for fold in run.result.folds] == numbers]
    here = [run for run in same if name in run.result.average][:_MOST_RUNS]
    if not here or not 1 < len(numbers) <= _MOST_FOLDS:
        return None
    found = measure_rows({run.number: run.result for run in here}, name)
    rows = tuple((row.label, *(fixed(row.values[run.number]) for run in here)) for row in found)
    bold = {
        (at, column)
        for at, row in enumerate(found)
        for column, run in enumerate(here, start=1)
        if row.best is not None and row.values[run.number] == row.best
    }
    header = ("fold", *(f"run {run.number}" for run in here))
    left = len(runs) - len(here)
    note = f"Left out: {left} runs with other folds or after the first {_MOST_RUNS}." if left else ""
    return TextTable(
        f"{data}: {name} by fold ({here[0].part} part)", header, rows, (0,), note, frozenset(bold)
    )


def paired_test_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the paired tests of the runs on each dataset against the best one."""
    if source.sealed_datasets:
        yield Paragraph(f"{sealed_text(source)} The significance tests use its queries and are left out.")
    for data, runs in source.datasets().items():
        if data in source.sealed_datasets:
            continue
        name = chooser(runs, source.measure)
        reference = best_of(runs, name)
        tested = tests_of(runs, reference, name)
        if not any(row.role == "compared" for row in tested):
            yield Paragraph(f"{data} has no two runs that can be compared query by query.", muted=True)
            continue
        yield _tests(data, runs, reference, name, tested)
        figure = differences_of(data, runs, name, tested)
        if figure is not None:
            yield ReportFigure(figure)


def _tests(
    data: str, runs: Sequence[ReportedRun], reference: ReportedRun, name: str, tested: Sequence[ComparedRun]
) -> TextTable:
    titles = {run.number: run.title for run in runs}
    rows = tuple(_test_row(row, titles[row.key]) for row in tested)
    header = (
        "run",
        "method",
        name,
        "difference",
        "95 % interval",
        "p (t, Holm)",
        "p (Wilcoxon, Holm)",
        "p (Holm)",
        "better/equal/worse",
    )
    told = {(at, 7) for at, row in enumerate(tested) if row.p_holm is not None and row.p_holm < ALPHA}
    over = paired_over(reference.plan, reference.result.per_query(name).size)
    family = sum(row.role == "compared" for row in tested)
    note = (
        f"Difference of each run from {reference.name} over {over} of the {reference.part} part, with "
        "bootstrap intervals. Two-sided p-values: Student's paired t-test, Wilcoxon signed-rank test and "
        f"Fisher's randomisation test, with Holm correction for {family} run{'s' if family > 1 else ''}. "
        f"Bold: p (Holm), of the randomisation test, below {ALPHA:g}. The last column counts queries in "
        "which the run is better, equal or worse."
    )
    return TextTable(
        f"{data}: {name} against run {reference.number}", header, rows, (1,), note, frozenset(told)
    )


def _test_row(row: ComparedRun, title: str) -> tuple[str, ...]:
    mean = fixed(row.mean) if row.mean is not None else NOTHING
    if row.found is None or row.p_holm is None or row.p_t_holm is None or row.p_wilcoxon_holm is None:
        said = row.role if row.role == "reference" else row.differs
        return (str(row.key), title, mean, said, "", "", "", "", "")
    t = row.found
    interval = f"{fixed(t.low, sign=True)} … {fixed(t.high, sign=True)}"
    p = (p_text(row.p_t_holm), p_text(row.p_wilcoxon_holm), p_text(row.p_holm))
    counts = f"{t.wins}/{t.ties}/{t.losses}"
    return (str(row.key), title, mean, fixed(t.mean_difference, sign=True), interval, *p, counts)


def published_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the published results of the methods, next to ours."""
    runs = [run for run in source.runs if not source.is_sealed(run)]
    if len(runs) < len(source.runs):
        yield Paragraph(f"{sealed_text(source)} Published averages are from test parts.")
    if not runs:
        return
    titles = {run.number: run.title for run in runs}
    rows = tuple(
        (
            *(str(row.key), titles[row.key], row.set, row.run.data_name, row.measure, fixed(row.ours)),
            *(
                f"{row.printed.value:g}",
                fixed(row.difference, sign=True),
                row.printed.label,
                row.printed.source,
            ),
        )
        for row in published_rows((run.number, run.result) for run in runs)
    )
    if not rows:
        yield Paragraph("No published numbers are known for these methods on these data.", muted=True)
        return
    header = ("run", "method", "set", "data", "measure", "ours", "printed", "difference", "called", "source")
    note = "Averages over the five test parts; the difference is ours minus the printed value."
    yield TextTable("Printed and computed", header, rows, (1, 2, 3, 4, 8, 9), note)
