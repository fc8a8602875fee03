"""Kinds of files on the command line (data, study or model), and the check of what a command takes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from rankstudio.engine.errors import PlanError

_STUDY_MAGIC = b"SQLite format 3\0"
# bytes at the beginning of a file, in which a model names its format
_N_BYTES_READ = 2_000
_LETOR_DOCUMENT = re.compile(rb"[-+.\de]+\s+(qid:\S|\d+:[-+.\d])", re.IGNORECASE)
_DATA_ENDINGS = (
    ".csv",
    ".tsv",
    ".parquet",
    ".arrow",
    ".feather",
    ".jsonl",
    ".ndjson",
    ".letor",
)

# Kind that an argument takes, by its metavar.
_KINDS_BY_METAVAR = {"DATA": "data", "STUDY": "study", "MODEL": "model"}
_EXPECTED_TEXTS = {
    "data": "a data file or folder of folds",
    "study": "a study file",
    "model": "a model file",
}
_FOUND_TEXTS = {
    "data": "data",
    "study": "a study",
    "model": "a model",
    "text": "a text file",
}
_REMEDIES = {  # by the kind that a command takes, and the kind that it got
    ("data", "study"): "rankstudio studies {path} lists the data of its runs",
    ("data", "model"): "models are given with --model or as MODEL",
    (
        "study",
        "data",
    ): "rankstudio run --data {path} --study FILE makes a study of them",
    (
        "study",
        "text",
    ): "rankstudio run with --study FILE, or with --out OUT, writes a study",
    ("study", "model"): "the study of a run with --out OUT is OUT/study.rankstudio",
    (
        "model",
        "study",
    ): "rankstudio run --resume {path} --out OUT writes the models into OUT/models",
    (
        "model",
        "data",
    ): "rankstudio run --data {path} --out OUT trains OUT/models/fold1.json and others",
}


def kind_of(path: Path) -> str:
    """Return the kind of a file or folder, or "" if it is unknown.

    Kinds are "data", "study", "model", and "text" for other text. The
    name and the first bytes of the file at ``path`` decide.
    """
    if path.is_dir():
        return "data"
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            begin = file.read(_N_BYTES_READ)
    except OSError:
        return ""
    if begin.startswith(_STUDY_MAGIC):  # a study is an SQLite database
        return "study"
    if begin.lstrip().startswith(b"{") and _is_model(begin):
        return "model"
    if path.name.lower().endswith(_DATA_ENDINGS) or _begins_letor(begin):
        return "data"
    return "text" if _is_text(begin) else ""


def _begins_letor(begin: bytes) -> bool:
    """Return whether the first line that is not empty and no comment is a document of LETOR text."""
    lines = (line.strip() for line in begin.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return _LETOR_DOCUMENT.match(first) is not None


def _is_text(begin: bytes) -> bool:
    """Return whether the first bytes of a file look like text."""
    return bool(begin) and b"\0" not in begin


def _is_model(begin: bytes) -> bool:
    """Return whether the first bytes of a file are those of a model in JSON."""
    from rankstudio.engine.export.models import FORMAT

    return f'"{FORMAT}"'.encode() in begin


def _argument_paths(
    parser: argparse.ArgumentParser, args: argparse.Namespace
) -> Iterator[tuple[argparse.Action, Path]]:
    """Yield the arguments of a command, each with one of its values as a path.

    All values that are a text or a path, and not empty, are yielded,
    whether they name a file or not; the caller picks the arguments for
    files. Of a command with subcommands, the arguments of the typed
    subcommand are yielded, too.
    """
    # An action is argparse's description of an argument.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from _argument_paths(action.choices[getattr(args, action.dest)], args)
            continue
        # An argument may have a list of values.
        value = getattr(args, action.dest, None)
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, (str, Path)) and str(word):
                yield action, Path(word)


def refuse_other_kinds(args: argparse.Namespace) -> None:
    """Raise an error for a file of another kind than a command needs, such as a study for data.

    The files are those that the arguments in ``args`` name. The error
    is raised before any file is read.

    Raises
    ------
    PlanError
        If there is such a file; the text says which kind it has, and what to do.
    """
    # The metavar of an argument, such as DATA, says which kind it
    # needs. A file of the unknown kind "" is accepted; reading it will
    # show what it is.
    for action, value in _argument_paths(args.parser, args):
        # None for an argument that is no file, such as a number.
        needed = _KINDS_BY_METAVAR.get(str(action.metavar))
        kind = kind_of(value) if needed is not None else ""
        if kind == "text" and needed != "study":
            continue  # data and models of other programs are text, too

        # `also` has further kinds that the command has named for the argument.
        accepted_kinds = ("", needed, *getattr(action, "also", ()))
        if needed is not None and kind not in accepted_kinds:
            name = action.option_strings[0] if action.option_strings else action.metavar
            remedy = _REMEDIES[needed, kind].format(path=value)
            raise PlanError(
                f"{name}: expected {_EXPECTED_TEXTS[needed]}, got {_FOUND_TEXTS[kind]}, {value}; {remedy}."
            )
