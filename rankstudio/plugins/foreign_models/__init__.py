"""Models that other programs learned, read from their own files: weighted sums and trees, ONNX included.

For comparing the model of another program with a selection, by the same
measures on the same documents.

References
----------
ONNX: Open Neural Network Exchange, operators of ai.onnx.ml.
https://onnx.ai Dang, V. (2013). The Lemur project: RankLib.
https://sourceforge.net/p/lemur/wiki/RankLib Ke, G. et al. (2017).
LightGBM: a highly efficient gradient boosting decision tree. NeurIPS
30.
"""

from __future__ import annotations

from rankstudio.engine.plugins.model_reader import ABILITY, ModelReader
from rankstudio.engine.plugins.plugin import Plugin

_READER = "rankstudio.plugins.foreign_models.foreign_files"

PLUGIN = Plugin(
    name=ABILITY,
    model_readers=(
        ModelReader(
            key="files",
            recognise=f"{_READER}:is_foreign_text",
            parse=f"{_READER}:parsed_file",
            place=f"{_READER}:model_in_data",
        ),
    ),
    summary="Models of XGBoost, LightGBM, CatBoost, RankLib, Solr, Elasticsearch and ONNX, as rankers.",
)
