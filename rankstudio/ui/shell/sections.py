"""The controllers of all sections of the window, and the signals between them."""

from __future__ import annotations

from PySide6.QtCore import QObject

from rankstudio.ui.data.controller import DataController
from rankstudio.ui.inspect.controller import InspectController
from rankstudio.ui.method.controller import MethodController
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.results.controller import ResultsController
from rankstudio.ui.run.controller import RunController
from rankstudio.ui.shell.workspace import Workspace
from rankstudio.ui.style.theme import Theme


class Sections(QObject):
    """Data, Method, Run, Features and Results.

    Parameters
    ----------
    theme : Theme
    models : Models
        What they show.
    """

    def __init__(self, theme: Theme, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        session, runs, current, task_worker = models.session, models.runs, models.current, models.task_worker
        self.data = DataController(theme, session, task_worker, self)
        self.method = MethodController(theme, session, self)
        self.run = RunController(theme, session, runs, current, self)
        self.inspect = InspectController(theme, session, current, task_worker, models.fold_cache, self)
        self.results = ResultsController(theme, session, runs, task_worker, self)
        self.run.candidates.picked.connect(self.inspect.inspect)
        self.run.grown.connect(self.inspect.show_growing)
        self.inspect.inspected.connect(self.run.candidates.select)
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
