"""Models in the files of other programs: RankLib, SVMlight, LightGBM, ONNX, PMML, Python, C and SQL.

For whoever scores documents outside RankStudio: in another program for learning to rank, in a runtime of
models, in a database or in code of one's own.

References
----------
Dang, V. (2013). The Lemur project: RankLib. https://sourceforge.net/p/lemur/wiki/RankLib
Joachims, T. (1999). Making large-scale SVM learning practical. Advances in Kernel Methods, MIT Press.
ONNX: Open Neural Network Exchange, operators of ai.onnx.ml. https://onnx.ai
Data Mining Group. Predictive Model Markup Language 4.4. https://dmg.org/pmml
"""

from __future__ import annotations

from rankstudio.engine.plugins.plugin import Plugin
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

PLUGIN = Plugin(
    name="exports",
    model_formats=(
        ranklib.FORMAT,
        svmlight.LIGHT,
        svmlight.RANK,
        lightgbm_text.FORMAT,
        onnx_graph.FORMAT,
        pmml.FORMAT,
        python_function.FORMAT,
        c_function.FORMAT,
        sql_expression.FORMAT,
    ),
    summary="Models in the files of RankLib, SVMlight, LightGBM, ONNX, PMML, Python, C and SQL.",
)
