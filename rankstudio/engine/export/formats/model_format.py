"""What a format of another program is: how it is written, read back, and what it cannot express."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.score_function import ScoreFunction, ValueRanges, kernel_refusal
from rankstudio.engine.language import tr
from rankstudio.engine.support.files import write_bytes

Files = Mapping[str, bytes]
"""What is written, by the ending of a name after its stem: the file itself, then what stands beside it."""


@dataclass(frozen=True)
class Documents:
    """Documents to score with what was written.

    Attributes
    ----------
    X : ndarray of shape (m, k)
        One column for each of the function's inputs, in their order.
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query, and m.
    dtype : type
        The numbers to compute with, where the reader has a choice: float64, or float32 for all that the
        other program does, down to what it prints.
    """

    X: Floats
    query_ptr: Ints
    dtype: Any = np.float64


@dataclass(frozen=True)
class ModelFormat:
    """A format of another program.

    Attributes
    ----------
    key : str
        As on the command line.
    label : str
        As people call it.
    suffix : str
        Of the file.
    summary : str
        What is written, as a sentence.
    write : callable(ScoreFunction) -> Files
    read : callable(Files, ScoreFunction, Documents) -> ndarray of shape (m,)
        Scores documents with the files alone; of the function it needs to know the inputs.
    linear, trees, scales : bool
        Whether it has weighted sums, trees that are added up, and scaling within a query.
    single : str
        Who computes in single precision, or prints few digits; "" where every double is kept.
    extra : str
        Of the package, where writing needs a library.
    beside : str
        Ending of a second file, which stands beside the first; "" where there is none.
    prints : int
        Significant digits or decimals that the program prints of a score; 0 where it hands scores on whole.
    fit : callable(ScoreFunction, ValueRanges) -> sequence of ScoreFunction, optional
        The function in forms that rank alike, the preferred one first, where values matter to the program.
    fitted : str
        What was done to a function that is not as it was, and why.
    engine : str
        The search engine whose feature sets it takes definitions from; "" for none.
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
    single: str = ""
    extra: str = ""
    beside: str = ""
    prints: int = 0
    fit: Callable[[ScoreFunction, ValueRanges], Sequence[ScoreFunction]] | None = None
    fitted: str = ""
    engine: str = ""

    def refusal(self, *, linear: bool, scaled: bool, kernel: bool = False) -> str:
        """Return why it cannot express a model, as a sentence; "" where it can.

        Parameters
        ----------
        linear, scaled : bool
            Whether the model is a weighted sum, and whether its inputs are scaled within a query.
        kernel : bool
            Whether it is a sum of kernel functions.
        """
        if kernel:
            text = kernel_refusal()
        elif scaled and not self.scales:
            text = tr(
                "{format} scores one document at a time, but this model uses features scaled "
                "within each query (query_minmax). Train without scaling, scale the values "
                "before indexing, or export to Python, which scales them itself."
            )
        elif linear and not self.linear:
            text = tr("{format} supports only trees, but this model is a weighted sum.")
        elif not linear and not self.trees:
            text = tr("{format} supports only weighted sums, but this model is a sum of trees.")
        else:
            return ""
        return text.format(format=self.label)

    def files(self, function: ScoreFunction) -> Files:
        """Return what is to be written.

        Raises
        ------
        OutputError
            Where the format cannot express the model; the text says why.
        MissingExtraError
            Where a library is missing.
        """
        if reason := self.refusal(linear=function.linear, scaled=function.scaled):
            raise OutputError(reason)
        return self.write(function)

    def paths(self, path: Path) -> dict[str, Path]:
        """Return where files go, by their endings: the first to the path, another beside it."""
        beside = {self.beside: path.with_name(f"{path.stem}{self.beside}")} if self.beside else {}
        return {"": path, **beside}

    def save(self, path: Path, files: Files) -> list[Path]:
        """Write files, all of them or none that was not there before, and return where they are.

        Raises
        ------
        OutputError
            Where one cannot be written.
        """
        paths = self.paths(path)
        made: list[Path] = []
        try:
            for ending, place in paths.items():
                made += [] if place.exists() else [place]
                write_bytes(place, files[ending])
        except OutputError:
            for place in made:
                with suppress(OSError):
                    place.unlink(missing_ok=True)
            raise
        return list(paths.values())


def json_bytes(values: Any) -> bytes:
    """Return what a file of JSON holds."""
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()
