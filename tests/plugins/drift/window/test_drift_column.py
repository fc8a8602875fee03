"""The column *drift* of the table of features, against the engine's own numbers."""

from __future__ import annotations

from pathlib import Path

from described_rows import show_data
from waiting import wait_until
from windows import open_window, settle

from rankstudio.engine.support.work import finish
from rankstudio.plugins.drift.feature_drift import feature_drift
from rankstudio.ui.style.theme import Theme


def test_drift_from_training_to_validation_is_that_of_the_engine(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    with open_window(theme, tmp_path / "config", folds) as window:
        window.session.show_fold(1)
        show_data(window)
        table = window.sections.data.statistics.table
        wait_until(lambda: table.rows() and table.rows()[0].contributed)
        fold = window.session.shown_fold
        expected = {
            one.feature: one.distance
            for one in finish(feature_drift(fold.train, fold.vali))
        }
        assert {
            row.feature_id: row.contributed["drift"].number for row in table.rows()
        } == expected
        assert "drift" in [column.key for column in table.rows_model.columns]
        window.session.show_fold(None)
        wait_until(lambda: not any(row.contributed for row in table.rows()))
        settle(window)
