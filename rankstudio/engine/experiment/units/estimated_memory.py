"""The memory that a run needs, from the shapes of its data, before any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.data.splitting.leave_query_out import LeftOut
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.memory_estimate import MemoryEstimate
from rankstudio.engine.experiment.units.fold_context import estimator
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.memory_need import NUMBER, DataShape, MemoryNeed, Reading, whole_need
from rankstudio.engine.support import memory, threads
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.shard import DOCUMENTS, shards_of

_MEASURED = 80.0  # bytes a document of a part that is measured: labels, orders, scores and rankings


@dataclass(frozen=True)
class WorkersHere:
    """Who works on this machine.

    Attributes
    ----------
    count : int
        How many work at a time.
    share_shards : bool
        Whether they share the shards of one path, else each has units of its own.
    """

    count: int = 1
    share_shards: bool = False


ALONE = WorkersHere()


def memory_estimate(plan: Plan, folds: Sequence[Fold], workers: WorkersHere = ALONE) -> MemoryEstimate:
    """Return what a plan needs of memory on some folds, before any work.

    Parameters
    ----------
    plan : Plan
    folds : sequence of Fold
        That are run.
    workers : WorkersHere

    Raises
    ------
    ParameterError, PlanError
        As :func:`rankstudio.engine.experiment.units.fold_context.estimator`.

    Notes
    -----
    O(S log Q) for S shards of Q queries; it reads no document.
    """
    return max((_of_fold(plan, fold, workers) for fold in folds), key=lambda found: found.least)


def _of_fold(plan: Plan, fold: Fold, workers: WorkersHere) -> MemoryEstimate:
    left_out = isinstance(fold.train, LeftOut)
    train = fold.train.whole if isinstance(fold.train, LeftOut) else fold.train
    on_disk = in_file(train.X)
    free = memory.available()
    budget = min(free, memory.budget()) if on_disk or memory.is_asked() else free
    # Inner folds hold their documents; of what is left out others are copied.
    besides = (plan.inner + left_out) * NUMBER * train.n_documents * train.n_features
    besides += sum(_of_part(part) for name, part in fold.parts.items() if name != "train")
    limit = budget if memory.is_asked() else free
    largest = max(shard.n_documents for shard in shards_of(train.query_ptr))
    count = workers.count if workers.share_shards else threads.available()
    while True:
        shape = DataShape(
            train.n_documents,
            train.n_features,
            train.n_queries,
            largest,
            count,
            on_disk,
            budget - besides,
        )
        label, need = _of_plan(plan, shape, train.feature_ids)
        if need.reading is not Reading.SHARED:
            need = need.times(min(workers.count, len(plan.combinations)))
        found = MemoryEstimate(label, shape.m, shape.n, on_disk, need.plus(besides), budget, limit, count)
        # Fewer threads hold fewer shards at a time and change no bit. Processes are as many as asked for.
        if workers.share_shards or count == 1 or need.reading is Reading.WHOLE or found.least <= budget:
            return found
        count //= 2


def shards_are_shared(plan: Plan, train: RankingDataset) -> bool:
    """Return whether all that a plan learns from a training part is sums over shards, which workers share."""
    largest = max(shard.n_documents for shard in shards_of(train.query_ptr))
    shape = DataShape(train.n_documents, train.n_features, train.n_queries, largest)
    return shape.sharded and all(
        estimator(plan, plan.entry, one.parameters, train.feature_ids).memory_need(shape).reading
        is Reading.SHARED
        for one in plan.combinations
    )


def _of_plan(plan: Plan, shape: DataShape, ids: Ints) -> tuple[str, MemoryNeed]:
    """Return what needs most of what learns, and what it needs."""
    if plan.entry.given:
        return plan.title, MemoryNeed(0.0, reading=Reading.SHARED)
    found = []
    for combination in plan.combinations:
        learned = selector = estimator(plan, plan.entry, combination.parameters, ids)
        found.append((plan.entry.label, selector.memory_need(shape)))
        if plan.ranker_entry is not None:
            learned = estimator(plan, plan.ranker_entry, combination.ranker, ids)
            growing = plan.entry.step_kind is StepKind.FEATURES and not plan.groups
            k = selector.n_steps(shape.n) if growing else shape.n
            found.append((plan.ranker_entry.label, _of_ranker(learned, shape, k)))
        if shape.sharded and plan.leaves_out:
            found.append((plan.title, learned.left_out_need(shape)))
        if shape.sharded and plan.preferences:  # they are between any of the documents
            found.append((plan.title, whole_need(shape)))
    return max(found, key=lambda pair: (pair[1].least, pair[1].reading is Reading.WHOLE))


def _of_ranker(ranker: LinearRanker, shape: DataShape, k: int) -> MemoryNeed:
    """Return what a ranker needs that learns from k selected features."""
    if not shape.sharded:
        return ranker.memory_need(shape)
    need = ranker.memory_need(replace(shape, n=k))
    # They are copied shard by shard: to a file, or within memory.
    return need.plus(NUMBER * (shape.T * shape.s * shape.n if shape.on_disk else shape.m * k))


def _of_part(part: RankingDataset) -> float:
    """Return what it takes to measure models on a part; one of one shard is kept with a row a feature."""
    whole = part.n_documents <= DOCUMENTS
    return (_MEASURED + (NUMBER * part.n_features if whole else 0.0)) * part.n_documents
