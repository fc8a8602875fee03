"""RankSVM: large margins between the documents of a query, trained without a list of their pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from rankstudio.engine.arithmetic.kernel_functions import (
    PRECOMPUTED,
    Kernel,
    KernelFunction,
)
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.sparse_query_data import is_sparse
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import ConvergingRanker
from rankstudio.engine.methods.catalog.rankers import RANKSVM
from rankstudio.engine.methods.kernels.kernel_model import (
    KernelIteration,
    KernelModel,
    kernel_iteration,
)
from rankstudio.engine.methods.kernels.nystrom import (
    DependentBasisWarning,
    KernelMapped,
    basis_of,
    kernel_features,
    kernel_need,
    kernel_of,
)
from rankstudio.engine.methods.kernels.shared_work import basis_vectors
from rankstudio.engine.methods.memory_need import (
    PAIRS,
    DataShape,
    MemoryNeed,
    sums_need,
)
from rankstudio.engine.methods.pair_learners import PreferenceLearner
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.steps import Iteration, Step
from rankstudio.engine.support.sparse_rows import SparseRows
from rankstudio.engine.support.work import Note, WorkProgress

if TYPE_CHECKING:
    from rankstudio.engine.arithmetic.optimisers.conjugate_gradient import (
        OptimizerState,
    )


@dataclass(eq=False, repr=False)
class RankSVM(ConvergingRanker, PreferenceLearner, KernelMapped):
    """RankSVM fits a linear support vector machine on pairs of documents.

    Minimises ½ w'w + C sum of max(0, 1 - w'(x_i - x_j))^p over the
    pairs of documents of one query with y_i > y_j, p = 2 for the
    squared hinge (RankSVM-Primal: Chapelle & Keerthi 2010) and p = 1
    for the hinge (Joachims 2002; thesis of Airola 2011, section 4.2.2).
    Preferences, if given, replace these pairs; the loss of each is
    multiplied by its weight, and magnitudes are ignored.

    Parameters
    ----------
    C : float, default 1.0
        Weight of a pair's loss relative to the squared norm, greater than 0.
    kernel : {"linear", "rbf", "poly"}, sum or callable, default "linear"
        Kernels other than the linear one use the Nyström map of the
        basis vectors (thesis, section 4.2.2), and w'w is the squared
        norm in the kernel's space; sums, callables, γ, d and c are
        those of `KernelRankRLS`.
    gamma : float, default 2^-6
        γ of the kernels that have it.
    degree : int, default 3
        Degree of the polynomial kernel.
    coef0 : float, default 1.0
        Constant of the polynomial kernel.
    n_basis : int, optional
        Number of basis vectors; by default all documents. The linear
        kernel has no basis vectors.
    basis : {"uniform", "per_query"}, default "uniform"
        How basis documents are sampled: from all documents, or the same
        number from each query.
    seed : int, default 0
        Seed of the sample of basis documents.
    loss : {"squared_hinge", "hinge"}, default "squared_hinge"
        p = 2 or p = 1.
    weighting : {"none", "size", "pairs"}, default "none"
        Divides the losses of a query by its number of documents (Cao et al.
        2006) or of pairs (thesis, section 4.2.1); "none" lets every pair count
        the same. All losses together are scaled so that the weights of
        all pairs add up to their number: C keeps its meaning.
        Preferences have their own weights.
    solver : {"auto", "newton", "bundle"}, default "auto"
        "newton" uses truncated Newton steps; for the hinge, on smoothed
        hinges whose width decreases with the duality gap. "bundle" is
        the cutting-plane method of the thesis, only for the hinge; it
        needs many more iterations for large C. "auto" uses a few planes
        if C is small, and then Newton steps.
    tol : float, default 1e-6
        Stops when the duality gap is at most this share of the
        objective, and of its reduction from w = 0.
    max_iter : int, default 1000
        Maximum number of Newton steps or cutting planes.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        Weights; for other kernels the importance of each feature, the
        root mean square slope of the score at the basis vectors.
    dual_coef_, basis_, basis_vectors_ : ndarray
        For kernels other than the linear one, as in `KernelRankRLS`.
    objective_ : float
        Minimum of the objective.
    gap_ : float
        Duality gap: an upper bound of the distance of ``objective_`` from the minimum.
    n_iter_ : int
        Iterations taken.

    Notes
    -----
    O(mn + m log m) for an iteration's loss, gradient and each product
    with the Hessian, for m documents, n features and any number of
    distinct labels; with r basis vectors O(mr² + mrn) first, and r
    instead of n.

    Examples
    --------
    >>> import numpy as np
    >>> X, qid = np.array([[3.0], [1.0], [2.0], [0.0]]), np.array([1, 1, 2, 2])
    >>> RankSVM(C=10.0).fit(X, np.array([1, 0, 1, 0]), qid=qid).coef_.round(3)
    array([0.497])
    """

    entry = RANKSVM
    accepts_sparse: ClassVar[bool] = True

    dual_coef_: Floats = field(init=False)

    C: float = 1.0
    _: KW_ONLY
    loss: Literal["squared_hinge", "hinge"] = "squared_hinge"
    weighting: Literal["size", "pairs", "none"] = "none"
    solver: Literal["auto", "newton", "bundle"] = "auto"
    tol: float = 1e-6
    max_iter: int = 1000
    kernel: str | KernelFunction = field(default="linear", kw_only=True)

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return (
            sums_need(shape, PAIRS)
            if self.kernel == "linear"
            else kernel_need(shape, self.n_basis)
        )

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Train, and yield an iteration per Newton step or cutting plane; its criterion is the objective.

        With a kernel, a Nyström map turns the documents into features
        whose inner products are about the kernel, and the linear method
        runs on these. ``data`` are the training documents.
        """
        kernel, basis_settings = self._kernel()
        if kernel.function == "linear":
            yield from super().work(data)
            return
        # The documents are mapped once, and the linear method runs on
        # the mapped documents. Kernels need dense documents, all in
        # memory.
        rows = (
            training_data(data)
            .for_method(accepts_sparse=False)
            .whole("RankSVM with a kernel")
        )
        document_map, note = kernel_features(rows, kernel, *basis_settings)
        if note:
            yield Note(note, kind=DependentBasisWarning)
        vectors = basis_vectors(rows, document_map.basis)
        mapped = QueryData(
            document_map.features, rows.y, rows.ptr, preferences=rows.preferences
        )
        # The linear models become models with the kernel, which score
        # documents that are not mapped.
        for step in super().work(mapped):
            if isinstance(step, Iteration):
                yield kernel_iteration(step, kernel, vectors, document_map)
            else:
                yield step

    def _kernel(self) -> tuple[Kernel, tuple[int | None, str, int]]:
        """Return the kernel, and how its basis vectors are drawn: their number, the way and the seed.

        Raises a ParameterError for a precomputed kernel.
        """
        if self.kernel == PRECOMPUTED:
            raise ParameterError(
                "kernel", self.kernel, "linear, rbf, poly or a function of documents"
            )
        return kernel_of(self), basis_of(self)

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        """Set the attributes of the fitted ranker from the last step, and warn if training has not converged.

        ``data`` are the training documents, and ``steps`` the
        iterations. With a kernel, the attributes include
        ``dual_coef_``, ``basis_`` and ``basis_vectors_``.
        """
        last = steps[-1]
        # A linear model has no kernel attributes, also if an earlier fit had set them.
        for name in {"dual_coef_", "basis_", "basis_vectors_"} & vars(self).keys():
            delattr(self, name)
        if isinstance(last, KernelIteration):
            self.dual_coef_ = last.model.weights
            self.basis_vectors_ = last.model.vectors
            # Rows of the original order of the documents.
            self.basis_ = last.basis if data.order is None else data.order[last.basis]
        super()._finish(data, steps)

    def _score(self, X: Any) -> Floats:
        """Return the scores (m,) of checked documents X (m, n), by the linear or the kernel model."""
        kernel = kernel_of(self)
        if kernel.function == "linear":
            return super()._score(X)
        rows = np.ascontiguousarray(SparseRows(X).dense() if is_sparse(X) else X)
        return KernelModel(
            kernel=kernel, vectors=self.basis_vectors_, weights=self.dual_coef_
        ).scores(rows)

    def _minimise(
        self, data: TrainingData, C: float, tol: float, max_iter: int
    ) -> Iterator[OptimizerState | WorkProgress]:
        """Yield the states of the optimiser for the documents of all shards, and progress events.

        C weighs the loss of the pairs, and the optimiser stops at a
        relative duality gap of ``tol``, or after ``max_iter``
        iterations. ``data`` are the training documents. A shard is a
        part of the data with whole queries.
        """
        minimise = self._minimiser()
        kind = self.checked("weighting")
        from rankstudio.engine.arithmetic.pairs import PairWeighting  # noqa: PLC0415 - numba
        from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415 - numba

        if kind != "none" and data.preferring:
            raise ParameterError(
                "weighting", kind, tr("none, as preferences have their own weights")
            )
        weighting = (
            None if kind == "none" else PairWeighting.over(kind, data.y, data.ptr)
        )
        with pairs_of(data, weighting) as problem:
            yield from minimise(problem, C, tol, max_iter)

    def _minimiser(self) -> Callable[..., Iterator[OptimizerState | WorkProgress]]:
        """Return the function that minimises the loss by the solver.

        The function yields the states of the optimiser. Raises a
        ParameterError for the solver "bundle", cutting planes, with
        another loss than the hinge.
        """
        loss = self.checked("loss")
        solver = self.checked("solver")
        if solver == "bundle" and loss != "hinge":
            raise ParameterError(
                "solver", self.solver, f"auto or newton, with the loss {self.loss}"
            )
        from rankstudio.engine.arithmetic.optimisers import (  # noqa: PLC0415 - numba
            bundle_method,
            truncated_newton,
        )

        if self.loss == "squared_hinge":
            return truncated_newton.minimise_squared_hinge
        # "auto" begins with cutting planes, and continues with Newton
        # steps if a few are not enough.
        return {
            "auto": bundle_method.minimise_hinge_either_way,
            "newton": truncated_newton.minimise_hinge,
            "bundle": bundle_method.minimise_by_planes,
        }[self.solver]
