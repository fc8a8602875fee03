"""A scheduler with two workers, for the tests that share it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from experiment.local_cluster import LocalCluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    pytest.importorskip("distributed")
    with closing(LocalCluster(tmp_path_factory.mktemp("cluster"))) as made:
        made.keep(2)
        yield made
