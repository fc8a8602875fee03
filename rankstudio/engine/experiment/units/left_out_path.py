"""What the models of a path that is there measure on left-out queries, asked for afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankstudio.engine.experiment.plan.left_out_names import left_out_name
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.experiment.units.fold_context import FoldContext
from rankstudio.engine.experiment.units.left_out import LeftOutQueries
from rankstudio.engine.support.work import WorkProgress


def measure_left_out(
    fold: FoldContext, path: PathResult, names: Sequence[str], convention: str, first: int = 0
) -> Iterator[WorkProgress | dict[str, float]]:
    """Measure the steps of a path on the training queries, each ranked by the model learned without it.

    Parameters
    ----------
    fold : FoldContext
        On which the path was learned; its plan's way to choose does not count.
    path : PathResult
    names : sequence of str
        Of measures, such as "MAP".
    convention : str
        Key of the convention that they follow.
    first : int, default 0
        Position of the first step to measure.

    Yields
    ------
    WorkProgress or dict of str to float
        Signs of life, and the measures of one step after the other, by "leave-query-out MAP": the very
        numbers of a run that is chosen by one of them.
    """
    plan = fold.plan.changed(convention=convention, measures=tuple(names), select_by=left_out_name(names[0]))
    left_out, ranker = LeftOutQueries(plan, fold.fold.train, fold.train), fold.ranker(path.unit)
    left_out.begin(path.unit)
    for step in path.steps[first:]:
        yield (yield from left_out.measure(path.unit, ranker, step))
