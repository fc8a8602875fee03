"""All places of the window together, and what they tell each other."""

from __future__ import annotations

from PySide6.QtCore import QObject

from rankstudio.ui.data.controller import DataPlace
from rankstudio.ui.inspect.controller import InspectPlace
from rankstudio.ui.method.controller import MethodPlace
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.results.controller import ResultsPlace
from rankstudio.ui.run.controller import RunPlace
from rankstudio.ui.shell.workspace import Workspace
from rankstudio.ui.style.theme import Theme


class Places(QObject):
    """Data, Method, Run, Features and Results.

    Parameters
    ----------
    theme : Theme
    models : Models
        What they show.
    """

    def __init__(self, theme: Theme, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        study, runs, current, desk = models.study, models.runs, models.current, models.desk
        self.data = DataPlace(theme, study, desk, self)
        self.method = MethodPlace(theme, study, self)
        self.run = RunPlace(theme, study, runs, current, self)
        self.inspect = InspectPlace(theme, study, current, desk, models.bench, self)
        self.results = ResultsPlace(theme, study, runs, desk, self)
        self.run.candidates.picked.connect(self.inspect.inspect)
        self.run.grown.connect(self.inspect.show_growing)
        self.inspect.inspected.connect(self.run.candidates.choose)
        self.data.foldChosen.connect(self.run.stop_following)
        self.results.foldChosen.connect(self.run.stop_following)
        self.results.inspected.connect(self.inspect.inspect)

    def workspace(self) -> Workspace:
        """Return their panels, laid out."""
        made = Workspace(
            (self.data.panel, self.method.form),
            self.run.curves,
            (self.run.candidates, self.run.heat),
            (self.inspect.features, self.inspect.inspector),
            self.results.views,
        )
        self.results.views.viewChosen.connect(lambda _: made.raise_lowest(self.results.views.view().room))
        return made

    def refresh(self) -> None:
        """Show what a run has brought since the last time."""
        self.run.refresh()
        self.results.refresh()
