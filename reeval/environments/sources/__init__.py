"""A git source becomes a directory: its commit is found, fetched once, and written without its history."""
