"""A progress bar that is painted together with the rest of the window."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar


class DeferredProgressBar(QProgressBar):
    """A progress bar without a text, which is painted in the next turn of the event loop.

    Qt's progress bar paints itself within ``setValue``, and with it all
    other parts of the window that wait to be painted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setTextVisible(False)
        self.setRange(0, 1000)

    def set_share(self, share: float) -> None:
        """Show a share from 0 to 1."""
        self.setUpdatesEnabled(False)
        self.setValue(round(1000 * share))
        self.setUpdatesEnabled(True)
