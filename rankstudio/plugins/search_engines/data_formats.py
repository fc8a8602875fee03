"""The data format of feature logs, files with feature values that search engines write."""

from __future__ import annotations

from rankstudio.engine.data.data_format import DataFormat, FormatCode

_FORMATS_PACKAGE = "rankstudio.engine.data.formats"
_READER_MODULE = "rankstudio.plugins.search_engines.feature_logs"

FORMATS = (
    DataFormat(
        "logs",
        "Feature logs of search engines",
        (".ndjson", ".jsonl", ".json"),
        "JSON with `_ltrlog` (Elasticsearch, OpenSearch), `[features]` (Solr) or `matchfeatures` (Vespa), "
        "next to a file of judgments with `qrel`, `judgment` or `rating` in its name; read only",
        marks=(
            '"_ltrlog"',
            '"[features]"',
            '"matchfeatures"',
            '"summaryfeatures"',
            '"rankfeatures"',
        ),
        is_joined=True,
        parsed_as="logs",
        code=FormatCode(
            confidence=f"{_FORMATS_PACKAGE}.joined_files:marks_confidence",
            read=f"{_READER_MODULE}:read_logs",
            need=f"{_FORMATS_PACKAGE}.memory_needs:json_need",
            logs_of=f"{_FORMATS_PACKAGE}.joined_files:logs_with_judgments",
            unmatched=f"{_READER_MODULE}:unmatched_documents",
            write="",
        ),
    ),
)
