"""Comparisons of runs as tables to print, as CSV, and as plain values; published numbers beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isnan, nan
from pathlib import Path
from typing import Any

from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.cli.terminal import Block
from rankstudio.engine.analysis.comparisons.batch import Comparison, comparison_table
from rankstudio.engine.analysis.comparisons.comparability import ComparableGroup, comparable_groups
from rankstudio.engine.analysis.comparisons.published import Published, printed_of
from rankstudio.engine.analysis.comparisons.significance import (
    CorrectedTest,
    PinEffect,
    RunComparison,
    best_run,
    pin_effects,
)
from rankstudio.engine.analysis.features.selection_stability import stability_of, stability_table
from rankstudio.engine.analysis.tried_models.pareto import ParetoFront, pareto_front_of
from rankstudio.engine.errors import one_line
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.results.unfitted import Unfitted
from rankstudio.engine.export.tables import TextTable, p_text, range_text, save_csv
from rankstudio.engine.methods.catalog import Method
from rankstudio.engine.metrics.conventions import rules_text
from rankstudio.engine.statistics.stability import Stability
from rankstudio.engine.support.files import write_text
from rankstudio.engine.support.item_groups import grouped
from rankstudio.engine.support.number_format import NOTHING, significant

_TEST_COLUMNS = [
    "difference",
    "95 % interval",
    "p (t)",
    "p (t, Holm)",
    "p (W)",
    "p (W, Holm)",
    "p",
    "p (Holm)",
]
_TEST_COLUMNS += ["better/equal/worse"]

# In CSV, by the names that JSON has for what the tests found.
_CSV_TEST_COLUMNS = ["mean_difference", "low", "high", "t", "p_t", "p_t_holm", "p_randomisation", "p_holm"]
_CSV_TEST_COLUMNS += ["p_wilcoxon", "p_wilcoxon_holm", "wins", "ties", "losses", "n"]


def sections(compared: RunComparison, seed: int) -> Iterator[TextTable]:
    """Yield the tables of a group of runs: tests, selections, sizes, and pins where there are any."""
    yield tests(compared)
    stable = [
        (number, plan_text(result.plan), result)
        for number, result in compared.group.runs.items()
        if stability_of(result)
    ]
    if stable:
        title = f"{compared.data}: selection stability over {compared.group.folds_text}"
        yield stability_table(title, stable)
    yield from (_front_table(compared, front) for front in _both_fronts(compared) if front is not None)
    effects = _pin_effects(compared, seed)
    if effects:
        yield _pins_table(compared, effects)


def _both_fronts(compared: RunComparison) -> tuple[ParetoFront | None, ParetoFront | None]:
    """Return the Pareto fronts of size and cost; none for runs that are not ranked."""
    if compared.group.unranked:
        return None, None
    by_size = pareto_front_of(compared.runs, compared.measure)
    return by_size, pareto_front_of(compared.runs, compared.measure, by="cost")


def _pin_effects(compared: RunComparison, seed: int) -> tuple[PinEffect, ...]:
    return () if compared.group.unranked else pin_effects(compared.runs, compared.measure, seed)


def tests(compared: RunComparison) -> TextTable:
    """Return the table of a group: averages, with each run's tests against the reference.

    Beside averages on the test part stand those that are cross-fitted on the validation part.
    """
    group = compared.group
    is_test = group.key.part is Part.TEST
    is_ranked = compared.reference is not None
    columns = [compared.measure]
    columns += ["cross-fitted"] if is_test else []
    columns += _TEST_COLUMNS if is_ranked else []
    rows = []
    for position, (number, result) in enumerate(group.runs.items()):
        cells = [_mean_cell(result, compared.measure, group.key.part)]
        cells += [_mean_cell(result, compared.measure, Part.CROSS_FITTED)] if is_test else []
        cells += _test_cells(compared, position) if is_ranked else []
        rows.append([str(number), plan_text(result.plan), range_text(result.sizes), *cells])
    against = f", against run {compared.against}" if is_ranked else ""
    title = f"{compared.data}: {compared.measure}, {group.scope}{against}"
    note = " ".join(filter(None, [_group_note(group), _unfitted_note(compared)]))
    return TextTable(title=title, header=["run", "method", "k", *columns], rows=rows, left=(1, 2), note=note)


def _unfitted_note(compared: RunComparison) -> str:
    """Return which runs have no cross-fitted values, and why; "" for none."""
    group = compared.group
    if not group.key.part.is_estimate:  # its note has the reason
        return ""
    reasons: dict[Unfitted, list[int]] = {}
    for number, run in group.runs.items():
        if run.unfitted is not None:
            reasons.setdefault(run.unfitted, []).append(number)
    sentences = []
    for reason, numbers in reasons.items():
        runs = f"run{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
        sentences.append(f"No cross-fitted values of {runs}: {reason.sentence}.")
    return " ".join(sentences)


def _mean_cell(result: RunResult, name: str, part: Part) -> str:
    mean = result.average_on(part).get(name, nan)
    return NOTHING if isnan(mean) else f"{mean:.4f}"


def _test_cells(compared: RunComparison, position: int) -> list[str]:
    """Return the cells of a run's test against the reference run."""
    test = compared.tests[position]
    if test is not None:
        return _test_values(test)
    text = "reference" if position == compared.reference else "not measured"
    return [*[""] * (len(_TEST_COLUMNS) - 1), text]


def _group_note(group: ComparableGroup[int]) -> str:
    """Return why runs are not ranked, or not with the first group on the same dataset; "" if they are."""
    if group.unranked:
        return f"Not ranked: {group.unranked}."
    return f"Not ranked with the runs above: {group.apart}." if group.apart else ""


def _test_values(tested: CorrectedTest) -> list[str]:
    t = tested.test
    interval = f"{t.low:+.4f} … {t.high:+.4f}"
    uncorrected = t.p_t, t.p_wilcoxon, t.p_randomisation
    corrected = tested.p_t_holm, tested.p_wilcoxon_holm, tested.p_holm
    p = [p_text(p_value) for pair in zip(uncorrected, corrected, strict=True) for p_value in pair]
    return [f"{t.mean_difference:+.4f}", interval, *p, f"{t.wins}/{t.ties}/{t.losses}"]


def plan_text(plan: Plan) -> str:
    """Return a plan's methods with parameters other than by default: "GAS, then RankSVM (loss hinge)"."""
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


def _front_table(compared: RunComparison, front: ParetoFront) -> TextTable:
    """Return the table of the Pareto-optimal models by size or cost."""
    rows = []
    for position in front.optimal:
        model = front.models[position]
        error = f"{model.error:.4f}" if model.error == model.error else ""
        plan = compared.runs[model.run].plan
        combination = ", ".join(
            f"{axis.label} {axis.format(value)}" for axis, value in zip(plan.axes, model.values, strict=True)
        )
        least = "smallest" if front.by == "size" else "cheapest"
        mark = f"{least} within one standard error of the best" if position == front.suggested else ""
        run_cells = [str(compared.numbers[model.run]), plan_text(plan), combination]
        cost = [] if front.by == "size" else [significant(model.x)]
        rows.append([*cost, f"{model.size:g}", f"{model.mean:.4f}", error, *run_cells, mark])
    costs = {"cost": ["cost"], "milliseconds": ["ms per query"]}.get(front.by, [])
    header = [*costs, "features", compared.measure, "standard error", "run", "method", "with", ""]
    note = (
        f"Measure and {front.by} are means over the folds, for one parameter combination and step. The "
        "measure is from the validation part that chooses them, so it is higher than an estimate."
    )
    folds = compared.group.folds_text
    title = f"{compared.data}: Pareto front of {front.by} and validation {compared.measure}, {folds}"
    n_costs = len(costs)
    return TextTable(
        title=title, header=header, rows=rows, left=(n_costs + 4, n_costs + 5, n_costs + 6), note=note
    )


def _pins_table(compared: RunComparison, effects: Sequence[PinEffect]) -> TextTable:
    """Return the table of the effects of pinned and banned features."""
    header = ["run", "method", "against", *_TEST_COLUMNS]
    rows = [
        [
            str(compared.numbers[effect.run]),
            plan_text(compared.runs[effect.run].plan),
            f"run {compared.numbers[effect.other]}",
            *_test_values(effect.tested),
        ]
        for effect in effects
    ]
    title = f"{compared.data}: effect of pinned and banned features, {compared.group.scope}"
    return TextTable(title=title, header=header, rows=rows, left=(1, 2))


def tests_table(compared: Sequence[RunComparison]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return one row for every run with all digits: header and rows."""
    header = ["data", "measure", "run", "method", "ranker", "features_min", "features_max", "average"]
    header += ["against", "difference", *_CSV_TEST_COLUMNS[1:-1], "queries"]
    header += ["jaccard", "kuncheva", "lustgarten", "nogueira", "nogueira_low", "nogueira_high"]
    header += [
        "cross_fitted",
        "not_cross_fitted",
        "part",
        "folds",
        "measured_queries",
        "label",
        "convention",
        "protocol",
    ]
    header += ["apart", "unranked"]
    return header, [_csv_row(c, run) for c in compared for run in _runs_as_dicts(c)]


def _csv_row(compared: RunComparison, run: dict[str, Any]) -> tuple[Any, ...]:
    """Return the row of a run in the CSV file of comparisons."""
    sizes = run["features"]
    test = run["comparison"] or {}
    stable = run["stability"] or {}
    nogueira = stable.get("nogueira", {})
    group = _group_as_dict(compared)
    folds = " ".join(map(str, group["folds"]))
    return (
        *(compared.data, compared.measure, run["run"], run["method"], run["ranker"]),
        *(min(sizes, default=""), max(sizes, default=""), run["average"], compared.against),
        *(test.get(name, "") for name in _CSV_TEST_COLUMNS),
        *(stable.get(name, "") for name in ("jaccard", "kuncheva", "lustgarten")),
        *(nogueira.get(name, "") for name in ("value", "low", "high")),
        *(run["cross_fitted"], run["not_cross_fitted"], group["part"], folds),
        *(group["queries"], group["label"]),
        *(group["convention"], group["protocol"], group["apart"], group["unranked"]),
    )


def as_dict(compared: RunComparison, seed: int) -> dict[str, Any]:
    """Return everything about a group of runs as plain values."""
    by_size, by_cost = _both_fronts(compared)
    numbers = compared.numbers
    return {
        "data": compared.data,
        "measure": compared.measure,
        "group": _group_as_dict(compared),
        "reference": compared.against,
        "runs": list(_runs_as_dicts(compared)),
        "front": _front_as_dicts(by_size, numbers),
        "front_by_cost": _front_as_dicts(by_cost, numbers),
        "pins": [
            {"run": numbers[effect.run], "against": numbers[effect.other], **_test_as_dict(effect.tested)}
            for effect in _pin_effects(compared, seed)
        ],
    }


def _group_as_dict(compared: RunComparison) -> dict[str, Any]:
    """Return the part, folds and queries of a group's measures, and why it is not ranked with others."""
    group = compared.group
    key = compared.group.key
    return {
        "scope": group.scope,
        "part": key.part.value,
        "folds": list(key.folds),
        "queries": group.n_queries,
        "label": key.label,
        "convention": key.convention,
        "protocol": key.protocol,
        "apart": group.apart,
        "unranked": group.unranked,
    }


def _runs_as_dicts(compared: RunComparison) -> Iterator[dict[str, Any]]:
    """Yield each run of a group as plain values."""
    name = compared.measure
    part = compared.group.key.part
    for (number, result), tested in zip(compared.group.runs.items(), compared.tests, strict=True):
        yield {
            "run": number,
            "method": result.plan.method,
            "ranker": result.plan.ranker,
            "title": plan_text(result.plan),
            "features": result.sizes,
            "average": result.average_on(part).get(name),
            "cross_fitted": result.average_on(Part.CROSS_FITTED).get(name),
            "not_cross_fitted": result.unfitted.value if result.unfitted else "",
            "comparison": _test_as_dict(tested) if tested else None,
            "stability": _stability_as_dict(stability_of(result)),
        }


def _test_as_dict(tested: CorrectedTest) -> dict[str, Any]:
    corrected = {name: getattr(tested, name) for name in ("p_t_holm", "p_wilcoxon_holm", "p_holm")}
    return {**asdict(tested.test), **corrected}


def _front_as_dicts(front: ParetoFront | None, numbers: Sequence[int]) -> list[dict[str, Any]]:
    if front is None:
        return []
    models = [(position, front.models[position]) for position in front.optimal]
    rows = []
    for index, model in models:
        row = {**asdict(model), "run": numbers[model.run], "suggested": index == front.suggested}
        x = row.pop("x")
        rows.append(row if front.by == "size" else {**row, front.by: x})
    return rows


def _stability_as_dict(s: Stability | None) -> dict[str, Any] | None:
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
    page = document(_all_tables(results, tested), "markdown")
    write_text(out / "comparison.md", f"# {comparison.title}\n\n{page}\n")
    if tested:
        save_csv(out / "tests.csv", *tests_table(tested))


def shown(
    comparison: Comparison, results: Sequence[RunResult], tested: Sequence[RunComparison], json: bool
) -> Block:
    """Return the tables as text, or as one document in JSON."""
    if not json:
        title = one_line(comparison.title)
        return Block("\n\n".join(filter(None, [title, document(_all_tables(results, tested))])))
    names, values = comparison_table(results)
    rows: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in values]
    return as_json({"title": comparison.title, "rows": rows, "tests": [as_dict(c, 0) for c in tested]})


def _all_tables(results: Sequence[RunResult], tested: Sequence[RunComparison]) -> Iterator[TextTable]:
    for runs in grouped(results, lambda result: result.data_name).values():
        for group in comparable_groups(dict(enumerate(runs, start=1))):
            yield averages(group)
            yield from (tests(compared) for compared in tested if compared.group.runs == group.runs)


def averages(group: ComparableGroup[int]) -> TextTable:
    """Return the table of a group: averages, printed numbers, and the differences.

    The best average of each measure has a star, where runs are ranked.
    """
    runs = list(group.runs.values())
    names = list(dict.fromkeys(name for result in runs for name in result.plan.measures))
    printed = [printed_of(result) for result in runs]
    compared = [name for name in names if any(of_run.get(name) for of_run in printed)]
    ranked = [] if group.unranked else runs
    leaders = {name: best_run(ranked, name) for name in names}
    best = {name: leader.average[name] for name, leader in leaders.items() if leader is not None}
    header = ["method", "ranked by", "k", *names]
    for name in compared:
        header += [f"printed {name}", "difference"]
    header.append("source")
    rows = [
        row
        for result, of_run in zip(runs, printed, strict=True)
        for row in _printed_rows(result, of_run, names, compared, best)
    ]
    baseline = runs[0].baseline
    single = [f"{baseline[name]:.4f} " if name in baseline else f"{NOTHING} " for name in names]
    rows.append(["best single feature", "", "1", *single, *[""] * (2 * len(compared) + 1)])
    rules = rules_text(group.key.convention, names)
    title = f"{group.key.data_name}: averages, {group.scope}, {rules} convention"
    return TextTable(
        title=title, header=header, rows=rows, left=(0, 1, len(header) - 1), note=_group_note(group)
    )


def _printed_rows(
    result: RunResult,
    printed: Printed,
    names: Sequence[str],
    compared: Sequence[str],
    best: Mapping[str, float],
) -> list[list[str]]:
    """Return one row for each source that printed something about a run; one without any."""
    plan = result.plan
    average = result.average
    is_best = [name in best and average.get(name) == best[name] for name in names]
    ours = [
        f"{_mean_cell(result, name, result.part)}{'*' if star else ' '}"
        for name, star in zip(names, is_best, strict=True)
    ]
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
            numbers = [p.value for p in printed.get(name, ()) if (p.label, p.source) == (label, source)]
            cells += [f"{numbers[0]:.4f}", f"{average[name] - numbers[0]:+.4f}"] if numbers else ["", ""]
        rows.append([*(head if not rows else [""] * len(head)), *cells, f"{label}, {source}"])
    return rows
