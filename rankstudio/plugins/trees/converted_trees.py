"""Rankers whose trees XGBoost or CatBoost grows; the trees are converted to LightGBM's format."""

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
from rankstudio.engine.export.foreign.tree_libraries import (
    catboost_model,
    xgboost_model,
)
from rankstudio.engine.export.trees import ScoreTree, model_text
from rankstudio.engine.language import tr
from rankstudio.engine.methods.memory_need import NUMBER, DataShape, MemoryNeed, Reading
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
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

_BYTES_PER_BIN = 1.0  # of the bin of a value
_BYTES_PER_VALUE = 4.0  # of a value before it is binned
_XGBOOST_BYTES_PER_BIN = 2.0  # of the bin of a value, stored by rows and by columns
# of the sketch by which the bins of a feature are found
_SKETCH_BYTES_PER_FEATURE = 3e5
# in each node of a level: two sums for each of 256 bins
_HISTOGRAM_BYTES_PER_FEATURE = 4096.0
_BYTES_PER_DOCUMENT = 120.0  # of scores, derivatives, leaves and labels
# the same in CatBoost, with the orders of documents in groups
_BYTES_PER_GROUPED_DOCUMENT = 400.0

TINY = float(np.finfo(np.float64).tiny)
"""Gain assigned to a split without a gain, so that its feature counts as one that the model uses."""

Grown = tuple[ScoreTree, dict[int, float], Ints]
"""A tree, the gain of its splits by column, and the leaf of each training document."""


class ConvertedTrees(GrownTrees):
    """Trees of another library, converted to LightGBM's text.

    The model is complete after :meth:`finish`. Each tree is added when
    it is grown.
    """

    def __init__(self, n_columns: int) -> None:
        super().__init__(None)
        self._names = [f"Column_{column}" for column in range(n_columns)]
        self._texts: list[str] = []

    def add(self, tree: ScoreTree, leaves: Ints) -> Floats:
        """Add a tree, given the leaf of each training document.

        Return the scores (m,) of the training documents by this tree.
        """
        # For contributions LightGBM divides by counts, so the count of
        # an empty leaf, as CatBoost has, is 1.
        counts = np.maximum(np.bincount(leaves, minlength=len(tree.leaves)), 1)
        self._texts.append(tree.text(counts=counts.tolist()))
        return np.asarray(tree.leaves)[leaves]

    def finish(self) -> None:
        """Create the LightGBM model of all added trees.

        Call this method after the last tree is added.
        """
        self.booster = without_data(self.text(len(self._texts)))

    def scores(self, X: Floats, first: int, count: int) -> Floats:
        """Score documents X (m, n) by the sum of ``count`` trees from number ``first`` on, shape (m,)."""
        # After the last tree, the booster has all of them, and the base
        # class scores with it. While trees are still added, there is
        # none: a booster without training data is made of the texts of
        # the requested trees.
        if self.booster is not None:
            return super().scores(X, first, count)
        booster = without_data(self._text(self._texts[first : first + count]))
        scores: Floats = booster.predict(
            X,
            raw_score=True,
            num_threads=threads_for(X),
        )
        return scores

    def text(self, count: int) -> str:  # noqa: D102 - inherited
        return self._text(self._texts[:count])

    def _text(self, texts: list[str]) -> str:
        return _model_text(texts, self._names)


def _model_text(texts: list[str], names: list[str]) -> str:
    trees = [f"Tree={number}\n{text}\n\n" for number, text in enumerate(texts)]
    return model_text(trees, names, "none")


def _leaf_of_each_document(tree: ScoreTree, X: Floats) -> Ints:
    """Return the number (m,) of the leaf of each document in X (m, n), found by LightGBM."""
    # A tree without splits has a single leaf, number 0; LightGBM is not needed.
    if not tree.splits:
        return np.zeros(X.shape[0], dtype=np.int64)
    booster = without_data(
        _model_text([tree.text()], [f"Column_{column}" for column in range(X.shape[1])])
    )
    leaves = booster.predict(X, pred_leaf=True, num_threads=threads_for(X))
    return np.asarray(leaves).reshape(-1).astype(np.int64)


class ConvertedRanker(TreeRanker):
    """Base class of rankers whose trees another library grows.

    Subclasses implement ``_grow``. The trees are those of the library,
    with two changes: each threshold is moved so that values in doubles
    fall on the same side as the library's floats, and the constant that
    a library adds to all scores is left out.
    """

    def _grow(self, data: TrainingData) -> Generator[Grown | WorkProgress, None, None]:
        """Grow trees; yield each tree with its gains by column and the leaf of each document, (m,).

        Gains are above 0 for all columns that the tree uses. Progress
        is yielded in between.
        """
        raise NotImplementedError

    def _loss_at(self) -> int:
        """Return k of the criterion's NDCG@k."""
        return 10

    def work(self, data: GivenData) -> Iterator[TreeStep | WorkProgress]:
        """Grow the trees, and yield one step per tree.

        The criterion of a step is the negative NDCG@k of the training
        documents, in LightGBM's convention: the value of a query
        without a relevant document is 1.

        Raises
        ------
        MissingExtraError
            If the library is not installed.
        ParameterError
            If a parameter is out of range.
        DatasetError
            If the library does not accept the labels.
        """
        train = training_data(data)
        n = train.X.shape[1]

        # Updated from tree to tree: the scores of all documents, the
        # features in use in the order of their first use (a dict as an
        # ordered set), and their gains. `_loss_at` returns k of NDCG@k.
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

                # A tree, the gain of each column in it, and the number
                # (m,) of the leaf of each document. The tree adds to
                # the scores.
                tree, gains, leaves = event
                number += 1
                scores = scores + grown.add(tree, leaves)
                by_gain = sorted(gains, key=lambda column: (-gains[column], column))

                # New keys are added at the end; present ones keep their position.
                features.update(dict.fromkeys(by_gain))

                # The sums of gains are the coefficients.
                coef = coef.copy()
                for column, gain in gains.items():
                    coef[column] += gain
                yield TreeStep(
                    number,
                    selected=tuple(features),
                    coef=coef,
                    criterion=loss.at(scores),
                    candidates=np.empty(0),  # trees compare no candidates
                    grown=grown,
                )
        finally:
            # The library may still be growing trees if the caller stops early.
            trees.close()
            if number:
                grown.finish()  # makes one model of all trees


@dataclass(eq=False, repr=False)
class XGBoostTrees(ConvertedRanker):
    """XGBoost's boosted trees for NDCG (Chen and Guestrin 2016), with its objective ``rank:ndcg``.

    This is LambdaMART as XGBoost grows it: level by level on binned
    features (``tree_method="hist"``). Pairs are formed by the first
    documents of the current ranking and all other documents of the
    query (``lambdarank_pair_method="topk"``). XGBoost's defaults apply
    to all parameters that are not listed below.

    Parameters
    ----------
    n_rounds : int, default 300
        Number of trees, 1 to 10,000.
    learning_rate : float, default 0.1
        Factor for the output of each tree; greater than 0, up to 1.
    max_depth : int, default 6
        Maximum depth of a tree, 1 to 16.
    min_child_weight : float, default 1.0
        Minimum sum of second derivatives per leaf, 0 or more.
    ndcg_at : int, default 10
        Number of first documents of the current ranking whose pairs
        count, 1 to 10,000 (XGBoost's
        ``lambdarank_num_pair_per_sample``); also k of the criterion's
        NDCG@k.
    feature_fraction : float, default 1.0
        Share of the features available to each tree, drawn at random
        (``colsample_bytree``); greater than 0, up to 1.
    seed : int, default 0
        Seed of the draw of features, 0 to 2,147,483,647.

    Notes
    -----
    The attributes are the same as in
    :class:`rankstudio.plugins.trees.lambdamart.TreeRanker`; gains are XGBoost's loss
    reductions. A round takes O(mnd) for m documents, n features and
    trees of depth d. XGBoost uses one thread here, because the last
    bits of its sums depend on the number of threads; folds and settings
    run in parallel. The fit stops early if no split has a gain, unless
    the next tree may draw other features. Data with several shards are
    binned shard by shard, at two bytes per value, and give the same
    model as all documents at once.

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
        """Return the parameters of XGBoost, by its names, for those of this method.

        XGBoost gets one thread, so that sums do not depend on the
        number of threads.
        """
        return {
            "objective": "rank:ndcg",
            "tree_method": "hist",
            "eta": self.checked("learning_rate"),
            "max_depth": self.checked("max_depth"),
            "min_child_weight": self.checked("min_child_weight"),
            # pairs with a document among the first k, as in NDCG@k
            "lambdarank_pair_method": "topk",
            "lambdarank_num_pair_per_sample": self._loss_at(),
            "colsample_bytree": self.checked("feature_fraction"),
            "seed": between("seed", self.seed, 0, 2**31 - 1),
            "nthread": 1,
            "verbosity": 0,
        }

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        """Return the memory that XGBoost needs for m documents with n features.

        XGBoost keeps the bins of all values, and reads one shard at a
        time. To find bins, XGBoost needs a sketch of each feature's
        values; to grow trees, sums for each feature and node.
        """
        kept_bytes = (
            _XGBOOST_BYTES_PER_BIN * shape.m * shape.n + _BYTES_PER_DOCUMENT * shape.m
        )

        # Of data on disk, one shard is in memory: of s documents, with
        # `NUMBER` bytes for a value.
        read = NUMBER * shape.s * shape.n if shape.on_disk else 0.0

        # The lowest level of a tree has at most this number of nodes.
        n_nodes = min(2.0**self.max_depth, shape.m)
        sum_bytes = (
            _SKETCH_BYTES_PER_FEATURE + _HISTOGRAM_BYTES_PER_FEATURE * n_nodes
        ) * shape.n
        reading = Reading.IN_TURN if shape.sharded else Reading.WHOLE
        return MemoryNeed(
            read + kept_bytes + sum_bytes,
            reading=reading,
            kept=kept_bytes,
        )

    def _grow(self, data: TrainingData) -> Generator[Grown | WorkProgress, None, None]:
        """Yield each tree that XGBoost grows, with the gains by column, and the leaf number of each document (m,)."""
        parameters = self._parameters()
        n_rounds = self.checked("n_rounds")
        xgboost = _xgboost_library(self.entry.label)
        check_labels(self.entry, data)  # called for its error only

        # More than one shard means large data, whose binning takes a while.
        if data.several:
            yield WorkProgress(tr("binning features"), 0.0)
        training = xgboost.QuantileDMatrix(_xgboost_shards(xgboost, data), nthread=1)
        booster = xgboost.Booster(parameters, [training])

        # Each round adds one tree, which is read from XGBoost's JSON.
        for number in range(n_rounds):
            booster.update(training, number)
            tree_booster = booster[number : number + 1]
            values = json.loads(tree_booster.save_raw("json"))
            (tree,) = xgboost_model(values).trees

            # XGBoost returns the node of each document, which numbers
            # splits and leaves together.
            nodes = (
                tree_booster.predict(training, pred_leaf=True)
                .reshape(-1)
                .astype(np.int64)
            )
            yield tree, _loss_changes(values), _leaf_numbers(values)[nodes]

            # After a tree without splits, all later trees have none,
            # unless each tree draws other features at random.
            if not tree.splits and parameters["colsample_bytree"] == 1.0:
                return


@dataclass(eq=False, repr=False)
class CatBoostTrees(ConvertedRanker):
    """CatBoost's boosted symmetric trees for rankings (Prokhorenkova et al. 2018).

    All nodes of a level have the same split. The loss is that of YetiRank (Gulin et al.
    2011) by default; CatBoost's defaults apply to all parameters that are not listed
    below.

    Parameters
    ----------
    n_rounds : int, default 300
        Number of trees, 1 to 10,000.
    learning_rate : float, default 0.1
        Factor for the output of each tree; greater than 0, up to 1.
    depth : int, default 6
        Depth of a tree, 1 to 16.
    objective : {"YetiRank", "PairLogit", "QueryRMSE"}, default "YetiRank"
        "YetiRank": pairs near the top of randomly perturbed rankings,
        weighted by the change of the measure. "PairLogit": logistic
        loss of all pairs. "QueryRMSE": squared error of the labels up
        to a constant for each query.
    seed : int, default 0
        Seed of CatBoost's random numbers, 0 to 2,147,483,647.

    Notes
    -----
    The attributes are the same as in
    :class:`rankstudio.plugins.trees.lambdamart.TreeRanker`; gains are the changes of
    predictions by which CatBoost measures importance
    (``PredictionValuesChange``). A round takes O(mnd) for m documents,
    n features and depth d. Equal data, parameters and seeds give the
    same bits with any number of threads, according to CatBoost's
    documentation. The steps are only available after the last tree is
    grown. CatBoost needs all documents at once, as its pool cannot be
    joined from several parts.

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

    def _grow(
        self, training: TrainingData
    ) -> Generator[Grown | WorkProgress, None, None]:
        """Grow all trees with CatBoost, and then yield each tree.

        With a tree come the gains by column, and the leaf number of each document (m,).
        """
        data = training.whole(self.entry.label)
        parameters = catboost_parameters(self, data.X)
        catboost = boosting_library("CatBoost", self.entry.label)

        # Data from which nothing can be learned, such as with equal
        # labels, give one tree of a single leaf.
        if not can_learn(data):
            tree = ScoreTree((), (0.0,))
            yield tree, {}, _leaf_of_each_document(tree, data.X)
            return

        # CatBoost fits in another thread, and asks after each tree whether to go on.
        model = catboost.CatBoostRanker(**parameters)
        pool = pool_of(catboost, data)

        def fit(go_on: Callable[[], bool]) -> None:
            """Train CatBoost on the training documents.

            ``go_on`` returns after each tree whether to go on.
            ``model`` and ``pool``, the documents, are those of the
            enclosing method.
            """

            class Listener:
                """CatBoost calls its method after each tree, and stops if it returns False."""

                def after_iteration(self, _: Any) -> bool:
                    return go_on()

            model.fit(pool, callbacks=[Listener()])

        with as_dataset_errors(self.entry.label, catboost):
            yield from run_with_progress(
                fit, tr("growing trees"), parameters["iterations"]
            )

        # The trees are read from the file that CatBoost writes.
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            model.save_model(str(path), format="json")
            values = json.loads(path.read_text(encoding="utf-8"))
        trees = zip(
            catboost_model(values).trees, values["oblivious_trees"], strict=True
        )
        for tree, tree_values in trees:
            yield (
                tree,
                _value_changes(tree_values),
                _leaf_of_each_document(tree, data.X),
            )


def _xgboost_library(needed_by: str) -> Any:
    """Return the module of XGBoost; MissingExtraError unless its version can predict leaves in a QuantileDMatrix.

    ``needed_by`` is the label of the method, for the error.
    """
    xgboost = boosting_library("XGBoost", needed_by)
    major, minor = map(int, xgboost.__version__.split(".")[:2])
    if (major, minor) < (3, 1):
        reason = tr("version {found} is too old; install 3.1 or later.").format(
            found=xgboost.__version__
        )
        raise MissingExtraError(needed_by, "XGBoost", "xgboost", reason)
    return xgboost


def _xgboost_shards(xgboost: Any, data: TrainingData) -> Any:
    """Return an iterator from which XGBoost reads the shards one after the other, several times.

    XGBoost's bins do not depend on the division into shards, because
    its sketch of a feature takes one value after the other.
    """

    class Shards(xgboost.DataIter):  # type: ignore[misc]
        """XGBoost calls `next` until it returns False, and `reset` before it reads again."""

        def __init__(self) -> None:
            self._next = 0
            super().__init__()

        def next(self, input_data: Callable[..., None]) -> bool:
            """Pass the next shard to a function of XGBoost; return False if no shard is left.

            ``input_data`` is the function. The shards are those of
            ``data`` of the enclosing function. The shard's memory is
            released.
            """
            if self._next == len(data.shards):
                return False
            shard = data.shard(self._next)

            # Numbers of queries must be unique over all shards, so they
            # begin with the number of the shard's first query.
            first = data.shards[self._next].first_query
            queries = np.repeat(
                np.arange(first, first + shard.ptr.size - 1), np.diff(shard.ptr)
            )
            input_data(data=shard.X, label=shard.y, qid=queries)
            data.release(self._next)
            self._next += 1
            return True

        def reset(self) -> None:
            self._next = 0

    return Shards()


def _leaf_numbers(values: Mapping[str, Any]) -> Ints:
    """Return each node's number among the leaves of XGBoost's tree, from left to right, shape (nodes,).

    The converted tree numbers its leaves like this. For a split, the
    number is 0, and not used. ``values`` is XGBoost's JSON of a model
    of one tree.
    """
    (tree,) = values["learner"]["gradient_booster"]["model"]["trees"]
    left = tree["left_children"]
    right = tree["right_children"]
    numbers = np.zeros(len(left), dtype=np.int64)
    waiting = [0]  # nodes still to be visited, the next one last
    n_leaves = 0
    while waiting:  # from left to right, in the order of `tree_of_lists`
        node = waiting.pop()
        if left[node] == -1:  # a leaf has no children
            numbers[node] = n_leaves
            n_leaves += 1
        else:
            waiting += [right[node], left[node]]
    return numbers


def catboost_parameters(method: Any, X: Floats) -> dict[str, Any]:
    """Return CatBoost's parameters, by its names, for those of a method.

    ``method`` is an estimator with these parameters. The size of the
    documents X (m, n) decides about the number of threads.
    """
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
    """Return the training documents with some columns, all by default, as a pool of CatBoost.

    A pool is CatBoost's object for documents with labels and queries.
    ``catboost`` is the module.
    """
    queries = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    return catboost.Pool(
        np.ascontiguousarray(data.X[:, columns]),
        label=data.y,
        group_id=queries,
    )


def can_learn(data: QueryData) -> bool:
    """Return whether CatBoost can learn from some training documents.

    Some feature must vary, and some query must have two different labels.
    """
    differ = np.diff(data.y) != 0
    differ[data.ptr[1:-1] - 1] = False  # the two documents are of different queries
    return bool(differ.any() and varying_columns(data.X).size)


def varying_columns(X: Floats) -> Ints:
    """Return the columns that are not constant in single precision."""
    return np.flatnonzero([np.ptp(column.astype(np.float32)) > 0 for column in X.T])


@contextmanager
def as_dataset_errors(label: str, catboost: Any) -> Iterator[None]:
    """Turn an error of CatBoost in a ``with`` block into a :class:`DatasetError`.

    The message of the new error lacks the line of CatBoost's source.
    ``label`` is that of the method, and ``catboost`` the module.
    """
    try:
        yield
    except catboost.CatBoostError as error:
        # CatBoost's texts are "path/file.cpp:123: reason".
        reason = str(error).rpartition(".cpp:")[2].partition(": ")[2] or str(error)
        raise DatasetError(
            tr("{label} cannot learn from these data: {reason}").format(
                label=label, reason=one_line(reason)
            )
        ) from error


def run_with_progress(
    work: Callable[[Callable[[], bool]], Value], message: str, n_trees: int
) -> Waiting[Value]:
    """Run CatBoost on a thread, and yield progress after each tree; closing the generator stops CatBoost.

    Parameters
    ----------
    work : callable
        Runs CatBoost. Its argument is a function to call after each
        tree, which returns whether to go on.
    message : str
        Text of the progress.
    n_trees : int
        Number of trees.

    Returns
    -------
    object
        Result of ``work``.
    """
    # The other thread puts True for each tree, and False at the end.
    ticks: SimpleQueue[bool] = SimpleQueue()
    stop = threading.Event()

    def go_on() -> bool:
        """Report a tree, and return whether CatBoost should go on."""
        ticks.put(True)
        return not stop.is_set()

    with ThreadPoolExecutor(1) as executor:
        working = executor.submit(work, go_on)
        working.add_done_callback(lambda _: ticks.put(False))
        try:
            for number in count():
                if not ticks.get():
                    break

                # CatBoost may report more often than there are trees.
                yield WorkProgress(message, min(number / n_trees, 1.0))
            return working.result()
        finally:
            stop.set()  # also if the generator is closed early


def _loss_changes(values: Mapping[str, Any]) -> dict[int, float]:
    """Return the total gain of the splits on each column, from XGBoost's JSON of a model of one tree."""
    (tree,) = values["learner"]["gradient_booster"]["model"]["trees"]
    gains: dict[int, float] = {}
    for left_child, column, gain in zip(
        tree["left_children"], tree["split_indices"], tree["loss_changes"], strict=True
    ):
        # A leaf has no child (-1). A split without a gain counts a tiny
        # number, so that its column still appears as used.
        if left_child != -1:
            gains[column] = gains.get(column, 0.0) + max(float(gain), TINY)
    return gains


def _value_changes(tree: Mapping[str, Any]) -> dict[int, float]:
    """Return the importance of each column, from CatBoost's JSON of a symmetric tree.

    The importance of a split is CatBoost's ``PredictionValuesChange``
    before normalization: for each pair of leaves that differ only in
    the side of this split, the weighted squared distances from their
    mean, summed. A split whose other side is always empty has an
    importance of 0, but may still decide about new documents.
    """
    gains: dict[int, float] = {}
    for level, split in enumerate(tree["splits"] or ()):
        # All nodes of a level have the same split. Bit `level` of a
        # leaf's number is the side of this split, which becomes the
        # axis of size 2.
        values, weights = (
            np.array(tree[name], dtype=np.float64).reshape(-1, 2, 2**level)
            for name in ("leaf_values", "leaf_weights")
        )
        total = weights.sum(axis=1, keepdims=True)
        mean = (weights * values).sum(axis=1, keepdims=True) / np.where(
            total > 0, total, 1.0
        )
        change = float((weights * (values - mean) ** 2).sum())
        column = split["float_feature_index"]
        gains[column] = gains.get(column, 0.0) + max(change, TINY)
    return gains
