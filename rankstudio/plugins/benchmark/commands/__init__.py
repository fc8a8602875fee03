"""Tables that the command prints."""
