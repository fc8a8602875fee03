"""Back-fitting: a candidate is measured by its own weight alone; all weights are learned once it is in."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls import _back_fitting_kernel as kernels
from rankstudio.engine.methods.selection.greedy_rankrls.column_search import OnDemandSearch
from rankstudio.engine.methods.selection.greedy_rankrls.products import ColumnProducts, Comparison


class BackFittingSearch(OnDemandSearch):
    """What a candidate would be worth if the weights of the features before it stayed as they are.

    Named as future work in Pahikkala et al. 2010, section 5, after Vincent and Bengio 2002. Without a query
    q, the candidate's weight is the one that RankRLS gives it on the residuals of the model w_q so far,
    β_q = x_j'(y^ - X^_S w_q) / (x_j'x_j + λ) over the documents of the other queries. Where a candidate is 0
    throughout a query the error does not change, so that only its entries count. Once it is taken, the
    weights of all features are learned anew: :meth:`criterion` and :meth:`weights` are exact.

    Parameters
    ----------
    data : SparseQueryData
        Training data.
    regularization : float
        λ > 0.

    Notes
    -----
    O(t) an entry of a candidate with t features selected, so O(k² m̄ κ) for k of them with κ candidates of m̄
    entries each: the paper's bound. Besides, O(k³ Q + k² m) for Q queries and m documents.
    """

    def __init__(self, data: SparseQueryData, regularization: float) -> None:
        self._columns = ColumnProducts(data)
        super().__init__(self._columns, regularization)

    def _comparison(self) -> Comparison:
        """Return the function from candidates to how the criterion changes with each and no other weight."""
        t, columns, regularization = len(self.selected), self._columns.columns, self._regularization
        models, residual = np.empty((self._columns.n_queries, t)), np.empty(columns[4].shape[0])
        kernels.held_out_models(t, self._state, columns, models, residual)

        def changes(candidates: Ints) -> Floats:
            out = np.empty(candidates.size)
            kernels.changes_by_back_fitting(t, candidates, columns, regularization, models, residual, out)
            return out

        return changes
