"""The tables of a benchmark: its datasets, its times, and the values of its methods."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from rankstudio.cli.output.comparison_tables import plan_text
from rankstudio.cli.progress_bar import clock
from rankstudio.cli.terminal import Block
from rankstudio.engine.errors import one_line
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.support.item_groups import grouped
from rankstudio.engine.support.number_format import NOTHING, count_text
from rankstudio.plugins.benchmark.dataset_search import SkippedPath
from rankstudio.plugins.benchmark.planned_benchmark import (
    PlannedBenchmark,
    PlannedDataset,
    PlannedRun,
)
from rankstudio.plugins.method_ranks.mean_ranks import MethodRanking

_NOT_KNOWN = "other data"
_MAX_FILES = 3  # skipped files of a folder that are all listed
_WIDTH = 110


def planning_tables(benchmark: PlannedBenchmark) -> tuple[TextTable, ...]:
    """Return the tables of datasets, times and impossible runs, which are shown before the first run."""
    tables = [datasets_table(benchmark.datasets), times_table(benchmark)]
    problems = problems_table(benchmark.datasets)
    tables += [problems] if problems.rows else []
    return tuple(tables)


def datasets_table(datasets: Sequence[PlannedDataset]) -> TextTable:
    """Return the datasets, each with its collection, its measures and its sizes."""
    rows = [
        (
            dataset.name,
            dataset.known or _NOT_KNOWN,  # the title of a published dataset
            convention(dataset.convention).label,
            f"{dataset.n_folds} ({dataset.division})",
            count_text(dataset.n_queries),
            count_text(dataset.n_documents),
            count_text(dataset.n_features),
            str(dataset.path),
        )
        for dataset in datasets
    ]
    header = (
        *("dataset", "recognised as", "measures", "folds", "queries", "documents"),
        *("features", "path"),
    )

    # Columns 0 to 3 and the path are texts, which are aligned to the left.
    note = (
        "Queries and documents are those of the first fold. Data without a validation or test part "
        "are divided into folds of queries."
    )
    return TextTable("Datasets", header, rows, (0, 1, 2, 3, 7), note)


def times_table(benchmark: PlannedBenchmark) -> TextTable:
    """Return the estimated times of methods (rows) on datasets (columns), with sums for both."""
    # One row for each method, because there may be more methods than
    # datasets. Each dataset has the runs of the methods in the same
    # order.
    columns = [dataset.runs for dataset in benchmark.datasets]
    rows = [
        (plan_text(runs[0].plan), *map(_time_text, runs), _total_text(runs))
        for runs in zip(*columns, strict=True)
    ]
    totals = [_total_text(runs) for runs in columns]
    rows.append(("all", *totals, _clock(benchmark.seconds)))
    header = ("method", *(dataset.name for dataset in benchmark.datasets), "all")
    note = (
        "Times are estimates for one thread, in minutes and seconds, or hours. Finished runs of the study "
        "make them more precise."
    )
    return TextTable("Estimated time", header, rows, (0,), note)


def _time_text(run: PlannedRun) -> str:
    """Return the time of a run as a text: a dash for an impossible run."""
    if run.problem:
        return NOTHING
    return _clock(run.seconds) if run.seconds > 0 else "done"


def _total_text(runs: Sequence[PlannedRun]) -> str:
    """Return the time of several runs as a text."""
    return _clock(sum(run.seconds for run in runs))


def _clock(seconds: float) -> str:
    """Return a time as a text, at least a second for any work."""
    return clock(max(1.0, seconds) if seconds > 0 else 0.0)


def problems_table(datasets: Sequence[PlannedDataset]) -> TextTable:
    """Return the runs that are impossible, with the reasons."""
    rows = [
        (plan_text(run.plan), dataset.name, run.problem)
        for dataset in datasets
        for run in dataset.runs
        if run.problem
    ]
    return TextTable(
        "Impossible runs", ("method", "dataset", "reason"), rows, (0, 1, 2)
    )


def skipped_text(skipped: Sequence[SkippedPath]) -> Block:
    """Return the files and folders that take no part, each with its reason, as lines.

    If many files of one folder are skipped, only the first file is
    listed, with the number of the others.
    """
    lines = ["Skipped"]
    for folder, paths in grouped(skipped, lambda path: path.path.parent).items():
        files = [path for path in paths if not path.path.is_dir()]

        # Only the first of many files is listed; folders are always listed.
        unlisted = files[1:] if len(files) > _MAX_FILES else []
        for path in paths:
            lines += _skipped_lines(path) if path not in unlisted else []
        if unlisted:
            lines.append(
                f"    and {len(unlisted)} other files in {one_line(str(folder))}"
            )
    return Block("\n".join(lines))


def _skipped_lines(skipped: SkippedPath) -> list[str]:
    """Return a path with its reason as lines of a terminal, the first one at its left edge."""
    return textwrap.wrap(
        f"{one_line(str(skipped.path))}: {one_line(skipped.own_reason)}",
        _WIDTH,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def result_table(ranking: MethodRanking) -> TextTable:
    """Return the value of each method on each dataset, with the rank on it and the mean rank."""
    # One row for each method, the best mean rank first. In the arrays
    # of the ranking, rows are datasets and columns are methods.
    rows = []
    for column, method in enumerate(ranking.methods):
        scores = ranking.table.values[:, column].tolist()
        ranks = ranking.ranks[:, column].tolist()
        cells = [
            f"{score:.4f} ({rank:g})" for score, rank in zip(scores, ranks, strict=True)
        ]
        rows.append((method, *cells, f"{ranking.mean_ranks[column]:.2f}"))

    # The note says where the values of each dataset are from, and what the tests say.
    datasets = ranking.table.datasets
    scopes = (
        f"{dataset.name}: {dataset.scope}, {convention(dataset.convention).label}."
        for dataset in datasets
    )
    header = ("method", *(dataset.name for dataset in datasets), "mean rank")
    title = f"{ranking.table.measure}, with the rank on each dataset"

    # The cells with the best rank on a dataset are highlighted, by row
    # and column of the table. Its rows are the columns of the ranking,
    # and its first column has the names of the methods.
    best_cells = {
        (column, row + 1)
        for row, ranks in enumerate(ranking.ranks.tolist())
        for column, rank in enumerate(ranks)
        if rank == min(ranks)
    }
    return TextTable(
        title,
        header,
        rows,
        (0,),  # left-aligned columns: the names of the methods
        " ".join(("Values are means over queries.", *scopes, *ranking.notes())),
        frozenset(best_cells),
    )


def benchmark_as_dict(benchmark: PlannedBenchmark) -> dict[str, Any]:
    """Return datasets, times and what is skipped as plain values for JSON."""
    return {
        "seconds": benchmark.seconds,
        "datasets": [
            {
                "data": dataset.name,
                "path": str(dataset.path),
                "recognised_as": dataset.known,
                "convention": dataset.convention,
                "protocol": dataset.division,
                "folds": dataset.n_folds,
                "queries": dataset.n_queries,
                "documents": dataset.n_documents,
                "features": dataset.n_features,
                "runs": [
                    {
                        "method": run.plan.title,
                        "seconds": run.seconds,
                        "problem": run.problem,
                    }
                    for run in dataset.runs
                ],
            }
            for dataset in benchmark.datasets
        ],
        "skipped": [
            {"path": str(skipped.path), "reason": skipped.reason}
            for skipped in benchmark.skipped
        ],
    }
