"""The model that the bundled sample was drawn from: how the shipped files came about.

It is one of a web search engine. A document matches a query in its body, its anchors, its title and its URL,
and it has an authority of its own; features of one stream are different views of one match, so that after the
first of them the others have little to add. Features of the query alone (the IDFs) cannot rank anything.
"""

from __future__ import annotations

from pathlib import Path

from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import FeatureModel, generate

_SEED = 2010
_N_QUERIES = 250
_DOCUMENTS = (5, 40)
_DECIMALS = 4
_LABEL_NOISE = 1.7


def write_sample(folder: Path) -> None:
    """Draw the sample anew and write its five parts: how the shipped files came about.

    They are shipped, not drawn at run time, because the last digit of an exponential differs between
    machines.
    """
    parts = generate(
        _features(),
        _WEIGHTS,
        _N_QUERIES,
        documents=_DOCUMENTS,
        label_noise=_LABEL_NOISE,
        seed=_SEED,
        decimals=_DECIMALS,
    )
    for i, part in enumerate(parts, start=1):
        save_letor(part, folder / f"S{i}.txt.gz")


# What counts for relevance: the match of body, anchor, title and URL, authority, and how deep a page lies.
_WEIGHTS = (0.8, 0.7, 0.8, 0.4, 0.7, -0.5)
_STREAMS = (
    (1.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 0.0, 0.0),
    (0.0, 0.0, 1.0, 0.0),
    (0.0, 0.0, 0.0, 1.0),
    (0.9, 0.1, 0.2, 0.0),  # the whole document is mostly its body
)


def _features() -> list[FeatureModel]:
    """Return the models of LETOR 4.0's features, in the order of their ids."""
    tf = [FeatureModel(stream, 0.5, skewed=True) for stream in _STREAMS]
    idf = [FeatureModel()] * 5
    tf_idf = [FeatureModel(stream, 0.4, skewed=True) for stream in _STREAMS]
    length = [
        FeatureModel(tuple(0.2 * x for x in stream), 1.0, skewed=True)
        for stream in _STREAMS
    ]
    scores = [
        FeatureModel(stream, noise)
        for stream in _STREAMS
        for noise in (0.25, 0.4, 0.15, 0.3)
    ]
    authority, depth = (0.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    links = [
        FeatureModel(authority, 0.3, skewed=True),  # PageRank
        FeatureModel(authority, 0.8, skewed=True),  # inlinks
        FeatureModel(),  # outlinks: constant in LETOR's data too
        FeatureModel(depth, 0.3),  # slashes
        FeatureModel(depth, 1.0),  # length of the URL
        FeatureModel(noise=1.0, skewed=True),  # child pages
    ]
    return [*tf, *idf, *tf_idf, *length, *scores, *links]
