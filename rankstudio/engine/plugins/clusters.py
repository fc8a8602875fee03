"""Descriptions of the clusters that plug-ins add, whose workers can execute runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of

_MODULE_AND_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class ClusterEntry:
    """A kind of cluster whose workers can execute runs.

    Attributes
    ----------
    key : str
        Key of the kind of cluster.
    library, extra : str
        Library that the cluster needs, and the extra of RankStudio that
        installs it.
    connect : str
        ``"module:function"``: called with an address and certificates
        or None, it is a context manager that provides a
        :class:`concurrent.futures.Executor`.
    """

    key: str
    library: str
    extra: str
    connect: str


def cluster_entry() -> ClusterEntry | None:
    """Return the kind of cluster that runs use, for any address.

    The result is the first kind that a plug-in adds; None without such
    a plug-in.
    """
    exists = tr("A cluster with the key {key} exists already. Choose another key.")
    unusable = tr("A cluster of the plug-in {name} cannot be used: {reason}")
    entries = entries_of("clusters", _refuse_invalid, exists, unusable)
    return next((entry for _, entry in entries), None)


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError for an entry of a plug-in that is no valid cluster.

    A valid entry is a ClusterEntry whose function is named as "module:name".
    """
    if not isinstance(entry, ClusterEntry):
        raise PlanError(
            tr("expected a ClusterEntry, got {value}.").format(value=shown(entry))
        )
    # ``connect`` names the function that connects to the cluster.
    if not isinstance(entry.connect, str) or not _MODULE_AND_NAME.fullmatch(
        entry.connect
    ):
        text = tr('{key}: expected "module:name", got {place}.')
        raise PlanError(text.format(key=shown(entry.key), place=shown(entry.connect)))
