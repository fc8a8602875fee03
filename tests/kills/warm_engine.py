"""To import this is to have everything loaded that a run needs, compiled kernels too, and no thread."""

from __future__ import annotations

from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.execution import executors
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run

__all__ = ["executors", "run_stored"]

for _ in run(
    Plan("x", parameters={"regularization": (1.0,)}), make_ranking(n_queries=12)
):
    pass
