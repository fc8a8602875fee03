"""A plug-in of RankStudio with six filters for learning to rank.

Reading the plug-in imports the entries only; an estimator is imported when it is first used.
"""

from __future__ import annotations

from rankstudio.api import Plugin
from rankstudio_selectors.entries import HCAS, MMR, MRMR, MSD, NGAS, XGAS

PLUGIN = Plugin(
    name="selectors",
    methods=(MRMR, MMR, MSD, NGAS, XGAS, HCAS),
    summary="Filters that prefer relevant, dissimilar features: mRMR, MMR, MSD, NGAS, XGAS and HCAS.",
    api=1,
)
