"""The measures of a file of scores, which any program may have written, and of a model's scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.given_scores import read_score_file
from rankstudio.engine.data.known_datasets import identify
from rankstudio.engine.export.model_files import score_file
from rankstudio.engine.metrics.conventions import Ties, convention
from rankstudio.engine.metrics.evaluation import Evaluation, evaluate
from rankstudio.engine.metrics.names import Measure

_NO_IDS = (
    "Some documents have no id (docid = …) in their comments. In queries without ids, ties are broken by "
    "position: the last document in the file ranks first."
)


def evaluate_file(
    data_path: Path,
    ranked_by: Path,
    key: str | None,
    measures: Sequence[Measure],
    columns: Mapping[str, Any] | None = None,
    greatest_grade: float | None = None,
    *,
    model: bool = False,
) -> tuple[Evaluation, RankingDataset, tuple[str, ...]]:
    """Measure a file of scores, or a model, on a data file.

    Parameters
    ----------
    data_path : Path
        Read as the model's data were, where there is a model.
    ranked_by : Path
        Scores, or a model.
    key : str or None
        Of the convention; None for what is usual for the data.
    measures : sequence of Measure
    columns : Mapping, optional
        What the columns of a table are, where their names do not tell.
    greatest_grade : float, optional
        Of the dataset that the file is a part of, for ERR; the file's own greatest label if left out.
    model : bool
        Whether it is a model.

    Returns
    -------
    tuple
        The measures, the data, and what is to be known of them, as sentences.

    Raises
    ------
    DatasetError
        Where there is not one score for each document.
    DataError
        Where a file cannot be read, or the model cannot score the data.
    """
    if model:
        scores, data, notes = score_file(ranked_by, data_path, columns)
    else:
        data, notes = load_data(data_path, columns=columns), ()
        scores = read_score_file(ranked_by).of_parts([data])[0]
    chosen = convention(key or identify(data_path, data).convention)
    notes, ids = (*notes, *data.warnings), None
    if chosen.ties is Ties.DOCUMENT_ID:
        ids = data.document_ids
        notes += () if all(ids) else (_NO_IDS,)
    found = evaluate(
        data.y,
        scores,
        data.qid,
        convention=chosen,
        measures=measures,
        document_ids=ids,
        greatest_grade=greatest_grade,
    )
    return found, data, notes
