"""Which of the queries that a model of a file is measured on it was learned from, as its origin tells."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.splitting.leave_query_out import LeftOut
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import GIVEN, parse_protocol
from rankstudio.engine.export.models import Model
from rankstudio.engine.language import tr, trn

ALL = "all"
"""What a model's origin has in place of the number of a fold: it was learned from everything."""

_Queries = dict[str, list[Floats]]
"""The documents of queries, by their ids: other parts may count them anew."""


def overlap(models: Mapping[int, Model], plan: Plan, dataset: FoldedDataset) -> str:
    """Return as a sentence which queries that models are measured on they were learned from; "" for none.

    Parameters
    ----------
    models : Mapping of int to Model
        By the number of the fold.
    plan : Plan
        By which they are measured.
    dataset : FoldedDataset
        Of the plan. Models whose origin names other data are believed not to know its queries.

    Notes
    -----
    Queries are the same that have the same id and the same documents.
    """
    known: dict[tuple[int, object], _Queries] = {}
    folds: list[int] = []
    measured = seen = 0
    unclear = False
    for fold in dataset.folds:
        part, model = fold.test or fold.vali, models.get(fold.number)
        if model is None or part is None:
            continue
        measured += part.n_queries
        number = model.origin.get("fold")
        if not _same_data(model, plan, dataset):
            continue
        if number == ALL:
            n = part.n_queries
        elif not _same_folds(model, dataset):
            unclear = True
            continue
        elif number == fold.number:
            continue
        else:
            key = id(model), number
            if key not in known:
                known[key] = _learned_from(number, dataset)
            n = _n_shared(part, known[key])
        seen += n
        folds += [fold.number] if n else []
    return _sentence(plan.scores["name"], dataset.name, (seen, measured), folds, unclear)


def _sentence(name: str, data: str, counts: tuple[int, int], folds: list[int], unclear: bool) -> str:
    seen, measured = counts
    if seen:
        numbers = ", ".join(map(str, folds)) if len(folds) < 10 else f"{folds[0]} … {folds[-1]}"
        return trn(
            "{name} was trained or selected on the query it is measured on, so its result is optimistic.",
            "{name} was trained or selected on {seen} of the {n} queries it is measured on "
            "(fold {folds}), so its result is optimistic.",
            measured,
        ).format(name=name, seen=seen, n=measured, folds=numbers)
    if unclear:
        return tr(
            "{name} was trained on different folds of {data}. It may have seen some of the "
            "queries it is measured on, so its result may be optimistic."
        ).format(name=name, data=data)
    return ""


def _same_data(model: Model, plan: Plan, dataset: FoldedDataset) -> bool:
    return plan.data == model.plan.get("data") or dataset.name == model.origin.get("data")


def _same_folds(model: Model, dataset: FoldedDataset) -> bool:
    """Tell whether the folds are those among which a model's own was."""
    try:
        protocol = parse_protocol(str(model.plan.get("protocol", GIVEN)))
    except PlanError:
        return False
    there = any(fold.number == model.origin.get("fold") for fold in dataset.folds)
    return there and protocol.divided_by(model.plan.get("seed", 0)) == dataset.divided_by


def _learned_from(number: object, dataset: FoldedDataset) -> _Queries:
    """Return the queries that a fold's model was learned from or chosen by."""
    fold = next(fold for fold in dataset.folds if fold.number == number)
    found: _Queries = {}
    for part in (fold.train, fold.vali):
        if part is None:
            continue
        whole, left_out = (part.whole, part.query) if isinstance(part, LeftOut) else (part, -1)
        for query, name in enumerate(whole.query_ids):
            if query != left_out:
                found.setdefault(name, []).append(_documents(whole, query))
    return found


def _n_shared(part: RankingDataset, queries: _Queries) -> int:
    """Return how many queries of a part are among others."""
    return sum(
        any(np.array_equal(_documents(part, query), other) for other in queries.get(name, ()))
        for query, name in enumerate(part.query_ids)
    )


def _documents(part: RankingDataset, query: int) -> Floats:
    return part.X[part.query_ptr[query] : part.query_ptr[query + 1]]
