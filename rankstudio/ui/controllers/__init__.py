"""What happens on the window's commands: open, run, study files, export."""
