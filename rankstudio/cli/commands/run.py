"""``rankstudio run``: run an experiment in the terminal, with the same results as in the window."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankstudio.cli.code_options import allow_code_of, allow_named_code
from rankstudio.cli.data_options import by_name
from rankstudio.cli.interrupts import INTERRUPTED, say_how_to_go_on, stopping
from rankstudio.cli.output.run_summary import summary
from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.progress_bar import preparation
from rankstudio.cli.replacement import refuse_other_run
from rankstudio.cli.run_log_option import log_store, logged
from rankstudio.cli.run_loop import RunInProgress, carry_on, compare
from rankstudio.cli.run_options import (
    add_options,
    plan_file,
    plan_from,
    refuse_beside_comparison,
    refuse_beside_resume,
)
from rankstudio.cli.study_file_option import plans_to_go_on_with, study_at, study_path
from rankstudio.cli.terminal import tell
from rankstudio.cli.worker_options import workers
from rankstudio.engine.analysis.comparisons.batch import (
    folder_name,
    is_comparison,
    load_comparison,
)
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.execution.workers import Workers
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.reports import (
    REFITTED,
    results_as_dict,
    write_results,
)
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.export.models import save_model
from rankstudio.engine.methods.catalog import GIVEN_MODEL, GIVEN_SCORES
from rankstudio.engine.support.files import is_there, make_folder

__all__ = ["DESCRIPTION", "HELP", "USAGE", "add_options", "run"]

SAMPLE_FOLDER = "rankstudio-sample"

HELP = "run an experiment in the terminal"
USAGE = (
    "rankstudio run [PLAN] [--data PLACE] [--method NAME] [--ranker NAME] [OPTION …]"
)
DESCRIPTION = """\
Run an experiment: for each fold, train on the training part, choose the parameters and the number of features
on the validation part, and evaluate the chosen model on the test part.

  rankstudio run --sample --lambda "2^0..2^10" --select-by MAP --out results
  rankstudio run results/plan.toml          the same run again, with identical results
  rankstudio run --sample                   the sample study, with figures
  rankstudio run selectors --sample         all selectors and rankers, in one table
  rankstudio run --data folds --scores neural=scores --study S   the scores of another program
  rankstudio run --data folds --models former=results/models     saved models
  rankstudio run --data logs.ndjson --judgments ratings.csv       a feature log of a search engine

OUT receives results.json, metrics.csv, selection_path.csv, plan.toml and the models of the folds
(models/fold1.json …). Results of another run are overwritten only with --force.

Completed units are saved in a study, OUT/study.rankstudio by default. Run the same command again to resume a
stopped run, or use rankstudio run --resume STUDY --out OUT."""


def _paths_beside(data: Sequence[str], path: Path) -> list[str]:
    """Return the data of a comparison; names of files beside its plan become paths."""
    places = [(path.parent / name).absolute() for name in data]
    return [
        str(location) if is_there(location) else name
        for location, name in zip(places, data, strict=True)
    ]


def run(args: argparse.Namespace) -> int:
    """Run the plan that the options describe, or resume the runs of a study; return the exit status."""
    if args.resume is not None:
        # The study has all settings, so no option may set one.
        refuse_beside_resume(args)
    with workers(args) as available_workers:
        return (
            _resume(args, available_workers)
            if args.resume is not None
            else _run_or_evaluate(args, available_workers)
        )


def _run_or_evaluate(args: argparse.Namespace, available_workers: Workers) -> int:
    """Run a plan or a comparison, or evaluate scores and models of others.

    Return the exit status. ``available_workers`` are the processes or
    threads that the options choose.
    """
    # A file with several runs is a comparison. Its data are those of
    # the options, or else those that the file names.
    path = plan_file(args)
    evaluates_given = bool(args.scores or args.models)  # those of others
    if path is not None:
        allow_named_code(args, path)
    if path is not None and not evaluates_given and is_comparison(path):
        refuse_beside_comparison(args)
        comparison = load_comparison(path)
        data = [str(Path(name).absolute()) for name in args.data or ()]
        if args.sample:
            data = [SAMPLE]
        data = data or _paths_beside(comparison.data, path)
        if not data:
            raise PlanError(
                f'{path}: no data to compare on. Add --data, or a line such as data = "folder".'
            )
        stopped = compare(comparison, data, args, available_workers)
        return _exit_status(args, stopped, study_path(args.study, args.out))

    # One plan. The sample without an output goes to a folder of its own, with figures.
    args.plan = path
    is_sample_study = args.sample and args.out is None and args.study is None
    out = Path(SAMPLE_FOLDER) if is_sample_study else args.out
    study = study_path(args.study, out)
    if evaluates_given:
        return _run_all(args, available_workers, study, _given_tasks(args, out))

    # Choices that the user or the plan states. The data decide on a
    # choice that is not stated.
    stated = {
        name
        for name in ("select_by", "convention")
        if path or getattr(args, name) is not None
    }
    figures = args.figures or is_sample_study
    task = _Task(plan=plan_from(args), stated=stated, out=out, figures=figures)
    return _run_all(args, available_workers, study, [task])


def _given_tasks(args: argparse.Namespace, out: Path | None) -> list[_Task]:
    """Return a task, a run to carry out, for each name in --scores and --models.

    These options name scores and models of others. The results of
    several tasks go to folders in ``out`` that are called by the names.
    """
    # Names of scores and models must differ.
    scores = by_name(args.scores or (), "--scores", "neural=scores")
    models = by_name(args.models or (), "--models", "former=results/models")
    if repeated := [name for name in models if name in scores]:
        raise PlanError(
            f"--models: expected each name once, got {repeated[0]!r} again."
        )
    _refuse_beside_scores(args)

    # One plan for all tasks; several tasks write to a folder each.
    base = plan_from(args)

    # Nothing is trained or selected, so the data need not decide on "select_by".
    stated = {"select_by"}
    if args.convention is not None or args.plan is not None:
        stated.add("convention")
    has_one_task = len(scores) + len(models) == 1
    return [
        _Task(
            plan=base,
            stated=stated,
            out=out if out is None or has_one_task else out / _safe_name(name),
            figures=args.figures,
            # The last value is whether these are models.
            given_source=(name, path, name in models),
        )
        for name, path in (scores | models).items()
    ]


def _refuse_beside_scores(args: argparse.Namespace) -> None:
    """Raise a PlanError for an option of training beside --scores or --models.

    Scores and models of others are not trained.
    """
    options = [
        name
        for name in ("method", "ranker", "rule", "select_by")
        if getattr(args, name) is not None
    ]
    options += [name for name in ("refit", "preferences") if getattr(args, name)]
    if options:
        option = f"--{options[0].replace('_', '-')}"
        raise PlanError(
            f"{option}: not allowed with --scores and --models, which evaluate without training. Omit it."
        )


def _safe_name(name: str) -> str:
    """Return the name of scores or models with the characters that the name of a folder can have."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "scores"


def _resume(args: argparse.Namespace, available_workers: Workers) -> int:
    """Resume the unfinished runs of a study, and return the exit status.

    If all runs are finished, the last one is repeated.
    ``available_workers`` are the processes or threads that the options
    choose.
    """
    from rankstudio.engine.experiment.storage.study import Study

    with Study.open(args.resume) as study:
        plans = plans_to_go_on_with(study)
        allow_code_of(args, plans, args.resume)
    tasks = []
    for plan in plans:
        # Several runs write their results to a folder each.
        out = (
            args.out
            if args.out is None or len(plans) == 1
            else args.out / folder_name(plan)
        )
        tasks.append(
            _Task(
                plan=plan,
                # A stored plan states both choices that otherwise depend on the data.
                stated={"select_by", "convention"},
                out=out,
                figures=args.figures,
            )
        )
    return _run_all(args, available_workers, args.resume, tasks)


@dataclass(frozen=True)
class _Task:
    """A run to carry out."""

    plan: Plan
    # "select_by" and "convention" where the user set them; otherwise the data decide
    stated: Collection[str]
    out: Path | None  # folder of the results
    figures: bool  # whether to draw figures into the folder
    # name and path of scores or models that replace the learning, and
    # whether they are models
    given_source: tuple[str, Path, bool] | None = None


def _run_all(
    args: argparse.Namespace,
    available_workers: Workers,
    study: Path | None,
    tasks: Sequence[_Task],
) -> int:
    """Carry out runs one after the other, print their results, and return the exit status.

    In JSON, several runs are a list. After a stop, no other run begins,
    and the results so far are printed. ``study`` is the file that keeps
    finished units.
    """
    stopped = False
    results: list[RunResult] = []
    for task in tasks:
        result, stopped = _run_task(task, args, available_workers, study)
        results.append(result)
        if not args.json:
            tell(summary(result))
        if stopped:
            break
    if args.json:
        outputs = [results_as_dict(result) for result in results]
        tell(as_json(outputs if len(tasks) > 1 else outputs[0]))
    return _exit_status(args, stopped, study)


def _exit_status(args: argparse.Namespace, stopped: bool, study: Path | None) -> int:
    """Return the exit status of a command that was stopped by the user, or not.

    After a stop, print how to resume. ``study`` is the file that keeps
    the finished part; None for no study.
    """
    if stopped:
        say_how_to_go_on(args, study)
    return INTERRUPTED if stopped else 0


def _run_task(
    task: _Task,
    args: argparse.Namespace,
    available_workers: Workers,
    study: Path | None,
) -> tuple[RunResult, bool]:
    """Run a plan, write its results, and return them and whether the run was stopped.

    ``task`` has the plan and the folder of the results. Results of
    another run are replaced only with ``--force``. Finished units are
    kept in ``study``, if there is one, and units that are in it already
    are not computed again. With ``--refit``, a run that was not stopped
    also trains the final model on all queries.
    """
    from rankstudio.engine.data.splitting.splits import parts_of_every_query
    from rankstudio.engine.experiment.runner import estimate, open_data, usual_choices

    # Refuse what cannot work before the data are read.
    plan = task.plan
    out = task.out
    store = log_store(args.log)
    if args.refit and plan.entry.learns_nothing:
        raise PlanError(f"--refit: {plan.title} is not trained. Omit --refit.")
    if args.refit and out is None:
        raise PlanError(
            "--refit: expected --out with a folder for the model, got none."
        )
    if out is not None:
        # Before the work: a folder that cannot be made ends the command at once
        make_folder(out)

    # Open the data, and settle the choices that depend on them.
    with preparation():
        dataset = open_data(plan)
    if args.refit:
        # Before the work, too: raises an error where a refit is impossible.
        parts_of_every_query(dataset)  # called for its errors only
    plan = usual_choices(plan, dataset, task.stated)
    if plan.select_by != task.plan.select_by:
        tell(
            f"{dataset.name} has no validation part: the method's criterion selects the model.",
            file=sys.stderr,
        )
    if task.given_source is not None:
        plan = _given_plan(plan, *task.given_source, dataset)

    # Called for its errors only: it refuses a plan that does not fit
    # the data, before a study is made.
    estimate(plan, dataset)
    if out is not None:
        refuse_other_run(
            plan,
            out,
            figures=task.figures,
            refitted=args.refit,
            force=args.force,
            study=study,
        )
    _print_data_notes(plan, dataset)

    # Run the plan, or resume it from the study.
    with logged(store, dataset.name) as log:
        with study_at(study) as opened_study, stopping() as stop:
            work = RunInProgress(
                plan, dataset, study=opened_study, workers=available_workers, log=log
            )
            stopped = carry_on(work, stop)

        # Write what there is, also after a stop.
        result = work.result()
        refitted = args.refit and not stopped
        if out is not None:
            written = [str(path) for path in write_results(result, out)]
            written += (
                _write_figures(result, out) if task.figures and result.folds else []
            )
            written += [_write_final_model(result, dataset, out)] if refitted else []
            tell(f"Written: {', '.join(written)}", file=sys.stderr)
        if log is not None:
            final_model = out / REFITTED if out is not None and refitted else None
            log.finish(result, final_model, stopped=stopped)
    return result, stopped


def _print_data_notes(plan: Plan, dataset: FoldedDataset) -> None:
    """Print notes on the data of a run: on preferences, labels and short queries.

    The notes go to the error stream. A convention may set a measure to
    0 for queries shorter than its cut-off, such as the 10 of NDCG@10.
    """
    from rankstudio.engine.experiment.plan.plan import CRITERION
    from rankstudio.engine.experiment.units.preferred import preference_note
    from rankstudio.engine.metrics.short_queries import short_query_note

    note = preference_note(plan)
    if note:
        tell(note, file=sys.stderr)

    # The reported measures, and the one that selects the model.
    # CRITERION is no measure: the method itself selects.
    names = (*plan.measures, *([] if plan.select_by == CRITERION else [plan.chosen_by]))
    notes = [
        _labels_note(dataset, plan.convention),
        short_query_note(dataset.query_sizes, plan.convention, dict.fromkeys(names)),
    ]
    for warning in dict.fromkeys((*dataset.warnings, *filter(None, notes))):
        tell(f"Note: {warning}", file=sys.stderr)


def _labels_note(dataset: FoldedDataset, key: str) -> str:
    """Return the note that a convention does not suit the labels of the data.

    The result is "" if the convention suits the labels. ``key`` is that
    of the convention: a set of rules of measures.
    """
    from rankstudio.engine.analysis.measurements.conventions import convention_note

    greatest = max(float(fold.train.y.max()) for fold in dataset.folds)
    return convention_note(dataset.origin.known, greatest, key)


def _given_plan(
    plan: Plan, name: str, path: Path, models: bool, dataset: FoldedDataset
) -> Plan:
    """Return the plan that evaluates scores, or models, of others.

    ``name`` is the user's name for the scores or models, and ``path``
    their file or folder; ``models`` says whether these are models. A
    note is printed on the folds of ``dataset`` without scores or a
    model.
    """
    from rankstudio.engine.experiment.units.given_fold import plan_of_given

    method = GIVEN_MODEL.key if models else GIVEN_SCORES.key
    plan, left_out = plan_of_given(method, plan, name, path, dataset)
    if left_out:
        numbers = ", ".join(map(str, left_out))
        kind = "models" if models else "scores"
        tell(
            f"Note: {name}: no {kind} for fold {numbers} of {dataset.name}.",
            file=sys.stderr,
        )
    return plan


def _write_final_model(result: RunResult, dataset: FoldedDataset, out: Path) -> str:
    """Train the final model on all queries, write it, and return its path.

    The model is trained by the plan of ``result`` on ``dataset``.
    ``out`` is the folder of the results.
    """
    from rankstudio.engine.experiment.refit import refit

    with preparation():
        model = refit(result, dataset)
    make_folder((out / REFITTED).parent)
    save_model(out / REFITTED, model)
    return str(out / REFITTED)


def _write_figures(result: RunResult, out: Path) -> list[str]:
    """Draw the criterion and the validation measures of a run by size.

    Return the paths of the figures, PNG files. A figure has one curve
    for each combination of parameters. For a run of greedy RankRLS, the
    figures are Figures 3 and 4 of its paper. For a method without
    steps, nothing is drawn.
    """
    from rankstudio.engine.analysis.figures.run_figures import path_figure
    from rankstudio.engine.export.figures.files import figure_bytes, write_figure_files
    from rankstudio.engine.export.figures.style import style_of

    files = []

    # "" is the criterion; `evaluated` are all measures that the run computes.
    for name in ("", *result.plan.evaluated):
        # None for a method without steps.
        figure = path_figure(result, name)
        if figure is not None and not figure.empty:
            stem = f"validation-{name.replace('@', '-at-')}" if name else "criterion"
            files.append(
                (out / f"{stem}.png", figure_bytes(figure, style_of("page"), "png"))
            )
    return [str(path) for path in write_figure_files(files)]
