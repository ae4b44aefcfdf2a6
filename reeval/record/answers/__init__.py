"""What models answered, as rows to query."""
