"""A family of curves as data: points by key, values at an x, what is said of them, ranges and table."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtGui import QColor

from rankstudio.engine.arrays import Floats
from rankstudio.ui.language import tr
from rankstudio.ui.plots.base import CellValue, Numbers, describe
from rankstudio.ui.plots.layers import Frame, padded, readable_range
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors

Range = tuple[float, float]

# With so few curves dashes help to tell an ordered family apart; with
# more they are only noise.
_MAX_DASHED_CURVES = 4

BESIDE_DASH = (5.0, 2.2, 1.2, 2.2)
"""Dashes of a curve beside the chosen one."""

REFERENCE_DASH = (1.5, 2.5)
"""Dashes of the level that curves are compared with, in the plot and in the box."""

DECIMALS = 4
"""Decimals of the values in the box."""

MOST_LINES = 12
"""How many curves the box with values lists."""


@dataclass
class Curve:
    """The points of one curve, in the order in which they came.

    A curve with ``beside`` shows another measure of the models of the
    chosen curve, such as one on left-out queries. Such a curve is there
    to compare, and has no points to choose.
    """

    label: str
    xs: list[float] = field(default_factory=list)
    ys: list[float] = field(default_factory=list)
    # whether it is another measure of the chosen curve's models
    beside: bool = False

    def arrays(self) -> tuple[Floats, Floats]:
        """Return x and y as arrays of the same length."""
        return np.asarray(self.xs, dtype=np.float64), np.asarray(
            self.ys, dtype=np.float64
        )

    def value_at(self, x: float) -> float:
        """Return the y of the point at exactly x; NaN if the curve has no such point.

        Of several points at x, the one added last counts.
        """
        points = zip(reversed(self.xs), reversed(self.ys), strict=True)
        return next((y for curve_x, y in points if curve_x == x), math.nan)


@dataclass(frozen=True)
class Band:
    """A mean curve with an interval around it, over folds or permutations. Arrays of one length.

    Attributes
    ----------
    xs, mean, low, high : ndarray
        The x of each point, the mean, and both ends of the interval.
    p_values : ndarray or None
        Share of permutations of the labels that are as good as the
        observed criterion, for a band over permutations; None for a
        band over folds.
    """

    xs: Floats
    mean: Floats
    low: Floats
    high: Floats
    p_values: Floats | None = None

    @property
    def name(self) -> str:
        """Name of the band: "mean" over folds, or that of permuted labels."""
        return tr("mean") if self.p_values is None else tr("permuted, 95 %")

    def interval_at(self, x: float) -> tuple[float, float, float] | None:
        """Return the mean, the lower and the upper end at x; None if the band has no point at x."""
        indices = np.flatnonzero(self.xs == x)
        if indices.size == 0:
            return None
        i = int(indices[0])
        return float(self.mean[i]), float(self.low[i]), float(self.high[i])

    def p_at(self, x: float) -> float | None:
        """Return the p-value at x: the share of permutations that are as good there.

        The permutations are of the labels, and "good" refers to the
        criterion. Return None for a band over folds, and if the band
        has no point at x.
        """
        indices = np.flatnonzero(self.xs == x)
        return (
            None
            if self.p_values is None or indices.size == 0
            else float(self.p_values[indices[0]])
        )


@dataclass(frozen=True)
class SmallestMark:
    """The smallest model that is not significantly worse than the best one of its curve.

    Attributes
    ----------
    key : hashable
        Key of the curve.
    x : float
        The x of the model on the curve.
    difference, p : float
        The measure of the model minus that of the best one, and the
        p-value of this difference.
    """

    key: Hashable
    x: float
    difference: float
    p: float

    def in_words(self, x_name: str) -> str:
        """Return the name of the mark and its x in words; ``x_name`` is the name of x, such as "k"."""
        return tr("smallest not significantly worse: {x_name} = {x:g}").format(
            x_name=x_name, x=self.x
        )


class CurveSet:
    """A family of curves by key, such as one for each λ, with what is drawn beside them.

    Parameters
    ----------
    keys : sequence of hashable
        A key for each curve, in the order of their colors.
    labels : sequence of str
        The label of each curve, such as "λ = 2⁶".

    Attributes
    ----------
    choice : tuple of (hashable, float) or None
        Key and x of the chosen point.
    inspection : tuple of (hashable, float) or None
        Key and x of another point that is inspected.
    band : Band or None
        An interval around a mean, below the curves.
    smallest : SmallestMark or None
        The smallest model that is not significantly worse than the best one.
    reference : tuple of (float, str) or None
        A level to compare the curves with, and its name.
    """

    def __init__(
        self, keys: Sequence[Hashable] = (), labels: Sequence[str] = ()
    ) -> None:
        self.curves: dict[Hashable, Curve] = {
            key: Curve(label) for key, label in zip(keys, labels, strict=True)
        }
        # The keys of the family, in the order of its colors. Curves
        # that are added later, such as a path between two λ, are not
        # among them.
        self.ordered_keys = tuple(self.curves)
        # The chosen and the inspected point: key of the curve, and x.
        self.choice: tuple[Hashable, float] | None = None
        self.inspection: tuple[Hashable, float] | None = None
        self.band: Band | None = None
        self.smallest: SmallestMark | None = None
        self.reference: tuple[float, str] | None = None  # a level and its name

    def __getitem__(self, key: Hashable) -> Curve:
        if key not in self.curves:
            self.curves[key] = Curve(str(key))
        return self.curves[key]

    def __contains__(self, key: Hashable) -> bool:
        return key in self.curves

    def set_beside(
        self, key: Hashable, label: str, xs: Iterable[float], ys: Iterable[float]
    ) -> None:
        """Show another measure of the chosen curve's models beside it: to compare, not to choose.

        ``label`` is the name of the new curve, which replaces an
        earlier curve with the key ``key``. Without points, the curve of
        that key is removed.
        """
        curve = Curve(
            label, [float(x) for x in xs], [float(y) for y in ys], beside=True
        )
        self.curves.pop(key, None)
        if curve.xs:
            self.curves[key] = curve

    @property
    def chosen_key(self) -> Hashable | None:
        """The key of the curve with the chosen point; None without a choice."""
        return self.choice[0] if self.choice else None

    def is_empty(self) -> bool:
        """Return whether there is neither a band nor a point of a curve."""
        return self.band is None and not any(curve.xs for curve in self.curves.values())

    def clear(self) -> None:
        """Remove all points, the band and the marks; the curves, now empty, and the level stay."""
        self.choice = self.inspection = self.band = self.smallest = None
        for curve in self.curves.values():
            curve.xs.clear()
            curve.ys.clear()

    def smallest_value(self) -> float:
        """Return y of the smallest model that is not significantly worse than the best one.

        Return NaN without such a model, and where no curve has that point.
        """
        mark = self.smallest  # has the key of the curve, and x
        return (
            self[mark.key].value_at(mark.x)
            if mark is not None and mark.key in self
            else math.nan
        )

    def all_xs(self) -> Floats:
        """Return every x at which some curve has a point, ascending, without repetition."""
        # np.unique brings numpy.ma
        xs = {float(x) for curve in self.curves.values() for x in curve.xs}
        return np.array(sorted(xs), dtype=np.float64)

    def points(self, key: Hashable | None, one_curve: bool) -> tuple[Floats, Floats]:
        """Return x and y of all points, which a box over the plot should not hide.

        The result has two arrays of one length, x and y. The points of
        the curve ``key`` occur several times, so that they count more.
        With ``one_curve``, the points of other curves are left out.
        """
        # The curve of the key counts five times, and once more if all do.
        curves = [] if one_curve and key is not None else list(self.curves.values())
        if key is not None:
            curves += [self[key]] * 5
        parts = [curve.arrays() for curve in curves]
        xs, ys = ([part[i] for part in parts] for i in (0, 1))
        return np.concatenate([np.empty(0), *xs]), np.concatenate([np.empty(0), *ys])

    def spread(self) -> float:
        """Return the ratio of the greatest value of all curves to the least one; 0 if that is not above 0."""
        ys = self.all_ys()
        finite = ys[np.isfinite(ys)]
        return (
            float(finite.max() / finite.min())
            if finite.size and finite.min() > 0
            else 0.0
        )

    def all_ys(self) -> Floats:
        """Return the y of all points of all curves, in one array."""
        return np.array(
            [y for curve in self.curves.values() for y in curve.ys], dtype=np.float64
        )

    def values_at(self, x: float) -> list[tuple[Hashable, float]]:
        """Return pairs of key and y for all curves that have a point at exactly x, without NaN."""
        points = [(key, curve.value_at(x)) for key, curve in self.curves.items()]
        return [(key, y) for key, y in points if not math.isnan(y)]

    def pointed(
        self, frame: Frame, px: float, py: float
    ) -> tuple[Hashable, float] | None:
        """Return the key of the curve and the x of the point that the mouse points at.

        ``px`` and ``py`` are the pixel of the mouse. The point has the
        x nearest to the mouse; of the curves with this x, the one
        nearest in height is meant. If points coincide, the curve that
        lies on top is meant: the chosen one, else the last. Return None
        without points.
        """
        # The chosen curve comes last, as False sorts before True.
        best: tuple[Hashable, float, tuple[float, float]] | None = None
        for key, curve in sorted(
            self.curves.items(), key=lambda item: item[0] == self.chosen_key
        ):
            xs, ys = curve.arrays()
            # A curve beside the chosen one has no points to choose.
            is_drawn = np.isfinite(ys) & (not curve.beside)
            if not is_drawn.any():
                continue
            at_x, at_y = frame.pixels(xs[is_drawn], ys[is_drawn])
            # The nearest point by the horizontal distance, then by the
            # vertical one. The last key of lexsort counts first.
            across = np.abs(at_x - px)
            along = np.abs(at_y - py)
            i = int(np.lexsort((along, across))[0])
            distances = float(across[i]), float(along[i])
            # Of equally near points, the later one counts, as its curve lies on top.
            if best is None or distances <= best[2]:
                best = key, float(xs[is_drawn][i]), distances
        return best[:2] if best else None

    def strokes(
        self, colors: Colors
    ) -> dict[Hashable, tuple[QColor, tuple[float, ...]]]:
        """Return color and dash of each curve, by its key; a dash of () is a solid line.

        The curves of the family have the shades of a sequence, in their
        order. A curve that was added later, such as a path between two
        λ, has the accent. A curve beside the chosen one has the color
        of the text.
        """
        n = len(self.ordered_keys)
        strokes: dict[Hashable, tuple[QColor, tuple[float, ...]]]
        # These are for keys outside the order; those of the order are replaced below.
        strokes = {
            key: (colors.q("text"), BESIDE_DASH)
            if curve.beside
            else (colors.q("accent"), ())
            for key, curve in self.curves.items()
        }
        shades = palettes.sequential(colors, n)
        dashes = [
            palettes.category(colors, i).dash if n <= _MAX_DASHED_CURVES else ()
            for i in range(n)
        ]
        return strokes | dict(
            zip(self.ordered_keys, zip(shades, dashes, strict=True), strict=True)
        )


def value_lines(
    family: CurveSet,
    x: float,
    colors: Colors,
    pointed: Hashable | None,
    x_text: str,
    max_lines: int = MOST_LINES,
) -> list[Line]:
    """Return a line for every curve that has a value at x, at most ``max_lines``, and one on the rest.

    Parameters
    ----------
    family : CurveSet
        The curves.
    x : float
        Value on the x axis at which the curves are read.
    colors : Colors
    pointed : hashable or None
        Key of the curve that a click would choose. The line of this
        curve comes first, is bold and says what x is. The chosen curve
        comes next, then the others from top to bottom.
    x_text : str
        The value of x in words: "k = 4".
    max_lines : int
        The number of lines for which there is room.
    """
    strokes = family.strokes(colors)
    chosen = family.chosen_key
    # Pairs of key and value in the order of the lines; False sorts before True.
    values = sorted(
        family.values_at(x), key=lambda kv: (kv[0] != pointed, kv[0] != chosen, -kv[1])
    )
    if not values:
        return [Line(x_text, bold=True)]
    lines: list[Line] = []
    for key, y in values[:max_lines]:
        color, dash = strokes[key]
        label = family[key].label
        if not lines:
            # The only curve of a family needs no name; a curve beside
            # it, which is not among the family's ordered keys, does.
            named = label and (
                len(family.ordered_keys) > 1 or key not in family.ordered_keys
            )
            label = f"{x_text} · {label}" if named else x_text
        lines.append(Line(label, f"{y:.{DECIMALS}f}", color, dash, bold=not lines))
    if len(values) > max_lines:
        lines.append(
            Line(tr("and {n_values} more").format(n_values=len(values) - max_lines))
        )
    return lines


def lines_beside(family: CurveSet, x: float, colors: Colors) -> list[Line]:
    """Return the lines of the box at x that are not on curves: the band, the smallest model, and the level.

    The band is a mean with its interval over folds, or the interval of
    the criterion with permuted labels, which has a p-value. The
    smallest model is that which is not significantly worse than the
    best one. The level is a value to compare with.
    """
    lines: list[Line] = []
    band = family.band
    mark = family.smallest
    # The band has no values where no fold has the point x.
    if band is not None and (band_values := band.interval_at(x)) is not None:
        mean, low, high = (f"{v:.{DECIMALS}f}" for v in band_values)
        p = band.p_at(x)
        interval = f"{low} – {high}"
        if p is None:
            lines += [
                Line(tr("mean"), mean, colors.q("accent"), (2.0, 1.0)),
                Line(tr("interval"), interval),
            ]
        else:
            permuted = Line(
                tr("permuted, 95 %"), interval, colors.q("muted"), (2.0, 1.0)
            )
            lines += [permuted, Line("p", f"{p:.3g}")]
    if mark is not None and x == mark.x:
        text = tr("{difference:+.4f}, p = {p:.2g}").format(
            difference=mark.difference, p=mark.p
        )
        lines.append(Line(tr("smallest not significantly worse"), text))
    if family.reference is not None:
        value, label = family.reference
        lines.append(
            Line(label, f"{value:.{DECIMALS}f}", colors.q("muted"), REFERENCE_DASH)
        )
    return lines


def fitting_ranges(
    family: CurveSet, fixed_x: Range | None, *, all_points: bool, log_y: bool
) -> tuple[Range, Range]:
    """Return the x range and the y range that show curves, band and level well.

    Parameters
    ----------
    family : CurveSet
        The chosen curve is in sight as a whole; a few extreme values of
        others are not.
    fixed_x : tuple of float or None
        The x range if it is known before the points are.
    all_points : bool
        Whether all points must be in sight, even extreme ones.
    log_y : bool
        Whether the y axis is logarithmic; then all points above 0 are in sight.
    """
    xs = family.all_xs()
    ys = family.all_ys()
    band = family.band
    chosen = family.chosen_key
    level = family.reference[0] if family.reference else None
    if band is not None:
        xs = np.union1d(xs, band.xs)
        ys = np.concatenate([ys, band.low, band.high])
    x_range = fixed_x or ((float(xs[0]), float(xs[-1])) if xs.size else (0.0, 1.0))
    if x_range[1] <= x_range[0]:  # a single x
        x_range = (x_range[0] - 0.5, x_range[0] + 0.5)
    if level is not None and ys.size:
        ys = np.append(ys, level)
    finite = ys[np.isfinite(ys)]
    if log_y and (finite > 0).any():
        # the margins are added to the exponents
        low, high = padded(
            *(float(v) for v in np.log10([finite[finite > 0].min(), finite.max()]))
        )
        return x_range, (10.0**low, 10.0**high)
    if all_points and finite.size:
        return x_range, padded(float(finite.min()), float(finite.max()))
    # Values that have to be in sight: the chosen curve, the level, and
    # curves of a single point, of which otherwise only the name would
    # be seen.
    keep = (
        family[chosen].arrays()[1]
        if chosen is not None and chosen in family
        else np.empty(0)
    )
    lone_values = [
        curve.ys[0]
        for curve in family.curves.values()
        if curve.beside and len(curve.ys) == 1
    ]
    keep = np.append(keep, lone_values)
    if level is not None and ys.size:
        keep = np.append(keep, level)
    return x_range, readable_range(ys, keep)


def numbers(family: CurveSet, x_name: str) -> Numbers:
    """Return the points as a table: a row for each x, a column for each curve; NaN where there is none.

    The last columns are the mean and the ends of the band, and for
    permuted labels its p-value. ``x_name`` is the title of the first
    column.
    """
    header = [x_name, *(curve.label for curve in family.curves.values())]
    xs = family.all_xs()
    band = family.band
    if band is not None:
        permuted = tr("permuted mean"), tr("permuted low"), tr("permuted high"), "p"
        # A band of permuted labels has p-values, one over folds has none.
        header += ("mean", "low", "high") if band.p_values is None else permuted
        xs = np.union1d(xs, band.xs)
    columns = [dict(zip(c.xs, c.ys, strict=True)) for c in family.curves.values()]
    missing = float("nan")
    rows: list[list[CellValue]] = []
    for x in map(float, xs):
        row: list[CellValue] = [
            whole(x),
            *(column.get(x, missing) for column in columns),
        ]
        if band is not None:
            row += list(band.interval_at(x) or (missing,) * 3)  # mean, low and high
            row += (
                []
                if band.p_values is None
                else [missing if (p := band.p_at(x)) is None else p]
            )
        rows.append(row)
    return header, rows


def neighbour(family: CurveSet, dx: int, dy: int) -> tuple[Hashable, float] | None:
    """Return the point to which an arrow key leads, as the key of its curve and its x.

    The way begins at the inspected point, or else at the chosen one.
    The way leads ``dx`` points to the right and ``dy`` curves on in the
    order of the family, and stops at the last point or curve. Without a
    point to begin with, the result is the first point of the first
    curve. Return None without points.
    """
    # Curves beside the chosen one cannot be chosen.
    start = family.inspection or family.choice
    keys = [
        key for key, curve in family.curves.items() if curve.xs and not curve.beside
    ]
    if not keys:
        return None
    if start is None or start[0] not in keys:
        return keys[0], family[keys[0]].xs[0]
    key, x = start
    key = keys[max(0, min(len(keys) - 1, keys.index(key) + dy))]
    # another curve may lack this x; then the nearest x is the start
    xs = np.unique(family[key].arrays()[0])
    index = int(np.argmin(np.abs(xs - x)))
    return key, float(xs[max(0, min(len(xs) - 1, index + dx))])


def whole(x: float) -> int | float:
    """Return x as an int if it is a whole number, as k is, so that it is written without a point."""
    return int(x) if float(x).is_integer() else x


def _best_point_text(curve: Curve, x_name: str, least: bool) -> str:
    """Return the best point of a curve beside the chosen one, in words; "" for a curve without points.

    ``least`` says whether the least value is the best.
    """
    xs, ys = curve.arrays()
    if not np.isfinite(ys).any():
        return ""
    i = int(np.nanargmin(ys) if least else np.nanargmax(ys))
    return tr("{label}, best {best:.{decimals}f} at {x_name} = {x:g}").format(
        label=curve.label, decimals=DECIMALS, best=ys[i], x_name=x_name, x=xs[i]
    )


def spoken(family: CurveSet, x_name: str, title: str, *, least: bool) -> str:
    """Return the best point, and the chosen one, as a screen reader says them.

    An example for several curves is "validation MAP, best 0.5341 at k =
    3, λ = 2⁶". ``title`` is what y measures, ``x_name`` the name of x,
    and ``least`` says whether the least value is the best.
    """
    # The best value of all curves, and where it is.
    best: tuple[float, str] | None = None
    for curve in family.curves.values():
        xs, ys = curve.arrays()
        if curve.beside or not np.isfinite(ys).any():
            continue
        i = int(np.nanargmin(ys) if least else np.nanargmax(ys))
        if best is None or (ys[i] < best[0] if least else ys[i] > best[0]):
            best = float(ys[i]), f"{x_name} = {xs[i]:g}, {curve.label}"
    sentences = (
        [
            tr("{title}, best {best:.{decimals}f} at {best_2}").format(
                title=title, decimals=DECIMALS, best=best[0], best_2=best[1]
            )
        ]
        if best
        else [title]
    )
    sentences += [
        _best_point_text(curve, x_name, least)
        for curve in family.curves.values()
        if curve.beside
    ]
    if family.choice is not None and family.choice[0] in family:
        curve = family[family.choice[0]]
        x = family.choice[1]
        band = family.band
        sentences.append(
            tr("chosen: {value_at:.{decimals}f} at {x_name} = {x:g}, {label}").format(
                decimals=DECIMALS,
                value_at=curve.value_at(x),
                x_name=x_name,
                x=x,
                label=curve.label,
            )
        )
        # None without a band, and where it has no point at x; p only
        # for permuted labels
        band_values = band and band.interval_at(x)
        p = band and band.p_at(x)
        if band_values and p is not None:
            text = tr(
                "with permuted labels: 95 % from {low:.{decimals}f} to {high:.{decimals}f}, p = {p:.3g}"
            )
            sentences.append(
                text.format(
                    decimals=DECIMALS, low=band_values[1], high=band_values[2], p=p
                )
            )
    if family.inspection is not None and family.inspection[0] in family:
        key, x = family.inspection
        sentences.append(
            tr(
                "inspected: {value_at:.{decimals}f} at {x_name} = {x:g}, {label}"
            ).format(
                decimals=DECIMALS,
                value_at=family[key].value_at(x),
                x_name=x_name,
                x=x,
                label=family[key].label,
            )
        )
    if family.smallest is not None:
        sentences.append(family.smallest.in_words(x_name))
    return describe(sentences)
