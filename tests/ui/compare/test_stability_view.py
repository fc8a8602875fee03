import re
from dataclasses import replace

import numpy as np
import pytest
from experiment.runs import NAMES, fold
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from wording import naming

from rankstudio.engine.analysis.selection_stability import selection_stability
from rankstudio.ui.compare.stability_view import StabilityView

IDS = np.arange(1, len(NAMES) + 1)


@pytest.fixture
def view(theme, stage):
    made = StabilityView(theme)
    stage(made, 1100, 300)
    return made


def found(n_folds):
    chosen = [(1, 2), (2, 3), (1, 2, 4)]
    return selection_stability([fold(i + 1, [0.5], chosen[i % 3]) for i in range(n_folds)], IDS, NAMES)


def test_as_many_folds_as_queries_make_no_map_and_no_column_each(view):
    view.show_stability("run 1", found(200))
    assert view.plot.is_empty()
    assert naming("folds map").search(view.plot.placeholder)
    titles = [column.title for column in view.table.rows_model.columns]
    assert titles == ["feature", "id", "folds"]
    assert [row.name for row in view.table.rows()] == ["b", "a", "c", "d"]
    assert not view.warning.isVisible()
    view.show_stability("run 2", found(3))
    assert view.plot.values.shape == (3, 3)
    assert [column.title for column in view.table.rows_model.columns][3:] == ["fold 1", "fold 2", "fold 3"]


def test_the_index_that_fits_the_sizes_is_offered(view):
    view.show_stability("run 1", found(3))
    assert [button.text() for button in view.index._group.buttons()] == ["Jaccard", "Lustgarten"]
    view.index._group.buttons()[1].click()
    np.testing.assert_array_equal(view.plot.values[::-1], found(3).indices.corrected)
    view.show_stability("run 2", found(2))
    assert [button.text() for button in view.index._group.buttons()] == ["Jaccard", "Kuncheva"]
    view.clear("nothing")
    assert view.plot.is_empty()
    assert view.caption() == "nothing"


def test_cells_are_read_by_the_keyboard(view):
    view.show_stability("run 1", found(3))
    view.plot.flush()
    assert view.plot.accessibleDescription().endswith("mean over the pairs of folds 0.42")  # 1/3, 2/3, 1/4
    view.plot.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right):
        QTest.keyClick(view.plot, key)
    assert view.plot.chosen == (0, 1)
    view.plot.flush()
    assert view.plot.accessibleDescription().endswith("at fold = 2 · fold = 3")


def test_all_indices_have_two_decimals(view):
    told = found(3)
    nogueira = told.indices.nogueira._replace(value=-0.001, low=-0.4, high=0.00004)
    view.show_stability("run 1", replace(told, indices=replace(told.indices, nogueira=nogueira, jaccard=0.5)))
    said = [label.text() for label in view.facts.findChildren(QLabel)]
    numbers = [text for text in said if re.fullmatch(r"[−\d. …]+", text) and "." in text]
    assert {"0.00", "−0.40 … 0.00", "0.50"} <= set(numbers)
    assert all(re.fullmatch(r"−?\d\.\d\d( … −?\d\.\d\d)?", text) for text in numbers)
