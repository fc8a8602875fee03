"""Comparisons of runs as tables to print, as CSV, and as plain values, with published results beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isnan, nan
from pathlib import Path
from typing import Any

from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.cli.terminal import Block
from rankstudio.engine.analysis.comparisons.batch import Comparison, comparison_table
from rankstudio.engine.analysis.comparisons.comparability import (
    ComparableGroup,
    comparable_groups,
)
from rankstudio.engine.analysis.comparisons.published import Published, printed_of
from rankstudio.engine.analysis.comparisons.significance import (
    CorrectedTest,
    PinEffect,
    RunComparison,
    best_run,
    pin_effects,
)
from rankstudio.engine.analysis.features.selection_stability import (
    stability_of,
    stability_table,
)
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

# Columns of the tests in CSV, with the names that the results of tests have in JSON.
_CSV_TEST_COLUMNS = [
    "mean_difference",
    "low",
    "high",
    "t",
    "p_t",
    "p_t_holm",
    "p_randomisation",
    "p_holm",
]
_CSV_TEST_COLUMNS += ["p_wilcoxon", "p_wilcoxon_holm", "wins", "ties", "losses", "n"]


def group_tables(compared: RunComparison, seed: int) -> Iterator[TextTable]:
    """Yield the tables of a group of comparable runs.

    The tables are the tests, the stability of selections, the Pareto
    fronts, and the effects of pins. Tables without content, such as
    that of pins for runs without any, are left out. ``compared`` is the
    group with its tests; ``seed`` is that of the tests on pins.
    """
    yield group_tests_table(compared)
    runs_with_stability = [
        (number, plan_text(result.plan), result)
        for number, result in compared.group.runs.items()
        if stability_of(result)
    ]
    if runs_with_stability:
        title = f"{compared.data}: selection stability over {compared.group.folds_text}"
        yield stability_table(title, runs_with_stability)
    yield from (
        _front_table(compared, front)
        for front in _both_fronts(compared)
        if front is not None
    )
    effects = _pin_effects(compared, seed)
    if effects:
        yield _pins_table(compared, effects)


def _both_fronts(
    compared: RunComparison,
) -> tuple[ParetoFront | None, ParetoFront | None]:
    """Return the Pareto fronts by size and by cost: the best models for their size, or their cost.

    Both fronts are None for runs that are not ranked; the front by cost
    is None for features without costs.
    """
    if compared.group.unranked:
        return None, None
    by_size = pareto_front_of(compared.runs, compared.measure)
    return by_size, pareto_front_of(compared.runs, compared.measure, by="cost")


def _pin_effects(compared: RunComparison, seed: int) -> tuple[PinEffect, ...]:
    """Return the effects of pinned and banned features on a measure; () for runs that are not ranked.

    An effect is the test of a run with pins or bans against the same
    run without any. ``seed`` is that of the tests.
    """
    return (
        ()
        if compared.group.unranked
        else pin_effects(compared.runs, compared.measure, seed)
    )


def group_tests_table(compared: RunComparison) -> TextTable:
    """Return the table of a group of comparable runs: averages and tests.

    Each run has its average and its tests against the reference run.
    Beside averages on the test part, the table has averages that are
    cross-fitted on the validation part: of models chosen without the
    query that they rank.
    """
    # Only averages on the test part have others beside them, and only
    # ranked groups have a reference and tests.
    group = compared.group
    is_test = group.key.part is Part.TEST
    is_ranked = compared.reference is not None
    columns = [compared.measure]
    columns += ["cross-fitted"] if is_test else []
    columns += _TEST_COLUMNS if is_ranked else []

    # Cells in the same order as the columns. The sizes of a run are the
    # numbers of features in its folds, such as "3–7".
    rows = []
    for position, (number, result) in enumerate(group.runs.items()):
        cells = [mean_text(result, compared.measure, group.key.part)]
        cells += (
            [mean_text(result, compared.measure, Part.CROSS_FITTED)] if is_test else []
        )
        cells += _test_cells(compared, position) if is_ranked else []
        rows.append(
            [str(number), plan_text(result.plan), range_text(result.sizes), *cells]
        )
    against = f", against run {compared.against}" if is_ranked else ""
    title = f"{compared.data}: {compared.measure}, {group.scope}{against}"
    note = " ".join(filter(None, [_group_note(group), _unfitted_note(compared)]))
    return TextTable(
        title=title,
        header=["run", "method", "k", *columns],
        rows=rows,
        left=(1, 2),
        note=note,
    )


def _unfitted_note(compared: RunComparison) -> str:
    """Return sentences on the runs without cross-fitted values, and why; "" if all runs have them.

    Cross-fitted values are those of models chosen without the query
    that they rank.
    """
    group = compared.group

    # Measures of a validation part that chose the models are no
    # estimates of those of new queries. The note on the group says so.
    if not group.key.part.is_estimate:
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


def mean_text(result: RunResult, name: str, part: Part) -> str:
    """Return the average of a measure on a part of the data, as a cell; a dash without an average.

    ``name`` is that of the measure.
    """
    mean = result.average_on(part).get(name, nan)
    return NOTHING if isnan(mean) else f"{mean:.4f}"


def _test_cells(compared: RunComparison, position: int) -> list[str]:
    """Return the cells of a run's test against the reference run.

    ``position`` is that of the run in the group, from 0. Without a
    test, the last cell says why, and the others are blank.
    """
    test = compared.tests[position]
    if test is not None:
        return _test_values(test)
    text = "reference" if position == compared.reference else "not measured"
    return [*[""] * (len(_TEST_COLUMNS) - 1), text]


def _group_note(group: ComparableGroup[int]) -> str:
    """Return why the runs of a group are not ranked, or only among themselves, as a sentence.

    Groups after the first on a dataset are ranked only among
    themselves. Return "" for the first group, if its runs are ranked.
    """
    if group.unranked:
        return f"Not ranked: {group.unranked}."
    return (
        f"Not ranked with the runs above: {group.why_separate}."
        if group.why_separate
        else ""
    )


def _test_values(tested: CorrectedTest) -> list[str]:
    """Return the cells of a test: difference, interval, p-values, and counts of queries.

    The last cell has the numbers of better, equal and worse queries.
    """
    test = tested.test
    interval = f"{test.low:+.4f} … {test.high:+.4f}"
    uncorrected = test.p_t, test.p_wilcoxon, test.p_randomisation
    corrected = tested.p_t_holm, tested.p_wilcoxon_holm, tested.p_holm

    # Each test has two columns: its p, and then its p with Holm's correction.
    p_texts = [
        p_text(p_value)
        for pair in zip(uncorrected, corrected, strict=True)
        for p_value in pair
    ]
    return [
        f"{test.mean_difference:+.4f}",
        interval,
        *p_texts,
        f"{test.wins}/{test.ties}/{test.losses}",
    ]


def plan_text(plan: Plan) -> str:
    """Return the methods of a plan, with the parameters that are no defaults, as text.

    An example is "GAS, then RankSVM (loss hinge)". If the plan uses
    only a share of the training queries, the share is added.
    """
    ranker = plan.ranker_entry

    # Scores or models of others have no parameters.
    if plan.entry.learns_nothing:
        return plan.title
    method = method_text(plan.entry, plan.parameters)
    methods = (
        f"{method}, then {method_text(ranker, plan.ranker_parameters)}"
        if ranker
        else method
    )
    return f"{methods}{plan.share_text}"


def method_text(entry: Method, parameters: Mapping[str, Any]) -> str:
    """Return a method, with its parameters that differ from the defaults, as text.

    A grid of several values is left out: each fold chooses a value of
    it, so that the values tell nothing about the run. ``parameters``
    has a value for each parameter of the method, by name.
    """
    # `entry.grids` are the parameters that can have a grid of values.
    changed_parameters = [
        f"{p.label} {p.format(value)}"
        for p in entry.parameters
        if (value := parameters[p.name]) != p.default
        and not (p in entry.grids and p.several(value))
    ]
    return (
        f"{entry.label} ({', '.join(changed_parameters)})"
        if changed_parameters
        else entry.label
    )


def _front_table(compared: RunComparison, front: ParetoFront) -> TextTable:
    """Return the table of the Pareto-optimal models.

    Pareto-optimal models are those that no other model beats in both
    quality and size. A front may be by cost instead of size. The
    suggested model has a mark.
    """
    # One row for each model on the front.
    rows = []
    for position in front.optimal:
        model = front.models[position]
        error = "" if isnan(model.error) else f"{model.error:.4f}"
        plan = compared.runs[model.run].plan
        combination = ", ".join(
            f"{axis.label} {axis.format(value)}"
            for axis, value in zip(plan.axes, model.values, strict=True)
        )
        least = "smallest" if front.by == "size" else "cheapest"
        mark = (
            f"{least} within one standard error of the best"
            if position == front.suggested
            else ""
        )
        run_cells = [str(compared.numbers[model.run]), plan_text(plan), combination]

        # `x` is what the front is by: the size, or the cost.
        cost = [] if front.by == "size" else [significant(model.x)]
        rows.append(
            [*cost, f"{model.size:g}", f"{model.mean:.4f}", error, *run_cells, mark]
        )

    # Costs are the first column, if the front is by cost.
    costs = {"cost": ["cost"], "milliseconds": ["ms per query"]}.get(front.by, [])
    header = [
        *costs,
        "features",
        compared.measure,
        "standard error",
        "run",
        "method",
        "with",
        "",
    ]
    note = (
        f"Measure and {front.by} are means over the folds, for one parameter combination and step. The "
        "measure is from the validation part that chooses them, so it is higher than an estimate."
    )
    folds = compared.group.folds_text
    title = f"{compared.data}: Pareto front of {front.by} and validation {compared.measure}, {folds}"

    # The last three columns are texts.
    n_costs = len(costs)
    return TextTable(
        title=title,
        header=header,
        rows=rows,
        left=(n_costs + 4, n_costs + 5, n_costs + 6),
        note=note,
    )


def _pins_table(compared: RunComparison, effects: Sequence[PinEffect]) -> TextTable:
    """Return the table of the effects of pinned and banned features.

    An effect is the test of a run with pins or bans against the same
    run without any.
    """
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
    title = (
        f"{compared.data}: effect of pinned and banned features, {compared.group.scope}"
    )
    return TextTable(title=title, header=header, rows=rows, left=(1, 2))


def tests_table(
    compared: Sequence[RunComparison],
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the header and the rows of the CSV file of a comparison, with all digits.

    There is one row for each run of each group. ``compared`` are the
    groups of comparable runs.
    """
    # `_csv_row` returns the values in this order. "apart" and
    # "unranked" are the reasons why a run is not ranked with others, or
    # not at all.
    header = [
        "data",
        "measure",
        "run",
        "method",
        "ranker",
        "features_min",
        "features_max",
        "average",
    ]

    # The first and the last column of a test are called "difference"
    # and "queries" here: their names in JSON, mean_difference and n,
    # say less.
    header += ["against", "difference", *_CSV_TEST_COLUMNS[1:-1], "queries"]
    header += [
        "jaccard",
        "kuncheva",
        "lustgarten",
        "nogueira",
        "nogueira_low",
        "nogueira_high",
    ]
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
    rows = [
        _csv_row(comparison, run)
        for comparison in compared
        for run in _runs_as_dicts(comparison)
    ]
    return header, rows


def _csv_row(compared: RunComparison, run: dict[str, Any]) -> tuple[Any, ...]:
    """Return the row of a run in the CSV file of comparisons.

    ``run`` has the run as plain values, as `_runs_as_dicts` yields it.
    """
    # A run without a test or a stability has blanks.
    sizes = run["features"]
    test = run["comparison"] or {}
    stability = run["stability"] or {}
    nogueira = stability.get("nogueira", {})
    group = _group_as_dict(compared)
    folds = " ".join(map(str, group["folds"]))

    # In the order of the file's header.
    return (
        *(compared.data, compared.measure, run["run"], run["method"], run["ranker"]),
        *(
            min(sizes, default=""),
            max(sizes, default=""),
            run["average"],
            compared.against,
        ),
        *(test.get(name, "") for name in _CSV_TEST_COLUMNS),
        *(stability.get(name, "") for name in ("jaccard", "kuncheva", "lustgarten")),
        *(nogueira.get(name, "") for name in ("value", "low", "high")),
        *(run["cross_fitted"], run["not_cross_fitted"], group["part"], folds),
        *(group["queries"], group["label"]),
        *(group["convention"], group["protocol"], group["apart"], group["unranked"]),
    )


def as_dict(compared: RunComparison, seed: int) -> dict[str, Any]:
    """Return all about a group of comparable runs as plain values.

    The result has tests, Pareto fronts and effects of pins; ``seed`` is
    that of the tests on pins.
    """
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
            {
                "run": numbers[effect.run],
                "against": numbers[effect.other],
                **_test_as_dict(effect.tested),
            }
            for effect in _pin_effects(compared, seed)
        ],
    }


def _group_as_dict(compared: RunComparison) -> dict[str, Any]:
    """Return as plain values on what a group was measured, and why its runs are not ranked.

    The values name the part of the data, the folds, the number of
    queries and the rules of the measures.
    """
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
        "apart": group.why_separate,
        "unranked": group.unranked,
    }


def _runs_as_dicts(compared: RunComparison) -> Iterator[dict[str, Any]]:
    """Yield each run of a group as plain values.

    The test of a run is None if it has none, and so is the stability of
    its selections.
    """
    # Each run with its test against the reference, if it was compared.
    name = compared.measure
    part = compared.group.key.part
    for (number, result), tested in zip(
        compared.group.runs.items(), compared.tests, strict=True
    ):
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
    """Return a test of two runs as plain values, by name.

    The values are the difference, the interval, the p-values and counts
    of queries, and the p-values with Holm's correction for several
    tests.
    """
    corrected = {
        name: getattr(tested, name)
        for name in ("p_t_holm", "p_wilcoxon_holm", "p_holm")
    }
    return {**asdict(tested.test), **corrected}


def _front_as_dicts(
    front: ParetoFront | None, numbers: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the Pareto-optimal models of a front as plain values; none without a front.

    ``numbers`` are those of the runs, by their positions in the comparison.
    """
    if front is None:
        return []
    models = [(position, front.models[position]) for position in front.optimal]
    rows = []
    for index, model in models:
        row = {
            **asdict(model),
            "run": numbers[model.run],
            "suggested": index == front.suggested,
        }

        # The x of a model is its size, which it has already, or its cost.
        x = row.pop("x")
        rows.append(row if front.by == "size" else {**row, front.by: x})
    return rows


def _stability_as_dict(stability: Stability | None) -> dict[str, Any] | None:
    """Return the stability indices of a run as plain values; None for a run without any."""
    if stability is None:
        return None

    # `index` is the name of the index of consistency, Kuncheva or Lustgarten.
    return {
        "jaccard": stability.jaccard,
        stability.index.lower(): stability.consistency,
        "nogueira": stability.nogueira._asdict(),
    }


Printed = Mapping[str, tuple[Published, ...]]


def write_tables(
    comparison: Comparison,
    results: Sequence[RunResult],
    out: Path,
    tested: Sequence[RunComparison] = (),
) -> None:
    """Write the tables of a comparison into a folder, as Markdown and as CSV.

    The tests are written only if `tested` has them. ``results`` are the
    runs of the comparison so far; ``out`` is the folder.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    save_csv(out / "comparison.csv", *comparison_table(results))
    page = document(_all_tables(results, tested), "markdown")
    write_text(out / "comparison.md", f"# {comparison.title}\n\n{page}\n")
    if tested:
        save_csv(out / "tests.csv", *tests_table(tested))


def tables_as_text(
    comparison: Comparison,
    results: Sequence[RunResult],
    tested: Sequence[RunComparison],
    json: bool,
) -> Block:
    """Return the tables of a comparison as text, or as one document in JSON.

    ``results`` are the runs of the comparison, and ``tested`` has the
    tests of each group of its runs. With ``json``, the text is JSON.
    """
    if not json:
        title = one_line(comparison.title)
        return Block(
            "\n\n".join(filter(None, [title, document(_all_tables(results, tested))]))
        )
    names, values = comparison_table(results)
    rows: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in values]
    return as_json(
        {
            "title": comparison.title,
            "rows": rows,
            # 0 is the seed of the tests on pinned features.
            "tests": [as_dict(c, 0) for c in tested],
        }
    )


def _all_tables(
    results: Sequence[RunResult], tested: Sequence[RunComparison]
) -> Iterator[TextTable]:
    """Yield the table of averages of each group of runs, and then its tests.

    Groups have comparable runs on one dataset. ``results`` are the
    runs, and ``tested`` has the tests of each group; both may be of
    several datasets.
    """
    for runs in grouped(results, lambda result: result.data_name).values():
        for group in comparable_groups(dict(enumerate(runs, start=1))):
            yield averages_table(group)
            yield from (
                group_tests_table(compared)
                for compared in tested
                if compared.group.runs == group.runs
            )


def averages_table(group: ComparableGroup[int]) -> TextTable:
    """Return the table of a group: averages, published averages, and the differences between them.

    The best average of each measure has a star if the runs are ranked.
    The last row has the best single feature.
    """
    # Columns: the measures, and the published values of those that have some.
    runs = list(group.runs.values())
    names = list(
        dict.fromkeys(name for result in runs for name in result.plan.measures)
    )

    # For each run, the averages that publications print for its method and data.
    printed = [printed_of(result) for result in runs]
    printed_names = [
        name
        for name in names
        if any(printed_of_run.get(name) for printed_of_run in printed)
    ]

    # The best value of each measure is marked, unless the runs must not be ranked.
    ranked = [] if group.unranked else runs
    leaders = {name: best_run(ranked, name) for name in names}
    best = {
        name: leader.average[name]
        for name, leader in leaders.items()
        if leader is not None
    }
    header = ["method", "ranked by", "k", *names]
    for name in printed_names:
        header += [f"printed {name}", "difference"]
    header.append("source")

    # Rows of the runs, and of the best single feature.
    rows = [
        row
        for result, printed_of_run in zip(runs, printed, strict=True)
        for row in _printed_rows(result, printed_of_run, names, printed_names, best)
    ]

    # The runs share their folds, so the baseline of the first is that of all.
    baseline = runs[0].baseline

    # The space at the end is below the stars of the runs.
    single = [
        f"{baseline[name]:.4f} " if name in baseline else f"{NOTHING} "
        for name in names
    ]
    n_printed_columns = 2 * len(printed_names) + 1
    rows.append(["best single feature", "", "1", *single, *[""] * n_printed_columns])
    rules = rules_text(group.key.convention, names)
    title = f"{group.key.data_name}: averages, {group.scope}, {rules} convention"
    return TextTable(
        title=title,
        header=header,
        rows=rows,
        left=(0, 1, len(header) - 1),
        note=_group_note(group),
    )


def _printed_rows(
    result: RunResult,
    printed: Printed,
    names: Sequence[str],
    printed_names: Sequence[str],
    best: Mapping[str, float],
) -> list[list[str]]:
    """Return one row for each source with published averages of a run; a single row if there is no source.

    Parameters
    ----------
    result : RunResult
        The run.
    printed : mapping
        Published averages of the run's method on its data, by the name of the measure.
    names, printed_names : sequence of str
        All measures of the table, and those with published averages of any run.
    best : mapping
        The best average of each measure, which gets a star.
    """
    # Cells of the run itself; the best values have a star. `part` is
    # the part of the data on which the averages of the run are
    # measured.
    plan = result.plan
    average = result.average
    is_best = [name in best and average.get(name) == best[name] for name in names]
    ours = [
        f"{mean_text(result, name, result.part)}{'*' if star else ' '}"
        for name, star in zip(names, is_best, strict=True)
    ]
    ranker = (
        method_text(plan.ranker_entry, plan.ranker_parameters)
        if plan.ranker_entry
        else ""
    )
    head = [
        f"{method_text(plan.entry, plan.parameters)}{plan.share_text}",
        ranker,
        range_text(result.sizes),
        *ours,
    ]

    # Each source of published values has a row.
    sources = {
        (published.label, published.source)
        for published_averages in printed.values()
        for published in published_averages
    }
    if not sources:
        # Value and difference of each measure, and the source.
        n_printed_columns = 2 * len(printed_names) + 1
        return [[*head, *[""] * n_printed_columns]]
    rows: list[list[str]] = []
    for label, source in sorted(sources, key=lambda s: s[1]):
        # Published values with their differences; blank where the source has no value.
        cells = []
        for name in printed_names:
            values = [
                published.value
                for published in printed.get(name, ())
                if (published.label, published.source) == (label, source)
            ]
            cells += (
                [f"{values[0]:.4f}", f"{average[name] - values[0]:+.4f}"]
                if values
                else ["", ""]
            )

        # Only the first row has the cells of the run.
        first_cells = head if not rows else [""] * len(head)
        rows.append([*first_cells, *cells, f"{label}, {source}"])
    return rows
