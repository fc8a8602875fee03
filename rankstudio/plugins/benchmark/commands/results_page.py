"""The results of a benchmark as tables for a page in Markdown: values, tests, printed values and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan

from rankstudio.cli.output.comparison_tables import mean_text, plan_text
from rankstudio.cli.output.text_tables import document
from rankstudio.cli.progress_bar import clock
from rankstudio.engine.analysis.comparisons.published import (
    PublishedRow,
    published_rows,
)
from rankstudio.engine.analysis.reported_runs import (
    ReportedGroup,
    ReportedRun,
    ReportSource,
    tests_of,
)
from rankstudio.engine.analysis.result_table.fold_table import best_of_several
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.export.tables import TextTable, p_text, range_text
from rankstudio.engine.metrics.conventions import rules_text
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.escaping import markdown_escaped
from rankstudio.engine.support.item_groups import grouped
from rankstudio.engine.support.number_format import NOTHING, fixed
from rankstudio.plugins.benchmark.commands.benchmark_tables import result_table
from rankstudio.plugins.method_ranks.mean_ranks import MethodRanking
from rankstudio.plugins.method_ranks.ranking_tables import best_pairs_table

_PARTS = (Part.CROSS_FITTED, Part.TEST)
"""Parts whose means are estimates for new queries, in the order of the columns."""

_Column = tuple[str, Part | None]
"""Measure of a column, and the part of its means; None for the p values of tests."""

_PART_LABELS = {Part.CROSS_FITTED: "cross-fitted", Part.TEST: "test"}


def results_page(
    title: str, source: ReportSource, ranking: MethodRanking | None, picture: str
) -> str:
    """Return the page of a finished benchmark in Markdown.

    Parameters
    ----------
    title : str
        Title of the benchmark.
    source : ReportSource
        Its runs.
    ranking : MethodRanking or None
        The methods over the datasets; None if they cannot be ranked.
    picture : str
        Name of the file with the critical-difference diagram.
    """
    n_runs = len(source.runs)
    runs = "1 run" if n_runs == 1 else f"{n_runs} runs"
    time = clock(sum(run.result.seconds for run in source.runs))
    parts = [
        f"# {markdown_escaped(title)}",
        f"{runs}, computed in {time} (minutes and seconds, or hours).",
        str(document(dataset_tables(source), "markdown")),
    ]
    if ranking is not None:
        parts += [
            str(document(ranking_tables(ranking), "markdown")),
            f"![Mean ranks by {markdown_escaped(ranking.table.measure)}]({picture})",
        ]
    return "\n\n".join(filter(None, parts)) + "\n"


def ranking_tables(ranking: MethodRanking) -> Iterator[TextTable]:
    """Yield the values with ranks on each dataset, and the tests against the best ranked method."""
    yield result_table(ranking)
    if ranking.tests is not None:
        yield best_pairs_table(ranking)


def dataset_tables(source: ReportSource) -> Iterator[TextTable]:
    """Yield for each group of comparable runs its table of means, and that of printed values.

    Where a test part is sealed, the numbers are of the validation part.
    """
    for group in source.shown.groups:
        yield means_table(group)
        printed = published_rows((run.number, run.result) for run in group.runs)
        if printed:
            yield _printed_table(group, printed)


def means_table(group: ReportedGroup) -> TextTable:
    """Return the table of the means of each run of a group, with tests on the part of the group.

    Each measure has a cross-fitted mean and a mean on the test part, as
    far as they are known, and the measure of the group comes first,
    followed by the tests. They are against the run with the best
    cross-fitted mean, so that test values do not choose their own
    reference.
    """
    # The measure of the group, then the others.
    names = list(
        dict.fromkeys(
            [group.measure, *(name for run in group.runs for name in run.plan.measures)]
        )
    )
    reference = _reference(group)
    p_values = _p_values(group, reference)
    columns = _columns(group, names, has_tests=bool(p_values))
    rows = [
        (
            _method_text(run),
            range_text(run.result.sizes),
            *(
                mean_text(run.result, name, part)
                if part is not None
                else p_values.get(run.number, NOTHING)
                for name, part in columns
            ),
        )
        for run in group.runs
    ]
    labels = [
        f"{name}, {_PART_LABELS[part]}" if part is not None else f"p ({name})"
        for name, part in columns
    ]
    return TextTable(
        group.title,
        ("method", "k", *labels),
        rows,
        (0,),  # left-aligned columns: the methods
        _note(group, names, reference if p_values else None),
        _best_cells(group, columns),
    )


def _columns(
    group: ReportedGroup, names: Sequence[str], *, has_tests: bool
) -> list[_Column]:
    """Return the columns that follow those of the method and of k.

    ``names`` are the measures, that of the group first. With tests,
    their p values follow the means of that measure.
    """
    columns: list[_Column] = []
    for name in names:
        columns += [
            (name, part)
            for part in _PARTS
            if any(name in run.result.average_on(part) for run in group.runs)
        ]
        if has_tests and name == group.measure:
            columns.append((name, None))
    return columns


def _method_text(run: ReportedRun) -> str:
    """Return the user's name of a run, or else its methods with the parameters that are no defaults."""
    return run.label.name or plan_text(run.plan)


def _reference(group: ReportedGroup) -> ReportedRun:
    """Return the run with the best cross-fitted mean; without such means, the best run of the group."""
    name = group.measure
    sign = 1.0 if measure(name).higher_is_better else -1.0
    means = {
        run.number: sign * run.result.average_on(Part.CROSS_FITTED).get(name, nan)
        for run in group.runs
    }
    estimated_runs = [run for run in group.runs if not isnan(means[run.number])]
    if not estimated_runs:
        return group.best
    return max(estimated_runs, key=lambda run: means[run.number])


def _p_values(group: ReportedGroup, reference: ReportedRun) -> dict[int, str]:
    """Return the text of p for each run by its number; {} if the runs are not ranked.

    The p values are those of the randomisation test against a
    reference, with Holm's correction.
    """
    if not group.is_ranked:
        return {}
    tested = tests_of(group.runs, reference, group.measure)
    p_values = {row.key: p_text(row.p_holm) for row in tested if row.p_holm is not None}
    return {**p_values, reference.number: "reference"} if p_values else {}


def _note(
    group: ReportedGroup, names: Sequence[str], reference: ReportedRun | None
) -> str:
    """Return the text below the table of means: what they are means of, and what p is.

    ``names`` are the measures, and ``reference`` the run that the tests
    compare with; None without tests.
    """
    sentences = [
        f"Means over the folds: {group.group.scope}, {rules_text(group.group.key.convention, names)}.",
        group.reason,
    ]
    if reference is not None:
        sentences.append(
            f"p: Fisher's randomisation test of {group.measure} against {_method_text(reference)}, which has "
            f"the best cross-fitted {group.measure}; Holm's correction for {len(group.runs) - 1} runs."
        )
    for reason, runs in grouped(group.runs, lambda run: run.result.unfitted).items():
        if reason is not None:
            methods = ", ".join(map(_method_text, runs))
            sentences.append(f"No cross-fitted values of {methods}: {reason.sentence}.")
    return " ".join(filter(None, sentences))


def _best_cells(
    group: ReportedGroup, columns: Sequence[_Column]
) -> frozenset[tuple[int, int]]:
    """Return row and column of the best mean of each measure and part; none if the runs are not ranked.

    The columns of the means follow those of the method and of k.
    """
    if not group.is_ranked:
        return frozenset()
    best_cells = set()
    for column, (name, part) in enumerate(columns, start=2):
        if part is None:  # p values have no best one
            continue
        means = [run.result.average_on(part).get(name, nan) for run in group.runs]
        best = best_of_several(means, name)
        best_cells |= {
            (row, column)
            for row, mean in enumerate(means)
            if best is not None and mean == best
        }
    return frozenset(best_cells)


def _printed_table(group: ReportedGroup, printed: Sequence[PublishedRow]) -> TextTable:
    """Return the table of the values that papers print for the methods of a group."""
    run_by_number = {run.number: run for run in group.runs}
    rows = [
        (
            _method_text(run_by_number[row.key]),
            row.measure,
            fixed(row.ours),
            fixed(row.printed.value),
            fixed(row.difference, sign=True),
            f"{row.printed.label}, {row.printed.source}",
        )
        for row in printed
    ]
    header = ("method", "measure", "here, test", "printed", "difference", "source")
    return TextTable(f"{group.title}: beside printed values", header, rows, (0, 1, 5))
