"""The measures of a file of scores, which any program may have written, and of a model's scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.known_datasets import identify
from rankstudio.engine.data.score_files import read_scores
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.export.model_scores import model_scores, other_names, read_for
from rankstudio.engine.export.models import load_model
from rankstudio.engine.metrics.conventions import Ties, convention
from rankstudio.engine.metrics.evaluation import Evaluation, evaluate
from rankstudio.engine.metrics.names import Measure

_NO_IDS = (
    "Not every document has an id (docid = …) in its comment: in a query without ids, of equal scores the "
    "document that stands last in the file comes first."
)


def evaluate_files(
    data_path: Path,
    scores_path: Path,
    key: str | None,
    measures: Sequence[Measure],
    columns: Mapping[str, Any] | None = None,
    greatest_grade: float | None = None,
) -> tuple[Evaluation, RankingDataset, tuple[str, ...]]:
    """Measure a file of scores on a data file.

    Parameters
    ----------
    data_path, scores_path : Path
    key : str or None
        Of the convention; None for what is usual for the data.
    measures : sequence of Measure
    columns : Mapping, optional
        What the columns of a table are, where their names do not tell.
    greatest_grade : float, optional
        Of the dataset that the file is a part of, for ERR; the file's own greatest label if left out.

    Returns
    -------
    tuple
        The measures, the data, and what is to be known of them, as sentences.

    Raises
    ------
    DatasetError
        Where there is not one score for each document.
    DataError
        Where a file cannot be read.
    """
    data = load_data(data_path, columns=columns)
    scores = read_scores(scores_path)
    if scores.size != data.n_documents:
        raise DatasetError(
            f"{data_path} has {data.n_documents} documents and {scores_path} has {scores.size} scores; "
            "expected one score for each document."
        )
    if data.file_rows is not None:
        scores = scores[data.file_rows]
    return _evaluated(data_path, data, scores, key, measures, greatest_grade)


def evaluate_model(
    data_path: Path,
    model_path: Path,
    key: str | None,
    measures: Sequence[Measure],
    columns: Mapping[str, Any] | None = None,
    greatest_grade: float | None = None,
) -> tuple[Evaluation, RankingDataset, tuple[str, ...]]:
    """Measure a model on a data file, which is read as the model's data were; see `evaluate_files`.

    Raises
    ------
    DataError
        Where a file cannot be read, or the model cannot score the data.
    """
    model = load_model(model_path)
    data = read_for(model, data_path, columns)
    scores = model_scores(model, data)
    found, data, notes = _evaluated(data_path, data, scores, key, measures, greatest_grade)
    return found, data, (*other_names(model, data), *notes)


def _evaluated(
    path: Path,
    data: RankingDataset,
    scores: Floats,
    key: str | None,
    measures: Sequence[Measure],
    greatest_grade: float | None,
) -> tuple[Evaluation, RankingDataset, tuple[str, ...]]:
    """Measure scores, in the order of the rows, by a convention or by the one that is usual for the data."""
    chosen = convention(key or identify(path, data).convention)
    notes, ids = data.warnings, None
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
