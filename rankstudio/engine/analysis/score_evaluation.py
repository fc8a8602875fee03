"""The measures of a file of scores, which any program may have written, and of a model's scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.analysis.evidence.model_losses import loss_steps
from rankstudio.engine.analysis.evidence.permutation_importance import (
    MeasuredDocuments,
    PermutationImportance,
    importance_steps,
)
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.given_scores import read_score_file
from rankstudio.engine.data.known_datasets import identify
from rankstudio.engine.export.model_files import model_and_data, score_file
from rankstudio.engine.export.models import Model
from rankstudio.engine.metrics.conventions import Ties, convention
from rankstudio.engine.metrics.evaluation import Evaluation, evaluate
from rankstudio.engine.metrics.names import Measure
from rankstudio.engine.statistics.auc import auc_interval
from rankstudio.engine.support.grades import Grading, ranks_of_ids
from rankstudio.engine.support.work import finish

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
    """Measure a score file or a model on a data file.

    Parameters
    ----------
    data_path : Path
        Data file; for a model it is read like the model's data.
    ranked_by : Path
        Score file, or model.
    key : str or None
        Key of the convention; None for the usual one of the data.
    measures : sequence of Measure
    columns : Mapping, optional
        Columns of a table, if their names are not recognised.
    greatest_grade : float, optional
        Largest label of the whole dataset, for ERR; by default the file's own.
    model : bool
        Whether it is a model.

    Returns
    -------
    tuple
        Measures, data, and notes as sentences.

    Raises
    ------
    DatasetError
        If there is not one score per document.
    DataError
        If a file cannot be read, or the model cannot score the data.
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
    if data.n_queries == 1 and any(one.family.name == "AUC" for one in measures):
        found = replace(found, auc_interval=auc_interval(scores, data.y >= chosen.relevant_from))
    return found, data, notes


@dataclass(frozen=True, eq=False)
class ModelImportance:
    """What each feature is worth to a model, on some documents.

    Attributes
    ----------
    model : Model
    data : RankingDataset
    columns : tuple of int
        Of the features that the model uses, 0-based.
    without, permuted : PermutationImportance
        What it loses where all documents of a query have the feature's mean, and where values are permuted
        within queries; a row for each of the columns.
    """

    model: Model
    data: RankingDataset
    columns: tuple[int, ...]
    without: PermutationImportance
    permuted: PermutationImportance


def model_importance(
    model_path: Path,
    data_path: Path,
    measure: Measure,
    key: str | None = None,
    columns: Mapping[str, Any] | None = None,
    *,
    n_repeats: int = 10,
    seed: int = 0,
) -> ModelImportance:
    """Measure what a model loses without each of its features, and with each permuted within queries.

    Parameters
    ----------
    model_path, data_path, key, columns
        As of :func:`evaluate_file`.
    measure : Measure
    n_repeats, seed : int
        How often each feature is permuted, and from which seed.

    Raises
    ------
    DataError
        Where a file cannot be read, or the model cannot score the data.
    """
    model, data = model_and_data(model_path, data_path, columns)
    there = data.feature_ids.tolist()
    absent = sorted(model.needed - set(there)) if data.sparse else []  # 0 in every document
    X = np.column_stack([data.X, np.zeros((data.n_documents, len(absent)))]) if absent else data.X
    ids = np.array([*there, *absent], dtype=np.int64)
    used = tuple(there.index(f.id) for f in model.features if f.id in there)
    rules = convention(key or identify(data_path, data).convention)
    grading = Grading(data.greatest_grade, partial(ranks_of_ids, data.document_ids, data.query_ptr))
    documents = MeasuredDocuments(X, data.y, slice(0, data.n_documents), data.query_ptr, grading)

    def score(values: Floats) -> Floats:
        return model.predict(values, ids)

    without = finish(loss_steps(score, documents, measure, used, rules))
    together = [(column,) for column in used]
    permuted = finish(importance_steps(score, documents, measure, n_repeats, seed, together, rules))
    return ModelImportance(model, data, used, without, permuted)
