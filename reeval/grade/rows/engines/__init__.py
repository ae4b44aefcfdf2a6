"""What reads the rows for the search: plain Python for small results, DuckDB for large ones."""
