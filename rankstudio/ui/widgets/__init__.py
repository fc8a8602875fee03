"""The controls that every section shares. They know Qt, the theme and plain values, nothing of ranking."""

from rankstudio.ui.widgets.bar_rows import BarRows
from rankstudio.ui.widgets.columns import Column, ColumnModel, Dot, HistogramCell, ProgressCell, Tick
from rankstudio.ui.widgets.covered import CoveredNumber
from rankstudio.ui.widgets.elided import ElidedLabel
from rankstudio.ui.widgets.key_value import Fact, KeyValue
from rankstudio.ui.widgets.lambda_slider import LambdaSlider
from rankstudio.ui.widgets.notice import Notice, Notices, Overlay
from rankstudio.ui.widgets.panel import Panel
from rankstudio.ui.widgets.question import Question
from rankstudio.ui.widgets.removable_note import RemovableNote
from rankstudio.ui.widgets.segmented import Segmented
from rankstudio.ui.widgets.table import TableView

__all__ = [
    "BarRows",
    "Column",
    "ColumnModel",
    "CoveredNumber",
    "Dot",
    "ElidedLabel",
    "Fact",
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
