"""What a run of scores or of models is called, and which of several models are meant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.data.letor.compression import without_ending
from rankstudio.ui.language import tr
from rankstudio.ui.widgets.choice_box import choice_box
from rankstudio.ui.widgets.elided import ElidedLabel
from rankstudio.ui.widgets.layout import fill, named

_WIDTH = 460
_LONGEST = 200  # letters of a name


class GivenDialog(QDialog):
    """Asks for the name of a run; where there are several places to read it from, also for one of them.

    Parameters
    ----------
    title, accept : str
        Of the dialog, and of its button.
    places : sequence of (Path, str)
        What may be read, and what that means; the first is offered.
    parent : QWidget, optional
    """

    def __init__(
        self, title: str, accept: str, places: Sequence[tuple[Path, str]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        named(self, "given-dialog", title)
        self.setWindowTitle(title)
        self._places = [place for place, _ in places]
        self._file = named(ElidedLabel(mode=Qt.TextElideMode.ElideMiddle), "given-file", role="muted")
        self._which = named(
            choice_box(tuple((str(place), text) for place, text in places)), "given-place", tr("which models")
        )
        self.name = named(QLineEdit(), "given-name", tr("name of the run"))
        self.name.setMaxLength(_LONGEST)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self._accept = named(QPushButton(accept), "given-accept", role="primary")
        self._accept.setDefault(True)
        buttons.addButton(self._accept, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form = QFormLayout()
        form.addRow(tr("&Name"), self.name)
        form.addRow(tr("&Models"), self._which)
        form.setRowVisible(self._which, len(places) > 1)
        fill(QVBoxLayout(self), self._file, form, buttons, margins=(16, 14, 16, 14), spacing=10)
        self._which.currentIndexChanged.connect(self._propose)
        self.name.textChanged.connect(self._enable)
        self._proposed = ""
        self._propose()
        self.setMinimumWidth(_WIDTH)
        self.name.setFocus()

    def source(self) -> Path:
        """Return what is to be read."""
        return self._places[self._which.currentIndex()]

    def run_name(self) -> str:
        """Return what the run is to be called."""
        return " ".join(self.name.text().split())

    def _propose(self) -> None:
        """Show the file, and propose its name unless the user wrote another one."""
        place = self.source()
        self._file.setText(str(place))
        if self.name.text() == self._proposed:
            self._proposed = name_of(place)
            self.name.setText(self._proposed)
            self.name.selectAll()

    def _enable(self) -> None:
        self._accept.setEnabled(bool(self.run_name()))


def name_of(place: Path) -> str:
    """Return what a run of a file or folder is called where nobody says: as that is, without endings.

    Examples
    --------
    >>> name_of(Path("neural/bm25.run.gz")), name_of(Path("results/models"))
    ('bm25', 'results')
    """
    if place.name == "models" and place.parent.name:
        return place.parent.name
    return Path(without_ending(place.name)).stem if place.suffix and not place.is_dir() else place.name
