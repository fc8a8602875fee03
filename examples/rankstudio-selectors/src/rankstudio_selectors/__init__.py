"""A plug-in of RankStudio with seven filters for learning to rank, two measures, an analysis, and a page.

Reading the plug-in imports the entries only; an estimator or a measure is imported when it is first used.
"""

from __future__ import annotations

from rankstudio.api import Plugin, WindowPage
from rankstudio_selectors.entries import (
    FIRST_RANK,
    FS_SCPR,
    GRADED_RBP,
    HCAS,
    MMR,
    MRMR,
    MSD,
    NGAS,
    SIMILAR_PAIRS,
    XGAS,
)

PLUGIN = Plugin(
    name="selectors",
    methods=(MRMR, MMR, MSD, NGAS, XGAS, HCAS, FS_SCPR),
    measures=(FIRST_RANK, GRADED_RBP),
    pages=(
        WindowPage(
            "overlap",
            "Overlap",
            "How alike the selections of the finished runs are",
            "rankstudio_selectors.overlap:build",
        ),
    ),
    analyses=(SIMILAR_PAIRS,),
    summary="Filters that prefer relevant, dissimilar features: mRMR, MMR, MSD, NGAS, XGAS, HCAS and FS-SCPR.",
    texts="rankstudio_selectors:locale",
    api=1,
)
