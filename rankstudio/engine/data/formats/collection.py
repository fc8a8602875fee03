"""Judgements of a test collection that the library ir_datasets knows by its id."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rankstudio.engine.data.tabular.recognition import short
from rankstudio.engine.data.text_lines import TextLines
from rankstudio.engine.errors import DatasetError, MissingExtraError

PREFIX = "ir_datasets:"
"""What the name of judgements begins with that are no file, as in ``ir_datasets:msmarco-passage/dev``."""

_LONGEST_REASON = 200


def is_collection(place: Path) -> bool:
    """Tell whether judgements are those of a collection, not a file."""
    return place.as_posix().startswith(PREFIX)


def collection_judgements(place: Path, library: Callable[[], Any] | None = None) -> TextLines:
    """Return the judgements of a collection as the lines of TREC's file of them.

    Parameters
    ----------
    place : Path
        The id behind ``ir_datasets:``. What of the collection is not on the disk, the library fetches.
    library : callable, optional
        Returns the module; imports ir_datasets by default.

    Raises
    ------
    MissingExtraError
        Where the library is not installed.
    DatasetError
        Where it knows no such collection or has no judgements of it, or they are none of whole documents.
    """
    name = place.as_posix().removeprefix(PREFIX)
    module = (library or _library)()
    try:
        found = module.load(name)
    except KeyError:
        raise DatasetError(
            f"{place.as_posix()}: ir_datasets has no collection {short(name)!r}; expected an id such as "
            "msmarco-passage/dev."
        ) from None
    except Exception as error:
        raise _failed(place, error) from error
    iterator = getattr(found, "qrels_iter", None)
    if iterator is None:
        raise DatasetError(
            f"{place.as_posix()}: the collection has no judgements; expected a subset with judgements, such "
            "as msmarco-passage/dev of msmarco-passage."
        )
    lines = tuple(_lines(place, iterator))
    content = "\n".join(lines).encode("utf-8", "replace")
    return TextLines(place, lines, hashlib.sha256(content).hexdigest(), len(content))


def _lines(place: Path, iterator: Callable[[], Iterable[Any]]) -> Iterable[str]:
    """Yield a line for each judgement, a named tuple of query_id, doc_id, relevance and perhaps iteration."""
    try:
        for judgement in iterator():
            words = (
                judgement.query_id,
                getattr(judgement, "iteration", "0") or "0",
                judgement.doc_id,
                judgement.relevance,
            )
            yield " ".join(map(_word, words))
    except Exception as error:  # a collection that cannot be had, or judges other things than documents
        raise _failed(place, error) from error


def _word(value: object) -> str:
    """Return a value as one word of a line.

    Raises
    ------
    ValueError
        Where it has blanks, which no run can name.
    """
    text = str(value)
    if text.split() != [text]:
        raise ValueError(f"expected an id without spaces, found {short(text)!r}")
    return text


def _failed(place: Path, error: Exception) -> DatasetError:
    reason = short(" ".join(str(error).split()) or type(error).__name__, _LONGEST_REASON).rstrip(".")
    return DatasetError(f"{place.as_posix()}: ir_datasets could not provide the judgements: {reason}.")


def _library() -> Any:
    try:
        import ir_datasets  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError(f"A name that begins with {PREFIX}", "ir_datasets", "ir-datasets") from None
    return ir_datasets
