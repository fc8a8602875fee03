"""The columns of the path's table."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isnan

from rankstudio.engine.analysis.features.choice_explanation import TOSS_UP, percent
from rankstudio.ui.features.path_rows import FeatureRow
from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import MINUS, fixed
from rankstudio.ui.widgets import Column
from rankstudio.ui.widgets.cells import PAD, WEIGHT_BAR

WEIGHT = 70
"""Pixels of a number with its sign."""
IMPORTANCE = 84
"""Pixels of that word."""


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
        tr("of the group {group}, which is taken or left as a whole").format(group=row.group)
        if row.group
        else ""
    )
    return "\n".join(filter(None, (f"{row.feature_id} {row.name}", worth, group, state)))


def _name(row: FeatureRow) -> str:
    name = f"{row.group} › {row.name}" if row.group else row.name
    return tr("{name} (banned)").format(name=name) if row.banned else name


_COLUMNS = (
    Column(
        "rank", "#", "right", tooltip=tr("With how many features it is in the model"), width=36, tone=_tone
    ),
    Column(
        "feature_id", tr("id"), "right", tooltip=tr("Id in the data files, from 1"), width=46, tone="muted"
    ),
    Column(
        "name",
        tr("feature"),
        value=_name,
        tooltip=tr("◆ marks pinned features; before › stands the group with which a feature came"),
        stretch=True,
        tone=_tone,
        mark=lambda row: row.pinned,
        hint=_hint,
    ),
    Column(
        "weight",
        tr("weight"),
        tooltip=tr("In the chosen model; its bar goes from zero, a negative one to the left"),
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
        tooltip=tr("How much the criterion per document fell when it came in"),
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
    tooltip = tr("How much the chosen model uses it; the bar is relative to the greatest")
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
    tooltip=tr("How far the next candidate was behind, as a share of the score"),
    width=86,
    tone=lambda row: "error" if row.margin < TOSS_UP else "muted",
)


def columns(measure: str, with_margin: bool = False) -> tuple[Column, ...]:
    """Return the columns of the table, for the measure that is shown; with margins where there are any."""
    width, tooltip = (
        62 if len(measure) < 6 else 82,
        tr("Validation {measure} after it came in").format(measure=measure),
    )
    after = Column("after", measure, "right", ".4f", tooltip=tooltip, width=width, tone=_tone)
    return (*_COLUMNS, after, _MARGIN) if with_margin else (*_COLUMNS, after)
