"""Ten finished runs of 31 values of λ on the Compare page: what each click there takes.

    python benchmarks/compare_page.py --data MQ2008

runs greedy RankRLS ten times in the real window, then changes measure and convention, goes from page to page,
sorts, ticks and looks at every view. For each it prints the time until all workers are idle again and
everything is drawn, the seconds of all cores, the percentiles of the gaps of the event loop, and what caused
the longest. A measure and a convention have two lines: until all runs are measured, and from 0.15 s after
that until what is made of it (paired tests, curves, front) is there. ``--large`` runs every method on
42,000 made-up documents with 46 features as well.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from record import Record, parser
from window_gaps import Walk, write_folds

from rankstudio.engine.methods.catalog import methods

RUNS, COMBINATIONS = 10, 31
_MEASURES = ("MAP", "NDCG@5", "RR", "P@3")
_CONVENTIONS = ("ranklib", "trec_eval", "letor4")
_SHORT: dict[str, dict[str, object]] = {
    "fs-bfs": {"regularization": (1.0,), "max_iter": 1, "patience": 1},
    "coordinate-ascent": {"n_restarts": 1, "max_iter": 3},
    "lambdamart": {"n_rounds": 30},
    "lambdamart-top": {"n_features_to_select": 3, "n_rounds": 5},
    "lambdamart-rfe": {"n_features_to_select": 3, "n_rounds": 5, "dropped_share": 0.5},
    "rankboost": {"n_rounds": 30},
    "xgboost": {"n_rounds": 30},
    "catboost": {"n_rounds": 30},
    "catboost-select": {"n_rounds": 30, "n_stages": 2},
    "adarank": {"n_rounds": 20},
}
"""Parameters of methods that would take minutes."""


def ten_runs(walk: Walk, data: Path, n_runs: int) -> None:
    """Run greedy RankRLS several times, without another feature each: no two of their models are alike."""
    walk.open(data.name, data)
    grid = tuple(float(2.0**power) for power in np.linspace(-15, 15, COMBINATIONS))
    for banned in range(n_runs):
        name = f"run {banned + 1}, greedy RankRLS with {COMBINATIONS} λ"
        walk.run(name, "greedy-rankrls", regularization=grid, banned=(banned + 1,))


def look(walk: Walk) -> None:
    """Look at the runs on Compare, in every way."""
    window, session = walk.window, walk.window.session
    pages, asked = window.workspace, window.models.measured._asked

    def measure(what: str, act: Callable[[], object]) -> None:
        walk.do(f"{what}: measured", act, lambda: not asked)
        walk.do(f"{what}: compared", lambda: None)

    walk.do("show Compare", lambda: pages.show_page("compare"))
    for turn in ("first time", "again"):
        for name in _MEASURES:
            measure(f"measure {name}, {turn}", lambda n=name: session.show_measure(n))
        for key in _CONVENTIONS:
            measure(
                f"convention {key}, {turn}",
                lambda k=key: window.measurement.measure_by_convention(k),
            )
        for key in ("data", "select", "features", "queries", "report"):
            walk.do(f"page {key}, {turn}", lambda k=key: pages.show_page(k))
            walk.do(
                f"page compare from {key}, {turn}", lambda: pages.show_page("compare")
            )
    results = window.sections.compare
    for record in window.runs.records[:3]:
        walk.do(
            f"untick run {record.key}",
            lambda k=record.key: results.panel.ticked.emit(k),
        )
        walk.do(
            f"tick run {record.key}", lambda k=record.key: results.panel.ticked.emit(k)
        )
    walk.sort(results.panel.table, f"{len(window.runs.records)} runs")
    walk.do(
        "look at another run",
        lambda: results.panel.selected.emit(window.runs.records[2].key),
    )
    for name in list(results.views._views):
        walk.do(f"view {name}", lambda n=name: results.views.show_view(n))


def large(walk: Walk, folder: Path) -> None:
    """Run methods on data of the size of TD2004's parts together."""
    data = folder / "large"
    if not data.exists():
        # with two thirds as many again in the other parts: 42,000
        write_folds(data, 25_200, 46)
    walk.open("42,000 documents x 46", data)
    for entry in methods():
        walk.run(
            f"{entry.key}, 42,000 documents", entry.key, **_SHORT.get(entry.key, {})
        )


def main() -> int:
    """Measure."""
    arguments = parser(__doc__ or "")
    arguments.add_argument(
        "--data", type=Path, required=True, help="a LETOR file or a folder of folds"
    )
    arguments.add_argument(
        "--runs", type=int, default=RUNS, help="how many runs (default %(default)s)"
    )
    arguments.add_argument(
        "--large", type=Path, help="a folder for made-up data, kept for the next time"
    )
    args = arguments.parse_args()
    record = Record(args.json)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RANKSTUDIO_CONFIG_DIR"] = os.environ["RANKSTUDIO_DATA_DIR"] = folder
        walk = Walk(record)
        walk.do("warm up", walk.window.models.warm_up)
        ten_runs(walk, args.data, args.runs)
        look(walk)
        if args.large:
            large(walk, args.large)
        walk.meter.stop()
        walk.window.close()
    record.save()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
