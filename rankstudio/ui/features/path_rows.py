"""A path of features as rows of a table: which feature came when, with which weight and what it brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.feature_groups import Groups, group_names, with_their_groups
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step
from rankstudio.ui.language import tr


@dataclass(frozen=True)
class FeatureRow:
    """One feature.

    Attributes
    ----------
    rank : int or None
        The k with which it is in the model; None for a banned feature.
    feature_id : int
        1-based.
    name : str
    weight : float
        In the chosen model; NaN where it is not in it.
    gain : float
        How much the criterion per document fell when it came in; NaN for a method that takes all at once.
    after : float
        The measure on the validation part after it came in; NaN where that is not known.
    chosen : bool
        Whether it is in the chosen model.
    pinned, banned : bool
    margin : float
        How far the next candidate was behind it, as a share of the score; NaN where that is not known.
    group : str
        With which it is taken or left; "" for none.
    """

    rank: int | None
    feature_id: int
    name: str
    weight: float
    gain: float
    after: float
    chosen: bool
    pinned: bool = False
    banned: bool = False
    margin: float = nan
    group: str = ""


def path_rows(
    path: PathResult,
    feature_ids: Sequence[int] | Ints,
    names: Sequence[str],
    measure: str,
    position: int,
    arrivals: Arrivals | None = None,
    groups: Groups | None = None,
) -> tuple[FeatureRow, ...]:
    """Return the features of a path in the order in which they came, the banned ones at the end.

    Parameters
    ----------
    path : PathResult
    feature_ids, names : sequence of length n
        Of the dataset's columns.
    measure : str
        Which validation measure to show.
    position : int
        Of the chosen model among the path's steps.
    arrivals : Arrivals, optional
        What is known of the path from the last time, when it was shorter.
    groups : Mapping of str to tuple of int, optional
        Of features, by their ids, with which the path was made; pins and bans are of groups as a whole.

    Returns
    -------
    tuple of FeatureRow
        Where several features come with one step (a ranker takes all at once), the greatest weight comes
        first, and only the last of them has a gain and a measure.
    """
    parameters = path.unit.parameters
    groups = groups or {}
    group_of = group_names(groups)
    pinned = set(with_their_groups(parameters.get("pinned", ()), groups))
    banned = with_their_groups(parameters.get("banned", ()), groups)
    model = path.steps[position]
    weights = model.coef
    after = path.validation.get(measure)
    chosen = set(model.selected)
    rows: list[FeatureRow] = []
    for place, new in (arrivals or Arrivals()).of(path):
        step = path.steps[place]
        if len(new) > 1:
            found = step.coef
            new = sorted(new, key=lambda column: -abs(found[column]))  # noqa: PLW2901
        for column in new:
            last = column == new[-1]
            rank = len(rows) + 1
            inside = column in chosen
            rows.append(
                FeatureRow(
                    rank=rank,
                    feature_id=int(feature_ids[column]),
                    name=names[column],
                    weight=float(weights[column]) if inside else nan,
                    gain=(step.before - step.criterion) / path.divisor if last else nan,
                    after=float(after[place]) if after is not None and last else nan,
                    chosen=inside,
                    pinned=int(feature_ids[column]) in pinned,
                    group=group_of.get(int(feature_ids[column]), ""),
                )
            )
    known = {int(i): name for i, name in zip(feature_ids, names, strict=True)} if banned else {}
    rows += [
        FeatureRow(
            None,
            i,
            known.get(i, tr("feature {i}").format(i=i)),
            nan,
            nan,
            nan,
            False,
            banned=True,
            group=group_of.get(i, ""),
        )
        for i in banned
    ]
    return tuple(rows)


def has_own_values(rows: Sequence[FeatureRow], key: str, *, most: bool = False) -> bool:
    """Tell whether rows have a gain or a measure of their own, and not just the model as a whole.

    Parameters
    ----------
    rows : sequence of FeatureRow
    key : {"gain", "after"}
    most : bool
        Whether more than half of them have to.
    """
    known = sum(not isnan(getattr(row, key)) for row in rows)
    ranked = sum(row.rank is not None for row in rows)
    return known >= min(2, ranked) and (not most or 2 * known > ranked)


class Arrivals:
    """Which columns are new in each model of a path; of a path that grows only its new steps are looked at.

    To look at every column of every step took a second for two thousand of them, each time one was added.
    """

    def __init__(self) -> None:
        self._steps: Sequence[Step] = ()
        self._forget()

    def of(self, path: PathResult) -> list[tuple[int, list[int]]]:
        """Return the place of each model among the steps, with the columns that are in none before it."""
        if path.step_kind is StepKind.ITERATIONS:  # only the last one is a model
            return [(place, [*path.steps[place].selected]) for place in range(len(path.steps))[path.models]]
        known = len(self._steps)
        if known > len(path.steps) or (known and path.steps[known - 1] is not self._steps[-1]):
            known = 0
            self._forget()
        for place in range(known, len(path.steps)):
            self._add(place, path.steps[place].selected)
        self._steps = path.steps
        return self._found

    def _forget(self) -> None:
        self._found: list[tuple[int, list[int]]] = []
        self._seen: set[int] = set()
        self._before: tuple[int, ...] = ()

    def _add(self, place: int, selected: tuple[int, ...]) -> None:
        """Note a model; where it adds to the one before, what is new stands at its end."""
        n = len(self._before)
        later = selected[n:] if selected[:n] == self._before else selected
        new = [column for column in later if column not in self._seen]
        self._seen.update(new)
        self._before = selected
        self._found.append((place, new))
