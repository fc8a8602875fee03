"""The documents with the features of the current model, as an item of the export dialog."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.formats.data_format import WRITTEN, DataFormat
from rankstudio.ui.background.job import CancelFlag, Ending, Job, Outcome
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.export.dialog import ExportItem, FormatWriter
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.selected_model import SelectedModel
from rankstudio.ui.model.session import Session

if TYPE_CHECKING:
    from rankstudio.engine.export.dataset_files import DatasetFiles, WrittenPart


def selected_data_item(
    session: Session, model: SelectedModel | None, worker: Worker, stem: str
) -> ExportItem:
    """Return the item: the parts of the fold that is looked at, in each format that data are written in.

    Parameters
    ----------
    session : Session
    model : SelectedModel, optional
        None where there is none.
    worker : Worker
        Writes.
    stem : str
        Of the suggested name.
    """
    dataset = session.dataset
    label, key, stem = tr("Data with the selected features"), "selected-data", f"{stem}-selected"
    if dataset is None or model is None or not model.step.selected or not session.has_documents:
        return ExportItem(
            key, label, "", _formats(1), stem, unavailable=_why_not(model), writers=_writers(None, (), worker)
        )
    ids = tuple(dataset.feature_ids[list(model.step.selected)].tolist())
    n = len(model.fold.parts)
    about = trn(
        "The documents of fold {fold} with the feature of the current model, which has the id 1 there.",
        "The documents of fold {fold} with the {n} features of the current model, numbered anew from 1.",
        len(ids),
    ).format(fold=model.fold.number, n=len(ids))
    beside = tr(
        "A table beside them, features.csv, has names and ids as they were. Missing values are filled."
    )
    only = replace(dataset, folds=(model.fold,))
    return ExportItem(key, label, f"{about} {beside}", _formats(n), stem, writers=_writers(only, ids, worker))


def _formats(n_parts: int) -> tuple[tuple[str, str], ...]:
    """Return labels and suffixes; several parts are written into a folder."""
    return tuple((tr(form.label), form.ending if n_parts == 1 else "") for form in WRITTEN)


def _why_not(model: SelectedModel | None) -> str:
    if model is None:
        return tr("There is no current model: run a method, or move λ.")
    if not model.step.selected:
        return tr("This ranking was given: no features were selected for it.")
    return tr("The data are not open: their documents cannot be written.")


def _writers(dataset: FoldedDataset | None, ids: Sequence[int], worker: Worker) -> tuple[FormatWriter, ...]:
    def files(form: DataFormat, path: Path) -> DatasetFiles:
        from rankstudio.engine.export.dataset_files import DatasetFiles  # noqa: PLC0415 - first needed here

        assert dataset is not None  # else the item is not available
        return DatasetFiles(dataset, path, form, ids, renumber=True)

    def paths(form: DataFormat, path: Path) -> Sequence[Path]:
        return files(form, path).paths

    def begin(
        form: DataFormat, path: Path, done: Callable[[str], object], failed: Callable[[str], object]
    ) -> Job:
        lost: dict[str, None] = {}

        def work(_: CancelFlag) -> Iterator[WrittenPart]:
            return files(form, path).save()  # a file after the other, until it is told to stop

        def end(outcome: Outcome) -> None:
            failed(outcome.text) if outcome.ending is Ending.FAILED else done(_said(form, tuple(lost)))

        def note(part: WrittenPart) -> None:
            lost.update(dict.fromkeys(part.losses))

        what = tr("Writing {name}").format(name=path.name)
        return worker.submit(Job(what, work, on_message=note, on_end=end))

    return tuple(FormatWriter("", None, partial(paths, form), begin=partial(begin, form)) for form in WRITTEN)


def _said(form: DataFormat, lost: Sequence[str]) -> str:
    """Say what a format does not keep that the table of features does not have either."""
    besides = [tr(what) for what in lost if what != "names of features"]
    text = tr("{form} does not keep: {lost}.")
    return text.format(form=tr(form.label), lost=", ".join(besides)) if besides else ""
