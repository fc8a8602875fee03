"""Runs on the workers of a Dask scheduler: ``--scheduler ADDRESS``, and *Run, Workers, A cluster…*.

For data and comparisons that one computer cannot finish: units, or sums over shards, go to workers that have
the same versions; the results are the same to the last bit.

References
----------
Rocklin, M. (2015). Dask: parallel computation with blocked algorithms and task scheduling. Proceedings of the
14th Python in Science Conference, 130-136.
"""

from __future__ import annotations

from rankstudio.engine.plugins.clusters import ClusterEntry
from rankstudio.engine.plugins.plugin import Plugin

PLUGIN = Plugin(
    name="cluster",
    clusters=(
        ClusterEntry(
            "dask", "dask.distributed", "cluster", "rankstudio.plugins.cluster.dask_cluster:connected"
        ),
    ),
    summary="Runs on the workers of a Dask scheduler.",
)
