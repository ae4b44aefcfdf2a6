"""The questions of a run: about each attempt as it ends, and about pairs of attempts once an eval is over."""
