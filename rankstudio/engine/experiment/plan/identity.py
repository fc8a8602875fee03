"""What of a plan makes its paths: plans that differ in nothing of it have the same ones."""

from __future__ import annotations

from rankstudio.engine.experiment.plan.plan import Plan


def path_plan(plan: Plan) -> Plan:
    """Return the plan without what does not change a path: grids, folds to run, how to choose."""
    ranker = plan.ranker_entry
    own = {p.name: p.default for p in plan.entry.grids}
    ranked = {p.name: p.default for p in ranker.grids} if ranker else {}
    return plan.changed(
        parameters={**plan.parameters, **own},
        ranker_parameters={**plan.ranker_parameters, **ranked},
        folds=(),
        select_by="criterion",
        rule="best",
        measures=plan.evaluated,
    )
