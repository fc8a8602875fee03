"""The model formats of this plug-in; this module is imported only when a model is written or read."""

from __future__ import annotations

from rankstudio.plugins.exports import (
    c_function,
    lightgbm_text,
    onnx_graph,
    pmml,
    python_function,
    ranklib,
    sql_expression,
    svmlight,
)

FORMATS = (
    ranklib.FORMAT,
    svmlight.LIGHT,
    svmlight.RANK,
    lightgbm_text.FORMAT,
    onnx_graph.FORMAT,
    pmml.FORMAT,
    python_function.FORMAT,
    c_function.FORMAT,
    sql_expression.FORMAT,
)
