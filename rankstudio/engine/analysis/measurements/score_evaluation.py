"""The measures of a file of scores, or of the scores of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.given_scores import read_score_file
from rankstudio.engine.data.known_datasets import identify
from rankstudio.engine.export.model_files import score_file
from rankstudio.engine.metrics.conventions import Ties, convention
from rankstudio.engine.metrics.evaluation import Evaluation, evaluate
from rankstudio.engine.metrics.names import Measure, measure
from rankstudio.engine.statistics.auc import auc_interval

_NO_IDS = (
    "Some documents have no id (docid = …) in their comments. In queries without ids, ties are broken by "
    "position: the last document in the file ranks first."
)


def evaluate_file(
    data_path: Path,
    ranked_by: Path,
    key: str | None,
    measures: Sequence[str | Measure],
    columns: Mapping[str, Any] | None = None,
    greatest_grade: float | None = None,
    *,
    model: bool = False,
) -> tuple[Evaluation, RankingDataset, tuple[str, ...]]:
    """Measure the ranking of a data file's documents by a score file or a model.

    Parameters
    ----------
    data_path : Path
        Data file; for a model it is read like the model's data.
    ranked_by : Path
        Score file, or model.
    key : str or None
        Key of the convention; None for the usual one of the data.
    measures : sequence of str or Measure
        Measures to compute.
    columns : Mapping, optional
        Columns of a table, if their names are not recognised.
    greatest_grade : float, optional
        Largest label of the whole dataset, for ERR; by default the file's own.
    model : bool
        Whether `ranked_by` is a model.

    Returns
    -------
    tuple
        The measures, the data, and notes for the user as sentences.

    Raises
    ------
    DatasetError
        If the score file has not one score per document.
    DataError
        If a file cannot be read, or the model cannot score the data.
    """
    # Scores of the model, which says how its data are read, or of the file.
    if model:
        scores, data, notes = score_file(ranked_by, data_path, columns, labels=True)
    else:
        data = load_data(data_path, columns=columns)
        notes = ()
        scores = read_score_file(ranked_by).of_parts([data])[0]

    # The convention may break ties by document ids.
    rules = convention(key or identify(data_path, data).convention)
    notes = (*notes, *data.warnings)
    ids = None
    if rules.ties is Ties.DOCUMENT_ID:
        ids = data.document_ids
        notes += () if all(ids) else (_NO_IDS,)
    evaluation = evaluate(
        data.y,
        scores,
        data.qid,
        convention=rules,
        measures=measures,
        document_ids=ids,
        greatest_grade=greatest_grade,
    )

    # The interval of the AUC is known for one ranking only.
    if data.n_queries == 1 and any(
        measure(name).family.name == "AUC" for name in measures
    ):
        evaluation = replace(
            evaluation,
            auc_interval=auc_interval(scores, data.y >= rules.relevant_from),
        )
    return evaluation, data, notes
