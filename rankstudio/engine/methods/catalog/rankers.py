"""The catalog's entries of rankers: methods that rank with all given features."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.methods.catalog.method import (
    Criterion,
    Description,
    Method,
    Seconds,
    StepKind,
)
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.methods.catalog.shared import (
    COST,
    LAMBDA,
    LEAVE_QUERY_OUT,
    MAPPED,
    PAIRS,
    TIES,
    TOL,
    WEIGHTING,
    C,
    max_iter,
)

RANKRLS = Method(
    key="rankrls",
    label="RankRLS",
    family="ranker",
    description=Description(
        citation="Pahikkala et al. 2009",
        title="An efficient algorithm for learning to rank from preference graphs",
        summary=(
            "Regularised least squares on the differences between documents of a query, with all "
            "features: the reference for selections."
        ),
        formula="minimise over w:  Σ_Q 1/(2|Q|) Σ_{i,j∈Q} (y_i − y_j − w'(x_i − x_j))² + λ‖w‖²",
    ),
    criterion=LEAVE_QUERY_OUT,
    library=("solver", "tol", "max_iter"),
    traits=(
        "learns_preferences",
        "left_out",
        "live",
    ),
    capabilities=("paths_of_labels",),
    estimator="rankstudio.engine.methods.rankers.rankrls:RankRLS",
    seconds=Seconds(fold=0.02, fit=0.003, path=0.018),
    parameters=(LAMBDA, COST, TIES, WEIGHTING, PAIRS),
)

RANKSVM = Method(
    key="ranksvm",
    label="RankSVM",
    family="ranker",
    description=Description(
        citation="Joachims 2002",
        title="Optimizing search engines using clickthrough data",
        summary=(
            "Linear model with maximum margin: each document should score at least 1 more than "
            "every less relevant one of its query. Fast for any number of pairs."
        ),
        formula="minimise over w:  ½ w'w + C Σ_{y_i > y_j} max(0, 1 − w'(x_i − x_j))ᵖ,  p = 2 or 1",
    ),
    criterion=Criterion("objective"),
    step_kind=StepKind.ITERATIONS,
    takes=("seed",),
    traits=("learns_preferences",),
    estimator="rankstudio.engine.methods.rankers.ranksvm:RankSVM",
    seconds=Seconds(fold=0.02, fit=0.009, path=0.28),
    parameters=(
        C,
        Parameter(
            name="loss",
            label="loss",
            kind=Kind.CHOICE,
            default="squared_hinge",
            help="Loss of a pair in the wrong order or within the margin.",
            symbol="p",
            source="Chapelle and Keerthi 2010; Airola 2011, section 4.2.2",
            basic=False,
            choices=(("squared_hinge", "squared hinge"), ("hinge", "hinge")),
        ),
        replace(
            WEIGHTING,
            default="none",
            source="Cao et al. 2006; Airola 2011, section 4.2.1",
        ),
        Parameter(
            name="solver",
            label="solver",
            kind=Kind.CHOICE,
            default="auto",
            help="Newton steps, or cutting planes (hinge loss only).",
            source="Chapelle and Keerthi 2010; Airola 2011, section 4.2.2",
            basic=False,
            offers_several=False,
            choices=(
                ("auto", "automatic"),
                ("newton", "Newton steps"),
                ("bundle", "cutting planes"),
            ),
        ),
        TOL,
        max_iter(1000, 1_000_000, "Maximum number of Newton steps or cutting planes."),
        *MAPPED,
    ),
)

RANKERS: tuple[Method, ...] = (
    RANKRLS,
    RANKSVM,
)
