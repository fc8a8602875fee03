"""The sections of a report on selections: features with margins, and agreement of the folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

import numpy as np

from rankstudio.engine.analysis.features.candidate_map import (
    CandidateGroups,
    Margin,
    is_share_meaningless,
    margins,
)
from rankstudio.engine.analysis.features.selection_stability import (
    SelectionStability,
    stability_of_run,
    stability_table,
)
from rankstudio.engine.analysis.figures.run_figures import (
    chosen_path,
    fold_features_figure,
)
from rankstudio.engine.analysis.reported_runs import (
    ReportedRun,
    ReportSource,
    listed,
)
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.export.tables import TextTable, range_text
from rankstudio.engine.methods.catalog.method import CandidateScore
from rankstudio.engine.plugins.report_parts import Paragraph
from rankstudio.engine.support.number_format import NOTHING, percent
from rankstudio.plugins.report.document import Block, ReportFigure

_MAX_FEATURES = 40
_MAX_MAPPED = 30
_MAX_MAPS = 8
_MAX_FOLDS = 40
_MAX_NAMED_FEATURES = 6


def feature_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield for a report a sentence and a table on the selected features of each run.

    The table has the margins of the features: their leads over the next candidate.
    """
    runs = _selecting_runs(source)
    if not runs:
        yield Paragraph(
            "No run selects features: all runs rank with all features.", muted=True
        )
    for run in runs:
        stability = stability_of_run(run.result)
        yield Paragraph(_common_sentence(run, stability))
        yield _feature_table(run, stability)


def stability_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield how much the folds of each run agree on the features, as indices and maps."""
    mapped: list[ReportedRun] = []
    for group in source.groups:
        runs = [
            run
            for run in group.runs
            if run.plan.entry.selects and len(run.result.folds) > 1
        ]
        if runs:
            named_results = [(run.number, run.title, run.result) for run in runs]
            yield stability_table(
                f"{group.title}: agreement of the folds", named_results
            )
        mapped += runs
    if not mapped:
        yield Paragraph(
            "No run has selected features on two or more folds.", muted=True
        )
    for run in mapped[:_MAX_MAPS]:
        stability = stability_of_run(run.result)
        if len(stability.folds) <= _MAX_FOLDS and stability.features:
            yield ReportFigure(fold_features_figure(run.result, stability))


def _selecting_runs(source: ReportSource) -> list[ReportedRun]:
    """Return the runs whose method selects features."""
    return [run for run in source.runs if run.plan.entry.selects]


def _common_sentence(run: ReportedRun, stability: SelectionStability) -> str:
    """Return a sentence on how many features a run chose, and on the features that all folds chose.

    ``stability`` has each chosen feature with the number of folds that chose it.
    """
    n = len(stability.folds)
    everywhere = [feature.name for feature in stability.features if feature.times == n]
    name = f"{run.name[0].upper()}{run.name[1:]}"
    text = f"{name}, chose {len(stability.features)} different features on {n} fold{'s' if n > 1 else ''}"
    if n < 2:
        return f"{text}."
    if not everywhere:
        return f"{text}, none of them on all."
    n_more = len(everywhere) - _MAX_NAMED_FEATURES
    names = everywhere[:_MAX_NAMED_FEATURES] + (
        [f"{n_more} more"] if n_more > 0 else []
    )
    return f"{text}, {len(everywhere)} of them on all: {listed(names)}."


def _feature_table(run: ReportedRun, stability: SelectionStability) -> TextTable:
    """Return the table of the features that a run selects, the most frequent first."""
    # The last column is there only if the method compares candidates.
    closest = _closest_choices(run)
    several_folds = len(stability.folds) > 1

    # One row for each feature: name, id, number of folds if there are
    # several, and its ranks.
    rows = []
    for feature in stability.features[:_MAX_FEATURES]:
        times = f"{feature.times} of {len(stability.folds)}"
        row = [feature.name, str(feature.feature), *([times] if several_folds else [])]
        row.append(range_text(list(feature.ranks.values())))
        rows.append(
            (*row, closest.get(feature.feature, NOTHING)) if closest else tuple(row)
        )

    # The header has the same optional columns as the rows.
    header = ["feature", "id", *(["folds"] if several_folds else []), "chosen as"]
    header += ["closest choice"] if closest else []

    # Remarks on the last column, and on features that the table leaves out.
    notes = []
    if closest:
        score = run.plan.candidate_score
        score_title = score.title if score is not None else ""
        notes.append(
            f"Closest choice: the smallest margin over the next candidate by {score_title}, over the folds."
        )
    n_more = len(stability.features) - len(rows)
    if n_more > 0:
        notes.append(f"And {n_more} more features, chosen by fewer folds or later.")

    # Columns of texts are aligned to the left, others to the right.
    text_columns = (0, len(header) - 1) if closest else (0,)
    return TextTable(
        f"Run {run.number}: features",
        tuple(header),
        tuple(rows),
        left=text_columns,
        note=" ".join(notes),
    )


def _closest_choices(run: ReportedRun) -> dict[int, str]:
    """Return a text on the smallest lead of each feature over the next candidate, by feature id.

    The text is about the fold with the smallest lead. The dict is empty
    for a method that does not compare candidates.
    """
    # Methods without candidates have no leads.
    score = run.plan.candidate_score
    if score is None:
        return {}

    # Find the fold in which each feature was selected by the smallest
    # lead. The values are the lead as a share of the score, the fold,
    # and the margin.
    least: dict[int, tuple[float, int, Margin]] = {}
    ids = run.result.feature_ids.tolist()

    # Features of a group are one candidate, with several members.
    groups = CandidateGroups.of(
        ids, run.result.feature_names, feature_groups_of(run.plan)
    )

    # `margins` has the lead of each candidate that a path selects.
    for fold in run.result.folds:
        selected = set(fold.selected)
        for column, margin in margins(groups.path(chosen_path(fold)), score).items():
            for feature in (ids[member] for member in groups.members(column)):
                share = margin.share
                least_share = least[feature][0] if feature in least else np.inf
                if feature in selected and not isnan(share) and share < least_share:
                    least[feature] = share, fold.fold, margin

    # The fold is named only if there are several.
    several_folds = len(run.result.folds) > 1
    return {
        feature: _margin_text(score, margin, groups.names, fold if several_folds else 0)
        for feature, (_, fold, margin) in least.items()
    }


def _margin_text(
    score: CandidateScore, margin: Margin, names: Sequence[str], fold: int
) -> str:
    """Return a text on a feature's lead, such as "12 % ahead of BM25 of body (fold 2)".

    ``names`` are those of the candidates. The text has no fold if ``fold`` is 0.
    """
    rival = names[margin.rival] if margin.rival is not None else ""
    fold_text = f" (fold {fold})" if fold else ""
    if margin.share == 0:
        return f"equal to {rival}{fold_text}"

    # A score is how far a candidate lowers the criterion: it is below 0
    # if the candidate raises it. Then the share says nothing.
    if margin.rival is not None and is_share_meaningless(score, margin):
        if margin.score > 0:
            return f"no other lowered the {score.criterion}{fold_text}"
        effect = (
            f"{rival} would have lowered" if margin.rival_score > 0 else "none lowered"
        )
        return f"{effect} the {score.criterion}{fold_text}"
    how = "ahead of" if margin.share > 0 else "behind"
    return f"{percent(abs(margin.share))} {how} {rival}{fold_text}"
