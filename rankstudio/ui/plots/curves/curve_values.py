"""What a family of curves says: the box at a k, the ranges that show it, the table behind it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from rankstudio.ui.language import tr
from rankstudio.ui.plots.base import CellValue, Numbers, describe
from rankstudio.ui.plots.curves.curve_set import Band, Curve, CurveSet
from rankstudio.ui.plots.frame import padded, readable_range
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style.colors import Colors

DECIMALS = 4
"""Of the values in the box."""

MOST_LINES = 12
"""How many curves the box with values lists."""

REFERENCE_DASH = (1.5, 2.5)
"""Of the level that curves are compared with, in the plot and in the box."""

Range = tuple[float, float]


def value_lines(
    family: CurveSet,
    x: float,
    colors: Colors,
    pointed: Hashable | None,
    chosen: Hashable | None,
    at: str,
    most: int = MOST_LINES,
) -> list[Line]:
    """Return a line for every curve that has a value at x, at most ``most`` and one that counts the rest.

    Parameters
    ----------
    family : CurveSet
    x : float
    colors : Colors
    pointed : hashable or None
        Key of the curve that a click would choose: its value is first and bold, and names x.
    chosen : hashable or None
        Key of the chosen curve, which comes next; the others go from top to bottom.
    at : str
        What x is, in words: "k = 4".
    most : int
        What there is room for.
    """
    strokes = family.strokes(colors)
    values = sorted(family.values_at(x), key=lambda kv: (kv[0] != pointed, kv[0] != chosen, -kv[1]))
    if not values:
        return [Line(at, bold=True)]
    lines: list[Line] = []
    for key, y in values[:most]:
        color, dash = strokes[key]
        label = family[key].label
        if not lines:
            named = label and (len(family.given) > 1 or key not in family.given)
            label = f"{at} · {label}" if named else at
        lines.append(Line(label, f"{y:.{DECIMALS}f}", color, dash, bold=not lines))
    if len(values) > most:
        lines.append(Line(tr("and {n_values} more").format(n_values=len(values) - most)))
    return lines


def band_lines(band: Band | None, x: float, colors: Colors) -> list[Line]:
    """Return the lines about the band at x; none where it has no such point."""
    at = None if band is None else band.at(x)
    if at is None:
        return []
    mean, low, high = (f"{v:.{DECIMALS}f}" for v in at)
    p = band.p_at(x) if band is not None else None
    if p is None:
        return [
            Line(tr("mean"), mean, colors.q("accent"), (2.0, 1.0)),
            Line(tr("interval"), f"{low} – {high}"),
        ]
    permuted = Line(tr("permuted, 95 %"), f"{low} – {high}", colors.q("muted"), (2.0, 1.0))
    return [permuted, Line("p", f"{p:.3g}")]


def reference_lines(reference: tuple[float, str] | None, colors: Colors) -> list[Line]:
    """Return the line about the level that curves are compared with; none without one."""
    if reference is None:
        return []
    value, label = reference
    return [Line(label, f"{value:.{DECIMALS}f}", colors.q("muted"), REFERENCE_DASH)]


def fitting_ranges(
    family: CurveSet,
    band: Band | None,
    fixed_x: Range | None,
    chosen: Hashable | None,
    everything: bool,
    level: float | None = None,
    log_y: bool = False,
) -> tuple[Range, Range]:
    """Return the x and y range that show curves and band well.

    Parameters
    ----------
    family : CurveSet
    band : Band or None
    fixed_x : tuple of float or None
        The x range, where it is known before the points are.
    chosen : hashable or None
        Key of the curve that must be in sight as a whole.
    everything : bool
        Whether all points must be, however far out.
    level : float or None
        A value that must be in sight too.
    log_y : bool
        Whether equal heights are equal ratios: then all is in sight that is above 0.
    """
    xs, ys = family.all_xs(), family.all_ys()
    if band is not None:
        xs = np.union1d(xs, band.xs)
        ys = np.concatenate([ys, band.low, band.high])
    x_range = fixed_x or ((float(xs[0]), float(xs[-1])) if xs.size else (0.0, 1.0))
    if x_range[1] <= x_range[0]:
        x_range = (x_range[0] - 0.5, x_range[0] + 0.5)
    if level is not None and ys.size:
        ys = np.append(ys, level)
    seen = ys[np.isfinite(ys)]
    if log_y and (seen > 0).any():
        low, high = padded(*(float(v) for v in np.log10([seen[seen > 0].min(), seen.max()])))
        return x_range, (10.0**low, 10.0**high)
    if everything and seen.size:
        return x_range, padded(float(seen.min()), float(seen.max()))
    keep = family[chosen].arrays()[1] if chosen is not None and chosen in family else np.empty(0)
    lone = [curve.ys[0] for curve in family.curves.values() if curve.beside and len(curve.ys) == 1]
    keep = np.append(keep, lone)  # else only its name would be seen
    if level is not None and ys.size:
        keep = np.append(keep, level)
    return x_range, readable_range(ys, keep)


def numbers(family: CurveSet, band: Band | None, x_name: str) -> Numbers:
    """Return one row per x and one column per curve, the band's three at the end; NaN where there is none."""
    header = [x_name, *(curve.label for curve in family.curves.values())]
    xs = family.all_xs()
    if band is not None:
        permuted = tr("permuted mean"), tr("permuted low"), tr("permuted high"), "p"
        header += ("mean", "low", "high") if band.p_values is None else permuted
        xs = np.union1d(xs, band.xs)
    columns = [dict(zip(c.xs, c.ys, strict=True)) for c in family.curves.values()]
    missing = float("nan")
    rows: list[list[CellValue]] = []
    for x in map(float, xs):
        row: list[CellValue] = [whole(x), *(column.get(x, missing) for column in columns)]
        if band is not None:
            row += list(band.at(x) or (missing,) * 3)
            row += [] if band.p_values is None else [missing if (p := band.p_at(x)) is None else p]
        rows.append(row)
    return header, rows


def neighbour(
    family: CurveSet, choice: tuple[Hashable, float] | None, dx: int, dy: int
) -> tuple[Hashable, float] | None:
    """Return the point that lies ``dx`` points and ``dy`` curves from a chosen one; None without points.

    At an end it stays where it is. Without a choice it is the first point of the first curve.
    """
    keys = [key for key in family.keys if family[key].xs and not family[key].beside]
    if not keys:
        return None
    if choice is None or choice[0] not in keys:
        return keys[0], family[keys[0]].xs[0]
    key, x = choice
    key = keys[max(0, min(len(keys) - 1, keys.index(key) + dy))]
    xs = np.unique(family[key].arrays()[0])
    at = int(np.argmin(np.abs(xs - x)))
    return key, float(xs[max(0, min(len(xs) - 1, at + dx))])


def whole(x: float) -> int | float:
    """Return an integer where x is one: k counts features."""
    return int(x) if float(x).is_integer() else x


def _spoken_beside(curve: Curve, x_name: str, least: bool) -> str:
    """Return the best point of a curve beside the chosen one; "" where it has none."""
    xs, ys = curve.arrays()
    if not np.isfinite(ys).any():
        return ""
    i = int(np.nanargmin(ys) if least else np.nanargmax(ys))
    return tr("{label}, best {best:.{decimals}f} at {x_name} = {x:g}").format(
        label=curve.label, decimals=DECIMALS, best=ys[i], x_name=x_name, x=xs[i]
    )


def spoken(
    family: CurveSet,
    choice: tuple[Hashable, float] | None,
    x_name: str,
    title: str,
    least: bool,
    band: Band | None = None,
    marked: Sequence[str] = (),
) -> str:
    """Return the best point, and the chosen one, as a screen reader says them.

    "validation MAP, best 0.5341 at k = 3, λ = 2⁶" where there are several curves; ``least`` tells whether the
    least value is the best. Last comes what other points are ``marked`` as.
    """
    best: tuple[float, str] | None = None
    for curve in family.curves.values():
        xs, ys = curve.arrays()
        if curve.beside or not np.isfinite(ys).any():
            continue
        i = int(np.nanargmin(ys) if least else np.nanargmax(ys))
        if best is None or (ys[i] < best[0] if least else ys[i] > best[0]):
            best = float(ys[i]), f"{x_name} = {xs[i]:g}, {curve.label}"
    said = (
        [
            tr("{title}, best {best:.{decimals}f} at {best_2}").format(
                title=title, decimals=DECIMALS, best=best[0], best_2=best[1]
            )
        ]
        if best
        else [title]
    )
    said += [_spoken_beside(curve, x_name, least) for curve in family.curves.values() if curve.beside]
    if choice is not None and choice[0] in family:
        curve, x = family[choice[0]], choice[1]
        said.append(
            tr("chosen: {value_at:.{decimals}f} at {x_name} = {x:g}, {label}").format(
                decimals=DECIMALS, value_at=curve.value_at(x), x_name=x_name, x=x, label=curve.label
            )
        )
        at, p = band and band.at(x), band and band.p_at(x)
        if at and p is not None:
            text = tr("permuted there: 95 % from {low:.{decimals}f} to {high:.{decimals}f}, p = {p:.3g}")
            said.append(text.format(decimals=DECIMALS, low=at[1], high=at[2], p=p))
    return describe([*said, *marked])
