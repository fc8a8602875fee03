import itertools

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtGui import QColor

from rankstudio.ui.style.colors import DARK, LIGHT, contrast, luminance, mix
from rankstudio.ui.style.palettes import category, sequential, viridis

BOTH = pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#ffffff", "#777777") == contrast("#777777", "#ffffff")


@BOTH
@pytest.mark.parametrize("role", ["text", "muted", "warning", "ok", "error"])
def test_texts_are_readable(colors, role):
    for ground in (colors.panel, colors.inset, colors.ground):
        assert contrast(colors.role(role), ground) >= (4.5 if ground == colors.panel else 4.3)


@BOTH
def test_what_is_chosen_is_readable(colors):
    assert contrast(colors.text, colors.tint) >= 7
    assert contrast(colors.on_accent, colors.accent) >= 4.5
    assert contrast(colors.accent, colors.tint) >= 4.5


@BOTH
def test_disabled_text_is_still_seen_and_weaker_than_muted(colors):
    assert 2 < contrast(colors.faint, colors.panel) < contrast(colors.muted, colors.panel)


@BOTH
def test_categories_differ_in_colour_dash_and_marker(colors):
    looks = [category(colors, i) for i in range(7)]
    for a, b in itertools.combinations(looks, 2):
        assert a.color != b.color
        assert a.dash != b.dash
        assert a.marker != b.marker
    assert all(contrast(look.color.name(), colors.panel) > 2 for look in looks)
    assert category(colors, 7) == category(colors, 0)


@BOTH
@pytest.mark.parametrize("n", [1, 2, 11, 31])
def test_sequential_colours_grow_brighter_and_none_vanishes(colors, n):
    shades = [c.name() for c in sequential(colors, n)]
    assert len(shades) == n
    light = [luminance(c) for c in shades]
    assert light == sorted(light)
    assert len(set(shades)) == n
    assert min(contrast(c, colors.panel) for c in shades) > 1.4


def test_viridis_has_its_ends_and_is_clipped():
    ends = viridis(np.array([0.0, 1.0, -3.0, 7.0, np.nan]))
    assert ends.tolist() == [[68, 1, 84], [253, 231, 37], [68, 1, 84], [253, 231, 37], [68, 1, 84]]
    assert viridis(np.zeros((2, 3))).shape == (2, 3, 3)


def test_viridis_agrees_with_pyqtgraphs_between_the_anchors():
    at = np.linspace(0, 1, 97)
    theirs = pg.colormap.get("viridis").map(at)[:, :3].astype(int)
    assert np.abs(viridis(at).astype(int) - theirs).max() <= 6


def test_mix_goes_from_the_first_to_the_second():
    assert mix("#000000", "#ffffff", 0.0) == "#000000"
    assert mix("#000000", "#ffffff", 1.0) == "#ffffff"
    assert mix("#ff0000", "#0000ff", 0.5) == "#800080"


def test_a_role_can_be_a_colour_itself_and_have_an_opacity():
    assert LIGHT.q("text") == QColor("#1b2330")
    assert LIGHT.q("#abcdef").name() == "#abcdef"
    assert LIGHT.q("accent", 0.5).alphaF() == pytest.approx(0.5, abs=0.01)
