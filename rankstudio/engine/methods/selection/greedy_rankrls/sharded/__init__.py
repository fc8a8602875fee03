"""Greedy RankRLS by sums over shards: the statistics of queries stay where their documents are."""
