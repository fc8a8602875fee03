"""How certain it is that a file has one of RankStudio's own formats, by its beginning and its name.

What the first bytes or unmistakable marks tell is certain; names of files tell more than the form of lines,
and less than marks. The confidences of different formats are in that order.
"""

from __future__ import annotations

import re

from rankstudio.engine.data.data_format import Beginning, DataFormat
from rankstudio.engine.data.formats.format_catalog import format_of_name
from rankstudio.engine.data.formats.trec import is_judgment
from rankstudio.engine.data.tabular.recognition import QUERY_NAMES

CERTAIN = 1.0
BY_CONTENTS = 0.9
"""From here on the contents tell the format, which cannot be another binary one."""
BY_MARKS = 0.8
"""From here on a format is taken, whatever those of plug-ins say of a file without an ending of their own."""

RECORDS = 0.95
"""In objects of JSON, where no mark tells what else they are."""

_CONFIDENCE_BY_NAME = 0.85
_CONFIDENCE_IF_LIKELY = 0.5
_LEAST_CONFIDENCE = 0.2
_FEATURE = re.compile(rb"[0-9]+:")


def trec_confidence(_: DataFormat, beginning: Beginning) -> float:
    """Return the confidence in TREC judgments."""
    lines = (line for line in beginning.head.split(b"\n") if line.strip(b"\0\r \t"))
    line = next(lines, b"")
    return BY_CONTENTS if line and is_judgment(line.decode("utf-8", "replace")) else 0.0


def csv_confidence(form: DataFormat, beginning: Beginning) -> float:
    """Return the confidence in a table of text; with tabs, only by the name."""
    named = format_of_name(beginning.path.name).key
    if named in ("csv", "tsv"):
        return _CONFIDENCE_BY_NAME if form.key == named else 0.0
    if form.key == "tsv":
        return 0.0
    specified = beginning.told
    likely = (
        beginning.lacks_queries or specified.qid or specified.label or _names_a_query(beginning.first_line)
    )
    return _CONFIDENCE_IF_LIKELY if likely else 0.0


def letor_confidence(_: DataFormat, beginning: Beginning) -> float:
    """Return the confidence in LETOR text, which is everything that nothing else is."""
    return BY_MARKS if b"qid:" in beginning.first_line else _LEAST_CONFIDENCE


def sizes_confidence(form: DataFormat, beginning: Beginning) -> float:
    """Return the confidence in SVMlight text whose queries are in a file beside it, or that has none."""
    is_query = beginning.sizes is not None and beginning.sizes.name.endswith(".query")
    words = beginning.first_line.split()
    if not beginning.lacks_queries or is_query != (form.key == "lightgbm"):
        return 0.0
    return _CONFIDENCE_IF_LIKELY + 0.1 if len(words) <= 1 or _FEATURE.match(words[1]) else 0.0


def _names_a_query(line: bytes) -> bool:
    """Return whether a line is a table's header with a common name for the query."""
    names = re.split(rb'[",;|\t]+', line.lower())
    named = any(name.strip().decode("utf-8", "replace") in QUERY_NAMES for name in names)
    return named and len(names) > 2
