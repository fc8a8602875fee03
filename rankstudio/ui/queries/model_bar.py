"""The line at the top of the Queries page: which two models, in which part, of which folds."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.widgets import Segmented
from rankstudio.ui.widgets.choices import choice_box
from rankstudio.ui.widgets.layout import fill, named

SINGLE = 0
"""The value of the entry that stands for the best single feature: runs are counted from 1."""

Options = Sequence[tuple[int, str]]


class ModelBar(QWidget):
    """Choices of A and B, of the part, and of all folds or the one that is looked at.

    Attributes
    ----------
    changed : Signal()
        The user chose another part or other folds.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, "query-models", tr("models to compare"))
        self.a, self.b = self._box("A"), self._box("B")
        self.part = named(
            Segmented([("test", tr("test")), ("vali", tr("validation"))], tr("part")),
            "query-part",
            tip=tr("Part of the queries"),
        )
        self.scope = named(
            Segmented([("all", tr("all folds")), ("one", tr("this fold"))], tr("folds")),
            "query-scope",
            tip=tr("Queries of all folds, or of the current fold"),
        )
        for choice in (self.part, self.scope):
            choice.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            choice.chosen.connect(self.changed)
        row = (PlainLabel("A"), (self.a, 1), PlainLabel("B"), (self.b, 1), self.part, self.scope)
        fill(QHBoxLayout(self), *row, margins=(4, 0, 4, 0), spacing=8).addStretch(1)

    def set_options(self, a: Options, b: Options, of_a: int | None, of_b: int | None) -> None:
        """Offer models, and mark two of them; tells nobody."""
        for box, options, value in ((self.a, a, of_a), (self.b, b, of_b)):
            box.blockSignals(True)
            if [(box.itemData(i), box.itemText(i)) for i in range(box.count())] != list(options):
                box.clear()
                for key, text in options:
                    box.addItem(text, key)
            box.setCurrentIndex(box.findData(value) if value is not None else -1)
            box.setToolTip(plain(f"{box.accessibleName()}: {box.currentText()}"))
            box.blockSignals(False)

    def set_parts(self, parts: Sequence[tuple[str, str]]) -> None:
        """Offer parts; the chosen one stays chosen where it is there."""
        _offer(self.part, parts)
        self.part.setVisible(len(parts) > 1)

    def set_fold(self, fold: int | None, n_folds: int) -> None:
        """Name the fold that is looked at; there is nothing to choose where there is one fold only."""
        self.scope.setVisible(n_folds > 1 and fold is not None)
        _offer(
            self.scope,
            [
                ("all", tr("all {n_folds} folds").format(n_folds=n_folds)),
                ("one", tr("fold {fold}").format(fold=fold)),
            ],
        )

    def _box(self, name: str) -> QComboBox:
        made = choice_box((), cut=Qt.TextElideMode.ElideMiddle)
        box = named(made, f"query-model-{name.lower()}", tr("Model {name}").format(name=name))
        box.setMaximumWidth(340)
        return box


def _offer(choice: Segmented, options: Sequence[tuple[str, str]]) -> None:
    """Offer other values; the same ones are left alone, for the keyboard may be on them."""
    if choice.options() != list(options):
        kept = choice.value()
        choice.set_options(options)
        choice.select(kept)
