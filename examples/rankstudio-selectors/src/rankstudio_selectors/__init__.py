"""A plug-in of RankStudio with six filters for learning to rank, and a page that compares selections.

Reading the plug-in imports the entries only; an estimator is imported when it is first used.
"""

from __future__ import annotations

from rankstudio.api import Page, Plugin
from rankstudio_selectors.entries import HCAS, MMR, MRMR, MSD, NGAS, XGAS

PLUGIN = Plugin(
    name="selectors",
    methods=(MRMR, MMR, MSD, NGAS, XGAS, HCAS),
    pages=(
        Page(
            "overlap",
            "Overlap",
            "How alike the selections of the finished runs are",
            "rankstudio_selectors.overlap:build",
        ),
    ),
    summary="Filters that prefer relevant, dissimilar features: mRMR, MMR, MSD, NGAS, XGAS and HCAS.",
    api=1,
)
