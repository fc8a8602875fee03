"""A window for a random walk: data to open, runs that can be held in the middle, and waiting for rest."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.formats.dataset_writer import save_dataset, save_letor
from rankstudio.engine.data.formats.format_catalog import format_of_key
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.results.events import Event
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_queue import engine_run
from rankstudio.ui.model.study_store import RunTarget
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.process.turns import turns
from rankstudio.ui.style.theme import Theme

# seconds in which something goes on after any step, also on a busy machine
_PATIENCE = 400.0
_STILL = 3  # turns of the event loop in which nothing more happens
_SHORT = 600  # milliseconds of the pauses after which the window goes on by itself


@dataclass(frozen=True)
class Places:
    """What can be opened.

    Attributes
    ----------
    data : tuple of str
        Folds, other folds, a single file, folds without a test part, the sample.
    preferences, scores : Path
        Of the first of them.
    judged : str
        A table with labels of two judges; "" where there is none.
    """

    data: tuple[str, ...]
    preferences: Path
    scores: Path
    judged: str = ""


def write_places(folder: Path, kind: str = "folds") -> Places:
    """Write small data: folds of LETOR text, files of other "formats", or "odd" ones that teach nothing.

    Those of the kind "clicked" have clicks with positions as preferences; they are read with sparse rows.
    """
    shape = {"n_informative": 3, "n_redundant": 2, "n_noise": 2, "documents": (4, 7)}
    small = make_ranking(20, n_constant=1, **shape)
    other = make_ranking(25, n_constant=0, seed=5, **shape)
    _write(small, folder / "Small", (1, 2), ("train", "vali", "test"))
    _write(other, folder / "Other", (1, 2, 3), ("train", "vali", "test"))
    _write(other, folder / "Untested", (1, 2), ("train", "vali"))
    save_letor(small.folds[0].train, folder / "single.txt")
    first = small.folds[0].train
    rows = ["qid,winner,loser"]
    for query, (begin, end) in enumerate(
        zip(first.query_ptr[:-1], first.query_ptr[1:], strict=True)
    ):
        best, worst = (
            int(at(first.y[begin:end]))
            for at in (lambda y: y.argmax(), lambda y: y.argmin())
        )
        if best != worst:
            rows.append(f"{first.query_ids[query]},{best + 1},{worst + 1}")
    if kind == "clicked":
        rows = list(_clicks(first))
    (folder / "preferences.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    scores = folder / "neural"
    for fold in small.folds[:2]:
        there = scores / f"Fold{fold.number}"
        there.mkdir(parents=True)
        for name, part in fold.parts.items():
            lines = "\n".join(
                f"{value:.6f}" for value in part.X[:, 0] - 0.5 * part.X[:, 1]
            )
            (there / f"{name}.scores").write_text(lines + "\n", encoding="utf-8")
    match kind:
        case "odd":
            names = _write_odd(small, folder)
        case "formats":
            names = _write_formats(first, folder)
        case _:
            names = "Small", "Other", "single.txt", "Untested"
    judged = str(folder / "judged.csv") if kind == "formats" else ""
    return Places(
        (*(str(folder / name) for name in names), SAMPLE),
        folder / "preferences.csv",
        scores,
        judged,
    )


def _clicks(data: RankingDataset) -> Iterator[str]:
    """Yield the lines of a log of clicks, most of which are on relevant documents."""
    rng = np.random.default_rng(3)
    yield "session,qid,docid,position,click,propensity"
    for session in range(40):
        query = int(rng.integers(data.n_queries))
        begin, end = data.query_ptr[query : query + 2]
        for position, row in enumerate(begin + rng.permutation(end - begin), start=1):
            click = int(rng.random() < (0.1 + 0.4 * data.y[row]) / position)
            document = row - begin + 1
            yield f"{session},{data.query_ids[query]},{document},{position},{click},{1 / position}"


def _write_formats(data: RankingDataset, folder: Path) -> tuple[str, ...]:
    """Write the same documents as each kind of file that is no LETOR text."""
    made = RankingDataset.from_arrays(
        data.X, data.y, data.qid, feature_names=[f"f{i}" for i in range(8)]
    )
    for name, form in (
        ("table.csv", "csv"),
        ("table.parquet", "parquet"),
        ("sizes.txt", "xgboost"),
    ):
        save_dataset(made, folder / name, format_of_key(form))
    frame = made.to_frame()
    rng = np.random.default_rng(2)
    frame["second"] = np.where(
        rng.random(len(frame)) < 0.2, np.nan, rng.integers(0, 3, len(frame))
    )
    frame.to_csv(folder / "judged.csv", index=False)
    engine, runs = folder / "engine", folder / "runs"
    engine.mkdir()
    runs.mkdir()
    logs, ratings, judged = [], ["query,docid,rating"], []
    lines: dict[str, list[str]] = {name: [] for name in made.feature_names[:3]}
    for query, (begin, end) in enumerate(
        zip(made.query_ptr[:-1], made.query_ptr[1:], strict=True)
    ):
        hits = []
        for row in range(begin, end):
            values = zip(made.feature_names, made.X[row].tolist(), strict=True)
            log = [{"name": name, "value": value} for name, value in values]
            hits.append({"_id": f"d{row}", "fields": {"_ltrlog": [{"log": log}]}})
            judged.append(f"{query} 0 d{row} {made.y[row]:g}")
            ratings += [f"{query},d{row},{made.y[row]:g}"] * int(row > begin)
            for name, value in zip(lines, made.X[row], strict=False):
                lines[name].append(
                    f"{query} Q0 d{row} {row - begin + 1} {value} {name}"
                )
        logs.append({"qid": str(query), "hits": {"hits": hits}})
    defined = [
        {
            "name": name,
            "params": ["keywords"],
            "template": {"match": {name: "{{keywords}}"}},
        }
        for name in made.feature_names
    ]
    costs = [
        "feature,per_document,per_query",
        *(f"{name},0.01,0.1" for name in made.feature_names),
    ]
    written = {
        engine / "log.ndjson": "\n".join(map(json.dumps, logs)),
        engine / "ratings.csv": "\n".join(ratings),
        engine / "featureset.json": json.dumps(
            {"featureset": {"name": "shop", "features": defined}}
        ),
        engine / "costs.csv": "\n".join(costs),
        runs / "qrels.txt": "\n".join(judged),
        **{runs / f"{name}.run": "\n".join(ranked) for name, ranked in lines.items()},
    }
    for path, text in written.items():
        path.write_text(text + "\n", encoding="utf-8")
    return "table.csv", "table.parquet", "sizes.txt", "engine", "runs", "judged.csv"


def _write_odd(small: FoldedDataset, folder: Path) -> tuple[str, ...]:
    """Write data by which nothing can be learned, as a wrong column makes them, and some that are too few."""

    def alone(part: RankingDataset) -> RankingDataset:
        m = part.y.size
        return replace(
            part, query_ptr=np.arange(m + 1), query_ids=tuple(map(str, range(1, m + 1)))
        )

    def equal(part: RankingDataset) -> RankingDataset:
        return replace(part, y=np.ones_like(part.y))

    def constant(part: RankingDataset) -> RankingDataset:
        return replace(part, X=np.full_like(part.X, 0.5))

    def two(part: RankingDataset) -> RankingDataset:
        m = int(part.query_ptr[2])
        return replace(
            part,
            X=part.X[:m, :1],
            y=part.y[:m],
            query_ptr=part.query_ptr[:3],
            query_ids=part.query_ids[:2],
            feature_ids=part.feature_ids[:1],
            feature_names=part.feature_names[:1],
            comments=part.comments[:m],
        )

    kinds = {"Alone": alone, "Equal": equal, "Constant": constant, "Two": two}
    for name, made in kinds.items():
        folds = tuple(
            replace(fold, **{key: made(part) for key, part in fold.parts.items()})
            for fold in small.folds
        )
        _write(
            replace(small, folds=folds),
            folder / name,
            (1, 2),
            ("train", "vali", "test"),
        )
    return tuple(kinds)


def _write(
    data: FoldedDataset, folder: Path, folds: tuple[int, ...], parts: tuple[str, ...]
) -> None:
    for fold in data.folds:
        if fold.number in folds:
            there = folder / f"Fold{fold.number}"
            there.mkdir(parents=True)
            for name in parts:
                save_letor(fold.parts[name], there / f"{name}.txt")


class Gate:
    """Lets a run go on to one of its events and no further, so that a walk can do something meanwhile."""

    def __init__(self) -> None:
        self._after: int | None = None
        self._opened = threading.Event()
        self.holds = False

    def hold_after(self, n_events: int | None) -> None:
        """Hold the next run after so many events; None lets it go to its end."""
        self._after = n_events

    def open(self) -> None:
        """Let the run go on that is held."""
        if self.holds:
            self.holds = False
            self._opened.set()

    def run(
        self, plan: Plan, dataset: FoldedDataset, target: RunTarget | None = None
    ) -> Iterator[Event]:
        """Run a plan as the window does."""
        after, self._after = self._after, None
        for number, event in enumerate(engine_run(plan, dataset, target)):
            if number == after:
                self._opened.clear()
                self.holds = True
                self._opened.wait()
            yield event


@dataclass
class Stage:
    """The window that is walked through, closed and opened again.

    Attributes
    ----------
    theme : Theme
    folder : Path
        Of this walk: settings and studies.
    places : Places
    """

    theme: Theme
    folder: Path
    places: Places
    gate: Gate = field(default_factory=Gate)
    _window: MainWindow | None = None
    _pauses: list[QTimer] = field(default_factory=list)

    @property
    def window(self) -> MainWindow:
        """The window that is open."""
        assert self._window is not None
        return self._window

    def open(self) -> None:
        """Open the window, with what was open the last time."""
        os.environ["RANKSTUDIO_DATA_DIR"] = str(self.folder / "user")
        with self.theme.building():
            window = self._window = MainWindow(
                self.theme, Settings(self.folder / "config"), self.gate.run
            )
        timers = [
            timer for timer in window.findChildren(QTimer) if timer.isSingleShot()
        ]
        self._pauses = [timer for timer in timers if timer.interval() <= _SHORT]
        for timer in self._pauses:
            timer.setInterval(0)  # so that a walk waits for no clock
        for worker in (window.models.task_worker, window.models.run_worker):
            worker._timer.setInterval(1)
        # The first thing that happens when the window closes, before it waits for its workers.
        window.closing.connect(self.gate.open)
        window.resize(1280, 760)
        window.show()
        window.restore()
        self.rest()

    def close(self) -> None:
        """Close the window, whatever it is doing."""
        if self._window is not None:
            window, self._window = self._window, None
            window.close_unasked()
            window.deleteLater()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
            QApplication.processEvents()

    def rest(self) -> None:
        """Wait until nothing happens any more: what works is held or paused, and all is shown.

        A run that goes on may take its time: leave-query-out of the sample stores 2,500 paths.
        """
        still: list[bool] = []

        def quiet() -> bool:
            still.append(self._quiet())
            return all(still[-_STILL:]) and len(still) >= _STILL

        progress, deadline = self._progress(), time.monotonic() + _PATIENCE
        while not quiet():
            if time.monotonic() > deadline:
                before, progress = progress, self._progress()
                assert progress != before, (
                    f"the window does not come to rest: {self._at_work()}"
                )
                deadline = time.monotonic() + _PATIENCE
            QApplication.processEvents()
            if not still[-1]:
                time.sleep(0.0005)

    def _progress(self) -> tuple[int, float]:
        """Return what grows while runs go on: how many there are, and the sum of what they have done."""
        runs = self.window.models.runs
        return len(runs.records), sum(record.progress for record in runs.records)

    def _at_work(self) -> list[str]:
        """Return what is still done."""
        models = self.window.models
        jobs = [job.what for job in (*models.task_worker.jobs, *models.run_worker.jobs)]
        return [
            *jobs,
            *(
                f"{type(one.parent()).__name__}'s timer"
                for one in self._pauses
                if one.isActive()
            ),
        ]

    def _quiet(self) -> bool:
        models = self.window.models
        jobs = models.run_worker.jobs
        if self.gate.holds and any(job.cancelled() for job in jobs):
            self.gate.open()
        held = self.gate.holds or any(job.held for job in jobs)
        waiting = turns().waiting or self.window.refresh_timer.is_active
        return not (
            models.loader.busy
            or models.task_worker.jobs
            or (jobs and not held)
            or models.run_worker._outbox
            or waiting
            or any(timer.isActive() for timer in self._pauses)
        )
