"""RankRLS with a kernel: nonlinear models of given features, and a kernel of labelled graphs.

For users who ask whether a nonlinear model ranks better than a weighted
sum of the selected features, or have documents that are no vectors.
RankSVM learns with the same kernels and belongs to the core, and so do
the Nyström map, kernel functions and kernel models in files.

References
----------
Pahikkala, T. et al. (2009). An efficient algorithm for learning to rank
from preference graphs. Machine Learning 75 (1), 129-165. Airola, A. et
al. (2008). All-paths graph kernel for protein-protein interaction
extraction with evaluation of cross-corpus learning. BMC Bioinformatics
9 (S11).
"""

from __future__ import annotations

from rankstudio.engine.plugins.plugin import Plugin
from rankstudio.plugins.kernels.entries import METHODS

PLUGIN = Plugin(
    name="kernels",
    methods=METHODS,
    summary="RankRLS with a kernel, for nonlinear models, and a kernel of labelled graphs.",
)
