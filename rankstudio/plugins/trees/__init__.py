"""Boosted regression trees: LambdaMART by LightGBM, the trees of XGBoost and CatBoost, and selection by them.

For comparing linear models and selections with the strongest rankers
that are not linear, and for selecting features where only trees will
rank with them.

References
----------
Burges, C. J. C. (2010). From RankNet to LambdaRank to LambdaMART: an
overview. Microsoft Research. Ke, G. et al. (2017). LightGBM: a highly
efficient gradient boosting decision tree. NeurIPS 30. Chen, T. and
Guestrin, C. (2016). XGBoost: a scalable tree boosting system. KDD.
Prokhorenkova, L. et al. (2018). CatBoost: unbiased boosting with
categorical features. NeurIPS 31.
"""

from __future__ import annotations

from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.plugins.trees.entries import METHODS

PLUGIN = Plugin(
    name="trees",
    methods=METHODS,
    summary="LambdaMART and the trees of XGBoost and CatBoost, as rankers and for selection.",
)
