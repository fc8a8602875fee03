"""Work beside the window's thread: workers, jobs, tasks."""
