"""The Features page: the path, why its features were selected, and a feature in detail.

The Select page has a path and a feature in detail, too, and the Data
page each feature alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar

from PySide6.QtCore import QObject

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.plugins.features.window.alone_panel import AloneController
from rankstudio.plugins.features.window.controller import FeaturesController
from rankstudio.plugins.features.window.substitutes_panel import SubstitutesController
from rankstudio.plugins.features.window.why_panel import WhyController
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.feature_search import MOST_LISTED, matches_of_text
from rankstudio.ui.page.controller import OtherPages
from rankstudio.ui.page.page import Part, Splitter, column, row
from rankstudio.ui.page.page_controller import PanelsOf, hide_where_empty
from rankstudio.ui.page.palette_entry import PaletteEntry
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel


class FeaturesPage(FeaturesController):
    """The Features page: lays out its panels, some of which are on the Select and the Data page.

    Attributes
    ----------
    why : WhyController
    alone : AloneController
    substitutes : SubstitutesController
    """

    places: ClassVar[Mapping[str, str]] = {
        "features-panel": "understand-a-feature.md#path",
        "path-panel": "understand-a-feature.md#path",
        "inspector-panel": "understand-a-feature.md#inspector",
        "profile-panel": "understand-a-feature.md#inspector",
        "why-panel": "understand-a-feature.md#why",
        "alone-panel": "understand-a-feature.md#single-features",
        "substitutes-panel": "understand-a-feature.md#substitutes",
    }

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(theme, models, parent)
        self._models = models
        self.why = WhyController(theme, models, self, self)
        self.alone = AloneController(theme, models, self, self)
        self.substitutes = SubstitutesController(theme, models, self.tasks, self)

    def panels_of(self, column: str) -> Sequence[Part]:  # noqa: D102 - inherited
        panels: dict[str, Sequence[Part]] = {
            "data-left": ((self.alone.panel, 1, 400),),
            "right": ((self.features, 3, 400), (self.inspector, 2, 320)),
        }
        return panels.get(column, ())

    def lay_out(self, panels_of: PanelsOf) -> Splitter:
        """Return the content of the page: path, explanations and profile side by side."""
        # Each part with its share of additional width or height, and
        # its first size in pixels.
        explanations = column(
            "explanations", (self.why.panel, 1, 380), (self.substitutes.panel, 1, 340)
        )

        # The column is hidden if neither of its panels is shown.
        self.why.offered.connect(lambda _: hide_where_empty(explanations))
        return row(
            "features",
            (self.path, 3, 485),
            (explanations, 4, 415),
            (self.profile, 1, 310),
        )

    def join(self, pages: OtherPages) -> None:  # noqa: D102 - inherited
        self._models.current.changed.connect(self._hide_without_features)

    def _hide_without_features(self) -> None:
        """Hide the panels of features for given scores, which have no features."""
        has_features = not self._models.current.shown.plan.entry.featureless
        for panel in (
            self.features,
            self.inspector,
            self.profile,
            self.substitutes.panel,
        ):
            panel.setVisible(has_features)

    def choosing(self) -> Sequence[tuple[Panel, Callable[[], bool]]]:  # noqa: D102 - inherited
        return (self.features, lambda: True), (self.path, lambda: True)

    def commands(self) -> Mapping[str, Callable[[], object]]:  # noqa: D102 - inherited
        return {
            "pin": partial(self.toggle, "pinned"),
            "ban": partial(self.toggle, "banned"),
        }

    def palette_entries(self) -> Iterator[PaletteEntry]:  # noqa: D102 - inherited
        dataset = self._session.dataset
        if dataset is not None:
            columns = range(min(dataset.n_features, MOST_LISTED))
            yield from found_features(dataset, columns, self._inspect_found)

    def matches_of_text(self, typed: str) -> Iterator[PaletteEntry]:  # noqa: D102 - inherited
        dataset = self._session.dataset
        if dataset is not None:
            columns = matches_of_text(dataset.feature_ids, dataset.feature_names, typed)
            yield from found_features(dataset, columns, self._inspect_found)

    def _inspect_found(self, feature: int) -> None:
        self.pageAsked.emit("features")
        self.inspect(feature)

    def refresh(self) -> None:  # noqa: D102 - inherited
        self.substitutes.refresh()


def found_features(
    dataset: FoldedDataset, columns: Sequence[int], inspect: Callable[[int], object]
) -> Iterator[PaletteEntry]:
    """Yield a palette entry for the feature in each of ``columns``.

    The entry calls ``inspect`` with the id of the feature.
    """
    for column_number, feature in zip(
        columns, dataset.feature_ids[columns].tolist(), strict=True
    ):
        yield PaletteEntry(
            tr("feature"),
            dataset.feature_names[column_number],
            partial(inspect, feature),
            str(feature),
        )
