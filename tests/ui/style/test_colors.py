import itertools

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtGui import QColor

from rankstudio.ui.style.colors import DARK, LIGHT, mix
from rankstudio.ui.style.palettes import category, sequential, viridis

AA_TEXT, AA_GRAPHICS = 4.5, 3.0  # WCAG 2.1, success criteria 1.4.3 and 1.4.11
TOLD_APART = 0.11  # distance in OKLab; 0.02 is about what is just noticed

# What is left of linear RGB without one kind of cone (Machado, Oliveira and Fernandes 2009, severity 1).
VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
# Ottosson's OKLab: from linear RGB to cones, and from their cube roots to lightness and two opponents.
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def oklab(color, vision):
    share = np.array(color.getRgbF()[:3])
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VISIONS[vision] @ linear, 0.0, 1.0)
    return TO_LAB @ np.cbrt(TO_CONES @ seen)


def luminance(color):
    """Return the relative luminance of a colour as WCAG 2 defines it, in [0, 1]."""
    c = QColor(color)
    linear = [
        v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4
        for v in (c.redF(), c.greenF(), c.blueF())
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    """Return the contrast ratio of two colours as WCAG 2 defines it, from 1 to 21."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


BOTH = pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#ffffff", "#777777") == contrast("#777777", "#ffffff")


@BOTH
@pytest.mark.parametrize("role", ["text", "muted", "accent", "warning", "ok", "error"])
def test_texts_are_readable(colors, role):
    for ground in (colors.panel, colors.inset, colors.ground, colors.tint):
        assert contrast(colors.role(role), ground) >= AA_TEXT


@BOTH
def test_what_is_chosen_is_readable(colors):
    assert contrast(colors.text, colors.tint) >= 7
    for ground in (colors.accent, colors.accent_hover):
        assert contrast(colors.on_accent, ground) >= AA_TEXT


@BOTH
def test_disabled_text_is_still_seen_and_weaker_than_muted(colors):
    assert (
        2 < contrast(colors.faint, colors.panel) < contrast(colors.muted, colors.panel)
    )


@BOTH
def test_categories_differ_in_colour_dash_and_marker(colors):
    looks = [category(colors, i) for i in range(7)]
    for a, b in itertools.combinations(looks, 2):
        assert a.color != b.color
        assert a.dash != b.dash
        assert a.marker != b.marker
    assert category(colors, 7).color == category(colors, 0).color
    assert [category(colors, i).repeats for i in range(49)] == [False] * 7 + [True] * 42
    drawn = [
        (look.color.name(), look.dash)
        for look in (category(colors, i) for i in range(49))
    ]
    assert len(set(drawn)) == 49


@BOTH
def test_data_have_contrast_to_the_panel(colors):
    assert contrast(colors.bar, colors.panel) >= AA_GRAPHICS
    for i in range(7):
        assert contrast(category(colors, i).color.name(), colors.panel) >= AA_GRAPHICS


@BOTH
@pytest.mark.parametrize("vision", VISIONS)
def test_categories_are_told_apart_by_colour_alone(colors, vision):
    seen = [oklab(category(colors, i).color, vision) for i in range(7)]
    assert (
        min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2))
        >= TOLD_APART
    )


@BOTH
@pytest.mark.parametrize("n", [1, 2, 11, 31])
def test_sequential_colours_grow_brighter_and_none_vanishes(colors, n):
    shades = [c.name() for c in sequential(colors, n)]
    assert len(shades) == n
    light = [luminance(c) for c in shades]
    assert light == sorted(light)
    assert len(set(shades)) == n
    assert min(contrast(c, colors.panel) for c in shades) >= AA_GRAPHICS


def test_viridis_has_its_ends_and_is_clipped():
    ends = viridis(np.array([0.0, 1.0, -3.0, 7.0, np.nan]))
    assert ends.tolist() == [
        [68, 1, 84],
        [253, 231, 37],
        [68, 1, 84],
        [253, 231, 37],
        [68, 1, 84],
    ]
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
