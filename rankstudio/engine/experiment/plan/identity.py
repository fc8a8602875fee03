"""What of a plan makes its paths: plans that differ in nothing of it have the same ones."""

from __future__ import annotations

from rankstudio.engine.experiment.plan.plan import Plan


def counting_plan(plan: Plan) -> Plan:
    """Return the plan with the default of each parameter that does not count beside the others.

    Where a ranker ranks, those of the method's own model do not count; nor does what only counts with
    another value of another parameter. Plans that differ in nothing else ask for the same work.
    """
    ranker = plan.ranker_entry
    own = {
        p.name: p.default
        for p in plan.entry.parameters
        if (ranker and p.ranks) or not p.counts(plan.parameters)
    }
    ranked = {
        p.name: p.default
        for p in (ranker.parameters if ranker else ())
        if not p.counts(plan.ranker_parameters)
    }
    return plan.changed(
        parameters={**plan.parameters, **own}, ranker_parameters={**plan.ranker_parameters, **ranked}
    )


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
