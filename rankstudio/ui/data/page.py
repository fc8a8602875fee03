"""The Data page: the open dataset and its folds, beside the statistics of its documents and features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QObject

from rankstudio.ui.data.controller import DataController
from rankstudio.ui.data.feature_names import FeatureNames
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import OtherPages
from rankstudio.ui.page.page import Splitter, column, row
from rankstudio.ui.page.page_controller import PanelsOf
from rankstudio.ui.style.theme import Theme


class DataPage(DataController):
    """The Data page: lays out the panels of the data, and handles names, costs and groups of features.

    Attributes
    ----------
    names : FeatureNames
        Handles the names, costs and groups.
    """

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(theme, models, parent)
        self._models = models
        self.panel.sources.clicked.connect(lambda: self.commandAsked.emit("sources"))

    def lay_out(self, panels_of: PanelsOf) -> Splitter:  # noqa: D102 - inherited
        left_column = column("data-left", (self.panel, 0, 270), *panels_of("data-left"))
        right_column = column(
            "data-right", (self.statistics, 1, 330), *panels_of("data-right")
        )
        return row("data-page", (left_column, 0, 330), (right_column, 1, 900))

    def join(self, pages: OtherPages) -> None:  # noqa: D102 - inherited
        self.names = FeatureNames(self._models, self, pages.window)
        self.names.warned.connect(self.warned)

    def openers(self) -> Mapping[str, Callable[[str], object]]:  # noqa: D102 - inherited
        return {"feature_set": self.names.read_set, "costs": self.names.read_costs}

    def commands(self) -> Mapping[str, Callable[[], object]]:
        """Return the functions of the page's menu commands, by the keys of the commands."""
        return {
            # The number is how many folds to go on.
            "next_fold": partial(self.turn, 1),
            "previous_fold": partial(self.turn, -1),
            "import_feature_set": self.names.ask_set,
            "import_costs": self.names.ask_costs,
            "group": self.names.groups.ask,
        }
