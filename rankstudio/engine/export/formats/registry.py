"""The formats of other programs that models can be written in: the one place that lists them all."""

from __future__ import annotations

from rankstudio.engine.errors import ParameterError
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
from rankstudio.engine.export.formats.model_format import ModelFormat

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


def model_format(key: str) -> ModelFormat:
    """Return a format by its key.

    Raises
    ------
    ParameterError
        For an unknown key.
    """
    if key not in MODEL_FORMATS:
        raise ParameterError("format", key, f"one of {', '.join(MODEL_FORMATS)}")
    return MODEL_FORMATS[key]
