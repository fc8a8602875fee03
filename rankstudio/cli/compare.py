"""``rankstudio compare``: the runs of studies side by side, with paired tests against one of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.cli.tables import as_markdown, as_text
from rankstudio.engine.errors import PlanError
from rankstudio.engine.metrics.names import measure

if TYPE_CHECKING:
    from rankstudio.engine.experiment.results import RunResult
    from rankstudio.engine.statistics.paired import PairedComparison

_DESCRIPTION = """\
Compare the finished runs of studies on one dataset: averages over the folds, and paired tests over all test
queries against the run with the best average, or the one that is named.

  rankstudio compare results/study.rankstudio
  rankstudio compare a.rankstudio b.rankstudio --measure NDCG@10 --against 2

p is that of Fisher's randomisation test with two sides, corrected by Holm for the number of runs compared;
the interval is a bootstrap's of the mean difference; better, equal and worse are counts of queries."""


def register(commands: Any) -> None:
    """Add the command to the parser's."""
    parser = commands.add_parser(
        "compare",
        help="put the runs of studies side by side, with paired tests",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("studies", nargs="+", type=Path, help="study files")
    parser.add_argument("--measure", help="what to compare by; the measure that chose by default")
    parser.add_argument("--against", type=int, help="number of the run to compare with; the best by default")
    parser.add_argument("--data", help="name of the dataset, where the studies have several")
    parser.add_argument("--seed", type=int, default=0, help="of the randomisation and the bootstrap")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    runs = _one_dataset(_finished(args.studies), args.data)
    name = measure(args.measure or _chooser(runs)).name
    for number, result in enumerate(runs, start=1):
        if name not in result.average or any(name not in fold.per_query for fold in result.folds):
            raise PlanError(f"measure: run {number}, {result.plan.title}, was not measured by {name}.")
    reference = _reference(runs, name, args.against)
    compared = compare_runs(runs, reference, name, args.seed)
    if args.json:
        print(json.dumps(_plain(runs, name, reference, compared), indent=2, ensure_ascii=False))
        return 0
    header, rows = _table(runs, name, reference, compared)
    queries = sum(fold.per_query[name].size for fold in runs[0].folds)
    title = f"{runs[0].data_name}: {name} over {queries} queries, against run {reference + 1}"
    shown = as_markdown if args.markdown else as_text
    print(f"{title}\n{shown(header, rows, left=(1, 2))}")
    return 0


def compare_runs(
    runs: Sequence[RunResult], reference: int, name: str, seed: int
) -> list[tuple[PairedComparison, float] | None]:
    """Compare runs with one of them, query by query.

    Returns
    -------
    list
        For each run the comparison and its p by Holm; None for the reference itself.
    """
    from rankstudio.engine.statistics.paired import compare_paired, holm

    values = [np.concatenate([fold.per_query[name] for fold in result.folds]) for result in runs]
    found = [
        compare_paired(own, values[reference], seed=seed, higher_is_better=measure(name).higher_is_better)
        for own in values
    ]
    others = [number for number in range(len(runs)) if number != reference]
    adjusted = dict(zip(others, holm([found[n].p_randomisation for n in others]), strict=True))
    return [None if n == reference else (found[n], float(adjusted[n])) for n in range(len(runs))]


def _finished(paths: Sequence[Path]) -> list[RunResult]:
    from rankstudio.engine.experiment.store import Study

    runs: list[RunResult] = []
    for path in paths:
        with Study.open(path) as study:
            runs += [study.result(summary.key) for summary in study.runs() if summary.finished]
    return [result for result in runs if result.complete]


def _one_dataset(runs: list[RunResult], name: str | None) -> list[RunResult]:
    """Return the runs on one dataset; PlanError where there are several, or too few runs."""
    names = sorted({result.data_name for result in runs})
    if name is None and len(names) > 1:
        raise PlanError(f"--data: expected one of {', '.join(names)}, as the studies have runs on several.")
    chosen = [result for result in runs if name in (None, result.data_name)]
    if len(chosen) < 2:
        raise PlanError(f"There is nothing to compare: expected two finished runs, found {len(chosen)}.")
    if len({_folds(result) for result in chosen}) > 1:
        raise PlanError("The runs are on different folds: their queries cannot be paired.")
    if len({result.plan.convention for result in chosen}) > 1:
        raise PlanError("The runs are measured by different conventions: their values cannot be compared.")
    return chosen


def _folds(result: RunResult) -> tuple[object, ...]:
    """Return what has to be the same for the queries of two runs to stand in the same order."""
    plan = result.plan
    made = (plan.protocol, plan.seed) if plan.protocol != "given" else ()
    return (*made, *((fold.fold, len(next(iter(fold.per_query.values()), ()))) for fold in result.folds))


def _chooser(runs: Sequence[RunResult]) -> str:
    first = runs[0].plan
    return first.select_by if first.select_by in first.evaluated else first.measures[0]


def _reference(runs: Sequence[RunResult], name: str, against: int | None) -> int:
    if against is not None:
        if not 1 <= against <= len(runs):
            raise PlanError(f"--against: expected the number of a run, from 1 to {len(runs)}, got {against}.")
        return against - 1
    averages = [result.average[name] for result in runs]
    best = max if measure(name).higher_is_better else min
    return averages.index(best(averages))


def _table(
    runs: Sequence[RunResult],
    name: str,
    reference: int,
    compared: Sequence[tuple[PairedComparison, float] | None],
) -> tuple[list[str], list[list[str]]]:
    header = ["run", "method", "k", name, "difference", "95 % interval", "p (Holm)", "better/equal/worse"]
    rows = []
    for number, (result, found) in enumerate(zip(runs, compared, strict=True), start=1):
        sizes = sorted({len(fold.selected) for fold in result.folds})
        k = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]}"
        row = [str(number), result.plan.title, k, f"{result.average[name]:.4f}"]
        if found is None:
            rows.append([*row, "", "", "", "reference"])
            continue
        c, p = found
        interval = f"{c.low:+.4f} … {c.high:+.4f}"
        rows.append(
            [*row, f"{c.mean_difference:+.4f}", interval, f"{p:.4f}", f"{c.wins}/{c.ties}/{c.losses}"]
        )
    return header, rows


def _plain(
    runs: Sequence[RunResult],
    name: str,
    reference: int,
    compared: Sequence[tuple[PairedComparison, float] | None],
) -> dict[str, Any]:
    """Return the comparison as plain values."""
    from dataclasses import asdict

    return {
        "data": runs[0].data_name,
        "measure": name,
        "reference": reference + 1,
        "runs": [
            {
                "run": number,
                "method": result.plan.method,
                "judge": result.plan.judge,
                "average": result.average[name],
                "comparison": None if found is None else {**asdict(found[0]), "p_holm": found[1]},
            }
            for number, (result, found) in enumerate(zip(runs, compared, strict=True), start=1)
        ],
    }
