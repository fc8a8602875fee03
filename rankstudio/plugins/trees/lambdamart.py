"""LambdaMART: boosted trees with gradients weighted by the NDCG of swapped documents (Burges 2010)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DatasetError, between
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker, prices_of
from rankstudio.engine.methods.catalog.method import Method
from rankstudio.engine.methods.memory_need import NUMBER, DataShape, MemoryNeed, Reading
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.steps import Step
from rankstudio.engine.support.lightgbm_library import lightgbm_library
from rankstudio.engine.support.threads import available, is_busy, worthwhile
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.trees.entries import LAMBDAMART

LONGEST_QUERY = 10_000
"""The maximum number of documents in one query.

LightGBM refuses to rank more.
"""

_SAMPLED_DOCUMENTS = 200_000  # LightGBM finds the bins from a sample of this size
# LightGBM keeps each sampled value in its row and in its column, with
# its position in the column.
_BYTES_PER_SAMPLED_VALUE = 20.0
_SMALL_TREE = 5e7  # nanoseconds
_BYTES_PER_DOCUMENT = 80.0  # for scores, slopes, leaves and labels

# LightGBM writes each tree as lines "key=value"; these keys follow the
# number of leaves.
_UNDEFINED_LEAF_WEIGHT = re.compile(r"(\nnum_leaves=1\n(?:.*\n)*?leaf_weight=).*")
# A parameter that changes no bit of the trees, and depends on the machine.
_THREADS_LINE = re.compile(r"(?m)^\[num_threads: \d+\]$")
_TREE_SIZES_LINE = re.compile(r"(?m)^tree_sizes=.*$")


def repeatable_text(text: str) -> str:
    """Return LightGBM's text of a model so that equal models have equal texts.

    The only leaf of a tree without splits gets the weight 0: LightGBM
    does not initialize this weight, and never uses it. The head of the
    text lists the sizes of the trees in bytes, which change with the
    weights. The number of threads, which follows the load of the
    machine and changes no bit of the trees, becomes 0.
    """
    text = _THREADS_LINE.sub("[num_threads: 0]", text)
    if "\nnum_leaves=1\n" not in text:
        return text

    # The head, the trees, and the rest of the text.
    before, ending, after = text.partition("end of trees")
    head, *trees = re.split(r"(?m)^(?=Tree=\d+$)", before)
    trees = [_UNDEFINED_LEAF_WEIGHT.sub(r"\g<1>0", tree) for tree in trees]
    sizes = " ".join(str(len(tree.encode())) for tree in trees)
    return (
        _TREE_SIZES_LINE.sub(f"tree_sizes={sizes}", head)
        + "".join(trees)
        + ending
        + after
    )


class GrownTrees:
    """The trees that a training has grown so far, in a booster of LightGBM.

    Until the training ends, the booster also keeps the training data.
    """

    def __init__(self, booster: Any) -> None:
        self.booster = booster

    def scores(self, X: Floats, first: int, count: int) -> Floats:
        """Return the sum of ``count`` trees from number ``first`` on for documents (m, n), shape (m,)."""
        return _scores_of_trees(self.booster, X, first, count)

    def text(self, count: int) -> str:
        """Return the first ``count`` trees in LightGBM's text format."""
        return repeatable_text(str(self.booster.model_to_string(num_iteration=count)))


@dataclass(frozen=True, eq=False)
class TreeStep(Step):
    """A round of boosting. ``coef`` contains the total gain so far of the splits on each feature.

    This gain is the importance of a feature. The model is nonlinear:
    :meth:`scores` scores documents.

    Attributes
    ----------
    grown : object
        The model of the whole run, to which later rounds add trees; all
        steps share it, and its first ``number`` trees are those of this
        step. The binned training data are released at the end of the
        run.
    """

    linear: ClassVar[bool] = False
    additive: ClassVar[bool] = True

    grown: GrownTrees

    @property
    def booster(self) -> Any:
        """The model of the whole run as a ``lightgbm.Booster``."""
        return self.grown.booster

    def scores(self, columns: Floats, previous_scores: Floats | None = None) -> Floats:
        """Score documents; see :meth:`rankstudio.engine.steps.Step.scores`."""
        if previous_scores is None:
            return self.grown.scores(columns.T, 0, self.number)
        return previous_scores + self.grown.scores(columns.T, self.number - 1, 1)

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the trees; see :meth:`rankstudio.engine.steps.Step.beyond_weights`."""
        return {
            "kind": "trees",
            "columns": [int(i) for i in ids],
            "lightgbm": self.model_text(),
        }

    def model_text(self) -> str:
        """Return the model up to this round in LightGBM's text format.

        ``lightgbm.Booster(model_str=...)`` reads this text.
        """
        return self.grown.text(self.number)

    def detached(self) -> Any:
        """Return the model up to this round as a booster without the training data."""
        return without_data(self.model_text())


class TreeRanker(LinearRanker):
    """Base class of rankers with :class:`TreeStep` steps, whose parameters include ``n_rounds``.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        Model without the training data.
    coef_ : ndarray of shape (n,)
        Importance of each feature: the total gain of the splits on it,
        not normalized. The model is not linear.
    feature_importances_ : ndarray of shape (n,)
        ``coef_`` divided by its sum; all 0 for a model without a split.
    n_iter_ : int
        Number of trees.
    """

    n_rounds: int

    booster_: Any
    feature_importances_: Floats
    n_iter_: int

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.n_rounds

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        """Set ``booster_``, ``n_iter_`` and ``feature_importances_``, which add up to 1, from the last step."""
        last = steps[-1]
        assert isinstance(last, TreeStep)

        # A copy, because the step's booster would keep the training data in memory.
        self.booster_ = last.detached()

        # `coef_` has the total gain of each feature, (n,). Without any
        # gain, all importances stay 0.
        self.feature_importances_ = self.coef_ / (self.coef_.sum() or 1.0)
        self.n_iter_ = last.number

    def _score(self, X: Floats) -> Floats:
        return _scores_of_trees(self.booster_, X, 0, self.n_iter_)


@dataclass(eq=False, repr=False, kw_only=True)
class LeafwiseTrees(LinearRanker):
    """Base class of methods that grow LightGBM's trees, with their common parameters."""

    learning_rate: float = 0.1
    num_leaves: int = 31
    min_data_in_leaf: int = 20
    ndcg_at: int = 10
    feature_fraction: float = 1.0
    seed: int = 0


Importance = Literal["gain", "split"]
"""Importance of a feature in trees: the total gain, or the number, of the splits on it."""


def importances_in_trees(grown: TreeStep, kind: Importance) -> Floats:
    """Return the importance of each feature in the trees up to a round, shape (n,)."""
    if kind == "gain":
        return grown.coef
    counts = grown.booster.feature_importance("split", iteration=grown.number)
    return np.asarray(counts, dtype=np.float64)


@dataclass(eq=False, repr=False)
class LambdaMART(TreeRanker, LeafwiseTrees):
    """LambdaMART boosts regression trees for NDCG with LightGBM (Burges 2010).

    Every round grows one tree on the paper's λ_i, a sum over the pairs
    of document i with the documents of its query that have another
    label. Each pair adds the slope of its logistic loss times the
    change of NDCG if the two documents were swapped. LightGBM grows the
    trees leaf by leaf on binned features (objective ``lambdarank``),
    with its defaults for all parameters that are not listed below.

    Parameters
    ----------
    n_rounds : int, default 300
        Number of trees, 1 to 10,000.
    learning_rate : float, default 0.1
        Factor for the output of each tree; greater than 0, up to 1.
    num_leaves : int, default 31
        Maximum number of leaves per tree, 2 to 131,072.
    min_data_in_leaf : int, default 20
        Minimum number of documents per leaf, 1 to 1,000,000,000.
    ndcg_at : int, default 10
        k of the NDCG@k to maximize, 1 to 10,000: only pairs with a
        document among the first k of the current ranking count
        (LightGBM's ``lambdarank_truncation_level``).
    feature_fraction : float, default 1.0
        Share of the features available to each tree, drawn at random;
        greater than 0, up to 1.
    seed : int, default 0
        Seed of the draw of features, and of the sample of 200,000
        documents from which LightGBM finds the bins of larger data; 0
        to 2,147,483,647.
    costs : array-like of shape (n,), optional
        Cost of each feature, subtracted from the gain of the first
        split on it (LightGBM's ``cegb_penalty_feature_coupled``, Peter
        et al. 2017). Features are then used only if their gain is
        greater than their cost.

    Notes
    -----
    The attributes are the same as in :class:`TreeRanker`. A round takes
    at most O(mnd) for m documents, n features and trees of depth d, and
    O(k) pairs per document for the derivatives. The fit stops early if
    no split has a gain, unless the next tree may draw other features.
    Data with several shards are binned shard by shard, at one byte per
    value, and give the same model as all documents at once.

    Equal data, parameters and seeds give the same bits with any number
    of threads: one thread sums the histogram of a feature, in row order
    (``force_col_wise``). LightGBM's row-wise sums depend on the number
    of threads even with ``deterministic``.

    Labels are whole numbers from 0 to 30, and queries have at most
    10,000 documents: these are limits of LightGBM.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> LambdaMART(n_rounds=5).fit(train.X, train.y, qid=train.qid).feature_importances_.argmax().item()
    1
    """

    entry = LAMBDAMART

    n_rounds: int = 300
    _: KW_ONLY
    costs: ArrayLike | None = None

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        """Return the memory that LightGBM needs for m documents with n features.

        LightGBM keeps the bins of all values, which it finds from a
        sample of the documents. LightGBM reads one shard at a time.
        """
        bins = float(shape.m) * shape.n  # one byte per value
        sample = _BYTES_PER_SAMPLED_VALUE * min(shape.m, _SAMPLED_DOCUMENTS) * shape.n

        # Of data on disk, one shard is in memory: of s documents, with
        # `NUMBER` bytes for a value.
        read = NUMBER * shape.s * shape.n if shape.on_disk else 0.0
        kept_bytes = bins + sample + _BYTES_PER_DOCUMENT * shape.m
        reading = Reading.IN_TURN if shape.sharded else Reading.WHOLE
        return MemoryNeed(read + kept_bytes, reading=reading, kept=kept_bytes)

    def work(self, data: GivenData) -> Iterator[TreeStep | WorkProgress]:
        """Train LambdaMART, and yield one step per tree.

        The criterion of a step is the negative NDCG@k of the training
        documents in LightGBM's convention: a query without a relevant
        document counts 1.

        Raises
        ------
        MissingExtraError
            If LightGBM is not installed.
        ParameterError
            If a parameter is out of range.
        DatasetError
            If labels or queries exceed LightGBM's limits.
        """
        # Parameters and data are checked before LightGBM is loaded.
        n_rounds = self.checked("n_rounds")
        data = training_data(data)
        parameters = self._parameters() | {"num_threads": threads_for(data.X)}
        if self.costs is not None:
            parameters["cegb_penalty_feature_coupled"] = prices_of(
                self.costs, data.X.shape[1]
            ).tolist()
        check_labels(self.entry, data)
        longest = int(np.diff(data.ptr).max())
        if longest > LONGEST_QUERY:
            raise DatasetError(
                f"LambdaMART: expected queries of at most {LONGEST_QUERY} documents, found one of {longest}."
            )
        lightgbm = lightgbm_library(LAMBDAMART.label)

        # LightGBM reads data in several shards itself, and bins them by
        # a sample of rows.
        rows: Any = data.X
        if data.several:
            yield WorkProgress(tr("binning features"), 0.0)
            rows = shard_rows(lightgbm, data)
            parameters["data_random_seed"] = _sample_seed(parameters["seed"])

        # The model, and what is recorded of each tree.
        training = lightgbm.Dataset(
            rows,
            label=data.y,
            group=np.diff(data.ptr),
            params=parameters,
        )
        booster = lightgbm.Booster(parameters, training)
        grown = GrownTrees(booster)
        loss = TrainingLoss(data, parameters["lambdarank_truncation_level"])
        features = dict[int, None]()
        number = 0
        coef = np.zeros(data.X.shape[1])
        try:
            for _ in range(n_rounds):
                # LightGBM adds no tree if no split has a gain, except
                # that the first tree may be one leaf.
                no_split_gains = booster.update()
                if booster.num_trees() > number:
                    number += 1

                    # Gains are sums over all trees so far, so that a
                    # difference is the gain of the last tree.
                    total = booster.feature_importance("gain", iteration=number)
                    features.update(dict.fromkeys(_features_by_gain(total - coef)))
                    coef = total
                    yield TreeStep(
                        number,
                        selected=tuple(features),
                        coef=coef,
                        criterion=loss.of(booster),
                        candidates=np.empty(0),
                        grown=grown,
                    )

                # All later trees would have no gain either, unless each
                # tree has its own sample of features.
                next_tree_is_equal = parameters["feature_fraction"] == 1.0
                if no_split_gains and next_tree_is_equal:
                    break
        finally:  # releases the megabytes of bins and histograms, also if the generator is closed early
            if number:
                grown.booster = without_data(booster.model_to_string())

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of this method by LightGBM's names, with settings that make results repeatable."""
        return {
            "objective": "lambdarank",
            "metric": "None",  # nothing is measured after each round
            "learning_rate": self.checked("learning_rate"),
            "num_leaves": self.checked("num_leaves"),
            "min_data_in_leaf": self.checked("min_data_in_leaf"),
            "lambdarank_truncation_level": self.checked("ndcg_at"),
            "feature_fraction": self.checked("feature_fraction"),
            "seed": between("seed", self.seed, 0, 2**31 - 1),
            "deterministic": True,
            "force_col_wise": True,
            "verbosity": -1,
        }


class TrainingLoss:
    """The negative NDCG@k of the training documents, in LightGBM's convention.

    In LightGBM's own sum over queries the last bits depend on the
    number of threads; in this sum they do not.
    """

    def __init__(self, data: TrainingData, k: int) -> None:
        """Prepare NDCG@k of the documents in ``data``, in LightGBM's convention."""
        from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba

        # `grading` says which grades the labels are.
        self._name = f"NDCG@{k}"
        self._evaluator = Evaluator(
            data.y, data.ptr, "lightgbm", [self._name], grading=data.grading
        )

    def of(self, booster: Any) -> float:
        """Return the loss for the scores of the training documents that LightGBM keeps."""
        ((_part_name, _measure_name, value, _higher_is_better),) = booster.eval_train(
            self._measure
        )
        return -float(value)

    def at(self, scores: Floats) -> float:
        """Return the loss for given scores of the training documents."""
        return -float(self._evaluator.evaluate(scores)[self._name])

    def _measure(self, scores: Floats, training: object) -> tuple[str, float, bool]:
        return self._name, self._evaluator.evaluate(scores)[self._name], True


def _scores_of_trees(booster: Any, X: Floats, first: int, count: int) -> Floats:
    """Score documents X (m, n) by the sum of ``count`` trees of a booster from number ``first`` on, shape (m,)."""
    scores: Floats = booster.predict(
        X,
        start_iteration=first,
        num_iteration=count,
        raw_score=True,
        num_threads=threads_for(X),
    )
    return scores


def threads_for(X: Floats) -> int:
    """Return how many threads LightGBM should use for the documents X (m, n).

    The result is the number of available threads, or 1 if trees take
    little time. The number changes no bit of the result.
    """
    # Time to grow a tree, in nanoseconds, approximately.
    one_tree = 20.0 * X.size

    # LightGBM's threads wait for each other at every split. Measured on
    # two cores with small trees: two threads are up to 30 % faster on a
    # quiet machine, and one thread takes half the time of two beside
    # other programs.
    if one_tree < _SMALL_TREE and is_busy():
        return 1
    return available() if worthwhile(one_tree) else 1


def _features_by_gain(gains: Floats) -> list[int]:
    """Return the columns of the features with a gain above 0, in descending order of the gains.

    Features with equal gains are ordered by column.
    """
    order: list[int] = np.argsort(-gains, kind="stable").tolist()
    return [j for j in order if gains[j] > 0]


def check_labels(entry: Method, data: TrainingData | QueryData) -> None:
    """Raise DatasetError for labels that a library would refuse with a printed message of its own.

    ``entry`` is the method, with the greatest label that its library accepts.
    """
    bad = (data.y < 0) | (data.y > entry.greatest_label) | (data.y != np.floor(data.y))
    if bad.any():
        raise DatasetError(
            f"{entry.label}: expected labels that are whole numbers from 0 to {entry.greatest_label:g}, "
            f"found {data.y[bad][0]:g}."
        )


def _sample_seed(seed: int) -> int:
    """Return the ``data_random_seed`` that LightGBM derives from a ``seed`` for data in one array.

    LightGBM does not derive this number for data given as sequences.
    The number is the first one of LightGBM's linear congruential
    generator with 15 bits, below 2^15 - 1.
    """
    first_number = (214_013 * seed + 2_531_011) >> 16 & 0x7FFF
    return first_number % 0x7FFF


def without_data(text: str) -> Any:
    """Return a booster with the trees of a text and without training data."""
    return lightgbm_library(LAMBDAMART.label).Booster(model_str=text)


def shard_rows(lightgbm: Any, data: TrainingData) -> Sequence[Any]:
    """Return objects from which LightGBM reads the rows of data, one ``lightgbm.Sequence`` per shard.

    Parameters
    ----------
    lightgbm : module
        The library.
    data : TrainingData
        Training documents, in one shard or several.
    """
    # LightGBM accepts only objects of its own class. It may not be
    # installed, so our class does not inherit from it, but is
    # registered as a subclass here.
    lightgbm.Sequence.register(_ShardRows)
    reader = _ShardReader(data)
    return [
        _ShardRows(reader, index, shard.n_documents)
        for index, shard in enumerate(data.shards)
    ]


class _ShardReader:
    """Reads the rows of one shard at a time.

    The mapped pages of a shard are released before the next shard is read.
    """

    def __init__(self, data: TrainingData) -> None:
        self._data = data
        self._index = -1

    def features(self, index: int) -> Floats:
        """Return the features of a shard, (m, n), which is opened if it was not."""
        if index != self._index:
            self.close()
            self._index = index
            self._X: Floats = self._data.shard(index).X
        return self._X

    def close(self) -> None:
        if self._index >= 0:
            self._data.release(self._index)
        self._index = -1


class _ShardRows:
    """The rows of a shard for LightGBM, which reads single rows for its sample, and then batches of rows."""

    batch_size = 4096

    def __init__(self, reader: _ShardReader, index: int, count: int) -> None:
        self._reader = reader
        self._index = index
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, rows: int | slice) -> Floats:
        """Return some rows of the shard, which is closed after its last batch."""
        features: Floats = np.array(self._reader.features(self._index)[rows])
        is_last_batch = isinstance(rows, slice) and rows.stop == self._count
        if is_last_batch:
            self._reader.close()
        return features
