"""Items of the export dialog: models, data, results, tables, plots, and the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.feature_sets import LABELS, FeatureSet
from rankstudio.engine.data.formats.format_catalog import written_formats
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan.as_code import PLAN_FORMATS
from rankstudio.engine.experiment.results.results import Chosen
from rankstudio.engine.export.figures.files import caption_text
from rankstudio.engine.export.figures.style import style_of
from rankstudio.engine.support.files import write_text
from rankstudio.ui.background.worker import CancelFlag, Ending, Job, Outcome, Worker
from rankstudio.ui.compare.feeders import ComparisonScope
from rankstudio.ui.export.final_model import final_model_item
from rankstudio.ui.export.written_models import (
    compare_rankings,
    save_and_compare,
    save_model_form,
)
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.selected_model import (
    NOT_WHOLE,
    SEALED,
    CurrentModel,
    SelectedModel,
)
from rankstudio.ui.model.session import Session
from rankstudio.ui.page.export_item import ExportItem, FormatWriter
from rankstudio.ui.plots import Plot
from rankstudio.ui.plots.base import FORMATS as PLOT_FORMATS
from rankstudio.ui.plots.base import save_figure
from rankstudio.ui.process.files_read import file_stem
from rankstudio.ui.shell.sections import Sections
from rankstudio.ui.style.number_format import combination_label
from rankstudio.ui.widgets.columns import FORMATS
from rankstudio.ui.widgets.table import TableView

if TYPE_CHECKING:
    from rankstudio.engine.export.dataset_files import DatasetFiles, WrittenPart
    from rankstudio.engine.export.figures.values import Figure
    from rankstudio.engine.export.formats.model_format import ModelFormat
    from rankstudio.engine.export.models import Model as PortableModel

_NO_MODEL = tr("No current model: run a method first.")


def export_items(models: Models, sections: Sections) -> tuple[ExportItem, ...]:
    """Return all items to export, in the order of the dialog.

    An item that cannot be exported has the reason for that.
    """
    session = models.session
    current = models.current
    pages = sections.pages.values()

    # File names begin with the name of the data. `portable` makes the
    # model in the form in which it is written; it is called only once
    # the user saves the model.
    name = file_stem(session.dataset.name if session.dataset else "rankstudio")
    model = current.model

    # The first reason is always a sentence, and is used if there is no
    # model; the second is "" if the model can be written.
    reason_for_absence = no_model_reason(session, current)
    reason = _reason_without_model(model, reason_for_absence)
    portable = partial(_portable_model, session, current, model)
    return (
        _model_item(model, portable, name, reason),
        model_formats_item(
            model, portable, models.task_worker, name, reason, _feature_set(session)
        ),
        _final_model_item(models, name),
        feature_set_item(model, session.dataset, name, reason_for_absence),
        selected_data_item(
            session, model, models.task_worker, name, reason_for_absence
        ),
        _run_item(current.shown.record, session, name),
        # Items of the pages, tables, plots, then those of plug-ins.
        *sections.export_items(),
        *(
            _table_item(table, name)
            for page in pages
            for table in page.shared(TableView)
            if _is_visible_or_filled(table)
        ),
        *(
            _plot_item(models, plot, name)
            for page in pages
            for plot in page.shared(Plot)
        ),
        *sections.contributed.export_items(),
        *_plan_items(session, name),
    )


def _final_model_item(models: Models, name: str) -> ExportItem:
    """Return the item of the final model of the shown run; file names begin with ``name``."""
    session = models.session
    record = models.current.shown.record

    # The run with the measures by the present settings.
    measured = models.measured.view(record) if record is not None else None
    return final_model_item(
        session, record, measured, models.task_worker, name, _feature_set(session)
    )


def plot_figures(models: Models, sections: Sections) -> list[tuple[Plot, Figure]]:
    """Return all plots that are not empty, each with its figure."""
    plots = (plot for page in sections.pages.values() for plot in page.shared(Plot))
    return [(plot, plot_figure(models, plot)) for plot in plots if not plot.is_empty()]


def plot_figure(models: Models, plot: Plot) -> Figure:
    """Return the content of a plot as a figure, with a caption that names the source of the numbers.

    If the plot shows no run, the figure has the plot's own caption.
    ``models`` has the data and the runs.
    """
    plot.flush()  # draws changes of the last milliseconds, which wait for a redraw
    shared = plot.shared
    figure = plot.figure()
    dataset = models.session.dataset

    # Label and title, once if they are equal.
    title = ": ".join(
        dict.fromkeys(
            filter(None, [shared.label or plot.accessibleName(), figure.title])
        )
    )
    if figure.caption:  # the plot shows no run, and its own caption names the source
        return replace(figure, name=shared.key or "figure", title=title)
    data = dataset.name if dataset is not None else "RankStudio"
    caption = _source_caption(models, compared=shared.compares) or f"{data}."
    return replace(
        figure,
        name=f"{file_stem(data)}-{shared.key or 'figure'}",
        title=title,
        caption=caption,
    )


def _source_caption(models: Models, *, compared: bool) -> str:
    """Return the caption on the source of a plot's numbers; "" without data.

    The source are the compared runs if the plot compares runs
    (``compared``) and there are any. Otherwise it is the shown plan,
    with the chosen model.
    """
    from rankstudio.engine.analysis.figures import captions  # noqa: PLC0415 - brings the engine's kernels
    from rankstudio.engine.experiment.versions import versions  # noqa: PLC0415 - looks for what is installed

    session = models.session
    view = models.current.shown
    dataset = view.dataset
    model = view.model
    compared_runs = ComparisonScope(models).results_of_shown_group() if compared else {}
    if compared_runs:
        return captions.runs_text(list(compared_runs.items()), session.measure)
    if dataset is None:
        return ""
    description = ""
    if model is not None:
        size = len(model.step.selected)
        description = captions.model_text(
            model.plan, model.fold.number, model.values, size
        )

        # A live model was computed for the form, outside of a run.
        description += (
            " " + tr("This model is not part of any run.") if model.live else ""
        )

    # Versions of RankStudio, its libraries, and the packages of the
    # plan's methods.
    software = versions(view.plan.sources)
    return captions.plan_text(
        view.plan,
        dataset.name,
        software,
        len(dataset.folds),
        session.measure,
        description,
    )


def _model_item(
    model: SelectedModel | None,
    portable: Callable[[], PortableModel],
    name: str,
    reason: str,
) -> ExportItem:
    """Return the item of the chosen model in RankStudio's own formats.

    CSV is left out for a model without weights. ``portable`` returns
    the model in the form in which models are written. ``name`` begins
    the file's name. ``reason`` says why there is no model, "" if there
    is one.
    """

    def write(path: Path) -> None:
        """Write the model to a file."""
        from rankstudio.engine.export.models import save_model  # noqa: PLC0415 - brings the engine's kernels

        save_model(path, portable())

    return ExportItem(
        "model",
        tr("Chosen model"),
        _text_with_model(
            tr(
                "Features and weights of the current model by id and name, with its measures."
            ),
            model,
        ),
        (("JSON", ".json"), ("CSV", ".csv"))
        if model is None or model.step.linear
        else (("JSON", ".json"),),
        f"{name}-model",
        write,
        unavailable=reason,
    )


def _text_with_model(about: str, model: SelectedModel | None) -> str:
    """Return the description of an item, ``about``, with a line on the current model.

    The line is left out if there is no model (None).
    """
    if model is None:
        return about
    parts = (
        tr("fold {number}").format(number=model.fold.number),
        combination_label(model.plan.axes, model.values),
        f"k = {len(model.step.selected)}",
    )
    return f"{about}\n" + tr("Current model: {model}").format(
        model=" · ".join(filter(None, parts))
    )


def no_model_reason(session: Session, current: CurrentModel) -> str:
    """Return why there is no current model, and what the user can do.

    A model needs data, a run, and a single fold that the run has finished.
    """
    record = current.shown.record
    fold = session.shown_fold
    if session.dataset is None:
        return tr("No data are open. Open data and run a method first.")
    if record is None:
        return _NO_MODEL
    if fold is None:
        return tr(
            "All folds are shown, and each fold has a model of its own. Choose a fold in the toolbar, or "
            "export the final model (all queries)."
        )
    if fold.number not in record.folds:
        text = tr(
            "The run has not finished fold {number} yet. Finish the run, or choose another fold."
        )
        return text.format(number=fold.number)
    return _NO_MODEL


def _reason_without_model(model: SelectedModel | None, absent: str) -> str:
    """Return why the current model cannot be written; "" if it can.

    ``absent`` is the reason why there is no model, if there is none.
    """
    if model is None:
        return absent
    if not model.step.learned:
        return tr("Given scores have no model to rank other documents.")
    return "" if model.step.whole else NOT_WHOLE


def _portable_model(
    session: Session, current: CurrentModel, model: SelectedModel | None
) -> PortableModel:
    """Return the chosen model in the form in which models are written, with its measures.

    The measures are those on validation and test data. ``session`` has
    the open data, and ``current`` the measures on test data.
    """
    from rankstudio.engine.experiment.reports import portable_model  # noqa: PLC0415 - brings kernels

    dataset = session.dataset
    assert dataset is not None and model is not None  # else the item is not available
    ids_and_names = dataset.feature_ids.tolist(), dataset.feature_names
    validation = {
        # The values are those of all steps of the path; the model is one step.
        name: float(values[model.position])
        for name, values in model.path.validation.items()
    }
    chosen = Chosen(model.path.unit, model.step)
    measures = {"validation": validation, "test": current.test}
    return portable_model(model.plan, ids_and_names, dataset.name, chosen, measures)


def _run_item(record: RunRecord | None, session: Session, name: str) -> ExportItem:
    """Return the item that exports the results of a run into a folder.

    Folds that are finished can be exported before the run is. Results
    on a sealed test part cannot be exported. The folder's name begins
    with ``name``. ``record`` is the shown run, None without one.
    """

    def write(path: Path) -> None:
        """Write the results of the run, or of its finished folds, into the folder ``path``.

        The run is known to the enclosing function.
        """
        from rankstudio.engine.experiment.reports import write_results  # noqa: PLC0415 - brings kernels
        from rankstudio.engine.experiment.runner import collect  # noqa: PLC0415 - brings kernels
        from rankstudio.engine.support.files import make_folder  # noqa: PLC0415 - first needed here

        assert record is not None  # else the item is not available
        folds = tuple(record.folds.values())
        make_folder(path)

        # A run that is not finished has no result: its folds are
        # collected in one.
        run_result = record.result or collect(
            record.plan, record.dataset, folds, record.clock.seconds
        )
        write_results(run_result, path)

    reason = (
        ""
        if record is not None and record.folds
        else tr("The run has no finished fold yet.")
    )
    return ExportItem(
        "results",
        tr("Results of the run"),
        tr(
            "A folder with results.json, metrics.csv, selection_path.csv and plan.toml, as "
            "written in the terminal."
        ),
        ((tr("Folder"), ""),),
        f"{name}-results",
        write,
        unavailable=SEALED
        if record is not None and session.is_sealed(record.dataset)
        else reason,
    )


def _is_visible_or_filled(table: TableView) -> bool:
    """Return whether a table is visible or has rows, and so is listed."""
    return table.isVisible() or bool(table.rows())


def _table_item(table: TableView, name: str) -> ExportItem:
    """Return the item of a table: as a file, or as CSV on the clipboard.

    The file's name begins with ``name``.
    """
    shared = table.shared
    return ExportItem(
        shared.key,
        shared.label,
        shared.about,
        FORMATS,
        f"{name}-{shared.key}",
        table.export,
        table.rows_as_csv,
        unavailable="" if table.rows() else tr("The table is empty."),
    )


def _plot_item(models: Models, plot: Plot, name: str) -> ExportItem:
    """Return the item of a plot, as a figure or as CSV.

    Each written file has a text file with the caption beside it. The
    names of both begin with ``name``.
    """

    def paths(path: Path) -> tuple[Path, Path]:
        """Return the file of the figure, and that of the caption."""
        return path, path.with_name(path.name + ".txt")

    def begin(
        path: Path, on_done: Callable[[str], object], failed: Callable[[str], object]
    ) -> Job:
        """Submit a job that writes the figure of `plot`, and a text file with its caption.

        The figure is written to ``path``. At the end ``on_done`` is
        called with a remark, or ``failed`` with the reason of the
        failure.
        """
        label = tr("Writing {name}").format(name=path.name)

        # A plot of its own source (not of the shown data) has a caption
        # that says so, and needs no heading.
        figure = plot_figure(models, plot)
        names_its_source = bool(plot.figure().caption)
        heading = (
            ""
            if names_its_source
            else _plot_heading(models.session, compared=plot.shared.compares)
        )

        def write() -> None:
            """Write the figure and its caption; called on the worker."""
            figure_path, caption_path = paths(path)
            save_figure(figure, figure_path, replace(style_of("page"), heading=heading))
            write_text(caption_path, caption_text(figure))

        # `on_done` takes a sentence on what is lost in the file, "" for nothing.
        return models.task_worker.task(
            label, write, on_done=lambda _: on_done(""), on_error=failed
        )

    key = plot.shared.key

    # The titles of the columns, and the rows.
    _, rows = plot.numbers()
    reason = "" if rows else tr("The plot is empty.")
    text = tr(
        "The plot as shown, in light colours; as CSV, its numbers. A text file names data, fold and model."
    )
    writer = FormatWriter(paths=paths, begin=begin)
    return ExportItem(
        f"plot-{key}",
        plot.shared.label,
        text,
        PLOT_FORMATS,
        f"{name}-{key}",
        unavailable=reason,
        writers=(writer,) * len(PLOT_FORMATS),
    )


def _plot_heading(session: Session, *, compared: bool) -> str:
    """Return the heading of a plot: the data and the fold.

    For a plot of several runs (``compared``), it is the data alone.
    """
    dataset = session.dataset
    fold = session.fold
    if dataset is None or compared or len(dataset.folds) == 1:
        return dataset.name if dataset is not None else ""
    if fold is None:
        return tr("{data}, all folds").format(data=dataset.name)
    return tr("{data}, fold {number}").format(data=dataset.name, number=fold)


def _plan_items(session: Session, name: str) -> Iterator[ExportItem]:
    """Yield an item for the plan in each of its formats, such as TOML or a command.

    The terminal writes the same formats. The names of files begin with
    ``name``.
    """
    for form in PLAN_FORMATS:
        # There is no folder for results (""), and there are no versions
        # ({}), as those belong to a run.
        text = form.text(session.plan, "", {})
        yield ExportItem(
            f"plan-{form.key}",
            tr(form.label),
            tr(form.help),
            formats=((form.suffix.removeprefix("."), form.suffix),),
            stem=f"{name}-plan",
            write=partial(_write_text, text),
            # For the clipboard, without the line break at the end.
            text=text.rstrip,
        )


def code_items(
    key: str,
    labels: Mapping[str, str],
    code: Mapping[str, str],
    name: str,
    unavailable: str,
) -> Iterator[ExportItem]:
    """Yield items for a command, a program and a notebook.

    Parameters
    ----------
    key : str
        Beginning of the items' keys.
    labels : Mapping of str to str
        Labels of the items, by the suffixes of the files.
    code : Mapping of str to str
        Contents of the files, by their suffixes; empty if there is no code.
    name : str
        Suggested file name without its suffix.
    unavailable : str
        Reason why there is no code.
    """
    summaries = {
        ".sh": tr("The terminal command that repeats this."),
        ".py": tr("A Python program that repeats this with the library."),
        ".ipynb": tr("A Jupyter notebook that repeats this with the library."),
    }
    for suffix, label in labels.items():
        source = code.get(suffix, "")
        yield ExportItem(
            f"{key}{suffix}",
            label,
            summaries[suffix],
            formats=((suffix.removeprefix("."), suffix),),
            stem=name,
            write=partial(_write_text, source),
            text=source.rstrip,
            unavailable="" if code else unavailable,
        )


def _write_text(text: str, path: Path) -> None:
    """Write a text to a file."""
    write_text(path, text)


def _feature_set(session: Session) -> FeatureSet | None:
    """Return the imported feature set of the open data; None without one."""
    return (
        session.dataset.extension(FeatureSet) if session.dataset is not None else None
    )


def feature_set_item(
    selected: SelectedModel | None,
    dataset: FoldedDataset | None,
    stem: str,
    absent: str = _NO_MODEL,
) -> ExportItem:
    """Return the item of the imported feature set, reduced to the features of the current model.

    File names begin with ``stem``. ``absent`` is the reason why there
    is no current model, if there is none. ``selected`` is the current
    model, None without one.
    """
    # The text of the file, or the reason why there is none.
    feature_set = dataset.extension(FeatureSet) if dataset is not None else None
    text = ""
    reason = ""
    if feature_set is None or dataset is None:
        reason = tr("No feature set: choose File → Import feature set….")
    elif selected is None or not selected.step.selected:
        reason = absent
    else:
        ids = dataset.feature_ids.tolist()
        names = dataset.feature_names
        try:
            definitions = feature_set.of(
                [(ids[column], names[column]) for column in selected.step.selected]
            )

            # The definitions also need those from which they are derived.
            text = feature_set.reduced(definitions.values()).text()
        except RankStudioError as error:
            reason = str(error)
    engine = LABELS[feature_set.engine] if feature_set is not None else "JSON"
    suffix = feature_set.suffix if feature_set is not None else ".json"
    return ExportItem(
        "feature-set",
        tr("Reduced feature set"),
        tr(
            "The features of the current model with their definitions as in the imported feature set, and "
            "those from which they are derived."
        ),
        ((tr(engine), suffix),),
        f"{stem}-featureset",
        partial(_write_text, text),
        text.rstrip,
        unavailable=reason,
    )


def model_formats_item(
    selected: SelectedModel | None,
    portable: Callable[[], PortableModel],
    worker: Worker,
    stem: str,
    reason: str,
    feature_set: FeatureSet | None = None,
) -> ExportItem:
    """Return the item of the current model in the formats of other programs.

    Parameters
    ----------
    selected : SelectedModel, optional
        The current model, if there is one.
    portable : callable
        Returns the current model in the form in which models are exported.
    worker : Worker
        Verifies written files by comparing rankings.
    stem : str
        Beginning of the suggested file name.
    reason : str
        Reason why there is no model to write; "" if there is one.
    feature_set : FeatureSet, optional
        Feature set of a search engine, with the definitions of the features.
    """
    from rankstudio.engine.export.formats.registry import model_formats  # noqa: PLC0415 - brings the formats

    forms = model_formats().values()
    return ExportItem(
        "model-formats",
        tr("Model for another program"),
        _text_with_model(
            tr(
                "The current model in the format of another program. The written file is verified: it "
                "must give the same ranking."
            ),
            selected,
        ),
        tuple((form.label, form.suffix) for form in forms),
        f"{stem}-model",
        unavailable=reason,
        writers=tuple(
            _model_writer(form, selected, portable, worker, feature_set)
            for form in forms
        ),
    )


def _model_writer(
    form: ModelFormat,
    selected: SelectedModel | None,
    portable: Callable[[], PortableModel],
    worker: Worker,
    feature_set: FeatureSet | None,
) -> FormatWriter:
    """Return the writer of a model in a format of another program.

    The writer also verifies that the written file ranks as the model
    does. A format of RankStudio itself is written at once and verified
    on the worker. A format of another package (``form.package``) does
    both on the worker, as its code may take long. ``portable`` returns
    the model in the form in which models are written, and
    ``feature_set`` defines the features for a search engine.
    """

    def paths(path: Path) -> Sequence[Path]:
        """Return the files that the format writes for a path."""
        return tuple(form.paths(path).values())

    def trial_parts() -> Sequence[RankingDataset]:
        """Return the documents that both the model and the written file rank."""
        assert selected is not None  # else nothing is written
        return [selected.fold.test or selected.fold.vali or selected.fold.train]

    def write(path: Path) -> None:
        """Write the model to a path, in the format `form`."""
        save_model_form(portable(), form, path, trial_parts(), feature_set)

    def check(path: Path, say: Callable[[str], object]) -> Job:
        """Submit a job that ranks with the written file, and return the job.

        The file is at ``path``. ``say`` is called with a sentence on
        the outcome, or with the error. `portable` returns the model,
        and `form` is its format; both rank the documents of
        `trial_parts`.
        """
        return worker.task(
            tr("Verifying {name}").format(name=path.name),
            partial(
                compare_rankings, portable(), form, path, trial_parts(), feature_set
            ),
            on_done=say,
            on_error=say,
            slot="model-formats",
        )

    def begin(
        path: Path, on_done: Callable[[str], object], failed: Callable[[str], object]
    ) -> Job:
        """Submit a job that writes the model and verifies the file, and return the job.

        ``on_done`` is called with a sentence on the outcome, ``failed``
        with an error. `portable` returns the model, and `form` is its
        format; both rank the documents of `trial_parts`.
        """
        return worker.task(
            tr("Writing {name}").format(name=path.name),
            partial(
                save_and_compare, portable(), form, path, trial_parts(), feature_set
            ),
            on_done=on_done,
            on_error=failed,
        )

    if (
        selected is None
    ):  # the item is not available; its formats are listed all the same
        return FormatWriter(tr(form.summary), write, paths)
    scaled = selected.plan.normalize != "none"
    step = selected.step
    reason = form.refusal(linear=step.linear, scaled=scaled, kind=step.kind)
    if form.package:
        return FormatWriter(
            tr(form.summary), paths=paths, unavailable=reason, begin=begin
        )
    return FormatWriter(
        tr(form.summary), write=write, paths=paths, check=check, unavailable=reason
    )


def selected_data_item(
    session: Session,
    model: SelectedModel | None,
    worker: Worker,
    stem: str,
    absent: str = _NO_MODEL,
) -> ExportItem:
    """Return the item of the shown fold's documents with the features of the current model only.

    Parameters
    ----------
    session : Session
    model : SelectedModel, optional
        The current model, if there is one.
    worker : Worker
        Writes the files.
    stem : str
        Beginning of the suggested file name.
    absent : str
        Reason why there is no current model, if there is none.
    """
    # An item that is not available has no description, and lists the
    # formats of a single file.
    dataset = session.dataset
    label = tr("Data with the selected features")
    key = "selected-data"
    stem = f"{stem}-selected"
    if (
        dataset is None
        or model is None
        or not model.step.selected
        or not session.has_documents
    ):
        return ExportItem(
            key,
            label,
            "",
            _dataset_formats(1),
            stem,
            unavailable=_reason_not_writable(model, absent),
            writers=_dataset_writers(None, (), worker),
        )
    ids = tuple(dataset.feature_ids[list(model.step.selected)].tolist())
    n_parts = len(model.fold.parts)
    about = trn(
        "The documents of fold {fold} with the feature of the current model, renumbered as 1.",
        "The documents of fold {fold} with the {n} features of the current model, renumbered from 1.",
        len(ids),
    ).format(fold=model.fold.number, n=len(ids))
    note = tr(
        "The table features.csv in the same folder gives names and original ids. Missing "
        "values are filled in."
    )
    one_fold = replace(dataset, folds=(model.fold,))
    return ExportItem(
        key,
        label,
        f"{about} {note}",
        _dataset_formats(n_parts),
        stem,
        writers=_dataset_writers(one_fold, ids, worker),
    )


def _dataset_formats(n_parts: int) -> tuple[tuple[str, str], ...]:
    """Return the label and the suffix of each data format.

    ``n_parts`` is the number of parts of the data. Several parts are
    written into a folder, whose name has no suffix.
    """
    return tuple(
        (tr(form.label), form.ending if n_parts == 1 else "")
        for form in written_formats()
    )


def _reason_not_writable(model: SelectedModel | None, absent: str) -> str:
    """Return why the documents cannot be written, although data may be open.

    ``absent`` is the reason why there is no model, if there is none.
    """
    if model is None:
        return absent
    if not model.step.selected:
        return tr("Given scores have no selected features.")
    return tr("The data are not open, so the documents cannot be written.")


def _dataset_writers(
    dataset: FoldedDataset | None, ids: Sequence[int], worker: Worker
) -> tuple[FormatWriter, ...]:
    """Return a writer for each data format; it writes a dataset with some features only.

    ``ids`` are the ids of these features, which are renumbered from 1.
    Without a dataset (None), the item cannot be exported: then the
    writers only fill the list of formats, and are never called.
    """

    def files(form: DataFormat, path: Path) -> DatasetFiles:
        """Return the files of the dataset in a format, which are not written yet."""
        from rankstudio.engine.export.dataset_files import DatasetFiles  # noqa: PLC0415 - first needed here

        assert dataset is not None  # else the item is not available
        return DatasetFiles(dataset, path, form, ids, renumber=True)

    def paths(form: DataFormat, path: Path) -> Sequence[Path]:
        """Return the paths of the files that are written."""
        return files(form, path).paths

    def begin(
        form: DataFormat,
        path: Path,
        on_done: Callable[[str], object],
        failed: Callable[[str], object],
    ) -> Job:
        """Submit a job that writes the data in a format, and return the job.

        ``form`` is the format, and ``path`` that of the file or folder.
        At the end, ``on_done`` is called with a sentence on what the
        format cannot store, or ``failed`` with an error.
        """
        losses: dict[str, None] = {}  # a set that keeps the order

        def work(_: CancelFlag) -> Iterator[WrittenPart]:
            """Write the files one after the other, so that writing can be stopped; yield each written one."""
            return files(form, path).save()

        def end(outcome: Outcome) -> None:
            """Call `failed` with an error, or else `on_done` with a sentence on the losses."""
            if outcome.ending is Ending.FAILED:
                failed(outcome.text)
            else:
                on_done(_losses_sentence(form, tuple(losses)))

        def note(part: WrittenPart) -> None:
            """Note the losses of a written file: parts that the format cannot store."""
            losses.update(dict.fromkeys(part.losses))

        text = tr("Writing {name}").format(name=path.name)
        return worker.submit(Job(text, work, on_message=note, on_end=end))

    return tuple(
        FormatWriter(paths=partial(paths, form), begin=partial(begin, form))
        for form in written_formats()
    )


def _losses_sentence(form: DataFormat, lost: Sequence[str]) -> str:
    """Return a sentence on what a data format cannot store; "" for nothing.

    ``lost`` names what a file in the format ``form`` has lost. Names of
    features are not mentioned, as another file has them.
    """
    losses = [tr(loss) for loss in lost if loss != "names of features"]
    text = tr("{form} does not store: {lost}.")
    return text.format(form=tr(form.label), lost=", ".join(losses)) if losses else ""
