"""Pure functions: evidence becomes results."""
