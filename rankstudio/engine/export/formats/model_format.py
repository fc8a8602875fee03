"""Formats of other programs, with their functions to write and read a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.score_function import (
    ScoreFunction,
    ValueRanges,
    refusal_of,
)
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import clean_text, one_line
from rankstudio.engine.support.files import write_bytes

Files = Mapping[str, bytes]
"""Contents of files by the endings of their names; "" is the main file."""


@dataclass(frozen=True)
class Documents:
    """Documents to score with an exported model, to verify the export.

    Attributes
    ----------
    X : ndarray of shape (m, k)
        Values of m documents, with one column for each input of the
        exported function, in order.
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query, followed by m.
    dtype : type
        Floating-point type, if the reader has a choice: float64, or
        float32 for programs in single precision, including their
        output.
    """

    X: Floats
    query_ptr: Ints
    dtype: Any = np.float64


ABOUT = "-about.txt"
"""Ending of the name of the file with the origin of a model."""


class Readers(IntEnum):
    """Kinds of programs that read files with models.

    Formats of model files are offered to users in the order of these kinds.
    """

    PROGRAM = 0  # a program that ranks by itself
    SEARCH_ENGINE = 1
    RUNTIME = 2  # a runtime for models of any kind
    CODE = 3
    OTHER = 4


@dataclass(frozen=True)
class ModelFormat:
    """A file format of another program to which models can be exported.

    Attributes
    ----------
    key : str
        Key on the command line.
    label : str
        Name for users.
    suffix : str
        Suffix of the file's name.
    summary : str
        Description of the contents, as a sentence.
    write : callable(ScoreFunction) -> Files
        Returns the contents of the files with a function.
    read : callable(Files, ScoreFunction, Documents) -> ndarray of shape (m,)
        Returns the scores of documents, computed with the files alone;
        the function only says which inputs there are.
    linear, trees, scales, sums : bool
        Whether the format supports weighted sums, sums of trees,
        scaling within a query, and trees that split on sums of
        features.
    single : str
        Program that computes in single precision or prints few digits;
        "" if all doubles are preserved.
    extra : str
        Extra of the package that installs a required library.
    beside : str
        Ending of a second file; "" if there is none.
    has_origin_file : bool
        Whether the file of a weighted sum has no place for a text, so
        that its origin is in another file.
    prints : int
        Significant digits or decimals of printed scores; 0 if scores
        are passed on unrounded.
    fit : callable(ScoreFunction, ValueRanges) -> sequence of ScoreFunction, optional
        Forms of the function with the same ranking, the preferred one
        first, if values matter to the program.
    fitted : str
        Description of changes to the function, with the reason.
    engine : str
        Search engine whose feature sets give definitions; "" without one.
    readers : Readers
        Kind of the programs that read the files: formats are offered in
        the order of these kinds.
    package : str
        Package that the format comes from; "" for RankStudio's own.
    """

    key: str
    label: str
    suffix: str
    summary: str
    write: Callable[[ScoreFunction], Files]
    read: Callable[[Files, ScoreFunction, Documents], Floats]
    linear: bool = True
    trees: bool = True
    scales: bool = False
    sums: bool = False
    single: str = ""
    extra: str = ""
    beside: str = ""
    has_origin_file: bool = False
    prints: int = 0
    fit: Callable[[ScoreFunction, ValueRanges], Sequence[ScoreFunction]] | None = None
    fitted: str = ""
    engine: str = ""
    readers: Readers = Readers.OTHER
    package: str = ""

    def refusal(self, *, linear: bool, scaled: bool, kind: str = "") -> str:
        """Return the reason why the format cannot express a model; "" if it can.

        Parameters
        ----------
        linear, scaled : bool
            Whether the model is a weighted sum, and whether its inputs
            are scaled within a query.
        kind : str
            Kind of a model that is neither a weighted sum nor a sum of
            trees, such as "sums", a model of sums of features; "" for
            all others.
        """
        # Sums are the only one of these kinds that some formats
        # support, by `sums`.
        if kind and not (kind == "sums" and self.sums):
            text = refusal_of(kind)
        elif scaled and not self.scales:
            text = tr(
                "{format} scores one document at a time, but this model uses features scaled "
                "within each query (query_minmax). Train without scaling, scale the values "
                "before indexing, or export to Python, which scales them itself."
            )
        elif linear and not self.linear:
            text = tr("{format} supports only trees, but this model is a weighted sum.")
        elif not linear and not self.trees:
            text = tr(
                "{format} supports only weighted sums, but this model is a sum of trees."
            )
        else:
            return ""
        return text.format(format=self.label)

    def files(self, function: ScoreFunction) -> Files:
        """Return the contents of the files with a model, by the endings of their names.

        "" is the ending of the main file.

        Raises
        ------
        OutputError
            If the format cannot express the model; the message gives
            the reason.
        MissingExtraError
            If a library is missing.
        """
        if reason := self.refusal(
            linear=function.linear, scaled=function.scaled, kind=function.kind
        ):
            raise OutputError(reason)
        files = self.write(function)
        # In some formats, the file of a weighted sum has no place for
        # the origin of the model, which is then written to a second
        # file.
        if self.has_origin_file and function.linear:
            return {
                **files,
                ABOUT: f"{clean_text(one_line(function.about))}\n".encode(),
            }
        return files

    def paths(self, path: Path) -> dict[str, Path]:
        """Return the paths of the files of an exported model, by the endings of their names.

        The main file has the path `path`, with the key "" in the
        result. Other files are next to it.
        """
        endings = filter(None, [self.beside, ABOUT if self.has_origin_file else ""])
        return {
            "": path,
            **{ending: path.with_name(f"{path.stem}{ending}") for ending in endings},
        }

    def scored_files(self, path: Path) -> Files:
        """Return the contents of the files at a path that :attr:`read` scores with."""
        return {
            ending: file.read_bytes()
            for ending, file in self.paths(path).items()
            if ending != ABOUT
        }

    def save(self, path: Path, files: Files) -> list[Path]:
        """Write the files of an exported model, and return their paths.

        `files` has contents by the endings of names; "" is the file at
        `path`. After an error, files that did not exist before are
        removed.

        Raises
        ------
        OutputError
            If a file cannot be written.
        """
        paths = {
            ending: file for ending, file in self.paths(path).items() if ending in files
        }
        new_files: list[Path] = []
        try:
            for ending, file in paths.items():
                new_files += [] if file.exists() else [file]
                write_bytes(file, files[ending])
        except OutputError:
            for file in new_files:
                with suppress(OSError):
                    file.unlink(missing_ok=True)
            raise
        return list(paths.values())


def json_bytes(values: Any) -> bytes:
    """Return the contents of a JSON file."""
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()
