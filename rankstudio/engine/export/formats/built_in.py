"""The model formats that RankStudio itself writes, as a plug-in like those of others."""

from __future__ import annotations

from rankstudio.engine.export.formats import (
    c_function,
    elasticsearch,
    elasticsearch_native,
    elasticsearch_query,
    lightgbm_text,
    onnx_graph,
    pmml,
    python_function,
    ranklib,
    solr,
    sql_expression,
    svmlight,
    vespa,
)
from rankstudio.engine.plugins.plugin import Plugin

MODEL_FORMATS = {
    entry.key: entry
    for entry in (
        ranklib.FORMAT,
        svmlight.LIGHT,
        svmlight.RANK,
        lightgbm_text.FORMAT,
        solr.FORMAT,
        elasticsearch.FORMAT,
        elasticsearch_native.FORMAT,
        elasticsearch_query.SCRIPT,
        elasticsearch_query.RANK_FEATURE,
        vespa.FORMAT,
        onnx_graph.FORMAT,
        pmml.FORMAT,
        python_function.FORMAT,
        c_function.FORMAT,
        sql_expression.FORMAT,
    )
}
"""By key, in the order in which people are offered them."""

PLUGIN = Plugin(
    name="model-formats",
    model_formats=tuple(MODEL_FORMATS.values()),
    summary="Formats of other programs that RankStudio itself writes.",
)
