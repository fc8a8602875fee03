"""The identity of data: checksums that tell whether two datasets are the same, and which file changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset, Source
from rankstudio.engine.data.splitting.part_of_whole import PartOfWhole
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.sparse_rows import features_apart

_ROWS_AT_ONCE = 1 << 15  # of data that are hashed at a time


@dataclass(frozen=True)
class Fingerprint:
    """The identity of a dataset: a checksum of its contents, and its files.

    Attributes
    ----------
    checksum : str
        Checksum of all parts of all folds. Any plan gives the same
        results on datasets with equal checksums.
    files : tuple of Source
        Source files of the dataset, without repetition.
    """

    checksum: str
    files: tuple[Source, ...]


def fingerprint(dataset: FoldedDataset) -> Fingerprint:
    """Return a dataset's fingerprint: a checksum of all its parts, and its files.

    The reader hashed the same bytes that it parsed, so nothing is read
    again, and neither names nor times are trusted. Parts assembled in
    memory, with m documents and n features, are hashed directly, in
    O(mn).
    """
    files: dict[str, Source] = {}
    # Checksums of whole data that parts are selected from, by the id()
    # of the object, so that each is computed once for all folds.
    checksums: dict[int, str] = {}
    lines = []
    for fold in dataset.folds:
        for name, part in fold.parts.items():
            if part.source is not None:
                files.setdefault(str(part.source.path.absolute()), part.source)
            lines.append(
                f"{fold.number} {name} {part.n_features} {_part_checksum(part, checksums)}"
            )
    return Fingerprint(_sha256("\n".join(lines).encode()), tuple(files.values()))


def data_digest(dataset: FoldedDataset) -> str:
    """Return a digest of the documents and labels that runs are measured on.

    If the folds are those of the files, even if only a share of the
    training queries is used, the digest is that of the files. Otherwise
    the digest covers only the validation and test parts, so that runs
    with different shares of the training queries have the same digest.
    """
    identity = fingerprint(dataset)
    # ``divided_by`` is how the program made the folds; "" for those of files.
    if identity.files and not dataset.divided_by:
        return files_digest(identity.files)
    # "train 50%, seed 0": only the training queries were reduced. The
    # files are then those of the folds before that.
    if dataset.origin.whole_sources and dataset.divided_by.startswith("train "):
        return files_digest(dataset.origin.whole_sources)
    # Checksums of whole data that parts are selected from, by the id()
    # of the object; filled and used below.
    checksums: dict[int, str] = {}
    lines = [
        f"{fold.number} {name} {part.n_features} {_part_checksum(part, checksums)}"
        for fold in dataset.folds
        for name, part in fold.parts.items()
        if name != "train"
    ]
    return _sha256("\n".join(lines).encode())


def files_digest(files: Sequence[Source]) -> str:
    """Return the digest of a dataset whose folds are those of its files."""
    return _sha256("\n".join(sorted({source.checksum for source in files})).encode())


def change(recorded: Sequence[Source], current: Sequence[Source]) -> str:
    """Return a sentence about the first file whose contents have changed; "" if none has.

    ``recorded`` are the files as they were when a result was stored;
    ``current`` are the files now. Files that were not recorded are
    skipped.
    """
    by_path = {source.path.absolute(): source for source in recorded}
    for file in current:
        # A file without a record counts as unchanged: it is compared with itself.
        recorded_source = by_path.get(file.path.absolute(), file)
        if recorded_source.checksum != file.checksum:
            expected_size = recorded_source.size
            size = (
                f"{file.size:,} bytes"
                if file.size != expected_size
                else "the same size with different contents"
            )
            return f"{file.path}: the file changed: expected {expected_size:,} bytes, found {size}"
    return ""


def _part_checksum(part: RankingDataset, checksums: dict[int, str]) -> str:
    """Return the checksum of a part of a fold, such as its training part.

    For a selection of queries from whole data, the result is the
    checksum of the whole data and a text on the queries. ``checksums``
    stores checksums of whole data by their id().
    """
    return (
        _selection_checksum(part, checksums)
        if isinstance(part, PartOfWhole)
        else _whole_checksum(part)
    )


def _whole_checksum(part: RankingDataset) -> str:
    """Return the checksum of the file of a part, else of its arrays."""
    return part.source.checksum if part.source is not None else _arrays_checksum(part)


def _selection_checksum(part: PartOfWhole, checksums: dict[int, str]) -> str:
    """Return the checksum of a part that is a selection of queries from whole data.

    The result is the checksum of the whole data, and a text on the
    selected queries. The checksum of the whole data is computed once
    for all folds, and stored in ``checksums``.
    """
    if id(part.whole) not in checksums:
        checksums[id(part.whole)] = _whole_checksum(part.whole)
    return f"{checksums[id(part.whole)]} {part.recorded_as}"


def _arrays_checksum(part: RankingDataset) -> str:
    """Return the SHA-256 checksum of a part's features, labels, queries and ids.

    Names and comments do not count. Rows are hashed in blocks to save
    memory; sparse features count as the arrays that store them.
    """
    digest = hashlib.sha256()
    # The features are one array, or the three arrays of a sparse matrix.
    for array in (
        *features_apart(part.X).values(),
        part.y,
        part.query_ptr,
        part.feature_ids,
    ):
        digest.update(f"{array.dtype.str} {array.shape}".encode())
        for first in range(0, len(array), _ROWS_AT_ONCE):
            rows = np.ascontiguousarray(array[first : first + _ROWS_AT_ONCE])
            digest.update(rows.data)
            release(rows)
    return f"sha256:{digest.hexdigest()}"


def _sha256(content: bytes) -> str:
    """Return the checksum of some bytes, with the name of its method."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
