"""Who carries units of work out: threads, processes, a dask cluster."""
