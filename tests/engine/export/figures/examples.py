"""Figures of every kind with what makes layouts fail: long names, many rows, gaps, hostile texts."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    Figure,
    FigureAxis,
    Level,
    MapFigure,
    Mark,
    RowSeries,
    RowsFigure,
    Series,
)

HOSTILE = '</text><script>alert(1)</script>&"\x00'
KS = tuple(float(k) for k in range(1, 47))
NAMES = (
    "BM25 of whole document (25)",
    "LMIR.DIR of title with a long name (31)",
    "PageRank (41)",
    HOSTILE,
)


def curve(start: float) -> tuple[float, ...]:
    return tuple(start + 0.1 * k / (k + 3) for k in KS)


def overlaid() -> CurvesFigure:
    lines = [
        Series(
            f"run {i + 1}, Greedy RankRLS",
            KS,
            y,
            tuple(v - 0.01 for v in y),
            tuple(v + 0.01 for v in y),
            number=i,
        )
        for i, y in enumerate(map(curve, (0.41, 0.43, 0.46)))
    ]
    gap = Series(HOSTILE, KS[:3], (0.4, nan, 0.5), number=3)
    x, y = (
        FigureAxis("features of the model, k", whole=True),
        FigureAxis("mean validation NDCG@10"),
    )
    levels = (
        Level("best single feature", 0.42),
        Level("chosen size", 7.0, vertical=True),
    )
    return CurvesFigure(
        "over",
        "Runs",
        "A caption: λ.",
        x,
        y,
        (*lines, gap),
        levels,
        (Mark("chosen", 8.0, 0.5),),
        bands="band: 95 % interval of the paired difference to run 2",
    )


def family(n: int, *, logarithmic: bool = False) -> CurvesFigure:
    lines = tuple(
        Series(
            f"λ = 2^{i - 5}",
            KS,
            tuple(10 ** (3 * v) for v in curve(0.1 * i)),
            order=i / max(n - 1, 1),
        )
        for i in range(n)
    )
    y = FigureAxis("leave-query-out error per document", logarithmic=logarithmic)
    return CurvesFigure(
        f"family{n}", "Family", "", FigureAxis("k", whole=True), y, lines
    )


def points() -> CurvesFigure:
    one = (Series("", (0.1, 0.5, 0.5), (0.2, 0.5, 1.0), kind="points"),)
    return CurvesFigure(
        "points",
        "A, B",
        "",
        FigureAxis("MAP of A"),
        FigureAxis("MAP of B"),
        one,
        square=True,
    )


def histogram() -> CurvesFigure:
    one = (Series("", (5.0, 15.0, 25.0), (3.0, 8.0, 1.0), kind="bars"),)
    return CurvesFigure(
        "bars",
        "Sizes",
        "",
        FigureAxis("documents", whole=True),
        FigureAxis("queries", low=0.0),
        one,
    )


def density() -> CurvesFigure:
    lines = tuple(
        Series(name, KS, curve(i), kind="area", number=i)
        for i, name in enumerate(("relevant", "not"))
    )
    return CurvesFigure(
        "density", "D", "", FigureAxis("value"), FigureAxis("density"), lines
    )


def candidates() -> RowsFigure:
    values = (RowSeries("", (0.4, 0.3, nan, 0.1)),)
    axis = FigureAxis("drop in leave-query-out error per document")
    return RowsFigure(
        "c",
        "C",
        "",
        axis,
        NAMES,
        values,
        bars=True,
        strong=frozenset({0}),
        strong_label="taken",
    )


def dots() -> RowsFigure:
    parts = tuple(
        RowSeries(n, (0.5, 0.4, 0.3, 0.2 + i / 10), number=i)
        for i, n in enumerate(("train", "test"))
    )
    return RowsFigure("dots", "D", "", FigureAxis("time", "s"), NAMES, parts)


def intervals() -> RowsFigure:
    one = (
        RowSeries(
            "",
            (-0.01, 0.0, 0.02, nan),
            (-0.02, -0.01, 0.01, nan),
            (0.0, 0.01, 0.03, nan),
        ),
    )
    return RowsFigure(
        "i",
        "I",
        "",
        FigureAxis("difference in MAP"),
        NAMES,
        one,
        zero=True,
        numbers=(0, 1, 2, 3),
    )


def grid(n_rows: int, n_columns: int) -> MapFigure:
    cells = tuple(
        tuple(0.4 + i * j / 9000 for j in range(n_columns)) for i in range(n_rows)
    )
    rows, columns = (
        tuple(f"2^{i}" for i in range(n_rows)),
        tuple(str(j + 1) for j in range(n_columns)),
    )
    color = FigureAxis("validation NDCG@10", high=0.41)
    name = f"grid{n_rows}"
    return MapFigure(
        name,
        "G",
        "",
        rows,
        columns,
        cells,
        "λ",
        "k",
        color,
        marked=((0, 0),),
        mark_label="best: 0.4000",
    )


def ranks() -> MapFigure:
    cells = (
        (1.0, 2.0, nan, 1.0),
        (nan, 1.0, 3.0, 2.0),
        (nan, nan, nan, 3.0),
        (2.0, nan, 1.0, nan),
    )
    color = FigureAxis("selected as", whole=True, low=1.0, high=3.0)
    shown = MapFigure(
        "ranks", "R", "", NAMES, tuple("1212"), cells, "", "fold", color, 0, True, True
    )
    return MapFigure(**{**vars(shown), "groups": (("run 1", 2), ("run 2", 2))})


def named_features(n: int) -> MapFigure:
    """Return many features with names, and ids that stand for them where there is no room."""
    cells = tuple(tuple(i * j / 500 for j in range(6)) for i in range(n))
    names = tuple(f"LMIR.DIR of feature number {i} ({i})" for i in range(1, n + 1))
    columns, ids = tuple("123456"), tuple(str(i) for i in range(1, n + 1))
    shown = MapFigure(
        f"names{n}", "N", "", names, columns, cells, "", "step", FigureAxis("score")
    )
    return replace(shown, short_rows=ids, short_title="id of the feature")


def stability() -> MapFigure:
    cells = ((1.0, 0.25), (0.25, 1.0))
    ends = ((0.0, "none"), (1.0, "equal"))
    color = FigureAxis("Jaccard", low=0.0, high=1.0)
    return MapFigure(
        "s",
        "S",
        "",
        ("1", "2"),
        ("1", "2"),
        cells,
        "fold",
        "fold",
        color,
        2,
        True,
        ends=ends,
    )


FIGURES: tuple[Figure, ...] = (
    *(
        overlaid(),
        family(1),
        family(4),
        family(16),
        family(5, logarithmic=True),
        points(),
        histogram(),
        density(),
    ),
    *(
        candidates(),
        dots(),
        intervals(),
        grid(4, 5),
        grid(31, 46),
        named_features(46),
        named_features(136),
        ranks(),
        stability(),
    ),
)
