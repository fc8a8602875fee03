"""Tables of documents in files of Parquet, Arrow and JSON Lines, lists of numbers in a column included.

For data that other programs keep as tables: exports of databases and
notebooks, and features that were computed on a cluster.

The core reads other tables without this plug-in. It writes its results
as tables of text, and reads judgments, costs and preferences from such
tables. It also reads runs of TREC, which are scores of other rankers,
judgments of TREC, which are the labels of feature logs, and data frames
of Python, whose columns it finds by their names.

References
----------
Apache Parquet. https://parquet.apache.org Apache Arrow: the columnar
format and its IPC files. https://arrow.apache.org JSON Lines.
https://jsonlines.org
"""

from __future__ import annotations

from rankstudio.engine.plugins.plugin import Plugin

PLUGIN = Plugin(
    name="tables",
    data_formats="rankstudio.plugins.tables.data_formats:FORMATS",
    summary="Tables of documents in Parquet, Arrow and JSON Lines.",
)
