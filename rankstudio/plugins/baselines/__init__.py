"""Published rankers to compare with: ListNet, coordinate ascent, AdaRank, RankBoost and SVM-MAP.

For papers and theses whose tables have the usual baselines of learning
to rank beside a new selection.

References
----------
Cao, Z., Qin, T., Liu, T.-Y., Tsai, M.-F. and Li, H. (2007). Learning to
rank: from pairwise approach to listwise approach. ICML. Metzler, D. and
Croft, W. B. (2007). Linear feature-based models for information
retrieval. Information Retrieval 10, 257-274. Xu, J. and Li, H. (2007).
AdaRank: a boosting algorithm for information retrieval. SIGIR. Freund,
Y., Iyer, R., Schapire, R. E. and Singer, Y. (2003). An efficient
boosting algorithm for combining preferences. JMLR 4, 933-969. Yue, Y.,
Finley, T., Radlinski, F. and Joachims, T. (2007). A support vector
method for optimizing average precision. SIGIR.
"""

from __future__ import annotations

from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.plugins.baselines.entries import METHODS

PLUGIN = Plugin(
    name="baselines",
    methods=METHODS,
    summary="Published rankers to compare with: ListNet, coordinate ascent, AdaRank, RankBoost and SVM-MAP.",
)
