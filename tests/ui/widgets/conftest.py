"""A small table of features."""

import pytest
from feature_table import COLUMNS, ROWS

from rankstudio.ui.widgets import TableView


@pytest.fixture
def table(theme, stage):
    made = TableView(theme, COLUMNS, "features-table", identity=lambda row: row.id)
    stage(made, 460, 200)
    made.set_rows(ROWS)
    return made
