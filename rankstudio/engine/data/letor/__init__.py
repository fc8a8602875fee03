"""LETOR text to arrays and back: reader, parser, writer, cache."""
