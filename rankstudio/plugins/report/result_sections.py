"""The sections of a report on results: measures by run and fold, paired tests, and published numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import nan
from statistics import stdev

from rankstudio.engine.analysis.comparisons.published import (
    published_rows,
    set_otherwise,
)
from rankstudio.engine.analysis.comparisons.significance import ALPHA, ComparedRun
from rankstudio.engine.analysis.figures.study_figures import curves_of, differences_of
from rankstudio.engine.analysis.reported_runs import (
    ReportedGroup,
    ReportedRun,
    ReportSource,
    listed,
    spread,
)
from rankstudio.engine.analysis.result_table.fold_table import (
    best_of_several,
    defined,
    measure_rows,
)
from rankstudio.engine.export.tables import TextTable, p_text, range_text
from rankstudio.engine.metrics.conventions import rules_text
from rankstudio.engine.plugins.report_parts import Paragraph
from rankstudio.engine.support.number_format import NOTHING, fixed
from rankstudio.plugins.report.best_run import group_sentences
from rankstudio.plugins.report.document import Block, ReportFigure

_MAX_FOLDS = 30
_MAX_RUNS = 12


def sealed_text(source: ReportSource) -> str:
    """Return a sentence on the test parts that are sealed."""
    names = source.sealed_datasets
    sealed = (
        f"part of {names[0]} is" if len(names) == 1 else f"parts of {listed(names)} are"
    )
    return f"The test {sealed} sealed; test measures are left out until the seal is broken."


def result_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield for each group of comparable runs its best run, averages, curves, and measures by fold.

    Where a test part is sealed, a paragraph says that the numbers are
    of validation parts.
    """
    if source.sealed_datasets:
        yield Paragraph(
            f"{sealed_text(source)} These results are from the validation parts."
        )
    for group in source.groups:
        yield from group_sentences(group)
        yield _averages_table(group)
        for run in group.runs:
            yield from (
                Paragraph(f"Run {run.number}, {run.title}: {note.what}")
                for note in run.result.notes
            )
        curves = _curves_figure(group)
        if curves is not None:
            yield curves
        folds = _folds_table(group)
        if folds is not None:
            yield folds


def _averages_table(group: ReportedGroup) -> TextTable:
    """Return the table of mean measures of the runs of a group and of the best single feature.

    The best mean of each measure is bold, if the runs are ranked.
    """
    runs = group.runs
    names = list(dict.fromkeys(name for run in runs for name in run.plan.measures))
    rows = [_average_row(run, names) for run in runs]

    # All runs of a group have the same folds, and so the same single
    # features. Their row has no number of a run, and 1 feature.
    single = runs[0].result.baseline
    cells = [fixed(single[name]) if name in single else NOTHING for name in names]
    rows.append(("", "best single feature", "1", *cells))
    rules = rules_text(group.group.key.convention, names)
    model_note = (
        "Each fold has the model that the run's rule chose, not one chosen by hand."
    )
    note = f"Mean ± standard deviation over the folds ({group.group.scope}) by {rules}. {model_note}"
    header = ("run", "method", "features", *names)
    bold = _best_cells(group, names)
    return TextTable(
        f"{group.title}: averages",
        header,
        tuple(rows),
        left=(1,),
        note=note,
        bold=bold,
    )


def _average_row(run: ReportedRun, names: Sequence[str]) -> tuple[str, ...]:
    """Return a row with a run's number, title, sizes and mean measures."""
    cells = [_spread_text(run, name) for name in names]
    title = " · ".join(filter(None, [run.title, set_otherwise(run.result)]))
    return (str(run.number), title, range_text(run.result.sizes), *cells)


def _spread_text(run: ReportedRun, name: str) -> str:
    """Return the mean of a measure on the run's part, with the standard deviation over the folds."""
    result = run.result
    values = defined(fold.measured(result.part).get(name, nan) for fold in result.folds)
    if not values:
        return NOTHING
    return spread(result.average[name], stdev(values) if len(values) > 1 else None)


def _best_cells(
    group: ReportedGroup, names: Sequence[str]
) -> frozenset[tuple[int, int]]:
    """Return row and column of a table's cells with the best means; none if the runs are not ranked.

    The rows are those of the group's runs, and the columns of ``names``
    follow three others.
    """
    if not group.is_ranked:
        return frozenset()
    means = [run.result.average for run in group.runs]
    best = {
        name: best_of_several([mean.get(name, nan) for mean in means], name)
        for name in names
    }
    return frozenset(
        (row, column)
        for column, name in enumerate(names, start=3)  # after run, method and features
        for row, mean in enumerate(means)
        if best[name] is not None and mean.get(name) == best[name]
    )


def _curves_figure(group: ReportedGroup) -> ReportFigure | None:
    """Return the figure of the validation measure by model size, a curve per run of the group.

    A band shows the interval of the difference to the best run. Return
    None without validation.
    """
    figure = curves_of(group.folds_title, group.runs[:_MAX_RUNS], group.measure)
    return ReportFigure(figure) if figure is not None else None


def _folds_table(group: ReportedGroup) -> TextTable | None:
    """Return the table of a group's measure by fold and run.

    Return None for a single fold, or for too many folds.
    """
    runs = group.runs
    name = group.measure
    numbers = group.group.key.folds

    # Only runs that have the measure, and not more than fit in the width of a page.
    measured_runs = [run for run in runs if name in run.result.average][:_MAX_RUNS]
    if not measured_runs or not 1 < len(numbers) <= _MAX_FOLDS:
        return None
    measured_rows = measure_rows(
        {run.number: run.result for run in measured_runs}, name
    )
    rows = tuple(
        (row.label, *(fixed(row.values[run.number]) for run in measured_runs))
        for row in measured_rows
    )

    # The best value of each row is bold, if the runs of the group are compared.
    bold = {
        (index, column)
        for index, row in enumerate(measured_rows)
        for column, run in enumerate(measured_runs, start=1)
        if group.is_ranked
        and row.best is not None
        and row.values[run.number] == row.best
    }
    header = ("fold", *(f"run {run.number}" for run in measured_runs))

    # The note says how many runs are left out.
    n_left_out = len(runs) - len(measured_runs)
    note = (
        f"Left out: {n_left_out} runs without {name} or after the first {_MAX_RUNS}."
        if n_left_out
        else ""
    )
    title = f"{group.title}: {name} by fold ({group.group.key.part.label})"
    return TextTable(
        title,
        header,
        rows,
        left=(0,),
        note=note,
        bold=frozenset(bold),
    )


def paired_test_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the paired tests of the runs of each group against the best one."""
    for reported_group in source.groups:
        has_comparisons = any(row.role == "compared" for row in reported_group.tests)
        if not has_comparisons:
            reason = (
                reported_group.group.unranked
                or "there are no two runs that can be compared query by query"
            )
            yield Paragraph(f"{reported_group.title}: {reason}.", muted=True)
            continue
        yield _tests_table(reported_group)
        figure = differences_of(
            reported_group.title,
            reported_group.runs,
            reported_group.measure,
            reported_group.tests,
        )
        if figure is not None:
            yield ReportFigure(figure)


def _tests_table(group: ReportedGroup) -> TextTable:
    """Return the table of significance tests of the runs against the best run of the group."""
    # One row for each run, tested against the best one.
    name = group.measure
    reference = group.best
    tested = group.tests
    titles = {run.number: run.title for run in group.runs}
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

    # Significant differences are bold, in the column of the corrected p-values.
    p_column = header.index("p (Holm)")
    significant = {
        (index, p_column)
        for index, row in enumerate(tested)
        if row.p_holm is not None and row.p_holm < ALPHA
    }

    # Holm's correction is for the number of compared runs, which the note says.
    family = sum(row.role == "compared" for row in tested)
    plural = "s" if family > 1 else ""
    note = (
        f"Difference of each run from {reference.name} ({group.group.scope}), with "
        "bootstrap intervals. Two-sided p-values: Student's paired t-test, Wilcoxon signed-rank test and "
        f"Fisher's randomisation test, with Holm correction for {family} run{plural}. "
        f"Bold: p (Holm), of the randomisation test, below {ALPHA:g}. The last column counts queries in "
        "which the run is better, equal or worse."
    )
    title = f"{group.title}: {name} against run {reference.number}"
    return TextTable(
        title,
        header,
        rows,
        left=(1,),
        note=note,
        bold=frozenset(significant),
    )


def _test_row(row: ComparedRun, title: str) -> tuple[str, ...]:
    """Return the cells of a run in the table of tests.

    ``row`` has its test against the best run; without one, the reason
    stands instead of a difference.
    """
    mean = fixed(row.mean) if row.mean is not None else NOTHING

    # Without a test, all of these are None.
    if (
        row.paired_test is None
        or row.p_holm is None
        or row.p_t_holm is None
        or row.p_wilcoxon_holm is None
    ):
        # `differs` says why a run is not compared.
        role = row.role if row.role == "reference" else row.differs
        return (str(row.key), title, mean, role, "", "", "", "", "")
    test = row.paired_test
    difference = fixed(test.mean_difference, sign=True)
    interval = f"{fixed(test.low, sign=True)} … {fixed(test.high, sign=True)}"
    p_texts = (p_text(row.p_t_holm), p_text(row.p_wilcoxon_holm), p_text(row.p_holm))
    counts = f"{test.wins}/{test.ties}/{test.losses}"
    return (str(row.key), title, mean, difference, interval, *p_texts, counts)


def published_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the results that papers print for the same methods and data, next to the computed ones."""
    # Published averages are from test parts, so that sealed runs are left out.
    runs = [run for run in source.runs if not source.is_sealed(run)]
    if len(runs) < len(source.runs):
        yield Paragraph(
            f"{sealed_text(source)} Published averages are from test parts."
        )
    if not runs:
        return

    # One row for each published number of a run's method on the run's data.
    titles = {run.number: run.title for run in runs}
    rows = tuple(
        (
            str(row.key),
            titles[row.key],
            row.set,
            row.run.data_name,
            row.measure,
            fixed(row.ours),
            f"{row.printed.value:g}",
            fixed(row.difference, sign=True),
            row.printed.label,
            row.printed.source,
        )
        for row in published_rows((run.number, run.result) for run in runs)
    )
    if not rows:
        yield Paragraph(
            "No published numbers are known for these methods on these data.",
            muted=True,
        )
        return
    header = (
        "run",
        "method",
        "set",
        "data",
        "measure",
        "ours",
        "printed",
        "difference",
        "called",
        "source",
    )
    note = "Averages over the five test parts; the difference is ours minus the printed value."
    yield TextTable(
        "Printed and computed",
        header,
        rows,
        left=(1, 2, 3, 4, 8, 9),  # columns of texts
        note=note,
    )
