"""The model formats of search engines, as a plug-in like those of others."""

from __future__ import annotations

from rankstudio.engine.export.formats import (
    elasticsearch,
    elasticsearch_native,
    elasticsearch_query,
    solr,
    vespa,
)
from rankstudio.engine.plugins.plugin import Plugin

PLUGIN = Plugin(
    name="model-formats",
    model_formats=(
        solr.FORMAT,
        elasticsearch.FORMAT,
        elasticsearch_native.FORMAT,
        elasticsearch_query.SCRIPT,
        elasticsearch_query.RANK_FEATURE,
        vespa.FORMAT,
    ),
    summary="Models in the files of Solr, Elasticsearch and Vespa.",
)
