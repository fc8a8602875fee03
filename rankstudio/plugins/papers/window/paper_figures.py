"""The figures of papers from the runs of the study, in the dialog *Export*."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.support.files import make_folder
from rankstudio.ui.background.worker import Job, Worker
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.selected_model import SEALED
from rankstudio.ui.page.controller import CommandController
from rankstudio.ui.page.export_item import ExportItem, FormatWriter
from rankstudio.ui.process.files_read import file_stem


class PaperFiguresController(CommandController):
    """Offers the figures of each paper that has at least one of the finished runs on the open data."""

    def export_items(self) -> Iterator[ExportItem]:
        """Yield an item of the dialog *Export* for each paper, to write its figures.

        Papers to which none of the finished runs belong are left out.
        """
        from rankstudio.plugins.papers.reproduction import (  # noqa: PLC0415 - brings kernels
            load_reproduction,
            reproductions,
        )

        session = self._models.session
        worker = self._models.task_worker
        records = self._models.runs.records
        finished = [
            r.result
            for r in records
            if r.result is not None and r.dataset is session.dataset
        ]
        if session.dataset is None or not finished or not session.has_documents:
            return
        name = file_stem(session.dataset.name)
        for key in reproductions():
            paper = load_reproduction(key)
            if all(
                (run.plan.method, run.plan.ranker) not in paper.methods
                for run in finished
            ):
                continue
            begin = partial(
                _begin_figures, worker, key, tuple(finished), session.dataset
            )
            text = tr(
                "A folder with the figures of the paper from the runs of the study, as PDF and CSV: {title}."
            )
            yield ExportItem(
                f"figures-{key}",
                tr("Figures of the paper: {key}").format(key=key),
                text.format(title=paper.title),
                ((tr("Folder"), ""),),  # the only format; "" is no suffix
                f"{name}-{key}-figures",
                unavailable=SEALED if session.sealed else "",
                writers=(FormatWriter(begin=begin),),
            )


def _begin_figures(
    worker: Worker,
    key: str,
    runs: tuple[RunResult, ...],
    data: FoldedDataset,
    path: Path,
    on_done: Callable[[str], object],
    on_error: Callable[[str], object],
) -> Job:
    """Start writing the figures of a paper into the folder ``path``; return the job.

    ``key`` names the paper, and ``runs`` and ``data`` are its runs and
    their data. ``on_done`` is called with the number of figures as a
    text, and ``on_error`` with a reason.
    """

    def write() -> int:
        """Write the figures on the worker, and return their number.

        In the enclosing function, ``key`` names the paper, and ``runs``
        and ``data`` are its runs and their data.
        """
        from rankstudio.engine.export.figures.files import write_figure_files  # noqa: PLC0415 - brings kernels
        from rankstudio.plugins.papers import paper_figures as papers  # noqa: PLC0415 - as above
        from rankstudio.plugins.papers.reproduction import load_reproduction  # noqa: PLC0415 - as above

        paper = load_reproduction(key)
        make_folder(path)
        figures = papers.paper_figures(paper, papers.runs_of_paper(paper, runs), data)
        written = write_figure_files(papers.figure_files_of(figures, path))

        # A figure is a PDF and a CSV file.
        return sum(file.suffix == ".pdf" for file in written)

    def tell(n: int) -> None:
        """Report the number of figures."""
        on_done(trn("{n} figure", "{n} figures", n).format(n=n))

    return worker.task(
        tr("Drawing the figures"), write, on_done=tell, on_error=on_error
    )
