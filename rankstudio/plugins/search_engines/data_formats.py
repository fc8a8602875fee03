"""The files of feature values that search engines log."""

from __future__ import annotations

from rankstudio.engine.data.data_format import DataFormat, FormatCode

_CORE = "rankstudio.engine.data.formats"
_READER = "rankstudio.plugins.search_engines.feature_logs"

FORMATS = (
    DataFormat(
        "logs",
        "Feature logs of search engines",
        (".ndjson", ".jsonl", ".json"),
        "JSON with `_ltrlog` (Elasticsearch, OpenSearch), `[features]` (Solr) or `matchfeatures` (Vespa), "
        "next to a file of judgments with `qrel`, `judgment` or `rating` in its name; read only",
        marks=('"_ltrlog"', '"[features]"', '"matchfeatures"', '"summaryfeatures"', '"rankfeatures"'),
        is_joined=True,
        parsed_as="logs",
        code=FormatCode(
            confidence=f"{_CORE}.joined_files:marks_confidence",
            read=f"{_READER}:read_logs",
            need=f"{_CORE}.memory_needs:json_need",
            logs_of=f"{_CORE}.joined_files:logs_with_judgments",
            unmatched=f"{_READER}:unmatched_documents",
            write="",
        ),
    ),
)
