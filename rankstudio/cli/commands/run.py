"""``rankstudio run``: an experiment in the terminal, the same numbers as in the window."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rankstudio.cli.batch_runner import compare
from rankstudio.cli.interrupts import say_how_to_go_on, stopping
from rankstudio.cli.mlflow_log import logged, tracking_store
from rankstudio.cli.output.run_summary import summary
from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.progress_bar import preparation
from rankstudio.cli.replacement import refuse_other_run
from rankstudio.cli.run_loop import Going, carry_on
from rankstudio.cli.run_options import add_options, plan_file, plan_from, refuse_beside_resume
from rankstudio.cli.score_options import given_by_name, refuse_beside_scores, safe_name
from rankstudio.cli.study_file_option import plans_to_go_on_with, study_at, study_path
from rankstudio.cli.worker_options import workers
from rankstudio.engine.analysis.batch import folder_name, is_comparison, load_comparison
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.execution.workers import ALONE, Workers
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import results_as_dict
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.support.files import is_there

__all__ = ["DESCRIPTION", "HELP", "USAGE", "add_options", "run"]

INTERRUPTED = 130
SAMPLE_FOLDER = "rankstudio-sample"

HELP = "run an experiment in the terminal"
USAGE = "rankstudio run [PLAN] [--data PLACE] [--method NAME] [--ranker NAME] [OPTION …]"
DESCRIPTION = """\
Run an experiment: for each fold, train on the training part, choose the parameters and the number of features
on the validation part, and evaluate the chosen model on the test part.

  rankstudio run --data MQ2008 --lambda "2^0..2^10" --select-by MAP --out results
  rankstudio run results/plan.toml          the same run again, with identical results
  rankstudio run --sample                   the sample study, with figures
  rankstudio run selectors --data MQ2008    all selectors and rankers, in one table
  rankstudio run --data MQ2008 --scores neural=scores --study S   the scores of another program
  rankstudio run --data MQ2008 --models former=results/models     saved models

OUT receives results.json, metrics.csv, selection_path.csv, plan.toml and the models of the folds
(models/fold1.json …). Results of another run are overwritten only with --force.

Completed units are saved in a study, OUT/study.rankstudio by default. Run the same command again to resume a
stopped run, or use rankstudio run --resume STUDY --out OUT."""


def _beside(data: Sequence[str], path: Path) -> list[str]:
    """Take relative places from the folder of the comparison's file, where something is there."""
    places = [(path.parent / place).absolute() for place in data]
    return [str(place) if is_there(place) else name for place, name in zip(places, data, strict=True)]


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    if args.resume is not None:
        refuse_beside_resume(args)
    with workers(args) as at_hand:
        return resume(args, at_hand) if args.resume is not None else _run(args, at_hand)


def _run(args: argparse.Namespace, at_hand: Workers) -> int:
    """Run a plan or a comparison."""
    path = plan_file(args)
    if args.scores or args.models:
        return _run_scores(args, path, at_hand)
    if path is not None and is_comparison(path):
        if args.refit:
            raise PlanError(f"--refit: only for a single run; {path} is a comparison. Omit --refit.")
        comparison = load_comparison(path)
        data = [str(Path(place).absolute()) for place in args.data or ()] or _beside(comparison.data, path)
        store = tracking_store(args.log)
        stopped = compare(comparison, data, args.out, args.json, args.study, at_hand, args.force, store)
        return _status(args, stopped, study_path(args.study, args.out))
    args.plan = path
    stated = ("select_by", "convention") if args.plan else ()
    out = args.out or (Path(SAMPLE_FOLDER) if args.sample else None)
    result, stopped = carry_out(
        plan_from(args),
        stated={*stated, *(name for name in ("select_by", "convention") if getattr(args, name) is not None)},
        out=out,
        study=args.study,
        figures=args.figures or args.sample,
        at_hand=at_hand,
        force=args.force,
        refitted=args.refit,
        store=tracking_store(args.log),
    )
    print(as_json(results_as_dict(result)) if args.json else summary(result))
    return _status(args, stopped, study_path(args.study, out))


def _run_scores(args: argparse.Namespace, path: Path | None, at_hand: Workers) -> int:
    """Run scores of other programs and models of files, each as a run; several have own folders in OUT."""
    places = given_by_name(args)
    refuse_beside_scores(args)
    args.plan = path
    base = plan_from(args)
    out = args.out or (Path(SAMPLE_FOLDER) if args.sample else None)
    study = study_path(args.study, out)
    stopped = False
    results: list[RunResult] = []
    for name, (place, models) in places.items():
        result, stopped = carry_out(
            base,
            stated={"select_by", *(() if args.convention is None and path is None else ("convention",))},
            out=out if out is None or len(places) == 1 else out / safe_name(name),
            figures=args.figures,
            study=study,
            at_hand=at_hand,
            force=args.force,
            given=(name, place, models),
            store=tracking_store(args.log),
        )
        results.append(result)
        if not args.json:
            print(summary(result))
        if stopped:
            break
    if args.json:
        shown = [results_as_dict(result) for result in results]
        print(as_json(shown if len(places) > 1 else shown[0]))
    return _status(args, stopped, study)


def _status(args: argparse.Namespace, stopped: bool, study: Path | None) -> int:
    """Return the exit status; where the work was stopped, say how to go on with it."""
    if stopped:
        say_how_to_go_on(args, study)
    return INTERRUPTED if stopped else 0


def resume(args: argparse.Namespace, at_hand: Workers) -> int:
    """Go on with the runs of a study that are not finished; as JSON several runs are a list."""
    from rankstudio.engine.experiment.storage.study import Study

    with Study.open(args.resume) as study:
        plans = plans_to_go_on_with(study)
    stopped = False
    results: list[RunResult] = []
    for plan in plans:
        out = args.out if args.out is None or len(plans) == 1 else args.out / folder_name(plan)
        result, stopped = carry_out(
            plan,
            stated={"select_by", "convention"},
            out=out,
            figures=args.figures,
            study=args.resume,
            at_hand=at_hand,
            force=args.force,
            refitted=args.refit,
            store=tracking_store(args.log),
        )
        results.append(result)
        if not args.json:
            print(summary(result))
        if stopped:
            break
    if args.json:
        shown = [results_as_dict(result) for result in results]
        print(as_json(shown if len(plans) > 1 else shown[0]))
    return _status(args, stopped, args.resume)


def carry_out(
    plan: Plan,
    *,
    stated: set[str],
    out: Path | None,
    figures: bool,
    study: Path | None = None,
    at_hand: Workers = ALONE,
    force: bool = False,
    refitted: bool = False,
    given: tuple[str, Path, bool] | None = None,
    store: str | None = None,
) -> tuple[RunResult, bool]:
    """Run a plan, write its results, and return them, with whether it was stopped.

    Results of another run are replaced only if forced.

    Of ``select_by`` and ``convention``, what was not stated is taken as is usual for the data. Finished
    units are kept in the study, or in one beside the results; what is there already is not computed again.
    Scores of another program or models, a name and a place, are run in place of the plan's method.
    Of a run that was not stopped a model is learned from all documents too, where that is asked for.
    """
    from rankstudio.engine.data.splitting.splits import disjoint_parts
    from rankstudio.engine.experiment.reports import REFITTED, write_results
    from rankstudio.engine.experiment.runner import open_data, usual_choices
    from rankstudio.engine.support.files import make_folder

    if refitted and plan.entry.given:
        raise PlanError(f"--refit: {plan.title} is not trained. Omit --refit.")
    if refitted and out is None:
        raise PlanError("--refit: expected --out with a folder for the model, got none.")
    if out is not None:
        make_folder(out)  # better to hear of a folder that cannot be made before the work than after it
    with preparation():
        dataset = open_data(plan)
    if refitted:
        disjoint_parts(dataset)  # also better heard of now
    asked, plan = plan, usual_choices(plan, dataset, stated)
    if plan.select_by != asked.select_by:
        print(
            f"{dataset.name} has no validation part: the method's criterion selects the model.",
            file=sys.stderr,
        )
    if given is not None:
        plan = _given_plan(plan, *given, dataset)
    if out is not None:
        refuse_other_run(plan, out, figures=figures, refitted=refitted, force=force, study=study)
    note = "" if "convention" in stated else _labels_note(dataset)
    for warning in dict.fromkeys((*dataset.warnings, *filter(None, [note]))):
        print(f"Note: {warning}", file=sys.stderr)
    with logged(store, dataset.name) as log:
        with study_at(study, out) as kept, stopping() as stop:
            going = Going(plan, dataset, study=kept, workers=at_hand, log=log)
            stopped = carry_on(going, stop)
        result = going.result()
        if out is not None:
            written = [str(path) for path in write_results(result, out)]
            written += _draw(result, out) if figures and result.folds else []
            written += [_refit(result, dataset, out)] if refitted and not stopped else []
            print(f"Written: {', '.join(written)}", file=sys.stderr)
        if log is not None:
            all_documents = out / REFITTED if out is not None and refitted and not stopped else None
            log.finish(result, all_documents, stopped=stopped)
    return result, stopped


def _labels_note(dataset: FoldedDataset) -> str:
    """Return what there is to say of the labels and the usual convention of data."""
    from rankstudio.engine.analysis.convention_note import convention_note

    greatest = max(float(fold.train.y.max()) for fold in dataset.folds)
    return convention_note(dataset.known, greatest, dataset.convention)


def _given_plan(plan: Plan, name: str, place: Path, models: bool, dataset: FoldedDataset) -> Plan:
    """Return the plan of scores or of models, saying of which folds there are none."""
    from rankstudio.engine.experiment.units.given_fold import plan_of_given
    from rankstudio.engine.methods.catalog import GIVEN_MODEL, GIVEN_SCORES

    method = GIVEN_MODEL.key if models else GIVEN_SCORES.key
    plan, left_out = plan_of_given(method, plan, name, place, dataset)
    if left_out:
        numbers = ", ".join(map(str, left_out))
        what = "models" if models else "scores"
        print(f"Note: {name}: no {what} for fold {numbers} of {dataset.name}.", file=sys.stderr)
    return plan


def _refit(result: RunResult, dataset: FoldedDataset, out: Path) -> str:
    """Learn a model from all documents, and write it."""
    from rankstudio.engine.experiment.refit import refit
    from rankstudio.engine.experiment.reports import REFITTED
    from rankstudio.engine.export.models import save_model
    from rankstudio.engine.support.files import make_folder

    with preparation():
        model = refit(result, dataset)
    make_folder((out / REFITTED).parent)
    save_model(out / REFITTED, model)
    return str(out / REFITTED)


def _draw(result: RunResult, out: Path) -> list[str]:
    """Draw the criterion and the validation measures of a run by size as PNG files: a curve a combination.

    These are Figures 3 and 4 of the greedy RankRLS paper where that is what was run; nothing is drawn for a
    method without steps.
    """
    from rankstudio.engine.analysis.figures.run_figures import path_figure
    from rankstudio.engine.export.figures.files import figure_bytes, write_figure_files
    from rankstudio.engine.export.figures.style import style_of

    files = []
    for name in ("", *result.plan.evaluated):
        figure = path_figure(result, name)
        if figure is not None and not figure.empty:
            called = f"validation-{name.replace('@', '-at-')}" if name else "criterion"
            files.append((out / f"{called}.png", figure_bytes(figure, style_of("page"), "png")))
    return [str(path) for path in write_figure_files(files)]
