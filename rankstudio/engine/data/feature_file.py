"""The text of a file about features: names, groups."""

from __future__ import annotations

import json
from pathlib import Path

from rankstudio.engine.errors import DatasetError, FileAccessError
from rankstudio.engine.language import tr
from rankstudio.engine.support.files import read_text

MOST_BYTES = 16 << 20
"""No file about features is larger."""


def names_in_json(text: str) -> dict[int, str]:
    """Return the names in JSON of Solr, Elasticsearch or OpenSearch, by their position from 1.

    It may be a list of features, a feature store or a model of Solr, a feature set, or an answer with one.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    for key in ("hits", "hits", "_source", "featureset", "featureStore", "features"):
        if isinstance(found, dict) and key in found:
            found = found[key]
        if (
            isinstance(found, list)
            and len(found) == 1
            and isinstance(found[0], dict)
            and "_source" in found[0]
        ):
            found = found[0]
    if not isinstance(found, list):
        return {}
    names = (feature.get("name") if isinstance(feature, dict) else feature for feature in found)
    return {i: name for i, name in enumerate(names, start=1) if isinstance(name, str)}


def read_feature_file(path: Path, expected: str) -> str:
    """Read the text of a file about features.

    Parameters
    ----------
    path : Path
    expected : str
        What it should be, for the sentence.

    Raises
    ------
    DatasetError
        If it is larger than such files are.
    FileAccessError
        If it cannot be read.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DatasetError(
                tr("{path}: found a file of more than 16 MB, expected {expected}.").format(
                    path=path, expected=expected
                )
            )
        return read_text(path, encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise FileAccessError(
            path, tr("the file could not be read: {strerror}.").format(strerror=error.strerror)
        ) from None
