"""Lifts as pictures: for ``summary.md`` and for the terminal."""
