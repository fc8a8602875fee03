"""The entry of RankRLS with a kernel in the catalog of methods."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.methods.catalog.method import Description, Method, Seconds
from rankstudio.engine.methods.catalog.shared import (
    BASIS,
    COEF0,
    COST,
    DEGREE,
    GAMMA,
    KERNEL,
    LAMBDA,
    LEAVE_QUERY_OUT,
    N_BASIS,
    PAIRS,
    TIES,
    WEIGHTING,
)

KERNEL_RANKRLS = Method(
    key="kernel-rankrls",
    label="Kernel RankRLS",
    family="ranker",
    description=Description(
        citation="Pahikkala et al. 2009",
        title="An efficient algorithm for learning to rank from preference graphs",
        summary=(
            "RankRLS with a kernel, for nonlinear models. It shows whether a nonlinear model of the selected "
            "features ranks better than a weighted sum."
        ),
        formula="minimise over f:  Σ_Q 1/(2|Q|) Σ_{i,j∈Q} (y_i − y_j − f(x_i) + f(x_j))² + λ‖f‖²,  "
        "f = Σ_{i∈R} b_i k(·, x_i)",
    ),
    criterion=LEAVE_QUERY_OUT,
    takes=("seed",),
    traits=(
        "learns_preferences",
        "left_out",
    ),
    estimator="rankstudio.plugins.kernels.kernel_rankrls:KernelRankRLS",
    seconds=Seconds(0.09, 0.05, 5.3),
    parameters=(
        replace(
            LAMBDA,
            default=tuple(4.0**e for e in range(-5, 3)),
            source="Pahikkala et al. 2009, eq. (12)",
        ),
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        N_BASIS,
        BASIS,
        COST,
        TIES,
        WEIGHTING,
        replace(
            PAIRS,
            help=(
                "Pairs within queries; or no pairs, which is regression on the labels with an intercept "
                "(RLS). The criterion of one ranking is then the leave-one-out error of documents, also "
                "with basis vectors."
            ),
            source="Airola 2011, section 3.4.1 and Paper V",
            changes_criterion=True,
            choices=(PAIRS.choices[0], PAIRS.choices[2]),
        ),
    ),
)

METHODS: tuple[Method, ...] = (KERNEL_RANKRLS,)
