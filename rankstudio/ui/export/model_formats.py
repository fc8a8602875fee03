"""The current model in the formats of other programs, as an item of the export dialog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import RankStudioError
from rankstudio.ui.background.job import Job
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.export.dialog import ExportItem, FormatWriter
from rankstudio.ui.language import tr
from rankstudio.ui.model.selected_model import SelectedModel

if TYPE_CHECKING:
    from rankstudio.engine.export.formats.model_format import ModelFormat
    from rankstudio.engine.export.models import Model as PortableModel


def model_formats_item(
    selected: SelectedModel | None, portable: Callable[[], PortableModel], worker: Worker, stem: str, why: str
) -> ExportItem:
    """Return the item: a format each of the engine's registry.

    Parameters
    ----------
    selected : SelectedModel, optional
        None where there is none.
    portable : callable
        Returns the model as it is taken away.
    worker : Worker
        Reads back what was written, and compares the rankings.
    stem : str
        Of the suggested name of the file.
    why : str
        Why there is no model to write; "" where there is one.
    """
    from rankstudio.engine.export.formats.registry import MODEL_FORMATS  # noqa: PLC0415 - brings the formats

    forms = MODEL_FORMATS.values()
    return ExportItem(
        "model-formats",
        tr("Model for another program"),
        tr("The current model as another program loads it. It is read back and ranked with."),
        tuple((form.label, form.suffix) for form in forms),
        f"{stem}-model",
        unavailable=why,
        writers=tuple(_writer(form, selected, portable, worker) for form in forms),
    )


def _writer(
    form: ModelFormat, selected: SelectedModel | None, portable: Callable[[], PortableModel], worker: Worker
) -> FormatWriter:
    def paths(path: Path) -> Sequence[Path]:
        return tuple(form.paths(path).values())

    def write(path: Path) -> None:
        from rankstudio.engine.export.proof import fitted_function  # noqa: PLC0415 - brings kernels
        from rankstudio.engine.export.score_function import score_function  # noqa: PLC0415 - brings kernels

        assert selected is not None
        fold, model = selected.fold, portable()
        function = score_function(model)
        parts = [fold.test or fold.vali or fold.train]
        form.save(path, form.files(fitted_function(model, function, form, parts)))

    def check(path: Path, say: Callable[[str], object]) -> Job:
        assert selected is not None  # else nothing was written
        fold = selected.fold
        part = fold.test or fold.vali or fold.train
        return worker.task(
            tr("Reading back {name}").format(name=path.name),
            partial(compare_rankings, portable(), form, path, part),
            on_done=say,
            on_error=say,
            slot="model-formats",
        )

    if selected is None:
        return FormatWriter(tr(form.summary), write, paths)
    scaled = selected.plan.normalize != "none"
    step = selected.step
    why = form.refusal(linear=step.linear, scaled=scaled, kernel=step.kernel)
    return FormatWriter(tr(form.summary), write, paths, check, why)


def compare_rankings(model: PortableModel, form: ModelFormat, path: Path, part: RankingDataset) -> str:
    """Read back what was written, rank documents with it, and say on how many queries it ranks alike.

    Parameters
    ----------
    model : Model
    form : ModelFormat
    path : Path
        The file that was written.
    part : RankingDataset
        The documents; where the model's values are scaled, they are read anew, as they were before.
    """
    from rankstudio.engine.experiment.model_data import trial_parts  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.export.proof import ranking_proof, unproved  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.export.score_function import score_function  # noqa: PLC0415 - on the worker only

    function = score_function(model)
    try:
        files = {ending: place.read_bytes() for ending, place in form.paths(path).items()}
        parts = trial_parts(model)[0] if function.scaled else [part]
        return ranking_proof(model, function, form, files, parts).sentence
    except (RankStudioError, OSError) as error:
        return unproved(str(error)).sentence
