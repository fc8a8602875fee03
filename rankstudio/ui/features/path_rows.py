"""A path of features as rows and columns of a table: which came when, with which weight, what it brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan, nan

from rankstudio.engine.analysis.features.choice_explanation import TOSS_UP, percent
from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.feature_groups import Groups, group_names, with_their_groups
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step
from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import MINUS, fixed
from rankstudio.ui.widgets import Column
from rankstudio.ui.widgets.columns import PAD
from rankstudio.ui.widgets.table import WEIGHT_BAR

WEIGHT = 70
"""Pixels of a number with its sign."""
IMPORTANCE = 84
"""Pixels of that word."""


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
        if len(new) > 1:
            found = path.steps[place].coef
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
                    gain=path.steps.gains[place] / path.divisor if last else nan,
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
        self._last: Step | None = None
        self._forget()

    def of(self, path: PathResult) -> list[tuple[int, list[int]]]:
        """Return the place of each model among the steps, with the columns that are in none before it."""
        if path.step_kind is StepKind.ITERATIONS:  # only the last one is a model
            return [(place, [*path.steps[place].selected]) for place in range(len(path.steps))[path.models]]
        known = len(self._found)
        if known > len(path.steps) or (known and path.steps[known - 1] is not self._last):
            known = 0
            self._forget()
        for place in range(known, len(path.steps)):
            self._last = path.steps[place]
            self._add(place, self._last.selected)
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


def _tone(row: FeatureRow) -> str:
    if row.banned:
        return "faint"
    return "text" if row.chosen else "muted"


def _gain(value: float) -> str:
    return fixed(value, 5)


def _hint(row: FeatureRow, weight: str = tr("weight")) -> str:
    state = tr("pinned: in every model") if row.pinned else tr("banned: never selected") if row.banned else ""
    worth = "" if isnan(row.weight) else f"{weight} {row.weight:.4g}".replace("-", MINUS)
    group = (
        tr("part of the group {group}, which is selected as a whole").format(group=row.group)
        if row.group
        else ""
    )
    return "\n".join(filter(None, (f"{row.feature_id} {row.name}", worth, group, state)))


def _name(row: FeatureRow) -> str:
    name = f"{row.group} › {row.name}" if row.group else row.name
    return tr("{name} (banned)").format(name=name) if row.banned else name


_COLUMNS = (
    Column(
        "rank",
        "#",
        "right",
        tooltip=tr("Number of features at which it enters the model"),
        width=36,
        tone=_tone,
    ),
    Column(
        "feature_id", tr("id"), "right", tooltip=tr("Id in the data files, from 1"), width=46, tone="muted"
    ),
    Column(
        "name",
        tr("feature"),
        value=_name,
        tooltip=tr("◆ marks pinned features. Features of a group appear as “group › feature”."),
        stretch=True,
        tone=_tone,
        mark=lambda row: row.pinned,
        hint=_hint,
    ),
    Column(
        "weight",
        tr("weight"),
        tooltip=tr("Weight in the selected model; negative bars go to the left"),
        kind="weight",
        width=WEIGHT + WEIGHT_BAR + PAD,
        tone=_tone,
        sort=lambda row: abs(row.weight),
    ),
    Column(
        "gain",
        tr("gain"),
        "right",
        _gain,
        tooltip=tr("Reduction of the criterion per document when it was selected"),
        width=84,
        tone=_tone,
    ),
)


def as_importance(column: Column) -> Column:
    """Return the column of weights for a model that has none, but tells how much it uses each feature."""
    if column.key == "name":
        return replace(column, hint=partial(_hint, weight=tr("importance")))
    if column.key != "weight":
        return column
    tooltip = tr("Importance in the selected model; the bar is relative to the largest")
    return replace(
        column,
        title=tr("importance"),
        tooltip=tooltip,
        format=lambda value: f"{value:.3g}".replace("-", MINUS),
    )


def _margin_text(share: float) -> str:
    if 0 < abs(share) < 0.0001:
        return f"> {MINUS}0.01 %" if share < 0 else "< 0.01 %"
    return (MINUS if share < 0 else "") + percent(abs(share))


_MARGIN = Column(
    "margin",
    tr("margin"),
    "right",
    _margin_text,
    tooltip=tr("Lead over the next candidate, as a share of the score"),
    width=86,
    tone=lambda row: "error" if row.margin < TOSS_UP else "muted",
)


def columns(measure: str, with_margin: bool = False) -> tuple[Column, ...]:
    """Return the columns of the table, for the measure that is shown; with margins where there are any."""
    width, tooltip = (
        62 if len(measure) < 6 else 82,
        tr("Validation {measure} after it was selected").format(measure=measure),
    )
    after = Column("after", measure, "right", ".4f", tooltip=tooltip, width=width, tone=_tone)
    return (*_COLUMNS, after, _MARGIN) if with_margin else (*_COLUMNS, after)
