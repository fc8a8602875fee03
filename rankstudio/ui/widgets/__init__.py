"""The controls that every place shares. They know Qt, the theme and plain values, nothing of ranking."""

from rankstudio.ui.widgets.bar_rows import BarRows
from rankstudio.ui.widgets.columns import Column, ColumnModel, Dot, Progress
from rankstudio.ui.widgets.elided import ElidedLabel
from rankstudio.ui.widgets.key_value import KeyValue, Row
from rankstudio.ui.widgets.lambda_slider import LambdaSlider
from rankstudio.ui.widgets.notice import Notice
from rankstudio.ui.widgets.panel import Panel
from rankstudio.ui.widgets.segmented import Segmented
from rankstudio.ui.widgets.table import Table

__all__ = [
    "BarRows",
    "Column",
    "ColumnModel",
    "Dot",
    "ElidedLabel",
    "KeyValue",
    "LambdaSlider",
    "Notice",
    "Panel",
    "Progress",
    "Row",
    "Segmented",
    "Table",
]
