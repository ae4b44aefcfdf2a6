"""Results go to disk and come back."""
