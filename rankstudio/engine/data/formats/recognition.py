"""Confidence that a file has one of RankStudio's own formats, by its beginning and its name.

First bytes and unmistakable marks make a format certain. The name of a
file gives less confidence than a mark, and more than the form of its
lines.
"""

from __future__ import annotations

import re

from rankstudio.engine.data.data_format import Beginning, DataFormat
from rankstudio.engine.data.formats.format_catalog import format_of_name
from rankstudio.engine.data.formats.trec import is_judgment
from rankstudio.engine.data.tabular.recognition import QUERY_NAMES

CERTAIN = 1.0
BY_CONTENTS = 0.9
"""Least confidence by contents: a file of this format cannot have another binary format."""
BY_MARKS = 0.8
"""Least confidence by marks: a plug-in is asked only if the file has an ending or mark of its format."""

RECORDS = 0.95
"""Confidence in records of JSON, if no mark shows that the file has another format of JSON."""

_CONFIDENCE_BY_NAME = 0.85
_CONFIDENCE_IF_LIKELY = 0.5
_CONFIDENCE_BY_SIZES = 0.6
_LEAST_CONFIDENCE = 0.2
_FEATURE = re.compile(rb"[0-9]+:")


def trec_confidence(_: DataFormat, beginning: Beginning) -> float:
    """Return how certain it is, from 0 to 1, that a file has TREC judgments.

    ``beginning`` has the path and the first bytes of the file.
    """
    lines = (line for line in beginning.head.split(b"\n") if line.strip(b"\0\r \t"))
    line = next(lines, b"")
    return BY_CONTENTS if line and is_judgment(line.decode("utf-8", "replace")) else 0.0


def csv_confidence(form: DataFormat, beginning: Beginning) -> float:
    """Return how certain it is, from 0 to 1, that a file is a table of text.

    ``form`` is CSV, or TSV, which is recognised only by the ending of
    the name. ``beginning`` has the path and the first bytes of the
    file.
    """
    key_by_name = format_of_name(beginning.path.name).key
    if key_by_name in ("csv", "tsv"):
        return _CONFIDENCE_BY_NAME if form.key == key_by_name else 0.0
    if form.key == "tsv":
        return 0.0
    # Without such a name, anything else has to suggest a table.
    specified = beginning.user_columns
    is_likely = (
        beginning.lacks_queries
        or specified.qid
        or specified.label
        or _names_a_query(beginning.first_line)
    )
    return _CONFIDENCE_IF_LIKELY if is_likely else 0.0


def letor_confidence(_: DataFormat, beginning: Beginning) -> float:
    """Return how certain it is, from 0 to 1, that a file is LETOR text.

    LETOR text is the format of any file that no other format
    recognises. ``beginning`` has the path and the first bytes of the
    file.
    """
    return BY_MARKS if b"qid:" in beginning.first_line else _LEAST_CONFIDENCE


def sizes_confidence(form: DataFormat, beginning: Beginning) -> float:
    """Return how certain it is, from 0 to 1, that a file is SVMlight text.

    Lines of SVMlight text have no queries: a file of query sizes beside
    the text has these, or the user stated that there are none. ``form``
    may also be LightGBM's format, which differs only in the ending
    ".query" of the file of sizes. ``beginning`` has the path and the
    first bytes of the file.
    """
    has_lightgbm_sizes = beginning.sizes is not None and beginning.sizes.name.endswith(
        ".query"
    )
    words = beginning.first_line.split()
    if not beginning.lacks_queries:
        return 0.0
    # The name of the file of sizes decides which of the two formats it is.
    if has_lightgbm_sizes != (form.key == "lightgbm"):
        return 0.0
    # A line is a label and features such as 1:0.5. The certainty is
    # more than that of CSV, which may lack queries, too.
    return _CONFIDENCE_BY_SIZES if len(words) <= 1 or _FEATURE.match(words[1]) else 0.0


def _names_a_query(line: bytes) -> bool:
    """Return whether a line is a table's header with a common name for the query."""
    names = re.split(rb'[",;|\t]+', line.lower())
    has_query_name = any(
        name.strip().decode("utf-8", "replace") in QUERY_NAMES for name in names
    )
    return has_query_name and len(names) > 2
