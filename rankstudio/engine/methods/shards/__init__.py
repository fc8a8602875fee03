"""Training by sums over shards: one interface for memory, disk, threads, processes and clusters."""
