"""A folder of synthetic ranking data of any size, in the style of MSLR-WEB30K."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Bytes, Ints
from rankstudio.engine.data import _letor_kernel as kernels
from rankstudio.engine.errors import OutputError, ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.support.files import make_folder

PARTS = {"train": 0.6, "vali": 0.2, "test": 0.2}
"""The share of the queries that each part has."""

_PIECE = 1 << 14  # documents generated at a time; a larger query is generated at once
# hidden factors that features share, so that features are correlated as in real data
_N_FACTORS = 8
_SKEW = 2.0  # shape of the gamma distribution of the sizes of queries
# least utility for the labels 1 … 4: 52, 32, 13, 2 and 1 percent
_LABEL_THRESHOLDS = (0.05, 1.0, 1.9, 2.35)
_DECIMALS = (0, 6, 6)  # counts, shares from 0 to 1, scores such as BM25
_COUNT, _SHARE = range(2)


@dataclass(frozen=True)
class LargeData:
    """Synthetic data in the style of MSLR-WEB30K: counts, shares and scores, graded from 0 to 4.

    Hidden factors of a document determine its relevance, the first one
    most strongly; each feature depends on one factor, strongly or
    weakly, and every eighth feature on no factor. The data depend only
    on the attributes, and are generated a few queries at a time.

    Attributes
    ----------
    n_documents : int
        Number of documents of all queries together; each query has at
        least one, and some have many times the mean.
    n_queries : int
        Number of queries, at least five.
    n_features : int
        Number of features.
    seed : int
        Equal seeds give equal data.

    Raises
    ------
    ParameterError
        If a number is too small.
    """

    n_documents: int = 3_771_125
    n_queries: int = 31_531
    n_features: int = 136
    seed: int = 0
    sizes: Ints = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the numbers, and draw each query's number of documents (``sizes``)."""
        # Five queries give each part at least one.
        for name, value, least in (
            ("n_queries", self.n_queries, 5),
            ("n_documents", self.n_documents, self.n_queries),
            ("n_features", self.n_features, 1),
            ("seed", self.seed, 0),
        ):
            if value < least:
                raise ParameterError(
                    name, value, tr("a number of at least {least}").format(least=least)
                )
        weights = np.random.default_rng([self.seed, 0]).gamma(
            _SKEW, size=self.n_queries
        )
        # Each query has one document; the others are distributed by
        # cumulated weights, so that none is lost: a query gets the
        # difference of the rounded sums before and behind it. The class
        # is frozen, hence __setattr__.
        ends = (self.n_documents - self.n_queries) * np.cumsum(weights) / weights.sum()
        ends[-1] = self.n_documents - self.n_queries
        object.__setattr__(
            self, "sizes", 1 + np.diff(np.floor(ends).astype(np.int64), prepend=0)
        )

    def queries(self, part: str) -> range:
        """Return the numbers, from 0, of the queries of "train", "vali" or "test".

        The parts follow each other in this order, each with its share
        of the queries.
        """
        # The first query of each part, and the number of queries. PARTS
        # has the share of each part by its name.
        bounds = (
            np.round(np.cumsum([0.0, *PARTS.values()]) * self.n_queries)
            .astype(int)
            .tolist()
        )
        position = list(PARTS).index(part)
        return range(bounds[position], bounds[position + 1])

    def text(self, part: str) -> Iterator[tuple[int, Bytes]]:
        """Yield (number of documents, their LETOR text) for a few queries at a time.

        ``part`` is "train", "vali" or "test".

        Notes
        -----
        Time O(mn); memory O(n s) for s documents in the largest query.
        """
        # Features are in turn counts, shares and scores.
        decimals = np.array(
            [_DECIMALS[j % 3] for j in range(self.n_features)], dtype=np.int64
        )
        # The most bytes of a feature: a blank, its id, a colon and its value.
        longest = len(str(self.n_features)) + 2 + kernels.LONGEST
        queries = self.queries(part)
        first = queries.start
        while first < queries.stop:
            # Numbers of documents of the next queries, added up.
            ends = np.cumsum(self.sizes[first : queries.stop])
            # As many queries as have no more than _PIECE documents, but at least one.
            last = first + max(int(np.searchsorted(ends, _PIECE, side="right")), 1)
            # A feature is a whole number, in units of its last decimal.
            labels, units = self._documents(first, last)
            query_ids = np.repeat(
                np.arange(first + 1, last + 1), self.sizes[first:last]
            )
            # 32 bytes are enough for the label, the query and the end of a line.
            out = np.empty(
                len(labels) * (32 + longest * self.n_features), dtype=np.uint8
            )
            yield (
                len(labels),
                out[: kernels.format_lines(units, decimals, labels, query_ids, out)],
            )
            first = last

    def _documents(self, first: int, last: int) -> tuple[Ints, NDArray[np.int32]]:
        """Draw the labels and features of the queries first … last - 1.

        Return (labels of shape (m,), features of shape (m, n)) for m
        documents with n features. A feature is a whole number, in units
        of its last decimal.
        """
        # The seed has the number of the first query, so that any piece
        # of the data can be drawn alone; 1 distinguishes it from the
        # seed of the sizes.
        rng = np.random.default_rng([self.seed, 1, first])
        sizes = self.sizes[first:last]
        m = int(sizes.sum())
        n = self.n_features
        # The signal is a weighted sum of hidden factors, of variance 1.
        # Each weighs less than the one before.
        factors = rng.standard_normal((m, _N_FACTORS), dtype=np.float32)
        weights = 0.7 ** np.arange(_N_FACTORS)
        weights = weights / np.sqrt(np.sum(weights**2))
        # Summed up one by one: a matrix product of a library may sum in
        # another order on another machine, which would give other data.
        signal = np.zeros(m)
        for factor, weight in zip(factors.T, weights.tolist(), strict=True):
            signal += weight * factor
        # The utility is a weighted sum of the signal, of noise and of
        # an effect of the query. The label is the number of thresholds
        # that it reaches.
        query_effect = np.repeat(0.4 * rng.standard_normal(last - first), sizes)
        utility = 0.6 * signal + 0.7 * rng.standard_normal(m) + query_effect
        labels = np.searchsorted(_LABEL_THRESHOLDS, utility, side="right").astype(
            np.int64
        )
        # A feature is a mixture of noise and one of the factors. One of
        # three shared values is equal for all documents of a query.
        shared = np.repeat(
            rng.standard_normal((last - first, 3), dtype=np.float32), sizes, axis=0
        )
        values = rng.standard_normal((m, n), dtype=np.float32)
        for j in range(n):
            # Share of the factor in the feature: none in every eighth feature,
            # 0.1 to 0.9 in the others, in a mixed order (37 and 101 are
            # coprime).
            share = np.float32(0.0 if j % 8 == 7 else 0.9 - 0.8 * (j * 37 % 101) / 101)
            column = (
                np.float32(1 - share) * values[:, j]
                + share * factors[:, j % _N_FACTORS]
            )
            values[:, j] = _feature_in_last_decimals(column, shared[:, j % 3], j % 3)
        return labels, values.astype(np.int32)


def write_folder(data: LargeData, folder: Path) -> Generator[int, None, None]:
    """Write generated data as train.txt, vali.txt and test.txt, each completely or not at all.

    Parameters
    ----------
    data : LargeData
        Data that are generated while they are written.
    folder : Path
        Output folder, created if missing; files of these names are replaced.

    Yields
    ------
    int
        Number of documents written so far.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    make_folder(folder)
    n_written = 0
    for part, path in written_files(folder).items():
        # Move each file to its path when it is complete.
        try:
            with tempfile.TemporaryDirectory(
                dir=folder, prefix=".rankstudio-", suffix=".part"
            ) as temporary_folder:
                new_file = Path(temporary_folder) / path.name
                with new_file.open("wb", buffering=0) as file:
                    for n_documents, text in data.text(part):
                        # Fewer bytes are written if the disk is full.
                        if file.write(text.data) != len(text):
                            raise OSError(errno.ENOSPC, "no space left on the disk")
                        n_written += n_documents
                        yield n_written
                new_file.replace(path)
        except OSError as error:
            raise OutputError(
                tr("{path} could not be written: {strerror}.").format(
                    path=path, strerror=error.strerror or error
                )
            ) from error


def written_files(folder: Path) -> dict[str, Path]:
    """Return the file of each part that is written to a folder."""
    return {part: folder / f"{part}.txt" for part in PARTS}


def _feature_in_last_decimals(
    column: NDArray[Any], shared: NDArray[Any], kind: int
) -> NDArray[Any]:
    """Turn random values of a feature into numbers like those of real data, from 0 up.

    ``column`` and ``shared``, the value that is equal within a query,
    have shape (m,); ``kind`` is 0 for counts, 1 for shares and 2 for
    scores. The results are whole numbers, in units of the last decimal.
    All operations round the same on every machine.
    """
    shaped: NDArray[Any]
    # The constants give about the sizes of real values. Negative numbers become 0.
    if kind == _COUNT:  # many small numbers, few large ones
        raised = np.maximum(
            column + np.float32(0.5) * shared + np.float32(0.8), np.float32(0.0)
        )
        shaped = np.float32(3) * raised * raised * raised
    elif kind == _SHARE:  # from 0 to 1, with 6 decimals: 0 to 10^6 millionths
        shaped = np.float32(5e5) * (
            column / (np.float32(1) + np.abs(column)) + np.float32(1)
        )
    else:
        shaped = np.float32(6e6) * np.maximum(
            column + shared + np.float32(1.0), np.float32(0.0)
        )
    shaped = np.floor(shaped)
    return shaped
