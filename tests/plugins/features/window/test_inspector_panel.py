import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, Qt

from rankstudio.plugins.features.feature_profile import (
    ClassDensity,
    FeatureProfile,
    SelectedCorrelation,
)
from rankstudio.plugins.features.window.inspector_panel import InspectorPanel

GRID = np.linspace(0, 1, 128)


def make_profile(**changes):
    values = {
        "feature_id": 39,
        "name": "LMIR.DIR of whole document",
        "grid": GRID,
        "classes": (
            ClassDensity("not relevant", GRID, 10),
            ClassDensity("relevant", 1 - GRID, 5),
        ),
        "constant": False,
        "alone": {"MAP": 0.4712, "NDCG@10": 0.2203},
        "ascending": False,
        "convention": "letor4",
        "closest_id": 38,
        "closest_name": "LMIR.ABS <whole>",
        "correlation": -0.97,
    }
    return FeatureProfile(**(values | changes))


@pytest.fixture
def panel(app, theme):
    made = InspectorPanel(theme)
    yield made
    made.close()
    made.deleteLater()
    QCoreApplication.sendPostedEvents()


def test_a_feature_is_shown_with_its_facts(panel):
    panel.show_feature(make_profile())
    assert (panel.accessibleName(), panel.caption()) == (
        "LMIR.DIR of whole document",
        "39",
    )
    assert "alone: MAP 0.4712 · NDCG@10 0.2203 · " in panel.facts.text()
    assert "(r\u00a0=\u00a0−0.97)" in panel.facts.text()
    assert "LMIR.ABS &lt;whole&gt;" in panel.facts.text()
    assert "LETOR 4.0" in panel.facts.toolTip()
    assert len(panel.plot.numbers()[1]) == 256


def test_the_better_direction_is_named(panel):
    panel.show_feature(make_profile(ascending=True))
    assert "0.2203, small values first" in panel.facts.text()


def test_a_constant_feature_says_so_and_names_no_closest_one(panel):
    panel.show_feature(
        make_profile(
            grid=np.zeros(0),
            classes=(),
            constant=True,
            closest_id=None,
            closest_name="",
            correlation=np.nan,
        )
    )
    assert "cannot change any ranking" in panel.facts.text()
    assert "closest" not in panel.facts.text()
    assert panel.plot.is_empty()
    assert panel.plot.placeholder == "All of its values are equal."


def test_the_closest_feature_is_a_link(panel):
    told = []
    panel.inspected.connect(told.append)
    panel.show_feature(make_profile())
    panel.facts.linkActivated.emit("38")
    assert told == [38]
    panel.clear()
    assert panel.facts.text() == ""
    assert panel.facts.focusPolicy() is Qt.FocusPolicy.NoFocus, (
        "Tab does not stop at nothing"
    )


def test_the_link_is_in_the_theme_s_accent_also_after_a_change(panel, theme):
    panel.resize(360, 300)
    panel.show_feature(make_profile())
    panel.show()
    for mode in ("light", "dark", "light"):
        theme.set_mode(mode)
        QCoreApplication.processEvents()
        image = panel.facts.grab().toImage()
        found = {
            image.pixelColor(x, y).name()
            for x in range(image.width())
            for y in range(image.height())
        }
        assert theme.colors.accent in found, mode


def test_with_room_there_are_tables_of_every_part_and_of_the_selected_features(
    app, theme, stage
):
    panel = InspectorPanel(theme, "profile", tables=True)
    stage(panel, 320, 600)
    profile = make_profile(
        ascending=True,
        parts={
            "train": {"MAP": 0.4712, "NDCG@10": 0.2203},
            "test": {"MAP": 0.4, "NDCG@10": np.nan},
        },
        with_selected=(
            SelectedCorrelation(7, "BM25 <b>", 0.614),
            SelectedCorrelation(9, "TF", -0.33),
        ),
        explained=0.444,
    )
    panel.show_feature(profile)
    assert panel.tables.texts() == (
        ("alone", "MAP", "NDCG@10"),
        ("train", "0.4712", "0.2203"),
        ("test", "0.4000", "–"),
        ("with the selected features", "r"),
        ("BM25 <b> (7)", "0.61"),
        ("TF (9)", "−0.33"),
        ("all of them, R²", "0.44"),
    )
    assert "alone: MAP" not in panel.facts.text()
    assert "small values first" in panel.facts.text()
    panel.show_feature(make_profile(parts=profile.parts))
    assert len(panel.tables.texts()) == 3
    panel.clear()
    assert panel.tables.texts() == ()
    assert panel.tables.isHidden()


def test_of_thousands_of_selected_features_the_most_correlated_are_listed(app, theme):
    """Each row takes time of the window, and a ranker with all features has thousands of them."""
    panel = InspectorPanel(theme, "profile", tables=True)
    many = tuple(
        SelectedCorrelation(i, f"f{i}", (-1.0) ** i * i / 5000) for i in range(1, 5001)
    )
    panel.show_feature(make_profile(with_selected=many))
    rows = [row for row in panel.tables.texts() if row[0].startswith("f")]
    assert len(rows) == 60 and rows[0] == ("f5000 (5000)", "1.00")
    assert rows[-1][0] == "f4941 (4941)"
    assert ("4940 others, |r| up to 0.99", "") in panel.tables.texts()
    panel.deleteLater()


def test_the_facts_take_no_more_lines_than_they_need_after_the_panel_was_narrow(panel):
    panel.show_feature(make_profile())
    needed = {}
    for width in (300, 170, 300):
        panel.resize(width, 500)
        panel.show()
        QCoreApplication.sendPostedEvents()
        needed.setdefault(width, []).append(panel.facts.height())
    assert needed[300][0] == needed[300][1] < needed[170][0]
