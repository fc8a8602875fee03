"""The preferences of a plan, found among the documents of its folds."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.preferences import Preferences
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.language import tr
from rankstudio.plugins.preferences.clicks import ClickRule, PairRule
from rankstudio.plugins.preferences.preference_files import (
    ClickFacts,
    PreferenceFile,
    read_preference_file,
)
from rankstudio.plugins.preferences.preference_summary import (
    NO_PREFERENCES,
    PreferenceSummary,
    summarise_preferences,
)


def plan_entry(path: Path, rule: ClickRule | None = None) -> dict[str, str]:
    """Return the entry of a plan for a preference file, which is read.

    The entry has the file's path and checksum and, for a log of clicks,
    the rule by which clicks become preferences ("pairs" and "eta").

    Parameters
    ----------
    path : Path
        File of preferences or of clicks.
    rule : ClickRule, optional
        How clicks become preferences; the usual rule by default.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
    path = path.absolute()
    file = read_preference_file(path, rule)
    source = {"path": str(path), "checksum": file.checksum}
    clicks = file.clicks
    return (
        source
        if clicks is None
        else {**source, "pairs": clicks.rule.pairs, "eta": clicks.rule.eta}
    )


def preference_file(plan: Plan) -> PreferenceFile:
    """Return the contents of the preference file that a plan names.

    Raises
    ------
    DataError
        If the file cannot be read, or differs from that of the plan.
    """
    preferences = preferences_of(plan)
    rule = None
    if "pairs" in preferences:  # the file has clicks
        rule = ClickRule(
            pairs=cast(PairRule, preferences["pairs"]), eta=preferences["eta"]
        )

    # A plan without a checksum accepts any contents.
    file = read_preference_file(Path(preferences["path"]), rule)
    if preferences.get("checksum", file.checksum) != file.checksum:
        text = tr(
            "{file}: the preferences have changed since the plan was made. Add the file again."
        )
        raise DatasetError(text.format(file=file.path))
    return file


def click_facts(plan: Plan) -> ClickFacts | None:
    """Return facts on the clicks from which a plan learns; None for labels or preferences without clicks.

    Raises
    ------
    DataError
        If the file cannot be read, or differs from that of the plan.
    """
    return preference_file(plan).clicks if preferences_of(plan) else None


def checked_plan_entry(
    plan: Plan, dataset: FoldedDataset, path: Path, rule: ClickRule | None = None
) -> dict[str, str]:
    """Return the plan's entry for a preference file, after a check that the file fits the data.

    ``rule`` converts clicks to preferences; see :func:`plan_entry`.

    Raises
    ------
    DataError
        If the file cannot be read, or has a query or document that does not exist.
    """
    source = plan_entry(path, rule)
    check_file(plan.changed(preferences=source), dataset)
    return source


def describe_preferences(
    plan: Plan, dataset: FoldedDataset, number: int | None
) -> PreferenceSummary:
    """Count the preferences of a plan in a fold's training part.

    Without a ``number`` of a fold (None), count them in all parts of
    all folds. Each query counts once, regardless of the number of
    folds.

    Raises
    ------
    DataError
        If the file cannot be read, or differs from that of the plan.
    """
    file = preference_file(plan)

    # The training part of one fold, or all parts of all folds.
    folds = [fold for fold in dataset.folds if number in (None, fold.number)]
    parts = [
        part
        for fold in folds
        for part in (fold.parts.values() if number is None else (fold.train,))
    ]

    # A query in several parts is counted once, in the first of them.
    counted_queries = set[str]()
    summary = NO_PREFERENCES
    for part in parts:
        is_new_query = [query not in counted_queries for query in part.query_ids]
        counted_queries.update(part.query_ids)
        queries = zip(part.query_ids, is_new_query, strict=True)
        if any(is_new and query in file.queries for query, is_new in queries):
            # Preferences of queries that this part does not have are skipped.
            part_preferences = file.of_part(part, file.queries)

            # Only preferences of queries that are new.
            is_new_preference = np.array(is_new_query)[
                part.query_index[part_preferences.winner]
            ]
            new_preferences = Preferences(
                part_preferences.winner[is_new_preference],
                part_preferences.loser[is_new_preference],
            )
            summary += summarise_preferences(new_preferences, part.query_index)
    return summary


def check_file(plan: Plan, dataset: FoldedDataset) -> None:
    """Check before any work that the preferences of a plan fit the data.

    Raises
    ------
    DataError
        If the file cannot be read, differs from that of the plan, or
        has a query or document that does not exist.
    """
    file = preference_file(plan)
    parts = [part for fold in dataset.folds for part in fold.parts.values()]
    query_ids = {query for part in parts for query in part.query_ids}

    # A part with queries of an earlier part, as folds have, is skipped.
    # Of the others, preferences of queries in other parts (`query_ids`)
    # are no error.
    checked_queries: set[str] = set()
    for part in parts:
        if checked_queries.isdisjoint(part.query_ids) and file.queries.intersection(
            part.query_ids
        ):
            file.of_part(part, query_ids)  # called for its errors only
            checked_queries.update(part.query_ids)

    # No part has a query of the file. Called for its error only, which says so.
    if not checked_queries:
        file.of_part(parts[0], query_ids)


def preferences_in_training(plan: Plan, fold: Fold) -> Preferences:
    """Return the preferences of a plan between documents of the training part of a fold."""
    file = preference_file(plan)
    return file.of_part(fold.train, file.queries)


def click_note(plan: Plan) -> str:
    """Return the sentence on the clicks of a plan; "" for other preferences."""
    facts = click_facts(plan)
    return "" if facts is None else facts.sentence
