"""Tables of documents in files of Parquet, Arrow and JSON Lines, lists of numbers in a column included.

For data that other programs keep as tables: exports of databases and notebooks, and features that were
computed on a cluster. Tables of text belong to the core, which writes its results in them and reads
judgments, costs and preferences from them, and so do runs and judgments of TREC, which are scores of other
rankers and the labels of feature logs, and the names of columns, by which frames of Python are read, too.

References
----------
Apache Parquet. https://parquet.apache.org
Apache Arrow: the columnar format and its IPC files. https://arrow.apache.org
JSON Lines. https://jsonlines.org
"""

from __future__ import annotations

from rankstudio.engine.plugins.plugin import Plugin

PLUGIN = Plugin(
    name="tables",
    data_formats="rankstudio.plugins.tables.data_formats:FORMATS",
    summary="Tables of documents in Parquet, Arrow and JSON Lines.",
)
