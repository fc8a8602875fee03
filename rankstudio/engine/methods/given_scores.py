"""Rankings that another program made: the scores of documents, as its files contain them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.steps import Step
from rankstudio.engine.support.sparse_rows import features_apart

# Evenly spaced rows of a part from which its key is computed.
_MAX_COMPARED_ROWS = 4096


@dataclass(frozen=True, eq=False)
class GivenScores(Step):
    """The step of a run with given scores: scores for the documents of some parts, not for others.

    Attributes
    ----------
    name : str
        Name of the scores.
    parts : Mapping of str to ndarray of shape (m,)
        Scores of the documents of each part, in row order. The keys are
        :func:`part_key` of the parts' features.
    """

    linear: ClassVar[bool] = False
    learned: ClassVar[bool] = False

    name: str
    parts: Mapping[str, Floats]

    def can_score(self, X: Floats) -> bool:
        """Return whether there are scores for the documents of a part with the features X (m, n)."""
        return part_key(X) in self.parts

    def scores(self, columns: Floats, previous_scores: Floats | None = None) -> Floats:
        """Return the stored scores (m,) of the documents of a part, such as the test part of a fold.

        ``columns`` (n, m) are the features of its documents. The
        features only identify the part; ``previous_scores`` are not
        used.

        Raises
        ------
        DatasetError
            For documents without scores.
        """
        key = part_key(columns.T)  # a checksum of the features
        if key not in self.parts:
            raise DatasetError(
                f"{self.name}: no scores for these {columns.shape[1]} documents; expected a part that the "
                "score files cover."
            )
        return self.parts[key]

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the scores as plain values, which can be written to a file.

        See :meth:`rankstudio.engine.steps.Step.beyond_weights`.
        ``ids``, those of the features, are not used.
        """
        scores = {key: values.tolist() for key, values in self.parts.items()}
        return {"kind": KIND, "name": self.name, "parts": scores}


KIND = "given scores"


def given_scores(
    name: str, parts: Sequence[tuple[Floats, Floats]], n_features: int
) -> GivenScores:
    """Return the single step of a run whose scores another program has computed.

    A step is a model of a run; this one looks up its scores instead of
    computing them. A part is a set of documents, such as the test part
    of a fold.

    Parameters
    ----------
    name : str
        Name of the scores.
    parts : sequence of (ndarray of shape (m, n), ndarray of shape (m,))
        Features of the documents of each part, and their scores.
    n_features : int
        Number of features of the data, n.
    """
    # A part has no name, so a checksum of its features is its key.
    by_key = {
        part_key(X): np.ascontiguousarray(scores, dtype=np.float64)
        for X, scores in parts
    }
    # Such a model selects no feature, and has no weights: they are all 0.
    return GivenScores(
        number=1,
        selected=(),
        coef=np.zeros(n_features),
        criterion=float("nan"),
        candidates=np.empty(0),
        name=name,
        parts=by_key,
    )


def stored_scores(beyond: Mapping[str, Any]) -> tuple[str, dict[str, Floats]]:
    """Check and return the name and the scores in a stored run with scores of another program.

    ``beyond`` has them as plain values, as they are read from the run's
    file: "name", and "parts", lists of scores by the key of a part of
    the data. The key is a checksum of the part's features. The scores
    are returned as arrays (m,) by the same keys.

    Raises
    ------
    ValueError, LookupError, TypeError
        If the values are invalid.
    """
    name = beyond["name"]
    parts = beyond["parts"]
    # A file may be damaged, so every value is checked.
    if not isinstance(name, str) or not isinstance(parts, dict):
        raise ValueError("expected given scores")
    scores: dict[str, Floats] = {}
    for key, values in parts.items():
        if not isinstance(values, list) or any(
            type(value) is not float for value in values
        ):
            raise ValueError("expected scores")
        scores[key] = np.array(values, dtype=np.float64)
        if np.isnan(scores[key]).any():
            raise ValueError("expected numbers")
    return name, scores


def part_key(X: Floats) -> str:
    """Return a key of a part of the data: a checksum of its shape and of its features, or of some rows.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Features in any memory layout.

    Notes
    -----
    At most 4,096 rows are read, so the time does not grow with larger
    numbers of documents.
    """
    rows = np.linspace(0, len(X) - 1, min(len(X), _MAX_COMPARED_ROWS)).astype(np.int64)
    digest = hashlib.sha256(f"{X.shape}".encode())
    for array in features_apart(X[rows]).values():
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]
