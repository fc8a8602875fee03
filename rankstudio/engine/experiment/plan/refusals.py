"""Why a method cannot do what a plan asks for, known before it runs."""

from __future__ import annotations

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.preference_files import refusal_of_preferences
from rankstudio.engine.methods.catalog import Method, refusal_of_groups


def refusal(plan: Plan, entry: Method, *, selects: bool) -> str:
    """Return the sentence by which a method is refused for the groups or preferences of a plan, "" for none.

    Parameters
    ----------
    plan : Plan
        Of this method, or of another that would be replaced by it.
    entry : Method
    selects : bool
        Whether it takes the place of the plan's method. A final ranker has the groups that are selected.
    """
    joint = sum(len(ids) > 1 for ids in plan.groups.values())
    if plan.preferences and not entry.learns_preferences:
        return refusal_of_preferences(entry)
    if joint and selects and not entry.groups:
        return refusal_of_groups(entry, joint)
    return ""
