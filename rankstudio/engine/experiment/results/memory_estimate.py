"""The memory that a run needs, and how it reads its data.

Both follow from the shapes of the data, before any work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import TYPE_CHECKING

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.data.splitting.part_of_whole import PartOfWhole
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.experiment.plan.plan import Plan, estimator
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.language import either, tr
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.memory_need import (
    NUMBER,
    DataShape,
    MemoryNeed,
    Reading,
    whole_need,
)
from rankstudio.engine.support import memory, threads
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.number_format import count_text
from rankstudio.engine.support.shard import DOCUMENTS, shards_of
from rankstudio.engine.support.sparse_rows import SparseRows

if TYPE_CHECKING:
    from rankstudio.engine.methods.base import LinearRanker

# in a part that is measured: labels, orders, scores and rankings
_BYTES_PER_MEASURED_DOCUMENT = 80.0
# bytes that are never refused: a program with its libraries takes more
_NEVER_REFUSED_BYTES = float(1 << 25)
_MENTIONED_FILE_BYTES = float(1 << 27)  # disk space is mentioned if it is larger
_MAX_COUNTED_STEPS = 100  # steps of a path whose weights are counted
_MAX_NAMED_METHODS = 4  # methods that a sentence names


@dataclass(frozen=True)
class MemoryEstimate:
    """Memory requirements of a run, and how the run is executed.

    Attributes
    ----------
    label : str
        Name of the method.
    m, n : int
        Documents and features of the largest training part.
    on_disk : bool
        Whether its documents are read from disk on demand.
    need : MemoryNeed
        Requirements of all workers of this machine together, including
        the measures of models.
    budget : float
        Memory limit in bytes.
    limit : float
        Maximum memory for shards in bytes: the limit if specified,
        otherwise the free memory.
    threads : int
        Number of threads or processes that work on shards at a time;
        fewer threads under a small limit.
    sparse : bool
        Whether the documents are sparse.
    """

    label: str
    m: int
    n: int
    on_disk: bool
    need: MemoryNeed
    budget: float
    limit: float
    threads: int
    sparse: bool = False

    @property
    def least(self) -> float:
        """Minimum memory of the run in bytes."""
        return self.need.least

    @property
    def resident(self) -> float:
        """Approximate maximum memory in bytes."""
        return self.need.resident(self.room)

    @property
    def in_files(self) -> float:
        """Approximate disk space during the run in bytes."""
        return self.need.in_files(self.room)

    @property
    def large(self) -> bool:
        """Whether users should see this estimate of memory.

        They should if the data have several shards, which are ranges of
        queries, or if the run needs much of the memory limit.
        """
        return self.m > DOCUMENTS or self.resident > self.budget / 2 or not self.runs

    @property
    def runs(self) -> bool:
        """Whether the memory is sufficient."""
        limit = self.budget if self.need.reading is Reading.WHOLE else self.limit
        has_enough = self.least <= max(limit, _NEVER_REFUSED_BYTES)
        has_enough_to_keep = self.need.kept <= max(self.budget, _NEVER_REFUSED_BYTES)
        return has_enough and has_enough_to_keep

    @property
    def sentence(self) -> str:
        """How the run executes, and the memory it needs; or the reason why it cannot run."""
        # `runs` says whether the memory suffices.
        if not self.runs:
            return self.refusal
        # `resident` is the largest memory of the run, in bytes.
        sizes = {
            "about": memory.size(self.resident),
            "budget": memory.size(self.budget),
        }
        figures = tr("about {about} of memory, limit {budget}").format(**sizes)
        # Files have the data that do not fit into memory; only large ones are named.
        if self.in_files > _MENTIONED_FILE_BYTES:
            text = tr(
                "about {about} of memory and {files} of disk space, limit {budget}"
            )
            figures = text.format(**sizes, files=memory.size(self.in_files))
        return f"{self.way}; {figures}."

    @property
    def way(self) -> str:
        """How the run executes: "3,016,900 documents read from disk, processed in blocks"."""
        # Unless a method needs all documents at once, it reads them one
        # shard after the other; users see "blocks".
        if self.need.reading is not Reading.WHOLE:
            text = (
                tr("{m} documents read from disk, processed in blocks")
                if self.on_disk
                else tr("{m} documents in memory, processed in blocks")
            )
        elif self.on_disk:
            text = tr("{m} documents read from disk, processed all at once")
        else:
            text = tr("{m} documents in memory, processed all at once")
        algorithm = _algorithm_texts().get(self.need.algorithm, "")
        return ", ".join(filter(None, (text.format(m=count_text(self.m)), algorithm)))

    @property
    def refusal(self) -> str:
        """Reason why the plan cannot run, and a change with which it runs."""
        text = tr(
            "{label} needs at least {needed} of memory for {m} documents with {n} features; "
            "the memory limit is {budget}. It runs with {advice}."
        )
        return text.format(
            label=self.label,
            needed=memory.size(self.least),
            m=count_text(self.m),
            n=count_text(self.n),
            budget=memory.size(self.budget),
            advice=either(self._advice()),
        )

    def refuse(self) -> None:
        """Raise an error if the run needs more memory than there is.

        Raises
        ------
        OutOfMemoryError
            If the run does not fit into the memory limit.
        """
        if not self.runs:
            raise OutOfMemoryError(self.refusal)

    @property
    def room(self) -> float:
        """Memory for states in bytes that keeps the run within its limit."""
        return self.need.room(self.budget)

    def _advice(self) -> list[str]:
        """Return the changes that would let the plan run, each as part of a sentence."""
        # A higher limit helps only if the memory is there.
        suggestions = []
        if self.least <= memory.available():
            text = tr(
                "a memory limit of {size} (--memory, or Run, Workers in the window)"
            )
            suggestions.append(text.format(size=memory.size(_rounded_up(self.least))))
        # A setting of the method with which it needs less, as text.
        if self.need.fits:
            suggestions.append(self.need.fits)
        suggestions.append(tr("fewer documents or features"))

        # Methods that need less for such data.
        if self.sparse:
            labels = [
                entry.label for entry in _own_methods() if entry.load().accepts_sparse
            ]
            text = tr("a method that takes sparse data, such as {methods}")
            suggestions.append(
                text.format(methods=", ".join(labels[:_MAX_NAMED_METHODS]))
            )
        elif self.need.reading is Reading.WHOLE and self.m > DOCUMENTS:
            # How a method reads depends only on whether there are
            # several shards: any number of queries will do.
            shape = DataShape(m=self.m, n=self.n, Q=self.m, s=DOCUMENTS)
            needs = [
                (entry.label, entry.load()().memory_need(shape))
                for entry in _own_methods()
            ]
            labels = [label for label, need in needs if need.reading is Reading.SHARED]
            # A label with a comma would be unclear in the list.
            labels = [
                label for label in labels if "," not in label and label != self.label
            ]
            text = tr("a method that processes the data in blocks, such as {methods}")
            suggestions.append(
                text.format(methods=", ".join(labels[:_MAX_NAMED_METHODS]))
            )
        return suggestions


def _own_methods() -> list[Method]:
    """Return RankStudio's own methods that can be used here."""
    return [entry for entry in methods() if entry.origin is None and not entry.lacking]


def _algorithm_texts() -> dict[str, str]:
    """Return the text for each algorithm by which a method can be computed, by its key."""
    return {
        "statistics": tr("by the statistics of each query"),
        "rows": tr("row by row of the statistics of each query"),
        "algorithm1": tr("by Algorithm 1"),
        "columns": tr("column by column"),
    }


def _rounded_up(n_bytes: float) -> float:
    """Return a number of bytes, rounded up to what `memory.size` shows."""
    unit = 1e8 if n_bytes >= 1e9 else 1e6
    return ceil(n_bytes / unit) * unit


@dataclass(frozen=True)
class WorkersHere:
    """The workers of a run that use the memory of this machine.

    Attributes
    ----------
    count : int
        Number of parallel workers.
    share_shards : bool
        Whether the workers share the shards (ranges of the training
        queries) of one path of models, instead of training a
        combination of parameters' values each.
    """

    count: int = 1
    share_shards: bool = False


ALONE = WorkersHere()


def memory_estimate(
    plan: Plan, folds: Sequence[Fold], workers: WorkersHere = ALONE
) -> MemoryEstimate:
    """Return the memory requirements of a plan on some folds, before any work.

    Parameters
    ----------
    plan : Plan
        Plan with the method and all its combinations of parameters' values.
    folds : sequence of Fold
        Folds to run.
    workers : WorkersHere
        Number of workers that use the memory of this machine; by
        default a single one.

    Raises
    ------
    ParameterError, PlanError
        As in :func:`rankstudio.engine.experiment.plan.plan.estimator`.

    Notes
    -----
    O(S log Q) for S shards of Q queries each; no document is read.
    """
    return max(
        (_fold_estimate(plan, fold, workers) for fold in folds),
        key=lambda estimate: estimate.least,
    )


def _fold_estimate(plan: Plan, fold: Fold, workers: WorkersHere) -> MemoryEstimate:
    """Return the memory that a plan needs on a fold, with as many threads as it allows.

    `workers` are the processes or threads that use the memory of this machine.
    """
    # Training data may be some rows of one dataset, the whole, which
    # all folds share. Then the whole is in memory.
    part_of = fold.train if isinstance(fold.train, PartOfWhole) else None
    train = fold.train if part_of is None else part_of.whole
    on_disk = in_file(train.X)
    # `is_asked` says whether the user set a limit. Such a limit also
    # counts for data in memory; the default one does not.
    free = memory.available()
    budget = min(free, memory.budget()) if on_disk or memory.is_asked() else free

    # Each inner fold has a copy of its documents, and so has a part of
    # a whole, unless the copy is in a file. `inner` is the number of
    # inner folds; the condition counts as 0 or 1.
    n_copies = plan.inner + (part_of is not None and not part_of.from_disk)
    other_bytes = float(n_copies * train.X.nbytes)
    other_bytes += sum(
        _part_need(part) for name, part in fold.parts.items() if name != "train"
    )
    limit = budget if memory.is_asked() else free
    largest = _largest_shard(train)
    # Number of threads or processes that work on shards at the same time.
    count = workers.count if workers.share_shards else threads.available()

    # Estimate with half as many threads until the memory suffices.
    while True:
        shape = DataShape(
            m=train.n_documents,
            n=train.n_features,
            Q=train.n_queries,
            s=largest,
            T=count,
            on_disk=on_disk,
            free=budget - other_bytes,
        )
        # Bytes of sparse values, 0 for dense data.
        stored = float(train.X.nbytes) if isinstance(train.X, SparseRows) else 0.0
        label, need = _largest_need(plan, shape, train.feature_ids, stored)
        # Unless the workers share the shards of one unit, units run
        # beside each other, each with memory of its own.
        if need.reading is not Reading.SHARED:
            need = need.times(min(workers.count, len(plan.combinations)))
        estimate = MemoryEstimate(
            label=label,
            m=shape.m,
            n=shape.n,
            on_disk=on_disk,
            need=need.plus(other_bytes),
            budget=budget,
            limit=limit,
            threads=count,
            sparse=bool(stored),
        )
        # Fewer threads hold fewer shards at a time and change no bit.
        # The number of processes is the user's.
        is_count_fixed = (
            workers.share_shards or count == 1 or need.reading is Reading.WHOLE
        )
        if is_count_fixed or estimate.least <= budget:
            return estimate
        count //= 2


def _largest_shard(train: RankingDataset) -> int:
    """Return the number of documents of the largest shard of a training part.

    A shard is a range of queries. Sparse data are a single shard.
    """
    if isinstance(train.X, SparseRows):
        return train.n_documents
    return max(shard.n_documents for shard in shards_of(train.query_ptr))


def shards_are_shared(plan: Plan, train: RankingDataset) -> bool:
    """Return whether all training of a plan consists of sums over shards.

    A shard is a range of the training queries; workers can share the sums.
    """
    largest = _largest_shard(train)
    shape = DataShape(
        m=train.n_documents, n=train.n_features, Q=train.n_queries, s=largest
    )
    return shape.sharded and all(
        estimator(plan, plan.entry, combination.parameters, train.feature_ids)
        .memory_need(shape)
        .reading
        is Reading.SHARED
        for combination in plan.combinations
    )


def _method_need(method: LinearRanker, shape: DataShape, stored: float) -> MemoryNeed:
    """Return the memory that a method needs in addition to the data.

    `shape` has the numbers of documents and features. `stored` is the
    number of bytes of sparse values, 0 for dense data.
    """
    if not stored:
        return method.memory_need(shape)
    if method.accepts_sparse:
        n_counted_steps = min(method.n_steps(shape.n), _MAX_COUNTED_STEPS)
        # The values by rows, by columns, and shifted columns; and for
        # each step, weights and candidates: two numbers for each
        # feature.
        return MemoryNeed(3 * stored + 2 * NUMBER * shape.n * n_counted_steps)
    # The method gets a dense copy of the documents, whose bytes are
    # `shape.documents`, and adapts to no limit.
    return method.memory_need(replace(shape, free=inf)).plus(shape.documents)


def _largest_need(
    plan: Plan, shape: DataShape, ids: Ints, stored: float
) -> tuple[str, MemoryNeed]:
    """Return label and memory need of the plan's method or ranker that needs most memory.

    `shape` has the numbers of documents and features. The need is the
    largest of all combinations of parameters. `ids`, shape (n,), has
    the ids of the features, and `stored` is the number of bytes of
    sparse values, 0 for dense data.
    """
    if plan.entry.learns_nothing:
        return plan.title, MemoryNeed(0.0, reading=Reading.SHARED)

    # Needs of the method for each parameter combination.
    needs = []
    for combination in plan.combinations:
        learner = selector = estimator(plan, plan.entry, combination.parameters, ids)
        needs.append((plan.entry.label, _method_need(selector, shape, stored)))
        # Needs of the final ranker, for the largest set that the method selects.
        if plan.ranker_entry is not None:
            learner = estimator(plan, plan.ranker_entry, combination.ranker, ids)
            # If each step adds one feature, the limit of steps is one
            # of features.
            is_growing = (
                plan.entry.step_kind is StepKind.FEATURES
                and not feature_groups_of(plan)
            )
            k = selector.n_steps(shape.n) if is_growing else shape.n
            needs.append(
                (plan.ranker_entry.label, _ranker_need(learner, shape, k, bool(stored)))
            )
        # Some computations need more than the shards at once.
        if shape.sharded and plan.leaves_out:
            needs.append((plan.title, learner.left_out_need(shape)))
        # preferences may join documents of any two shards
        if shape.sharded and preferences_of(plan):
            needs.append((plan.title, whole_need(shape)))

    def size(labelled_need: tuple[str, MemoryNeed]) -> tuple[float, bool]:
        """Return the key for the largest need; of equal ones, one that reads all data."""
        _, need = labelled_need
        return need.least, need.reading is Reading.WHOLE

    return max(needs, key=size)


def _ranker_need(
    ranker: LinearRanker, shape: DataShape, k: int, sparse: bool
) -> MemoryNeed:
    """Return the memory that a ranker needs on k selected features, and for their copy.

    `shape` has the sizes of the data with all features. The values of
    the selected features are copied if the data are sparse or have
    several shards.
    """
    # A single dense shard is estimated with all its features.
    if not (shape.sharded or sparse):
        return ranker.memory_need(shape)
    need = ranker.memory_need(replace(shape, n=k))
    # To a file, each thread copies one shard at a time; in memory, the
    # copy has all documents. T threads, s documents in the largest
    # shard, m documents and n features. NUMBER is the number of bytes
    # of a value.
    n_copied = shape.T * shape.s * shape.n if shape.on_disk else shape.m * k
    return need.plus(NUMBER * n_copied)


def _part_need(part: RankingDataset) -> float:
    """Return the bytes needed to measure models on a part, such as the validation part.

    They include a copy of the features if the part has one shard, a
    range of queries; larger parts are read piece by piece.
    """
    if isinstance(part.X, SparseRows):
        return _BYTES_PER_MEASURED_DOCUMENT * part.n_documents + part.X.nbytes
    is_one_shard = part.n_documents <= DOCUMENTS
    bytes_of_features = NUMBER * part.n_features if is_one_shard else 0.0
    return (_BYTES_PER_MEASURED_DOCUMENT + bytes_of_features) * part.n_documents
