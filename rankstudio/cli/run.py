"""``rankstudio run``: an experiment in the terminal, the same numbers as in the window."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankstudio.cli.comparison import compare, folder_name
from rankstudio.cli.keeping import plans_to_go_on_with, study_at
from rankstudio.cli.running import Going, carry_on
from rankstudio.cli.tables import as_text
from rankstudio.engine.catalog import Kind, Method, Parameter, methods
from rankstudio.engine.catalog.method import Along
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.comparison import is_comparison, load_comparison
from rankstudio.engine.experiment.plan import CRITERION, SAMPLE, Plan, load_plan, with_data_beside
from rankstudio.engine.experiment.protocol import GIVEN
from rankstudio.engine.experiment.results import RunResult
from rankstudio.engine.metrics.conventions import CONVENTIONS, convention
from rankstudio.engine.resources import resource

INTERRUPTED = 130
SAMPLE_FOLDER = "rankstudio-sample"

# Options that are attributes of the plan as they stand.
_PLAIN = ("method", "judge", "select_by", "convention", "missing", "normalize", "seed", "protocol", "rule")

_DESCRIPTION = """\
Run an experiment: for each fold train on its training part, choose the grid's value and the number of
features on its validation part, and measure the chosen model on its test part.

  rankstudio run --data MQ2008 --lambda "2^0..2^10" --select-by MAP --out results
  rankstudio run results/plan.toml          the same again, bit for bit
  rankstudio run --sample                   the sample study, with figures
  rankstudio run selectors --data MQ2008    all selectors and rankers, in one table

OUT receives results.json, metrics.csv, features.csv and plan.toml. Every finished unit of work is kept in a
study, OUT/study.rankstudio if none is named: what was stopped, by Ctrl+C or otherwise, goes on where it was
with the same command, or with rankstudio run --resume STUDY --out OUT."""


def register(commands: Any) -> None:
    """Add the command to the parser's."""
    parser = commands.add_parser(
        "run",
        help="run an experiment without the window",
        usage="rankstudio run [PLAN] [--data PLACE] [--method NAME] [--judge NAME] [OPTION …]",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "plan",
        nargs="?",
        type=Path,
        help=f"a plan to run, a file or one of {', '.join(_bundled())}; options given beside it change it",
    )
    where = parser.add_argument_group("what to run on, and where to")
    where.add_argument(
        "--data",
        action="append",
        help="a LETOR file, or a folder with Fold1 … Fold5 or train, vali and test; several for a comparison",
    )
    where.add_argument("--sample", action="store_true", help="run on the bundled sample, and draw figures")
    where.add_argument("--folds", help="numbers of the folds to run, such as 1,3; all when not given")
    where.add_argument(
        "--protocol", help='folds: "given" (default), "10-fold", "split 60/20/20" or "nested 20" (percents)'
    )
    where.add_argument(
        "--missing", choices=("query_min", "zero", "refuse"), help="what missing values become"
    )
    where.add_argument("--normalize", choices=("none", "query_minmax"), help="scaling within each query")
    where.add_argument("--out", type=Path, help="folder for the results; without it they are only printed")
    where.add_argument(
        "--study", type=Path, help="file that keeps every finished unit; study.rankstudio in OUT by default"
    )
    where.add_argument(
        "--resume", type=Path, metavar="STUDY", help="go on with the unfinished runs of a study"
    )
    where.add_argument("--figures", action="store_true", help="also draw the curves as PNG files into OUT")
    where.add_argument("--json", action="store_true", help="print the results as JSON instead of tables")
    what = parser.add_argument_group("method and choice")
    what.add_argument(
        "--method", choices=[m.key for m in methods()], help="method; greedy-rankrls by default"
    )
    rankers = [m.key for m in methods() if not m.selects]
    what.add_argument(
        "--judge", choices=rankers, help="what ranks with the selected features; the method's own model else"
    )
    what.add_argument("--select-by", help="validation measure that chooses, or 'criterion'; MAP by default")
    what.add_argument(
        "--rule", help='model to choose: "best" (default), "one-se" (one standard error) or "at most 10"'
    )
    what.add_argument("--measures", help="measures to report, such as MAP,NDCG@10")
    what.add_argument("--seed", type=int, help="for random numbers, those of the protocol too; 0 by default")
    what.add_argument("--convention", choices=list(CONVENTIONS), help="which convention the measures follow")
    parameters = parser.add_argument_group("parameters of the method (see rankstudio methods)")
    _add_options(parameters, methods(), "parameter_")
    judged = parser.add_argument_group("parameters of the judge")
    _add_options(judged, [m for m in methods() if not m.selects], "judge_parameter_", "--judge-")
    parser.set_defaults(run=run)


def _add_options(group: Any, entries: Sequence[Method], dest: str, prefix: str = "--") -> None:
    """Add the options of some methods, each once, with the methods that have it."""
    options: dict[str, list[tuple[str, Parameter]]] = {}
    for entry in entries:
        for p in entry.parameters:
            options.setdefault(p.option, []).append((entry.key, p))
    for option, owners in options.items():
        p = owners[0][1]
        group.add_argument(
            f"{prefix}{option.removeprefix('--')}",
            dest=f"{dest}{p.name}",
            metavar=_METAVARS[p.kind],
            help=_help(owners).replace("%", "%%"),
        )


def _help(owners: Sequence[tuple[str, Parameter]]) -> str:
    """Return what an option is, once for all methods in which it is the same."""
    texts: dict[str, list[str]] = {}
    for key, p in owners:
        texts.setdefault(f"{p.label}: {p.expected}. {p.help}", []).append(key)
    return " ".join(f"{text} ({', '.join(keys)})" for text, keys in texts.items())


_METAVARS = {
    Kind.GRID: "GRID",
    Kind.INTEGER: "K",
    Kind.NUMBER: "X",
    Kind.FEATURES: "IDS",
    Kind.COSTS: "ID:COST",
    Kind.CHOICE: "NAME",
    Kind.SWITCH: "YES/NO",
    Kind.MEASURE: "MEASURE",
}


def _bundled() -> list[str]:
    """Return the names of the plans that are shipped."""
    return sorted(path.stem for path in resource("plans").glob("*.toml"))


def _plan_file(args: argparse.Namespace) -> Path | None:
    """Return the file of the plan that was named: one there is, else a shipped one of that name."""
    path: Path | None = args.plan
    if path is not None and not path.exists() and str(path) in _bundled():
        return resource("plans", f"{path}.toml")
    return path


def _beside(data: Sequence[str], path: Path) -> list[str]:
    """Take relative places from the folder of the comparison's file, where something is there."""
    places = [(path.parent / place).absolute() for place in data]
    return [str(place) if place.exists() else name for place, name in zip(places, data, strict=True)]


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    if args.resume is not None:
        return resume(args)
    path = _plan_file(args)
    if path is not None and is_comparison(path):
        comparison = load_comparison(path)
        data = [str(Path(place).absolute()) for place in args.data or ()]
        interrupted = compare(
            comparison, data or _beside(comparison.data, path), args.out, args.json, args.study
        )
        return INTERRUPTED if interrupted else 0
    args.plan = path
    stated = ("select_by", "convention") if args.plan else ()
    return carry_out(
        plan_from(args),
        stated={*stated, *(name for name in ("select_by", "convention") if getattr(args, name) is not None)},
        out=args.out or (Path(SAMPLE_FOLDER) if args.sample else None),
        study=args.study,
        figures=args.figures or args.sample,
        as_json=args.json,
    )


def resume(args: argparse.Namespace) -> int:
    """Go on with the runs of a study that are not finished."""
    from rankstudio.engine.experiment.store import Study

    with Study.open(args.resume) as study:
        plans = plans_to_go_on_with(study)
    status = 0
    for plan in plans:
        out = args.out if args.out is None or len(plans) == 1 else args.out / folder_name(plan)
        stated = {"select_by", "convention"}
        status = carry_out(
            plan, stated=stated, out=out, figures=args.figures, as_json=args.json, study=args.resume
        )
        if status:
            break
    return status


def run_sample(out: Path | None = None) -> int:
    """Run the sample study in the terminal: what ``rankstudio --sample`` does where no window can open."""
    return carry_out(Plan(SAMPLE), stated=set(), out=out or Path(SAMPLE_FOLDER), figures=True, as_json=False)


def plan_from(args: argparse.Namespace) -> Plan:
    """Make the plan that the options ask for.

    Raises
    ------
    PlanError, ParameterError
        Where they do not make one.
    """
    if args.plan is None and args.data is None and not args.sample:
        raise PlanError("There is nothing to run: give --data with a file or folder, --sample, or a plan.")
    plan = with_data_beside(load_plan(args.plan), args.plan) if args.plan else None
    changes: dict[str, Any] = {}
    if args.sample:
        changes["data"] = SAMPLE
    elif args.data is not None:
        if len(args.data) > 1:
            raise PlanError("--data: one run is on one file or folder; several are for a comparison.")
        changes["data"] = str(Path(args.data[0]).absolute())
    for name in _PLAIN:
        if getattr(args, name) is not None:
            changes[name] = getattr(args, name)
    if args.measures is not None:
        changes["measures"] = tuple(m.strip() for m in args.measures.split(",") if m.strip())
    if args.folds is not None:
        changes["folds"] = _fold_numbers(args.folds)
    given, judged = _given(args, "parameter_"), _given(args, "judge_parameter_")
    if plan is None:
        return Plan(**changes, parameters=given, judge_parameters=judged)
    kept = dict(plan.parameters) if changes.get("method", plan.method) == plan.method else {}
    kept_judge = dict(plan.judge_parameters) if changes.get("judge", plan.judge) == plan.judge else {}
    return plan.changed(**changes, parameters={**kept, **given}, judge_parameters={**kept_judge, **judged})


def _given(args: argparse.Namespace, prefix: str) -> dict[str, Any]:
    """Return the options of a kind that were given, by the parameter's name."""
    options = ((k.removeprefix(prefix), v) for k, v in vars(args).items() if k.startswith(prefix))
    return {name: value for name, value in options if value is not None}


def _fold_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(item) for item in text.replace(",", " ").split())
    except ValueError:
        raise PlanError(f"--folds: expected numbers such as 1,3, got {text!r}.") from None


def carry_out(
    plan: Plan,
    *,
    stated: set[str],
    out: Path | None,
    figures: bool,
    as_json: bool,
    study: Path | None = None,
) -> int:
    """Run a plan, write and print its results, and return the exit code.

    Of ``select_by`` and ``convention``, what was not stated is taken as is usual for the data. Finished
    units are kept in the study, or in one beside the results; what is there already is not computed again.
    """
    from rankstudio.engine.experiment.reports import results_as_dict, write_results
    from rankstudio.engine.experiment.runner import open_data
    from rankstudio.engine.files import make_folder

    if out is not None:
        make_folder(out)  # better to hear of a folder that cannot be made before the work than after it
    dataset = open_data(plan)
    plan = _fitting(plan, dataset, stated)
    for warning in dict.fromkeys(dataset.warnings):
        print(f"Note: {warning}", file=sys.stderr)
    with study_at(study, out) as kept:
        going = Going(plan, dataset, study=kept)
        interrupted = carry_on(going)
    result = going.result()
    if out is not None:
        written = [str(path) for path in write_results(result, out)]
        written += _draw(result, out) if figures and result.folds else []
        print(f"Written: {', '.join(written)}", file=sys.stderr)
    if as_json:
        print(json.dumps(results_as_dict(result), indent=2, ensure_ascii=False))
    else:
        print(summary(result))
    return INTERRUPTED if interrupted else 0


def _fitting(plan: Plan, dataset: FoldedDataset, stated: set[str]) -> Plan:
    """Follow the data's usual convention, and choose by the criterion where there is no validation part."""
    if "convention" not in stated:
        plan = plan.changed(convention=dataset.convention)
    if "select_by" not in stated and all(fold.vali is None for fold in dataset.folds):
        print(
            f"{dataset.name} has no validation part: choosing by the method's own criterion.", file=sys.stderr
        )
        return plan.changed(select_by=CRITERION)
    return plan


def _draw(result: RunResult, out: Path) -> list[str]:
    """Draw the figures; say in a sentence why not where Qt cannot be loaded."""
    try:
        from rankstudio.ui.figures import write_figures
    except ImportError as error:
        print(f"No figures: Qt cannot be loaded ({error}).", file=sys.stderr)
        return []
    return [str(path) for path in write_figures(result, out)]


def summary(result: RunResult) -> str:
    """Return the results as tables, with the convention of the measures named."""
    plan = result.plan
    part, measures = _measured(result)
    rounds = plan.along is Along.ROUNDS
    head = [*(axis.label for axis in plan.axes), *(["round"] if rounds else [])]
    header = ["fold", *head, "k", *measures, "features"]
    rows = []
    for fold in result.folds:
        values = fold.test or fold.validation
        chosen = [axis.format(v) for axis, v in zip(plan.axes, fold.chosen.unit.values, strict=True)]
        chosen += [str(fold.chosen.step.number)] if rounds else []
        measured = [f"{values[m]:.4f}" for m in measures]
        rows.append([str(fold.fold), *chosen, str(len(fold.selected)), *measured, _ids(fold.selected)])
    if len(result.folds) > 1 and measures:
        blank = [""] * (len(head) + 1)
        rows.append(["mean", *blank, *(f"{result.average[m]:.4f}" for m in measures), ""])
    if result.folds and measures:
        rows.append(_baseline_row(result, measures, len(head)))
    folds = "" if plan.protocol == GIVEN else f", {plan.protocol}"
    title = f"{plan.title} on {result.data_name}{folds}: {part}"
    return f"{title}\n{as_text(header, rows, left=(0, len(header) - 1))}\n{result.seconds:.1f} s"


def _baseline_row(result: RunResult, measures: tuple[str, ...], n_settings: int) -> list[str]:
    """Return the row of the best single feature of each fold, on average."""
    ids = tuple(dict.fromkeys(fold.baseline.feature for fold in result.folds))
    blank = [""] * n_settings
    return ["best single", *blank, "1", *(f"{result.baseline[m]:.4f}" for m in measures), _ids(ids)]


def _measured(result: RunResult) -> tuple[str, tuple[str, ...]]:
    """Return what the table's numbers are, in words, and which measures there are."""
    rules = f"{convention(result.plan.convention).label} convention"
    match list(result.folds):
        case []:
            return "no fold was finished", ()
        case [first, *_] if first.test:
            return f"test measures, {rules}", result.plan.evaluated
        case [first, *_] if first.validation:
            return f"validation measures, {rules}", result.plan.evaluated
        case _:
            return f"chosen by {result.plan.criterion}, nothing to measure on", ()


def _ids(selected: tuple[int, ...], most: int = 10) -> str:
    text = " ".join(str(i) for i in selected[:most])
    return text + (" …" if len(selected) > most else "")
