"""Parts that are not about ranking: compilation, threads, files, resources, grids of numbers."""
