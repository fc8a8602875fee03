"""A progress bar that is painted with everything else."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar


class DeferredProgressBar(QProgressBar):
    """Shows a share in thousandths, without a text.

    Qt's paints itself, and with it whatever else of the window waits to be painted, in the middle of
    ``setValue``; this one when its turn comes.
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
