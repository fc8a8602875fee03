"""Models in the files of other programs: RankLib, SVMlight, LightGBM, ONNX, PMML, Python, C and SQL.

For users who score documents outside RankStudio: in another program for
learning to rank, in a runtime for models, in a database or in their own
code.

References
----------
Dang, V. (2013). The Lemur project: RankLib.
https://sourceforge.net/p/lemur/wiki/RankLib Joachims, T. (1999). Making
large-scale SVM learning practical. Advances in Kernel Methods, MIT
Press. ONNX: Open Neural Network Exchange, operators of ai.onnx.ml.
https://onnx.ai Data Mining Group. Predictive Model Markup Language 4.4.
https://dmg.org/pmml
"""

from __future__ import annotations

from rankstudio.engine.plugins.plugin import Plugin

PLUGIN = Plugin(
    name="exports",
    model_formats="rankstudio.plugins.exports.model_formats:FORMATS",
    summary="Models in the files of RankLib, SVMlight, LightGBM, ONNX, PMML, Python, C and SQL.",
)
