"""A plan becomes results: the async stage."""
