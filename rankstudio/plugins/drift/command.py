"""Arguments of ``rankstudio drift``: two parts, two datasets, or the run of a study and other data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.data_options import (
    MISSING,
    NORMALIZE,
    add_column_options,
    add_data,
    columns_from,
    data_place,
)
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.study_file_option import add_run_number, opened_run
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.plan import Plan

if TYPE_CHECKING:
    from rankstudio.engine.data.dataset import FoldedDataset


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    # DATA, or --sample instead
    add_data(parser, "data file, or folder of folds")
    parser.add_argument(
        "other",
        metavar="OTHER",
        nargs="?",
        type=Path,
        help="other data; by default two parts of DATA",
    )
    parser.add_argument(
        "--study",
        metavar="STUDY",
        type=Path,
        help="study with a run on other data, whose selection is compared",
    )
    add_run_number(parser, "--run")  # --run N, stored as `number`
    parser.add_argument(
        "--parts",
        metavar="A,B",
        help="parts that are compared, of train, vali and test; by default train,test, and with OTHER "
        "train,train",
    )
    parser.add_argument(
        "--fold",
        type=int,
        metavar="F",
        help="number of the fold; by default the first",
    )
    parser.add_argument("--missing", **MISSING, default="query_min")
    parser.add_argument("--normalize", **NORMALIZE, default="none")

    # --qid, --label and others, on the meaning of columns.
    add_column_options(parser.add_argument_group("columns of tables"))
    add_memory_option(parser)  # --memory
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON instead of a table",
    )


def read(args: argparse.Namespace) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the positional and the keyword arguments of `drift_result` for the command's options.

    The positional ones are one or two datasets; or a run, its data, and
    the path of the other data. The keyword ones are the names of the
    two parts, and the number of the fold; there are none for a run.

    Raises
    ------
    PlanError
        For options that do not fit together.
    ParameterError
        For a fold or a part that the data do not have.
    """
    if args.study is not None:
        return _subject_of_study(args), {}
    if args.number is not None:
        raise PlanError("--run: expected --study with the study of the run, got none.")
    text = args.parts or ("train,test" if args.other is None else "train,train")
    parts = tuple(name.strip() for name in text.split(","))
    if len(parts) != 2 or not set(parts) <= {"train", "vali", "test"}:
        raise PlanError(
            f"--parts: expected two of train, vali and test, as in train,test; got {text!r}."
        )
    paths = (args.data,) if args.other is None else (args.data, args.other)
    subject = tuple(_opened_data(args, path) for path in paths)
    _refuse_absent_parts(subject, parts, args.fold)  # called for its errors only
    return subject, {"first": parts[0], "second": parts[1], "fold": args.fold}


def _subject_of_study(args: argparse.Namespace) -> tuple[Any, ...]:
    """Return the run that the options name, its data, and the path of the other data.

    Raises
    ------
    PlanError
        For options that a comparison with a run does not have.
    """
    for option, value in (
        ("OTHER", args.other),
        ("--parts", args.parts),
        ("--fold", args.fold),
    ):
        if value is not None:
            raise PlanError(
                f"{option}: not allowed with --study, which compares DATA with the data of the run."
            )

    # The run with a number, or the only one of the study.
    opened = opened_run(args.study, args.number)
    return opened.result, opened.dataset, data_place(args.data)


def _opened_data(args: argparse.Namespace, location: Path) -> FoldedDataset:
    """Open data at a path, read as the command's options say."""
    from rankstudio.engine.experiment.runner import open_data

    fields = {
        "missing": args.missing,
        "normalize": args.normalize,
        "columns": columns_from(args),
    }
    return open_data(Plan(data_place(location), **fields))


def _refuse_absent_parts(
    data: tuple[FoldedDataset, ...], parts: tuple[str, ...], fold: int | None
) -> None:
    """Raise ParameterError for a fold or a part that the data do not have."""
    from rankstudio.plugins.drift.analysis import part_of

    # The first part is that of the first dataset, the second that of
    # the last, which may be the same. Called for its errors only, which
    # name the option.
    for dataset, name in zip((data[0], data[-1]), parts, strict=True):
        try:
            part_of(dataset, name, fold)
        except ParameterError as error:
            raise ParameterError(
                f"--{error.name}", error.value, error.expected
            ) from None
