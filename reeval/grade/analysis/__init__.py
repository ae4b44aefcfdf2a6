"""A model reads a record: what it is told of it, and whether what it claims is there."""
