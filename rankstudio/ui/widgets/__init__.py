"""The controls that every place shares. They know Qt, the theme and plain Python values, nothing of ranking."""

from rankstudio.ui.widgets.elided import ElidedLabel
from rankstudio.ui.widgets.panel import Panel

__all__ = ["ElidedLabel", "Panel"]
