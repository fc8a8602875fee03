"""Ranking data: reading and writing LETOR text, folds, the cache, known and synthetic datasets."""

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset, Source

__all__ = ["Fold", "FoldedDataset", "RankingDataset", "Source"]
