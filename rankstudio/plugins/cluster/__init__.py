"""Runs on the workers of a Dask scheduler: ``--scheduler ADDRESS``, and *Run, Workers, A cluster…*.

For data and comparisons that are too large for one computer. Units, or
sums over shards, are sent to workers with the same versions, so that
the results are the same to the last bit.

References
----------
Rocklin, M. (2015). Dask: parallel computation with blocked algorithms
and task scheduling. Proceedings of the 14th Python in Science
Conference, 130-136.
"""

from __future__ import annotations

from rankstudio.engine.plugins.clusters import ClusterEntry
from rankstudio.engine.plugins.plugin import Plugin

PLUGIN = Plugin(
    name="cluster",
    clusters=(
        ClusterEntry(
            key="dask",
            library="dask.distributed",
            extra="cluster",
            connect="rankstudio.plugins.cluster.dask_cluster:connected",
        ),
    ),
    summary="Runs on the workers of a Dask scheduler.",
)
