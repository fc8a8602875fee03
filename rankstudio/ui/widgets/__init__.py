"""The controls that every section shares. They know Qt, the theme and plain values, nothing of ranking."""

from rankstudio.ui.widgets.choices import LambdaSlider, Segmented
from rankstudio.ui.widgets.columns import (
    Column,
    ColumnModel,
    Dot,
    Heading,
    HistogramCell,
    ProgressCell,
    Tick,
)
from rankstudio.ui.widgets.facts import BarRows, Fact, KeyValue
from rankstudio.ui.widgets.notice import (
    CoveredNumber,
    Notice,
    Notices,
    Overlay,
    Question,
    RemovableNote,
)
from rankstudio.ui.widgets.panel import ElidedLabel, Panel
from rankstudio.ui.widgets.table import TableView

__all__ = [
    "BarRows",
    "Column",
    "ColumnModel",
    "CoveredNumber",
    "Dot",
    "ElidedLabel",
    "Fact",
    "Heading",
    "HistogramCell",
    "KeyValue",
    "LambdaSlider",
    "Notice",
    "Notices",
    "Overlay",
    "Panel",
    "ProgressCell",
    "Question",
    "RemovableNote",
    "Segmented",
    "TableView",
    "Tick",
]
