"""The dataset that comes with RankStudio: small, made up, and worth a look.

It was drawn from a model of a web search engine, ``tests/engine/data/sample_model.py``. A document matches a
query in its body, its anchors, its title and its URL, and it has an authority of its own; features of one
stream are different views of one match. Features of the query alone (the IDFs) cannot rank anything.
"""

from __future__ import annotations

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.known_datasets import Identity, table_of_names
from rankstudio.engine.data.splitting.shared_rows import share_rows
from rankstudio.engine.data.synthetic import N_PARTS, rotate
from rankstudio.engine.support.resources import resource

NAME = "Sample"


def open_sample() -> FoldedDataset:
    """Open the bundled sample: 250 queries, 46 features with LETOR 4.0's names, labels 0-2, five folds."""
    named = Identity("letor4", "letor4", table_of_names("letor4"))
    paths = [resource("sample", f"S{i}.txt.gz") for i in range(1, N_PARTS + 1)]
    parts = [named.name_features(load_letor(path)) for path in paths]
    source = parts[0].source
    return FoldedDataset(
        NAME,
        resource("sample"),
        tuple(share_rows(rotate(parts))),
        convention="letor4",
        checksum=source.checksum if source else "",
    )
