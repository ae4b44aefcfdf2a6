"""Are two results the same? The comparison of a data question, and of ``same_rows``."""
