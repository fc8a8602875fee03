"""The options of ``rankstudio run``, and the plan that they describe."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rankstudio.cli.code_options import allow_named_code, settings_from
from rankstudio.cli.command_parser import CommandParser, place_name
from rankstudio.cli.data_options import (
    MISSING,
    NORMALIZE,
    add_column_options,
    add_feature_set_option,
    add_sample_option,
    columns_from,
)
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.replacement import add_force_option
from rankstudio.cli.run_log_option import add_log_option
from rankstudio.cli.streams import input_file, is_standard
from rankstudio.cli.word_kinds import kind_of
from rankstudio.cli.worker_options import add_worker_options
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.data.feature_groups import Groups, parse_groups, read_groups
from rankstudio.engine.data.file_access import ENDINGS
from rankstudio.engine.errors import (
    ParameterError,
    PlanError,
    did_you_mean,
    nearest,
    shown,
)
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.plan.toml import load_plan, with_data_beside
from rankstudio.engine.methods.catalog import (
    GIVEN_ORDER,
    Kind,
    Method,
    Parameter,
    method,
    methods,
)
from rankstudio.engine.methods.catalog.shared import SIZE
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.names import split_names
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.pair_sources import needed_pair_source, pair_source
from rankstudio.engine.support.resources import resource

# Endings by which PLAN is recognised as data.
_DATA_ENDINGS = (".txt", ".dat", ".letor", ".csv", ".tsv", ".parquet", *ENDINGS)

# Options of output and workers, which are allowed with --resume and
# with the plan of a comparison.
_WORK_OPTIONS = (
    *("help", "out", "force", "json", "log", "memory"),
    *("workers", "scheduler", "tls_ca", "tls_cert", "tls_key"),
)
_BESIDE_RESUME = (*_WORK_OPTIONS, "resume", "figures", "refit", "allow_code")
_BESIDE_COMPARISON = (*_WORK_OPTIONS, "plan", "data", "sample", "study", "allow_code")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options of ``rankstudio run``.

    The options are the argument PLAN, and those of data, output,
    workers and methods.
    """
    parser.add_argument(
        "plan",
        metavar="PLAN",
        nargs="?",
        type=Path,
        help=f"plan to run: a file, or one of {', '.join(_bundled_plans())}; other options override it. "
        "- reads the plan from standard input. A folder of results runs its plan again; any other "
        "folder, or a data file, is used as --data",
    )
    _add_input_and_output(parser.add_argument_group("data and output"))
    add_worker_options(parser)
    add_memory_option(parser)
    add_method_options(parser)


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of method and model selection, and those of the parameters of methods.

    The parser keeps parameters under names with a prefix, such as
    "parameter_", as a method and a final ranker may have parameters of
    one name.
    """
    _add_selection(parser.add_argument_group("method and model selection"))
    add_parameters(
        parser,
        "parameters of the method",
        methods(),
        "parameter_",
        about="see rankstudio methods; every value of a comma-separated list is tried",
    )

    # A final ranker trains on features that are selected already.
    rankers = [m for m in methods() if not m.selects]
    add_parameters(
        parser,
        "parameters of the final ranker",
        rankers,
        "ranker_parameter_",
        "--ranker-",
    )


def add_preferences(parser: argparse._ActionsContainer) -> None:
    """Add the option --preferences, of a file of preferences (pairs of documents).

    A plug-in reads such files, and adds the option.
    """
    source = pair_source()

    # Without the plug-in, a hidden option: using it gives the error
    # about the missing plug-in.
    if source is None:
        parser.add_argument("--preferences", type=Path, help=argparse.SUPPRESS)
    else:
        imported(source.add_options)(parser)


def add_costs(
    parser: Any, effect: str = "They change the selection with --by-cost milliseconds"
) -> None:
    """Add --costs, the option of the costs of features.

    ``effect`` says in the help of the option what the costs change.
    """
    parser.add_argument(
        "--costs",
        metavar="FILE",
        help="milliseconds of each feature: a CSV file with the columns feature, per_document and per_query, "
        "the same as JSON, or profiles of Elasticsearch or OpenSearch; by default costs.csv or costs.json "
        f"next to the data. {effect}",
    )


def add_reading_options(parser: Any) -> None:
    """Add the options of reading and dividing the data, which are fields of a plan.

    The options are --protocol, --preferences, --groups, --missing and
    --normalize.
    """
    parser.add_argument("--protocol", help='protocol, as in a plan; "given" by default')
    add_preferences(parser)
    parser.add_argument(
        "--groups", metavar="FILE", help="feature groups, as in rankstudio run"
    )
    parser.add_argument("--missing", **MISSING)
    parser.add_argument("--normalize", **NORMALIZE)


def _add_input_and_output(parser: Any) -> None:
    """Add the options of the data, and of the results to write."""
    # Data.
    parser.add_argument(
        "--data",
        type=place_name,
        action="append",
        metavar="PLACE",
        help="data file, folder with Fold1 … Fold5 or with train, vali and test, or feature log of a search "
        "engine; several for a comparison",
    )
    add_sample_option(
        parser,
        "run on the bundled sample; without --out and --study into rankstudio-sample, with figures",
    )

    # Parts of the data: folds, feature groups with their costs, and
    # preferences of a file.
    parser.add_argument("--folds", help="folds to run, such as 1,3; all by default")
    parser.add_argument(
        "--protocol",
        help='protocol: "given" (default), "10-fold", "leave-query-out", "split 60/20/20" or "nested 20" '
        '(percent); with inner cross-validation, "nested 5-fold" or "10-fold, nested 5-fold"; with a share '
        'of the training queries, "train 20%%" or "10-fold, train 20%%"',
    )
    parser.add_argument(
        "--groups",
        metavar="FILE",
        help='feature groups, each selected as a whole: a CSV file with lines "feature,group", or ids as in '
        '"BM25: 21, 22; TF: 1, 2"',
    )
    add_costs(parser)
    add_feature_set_option(parser, "names and definitions are stored in the study")
    add_preferences(parser)

    # Files that are evaluated instead of a method.
    parser.add_argument(
        "--scores",
        action="append",
        metavar="NAME=PLACE",
        help="evaluate the scores of another program instead of a method, as a run called NAME: a folder "
        "with Fold1/test.scores …, a file with one score per line in document order, or a TREC run; "
        "repeatable",
    )
    parser.add_argument(
        "--models",
        action="append",
        metavar="NAME=PLACE",
        help="evaluate saved models instead of a method, as a run called NAME: one file for all folds, or a "
        "folder with fold1.json …, one per fold; also of LightGBM, XGBoost, CatBoost, RankLib, Solr, "
        "Elasticsearch and ONNX; repeatable",
    )

    # How the data are read.
    add_column_options(parser)
    parser.add_argument("--missing", **MISSING)
    parser.add_argument("--normalize", **NORMALIZE)

    # Where the results are written.
    parser.add_argument(
        "--out",
        type=Path,
        help="folder for the results; by default they are only printed",
    )
    parser.add_argument(
        "--study",
        type=Path,
        help="study file that stores completed units; default: OUT/study.rankstudio",
    )
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="STUDY",
        help="resume the unfinished runs of a study",
    )

    # What is written besides the results.
    parser.add_argument(
        "--figures",
        action="store_true",
        help="also draw the curves as PNG files into OUT",
    )
    parser.add_argument(
        "--refit",
        action="store_true",
        help="also train the final model on all queries, with the parameters and the size that the rule "
        "chooses by the means over the folds, and write it to OUT/models/all.json",
    )
    add_log_option(parser)
    add_force_option(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the results as JSON instead of tables",
    )


def _add_selection(parser: Any) -> None:
    """Add the options of method and model selection."""
    # The method and its parameters.
    selectors = [m.key for m in methods() if m.selects]
    rankers = [m.key for m in methods() if not m.selects]
    parser.add_argument(
        "--method",
        metavar="NAME",
        choices=[*selectors, *rankers, GIVEN_ORDER.key],
        help=f"selection method: {', '.join(selectors)}; or ranker with all features: {', '.join(rankers)}; "
        f"or {GIVEN_ORDER.key}, the document order of the file; greedy-rankrls by default. Also a class or "
        "function of a Python file, my_method.py:MRMR, or of an installed library by its import path, "
        "sklearn.feature_selection.SelectKBest; its code is run",
    )
    parser.add_argument(
        "--set",
        action="append",
        metavar="NAME=VALUE",
        help="set a parameter of the method by its name; repeatable",
    )
    parser.add_argument(
        "--allow-code",
        action="store_true",
        help="allow the code that the plan or the study names, now and later; only if you trust its source",
    )

    # How the model is trained and chosen.
    parser.add_argument(
        "--ranker",
        dest="ranker",
        metavar="NAME",
        choices=rankers,
        help="final ranker, trained on the selected features; the method's own model by default",
    )
    parser.add_argument(
        "--select-by",
        help=(
            "selection criterion: a validation measure, 'leave-query-out MAP' (the same for other measures), "
            "'leave-pair-out AUC' or 'leave-pair-out Disagreement' of one ranking, or 'criterion'; MAP by "
            "default"
        ),
    )
    parser.add_argument(
        "--rule",
        help='selection rule: "best" (default), "smallest" (the smallest model not significantly worse than '
        'the best), "one-se" (the smallest within one standard error) or "at most 10"',
    )
    parser.add_argument(
        "--hand-chosen",
        metavar="FOLDS",
        help="folds whose queries were known when the pinned features were chosen by hand, such as "
        '"given: 1"; a run that measures these queries is not ranked',
    )

    # How the results are measured.
    parser.add_argument("--measures", help="measures to report, such as MAP,NDCG@10")
    parser.add_argument(
        "--seed", type=int, help="random seed, also of the protocol; 0 by default"
    )
    parser.add_argument(
        "--convention",
        choices=list(CONVENTIONS),
        help="evaluation convention of the measures",
    )


def add_parameters(
    parser: argparse.ArgumentParser,
    title: str,
    entries: Sequence[Method],
    dest: str,
    prefix: str = "--",
    about: str = "",
) -> None:
    """Add the options of the parameters of methods; an option of several methods is added once.

    Advanced parameters, which most runs leave at their defaults, are in
    a group of their own. ``title`` and ``about`` head the options in
    the help. argparse stores a value under ``dest`` and the parameter's
    name; ``prefix`` begins the option.
    """
    if isinstance(parser, CommandParser):
        parser.by_method = True
    basic = parser.add_argument_group(title, about or None)
    advanced = parser.add_argument_group(f"more {title}")
    options: dict[str, list[tuple[str, Parameter]]] = {}
    for entry in entries:
        for p in entry.parameters:
            options.setdefault(p.option, []).append((entry.key, p))

    # The owners of an option are pairs of a method's key and its parameter.
    for option, owners in options.items():
        _, p = owners[0]  # the name and kind are the same for all owners
        group = basic if any(parameter.basic for _, parameter in owners) else advanced
        name = option.removeprefix("--")
        text = _option_help(owners).replace("%", "%%")
        names = [f"{prefix}{name}"]
        if p.name == SIZE.name and prefix == "--":
            names.append("-k")  # the symbol in papers for the number of features
            group.add_argument("--k", dest=f"{dest}{p.name}", help=argparse.SUPPRESS)
        try:
            action: Any = group.add_argument(
                *names, dest=f"{dest}{p.name}", metavar=METAVARS[p.kind], help=text
            )
        except argparse.ArgumentError:
            # A plug-in's parameter has the name of another option of
            # the command; it can be set with --set.
            continue

        # CommandParser.format_help reads these: the option that names
        # the method, and the help by method.
        action.of = "--method" if dest == "parameter_" else "--ranker"
        action.owners = {
            key: _option_help([(key, parameter)], named=False).replace("%", "%%")
            for key, parameter in owners
        }


def _option_help(owners: Sequence[tuple[str, Parameter]], *, named: bool = True) -> str:
    """Return the help of an option: each different text once, followed by its methods if `named`.

    `owners` are pairs of the key of a method and its parameter that the
    option sets.
    """
    texts: dict[str, list[str]] = {}
    for key, p in owners:
        texts.setdefault(f"{p.label}: {p.expected}. {p.help}", []).append(key)
    return " ".join(
        f"{text} ({', '.join(keys)})" if named else text for text, keys in texts.items()
    )


METAVARS = {
    Kind.GRID: "GRID",
    Kind.INTEGER: "K",
    Kind.NUMBER: "X",
    Kind.FEATURES: "FEATURES",
    Kind.COSTS: "COSTS",
    Kind.CHOICE: "NAME",
    Kind.SWITCH: "YES/NO",
    Kind.MEASURE: "MEASURE",
    Kind.TEXT: "TEXT",
}
"""Placeholder for the value of an option in its help."""


def _bundled_plans() -> list[str]:
    """Return the names of the plans that RankStudio contains."""
    return sorted(path.stem for path in resource("plans").glob("*.toml"))


def plan_file(args: argparse.Namespace) -> Path | None:
    """Return the file of the plan that PLAN names, or None if there is no plan.

    PLAN is a file, the name of a bundled plan, or a folder of results,
    which has its plan. If PLAN is data, ``args.data`` is set to it, and
    there is no plan.

    Raises
    ------
    PlanError
        If PLAN and an option both name data, or if PLAN is a study, a
        method, or similar to a bundled plan.
    """
    path: Path | None = args.plan
    if path is None:
        return None

    # Names that stand for a file: standard input, or a plan of RankStudio.
    if is_standard(path):
        return input_file(path, ".toml")
    if not path.exists() and str(path) in _bundled_plans():
        return resource("plans", f"{path}.toml")

    # A study is no plan; for data, the options make a plan.
    if kind_of(path) == "study":
        raise PlanError(
            f"PLAN: expected a plan or data, got a study, {path}; rankstudio run --resume {path} goes "
            f"on with its runs, rankstudio plan {path} writes their plans."
        )
    if path.is_dir() and (path / "plan.toml").exists():
        return path / "plan.toml"  # a folder that --out made: its run is repeated
    if path.is_dir() or path.name.lower().endswith(_DATA_ENDINGS):
        if args.data or args.sample:
            raise PlanError(
                f"{path}: found data, expected a TOML plan with {_data_option_text(args)}."
            )
        args.data = [str(path)]
        return None

    # Names that are probably a mistake.
    if not path.exists() and str(path) in {entry.key for entry in methods()}:
        raise PlanError(
            f"{path}: plan not found. For the method of this name, use --method {path}."
        )
    if not path.exists() and (meant := nearest(str(path), _bundled_plans())):
        raise PlanError(f"{path}: plan not found. {did_you_mean(meant)}")
    return path


def _data_option_text(args: argparse.Namespace) -> str:
    """Return the options of the data as they were typed."""
    return "--sample" if args.sample else f"--data {' --data '.join(args.data)}"


def refuse_beside_resume(args: argparse.Namespace) -> None:
    """Refuse options that say what to run, because the study of ``--resume`` says it.

    Raises
    ------
    PlanError
        If there is such an option; the text names it.
    """
    reason = f"with --resume, which takes all settings from {args.resume}"
    _refuse_others(
        args, _BESIDE_RESUME, f"{reason}. Omit it, or start a new run with --study."
    )


def refuse_beside_comparison(args: argparse.Namespace) -> None:
    """Refuse options that say what to run, because the plan of a comparison says it."""
    _refuse_others(
        args,
        _BESIDE_COMPARISON,
        "with a comparison, whose plan says what to run. Omit it.",
    )


def _refuse_others(
    args: argparse.Namespace, allowed: Sequence[str], reason: str
) -> None:
    """Raise a PlanError for an option that the user typed and that is not among those allowed.

    ``allowed`` are names of the parser, and ``reason`` ends the text of
    the error.
    """
    for action in args.parser._actions:
        if action.dest in allowed or action.help == argparse.SUPPRESS:
            continue

        # None or False is the value of an option that was not typed.
        if getattr(args, action.dest) not in (None, False):
            raise PlanError(
                f"{(*action.option_strings, action.metavar)[0]}: not allowed {reason}"
            )


def plan_from(args: argparse.Namespace) -> Plan:
    """Return the plan that the options describe.

    If the options name a plan in a file, the other options change that plan.

    Raises
    ------
    PlanError, ParameterError
        If the options describe no plan.
    """
    # Start from the plan of the file, or from an empty plan.
    if args.plan is None and args.data is None and not args.sample:
        raise PlanError(
            "No data: use --data with a file or folder, --sample, or a plan."
        )
    if args.plan:
        allow_named_code(args, args.plan)
    plan = (
        with_data_beside(load_plan(args.plan), args.plan)
        if args.plan
        else Plan(data="")
    )

    # Names and costs of features are read with the data that the options name.
    changes = _data_field(args) | _plan_fields(args)
    data_changes = {
        name: changes[name] for name in ("data", "columns") if name in changes
    }
    names = _feature_names_reader(plan.changed(**data_changes))
    costs = costs_from(args, plan.changed(**data_changes))
    method_parameters = _stated_parameters(args, "parameter_", names)
    ranker_parameters = _stated_parameters(args, "ranker_parameter_", names)

    # Stated parameters change those of the plan in the file, if these
    # are of the same method; parameters of another method would not
    # fit.
    method_parameters |= settings_from(args)
    for field, stated_parameters, parameters_field, prefix in (
        ("method", method_parameters, "parameters", "--"),
        ("ranker", ranker_parameters, "ranker_parameters", "--ranker-"),
    ):
        method_key = changes.get(field, getattr(plan, field))

        # Called for its error only.
        _refuse_unknown_parameters(method_key, stated_parameters, prefix)
        is_method_of_plan = method_key == getattr(plan, field)
        plan_parameters = getattr(plan, parameters_field) if is_method_of_plan else {}
        changes[parameters_field] = {**plan_parameters, **stated_parameters}
    if costs is not None:
        changes["costs"] = costs.plain()
    return plan.changed(**changes)


def fold_of_data(
    args: argparse.Namespace, option: str
) -> tuple[Plan, FoldedDataset, set[str]]:
    """Open the data that the options of a command name, for work on one fold.

    ``option`` is the option of the fold, for errors.

    Returns
    -------
    plan : Plan
        Plan with the known costs of features.
    dataset : FoldedDataset
    option_names : set of str
        Names of the options that are set; those of the method's
        parameters are called as in a plan.

    Raises
    ------
    ParameterError
        If the option names several folds.
    """
    from rankstudio.engine.experiment.plan.from_data import with_known_costs
    from rankstudio.engine.experiment.runner import open_data

    # Here the data are one path, but plan_from expects a list as of --data.
    args.data = None if args.sample else [args.data]
    plan = plan_from(args)
    if len(plan.folds) > 1:
        raise ParameterError(option, args.folds, "the number of one fold")
    dataset = open_data(plan)

    # argparse keeps the parameters of methods under names with a prefix.
    option_names = {
        name.removeprefix("parameter_")
        for name, value in vars(args).items()
        if value is not None
    }
    return with_known_costs(plan, dataset), dataset, option_names


def costs_from(args: argparse.Namespace, plan: Plan) -> FeatureCosts | None:
    """Return the costs of features that ``--costs`` names; None without the option.

    The value of the option is a file or a text with the costs. ``plan``
    names the data with the features.
    """
    text: str | None = getattr(args, "costs", None)
    if text is None:
        return None

    # "1: 0.5, 2: 3" is a text with the costs themselves.
    if ":" in text and not Path(text).is_file():
        return FeatureCosts.parsed(text)
    from rankstudio.engine.data.cost_files import read_costs
    from rankstudio.engine.experiment.runner import open_data

    return read_costs(Path(text), open_data(plan))


def _data_field(args: argparse.Namespace) -> dict[str, Any]:
    """Return the data that the options name, as a mapping with the field ``data`` of a plan.

    The mapping is empty without such an option.

    Raises
    ------
    PlanError
        If the options name several datasets.
    """
    if args.sample:
        return {"data": SAMPLE}
    if args.data is None:
        return {}
    if len(args.data) > 1:
        raise PlanError(f"--data: expected one place for a run, got {len(args.data)}.")
    return {"data": str(Path(args.data[0]).absolute())}


def _plan_fields(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a plan that the options set, without the data and the parameters of methods.

    Each value is read from the text that the user typed.
    """
    fields = {
        name: value
        for name in _FIELD_READERS
        if (value := getattr(args, name, None)) is not None
    }
    changes = {name: _FIELD_READERS[name](value) for name, value in fields.items()}
    preferences = _preferences_field(args)
    if preferences is not None:
        changes["preferences"] = preferences
    columns = columns_from(args)
    return {**changes, "columns": columns} if columns else changes


def _preferences_field(args: argparse.Namespace) -> dict[str, str] | None:
    """Return the plan's entry of the file of preferences (pairs of documents) that the options name.

    The result is None if the options name no such file. A plug-in reads
    these options; without it, using one raises an error that says so.
    """
    source = pair_source()
    if source is None and getattr(args, "preferences", None) is None:
        return None
    preferences: dict[str, str] | None = imported(needed_pair_source().told)(args)
    return preferences


def _stated_parameters(
    args: argparse.Namespace, prefix: str, names: Callable[[], Names]
) -> dict[str, Any]:
    """Return the parameters of methods that the user typed, by name.

    The parser keeps parameters under names that begin with ``prefix``.
    In lists of features, ids replace names; ``names`` returns the names
    of the data's features.
    """
    options = {
        dest.removeprefix(prefix): value
        for dest, value in vars(args).items()
        if dest.startswith(prefix)
    }
    stated = {name: value for name, value in options.items() if value is not None}
    parameters = {
        p.name: p for entry in methods() for p in entry.parameters if p.name in stated
    }
    for p in parameters.values():
        if p.kind is Kind.FEATURES:
            stated[p.name] = feature_ids(stated[p.name], p.option, names)
        elif p.kind is Kind.COSTS:
            stated[p.name] = costs_by_id(stated[p.name], p.option, names)
    return stated


def _refuse_unknown_parameters(
    key: str, parameters: Mapping[str, Any], prefix: str
) -> None:
    """Raise a PlanError for parameters that a method does not have; the text names their options.

    Parameters
    ----------
    key : str
        The method; "" for no final ranker.
    parameters : mapping
        The stated parameters, by name.
    prefix : str
        Beginning of the options of these parameters: "--", or "--ranker-".
    """
    options = {
        p.name: prefix + p.option.removeprefix("--")
        for owner in methods()
        for p in owner.parameters
    }
    if parameters and not key:
        raise PlanError(
            f"{options[next(iter(parameters))]}: only with --ranker. Omit it."
        )
    if not key:
        return
    entry = method(key)
    for name in parameters.keys() - {p.name for p in entry.parameters}:
        if name not in options:
            entry.parameter(name)  # raises an error with the known parameters
        available = ", ".join(
            prefix + p.option.removeprefix("--") for p in entry.parameters
        )
        raise PlanError(
            f"{entry.label} has no option {options[name]}. Its options: {available or 'none'}."
        )


def _feature_names_reader(plan: Plan) -> Callable[[], Names]:
    """Return a function that opens a plan's data, and returns the names of the features by id.

    The data are opened only when the returned function is called.
    """

    def read() -> Names:
        """Open the data of `plan`, and return the names of the features by id."""
        from rankstudio.engine.experiment.runner import open_data

        dataset = open_data(plan)
        return dict(
            zip(dataset.feature_ids.tolist(), dataset.feature_names, strict=True)
        )

    return read


def _parsed_groups(text: str) -> Groups:
    """Return groups of features from the file that a text names, or from the text itself."""
    is_file_name = text.strip() and (":" not in text or Path(text).is_file())
    return read_groups(Path(text)) if is_file_name else parse_groups(text)


def _fold_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of folds in a typed text, separated by commas or spaces."""
    try:
        return tuple(int(item) for item in text.replace(",", " ").split())
    except ValueError:
        raise PlanError(
            f"--folds: expected fold numbers such as 1,3, got {text!r}."
        ) from None


def _unchanged(value: Any) -> Any:
    """Return a value as it is: the option's text is the field."""
    return value


_FIELD_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("method", "ranker", "select_by", "convention"), _unchanged),
    **dict.fromkeys(
        ("missing", "normalize", "seed", "protocol", "rule", "hand_chosen"), _unchanged
    ),
    "measures": split_names,
    "folds": _fold_numbers,
    "groups": _parsed_groups,
}
"""Fields of a plan that have options of the same names, each with the function that reads the typed text."""


Names = Mapping[int, str]
"""Names of features by id."""


def feature_ids(text: str, option: str, names: Callable[[], Names]) -> str:
    """Return a list of features with ids in place of names.

    Parameters
    ----------
    text : str
        Typed list: "25, 39", or "BM25 of title; BM25 of anchor". Items
        are separated by semicolons, or by commas if there is no
        semicolon. Lists to try one after the other have "|" between
        them.
    option : str
        Option, for the error: "--pin".
    names : callable
        Returns the names of the data's features; called only if some item is no id.

    Raises
    ------
    ParameterError
        If a name belongs to no feature or to several; the text has similar names.
    """
    # A text without letters has ids only.
    if re.fullmatch(r"[\d\s,|+-]*", text):
        return text
    names_by_id = names()
    return " | ".join(
        _comma_separated_ids(part, option, names_by_id) for part in text.split("|")
    )


def costs_by_id(text: str, option: str, names: Callable[[], Names]) -> str:
    """Return costs of features with ids in place of names: "BM25 of title: 3" as "25: 3".

    Items are separated by semicolons or commas, and lists to try one
    after the other by "|". ``names`` returns the names of the data's
    features, and is called only if the text has names. ``option`` is
    named in errors.

    Raises
    ------
    ParameterError
        If a name belongs to no feature or to several; the text has similar names.
    """
    # Each item is divided at its last colon: (feature, ":", cost).
    # Without a colon, the first two are "".
    lists = [
        [item.rpartition(":") for item in _split_items(part, ";,")]
        for part in text.split("|")
    ]
    has_no_names = all(
        not colon or feature.strip().isdecimal()
        for items in lists
        for feature, colon, _ in items
    )
    if has_no_names:
        return text
    names_by_id = names()
    lists_with_ids = [
        [
            f"{_feature_id(feature, option, names_by_id)}:{cost}"
            for feature, _, cost in items
        ]
        for items in lists
    ]
    return " | ".join(", ".join(items) for items in lists_with_ids)


def _comma_separated_ids(text: str, option: str, names: Names) -> str:
    """Return a list of features as ids, separated by commas.

    ``text`` is a typed list of ids and names; it may also be a single
    name with a comma. ``names`` has the names of features by id;
    ``option`` is for errors.
    """
    is_one_name = any(_folded(text) == _folded(name) for name in names.values())
    items = [text] if is_one_name else _split_items(text, ";" if ";" in text else ",")
    return ", ".join(str(_feature_id(item, option, names)) for item in items)


def _split_items(text: str, dividers: str) -> list[str]:
    """Return the items of a text that are separated by any of the dividers, without empty items."""
    for divider in dividers[1:]:
        text = text.replace(divider, dividers[0])
    return [item.strip() for item in text.split(dividers[0]) if item.strip()]


def _feature_id(item: str, option: str, names: Names) -> int:
    """Return the id of a feature, which ``item`` names by its id or its name.

    Upper and lower case do not matter. ParameterError is raised if no
    feature, or several, have the name; ``option`` is for its text.
    """
    if item.strip().isdecimal():
        return int(item)
    matches = [
        feature for feature, name in names.items() if _folded(name) == _folded(item)
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        ids = ", ".join(map(str, matches))
        raise ParameterError(
            option, item, f"a unique feature name; features {ids} share this one"
        )
    raise ParameterError(
        option,
        item,
        f"a feature id or name{_close_names_hint(item, list(names.values()))}",
    )


def _close_names_hint(item: str, names: Sequence[str]) -> str:
    """Return the end of an error with up to three names similar to ``item``.

    ``names`` are all names. Return "" without similar names.
    """
    names_by_folded_name = {_folded(name): name for name in names}
    close_names = [
        names_by_folded_name[folded]
        for folded in get_close_matches(_folded(item), names_by_folded_name, n=3)
    ]
    return (
        f", such as {' or '.join(shown(name) for name in close_names)}"
        if close_names
        else ""
    )


def _folded(name: str) -> str:
    """Return a name for comparisons, which ignore case and repeated spaces."""
    return " ".join(name.split()).casefold()
