"""The results of a run as a table in the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from statistics import fmean

from rankstudio.cli.output.text_tables import as_text
from rankstudio.cli.terminal import Block
from rankstudio.engine.data.feature_groups import Groups, feature_groups_of, in_groups
from rankstudio.engine.errors import one_line
from rankstudio.engine.experiment.plan.left_out_names import plain
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.preference_source import (
    learned_from,
    preferences_of,
)
from rankstudio.engine.experiment.plan.protocol import GIVEN
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.conventions import rules_text
from rankstudio.engine.metrics.names import measure

_MAX_LISTED_IDS = 10  # features of a model
_MAX_NAMED_FEATURES = 12  # features with their names
# folds up to which each has a row; with more, only the mean is printed
_MAX_FOLD_ROWS = 30


def summary(result: RunResult) -> Block:
    """Return the results of a run as a table, with a title and notes.

    The title names the convention of the measures.
    """
    # A row for each fold, if they are not too many.
    plan = result.plan
    part, measures = _described_measures(result)
    settings = [axis.label for axis in plan.axes]
    settings += ["round"] if plan.step_kind is StepKind.ROUNDS else []
    header = ["fold", *settings, "k", *measures, "features"]
    has_many_folds = len(result.folds) > _MAX_FOLD_ROWS
    rows = (
        []
        if has_many_folds
        else [_fold_row(fold, plan, measures) for fold in result.folds]
    )

    # A row of the means over the folds.
    if len(result.folds) > 1 and measures:
        # A run without test and validation parts reports no average,
        # but has measures of left-out queries on its folds.
        means = result.reported_average or {
            m: fmean(_fold_measures(fold)[m] for fold in result.folds) for m in measures
        }
        row = _average_row(
            "mean", n_settings=len(settings), size="", means=means, measures=measures
        )
        rows.append(row)

    # A row of the averages that the best single feature of each fold reaches.
    if result.folds and measures and result.baseline:
        ids = tuple(dict.fromkeys(fold.baseline.feature for fold in result.folds))
        row = _average_row(
            "best single",
            n_settings=len(settings),
            size="1",
            means=result.baseline,
            measures=measures,
            ids=ids,
        )
        rows.append(row)

    # Title and notes around the table.
    folds = "" if plan.protocol == GIVEN else f", {plan.protocol}"
    folds += f" ({len(result.folds)} folds)" if has_many_folds else ""
    title = one_line(f"{plan.title} on {result.data_name}{folds}: {part}")

    # A run that learns from preferences or clicks names their file.
    title += (
        f"\nLearned from {one_line(learned_from(preferences_of(plan)))}"
        if preferences_of(plan)
        else ""
    )

    # Lines of at most 110 characters.
    notes = "".join(
        f"\n{textwrap.fill(f'Note: {note.what}', 110)}" for note in result.notes
    )
    table = as_text(header, rows, left_columns=(0, len(header) - 1))
    return Block(
        f"{title}\n{table}{_feature_names_text(result, has_many_folds)}\n{result.seconds:.1f} s{notes}"
    )


def _feature_names_text(result: RunResult, has_many_folds: bool) -> str:
    """Return the names of the features that the table lists by id, as lines below the table.

    A feature without a name of its own is left out. Return "" if no
    feature is left. ``has_many_folds`` says that the table has no rows
    of single folds, and so lists no features.
    """
    names = dict(zip(result.feature_ids.tolist(), result.feature_names, strict=True))

    # The table does not list the features of many folds.
    folds = () if has_many_folds else result.folds
    listed = dict.fromkeys(i for fold in folds for i in fold.selected[:_MAX_LISTED_IDS])

    # "feature 7" is the name of a feature without a name of its own.
    named = [f"{i} {names[i]}" for i in listed if names[i] != f"feature {i}"]
    return (
        "\n" + textwrap.fill(", ".join(named[:_MAX_NAMED_FEATURES]), 110)
        if named
        else ""
    )


def _fold_row(fold: FoldResult, plan: Plan, measures: Sequence[str]) -> list[str]:
    """Return the row of a fold in the table of a run's results.

    The row has the fold's number, the settings and the size of the
    chosen model, the model's ``measures``, and the ids of its features.
    ``plan`` is that of the run.
    """
    step = fold.chosen.step
    values = _fold_measures(fold)

    # An axis is a parameter of which the run tries several values.
    chosen = [
        axis.format(v)
        for axis, v in zip(plan.axes, fold.chosen.unit.values, strict=True)
    ]
    chosen += [str(step.number)] if plan.step_kind is StepKind.ROUNDS else []

    # Scores of others have no features.
    size = str(len(fold.selected)) if step.learned else ""
    measured = (f"{values[m]:.4f}" for m in measures)
    return [
        str(fold.fold),
        *chosen,
        size,
        *measured,
        _ids_text(fold.selected, feature_groups_of(plan)),
    ]


def _average_row(
    name: str,
    n_settings: int,
    size: str,
    means: Mapping[str, float],
    measures: Sequence[str],
    ids: tuple[int, ...] = (),
) -> list[str]:
    """Return a row of averages over the folds.

    ``name`` is the first cell of the row, and ``size`` the text of the
    number of features. ``n_settings`` is the number of columns of
    settings, whose cells are empty. ``means`` has the averages by
    measure, and ``ids`` are the features that the row names.
    """
    return [
        name,
        *[""] * n_settings,
        size,
        *(f"{means[m]:.4f}" for m in measures),
        _ids_text(ids),
    ]


def _fold_measures(fold: FoldResult) -> Mapping[str, float]:
    """Return the chosen model's measures on the test part, or else the validation part, or left-out data."""
    return fold.test or fold.validation or plain(fold.left_out)


def _described_measures(result: RunResult) -> tuple[str, tuple[str, ...]]:
    """Return which part and rules the table's numbers are of, and the names of its measures.

    Without a part of the data to measure on, there are no names of measures.
    """
    # Rules by which the measures are computed.
    rules = f"{rules_text(result.plan.convention, result.plan.evaluated)} convention"
    if any(measure(name).family.name == "ERR" for name in result.plan.evaluated):
        rules += f", ERR with the greatest grade {result.greatest_grade:g}"

    # The first part that has measures: test, validation, or queries that were left out.
    evaluated = result.plan.evaluated
    if not result.folds:
        return "no completed fold", ()
    first = result.folds[0]
    if first.test:
        return f"test measures, {rules}", evaluated
    if first.validation:
        return f"validation measures, {rules}", evaluated

    # Measures of left-out queries (or pairs) have names that say so;
    # `plain` maps the usual names to the values.
    if first.left_out:
        units = (
            "pairs of training documents"
            if result.plan.pairs_out
            else "training queries"
        )
        return f"measures of left-out {units}, {rules}", tuple(plain(first.left_out))
    return (
        f"chosen by {result.plan.criterion}, no data to evaluate on (see --protocol)",
        (),
    )


def _ids_text(
    selected: tuple[int, ...],
    groups: Groups | None = None,
    max_listed: int = _MAX_LISTED_IDS,
) -> str:
    """Return the first ids of the selected features as text.

    The ids of a group are in brackets after the group's name: "5 BM25
    (21 22) 7 …". A group is not cut: at most ``max_listed`` ids come
    before the last one. ``groups`` has the ids by the names of groups;
    None for no groups.
    """
    parts: list[str] = []
    n_shown = 0

    # The name is "" for an id without a group.
    for name, ids in in_groups(selected, groups or {}):
        if n_shown >= max_listed:
            return " ".join([*parts, "…"])
        text = " ".join(map(str, ids))
        parts.append(f"{name} ({text})" if name else text)
        n_shown += len(ids)
    return " ".join(parts)
