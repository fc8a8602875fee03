"""Synthetic ranking data of which the truth is known: features that matter, that repeat others, or are noise.

The sample that comes with RankStudio was drawn from a model of a web
search engine, ``tests/engine/data/sample_model.py``. A document matches
a query in its body, its anchors, its title and its URL, and it has an
authority of its own; features of one of these streams are different
views of one match. Features of the query alone (the IDFs) cannot rank
anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.known_datasets import Identity, table_of_names
from rankstudio.engine.data.origin import DatasetOrigin
from rankstudio.engine.data.splitting.shared_rows import share_rows
from rankstudio.engine.data.splitting.splits import concatenate
from rankstudio.engine.data.table import normalize_queries
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support.resources import resource

N_PARTS = 5


@dataclass(frozen=True)
class FeatureModel:
    """Model of a synthetic feature: weighted hidden factors of a document, and noise.

    Attributes
    ----------
    loadings : tuple of float
        Weight of each hidden factor; without factors the feature is pure noise.
    noise : float
        Standard deviation of the noise, relative to that of a factor,
        1. A feature without loadings and noise is constant.
    skewed : bool
        Whether most values are small and few are large, as for term counts.
    """

    loadings: tuple[float, ...] = ()
    noise: float = 0.0
    skewed: bool = False


def make_ranking(
    n_queries: int = 250,
    *,
    n_informative: int = 6,
    n_redundant: int = 12,
    n_noise: int = 24,
    n_constant: int = 4,
    documents: tuple[int, int] = (5, 40),
    label_noise: float = 1.0,
    seed: int = 0,
) -> FoldedDataset:
    """Generate a synthetic dataset of five folds in LETOR's style.

    Parameters
    ----------
    n_queries : int
        Number of queries, divided into five parts.
    n_informative : int
        Number of features with a relevance factor of their own, the
        first one strongest. These features come first.
    n_redundant : int
        Number of features that repeat an informative one with some
        noise; these features come next.
    n_noise, n_constant : int
        Numbers of features without information, and of features that
        are always 0; these features come last.
    documents : (int, int)
        Minimum and maximum number of documents per query.
    label_noise : float
        Standard deviation of the part of relevance that no feature explains.
    seed : int
        Equal seeds give equal data.

    Returns
    -------
    FoldedDataset
        Graded labels 0, 1, 2; every feature in [0, 1] within every query.

    Raises
    ------
    ParameterError
        If there are fewer queries than parts, no informative feature,
        or no documents.
    """
    if n_informative < 1:
        raise ParameterError("n_informative", n_informative, "a number of at least 1")
    # Each factor counts less for relevance than the one before it. A
    # row of the identity matrix is the loadings of a feature that has
    # one factor only.
    weights = 0.8 ** np.arange(n_informative)
    factors = np.eye(n_informative)
    # Each informative feature has its own factor, with noise of 0.3;
    # redundant features share these, with more noise. A feature without
    # factors and noise is constant.
    features = [FeatureModel(tuple(row), 0.3) for row in factors.tolist()]
    for j in range(n_redundant):
        shared_factor = factors[j % n_informative].tolist()
        features.append(FeatureModel(tuple(shared_factor), 0.6))
    features += [FeatureModel(noise=1.0)] * n_noise + [FeatureModel()] * n_constant
    parts = generate(
        features,
        weights.tolist(),
        n_queries,
        documents=documents,
        label_noise=label_noise,
        seed=seed,
    )
    return FoldedDataset("Synthetic", None, rotate(parts))


def generate(
    features: Sequence[FeatureModel],
    weights: Sequence[float],
    n_queries: int,
    *,
    documents: tuple[int, int],
    label_noise: float,
    seed: int,
    decimals: int = 6,
) -> list[RankingDataset]:
    """Draw the five parts S1 … S5 of a synthetic dataset.

    Parameters
    ----------
    features : sequence of n FeatureModel
        The features.
    weights : sequence of float
        Contribution of each hidden factor to relevance.
    n_queries : int
        Number of queries.
    documents : (int, int)
        Minimum and maximum number of documents per query.
    label_noise : float
        Standard deviation of the part of relevance that no feature explains.
    seed : int
        Equal seeds give equal data.
    decimals : int
        Number of decimals of the features.

    Notes
    -----
    O(mn) for m documents.
    """
    if n_queries < N_PARTS:
        raise ParameterError(
            "n_queries", n_queries, f"at least {N_PARTS}, one for each part"
        )
    if not 1 <= documents[0] <= documents[1]:
        raise ParameterError(
            "documents", documents, "a smallest and a largest number, from 1 up"
        )
    rng = np.random.default_rng(seed)
    sizes = rng.integers(documents[0], documents[1] + 1, n_queries)
    m = int(sizes.sum())
    factors = rng.standard_normal((m, len(weights)))
    utility = factors @ np.array(weights) + label_noise * rng.standard_normal(m)
    # Some queries have many good documents, some have none.
    utility = utility / utility.std() + np.repeat(
        0.5 * rng.standard_normal(n_queries), sizes
    )
    # Each threshold adds 1 to the label: 0, 1 or 2.
    labels = (utility > 0.9).astype(np.float64) + (utility > 1.6)
    X = np.stack(
        [_drawn_feature(feature, factors, rng) for feature in features], axis=1
    )
    query_ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    normalize_queries(X, query_ptr)
    X = np.round(X, decimals) + 0.0  # adding 0.0 turns -0.0 into 0.0
    bounds = np.linspace(0, n_queries, N_PARTS + 1).astype(np.int64).tolist()
    return [
        _part_of_queries(X, labels, query_ptr, first, last)
        for first, last in pairwise(bounds)
    ]


def _drawn_feature(
    feature: FeatureModel, factors: Floats, rng: np.random.Generator
) -> Floats:
    """Draw one feature for all documents, from ``factors`` that features share."""
    values = feature.noise * rng.standard_normal(len(factors))
    for loading, factor in zip(feature.loadings, factors.T, strict=False):
        values += loading * factor
    # The exponential of normal numbers is skewed.
    return np.exp(0.7 * values) if feature.skewed else values


def _part_of_queries(
    X: Floats, labels: Floats, query_ptr: Ints, first: int, last: int
) -> RankingDataset:
    """Return the queries first … last - 1 of synthetic data as a dataset of their own.

    X has shape (m, n), labels shape (m,); ``query_ptr`` has the first
    row of each query. Query ids count from 1, and documents have
    comments such as "docid = Q0007-01".
    """
    rows = slice(int(query_ptr[first]), int(query_ptr[last]))
    qid = np.repeat(
        np.arange(first + 1, last + 1), np.diff(query_ptr[first : last + 1])
    )
    # Documents are numbered from 1 in each query.
    numbers = np.concatenate(
        [np.arange(1, n + 1) for n in np.diff(query_ptr[first : last + 1])]
    )
    comments = [
        f"docid = Q{query:04d}-{document:02d}"
        for query, document in zip(qid.tolist(), numbers.tolist(), strict=True)
    ]
    return RankingDataset.from_arrays(X[rows], labels[rows], qid, comments=comments)


def rotate(parts: Sequence[RankingDataset]) -> tuple[Fold, ...]:
    """Make LETOR's five folds of five parts.

    In each fold, three parts are for training, one for validation, one
    for testing; from fold to fold, these roles move on by one part.
    """
    folds = []
    for i in range(N_PARTS):
        rotated = [parts[(i + j) % N_PARTS] for j in range(N_PARTS)]
        folds.append(
            Fold(
                i + 1, train=concatenate(rotated[:3]), vali=rotated[3], test=rotated[4]
            )
        )
    return tuple(folds)


NAME = "Sample"


def sample_files() -> list[Path]:
    """Return the files of the bundled sample: each is the test part of one fold, the last that of fold 1."""
    return [resource("sample", f"S{i}.txt.gz") for i in range(1, N_PARTS + 1)]


def load_sample() -> FoldedDataset:
    """Open the bundled sample, a synthetic dataset of 250 queries with five folds.

    It imitates LETOR 4.0, with its 46 names of features and labels from
    0 to 2. Its measures are computed by LETOR's convention.
    """
    identity = Identity(
        known="letor4", convention="letor4", names=table_of_names("letor4")
    )
    # The five parts form five folds, which share the rows of one matrix.
    parts = [identity.name_features(load_letor(path)) for path in sample_files()]
    source = parts[0].source
    return FoldedDataset(
        NAME,
        resource("sample"),
        tuple(share_rows(rotate(parts))),
        convention="letor4",
        origin=DatasetOrigin(checksum=source.checksum if source else ""),
    )
