"""The list of model formats that search engines read."""

from __future__ import annotations

from rankstudio.plugins.search_engines import (
    elasticsearch,
    elasticsearch_native,
    elasticsearch_query,
    solr,
    vespa,
)

FORMATS = (
    solr.FORMAT,
    elasticsearch.FORMAT,
    elasticsearch_native.FORMAT,
    elasticsearch_query.SCRIPT,
    elasticsearch_query.RANK_FEATURE,
    vespa.FORMAT,
)
