"""Comparisons of runs as tables to print, as CSV, and as plain values; published numbers beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.engine.analysis.batch import Comparison, comparison_table
from rankstudio.engine.analysis.comparability import paired_over
from rankstudio.engine.analysis.pareto import ParetoFront, pareto_front_of
from rankstudio.engine.analysis.published import Published, printed_of
from rankstudio.engine.analysis.selection_stability import stability_of, stability_table
from rankstudio.engine.analysis.significance import (
    CorrectedTest,
    PinEffect,
    RunComparison,
    best_run,
    by_dataset,
    pin_effects,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.export.tables import TextTable, p_text, range_text, save_csv
from rankstudio.engine.methods.catalog import Method
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.statistics.stability import Stability
from rankstudio.engine.support.files import write_text
from rankstudio.engine.support.number_format import significant

_TESTS = ["difference", "95 % interval", "p (t)", "p (t, Holm)", "p (W)", "p (W, Holm)", "p", "p (Holm)"]
_TESTS += ["better/equal/worse"]

# In CSV, by the names that JSON has for what the tests found.
_IN_CSV = ["mean_difference", "low", "high", "t", "p_t", "p_t_holm", "p_randomisation", "p_holm"]
_IN_CSV += ["p_wilcoxon", "p_wilcoxon_holm", "wins", "ties", "losses", "n"]


def sections(compared: RunComparison, seed: int) -> Iterator[TextTable]:
    """Yield the tables of a comparison: tests, selections, sizes, and pins where there are any."""
    yield tests(compared)
    stable = [
        (number, plan_text(result.plan), result)
        for number, result in enumerate(compared.runs, start=1)
        if stability_of(result)
    ]
    if stable:
        folds = len(compared.runs[0].folds)
        yield stability_table(f"{compared.data}: selection stability over {folds} folds", stable)
    front = pareto_front_of(compared.runs, compared.measure)
    by_cost = pareto_front_of(compared.runs, compared.measure, by="cost")
    yield from (_front(compared, found) for found in (front, by_cost) if found is not None)
    effects = pin_effects(compared.runs, compared.measure, seed)
    if effects:
        yield _pins(compared, effects)


def tests(compared: RunComparison) -> TextTable:
    """Return the table of averages, with each run's tests against the reference."""
    header = ["run", "method", "k", compared.measure, *_TESTS]
    rows = []
    for number, (result, tested) in enumerate(zip(compared.runs, compared.tests, strict=True), start=1):
        found = _tested(tested) if tested else [*[""] * (len(_TESTS) - 1), "reference"]
        average = f"{result.average[compared.measure]:.4f}"
        rows.append([str(number), plan_text(result.plan), range_text(result.sizes), average, *found])
    title = (
        f"{compared.data}: {compared.measure} over {paired_over(compared.runs[0].plan, compared.n_queries)}, "
        f"against run {compared.reference + 1}"
    )
    return TextTable(title, header, rows, (1, 2))


def _tested(tested: CorrectedTest) -> list[str]:
    t = tested.test
    interval = f"{t.low:+.4f} … {t.high:+.4f}"
    uncorrected = t.p_t, t.p_wilcoxon, t.p_randomisation
    corrected = tested.p_t_holm, tested.p_wilcoxon_holm, tested.p_holm
    p = [p_text(one) for pair in zip(uncorrected, corrected, strict=True) for one in pair]
    return [f"{t.mean_difference:+.4f}", interval, *p, f"{t.wins}/{t.ties}/{t.losses}"]


def plan_text(plan: Plan) -> str:
    """Return what was run, with what was set otherwise than by default: "GAS, then RankSVM (loss hinge)"."""
    ranker = plan.ranker_entry
    if plan.entry.given:
        return plan.title
    method = method_text(plan.entry, plan.parameters)
    methods = f"{method}, then {method_text(ranker, plan.ranker_parameters)}" if ranker else method
    return f"{methods}{plan.share_text}"


def method_text(entry: Method, parameters: Mapping[str, Any]) -> str:
    """Return a method with its parameters that differ from the defaults, without grids of several values."""
    fixed = [
        f"{p.label} {p.format(value)}"
        for p in entry.parameters
        if (value := parameters[p.name]) != p.default and not (p in entry.grids and p.several(value))
    ]
    return f"{entry.label} ({', '.join(fixed)})" if fixed else entry.label


def _front(compared: RunComparison, found: ParetoFront) -> TextTable:
    rows = []
    for position in found.optimal:
        model = found.models[position]
        error = f"{model.error:.4f}" if model.error == model.error else ""
        plan = compared.runs[model.run].plan
        combination = ", ".join(
            f"{axis.label} {axis.format(value)}" for axis, value in zip(plan.axes, model.values, strict=True)
        )
        least = "smallest" if found.by == "size" else "cheapest"
        mark = f"{least} within one standard error of the best" if position == found.suggested else ""
        what = [str(model.run + 1), plan_text(plan), combination]
        cost = [] if found.by == "size" else [significant(model.x)]
        rows.append([*cost, f"{model.size:g}", f"{model.mean:.4f}", error, *what, mark])
    costs = {"cost": ["cost"], "milliseconds": ["ms per query"]}.get(found.by, [])
    header = [*costs, "features", compared.measure, "standard error", "run", "method", "with", ""]
    note = f"Measure and {found.by} are means over the folds, for one parameter combination and step."
    title = f"{compared.data}: Pareto front of {found.by} and validation {compared.measure}"
    at = len(costs)
    return TextTable(title, header, rows, (at + 4, at + 5, at + 6), note)


def _pins(compared: RunComparison, effects: Sequence[PinEffect]) -> TextTable:
    header = ["run", "method", "against", *_TESTS]
    rows = [
        [str(e.run + 1), plan_text(compared.runs[e.run].plan), f"run {e.other + 1}", *_tested(e.tested)]
        for e in effects
    ]
    return TextTable(f"{compared.data}: effect of pinned and banned features", header, rows, (1, 2))


def tests_table(compared: Sequence[RunComparison]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return one row for every run with all digits: header and rows."""
    header = ["data", "measure", "run", "method", "ranker", "features_min", "features_max", "average"]
    header += ["against", "difference", *_IN_CSV[1:-1], "queries"]
    header += ["jaccard", "kuncheva", "lustgarten", "nogueira", "nogueira_low", "nogueira_high"]
    return header, [_row(c, run) for c in compared for run in _runs(c)]


def _row(compared: RunComparison, run: dict[str, Any]) -> tuple[Any, ...]:
    sizes, test, stable = run["features"], run["comparison"] or {}, run["stability"] or {}
    nogueira = stable.get("nogueira", {})
    return (
        *(compared.data, compared.measure, run["run"], run["method"], run["ranker"]),
        *(min(sizes, default=""), max(sizes, default=""), run["average"], compared.reference + 1),
        *(test.get(name, "") for name in _IN_CSV),
        *(stable.get(name, "") for name in ("jaccard", "kuncheva", "lustgarten")),
        *(nogueira.get(name, "") for name in ("value", "low", "high")),
    )


def as_dict(compared: RunComparison, seed: int) -> dict[str, Any]:
    """Return everything about a comparison as plain values."""
    effects = pin_effects(compared.runs, compared.measure, seed)
    return {
        "data": compared.data,
        "measure": compared.measure,
        "reference": compared.reference + 1,
        "runs": list(_runs(compared)),
        "front": _plain_front(pareto_front_of(compared.runs, compared.measure)),
        "front_by_cost": _plain_front(pareto_front_of(compared.runs, compared.measure, by="cost")),
        "pins": [{"run": e.run + 1, "against": e.other + 1, **_plain(e.tested)} for e in effects],
    }


def _runs(compared: RunComparison) -> Iterator[dict[str, Any]]:
    """Yield each run of a comparison as plain values."""
    for number, (result, tested) in enumerate(zip(compared.runs, compared.tests, strict=True), start=1):
        yield {
            "run": number,
            "method": result.plan.method,
            "ranker": result.plan.ranker,
            "title": plan_text(result.plan),
            "features": result.sizes,
            "average": result.average[compared.measure],
            "comparison": _plain(tested) if tested else None,
            "stability": _plain_stability(stability_of(result)),
        }


def _plain(tested: CorrectedTest) -> dict[str, Any]:
    corrected = {name: getattr(tested, name) for name in ("p_t_holm", "p_wilcoxon_holm", "p_holm")}
    return {**asdict(tested.test), **corrected}


def _plain_front(found: ParetoFront | None) -> list[dict[str, Any]]:
    if found is None:
        return []
    models = [(position, found.models[position]) for position in found.optimal]
    rows = []
    for at, model in models:
        row = {**asdict(model), "run": model.run + 1, "suggested": at == found.suggested}
        x = row.pop("x")
        rows.append(row if found.by == "size" else {**row, found.by: x})
    return rows


def _plain_stability(s: Stability | None) -> dict[str, Any] | None:
    if s is None:
        return None
    return {"jaccard": s.jaccard, s.index.lower(): s.consistency, "nogueira": s.nogueira._asdict()}


Printed = Mapping[str, tuple[Published, ...]]


def write(
    comparison: Comparison, results: Sequence[RunResult], out: Path, tested: Sequence[RunComparison] = ()
) -> None:
    """Write the tables into a folder, as Markdown and as CSV; tests where they are made already.

    Raises
    ------
    OutputError
        Where something cannot be written.
    """
    save_csv(out / "comparison.csv", *comparison_table(results))
    page = document(_sections(results, tested), "markdown")
    write_text(out / "comparison.md", f"# {comparison.title}\n\n{page}\n")
    if tested:
        save_csv(out / "tests.csv", *tests_table(tested))


def shown(
    comparison: Comparison, results: Sequence[RunResult], tested: Sequence[RunComparison], json: bool
) -> str:
    """Return the tables as text, or as one document in JSON."""
    if not json:
        return "\n\n".join(filter(None, [comparison.title, document(_sections(results, tested))]))
    names, values = comparison_table(results)
    rows: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in values]
    return as_json({"title": comparison.title, "rows": rows, "tests": [as_dict(c, 0) for c in tested]})


def _sections(results: Sequence[RunResult], tested: Sequence[RunComparison]) -> Iterator[TextTable]:
    of = {compared.data: compared for compared in tested}
    for data, own in by_dataset(results).items():
        yield averages(data, own)
        if data in of:
            yield tests(of[data])


def averages(data: str, own: Sequence[RunResult]) -> TextTable:
    """Return the table of a dataset: averages, what was printed, the difference.

    The best average of each measure bears a star.
    """
    first, names = own[0], own[0].plan.measures
    printed = [printed_of(result) for result in own]
    compared = [name for name in names if any(found.get(name) for found in printed)]
    best = {name: found.average[name] for name in names if (found := best_run(own, name))}
    header = ["method", "ranked by", "k", *names]
    for name in compared:
        header += [f"printed {name}", "difference"]
    header.append("source")
    rows = [
        row
        for result, found in zip(own, printed, strict=True)
        for row in _rows(result, found, names, compared, best)
    ]
    single = [f"{first.baseline[name]:.4f} " for name in names]
    rows.append(["best single feature", "", "1", *single, *[""] * (2 * len(compared) + 1)])
    rules = convention(first.plan.convention).label
    title = f"{data}: test averages of {len(first.folds)} folds, {rules} convention"
    return TextTable(title, header, rows, (0, 1, len(header) - 1))


def _rows(
    result: RunResult,
    printed: Printed,
    names: Sequence[str],
    compared: Sequence[str],
    best: Mapping[str, float],
) -> list[list[str]]:
    """Return one row for each source that printed something about a run; one without any."""
    plan, average = result.plan, result.average
    ours = [f"{average[name]:.4f}{'*' if average[name] == best[name] else ' '}" for name in names]
    ranker = method_text(plan.ranker_entry, plan.ranker_parameters) if plan.ranker_entry else ""
    head = [
        f"{method_text(plan.entry, plan.parameters)}{plan.share_text}",
        ranker,
        range_text(result.sizes),
        *ours,
    ]
    sources = {(p.label, p.source) for of_measure in printed.values() for p in of_measure}
    if not sources:
        return [[*head, *[""] * (2 * len(compared) + 1)]]
    rows: list[list[str]] = []
    for label, source in sorted(sources, key=lambda s: s[1]):
        cells = []
        for name in compared:
            found = [p.value for p in printed.get(name, ()) if (p.label, p.source) == (label, source)]
            cells += [f"{found[0]:.4f}", f"{average[name] - found[0]:+.4f}"] if found else ["", ""]
        rows.append([*(head if not rows else [""] * len(head)), *cells, f"{label}, {source}"])
    return rows
