"""What is said where data have no validation or test part: that folds can be had, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.ui.language import tr
from rankstudio.ui.model.session import Session
from rankstudio.ui.widgets.notice import Notice, Notices

_LACKING = {
    ("validation",): tr("{name} has no validation part. Choose folds in the form, for example 5-fold."),
    ("test",): tr("{name} has no test part. Choose folds in the form, for example 5-fold."),
    ("validation", "test"): tr(
        "{name} has neither a validation part nor a test part. Choose folds in the form, for example 5-fold."
    ),
}


class FoldHint(QObject):
    """Says one sentence with one button wherever the missing part would be shown.

    Parameters
    ----------
    session : Session
    bars : mapping of str to sequence of Notice
        Where it is said that there is no "validation" or no "test" part.
    """

    asked = Signal()
    """The user wants to choose folds."""

    def __init__(
        self, session: Session, bars: Mapping[str, Sequence[Notice]], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._bars = session, bars
        self._said = ""
        session.datasetChanged.connect(self._update)
        session.planChanged.connect(self._update)

    def say_opened(self, notice: Notices) -> None:
        """Say it of data that have just been opened, where no bar that says so is seen."""
        if self._said and not any(bar.isVisible() for bars in self._bars.values() for bar in bars):
            self._say(notice)

    @Slot()
    def _update(self) -> None:
        """Say what the data lack by now; a bar that was closed stays so until something else is lacking."""
        session = self._session
        dataset = session.dataset if session.has_documents else None
        lacking = lacking_parts(dataset, session.plan) if dataset is not None else ()
        said = _LACKING[lacking].format(name=dataset.name) if dataset is not None and lacking else ""
        if said == self._said:
            return
        self._said = said
        for part, bars in self._bars.items():
            for bar in bars:
                if part in lacking:
                    self._say(bar)
                else:
                    bar.hide()

    def _say(self, bar: Notice | Notices) -> None:
        bar.say(self._said, "info", tr("Choose folds"), self.asked.emit)


def lacking_parts(dataset: FoldedDataset, plan: Plan) -> tuple[str, ...]:
    """Return which of "validation" and "test" a fold lacks, where the folds are those of the files.

    Of folds that the user chose nothing is lacking: who leaves each query out wants no validation part.
    """
    protocol = parse_protocol(plan.protocol)
    if protocol.kind not in ("given", "nested"):
        return ()
    validated = protocol.inner or all(fold.vali is not None for fold in dataset.folds)
    tested = all(fold.test is not None for fold in dataset.folds)
    return tuple(part for part, there in (("validation", validated), ("test", tested)) if not there)
