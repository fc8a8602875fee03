"""What is not about ranking: compilation, threads, files, resources, grids of numbers."""
