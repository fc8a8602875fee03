"""The section of reports on substitutes: what could stand for the features of the best runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

import numpy as np

from rankstudio.engine.analysis.features.candidate_map import CandidateGroups
from rankstudio.engine.analysis.figures.run_figures import chosen_path
from rankstudio.engine.analysis.reported_runs import (
    ReportedRun,
    ReportSource,
    best_of,
    listed,
)
from rankstudio.engine.data.feature_groups import feature_groups_of, group_names
from rankstudio.engine.data.summary import is_wide
from rankstudio.engine.experiment.units.fold_context import make_fold_context
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.plugins.report_parts import Paragraph
from rankstudio.engine.support.number_format import NOTHING, fixed, significant
from rankstudio.plugins.features.feature_profile import Inspector
from rankstudio.plugins.features.substitutes import (
    SubstituteGroup,
    Substitutes,
    Swap,
    substitutes,
)

_MAX_NAMED_FEATURES = 6


def substitute_blocks(source: ReportSource) -> Iterator[Paragraph | TextTable]:
    """Yield substitutes for the features of the best run on each dataset, in its first fold.

    Runs that can be ranked together are in one group. The best run of a
    dataset is that of its first group.
    """
    for group in (group for group in source.groups if group.position == 1):
        selecting = [
            run for run in group.runs if run.plan.entry.selects and run.data is not None
        ]
        if not selecting:
            text = f"{group.title}: the data are not available, or no run selects features."
            yield Paragraph(text, muted=True)
            continue
        yield from _substitutes_section(best_of(selecting, group.measure))


def _substitutes_section(run: ReportedRun) -> Iterator[Paragraph | TextTable]:
    """Yield paragraphs and tables on substitutes for the features of the run's first fold."""
    first = run.result.folds[0]
    folds = run.data.folds if run.data is not None else ()
    fold = next((f for f in folds if f.number == first.fold), None)
    if fold is None or not first.chosen.step.selected:
        return

    # The correlations of wide or sparse data are not computed as a whole.
    if is_wide(fold.train):
        text = f"{run.name}: substitutes compare all pairs of features, and these are too many, or sparse."
        yield Paragraph(text, muted=True)
        return
    path = chosen_path(first)
    position = path.steps.position(first.chosen.step.number)
    inspector = Inspector(fold.train, run.plan.convention)

    # the training documents, grouped by query and all in memory
    train = make_fold_context(run.plan, fold).whole_train
    ids = run.result.feature_ids
    names = run.result.feature_names
    groups = CandidateGroups.of(ids, names, feature_groups_of(run.plan)).columns
    model_substitutes = substitutes(
        run.plan,
        path,
        position,
        train,
        inspector.correlations,
        inspector.clusters,
        groups,
    )
    yield Paragraph(
        f"Possible substitutes for the features of {run.name}, in the model of fold {first.fold}. Similarity "
        "is the correlation r within the queries of its training part."
    )
    yield from _group_paragraphs(run, model_substitutes)
    if model_substitutes.group_swaps:
        yield _group_swap_table(run, model_substitutes)


def _group_paragraphs(
    run: ReportedRun, model_substitutes: Substitutes
) -> Iterator[Paragraph | TextTable]:
    """Yield the table of features similar to those of a run's model, and paragraphs below it.

    The paragraphs have the features without similar ones, and the three
    best swaps. A group is a cluster of similar features with at least
    one in the model. A swap replaces a feature of the model by another
    one, or leaves it out.
    """
    names = run.result.feature_names
    similar = [
        group
        for group in model_substitutes.groups
        if len(group.selected) + len(group.others) > 1
    ]
    single = [group for group in model_substitutes.groups if group not in similar]

    # The change of the criterion is NaN if it was not computed.
    has_changes = any(
        not isnan(swap.change)
        for group in model_substitutes.groups
        for swap in group.swaps
    )
    if similar:
        rows = tuple(
            _group_row(group, names, with_change=has_changes) for group in similar
        )
        header = ["in the model", "like it", "least |r|", "best swap"]
        header += ["change of criterion"] if has_changes else []
        note = (
            f"The change is that of {_criterion_name(run)}; lower is better."
            if has_changes
            else ""
        )
        title = f"Run {run.number}: similar features"

        # Columns 0, 1 and 3 are texts, the others numbers.
        yield TextTable(
            title,
            tuple(header),
            rows,
            (0, 1, 3),
            f"{note} {model_substitutes.why_no_swaps}".strip(),
        )
    if single:
        listing = listed(names[group.selected[0]] for group in single)
        yield Paragraph(f"Without similar features: {listing}.")
    for swap in model_substitutes.better[:3]:
        action = (
            "Leaving out"
            if swap.added is None
            else f"Using {names[swap.added]} instead of"
        )
        yield Paragraph(
            f"{action} {names[swap.removed]} would have lowered the criterion by "
            f"{significant(abs(swap.change), 2)} per document."
        )


def _group_swap_table(run: ReportedRun, model_substitutes: Substitutes) -> TextTable:
    """Return the table of swaps of whole groups of features.

    Swaps that lower the criterion most come first.
    """
    names = run.result.feature_names
    group_of = group_names(feature_groups_of(run.plan))
    ids = run.result.feature_ids.tolist()

    def candidate_text(columns: Sequence[int]) -> str:
        """Return a group's name with its features, or the name of a single feature.

        ``columns`` are the 0-based columns of one candidate: a group,
        or a feature by itself.
        """
        members = listed(names[column] for column in columns)
        group = group_of.get(ids[columns[0]], "")
        return f"{group} ({members})" if group else members

    swaps = sorted(model_substitutes.group_swaps, key=lambda swap: swap.change)
    rows = tuple(
        (
            candidate_text(swap.removed),
            candidate_text(swap.added),
            significant(swap.change, 2, sign=True),
        )
        for swap in swaps
    )
    note = (
        "A group is selected as a whole. The table has the best swap for each group of the model. The change "
        f"is that of {_criterion_name(run)}; lower is better."
    )
    header = ("in the model", "best replaced by", "change of criterion")
    return TextTable(
        f"Run {run.number}: groups of features swapped as a whole",
        header,
        rows,
        (0, 1),
        note,
    )


def _criterion_name(run: ReportedRun) -> str:
    """Return the criterion as named beside its changes: "the leave-query-out error per document"."""
    return f"the {run.plan.criterion.removesuffix(' per document')} per document"


def _group_row(
    group: SubstituteGroup, names: Sequence[str], *, with_change: bool
) -> tuple[str, ...]:
    """Return the table row of a group of similar features.

    The row has the features by their ``names``, and the best swap of
    the group. ``with_change`` adds the change of the criterion by the
    swap.
    """
    chosen = listed(names[column] for column in group.selected)
    named_others = [names[column] for column in group.others[:_MAX_NAMED_FEATURES]]
    n_more = len(group.others) - len(named_others)
    others_text = (
        listed(named_others + ([f"{n_more} more"] if n_more > 0 else [])) or NOTHING
    )

    # Swaps without a computed change (NaN) come last. In a cluster
    # without other features there is nothing to swap.
    swap: Swap | None = min(
        (swap for swap in group.swaps if group.others),
        key=lambda candidate: np.inf if isnan(candidate.change) else candidate.change,
        default=None,
    )
    swap_text = NOTHING
    if swap is not None and swap.added is not None:
        swap_text = f"{names[swap.added]} for {names[swap.removed]}"
    row = (chosen, others_text, fixed(group.least, 2), swap_text)
    if not with_change:
        return row
    return (*row, significant(swap.change, 2, sign=True) if swap else NOTHING)
