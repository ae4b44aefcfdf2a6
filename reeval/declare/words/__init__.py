"""The words of an eval file: what an author calls."""
