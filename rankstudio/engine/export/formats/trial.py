"""Reading written models back.

Formulas are evaluated in this process, code runs in separate processes.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.trees import Node
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import one_line

SECONDS = 300.0
"""Maximum duration of each process, in seconds."""

_MAX_ERROR_LENGTH = 500  # characters of a compiler's message that are shown


def weighted_sum(X: Floats, weights: Iterable[tuple[int, float]], dtype: Any) -> Floats:
    """Return the weighted sum of columns of X for m documents, shape (m,).

    The terms are added one after the other in numbers of the type
    `dtype`, as the program does whose model it is. `X` has shape (m,
    k); `weights` has pairs of a column and its weight.
    """
    total = np.zeros(X.shape[0], dtype=dtype)
    values = X.astype(dtype)
    for column, weight in weights:
        total = total + dtype(weight) * values[:, column]
    return total


def tree_sum(X: Floats, trees: Iterable[Node], dtype: Any) -> Floats:
    """Return the sum of the values of trees for m documents, shape (m,).

    `X` has shape (m, k). The trees are added one after the other in
    numbers of the type `dtype`, as the program does whose model it is.

    A tree is a number, for a leaf, or a tuple of column, threshold, and
    the trees for values up to the threshold and above it.
    """
    total = np.zeros(X.shape[0], dtype=dtype)
    values = X.astype(dtype)
    rows = np.arange(X.shape[0])
    for tree in trees:
        outputs = np.zeros_like(total)
        _write_node_values(tree, values, rows, outputs)
        total = total + outputs
    return total


def _write_node_values(node: Node, X: Floats, rows: Any, outputs: Floats) -> None:
    """Write the values of a tree below a node, for some rows of X, into ``outputs``.

    `rows` are positions of rows, also in `outputs`. `X` has shape (m,
    k), and `outputs` shape (m,). A node is a number, for a leaf, or a
    tuple of column, threshold, and the two nodes below it.
    """
    if not isinstance(node, tuple):
        outputs[rows] = node
        return
    column, threshold, low_child, high_child = node
    is_low = X[rows, column] <= X.dtype.type(threshold)
    for child, is_in_child in ((low_child, is_low), (high_child, ~is_low)):
        if is_in_child.any():
            _write_node_values(child, X, rows[is_in_child], outputs)


class Trial:
    """A folder with generated code, and the processes that compile and run it.

    No code from the folder is loaded into this process, because names
    in a model could contain code that is compiled.

    Parameters
    ----------
    files : Mapping of str to bytes
        Contents of the files by name.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """Write the files to a new temporary folder."""
        self._folder = tempfile.TemporaryDirectory(prefix="rankstudio-")
        for name, content in files.items():
            Path(self.path(name)).write_bytes(content)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Delete the folder with its files."""
        self._folder.cleanup()

    def path(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return str(Path(self._folder.name) / name)

    def run(self, command: Sequence[str]) -> None:
        """Run a command, a program with its arguments, in the folder.

        Raises
        ------
        OutputError
            If the command fails or takes too long.
        """
        # Only the messages of errors are kept.
        try:
            process = subprocess.run(
                command,
                cwd=self._folder.name,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise OutputError(
                tr("{program} took more than {seconds:g} seconds.").format(
                    program=Path(command[0]).name, seconds=SECONDS
                )
            ) from None

        # A failure is reported with the beginning of its message.
        if process.returncode:
            raise OutputError(
                tr("{program} failed with status {status}: {said}").format(
                    program=Path(command[0]).name,
                    status=process.returncode,
                    said=one_line(
                        process.stderr.decode(errors="replace")[:_MAX_ERROR_LENGTH]
                    ),
                )
            )

    def scores(self, command: Sequence[str], X: Floats) -> Floats:
        """Run a command that reads documents from one file and writes their scores to another.

        Parameters
        ----------
        command : sequence of str
            Command without its last two arguments, which are added: the
            file of the documents, and that of the scores. Both contain
            doubles.
        X : ndarray of shape (m, k)
            Values of m documents, one column per input of the model.

        Returns
        -------
        ndarray of shape (m,)
            Score of each document.

        Raises
        ------
        OutputError
            If the command fails, takes too long, or writes a wrong
            number of scores.
        """
        documents_path = self.path("documents")
        scores_path = self.path("scores")
        np.ascontiguousarray(X, dtype=np.float64).tofile(documents_path)
        self.run([*command, documents_path, scores_path])
        scores = np.fromfile(scores_path)
        if scores.size != X.shape[0]:
            raise OutputError(
                tr("{program} wrote {found} scores, expected {expected}.").format(
                    program=Path(command[0]).name,
                    found=scores.size,
                    expected=X.shape[0],
                )
            )
        return scores
