"""Judges measure an attempt: what a call asks for, what it is shown, and what its votes come to."""
