"""Trees that XGBoost or CatBoost grows, converted to LightGBM's, with which they are scored and exported."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError, MissingExtraError, between, one_line
from rankstudio.engine.export.foreign.tree_libraries import catboost_model, xgboost_model
from rankstudio.engine.export.trees import ScoreTree, model_text
from rankstudio.engine.language import tr
from rankstudio.engine.methods.memory_need import NUMBER, DataShape, MemoryNeed, Reading
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.support.lightgbm_library import boosting_library
from rankstudio.engine.support.work import Value, Waiting, WorkProgress
from rankstudio.plugins.trees.entries import CATBOOST, XGBOOST
from rankstudio.plugins.trees.lambdamart import (
    GrownTrees,
    TrainingLoss,
    TreeRanker,
    TreeStep,
    check_labels,
    threads_for,
    without_data,
)

_BYTES_PER_BIN = 1.0  # bytes of a value: its bin
_BYTES_PER_VALUE = 4.0  # bytes of a value, before it is binned
_XGBOOST_BYTES_PER_BIN = 2.0  # bytes of a value: its bin by rows and by columns
_SKETCH_BYTES_PER_FEATURE = 3e5  # bytes of a feature, while its bins are found
_HISTOGRAM_BYTES_PER_FEATURE = (
    4096.0  # bytes of a feature in each node of a level: two sums for each of 256 bins
)
_BYTES_PER_DOCUMENT = 120.0  # bytes of scores, derivatives, leaves and labels
_BYTES_PER_GROUPED_DOCUMENT = 400.0  # bytes of them in CatBoost, with the orders of documents in groups

TINY = float(np.finfo(np.float64).tiny)
"""Gain of a split without one: it makes a feature one that the model uses."""

Grown = tuple[ScoreTree, dict[int, float], Ints]
"""A tree, the gain of its splits by column, and the leaf of each training document."""


class ConvertedTrees(GrownTrees):
    """Trees of another library as LightGBM's text, each added once it is grown."""

    def __init__(self, n_columns: int) -> None:
        super().__init__(None)
        self._names = [f"Column_{column}" for column in range(n_columns)]
        self._texts: list[str] = []

    def add(self, tree: ScoreTree, leaves: Ints) -> Floats:
        """Add a tree with the leaf of each training document; return its part of their scores, (m,)."""
        # LightGBM divides by counts for contributions: an empty leaf, which CatBoost has, counts as one.
        counts = np.maximum(np.bincount(leaves, minlength=len(tree.leaves)), 1)
        self._texts.append(tree.text(counts=counts.tolist()))
        return np.asarray(tree.leaves)[leaves]

    def finish(self) -> None:
        """Make the model of all trees, once no more are added."""
        self.booster = without_data(self.text(len(self._texts)))

    def scores(self, X: Floats, first: int, count: int) -> Floats:  # noqa: D102 - inherited
        if self.booster is not None:
            return super().scores(X, first, count)
        booster = without_data(self._text(self._texts[first : first + count]))
        scores: Floats = booster.predict(X, raw_score=True, num_threads=threads_for(X))
        return scores

    def text(self, count: int) -> str:  # noqa: D102 - inherited
        return self._text(self._texts[:count])

    def _text(self, texts: list[str]) -> str:
        return _model_text(texts, self._names)


def _model_text(texts: list[str], names: list[str]) -> str:
    trees = [f"Tree={number}\n{text}\n\n" for number, text in enumerate(texts)]
    return model_text(trees, names, "none")


def _leaf_of_each_document(tree: ScoreTree, X: Floats) -> Ints:
    """Return the leaf of each document (m, n), shape (m,)."""
    if not tree.splits:
        return np.zeros(X.shape[0], dtype=np.int64)
    booster = without_data(_model_text([tree.text()], [f"Column_{column}" for column in range(X.shape[1])]))
    leaves = booster.predict(X, pred_leaf=True, num_threads=threads_for(X))
    return np.asarray(leaves).reshape(-1).astype(np.int64)


class ConvertedRanker(TreeRanker):
    """Base class of rankers whose trees another library grows.

    Subclasses implement ``_grow``. The trees are the library's own: thresholds are moved to where doubles
    fall on the same side as the library's floats do, and the constant that a library adds to all scores is
    left out.
    """

    def _grow(self, data: TrainingData) -> Generator[Grown | WorkProgress, None, None]:
        """Yield each tree, with the gain of its splits by column; greater than 0 for all that it uses."""
        raise NotImplementedError

    def _loss_at(self) -> int:
        """Return k of the criterion's NDCG@k."""
        return 10

    def work(self, data: GivenData) -> Iterator[TreeStep | WorkProgress]:
        """Yield one step per tree.

        Its criterion is the negative NDCG@k of the training documents, in LightGBM's convention: a query
        without a relevant document counts 1.

        Raises
        ------
        MissingExtraError
            Without the library.
        ParameterError
            For a parameter out of range.
        DatasetError
            For labels that the library does not take.
        """
        train = training_data(data)
        n = train.X.shape[1]
        trees = self._grow(train)
        loss = TrainingLoss(train, self._loss_at())
        scores = np.zeros(train.y.size)
        features = dict[int, None]()
        coef = np.zeros(n)
        number = 0
        grown = ConvertedTrees(n)
        try:
            for event in trees:
                if isinstance(event, WorkProgress):
                    yield event
                    continue
                tree, gains, leaves = event
                number += 1
                scores = scores + grown.add(tree, leaves)
                features.update(dict.fromkeys(sorted(gains, key=lambda column: (-gains[column], column))))
                coef = coef.copy()
                for column, gain in gains.items():
                    coef[column] += gain
                yield TreeStep(number, tuple(features), coef, loss.at(scores), np.empty(0), grown=grown)
        finally:
            trees.close()
            if number:
                grown.finish()


@dataclass(eq=False, repr=False)
class XGBoostTrees(ConvertedRanker):
    """XGBoost's boosted trees for NDCG (Chen and Guestrin 2016), with its objective ``rank:ndcg``.

    LambdaMART as XGBoost grows it: depth by depth on binned features (``tree_method="hist"``), from the
    pairs of the first documents of the current ranking with all others of the query
    (``lambdarank_pair_method="topk"``), with XGBoost's defaults for all parameters that are not listed below.

    Parameters
    ----------
    n_rounds : int, default 300
        Trees, 1 to 10,000.
    learning_rate : float, default 0.1
        Factor for the output of each tree; greater than 0, up to 1.
    max_depth : int, default 6
        Maximum depth of a tree, 1 to 16.
    min_child_weight : float, default 1.0
        Minimum sum of second derivatives per leaf, 0 or more.
    ndcg_at : int, default 10
        Number of first documents of the current ranking whose pairs count, 1 to 10,000 (XGBoost's
        ``lambdarank_num_pair_per_sample``); also k of the criterion's NDCG@k.
    feature_fraction : float, default 1.0
        Share of the features available to each tree, drawn at random (``colsample_bytree``); greater than 0,
        up to 1.
    seed : int, default 0
        Seed of that draw, 0 to 2,147,483,647.

    Notes
    -----
    The attributes are those of :class:`rankstudio.plugins.trees.lambdamart.TreeRanker`; gains are
    XGBoost's loss reductions. O(mnd) per round for m documents, n features and trees of depth d. It uses one
    thread, because XGBoost's sums depend on their number in the last bits; folds and settings run side by
    side. It stops early if no split has a gain, unless the next tree may draw other features. Data with
    several shards are binned shard by shard, at two bytes per value, and the model is that of all documents
    at once.

    Labels are whole numbers from 0 to 31, the limit of XGBoost.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> XGBoostTrees(n_rounds=5).fit(train.X, train.y, qid=train.qid).n_iter_  # doctest: +SKIP
    5
    """

    entry = XGBOOST

    n_rounds: int = 300
    _: KW_ONLY
    learning_rate: float = 0.1
    max_depth: int = 6
    min_child_weight: float = 1.0
    ndcg_at: int = 10
    feature_fraction: float = 1.0
    seed: int = 0

    def _loss_at(self) -> int:
        return int(self.checked("ndcg_at"))

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of XGBoost."""
        return {
            "objective": "rank:ndcg",
            "tree_method": "hist",
            "eta": self.checked("learning_rate"),
            "max_depth": self.checked("max_depth"),
            "min_child_weight": self.checked("min_child_weight"),
            "lambdarank_pair_method": "topk",
            "lambdarank_num_pair_per_sample": self._loss_at(),
            "colsample_bytree": self.checked("feature_fraction"),
            "seed": between("seed", self.seed, 0, 2**31 - 1),
            "nthread": 1,
            "verbosity": 0,
        }

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        kept_bytes = _XGBOOST_BYTES_PER_BIN * shape.m * shape.n + _BYTES_PER_DOCUMENT * shape.m
        read = NUMBER * shape.s * shape.n if shape.on_disk else 0.0
        sums = (
            _SKETCH_BYTES_PER_FEATURE + _HISTOGRAM_BYTES_PER_FEATURE * min(2.0**self.max_depth, shape.m)
        ) * shape.n
        reading = Reading.IN_TURN if shape.sharded else Reading.WHOLE
        return MemoryNeed(read + kept_bytes + sums, reading=reading, kept=kept_bytes)

    def _grow(self, data: TrainingData) -> Generator[Grown | WorkProgress, None, None]:
        """Yield each tree that XGBoost grows, with the gains of its columns and the documents' leaves."""
        parameters = self._parameters()
        n_rounds = self.checked("n_rounds")
        xgboost = _xgboost_library(self.entry.label)
        check_labels(self.entry, data)
        if data.several:
            yield WorkProgress(tr("binning features"), 0.0)
        training = xgboost.QuantileDMatrix(_xgboost_shards(xgboost, data), nthread=1)
        booster = xgboost.Booster(parameters, [training])
        for number in range(n_rounds):
            booster.update(training, number)
            tree_booster = booster[number : number + 1]
            (tree,) = xgboost_model(values := json.loads(tree_booster.save_raw("json"))).trees
            nodes = tree_booster.predict(training, pred_leaf=True).reshape(-1).astype(np.int64)
            yield tree, _loss_changes(values), _leaf_numbers(values)[nodes]
            if not tree.splits and parameters["colsample_bytree"] == 1.0:
                return


@dataclass(eq=False, repr=False)
class CatBoostTrees(ConvertedRanker):
    """CatBoost's boosted symmetric trees for rankings (Prokhorenkova et al. 2018).

    All nodes of a level have the same split. The loss is that of YetiRank (Gulin et al. 2011) by default;
    CatBoost's defaults apply to all parameters that are not listed below.

    Parameters
    ----------
    n_rounds : int, default 300
        Trees, 1 to 10,000.
    learning_rate : float, default 0.1
        Factor for the output of each tree; greater than 0, up to 1.
    depth : int, default 6
        Depth of a tree, 1 to 16.
    objective : {"YetiRank", "PairLogit", "QueryRMSE"}, default "YetiRank"
        "YetiRank": pairs near the top of randomly perturbed rankings, weighted by the change of the measure.
        "PairLogit": logistic loss of all pairs. "QueryRMSE": squared error of the labels up to a constant for
        each query.
    seed : int, default 0
        Seed of CatBoost's random numbers, 0 to 2,147,483,647.

    Notes
    -----
    The attributes are those of :class:`rankstudio.plugins.trees.lambdamart.TreeRanker`; gains are
    the changes of predictions by which CatBoost measures importance (``PredictionValuesChange``). O(mnd) per
    round for m documents, n features and depth d. Equal data, parameters and seeds give the same bits with
    any number of threads, as CatBoost documents. The steps follow after the last tree. CatBoost takes all
    documents at once: its pool is built in one piece, and cannot be joined from quantized files.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> CatBoostTrees(n_rounds=5).fit(train.X, train.y, qid=train.qid).n_iter_  # doctest: +SKIP
    5
    """

    entry = CATBOOST

    n_rounds: int = 300
    _: KW_ONLY
    learning_rate: float = 0.1
    depth: int = 6
    objective: str = "YetiRank"
    seed: int = 0

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        values = (_BYTES_PER_BIN + _BYTES_PER_VALUE) * shape.m * shape.n
        return MemoryNeed(shape.read + values + _BYTES_PER_GROUPED_DOCUMENT * shape.m)

    def _grow(self, training: TrainingData) -> Generator[Grown | WorkProgress, None, None]:
        """Grow all trees with CatBoost, then yield each with its gains and the documents' leaves."""
        data = training.whole(self.entry.label)
        parameters = catboost_parameters(self, data.X)
        catboost = boosting_library("CatBoost", self.entry.label)
        if not learnable(data):
            tree = ScoreTree((), (0.0,))
            yield tree, {}, _leaf_of_each_document(tree, data.X)
            return
        model = catboost.CatBoostRanker(**parameters)
        pool = pool_of(catboost, data)

        def fit(go_on: Callable[[], bool]) -> None:
            class Listener:
                def after_iteration(self, _: Any) -> bool:
                    return go_on()

            model.fit(pool, callbacks=[Listener()])

        with refusals(self.entry.label, catboost):
            yield from watched(fit, tr("growing trees"), parameters["iterations"])
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            model.save_model(str(path), format="json")
            values = json.loads(path.read_text(encoding="utf-8"))
        trees = zip(catboost_model(values).trees, values["oblivious_trees"], strict=True)
        for tree, described in trees:
            yield tree, _value_changes(described), _leaf_of_each_document(tree, data.X)


def _xgboost_library(needed_by: str) -> Any:
    """Return XGBoost, if it is one that tells the leaves of documents that are only there as bins."""
    xgboost = boosting_library("XGBoost", needed_by)
    if tuple(map(int, xgboost.__version__.split(".")[:2])) < (3, 1):
        reason = tr("version {found} is too old; install 3.1 or later.").format(found=xgboost.__version__)
        raise MissingExtraError(needed_by, "XGBoost", "xgboost", reason)
    return xgboost


def _xgboost_shards(xgboost: Any, data: TrainingData) -> Any:
    """Return an iterator from which XGBoost reads shard after shard, as often as it likes.

    Its bins do not depend on how the documents are cut: a sketch of a feature takes value after value.
    """

    class Shards(xgboost.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            self._next = 0
            super().__init__()

        def next(self, input_data: Callable[..., None]) -> bool:
            if self._next == len(data.shards):
                return False
            shard = data.shard(self._next)
            first = data.shards[self._next].first_query
            queries = np.repeat(np.arange(first, first + shard.ptr.size - 1), np.diff(shard.ptr))
            input_data(data=shard.X, label=shard.y, qid=queries)
            data.release(self._next)
            self._next += 1
            return True

        def reset(self) -> None:
            self._next = 0

    return Shards()


def _leaf_numbers(values: Mapping[str, Any]) -> Ints:
    """Return the number that each node of XGBoost's tree has among the leaves of ours; 0 for a split."""
    (tree,) = values["learner"]["gradient_booster"]["model"]["trees"]
    left = tree["left_children"]
    right = tree["right_children"]
    numbers = np.zeros(len(left), dtype=np.int64)
    waiting = [0]
    n_leaves = 0
    while waiting:  # from left to right, as `tree_of_lists` goes
        node = waiting.pop()
        if left[node] == -1:
            numbers[node] = n_leaves
            n_leaves += 1
        else:
            waiting += [right[node], left[node]]
    return numbers


def catboost_parameters(method: Any, X: Floats) -> dict[str, Any]:
    """Return CatBoost's parameters for those of a method and some documents."""
    return {
        "loss_function": method.checked("objective"),
        "iterations": method.checked("n_rounds"),
        "learning_rate": method.checked("learning_rate"),
        "depth": method.checked("depth"),
        "random_seed": between("seed", method.seed, 0, 2**31 - 1),
        "thread_count": threads_for(X),
        "allow_writing_files": False,
        "logging_level": "Silent",
    }


def pool_of(catboost: Any, data: QueryData, columns: Any = slice(None)) -> Any:
    """Return some columns of the training data as CatBoost takes them."""
    queries = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    return catboost.Pool(np.ascontiguousarray(data.X[:, columns]), label=data.y, group_id=queries)


def learnable(data: QueryData) -> bool:
    """Return whether CatBoost has something to learn: a feature that varies, and two labels in a query."""
    pairs = np.diff(data.y) != 0
    pairs[data.ptr[1:-1] - 1] = False  # of two queries
    return bool(pairs.any() and varying(data.X).size)


def varying(X: Floats) -> Ints:
    """Return the columns whose values differ as floats."""
    return np.flatnonzero([np.ptp(column.astype(np.float32)) > 0 for column in X.T])


@contextmanager
def refusals(label: str, catboost: Any) -> Iterator[None]:
    """Turn an error of CatBoost into a :class:`DatasetError` without the place in its source."""
    try:
        yield
    except catboost.CatBoostError as error:
        reason = str(error).rpartition(".cpp:")[2].partition(": ")[2] or str(error)
        raise DatasetError(
            tr("{label} cannot learn from these data: {reason}").format(label=label, reason=one_line(reason))
        ) from error


def watched(work: Callable[[Callable[[], bool]], Value], message: str, n_trees: int) -> Waiting[Value]:
    """Let CatBoost work in a thread, with progress after each tree; closing this ends it.

    Parameters
    ----------
    work : callable
        Gets a function that is called after each tree and returns whether to go on.
    message : str
        What is done.
    n_trees : int
        Number of trees.
    """
    ticks: SimpleQueue[bool] = SimpleQueue()
    stop = threading.Event()

    def go_on() -> bool:
        ticks.put(True)
        return not stop.is_set()

    with ThreadPoolExecutor(1) as executor:
        working = executor.submit(work, go_on)
        working.add_done_callback(lambda _: ticks.put(False))
        try:
            for number in count():
                if not ticks.get():
                    break
                yield WorkProgress(message, min(number / n_trees, 1.0))
            return working.result()
        finally:
            stop.set()


def _loss_changes(values: Mapping[str, Any]) -> dict[int, float]:
    """Return the gain of the splits on each column in XGBoost's JSON of a tree."""
    (tree,) = values["learner"]["gradient_booster"]["model"]["trees"]
    gains: dict[int, float] = {}
    for left_child, column, gain in zip(
        tree["left_children"], tree["split_indices"], tree["loss_changes"], strict=True
    ):
        if left_child != -1:
            gains[column] = gains.get(column, 0.0) + max(float(gain), TINY)
    return gains


def _value_changes(tree: Mapping[str, Any]) -> dict[int, float]:
    """Return the importance of each column in CatBoost's JSON of a symmetric tree.

    For every split the weighted squared distance of the two leaves on its sides from their mean, which is
    CatBoost's ``PredictionValuesChange`` before it is normalised. A split of documents from an empty leaf
    has none, and still decides about others.
    """
    gains: dict[int, float] = {}
    for level, split in enumerate(tree["splits"] or ()):
        values, weights = (
            np.array(tree[name], dtype=np.float64).reshape(-1, 2, 2**level)
            for name in ("leaf_values", "leaf_weights")
        )
        total = weights.sum(axis=1, keepdims=True)
        mean = (weights * values).sum(axis=1, keepdims=True) / np.where(total > 0, total, 1.0)
        change = float((weights * (values - mean) ** 2).sum())
        column = split["float_feature_index"]
        gains[column] = gains.get(column, 0.0) + max(change, TINY)
    return gains
