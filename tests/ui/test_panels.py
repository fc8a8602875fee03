"""What all places have in common: they follow the theme, have names, and can be reached by keyboard."""

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QTableView

from rankstudio.ui.compare.panel import ResultsPanel
from rankstudio.ui.data.panel import DataPanel
from rankstudio.ui.features.features_panel import FeaturesPanel
from rankstudio.ui.features.inspector_panel import InspectorPanel
from rankstudio.ui.plots import Plot
from rankstudio.ui.report.panels import OutlinePanel, WordsPanel
from rankstudio.ui.select.candidates_view import CandidatesView
from rankstudio.ui.select.curves_panel import CurvesPanel
from rankstudio.ui.select.form import MethodForm
from rankstudio.ui.select.heat_view import HeatView
from rankstudio.ui.style.colors import DARK, LIGHT

PANELS = (
    DataPanel,
    MethodForm,
    CurvesPanel,
    FeaturesPanel,
    InspectorPanel,
    ResultsPanel,
    WordsPanel,
    OutlinePanel,
)
VIEWS = (CandidatesView, HeatView)
"""Parts of panels, which have no ground of their own."""
INTERACTIVE = (QAbstractButton, QComboBox, QLineEdit, QTableView, Plot)


@pytest.fixture(params=PANELS, ids=lambda panel: panel.__name__)
def panel(request, stage, theme):
    return stage(request.param(theme), 420, 320)


@pytest.fixture(params=(*PANELS, *VIEWS), ids=lambda place: place.__name__)
def place(request, stage, theme):
    return stage(request.param(theme), 420, 320)


def grounds(panel):
    """The colours inside the panel's lower left corner, which no contents reach."""
    image = panel.grab().toImage()
    return {QColor(image.pixel(x, image.height() - 4)).name() for x in (14, 15)}


def test_panels_follow_the_theme(panel, theme):
    assert grounds(panel) == {LIGHT.panel}
    theme.set_mode("dark")
    QCoreApplication.processEvents()
    assert grounds(panel) == {DARK.panel}


def test_everything_to_act_on_has_a_name_and_can_be_reached_by_keyboard(place):
    assert place.objectName()
    shown = [w for kind in INTERACTIVE for w in place.findChildren(kind) if w.isVisible() and w.isEnabled()]
    for widget in shown:
        if widget.objectName().startswith("qt_"):
            continue
        text = widget.text() if isinstance(widget, QAbstractButton) else ""
        assert widget.accessibleName() or text, widget
        by_arrows = widget.property("role") == "segment" and not widget.isChecked()
        assert by_arrows or widget.focusPolicy() & Qt.FocusPolicy.TabFocus, widget
