"""The source of an eval file: how it is imported, what its asserts become, and what names its task."""
