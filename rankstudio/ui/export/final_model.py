"""The export item of the final model: the shown run's choice, trained on all queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.engine.analysis.comparisons.comparability import comparable_groups
from rankstudio.engine.analysis.result_table.fold_table import measure_summary
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.support.work import Waiting, WorkProgress
from rankstudio.ui.background.worker import CancelFlag, Ending, Job, Outcome, Worker
from rankstudio.ui.export.written_models import save_and_compare
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import Session
from rankstudio.ui.page.export_item import ExportItem, FormatWriter
from rankstudio.ui.style.number_format import combination_label

if TYPE_CHECKING:
    from rankstudio.engine.export.formats.model_format import ModelFormat
    from rankstudio.engine.export.models import Model

Save = Callable[[Path, "Model"], str]
"""A function that writes a model to a file, and returns a sentence on the file."""


class _FinalModel:
    """The final model of a run, which is trained when it is first written to a file, and then kept.

    Parameters
    ----------
    result : RunResult
        Result of the run whose plan trains the model.
    dataset : FoldedDataset
    """

    def __init__(self, result: RunResult, dataset: FoldedDataset) -> None:
        self._result = result
        self._dataset = dataset
        self._model: Model | None = None

    def steps(self) -> Waiting[Model]:
        """Yield progress of the training, and return the model."""
        from rankstudio.engine.experiment.refit import refit_steps  # noqa: PLC0415 - brings kernels

        if self._model is None:
            self._model = yield from refit_steps(self._result, self._dataset)
        return self._model


def final_model_item(
    session: Session,
    record: RunRecord | None,
    measured: MeasuredRun | None,
    worker: Worker,
    stem: str,
    feature_set: FeatureSet | None,
) -> ExportItem:
    """Return the export item of the final model, in RankStudio's own formats and those of other programs.

    Parameters
    ----------
    session : Session
    record : RunRecord, optional
        The shown run.
    measured : MeasuredRun, optional
        The run with the measures of the current settings.
    worker : Worker
        Trains the model, writes and verifies it.
    stem : str
        Beginning of the suggested file name.
    feature_set : FeatureSet, optional
        Feature set of a search engine, with the definitions of the features.
    """
    key = "final-model"
    label = tr("Final model (all queries)")
    stem = f"{stem}-final-model"
    about = tr("One model, trained on all queries of all parts.")

    # An item without a model lists all formats, with the reason why
    # none can be written; its writers do nothing.
    formats = _format_suffixes(is_linear=True)
    reason = _reason_unavailable(session, record)
    if reason or record is None or record.result is None:
        writers = (FormatWriter(),) * len(formats)
        return ExportItem(
            key, label, about, formats, stem, unavailable=reason, writers=writers
        )

    # The plan of the record names the data by the path at which they are here.
    result = replace(
        record.result, plan=record.result.plan.changed(data=record.plan.data)
    )

    # Models of all folds are of one kind; that of the first fold tells
    # whether they are linear. The final model itself is trained once it
    # is written.
    step = result.folds[0].chosen.step

    # `measured.result` has the measures by the present settings.
    quality = _quality_sentence(
        measured.result if measured is not None else None, session.measure
    )
    writers = tuple(
        _format_writers(
            _FinalModel(result, record.dataset),
            result,
            record.dataset,
            worker,
            feature_set,
        )
    )
    return ExportItem(
        key,
        label,
        f"{about} {_choice_sentence(result)} {quality}",
        _format_suffixes(is_linear=step.linear),
        stem,
        writers=writers,
    )


def _reason_unavailable(session: Session, record: RunRecord | None) -> str:
    """Return why there is no final model of a run, as a sentence; "" if there is one."""
    if session.dataset is None:
        return tr("No data are open. Open data and run a method first.")
    if record is None:
        return tr("No run is shown. Run a method, or choose a finished run, first.")
    from rankstudio.engine.experiment.refit import check_refit  # noqa: PLC0415 - brings kernels

    try:
        # Called for its error: such a run may have no final model.
        check_refit(
            record.plan, finished=record.result is not None and record.result.complete
        )
    except PlanError as error:
        return str(error)
    if not session.has_documents:
        return tr(
            "The data are not open, so no model can be trained. Open the data of the run."
        )
    return ""


def _choice_sentence(result: RunResult) -> str:
    """Return the sentence on how the final model is chosen.

    A rule of the plan, such as "best", chooses the parameters and the
    size; it compares the means of a measure over all folds.
    """
    plan = result.plan
    n = len(result.folds)
    text = trn(
        "The rule “{rule}” chooses it by the {measure} of the fold.",
        "The rule “{rule}” chooses it by the mean {measure} of {n} folds.",
        n,
    )
    return text.format(rule=plan.rule, measure=_criterion_name(plan), n=n)


def _quality_sentence(result: RunResult | None, name: str) -> str:
    """Return the sentence on the estimated quality of the final model.

    The estimate is the quality of the run's models: the final model has
    learned from all queries, so that none are left to measure it.
    ``result`` is None before the run is measured. ``name`` is the
    preferred measure; another one is used if the run has not measured
    it. A measure on the queries that chose the model is no estimate.
    """
    if result is None or not result.complete:
        return tr("Its quality is not measured yet.")
    means = measure_summary(result.plan, result.folds).means
    name = name if name in means else next(iter(means), "")

    # Runs are grouped by what makes their means comparable: so the
    # group of this run alone says on which part of the data its means
    # were measured.
    group = comparable_groups({0: result})[0]
    part = group.key.part
    if not name or not part.is_estimate:
        return tr("No measure of the run estimates its quality: {part}.").format(
            part=part.label
        )

    # The extent is the folds and queries, as text.
    text = tr("Estimated quality: {name} {mean:.4f} ({part}, {extent}).")
    return text.format(
        name=name, mean=means[name], part=part.label, extent=group.extent
    )


def _criterion_name(plan: Plan) -> str:
    """Return the name of the measure by which a plan chooses a model.

    The name includes the part of the data on which the measure is
    computed. Measures of left-out queries (queries that were removed
    from training for this) say so in their own names.
    """
    if plan.select_by == CRITERION:
        return tr("training criterion")
    return (
        plan.select_by
        if plan.leaves_out
        else tr("validation {measure}").format(measure=plan.select_by)
    )


def _format_suffixes(*, is_linear: bool) -> tuple[tuple[str, str], ...]:
    """Return the formats of a model: pairs of a label and the suffix of files.

    RankStudio's own formats come first, then those of other programs.
    CSV has a weight for each feature, which only a linear model has.
    """
    from rankstudio.engine.export.formats.registry import model_formats  # noqa: PLC0415 - brings the formats

    own_formats = (
        (("JSON", ".json"), ("CSV", ".csv")) if is_linear else (("JSON", ".json"),)
    )
    return *own_formats, *(
        (form.label, form.suffix) for form in model_formats().values()
    )


def _format_writers(
    final: _FinalModel,
    result: RunResult,
    dataset: FoldedDataset,
    worker: Worker,
    feature_set: FeatureSet | None,
) -> Iterator[FormatWriter]:
    """Yield a writer for each format: RankStudio's own formats, then those of other programs.

    Each writer trains the final model first, unless another one already
    has. CSV needs a weight for each feature, which only a linear model
    has. ``result`` is that of the run, and ``dataset`` the run's data.
    The worker trains and writes; ``feature_set`` defines the features
    for a search engine.
    """
    from rankstudio.engine.export.formats.registry import model_formats  # noqa: PLC0415 - brings the formats

    step = result.folds[0].chosen.step
    plan = result.plan
    begin = partial(_begin_training, final, plan, worker)
    summaries = {
        ".json": tr(
            "RankStudio's own format, which says how the model was trained and chosen."
        ),
        ".csv": tr("Features and weights only."),
    }
    for suffix in summaries if step.linear else (".json",):
        yield FormatWriter(summaries[suffix], begin=partial(begin, _save_own))
    for form in model_formats().values():
        # Why the format cannot store such a model; "" if it can.
        reason = form.refusal(
            linear=step.linear, scaled=plan.normalize != "none", kind=step.kind
        )
        save = partial(_save_in_format, form, dataset, feature_set)
        yield FormatWriter(
            tr(form.summary),
            paths=partial(_written_paths, form),
            unavailable=reason,
            begin=partial(begin, save),
        )


def _written_paths(form: ModelFormat, path: Path) -> Sequence[Path]:
    """Return the files that a format writes for a path."""
    return tuple(form.paths(path).values())


def _begin_training(
    final: _FinalModel,
    plan: Plan,
    worker: Worker,
    save: Save,
    path: Path,
    on_done: Callable[[str], object],
    failed: Callable[[str], object],
) -> Job:
    """Submit a job that trains the final model, unless it is trained, and writes it to ``path``.

    ``save`` writes a trained model and returns a remark. The job sends
    its progress, and at last a sentence on the model and the file. When
    it has ended, this sentence is passed to ``on_done``; the reason of
    a failure is passed to ``failed``.
    """
    notes: list[str] = []

    def work(_: CancelFlag) -> Iterator[WorkProgress | str]:
        """Train the model and write it to `path`: yield the progress, then the sentence at the end."""
        model = yield from final.steps()

        # All of the work is done but the writing.
        yield WorkProgress(tr("writing {name}").format(name=path.name), 1.0)
        yield " ".join(
            filter(None, (_choice_of_model_sentence(plan, model), save(path, model)))
        )

    def note(message: WorkProgress | str) -> None:
        """Store the sentence; the dialog shows the progress itself."""
        if isinstance(message, str):
            notes.append(message)

    def end(outcome: Outcome) -> None:
        """Call `failed` with the reason of a failure, else `on_done` with the sentence."""
        failed(outcome.text) if outcome.ending is Ending.FAILED else on_done(
            " ".join(notes)
        )

    # With `gives_way`, the worker carries out other waiting jobs
    # between the steps of this one, which takes long.
    job = Job(
        tr("Training the final model"),
        work,
        on_message=note,
        on_end=end,
        gives_way=True,
    )
    return worker.submit(job)


def _choice_of_model_sentence(plan: Plan, model: Model) -> str:
    """Return the sentence on the parameters and the size of the final model: "λ = 2³ · k = 7".

    All folds together have chosen the parameters and the size.
    ``model`` is the final model, and ``plan`` the plan of its run.
    """
    chosen_values = model.origin["chosen"]["values"]
    values_text = combination_label(
        plan.axes, [chosen_values[axis.name] for axis in plan.axes]
    )
    model_text = " · ".join(filter(None, (values_text, f"k = {len(model.features)}")))
    return tr("Chosen by all folds: {model}.").format(model=model_text)


def _save_own(path: Path, model: Model) -> str:
    """Write a model in RankStudio's own format; return "", as there is no remark."""
    from rankstudio.engine.export.models import save_model  # noqa: PLC0415 - on the worker only

    save_model(path, model)
    return ""


def _save_in_format(
    form: ModelFormat,
    dataset: FoldedDataset,
    feature_set: FeatureSet | None,
    path: Path,
    model: Model,
) -> str:
    """Write a model in the format of another program, and return a sentence on how the written file ranks.

    The file at ``path`` is written in the format ``form``. The sentence
    compares the rankings of documents of ``dataset`` by the file and by
    ``model``. ``feature_set`` defines the features for a search engine;
    None for no definitions.
    """
    from rankstudio.engine.experiment.model_data import parts_to_try  # noqa: PLC0415 - on the worker only

    return save_and_compare(
        model, form, path, parts_to_try(dataset, model.origin["fold"]), feature_set
    )
