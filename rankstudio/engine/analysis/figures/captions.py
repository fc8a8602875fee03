"""Captions of figures, of about two lines.

They name data, method, parameters, measure, seed and version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.results.results import Chosen, RunResult
from rankstudio.engine.export.tables import range_text
from rankstudio.engine.language import tr, trn
from rankstudio.engine.metrics.conventions import rules_text
from rankstudio.engine.support.number_format import raised


def values_label(plan: Plan, values: Sequence[object]) -> str:
    """Return values on the axes of a plan: "λ = 2⁻²"; "" if it has no axis."""
    on_axes = zip(plan.axes, values, strict=True)
    return ", ".join(
        f"{axis.label} = {raised(axis.format(value))}" for axis, value in on_axes
    )


def grid_text(plan: Plan) -> str:
    """Return the tried values of a plan: "λ = 2⁻⁸ … 2⁶ (15 values)"."""
    parts = []
    for axis in plan.axes:
        first = raised(axis.format(axis.values[0]))
        last = raised(axis.format(axis.values[-1]))
        n = len(axis.values)
        if n < 2:
            text = first
        elif n == 2:
            text = f"{first}, {last}"
        else:
            text = tr("{first} … {last} ({n} values)").format(
                first=first, last=last, n=n
            )
        parts.append(f"{axis.label} = {text}")
    return "; ".join(parts)


def chosen_text(run: RunResult) -> str:
    """Return a text on the selected model of a run: "λ = 2⁻², k = 7".

    For several folds the text has only the numbers of features, k. The
    text is "" for a method that learns nothing, so that nothing was
    selected.
    """
    if run.plan.entry.learns_nothing:
        return ""
    if len(run.folds) > 1:
        return tr("k = {sizes} on {n} folds").format(
            sizes=range_text(run.sizes), n=len(run.folds)
        )
    return _model_text(run.plan, run.folds[0].chosen)


def _model_text(plan: Plan, chosen: Chosen) -> str:
    """Return a model by its values on the axes and its size."""
    values = values_label(plan, chosen.unit.values)
    return ", ".join(filter(None, [values, f"k = {len(chosen.step.selected)}"]))


def run_text(run: RunResult, measure: str = "") -> str:
    """Describe a run in sentences for a caption: what determines its numbers.

    The text also has the version of RankStudio.

    Parameters
    ----------
    run : RunResult
        Run to describe.
    measure : str
        Name of the measure that the figure shows; by default the
        selection criterion.
    """
    chooser = (
        tr("the criterion") if run.plan.select_by == CRITERION else run.plan.select_by
    )
    sentence = tr("Selected by {chose}: {chosen}.").format(
        chose=chooser, chosen=chosen_text(run)
    )
    chosen = "" if run.plan.entry.learns_nothing else sentence
    return plan_text(
        run.plan, run.data_name, run.versions, len(run.folds), measure, chosen
    )


def plan_text(
    plan: Plan,
    data: str,
    versions: Mapping[str, str],
    n_folds: int,
    measure: str = "",
    chosen: str = "",
) -> str:
    """Describe a plan in sentences for a caption, with the version that computed it.

    The sentences name data, protocol, method, parameters, measure and seed.

    Parameters
    ----------
    plan : Plan
        Plan to describe.
    data : str
        Name of the dataset.
    versions : Mapping of str to str
        Versions that computed the run, by the name of the library.
    n_folds : int
        Number of folds.
    measure : str
        Name of the measure that the figure shows; by default the
        selection criterion.
    chosen : str
        The model that the figure shows, as a sentence; "" for none.
    """
    # A criterion is no measure, and has no name here.
    measure_name = measure or ("" if plan.select_by == CRITERION else plan.chosen_by)
    rules = rules_text(plan.convention, filter(None, [measure_name]))
    grid = grid_text(plan)
    sentences = [
        trn(
            "{data}, {n} fold, protocol {protocol}.",
            "{data}, {n} folds, protocol {protocol}.",
            n_folds,
        ).format(data=data, n=n_folds, protocol=plan.protocol),
        f"{'; '.join(filter(None, [plan.title, grid]))}.",
        chosen,
        _measure_text(measure_name, rules),
        tr("Seed {seed}.").format(seed=plan.seed),
        f"{versions_text(versions)}.",
    ]
    return " ".join(filter(None, sentences))


def model_text(plan: Plan, fold: int, values: Sequence[object], size: int) -> str:
    """Describe a model of a path in a sentence, by fold, parameters and size.

    `values` has a value for each parameter for which the plan has
    several, and `size` is the number of features.
    """
    parts = [
        tr("fold {fold}").format(fold=fold),
        values_label(plan, values),
        f"k = {size}",
    ]
    return tr("Model: {model}.").format(model=", ".join(filter(None, parts)))


def versions_text(versions: Mapping[str, str]) -> str:
    """Return the version of RankStudio for a caption: "RankStudio 0.9".

    `versions` has the versions of RankStudio and of libraries, by name.
    """
    return (
        f"RankStudio {versions['rankstudio']}"
        if "rankstudio" in versions
        else "RankStudio"
    )


def runs_text(runs: Sequence[tuple[int, RunResult]], measure: str) -> str:
    """Describe several numbered runs in sentences for a caption.

    The data and the versions are those of the first run; settings that
    several runs have are named once. `measure` is the measure that the
    figure shows, "" for none.
    """
    _, first = runs[0]
    measures = [measure] if measure else []
    rules = dict.fromkeys(rules_text(run.plan.convention, measures) for _, run in runs)
    common = [f"{first.data_name}.", _measure_text(measure, ", ".join(rules))]
    titles = "; ".join(f"{number} {run.plan.title}" for number, run in runs)
    seeds = ", ".join(dict.fromkeys(str(run.plan.seed) for _, run in runs))
    runs_sentence = tr("Runs: {runs}.").format(runs=titles)
    seed_sentence = tr("Seed {seed}.").format(seed=seeds)
    return " ".join(
        [*common, runs_sentence, seed_sentence, f"{versions_text(first.versions)}."]
    )


def _measure_text(measure: str, rules: str) -> str:
    """Return a sentence with the measure that is shown and the convention of its rules."""
    if not measure:
        return tr("{rules} convention.").format(rules=rules)
    return tr("{measure}, {rules} convention.").format(measure=measure, rules=rules)
