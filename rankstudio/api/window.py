"""Names that pages and panels of plug-ins import; this module needs Qt, :mod:`rankstudio.api` does not.

Examples
--------
A page that shows the mean of the shown run. Its function is named by
``WindowPage("mean", "Mean", "The mean of the shown run",
"my_package.window:build")``:

>>> from PySide6.QtWidgets import QLabel
>>> from rankstudio.api.window import WindowContext
>>> def build(context: WindowContext) -> QLabel:
...     label = QLabel()
...
...     def update() -> None:
...         run = context.run
...         label.setText("" if run is None else f"{run.average[context.measure]:.4f}")
...
...     context.on_change(update)
...     return label
"""

from __future__ import annotations

from rankstudio.ui.shell.window_context import WindowContext

__all__ = ["WindowContext"]
