"""A form on the screen, and what it tells."""

import pytest
from PySide6.QtCore import QCoreApplication

from rankstudio.ui.select.form import MethodForm

IDS = (1, 2, 25, 39)
NAMES = ("TF of body", "TF of anchor", "BM25 of anchor", "LMIR.DIR of whole document")


@pytest.fixture
def form(theme, stage):
    made = stage(MethodForm(theme), 280, 700)
    made.set_features(IDS, NAMES)
    made.activateWindow()
    QCoreApplication.processEvents()
    return made


@pytest.fixture
def edits(form):
    told = []
    form.edited.connect(told.append)
    return told
