"""A family of curves as data: points by key, values at an x, the point nearest to a pixel."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from PySide6.QtGui import QColor

from rankstudio.engine.arrays import Floats
from rankstudio.ui.language import tr
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors

CurveKind = Literal["ordered", "category"]

# With so few curves dashes help to tell an ordered family apart; with more they are only noise.
_FEW = 4

BESIDE_DASH = (5.0, 2.2, 1.2, 2.2)
"""Of a curve beside the chosen one."""


@dataclass
class Curve:
    """The points of one curve, in the order in which they came."""

    label: str
    xs: list[float] = field(default_factory=list)
    ys: list[float] = field(default_factory=list)
    beside: bool = False  # what something else measured of the chosen curve, and nothing to choose

    def arrays(self) -> tuple[Floats, Floats]:
        """Return x and y as arrays of the same length."""
        return np.asarray(self.xs, dtype=np.float64), np.asarray(self.ys, dtype=np.float64)

    def value_at(self, x: float) -> float:
        """Return y at exactly x; NaN where the curve has no point. The latest point counts."""
        for i in range(len(self.xs) - 1, -1, -1):
            if self.xs[i] == x:
                return self.ys[i]
        return float("nan")


class CurveSet:
    """Curves by key, in the order in which the keys were given.

    Parameters
    ----------
    keys : sequence of hashable
        One a curve: an index of λ, a fold, a run.
    labels : sequence of str
        As the values are listed: "λ = 2⁶".
    kind : {"ordered", "category"}
        Whether the keys have an order (λ) or not (runs).
    """

    def __init__(
        self, keys: Sequence[Hashable] = (), labels: Sequence[str] = (), kind: CurveKind = "ordered"
    ) -> None:
        self.kind = kind
        self.curves: dict[Hashable, Curve] = {
            key: Curve(label) for key, label in zip(keys, labels, strict=True)
        }
        self.given = tuple(self.curves)  # without those that come later

    def __getitem__(self, key: Hashable) -> Curve:
        if key not in self.curves:
            self.curves[key] = Curve(str(key))
        return self.curves[key]

    def __contains__(self, key: Hashable) -> bool:
        return key in self.curves

    @property
    def keys(self) -> list[Hashable]:
        """The keys, in order."""
        return list(self.curves)

    def set_beside(self, key: Hashable, label: str, xs: Iterable[float], ys: Iterable[float]) -> None:
        """Put beside the chosen curve what something else measured of it: to compare, not to choose.

        Without points it is taken away.
        """
        made = Curve(label, [float(x) for x in xs], [float(y) for y in ys], beside=True)
        self.curves.pop(key, None)
        if made.xs:
            self.curves[key] = made

    def is_empty(self) -> bool:
        """Tell whether no curve has a point."""
        return not any(curve.xs for curve in self.curves.values())

    def clear(self) -> None:
        """Take all points away and keep the curves."""
        for curve in self.curves.values():
            curve.xs.clear()
            curve.ys.clear()

    def all_xs(self) -> Floats:
        """Return every x that some curve has, ascending, without repetition."""
        xs = [x for curve in self.curves.values() for x in curve.xs]
        return np.unique(np.asarray(xs, dtype=np.float64))

    def points(self, key: Hashable | None, alone: bool) -> tuple[Floats, Floats]:
        """Return x and y of all points, those of one curve five times over, or of it alone."""
        curves = [] if alone and key is not None else list(self.curves.values())
        if key is not None:
            curves += [self[key]] * 5
        parts = [curve.arrays() for curve in curves]
        xs, ys = ([part[i] for part in parts] for i in (0, 1))
        return np.concatenate([np.empty(0), *xs]), np.concatenate([np.empty(0), *ys])

    def spread(self) -> float:
        """Return how many times the least value the greatest one is; 0 where one is not above 0."""
        ys = self.all_ys()
        seen = ys[np.isfinite(ys)]
        return float(seen.max() / seen.min()) if seen.size and seen.min() > 0 else 0.0

    def all_ys(self) -> Floats:
        """Return the values of all curves, in no particular order."""
        return np.array([y for curve in self.curves.values() for y in curve.ys], dtype=np.float64)

    def values_at(self, x: float) -> list[tuple[Hashable, float]]:
        """Return the values of all curves that have one at x."""
        found = [(key, curve.value_at(x)) for key, curve in self.curves.items()]
        return [(key, y) for key, y in found if not math.isnan(y)]

    def pointed(
        self, frame: Frame, px: float, py: float, top: Hashable | None = None
    ) -> tuple[Hashable, float] | None:
        """Return key and x of the point that a pixel means; None without points.

        First the x nearest to the pixel, then the curve nearest to it at this x. Where points coincide, the
        curve that is drawn last, and so lies on top, is meant: the one with the key ``top``, else the last.
        """
        best: tuple[Hashable, float, tuple[float, float]] | None = None
        for key, curve in sorted(self.curves.items(), key=lambda item: item[0] == top):
            xs, ys = curve.arrays()
            shown = np.isfinite(ys) & (not curve.beside)
            if not shown.any():
                continue
            at_x, at_y = frame.pixels(xs[shown], ys[shown])
            across, along = np.abs(at_x - px), np.abs(at_y - py)
            i = int(np.lexsort((along, across))[0])
            far = float(across[i]), float(along[i])
            if best is None or far <= best[2]:
                best = key, float(xs[shown][i]), far
        return best[:2] if best else None

    def strokes(self, colors: Colors) -> dict[Hashable, tuple[QColor, tuple[float, ...]]]:
        """Return colour and dash of each curve on a ground.

        A curve whose key was not among the family's (a path between two λ) has no place in their order: it
        takes the accent, and the others keep their colours. A curve beside them has the text's.
        """
        n = len(self.given)
        strokes: dict[Hashable, tuple[QColor, tuple[float, ...]]]
        strokes = {
            key: (colors.q("text"), BESIDE_DASH) if curve.beside else (colors.q("accent"), ())
            for key, curve in self.curves.items()
        }
        if self.kind == "category":
            made = [palettes.category(colors, i) for i in range(n)]
            return strokes | {key: (one.color, one.dash) for key, one in zip(self.given, made, strict=True)}
        shades = palettes.sequential(colors, n)
        dashes = [palettes.category(colors, i).dash if n <= _FEW else () for i in range(n)]
        return strokes | dict(zip(self.given, zip(shades, dashes, strict=True), strict=True))


@dataclass(frozen=True)
class Band:
    """A mean curve with an interval around it, over folds or permutations. Arrays of one length.

    Attributes
    ----------
    xs, mean, low, high : ndarray
    p_values : ndarray or None
        Where it is the permuted criterion: how often that is as good as the observed one.
    """

    xs: Floats
    mean: Floats
    low: Floats
    high: Floats
    p_values: Floats | None = None

    @property
    def name(self) -> str:
        """What it is a band of."""
        return tr("mean") if self.p_values is None else tr("permuted, 95 %")

    @classmethod
    def of(
        cls, xs: Iterable[float], mean: Iterable[float], low: Iterable[float], high: Iterable[float]
    ) -> Band:
        """Make a band of any number sequences."""
        made = [np.array(list(part), dtype=np.float64) for part in (xs, mean, low, high)]
        return cls(*made)

    def at(self, x: float) -> tuple[float, float, float] | None:
        """Return mean, lower and upper end at x, or None where the band has no such point."""
        where = np.flatnonzero(self.xs == x)
        if where.size == 0:
            return None
        i = int(where[0])
        return float(self.mean[i]), float(self.low[i]), float(self.high[i])

    def p_at(self, x: float) -> float | None:
        """Return how often permuted labels or preferences are as good at x; None where that is not known."""
        where = np.flatnonzero(self.xs == x)
        return None if self.p_values is None or where.size == 0 else float(self.p_values[where[0]])
