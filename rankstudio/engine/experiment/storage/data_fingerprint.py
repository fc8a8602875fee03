"""What tells one dataset from another: the contents of its files, or of its arrays where it has no files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset, Source
from rankstudio.engine.data.splitting.leave_query_out import LeftOut
from rankstudio.engine.support.file_pages import release

_ROWS = 1 << 15  # that are hashed at a time


@dataclass(frozen=True)
class Fingerprint:
    """The identity of a dataset.

    Attributes
    ----------
    checksum : str
        Of all parts of all folds; datasets that are equal for any plan have the same.
    files : tuple of Source
        Those that were read, each once.
    """

    checksum: str
    files: tuple[Source, ...]


def fingerprint(dataset: FoldedDataset) -> Fingerprint:
    """Return a dataset's fingerprint.

    The reader hashed the very bytes that it parsed, so nothing is read again and neither names nor times
    are trusted. Parts that were put together in memory are hashed as they are, in O(mn).
    """
    files: dict[str, Source] = {}
    whole: dict[int, str] = {}
    lines = []
    for fold in dataset.folds:
        for name, part in fold.parts.items():
            if part.source is not None:
                files.setdefault(str(part.source.path.absolute()), part.source)
            checksum = _of_left_out(part, whole) if isinstance(part, LeftOut) else _of_part(part)
            lines.append(f"{fold.number} {name} {part.n_features} {checksum}")
    return Fingerprint(_sha256("\n".join(lines).encode()), tuple(files.values()))


def change(recorded: Sequence[Source], found: Sequence[Source]) -> str:
    """Return, in words, the first file that has other contents than were recorded; "" where there is none."""
    by_path = {source.path.absolute(): source for source in recorded}
    for now in found:
        then = by_path.get(now.path.absolute(), now)
        if then.checksum != now.checksum:
            size = f"{now.size:,} bytes" if now.size != then.size else "the same size with different contents"
            return f"{now.path}: the file changed: expected {then.size:,} bytes, found {size}"
    return ""


def _of_part(part: RankingDataset) -> str:
    return part.source.checksum if part.source is not None else _of_arrays(part)


def _of_left_out(part: LeftOut, known: dict[int, str]) -> str:
    """Return that of the data and of the query that is not in it: the data are hashed once for all folds."""
    if id(part.whole) not in known:
        known[id(part.whole)] = _of_part(part.whole)
    return f"{known[id(part.whole)]} without query {part.query}"


def _of_arrays(part: RankingDataset) -> str:
    digest = hashlib.sha256()
    for array in (part.X, part.y, part.query_ptr, part.feature_ids):
        digest.update(f"{array.dtype.str} {array.shape}".encode())
        for first in range(0, len(array), _ROWS):
            rows = np.ascontiguousarray(array[first : first + _ROWS])
            digest.update(rows.data)
            release(rows)
    return f"sha256:{digest.hexdigest()}"


def _sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
