"""Execution of the units of a run by threads, processes or a dask cluster."""
