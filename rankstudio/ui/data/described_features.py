"""The features of the Data page as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankstudio.engine.data.summary import FeatureSummary
from rankstudio.ui.language import tr
from rankstudio.ui.widgets import Column, HistogramCell

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.feature_quality import FeatureQuality


@dataclass(frozen=True, eq=False)
class DescribedFeature:
    """One feature.

    Attributes
    ----------
    summary : FeatureSummary
    quality : FeatureQuality or None
        None while it is computed.
    name : str
    note : str
        Of the user.
    cost : float or None
        In the plan; None where the method knows no costs.
    group : str
        In the plan; "" where it is in none.
    """

    summary: FeatureSummary
    quality: FeatureQuality | None
    name: str
    note: str = ""
    cost: float | None = None
    group: str = ""

    @property
    def feature_id(self) -> int:
        """The feature's id, from 1 up."""
        return self.summary.feature_id

    @property
    def constant(self) -> bool:
        """Whether it can change no ranking."""
        return self.summary.constant

    @property
    def histogram(self) -> HistogramCell | None:
        """Shares of all documents and of the relevant ones; None while they are counted."""
        if self.quality is None:
            return None
        every, relevant = self.quality.histogram.shares.tolist()
        return HistogramCell(tuple(every), tuple(relevant))

    @property
    def values_text(self) -> str:
        """What the histogram shows, in words."""
        if self.quality is None:
            return ""
        histogram = self.quality.histogram
        (every, relevant), (_, n_relevant) = histogram.shares.tolist(), histogram.counts.sum(axis=1).tolist()
        tallest = max(range(len(every)), key=every.__getitem__)
        width = (histogram.high - histogram.low) / len(every)
        low = histogram.low + tallest * width
        if not width:
            return tr("All values are {number}.").format(number=number(histogram.low))
        text = tr("From {least} to {most}. {every:.0%} of all documents are between {low} and {high}.")
        if n_relevant:
            text = tr(
                "From {least} to {most}. {every:.0%} of all documents and {relevant:.0%} of the "
                "relevant ones are between {low} and {high}."
            )
        return text.format(
            least=number(histogram.low),
            most=number(histogram.high),
            every=every[tallest],
            relevant=relevant[tallest],
            low=number(low),
            high=number(low + width),
        )

    def alone(self, measure: str) -> float | None:
        """Return a measure of ranking by it alone; None for a constant one, and before it is known."""
        return None if self.quality is None or self.constant else self.quality.alone[measure]

    @property
    def direction_text(self) -> str:
        """In which direction it ranks alone, as a sentence."""
        if self.quality is None or self.constant:
            return ""
        first = tr("Small") if self.quality.ascending else tr("Great")
        return tr("{first} values first: this gives the better MAP.").format(first=first)

    @property
    def warning(self) -> str:
        """What is odd about it, in words for a table."""
        if self.quality is None:
            return tr("constant") if self.constant else ""
        return ", ".join(finding.word for finding in self.quality.findings)

    @property
    def warning_text(self) -> str:
        """What is odd about it, in sentences."""
        return "\n".join(finding.text for finding in self.quality.findings) if self.quality else ""


def number(value: float) -> str:
    """Return a number as the page shows it."""
    return f"{value:.6g}".replace("-", "−")


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _range(row: DescribedFeature) -> str:
    summary = row.summary
    if summary.minimum == summary.maximum:
        return number(summary.minimum)
    return " … ".join(_shorter(value) for value in (summary.minimum, summary.maximum))


def _shorter(value: float) -> str:
    """Return a number for a narrow column, with three digits where its place is told by zeros before them."""
    return f"{value:.3g}".replace("-", "−") if 0 < abs(value) < 1 else _short(value)


_ID = Column("feature_id", tr("id"), "right", width=44, tone="muted")
_NAME = Column(
    "name",
    tr("feature"),
    stretch=True,
    tone=lambda row: "muted" if row.constant else "text",
    edited=lambda row: row.name,
    mark=lambda row: bool(row.note),
    hint=lambda row: f"{row.name}\n{row.note}" if row.note else "",
    tooltip=tr("Double-click or press F2 to rename. A diamond marks a note."),
)
_VALUES = Column(
    "histogram",
    tr("values"),
    kind="histogram",
    width=100,
    hint=lambda row: row.values_text,
    tooltip=(
        tr(
            "Grey bars: all documents. Line: relevant documents. Heights are square roots of "
            "shares; outliers are counted at the ends."
        )
    ),
)
_RANGE = Column(
    "range",
    tr("range"),
    "right",
    value=_range,
    sort=lambda row: row.summary.maximum / 2 - row.summary.minimum / 2,
    tooltip=tr("Smallest and largest value"),
    width=126,
)
_MEAN = Column("mean", tr("mean"), "right", _short, value=lambda row: row.summary.mean, width=74)
_ZEROS = Column(
    "zeros",
    tr("zeros"),
    "right",
    ".1%",
    value=lambda row: row.summary.zeros,
    tooltip=tr("Share of documents with value 0"),
    width=64,
)
_MISSING = Column(
    "missing",
    tr("missing"),
    "right",
    ",",
    value=lambda row: row.summary.missing,
    tooltip=tr("Values missing in the files"),
    width=68,
)
_COST = Column(
    "cost",
    tr("cost"),
    "right",
    "g",
    edited=lambda row: f"{row.cost:g}",
    tooltip=tr("Cost of the feature in the plan, 1 by default. Double-click or press F2 to edit."),
    width=56,
)
_GROUP = Column(
    "group",
    tr("group"),
    edited=lambda row: row.group,
    tooltip=(
        tr(
            "Selectors select or leave the features of a group together. Double-click to edit, "
            "Ctrl+G for all selected rows; an empty cell removes the feature from its group."
        )
    ),
    width=84,
)
_WARNING = Column(
    "warning",
    tr("warnings"),
    tone="warning",
    hint=lambda row: row.warning_text,
    tooltip=tr("Warnings about the feature; hover over a word for the reason"),
    width=102,
)


def _alone(measure: str) -> Column:
    return Column(
        measure,
        measure,
        "right",
        ".4f",
        value=lambda row: row.alone(measure),
        hint=lambda row: row.direction_text,
        tooltip=tr("{measure} of this feature alone, in its better direction").format(measure=measure),
        width=66 if measure == "MAP" else 84,
    )


def giving_way(rows: Sequence[DescribedFeature]) -> tuple[str, ...]:
    """Return the columns that go one after another where the names would have less than `NAME_WIDTH`."""
    empty = () if any(row.group for row in rows) else ("group",)
    return (*empty, "mean", "zeros", "range")


NAME_WIDTH = 150


def feature_columns(rows: Sequence[DescribedFeature]) -> list[Column]:
    """Return the columns that have something to say of these features."""
    missing = [_MISSING] if any(row.summary.missing for row in rows) else []
    costs = [_COST] if any(row.cost is not None for row in rows) else []
    alone = [_alone("MAP"), _alone("NDCG@10")]
    return [_ID, _NAME, _GROUP, _VALUES, _RANGE, _MEAN, _ZEROS, *missing, *alone, *costs, _WARNING]
